import type { Database, Queries } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { CallKind } from '../manifest/schema.ts';

/** Entries of an app; older ones are deleted when new ones come. */
export const MAX_LOGGED_CALLS = 200;
const KEPT_FOR = 14 * 86_400_000;

export interface CallEntry {
  entryId: string;
  kind: CallKind;
  at: Date;
  milliseconds: number;
  /** null: there was no answer. */
  statusCode: number | null;
  /** In English; null: it was slow. */
  problem: string | null;
}

/** Newest first. */
export function findCallEntries(db: Queries, shopId: string, appId: string, limit: number) {
  return db.many<CallEntry>(sql`
    select upper(entry_id::text) as "entryId", kind, at, milliseconds, status_code as "statusCode", problem
    from app_call_log where shop_id = ${shopId} and app_id = ${appId} order by entry_id desc limit ${limit}`);
}

/** An app that was deleted meanwhile has no log. */
export async function addCallEntries(
  db: Database,
  shopId: string,
  appId: string,
  entries: readonly CallEntry[],
): Promise<void> {
  await db.run(sql`
    insert into app_call_log (shop_id, app_id, entry_id, kind, at, milliseconds, status_code, problem)
    select app.shop_id, app.app_id, made.*
    from app cross join json_to_recordset(${JSON.stringify(entries)}) as made ("entryId" uuid, kind text,
      at timestamptz, milliseconds int, "statusCode" int, problem text)
    where app.shop_id = ${shopId} and app.app_id = ${appId}`);
  await db.run(sql`
    delete from app_call_log where shop_id = ${shopId} and app_id = ${appId} and entry_id <= (
      select entry_id from app_call_log where shop_id = ${shopId} and app_id = ${appId}
      order by entry_id desc offset ${MAX_LOGGED_CALLS} limit 1)`);
}

const deleteEntries = deleteOld('app_call_log', 'at', { app_id: 'uuid', entry_id: 'uuid' });

/** Deletes entries that are two weeks old. */
export const callLogCleanup: CleanupStep = {
  name: 'calls of apps',
  run: (db, limit) => deleteEntries(db, new Date(db.serviceNow.getTime() - KEPT_FOR), limit),
};
