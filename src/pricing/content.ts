import { waitsOf, type Wait } from './waiting.ts';
import type { Localised } from '../http/locale.ts';
import type { TaxType } from '../http/price.ts';
import type { ImageSizes } from '../platform/media/images.ts';
import { headlineTexts, withdrawalExclusion } from '../catalogue/products/custom-text.ts';
import type { DurabilityGuarantee, ProductFacts, WithdrawalExclusion } from '../catalogue/products/facts.ts';
import {
  inCurrency,
  priceIn,
  pricedTiers,
  withListPrices,
  type PricedTier,
} from '../catalogue/products/prices.ts';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import { selectionOf } from '../catalogue/products/render.ts';
import type { BasketDiscount, PaymentMethod, Settings, ShippingMethod } from '../shops/settings/settings.ts';
import type {
  CartCoupon,
  CartInput,
  CouponInput,
  CouponProblem,
  DeliveryOption,
  PaymentStatus,
  CartSelection,
  GiftCardWish,
  StoredLine,
} from './input.ts';
import type { CartProduct } from './cart-product.ts';
import {
  deliveryQuestion,
  optionInput,
  questionDigest,
  type ContentDeliveryOption,
  type DeliveryQuestion,
} from './delivery-option.ts';
import type { DaySpan } from './delivery-span.ts';
import {
  type AppPrice,
  type KnownLine,
  type LinePriceQuestion,
  type TaxQuestion,
  appPricesOf,
  linePriceQuestion,
  taxQuestion,
  taxesOfApps,
} from './app-terms.ts';
import { chosenParts } from './bundles.ts';
import { partLines, pricedBundle } from './part-lines.ts';
import {
  contentPromotions,
  findPromotionByCode,
  promotionsFor,
  type ContentPromotion,
} from './cart-promotions.ts';
import { priceListsFor } from './price-lists.ts';
import { toShownPrice, type AppliedTax } from './tax.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';
import { isGoodsClass, type ServiceTax } from './service-tax.ts';
import { ratesOf, sum } from './shares.ts';
import { cartTotals, type CartTotals, type LineTotals } from './totals.ts';
import type { Destination } from './delivery.ts';

/**
 * The result of a cart, with its texts in all languages of the shop: shown in answers, and stored in an order. Money
 * in minor units of the currency, rates in basis points.
 */
export interface Content {
  currency: string;
  taxType: TaxType;
  /**
   * The shop's tax model, if it differs from the tax type or the tax was taken off the shop's prices: limits, fixed
   * discounts and `shopPrices` use it. Missing: they use the tax type itself.
   */
  shopTaxModel?: 'GROSS' | 'NET';
  lines: ContentLine[];
  /** The bundles whose parts are among the lines; missing: none. */
  bundles?: ContentBundle[];
  subTotal: number;
  basketDiscount: number;
  coupon: {
    couponLineItemId: string;
    couponCampaignId: string;
    /** Its use is counted; null: it takes nothing off. */
    codeKey: string | null;
    /** Missing: it is the code of a promotion. */
    terms?: CouponTerms;
    amount: number;
    problems: CouponProblem[];
  } | null;
  /** Parts of the discounts, and what was taken off the delivery; missing: no promotion applies. */
  promotions?: ContentPromotion[];
  shippingPrice: number;
  shipping: ContentShipping | null;
  payment: ContentPayment | null;
  /** When an order arrives, as its customer was told; missing: a cart, or unknown. */
  expectedDelivery?: DaySpan;
  /** The tax of the delivery; where costs have shares of the goods' rates, `serviceParts` has these. */
  serviceTaxClass: ContentTaxClass;
  /** Apps have given the taxes of lines, delivery and payment; missing: they are the shop's own. */
  appTaxes?: { appIds: string[]; paymentTaxClass: ContentTaxClass };
  /** How delivery and payment are taxed; missing: as the default tax class, or as an app has said. */
  deliveryTax?: Exclude<Settings['deliveryTax'], 'standard'>;
  /** The basket discounts at that time. */
  offers: BasketDiscount[];
  /** By rate and treatment. */
  taxes: { rate: number; treatment?: TaxTreatment; amount: number; tax: number }[];
  totalTax: number;
  totalBeforeTax: number;
  grandTotal: number;
}

