import {
  MAX_WEB_ADDRESS_LENGTH,
  SINGLE_LEGAL_FACTS,
  type SingleLegalFact,
} from '../../catalogue/products/legal-facts.ts';
import { MAX_LENGTHS } from '../../catalogue/products/request-fields.ts';
import { MAX_FIELD_LENGTH, type FormLimits, type TextLimit } from '../../http/form-fields.ts';
import { adminMessagesIn, type AdminMessages } from '../messages.ts';

/** A field of the form of a product, by which it is shown, bounded and named in refusals. */
export interface ProductField {
  label: string;
  kind?: 'text' | 'decimal' | 'date' | 'datetime-local' | 'long text' | 'rich text' | 'choice' | 'tick';
  hint?: string;
  rows?: number;
  maxLength?: TextLimit;
  inputMode?: 'numeric';
  isRequired?: boolean;
  /** The choice of none. */
  empty?: string;
}

/** Words with separators. */
const MAX_KEYWORDS_LENGTH = MAX_LENGTHS.words * (MAX_LENGTHS.word + 2);

/** `*` stands for a language, a currency, a row or an id. */
export function productFieldsIn({ products }: AdminMessages): Readonly<Record<string, ProductField>> {
  const { fields, law, backorder } = products;
  const decimal = (label: string, hint?: string) =>
    ({ kind: 'decimal', label, ...(hint !== undefined && { hint }) }) as const;
  const tick = (label: string) => ({ kind: 'tick', label }) as const;
  const hints: Readonly<Partial<Record<SingleLegalFact, string>>> = law.singleHints;
  return {
    'name.*': { label: fields.name },
    'shortDescription.*': {
      kind: 'rich text',
      label: fields.shortDescription,
      rows: 2,
      maxLength: MAX_LENGTHS.text,
    },
    'description.*': {
      kind: 'rich text',
      label: fields.description,
      hint: fields.descriptionHint,
      rows: 8,
      maxLength: MAX_LENGTHS.text,
    },
    'essentialFeatures.*': {
      kind: 'long text',
      label: fields.essentialFeatures,
      hint: fields.essentialFeaturesHint,
      rows: 3,
      maxLength: MAX_LENGTHS.features,
    },
    'title.*': { label: fields.title, hint: fields.titleHint },
    'searchKeywords.*': {
      label: fields.searchKeywords,
      hint: fields.searchKeywordsHint,
      maxLength: MAX_KEYWORDS_LENGTH,
    },
    'price.*': decimal(fields.price),
    'manufacturerPrice.*': decimal(fields.listPrice),
    'depositPrice.*': decimal(fields.deposit),
    taxClassId: { kind: 'choice', label: fields.taxClass },
    ecoParticipationPrice: decimal(fields.ecoParticipation),
    isManufacturerPriceRRP: tick(fields.isRrp),
    'reference.content': decimal(fields.refContent),
    'reference.amount': decimal(fields.refAmount),
    'reference.unit': { kind: 'choice', label: fields.unit },
    'tier.*.quantity': decimal(fields.fromQuantity),
    'tier.*.price': decimal(fields.unitPrice),
    'group.*.*.quantity': decimal(fields.fromQuantity),
    'group.*.*.price': decimal(fields.unitPrice),
    'group.*.*.discount': decimal(fields.discount),
    productNumber: { label: fields.productNumber, maxLength: 100, isRequired: true },
    ean: { label: fields.ean, inputMode: 'numeric' },
    manufacturerProductNumber: { label: fields.manufacturerProductNumber },
    stock: decimal(fields.stock, fields.stockHint),
    minStock: decimal(fields.minStock, fields.minStockHint),
    'backorder.kind': { kind: 'choice', label: backorder.kind, empty: backorder.none },
    'backorder.limit': decimal(backorder.limit, backorder.limitHint),
    'backorder.expectedOn': { kind: 'date', label: backorder.expectedOn, hint: backorder.expectedOnHint },
    deliveryPeriod: { label: fields.deliveryPeriod, hint: fields.deliveryPeriodHint },
    'order.unit': { kind: 'choice', label: fields.orderUnit },
    'order.priceQuantity': decimal(fields.priceQuantity),
    'order.minimum': decimal(fields.minOrder),
    'order.interval': decimal(fields.intervalOrder),
    maxOrder: decimal(fields.maxOrder),
    upc: { label: fields.upc },
    productCode: { label: fields.productCode },
    'weight.amount': decimal(fields.weight),
    'weight.unit': { kind: 'choice', label: fields.unit },
    productLength: decimal(fields.length),
    productWidth: decimal(fields.width),
    productHeight: decimal(fields.height),
    shippingSurcharge: decimal(fields.shippingSurcharge, fields.shippingSurchargeHint),
    'shipping.*': tick(fields.shippingMethods),
    isShippingLinkVisible: tick(fields.isShippingLinkVisible),
    manufacturer: { label: fields.manufacturer },
    'safety.*.name': { label: fields.party.name },
    'safety.*.address': { label: fields.party.address },
    'safety.*.contact': { label: fields.party.contact },
    'safetyText.*': {
      kind: 'long text',
      label: fields.safetyText,
      rows: 3,
      maxLength: MAX_LENGTHS.features,
    },
    'energy.classes': { label: fields.energyClasses, hint: fields.energyClassesHint },
    'energy.best': { label: fields.energyBest },
    'energy.file': { label: fields.energyFile },
    'guarantee.years': decimal(law.guaranteeFields.years),
    'guarantee.brand': { label: law.guaranteeFields.brand, maxLength: 500 },
    'guarantee.model': { label: law.guaranteeFields.model, maxLength: 500 },
    'guarantee.guarantor': { label: law.guaranteeFields.guarantor, maxLength: 500 },
    'guarantee.address': { label: law.guaranteeFields.address, maxLength: 500 },
    'guarantee.termsUrl': { label: law.guaranteeFields.termsUrl, maxLength: MAX_WEB_ADDRESS_LENGTH },
    'claim.*': { label: law.claim },
    'claimSource.*': { label: law.claimSource },
    ...Object.fromEntries(
      SINGLE_LEGAL_FACTS.map((key) => [
        `law.${key}`,
        {
          label: law.single[key],
          ...(hints[key] !== undefined && { hint: hints[key] }),
          ...(key === 'productPassport' && { maxLength: MAX_WEB_ADDRESS_LENGTH }),
        },
      ]),
    ),
    'giftCard.minimum': decimal(fields.giftCardMinimum),
    'giftCard.maximum': decimal(fields.giftCardMaximum),
    'custom.is': tick(fields.customIs),
    'customHeadline.*': { label: fields.customHeadline },
    'custom.length': decimal(fields.customLength),
    'custom.price': decimal(fields.customPrice),
    'custom.required': tick(fields.customRequired),
    'custom.withdrawable': tick(fields.customWithdrawable),
    // One video per line; a product has 50.
    videos: {
      kind: 'long text',
      label: fields.videos,
      hint: fields.videosHint,
      rows: 2,
      maxLength: { characters: 30_000, lines: 100 },
    },
    'dataSheet.url': { label: fields.dataSheet, maxLength: 2_000 },
    'dataSheet.fileName': { label: fields.dataSheetName },
    withdrawalExcluded: { kind: 'choice', label: fields.withdrawal, empty: fields.withdrawalAllowed },
    visible: tick(fields.visible),
    specialOffer: tick(fields.specialOffer),
    isNew: tick(fields.isNew),
    newnessDate: { kind: 'date', label: fields.newUntil },
    isProductNumberVisible: tick(fields.isProductNumberVisible),
    isVATInfoVisible: tick(fields.isVatInfoVisible),
    forSaleFrom: { kind: 'datetime-local', label: fields.forSaleFrom },
    forSaleUntil: { kind: 'datetime-local', label: fields.forSaleUntil },
    productTypeId: { kind: 'choice', label: fields.productType },
  };
}

