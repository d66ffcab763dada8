import { expect, test } from 'vitest';
import { SEED } from '../../test/seed.ts';
import { checkBusinesses, checkTaxTypes, checkTotals } from '../../test/totals-properties.ts';

// `npm run proof -- --only totals` takes 100,000 carts.

test(`every property holds for carts of every kind, seed ${SEED}`, () => {
  expect(checkTotals(SEED, 5_000)).toBe(5_000);
});

test(`the tax type changes how prices are shown and not what is paid, seed ${SEED}`, () => {
  expect(checkTaxTypes(SEED, 1_000)).toBe(1_000);
});

test(`a business abroad pays the net price of a customer at home, seed ${SEED}`, () => {
  expect(checkBusinesses(SEED, 1_000)).toBe(1_000);
});
