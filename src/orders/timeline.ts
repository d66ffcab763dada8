import type { DocumentRow } from './documents/queries.ts';
import { isBack, orderedLines, returnedLines, unshippedLines } from './quantities.ts';
import type { ReturnStep } from './history.ts';
import type { OrderPayment, Return, Shipment } from './manage-queries.ts';
import { orderState } from './order-state.ts';
import type { CustomerOrder } from './withdrawal-period.ts';

/** The events of an order that its customer sees. */
export type TimelineEntry = { at: Date } & (
  | { kind: 'placed' | 'paid' | 'partlyPaid' | 'dispatched' | 'delivered' | 'cancelled' }
  | { kind: 'sent'; shipment: Shipment }
  | { kind: 'document'; document: Pick<DocumentRow, 'documentId' | 'kind' | 'number'> }
  | { kind: 'refunded'; payment: OrderPayment }
  | { kind: 'return'; state: ReturnStep['state']; returned: Return }
);

/** Oldest first. */
export function orderTimeline(
  { order, activity }: CustomerOrder,
  documents: readonly Pick<DocumentRow, 'documentId' | 'kind' | 'number' | 'createdAt'>[],
  returnSteps: readonly ReturnStep[],
): TimelineEntry[] {
  const { createdAt, paidOn, partiallyPaidOn, dispatchedOn, deliveredOn, cancelledAt } = order;
  const reached = (kind: 'paid' | 'partlyPaid' | 'dispatched' | 'delivered' | 'cancelled', at: Date | null) =>
    at ? [{ kind, at }] : [];
  const entries: TimelineEntry[] = [
    { kind: 'placed', at: createdAt },
    ...reached('partlyPaid', partiallyPaidOn),
    ...reached('paid', paidOn),
    ...activity.shipments.map((shipment) => ({ kind: 'sent' as const, at: new Date(shipment.at), shipment })),
    // A merchant who records no shipments only marks the order.
    ...(activity.shipments.length === 0 ? reached('dispatched', dispatchedOn) : []),
    ...reached('delivered', deliveredOn),
    ...documents.map((document) => ({ kind: 'document' as const, at: document.createdAt, document })),
    ...returnSteps.flatMap(({ at, state, returnId }) => {
      const returned = activity.returns.find((one) => one.returnId === returnId);
      return returned ? [{ kind: 'return' as const, at, state, returned }] : [];
    }),
    ...activity.payments.flatMap((payment) =>
      payment.kind === 'refund' && payment.state === 'done'
        ? [{ kind: 'refunded' as const, at: new Date(payment.at), payment }]
        : [],
    ),
    ...reached('cancelled', cancelledAt),
  ];
  return entries.toSorted((left, right) => left.at.getTime() - right.at.getTime());
}

export type OrderStatus =
  | 'cancelled'
  | 'returned'
  | 'partlyReturned'
  | 'delivered'
  | 'sent'
  | 'partlySent'
  | 'paymentFailed'
  | 'awaitingPayment'
  | 'preparing';

/** The current stage of the order, for its customer: a closed or archived one was still sent. */
export function orderStatus(open: CustomerOrder): OrderStatus {
  const { order, activity } = open;
  const { shipments } = activity;
  const isAllSent = shipments.length > 0 && unshippedLines(order.content, shipments).length === 0;
  const state = orderState({ ...order, returnedOn: null, closedOn: null, archivedOn: null });
  if (state === 'cancelled') return state;
  if (returnedLines(open).length > 0) {
    return orderedLines(open, isBack).length === 0 ? 'returned' : 'partlyReturned';
  }
  if (state === 'delivered') return state;
  if (state === 'shipped' || isAllSent) return 'sent';
  if (state === 'partlyShipped' || shipments.length > 0) return 'partlySent';
  if (state === 'paymentFailed') return state;
  return state === 'waitingForPayment' ? 'awaitingPayment' : 'preparing';
}
