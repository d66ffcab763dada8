import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { zipOf } from '../../../test/zip.ts';
import { runDueImports } from '../../catalogue/products/import-runner.ts';
import { findImport, findImports } from '../../catalogue/products/import-queries.ts';
import { sql } from '../../db/sql.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  merchant = await givenMerchant(service, 'catalogue');
});
afterAll(() => service.close());

const BOUNDARY = 'x-boundary';

async function sendFile(text: string | Buffer, as = merchant, name = 'goods.csv') {
  const payload = Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
        'Content-Type: text/csv\r\n\r\n',
    ),
    Buffer.from(text),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
  const response = await service.app.inject({
    method: 'POST',
    url: '/admin/shops/DemoShop/products/import',
    headers: {
      host: 'localhost:8080',
      origin: 'http://localhost:8080',
      cookie: as.cookie,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    },
    payload,
  });
  return { status: response.statusCode, text: response.body, location: response.headers.location };
}

const deps = () => ({
  db: service.db,
  config: service.config,
  media: openMediaStorage(service.config),
  log: pino({ level: 'silent' }),
});
const runAll = () => runDueImports(deps());
const latest = async () => (await findImports(service.db, 'DemoShop'))[0]!;
const pathOf = ({ importId }: { importId: string }) => `/products/import/${importId}`;
const countOf = async (start: string) =>
  (await service.db.one<{ count: number }>(sql`
    select count(*) as count from product where shop_id = 'DemoShop' and starts_with(product_number, ${start})`))!
    .count;

/** What the form of the columns sends, as it is shown. */
async function columnsOf(path: string): Promise<Record<string, string>> {
  const { text } = await merchant.get(path);
  const fields: Record<string, string> = { visible: 'yes' };
  for (const [, name, options] of text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>(.*?)<\/select>/gs)) {
    fields[name!] = /<option value="([^"]*)" selected/.exec(options!)?.[1] ?? '';
  }
  return fields;
}

test('a file with bad rows is checked, imported, mended and sent again', async () => {
  const rows = Array.from({ length: 500 }, (_, n) => `IMP-${n};Kanne ${n};${n + 1},50;${n};Tee > Kannen`);
  rows[7] = 'IMP-7;Kanne 7;viel;7;Tee > Kannen';
  rows[9] = 'IMP-9;Kanne 9;1,50;wenig;Tee > Kannen';
  const sent = await sendFile(`Artikelnummer;Bezeichnung;Preis;Bestand;Kategorie\n${rows.join('\n')}\n`);
  expect(sent.status).toBe(303);
  const path = pathOf(await latest());
  expect(sent.location).toBe(`/admin/shops/DemoShop${path}`);
  const fields = await columnsOf(path);
  expect(fields).toEqual({
    'column.0': 'Alias',
    'column.1': expect.stringMatching(/^Name\/en/),
    'column.2': 'ListPrices/EUR/gross',
    'column.3': 'StockLevel',
    'column.4': 'Categories',
    decimalSign: ',',
    visible: 'yes',
  });

  expect((await merchant.post(path, fields)).status).toBe(303);
  expect((await merchant.get(path)).text).toContain('hx-trigger="every 1s"');
  await runAll();
  expect(await latest()).toMatchObject({
    state: 'checked',
    created: 498,
    changed: 0,
    refused: 2,
    rowsDone: 500,
  });
  expect(await countOf('IMP-')).toBe(0);
  const { text: report } = await merchant.get(path);
  expect(report).toContain('This is not a price.');
  expect(report).toContain('Import 498 rows');

  expect((await merchant.post(`${path}/start`)).status).toBe(303);
  expect((await merchant.post(`${path}/start`)).status).toBe(409);
  await runAll();
  expect(await latest()).toMatchObject({ state: 'done', created: 498, refused: 2 });
  expect(await countOf('IMP-')).toBe(498);

  const { text: csv, headers } = await merchant.get(`${path}/refused.csv`);
  expect(headers['content-type']).toContain('text/csv');
  expect(csv.replace('\uFEFF', '').split('\n')).toEqual([
    '"Artikelnummer";"Bezeichnung";"Preis";"Bestand";"Kategorie";"Problem"',
    'IMP-7;Kanne 7;viel;7;Tee > Kannen;Price (EUR): This is not a price.',
    'IMP-9;Kanne 9;1,50;wenig;Tee > Kannen;Stock: This is not a number, or it is too small or too large.',
    '',
  ]);

  // Mended on the page: the two rows are a file of their own, whose columns are known.
  const mended = await merchant.post(`${path}/mend`, { 'cell.9': '8,50', 'cell.11': '4' });
  expect(mended.status).toBe(303);
  await runAll();
  const second = await latest();
  expect(second).toMatchObject({ state: 'checked', created: 2, refused: 0, rowCount: 2 });
  await merchant.post(`${pathOf(second)}/start`);
  await runAll();
  expect(await countOf('IMP-')).toBe(500);
  const { body } = await service.call('POST', '/DemoShop/products/find', {
    token: 'demo-all',
    body: { productNumber: 'IMP-7' },
  });
  expect(body.items[0]).toMatchObject({
    name: 'Kanne 7',
    priceInfo: { price: { amount: 8.5 } },
    stocklevel: 7,
  });

  // The downloaded file itself can be sent again; what it says of the problem is left out.
  await sendFile(csv);
  const again = await columnsOf(pathOf(await latest()));
  expect([again['column.0'], again['column.5']]).toEqual(['Alias', '']);
  const audit = await service.db.many(sql`
    select from audit_entry where shop_id = 'DemoShop' and route like '%/products/import/%'`);
  expect(audit).toHaveLength(2);
});

