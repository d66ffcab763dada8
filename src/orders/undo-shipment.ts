import { Type } from 'typebox';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { discardEmail } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { changeOrder, type OrderChanges } from './change.ts';
import {
  managedOrder,
  manageOperation,
  numbered,
  openOrder,
  record,
  refuseCancelled,
  type OpenOrder,
} from './manage-change.ts';
import { quantitiesOf, unshippedLines } from './quantities.ts';
import { deleteShipment, type Shipment } from './manage-queries.ts';
import { emailAddressOf } from './order-email.ts';
import { withdrawCapture } from './payments/queries.ts';
import type { ManagedOrder } from './queries.ts';
import { isAnnounced } from './returns.ts';

/** How long a shipment can be undone, and how long the email to the customer waits. */
export const UNDO_MINUTES = 10;

export const undoEnd = (shippedAt: Date) => new Date(shippedAt.getTime() + UNDO_MINUTES * 60_000);

export const undoShipment = operation({
  ...manageOperation,
  method: 'DELETE',
  path: '/orders/:orderId/shipments/:shipmentId',
  name: 'undoShipment',
  summary: 'Undo shipment',
  description: `Removes a shipment that was recorded by mistake, and its email, which waits for ${UNDO_MINUTES} minutes. 409: it is too late, the order is cancelled or delivered, or items of the shipment are being returned. Money that was captured stays captured.`,
  params: Type.Object({ orderId: Id, shipmentId: Id }),
});

export function shipmentUndo(api: Operations): void {
  api.write(undoShipment, async (call) => {
    const { tx, shopId, params } = call;
    const open = await openOrder(call);
    const { order, activity, settings } = open;
    const { shipments } = activity;
    const shipment = shipments.find(({ shipmentId }) => shipmentId === params.shipmentId.toUpperCase());
    if (!shipment) throw notFound();
    refuseCancelled(order);
    const rest = shipments.filter((one) => one !== shipment);
    refuseUsed(open, rest);
    const hasEmail = emailAddressOf(order) !== undefined;
    const isInTime = tx.now < undoEnd(new Date(shipment.at));
    const isUntold = isInTime && ((await discardEmail(tx, shopId, shipment.shipmentId)) || !hasEmail);
    if (!isUntold) throw new Refusal('SHIPMENT_ANNOUNCED');
    await deleteShipment(tx, shopId, order.orderId, shipment.shipmentId);
    if (activity.attempts.length > 0) await withdrawCapture(tx, shopId, order.orderId);
    const changes = statesWithout(order, shipments, rest);
    const changed = await changeOrder(tx, shopId, order, changes, { also: ['shipments'] });
    const { shipmentId, lines } = shipment;
    recordEvents(tx, shopId, [
      { type: 'ORDER_SHIPMENT_UNDONE', resourceId: order.orderId, data: { shipmentId } },
    ]);
    await record(call, open, 'shipment undone', { shipmentId, lines: numbered(lines) });
    return managedOrder(tx, call, changed, settings, { ...activity, shipments: rest });
  });
}

/** Goods that have arrived, or are on their way back, were sent. */
function refuseUsed({ order, activity }: OpenOrder, rest: readonly Shipment[]): void {
  if (order.deliveredOn) throw new Refusal('SHIPMENT_DELIVERED');
  const sent = quantitiesOf(rest);
  const returned = quantitiesOf(activity.returns.filter(isAnnounced));
  for (const [lineItemId, quantity] of returned) {
    if (quantity > (sent.get(lineItemId) ?? 0)) {
      throw new Refusal('SHIPMENT_BEING_RETURNED');
    }
  }
}

/**
 * The states of an order of whose shipments only `rest` are left. A state that was reached without a shipment stays: it
 * has the time of none of them.
 */
export function statesWithout(
  { content, dispatchedOn, partiallyDispatchedOn }: ManagedOrder,
  shipments: readonly Shipment[],
  rest: readonly Shipment[],
): OrderChanges {
  const isTimeOf = (parcels: readonly Shipment[], reached: Date | null) =>
    parcels.some(({ at }) => new Date(at).getTime() === reached?.getTime());
  const isAllSent = rest.length > 0 && unshippedLines(content, rest).length === 0;
  const isUnsent = isTimeOf(shipments, dispatchedOn) && !isAllSent;
  const isMoved = isTimeOf(shipments, partiallyDispatchedOn) && !isTimeOf(rest, partiallyDispatchedOn);
  const first = rest[0] ? new Date(rest[0].at) : null;
  return {
    ...(isUnsent && { dispatchedOn: null }),
    ...((isMoved || (isUnsent && !partiallyDispatchedOn && first)) && { partiallyDispatchedOn: first }),
  };
}
