import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { sql } from './sql.ts';

/*
 * PostgreSQL plans a statement once per connection, for the tables as they are in that moment. In a shop that has just
 * been opened every table is one page, so reading all of it is the best plan, and it stays the plan when the table has
 * thousands of rows: until somebody analyses the table. PostgreSQL does that by itself, but looks only once a minute.
 *
 * So the service looks every few seconds, and analyses a table that has doubled: that also discards the plans of all
 * connections and processes that read it. A plan is therefore never much older than half of the rows it reads. On Citus
 * the tables of the coordinator are empty and nothing is done here: its workers plan every statement anew.
 */

const CHECK_EVERY = 5_000;

/** Fewer rows than these are read in a moment, by whatever plan. */
const FEW_ROWS = 100;

/** Whatever was planned for so many rows is planned for many: PostgreSQL keeps such a table up to date by itself. */
const MANY_ROWS = 100_000;

/** Analyses the tables that have doubled since PostgreSQL knew their size, and returns their names. */
export async function refreshStatistics(db: Database): Promise<string[]> {
  const grown = await db.many<{ name: string }>(sql`
    select format('%I', stat.relname) as name
    from pg_stat_user_tables stat join pg_class on pg_class.oid = stat.relid
    where stat.schemaname = current_schema() and pg_class.reltuples < ${MANY_ROWS}
      and stat.n_live_tup > 2 * greatest(pg_class.reltuples, 0) + ${FEW_ROWS}
    order by 1`);
  for (const { name } of grown) {
    // Not a named statement, because its text depends on the table. Another process may be at it: then it is skipped.
    await db.pool.query(`analyze (skip_locked) ${name}`);
  }
  return grown.map(({ name }) => name);
}

/** Calls it every few seconds, until it is stopped. */
export function startRefreshingStatistics(db: Database, warn: (error: unknown) => void): () => Promise<void> {
  const stop = new AbortController();
  const run = async () => {
    while (!stop.signal.aborted) {
      await refreshStatistics(db).catch(warn);
      await sleep(CHECK_EVERY, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}
