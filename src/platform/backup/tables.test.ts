import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { findShopTables, insertionOrder, LEFT_OUT, type ShopTable } from './tables.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Tables that hold nothing of one shop. A new one is added here, with the decision whether a backup needs it. */
const OF_NO_SHOP = [
  'admin_link',
  'admin_passkey',
  'admin_recovery_code',
  'admin_session',
  'admin_user',
  'backup_part',
  'backup_plan',
  'cleanup',
  'demo_access_end',
  'host_answer',
  'host_event',
  'host_log',
  'host_message',
  'host_message_reader',
  'host_token',
  'migration',
  'oauth_client',
  'public_demo',
  'rate_window',
  'shop_backup',
  'shop_restore',
  'signing_key',
];

test('every table is part of a backup, left out for a reason, or of no shop', async () => {
  const rows = await service.db.many<{ name: string }>(sql`
    select tablename as name from pg_tables where schemaname = current_schema()`);
  const kept = (await findShopTables(service.db)).map(({ name }) => name);
  const known = [...kept, ...Object.keys(LEFT_OUT), ...OF_NO_SHOP];
  expect(known.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  expect(Object.values(LEFT_OUT).every((reason) => /^[A-Z].{20,}\.$/.test(reason))).toBe(true);
});

test('a table stands behind those that its rows refer to, and the shop comes first', async () => {
  const tables = await findShopTables(service.db);
  expect(tables[0]!.name).toBe('shop');
  const place = new Map(tables.map(({ name }, index) => [name, index]));
  for (const { name, foreignKeys } of tables) {
    for (const { table } of foreignKeys) {
      if (table !== name)
        expect([name, table, place.get(table)! < place.get(name)!]).toEqual([name, table, true]);
    }
  }
});

test('columns are those that are stored, with their types', async () => {
  const tables = await findShopTables(service.db);
  const columnsOf = (name: string) => tables.find((table) => table.name === name)!.columns;
  expect(columnsOf('tax_rate')).toEqual([
    { name: 'tax_class_id', type: 'uuid' },
    { name: 'country', type: 'text' },
    { name: 'basis_points', type: 'integer' },
  ]);
  expect(columnsOf('product')).toContainEqual({ name: 'stock', type: 'numeric(18,6)' });
  expect(columnsOf('coupon_campaign')).toContainEqual({ name: 'product_ids', type: 'uuid[]' });
  const names = (name: string) => columnsOf(name).map((column) => column.name);
  expect(names('customer')).not.toContain('email_key');
  expect(names('customer_order')).not.toContain('states');
});

test('no row gets a number from a sequence, which a restored shop would have to move on', async () => {
  const numbered = await service.db.many(sql`
    select attrelid::regclass::text as table, attname from pg_attribute
    join pg_class on pg_class.oid = attrelid and relnamespace = current_schema()::text::regnamespace
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relkind in ('r', 'p') and (attidentity <> '' or pg_get_expr(adbin, adrelid) like 'nextval(%')`);
  expect(numbered).toEqual([]);
});

test('tables that refer to each other in a circle are refused', () => {
  const table = (name: string, ...targets: string[]): ShopTable => ({
    name,
    columns: [],
    key: [],
    foreignKeys: targets.map((target) => ({ table: target, columns: ['id'], target: ['id'] })),
  });
  const names = (tables: ShopTable[]) => insertionOrder(tables).map(({ name }) => name);
  expect(names([table('a', 'b', 'a'), table('b', 'shop'), table('shop')])).toEqual(['shop', 'b', 'a']);
  expect(() => names([table('shop'), table('a', 'b'), table('b', 'a')])).toThrow(
    'These tables refer to each other: a, b',
  );
});