export interface ContentShipping {
  shippingMethodId: string;
  name: Localised;
  /** Where and when the customer collects the goods; missing: they are sent, or the shop has not said it. */
  pickup?: { place: Localised; hours: Localised };
  price: number;
  taxes: ContentTax[];
  /** The answer of an app; missing: it is a method of the shop. */
  option?: ContentDeliveryOption;
}

/** The effect of a coupon, in the currency of the content: used again when an order is changed. */
export type CouponTerms = Pick<
  CouponInput,
  'kind' | 'amount' | 'waivesShipping' | 'minimumOrderValue' | 'productIds'
>;

/** A bundle as a customer reads it. Its price is the sum of its parts' lines. */
export type ContentBundle = Pick<
  ContentLine,
  | 'lineItemId'
  | 'productId'
  | 'masterId'
  | 'productNumber'
  | 'name'
  | 'essentialFeatures'
  | 'orderUnit'
  | 'image'
  | 'customText'
  | 'customTextHeadline'
>;

export interface ContentLine {
  lineItemId: string;
  /** It is a part of this bundle; its price is for what one bundle holds of it. Missing: it is sold by itself. */
  bundleId?: string;
  productId: string;
  masterId: string | null;
  productNumber: string;
  name: Localised;
  variation: Localised | null;
  essentialFeatures: Localised | null;
  quantity: string;
  orderUnit: NonNullable<ProductFacts['orderUnit']>;
  unitPrice: number;
  quantityPrice: number;
  amount: number;
  /** The exact basis of the amounts; missing: the prices above. */
  shopPrices?: ShopPrices;
  /** Per unit; `deposit` and `ecoParticipation` are for all units. */
  unitDeposit: number;
  unitEcoParticipation: number;
  deposit: number;
  ecoParticipation: number;
  /** Shares of the basket discount and of the coupon, positive. */
  discountShare: number;
  couponShare: number;
  taxClass: ContentTaxClass;
  /** Per unit. */
  weight: ProductFacts['deliveryWeight'] | null;
  /** The surcharge for the delivery of one unit, in the shop's tax model; missing: none. */
  unitShippingSurcharge?: number;
  tiers: PricedTier[];
  reference: ProductFacts['reference'] | null;
  image: { imageKey: string; sizes: ImageSizes } | null;
  energyLabel: ProductFacts['energyLabel'] | null;
  dataSheet: string | null;
  /** The app that has given its price; missing: it is the shop's own, or was set by hand. */
  priceAppId?: string;
  /** The text that the customer typed for it. */
  customText?: string;
  /** The headline of its text field; missing: the product has none. */
  customTextHeadline?: Localised;
  /** Missing: a consumer may withdraw from it. */
  withdrawalExcluded?: WithdrawalExclusion;
  /** The customer has agreed that it begins at once, and knows that the right of withdrawal ends with it. */
  withdrawalConsent?: WithdrawalConsent;
  durabilityGuarantee?: DurabilityGuarantee;
  /** It is a gift card, for this recipient. An erasure leaves none. */
  giftCard?: Omit<GiftCardWish, 'value' | 'currency'>;
  /** For customs. */
  hsCode?: string;
  originCountry?: string;
}

export interface WithdrawalConsent {
  /** ISO 8601. */
  at: string;
  /** The text that the customer has agreed to, word for word. */
  text: string;
}

/**
 * The shop's prices, if its tax model differs from the tax type: shown prices are rounded, so a change of the order is
 * computed from these.
 */
export interface ShopPrices {
  /** null: the price was set by hand, in the tax type of the content. */
  quantityPrice: number | null;
  unitDeposit: number;
  unitEcoParticipation: number;
}

export interface ContentTaxClass {
  taxClassId: string;
  name: Localised;
  rate: number;
  /** Missing in orders from before it was stored: it follows from the rate and the destination. */
  treatment?: TaxTreatment;
  /** The rate in the shop's gross prices, where the tax was taken off them; missing: `rate`. */
  priceRate?: number;
  /** It is a service or a download, which has no share in the costs of the delivery; missing: goods. */
  isUndelivered?: true;
}

export interface ContentTax {
  taxClass: ContentTaxClass;
  /** The part of the price that is taxed so; missing in orders from before it was stored: all of it. */
  amount?: number;
  tax: number;
}

