import type { Content } from '../pricing/content.ts';
import type { OrderActivity, PartLine, Return, ReturnState } from './manage-queries.ts';
import type { ManagedOrder } from './queries.ts';

/** Quantities have up to six decimals; in millionths they are whole numbers for exact arithmetic. */
const MILLION = 1_000_000;
export const millionths = (quantity: string | number) => Math.round(Number(quantity) * MILLION);
export const quantityText = (parts: number) => String(parts / MILLION);

/** Sent, or returned, quantity of each line, in millionths. */
export function quantitiesOf(parts: readonly { lines: readonly PartLine[] }[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { lineItemId, quantity } of parts.flatMap(({ lines }) => lines)) {
    sums.set(lineItemId, (sums.get(lineItemId) ?? 0) + millionths(quantity));
  }
  return sums;
}

/** The unsent quantities. */
export function unshippedLines(
  { lines }: Pick<Content, 'lines'>,
  shipments: readonly { lines: readonly PartLine[] }[],
): PartLine[] {
  const shipped = quantitiesOf(shipments);
  return lines.flatMap(({ lineItemId, quantity }) => {
    const rest = millionths(quantity) - (shipped.get(lineItemId) ?? 0);
    return rest > 0 ? [{ lineItemId, quantity: quantityText(rest) }] : [];
  });
}

/** The merchant has the goods again. */
export const isBack = ({ state }: Pick<Return, 'state'>) =>
  state === 'received' || state === 'refunded' || state === 'refundFailed';

/** The goods are back, or the customer has announced them. */
export const isAnnounced = ({ state }: Pick<Return, 'state'>) => state !== 'rejected';

/** An order, and its activity. */
export interface ReturnableOrder {
  order: Pick<ManagedOrder, 'content' | 'dispatchedOn' | 'deliveredOn'>;
  activity: Pick<OrderActivity, 'shipments' | 'returns'>;
}

/**
 * Sent quantity of each line, in millionths. Some merchants record no shipments and only mark the order as dispatched
 * or delivered: then all of it was sent.
 */
export function sentQuantities({ order, activity: { shipments } }: ReturnableOrder): Map<string, number> {
  const isMarked = order.dispatchedOn !== null || order.deliveredOn !== null;
  return quantitiesOf(shipments.length === 0 && isMarked ? [order.content] : shipments);
}

/** The sent quantities, less these returns. */
export function sentLines(open: ReturnableOrder, counts: (one: Return) => boolean): PartLine[] {
  return without(sentQuantities(open), quantitiesOf(open.activity.returns.filter(counts)));
}

/** The ordered quantities, less these returns. */
export function orderedLines(
  { order, activity }: ReturnableOrder,
  counts: (one: Return) => boolean,
): PartLine[] {
  return without(quantitiesOf([order.content]), quantitiesOf(activity.returns.filter(counts)));
}

/** The quantity of each line of the order that came back, with the ordered one. */
export function returnedLines({ order, activity }: ReturnableOrder): (PartLine & { ordered: string })[] {
  const back = quantitiesOf(activity.returns.filter(isBack));
  return order.content.lines.flatMap(({ lineItemId, quantity: ordered }) => {
    const quantity = back.get(lineItemId) ?? 0;
    return quantity > 0 ? [{ lineItemId, quantity: quantityText(quantity), ordered }] : [];
  });
}

/** In millionths, by line. */
function without(all: ReadonlyMap<string, number>, less: ReadonlyMap<string, number>): PartLine[] {
  return [...all].flatMap(([lineItemId, quantity]) => {
    const rest = quantity - (less.get(lineItemId) ?? 0);
    return rest > 0 ? [{ lineItemId, quantity: quantityText(rest) }] : [];
  });
}

/** The states that a return may reach from each state. */
const NEXT: Readonly<Record<ReturnState, readonly ReturnState[]>> = {
  requested: ['approved', 'rejected', 'received'],
  approved: ['rejected', 'received'],
  rejected: [],
  withdrawn: ['received'],
  received: ['refunded'],
  refunded: [],
  refundFailed: ['refunded'],
};

/** Goods that were withdrawn before they were sent need not come back before the refund. */
export function mayBecome({ state, lines }: Pick<Return, 'state' | 'lines'>, next: ReturnState): boolean {
  return NEXT[state].includes(next) || (state === 'withdrawn' && next === 'refunded' && lines.length === 0);
}
