import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halfOf, SEED } from '../../test/seed.ts';
import {
  allocate,
  convert,
  currencyDigits,
  divideRounded,
  formatMoney,
  isCurrency,
  parseDecimal,
  scaledByDecimals,
  toDecimal,
  toMinor,
} from './money.ts';

const currencies = fc.constantFrom('EUR', 'GBP', 'CHF', 'JPY', 'KWD');
/** As much as a float holds exactly with three decimals. */
const amounts = fc.integer({ min: -(10 ** 12), max: 10 ** 12 });

describe('currencies', () => {
  test.each([
    ['EUR', 2],
    ['CHF', 2],
    ['JPY', 0],
    ['KWD', 3],
  ])('%s has %i decimals', (currency, digits) => {
    expect(currencyDigits(currency)).toBe(digits);
  });

  test.each([
    ['EUR', true],
    ['JPY', true],
    ['eur', false],
    ['EURO', false],
    ['ZZZ', false],
    ['', false],
  ])('%j is a currency: %s', (code, known) => {
    expect(isCurrency(code)).toBe(known);
  });
});

describe('divideRounded', () => {
  test.each([
    [5n, 2n, 3n],
    [-5n, 2n, -3n],
    [5n, -2n, -3n],
    [-5n, -2n, 3n],
    [4n, 3n, 1n],
    [-4n, 3n, -1n],
    [0n, 7n, 0n],
    [1n, 2n, 1n],
    [-1n, 2n, -1n],
    [149n, 100n, 1n],
    [150n, 100n, 2n],
  ])('%s / %s is %s, half away from zero', (numerator, denominator, rounded) => {
    expect(divideRounded(numerator, denominator)).toBe(rounded);
  });

  test('is never more than half a unit from the exact fraction', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 24n), 10n ** 24n),
        fc.bigInt(1n, 10n ** 12n),
        (numerator, denominator) => {
          const miss = numerator - divideRounded(numerator, denominator) * denominator;
          const distance = miss < 0n ? -miss : miss;
          expect(2n * distance <= denominator).toBe(true);
        },
      ),
    );
  });

  test('is symmetric around zero', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 24n), 10n ** 24n),
        fc.bigInt(1n, 10n ** 12n),
        (numerator, denominator) => {
          expect(divideRounded(-numerator, denominator)).toBe(-divideRounded(numerator, denominator));
        },
      ),
    );
  });
});

describe('parseDecimal', () => {
  test.each([
    ['12.50', 1250n, 2],
    ['-0.05', -5n, 2],
    ['007', 7n, 0],
    [12.5, 125n, 1],
    [1e-7, 1000n, 10],
    [0, 0n, 0],
    ['123456789012345.0123456789', 1234567890123450123456789n, 10],
  ])('%j is %s over 10^%i', (value, units, scale) => {
    expect(parseDecimal(value)).toEqual({ units, scale });
  });

  test.each(['', ' 1', '1 ', '+1', '1.', '.5', '1,5', '1e3', '0x10', 'abc', '--1', '1234567890123456'])(
    '%j is no plain decimal number',
    (text) => {
      expect(parseDecimal(text)).toBeUndefined();
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e21])('%d is refused', (value) => {
    expect(parseDecimal(value)).toBeUndefined();
  });
});

describe('toMinor', () => {
  test.each([
    [12.99, 'EUR', 1299],
    ['12.99', 'EUR', 1299],
    [1.005, 'EUR', 101],
    [-1.005, 'EUR', -101],
    [1.004, 'EUR', 100],
    [0.005, 'EUR', 1],
    [100.5, 'JPY', 101],
    [-100.5, 'JPY', -101],
    [1.2345, 'KWD', 1235],
    ['0', 'EUR', 0],
    ['90071992547409.91', 'EUR', Number.MAX_SAFE_INTEGER],
  ])('%s %s is %i', (value, currency, minor) => {
    expect(toMinor(value, currency)).toBe(minor);
  });

  test.each(['90071992547409.92', '-90071992547409.92', 'twelve', ''])('%j is refused', (value) => {
    expect(toMinor(value, 'EUR')).toBeUndefined();
  });

  test('and toDecimal are inverse, also through the text of JSON', () => {
    fc.assert(
      fc.property(amounts, currencies, (minor, currency) => {
        const decimal = toDecimal(minor, currency);
        expect(toMinor(decimal, currency)).toBe(minor);
        expect(toMinor(JSON.stringify(decimal), currency)).toBe(minor);
      }),
    );
  });

  test('prints no more decimals than the currency has', () => {
    fc.assert(
      fc.property(amounts, currencies, (minor, currency) => {
        const decimals = /\.(\d+)$/.exec(JSON.stringify(toDecimal(minor, currency)))?.[1] ?? '';
        expect(decimals.length).toBeLessThanOrEqual(currencyDigits(currency));
      }),
    );
  });
});

