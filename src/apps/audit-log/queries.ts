import type { Queries } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';

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

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** An id begins with its moment, so the order of ids is also the order of time. */
const isInTime = (shopId: string, { after, before }: EntryFilter) => {
  const first = after ? firstIdSince(after.getTime() + 1) : FIRST_ID;
  const last = before ? firstIdSince(before.getTime()) : LAST_ID;
  return sql`shop_id = ${shopId} and entry_id >= ${first}::uuid and entry_id < ${last}::uuid`;
};

/** A statement for each combination of app and method, because each has its own index. */
const matches = (shopId: string, filter: EntryFilter) => {
  const { appId, method } = filter;
  const ofApp = appId === null ? sql`` : sql`and app_id = ${appId}`;
  const withMethod = method === null ? sql`` : sql`and method = ${method}`;
  return sql`${isInTime(shopId, filter)} ${ofApp} ${withMethod}`;
};

/** The possible values of `method`. */
export const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'COMMAND'] as const;

/**
 * Newest first. Entries of an app are indexed by method, so a rarely used method is found at once; all entries of an
 * app are the union over the methods.
 */
export function findAuditEntries(
  db: Queries,
  shopId: string,
  filter: EntryFilter,
  limit: number,
  offset: number,
) {
  const { appId, method } = filter;
  if (appId === null || method !== null) {
    return db.many<EntryRow>(sql`
      select ${entryColumns} from audit_entry where ${matches(shopId, filter)}
      order by entry_id desc limit ${limit} offset ${offset}`);
  }
  return db.many<EntryRow>(sql`
    select ${entryColumns} from unnest(${METHODS}::text[]) as part (of_method) cross join lateral (
      select * from audit_entry
      where ${isInTime(shopId, filter)} and app_id = ${appId} and method = of_method
      order by entry_id desc limit ${limit + offset}
    ) entry
    order by entry_id desc limit ${limit} offset ${offset}`);
}

export async function countAuditEntries(db: Queries, shopId: string, filter: EntryFilter): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from audit_entry where ${matches(shopId, filter)}`,
  );
  return row!.count;
}

const KEPT_FOR = 400 * 86_400_000;

const deleteEntries = deleteOld('audit_entry', 'at', { entry_id: 'uuid' });

/** Deletes old entries of all shops. */
export const auditCleanup: CleanupStep = {
  name: 'audit entries',
  run: (db, limit) => deleteEntries(db, new Date(db.now.getTime() - KEPT_FOR), limit),
};

/** Not above any id made at this moment or later, in milliseconds since 1970. */
export function firstIdSince(moment: number): string {
  const digits = Math.max(moment, 0).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
