import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { secretHash } from '../../kernel/ids.ts';
import { refColumns, type FoundRef } from '../../catalogue/products/queries.ts';
import type { Visit } from '../visit.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';

/** More is no list that anybody reads. */
export const MOST_WISHES = 200;

const KEPT_FOR = 400 * 86_400_000;

/** Those of these products that the visitor remembers. Who remembers none costs no statement. */
export async function findWished(
  { db, shopId, session }: Visit,
  productIds: readonly string[],
): Promise<Set<string>> {
  const { visitor, wishes = 0 } = session;
  if (visitor === undefined || wishes === 0 || productIds.length === 0) return new Set();
  const rows = await db.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from wish
    where shop_id = ${shopId} and visitor_hash = ${secretHash(visitor)}
      and product_id = any (${productIds}::uuid[])`);
  return new Set(rows.map(({ productId }) => productId));
}

/** What the visitor remembers and can still see, newest first. */
export function findWishes(db: Queries, shopId: string, visitorHash: Buffer) {
  return db.many<FoundRef>(sql`
    select ${refColumns}
    from wish
    join product on product.shop_id = wish.shop_id and product.product_id = wish.product_id
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where wish.shop_id = ${shopId} and wish.visitor_hash = ${visitorHash} and product.visible
    order by wish.created_at desc, wish.product_id`);
}

/** All that are kept, and those the list shows: a product may have become invisible. */
export async function countWishes(db: Queries, shopId: string, visitorHash: Buffer) {
  const row = await db.one<{ all: number; shown: number }>(sql`
    select count(*) as all, count(*) filter (where product.visible) as shown
    from wish join product on product.shop_id = wish.shop_id and product.product_id = wish.product_id
    where wish.shop_id = ${shopId} and wish.visitor_hash = ${visitorHash}`);
  return row!;
}

/** Twice is once: a wish keeps its place. */
export function insertWish(tx: Transaction, shopId: string, visitorHash: Buffer, productId: string) {
  return tx.run(sql`
    insert into wish (shop_id, visitor_hash, product_id, created_at)
    values (${shopId}, ${visitorHash}, ${productId}, ${tx.now})
    on conflict (shop_id, visitor_hash, product_id) do nothing`);
}

export function deleteWish(tx: Transaction, shopId: string, visitorHash: Buffer, productId: string) {
  return tx.run(sql`
    delete from wish where shop_id = ${shopId} and visitor_hash = ${visitorHash} and product_id = ${productId}`);
}

/** Deletes old wishes: whoever has not come back for so long has lost the cookie. */
export const wishCleanup: CleanupStep = {
  name: 'wishes',
  run: async (db, limit) => {
    const old = await db.many<{ shopId: string; visitorHash: Buffer; productId: string }>(sql`
      select shop_id as "shopId", visitor_hash as "visitorHash", product_id as "productId" from wish
      where created_at < ${new Date(db.now.getTime() - KEPT_FOR)} order by created_at limit ${limit}`);
    await db.run(sql`
      delete from wish
      using unnest(${old.map(({ shopId }) => shopId)}::text[],
        ${old.map(({ visitorHash }) => visitorHash)}::bytea[], ${old.map(({ productId }) => productId)}::uuid[])
        as old (shop_id, visitor_hash, product_id)
      where wish.shop_id = old.shop_id and wish.visitor_hash = old.visitor_hash
        and wish.product_id = old.product_id`);
    return old.length;
  },
};
