import { BUSY, createBatcher } from '../db/batcher.ts';
import type { Database, Transaction } from '../db/database.ts';
import { isLockTimeout } from '../db/failure.ts';
import { sql } from '../db/sql.ts';
import { placeOrder, type NewOrder, type Placing, type PlacingOptions } from './place.ts';

interface OrderItem {
  order: NewOrder;
  options: PlacingOptions;
}

/** Exported for tests, which give it a patience of their own. */
export const placeWork = {
  runMany: placeOrders,
  runOne: (db: Database, shopId: string, { order, options }: OrderItem) =>
    placeOrder(db, shopId, order, options),
};

/**
 * The orders of a shop wait for each other anyway, because they count with the same counter and on the same day. Those
 * that come at the same time are placed in one transaction, so that they wait for one commit and not for one each.
 */
export const createOrderBatcher = (db: Database) =>
  createBatcher<OrderItem, Placing>(db, placeWork, { size: 20, running: 1 });

async function placeOrders(
  db: Database,
  shopId: string,
  items: readonly OrderItem[],
): Promise<(Placing | typeof BUSY)[]> {
  try {
    return await db.transaction((tx) => placeAfterLocking(tx, shopId, items));
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
  if (items.length === 1) return [BUSY];
  return db.transaction((tx) => placeUnlocked(tx, shopId, items));
}

const cartIdsOf = (items: readonly OrderItem[]) => items.map(({ order }) => order.cartId);

const productIdsOf = ({ order }: OrderItem) => order.content.lines.map(({ productId }) => productId);

/**
 * Locks all that the orders need before the first of them holds the counter: else another order could hold one of
 * these products and wait for the counter. The counters may take their time, because all orders of the shop wait for
 * them; a cart or product that is locked for longer fails the transaction, because not all of them need it.
 */
async function placeAfterLocking(tx: Transaction, shopId: string, items: readonly OrderItem[]) {
  const locked = Promise.all([
    tx.run(sql`set local lock_timeout = '200ms'`),
    tx.run(sql`
      with locked_cart as materialized (
        select cart_id from cart
        where shop_id = ${shopId} and cart_id = any (${cartIdsOf(items)}::uuid[])
        order by cart_id for update
      ), locked_product as materialized (
        select product_id from product
        where shop_id = ${shopId} and product_id = any (${items.flatMap(productIdsOf)}::uuid[])
          and stock is not null and (select count(*) from locked_cart) >= 0
        order by product_id for no key update
      )
      select count(*) from locked_product`),
    tx.run(sql`set local lock_timeout = 0`),
  ]);
  // Sent all at once: they wait for each other in the database, not here.
  const placed = Promise.all(items.map(({ order, options }) => placeOrder(tx, shopId, order, options)));
  const [placings] = await Promise.all([placed, locked]);
  return placings;
}

/** Places those orders whose carts and products can be locked without waiting. */
async function placeUnlocked(tx: Transaction, shopId: string, items: readonly OrderItem[]) {
  const productIds = items.flatMap(productIdsOf);
  const row = await tx.one<{ carts: string[]; products: string[]; tracked: string[] }>(sql`
    with locked_cart as materialized (
      select cart_id from cart
      where shop_id = ${shopId} and cart_id = any (${cartIdsOf(items)}::uuid[])
      order by cart_id for update skip locked
    ), locked_product as materialized (
      select product_id from product
      where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
        and stock is not null and (select count(*) from locked_cart) >= 0
      order by product_id for no key update skip locked
    )
    select array(select upper(cart_id::text) from locked_cart) as carts,
      array(select upper(product_id::text) from locked_product) as products,
      array(
        select upper(product_id::text) from product
        where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and stock is not null
      ) as tracked`);
  const carts = new Set(row!.carts);
  const lockedByOthers = new Set(row!.tracked.filter((id) => !row!.products.includes(id)));
  return Promise.all(
    items.map(async (item) => {
      const { order, options } = item;
      const isFree =
        carts.has(order.cartId.toUpperCase()) &&
        !productIdsOf(item).some((id) => lockedByOthers.has(id.toUpperCase()));
      return isFree ? placeOrder(tx, shopId, order, options) : BUSY;
    }),
  );
}
