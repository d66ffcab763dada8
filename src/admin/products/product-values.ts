import type { ProductFacts, Prices } from '../../catalogue/products/facts.ts';
import { headlineTexts } from '../../catalogue/products/custom-text.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { SINGLE_LEGAL_FACTS } from '../../catalogue/products/legal-facts.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { ORDER_UNIT } from '../../catalogue/products/orderable.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { decimalText } from '../components/decimal.ts';
import type { Language } from '../messages.ts';

/**
 * A product as the texts of the fields of its form, by their names. The form shows them, a sent form is compared with
 * them, and a change is undone by sending the old ones again.
 */
export type ProductFormValues = Readonly<Record<string, string>>;

export const LOCALISED = ['name', 'shortDescription', 'description', 'title', 'essentialFeatures'] as const;
export const PLAIN = [
  'manufacturer',
  'manufacturerProductNumber',
  'ean',
  'upc',
  'productCode',
  'deliveryPeriod',
] as const;
export const AMOUNTS = ['price', 'manufacturerPrice', 'depositPrice'] as const;
export const PARTIES = ['manufacturer', 'responsiblePerson'] as const;
export const PARTY_FIELDS = ['name', 'address', 'contact'] as const;

export const GUARANTEE_TEXTS = ['brand', 'model', 'guarantor', 'address', 'termsUrl'] as const;

/** Empty rows of a price table, for further input. */
const EMPTY_ROWS = 3;

export interface ProductFormContext {
  settings: Settings;
  language: Language;
}

export function productFormValues(row: ProductRow, context: ProductFormContext): ProductFormValues {
  const { settings, language } = context;
  const { facts } = row;
  const shown = inheritedFacts(facts, row.master?.facts ?? null);
  const number = (value: number | null | undefined) =>
    value === null || value === undefined ? '' : decimalText(value, language);
  const { orderUnit = ORDER_UNIT, reference, deliveryWeight, customisation } = shown;
  return {
    productNumber: row.productNumber,
    ...localisedValues(facts, settings),
    ...headlineValues(customisation, settings),
    ...Object.fromEntries(PLAIN.map((key) => [key, facts[key] ?? ''])),
    ...amountValues('price', row.prices, context),
    ...amountValues('manufacturerPrice', facts.manufacturerPrices, context),
    ...amountValues('depositPrice', facts.depositPrices, context),
    ...tierValues(facts, context),
    ...groupValues(facts, context),
    ...safetyValues(facts),
    taxClassId: row.taxClassId ?? '',
    productTypeId: row.productTypeId ?? '',
    stock: number(row.stock),
    minStock: number(row.minStock),
    visible: flag(row.visible),
    isNew: flag(shown.isNew),
    newnessDate: facts.newUntil?.slice(0, 10) ?? '',
    isManufacturerPriceRRP: flag(shown.isManufacturerPriceRrp),
    isVATInfoVisible: flag(shown.isVatInfoVisible, true),
    isShippingLinkVisible: flag(shown.isShippingLinkVisible, true),
    productLength: number(facts.length),
    productWidth: number(facts.width),
    productHeight: number(facts.height),
    maxOrder: number(facts.maxOrder),
    'backorder.kind': facts.backorder?.kind ?? '',
    'backorder.limit': number(facts.backorder?.limit),
    'backorder.expectedOn': facts.backorder?.expectedOn ?? '',
    withdrawalExcluded: facts.withdrawalExcluded ?? '',
    'weight.amount': number(deliveryWeight?.amount),
    'weight.unit': deliveryWeight?.unit ?? 'gram',
    'reference.amount': number(reference?.amount),
    'reference.unit': reference?.unit ?? 'gram',
    'reference.content': number(reference?.content),
    'order.priceQuantity': number(orderUnit.priceQuantity),
    'order.unit': orderUnit.unit,
    'order.minimum': number(orderUnit.minimum),
    'order.interval': number(orderUnit.interval),
    'giftCard.minimum': amountText(facts.giftCard?.minimum[settings.defaultCurrency], context),
    'giftCard.maximum': amountText(facts.giftCard?.maximum[settings.defaultCurrency], context),
    'custom.is': flag(customisation !== undefined),
    'custom.length': customisation ? String(customisation.textLength) : '',
    'custom.required': flag(customisation?.isRequired),
    'custom.withdrawable': flag(customisation?.isWithdrawable),
    'custom.price': amountText(customisation?.prices?.[settings.defaultCurrency], context),
    'dataSheet.url': facts.dataSheet?.url ?? '',
    'dataSheet.fileName': facts.dataSheet?.fileName ?? '',
    videos: (facts.videos ?? []).map(videoAddress).join('\n'),
    ...Object.fromEntries(
      settings.shippingMethods.map(({ shippingMethodId }) => [
        `shipping.${shippingMethodId}`,
        flag(facts.shippingMethodIds?.includes(shippingMethodId)),
      ]),
    ),
    ...extraValues(shown, context),
    ...legalValues(facts, context),
  };
}

