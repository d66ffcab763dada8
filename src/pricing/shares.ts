import { allocate } from '../kernel/money.ts';

/** An amount that is taxed at a rate, in basis points. */
export interface Taxed {
  taxRate: number;
  amount: number;
}

/**
 * Shares of a discount, first over the tax rates in proportion to their taxed amounts, then over the lines of each
 * rate. They always sum to the whole, and the share of a rate does not depend on the order of the lines.
 */
export function spread(discount: number, lines: readonly Taxed[]): number[] {
  const shares = lines.map(() => 0);
  if (discount === 0) return shares;
  const rates = ratesOf(lines.map(({ taxRate }) => taxRate));
  const ofRate = rates.map((rate) => [...lines.keys()].filter((index) => lines[index]!.taxRate === rate));
  const amountsOf = (indexes: number[]) => indexes.map((index) => lines[index]!.amount);
  const perRate = allocate(
    discount,
    ofRate.map((indexes) => sum(amountsOf(indexes))),
  );
  for (const [at, indexes] of ofRate.entries()) {
    if (perRate[at] === 0) continue;
    const perLine = allocate(perRate[at]!, amountsOf(indexes));
    for (const [place, index] of indexes.entries()) shares[index] = perLine[place]!;
  }
  return shares;
}

/** Each once, ascending. */
export function ratesOf(rates: readonly number[]): number[] {
  return [...new Set(rates)].toSorted((left, right) => left - right);
}

export function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
