import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { togetherBy } from '../db/together.ts';
import { placeOrder, type NewOrder, type Placing, type PlacingOptions } from './place.ts';

interface Wanted {
  order: NewOrder;
  options: PlacingOptions;
}

/**
 * The orders of a shop wait for each other anyway, because they count with the same counter and on the same day. Those
 * that come at the same time are placed in one transaction, so that they wait for one commit and not for one each.
 */
export const placeTogether = togetherBy<Wanted, Placing, Database>(placeOrders, {
  together: 20,
  underWay: 1,
});

async function placeOrders(db: Database, shopId: string, wanted: readonly Wanted[]): Promise<Placing[]> {
  const [first] = wanted;
  if (wanted.length === 1) return [await placeOrder(db, shopId, first!.order, first!.options)];
  return db.transaction(async (tx) => {
    // All that they need is locked before the first of them holds the counter: else another order could hold one of
    // these products and wait for the counter.
    const productIds = wanted.flatMap(({ order }) => order.content.lines.map(({ productId }) => productId));
    const locked = tx.one(sql`
      with locked_cart as materialized (
        select from cart
        where shop_id = ${shopId} and cart_id = any (${wanted.map(({ order }) => order.cartId)}::uuid[])
        order by cart_id for update
      ), locked_product as materialized (
        select from product
        where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and stock is not null
          and (select count(*) from locked_cart) >= 0
        order by product_id for no key update
      )
      select count(*) from locked_product`);
    // Sent all at once: they wait for each other in the database, not here.
    const placed = Promise.all(wanted.map(({ order, options }) => placeOrder(tx, shopId, order, options)));
    const [placings] = await Promise.all([placed, locked]);
    return placings;
  });
}