export interface ContentPayment {
  /** null: it was set by hand. */
  method: {
    paymentMethodId: string;
    name: Localised;
    providerName: string | null;
    additionalData: Record<string, string> | null;
  } | null;
  /** The name of a payment that was set by hand. */
  name: string | null;
  /** The provider's message. */
  transactionId: string | null;
  status: PaymentStatus | null;
  price: number;
  taxes: ContentTax[];
}

/** The sellable lines of a cart, and their totals. */
export interface PricedContent {
  content: Content;
  totals: CartTotals;
  /** The product of each line. */
  products: readonly CartProduct[];
  /** The product of each line as a customer reads it: `shownLines`. */
  soldProducts: readonly CartProduct[];
  /** What of the lines waits for stock, by their ids. */
  waits: ReadonlyMap<string, Wait>;
  /** The moment that it was priced for. */
  now: Date;
}

export function contentOf(cart: CartSelection, settings: Settings, now: Date): PricedContent {
  const { lines, sold, appPrices } = pricedLines(cart, settings, now);
  const option = chosenOption(cart);
  const { facts, appTaxes } = taxedInput(cart, { lines, sold }, settings, now);
  let totals = cartTotals(facts, settings);
  if (option && questionDigest(deliveryQuestion(facts, lines, totals, settings)) !== option.questionDigest) {
    const shipping = { ...facts.shipping, option: { ...facts.shipping.option!, isOutdated: true } };
    totals = cartTotals({ ...facts, shipping }, settings);
  }
  const isOther = isInOtherTerms(cart, totals, settings);
  const promotions = contentPromotions(totals.promotions, facts.promotions ?? [], sold, settings);
  const isAlone = promotions.some(({ terms }) => !terms.combines);
  const content: Content = {
    currency: cart.currency,
    taxType: cart.taxType,
    lines: lines.map((line, index) => {
      const appPrice = appPrices.get(line.bundle?.lineItemId ?? line.line.lineItemId);
      const content = contentLine(line, totals.lines[index]!, isOther, cart, settings);
      return appPrice ? { ...content, priceAppId: appPrice.appId } : content;
    }),
    subTotal: totals.subTotal,
    basketDiscount: totals.basketDiscount,
    coupon: totals.coupon && {
      couponLineItemId: cart.couponLineItemId!,
      couponCampaignId:
        cart.coupon?.campaignId ?? findPromotionByCode(cart.couponCodeKey!, settings)!.promotionId,
      codeKey: totals.coupon.problems.length === 0 ? (cart.coupon?.codeKey ?? cart.couponCodeKey!) : null,
      ...(cart.coupon && { terms: couponTerms(cart.coupon, cart.currency, settings) }),
      amount: totals.coupon.amount,
      problems: [...totals.coupon.problems],
    },
    shippingPrice: totals.shipping?.price ?? 0,
    shipping: totals.shipping && {
      ...contentDelivery(totals.shipping.method, settings),
      price: totals.shipping.price,
      taxes: contentTaxes(totals.shipping.taxes, settings),
      ...(option && totals.delivery.isChosen && { option: contentOption(option) }),
    },
    payment: totals.payment && {
      method: totals.payment.method && contentMethod(totals.payment.method, settings),
      name: cart.paymentName,
      transactionId: cart.paymentTransactionId,
      status: cart.paymentStatus,
      price: totals.payment.price,
      taxes: contentTaxes(totals.payment.taxes, settings),
    },
    serviceTaxClass: contentTaxClass(totals.serviceTax, settings),
    // One that does not combine excludes them, also when the order is changed.
    offers: isAlone ? [] : [...totals.offers],
    taxes: totals.taxes.map(({ treatment, ...tax }) => ({ ...tax, ...(treatment && { treatment }) })),
    totalTax: totals.totalTax,
    totalBeforeTax: totals.totalBeforeTax,
    grandTotal: totals.grandTotal,
    // Last, because fields that follow a spread in a literal are slow.
    ...(sold.some(({ parts }) => parts) && { bundles: contentBundles(sold, settings) }),
    ...(isOther && { shopTaxModel: settings.taxModel }),
    ...(promotions.length > 0 && { promotions }),
    ...(settings.deliveryTax !== 'standard' && !appTaxes && { deliveryTax: settings.deliveryTax }),
    ...(appTaxes && {
      appTaxes: {
        appIds: appTaxes.appIds,
        paymentTaxClass: contentTaxClass(totals.paymentTax!, settings),
      },
    }),
  };
  const productsOf = (some: readonly KnownLine[]) => some.map(({ product }) => product);
  const products = productsOf(lines);
  return {
    content,
    totals,
    products,
    soldProducts: productsOf(sold),
    waits: waitsOf(content.lines, products, settings, now),
    now,
  };
}

