import { percentOf } from '../../kernel/money.ts';

/** The ending of a changed price. `exact`: it is rounded only to the smallest coin. */
export const ENDINGS = ['exact', '99', '95', '90', '00'] as const;
export type Ending = (typeof ENDINGS)[number];

/**
 * A price in minor units after a change in basis points: 1000 is 10 per cent more. With an ending it becomes the
 * nearest such price, so 10.20 becomes 9.99 and not 10.99; a price never becomes 0 that way.
 */
export function changedPrice(minor: number, basisPoints: number, ending: Ending, digits: number): number {
  const exact = percentOf(minor, 10_000 + basisPoints);
  if (ending === 'exact' || digits !== 2 || minor === 0) return exact;
  const last = Number(ending);
  const nearest = Math.round((exact - last) / 100) * 100 + last;
  return nearest > 0 ? nearest : exact;
}