test('an import goes on behind the rows that are saved when a process died', async () => {
  const rows = Array.from({ length: 1_100 }, (_, n) => `RUN-${n};x`);
  await merchant.post('/products/import/paste', { rows: `SKU;Name\n${rows.join('\n')}` });
  const { importId } = await latest();
  const path = pathOf({ importId });
  await merchant.post(path, await columnsOf(path));
  await runAll();
  await merchant.post(`${path}/start`);
  // The process stops after the first batch.
  const stopping = new AbortController();
  const stopped = runDueImports(deps(), stopping.signal);
  for (;;) {
    const now = await findImport(service.db, 'DemoShop', importId);
    if (now!.rowsDone > 0) break;
    await sleep(5);
  }
  stopping.abort();
  await stopped;
  const saved = (await findImport(service.db, 'DemoShop', importId))!;
  expect(saved.rowsDone % 500).toBe(0);
  expect(await countOf('RUN-')).toBe(saved.rowsDone === 1_100 ? 1_100 : saved.rowsDone);
  await runAll();
  expect(await findImport(service.db, 'DemoShop', importId)).toMatchObject({
    state: 'done',
    rowsDone: 1_100,
    created: 1_100,
    unchanged: 0,
  });
  expect(await countOf('RUN-')).toBe(1_100);
});

test.each([
  ['an empty file', '', 400, 'The file is empty.'],
  ['titles alone', 'SKU;Name\n', 400, 'The file has no rows'],
  ['an open quote', 'SKU;Name\nx;"y\n', 400, 'A quotation mark in line 2 is not closed.'],
  ['a quote inside of a cell', 'SKU;Name\nx;5" pipe\n', 400, 'Line 2 has a quotation mark inside of a cell'],
])('%s is refused on the page', async (_case, text, status, message) => {
  const before = await findImports(service.db, 'DemoShop');
  const answer = await sendFile(text);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(message);
  expect(await findImports(service.db, 'DemoShop')).toEqual(before);
});

