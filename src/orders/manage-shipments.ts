import { type Static, Type } from 'typebox';
import type { ContentLine } from '../pricing/content.ts';
import { goodsNamed } from '../pricing/shown-lines.ts';
import { Refusal, invalid, notFound } from '../http/errors.ts';
import { webAddress } from '../http/html.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { newId } from '../kernel/ids.ts';
import { discardEmail, queueEmailLater } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { toDecimal } from '../kernel/money.ts';
import { type OrderChanges, changeOrder } from './change.ts';
import { lineText } from './line-text.ts';
import {
  type OpenOrder,
  exactAmount,
  manageOperation,
  managedOrder,
  moveStock,
  numbered,
  openOrder,
  payableOf,
  record,
  refuseCancelled,
  statesReached,
} from './manage-change.ts';
import { readyLines } from './backorders.ts';
import { isAnnounced, isBack, quantitiesOf, quantityText, sentLines, unshippedLines } from './quantities.ts';
import {
  type PartLine,
  type Return,
  type Shipment,
  deleteShipment,
  insertFurtherParcels,
  insertReturn,
  insertShipment,
} from './manage-queries.ts';
import { NewReturn, NewShipment } from './manage-schema.ts';
import { emailAddressOf } from './order-email.ts';
import { captureWhenSent } from './payments/capture.ts';
import { providerMethodOf } from './payments/providers.ts';
import { goodwillBeyond, refunded } from './refund.ts';
import { receivedDue, returnRefund } from './refund-due.ts';
import { queueOrderReturned } from './return-email.ts';
import { shipmentEmail } from './shipment-email.ts';
import { type Parcel, trackedParcels } from './tracking.ts';
import { revokeSoldCards } from './sold-cards/revoke.ts';
import { decimalOf } from '../http/request-fields.ts';
import { Id } from '../http/schemas.ts';
import { withdrawCapture } from './payments/queries.ts';
import type { ManagedOrder } from './queries.ts';

export const createShipment = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/shipments',
  name: 'createShipment',
  summary: 'Create shipment',
  description:
    'Records a shipment and informs the customer by email, ten minutes later: until then it can be undone (DELETE). Without lines, all that is in stock is sent. 409: more than remains to be sent, or something that still waits for stock, the order is cancelled, or its payment through a provider is neither received nor reserved. A reserved payment is captured when the whole order is sent.',
  body: NewShipment,
  status: 201,
});

export const createReturn = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/returns',
  name: 'createReturn',
  summary: 'Create return',
  description:
    'Records returned items and informs the customer by email. They go back into stock by default; the amount to refund is recorded as well. 409: more items than are still with the customer, or more money than is left of the payments.',
  body: NewReturn,
  status: 201,
});

