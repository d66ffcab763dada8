import type { Localised } from '../http/locale.ts';
import type { TaxType } from '../http/price.ts';
import type { ImageSizes } from '../platform/media/images.ts';
import type { DurabilityGuarantee, ProductFacts, WithdrawalExclusion } from '../catalogue/products/facts.ts';
import type { PricedTier } from '../catalogue/products/prices.ts';
import type { BasketDiscount, PaymentMethod, Settings, ShippingMethod } from '../shops/settings/settings.ts';
import type { CouponProblem } from './coupon-problems.ts';
import type { CouponInput, PaymentStatus } from './input.ts';
import type { ContentDeliveryOption } from './delivery-option.ts';
import type { DaySpan } from './delivery-span.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';
import { ratesOf, sum } from './shares.ts';

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
  subTotal: number;
  basketDiscount: number;
  coupon: {
    couponLineItemId: string;
    couponCampaignId: string;
    /** Its use is counted; null: it takes nothing off. */
    codeKey: string | null;
    terms: CouponTerms;
    amount: number;
    problems: CouponProblem[];
  } | null;
  shippingPrice: number;
  shipping: ContentShipping | null;
  payment: ContentPayment | null;
  /** When an order arrives, as its customer was told; missing: a cart, or unknown. */
  expectedDelivery?: DaySpan;
  /** The tax of the delivery; where costs have shares of the goods' rates, `serviceParts` has these. */
  serviceTaxClass: ContentTaxClass;
  /** How delivery and payment are taxed; missing: as the default tax class. */
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
  /** What an app has answered; missing: it is a method of the shop. */
  option?: ContentDeliveryOption;
}

/** The effect of a coupon, in the currency of the content: used again when an order is changed. */
export type CouponTerms = Pick<
  CouponInput,
  'kind' | 'amount' | 'waivesShipping' | 'minimumOrderValue' | 'productIds'
>;

export interface ContentLine {
  lineItemId: string;
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
  /** The text that the customer typed for it. */
  customText?: string;
  /** The headline of its text field; missing: the product has none. */
  customTextHeadline?: Localised;
  /** Missing: a consumer may withdraw from it. */
  withdrawalExcluded?: WithdrawalExclusion;
  /** The customer has agreed that it begins at once, and knows that the right of withdrawal ends with it. */
  withdrawalConsent?: WithdrawalConsent;
  durabilityGuarantee?: DurabilityGuarantee;
  /** For customs. */
  hsCode?: string;
  originCountry?: string;
}

export interface WithdrawalConsent {
  /** ISO 8601. */
  at: string;
  /** What the customer has agreed to, word for word. */
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
