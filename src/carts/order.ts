import { Type } from 'typebox';
import { conflict } from '../http/errors.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import { toOrder } from '../orders/render.ts';
import { Order } from '../orders/schema.ts';
import { newOrder } from './new-order.ts';
import type { OrderPlacing } from './order-placing.ts';

export function order(api: Operations, placeOrder: OrderPlacing): void {
  api.writeWithStore(
    {
      method: 'POST',
      path: '/carts/:cartId/order',
      name: 'createOrder',
      summary: 'Create order',
      description:
        'Takes the goods from the stock and closes the cart, which is gone from then on. A body is ignored. 409: there is not enough of a product any more, an order may not hold so much of it, or the coupon is used up.',
      tag: 'carts',
      labels: ['Base', 'Now'],
      access: { cartTokenAnd: 'orders_write' },
      params: Type.Object({ cartId: Id }),
      status: 201,
      answer: Order,
      keepsKeyOrder: true,
      // Of two customers who got the same number at the same moment, one tries again.
      constraints: {
        customer_number: () => conflict('The order could not be numbered, try again'),
        customer_order_customer: () => conflict('The customer was erased in the meantime, try again'),
      },
    },
    async (call) => {
      const { caller, origin } = call;
      const { order, settings } = await placeOrder(call, (cart, now) =>
        newOrder(cart, now, caller.app?.appId ?? null),
      );
      return toOrder(order, { locale: order.locale, origin, settings });
    },
  );
}
