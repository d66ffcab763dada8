import { Type } from 'typebox';
import { badRequest, conflict } from '../http/errors.ts';
import type { Operations } from '../http/operation.ts';
import { Rendered } from '../http/rendered.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { queueMails } from '../mails/queue.ts';
import { formatMoney } from '../money.ts';
import { placeOrder, type NewOrder, type OrderRow } from '../orders/queries.ts';
import { orderText } from '../orders/render.ts';
import { Order, STATES, type State } from '../orders/schema.ts';
import type { Settings } from '../shop/settings.ts';
import { openCart, pricedCart, type OpenCart } from './change.ts';
import { confirmation } from './confirmation.ts';
import type { PricedContent } from './content.ts';
import { label } from './goods.ts';
import { rememberStock } from './kept-goods.ts';

export function order(api: Operations): void {
  api.write(
    {
      method: 'POST',
      path: '/carts/:cartId/order',
      name: 'createOrder',
      summary: 'Create order',
      description:
        'Takes the goods from the stock and closes the cart, which is gone from then on. A body is ignored. 409: there is not enough of a product any more, or the coupon is used up.',
      tag: 'carts',
      labels: ['Base', 'Now'],
      access: { cartTokenAnd: 'orders_write' },
      params: Type.Object({ cartId: Id }),
      status: 201,
      answer: Order,
      // Of two customers who got the same number at the same moment, one tries again.
      constraints: { customer_number: () => conflict('The order could not be numbered, try again') },
    },
    async (call) => {
      const { tx, shopId, origin } = call;
      const open = await openCart({ ...call, db: tx });
      const { settings } = open;
      const priced = pricedCart(open.cart, settings, tx.now);
      const wanted = newOrder(open, priced, tx.now);
      const look = { locale: wanted.locale, origin, settings };
      // First, because the order takes its number from a row that all orders of the shop wait for.
      await queueMails(tx, shopId, [confirmation(wanted, look)]);
      const { orderNumber, customerId, customerNumber, shortIds, left } = await placeOrder(
        tx,
        shopId,
        wanted,
      );
      if (orderNumber === null) throw conflict(shortage(shortIds, priced, settings));
      call.afterCommit(() => rememberStock(api.db, shopId, left));

      const row: OrderRow = {
        ...wanted,
        ...(Object.fromEntries(STATES.map((state) => [state, null])) as Record<State, null>),
        orderNumber,
        customerId: customerId!,
        customerNumber: customerNumber!,
        createdAt: tx.now,
        updatedAt: null,
        currency: wanted.content.currency,
        customerComment: null,
        internalNote: null,
      };
      return new Rendered(orderText(row, look));
    },
  );
}

/** The order that this cart is to become; what is missing refuses it. */
function newOrder({ cart, settings }: OpenCart, { content, totals }: PricedContent, now: Date): NewOrder {
  const { billingAddress } = cart;
  if (billingAddress === null) {
    throw badRequest('The cart has no billing address, set it with PUT billing-address');
  }
  if (!settings.currencies.includes(cart.currency)) {
    throw badRequest(`The shop does not sell in ${cart.currency} any more, make a new cart`);
  }
  const { minimum, delivery } = totals;
  if (!minimum.isReached) {
    const least = formatMoney(minimum.amount!, cart.currency, cart.locale);
    throw badRequest(`The cart does not reach the minimum of ${least}`);
  }
  if (delivery.isNeeded && !delivery.method && settings.shippingMethods.length > 0) {
    throw badRequest('There is no shipping method that all goods of the cart can be delivered by');
  }
  if (content.coupon?.problems.includes('ValidCouponCountReached')) throw conflict(USED_UP);
  return {
    orderId: newId(now),
    numberPrefix: `ORD${now.toISOString().slice(2, 10).replaceAll('-', '')}/`,
    cartId: cart.cartId,
    cartTokenHash: cart.tokenHash,
    locale: cart.locale,
    taxModel: cart.taxType === 'NONE' ? settings.taxModel : cart.taxType,
    billingAddress,
    shippingAddress: cart.shippingAddress,
    content,
    email: (JSON.parse(billingAddress) as { emailAddress: string }).emailAddress,
    customerId: cart.customerId,
    newCustomerId: newId(now),
    couponCodeKey: content.coupon?.problems.length === 0 ? cart.couponCodeKey : null,
    beyondStock: settings.sellBeyondStock,
  };
}

const USED_UP = 'The coupon is used up, delete it from the cart to order without it';

function shortage(shortIds: readonly string[], { goods }: PricedContent, settings: Settings): string {
  if (shortIds.length === 0) return USED_UP;
  const names = goods
    .filter(({ productId }) => shortIds.includes(productId))
    .map((one) => label(one, settings));
  return `There is not enough in stock of ${names.join(', ')}`;
}
