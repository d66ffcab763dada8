import type { Localised } from '../../http/locale.ts';
import { EMAIL_KINDS } from '../../email-kinds.ts';
import { toDecimal, toMinor } from '../../kernel/money.ts';
import { compact } from './invoicing.ts';
import { shown } from './problem.ts';
import { InvoicingSection, ThemeSection, type SettingsFile, type Texts } from './schema.ts';
import { themeOf } from './theme.ts';
import type {
  BasketDiscount,
  CustomerGroup,
  PaymentMethod,
  Settings,
  ShippingMethod,
  TaxClass,
} from './settings.ts';

/** Between a settings file and what the database holds, and what differs between two states. */

/** The whole document of a shop. A text that is in the default locale only is written plainly. */
export function documentOf(settings: Settings): SettingsFile {
  return documentWith(settings, (texts) => plainTexts(texts, settings.defaultLocale));
}

export function plainTexts(texts: Localised, defaultLocale: string): Texts {
  const plain = texts[defaultLocale];
  return plain !== undefined && Object.keys(texts).length === 1 ? plain : texts;
}

function documentWith(settings: Settings, texts: (localised: Localised) => Texts): SettingsFile {
  const currency = settings.defaultCurrency;
  const amount = (minor: number) => toDecimal(minor, currency);
  const optionalTexts = (localised: Localised) =>
    Object.keys(localised).length === 0 ? undefined : texts(localised);
  return {
    name: texts(settings.name),
    slogan: optionalTexts(settings.slogan) ?? null,
    email: settings.email,
    logoUrl: settings.logoUrl,
    domains: settings.domains,
    country: settings.country,
    locales: { default: settings.defaultLocale, items: settings.locales },
    currencies: {
      default: currency,
      items: settings.currencies,
      rates: mapValues(settings.exchangeRates, Number),
    },
    countries: { default: settings.defaultCountry, items: settings.countries },
    taxes: given({
      model: settings.taxModel === 'GROSS' ? 'gross' : 'net',
      displayTaxes: settings.displayTaxes,
      noTaxesMessage: settings.noTaxesMessage ?? undefined,
      deliveryThresholdIsActive: settings.deliveryThresholdIsActive,
      taxFreeOutsideEu: settings.taxFreeOutsideEu,
    }),
    taxClasses: settings.taxClasses.map((stored) =>
      given({
        key: stored.key,
        name: texts(stored.name),
        default: stored.isDefault || undefined,
        defaultDigital: stored.isDefaultDigital || undefined,
        digital: stored.digital || undefined,
        rates: mapValues(stored.rates, fromBasisPoints),
      }),
    ),
    shippingMethods: settings.shippingMethods.map((stored) => {
      const { kind, freeFrom } = stored;
      return given({
        key: stored.key,
        name: texts(stored.name),
        description: optionalTexts(stored.description),
        logoUrl: stored.logoUrl ?? undefined,
        kind: kind === 'order_value' ? 'orderValue' : kind,
        price: kind === 'flat' || kind === 'weight' ? amount(stored.amount) : undefined,
        pricePerKg: kind === 'weight' ? amount(stored.amountPerKg) : undefined,
        tiers:
          kind === 'order_value'
            ? stored.tiers.map((tier) => ({ from: amount(tier.from), price: amount(tier.amount) }))
            : undefined,
        freeFrom: freeFrom === null ? undefined : amount(freeFrom),
      });
    }),
    paymentMethods: settings.paymentMethods.map((stored) =>
      given({
        key: stored.key,
        name: texts(stored.name),
        provider: stored.providerName ?? undefined,
        price: amount(stored.amount),
        additionalData: stored.additionalData ?? undefined,
        releaseUnpaidAfterDays: stored.releaseUnpaidAfterDays ?? undefined,
      }),
    ),
    minimumCart: given({
      code: settings.minimumCartCode,
      amount: settings.minimumCartAmount === null ? undefined : amount(settings.minimumCartAmount),
    }),
    basketDiscounts: settings.basketDiscounts.map(({ minimumAmount, absolute, percent }) =>
      given({
        from: amount(minimumAmount),
        absolute: absolute === undefined ? undefined : amount(absolute),
        percent: percent === undefined ? undefined : fromBasisPoints(percent),
      }),
    ),
    units: settings.units,
    newsletters: settings.newsletterCampaigns.map((stored) =>
      given({
        identifier: stored.identifier,
        name: stored.name,
        language: stored.language,
        description: stored.description ?? undefined,
        subject: stored.subject ?? undefined,
      }),
    ),
    // In an order of their own, because the database keeps none.
    customerGroups: settings.customerGroups.map(({ name }) => name).toSorted(),
    crossSellingTitle: optionalTexts(settings.crossSellingTitle) ?? null,
    showFromPrices: settings.showFromPrices,
    publicCatalogue: settings.publicCatalogue,
    sellBeyondStock: settings.sellBeyondStock,
    maxPerOrder: settings.maxPerOrder,
    dailyEmailsPerRecipient: settings.dailyEmailsPerRecipient,
    mandatoryAddressFields: settings.mandatoryAddressFields as NonNullable<
      SettingsFile['mandatoryAddressFields']
    >,
    invoicing: given({
      ...inOrder(settings.invoicing, Object.keys(InvoicingSection.properties)),
      bank: settings.invoicing.bank && inOrder(settings.invoicing.bank, ['name', 'iban', 'bic']),
      notes: settings.invoicing.notes && texts(settings.invoicing.notes),
    }),
    mails: mapValues(
      inOrder(
        settings.mailTexts,
        EMAIL_KINDS.map((kind) => kind.name),
      ),
      (byLocale) => mapValues(byLocale, (words) => inOrder(words, ['subject', 'text'])),
    ),
    theme: inOrder(settings.theme, Object.keys(ThemeSection.properties)),
  };
}

