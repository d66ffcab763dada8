import type { ProductFacts } from '../catalogue/products/facts.ts';
import { maxOrderOf, ORDER_UNIT } from '../catalogue/products/orderable.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** Quantities have up to six decimals; in millionths they are whole numbers for exact arithmetic. */
const MILLION = 1_000_000;
const millionths = (amount: number) => Math.round(amount * MILLION);

/**
 * The quantity granted for a requested one: the minimum order, and whole steps above it; raised to the next one, and
 * lowered to the stock and the maximum per order. A `stock` of null: there is always enough; a `most` of null: any
 * quantity. The minimum order is always possible, even if `most` is less. undefined: out of stock.
 */
export function allowedQuantity(
  wanted: number,
  { minimum, interval }: Pick<NonNullable<ProductFacts['orderUnit']>, 'minimum' | 'interval'> = ORDER_UNIT,
  stock: number | null = null,
  most: number | null = null,
): number | undefined {
  const least = millionths(minimum);
  const step = millionths(interval);
  const stepsAbove = (amount: number, round: (steps: number) => number) =>
    step === 0 ? amount - least : round((amount - least) / step) * step;
  const raised = least + Math.max(0, stepsAbove(millionths(wanted), Math.ceil));
  const limit = Math.min(
    stock === null ? Infinity : millionths(stock),
    most === null ? Infinity : Math.max(least, millionths(most)),
  );
  if (raised <= limit) return raised / MILLION;
  const lowered = least + stepsAbove(limit, Math.floor);
  return lowered < least || lowered <= 0 ? undefined : lowered / MILLION;
}

/** The quantity of a product in these lines: lines with different texts are of the same product. */
export function quantityOfProduct(
  lines: readonly { productId: string; quantity: string }[],
  productId: string,
): number {
  const amounts = lines.flatMap((line) =>
    line.productId === productId ? [millionths(Number(line.quantity))] : [],
  );
  return amounts.reduce((sum, amount) => sum + amount, 0) / MILLION;
}

/** The largest quantity of a product that may be ordered now; null: any. */
export function largestQuantity(
  facts: Pick<ProductFacts, 'maxOrder' | 'orderUnit'>,
  settings: Pick<Settings, 'maxPerOrder'>,
): number | null {
  const most = maxOrderOf(facts, settings);
  return most === null ? null : allowedQuantity(most, facts.orderUnit, null, most)!;
}