/** Finds the declaration of an input: that of `price.*` for `price.EUR`. */
export function productFieldFinder(messages: AdminMessages): (name: string) => ProductField | undefined {
  const declared = productFieldsIn(messages);
  const patterns = Object.keys(declared).filter((pattern) => pattern.includes('*'));
  const steps = patterns.map((pattern) => pattern.split('.'));
  return (name) => {
    const wanted = name.split('.');
    const found = steps.findIndex(
      (pattern) =>
        pattern.length === wanted.length &&
        pattern.every((step, index) => step === '*' || step === wanted[index]),
    );
    return declared[name] ?? declared[patterns[found] ?? ''];
  };
}

/** The limits of the form of a product. */
export const PRODUCT_LIMITS: FormLimits = {
  texts: Object.fromEntries(
    Object.entries(productFieldsIn(adminMessagesIn('en'))).flatMap(([name, { maxLength }]) => {
      // A text that is too long only for the operation is refused by it, and the page keeps what was typed.
      const isUsual =
        maxLength === undefined || (typeof maxLength === 'number' && maxLength <= MAX_FIELD_LENGTH);
      return isUsual ? [] : [[name, maxLength]];
    }),
  ),
  // Every category of the product is a checked box, and every price of every group a field.
  values: 3_000,
};
