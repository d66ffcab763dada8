import { percentOf } from '../../kernel/money.ts';

/** What a changed price ends with. `exact`: it is rounded to the smallest coin only. */
export const ENDINGS = ['exact', '99', '95', '90', '00'] as const;
export type Ending = (typeof ENDINGS)[number];

/**
 * A price in minor units after a change by so many basis points: 1000 is 10 per cent more. An ending is taken from the
 * nearest such price, so that 10.20 becomes 9.99 and not 10.99; a price never becomes 0 that way.
 */
export function changedPrice(minor: number, basisPoints: number, ending: Ending, digits: number): number {
  const exact = percentOf(minor, 10_000 + basisPoints);
  if (ending === 'exact' || digits !== 2 || minor === 0) return exact;
  const last = Number(ending);
  const nearest = Math.round((exact - last) / 100) * 100 + last;
  return nearest > 0 ? nearest : exact;
}