/**
 * What apps are asked about the delivery of this cart: as it would be with an option of an app, because the shown prices
 * of goods that are collected may differ. undefined: nothing is shipped, or it is not known where to.
 */
export function deliveryQuestionOf(
  cart: CartSelection,
  settings: Settings,
  now: Date,
): DeliveryQuestion | undefined {
  const { lines, sold } = pricedLines(cart, settings, now);
  const selection = { ...cart, shippingMethodId: ANY_OPTION.shippingMethodId, deliveryOption: ANY_OPTION };
  const { facts } = taxedInput(selection, { lines, sold }, settings, now);
  const totals = cartTotals(facts, settings);
  if (!totals.delivery.isNeeded || facts.country === null) return undefined;
  return deliveryQuestion(facts, lines, totals, settings);
}

const ANY_OPTION: DeliveryOption = {
  shippingMethodId: '00000000-0000-8000-8000-000000000000',
  appId: '',
  optionId: '',
  name: {},
  price: 0,
  fixedPrice: null,
  days: null,
  questionDigest: '',
};

/** The answer of an app for the chosen method; null: it is a method of the shop. */
function chosenOption({ deliveryOption, shippingMethodId }: CartSelection): DeliveryOption | null {
  return deliveryOption && deliveryOption.shippingMethodId === shippingMethodId ? deliveryOption : null;
}

/** The lines of a cart: those of a bundle's parts, and the bundle itself. */
interface PricedLines {
  lines: readonly KnownLine[];
  sold: readonly KnownLine[];
}

function inputOf(
  cart: CartSelection,
  { lines, sold }: PricedLines,
  settings: Settings,
  now: Date,
): CartInput {
  const { country, postcode } = destinationOf(cart);
  const option = chosenOption(cart);
  return {
    currency: cart.currency,
    taxType: cart.taxType,
    country,
    postcode,
    vatNumber: confirmedVatNumber(cart.buyer),
    customerGroupId: cart.customerGroupId,
    lines,
    coupon: cart.couponLineItemId === null || !cart.coupon ? null : couponFacts(cart.coupon, now),
    ...promotionsFor(cart, sold, { country, settings, now }),
    shipping: {
      methodId: cart.shippingMethodId,
      price: cart.shippingPrice ?? option?.price ?? null,
      ...(option && { option: optionInput(option) }),
    },
    payment: { methodId: cart.paymentMethodId, price: cart.paymentPrice },
  };
}

/** What apps are asked about the prices of this cart; undefined: it has no line whose price is open. */
export function linePriceQuestionOf(
  cart: CartSelection,
  settings: Settings,
  now: Date,
): LinePriceQuestion | undefined {
  return linePriceQuestion(cart, knownLines(cart, settings, now), settings);
}

/** What apps are asked about the taxes of this cart; undefined: there is nothing to ask. */
export function taxQuestionOf(cart: CartSelection, settings: Settings, now: Date): TaxQuestion | undefined {
  const { lines, sold } = pricedLines(cart, settings, now);
  return taxQuestion(inputOf(cart, { lines, sold }, settings, now), lines, settings);
}

/** The input of the totals, with the taxes that apps have given. */
function taxedInput(cart: CartSelection, { lines, sold }: PricedLines, settings: Settings, now: Date) {
  const facts = inputOf(cart, { lines, sold }, settings, now);
  const appTaxes = taxesOfApps(cart.appTaxes, facts, lines, settings);
  if (!appTaxes) return { facts, appTaxes };
  const taxed = lines.map((line) => ({ ...line, appTax: appTaxes.lines.get(line.line.lineItemId) }));
  return { facts: { ...facts, lines: taxed, serviceTaxes: appTaxes.services }, appTaxes };
}

