import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** A job runs after the response was sent, and survives a crash: it waits in the same database. */
export interface NewJob {
  id: string;
  /** As JSON. */
  content: object;
}

/** Queues jobs of a shop in one statement, as a part of the transaction: a rollback leaves none of them. */
export async function queueJobs(
  tx: Transaction,
  shopId: string,
  queue: string,
  jobs: readonly NewJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  await tx.run(sql`
    insert into job (shop_id, job_id, queue, content, created_at, run_at, attempts)
    select shop_id, id, ${queue}::text, content, ${tx.now}::timestamptz, ${tx.now}::timestamptz, 0
    from shop cross join jsonb_to_recordset(${JSON.stringify(jobs)}) as given (id uuid, content jsonb)
    where shop_id = ${shopId}`);
}