export function managedShipments(api: Operations): void {
  api.write(createShipment, async (call) => {
    const { tx, shopId, body } = call;
    const open = await openOrder(call);
    const { order, activity, settings } = open;
    refuseCancelled(order);
    refuseUnpaid(open);
    const left = unshippedLines(order.content, activity.shipments);
    if (left.length === 0) throw new Refusal('NOTHING_TO_SHIP');
    // What waits belongs to the orders before it, even if it lies in the warehouse.
    const ready = readyLines(left, activity);
    if (ready.length === 0) throw new Refusal('GOODS_AWAITED');
    const lines = body.lines ? partsOf(body.lines, open, left, 'sent') : ready;
    if (quantitiesExceed(lines, ready)) throw new Refusal('GOODS_AWAITED');
    const shipment = {
      shipmentId: newId(tx.now),
      lines,
      carrier: body.carrier ?? null,
      ...givenParcels(body),
    };
    await insertShipment(tx, shopId, order.orderId, shipment);
    if (shipment.furtherParcels.length > 0) await insertFurtherParcels(tx, shopId, order.orderId, shipment);
    const shipments = [...activity.shipments, { ...shipment, at: tx.now.toISOString() }];
    const reached = statesReached(order, shipments, tx.now);
    const { shipmentId } = shipment;
    const shipped = { type: 'ORDER_SHIPPED', resourceId: order.orderId, data: { shipmentId } } as const;
    const sent = await changeOrder(tx, shopId, order, reached, { also: ['shipments'], events: [shipped] });
    if (activity.attempts.length > 0) await captureWhenSent(tx, shopId, order, sent);
    await record(call, open, 'shipped', { shipmentId, lines: numbered(lines) });
    const to = emailAddressOf(order);
    if (to !== undefined) {
      const [first, ...furtherParcels] = trackedParcels(shipment, settings);
      const facts = {
        orderId: order.orderId,
        orderNumber: order.orderNumber,
        goods: lines.map((part) => partText(part, open)),
        isRest: unshippedLines(order.content, shipments).length === 0,
        carrier: shipment.carrier,
        trackingCode: first?.trackingCode ?? null,
        trackingUrl: first?.trackingUrl ?? null,
        furtherParcels,
      };
      await queueEmailLater(
        tx,
        shopId,
        shipmentEmail,
        { to, locale: order.locale, facts },
        { id: shipmentId, sendAt: undoEnd(tx.now) },
      );
    }
    return managedOrder(tx, call, sent, settings, { ...activity, shipments });
  });

  api.write(createReturn, async (call) => {
    const { tx, shopId, body } = call;
    const open = await openOrder(call);
    const { order, settings } = open;
    const lines = partsOf(body.lines, open, sentLines(open, isBack), 'returned');
    const refund =
      body.refund === null || body.refund === undefined
        ? null
        : exactAmount(body.refund, order, 'refund', { min: 1 });
    const returnId = newId(tx.now);
    const restocked = body.restock ?? true;
    const note = body.note ?? null;
    const state = refund === null ? 'received' : 'refunded';
    const counted: Return = {
      returnId,
      at: tx.now.toISOString(),
      state,
      origin: 'merchant',
      lines,
      unsentLines: [],
      restocked,
      reason: null,
      note,
      declaredBy: null,
      contact: null,
      dueAmount: null,
      unsentDueAmount: null,
    };
    const recorded = { ...counted, dueAmount: receivedDue(open, counted) };
    await insertReturn(tx, shopId, order.orderId, recorded);
    if (restocked) {
      await moveStock(
        call,
        open,
        lines.map((part) => ({
          productId: lineOf(part, open).productId,
          quantity: Number(part.quantity),
        })),
      );
    }
    await revokeSoldCards(tx, shopId, order, lines, { appId: open.appId });
    const changes = { returnedOn: order.returnedOn ?? tx.now };
    const also = ['returns'];
    const details = { returnId, lines: numbered(lines), restocked };
    const received = { type: 'RETURN_RECEIVED', resourceId: order.orderId, data: { returnId } } as const;
    if (refund === null) {
      const returned = await changeOrder(tx, shopId, order, changes, { also });
      recordEvents(tx, shopId, [received]);
      await record(call, open, 'returned', details);
      await queueOrderReturned(tx, shopId, open, lines);
      return managedOrder(tx, call, returned, settings);
    }
    const paymentId = newId(tx.now);
    const returns = [...open.activity.returns, recorded];
    const { left } = returnRefund({ ...open, activity: { ...open.activity, returns } }, recorded);
    const goodwill = goodwillBeyond(left, refund, body.goodwill);
    const returned = await refunded(
      call,
      open,
      refund,
      { paymentId, returnId, reference: null, note },
      { changes, also, isPartOfReturn: true, goodwill },
    );
    recordEvents(tx, shopId, [received, { ...received, type: 'RETURN_REFUNDED' }]);
    await record(call, open, 'returned', {
      ...details,
      paymentId,
      refund: toDecimal(refund, order.currency),
      ...(goodwill && { goodwill: toDecimal(goodwill.amount, order.currency), reason: goodwill.reason }),
    });
    await queueOrderReturned(tx, shopId, open, lines);
    return managedOrder(tx, call, returned, settings);
  });
}

