import PgBoss from 'pg-boss';
import type { Database, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';

/** Jobs run after the answer was sent, and survive a crash: pg-boss stores them in the same database. */
export interface NewJob {
  id: string;
  /** As JSON. */
  content: object;
}

/** A worker that has taken a job and not finished it after this time is taken for dead. */
const LOST_AFTER = '60 s';

/**
 * Inserts jobs, alone or as a part of a larger statement; `jobs` selects their `id` and `data`. A failed job is retried
 * after 30 to 60 s, then after twice as long each time, for about a day. A queue that does not exist is an error.
 */
export function insertJobs(queue: string, jobs: Sql): Sql {
  return sql`
    insert into pgboss.job (name, policy, id, data, retry_limit, retry_delay, retry_backoff, expire_in)
    select ${queue}, 'standard', jobs.id, jobs.data, 11, 30, true, ${LOST_AFTER}::interval from (${jobs}) jobs`;
}

/**
 * Queues jobs in one statement, as a part of the transaction: a rollback leaves none of them.
 */
export async function queueJobs(tx: Transaction, queue: string, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const rows = JSON.stringify(jobs.map(({ id, content }) => ({ id, data: content })));
  await tx.run(
    insertJobs(queue, sql`select * from jsonb_to_recordset(${rows}) as given (id uuid, data jsonb)`),
  );
}

/**
 * Brings the schema of the queues up to date and creates those that are missing. It takes the lock of our own
 * migrations, because processes that create a queue at the same time would run into a deadlock.
 */
export async function createQueues(db: Database, queues: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`lock table migration in access exclusive mode`);
    const boss = openQueues(db);
    await boss.start();
    for (const queue of queues) await boss.createQueue(queue);
  });
}

const DAY = 86_400;

/** Opens the queues through our own pool. Maintenance is switched off in pg-boss, because the worker asks for it. */
export function openQueues(db: Database): PgBoss {
  return new PgBoss({
    db: { executeSql: (text, values) => inOneConnection(db, text, values) },
    supervise: false,
    schedule: false,
    // A failed job can be inspected for two weeks.
    archiveFailedAfterSeconds: 13 * DAY,
    deleteAfterDays: 1,
  });
}

/**
 * pg-boss sends `begin; ...; commit;` as one text. When that fails, the transaction is still open, and the pool would
 * hand the connection to the next caller in this state.
 */
async function inOneConnection(db: Database, text: string, values?: unknown[]) {
  const client = await db.pool.connect();
  let broken: Error | undefined;
  try {
    return await client.query(text, values);
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}
