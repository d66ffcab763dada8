import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generatedOrders } from '../../test/generated-orders.ts';
import { SEED, halfOf } from '../../test/seed.ts';
import { sum } from '../pricing/shares.ts';
import { negated, taxRows, type TaxRow } from './tax-rows.ts';

const sumOfRows = (rows: readonly TaxRow[]) => ({
  net: sum(rows.map(({ net }) => net)),
  tax: sum(rows.map(({ tax }) => tax)),
  gross: sum(rows.map(({ gross }) => gross)),
});

test(`the rows of an order sum to its totals, to the cent (seed ${SEED})`, () => {
  fc.assert(
    fc.property(generatedOrders, ({ content }) => {
      const rows = taxRows(content);
      const { totalBeforeTax, totalTax, grandTotal } = content;
      expect(sumOfRows(rows)).toEqual({ net: totalBeforeTax, tax: totalTax, gross: grandTotal });
      expect(new Set(rows.map(({ rate }) => rate)).size).toBe(rows.length);
      for (const { net, tax, gross } of rows) expect(net + tax).toBe(gross);
      expect(sumOfRows(rows.map(negated))).toEqual({
        net: 0 - totalBeforeTax,
        tax: 0 - totalTax,
        gross: 0 - grandTotal,
      });
    }),
    { numRuns: halfOf(1_000), seed: SEED },
  );
});

const totals = { totalBeforeTax: 0, totalTax: 0, grandTotal: 0 };

test('an order without any amount has one row', () => {
  expect(taxRows({ ...totals, taxType: 'GROSS', taxes: [] })).toEqual([
    { rate: 0, net: 0, tax: 0, gross: 0 },
  ]);
  expect(taxRows({ ...totals, taxType: 'GROSS', taxes: [{ rate: 1900, amount: 0, tax: 0 }] })).toEqual([
    { rate: 1900, net: 0, tax: 0, gross: 0 },
  ]);
});

test('a rate without any amount has no row beside others', () => {
  const taxes = [
    { rate: 700, amount: 1070, tax: 70 },
    { rate: 1900, amount: 0, tax: 0 },
  ];
  expect(taxRows({ ...totals, taxType: 'GROSS', taxes })).toEqual([
    { rate: 700, net: 1000, tax: 70, gross: 1070 },
  ]);
});
