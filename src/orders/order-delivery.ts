import { deliveryText } from '../pricing/delivery-span.ts';
import type { ManagedOrder } from './queries.ts';

/** When an order arrives, as was promised when it was placed; undefined: unknown, or no longer to be expected. */
export function orderDelivery(
  order: Pick<ManagedOrder, 'content' | 'deliveredOn' | 'returnedOn' | 'rejectedOn' | 'cancelledAt'>,
  locale: string,
): string | undefined {
  const { content, deliveredOn, returnedOn, rejectedOn, cancelledAt } = order;
  const isOver = deliveredOn ?? returnedOn ?? rejectedOn ?? cancelledAt;
  return content.expectedDelivery && !isOver ? deliveryText(content.expectedDelivery, locale) : undefined;
}
