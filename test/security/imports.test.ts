import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findImports } from '../../src/catalogue/products/import-queries.ts';
import { runDueImports } from '../../src/catalogue/products/import-runner.ts';
import { sql } from '../../src/db/sql.ts';
import { openMediaStorage } from '../../src/platform/media/open-storage.ts';
import { givenMerchant, type Merchant } from '../admin.ts';
import { startDemo } from '../demo.ts';
import { MAX_BLOCK, quickestBlock, slowdown } from '../event-loop.ts';
import { ofTheDay } from '../seed.ts';
import type { Service } from '../service.ts';
import { formOf } from '../upload.ts';
import { zipOf } from '../zip.ts';

/*
 * A file of products is long by nature. Somebody who may only change the products of one shop sends one that is small
 * enough to be taken and dear to read: 4.5 million lines of one letter stopped every shop of the installation for minutes.
 * A file within its limits is read in steps between which others are served, and one beyond them is refused early.
 */

/** Milliseconds of processor time until a file beyond its limits is refused. */
const REFUSED_WITHIN = 1_500;

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service, 'catalogue');
  // Modules are loaded and functions compiled when they are first used: that happens once, and no file prolongs it.
  const rows = Array.from({ length: 2_000 }, (_, index) => `W-${index};"Kettle";${index},50\n`).join('');
  await send(`SKU;Name;Price\n${rows}`);
  await check({ 'column.0': 'Alias', 'column.1': 'Name/en' });
  await send(`SKU;Name\nx;"y`);
  await merchant.post('/products/import/paste', { rows: `SKU;Name\n${'a\n'.repeat(20_000)}` });
}, 60_000);
afterAll(() => service.close());

async function send(content: string | Buffer, filename = 'goods.csv') {
  const form = formOf({ name: 'file', filename, content });
  const response = await service.app.inject({
    method: 'POST',
    url: '/admin/shops/DemoShop/products/import',
    headers: {
      ...form.headers,
      host: 'localhost:8080',
      origin: 'http://localhost:8080',
      cookie: merchant.cookie,
    },
    payload: form.body,
  });
  expect(response.statusCode).toBeLessThan(500);
  return { status: response.statusCode, text: response.body, location: response.headers.location };
}

const latest = async () => (await findImports(service.db, 'DemoShop'))[0]!;
const pathOf = ({ importId }: { importId: string }) => `/products/import/${importId}`;

async function runAll() {
  const { db, config } = service;
  await runDueImports({ db, config, media: openMediaStorage(config), log: pino({ level: 'silent' }) });
}

/** Says what the columns of the latest file are, and lets it be checked. */
async function check(columns: Record<string, string>) {
  const found = await latest();
  await merchant.post(pathOf(found), { decimalSign: '.', ...columns });
  await runAll();
}

/** What a refusal must not have changed. */
const stored = () =>
  service.db.one(sql`
    select (select count(*) from product_import where shop_id = 'DemoShop') as imports,
      (select max(import_id::text) from product_import where shop_id = 'DemoShop') as latest,
      (select count(*) from product where shop_id = 'DemoShop') as products`);

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const MEGABYTE = 1_048_576;
const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => `${index};a\n`).join('');

