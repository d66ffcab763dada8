import { afterAll, beforeAll, expect, test } from 'vitest';
import { CITUS_URL } from '../../test/cluster.ts';
import { cloneDatabase, databaseOptions } from '../../test/service.ts';
import { openDatabase, type Database } from './database.ts';
import { planForLargeShops, refreshStatistics, startRefreshingStatistics } from './statistics.ts';
import { sql } from './sql.ts';

let name: string;
let drop: () => Promise<void>;
let db: Database;

beforeAll(async () => {
  ({ name, drop } = await cloneDatabase());
  // One connection, so that what it has written is counted when it says so.
  db = openDatabase({ ...databaseOptions(name), poolSize: 1 });
  await db.run(sql`create table "Growing thing" (id integer primary key) with (autovacuum_enabled = false)`);
  await db.run(sql`analyze "Growing thing"`);
});
afterAll(async () => {
  await db.close();
  await drop();
});

async function insert(from: number, until: number): Promise<void> {
  await db.run(sql`insert into "Growing thing" select generate_series(${from}::integer, ${until}::integer)`);
  await db.run(sql`select pg_stat_force_next_flush()`);
}

test('a table is analysed when it has doubled, and not before', async () => {
  await insert(1, 100);
  expect(await refreshStatistics(db)).toEqual([]);
  await insert(101, 101);
  expect(await refreshStatistics(db)).toEqual(['"Growing thing"']);
  expect(await refreshStatistics(db)).toEqual([]);
  await insert(102, 302);
  expect(await refreshStatistics(db)).toEqual([]);
  await insert(303, 303);
  expect(await refreshStatistics(db)).toEqual(['"Growing thing"']);
  expect(await db.one(sql`select reltuples from pg_class where relname = 'Growing thing'`)).toEqual({
    reltuples: 303,
  });
});

// On a cluster nothing is planned before the shop is known.
test.skipIf(CITUS_URL !== undefined)(
  'PostgreSQL plans for a tenth of each table of shops, also of one that is new',
  async () => {
    await db.run(sql`create table "Own thing" (shop_id text not null, id integer not null)`);
    await db.run(sql`insert into "Own thing" select 'Shop ' || id, id from generate_series(1, 5000) as id`);
    await db.run(sql`analyze "Own thing"`);
    const expectedRows = async () => {
      const { rows } = await db.pool.query(
        'explain (generic_plan, format json) select from "Own thing" where shop_id = $1',
      );
      return (rows[0]['QUERY PLAN'] as { Plan: { 'Plan Rows': number } }[])[0]!.Plan['Plan Rows'];
    };
    expect(await expectedRows()).toBe(1);
    await planForLargeShops(db);
    expect(await expectedRows()).toBe(500);
    const options = await db.many<{ options: string[]; tables: string[] }>(sql`
      select attoptions as options, array_agg(relname::text) as tables
      from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and attname = 'shop_id'
      group by 1 order by 1`);
    expect(options).toEqual([
      {
        options: ['n_distinct=10'],
        tables: expect.arrayContaining(['product', 'customer_order', 'Own thing']),
      },
      { options: ['n_distinct=2'], tables: ['listing'] },
    ]);
  },
);

test('who starts it is told when it fails, and can stop it', async () => {
  const closed = openDatabase(databaseOptions(name));
  await closed.close();
  let stop: (() => Promise<void>) | undefined;
  const failure = await new Promise((resolve) => {
    stop = startRefreshingStatistics(closed, resolve);
  });
  expect(String(failure)).toContain('after calling end on the pool');
  expect(await stop!()).toBeUndefined();
});
