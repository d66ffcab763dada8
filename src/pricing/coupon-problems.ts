import { COUPON_PROBLEMS, type CouponInput, type CouponProblem } from './input.ts';

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