test('the columns must name the product number once', async () => {
  await merchant.post('/products/import/paste', { rows: 'Thing;Other\nA;B' });
  const path = pathOf(await latest());
  const none = await merchant.post(path, { 'column.0': '', 'column.1': 'Name/en' });
  expect(none.status).toBe(400);
  expect(none.text).toContain('Choose the column with the product numbers');
  const twice = await merchant.post(path, { 'column.0': 'Alias', 'column.1': 'Alias' });
  expect(twice.text).toContain('Product number was chosen for two columns.');
  expect((await latest()).state).toBe('mapping');
});

test('an import of one shop is not there in another, nor for those who may not write', async () => {
  const { importId } = await latest();
  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  expect((await neighbour.get(`/products/import/${importId}`)).status).toBe(404);
  expect((await neighbour.post(`/products/import/${importId}/delete`)).status).toBe(404);
  const accountant = await givenMerchant(service, 'accountant');
  expect((await sendFile('SKU\nX\n', accountant)).status).toBe(403);
  expect((await merchant.post(`/products/import/${importId}/delete`)).status).toBe(303);
  expect((await merchant.get(`/products/import/${importId}`)).status).toBe(404);
});

test('an export has the chosen columns and products, and importing it changes nothing', async () => {
  await merchant.post('/products/import/paste', {
    rows: 'SKU;Name;Category;Visible;Tax class\nEXP-1;Cup;Ex > Cups | Ex;1;reduced\nEXP-2;Plate;Ex;0;',
  });
  const path = pathOf(await latest());
  await merchant.post(path, await columnsOf(path));
  await runAll();
  await merchant.post(`${path}/start`);
  await runAll();
  expect(await latest()).toMatchObject({ state: 'done', created: 2, refused: 0 });

  const { categoryId } = (await service.db.one<{ categoryId: string }>(sql`
    select upper(category_id::text) as "categoryId" from category where shop_id = 'DemoShop' and alias = 'Ex'`))!;
  const query = 'column=Categories&column=TaxClass&column=Visible&column=Nonsense';
  const few = await merchant.get(`/products/export.csv?${query}&category=${categoryId}`);
  const [titles, ...lines] = few.text.trim().split('\n');
  expect(titles).toBe(
    'Product number [Alias];Shown in the shop [Visible];Tax class [TaxClass];Categories [Categories]',
  );
  // Both were made in the same moment, so their ids have no order.
  expect(lines.toSorted()).toEqual(['EXP-1;1;reduced;Ex > Cups | Ex', 'EXP-2;0;;Ex']);
  const hidden = await merchant.get(`/products/export.csv?column=Visible&category=${categoryId}&visible=no`);
  expect(hidden.text.split('\n').slice(1)).toEqual(['EXP-2;0', '']);

  const { text: page } = await merchant.get('/products/export');
  const all = [...page.matchAll(/name="column"\s+value="([^"]+)"/g)].map(
    ([, key]) => `column=${encodeURIComponent(key!)}`,
  );
  const { text: file } = await merchant.get(`/products/export.csv?${all.join('&')}`);
  await sendFile(file);
  const whole = pathOf(await latest());
  const fields = await columnsOf(whole);
  expect(Object.values(fields)).not.toContain('');
  await merchant.post(whole, fields);
  await runAll();
  const { rowCount, ...report } = await latest();
  expect(report).toMatchObject({ state: 'checked', created: 0, changed: 0, unchanged: rowCount, refused: 0 });
  expect((await (await givenMerchant(service, 'accountant')).get('/products/export')).status).toBe(403);
});

const newPicture = () =>
  sharp({ create: { width: 30, height: 20, channels: 3, background: '#369' } })
    .png()
    .toBuffer();

