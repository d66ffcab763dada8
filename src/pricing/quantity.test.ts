import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SEED, halfOf } from '../../test/seed.ts';
import { allowedQuantity } from './quantity.ts';

describe('a quantity is raised to the next that may be ordered', () => {
  test.each([
    // wanted, minimum, interval, allowed
    [1, 1, 1, 1],
    [1.2, 1, 1, 2],
    [7, 1, 1, 7],
    [1, 6, 6, 6],
    [6, 6, 6, 6],
    [7, 6, 6, 12],
    [12.000001, 6, 6, 18],
    [1, 2, 0.5, 2],
    [2.1, 2, 0.5, 2.5],
    [7.5, 2, 0.5, 7.5],
    [4, 5, 3, 5],
    [6, 5, 3, 8],
    [0.3, 0.1, 0.1, 0.3], // in floats 0.3 is two steps and a bit above 0.1
    [0.1 + 0.2, 0.1, 0.1, 0.3],
    [1.1, 0.1, 0.000001, 1.1],
    [1_000_000_000, 1, 1, 1_000_000_000],
    [999_999_999.5, 0.5, 0.25, 999_999_999.5],
  ])('%d of at least %d in steps of %d: %d', (wanted, minimum, interval, allowed) => {
    expect(allowedQuantity(wanted, { minimum, interval })).toBe(allowed);
  });

  test('whole pieces where the product says nothing', () => {
    expect(allowedQuantity(2.5)).toBe(3);
  });
});

describe('lowered to what is there', () => {
  test.each([
    // wanted, minimum, interval, stock, allowed
    [5, 1, 1, 5, 5],
    [5, 1, 1, 4, 4],
    [5, 1, 1, 4.9, 4],
    [5, 1, 1, 0, undefined],
    [5, 1, 1, -2, undefined],
    [1, 6, 6, 5, undefined],
    [13, 6, 6, 17, 12],
    [1, 6, 6, 6, 6],
    [6, 5, 3, 7, 5], // raised to 8, of which there are too few
    [7.5, 2, 0.5, 7.4, 7],
    [0.3, 0.1, 0.1, 0.3, 0.3],
    [0.4, 0.1, 0.1, 0.3, 0.3],
    [3, 1, 1, null, 3],
  ])('%d of at least %d in steps of %d, with %d there: %d', (wanted, minimum, interval, stock, allowed) => {
    expect(allowedQuantity(wanted, { minimum, interval }, stock)).toBe(allowed);
  });
});

describe('lowered to what one order may hold', () => {
  test.each([
    // wanted, minimum, interval, stock, most, allowed
    [5, 1, 1, null, 5, 5],
    [6, 1, 1, null, 5, 5],
    [6, 1, 1, 3, 5, 3],
    [6, 1, 1, 30, 5, 5],
    [20, 6, 6, null, 17, 12],
    [1, 6, 6, null, 5, 6], // the least order can always be had
    [9, 6, 6, 5, 5, undefined],
    [3, 2, 0.5, null, 2.7, 2.5],
    [3, 0.5, 0, null, 2.7, 2.7],
  ])('%d of at least %d in steps of %d, with %d there and at most %d: %d', (...row) => {
    const [wanted, minimum, interval, stock, most, allowed] = row;
    expect(allowedQuantity(wanted, { minimum, interval }, stock, most)).toBe(allowed);
  });
});

describe('whatever is wanted', () => {
  const MILLION = 1_000_000;
  const millionths = (amount: number) => Math.round(amount * MILLION);
  const decimal = (least: number, most: number) =>
    fc.oneof(
      fc.integer({ min: Math.ceil(least), max: most }),
      fc.integer({ min: Math.ceil(least * 10), max: most * 10 }).map((tenths) => tenths / 10),
      fc.integer({ min: least * MILLION, max: most * MILLION }).map((units) => units / MILLION),
    );
  const wants = fc.record({
    wanted: decimal(0, 5000),
    unit: fc.record({ minimum: decimal(0.000001, 100), interval: decimal(0.000001, 20) }),
    stock: fc.option(decimal(-10, 5000)),
  });
  const holds = (
    property: (facts: {
      wanted: number;
      unit: { minimum: number; interval: number };
      stock: number | null;
      allowed: number | undefined;
    }) => void,
  ) =>
    fc.assert(
      fc.property(wants, ({ wanted, unit, stock }) =>
        property({ wanted, unit, stock, allowed: allowedQuantity(wanted, unit, stock) }),
      ),
      { seed: SEED, numRuns: halfOf(5_000) },
    );

  test('it is the least order and whole steps', () => {
    holds(({ unit, allowed }) => {
      if (allowed === undefined) return;
      const above = millionths(allowed) - millionths(unit.minimum);
      expect(above).toBeGreaterThanOrEqual(0);
      expect(above % millionths(unit.interval)).toBe(0);
    });
  });

  test('it is at least what is wanted and less than one step more, unless there is too little', () => {
    holds(({ wanted, unit, stock, allowed }) => {
      const enough = allowedQuantity(wanted, unit)!;
      expect(enough).toBeGreaterThanOrEqual(wanted);
      if (enough > unit.minimum)
        expect(millionths(enough) - millionths(wanted)).toBeLessThan(millionths(unit.interval));
      if (stock === null || enough <= stock) expect(allowed).toBe(enough);
      else expect(allowed ?? 0).toBeLessThan(enough);
    });
  });

  test('it is never above the stock, and nothing more would fit', () => {
    holds(({ wanted, unit, stock, allowed }) => {
      if (stock === null) return;
      if (allowed === undefined) {
        expect(stock).toBeLessThan(unit.minimum);
        return;
      }
      expect(allowed).toBeLessThanOrEqual(stock);
      if (allowed < wanted)
        expect(millionths(allowed) + millionths(unit.interval)).toBeGreaterThan(millionths(stock));
    });
  });

  test('it is allowed itself', () => {
    holds(({ unit, stock, allowed }) => {
      const again = allowed === undefined ? undefined : allowedQuantity(allowed, unit, stock);
      expect(again).toBe(allowed);
    });
  });

  test('adding to what is allowed in two steps gives what one step gives', () => {
    fc.assert(
      fc.property(wants, decimal(0, 100), ({ wanted, unit, stock }, more) => {
        const first = allowedQuantity(wanted, unit)!;
        const exactSum = (millionths(first) + millionths(more)) / MILLION;
        expect(allowedQuantity(first + more, unit, stock)).toBe(allowedQuantity(exactSum, unit, stock));
      }),
      { seed: SEED, numRuns: halfOf(5_000) },
    );
  });
});
