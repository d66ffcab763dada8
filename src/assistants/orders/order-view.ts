import { anyText } from '../../catalogue/products/render.ts';
import { webAddress } from '../../http/html.ts';
import type { OrderActivity, PartLine, OrderPayment, Return, Shipment } from '../../orders/manage-queries.ts';
import { orderDelivery } from '../../orders/order-delivery.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import { millionths, quantitiesOf, quantityText, unshippedLines } from '../../orders/quantities.ts';
import { trackingUrl } from '../../orders/tracking.ts';
import { destinationOf, type ContentLine } from '../../pricing/content.ts';
import { shownLine, shownTotals, type ShownIn, type ShownLine, type Total } from '../carts/cart-view.ts';
import type { AssistantContext } from '../context.ts';
import { orderedUnit } from '../units.ts';

/** An order as the protocol shows it to the assistant that has brought its buyer. */

type Reader = ShownIn & Pick<AssistantContext, 'shopId' | 'home' | 'tokens'>;

type AnyOrder = ManagedOrder & Pick<OrderActivity, 'shipments' | 'returns' | 'payments'>;

interface PartOfLine {
  id: string;
  /** Steps of the unit of the line. */
  quantity: number;
}

/** What a session says of its order. */
export function orderConfirmation(
  { orderId, orderNumber }: Pick<ManagedOrder, 'orderId' | 'orderNumber'>,
  { shopId, home, tokens }: Pick<Reader, 'shopId' | 'home' | 'tokens'>,
) {
  return {
    id: tokens.orders.token(shopId, orderId),
    label: orderNumber,
    // The buyer signs in there: the link of the confirmation would open the address and all steps to its holder.
    permalink_url: `${home}/account#${encodeURIComponent(orderNumber)}`,
  };
}

export function shownOrder(order: AnyOrder, sessionId: string, reader: Reader) {
  const { content, currency, shipments } = order;
  const adjustments = shownAdjustments(order, reader);
  return {
    ...orderConfirmation(order, reader),
    checkout_id: reader.tokens.sessions.token(reader.shopId, sessionId),
    line_items: orderLines(order, reader),
    fulfillment: {
      expectations: expectations(order, reader),
      events: [
        ...shipments.map((shipment) => shipmentEvent(shipment, order, reader)),
        ...deliveredEvents(order, reader),
      ],
    },
    adjustments,
    currency,
    totals: shownTotals(content, reader),
  };
}

interface OrderLine extends Omit<ShownLine, 'quantity'> {
  quantity: { original: number; total: number; fulfilled: number };
  status: 'processing' | 'partial' | 'fulfilled' | 'removed';
}

/** What came back, or was never sent because the order or a part of it ended, is no longer in a line. */
function orderLines(order: AnyOrder, reader: Reader): OrderLine[] {
  const { content, shipments, returns } = order;
  const sent = quantitiesOf(shipments);
  const back = quantitiesOf(returns.filter(isBack));
  const withdrawn = quantitiesOf(returns.map(({ unsentLines }) => ({ lines: unsentLines })));
  return content.lines.map((line) => {
    const of = (parts: ReadonlyMap<string, number>) => parts.get(line.lineItemId) ?? 0;
    const ordered = millionths(line.quantity);
    const left = Math.max(0, (order.cancelledAt ? of(sent) : ordered) - of(back));
    const fulfilled = Math.min(left, Math.max(0, of(sent) - of(back)));
    const inSteps = (parts: number) => stepsOf(line, quantityText(parts), reader);
    const quantity = {
      original: inSteps(ordered + of(withdrawn)),
      total: inSteps(left),
      fulfilled: inSteps(fulfilled),
    };
    return { ...shownLine(line, reader), quantity, status: statusOf(quantity) };
  });
}

function statusOf({ total, fulfilled }: OrderLine['quantity']): OrderLine['status'] {
  if (total === 0) return 'removed';
  if (fulfilled === total) return 'fulfilled';
  return fulfilled > 0 ? 'partial' : 'processing';
}

function stepsOf({ orderUnit }: ContentLine, quantity: string, reader: Reader): number {
  const unit = orderedUnit(orderUnit.unit, orderUnit.interval, reader);
  return Math.round(Number(quantity) * 10 ** (unit?.scale ?? 0));
}

/** Parts of lines that the order still has, without those that are less than a step. */
function partsOf(
  parts: readonly PartLine[],
  { content }: AnyOrder,
  reader: Reader,
  sign: 1 | -1 = 1,
): PartOfLine[] {
  return parts.flatMap(({ lineItemId, quantity }) => {
    const line = content.lines.find((one) => one.lineItemId === lineItemId);
    const steps = line ? stepsOf(line, quantity, reader) : 0;
    return steps > 0 ? [{ id: lineItemId, quantity: sign * steps }] : [];
  });
}