/**
 * The shop as the file wants it. An entry keeps the id that its key had; `newId` makes those of new ones. The file
 * must have been checked against this shop.
 */
export function settingsWith(current: Settings, file: SettingsFile, newId: () => string): Settings {
  const next: Settings = { ...(file.locales ? inLocales(current, file.locales) : current) };
  if (file.currencies) {
    next.defaultCurrency = file.currencies.default;
    next.currencies = file.currencies.items;
    next.exchangeRates = mapValues(file.currencies.rates ?? {}, rateText);
  }
  const texts = (given: Texts | null | undefined): Localised =>
    typeof given === 'string' ? { [next.defaultLocale]: given } : (given ?? {});
  const minor = (amount: number) => toMinor(amount, next.defaultCurrency)!;

  if (file.name !== undefined) next.name = texts(file.name);
  if (file.slogan !== undefined) next.slogan = texts(file.slogan);
  if (file.email !== undefined) next.email = file.email;
  if (file.logoUrl !== undefined) next.logoUrl = file.logoUrl;
  if (file.domains) next.domains = file.domains.map((domain) => domain.toLowerCase());
  if (file.country !== undefined) next.country = file.country;
  if (file.countries) {
    next.defaultCountry = file.countries.default;
    next.countries = file.countries.items;
  }
  if (file.taxes) {
    next.taxModel = file.taxes.model === 'gross' ? 'GROSS' : 'NET';
    next.displayTaxes = file.taxes.displayTaxes ?? true;
    next.noTaxesMessage = file.taxes.noTaxesMessage ?? null;
    next.deliveryThresholdIsActive = file.taxes.deliveryThresholdIsActive ?? false;
    next.taxFreeOutsideEu = file.taxes.taxFreeOutsideEu ?? true;
  }
  if (file.taxClasses) {
    const ids = new Map(current.taxClasses.map(({ key, taxClassId }) => [key, taxClassId]));
    const digitalIsNamed = file.taxClasses.some((entry) => entry.defaultDigital);
    next.taxClasses = file.taxClasses.map((entry): TaxClass => ({
      taxClassId: ids.get(entry.key) ?? newId(),
      key: entry.key,
      name: texts(entry.name),
      isDefault: entry.default ?? false,
      isDefaultDigital: (digitalIsNamed ? entry.defaultDigital : entry.default) ?? false,
      digital: entry.digital ?? false,
      rates: mapValues(entry.rates, toBasisPoints),
    }));
  }
  if (file.shippingMethods) {
    const ids = new Map(current.shippingMethods.map(({ key, shippingMethodId }) => [key, shippingMethodId]));
    next.shippingMethods = file.shippingMethods.map((entry): ShippingMethod => ({
      shippingMethodId: ids.get(entry.key) ?? newId(),
      key: entry.key,
      name: texts(entry.name),
      description: texts(entry.description),
      logoUrl: entry.logoUrl ?? null,
      kind: entry.kind === 'orderValue' ? 'order_value' : entry.kind,
      amount: minor(entry.price ?? 0),
      amountPerKg: minor(entry.pricePerKg ?? 0),
      tiers: (entry.tiers ?? []).map(({ from, price }) => ({ from: minor(from), amount: minor(price) })),
      freeFrom: entry.freeFrom === undefined ? null : minor(entry.freeFrom),
    }));
  }
  if (file.paymentMethods) {
    const ids = new Map(current.paymentMethods.map(({ key, paymentMethodId }) => [key, paymentMethodId]));
    next.paymentMethods = file.paymentMethods.map((entry): PaymentMethod => ({
      paymentMethodId: ids.get(entry.key) ?? newId(),
      key: entry.key,
      name: texts(entry.name),
      providerName: entry.provider ?? null,
      additionalData: isEmpty(entry.additionalData) ? null : entry.additionalData!,
      amount: minor(entry.price ?? 0),
      releaseUnpaidAfterDays: entry.releaseUnpaidAfterDays ?? null,
    }));
  }
  if (file.minimumCart) {
    const { code, amount } = file.minimumCart;
    next.minimumCartCode = code ?? 'SumProduct';
    next.minimumCartAmount = amount === undefined ? null : minor(amount);
  }
  if (file.basketDiscounts) {
    next.basketDiscounts = file.basketDiscounts.map(({ from, absolute, percent }): BasketDiscount =>
      given({
        minimumAmount: minor(from),
        absolute: absolute === undefined ? undefined : minor(absolute),
        percent: percent === undefined ? undefined : toBasisPoints(percent),
      }),
    );
  }
  if (file.units) {
    next.units = withoutEmpty(file.units);
  }
  if (file.newsletters) {
    const ids = new Map(current.newsletterCampaigns.map((stored) => [stored.identifier, stored.campaignId]));
    next.newsletterCampaigns = file.newsletters.map((entry) => ({
      campaignId: ids.get(entry.identifier) ?? newId(),
      identifier: entry.identifier,
      language: entry.language,
      name: entry.name,
      description: entry.description ?? null,
      subject: entry.subject ?? null,
    }));
  }
  if (file.customerGroups) {
    const ids = new Map(current.customerGroups.map(({ name, customerGroupId }) => [name, customerGroupId]));
    next.customerGroups = file.customerGroups.map((name): CustomerGroup => ({
      customerGroupId: ids.get(name) ?? newId(),
      name,
    }));
  }
  if (file.crossSellingTitle !== undefined) next.crossSellingTitle = texts(file.crossSellingTitle);
  if (file.showFromPrices !== undefined) next.showFromPrices = file.showFromPrices;
  if (file.publicCatalogue !== undefined) next.publicCatalogue = file.publicCatalogue;
  if (file.sellBeyondStock !== undefined) next.sellBeyondStock = file.sellBeyondStock;
  if (file.maxPerOrder !== undefined) next.maxPerOrder = file.maxPerOrder;
  if (file.dailyEmailsPerRecipient !== undefined) {
    next.dailyEmailsPerRecipient = file.dailyEmailsPerRecipient;
  }
  if (file.mandatoryAddressFields) next.mandatoryAddressFields = file.mandatoryAddressFields;
  if (file.invoicing) {
    const { vatId, bank, notes } = file.invoicing;
    next.invoicing = given({
      ...file.invoicing,
      vatId: vatId && compact(vatId),
      bank: bank && { ...bank, iban: compact(bank.iban) },
      notes: notes === undefined ? undefined : texts(notes),
    });
  }
  if (file.mails) next.mailTexts = file.mails;
  if (file.theme) next.theme = themeOf(file.theme);
  return next;
}

