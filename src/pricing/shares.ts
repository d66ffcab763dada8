import { allocate } from '../kernel/money.ts';
import type { TaxType } from '../http/price.ts';
import { taxOn } from './tax.ts';
import { TAX_TREATMENTS, type TaxTreatment } from './tax-treatment.ts';

/** An amount that is taxed at a rate, in basis points. */
export interface Taxed {
  taxRate: number;
  amount: number;
}

export interface TaxedPart extends Taxed {
  /** undefined: an order from before it was stored. */
  treatment: TaxTreatment | undefined;
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

export function lessShares(parts: readonly Taxed[], shares: readonly number[]): Taxed[] {
  return parts.map(({ taxRate, amount }, index) => ({ taxRate, amount: amount - shares[index]! }));
}

/** The amounts of each rate and treatment, in a fixed order, whatever the order of the parts. */
export function groupByTax(parts: readonly TaxedPart[]): TaxedPart[] {
  const groups = new Map<string, TaxedPart>();
  for (const { taxRate, treatment, amount } of parts) {
    const key = `${taxRate} ${treatment}`;
    const before = groups.get(key)?.amount ?? 0;
    groups.set(key, { taxRate, treatment, amount: before + amount });
  }
  const placeOf = ({ treatment }: TaxedPart) => (treatment ? TAX_TREATMENTS.indexOf(treatment) : -1);
  return [...groups.values()].toSorted(
    (left, right) => left.taxRate - right.taxRate || placeOf(left) - placeOf(right),
  );
}

/**
 * The tax of each rate and treatment. It is rounded once per rate; where the amounts of a rate are treated in two ways,
 * both have their share of its tax.
 */
export function taxesOf(groups: readonly TaxedPart[], taxType: TaxType) {
  return ratesOf(groups.map(({ taxRate }) => taxRate)).flatMap((rate) => {
    const ofRate = groups.filter(({ taxRate }) => taxRate === rate);
    const amounts = ofRate.map(({ amount }) => amount);
    const tax = taxOn(sum(amounts), rate, taxType);
    const taxes = tax === 0 ? amounts.map(() => 0) : allocate(tax, amounts);
    return ofRate.map(({ treatment, amount }, index) => ({ rate, treatment, amount, tax: taxes[index]! }));
  });
}

/** Each once, ascending. */
export function ratesOf(rates: readonly number[]): number[] {
  return [...new Set(rates)].toSorted((left, right) => left - right);
}

export function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
