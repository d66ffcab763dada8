import type { ProductFacts } from '../products/facts.ts';
import { ORDER_UNIT } from '../products/render.ts';

/** Quantities have up to six decimals; in millionths they are whole numbers that can be counted with. */
const MILLION = 1_000_000;
const millionths = (amount: number) => Math.round(amount * MILLION);

/**
 * The quantity that somebody gets who wants this much: the least order, and whole steps above it; raised to the next
 * one, and lowered to what is there. `stock` of null: there is always enough. undefined: nothing can be had.
 */
export function allowedQuantity(
  wanted: number,
  { minimum, interval }: Pick<NonNullable<ProductFacts['orderUnit']>, 'minimum' | 'interval'> = ORDER_UNIT,
  stock: number | null = null,
): number | undefined {
  const least = millionths(minimum);
  const step = millionths(interval);
  const stepsAbove = (amount: number, round: (steps: number) => number) =>
    step === 0 ? amount - least : round((amount - least) / step) * step;
  const raised = least + Math.max(0, stepsAbove(millionths(wanted), Math.ceil));
  if (stock === null || raised <= millionths(stock)) return raised / MILLION;
  const there = millionths(stock);
  const lowered = least + stepsAbove(there, Math.floor);
  return lowered < least || lowered <= 0 ? undefined : lowered / MILLION;
}