/** The lines with the prices that apps have given for them. */
function pricedLines(
  cart: CartSelection,
  settings: Settings,
  now: Date,
): PricedLines & { appPrices: ReadonlyMap<string, AppPrice> } {
  const known = knownLines(cart, settings, now);
  const appPrices = appPricesOf(cart, known, settings);
  const sold =
    appPrices.size === 0
      ? known
      : known.map((line) => ({ ...line, appPrice: appPrices.get(line.line.lineItemId)?.price }));
  if (!sold.some(({ parts }) => parts)) return { lines: sold, sold, appPrices };
  return { lines: sold.flatMap((line) => partLines(line, cart, settings)), sold, appPrices };
}

/**
 * A product that was deleted, or has lost its price, cannot be sold: its line is left out. In a currency that the shop
 * has given up, no product can be sold.
 */
function knownLines(cart: CartSelection, settings: Settings, now: Date): KnownLine[] {
  if (!settings.currencies.includes(cart.currency)) return [];
  const byId = new Map(cart.products.map((product) => [product.productId, product]));
  const priceListIds = priceListsFor(cart.customerGroupId, settings, now);
  return cart.lines.flatMap((line) => {
    const found = byId.get(line.productId);
    if (!found) return [];
    const bundle = found.facts.parts && { parts: chosenParts(found.facts.parts, line.parts ?? [], byId) };
    if (bundle && !bundle.parts) return [];
    const sold = bundle?.parts ? pricedBundle(found, bundle.parts, settings) : found;
    const product = withListPrices(sold, cart.customerGroupId, priceListIds);
    const hasPrice = line.price !== undefined || priceIn(product.prices, cart.currency, settings) !== null;
    if (!hasPrice) return [];
    const { quantity, customText } = line;
    const price = line.price ?? wantedValue(line, product, cart.currency);
    const hasCustomText = customText !== undefined;
    return [{ line, quantity, price, hasCustomText, product, ...(bundle && { parts: bundle.parts }) }];
  });
}

/** The bundles of a content, as a customer reads them. */
function contentBundles(sold: readonly KnownLine[], settings: Settings): ContentBundle[] {
  return sold.flatMap(({ line, parts, product }): ContentBundle[] => {
    if (!parts) return [];
    const { lineItemId, productId, customText } = line;
    const { masterId, productNumber, facts, image } = product;
    return [
      {
        lineItemId,
        productId,
        masterId,
        productNumber,
        name: facts.name ?? { [settings.defaultLocale]: productNumber },
        essentialFeatures: facts.essentialFeatures ?? null,
        orderUnit: facts.orderUnit ?? ORDER_UNIT,
        image,
        ...(customText !== undefined && typedFor(customText, product, settings)),
      },
    ];
  });
}

/** The value that the customer has chosen for a gift card; null: the price of the product. */
export function wantedValue(
  { giftCard }: Pick<StoredLine, 'giftCard'>,
  product: Pick<CartProduct, 'giftCard'>,
  currency: string,
): number | null {
  return product.giftCard && giftCard?.currency === currency ? giftCard.value : null;
}

function contentOption({ appId, optionId, days, fixedPrice }: DeliveryOption): ContentDeliveryOption {
  return { appId, optionId, days, isFixedPrice: fixedPrice !== null };
}

/** The destination of the goods: the delivery address, else the billing address. */
export function destinationOf({
  shippingAddress,
  billingAddress,
}: Pick<CartSelection, 'shippingAddress' | 'billingAddress'>): Destination {
  const address = shippingAddress ?? billingAddress;
  return { country: address?.country ?? null, postcode: address?.zipCode ?? null };
}

/** A number that was not confirmed counts as none: then tax is charged. */
function confirmedVatNumber(buyer: CartSelection['buyer']): string | null {
  return buyer?.vatCheck?.result === 'valid' ? buyer.vatCheck.vatNumber : null;
}

function couponFacts(coupon: CartCoupon, now: Date): CouponInput {
  const isFull = (used: number, limit: number | null) => limit !== null && used >= limit;
  return {
    ...coupon,
    isWithdrawn: coupon.withdrawnAt !== null,
    isUsedUp:
      isFull(coupon.used, coupon.usageLimit) || isFull(coupon.campaignUsed, coupon.campaignUsageLimit),
    isInTime:
      !(coupon.validFrom && new Date(coupon.validFrom) > now) &&
      !(coupon.validTo && new Date(coupon.validTo) <= now),
  };
}

