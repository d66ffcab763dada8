import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant } from '../../../test/admin.ts';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../db/sql.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { IMPORTED, importShop, type Imported } from '../import-shop.ts';
import type { ImportReport } from '../run.ts';
import { withSourceFiles } from '../source-files.ts';
import { groupedRows, tableRows } from '../table.ts';
import { shopifySource } from './shopify.ts';

let service: Service;
let folder: string;
let token: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Moved');
  token = await givenToken(service, 'Moved', [
    'products_read',
    'products_write',
    'orders_read',
    'customers_read',
  ]);
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-shopify-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const PRODUCTS = [
  'Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Variant Compare At Price,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description,Status',
  'rain-coat,Rain coat,"<p>Keeps dry, even\nin a storm</p>",Beacon,Coats,"rain, yellow",true,Size,S,Colour,Yellow,RC-S-Y,800,shopify,5,89.00,109.00,4006381333931,,,,false,Rain coats,For wet days,active',
  'rain-coat,,,,,,,,M,,Yellow,RC-M-Y,820,shopify,0,89.00,,,,,,,,,',
  'rain-coat,,,,,,,,M,,Blue,,820,shopify,7,95.00,,,,,,,,,',
  'mug,Mug,<p>Holds tea</p>,Pier,Kitchen,,true,Title,Default Title,,,MUG-1,300,shopify,12,9.50,,,,,,false,,,active',
  'voucher,Voucher,,Pier,,,true,Title,Default Title,,,,0,,,25.00,,,,,,true,,,active',
  'secret,Secret,,Pier,,,true,Title,Default Title,,,=cmd(),0,,,5.00,,,,,,false,,,draft',
].join('\n');

const CUSTOMERS = [
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Note,Tags',
  '\'1001,Ada,Brennan,ada@mail.example,yes,Pelican,Speicherweg 4,,Hamburg,,DE,\'20457,,,Rings twice,"vip, tea"',
  "'1002,Bo,Lind,bo@mail.example,no,,Kaj 1,,Malmö,,XX,21120,,,,",
].join('\n');

const ORDERS = [
  'Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Currency,Subtotal,Shipping,Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Billing Address1,Billing City,Billing Zip,Billing Country,Shipping Name,Shipping Address1,Shipping City,Shipping Zip,Shipping Country,Notes,Cancelled at,Payment Method,Refunded Amount,Id,Tax 1 Name,Tax 1 Value',
  "#4711,ada@mail.example,paid,2025-10-07 09:50:26 +0200,fulfilled,2025-10-08 14:21:21 +0200,EUR,98.50,4.90,16.51,103.40,TEN,0.00,Parcel,2025-10-07 09:50:00 +0200,1,Rain coat - S / Yellow,89.00,RC-S-Y,Ada Brennan,Speicherweg 4,Hamburg,'20457,DE,Ada Brennan,Speicherweg 4,Hamburg,'20457,DE,Please ring,,PayPal,0.00,5001,VAT 19%,16.51",
  '#4711,ada@mail.example,,,,,,,,,,,,,,1,Mug,9.50,MUG-1,,,,,,,,,,,,,,,,,',
  '#4712,new@mail.example,refunded,2025-11-01 10:00:00 +0100,,,EUR,9.50,0.00,1.52,9.50,,0.00,,2025-11-01 10:00:00 +0100,1,Mug,9.50,MUG-1,Cy New,Weg 1,Kiel,24103,DE,,,,,,,2025-11-02 08:00:00 +0100,Card,9.50,5002,VAT 19%,1.52',
  '#4713,ada@mail.example,paid,,,,EUR,9.50,,,,,,,2025-11-03 10:00:00 +0100,1,Mug,9.50,MUG-1,,,,,,,,,,,,,,,5003,,',
].join('\n');

const REDIRECTS = 'Redirect from,Redirect to\n/old-coat,/products/rain-coat\n/about,/search?q=coat\n';

const give = (name: string, content: string) => writeFile(path.join(folder, name), content);

async function run(
  only: readonly Imported[] = IMPORTED,
  isCheck = false,
  { place = folder, shopId = 'Moved' } = {},
): Promise<ImportReport> {
  return withSourceFiles(place, (files) =>
    importShop({
      db: service.db,
      config: service.config,
      media: openMediaStorage(service.config),
      shopId,
      source: shopifySource(files),
      only,
      isCheck,
      onProgress: () => {},
    }),
  );
}

const countsOf = ({ counts }: ImportReport) => Object.fromEntries(counts);
const linesOf = ({ lines }: ImportReport) =>
  lines.map(({ place, name, text }) => `${place.file}:${place.line} ${name} ${text}`);
