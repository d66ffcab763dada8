import type { Queries } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../cleanup.ts';

export interface JobKey {
  shopId: string;
  id: string;
}

export interface TakenJob<Content> extends JobKey {
  content: Content;
  /** Counts this one. */
  attempts: number;
  /** Since when it waits because its shop may not send; null: it never had to. */
  heldAt: Date | null;
}

export interface DueJob extends JobKey {
  /** The kind of email; null: the job is another one. */
  template: string | null;
}

const FAILED_JOBS_STAY = 14 * 86_400_000;

/** The state of a job in one word. */
export const JOB_STATE = sql`
  case when failed_at is not null then 'failed' when taken_at is not null then 'active'
    when attempts > 0 then 'retry' else 'created' end`;

/**
 * Finds due jobs in the order of their shops, beginning after a shop. A worker that continues after the last shop it
 * has found lets the shops take turns: ten thousand newsletters of one shop do not delay the order emails of another.
 * However many wait, only `limit` of them are read. The jobs of the shops in `except` are left for later.
 */
export function findDueJobs(
  db: Queries,
  queue: string,
  { afterShop, limit, except = [] }: { afterShop: string; limit: number; except?: readonly string[] },
) {
  return db.many<DueJob>(sql`
    select shop_id as "shopId", job_id as id, content ->> 'template' as template from job
    where queue = ${queue} and shop_id > ${afterShop} and run_at <= ${db.serviceNow}
      and shop_id <> all (${except}::text[])
    order by shop_id, run_at limit ${limit}`);
}

/**
 * Takes those of the jobs that are still due. Of two processes that take the same job, one gets it, because the other
 * waits for the row and then finds the new `run_at`. This needs no `skip locked`, which Citus lacks across shards.
 */
export function takeJobs<Content>(db: Queries, shopId: string, ids: readonly string[]) {
  const { serviceNow: now } = db;
  return db.many<TakenJob<Content>>(sql`
    update job set run_at = ${leaseEnd(now)}, taken_at = ${now}, attempts = attempts + 1
    where shop_id = ${shopId} and job_id = any (${ids}::uuid[]) and run_at <= ${now}
    returning shop_id as "shopId", job_id as id, content, attempts, held_at as "heldAt"`);
}

/** So long does a job wait for a shop that may not send, or for its mail server. */
export const MAX_HELD = 3 * 86_400_000;

/** Limit of the jobs whose time one statement moves. */
const HELD_AT_ONCE = 500;

/**
 * Lets the due jobs of a shop wait until a moment, except those of some kinds. No attempt is counted, and how long they
 * wait already stays known.
 */
export function holdJobs(
  db: Queries,
  shopId: string,
  queue: string,
  { until, except }: { until: Date; except: readonly string[] },
) {
  return db.run(sql`
    update job set run_at = ${until}, taken_at = null, held_at = coalesce(held_at, ${db.serviceNow})
    where shop_id = ${shopId} and run_at <= ${db.serviceNow} and job_id in (
      select job_id from job
      where shop_id = ${shopId} and queue = ${queue} and run_at <= ${db.serviceNow}
        and coalesce(content ->> 'template', '') <> all (${except}::text[])
      order by run_at limit ${HELD_AT_ONCE})`);
}

/** Ends the jobs of a shop that have waited for too long. */
export function failHeldJobs(
  db: Queries,
  shopId: string,
  queue: string,
  { error, except }: { error: string; except: readonly string[] },
) {
  return db.run(sql`
    update job set run_at = null, taken_at = null, failed_at = ${db.serviceNow}, error = ${error}
    where shop_id = ${shopId} and queue = ${queue} and run_at is not null and taken_at is null
      and held_at < ${new Date(db.serviceNow.getTime() - MAX_HELD)}
      and coalesce(content ->> 'template', '') <> all (${except}::text[])`);
}

/** Makes waiting jobs due at once. All queues are named, because the index begins with them. */
export function releaseHeldJobs(db: Queries, shopId: string) {
  return db.run(sql`
    update job set run_at = ${db.serviceNow}
    where queue in ('mail', 'mailing') and shop_id = ${shopId} and run_at > ${db.serviceNow}
      and held_at is not null and taken_at is null`);
}

