import { isBack, millionths } from '../../orders/quantities.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { goodsOf } from './order-view.ts';

interface Part {
  lines: readonly { lineItemId: string; quantity: number }[];
}

const MILLION = 1_000_000;

/** The quantity of each line in these parts. */
function quantitiesIn(parts: readonly Part[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { lineItemId, quantity } of parts.flatMap(({ lines }) => lines)) {
    sums.set(lineItemId, (sums.get(lineItemId) ?? 0) + millionths(quantity));
  }
  return sums;
}

const orderedIn = (order: ManagedOrderAnswer): Part => ({
  lines: goodsOf(order).map(({ lineItemId, amount }) => ({ lineItemId, quantity: amount })),
});

function difference(whole: ReadonlyMap<string, number>, less: ReadonlyMap<string, number>) {
  return new Map(
    [...whole].map(([lineItemId, quantity]) => [
      lineItemId,
      Math.max(0, quantity - (less.get(lineItemId) ?? 0)) / MILLION,
    ]),
  );
}

/** The unsent quantity of each line. */
export function leftToShip(order: ManagedOrderAnswer): Map<string, number> {
  return difference(quantitiesIn([orderedIn(order)]), quantitiesIn(order.management.shipments));
}

/** What of it is in stock: the rest waits. */
export function readyToShip(order: ManagedOrderAnswer): Map<string, number> {
  const { backorders = [] } = order.management;
  const left = [...leftToShip(order)].map(([lineItemId, quantity]) => ({ lineItemId, quantity }));
  const waiting = backorders.map(({ lineItemId, waiting: quantity }) => ({ lineItemId, quantity }));
  return difference(quantitiesIn([{ lines: left }]), quantitiesIn([{ lines: waiting }]));
}

/** The quantity of each line at the customer. An order marked as sent without shipments was sent in full. */
export function leftToReturn(order: ManagedOrderAnswer): Map<string, number> {
  const { shipments, returns } = order.management;
  const isMarked = order.dispatchedOn !== null || order.deliveredOn !== null;
  const sent = shipments.length === 0 && isMarked ? [orderedIn(order)] : shipments;
  return difference(quantitiesIn(sent), quantitiesIn(returns.filter(isBack)));
}

/** The quantity of each line that came back. */
export function returnedQuantities(order: ManagedOrderAnswer): Map<string, number> {
  return difference(quantitiesIn(order.management.returns.filter(isBack)), new Map());
}

/** Some of the items came back, and not all. Unsent items of a cancelled order do not come back. */
export function isOrderPartlyReturned(order: ManagedOrderAnswer): boolean {
  const { returns, cancelledOn } = order.management;
  const back = quantitiesIn(returns.filter(isBack));
  const kept = difference(quantitiesIn([orderedIn(order)]), back);
  return cancelledOn === null && back.size > 0 && !isNothing(kept);
}

export const isNothing = (quantities: ReadonlyMap<string, number>) =>
  [...quantities.values()].every((quantity) => quantity === 0);
