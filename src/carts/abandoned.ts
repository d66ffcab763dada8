import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { recordEvents } from '../platform/events/log.ts';

const HOUR = 3_600_000;

/**
 * Tells of carts with lines that nobody has touched for so many hours: CART_ABANDONED, once until somebody changes the
 * cart again. An order deletes its cart, so what is there has not been ordered.
 *
 * A cart is found by the moment when it was made, because an index of the last change would make every change dearer.
 * One that is made and still filled is looked at again each time; all others are marked, also those without lines, so
 * that they are looked at once. The mark moves no version: what is cached of a cart stays valid.
 */
export function abandonedCarts(hours: number): CleanupStep {
  return {
    name: 'abandoned carts',
    every: 5 * 60_000,
    run: async (db, limit) => {
      const end = new Date(db.now.getTime() - hours * HOUR);
      const untouched = await findUntouched(db, end, limit);
      let marked = 0;
      for (const [shopId, cartIds] of untouched) {
        marked += await db.transaction((tx) => markAbandoned(tx, shopId, cartIds, end));
      }
      return marked;
    },
  };
}

/** The ids of carts of all shops, by shop. */
async function findUntouched(db: Database, end: Date, limit: number): Promise<Map<string, string[]>> {
  const carts = await db.many<{ shopId: string; cartId: string }>(sql`
    select shop_id as "shopId", upper(cart_id::text) as "cartId" from cart
    where abandoned_at is null and created_at < ${end} and changed_at < ${end}
    order by created_at limit ${limit}`);
  const cartsOf = new Map<string, string[]>();
  for (const { shopId, cartId } of carts) cartsOf.set(shopId, [...(cartsOf.get(shopId) ?? []), cartId]);
  return cartsOf;
}

/** A cart that somebody has locked is being changed or ordered, and is left alone. */
async function markAbandoned(
  tx: Transaction,
  shopId: string,
  cartIds: readonly string[],
  end: Date,
): Promise<number> {
  const carts = await tx.many<{ cartId: string; lines: number; isPickedUp: boolean }>(sql`
    select upper(cart_id::text) as "cartId", jsonb_array_length(lines) as lines,
      picked_up_at is not null as "isPickedUp"
    from cart
    where shop_id = ${shopId} and cart_id = any (${cartIds}::uuid[]) and abandoned_at is null and changed_at < ${end}
    order by cart_id for no key update skip locked`);
  await tx.run(sql`
    update cart set abandoned_at = ${tx.now}
    where shop_id = ${shopId} and cart_id = any (${carts.map(({ cartId }) => cartId)}::uuid[])`);
  recordEvents(
    tx,
    shopId,
    carts
      // The visitor who has picked a cart up goes on with a copy of it.
      .filter(({ lines, isPickedUp }) => lines > 0 && !isPickedUp)
      .map(({ cartId, lines }) => ({ type: 'CART_ABANDONED', resourceId: cartId, data: { lines } })),
  );
  return carts.length;
}
