import type { Settings } from '../../shops/settings/settings.ts';
import type { ProductFacts } from './facts.ts';
import type { ProductRow } from './queries.ts';

/** Whether and how a product can be ordered. */

export const ORDER_UNIT: NonNullable<ProductFacts['orderUnit']> = {
  priceQuantity: 1,
  unit: 'piece',
  minimum: 1,
  interval: 1,
};

/** The largest quantity in an order: the product's own, else the shop's; null: any. */
export function maxOrderOf(
  { maxOrder }: Pick<ProductFacts, 'maxOrder'>,
  { maxPerOrder }: Pick<Settings, 'maxPerOrder'>,
): number | null {
  return maxOrder ?? maxPerOrder;
}

/** Whether it can be put into a cart. */
export function isForSale(
  { visible, kind }: Pick<ProductRow, 'visible' | 'kind'>,
  facts: ProductFacts,
  price: number | null,
  now: Date,
): boolean {
  return visible && kind !== 'master' && price !== null && price > 0 && isOnSale(facts, now);
}

function isOnSale({ forSaleFrom, forSaleUntil }: ProductFacts, now: Date): boolean {
  return !(forSaleFrom && new Date(forSaleFrom) > now) && !(forSaleUntil && new Date(forSaleUntil) <= now);
}

/** It was out of stock, and now there is some, or the stock is no longer tracked. */
export function isBackInStock(before: number | null, after: number | null): boolean {
  return before !== null && before <= 0 && (after === null || after > 0);
}
