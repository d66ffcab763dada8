import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { PNG } from '../../../test/upload.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { openMediaStorage } from '../media/open-storage.ts';
import {
  FILE_COLUMNS,
  findOpenTables,
  FolderNotEmpty,
  NOT_OPEN,
  NOT_OPEN_COLUMNS,
  writeOpenExport,
} from './open-export.ts';
import { findShopTables, LEFT_OUT } from './tables.ts';

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startDemo();
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-open-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const exported = (shopId: string, place: string) =>
  service.db.transaction(
    (tx) => writeOpenExport(tx, service.config, { shopId, folder: place, onProgress: () => {} }),
    { isolation: 'repeatable read' },
  );
const rowsOf = async (place: string, table: string) =>
  (await readFile(path.join(place, 'data', `${table}.jsonl`), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('all data of the merchant is written, one object per line', async () => {
  const place = path.join(folder, 'demo');
  const imageKey = newId(new Date());
  await openMediaStorage(service.config).write('DemoShop', imageKey, [{ file: 'small.png', bytes: PNG }]);
  const done = (await exported('DemoShop', place))!;
  const manifest = JSON.parse(await readFile(path.join(place, 'manifest.json'), 'utf8')) as {
    tables: { name: string; rows: number }[];
    pictures: number;
  };
  expect(manifest).toMatchObject({ format: 'kontor-open-export', version: 1, shopId: 'DemoShop' });
  expect(manifest.tables.map(({ name, rows }) => ({ name, rows }))).toEqual(done.tables);
  for (const { name, rows } of done.tables)
    expect([name, (await rowsOf(place, name)).length]).toEqual([name, rows]);
  const orders = await service.db.many<{ number: string; total: number }>(sql`
    select order_number as number, grand_total as total from customer_order
    where shop_id = 'DemoShop' order by order_id`);
  const written = await rowsOf(place, 'customer_order');
  expect(written.map((row) => ({ number: row['order_number'], total: row['grand_total'] }))).toEqual(orders);
  expect(done.pictures).toBe(1);
  expect(await readFile(path.join(place, 'pictures', imageKey, 'small.png'))).toEqual(PNG);
  expect((await stat(path.join(place, 'data', 'customer.jsonl'))).mode & 0o077).toBe(0);
});

test('a folder in use is left alone, and a shop that does not exist writes nothing', async () => {
  await expect(exported('DemoShop', path.join(folder, 'demo'))).rejects.toThrow(FolderNotEmpty);
  expect(await exported('NoShop', path.join(folder, 'none'))).toBe(undefined);
  await expect(stat(path.join(folder, 'none'))).rejects.toThrow('ENOENT');
});

test('what is left out is named with its reason, and the documentation names every table', async () => {
  const [all, written] = await service.db.transaction(async (tx) => [
    await findShopTables(tx),
    await findOpenTables(tx),
  ]);
  const names = all.map(({ name }) => name);
  const columns = all.flatMap(({ name, columns }) => columns.map((column) => ({ ...column, of: name })));
  const known = new Set(columns.map(({ of, name }) => `${of}.${name}`));
  expect(Object.keys(NOT_OPEN).filter((name) => !names.includes(name))).toEqual([]);
  expect(Object.keys({ ...NOT_OPEN_COLUMNS, ...FILE_COLUMNS }).filter((name) => !known.has(name))).toEqual(
    [],
  );
  // A column that may hold a secret is left out, or written as a file.
  const secret = /secret|sealed|hash|seed|token|password/;
  const open = written.flatMap(({ name, columns }) =>
    columns
      .filter((column) => column.type === 'bytea' || secret.test(column.name))
      .map((column) => `${name}.${column.name}`),
  );
  expect(open).toEqual([]);
  const page = await readFile(new URL('../../../docs/open-export.md', import.meta.url), 'utf8');
  const [tables = '', left = ''] = page.slice(page.indexOf('## Tables')).split('## What is left out');
  const namesIn = (text: string) =>
    [...text.matchAll(/^\| `([\w.]+)`/gm)].map(([, name]) => name!).toSorted();
  expect(namesIn(tables)).toEqual(written.map(({ name }) => name).toSorted());
  expect(namesIn(left)).toEqual(Object.keys({ ...LEFT_OUT, ...NOT_OPEN, ...NOT_OPEN_COLUMNS }).toSorted());
});
