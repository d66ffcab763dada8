import { afterAll, describe } from 'vitest';
import { ofTheDay } from '../../test/seed.ts';
import { cartStoreOptions } from '../../test/service.ts';

/**
 * Tests of carts once more, with everything switched off that makes carts fast: each cart is read, and each is written
 * by a statement of its own. The answers must be the same. Only the store differs, so it suffices that carts are changed
 * and closed, by another file every day.
 */
cartStoreOptions.cache = false;
cartStoreOptions.batch = false;

// Other test files run in the same process.
afterAll(() => {
  cartStoreOptions.cache = true;
  cartStoreOptions.batch = true;
});

const FILES = ofTheDay(
  [
    'line-items',
    '../checkout/order',
    '../checkout/order-events',
    '../checkout/order-headers',
    '../checkout/order-stock',
    '../checkout/order-batcher',
  ],
  1,
);

// Each in a group of its own, because their hooks are for their own tests only. The query makes it another module
// than the one that runs by itself: a module is evaluated once per process.
describe.each(FILES)('%s', async (file) => {
  const address = new URL(`${file}.test.ts?plain`, import.meta.url).href;
  await import(address);
});