/**
 * The shop in other locales: texts of those it gives up go, so that an export never holds what apply refuses. What
 * the new default lacks is taken from the old one: that is what its readers have been shown so far.
 */
function inLocales(current: Settings, locales: { default: string; items: string[] }): Settings {
  const kept = <Value>(byLocale: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(byLocale).filter(([locale]) => locales.items.includes(locale)));
  const texts = <Value>(localised: Readonly<Record<string, Value>>) => {
    const fallback = localised[locales.default] ?? localised[current.defaultLocale];
    return kept(fallback === undefined ? localised : { ...localised, [locales.default]: fallback });
  };
  const notes = texts(current.invoicing.notes ?? {});
  return {
    ...current,
    defaultLocale: locales.default,
    locales: locales.items,
    name: texts(current.name),
    slogan: texts(current.slogan),
    crossSellingTitle: texts(current.crossSellingTitle),
    taxClasses: current.taxClasses.map((stored) => ({ ...stored, name: texts(stored.name) })),
    shippingMethods: current.shippingMethods.map((stored) => ({
      ...stored,
      name: texts(stored.name),
      description: texts(stored.description),
    })),
    paymentMethods: current.paymentMethods.map((stored) => ({ ...stored, name: texts(stored.name) })),
    units: withoutEmpty(mapValues(current.units, kept)),
    invoicing: given({ ...current.invoicing, notes: isEmpty(notes) ? undefined : notes }),
    mailTexts: withoutEmpty(mapValues(current.mailTexts, texts)),
  };
}

