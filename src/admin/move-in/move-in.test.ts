import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenShop } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { formOf } from '../../../test/upload.ts';
import { zipOf } from '../../../test/zip.ts';
import { receiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { sql } from '../../db/sql.ts';
import { findMoves } from '../../imports/moves/queries.ts';
import { runDueMoves } from '../../imports/moves/runner.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { installationKey } from '../../platform/sealing.ts';

let service: Service;
let merchant: Merchant;
let url: string;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  await givenShop(service, 'Copy');
  await givenShop(service, 'Other');
  merchant = await givenMerchant(service, 'owner', 'Copy');
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/rs/shops/DemoShop`;
});
afterAll(() => service.close());

async function send(path: string, filename: string, content: string | Buffer) {
  const form = formOf({ name: 'file', filename, content });
  const response = await service.app.inject({
    method: 'POST',
    url: `/admin/shops/Copy/move-in${path}`,
    headers: {
      ...form.headers,
      host: 'localhost:8080',
      origin: 'http://localhost:8080',
      cookie: merchant.cookie,
    },
    payload: form.body,
  });
  return { status: response.statusCode, text: response.body, location: response.headers.location ?? '' };
}

const pathIn = (location: unknown) => String(location).replace('/admin/shops/Copy', '');
const latest = async () => (await findMoves(service.db, 'Copy'))[0]!;
const log: string[] = [];

async function runAll(isOpen = true) {
  const { db, config, app } = service;
  await runDueMoves({
    db,
    config,
    media: openMediaStorage(config),
    log: pino({ base: null }, { write: (line: string) => void log.push(line) }),
    policy: receiverPolicy(config, isOpen ? app.demoAccess : { ...app.demoAccess, isOpen: () => false }),
    loadKey: () => installationKey(config),
    pause: 0,
  });
}

const PRODUCTS = [
  'Handle,Title,Vendor,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Gift Card,Status',
  'mug,Mug,Pier,Title,Default Title,MUG-1,shopify,12,9.50,false,active',
  'voucher,Voucher,,Title,Default Title,,,,25.00,true,active',
].join('\n');
const ORDERS = [
  'Name,Email,Financial Status,Currency,Subtotal,Shipping,Taxes,Total,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Id',
  '#4711,ada@mail.example,paid,EUR,9.50,0.00,1.52,9.50,2025-10-07 09:50:00 +0200,1,=Mug,9.50,MUG-1,Ada Brennan,5001',
].join('\n');
const EVERYTHING = ['categories', 'products', 'customers', 'orders', 'coupons', 'legal', 'redirects'];

test('files are checked, then imported, with a report of what was left out', async () => {
  const first = await send('/shopify', 'products export.csv', PRODUCTS);
  expect(first.status).toBe(303);
  const path = pathIn(first.location);
  expect(
    (await send(`${path.replace('/move-in', '')}/files`, 'all.zip', zipOf({ 'orders.csv': ORDERS }))).status,
  ).toBe(303);
  const open = await merchant.get(path);
  expect(open.text).toContain('1-products_export.csv'.slice(2));
  expect(open.text).toContain('all.zip');

  expect((await merchant.post(path, { only: [] })).status).toBe(400);
  expect((await merchant.post(path, { only: EVERYTHING, nextOrderNumber: 'x' })).status).toBe(400);
  const chosen = { only: EVERYTHING, nextOrderNumber: '9001', nextInvoiceNumber: '2001' };
  expect((await merchant.post(path, chosen)).status).toBe(303);
  expect((await merchant.get(path)).text).toContain('hx-trigger="every 2s"');
  await runAll();
  const none = { created: 0, changed: 0, unchanged: 0, kept: 0, refused: 0 };
  expect(await latest()).toMatchObject({
    state: 'checked',
    counts: { product: { ...none, created: 1, refused: 1 }, order: { ...none, created: 1 } },
    recordsAll: 3,
    lines: 1,
  });
  const nothing = await service.db.many(sql`
    select product_number from product where shop_id = 'Copy' union all
    select order_number from customer_order where shop_id = 'Copy'`);
  expect(nothing).toEqual([]);
  expect((await merchant.get(path)).text).toContain('is a gift card, which this shop does not sell');

  expect((await merchant.post(`${path}/start`)).status).toBe(303);
  expect((await merchant.post(`${path}/start`)).status).toBe(409);
  await runAll();
  expect(await latest()).toMatchObject({ state: 'done', recordsDone: 3, lines: 1 });
  const { text, headers } = await merchant.get(`${path}/report.csv`);
  expect(headers['content-type']).toContain('text/csv');
  expect(
    text
      .replace('\uFEFF', '')
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    'kind;file;line;name;reason',
    'product;1-products_export.csv;3;;is a gift card, which this shop does not sell',
    '',
  ]);
  const counters = await service.db.many(sql`
    select name, value from counter where shop_id = 'Copy' and name in ('order', 'Invoice') order by name`);
  expect(counters).toEqual([
    { name: 'Invoice', value: 2000 },
    { name: 'order', value: 9000 },
  ]);
  // The files have done their work.
  expect(await service.db.many(sql`select file_name from shop_move_part where shop_id = 'Copy'`)).toEqual([]);
  const events = sql`select type from event where shop_id = 'Copy' and type like 'ORDER%'`;
  expect(await service.db.many(events)).toEqual([]);
});

test('a shop is read by its API; its token is sealed, forgotten afterwards, and in no log', async () => {
  const token = 'demo-all';
  const sent = await merchant.post('/move-in/epages', { address: url, token });
  const path = pathIn(sent.headers.location);
  const stored = () =>
    service.db.one<{ sealed: Buffer | null }>(sql`
      select token_sealed as sealed from shop_move where shop_id = 'Copy' order by move_id desc limit 1`);
  expect((await stored())!.sealed!.includes(token)).toBe(false);
  expect((await merchant.get(path)).text).not.toContain(token);
  await merchant.post(path, { only: ['legal'] });
  await runAll();
  const { counts, error } = await latest();
  expect(error).toBe(null);
  await merchant.post(`${path}/start`);
  await runAll();
  expect(await latest()).toMatchObject({ state: 'done', counts });
  expect((await stored())!.sealed).toBe(null);
  expect(log.join('')).not.toContain(token);
  const text = (shopId: string) =>
    service.db.one(sql`
      select content from legal_page where shop_id = ${shopId} and page = 'privacy-policy' and locale = 'en_GB'`);
  expect(await text('Copy')).toEqual(await text('DemoShop'));
});

test('a machine of the own network is not asked, and what it says is not shown', async () => {
  const sent = await merchant.post('/move-in/epages', { address: url, token: 'demo-all' });
  const path = pathIn(sent.headers.location);
  await merchant.post(path, { only: ['products'] });
  await runAll(false);
  expect(await latest()).toMatchObject({ state: 'failed', error: 'The address must be an https address' });
  for (const address of ['ftp://shop.example/x', 'nowhere', '']) {
    expect((await merchant.post('/move-in/epages', { address, token: 'x' })).status).toBe(400);
  }
});

test('a move that is interrupted goes on, and another shop never sees it', async () => {
  const first = await send('/shopify', 'products.csv', PRODUCTS.replace('9.50', '8.50'));
  const path = pathIn(first.location);
  await merchant.post(path, { only: EVERYTHING });
  const other = await givenMerchant(service, 'owner', 'Other');
  for (const below of ['', '/report.csv']) expect((await other.get(path + below)).status).toBe(404);
  expect((await other.post(`${path}/start`)).status).toBe(404);
  expect((await other.post(`${path}/delete`)).status).toBe(404);
  // A process has died with it: its lease has expired.
  await service.db.run(sql`update shop_move set attempts = 1 where shop_id = 'Copy' and run_at is not null`);
  await runAll();
  expect(await latest()).toMatchObject({ state: 'checked', counts: { product: { changed: 1, refused: 1 } } });
  const clerk = await givenMerchant(service, 'orders', 'Copy');
  expect((await clerk.get('/move-in')).status).toBe(403);
  expect((await merchant.post(`${path}/delete`)).status).toBe(303);
  expect((await merchant.get(path)).status).toBe(404);
});

test('what is no table is refused', async () => {
  expect((await send('/woocommerce', 'shop.exe', 'x')).status).toBe(400);
  const wrong = await send('/woocommerce', 'notes.csv', 'a,b\n1,2\n');
  const path = pathIn(wrong.location);
  await merchant.post(path, { only: EVERYTHING });
  await runAll();
  expect(await latest()).toMatchObject({
    state: 'failed',
    error: 'There is no table of an export of WooCommerce',
  });
});

test('a new shop is asked first whether it moves in', async () => {
  await merchant.post('/settings/opening/close');
  const { text } = await merchant.get('/settings/opening');
  expect(text.indexOf('id="step-moveIn"')).toBeGreaterThan(0);
  expect(text.indexOf('id="step-moveIn"')).toBeLessThan(text.indexOf('id="step-address"'));
});

test('what the plan of the shop has no room for is left out and reported, before anything is written', async () => {
  const file = join(service.config.KONTOR_DATA, 'plans.yaml');
  await writeFile(
    file,
    'version: 1\ndefault: small\nplans: { small: { products: 3 }, large: { products: 9 } }\n',
  );
  const config = { ...service.config, PLANS_FILE: file };
  const { db } = service;
  await givenShop(service, 'Limited');
  const owner = await givenMerchant(service, 'owner', 'Limited');
  const rows = [1, 2, 3, 4, 5].map(
    (number) =>
      `mug-${number},Mug ${number},Pier,Title,Default Title,M-${number},shopify,12,9.50,false,active`,
  );
  const form = formOf({
    name: 'file',
    filename: 'products.csv',
    content: [PRODUCTS.split('\n')[0], ...rows].join('\n'),
  });
  const run = () =>
    runDueMoves({
      db,
      config,
      media: openMediaStorage(config),
      log: pino({ level: 'silent' }),
      policy: receiverPolicy(config, service.app.demoAccess),
      loadKey: () => installationKey(config),
    });
  const numbers = async () =>
    (
      await db.many<{ number: string }>(sql`
        select product_number as number from product where shop_id = 'Limited' order by product_number`)
    ).map(({ number }) => number);
  const move = async () => (await findMoves(db, 'Limited'))[0]!;
  const bring = async () => {
    const sent = await service.app.inject({
      method: 'POST',
      url: '/admin/shops/Limited/move-in/shopify',
      headers: {
        ...form.headers,
        host: 'localhost:8080',
        origin: 'http://localhost:8080',
        cookie: owner.cookie,
      },
      payload: form.body,
    });
    const page = String(sent.headers.location).replace('/admin/shops/Limited', '');
    expect((await owner.post(page, { only: ['products'] })).status).toBe(303);
    await run();
    return page;
  };
  const none = { created: 0, changed: 0, unchanged: 0, kept: 0, refused: 0 };
  const page = await bring();
  expect(await move()).toMatchObject({
    state: 'checked',
    counts: { product: { ...none, created: 3, refused: 2 } },
  });
  expect(await numbers()).toEqual([]);
  expect((await owner.get(page)).text).toContain(
    'has no room in the plan small with its 3 products: ask the operator of this installation for a larger one, then import again',
  );
  expect((await owner.post(`${page}/start`)).status).toBe(303);
  await run();
  expect(await move()).toMatchObject({
    state: 'done',
    counts: { product: { ...none, created: 3, refused: 2 } },
  });
  expect(await numbers()).toEqual(['M-1', 'M-2', 'M-3']);

  // With a larger plan the rest follows, and what is here stays.
  await db.run(sql`update shop set plan = 'large' where shop_id = 'Limited'`);
  const second = await bring();
  expect((await owner.post(`${second}/start`)).status).toBe(303);
  await run();
  expect((await move()).counts).toMatchObject({ product: { ...none, created: 2, unchanged: 3 } });
  expect(await numbers()).toEqual(['M-1', 'M-2', 'M-3', 'M-4', 'M-5']);
});
