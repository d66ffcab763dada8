import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { forEachShop, type CleanupStep } from '../platform/cleanup.ts';
import { recordEvents } from '../platform/events/log.ts';

const HOUR = 3_600_000;

/**
 * Records carts with lines that were left unchanged for some hours: CART_ABANDONED, once until the cart changes
 * again. An order deletes its cart, so a remaining cart has not been ordered.
 *
 * A cart is found by its creation time, because an index of the last change would make every change more expensive. A
 * new cart that is still being filled is checked again each time; all others are marked, also those without lines, so
 * they are checked once. The mark does not change the version: cached carts stay valid.
 */
export function abandonedCarts(hours: number): CleanupStep {
  return {
    name: 'abandoned carts',
    every: 5 * 60_000,
    run: async (db, limit) => {
      const end = new Date(db.now.getTime() - hours * HOUR);
      const untouched = await findUntouched(db, end, limit);
      let marked = 0;
      await forEachShop(db, untouched, async (ofShop, { shopId, cartIds }) => {
        marked += await ofShop.transaction((tx) => markAbandoned(tx, shopId, cartIds, end));
      });
      return marked;
    },
    runForShop: async (db, shopId, limit) => {
      const end = new Date(db.now.getTime() - hours * HOUR);
      const cartIds = await findUntouchedOf(db, shopId, end, limit);
      return cartIds.length === 0 ? 0 : db.transaction((tx) => markAbandoned(tx, shopId, cartIds, end));
    },
  };
}

/** The ids of carts of all shops, by shop. */
async function findUntouched(
  db: Database,
  end: Date,
  limit: number,
): Promise<{ shopId: string; cartIds: string[] }[]> {
  const carts = await db.many<{ shopId: string; cartId: string }>(sql`
    select shop_id as "shopId", upper(cart_id::text) as "cartId" from cart
    where abandoned_at is null and created_at < ${end} and changed_at < ${end}
    order by created_at limit ${limit}`);
  const cartsOf = new Map<string, string[]>();
  for (const { shopId, cartId } of carts) cartsOf.set(shopId, [...(cartsOf.get(shopId) ?? []), cartId]);
  return [...cartsOf].map(([shopId, cartIds]) => ({ shopId, cartIds }));
}

async function findUntouchedOf(db: Database, shopId: string, end: Date, limit: number): Promise<string[]> {
  const carts = await db.many<{ cartId: string }>(sql`
    select upper(cart_id::text) as "cartId" from cart
    where shop_id = ${shopId} and abandoned_at is null and created_at < ${end} and changed_at < ${end}
    order by created_at limit ${limit}`);
  return carts.map(({ cartId }) => cartId);
}

/** A locked cart is being changed or ordered, and is skipped. */
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
      // A visitor who has picked up a cart continues with a copy of it.
      .filter(({ lines, isPickedUp }) => lines > 0 && !isPickedUp)
      .map(({ cartId, lines }) => ({ type: 'CART_ABANDONED', resourceId: cartId, data: { lines } })),
  );
  return carts.length;
}