function couponTerms(coupon: CartCoupon, currency: string, settings: Settings): CouponTerms {
  const { kind, amount, minimumOrderValue, waivesShipping, productIds } = coupon;
  const converted = (minor: number | null) => minor && inCurrency(minor, currency, settings, coupon.currency);
  return {
    kind,
    amount: kind === 'FIX' ? converted(amount) : amount,
    minimumOrderValue: converted(minimumOrderValue),
    waivesShipping,
    productIds,
  };
}

function contentLine(
  { line, product, bundle }: KnownLine,
  totals: LineTotals,
  isOther: boolean,
  cart: CartSelection,
  settings: Settings,
): ContentLine {
  const { currency, taxType } = cart;
  const { facts, master } = product;
  const shopPrices: ShopPrices = {
    quantityPrice: totals.shopQuantityPrice,
    unitDeposit: priceIn(product.depositPrices, currency, settings) ?? 0,
    unitEcoParticipation: priceIn(product.ecoParticipationPrices, currency, settings) ?? 0,
  };
  const withdrawalExcluded = withdrawalExclusion(
    facts.withdrawalExcluded,
    product.customisation,
    line.customText,
  );
  const surcharge = priceIn(product.shippingSurcharge, currency, settings) ?? 0;
  const inTerms = (minor: number) => toShownPrice(minor, totals, settings.taxModel, taxType);
  return {
    lineItemId: line.lineItemId,
    ...(bundle && { bundleId: bundle.lineItemId }),
    productId: line.productId,
    masterId: product.masterId,
    productNumber: product.productNumber,
    name: facts.name ?? { [settings.defaultLocale]: master?.productNumber ?? product.productNumber },
    variation: variationOf(product, settings),
    essentialFeatures: facts.essentialFeatures ?? null,
    quantity: line.quantity,
    orderUnit: facts.orderUnit ?? ORDER_UNIT,
    unitPrice: totals.unitPrice,
    quantityPrice: totals.quantityPrice,
    amount: totals.amount,
    ...(isOther && { shopPrices }),
    unitDeposit: inTerms(shopPrices.unitDeposit),
    unitEcoParticipation: inTerms(shopPrices.unitEcoParticipation),
    deposit: totals.deposit,
    ecoParticipation: totals.ecoParticipation,
    discountShare: totals.discountShare,
    couponShare: totals.couponShare,
    taxClass: contentTaxClass(totals, settings),
    weight: facts.deliveryWeight ?? null,
    ...(surcharge > 0 && { unitShippingSurcharge: surcharge }),
    tiers: pricedTiers(facts.bulkPrices ?? [], currency, settings).map((tier) => ({
      ...tier,
      price: inTerms(tier.price),
      regularPrice: inTerms(tier.regularPrice),
    })),
    reference: facts.reference ?? null,
    image: product.image,
    energyLabel: facts.energyLabel ?? null,
    dataSheet: facts.dataSheet?.url ?? null,
    ...(line.customText !== undefined && typedFor(line.customText, product, settings)),
    ...(withdrawalExcluded && { withdrawalExcluded }),
    ...(facts.durabilityGuarantee && { durabilityGuarantee: facts.durabilityGuarantee }),
    ...(facts.giftCard && { giftCard: recipientOf(line) }),
    ...(facts.hsCode !== undefined && { hsCode: facts.hsCode }),
    ...(facts.originCountry !== undefined && { originCountry: facts.originCountry }),
  };
}

function recipientOf({ giftCard }: StoredLine): NonNullable<ContentLine['giftCard']> {
  if (!giftCard) return {};
  const { value: _value, currency: _currency, ...recipient } = giftCard;
  return recipient;
}

function typedFor(
  customText: string,
  { customisation }: CartProduct,
  { defaultLocale }: Settings,
): Pick<ContentLine, 'customText' | 'customTextHeadline'> {
  const headlines = customisation ? headlineTexts(customisation, defaultLocale) : {};
  return { customText, ...(Object.keys(headlines).length > 0 && { customTextHeadline: headlines }) };
}

/** Whether the amounts of a cart differ from the shop's prices. */
function isInOtherTerms(
  { taxType }: Pick<CartSelection, 'taxType'>,
  { lines, serviceTax }: CartTotals,
  { taxModel }: Settings,
): boolean {
  if (taxType === 'NONE') return false;
  const isTakenOff = [serviceTax, ...lines].some(({ taxRate, priceRate }) => taxRate !== priceRate);
  return taxType !== taxModel || (isTakenOff && taxModel === 'GROSS');
}