const none = { created: 0, changed: 0, unchanged: 0, kept: 0, refused: 0 };
const get = async (path: string) => (await service.call('GET', `/Moved${path}`, { token })).body;
const rows = (table: 'product' | 'customer' | 'customer_order' | 'event' | 'job' | 'order_document') =>
  service.db.many(
    {
      product: sql`select from product where shop_id = 'Moved'`,
      customer: sql`select from customer where shop_id = 'Moved'`,
      customer_order: sql`select from customer_order where shop_id = 'Moved'`,
      event: sql`select from event where shop_id = 'Moved' and type like 'ORDER%'`,
      job: sql`select from job where shop_id = 'Moved'`,
      order_document: sql`select from order_document where shop_id = 'Moved'`,
    }[table],
  );

test('a dry run says what would come, and writes nothing', async () => {
  await give('products_export_1.csv', PRODUCTS);
  await give('customers.csv', CUSTOMERS);
  await give('orders.csv', ORDERS);
  await give('redirects.csv', REDIRECTS);
  const report = await run(IMPORTED, true);
  expect(countsOf(report)).toEqual({
    product: { ...none, created: 3, refused: 1 },
    customer: { ...none, created: 2 },
    order: { ...none, created: 2, refused: 1 },
    redirect: { ...none, created: 2 },
  });
  expect(await rows('product')).toEqual([]);
  expect(await rows('customer')).toEqual([]);
  expect(await rows('customer_order')).toEqual([]);
});

test('a shop comes with its variants, customers, orders and addresses', async () => {
  const report = await run();
  expect(countsOf(report)).toEqual({
    product: { ...none, created: 3, refused: 1 },
    customer: { ...none, created: 2 },
    order: { ...none, created: 2, refused: 1 },
    redirect: { ...none, created: 2 },
  });
  expect(linesOf(report)).toEqual([
    'products_export_1.csv:7  is a gift card, which this shop does not sell',
    'customers.csv:3 bo@mail.example left out what is not readable: country',
    'customers.csv:2 ada@mail.example the consent to newsletters has no date, and is left out',
    'orders.csv:5  lacks a total',
  ]);
});

test('products have their options, prices, stock and old addresses', async () => {
  const found = await service.db.many<Record<string, unknown>>(sql`
    select product_number as number, kind, selection, stock::float8 as stock, prices, visible,
      facts -> 'manufacturer' as manufacturer, facts -> 'manufacturerPrices' as list, facts -> 'deliveryWeight' as weight
    from product where shop_id = 'Moved' order by product_number`);
  expect(
    found.map(({ number, kind, selection, stock, visible }) => [number, kind, selection, stock, visible]),
  ).toEqual([
    ['=cmd()', 'regular', null, null, false],
    ['MUG-1', 'regular', null, 12, true],
    ['RC-M-Y', 'variation', { Size: 'M', Colour: 'Yellow' }, 0, true],
    ['RC-S-Y', 'variation', { Size: 'S', Colour: 'Yellow' }, 5, true],
    ['rain-coat', 'master', null, null, true],
    ['rain-coat-3', 'variation', { Size: 'M', Colour: 'Blue' }, 7, true],
  ]);
  expect(found[3]).toMatchObject({
    prices: { EUR: 8900 },
    list: { EUR: 10900 },
    weight: { amount: 800, unit: 'gram' },
  });
  expect(found[5]).toMatchObject({ prices: { EUR: 9500 } });
  const visitor = givenVisitor(service, 'Moved');
  for (const path of ['/products/rain-coat', '/collections/coats/products/rain-coat', '/old-coat']) {
    const { status, headers } = await visitor.get(path);
    expect([path, status, headers.location]).toEqual([path, 301, '/shop/Moved/Products/rain-coat']);
  }
  expect((await visitor.get('/about')).headers.location).toBe('/shop/Moved/search?q=coat');
  const page = await visitor.get('/Products/rain-coat');
  expect([page.status, page.text.includes('Rain coat'), page.text.includes('Yellow')]).toEqual([
    200,
    true,
    true,
  ]);
  const categories = await service.db.many(sql`
    select alias from category where shop_id = 'Moved' and parent_id is not null order by alias`);
  expect(categories).toEqual([{ alias: 'Coats' }, { alias: 'Kitchen' }]);
});

