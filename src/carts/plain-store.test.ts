import { cartStoreOptions } from '../../test/service.ts';

/**
 * The tests of carts once more, with everything switched off that makes them fast: each cart is read, and each is
 * written by a statement of its own. The answers must be the same.
 */
cartStoreOptions.cache = false;
cartStoreOptions.batch = false;

await import('./carts.test.ts');
await import('./line-items.test.ts');
await import('./coupon.test.ts');
await import('./checkout.test.ts');
await import('./order.test.ts');
await import('./pickup-token.test.ts');
