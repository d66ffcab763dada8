import type { Queries, Transaction } from '../../db/database.ts';
import { createLease } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';

/** Sandboxes that are made in the background, the last one of each shop. */
export interface SandboxCopy {
  shopId: string;
  sandbox: string;
  withCustomers: boolean;
  userId: string;
  email: string;
  state: 'waiting' | 'done' | 'failed';
  errorCode: string | null;
  /** null: they are not counted yet. */
  entries: number | null;
  entriesDone: number;
  attempts: number;
  hasFiles: boolean;
}

const columns = sql`
  shop_id as "shopId", sandbox, with_customers as "withCustomers", upper(user_id::text) as "userId", email, state,
  error_code as "errorCode", entries, entries_done as "entriesDone", attempts, has_files as "hasFiles"`;

/** false: another one of this shop is being made. */
export async function insertCopy(
  tx: Transaction,
  {
    shopId,
    sandbox,
    withCustomers,
    userId,
    email,
  }: Pick<SandboxCopy, 'shopId' | 'sandbox' | 'withCustomers' | 'userId' | 'email'>,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into sandbox_copy (shop_id, sandbox, with_customers, user_id, email, created_at, state)
    values (${shopId}, ${sandbox}, ${withCustomers}, ${userId}, ${email}, ${tx.serviceNow}, 'waiting')
    on conflict (shop_id) do update set sandbox = excluded.sandbox, with_customers = excluded.with_customers,
      user_id = excluded.user_id, email = excluded.email, created_at = excluded.created_at, state = excluded.state,
      error_code = null, entries = null, entries_done = 0, attempts = 0, has_files = false
    where sandbox_copy.state <> 'waiting'`);
  return inserted > 0;
}

export function findCopy(db: Queries, shopId: string) {
  return db.one<SandboxCopy>(sql`select ${columns} from sandbox_copy where shop_id = ${shopId}`);
}

const lease = createLease(sql`sandbox_copy`);
const rowOf = (shopId: string) => sql`shop_id = ${shopId} and state = 'waiting'`;

/** The shop whose sandbox has waited longest, and that no process makes. */
export async function findDueCopy(db: Queries): Promise<string | undefined> {
  const row = await db.one<{ shopId: string }>(sql`
    select shop_id as "shopId" from sandbox_copy
    where state = 'waiting' and (leased_until is null or leased_until <= ${db.serviceNow})
    order by created_at limit 1`);
  return row?.shopId;
}

/** Counts the attempt. undefined: another process was faster. */
export async function takeCopy(db: Queries, shopId: string, holder: string) {
  const [taken] = await lease.take<{ id: string }>(db, rowOf(shopId), holder, sql`shop_id as id`);
  if (!taken) return undefined;
  return db.one<SandboxCopy>(sql`
    update sandbox_copy set attempts = attempts + 1 where shop_id = ${shopId} and holder = ${holder}
    returning ${columns}`);
}

export const renewCopy = (db: Queries, shopId: string, holder: string) =>
  lease.renew(db, rowOf(shopId), holder);

export const releaseCopy = (db: Queries, shopId: string, holder: string) =>
  lease.release(db, rowOf(shopId), holder);

export function saveProgress(
  db: Queries,
  shopId: string,
  holder: string,
  { entries, entriesDone }: { entries: number | null; entriesDone: number },
) {
  return db.run(sql`
    update sandbox_copy set entries = ${entries}, entries_done = ${entriesDone}
    where shop_id = ${shopId} and holder = ${holder} and state = 'waiting'`);
}

export function noteFilesOfCopy(db: Queries, shopId: string, holder: string) {
  return db.run(sql`
    update sandbox_copy set has_files = true where shop_id = ${shopId} and holder = ${holder}`);
}

/** false: another process has it, or it has ended. */
export async function endCopy(
  db: Queries,
  shopId: string,
  holder: string,
  errorCode: string | null,
): Promise<boolean> {
  const ended = await db.run(sql`
    update sandbox_copy
    set state = ${errorCode === null ? 'done' : 'failed'}, error_code = ${errorCode}, holder = null, leased_until = null
    where shop_id = ${shopId} and holder = ${holder} and state = 'waiting'`);
  return ended > 0;
}