/** Where the order goes is said by its country alone: the buyer has typed the address in the shop. */
function expectations(order: AnyOrder, reader: Reader) {
  const { content } = order;
  const { locale, settings } = reader;
  const lines = orderLines(order, reader).filter(({ quantity }) => quantity.total > 0);
  if (lines.length === 0) return [];
  const { shipping } = content;
  const method = settings.shippingMethods.find(
    ({ shippingMethodId }) => shippingMethodId === shipping?.shippingMethodId,
  );
  const isPickup = shipping?.pickup !== undefined || method?.kind === 'pickup';
  const name = shipping && anyText(shipping.name, locale, settings.defaultLocale);
  const description = [name, orderDelivery(order, locale)].filter(Boolean).join(': ');
  const { country } = destinationOf(order);
  return [
    {
      id: `${order.orderId}-delivery`,
      line_items: lines.map(({ id, quantity }) => ({ id, quantity: quantity.total })),
      method_type: shipping === null ? 'digital' : isPickup ? 'pickup' : 'shipping',
      destination: { ...(country !== null && { address_country: country }) },
      ...(description !== '' && { description }),
    },
  ];
}

function shipmentEvent(shipment: Shipment, order: AnyOrder, reader: Reader) {
  const { shipmentId, at, lines, carrier, trackingCode } = shipment;
  const address = webAddress(trackingUrl(shipment, reader.settings));
  return {
    id: shipmentId,
    occurred_at: isoTime(at),
    type: 'shipped',
    line_items: partsOf(lines, order, reader),
    ...(trackingCode !== null && { tracking_number: trackingCode }),
    ...(address !== undefined && { tracking_url: address }),
    ...(carrier !== null && { carrier }),
  };
}

function deliveredEvents(order: AnyOrder, reader: Reader) {
  const { orderId, deliveredOn, shipments } = order;
  if (!deliveredOn) return [];
  const sent = [...quantitiesOf(shipments)].map(([lineItemId, parts]) => ({
    lineItemId,
    quantity: quantityText(parts),
  }));
  return [
    {
      id: `${orderId}-delivered`,
      occurred_at: deliveredOn.toISOString(),
      type: 'delivered',
      line_items: partsOf(sent, order, reader),
    },
  ];
}

interface Adjustment {
  id: string;
  type: 'cancellation' | 'return' | 'refund';
  occurred_at: string;
  status: 'pending' | 'completed' | 'failed';
  line_items?: PartOfLine[];
  totals?: Total[];
}

/** Oldest first. */
function shownAdjustments(order: AnyOrder, reader: Reader): Adjustment[] {
  const { returns, payments } = order;
  return [
    ...cancellation(order, reader),
    ...returns.map((one) => returnAdjustment(one, order, reader)),
    ...payments.filter(({ kind }) => kind === 'refund').map(refundAdjustment),
  ].toSorted((one, other) => one.occurred_at.localeCompare(other.occurred_at));
}

function cancellation(order: AnyOrder, reader: Reader): Adjustment[] {
  const { orderId, cancelledAt, content, shipments } = order;
  if (!cancelledAt) return [];
  return [
    {
      id: `${orderId}-cancellation`,
      type: 'cancellation',
      occurred_at: cancelledAt.toISOString(),
      status: 'completed',
      line_items: partsOf(unshippedLines(content, shipments), order, reader, -1),
    },
  ];
}

/** The goods are in the shop again. */
const isBack = ({ state }: Return) =>
  state === 'received' || state === 'refunded' || state === 'refundFailed';

const isUnderWay = ({ state, lines }: Return) =>
  state === 'requested' || state === 'approved' || (state === 'withdrawn' && lines.length > 0);

function returnAdjustment(given: Return, order: AnyOrder, reader: Reader): Adjustment {
  const { returnId, at, state, lines, unsentLines } = given;
  const status = state === 'rejected' ? 'failed' : isUnderWay(given) ? 'pending' : 'completed';
  return {
    id: returnId,
    type: 'return',
    occurred_at: isoTime(at),
    status,
    line_items: partsOf([...lines, ...unsentLines], order, reader, -1),
  };
}

const REFUND_STATES = { requested: 'pending', done: 'completed', failed: 'failed' } as const;

const refundAdjustment = ({ paymentId, at, amount, state }: OrderPayment): Adjustment => ({
  id: paymentId,
  type: 'refund',
  occurred_at: isoTime(at),
  status: REFUND_STATES[state],
  totals: [{ type: 'total', amount: -amount }],
});

/** PostgreSQL puts moments into JSON with the offset of its own time zone. */
const isoTime = (at: string) => new Date(at).toISOString();
