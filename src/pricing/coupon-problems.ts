import type { CouponInput } from './input.ts';

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
