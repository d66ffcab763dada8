import type { Queries, Transaction } from '../../db/database.ts';
import { createLease } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';

/*
 * Backups that the service makes, and when each shop is backed up next. Both outlive a shop, and name it by a column
 * that is no key of it.
 */

export const BACKUP_STATES = ['waiting', 'running', 'done', 'failed', 'removing'] as const;

export type BackupState = (typeof BACKUP_STATES)[number];

export interface ShopBackup {
  backupId: string;
  shop: string;
  state: BackupState;
  /** The name in the store. */
  place: string;
  /** The moment that it shows. */
  createdAt: Date | null;
  bytes: number | null;
  sha256: string | null;
  rows: number | null;
  files: number | null;
  error: string | null;
  verifiedAt: Date | null;
  verifyError: string | null;
}

const columns = sql`
  upper(backup_id::text) as "backupId", shop, state, place, created_at as "createdAt", bytes, sha256, rows, files, error,
  verified_at as "verifiedAt", verify_error as "verifyError"`;

/** More than are kept of any shop. */
const MAX_BACKUPS = 3_000;

/** Newest first. */
export function findBackups(db: Queries, shop: string, limit = MAX_BACKUPS) {
  return db.many<ShopBackup>(sql`
    select ${columns} from shop_backup where shop = ${shop} order by backup_id desc limit ${limit}`);
}

export function findBackup(db: Queries, backupId: string) {
  return db.one<ShopBackup>(sql`select ${columns} from shop_backup where backup_id = ${backupId}`);
}

/** A backup that the host has asked for. One that waits already is the same. */
export async function askForBackup(tx: Transaction, shop: string): Promise<ShopBackup> {
  await tx.run(sql`
    insert into shop_backup (backup_id, shop, state, place) values (${newId(tx.now)}, ${shop}, 'waiting', '')
    on conflict (shop) where state = 'waiting' do nothing`);
  await tx.run(sql`
    insert into backup_plan (shop, due_at) values (${shop}, ${tx.now})
    on conflict (shop) do update set due_at = excluded.due_at`);
  const waiting = await tx.one<ShopBackup>(sql`
    select ${columns} from shop_backup where shop = ${shop} and state = 'waiting'`);
  return waiting!;
}

/** Begins the backup that waits, or another one, and returns its id. */
export async function beginBackup(tx: Transaction, shop: string, placeOf: (id: string) => string) {
  const waiting = await tx.one<{ backupId: string }>(sql`
    select upper(backup_id::text) as "backupId" from shop_backup where shop = ${shop} and state = 'waiting' for update`);
  const backupId = waiting?.backupId ?? newId(tx.now);
  const place = placeOf(backupId);
  await tx.run(sql`
    insert into shop_backup (backup_id, shop, state, place) values (${backupId}, ${shop}, 'running', ${place})
    on conflict (backup_id) do update set state = excluded.state, place = excluded.place`);
  return { backupId, place };
}

export interface FinishedBackup {
  createdAt: Date;
  bytes: number;
  sha256: string;
  rows: number;
  files: number;
  schema: string;
}

/** false: it was given up meanwhile. */
export async function finishBackup(
  db: Queries,
  backupId: string,
  { createdAt, bytes, sha256, rows, files, schema }: FinishedBackup,
): Promise<boolean> {
  const finished = await db.run(sql`
    update shop_backup
    set state = 'done', created_at = ${createdAt}, bytes = ${bytes}, sha256 = ${sha256}, rows = ${rows},
      files = ${files}, schema = ${schema}
    where backup_id = ${backupId} and state = 'running'`);
  return finished > 0;
}

export function failBackup(db: Queries, backupId: string, error: string) {
  return db.run(sql`
    update shop_backup set state = 'failed', error = ${error.slice(0, 1_000)}
    where backup_id = ${backupId} and state in ('waiting', 'running')`);
}

/** Before its file is removed, so that nobody restores it. */
export function markRemoving(db: Queries, backupId: string) {
  return db.run(sql`
    update shop_backup set state = 'removing' where backup_id = ${backupId} and state in ('done', 'failed')`);
}

export function deleteBackup(db: Queries, backupId: string) {
  return db.run(sql`delete from shop_backup where backup_id = ${backupId}`);
}

export function saveVerification(db: Queries, backupId: string, error: string | null) {
  return db.run(sql`
    update shop_backup set verified_at = ${db.now}, verify_error = ${error?.slice(0, 1_000) ?? null}
    where backup_id = ${backupId}`);
}

