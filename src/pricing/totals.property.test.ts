import { expect, test } from 'vitest';
import { SEED, halfOf } from '../../test/seed.ts';
import {
  checkBundles,
  checkBusinesses,
  checkPromotions,
  checkTaxTypes,
  checkTotals,
} from '../../test/totals-properties.ts';

// `npm run proof -- --only totals` takes 100,000 carts.

test(`every property holds for carts of every kind, seed ${SEED}`, () => {
  const carts = halfOf(5_000);
  expect(checkTotals(SEED, carts)).toBe(carts);
});

test(`promotions are those of an implementation that tries every piece, seed ${SEED}`, () => {
  const carts = halfOf(1_000);
  expect(checkPromotions(SEED, carts)).toBe(carts);
});

test(`bundles are priced and taxed as by an implementation that only knows the rules, seed ${SEED}`, () => {
  const carts = halfOf(1_000);
  expect(checkBundles(SEED, carts)).toBe(carts);
});

test(`the tax type changes how prices are shown and not what is paid, seed ${SEED}`, () => {
  const carts = halfOf(1_000);
  expect(checkTaxTypes(SEED, carts)).toBe(carts);
});

test(`a business abroad pays the net price of a customer at home, seed ${SEED}`, () => {
  const carts = halfOf(1_000);
  expect(checkBusinesses(SEED, carts)).toBe(carts);
});
