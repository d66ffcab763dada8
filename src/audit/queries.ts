import type { Database, Queries } from '../db/database.ts';
import { and, sql } from '../db/sql.ts';
import { findShops } from '../shop/queries.ts';

export interface EntryRow {
  entryId: string;
  at: Date;
  appId: string | null;
  appName: string | null;
  method: string;
  route: string;
  object: Record<string, string>;
}

export interface EntryFilter {
  after: Date | null;
  before: Date | null;
  appId: string | null;
  method: string | null;
}

export const entryColumns = sql`
  upper(entry_id::text) as "entryId", at, upper(app_id::text) as "appId", app_name as "appName", method, route, object`;

/**
 * An id begins with its moment, so the primary key is also the order of time. Only what is asked for is a condition:
 * without app and method, entries are counted in the index alone.
 */
const matches = (shopId: string, { after, before, appId, method }: EntryFilter) =>
  and([
    sql`shop_id = ${shopId}`,
    ...(after ? [sql`entry_id >= ${firstIdOf(after.getTime() + 1)}::uuid`] : []),
    ...(before ? [sql`entry_id < ${firstIdOf(before.getTime())}::uuid`] : []),
    ...(appId === null ? [] : [sql`app_id = ${appId}::uuid`]),
    ...(method === null ? [] : [sql`method = ${method}`]),
  ]);

/** Newest first. */
export function findEntries(db: Queries, shopId: string, filter: EntryFilter, limit: number, offset: number) {
  return db.many<EntryRow>(sql`
    select ${entryColumns} from audit_entry where ${matches(shopId, filter)}
    order by entry_id desc limit ${limit} offset ${offset}`);
}

export async function countEntries(db: Queries, shopId: string, filter: EntryFilter): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from audit_entry where ${matches(shopId, filter)}`,
  );
  return row!.count;
}

const KEPT_FOR = 400 * 86_400_000;

/** Called by the hourly sweep. Shop by shop, because each has its old entries at the beginning of its own range. */
export async function deleteOldEntries(db: Database): Promise<void> {
  const oldest = firstIdOf(db.now.getTime() - KEPT_FOR);
  for (const { shopId } of await findShops(db, 1_000_000)) {
    await db.run(sql`delete from audit_entry where shop_id = ${shopId} and entry_id < ${oldest}::uuid`);
  }
}

/** Not above any id that was made at this moment or later, in milliseconds since 1970. */
export function firstIdOf(moment: number): string {
  const digits = Math.max(moment, 0).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
