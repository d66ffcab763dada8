import { Type } from 'typebox';
import { couponKey } from './coupon-campaigns/campaign.ts';
import { notFound } from '../http/errors.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { changedCart, type Change } from './change.ts';
import { couponLimit, UnknownCoupon } from './coupon-limit.ts';
import { Cart, CouponForm } from './schema.ts';

const facts = {
  tag: 'carts',
  labels: ['Base'],
  action: 'Update cart',
  access: 'cart token',
  answer: Cart,
} as const;

export function coupon(api: Operations): void {
  api.change(
    {
      ...facts,
      method: 'POST',
      path: '/carts/:cartId/coupon',
      name: 'addCoupon',
      summary: 'Add coupon',
      description:
        'A cart has one coupon: another one takes its place. A coupon that does not count for these goods stays with an amount of 0 and says why. Unknown codes are limited, so that nobody finds one by guessing: 60 per hour and client address, and with an access token 20 per hour and cart; then 429 with Retry-After.',
      accepts: 'form',
      failureLimit: ({ shopId, params, caller, address }) =>
        couponLimit({ address, app: caller.app && { shopId, cartId: params['cartId']! } }),
      params: Type.Object({ cartId: Id }),
      body: CouponForm,
    },
    async (call) => {
      const codeKey = couponKey(call.body.code);
      return changedCart(call, addingCoupon(codeKey, call.db.now), { codeKey });
    },
  );

  api.change(
    {
      ...facts,
      method: 'DELETE',
      path: '/carts/:cartId/coupon/:couponLineItemId',
      name: 'deleteCoupon',
      summary: 'Delete coupon',
      params: Type.Object({ cartId: Id, couponLineItemId: Id }),
    },
    async (call) =>
      changedCart(call, (open) => {
        if (open.cart.couponLineItemId !== call.params.couponLineItemId) throw notFound();
        return withoutCoupon(open);
      }),
  );
}

/** The code must be wanted beside the cart. */
export function addingCoupon(codeKey: string, now: Date): Change {
  return ({ cart }) => {
    if (cart.coupon?.codeKey !== codeKey) throw new UnknownCoupon();
    return { changed: { couponLineItemId: newId(now), couponCodeKey: codeKey } };
  };
}

export const withoutCoupon: Change = () => ({ changed: { couponLineItemId: null, couponCodeKey: null } });
