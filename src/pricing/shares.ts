import { allocate } from '../kernel/money.ts';
import type { TaxType } from '../http/price.ts';
import { taxOn } from './tax.ts';
import { TAX_TREATMENTS, type TaxTreatment } from '../shops/taxes/treatments.ts';

/** An amount that is taxed at a rate, in basis points. */
export interface Taxed {
  taxRate: number;
  /** Missing where amounts of several classes are one. */
  taxClassId?: string;
  amount: number;
}

export interface TaxedPart extends Taxed {
  /** undefined: an order from before it was stored. */
  treatment: TaxTreatment | undefined;
}

/**
 * Shares of a discount, first over the tax rates in proportion to their taxed amounts, then over the classes of each
 * rate, then over the lines of each class. They always sum to the whole, and the share of a rate or a class does not
 * depend on the order of the lines. A class is treated in one way, so neither does the share of a treatment.
 */
export function spread(discount: number, lines: readonly Taxed[]): number[] {
  return spreadOver(lines)(
    discount,
    lines.map(({ amount }) => amount),
  );
}

/** The same for several discounts of the same lines, with what each is in proportion to. */
export function spreadOver(
  lines: readonly Pick<Taxed, 'taxRate' | 'taxClassId'>[],
): (discount: number, amounts: readonly number[]) => number[] {
  const rates = groupsOf([...lines.keys()], (index) => lines[index]!.taxRate).map((ofRate) => ({
    indexes: ofRate,
    classes: groupsOf(ofRate, (index) => lines[index]!.taxClassId ?? ''),
  }));
  return (discount, amounts) => {
    const shares = amounts.map(() => 0);
    const parts = (whole: number, groups: readonly (readonly number[])[]) =>
      whole === 0
        ? groups.map(() => 0)
        : allocate(
            whole,
            groups.map((group) => sumAt(group, amounts)),
          );
    const ofRates = parts(
      discount,
      rates.map(({ indexes }) => indexes),
    );
    for (const [rate, { classes }] of rates.entries()) {
      const ofClasses = parts(ofRates[rate]!, classes);
      for (const [at, indexes] of classes.entries()) {
        if (ofClasses[at] === 0) continue;
        const ofLines = allocate(
          ofClasses[at]!,
          indexes.map((index) => amounts[index]!),
        );
        for (const [place, index] of indexes.entries()) shares[index] = ofLines[place]!;
      }
    }
    return shares;
  };
}

function sumAt(indexes: readonly number[], amounts: readonly number[]): number {
  let total = 0;
  for (const index of indexes) total += amounts[index]!;
  return total;
}

/** The indexes with the same key, in the order of the keys. */
function groupsOf(indexes: readonly number[], keyOf: (index: number) => number | string): number[][] {
  const groups = new Map<number | string, number[]>();
  for (const index of indexes) {
    const group = groups.get(keyOf(index));
    if (group) group.push(index);
    else groups.set(keyOf(index), [index]);
  }
  return [...groups].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
}

export function lessShares(parts: readonly Taxed[], shares: readonly number[]): Taxed[] {
  return parts.map((part, index) => ({ ...part, amount: part.amount - shares[index]! }));
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
