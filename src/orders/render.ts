import {
  apiOf,
  lineItemContainer,
  paymentData,
  shippingData,
  shippingLink,
  type RenderContext,
} from './line-item-view.ts';
import { toMilliseconds } from '../http/dates.ts';
import type { Link } from '../http/schemas.ts';
import { toDecimal } from '../kernel/money.ts';
import type { ListedOrder, OrderRow } from './queries.ts';
import { STATES, type Order, type State } from './schema.ts';

export function toOrder(order: OrderRow, context: RenderContext): Order {
  return {
    ...withoutLines(order, context),
    lineItemContainer: lineItemContainer(order.content, context),
    links: orderLinks(order, context),
  };
}

/** The order as lists show it unless the lines are requested. */
export function toListedOrder(order: ListedOrder, context: RenderContext): Omit<Order, 'lineItemContainer'> {
  return { ...withoutLines(order, context), links: orderLinks(order, context) };
}

/** The keys stand in the order of `Order`. */
function withoutLines(
  order: ListedOrder,
  context: RenderContext,
): Omit<Order, 'lineItemContainer' | 'links'> {
  const { content, currency } = order;
  const { viewedOn, ...states } = Object.fromEntries(
    STATES.map((state) => [state, moment(order[state])]),
  ) as Record<State, string | null>;
  return {
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
    billingAddress: order.billingAddress,
    shippingAddress: order.shippingAddress,
    shippingData: shippingData(content, context),
    paymentData: paymentData(content, context),
    viewedOn,
    lastUpdatedOnDate: moment(order.updatedAt),
    ...states,
  };
}

function orderLinks({ orderId, customerId, content }: ListedOrder, context: RenderContext): Link[] {
  const base = apiOf(context);
  return [
    { rel: 'self', href: `${base}/orders/${orderId}` },
    { rel: 'customer', href: `${base}/customers/${customerId}` },
    ...shippingLink(content.shipping, base),
  ];
}

const moment = (date: Date | null) => date && toMilliseconds(date);
