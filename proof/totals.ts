import { setImmediate as nextTurn } from 'node:timers/promises';
import { SEED } from '../test/seed.ts';
import { checkBundles, checkPromotions, checkTaxTypes, checkTotals } from '../test/totals-properties.ts';
import type { Check } from './stage.ts';

const CARTS = 100_000;
const CARTS_PER_SEED = 5_000;

/** The test of the same name for many more carts than a test has time for. It needs no service. */
export const totals: Check = {
  name: 'totals',
  endsWithin: 60 * 60_000,
  summary: `for ${CARTS} generated carts the parts sum to the whole, and a second implementation agrees`,
  run: async (stage) => {
    const parts = Math.ceil(stage.size(CARTS) / CARTS_PER_SEED);
    const progress = stage.progress('carts', parts * CARTS_PER_SEED);
    for (let part = 0; part < parts; part++) {
      checkTotals(SEED + part, CARTS_PER_SEED);
      checkPromotions(SEED + part, CARTS_PER_SEED);
      checkBundles(SEED + part, CARTS_PER_SEED / 10);
      checkTaxTypes(SEED + part, CARTS_PER_SEED / 10);
      progress.advance(CARTS_PER_SEED);
      // So that an interruption is noticed.
      await nextTurn();
    }
    progress.end();
    return `${parts * CARTS_PER_SEED} carts, first seed ${SEED}`;
  },
};
