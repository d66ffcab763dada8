import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';

/** A named list view with filters, order and columns. */
export interface SavedView {
  viewId: string;
  name: string;
  /** The part of the address after the question mark. */
  query: string;
}

const MAX_VIEWS = 20;

export function findViews(db: Queries, shopId: string, userId: string, list: string) {
  return db.many<SavedView>(sql`
    select upper(view_id::text) as "viewId", name, query from saved_view
    where shop_id = ${shopId} and user_id = ${userId} and list = ${list}
    order by created_at, view_id limit ${MAX_VIEWS}`);
}

/** Beyond the limit the oldest is deleted. */
export async function insertView(
  tx: Transaction,
  shopId: string,
  userId: string,
  { list, name, query }: { list: string; name: string; query: string },
): Promise<void> {
  await tx.run(sql`
    insert into saved_view (shop_id, view_id, user_id, list, name, query, created_at)
    values (${shopId}, ${newId(tx.now)}, ${userId}, ${list}, ${name}, ${query}, ${tx.now})`);
  await tx.run(sql`
    delete from saved_view where shop_id = ${shopId} and user_id = ${userId} and list = ${list} and view_id in (
      select view_id from saved_view where shop_id = ${shopId} and user_id = ${userId} and list = ${list}
      order by created_at desc, view_id desc offset ${MAX_VIEWS})`);
}

export function deleteView(db: Queries, shopId: string, userId: string, viewId: string) {
  return db.one<SavedView & { list: string }>(sql`
    delete from saved_view where shop_id = ${shopId} and user_id = ${userId} and view_id = ${viewId}
    returning upper(view_id::text) as "viewId", list, name, query`);
}
