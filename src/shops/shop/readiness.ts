import { isInEu } from '../countries/countries.ts';
import { PAGES, type PageName } from '../legal/schema.ts';
import type { Settings } from '../settings/settings.ts';

/** What a shop needs before it sells, in the order in which a merchant does it. */
export const READINESS_STEPS = [
  'address',
  'taxNumber',
  'bankAccount',
  'delivery',
  'legalTexts',
  'firstProduct',
  'testOrder',
] as const;

export type StepKey = (typeof READINESS_STEPS)[number];

/** The facts of a shop that decide whether it may open. */
export interface ReadinessFacts {
  settings: Pick<
    Settings,
    'country' | 'invoicing' | 'shippingMethods' | 'withdrawal' | 'defaultLocale' | 'locales'
  >;
  legalTexts: readonly { page: PageName; locale: string; isDraft: boolean }[];
  /** The payment methods, each with the settings that it lacks. */
  payments: readonly { key: string; missing: readonly string[] }[];
  hasProduct: boolean;
  hasOrder: boolean;
}

export interface Missing {
  /** The name of the setting or of the legal page. */
  field: string;
  /** The field in the admin, below the shop's own path there. */
  path: string;
}

export interface ReadinessStep {
  key: StepKey;
  /** false: it is recommended, and the shop may open without it. */
  required: boolean;
  done: boolean;
  missing: Missing[];
  /** The page of the admin for this step. */
  path: string;
}

export interface Readiness {
  /** All required steps are done. */
  ready: boolean;
  steps: ReadinessStep[];
}

/**
 * Whether a shop may open, and what is missing. Required is what the law wants to be named before the first sale
 * (EN 16931, § 14 UStG, Directive 2011/83/EU) and what every order needs. A shop may open without products, because
 * they often come later, by import.
 */
export function readinessOf(facts: ReadinessFacts): Readiness {
  const steps = [
    step('address', sellerFields(facts, ADDRESS_FIELDS), '/settings/invoices#section-invoicing'),
    taxStep(facts),
    step('bankAccount', paymentGaps(facts), '/settings/payments'),
    step(
      'delivery',
      facts.settings.shippingMethods.length > 0 ? [] : [settingAt('shippingMethods', '/settings/shipping')],
      '/settings/shipping',
    ),
    step('legalTexts', legalGaps(facts), '/settings/legal'),
    optional(
      step(
        'firstProduct',
        facts.hasProduct ? [] : [{ field: 'products', path: '/products/new' }],
        '/products',
      ),
    ),
    optional(step('testOrder', facts.hasOrder ? [] : [{ field: 'orders', path: '/preview' }], '/preview')),
  ];
  return { ready: steps.every(({ required, done }) => done || !required), steps };
}

const ADDRESS_FIELDS = ['street', 'zipCode', 'city'] as const;

/**
 * The mandatory facts of the seller that invoices lack: the address, and a number for taxes in the European Union,
 * which small businesses need too (§ 14 (4) 2 UStG, EN 16931 BR-CO-26). Name and country are never missing.
 */
export function missingSellerFields(settings: Pick<Settings, 'country' | 'invoicing'>): string[] {
  const missing = sellerFields({ settings }, ADDRESS_FIELDS).map(({ field }) => field);
  return isInEu(settings.country) && !hasTaxNumber(settings) ? [...missing, 'invoicing.vatId'] : missing;
}

const hasTaxNumber = ({ invoicing }: Pick<Settings, 'invoicing'>) =>
  [invoicing.vatId, invoicing.taxNumber].some((number) => (number ?? '') !== '');

function sellerFields(
  { settings }: { settings: Pick<Settings, 'invoicing'> },
  fields: readonly (typeof ADDRESS_FIELDS)[number][],
): Missing[] {
  return fields
    .filter((field) => (settings.invoicing[field] ?? '') === '')
    .map((field) => settingAt(`invoicing.${field}`, '/settings/invoices'));
}

function taxStep({ settings }: ReadinessFacts): ReadinessStep {
  const missing = hasTaxNumber(settings) ? [] : [settingAt('invoicing.vatId', '/settings/invoices')];
  const made = step('taxNumber', missing, '/settings/invoices#field-invoicing.vatId');
  return isInEu(settings.country) ? made : optional(made);
}

/** One complete method is enough. */
function paymentGaps({ payments }: ReadinessFacts): Missing[] {
  if (payments.some(({ missing }) => missing.length === 0)) return [];
  const [first] = payments;
  if (!first) return [settingAt('paymentMethods', '/settings/payments')];
  return first.missing.map((field) => ({ field, path: paymentFieldPath(field) }));
}

/** The bank account is part of the seller's data; the keys of a provider are on the page of its method. */
export function paymentFieldPath(field: string): string {
  const [, method, name] = /^paymentMethods\.(.+)\.([^.]+)$/.exec(field) ?? [];
  if (method === undefined) return settingAt(field, '/settings/invoices').path;
  // An app is installed again, or the method gets another provider.
  return name === 'app'
    ? '/settings/payments'
    : `/settings/payments/${encodeURIComponent(method)}#field-${name}`;
}

/** Pages that every shop needs, in its default language. */
const REQUIRED_PAGES: readonly PageName[] = [
  'contact-information',
  'privacy-policy',
  'terms-and-conditions',
  'rights-of-withdrawal',
];

/** The required pages that have no text, and every text that is still a draft. */
function legalGaps({ settings, legalTexts }: ReadinessFacts): Missing[] {
  const { defaultLocale, locales, withdrawal } = settings;
  const isNeeded = (page: PageName, locale: string) =>
    locale === defaultLocale &&
    REQUIRED_PAGES.includes(page) &&
    (page !== 'rights-of-withdrawal' || withdrawal.days > 0);
  return PAGES.flatMap(({ page }) =>
    locales.flatMap((locale) => {
      const text = legalTexts.find((one) => one.page === page && one.locale === locale);
      if (text ? !text.isDraft : !isNeeded(page, locale)) return [];
      return {
        field: locales.length > 1 ? `${page}.${locale}` : page,
        path: `/settings/legal/${page}?locale=${locale}#field-description`,
      };
    }),
  );
}

const settingAt = (field: string, page: string): Missing => ({ field, path: `${page}#field-${field}` });

function step(key: StepKey, missing: Missing[], path: string): ReadinessStep {
  return { key, required: true, done: missing.length === 0, missing, path: missing[0]?.path ?? path };
}

const optional = (made: ReadinessStep): ReadinessStep => ({ ...made, required: false });
