import { isDeepStrictEqual } from 'node:util';
import { toDecimal } from '../kernel/money.ts';
import type { NewEvent } from '../platform/events/log.ts';
import type { ManagedOrder } from './queries.ts';
import { STATES } from './schema.ts';

/** The fields of an order that can change, by their API names. */
const FIELDS: Readonly<Record<string, (order: ManagedOrder) => unknown>> = {
  orderNumber: ({ orderNumber }) => orderNumber,
  customerId: ({ customerId }) => customerId,
  taxModel: ({ taxModel }) => taxModel,
  customerComment: ({ customerComment }) => customerComment,
  internalNote: ({ internalNote }) => internalNote,
  billingAddress: ({ billingAddress }) => billingAddress,
  shippingAddress: ({ shippingAddress }) => shippingAddress,
  lineItems: ({ content }) => content.lines,
  shippingData: ({ content }) => [content.shipping, content.shippingPrice],
  paymentData: ({ content }) => content.payment,
  grandTotal: ({ content }) => content.grandTotal,
  ...Object.fromEntries(STATES.map((state) => [state, (order: ManagedOrder) => order[state]])),
  editing: ({ editingAppId }) => editingAppId,
  cancelledOn: ({ cancelledAt }) => cancelledAt,
  paidAmount: ({ paidAmount }) => paidAmount,
  refundedAmount: ({ refundedAmount }) => refundedAmount,
};

/**
 * The events of a changed order. `also` names changes beside its row: shipments, returns, payments and documents. A
 * change without effect has no event.
 */
export function orderEvents(
  before: ManagedOrder,
  after: ManagedOrder,
  also: readonly string[] = [],
): NewEvent[] {
  const { orderId, currency, content } = after;
  const changed = [
    ...also,
    ...Object.keys(FIELDS).filter((name) => !isSame(FIELDS[name]!(before), FIELDS[name]!(after))),
  ];
  if (changed.length === 0) return [];
  const isNewlyPaid = before.paidOn === null && after.paidOn !== null;
  return [
    { type: 'ORDER_UPDATE', resourceId: orderId, data: { changed } },
    ...(isNewlyPaid
      ? [
          {
            type: 'ORDER_PAID' as const,
            resourceId: orderId,
            data: { amount: toDecimal(content.grandTotal, currency), currency },
          },
        ]
      : []),
  ];
}

/** As in JSON: data from the database lacks the keys that are undefined. */
function isSame(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(plain(left), plain(right));
}

function plain(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
