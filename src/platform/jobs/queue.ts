import PgBoss from 'pg-boss';
import type { Database, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';

/** Work that is done after the answer, and after a crash: pg-boss keeps it in the same database. */
export const QUEUES = ['mail'] as const;
export type Queue = (typeof QUEUES)[number];

export interface NewJob {
  id: string;
  /** As JSON. */
  content: object;
}

/** Whoever has taken a job and not come back after this time has died. */
const LOST_AFTER = '60 s';

/**
 * Inserts jobs, alone or as a part of a larger statement; `jobs` selects their `id` and `data`. A job is tried again
 * after 30 to 60 s, then twice as late each time: about a day in all. A queue that does not exist is an error.
 */
export function insertJobs(queue: Queue, jobs: Sql): Sql {
  return sql`
    insert into pgboss.job (name, policy, id, data, retry_limit, retry_delay, retry_backoff, expire_in)
    select ${queue}, 'standard', jobs.id, jobs.data, 11, 30, true, ${LOST_AFTER}::interval from (${jobs}) jobs`;
}

/**
 * Queues jobs as a part of the transaction: a rollback leaves none of them, a commit all. One statement, however
 * many there are.
 */
export async function queueJobs(tx: Transaction, queue: Queue, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const rows = JSON.stringify(jobs.map(({ id, content }) => ({ id, data: content })));
  await tx.run(
    insertJobs(queue, sql`select * from jsonb_to_recordset(${rows}) as given (id uuid, data jsonb)`),
  );
}

/**
 * Brings the schema of the queues up to date. The lock is that of our own migrations: processes that create a queue
 * at the same time would run into a deadlock.
 */
export async function createQueues(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`lock table migration in access exclusive mode`);
    const boss = openQueues(db);
    await boss.start();
    for (const queue of QUEUES) await boss.createQueue(queue);
  });
}

const DAY = 86_400;

/** The queues through our own pool. What pg-boss would do by itself is left out: the worker asks for it. */
export function openQueues(db: Database): PgBoss {
  return new PgBoss({
    db: { executeSql: (text, values) => inOneConnection(db, text, values) },
    supervise: false,
    schedule: false,
    // A failed job can be looked at for two weeks.
    archiveFailedAfterSeconds: 13 * DAY,
    deleteAfterDays: 1,
  });
}

/**
 * pg-boss sends `begin; ...; commit;` as one text. When that fails, the transaction is still open, and the pool
 * would hand the connection to somebody else like this.
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
