import { Type } from 'typebox';
import { requireMatch } from '../http/answer-headers.ts';
import { Refusal } from '../http/errors.ts';
import { operation, type PrepareStoreCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { toOrder } from '../orders/render.ts';
import { Order } from '../orders/schema.ts';
import { newOrder } from './new-order.ts';
import type { PlaceOrder } from './order-cart.ts';
import type { CartStore } from '../carts/cart-store.ts';
import { cartEtag, toCart, withoutFieldTags } from '../carts/render.ts';

export const createOrder = operation({
  method: 'POST',
  path: '/carts/:cartId/order',
  name: 'createOrder',
  summary: 'Create order',
  description:
    'Takes the items from stock and closes the cart, which is gone afterwards. A body is ignored. 400: `GET countries` does not list the country of delivery. 409: a product is out of stock or above its maximum order, or the coupon is used up. With `If-Match` and the ETag of the cart that the customer has seen, exactly that cart is ordered; 412: its lines, prices, addresses or methods have changed since.',
  tag: 'carts',
  labels: ['Base', 'Now'],
  access: { cartTokenAnd: 'orders_write' },
  takesIfMatch: true,
  params: Type.Object({ cartId: Id }),
  status: 201,
  answer: Order,
  keepsKeyOrder: true,
  // Of two customers who got the same number at the same moment, one is retried.
  constraints: {
    customer_number: () => new Refusal('ORDER_NOT_NUMBERED'),
    customer_order_customer: () => new Refusal('CUSTOMER_ERASED_MEANWHILE'),
  },
});

export function order(api: Operations, carts: CartStore, placeOrder: PlaceOrder): void {
  // With an Idempotency-Key the order is placed in the transaction of the key, where no app can be asked. A refusal of
  // an app ends the request there.
  const prepare = async (call: PrepareStoreCall<{ cartId: string }, unknown, unknown>) => {
    if (!call.isKeyed) return undefined;
    const open = await carts.refreshVatCheck(call);
    const isConfirmed = call.ifMatch !== undefined;
    return placeOrder.askApps({ ...call, transaction: undefined, entry: undefined, isConfirmed }, open);
  };
  api.writeWithStore({ ...createOrder, prepare }, async (call) => {
    const { caller, origin, ifMatch, prepared } = call;
    const { order, settings } = await placeOrder(
      { ...call, isConfirmed: ifMatch !== undefined },
      (cart, now) => {
        const order = newOrder(cart, now, caller.app?.appId ?? null);
        requireMatch(withoutFieldTags(ifMatch), () => cartEtag(toCart(cart, { origin, hasPickup: true })));
        return order;
      },
      prepared,
    );
    return toOrder(order, { locale: order.locale, origin, settings });
  });
}