/** The newest whole backup of a shop, any of them. */
export function findRandomBackup(db: Queries) {
  return db.one<ShopBackup>(sql`
    select * from (
      select distinct on (shop) ${columns} from shop_backup where state = 'done' order by shop, backup_id desc
    ) as newest order by random() limit 1`);
}

export interface BackupPlan {
  shop: string;
  dueAt: Date;
  attempts: number;
  error: string | null;
  goodAt: Date | null;
  mark: string | null;
  goneAt: Date | null;
}

const planColumns = sql`
  shop, due_at as "dueAt", attempts, error, good_at as "goodAt", mark, gone_at as "goneAt"`;

export function findBackupPlan(db: Queries, shop: string) {
  return db.one<BackupPlan>(sql`select ${planColumns} from backup_plan where shop = ${shop}`);
}

/** When the last whole backup of each of these shops was made, or found to be still the same. */
export function findGoodTimes(db: Queries, shops: readonly string[]) {
  return db.many<{ shop: string; goodAt: Date | null }>(sql`
    select shop, good_at as "goodAt" from backup_plan where shop = any (${shops}::text[])`);
}

/** New shops get a first turn; one that was gone is there again. */
export function insertPlans(db: Queries, plans: readonly { shop: string; dueAt: Date }[]) {
  return db.run(sql`
    insert into backup_plan (shop, due_at)
    select * from unnest(${plans.map(({ shop }) => shop)}::text[], ${plans.map(({ dueAt }) => dueAt)}::timestamptz[])
    on conflict (shop) do update set gone_at = null where backup_plan.gone_at is not null`);
}

export function findShopIds(db: Queries, after: string, limit: number) {
  return db.many<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop where shop_id > ${after} order by shop_id limit ${limit}`);
}

/** false: there is no such shop, or its deletion has begun. */
export async function isWholeShop(db: Queries, shopId: string): Promise<boolean> {
  const row = await db.one(sql`
    select shop_id from shop where shop_id = ${shopId} and (deletion_at is null or deletion_at > ${db.now})`);
  return row !== undefined;
}

const lease = createLease(sql`backup_plan`);
const rowOf = (shop: string) => sql`shop = ${shop}`;

/** A shop that is due and that no process has. */
export async function findDueShop(db: Queries): Promise<string | undefined> {
  const row = await db.one<{ shop: string }>(sql`
    select shop from backup_plan
    where due_at <= ${db.now} and (leased_until is null or leased_until <= ${db.serviceNow})
    order by due_at limit 1`);
  return row?.shop;
}

/** undefined: another process was faster. */
export async function takePlan(db: Queries, shop: string, holder: string): Promise<BackupPlan | undefined> {
  const due = sql`shop = ${shop} and due_at <= ${db.now}`;
  return (await lease.take<BackupPlan>(db, due, holder, planColumns))[0];
}

export const renewPlan = (db: Queries, shop: string, holder: string) => lease.renew(db, rowOf(shop), holder);

export const releasePlan = (db: Queries, shop: string, holder: string) =>
  lease.release(db, rowOf(shop), holder);

/** Ends a turn, and its lease. A backup that was asked for meanwhile is due at once. */
export function endTurn(
  db: Queries,
  shop: string,
  holder: string,
  {
    dueAt,
    attempts,
    error,
    goodAt,
    mark,
    goneAt,
  }: Pick<BackupPlan, 'dueAt' | 'attempts' | 'error' | 'goodAt' | 'mark' | 'goneAt'>,
) {
  return db.run(sql`
    update backup_plan
    set due_at = case
        when exists (select from shop_backup where shop = ${shop} and state = 'waiting')
          then ${db.now}::timestamptz else ${dueAt}::timestamptz end,
      attempts = ${attempts}, error = ${error?.slice(0, 1_000) ?? null}, good_at = ${goodAt},
      mark = ${mark}, gone_at = ${goneAt}, holder = null, leased_until = null
    where shop = ${shop} and holder = ${holder}`);
}

export function deletePlan(db: Queries, shop: string, holder: string) {
  return db.run(sql`delete from backup_plan where shop = ${shop} and holder = ${holder}`);
}

/** The next turn of the shop is now, and writes a backup even if nothing has changed. */
export function distrustBackups(db: Queries, shop: string) {
  return db.run(sql`update backup_plan set due_at = ${db.now}, mark = null where shop = ${shop}`);
}