test('orders are history: numbers, dates and totals as they were, and nothing happens', async () => {
  const { items } = await get('/orders');
  expect(items.map((order: Record<string, unknown>) => order['orderNumber']).toSorted()).toEqual([
    '4711',
    '4712',
  ]);
  const { orderId } = items.find((order: Record<string, unknown>) => order['orderNumber'] === '4711');
  const order = await get(`/orders/${orderId}`);
  expect(order).toMatchObject({
    creationDate: '2025-10-07T07:50:00.000Z',
    grandTotal: '103.4',
    totalBeforeTax: '86.89',
    totalTax: '16.51',
    customerComment: 'Please ring',
  });
  expect(order.lineItemContainer.productLineItems).toMatchObject([
    { sku: 'RC-S-Y', quantity: { amount: 1 } },
    { sku: 'MUG-1', quantity: { amount: 1 } },
  ]);
  const merchant = await givenMerchant(service, 'owner', 'Moved');
  const page = await merchant.get(`/orders/${orderId}`);
  expect([page.status, page.text.includes('Rain coat - S / Yellow')]).toEqual([200, true]);
  const stored = await service.db.many(sql`
    select order_number as number, paid_amount as paid, refunded_amount as refunded, is_new as "isNew",
      cancelled_at is not null as cancelled, dispatched_at is not null as sent
    from customer_order where shop_id = 'Moved' order by order_number`);
  expect(stored).toEqual([
    { number: '4711', paid: 10340, refunded: 0, isNew: false, cancelled: false, sent: true },
    { number: '4712', paid: 950, refunded: 950, isNew: false, cancelled: true, sent: false },
  ]);
  const stock = await service.db.one(sql`
    select stock::float8 as stock from product where shop_id = 'Moved' and product_number = 'MUG-1'`);
  expect(stock).toEqual({ stock: 12 });
  expect(await rows('event')).toEqual([]);
  expect(await rows('job')).toEqual([]);
  expect(await rows('order_document')).toEqual([]);
  // The next order continues the numbers, and those who had ordered are customers.
  expect(
    await service.db.one(sql`select value from counter where shop_id = 'Moved' and name = 'order'`),
  ).toEqual({ value: 4712 });
  const totals = await service.db.many(sql`
    select total.orders, total.gross from customer_total total
    join customer on customer.shop_id = 'Moved' and customer.customer_id = total.customer_id
    where total.shop_id = 'Moved' and currency = 'EUR' and email_key = 'ada@mail.example'`);
  expect(totals).toEqual([{ orders: 1, gross: 10340 }]);
});

test('a second run changes only what has changed there, and keeps what was edited here', async () => {
  const same = await run();
  expect(countsOf(same)).toMatchObject({
    product: { ...none, unchanged: 3, refused: 1 },
    customer: { ...none, unchanged: 2 },
    order: { ...none, unchanged: 2, refused: 1 },
  });
  const { productId } = (await service.db.one<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = 'Moved' and product_number = 'MUG-1'`))!;
  const edited = await service.call('PATCH', `/Moved/products/${productId}`, {
    token,
    body: [{ op: 'add', path: '/manufacturer', value: 'Edited here' }],
  });
  expect(edited.status).toBe(200);
  await give(
    'products_export_1.csv',
    PRODUCTS.replace('12,9.50', '12,10.50').replace('shopify,7,95.00', 'shopify,7,96.00'),
  );
  await give('customers.csv', CUSTOMERS.replace('Speicherweg 4', 'Kai 9'));
  const again = await run();
  expect(countsOf(again)).toMatchObject({
    product: { created: 0, kept: 1, refused: 1 },
    customer: { ...none, changed: 1, unchanged: 1 },
  });
  expect(linesOf(again)).toContain('products_export_1.csv:6 MUG-1 was edited here');
  const prices = await service.db.many(sql`
    select product_number as number, prices from product
    where shop_id = 'Moved' and product_number in ('MUG-1', 'rain-coat-3') order by 1`);
  expect(prices).toEqual([
    { number: 'MUG-1', prices: { EUR: 950 } },
    { number: 'rain-coat-3', prices: { EUR: 9600 } },
  ]);
  expect(
    await service.db.one(sql`
      select billing_address ->> 'street' as street from customer
      where shop_id = 'Moved' and email_key = 'ada@mail.example'`),
  ).toEqual({ street: 'Kai 9' });
});

test('the files may stay in their zip', async () => {
  await givenShop(service, 'Zipped');
  const place = path.join(folder, 'export.zip');
  await writeFile(place, zipOf({ 'export/products_export_1.csv': PRODUCTS, 'export/orders.csv': ORDERS }));
  const report = await run(['products'], false, { place, shopId: 'Zipped' });
  expect(countsOf(report)).toEqual({ product: { ...none, created: 3, refused: 1 } });
  expect(linesOf(report)).toEqual([
    '0000-products_export_1.csv:7  is a gift card, which this shop does not sell',
  ]);
});

test('rows without end are no order, and are not all kept in memory', async () => {
  const place = path.join(folder, 'endless.csv');
  const [head, first] = ORDERS.split('\n');
  await writeFile(
    place,
    [head, first, ...Array<string>(3_000).fill(',,,,,,,,,,,,,,,1,Mug,9.50,MUG-1')].join('\n'),
  );
  const report = await run(['orders'], true, { place, shopId: 'Moved' });
  expect(countsOf(report)).toEqual({ order: { ...none, refused: 1 } });
  expect(linesOf(report)).toEqual(['endless.csv:2  has more than 1000 rows']);
  const kept: number[] = [];
  await withSourceFiles(place, async ([source]) => {
    for await (const rows of groupedRows(tableRows(source!.file), (row) => row.cell('Name'), 10))
      kept.push(rows.length);
  });
  expect(kept).toEqual([11]);
});
