import { describe } from 'vitest';
import { cartStoreOptions } from '../../test/service.ts';

/**
 * The tests of carts once more, with everything switched off that makes them fast: each cart is read, and each is
 * written by a statement of its own. The answers must be the same.
 */
cartStoreOptions.cache = false;
cartStoreOptions.batch = false;

// Each in a group of its own, because their hooks are for their own tests only.
describe('carts', () => import('./carts.test.ts'));
describe('line items', () => import('./line-items.test.ts'));
describe('coupon', () => import('./coupon.test.ts'));
describe('checkout', () => import('./checkout.test.ts'));
describe('order', () => import('./order.test.ts'));
describe('pick-up token', () => import('./pickup-token.test.ts'));
