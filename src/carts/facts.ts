import type { TaxType } from '../http/price.ts';
import type { Prices, ProductFacts } from '../products/facts.ts';
import type { Settings } from '../shop/settings.ts';

/** What the totals of a cart are computed from, and nothing else. */
export interface CartFacts {
  currency: string;
  taxType: TaxType;
  /** Where the goods go; null: nobody has said, so the shop's own country counts. */
  country: string | null;
  customerGroupId: string | null;
  lines: readonly LineFacts[];
  coupon: CouponFacts | null;
  /** The method that was chosen, and the price that was set by hand, in minor units of the cart's currency. */
  shipping: { methodId: string | null; price: number | null };
  /** A price that was set by hand stands for a payment that is none of the shop's methods. */
  payment: { methodId: string | null; price: number | null };
}

export interface LineFacts {
  /** An exact decimal: "7.5". */
  quantity: string;
  /** The price of one unit that was set by hand, in minor units and in the terms of the cart; null: the product's. */
  price: number | null;
  product: PricedProduct;
}

/** What a product's price, tax and delivery depend on; of a variation, with what it inherits. */
export interface PricedProduct extends Pick<
  ProductFacts,
  | 'bulkPrices'
  | 'groupPrices'
  | 'depositPrices'
  | 'ecoParticipationPrices'
  | 'orderUnit'
  | 'deliveryWeight'
  | 'shippingMethodIds'
> {
  productId: string;
  masterId: string | null;
  prices: Prices | null;
  /** null: the shop's default class. */
  taxClassId: string | null;
}

export interface CouponFacts {
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
  /** What it is restricted to; null: nothing. A master stands for its variations. */
  productIds: readonly string[] | null;
  shippingMethodIds: readonly string[] | null;
  paymentMethodIds: readonly string[] | null;
}

/** The settings that totals depend on. */
export type ShopRules = Pick<
  Settings,
  | 'country'
  | 'taxModel'
  | 'taxFreeOutsideEu'
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