/** What consumer law and customs want to be known. */
function legalValues(
  { durabilityGuarantee: guarantee, environmentalClaims, ...facts }: ProductFacts,
  { settings, language }: ProductFormContext,
): ProductFormValues {
  return {
    'guarantee.years': guarantee ? decimalText(guarantee.years, language) : '',
    ...Object.fromEntries(GUARANTEE_TEXTS.map((key) => [`guarantee.${key}`, guarantee?.[key] ?? ''])),
    ...Object.fromEntries(
      settings.locales.flatMap((locale) => [
        [`claim.${locale}`, environmentalClaims?.[locale]?.claim ?? ''],
        [`claimSource.${locale}`, environmentalClaims?.[locale]?.source ?? ''],
      ]),
    ),
    ...Object.fromEntries(SINGLE_LEGAL_FACTS.map((key) => [`law.${key}`, facts[key] ?? ''])),
  };
}

/** Values that the operations of the contract can't change. */
function extraValues(facts: ProductFacts, context: ProductFormContext): ProductFormValues {
  const { energyLabel } = facts;
  return {
    specialOffer: flag(facts.specialOffer),
    isProductNumberVisible: flag(facts.isProductNumberVisible, true),
    ecoParticipationPrice: amountText(
      facts.ecoParticipationPrices?.[context.settings.defaultCurrency],
      context,
    ),
    shippingSurcharge: amountText(facts.shippingSurcharge?.[context.settings.defaultCurrency], context),
    'energy.classes': energyLabel?.classes ?? '',
    'energy.best': energyLabel?.best ?? '',
    'energy.file': energyLabel?.file ?? '',
    forSaleFrom: facts.forSaleFrom?.slice(0, 16) ?? '',
    forSaleUntil: facts.forSaleUntil?.slice(0, 16) ?? '',
  };
}

function localisedValues(facts: ProductFacts, { locales }: Settings): ProductFormValues {
  return Object.fromEntries(
    locales.flatMap((locale) => [
      ...LOCALISED.map((key): [string, string] => [
        `${key}.${locale}`,
        oneLineEnd(facts[key]?.[locale] ?? ''),
      ]),
      [`searchKeywords.${locale}`, (facts.searchKeywords?.[locale] ?? []).join(', ')],
      [`safetyText.${locale}`, oneLineEnd(facts.safety?.text?.[locale] ?? '')],
    ]),
  );
}

function headlineValues(
  customisation: ProductFacts['customisation'],
  { locales, defaultLocale }: Settings,
): ProductFormValues {
  const headlines = customisation ? headlineTexts(customisation, defaultLocale) : {};
  return Object.fromEntries(
    locales.map((locale) => [`customHeadline.${locale}`, oneLineEnd(headlines[locale] ?? '')]),
  );
}

function safetyValues({ safety }: ProductFacts): ProductFormValues {
  return Object.fromEntries(
    PARTIES.flatMap((party) =>
      PARTY_FIELDS.map((field) => [`safety.${party}.${field}`, safety?.[party]?.[field] ?? '']),
    ),
  );
}

function amountValues(
  name: string,
  prices: Prices | null | undefined,
  context: ProductFormContext,
): ProductFormValues {
  return Object.fromEntries(
    context.settings.currencies.map((currency) => [
      `${name}.${currency}`,
      amountText(prices?.[currency], context, currency),
    ]),
  );
}

function amountText(
  minor: number | undefined,
  { language, settings }: ProductFormContext,
  currency: string = settings.defaultCurrency,
): string {
  if (minor === undefined) return '';
  return decimalText(toDecimal(minor, currency), language, currencyDigits(currency));
}

/** In the default currency; other currencies are converted. */
function tierValues({ bulkPrices = [] }: ProductFacts, context: ProductFormContext): ProductFormValues {
  const { defaultCurrency } = context.settings;
  return Object.fromEntries(
    [...bulkPrices, ...Array<undefined>(EMPTY_ROWS)].flatMap((tier, index) => [
      [`tier.${index}.quantity`, tier ? decimalText(Number(tier.quantity), context.language) : ''],
      [`tier.${index}.price`, amountText(tier?.prices[defaultCurrency], context)],
    ]),
  );
}

function groupValues({ groupPrices = [] }: ProductFacts, context: ProductFormContext): ProductFormValues {
  const { defaultCurrency, customerGroups } = context.settings;
  return Object.fromEntries(
    customerGroups.flatMap(({ customerGroupId }) => {
      const tiers = groupPrices.find((one) => one.customerGroupId === customerGroupId)?.tiers ?? [];
      return [...tiers, ...Array<undefined>(2)].flatMap((tier, index) => {
        const at = `group.${customerGroupId}.${index}`;
        return [
          [`${at}.quantity`, tier ? decimalText(Number(tier.quantity), context.language) : ''],
          [`${at}.price`, amountText(tier?.prices[defaultCurrency], context)],
          [`${at}.discount`, tier?.discount ? decimalText(tier.discount / 100, context.language) : ''],
        ];
      });
    }),
  );
}

function videoAddress({ type, source }: { type: 'YouTube' | 'Vimeo'; source: string }): string {
  if (/^https?:/.test(source)) return source;
  return type === 'YouTube' ? `https://youtu.be/${source}` : `https://vimeo.com/${source}`;
}

function flag(value: boolean | undefined, standard = false): string {
  return (value ?? standard) ? 'yes' : 'no';
}

/**
 * Normalises a text for comparison: browsers send other line ends than are stored, and blanks at the ends do not
 * count.
 */
export function oneLineEnd(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}
