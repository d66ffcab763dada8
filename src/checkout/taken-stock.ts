import { promisableOf, promisedLines } from '../catalogue/products/backorders.ts';
import type { NewWaitingLine } from '../catalogue/products/backorder-queue.ts';
import type { Taken } from '../catalogue/products/stock-queries.ts';
import type { NewOrder } from '../orders/insert-orders.ts';
import { exactMillionths, millionthsOrdered, type PlacementState, type Verdict } from './decision.ts';

type PlacedOrder = Pick<NewOrder, 'orderId' | 'createdAt' | 'today' | 'content'>;
type Placed = { order: PlacedOrder } & Pick<Verdict, 'promised'>;

/** What placed orders take of each product with counted stock: the others are not locked. */
export function takenBy(
  placed: readonly Placed[],
  { stock, backorders }: Pick<PlacementState, 'stock' | 'backorders'>,
): Map<string, Taken> {
  const ordered = millionthsOrdered(placed.map(({ order }) => order));
  const counted = [...ordered].filter(([productId]) => stock.has(productId));
  return new Map(
    counted.map(([productId, quantity]) => {
      const promised = placed.reduce((sum, one) => sum + (one.promised.get(productId) ?? 0n), 0n);
      const locked = backorders.get(productId);
      const left = (locked && promisableOf(locked, placed[0]!.order.today)) ?? 0n;
      return [
        productId,
        { fromStock: quantity - promised, promised, isUsedUp: promised > 0n && promised >= left },
      ];
    }),
  );
}

/** The lines of placed orders that wait for stock. */
export function waitingLines(
  placed: readonly Placed[],
  { backorders }: Pick<PlacementState, 'backorders'>,
): NewWaitingLine[] {
  return placed.flatMap(({ order: { orderId, createdAt, content }, promised }) => {
    if (promised.size === 0) return [];
    const lines = content.lines.map((line) => ({ ...line, quantity: exactMillionths(line.quantity) }));
    return promisedLines(lines, promised).map((line) => ({
      ...line,
      orderId,
      orderedAt: createdAt,
      expectedOn: backorders.get(line.productId)?.backorder.expectedOn ?? null,
    }));
  });
}