describe('a file beyond its limits is refused early', () => {
  const TOO_MANY_ROWS = 'more than 200,000 rows';
  const TOO_MANY_COLUMNS = 'more than 500 columns';
  const CELL_TOO_LONG = 'more than 1,000,000 characters';

  type TooLarge = [name: string, fileOf: () => string | Buffer, message: string];
  const ROWS: TooLarge[] = [
    ['1.1 million short rows', () => `SKU;Name\n${rowsOf(1_100_000).slice(0, 9 * MEGABYTE)}`, TOO_MANY_ROWS],
    ['500,000 lines of one letter', () => 'a\n'.repeat(500_000), TOO_MANY_ROWS],
    ['4.5 million lines of one letter', () => 'a\n'.repeat(4_500_000), TOO_MANY_ROWS],
  ];
  const COLUMNS: TooLarge[] = [
    ['a line of 4.5 million columns', () => 'a;'.repeat(4_500_000), TOO_MANY_COLUMNS],
    ['100,000 columns', () => `SKU${';Name'.repeat(100_000)}\nx${';y'.repeat(100_000)}\n`, TOO_MANY_COLUMNS],
    ['a row of 100,000 columns', () => `SKU;Name\nx;y\nx${';y'.repeat(100_000)}\n`, TOO_MANY_COLUMNS],
  ];
  const CELLS: TooLarge[] = [
    ['one cell of 9 MB', () => `SKU;Name\nx;${'y'.repeat(9 * MEGABYTE)}\n`, CELL_TOO_LONG],
    ['a title of 9 MB', () => `SKU;${'. '.repeat(4.5 * MEGABYTE)}\nx;y\n`, CELL_TOO_LONG],
    ['only blanks', () => ' '.repeat(9 * MEGABYTE), CELL_TOO_LONG],
  ];
  const QUOTES: TooLarge[] = [
    ['a quote that is never closed', () => `SKU;Name\nx;"${'y;z\n'.repeat(2 * MEGABYTE)}`, CELL_TOO_LONG],
    [
      'doubled quotes that are never closed',
      () => `SKU;Name\nx;"${'""'.repeat(4 * MEGABYTE)}`,
      CELL_TOO_LONG,
    ],
  ];
  const MISPLACED_QUOTES: TooLarge[] = [
    ['a quote inside of a cell', () => `SKU;Name\nx;5" pipe\n${rowsOf(100_000)}`, 'Line 2'],
    ['text after a quote', () => `SKU;Name\nx;"y"z\n${rowsOf(100_000)}`, 'Line 2'],
  ];
  const EMPTY: TooLarge[] = [
    ['only line breaks', () => '\n'.repeat(9 * MEGABYTE), 'The file is empty'],
    ['only line breaks of Windows', () => '\r\n'.repeat(4.5 * MEGABYTE), 'The file is empty'],
    ['only characters 0', () => Buffer.alloc(9 * MEGABYTE), 'The file is empty'],
  ];
  const ENCODINGS: TooLarge[] = [
    ['characters 0 between letters', () => 'a\0\n\0'.repeat(2 * MEGABYTE), TOO_MANY_ROWS],
    [
      'UTF-16 without end',
      () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('ä\n'.repeat(2 * MEGABYTE), 'utf16le')]),
      TOO_MANY_ROWS,
    ],
    [
      'bytes that are no text',
      () => Buffer.alloc(7 * MEGABYTE, Buffer.from([0xff, 0x61, 0x0a])),
      TOO_MANY_ROWS,
    ],
  ];

  test.each<TooLarge>([
    ...ofTheDay([ROWS, COLUMNS, CELLS, QUOTES, MISPLACED_QUOTES, EMPTY, ENCODINGS].flat(), 3),
    ['bytes of an old encoding', () => Buffer.alloc(9 * MEGABYTE, 0xfc), 'more than 10 MB'],
    ['a mark and nothing else', () => '\ufeff', 'The file is empty'],
  ])(
    '%s',
    async (_name, fileOf, message) => {
      const file = fileOf();
      const before = await stored();
      let answer: Awaited<ReturnType<typeof send>> | undefined;
      let cpu = 0;
      const ms = await quickestBlock(async () => {
        cpu = await cpuOf(async () => {
          answer = await send(file);
        });
      });
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(message) });
      expect(ms).toBeLessThan(MAX_BLOCK);
      expect(cpu / slowdown()).toBeLessThan(REFUSED_WITHIN);
      expect(await stored()).toEqual(before);
    },
    300_000,
  );

  test('in a zip too', async () => {
    const zip = zipOf({ 'goods.csv': 'a\n'.repeat(4_500_000) });
    const before = await stored();
    let answer: Awaited<ReturnType<typeof send>> | undefined;
    const ms = await quickestBlock(async () => {
      answer = await send(zip, 'goods.zip');
    });
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(TOO_MANY_ROWS) });
    expect(ms).toBeLessThan(MAX_BLOCK);
    expect(await stored()).toEqual(before);
  }, 300_000);
});

test('rows that are pasted are read in steps too, and are fewer than those of a file', async () => {
  let answer: Awaited<ReturnType<Merchant['post']>> | undefined;
  for (const [count, status] of [
    [19_000, 303],
    [140_000, 413],
  ]) {
    const rows = `SKU;Name\n${'a\n'.repeat(count!)}`;
    const ms = await quickestBlock(async () => {
      answer = await merchant.post('/products/import/paste', { rows });
    });
    expect(answer).toMatchObject({ status });
    expect(await latest()).toMatchObject({ rowCount: 19_000, state: 'mapping' });
    expect(ms).toBeLessThan(MAX_BLOCK);
  }
}, 60_000);