/** One code, or the parcels with theirs; where both are given, they must agree. */
function givenParcels({
  trackingCode = null,
  parcels,
}: Static<typeof NewShipment>): Pick<Shipment, 'trackingCode' | 'trackingUrl' | 'furtherParcels'> {
  const [first, ...furtherParcels] = (parcels ?? []).map((parcel, index): Parcel => {
    const { trackingUrl = null } = parcel;
    if (trackingUrl !== null && webAddress(trackingUrl) === undefined) {
      throw invalid('WRONG_FORMAT', `parcels.${index}.trackingUrl`);
    }
    return { trackingCode: parcel.trackingCode, trackingUrl };
  });
  if (!first) return { trackingCode, trackingUrl: null, furtherParcels };
  if (trackingCode !== null && trackingCode !== first.trackingCode) {
    throw invalid('UNKNOWN_VALUE', 'trackingCode');
  }
  return { ...first, furtherParcels };
}

function quantitiesExceed(lines: readonly PartLine[], available: readonly PartLine[]): boolean {
  const left = quantitiesOf([{ lines: available }]);
  return [...quantitiesOf([{ lines }])].some(
    ([lineItemId, quantity]) => quantity > (left.get(lineItemId) ?? 0),
  );
}

/** A payment through a provider must be paid, or reserved, before goods are sent. */
function refuseUnpaid({ order, activity, settings }: OpenOrder): void {
  const payable = payableOf(order);
  const isReserved = activity.attempts.some(
    ({ state, amount }) => state === 'authorized' && amount >= payable,
  );
  if (payable > 0 && !isReserved && providerMethodOf(order.content, settings)) {
    throw new Refusal('ORDER_UNPAID', { amount: { minor: payable, currency: order.currency } });
  }
}

const TOO_MANY = {
  sent: 'TOO_MANY_SENT',
  returned: 'TOO_MANY_RETURNED',
  withdrawn: 'TOO_MANY_WITHDRAWN',
} as const;

/** The lines in a request, each once; no more of any than there is. */
export function partsOf(
  wanted: readonly { lineItemId: string; quantity: number | string }[],
  open: Pick<OpenOrder, 'order'>,
  available: readonly PartLine[],
  done: keyof typeof TOO_MANY,
): PartLine[] {
  const parts = goodsNamed(open.order.content, wanted).map(({ lineItemId, quantity }, index) => {
    const id = lineItemId.toUpperCase();
    if (!open.order.content.lines.some((line) => line.lineItemId === id)) {
      throw invalid('UNKNOWN_VALUE', `lines.${index}.lineItemId`);
    }
    const bounds = { min: 0.000_001, max: 1_000_000 };
    return { lineItemId: id, quantity: String(decimalOf(quantity, `lines.${index}.quantity`, bounds)) };
  });
  const left = quantitiesOf([{ lines: available }]);
  return [...quantitiesOf([{ lines: parts }])].map(([lineItemId, quantity]) => {
    const max = left.get(lineItemId) ?? 0;
    if (quantity > max) {
      const { productNumber } = lineOf({ lineItemId }, open);
      throw new Refusal(TOO_MANY[done], { product: productNumber, quantity: quantityText(max) });
    }
    return { lineItemId, quantity: quantityText(quantity) };
  });
}

export function lineOf(
  { lineItemId }: Pick<PartLine, 'lineItemId'>,
  { order }: Pick<OpenOrder, 'order'>,
): ContentLine {
  return order.content.lines.find((line) => line.lineItemId === lineItemId)!;
}

/** `2 × Harbour Tea (Size: small)`, in the language of the order. */
export function partText(part: PartLine, open: Pick<OpenOrder, 'order' | 'settings'>): string {
  return lineText(lineOf(part, open), part.quantity, open.order.locale, open.settings);
}

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