test('pictures are fetched from their addresses, once, and one that is missing is named', async () => {
  const png = await newPicture();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url === '/moved.png') response.writeHead(302, { location: '/lamp.png' }).end();
    else if (request.url === '/lamp.png') response.writeHead(200, { 'content-type': 'image/png' }).end(png);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text =
    `SKU;Name;Image\nPIC-1;Lamp;${origin}/lamp.png ${origin}/moved.png\n` +
    `PIC-2;Cup;${origin}/none.png\nPIC-3;Pot;pot.png\n`;
  const send = async () => {
    await merchant.post('/products/import/paste', { rows: text });
    const path = pathOf(await latest());
    await merchant.post(path, await columnsOf(path));
    await runAll();
    await merchant.post(`${path}/start`);
    await runAll();
    return findImport(service.db, 'DemoShop', (await latest()).importId);
  };
  const done = (await send())!;
  expect(done).toMatchObject({ state: 'done', created: 3, refused: 2 });
  expect(done.problems.map(({ line, text }) => [line, text])).toEqual([
    [3, expect.stringContaining('The address answers 404')],
    [4, expect.stringContaining('names a picture that was not sent')],
  ]);
  expect(asked).toEqual(['/lamp.png', '/moved.png', '/lamp.png', '/none.png']);
  const images = await service.db.many(sql`
    select image.name from product_image image join product on product.shop_id = image.shop_id
      and product.product_id = image.product_id
    where image.shop_id = 'DemoShop' and product_number like 'PIC-%' order by position`);
  expect(images).toEqual([{ name: 'lamp.png' }, { name: 'moved.png' }]);
  server.close();
});

const waiting = async () =>
  (
    await service.db.many<{ name: string }>(sql`
      select name from import_picture where shop_id = 'DemoShop' order by name`)
  ).map(({ name }) => name);

test('a zip brings the pictures that its table names', async () => {
  const png = await newPicture();
  const table =
    'SKU;Name;Image\nZIP-1;Lamp;img/Red Lamp.PNG | Öl.png\nZIP-2;Cup;cup.png\nZIP-3;Pot;broken.jpg\n';
  const zip = zipOf({
    'shop/goods.csv': table,
    'shop/pictures/red lamp.png': png,
    // As a Mac writes it, with the accent as a character of its own.
    'shop/pictures/O\u0308l.png': png,
    'shop/broken.jpg': 'no picture',
    'shop/notes.md': 'x',
    '__MACOSX/shop/._red lamp.png': 'x',
  });
  const sent = await sendFile(zip, merchant, 'Goods.ZIP');
  expect(sent.status).toBe(303);
  const path = pathOf(await latest());
  expect(sent.location).toBe(`/admin/shops/DemoShop${path}`);
  expect(await waiting()).toEqual(['broken.jpg', 'red lamp.png', 'öl.png']);
  expect((await merchant.get('/products/import')).text).toContain('3 pictures (1 MB) are here');

  await merchant.post(path, await columnsOf(path));
  await runAll();
  expect((await merchant.get(path)).text).toContain('This picture was not sent.');
  await merchant.post(`${path}/start`);
  await runAll();
  const done = (await findImport(service.db, 'DemoShop', (await latest()).importId))!;
  expect(done).toMatchObject({ state: 'done', created: 3, refused: 2 });
  expect(done.problems.map(({ line }) => line)).toEqual([3, 4]);
  const images = await service.db.many(sql`
    select image.name from product_image image join product on product.shop_id = image.shop_id
      and product.product_id = image.product_id
    where image.shop_id = 'DemoShop' and product_number like 'ZIP-%' order by position`);
  expect(images).toEqual([{ name: 'Red Lamp.PNG' }, { name: 'Öl.png' }]);

  expect((await merchant.post('/products/import/pictures/delete')).status).toBe(303);
  expect(await waiting()).toEqual([]);
});

test('a zip may hold pictures alone', async () => {
  const sent = await sendFile(zipOf({ 'a.png': await newPicture() }), merchant, 'a.zip');
  expect([sent.status, sent.location]).toEqual([303, '/admin/shops/DemoShop/products/import']);
  expect(await waiting()).toEqual(['a.png']);
});

