import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../cleanup.ts';

interface OldJob {
  id: string;
  shopId: string;
}

const DAY = 86_400_000;

/**
 * Moves jobs out of the schema pgboss, where versions before the migration 0012 kept them. Processes of such a version
 * may still run beside this one: they can queue and run jobs there, and what they leave is moved a minute later. A day
 * after the migration the schema is dropped.
 */
export const pgBossCleanup: CleanupStep = {
  name: 'jobs of pg-boss',
  every: 60_000,
  run: async (db, limit) => {
    const found = await db.one<{ exists: boolean }>(sql`
      select to_regclass('pgboss.job') is not null as exists`);
    if (!found!.exists) return 0;
    const moved = await db.transaction((tx) => moveJobs(tx, limit));
    if (moved === 0) await db.transaction(dropSchema);
    return moved;
  },
};

/** Those that are running stay with their process, unless it has been silent for too long. */
async function moveJobs(tx: Transaction, limit: number): Promise<number> {
  // It holds failed jobs for their last day, with addresses that an erasure no longer finds.
  await tx.run(sql`delete from pgboss.archive`);
  const jobs = await tx.many<OldJob>(sql`
    select id, data ->> 'shopId' as "shopId", name as queue, data as content, created_on as "createdAt",
      case when state <> 'failed' then start_after end as "runAt",
      case when state = 'created' then 0 else retry_count + 1 end as attempts,
      case when state = 'failed' then completed_on end as "failedAt", left(output ->> 'message', 2000) as error
    from pgboss.job
    where name = 'mail'
      and (state in ('created', 'retry', 'failed') or (state = 'active' and started_on + expire_in < ${tx.now}))
    limit ${limit} for update skip locked`);
  const shops = await tx.many<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop where shop_id = any (${jobs.map(({ shopId }) => shopId)}::text[])`);
  for (const { shopId } of shops) {
    const rows = JSON.stringify(jobs.filter((job) => job.shopId === shopId));
    await tx.run(sql`
      insert into job (shop_id, job_id, queue, content, created_at, run_at, attempts, failed_at, error)
      select ${shopId}, id, queue, content, "createdAt", "runAt", attempts, "failedAt", error
      from jsonb_to_recordset(${rows}) as given (id uuid, queue text, content jsonb, "createdAt" timestamptz,
        "runAt" timestamptz, attempts smallint, "failedAt" timestamptz, error text)`);
  }
  await tx.run(
    sql`delete from pgboss.job where name = 'mail' and id = any (${jobs.map(({ id }) => id)}::uuid[])`,
  );
  return jobs.length;
}

async function dropSchema(tx: Transaction): Promise<void> {
  const migration = await tx.one(sql`
    select name from migration
    where name = '0012_job.sql' and applied_at < ${new Date(tx.now.getTime() - DAY)}`);
  if (!migration) return;
  await tx.run(sql`lock table pgboss.job in access exclusive mode`);
  const job = await tx.one(sql`select id from pgboss.job limit 1`);
  if (!job) await tx.run(sql`drop schema pgboss cascade`);
}
