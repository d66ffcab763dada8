import type { Queries } from './database.ts';
import { sql, type Sql } from './sql.ts';

/*
 * Work that one process at a time does is leased. A process takes a row until `leased_until`, renews the lease while it
 * works, and releases it. If the process dies, the lease expires, and another process takes the row. `holder` names the
 * process that took the row last, so one that was only slow notices that it has lost the lease.
 *
 * A row of a queue (`job`, `product_import`, `payment_attempt`, `order_payment`) has no columns of its own for this: the
 * time when it is due is moved to the end of the lease, and the number of the attempt tells a slow process from its
 * successor. The duration is the same for all.
 */

/**
 * Milliseconds without a renewal after which a process counts as dead: longer than a statement or a call to another
 * service may take.
 */
export const LEASE = 60_000;

/** Milliseconds between two renewals: one of them may fail or be late. */
const RENEW_EVERY = 20_000;

const LONG_AGO = new Date(0);

/** The end of a lease that is taken or renewed now. */
export const leaseEnd = (now: Date) => new Date(now.getTime() + LEASE);

/** The rows of one table as work that is leased. */
export interface Lease {
  /** Takes the rows that match and that no other process has, and returns `returning` of each. */
  take<Row>(db: Queries, rows: Sql, holder: string, returning: Sql): Promise<Row[]>;
  /** false: another process has taken them. */
  renew(db: Queries, rows: Sql, holder: string): Promise<boolean>;
  /** Lets another process take the rows at once. */
  release(db: Queries, rows: Sql, holder: string): Promise<void>;
}

/** `holder`: the name of the column in tables that call it otherwise. */
export function createLease(table: Sql, { holder: column = sql`holder` }: { holder?: Sql } = {}): Lease {
  return {
    take: <Row>(db: Queries, rows: Sql, holder: string, returning: Sql) =>
      db.many<Row>(sql`
        update ${table} set ${column} = ${holder}, leased_until = ${leaseEnd(db.serviceNow)}
        where ${rows} and (leased_until is null or leased_until <= ${db.serviceNow}) returning ${returning}`),
    renew: async (db, rows, holder) => {
      const renewed = await db.run(sql`
        update ${table} set leased_until = ${leaseEnd(db.serviceNow)} where ${rows} and ${column} = ${holder}`);
      return renewed > 0;
    },
    // Without a holder, a renewal that is still under way finds no row. Clocks of processes differ, hence no present time.
    release: async (db, rows, holder) => {
      await db.run(sql`
        update ${table} set ${column} = null, leased_until = ${LONG_AGO} where ${rows} and ${column} = ${holder}`);
    },
  };
}

/** Renews a lease while `work` runs. `isHeld` is false after another process has taken it, or a renewal has failed. */
export async function renewWhile<Result>(
  renew: () => Promise<boolean>,
  work: (isHeld: () => boolean) => Promise<Result>,
): Promise<Result> {
  let isHeld = true;
  const timer = setInterval(() => {
    renew().then(
      (renewed) => (isHeld = renewed),
      () => (isHeld = false),
    );
  }, RENEW_EVERY);
  try {
    return await work(() => isHeld);
  } finally {
    clearInterval(timer);
  }
}
