import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assignedLines,
  dayAt,
  unitsText,
  endOfDay,
  fromDecimal,
  isDay,
  openBackorder,
  orderableOf,
  promisedLines,
  splitQuantity,
  waitingOf,
} from './backorders.ts';

const TODAY = '2026-11-20';
const units = fc.bigInt({ min: 0n, max: 10_000_000_000n });
const someUnits = fc.bigInt({ min: 1n, max: 1_000_000_000n });

describe('assigning stock', () => {
  const queue = fc
    .array(someUnits, { maxLength: 50 })
    .map((parts) =>
      parts.map((waiting, index) => ({ orderId: `O${index}`, lineItemId: `L${index}`, waiting })),
    );

  test('gives all there is to the first lines, and to none more than it waits for', () => {
    fc.assert(
      fc.property(queue, units, (lines, stock) => {
        const { assigned, left } = assignedLines(lines, stock);
        const sum = assigned.reduce((total, { quantity }) => total + quantity, 0n);
        const awaited = lines.reduce((total, { waiting }) => total + waiting, 0n);
        expect(sum + left).toBe(stock);
        expect(sum).toBe(awaited < stock ? awaited : stock);
        // In the order of the queue: only the last one that gets something may get less than it waits for.
        expect(assigned.map(({ line }) => line)).toEqual(lines.slice(0, assigned.length));
        for (const { line, quantity } of assigned.slice(0, -1)) expect(quantity).toBe(line.waiting);
        for (const { line, quantity } of assigned) {
          expect(quantity > 0n && quantity <= line.waiting).toBe(true);
        }
      }),
    );
  });

  test('in several deliveries is the same as at once', () => {
    fc.assert(
      fc.property(queue, fc.array(units, { maxLength: 5 }), (lines, deliveries) => {
        let open = lines;
        for (const stock of deliveries) {
          const { assigned } = assignedLines(open, stock);
          const given = new Map(assigned.map(({ line, quantity }) => [line.orderId, quantity]));
          open = open
            .map((line) => ({ ...line, waiting: line.waiting - (given.get(line.orderId) ?? 0n) }))
            .filter(({ waiting }) => waiting > 0n);
        }
        const total = deliveries.reduce((sum, stock) => sum + stock, 0n);
        const { assigned } = assignedLines(lines, total);
        const given = new Map(assigned.map(({ line, quantity }) => [line.orderId, quantity]));
        const atOnce = lines
          .map((line) => ({ ...line, waiting: line.waiting - (given.get(line.orderId) ?? 0n) }))
          .filter(({ waiting }) => waiting > 0n);
        expect(open).toEqual(atOnce);
      }),
    );
  });
});

test('a quantity is taken from the stock first, and promised as far as the limit allows', () => {
  expect(splitQuantity(5n, 3n, 5n)).toEqual({ fromStock: 3n, promised: 2n });
  expect(splitQuantity(3n, 3n, 0n)).toEqual({ fromStock: 3n, promised: 0n });
  expect(splitQuantity(9n, 3n, 5n)).toBeUndefined();
  // A stock below zero is a debt of former orders, which the limit does not pay.
  expect(splitQuantity(5n, -2n, 5n)).toEqual({ fromStock: 0n, promised: 5n });
  fc.assert(
    fc.property(units, units, units, (quantity, stock, left) => {
      const split = splitQuantity(quantity, stock, left);
      expect(split !== undefined).toBe(quantity <= stock + left);
      if (!split) return;
      expect(split.fromStock + split.promised).toBe(quantity);
      expect(split.fromStock <= stock && split.promised <= left).toBe(true);
    }),
  );
});

test('the last lines with a product wait', () => {
  const lines = [
    { lineItemId: 'A', productId: 'LAMP', quantity: 2n },
    { lineItemId: 'B', productId: 'TEA', quantity: 1n },
    { lineItemId: 'C', productId: 'LAMP', quantity: 2n },
  ];
  expect(promisedLines(lines, new Map([['LAMP', 3n]]))).toEqual([
    { lineItemId: 'C', productId: 'LAMP', quantity: 2n },
    { lineItemId: 'A', productId: 'LAMP', quantity: 1n },
  ]);
  expect(promisedLines(lines, new Map())).toEqual([]);
});

test('what can be ordered is the stock, and what is left of the limit until its day has passed', () => {
  const product = (stock: number | null, promised: number, expectedOn?: string) => ({
    facts: { backorder: { kind: 'backorder' as const, limit: 5, ...(expectedOn && { expectedOn }) } },
    stock,
    promised,
  });
  expect(orderableOf(product(3, 0), TODAY)).toBe(8);
  expect(orderableOf(product(0, 4), TODAY)).toBe(1);
  expect(orderableOf(product(0, 5), TODAY)).toBe(0);
  expect(orderableOf(product(-2, 0), TODAY)).toBe(5);
  expect(orderableOf(product(0, 0, '2026-11-20'), TODAY)).toBe(5);
  expect(orderableOf(product(0, 0, '2026-11-19'), TODAY)).toBe(0);
  expect(orderableOf(product(null, 0), TODAY)).toBeNull();
  expect(orderableOf({ facts: {}, stock: -2, promised: 0 }, TODAY)).toBe(-2);
  // The limit was lowered below what is promised already.
  expect(openBackorder(product(0, 9), TODAY)).toBeUndefined();
  expect(waitingOf(product(3, 0), 5, TODAY)).toBe(2);
  expect(waitingOf(product(3, 0), 2, TODAY)).toBe(0);
});

test('quantities are read from and written as decimals', () => {
  expect(['12', '0.5', '3.0000000000000000', '-2.25', '0'].map(fromDecimal)).toEqual([
    12_000_000n,
    500_000n,
    3_000_000n,
    -2_250_000n,
    0n,
  ]);
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (amount) => {
      expect(fromDecimal(unitsText(amount))).toBe(amount);
    }),
  );
});

test('days begin and end where the shop is', () => {
  expect(dayAt(new Date('2026-11-20T23:30:00Z'), 'Europe/Berlin')).toBe('2026-11-21');
  expect(dayAt(new Date('2026-11-20T23:30:00Z'), 'America/New_York')).toBe('2026-11-20');
  expect(endOfDay('2026-11-20', 'Europe/Berlin')).toEqual(new Date('2026-11-20T23:00:00Z'));
  expect(endOfDay('2026-11-20', 'Asia/Kathmandu')).toEqual(new Date('2026-11-20T18:15:00Z'));
  expect(['2027-02-28', '2027-02-30', '2027-13-01'].map(isDay)).toEqual([true, false, false]);
});
