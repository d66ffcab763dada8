import type { OrderRecord } from './records.ts';

/** Four decimals at most, without zeros at the end. */
export const decimal = (value: number) => value.toFixed(4).replace(/\.?0+$/, '') || '0';

/** The tax of the order, shared among the rates of its lines by their prices. */
export function importedTaxes(
  lines: readonly { price: number; rate: number }[],
  total: number,
  isTaxIncluded: boolean,
): OrderRecord['taxes'] {
  if (!(total > 0)) return [];
  const weights = new Map<number, number>();
  for (const { price, rate } of lines) {
    const tax = isTaxIncluded ? (price * rate) / (100 + rate) : (price * rate) / 100;
    if (rate > 0) weights.set(rate, (weights.get(rate) ?? 0) + tax);
  }
  const sum = [...weights.values()].reduce((all, one) => all + one, 0);
  if (sum === 0) return [{ rate: '', tax: decimal(total) }];
  const cents = Math.round(total * 100);
  let left = cents;
  return [...weights].map(([rate, weight], index) => {
    const part = index === weights.size - 1 ? left : Math.round((cents * weight) / sum);
    left -= part;
    return { rate: String(rate), tax: decimal(part / 100) };
  });
}
