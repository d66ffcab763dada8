import { Type } from 'typebox';
import { couponKey } from '../coupons/campaign.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import type { CartStore } from './cart-store.ts';
import { applyCoupon, removeCoupon } from './changes.ts';
import { couponLimit } from './coupon-limit.ts';
import { answerCart, CART_ETAG } from './render.ts';
import { Cart, CartCouponForm } from './schema.ts';

const cartOperation = {
  tag: 'carts',
  labels: ['Base'],
  action: 'Update cart',
  access: 'cart token',
  answer: Cart,
  ...CART_ETAG,
  keepsKeyOrder: true,
} as const;

const addCoupon = operation({
  ...cartOperation,
  method: 'POST',
  path: '/carts/:cartId/coupon',
  name: 'addCoupon',
  summary: 'Add coupon',
  description:
    'A cart has one coupon: a new one replaces it. A coupon that does not apply to these items stays with an amount of 0 and a reason. Unknown codes are limited to prevent guessing: 60 per hour and client address, and with an access token 20 per hour and cart; then 429 with Retry-After.',
  accepts: 'form',
  failureLimit: ({ shopId, params, caller, address }) =>
    couponLimit({ address, app: caller.app && { shopId, cartId: params['cartId']! } }),
  params: Type.Object({ cartId: Id }),
  body: CartCouponForm,
});

const deleteCoupon = operation({
  ...cartOperation,
  method: 'DELETE',
  path: '/carts/:cartId/coupon/:couponLineItemId',
  name: 'deleteCoupon',
  summary: 'Delete coupon',
  params: Type.Object({ cartId: Id, couponLineItemId: Id }),
});

export function coupon(api: Operations, carts: CartStore): void {
  api.writeWithStore(addCoupon, async (call) => {
    const codeKey = couponKey(call.body.code);
    const changed = await carts.update(call, (cart, context) => applyCoupon(cart, codeKey, context), {
      codeKey,
    });
    return answerCart(call, changed);
  });

  api.writeWithStore(deleteCoupon, async (call) => {
    const changed = await carts.update(call, (cart) => removeCoupon(cart, call.params.couponLineItemId));
    return answerCart(call, changed);
  });
}
