import type { Queries, Transaction } from '../../db/database.ts';
import { createLease } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';

/** Shops that the host makes from backups, and the files that it has sent for them. */

export const RESTORE_STATES = ['waiting', 'done', 'failed'] as const;

export type RestoreState = (typeof RESTORE_STATES)[number];

export interface NewRestore {
  shop: string;
  /** One of both. */
  backupId: string | null;
  uploadId: string | null;
  /** null: as in the backup. */
  plan: string | null;
  owner: string | null;
  /** Of a shop that is replaced: whether it was so before. */
  isSuspended: boolean;
  /** The shop is there, and its backup takes its place. */
  replaces: boolean;
  /** The name of the token. */
  byName: string;
}

export interface ShopRestore extends NewRestore {
  restoreId: string;
  state: RestoreState;
  errorCode: string | null;
  error: string | null;
  doneAt: Date | null;
  attempts: number;
  /** Files below the id may be those of an attempt that has ended with its process. */
  hasFiles: boolean;
}

const columns = sql`
  upper(restore_id::text) as "restoreId", shop, upper(backup_id::text) as "backupId",
  upper(upload_id::text) as "uploadId", plan, owner, is_suspended as "isSuspended", replaces, by_name as "byName", state,
  error_code as "errorCode", error, done_at as "doneAt", attempts, has_files as "hasFiles"`;

export async function insertRestore(tx: Transaction, restore: NewRestore): Promise<ShopRestore> {
  const { shop, backupId, uploadId, plan, owner, isSuspended, replaces, byName } = restore;
  const row = await tx.one<ShopRestore>(sql`
    insert into shop_restore (restore_id, shop, backup_id, upload_id, plan, owner, is_suspended, replaces, by_name, state)
    values (${newId(tx.now)}, ${shop}, ${backupId}, ${uploadId}, ${plan}, ${owner}, ${isSuspended}, ${replaces},
      ${byName}, 'waiting')
    returning ${columns}`);
  return row!;
}

export function findRestore(db: Queries, restoreId: string) {
  return db.one<ShopRestore>(sql`select ${columns} from shop_restore where restore_id = ${restoreId}`);
}

const lease = createLease(sql`shop_restore`);
const rowOf = (restoreId: string) => sql`restore_id = ${restoreId} and state = 'waiting'`;

export async function findDueRestore(db: Queries): Promise<string | undefined> {
  const row = await db.one<{ restoreId: string }>(sql`
    select restore_id as "restoreId" from shop_restore
    where state = 'waiting' and (leased_until is null or leased_until <= ${db.serviceNow})
    order by restore_id limit 1`);
  return row?.restoreId;
}

/** Counts the attempt. undefined: another process was faster. */
export async function takeRestore(db: Queries, restoreId: string, holder: string) {
  const [taken] = await lease.take<{ id: string }>(db, rowOf(restoreId), holder, sql`restore_id as id`);
  if (!taken) return undefined;
  return db.one<ShopRestore>(sql`
    update shop_restore set attempts = attempts + 1 where restore_id = ${restoreId} and holder = ${holder}
    returning ${columns}`);
}

export const renewRestore = (db: Queries, restoreId: string, holder: string) =>
  lease.renew(db, rowOf(restoreId), holder);

export const releaseRestore = (db: Queries, restoreId: string, holder: string) =>
  lease.release(db, rowOf(restoreId), holder);

export function noteFiles(db: Queries, restoreId: string, holder: string) {
  return db.run(sql`
    update shop_restore set has_files = true where restore_id = ${restoreId} and holder = ${holder}`);
}

/** false: another process has it, or it has ended. */
export async function endRestore(
  db: Queries,
  { restoreId, uploadId }: Pick<ShopRestore, 'restoreId' | 'uploadId'>,
  holder: string,
  failure?: { code: string; text: string },
): Promise<boolean> {
  const ended = await db.run(sql`
    update shop_restore
    set state = ${failure ? 'failed' : 'done'}, error_code = ${failure?.code ?? null},
      error = ${failure?.text.slice(0, 1_000) ?? null}, done_at = ${db.now}, holder = null, leased_until = null
    where restore_id = ${restoreId} and holder = ${holder} and state = 'waiting'`);
  if (ended > 0 && !failure && uploadId !== null) {
    await db.run(sql`delete from backup_part where upload_id = ${uploadId}`);
  }
  return ended > 0;
}

export function savePart(tx: Transaction, uploadId: string, part: number, content: Buffer) {
  return tx.run(sql`
    insert into backup_part (upload_id, part_number, sent_at, content)
    values (${uploadId}, ${part}, ${tx.now}, ${content})
    on conflict (upload_id, part_number) do update set sent_at = excluded.sent_at, content = excluded.content`);
}

/** How many files are being sent beside this one. */
export async function countOtherUploads(db: Queries, uploadId: string): Promise<number> {
  const row = await db.one<{ uploads: number }>(sql`
    select count(distinct upload_id) as uploads from backup_part where upload_id <> ${uploadId}`);
  return row!.uploads;
}

/** Whether there are parts, and none of them is missing. */
export async function isUploaded(db: Queries, uploadId: string): Promise<boolean> {
  const row = await db.one<{ parts: number; last: number | null }>(sql`
    select count(*) as parts, max(part_number) as last from backup_part where upload_id = ${uploadId}`);
  return row!.parts > 0 && row!.parts === row!.last;
}

/** undefined: there are no more. */
export function findPart(db: Queries, uploadId: string, part: number) {
  return db.one<{ content: Buffer }>(sql`
    select content from backup_part where upload_id = ${uploadId} and part_number = ${part}`);
}

const DAY = 86_400_000;
/** They hold the data of customers, and nobody waits for them any more. */
const PARTS_KEPT = 2 * DAY;
const RESTORES_KEPT = 90 * DAY;
/** Ten megabytes each. */
const PARTS_AT_ONCE = 20;

export const uploadCleanup: CleanupStep = {
  name: 'sent backups',
  run: async (db, limit) => {
    const deleted = await db.run(sql`
      delete from backup_part where (upload_id, part_number) in (
        select upload_id, part_number from backup_part where sent_at < ${new Date(db.now.getTime() - PARTS_KEPT)}
        order by sent_at limit ${PARTS_AT_ONCE})`);
    // A full step is repeated at once, although it has fewer rows than those of other steps.
    return deleted === PARTS_AT_ONCE ? limit : 0;
  },
};

export const restoreCleanup: CleanupStep = {
  name: 'old restores of shops',
  run: (db, limit) =>
    db.run(sql`
      delete from shop_restore where restore_id in (
        select restore_id from shop_restore
        where restore_id < ${newId(new Date(db.now.getTime() - RESTORES_KEPT))} and state <> 'waiting' limit ${limit})`),
};
