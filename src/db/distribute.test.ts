import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDemoShops } from '../commands/demo/demo-shop.ts';
import { readConfig } from '../config.ts';
import { CITUS_URL, createClusterDatabase, dropDatabase } from '../../test/cluster.ts';
import { openDatabase, type Database } from './database.ts';
import {
  distribute,
  distributeNewTables,
  distributionPlan,
  moveShop,
  readCluster,
  type Table,
} from './distribute.ts';
import { createsTable, migrate, setsStorage } from './migrate.ts';

const table = (name: string, facts: Partial<Table> = {}): Table => ({
  name,
  placement: 'local',
  hasShopId: true,
  isKeyedByShop: true,
  ...facts,
});

describe('the plan', () => {
  test('distributes what is keyed by shop, the shops first', () => {
    const tables = [table('cart'), table('product'), table('shop')];
    expect(distributionPlan(tables)).toEqual({ distributed: ['shop', 'cart', 'product'], references: [] });
  });

  test('copies what names shops without being keyed by them, and leaves the rest', () => {
    const tables = [
      table('shop_domain', { isKeyedByShop: false }),
      table('rate_window', { hasShopId: false, isKeyedByShop: false }),
    ];
    expect(distributionPlan(tables)).toEqual({ distributed: [], references: ['shop_domain'] });
  });

  test('leaves the people of the admin on the coordinator, and their roles beside the shops', () => {
    const users = ['admin_link', 'admin_passkey', 'admin_recovery_code', 'admin_session', 'admin_user'];
    const tables = [
      ...users.map((name) => table(name, { hasShopId: false, isKeyedByShop: false })),
      table('saved_view'),
      table('shop_user'),
    ];
    expect(distributionPlan(tables)).toEqual({ distributed: ['saved_view', 'shop_user'], references: [] });
  });

  test('does nothing twice', () => {
    const tables = [
      table('shop', { placement: 'distributed' }),
      table('job'),
      table('shop_domain', { placement: 'reference', isKeyedByShop: false }),
    ];
    expect(distributionPlan(tables)).toEqual({ distributed: ['job'], references: [] });
  });

  test.each([
    ['create table job (shop_id text not null)', true],
    ['CREATE TABLE job (shop_id text not null)', true],
    ['create index job_due on job (shop_id)', false],
    ['alter table job add column name text', false],
  ])('a migration may have made a table with %j: %j', (statement, expected) => {
    expect(createsTable(statement)).toBe(expected);
  });

  test.each([
    ['alter table import_picture alter column content set storage external', true],
    ['alter table job alter column content set not null', false],
    ['alter table job alter column content set storage external, add column name text', false],
  ])('a cluster leaves out %j: %j', (statement, expected) => {
    expect(setsStorage(statement)).toBe(expected);
  });
});

// Citus has no package that npm could install.
describe.skipIf(CITUS_URL === undefined)('on the cluster that KONTOR_TEST_CITUS_URL names', () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  let db: Database;
  let steps = 0;
  const distributeAll = () =>
    distribute(db, { shards: 4, onStart: (count) => (steps = count), onStep: () => steps-- });
  const countAll = async () => {
    const counts: Record<string, number> = {};
    for (const table of ['shop', 'product', 'listing', 'customer', 'cart', 'customer_order', 'order_line']) {
      const { rows } = await db.pool.query<{ count: number }>(`select count(*) as count from ${table}`);
      counts[table] = rows[0]!.count;
    }
    return counts;
  };
  const foreignKeys = async () => {
    const { rows } = await db.pool.query<{ text: string }>(
      "select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as text from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 1",
    );
    return rows.map(({ text }) => text);
  };

  beforeAll(async () => {
    await createClusterDatabase(inject('nodes'), name);
    db = openDatabase({ connection: { ...inject('connection'), database: name } });
    await migrate(db, () => {});
    await createDemoShops(db, readConfig({ LOG_LEVEL: 'silent' }));
  }, 120_000);

  afterAll(async () => {
    await db?.close();
    await dropDatabase(inject('nodes'), name);
  });

  test('distributes an installation with its rows and foreign keys, and a second time nothing', async () => {
    const [rows, keys] = [await countAll(), await foreignKeys()];
    expect(rows['product']).toBeGreaterThan(20);
    const done = await distributeAll();
    expect(done.distributed[0]).toBe('shop');
    expect(done.references).toEqual(['shop_domain']);
    // Those among the people of the admin stay as they are.
    expect(done.foreignKeys).toBe(keys.filter((key) => !key.startsWith('admin_')).length);
    expect(steps).toBe(0);
    expect(await countAll()).toEqual(rows);
    expect(await foreignKeys()).toEqual(keys);
    // Nothing is left behind on the coordinator.
    const { rows: sizes } = await db.pool.query("select pg_relation_size('product')::int as bytes");
    expect(sizes).toEqual([{ bytes: 0 }]);

    expect(await distributeAll()).toEqual({ distributed: [], references: [], foreignKeys: 0 });
    expect(await countAll()).toEqual(rows);
  }, 120_000);

  test('shows where the shops are', async () => {
    const { nodes, tables } = (await readCluster(db))!;
    const workers = inject('nodes').slice(1);
    expect(nodes.map((node) => node.name)).toEqual(workers.map(({ host, port }) => `${host}:${port}`));
    expect(nodes.reduce((sum, { shards }) => sum + shards, 0)).toBe(4);
    expect(nodes.reduce((sum, { shops }) => sum + shops!, 0)).toBe(2);
    const local = tables.filter(({ placement }) => placement === 'local').map((entry) => entry.name);
    expect(local).toEqual([
      'admin_link',
      'admin_passkey',
      'admin_recovery_code',
      'admin_session',
      'admin_user',
      'cleanup',
      'demo_access_end',
      'migration',
      'public_demo',
      'rate_window',
    ]);
  });

  test('a table that a migration makes is distributed before its foreign keys', async () => {
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
      await client.query(
        'create table parcel (shop_id text not null, parcel_id uuid not null, primary key (shop_id, parcel_id))',
      );
      await distributeNewTables(client);
      await client.query(
        'alter table parcel add constraint parcel_shop foreign key (shop_id) references shop (shop_id)',
      );
      await client.query('commit');
    } finally {
      client.release();
    }
    const { tables } = (await readCluster(db))!;
    expect(tables.find((entry) => entry.name === 'parcel')).toMatchObject({ placement: 'distributed' });
    await db.pool.query('drop table parcel');
  });

  test('moves a shop to another node and back, with all its rows', async () => {
    const rows = await countAll();
    const { nodes } = (await readCluster(db))!;
    const [first, second] = nodes.map((node) => node.name) as [string, string];
    await expect(moveShop(db, 'DemoShop', 'nowhere:1')).rejects.toThrow(
      `There is no node "nowhere:1". The nodes are: ${first}, ${second}`,
    );
    const before = await moveShop(db, 'DemoShop', second);
    expect(await moveShop(db, 'DemoShop', second)).toBe(second);
    expect(await moveShop(db, 'DemoShop', first)).toBe(second);
    expect(await moveShop(db, 'DemoShop', before)).toBe(first);
    expect(await countAll()).toEqual(rows);
  }, 120_000);
});
