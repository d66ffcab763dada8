import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED, halfOf } from '../../test/seed.ts';
import type { CartProduct } from './cart-product.ts';
import { partLineId, quantityOfPart, sharesOfParts, bundleUnits } from './bundles.ts';
import { sumOfParts } from '../catalogue/products/sum-of-parts.ts';

/** The price of a bundle and its parts. */

const SHOP = {
  defaultCurrency: 'EUR',
  currencies: ['EUR', 'GBP'],
  exchangeRates: { GBP: '0.5' },
  taxClasses: ['standard', 'reduced', 'none'].map((key) => ({
    taxClassId: key,
    key,
    isDefault: key === 'standard',
  })),
} as unknown as Parameters<typeof sharesOfParts>[3];

const part = fc.record({
  price: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.constantFrom(0, 1, 3333)),
  quantity: fc.integer({ min: 1, max: 9 }),
  taxClassId: fc.constantFrom('standard', 'reduced', 'none'),
});
const chosen = ({
  price,
  quantity,
  taxClassId,
}: {
  price: number;
  quantity: number;
  taxClassId: string;
}) => ({
  quantity,
  product: { prices: { EUR: price }, taxClassId } as unknown as CartProduct,
});

test(`the shares of a price sum to it, in proportion to the parts, seed ${SEED}`, () => {
  const run = fc.property(
    fc.integer({ min: 0, max: 1_000_000 }),
    fc.array(part, { minLength: 1, maxLength: 20 }),
    (price, given) => {
      const parts = given.map(chosen);
      const shares = sharesOfParts(price, parts, 'EUR', SHOP);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(price);
      const worths = given.map((one) => one.price * one.quantity);
      const worth = worths.reduce((sum, one) => sum + one, 0);
      // A class is rounded once, and a part of it once more.
      if (worth > 0)
        for (const [index, share] of shares.entries())
          expect(Math.abs(share - (price * worths[index]!) / worth)).toBeLessThan(2);
      // What a class of taxes has does not depend on the order of the parts.
      const ofClass = (all: readonly { taxClassId: string }[], amounts: readonly number[]) =>
        ['standard', 'reduced', 'none'].map((id) =>
          amounts.reduce((sum, amount, index) => sum + (all[index]!.taxClassId === id ? amount : 0), 0),
        );
      const turned = sharesOfParts(price, parts.toReversed(), 'EUR', SHOP);
      if (worth > 0) expect(ofClass(given.toReversed(), turned)).toEqual(ofClass(given, shares));
    },
  );
  fc.assert(run, { seed: SEED, numRuns: halfOf(1_000) });
});

test('the sum of the parts is taken in each currency in which one has a price', () => {
  const parts = [
    { quantity: 2, product: { prices: { EUR: 1000 } } },
    { quantity: 1, product: { prices: { EUR: 501, GBP: 300 } } },
  ];
  expect(sumOfParts(parts, 1000, SHOP)).toEqual({ EUR: 2251, GBP: 1170 });
  expect(sumOfParts([{ quantity: 1, product: { prices: null } }], 0, SHOP)).toBeNull();
  // 12.00 for 500 g: 250 g are half of it.
  const tea = {
    prices: { EUR: 1200 },
    orderUnit: { priceQuantity: 500, unit: 'gram', minimum: 1, interval: 1 },
  };
  expect(sumOfParts([{ quantity: 250, product: tea as never }], 0, SHOP)).toEqual({ EUR: 600 });
});

test('the parts of a bundle are one unit, wherever they stand', () => {
  const of = (lineItemId: string) => ({ bundle: { lineItemId } });
  expect(bundleUnits([{}, of('A'), of('A'), {}, of('B'), of('A')])).toEqual([[0], [1, 2, 5], [3], [4]]);
});

test('the line of a part has the same id each time', () => {
  const id = '01A1DE53-E310-7DA7-A542-72D8CB2D82F3';
  expect(partLineId(id, 0)).toBe(partLineId(id, 0));
  expect(partLineId(id, 0)).not.toBe(partLineId(id, 1));
  expect(partLineId(id, 1)).toMatch(/^[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/);
  expect(quantityOfPart('0.1', 3)).toBe('0.3');
});
