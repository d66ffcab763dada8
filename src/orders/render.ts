import {
  apiOf,
  lineItemContainer,
  paymentData,
  shippingData,
  shippingLink,
  type RenderContext,
} from './line-item-view.ts';
import { toMilliseconds } from '../http/dates.ts';
import { toDecimal } from '../kernel/money.ts';
import type { ListedOrder, OrderRow } from './queries.ts';
import { STATES, type Order, type State } from './schema.ts';

export function orderText(order: OrderRow, look: RenderContext): string {
  return textOf(order, look, lineItemContainer(order.content, look));
}

/** Without the lines. */
export function listedOrderText(order: ListedOrder, look: RenderContext): string {
  return textOf(order, look, undefined);
}

/** The answer's text, key by key as in `Order`: the addresses are JSON already. */
function textOf(
  order: ListedOrder,
  look: RenderContext,
  lines: Order['lineItemContainer'] | undefined,
): string {
  const { content, currency } = order;
  const base = apiOf(look);
  const { viewedOn, ...states } = Object.fromEntries(
    STATES.map((state) => [state, moment(order[state])]),
  ) as Record<State, string | null>;
  const head: Partial<Order> = {
    orderId: order.orderId,
    orderNumber: order.orderNumber,
    creationDate: toMilliseconds(order.createdAt),
    customerId: order.customerId,
    customerNumber: order.customerNumber,
    locale: order.locale,
    currencyId: currency,
    taxModel: order.taxModel,
    grandTotal: String(toDecimal(content.grandTotal, currency)),
    totalBeforeTax: String(toDecimal(content.totalBeforeTax, currency)),
    totalTax: String(toDecimal(content.totalTax, currency)),
    customerComment: order.customerComment,
    internalNote: order.internalNote,
  };
  const tail: Partial<Order> = {
    shippingData: shippingData(content, look),
    paymentData: paymentData(content, look),
    viewedOn,
    lastUpdatedOnDate: moment(order.updatedAt),
    ...states,
    ...(lines && { lineItemContainer: lines }),
    links: [
      { rel: 'self', href: `${base}/orders/${order.orderId}` },
      { rel: 'customer', href: `${base}/customers/${order.customerId}` },
      ...shippingLink(content.shipping, base),
    ],
  };
  return (
    `${JSON.stringify(head).slice(0, -1)},"billingAddress":${order.billingAddress},` +
    `"shippingAddress":${order.shippingAddress},${JSON.stringify(tail).slice(1)}`
  );
}

const moment = (date: Date | null) => date && toMilliseconds(date);