const large = Buffer.alloc(10 * 1_048_576 + 1);
test.each([
  ['no zip at all', 'PK and nothing else', 'The file cannot be read'],
  ['one that was cut', zipOf({ 'a.png': 'x'.repeat(500) }).subarray(0, 100), 'The file cannot be read'],
  ['one without pictures', zipOf({ 'a.md': 'x' }), 'neither pictures'],
  ['two pictures of one name', zipOf({ 'b.png': '1', 'b/B.png': '2' }), 'two pictures with the name B.png'],
  ['two tables', zipOf({ 'b.png': '1', 'a.csv': 'SKU\nA', 'b.csv': 'SKU\nA' }), 'more than one table'],
  ['a table without rows', zipOf({ 'b.png': '1', 'a.csv': 'SKU\n' }), 'The file has no rows'],
  ['a picture that is large when it is unpacked', zipOf({ 'b.png': '1', 'c.png': large }), 'more than 10 MB'],
  ['a table that is too large by itself', large, 'more than 10 MB'],
])('%s is refused, and nothing of it is kept', async (_case, file, message) => {
  const [pictures, imports] = [await waiting(), await findImports(service.db, 'DemoShop')];
  const answer = await sendFile(file, merchant, file === large ? 'a.csv' : 'a.zip');
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(message);
  expect(await waiting()).toEqual(pictures);
  expect(await findImports(service.db, 'DemoShop')).toEqual(imports);
});

test('what goes beyond the plan of the shop ends the check, which writes nothing; what is here stays', async () => {
  const rows = Array.from({ length: 700 }, (_, n) => `PLAN-${n};Jug ${n};1.50`);
  const { used } = (await service.db.one<{ used: number }>(sql`
    select sum(products)::bigint as used from listing_size
    where shop_id = 'DemoShop' and category_id = '00000000-0000-0000-0000-000000000000'`))!;
  const file = join(service.config.KONTOR_DATA, 'plans.yaml');
  await writeFile(
    file,
    `version: 1\ndefault: small\nplans: { small: { products: ${used + 600} }, large: { products: ${used + 700} } }\n`,
  );
  const config = { ...service.config, PLANS_FILE: file };
  const run = () => runDueImports({ ...deps(), config });
  const setPlan = (plan: string) =>
    service.db.run(sql`update shop set plan = ${plan} where shop_id = 'DemoShop'`);
  const check = async () => {
    await sendFile(`Alias;Name;Price\n${rows.join('\n')}\n`);
    const path = pathOf(await latest());
    expect((await merchant.post(path, await columnsOf(path))).status).toBe(303);
    await run();
    return path;
  };
  const refusal = `The plan small of this shop has room for ${used + 600} products, ask the operator of this installation for a larger one`;

  const refused = await check();
  expect((await latest()).state).toBe('failed');
  expect((await merchant.get(refused)).text).toContain(refusal);
  expect((await merchant.post(`${refused}/start`)).status).toBe(409);
  expect(await countOf('PLAN-')).toBe(0);

  // The plan has become smaller since the check.
  await setPlan('large');
  const checked = await check();
  expect(await latest()).toMatchObject({ state: 'checked', created: 700 });
  await setPlan('small');
  expect((await merchant.post(`${checked}/start`)).status).toBe(303);
  await run();
  expect((await latest()).state).toBe('failed');
  expect((await merchant.get(checked)).text).toContain(refusal);
  expect(await countOf('PLAN-')).toBe(500);

  await setPlan('large');
  const again = await check();
  expect(await latest()).toMatchObject({ state: 'checked', created: 200, unchanged: 500 });
  expect((await merchant.post(`${again}/start`)).status).toBe(303);
  await run();
  expect(await latest()).toMatchObject({ state: 'done', created: 200, unchanged: 500 });
  expect(await countOf('PLAN-')).toBe(700);
});
