import PgBoss from 'pg-boss';
import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** Work that is done after the answer, and after a crash: pg-boss keeps it in the same database. */
export const QUEUES = ['mail'] as const;
export type Queue = (typeof QUEUES)[number];

export interface NewJob {
  id: string;
  /** As JSON. */
  content: object;
}

/** Tried again after 30 to 60 s, then twice as late each time: about a day in all. */
const AGAIN = { retryLimit: 11, retryDelay: 30, retryBackoff: true };

/** Whoever has taken a job and not come back after this time has died. */
const LOST_AFTER = 60;

/**
 * Queues jobs as a part of the transaction: a rollback leaves none of them, a commit all. One statement, however
 * many there are.
 */
export async function queueJobs(tx: Transaction, queue: Queue, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const insert = async (text: string, values: unknown[]) => {
    const result = await tx.raw(text, values);
    // pg-boss drops without a word what is for a queue that does not exist.
    if (result.rowCount !== jobs.length) throw new Error(`The queue ${queue} does not exist`);
    return result;
  };
  await new PgBoss({ db: { executeSql: insert } }).insert(
    jobs.map(({ id, content }) => ({
      ...AGAIN,
      name: queue,
      id,
      data: content,
      expireInSeconds: LOST_AFTER,
    })),
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
