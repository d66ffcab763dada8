import type { Queries, Transaction } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { secretHash } from '../../kernel/ids.ts';
import { versionColumns, type FoundVersion } from '../../catalogue/products/queries.ts';
import type { Visit } from '../visit.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';

/** A longer list would not be read. */
export const MAX_WISHLIST_ITEMS = 200;

const MAX_AGE = 400 * 86_400_000;

/**
 * The hash under which the wish list of an account is stored, as an expression. The id of the account stands for the
 * secret of other visitors: only our own signed cookie, or the session of the account, can name it.
 */
export const wishlistHash = (accountId: Sql) => sql`sha256(convert_to(upper(${accountId}::text), 'UTF8'))`;

/** Which of these products are on the visitor's wish list. A visitor without a wish list costs no statement. */
export async function findWishedIds(
  { db, shopId, session }: Visit,
  productIds: readonly string[],
): Promise<Set<string>> {
  const { visitor, wishlistCount = 0 } = session;
  if (visitor === undefined || wishlistCount === 0 || productIds.length === 0) return new Set();
  const rows = await db.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from wish
    where shop_id = ${shopId} and visitor_hash = ${secretHash(visitor)}
      and product_id = any (${productIds}::uuid[])`);
  return new Set(rows.map(({ productId }) => productId));
}

/** The visible products of the wish list, newest first. */
export function findWishlistItems(db: Queries, shopId: string, visitorHash: Buffer) {
  return db.many<FoundVersion>(sql`
    select ${versionColumns}
    from wish
    join product on product.shop_id = wish.shop_id and product.product_id = wish.product_id
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where wish.shop_id = ${shopId} and wish.visitor_hash = ${visitorHash} and product.visible
    order by wish.created_at desc, wish.product_id`);
}

/** All items, and those that are still visible. */
export async function countWishlistItems(db: Queries, shopId: string, visitorHash: Buffer) {
  const row = await db.one<{ all: number; visible: number }>(sql`
    select count(*) as all, count(*) filter (where product.visible) as visible
    from wish join product on product.shop_id = wish.shop_id and product.product_id = wish.product_id
    where wish.shop_id = ${shopId} and wish.visitor_hash = ${visitorHash}`);
  return row!;
}

/** A product that is on the list already keeps its place. */
export function insertWishlistItem(tx: Transaction, shopId: string, visitorHash: Buffer, productId: string) {
  return tx.run(sql`
    insert into wish (shop_id, visitor_hash, product_id, created_at)
    values (${shopId}, ${visitorHash}, ${productId}, ${tx.now})
    on conflict (shop_id, visitor_hash, product_id) do nothing`);
}

export function deleteWishlistItem(tx: Transaction, shopId: string, visitorHash: Buffer, productId: string) {
  return tx.run(sql`
    delete from wish where shop_id = ${shopId} and visitor_hash = ${visitorHash} and product_id = ${productId}`);
}

/** Moves a wish list to another one. Items on both, or beyond the limit, are left out. */
export async function moveWishlistItems(tx: Transaction, shopId: string, from: Buffer, to: Buffer) {
  const { all } = await countWishlistItems(tx, shopId, to);
  await tx.run(sql`
    insert into wish (shop_id, visitor_hash, product_id, created_at)
    select ${shopId}, ${to}::bytea, product_id, created_at from wish
    where shop_id = ${shopId} and visitor_hash = ${from}
    order by created_at desc, product_id limit ${Math.max(0, MAX_WISHLIST_ITEMS - all)}
    on conflict (shop_id, visitor_hash, product_id) do nothing`);
  await tx.run(sql`delete from wish where shop_id = ${shopId} and visitor_hash = ${from}`);
}

const deleteWishes = deleteOld('wish', 'created_at', { visitor_hash: 'bytea', product_id: 'uuid' });

/** Deletes old items, because a visitor who has been away for so long has lost the cookie. */
export const wishlistCleanup: CleanupStep = {
  name: 'wishes',
  run: (db, limit) => deleteWishes(db, new Date(db.now.getTime() - MAX_AGE), limit),
};