describe('a file within its limits stops nobody', () => {
  const MEGA = 999_000;
  const titles = Array.from(
    { length: 499 },
    (_, index) => `Unknown title of column ${index} ${'x'.repeat(40)}`,
  );
  const categories = Array.from({ length: 45 }, (_, path) =>
    Array.from({ length: 18 }, (_name, depth) => `C${path}-${depth} ${'x'.repeat(10)}`).join(' > '),
  ).join(' | ');

  type Large = [name: string, fileOf: () => string, columns: string[], isImported?: boolean];
  const SHORT_ROWS: Large[] = [
    ['20,000 short rows', () => `a;b\n${rowsOf(20_000)}`, ['Alias', 'Name/en']],
    [
      '500 columns',
      () =>
        `a;${titles.join(';')}\n${Array.from({ length: 1_500 }, (_, row) => `${row}${'; '.repeat(499)}\n`).join('')}`,
      ['Alias'],
    ],
  ];
  const REFUSED_ROWS: Large[] = [
    ['20,000 rows without a number', () => `a;b\n${';x\n'.repeat(20_000)}`, ['Alias', 'Name/en']],
    ['20,000 rows with a bad price', () => `a;b\n${rowsOf(20_000)}`, ['Alias', 'ListPrices/EUR/gross']],
  ];
  const LONG_CELLS = ['blanks', 'bars', 'backslashes', 'digits', 'addresses', 'quotes'].map(
    (kind, index): Large => [
      `cells of a million ${kind}`,
      () => {
        const cell = [' ', '|', '\\', '1,', 'http://a ', '""'][index]!;
        const text = cell.repeat(MEGA / cell.length);
        return `a;b;c;d;e;f;g;h\nx${`;"${text}"`.repeat(7)}\n`;
      },
      [
        'Alias',
        'Name/en',
        'ListPrices/EUR/gross',
        'Categories',
        'Images',
        'Keywords/en',
        'AvailabilityDate',
        'TaxClass',
      ],
    ],
  );
  const MUCH_TO_WRITE: Large[] = [
    [
      'texts that are as long as they may be',
      () =>
        `a;b;c\n${Array.from({ length: 22 }, (_, row) => `L-${row};${'y<'.repeat(99_000)};${'é>'.repeat(90_000)}\n`).join('')}`,
      ['Alias', 'Text/en', 'Description/en'],
      true,
    ],
    [
      'many new categories',
      () => `a;b\n${Array.from({ length: 12 }, (_, row) => `K-${row};${categories}\n`).join('')}`,
      ['Alias', 'Categories'],
      true,
    ],
  ];

  test.each(ofTheDay([SHORT_ROWS, REFUSED_ROWS, LONG_CELLS, MUCH_TO_WRITE].flat(), 2))(
    '%s',
    async (_case, fileOf, columns, isImported = false) => {
      const file = fileOf();
      const steps: Record<string, number> = {};
      const step = async (name: string, work: () => Promise<unknown>) => {
        steps[name] = await quickestBlock(work);
      };
      await step('send', async () => expect(await send(file)).toMatchObject({ status: 303 }));
      const path = pathOf(await latest());
      const fields = Object.fromEntries(columns.map((key, place) => [`column.${place}`, key]));
      await step('columns', async () => expect(await merchant.get(path)).toMatchObject({ status: 200 }));
      await step('check', async () => {
        expect(await merchant.post(path, { decimalSign: '.', ...fields })).toMatchObject({ status: 303 });
        await runAll();
        expect(await latest()).toMatchObject({ state: 'checked' });
      });
      await step('report', async () => expect(await merchant.get(path)).toMatchObject({ status: 200 }));
      await step('refused rows', async () =>
        expect(await merchant.get(`${path}/refused.csv`)).toMatchObject({ status: 200 }),
      );
      const { text } = await merchant.get(path);
      const cells = [...text.matchAll(/name="(cell\.\d+)"/g)].map(([, name]) => [name!, 'mended']);
      if (cells.length > 0) {
        await step('mend', () => merchant.post(`${path}/mend`, Object.fromEntries(cells)));
      }
      if (isImported) {
        await step('import', async () => {
          await send(file);
          await check(fields);
          await merchant.post(`${pathOf(await latest())}/start`);
          await runAll();
          expect(await latest()).toMatchObject({ state: 'done', refused: 0 });
        });
      }
      expect(Object.entries(steps).filter(([, ms]) => ms >= MAX_BLOCK)).toEqual([]);
    },
    120_000,
  );
});
