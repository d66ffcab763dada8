import { percentOf } from '../kernel/money.ts';
import { inCurrency } from '../catalogue/products/prices.ts';
import type { PaymentMethod } from '../shops/settings/settings.ts';
import type { Delivery } from './delivery.ts';
import {
  COUPON_PROBLEMS,
  type CartInput,
  type CouponInput,
  type CouponProblem,
  type LineInput,
  type ShopRules,
} from './input.ts';
import { type Taxed, sum } from './shares.ts';

type CouponedProduct = Pick<LineInput['product'], 'productId' | 'masterId' | 'giftCard'>;

/** The input for redeeming a coupon, in the shop's tax model. */
export interface Redemption {
  currency: CartInput['currency'];
  /** The sold products, and the part of each that the basket discount has left. */
  products: readonly CouponedProduct[];
  left: readonly Taxed[];
  subTotal: number;
  delivery: Delivery;
  method: PaymentMethod | null;
  /** The delivery price before the coupon. */
  asked: { shop: number };
  shop: ShopRules;
}

/** The effect of a coupon, in the shop's tax model. */
export interface Redeemed {
  amount: number;
  /** The lines it applies to, and their total less the basket discount. */
  isFor: boolean[];
  base: number;
  waivesShipping: boolean;
  problems: CouponProblem[];
}

/** A coupon applies to the amount after the basket discount; one with a problem takes off nothing. */
export function redeemed(
  coupon: CouponInput,
  { currency, products, left, subTotal, delivery, method, asked, shop }: Redemption,
): Redeemed {
  const converted = (minor: number) => inCurrency(minor, currency, shop, coupon.currency);
  const isFor = products.map((product) => isDiscounted(product) && isProductOf(coupon, product));
  const base = sum(left.filter((_, index) => isFor[index]).map(({ amount }) => amount));
  const amount = {
    FIX: () => Math.min(converted(coupon.amount ?? 0), base),
    PERCENT: () => percentOf(base, coupon.amount ?? 0),
    SHIPPING: () => 0,
  }[coupon.kind]();
  const waivesShipping = coupon.waivesShipping || coupon.kind === 'SHIPPING';
  const problems = couponProblems(coupon, {
    isBelowMinimum: coupon.minimumOrderValue !== null && subTotal < converted(coupon.minimumOrderValue),
    hasProduct: isFor.includes(true),
    shippingMethodId: delivery.method?.shippingMethodId,
    paymentMethodId: method?.paymentMethodId,
    hasEffect: amount > 0 || (waivesShipping && asked.shop > 0),
  });
  if (problems.length > 0) return { amount: 0, isFor, base, waivesShipping: false, problems };
  return { amount, isFor, base, waivesShipping, problems };
}

/** A discount on a gift card would sell money below its value. */
export const isDiscounted = ({ giftCard }: Pick<LineInput['product'], 'giftCard'>) => giftCard === undefined;

function isProductOf({ productIds }: CouponInput, product: CouponedProduct): boolean {
  if (productIds === null) return true;
  return productIds.some((id) => id === product.productId || id === product.masterId);
}

export interface Redeeming {
  isBelowMinimum: boolean;
  hasProduct: boolean;
  shippingMethodId: string | undefined;
  paymentMethodId: string | undefined;
  hasEffect: boolean;
}

export function couponProblems(coupon: CouponInput, at: Redeeming): CouponProblem[] {
  const isOther = (restriction: readonly string[] | null, id: string | undefined) =>
    restriction !== null && (id === undefined || !restriction.includes(id));
  const found: Record<Exclude<CouponProblem, 'CouponNotEffective'>, boolean> = {
    LineItemsSubTotalTooSmall: at.isBelowMinimum,
    CouponIsInvalidated: coupon.isWithdrawn,
    ValidCouponCountReached: coupon.isUsedUp,
    PaymentMethodMisMatch: isOther(coupon.paymentMethodIds, at.paymentMethodId),
    ShippingMethodMisMatch: isOther(coupon.shippingMethodIds, at.shippingMethodId),
    ProductMisMatch: coupon.productIds !== null && !at.hasProduct,
  };
  // If another reason is known, "no effect" adds nothing.
  const isWithoutReason = !Object.values(found).includes(true);
  const isNotEffective = !coupon.isInTime || (isWithoutReason && !at.hasEffect);
  return COUPON_PROBLEMS.filter((problem) =>
    problem === 'CouponNotEffective' ? isNotEffective : found[problem],
  );
}
