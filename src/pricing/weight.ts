import { parseDecimal } from '../kernel/money.ts';
import type { UnitKey } from '../kernel/units.ts';
import type { LineInput } from './input.ts';

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