export type Section = Exclude<keyof SettingsFile, '$schema'>;

/** What differs, by section: `~ taxClasses.standard.rates.DE: 19 -> 16`. Sections without a difference are absent. */
export function changesBetween(before: Settings, after: Settings): Map<Section, readonly string[]> {
  // By locale throughout, so that one more translation is one more line.
  const [old, wanted] = [before, after].map((settings) => documentWith(settings, (texts) => texts));
  const sections = (Object.keys(wanted!) as Section[]).map(
    (section) => [section, [...changes(section, old![section], wanted![section])]] as const,
  );
  return new Map(sections.filter(([, lines]) => lines.length > 0));
}

/** What differs between two values of a document, each line with its path. */
export function* changes(path: string, before: unknown, after: unknown): Generator<string> {
  if (Array.isArray(before) || Array.isArray(after)) {
    yield* listChanges(path, (before ?? []) as unknown[], (after ?? []) as unknown[]);
  } else if (isMap(before) || isMap(after)) {
    const [old, wanted] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
    for (const key of new Set([...Object.keys(old!), ...Object.keys(wanted!)])) {
      yield* changes(`${path}.${key}`, old![key], wanted![key]);
    }
  } else if (before !== after) {
    if (isAbsent(before)) yield `+ ${path}: ${shown(after)}`;
    else if (isAbsent(after)) yield `- ${path}: ${shown(before)}`;
    else yield `~ ${path}: ${shown(before)} -> ${shown(after)}`;
  }
}

/** Entries are the same when their key is, wherever they stand; then their order is compared. */
function* listChanges(path: string, before: unknown[], after: unknown[]): Generator<string> {
  const old = new Map(before.map((entry) => [identity(entry), entry]));
  const wanted = new Map(after.map((entry) => [identity(entry), entry]));
  for (const key of old.keys()) if (!wanted.has(key)) yield `- ${path}${key}`;
  for (const [key, entry] of wanted) {
    if (old.has(key)) yield* changes(`${path}${key}`, old.get(key), entry);
    else yield `+ ${path}${key}`;
  }
  const order = (keys: Iterable<string>, others: Map<string, unknown>) =>
    [...keys]
      .filter((key) => others.has(key))
      .map((key) => key.slice(1))
      .join(', ');
  const [first, then] = [order(old.keys(), wanted), order(wanted.keys(), old)];
  if (first !== then) yield `~ ${path} in another order: ${first} -> ${then}`;
}

/** How an entry is told apart from the others, as the end of its path. */
function identity(entry: unknown): string {
  if (typeof entry === 'string') return `.${entry}`;
  const { key, identifier, from } = entry as { key?: string; identifier?: string; from?: number };
  return from === undefined ? `.${key ?? identifier}` : `[from ${from}]`;
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isEmpty(map: object | undefined): boolean {
  return map === undefined || Object.keys(map).length === 0;
}

function withoutEmpty<Value extends object>(map: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => !isEmpty(value)));
}

/** The database keeps its own order of keys, which is none that a person would write. */
function inOrder<Fields extends object>(fields: Fields, keys: readonly string[]): Fields {
  const known = new Map(Object.entries(fields));
  return Object.fromEntries(
    keys.filter((key) => known.has(key)).map((key) => [key, known.get(key) as unknown]),
  ) as Fields;
}

/** Percent and basis points: at most 2 decimals were let in, so rounding only removes the error of the float. */
export function toBasisPoints(percent: number): number {
  return Math.round(percent * 100);
}

export function fromBasisPoints(basisPoints: number): number {
  return basisPoints / 100;
}

/** A rate as plain decimal text: 1e-7 would not be one. */
function rateText(rate: number): string {
  const text = String(rate);
  return text.includes('e') ? rate.toFixed(10).replace(/0+$/, '') : text;
}

function mapValues<Value, Result>(
  map: Readonly<Record<string, Value>>,
  convert: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)]));
}

type Given<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>;
};

/** The object without the fields that are undefined: an absent key says "not set". */
export function given<const Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<Fields>;
}
