import type { BackorderLine } from '../catalogue/products/backorder-queue.ts';
import type { PartLine } from './manage-queries.ts';
import { millionths, quantityText } from './quantities.ts';

/** What of an order waits for stock. */

/** The waiting parts of its lines, by their ids. */
export function waitingOfOrder({
  backorders,
}: {
  backorders: readonly BackorderLine[];
}): Map<string, { quantity: string; expectedOn: string | null }> {
  return new Map(
    backorders.flatMap(({ lineItemId, waiting, expectedOn }) => {
      const quantity = millionths(waiting);
      return quantity > 0 ? [[lineItemId, { quantity: quantityText(quantity), expectedOn }] as const] : [];
    }),
  );
}

/** Those parts of unsent lines that are there. */
export function readyLines(
  unsent: readonly PartLine[],
  activity: { backorders: readonly BackorderLine[] },
): PartLine[] {
  const waiting = waitingOfOrder(activity);
  return unsent.flatMap(({ lineItemId, quantity }) => {
    const ready = millionths(quantity) - millionths(waiting.get(lineItemId)?.quantity ?? 0);
    return ready > 0 ? [{ lineItemId, quantity: quantityText(ready) }] : [];
  });
}

/** For the back office: quantities as numbers. */
export const toBackorder = ({ lineItemId, quantity, waiting, expectedOn, readyAt }: BackorderLine) => ({
  lineItemId,
  quantity: Number(quantity),
  waiting: Number(waiting),
  expectedOn,
  readyOn: readyAt === null ? null : new Date(readyAt),
});
