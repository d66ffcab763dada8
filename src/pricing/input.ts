import type { TaxType } from '../http/price.ts';
import type { CartProduct, PricedProduct } from './cart-product.ts';
import type { Address } from '../shops/countries/address.ts';
import type { Buyer } from '../shops/vat-numbers/buyer.ts';
import type { Settings, ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import type { Localised } from '../http/locale.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';
import type { WorkingDays } from './delivery-span.ts';

/** The complete input for the totals of a cart. */
export interface CartInput {
  currency: string;
  taxType: TaxType;
  /** Destination country of the goods; null: unknown, so the shop's own country applies. */
  country: string | null;
  /** The postcode there, which zones of shipping methods and taxes may depend on; null: unknown. */
  postcode: string | null;
  /** The VAT number of a business, if the tax authorities have confirmed it. */
  vatNumber: string | null;
  customerGroupId: string | null;
  lines: readonly LineInput[];
  coupon: CouponInput | null;
  /** In the order in which they apply; missing: none. */
  promotions?: readonly PromotionInput[];
  /** The cart has the code of a promotion: why it can't apply. Empty: it is among the promotions. */
  promotionProblems?: readonly CouponProblem[];
  /** The chosen method, and the price set by hand, in minor units of the cart's currency. */
  shipping: {
    methodId: string | null;
    price: number | null;
    /** The chosen method, if an app offers it; outdated: it was offered for another content or destination. */
    option?: { method: ShippingMethod; zone: ShippingZone | null; isOutdated: boolean } | undefined;
  };
  /** The taxes that an app has given for delivery and payment; missing: those of the shop. */
  serviceTaxes?: { delivery?: GivenTax; payment: GivenTax } | undefined;
  /** A price set by hand stands for a payment outside the shop's methods. */
  payment: { methodId: string | null; price: number | null };
}

/** A way to deliver a cart that an app offers, as a cart stores it with the answer. */
export interface DeliveryOption {
  /** Made from the app and its name for the option, so that it stands wherever a shipping method does. */
  shippingMethodId: string;
  appId: string;
  /** Its name for the option. */
  optionId: string;
  name: Localised;
  /** Minor units of the cart's currency, in its tax type; null: the fixed price. */
  price: number | null;
  /** The merchant has agreed to it for when the app does not answer: minor units of the shop; null: the app has answered. */
  fixedPrice: number | null;
  /** In transit; null: unknown. */
  days: WorkingDays | null;
  /** Of the question that was answered: the option is for no other content and destination. */
  questionDigest: string;
}

/** What apps have answered about a cart, as the cart stores it. */
export interface AppAnswers<Answer extends { appId: string }> {
  /** Of the question that was answered: the answers are for no other one. */
  questionDigest: string;
  /** ISO 8601: the apps need not be asked again before. */
  until: string;
  answers: Answer[];
  /** The name of an app that has not answered, and without which the cart is not ordered; null: all have. */
  missing: string | null;
}

/** Prices by line: minor units of the cart's currency, in the tax model of the shop. A line is priced by one app. */
export type LinePrices = AppAnswers<{ appId: string; lines: Record<string, number> }>;

/** Taxes, and which of them each line has, the delivery and the payment: by their place in the list. */
export type AppTaxes = AppAnswers<{
  appId: string;
  taxes: GivenTax[];
  lines: Record<string, number>;
  delivery: number;
  payment: number;
}>;

/** A tax that an app has given. */
export interface GivenTax {
  name: Localised;
  /** Basis points. */
  rate: number;
  /** Of an order, which keeps it; missing: it follows from how the shop itself would tax it. */
  treatment?: TaxTreatment;
}

export interface LineInput {
  /** An exact decimal: "7.5". */
  quantity: string;
  /** The unit price set by hand, in minor units and in the terms of the cart; null: the product's. */
  price: number | null;
  /** The units that a price set by hand is for; missing: 1. */
  priceUnits?: number | undefined;
  /** The customer has typed a text for it, which may cost extra; a price set by hand, or by an app, includes it. */
  hasCustomText?: boolean;
  /**
   * What an app has answered instead of the shop's own price, for the same amount and in the same terms: minor units of
   * the cart's currency, in the tax model of the shop. undefined: the shop's own.
   */
  appPrice?: number | undefined;
  /** The tax that an app has given; undefined: the shop's own. */
  appTax?: GivenTax | undefined;
  product: PricedProduct;
  /** It is a part of this bundle, which promotions and coupons look at instead. */
  bundle?: LineBundle | undefined;
}

export interface LineBundle {
  lineItemId: string;
  /** How many bundles. */
  quantity: string;
  product: Pick<PricedProduct, 'productId' | 'masterId'>;
}

/** Why a coupon does not apply, in the contract's words and order. */
export const COUPON_PROBLEMS = [
  'LineItemsSubTotalTooSmall',
  'CouponIsInvalidated',
  'ValidCouponCountReached',
  'CouponNotEffective',
  'PaymentMethodMisMatch',
  'ShippingMethodMisMatch',
  'ProductMisMatch',
] as const;
export type CouponProblem = (typeof COUPON_PROBLEMS)[number];

export interface CouponInput {
  kind: 'FIX' | 'PERCENT' | 'SHIPPING';
  currency: string;
  /** FIX: minor units of its currency; PERCENT: basis points; SHIPPING: null. */
  amount: number | null;
  waivesShipping: boolean;
  /** Minor units of its currency. */
  minimumOrderValue: number | null;
  isWithdrawn: boolean;
  isUsedUp: boolean;
  isInTime: boolean;
  /** Its restrictions; null: none. A master stands for its variations. */
  productIds: readonly string[] | null;
  shippingMethodIds: readonly string[] | null;
  paymentMethodIds: readonly string[] | null;
}

/** A promotion that may apply to a cart: it runs, its customer and its destination are the right ones. */
export interface PromotionInput {
  promotionId: string;
  /** The customer has typed its code. */
  isCoupon: boolean;
  /** Together with others; else the cart has it alone, or without it all others. */
  combines: boolean;
  /** By line: whether it counts for the conditions. */
  counts: readonly boolean[];
  /** By line: what it takes something off. Of a promotion for the delivery, nothing. */
  rewards: readonly boolean[];
  isForDelivery: boolean;
  /** The value that the counted goods must have, before all discounts. */
  minimumAmount: number;
  /** How many of them there must be. */
  minimumQuantity: number;
  effect: PromotionEffect;
}

export type PromotionEffect =
  | { kind: 'percent'; basisPoints: number }
  | { kind: 'amount'; amount: number }
  /** For one unit, or for the delivery. What costs less stays as it is. */
  | { kind: 'price'; price: number }
  /** For each `buy` counted units, `get` others are cheaper: the cheapest. No unit is both. */
  | { kind: 'buyGet'; buy: number; get: number; basisPoints: number; maxTimes: number | null };

/** How often a promotion was part of orders, and of those of the cart's customer. */
export interface PromotionUse {
  promotionId: string;
  used: number;
  usedByCustomer: number;
}

/** A line as the cart holds it. */
export interface StoredLine {
  lineItemId: string;
  productId: string;
  /** An exact decimal as text. */
  quantity: string;
  /** Per unit, in minor units; missing: the product's own. */
  price?: number;
  /** The text that the customer typed for the product; two texts are two lines. */
  customText?: string;
  /** Of a bundle: the ids of the products that fill its parts, as the customer has chosen them. */
  parts?: string[];
  /** The value and recipient that the customer wants for a gift card; missing: its value is the price of the product. */
  giftCard?: GiftCardWish;
}

/** A gift card as its buyer wants it. */
export interface GiftCardWish {
  /** Minor units of `currency`; in another one it counts no longer. */
  value: number;
  currency: string;
  /** Who gets it; missing: the buyer. */
  email?: string;
  /** The name on it. */
  name?: string;
  message?: string;
  /** The day on which it is sent; missing: at once. */
  sendOn?: string;
}

/** A code with the terms of its campaign. */
export interface CartCoupon extends Omit<CouponInput, 'isWithdrawn' | 'isUsedUp' | 'isInTime'> {
  codeKey: string;
  campaignId: string;
  withdrawnAt: string | null;
  used: number;
  usageLimit: number | null;
  campaignUsed: number;
  campaignUsageLimit: number | null;
  validFrom: string | null;
  validTo: string | null;
}

export const PAYMENT_STATUSES = ['CANCELED', 'FAILED'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** The parts of an address that prices depend on. */
type DestinationAddress = Pick<Address, 'country'> & Partial<Pick<Address, 'zipCode'>>;

/** The choices of a cart, or of an order that is changed, with all that its price depends on. */
export interface CartSelection {
  currency: string;
  taxType: TaxType;
  customerGroupId: string | null;
  /** Missing: unknown. */
  customerId?: string | null;
  lines: readonly StoredLine[];
  /** Missing or null: no app was asked. */
  linePrices?: LinePrices | null;
  appTaxes?: AppTaxes | null;
  /** The existing products of its lines, and maybe others. */
  products: readonly CartProduct[];
  coupon: CartCoupon | null;
  couponLineItemId: string | null;
  /** Its code, which may be that of a promotion. Missing or null: none. */
  couponCodeKey?: string | null;
  /** Missing or null: no promotion was used. */
  promotionUses?: readonly PromotionUse[] | null;
  billingAddress: DestinationAddress | null;
  shippingAddress: DestinationAddress | null;
  /** null: a consumer. */
  buyer: Pick<Buyer, 'vatCheck'> | null;
  shippingMethodId: string | null;
  shippingPrice: number | null;
  /** The answer of an app for the chosen method; null or missing: it is one of the shop. */
  deliveryOption?: DeliveryOption | null;
  paymentMethodId: string | null;
  paymentTransactionId: string | null;
  paymentStatus: PaymentStatus | null;
  paymentName: string | null;
  paymentPrice: number | null;
}

/** The settings that totals depend on. */
export type ShopRules = Pick<
  Settings,
  | 'country'
  | 'taxModel'
  | 'taxFreeOutsideEu'
  | 'exportPrices'
  | 'smallBusiness'
  | 'distanceSales'
  | 'taxRegistrations'
  | 'specialTerritories'
  | 'deliveryTax'
  | 'taxClasses'
  | 'shippingMethods'
  | 'paymentMethods'
  | 'basketDiscounts'
  | 'minimumCartCode'
  | 'minimumCartAmount'
  | 'defaultCurrency'
  | 'currencies'
  | 'exchangeRates'
>;
