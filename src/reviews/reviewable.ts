import type { Queries } from '../db/database.ts';
import { type ReturnableOrder, sentQuantities } from '../orders/quantities.ts';
import { findReviewable } from './queries.ts';

/** The products of an order that were sent, at least in part: who has not received a product can't judge it. */
export function sentProducts(open: ReturnableOrder): string[] {
  const sent = sentQuantities(open);
  const lines = open.order.content.lines.filter(({ lineItemId }) => (sent.get(lineItemId) ?? 0) > 0);
  return [...new Set(lines.map(({ productId }) => productId))];
}

/** The products that the customer of the order may review, by the pages on which the shop shows them. */
export async function reviewableProducts(
  db: Queries,
  shopId: string,
  open: ReturnableOrder,
): Promise<string[]> {
  const sent = sentProducts(open);
  return sent.length === 0 ? [] : findReviewable(db, shopId, sent);
}
