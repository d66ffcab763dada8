import type { Queries } from '../db/database.ts';
import { keptGoods } from './kept-goods.ts';
import type { CartRow, Wanted } from './queries.ts';

/**
 * Carts as this process last saw them: whoever changes a cart usually changes it again. A change that is made from
 * such a copy is written on condition that the cart, the settings and the products are still what they were.
 */

const MOST_KEPT = 5_000;
/** Nobody fills the memory with carts of another size than people have. */
const MOST_LINES_KEPT = 50;
const LONGEST_ADDRESSES_KEPT = 8_000;
const memories = new WeakMap<object, Map<string, CartRow>>();

/** Per database, because tests have many in one process. */
function memoryOf({ source }: Queries): Map<string, CartRow> {
  let memory = memories.get(source);
  if (!memory) memories.set(source, (memory = new Map()));
  return memory;
}

export function keepCart(db: Queries, shopId: string, cart: CartRow): void {
  const memory = memoryOf(db);
  const key = `${shopId} ${cart.cartId}`;
  memory.delete(key);
  if ('inTransaction' in db || !canBeKept(cart)) return;
  if (memory.size >= MOST_KEPT) memory.delete(memory.keys().next().value!);
  memory.set(key, cart);
}

/** A coupon may be used up and a customer change the group without a trace in the cart: such carts are always read. */
function canBeKept({ couponCodeKey, customerId, lines, billingAddress, shippingAddress }: CartRow): boolean {
  const addresses = (billingAddress?.length ?? 0) + (shippingAddress?.length ?? 0);
  return (
    couponCodeKey === null &&
    customerId === null &&
    lines.length <= MOST_LINES_KEPT &&
    addresses <= LONGEST_ADDRESSES_KEPT
  );
}

export function forgetCart(db: Queries, shopId: string, cartId: string): void {
  memoryOf(db).delete(`${shopId} ${cartId}`);
}

/** The copy, with the products of its lines and those that are wanted; undefined when something is not kept. */
export function keptCart(
  db: Queries,
  shopId: string,
  cartId: string,
  { productIds = [], codeKey }: Wanted,
): CartRow | undefined {
  const cart = memoryOf(db).get(`${shopId} ${cartId}`);
  if (!cart || codeKey !== undefined) return undefined;
  const ids = new Set([
    ...cart.lines.map((line) => line.productId),
    ...productIds.map((id) => id.toUpperCase()),
  ]);
  const products = keptGoods(db, shopId, [...ids]);
  return products && { ...cart, products };
}
