import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import { isDistributed } from './distribute.ts';
import { catalogueSql, sql } from './sql.ts';

/*
 * PostgreSQL plans a statement once per connection, for the tables as they are at that moment. In a shop that has just
 * been opened every table is one page, so reading all of it is the best plan, and it stays the plan when the table has
 * thousands of rows: until the table is analysed. PostgreSQL does that by itself, but checks only once a minute.
 *
 * So the service checks every few seconds and analyses a table that has doubled, which also discards the plans of all
 * connections and processes that read it. A plan is therefore never much older than half of the rows it reads. On
 * Citus the tables of the coordinator are empty and nothing is done here: its workers plan every statement again.
 */

const CHECK_EVERY = 5_000;

/** A shop is planned for as if it had this fraction of a table's rows: one in this number. */
const SHOPS_PLANNED_FOR = 10;

/**
 * Searched tables have both the index of keys and those of words. With a tenth, the key index looks good enough to
 * collect all products of the shop; searches then took twice as long.
 */
const SHOPS_SEARCHED = { table: 'listing', count: 2 };

/** Fewer rows than these are read in a moment with any plan. */
const FEW_ROWS = 100;

/** A plan for this many rows is a plan for many: PostgreSQL keeps such a table up to date by itself. */
const MANY_ROWS = 100_000;

/** Analyses the tables that have doubled since PostgreSQL last knew their size, and returns their names. */
export async function refreshStatistics(db: Database): Promise<string[]> {
  const grown = await db.many<{ name: string }>(sql`
    select format('%I', stat.relname) as name
    from pg_stat_user_tables stat join pg_class on pg_class.oid = stat.relid
    where stat.schemaname = current_schema() and pg_class.reltuples < ${MANY_ROWS}
      and stat.n_live_tup > 2 * greatest(pg_class.reltuples, 0) + ${FEW_ROWS}
    order by 1`);
  for (const { name } of grown) {
    // Not a named statement, because its text depends on the table. Skipped if another process is analysing the table.
    await db.pool.query(`analyze (skip_locked) ${name}`);
  }
  return grown.map(({ name }) => name);
}

/**
 * Makes PostgreSQL plan for large shops. One plan serves all shops, and PostgreSQL makes it for the average one. Among
 * thousands of shops the average has a handful of products, and reading all of those is then as good as any index; in
 * a shop with a million products the same plan takes seconds. So the number of shops that PostgreSQL assumes is set to
 * a few: a plan must then suit a large shop, and such a plan is as good for a small one. It takes effect with the next
 * analysis of a table; tables analysed before are analysed again. Citus plans where it knows the shop, and needs none
 * of this.
 */
export async function planForLargeShops(db: Database): Promise<void> {
  if (await isDistributed(db.pool)) return;
  const tables = await db.many<{ name: string; isAnalysed: boolean }>(sql`
    select format('%I', relname) as name, reltuples > 0 as "isAnalysed"
    from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'shop_id'
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and attoptions is null
    order by 1`);
  if (tables.length === 0) return;
  await db.transaction(async (tx) => {
    // It blocks no reads or writes; it may have to wait for an analysis, and its own may take long.
    await tx.run(sql`set local statement_timeout = 0`);
    for (const { name, isAnalysed } of tables) {
      const shops = name === SHOPS_SEARCHED.table ? SHOPS_SEARCHED.count : SHOPS_PLANNED_FOR;
      await tx.run(catalogueSql([`alter table ${name} alter column shop_id set (n_distinct = ${shops})`]));
      if (isAnalysed) await tx.run(catalogueSql([`analyze ${name}`]));
    }
  });
}

/** Calls `refreshStatistics` every few seconds, until it is stopped. */
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