describe('scaledByDecimals', () => {
  test.each([
    [395, 100, 230, 172],
    [1000, '0.333333', 1, 333],
    [1, '0.5', 1, 1],
    [-1, '0.5', 1, -1],
    [3, 1.5, '0.5', 9],
    [100, 0.1 + 0.2, 1, 30],
    [10_000, '0.0000000061', '0.00000061', 100],
    [2, '123456789012345.0123456789', '2', 123456789012345],
  ])('%d times %s over %s is %d', (amount, factor, divisor, result) => {
    expect(scaledByDecimals(amount, factor, divisor)).toBe(result);
  });

  /** Whole numbers, up to six decimals, and up to ten, below and above what is computed without large integers. */
  const decimals = fc
    .record({
      units: fc.bigInt(1n, 10n ** 17n),
      scale: fc.nat(10),
      most: fc.constantFrom(10n ** 3n, 10n ** 10n, 10n ** 17n),
    })
    .map(({ units, scale, most }) => {
      const digits = String((units % most) + 1n).padStart(scale + 1, '0');
      return scale === 0
        ? digits.slice(0, 15)
        : `${digits.slice(0, -scale).slice(0, 15)}.${digits.slice(-scale)}`;
    });

  test('is the exact fraction, rounded once', () => {
    fc.assert(
      fc.property(
        amounts,
        decimals,
        decimals,
        fc.integer({ min: -4, max: 4 }),
        (amount, factor, divisor, shift) => {
          const [times, per] = [parseDecimal(factor)!, parseDecimal(divisor)!];
          const exact = divideRounded(
            BigInt(amount) * times.units * 10n ** BigInt(per.scale + 4 + shift),
            per.units * 10n ** BigInt(times.scale + 4),
          );
          expect(scaledByDecimals(amount, factor, divisor, shift)).toBe(Number(exact));
        },
      ),
      { numRuns: halfOf(2_000), seed: SEED },
    );
  });
});

describe('convert', () => {
  test.each([
    [1000, 'EUR', 'GBP', '0.85', 850],
    [999, 'EUR', 'GBP', '0.85', 849],
    [1, 'EUR', 'GBP', '0.5', 1],
    [-1, 'EUR', 'GBP', '0.5', -1],
    [1000, 'EUR', 'JPY', '162.35', 1624],
    [1000, 'JPY', 'EUR', '0.0062', 620],
    [1000, 'EUR', 'KWD', '0.3', 3000],
    [1000, 'EUR', 'KWD', '1', 10000],
  ])('%i %s in %s at %s is %i', (minor, from, to, rate, converted) => {
    expect(convert(minor, from, to, rate)).toBe(converted);
  });
});

describe('formatMoney', () => {
  test.each([
    [123450, 'EUR', 'en_GB', '1,234.50 €'],
    [123450, 'EUR', 'de_DE', '1.234,50 €'],
    [123450, 'EUR', 'fr_FR', '1 234,50 €'],
    [123450, 'CHF', 'en_GB', '1,234.50 CHF'],
    [123450, 'CHF', 'de_DE', '1.234,50 CHF'],
    [1235, 'JPY', 'en_GB', '1,235 ¥'],
    [1235, 'JPY', 'de_DE', '1.235 ¥'],
    [999, 'GBP', 'en_GB', '9.99 £'],
    [999, 'USD', 'en_US', '9.99 $'],
    [700, 'EUR', 'en_GB', '7.00 €'],
    [0, 'EUR', 'en_GB', '0.00 €'],
    [-1000, 'EUR', 'en_GB', '-10.00 €'],
    [-123450, 'EUR', 'fr_FR', '-1 234,50 €'],
    // Swedish writes U+2212 for minus.
    [-500, 'EUR', 'sv_SE', '-5,00 €'],
    [100_000_000_050, 'EUR', 'de_DE', '1.000.000.000,50 €'],
  ])('%i %s in %s is %j', (minor, currency, locale, text) => {
    expect(formatMoney(minor, currency, locale)).toBe(text);
  });

  test('has a plain blank, and behind it the sign', () => {
    fc.assert(
      fc.property(
        amounts,
        currencies,
        fc.constantFrom('en_GB', 'de_DE', 'fr_FR', 'it_IT', 'sv_SE'),
        (minor, currency, locale) => {
          expect(formatMoney(minor, currency, locale)).toMatch(/^-?\d[\d., ]* (€|£|¥|CHF|KWD)$/);
        },
      ),
    );
  });
});

describe('allocate', () => {
  test.each([
    [100, [1, 1, 1], [34, 33, 33]],
    [100, [1, 2, 1], [25, 50, 25]],
    [1, [1, 1], [1, 0]],
    [2, [1, 1, 1], [1, 1, 0]],
    [0, [3, 4], [0, 0]],
    [5, [0, 1, 0], [0, 5, 0]],
    [1000, [1999, 501], [800, 200]],
    // The largest remainder comes first, not the first in the list.
    [10, [1, 2], [3, 7]],
    [10, [3, 3, 1], [4, 4, 2]],
    // Of equal remainders the first in the list.
    [10, [4, 1, 1], [7, 2, 1]],
    [-100, [1, 1, 1], [-34, -33, -33]],
  ])('%i over %j is %j', (amount, weights, shares) => {
    expect(allocate(amount, weights)).toEqual(shares);
  });

  const weights = fc
    .array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 40 })
    .filter((list) => list.some((weight) => weight > 0));

  test('sums to the whole', () => {
    fc.assert(
      fc.property(amounts, weights, (amount, list) => {
        const sum = allocate(amount, list).reduce((total, share) => total + share, 0);
        expect(sum === amount).toBe(true);
      }),
    );
  });

  test('gives each share within one unit of the exact one, and nothing for a weight of 0', () => {
    fc.assert(
      fc.property(amounts, weights, (amount, list) => {
        const total = list.reduce((sum, weight) => sum + BigInt(weight), 0n);
        allocate(amount, list).forEach((share, index) => {
          const miss = BigInt(share) * total - BigInt(amount) * BigInt(list[index]!);
          const distance = miss < 0n ? -miss : miss;
          expect(distance < total).toBe(true);
          if (list[index] === 0) expect(BigInt(share)).toBe(0n);
        });
      }),
    );
  });

  test.each([[[]], [[0, 0]]])('refuses the weights %j', (list) => {
    expect(() => allocate(100, list)).toThrow('at least one weight above 0');
  });
});