/** Lets a job wait that was taken: its attempt does not count. */
export function postponeJob(
  db: Queries,
  { shopId, id, attempts }: TakenJob<unknown>,
  { error, runAt }: { error: string; runAt: Date },
) {
  return db.run(sql`
    update job set run_at = ${runAt}, taken_at = null, attempts = attempts - 1, error = ${error},
      held_at = coalesce(held_at, ${db.serviceNow})
    where shop_id = ${shopId} and job_id = ${id} and attempts = ${attempts}`);
}

export function deleteJobs(db: Queries, shopId: string, ids: readonly string[]) {
  return db.run(sql`delete from job where shop_id = ${shopId} and job_id = any (${ids}::uuid[])`);
}

/**
 * Records that an attempt has failed, and when the next one is due; null: there is none. A job that was taken again
 * meanwhile is left to its current worker.
 */
export function recordFailure(
  db: Queries,
  { shopId, id, attempts }: TakenJob<unknown>,
  { error, runAt }: { error: string; runAt: Date | null },
) {
  return db.run(sql`
    update job set run_at = ${runAt}, taken_at = null, failed_at = ${runAt ? null : db.serviceNow}, error = ${error}
    where shop_id = ${shopId} and job_id = ${id} and attempts = ${attempts}`);
}

export interface FailedJob extends JobKey {
  queue: string;
  /** The kind of email, and its recipient. */
  template: string | null;
  to: string | null;
  attempts: number;
  failedAt: Date;
  error: string | null;
}

/** Jobs of all shops, the latest first. */
export function findFailedJobs(db: Queries, limit: number) {
  return db.many<FailedJob>(sql`
    select shop_id as "shopId", upper(job_id::text) as id, queue, content ->> 'template' as template,
      content ->> 'to' as "to", attempts, failed_at as "failedAt", error
    from job where failed_at is not null order by failed_at desc limit ${limit}`);
}

/** How many jobs of all shops have failed, up to `limit`. */
export async function countFailedJobs(db: Queries, limit: number): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from (select job_id from job where failed_at is not null limit ${limit}) as failed`);
  return row!.count;
}

/** How many jobs wait at this moment, up to `limit`, and since when the first of them is due. */
export async function findWaitingJobs(db: Queries, queue: string, limit: number) {
  const row = await db.one<{ count: number; since: Date | null }>(sql`
    select count(*) as count, min(run_at) as since from (
      select run_at from job where queue = ${queue} and run_at <= ${db.serviceNow} limit ${limit}) as waiting`);
  return row!;
}

/** Retries a failed job from the beginning; false: it no longer exists, or has not failed. */
export async function retryJob(db: Queries, { shopId, id }: JobKey): Promise<boolean> {
  const retried = await db.run(sql`
    update job set run_at = ${db.serviceNow}, taken_at = null, failed_at = null, held_at = null, attempts = 0
    where shop_id = ${shopId} and job_id = ${id} and failed_at is not null`);
  return retried > 0;
}

/** Makes the waiting jobs of a shop due earlier, by a number of milliseconds. */
export function bringJobsForward(db: Queries, shopId: string, milliseconds: number) {
  return db.run(sql`
    update job set run_at = run_at - ${milliseconds}::bigint * interval '1 millisecond'
    where shop_id = ${shopId} and run_at is not null and taken_at is null`);
}

/** A failed job can be inspected for two weeks. */
export const failedJobCleanup: CleanupStep = {
  name: 'failed jobs',
  run: async (db, limit) => {
    const old = await db.many<JobKey>(sql`
      select shop_id as "shopId", job_id as id from job
      where failed_at < ${new Date(db.serviceNow.getTime() - FAILED_JOBS_STAY)} order by failed_at limit ${limit}`);
    for (const [shopId, ids] of idsByShop(old)) await deleteJobs(db, shopId, ids);
    return old.length;
  },
};

/** A statement processes the jobs of one shop, so on Citus it goes to one shard. */
export function idsByShop(jobs: Iterable<JobKey>): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const { shopId, id } of jobs) {
    const known = ids.get(shopId);
    if (known) known.push(id);
    else ids.set(shopId, [id]);
  }
  return ids;
}