/** `Colour: blue, Size: small`, in each language of the shop. */
function variationOf(product: CartProduct, settings: Settings): Localised | null {
  if (!product.selection) return null;
  return Object.fromEntries(
    settings.locales.map((locale) => [
      locale,
      selectionOf(product, settings, locale)!
        .map(({ displayName, displayValue }) => `${displayName}: ${displayValue}`)
        .join(', '),
    ]),
  );
}

function contentTaxes(taxes: readonly ServiceTax[], settings: Settings): ContentTax[] {
  return taxes.map(({ taxClass, rate, treatment, amount, tax }) => ({
    taxClass: contentTaxClass({ taxClass, taxRate: rate, priceRate: rate, treatment }, settings),
    amount,
    tax,
  }));
}

function contentTaxClass(tax: AppliedTax, settings: Settings): ContentTaxClass {
  const { taxClass, taxRate, priceRate, treatment } = tax;
  return {
    taxClassId: taxClass.taxClassId,
    name: named(taxClass, settings),
    rate: taxRate,
    ...(treatment && { treatment }),
    ...(priceRate !== taxRate && { priceRate }),
    ...(!isGoodsClass(taxClass) && { isUndelivered: true }),
  };
}

/** The taxes of a content by rate alone, as customers read them. */
export function taxesByRate(taxes: Content['taxes']): { rate: number; amount: number; tax: number }[] {
  return ratesOf(taxes.map(({ rate }) => rate)).map((rate) => {
    const ofRate = taxes.filter((one) => one.rate === rate);
    return {
      rate,
      amount: sum(ofRate.map(({ amount }) => amount)),
      tax: sum(ofRate.map(({ tax }) => tax)),
    };
  });
}

/** The rates of a stored tax class. */
export function ratesOfClass({ rate, priceRate = rate }: ContentTaxClass): {
  taxRate: number;
  priceRate: number;
} {
  return { taxRate: rate, priceRate };
}

/** A part of the costs of delivery and payment that is taxed at one rate. */
export interface ServicePart {
  taxClass: ContentTaxClass;
  shipping: number;
  /** A surcharge; a discount for the payment is spread over everything. */
  payment: number;
}

/** The costs of delivery and payment by rate and treatment. */
export function serviceParts({ shippingPrice, shipping, payment, serviceTaxClass }: Content): ServicePart[] {
  const surcharge = Math.max(payment?.price ?? 0, 0);
  const parts: ServicePart[] = [];
  const add = (taxes: readonly ContentTax[], price: number, key: 'shipping' | 'payment') => {
    const isStored = taxes.length > 0 && taxes.every(({ amount }) => amount !== undefined);
    const stored = isStored ? taxes : [{ taxClass: serviceTaxClass, amount: price }];
    for (const { taxClass, amount = 0 } of stored) {
      const isAlike = (part: ServicePart) =>
        part.taxClass.rate === taxClass.rate && part.taxClass.treatment === taxClass.treatment;
      let part = parts.find(isAlike);
      if (!part) parts.push((part = { taxClass, shipping: 0, payment: 0 }));
      part[key] += amount;
    }
  };
  add(shipping?.taxes ?? [], shippingPrice, 'shipping');
  add(surcharge > 0 ? payment!.taxes : [], surcharge, 'payment');
  return parts;
}

/** A shipping method as an order stores it. */
export function contentDelivery(
  method: ShippingMethod,
  settings: Settings,
): Pick<ContentShipping, 'shippingMethodId' | 'name' | 'pickup'> {
  const { shippingMethodId, kind, place, hours } = method;
  const isSaid = kind === 'pickup' && [place, hours].some((texts) => Object.keys(texts).length > 0);
  return { shippingMethodId, name: named(method, settings), ...(isSaid && { pickup: { place, hours } }) };
}

export function contentMethod(
  method: PaymentMethod,
  settings: Settings,
): NonNullable<ContentPayment['method']> {
  return {
    paymentMethodId: method.paymentMethodId,
    name: named(method, settings),
    providerName: method.providerLabel ?? method.providerName,
    additionalData: method.additionalData,
  };
}

/** The key stands in for a missing name. */
export function named(
  { name, key }: { name: Localised; key: string },
  { defaultLocale }: Settings,
): Localised {
  return Object.keys(name).length === 0 ? { [defaultLocale]: key } : name;
}
