import { seenCartProducts } from '../pricing/cart-product-cache.ts';
import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import type { Address } from '../shops/countries/address.ts';
import { textLengthOf } from './lines.ts';
import { productIdsOf, type CartRow, type Prefetch } from './cart.ts';

/**
 * Carts as this process last saw them, because carts are often changed several times in a row. A change computed from
 * a cached cart is written only if the cart, the settings and the products are unchanged.
 */
const cartCache: CacheKind<CartRow> = { name: 'carts', limit: { entries: 5_000 } };

/** Larger carts are not cached, so that one client cannot fill the cache. */
const MAX_LINES_CACHED = 50;
/** Characters of both addresses and of the texts typed for products. */
const MAX_CACHED_TEXT_LENGTH = 6_000;

const keyOf = (shopId: string, cartId: string) => `${shopId} ${cartId}`;

/** With the connection of a transaction it drops the cached cart instead, because the change may be rolled back. */
export function cacheCart({ caches }: Queries, shopId: string, cart: CartRow): void {
  const cache = caches.of(cartCache);
  if (isCacheable(cart)) cache.set(keyOf(shopId, cart.cartId), cart);
  else cache.delete(keyOf(shopId, cart.cartId));
}

/**
 * A coupon may be used up and a customer may change groups without a trace in the cart, so such carts are always read.
 */
function isCacheable({
  couponCodeKey,
  customerId,
  lines,
  billingAddress,
  shippingAddress,
}: CartRow): boolean {
  return (
    couponCodeKey === null &&
    customerId === null &&
    lines.length <= MAX_LINES_CACHED &&
    lengthOf(billingAddress) + lengthOf(shippingAddress) + textLengthOf(lines) <= MAX_CACHED_TEXT_LENGTH
  );
}

function lengthOf(address: Address | null): number {
  return Object.values(address ?? {}).reduce((length, text) => length + (text?.length ?? 0), 0);
}

export function dropCachedCart({ caches }: Queries, shopId: string, cartId: string): void {
  caches.of(cartCache).delete(keyOf(shopId, cartId));
}

/**
 * The cached cart, with the products of its lines and the prefetched ones; undefined when it is not cached, or one of
 * them does not exist. Coupons are never cached, so a change with a coupon code begins with the stored cart.
 */
export async function cachedCart(
  db: Queries,
  shopId: string,
  cartId: string,
  { productIds = [], codeKey }: Prefetch,
): Promise<CartRow | undefined> {
  const cart = db.caches.of(cartCache).get(keyOf(shopId, cartId));
  if (!cart || codeKey !== undefined) return undefined;
  const ids = new Set([...productIdsOf(cart), ...productIds.map((id) => id.toUpperCase())]);
  const products = await seenCartProducts(db, shopId, [...ids]);
  return products && { ...cart, products };
}
