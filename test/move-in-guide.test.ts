import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { givenShop } from './builders.ts';
import { kontorHere } from './command.ts';
import { databaseEnvironment, startService, type Service } from './service.ts';

/** The commands of docs/move-in.md, called as they are written there, with the file that it shows. */
const guide = await readFile(path.join(import.meta.dirname, '../docs/move-in.md'), 'utf8');
const commands = [...guide.matchAll(/```sh\nnpx kontor (.*?)\n```/g)].map(([, words]) => words!.split(' '));

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'MyShop');
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-guide-'));
  await mkdir(path.join(folder, 'export'));
  const [, file] = /```csv\n(.*?)```/s.exec(guide)!;
  await writeFile(path.join(folder, 'export', 'products.csv'), file!);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const kontor = (words: readonly string[]) =>
  kontorHere(
    words.map((word) => (['export', 'report.txt'].includes(word) ? path.join(folder, word) : word)),
    { ...databaseEnvironment(service.database), KONTOR_DATA: folder },
  );

test('the commands of the guide do what it says', async () => {
  const [check, bring, again, numbers] = commands as [string[], string[], string[], string[]];
  expect(commands).toHaveLength(4);
  const checked = await kontor(check);
  expect(checked).toMatchObject({ code: 0 });
  expect(checked.stdout).toMatch(/Without --dry-run it would be:\n.*\nproduct +2 +0 +0 +0 +0\n/);
  expect(await service.db.many(sql`select from product where shop_id = 'MyShop'`)).toEqual([]);

  expect(await kontor(bring)).toMatchObject({ code: 0 });
  expect(
    await service.db.many(sql`
      select product_number as number from product where shop_id = 'MyShop' order by product_number`),
  ).toEqual(['MUG-1', 'RC-M', 'RC-S', 'rain-coat'].map((number) => ({ number })));
  expect(await readFile(path.join(folder, 'report.txt'), 'utf8')).toBe('');

  expect((await kontor(again)).stdout).toMatch(/product +0 +0 +2 +0 +0\n/);
  expect(await kontor(numbers)).toMatchObject({ code: 0 });
  expect(
    await service.db.many(sql`
      select name, value from counter where shop_id = 'MyShop' and name in ('order', 'Invoice') order by name`),
  ).toEqual([
    { name: 'Invoice', value: 2000 },
    { name: 'order', value: 5000 },
  ]);
  const audit = await service.db.many(sql`
    select route from audit_entry where shop_id = 'MyShop' and route = 'kontor import'`);
  expect(audit).toHaveLength(3);
});

test('a wrong call says what is wrong', async () => {
  expect(await kontor(['import', 'MyShop', 'magento', 'export'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('only from shopify, woocommerce, shopware, epages') as string,
  });
  expect(await kontor(['import', 'MyShop', 'epages'])).toMatchObject({ code: 2 });
  expect(await kontor(['import', 'MyShop', 'woocommerce'])).toMatchObject({ code: 2 });
  expect(await kontor(['import', 'MyShop', 'woocommerce', 'export'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('holds no table of an export of WooCommerce') as string,
  });
  expect(await kontor(['import', 'MyShop', 'shopify', 'export', '--only', 'pages'])).toMatchObject({
    code: 2,
  });
  expect(await kontor(['import', 'MyShop', 'shopify', '/nowhere.csv'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not exist') as string,
  });
});
