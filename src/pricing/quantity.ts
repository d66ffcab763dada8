import type { ProductFacts } from '../catalogue/products/facts.ts';
import { ORDER_UNIT, maxOrderOf } from '../catalogue/products/orderable.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { parseDecimal, scaledByDecimals } from '../kernel/money.ts';
import type { UnitKey } from '../kernel/units.ts';
import type { LineInput } from './input.ts';

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

/** Units of weight in nanograms: all of them are whole numbers of it. */
const NANOGRAMS: Partial<Record<UnitKey, bigint>> = {
  milligram: 1_000_000n,
  gram: 1_000_000_000n,
  kilogram: 1_000_000_000_000n,
  tone: 1_000_000_000_000_000n,
  ounce: 28_349_523_125n,
  pound: 453_592_370_000n,
};

/** An exact weight is counted in parts of a nanogram, because amounts and quantities have decimals. */
const PARTS = 10n ** 20n;
export const GRAM = NANOGRAMS.gram! * PARTS;
export const KILOGRAM = NANOGRAMS.kilogram! * PARTS;

type WeighedLine = Pick<LineInput, 'quantity'> & { product: Pick<LineInput['product'], 'deliveryWeight'> };

/** The exact weight of these lines, to be compared with multiples of `GRAM`. */
export function weightOf(lines: readonly WeighedLine[]): bigint {
  return lines.reduce((sum, { quantity, product: { deliveryWeight } }) => {
    if (!deliveryWeight) return sum;
    const amount = parseDecimal(deliveryWeight.amount)!;
    const times = parseDecimal(quantity)!;
    const parts = PARTS / 10n ** BigInt(amount.scale + times.scale);
    return sum + amount.units * times.units * NANOGRAMS[deliveryWeight.unit]! * parts;
  }, 0n);
}

/** The cost of `quantity` at this price for `priceQuantity`; one rounding. */
export function priceOfQuantity(price: number, quantity: number | string, priceQuantity: number): number {
  // Almost always both are whole numbers, and then nothing is rounded.
  const simple = price * Number(quantity);
  if (priceQuantity === 1 && Number.isSafeInteger(Number(quantity)) && Number.isSafeInteger(simple))
    return simple;
  return scaledByDecimals(price, quantity, priceQuantity);
}
