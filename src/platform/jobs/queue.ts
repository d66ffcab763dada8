import type { Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';

/** A job runs after the response was sent, and survives a crash: it waits in the same database. */
export interface NewJob {
  id: string;
  /** As JSON. */
  content: object;
}

const insert = insertInto('job', {
  job_id: 'uuid',
  queue: 'text',
  content: 'jsonb',
  created_at: 'timestamptz',
  run_at: 'timestamptz',
  attempts: 'bigint',
});

/**
 * Queues a job that runs at `runAt`, unless one with this id is already waiting. Two transactions that queue the same
 * one wait for each other.
 */
export async function queueJobOnce(
  tx: Transaction,
  shopId: string,
  queue: string,
  { id, content }: NewJob,
  runAt: Date,
): Promise<void> {
  // Queues run by the clock of the service; `advance` moves what waits in them.
  const due = new Date(runAt.getTime() - (tx.now.getTime() - tx.serviceNow.getTime()));
  await tx.run(sql`
    insert into job (shop_id, job_id, queue, content, created_at, run_at, attempts)
    values (${shopId}, ${id}, ${queue}, ${content}, ${tx.serviceNow}, ${due}, 0)
    on conflict (shop_id, job_id) do nothing`);
}

/** Queues jobs of a shop in one statement, as a part of the transaction: a rollback discards them. */
export async function queueJobs(
  tx: Transaction,
  shopId: string,
  queue: string,
  jobs: readonly NewJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  const { serviceNow: now } = tx;
  const rows = jobs.map(({ id, content }) => ({
    job_id: id,
    queue,
    content,
    created_at: now,
    run_at: now,
    attempts: 0,
  }));
  await tx.run(insert(shopId, rows));
}

/** Discards a job that no worker has taken yet; false: there is none. */
export async function discardWaitingJob(
  tx: Transaction,
  shopId: string,
  queue: string,
  id: string,
): Promise<boolean> {
  const discarded = await tx.run(sql`
    delete from job where shop_id = ${shopId} and job_id = ${id} and queue = ${queue} and attempts = 0`);
  return discarded > 0;
}
