import { afterAll, beforeAll, expect, test } from 'vitest';
import { cloneDatabase, databaseOptions } from '../../test/service.ts';
import { insertShop } from '../shops/shop/insert-shop.ts';
import { openDatabase, type Database } from './database.ts';
import { insertInto } from './insert.ts';
import { sql, toStatement } from './sql.ts';

let drop: () => Promise<void>;
let db: Database;

beforeAll(async () => {
  const { name, drop: dropDatabase } = await cloneDatabase();
  drop = dropDatabase;
  db = openDatabase(databaseOptions(name));
  await db.run(sql`create table shop_thing (shop_id text, number bigint, price numeric, at timestamptz, hash bytea,
    label text, address json, tags jsonb)`);
  await db.run(sql`create table shop_stock (shop_id text, product_id uuid, tag_ids uuid[], min_stock integer,
    created_at timestamptz, primary key (shop_id, product_id))`);
  await db.transaction((tx) =>
    insertShop(tx, {
      shopId: 'Harbour',
      name: 'Harbour',
      email: 'office@harbour.example',
      country: 'DE',
      locale: 'en_GB',
      currency: 'EUR',
    }),
  );
});
afterAll(async () => {
  await db.close();
  await drop();
});

const insert = insertInto('shop_thing', {
  number: 'bigint',
  price: 'numeric',
  at: 'timestamptz',
  hash: 'bytea',
  label: 'text',
  address: 'json',
  tags: 'jsonb',
});

const thing = (number: number) => ({
  number,
  price: '0.100000000001',
  at: new Date('2026-11-16T01:02:03.004Z'),
  hash: '\\xbeef',
  label: `"it's" \\ ${number}`,
  address: { zipCode: '20457', city: 'Hamburg', extra: null },
  tags: ['b', 'a', number],
});

const EMPTY = { number: 9, price: null, at: null, hash: null, label: null, address: null, tags: null };

test.each([
  ['one row', [thing(1)]],
  ['one row of nothing', [EMPTY]],
  ['several rows', [thing(1), EMPTY, thing(2)]],
  ['no row', []],
])('%s: every value arrives as it was, and JSON in the order of its fields', async (_case, rows) => {
  await db.run(sql`delete from shop_thing`);
  expect(await db.run(insert('Harbour', rows))).toBe(rows.length);
  const stored = await db.many(sql`
    select shop_id, number, price, at, hash, label, address::text, tags from shop_thing`);
  expect(stored).toEqual(
    rows.map((row) => ({
      ...row,
      shop_id: 'Harbour',
      hash: row.hash && Buffer.from('beef', 'hex'),
      address: row.address && JSON.stringify(row.address),
    })),
  );
});

const upsert = insertInto(
  'shop_stock',
  { productId: 'uuid', tagIds: 'uuid[]', minStock: 'integer', createdAt: 'timestamptz' },
  { key: ['productId'], keep: ['createdAt'] },
);
const insertNew = insertInto(
  'shop_stock',
  { productId: 'uuid', minStock: 'integer' },
  {
    key: ['productId'],
    keep: ['minStock'],
  },
);

test.each([
  ['one row', [1]],
  ['several rows', [1, 2]],
])('%s: existing rows get new values, or stay as they are', async (_case, numbers) => {
  await db.run(sql`delete from shop_stock`);
  const productId = (number: number) => `01939b5e-6f00-7000-8000-00000000000${number}`;
  const rows = (minStock: number, createdAt: Date) =>
    numbers.map((number) => ({ productId: productId(number), tagIds: [productId(7)], minStock, createdAt }));
  const [first, second] = [new Date('2026-11-16T01:02:03.004Z'), new Date('2026-11-17T01:02:03.004Z')];
  const stored = () =>
    db.many(sql`
      select shop_id, product_id, tag_ids, min_stock, created_at from shop_stock order by product_id`);
  const expected = (minStock: number) =>
    numbers.map((number) => ({
      shop_id: 'Harbour',
      product_id: productId(number),
      tag_ids: [productId(7)],
      min_stock: minStock,
      created_at: first,
    }));

  expect(await db.run(upsert('Harbour', rows(3, first)))).toBe(numbers.length);
  expect(await stored()).toEqual(expected(3));
  expect(await db.run(upsert('Harbour', rows(5, second)))).toBe(numbers.length);
  expect(await stored()).toEqual(expected(5));
  expect(await db.run(insertNew('Harbour', rows(9, second)))).toBe(0);
  expect(await stored()).toEqual(expected(5));
});

test('the text does not depend on the number of rows, beyond one', () => {
  const textOf = (count: number) =>
    toStatement(
      insert(
        'Harbour',
        Array.from({ length: count }, (_, index) => thing(index)),
      ),
    ).text;
  expect(textOf(3)).toBe(textOf(2));
  expect(textOf(20)).toBe(textOf(2));
  expect(textOf(1)).not.toBe(textOf(2));
});
