import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import {
  ADA,
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  on,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { importFile } from '../catalogue/products/import.ts';
import { lowStockEmail } from '../catalogue/products/low-stock-email.ts';
import type { QueuedEmail } from '../platform/email/queue.ts';

/** What an order tells those who read the event log, and how orders are dated. */

let service: Service;
let shop: Shop;
/** The position of the last event before the test. */
let before: number;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(async () => {
  shop = await givenSmallShop(service);
  before = await lastPosition();
});

async function lastPosition(): Promise<number> {
  const { body } = await service.call('GET', `/manage/shops/${shop.shopId}/events`, { token: shop.token });
  return body.next as number;
}

async function newEvents(): Promise<[string, string, object][]> {
  const { body } = await service.call('GET', `/manage/shops/${shop.shopId}/events?after=${before}`, {
    token: shop.token,
  });
  return body.items.map((event: { eventType: string; resourceId: string; data: object }) => [
    event.eventType,
    event.resourceId,
    event.data,
  ]);
}

async function readyCart(quantities: Record<string, number>): Promise<GivenCart> {
  const cart = await givenCart(shop, quantities);
  await done(cart, 'PUT', '/billing-address', ADA);
  return cart;
}

test('an order, its new customer and the stock that it takes, in one transaction', async () => {
  const lamp = await givenProduct(shop, { stock: 5 });
  const chair = await givenProduct(shop, { stock: 100 });
  await service.db.run(sql`
    update product set min_stock = 3 where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  const first = await done(await readyCart({ [lamp]: 2, [chair]: 1 }), 'POST', '/order');
  expect(await newEvents()).toEqual([
    ['CUSTOMER_CREATE', first.customerId, {}],
    ['ORDER_CREATE', first.orderId, { orderNumber: first.orderNumber }],
    ['STOCK_LOW', lamp, { stocklevel: 3, minStocklevel: 3 }],
  ]);
  before = await lastPosition();
  // The customer is known, and the stock low already.
  const second = await done(await readyCart({ [lamp]: 3 }), 'POST', '/order');
  expect(await newEvents()).toEqual([
    ['ORDER_CREATE', second.orderId, { orderNumber: second.orderNumber }],
    ['STOCK_OUT', lamp, { stocklevel: 0 }],
  ]);
  const { items } = (
    await service.call('GET', `/manage/shops/${shop.shopId}/events?types=ORDER_CREATE`, { token: shop.token })
  ).body;
  expect(items.map(({ createdOn }: { createdOn: string }) => createdOn)).toEqual([
    first.creationDate,
    second.creationDate,
  ]);
});

test('products that are sold down to a level are one email an hour to the merchant', async () => {
  const own = await givenSmallShop(service, { lowStockLevel: 2 });
  const [tea, lamp, rope] = [
    await givenProduct(own, { number: 'TEA', stock: 4 }),
    await givenProduct(own, { number: 'LAMP', stock: 9 }),
    await givenProduct(own, { number: 'ROPE', stock: 9 }),
  ];
  const levelOf = (productId: string, level: number) =>
    service.db.run(
      sql`update product set min_stock = ${level} where shop_id = ${own.shopId} and product_id = ${productId}`,
    );
  await levelOf(lamp, 8);
  const reports = () =>
    service.db.many<{ content: QueuedEmail; runAt: Date }>(sql`
      select content, run_at as "runAt" from job
      where shop_id = ${own.shopId} and content ->> 'template' = 'lowStock' order by run_at`);
  const buy = async (productId: string) =>
    done(await givenFullCart(own, { [productId]: 1 }), 'POST', '/order');

  // So that no hour ends in between.
  service.setClock(new Date());
  await buy(rope);
  await buy(tea);
  expect(await reports()).toEqual([]);
  await buy(tea);
  await buy(lamp);
  await buy(tea);
  const [report, ...others] = await reports();
  expect(others).toEqual([]);
  const now = service.db.now.getTime();
  service.setClock(undefined);
  expect(report!.runAt.getTime()).toBe((Math.floor(now / 3_600_000) + 1) * 3_600_000 + 5 * 60_000);
  expect(report!.content).toMatchObject({ to: 'shop@mail.example', locale: 'en_GB' });
  const read = () => lowStockEmail.load!(service.db, report!.content);
  const left = [
    { text: 'TEA (TEA)', stock: '1' },
    { text: 'LAMP (LAMP)', stock: '8' },
  ];
  expect(await read()).toEqual({
    products: expect.toSatisfy((products: object[]) => products.length === 2),
    more: 0,
  });
  expect((await read())!.products).toEqual(expect.arrayContaining(left));

  // What was restocked until the email is sent is not worth one.
  await service.db.run(sql`update product set stock = 50 where shop_id = ${own.shopId}`);
  expect(await read()).toBeUndefined();
});

test('an order that is refused leaves no event', async () => {
  const lamp = await givenProduct(shop, { stock: 1 });
  const [one, other] = [await readyCart({ [lamp]: 1 }), await readyCart({ [lamp]: 1 })];
  await done(one, 'POST', '/order');
  before = await lastPosition();
  expect((await on(other, 'POST', '/order')).status).toBe(409);
  expect(await newEvents()).toEqual([]);
});

test('orders that are placed at once have an event each', async () => {
  const lamp = await givenProduct(shop, { stock: 100 });
  const carts = await Promise.all(Array.from({ length: 20 }, () => readyCart({ [lamp]: 1 })));
  const orders = await Promise.all(carts.map((cart) => done(cart, 'POST', '/order')));
  const created = (await newEvents()).filter(([type]) => type === 'ORDER_CREATE').map(([, id]) => id);
  expect(created.toSorted()).toEqual(orders.map(({ orderId }) => orderId as string).toSorted());
});

test('a stock that the merchant lowers is told once, by PATCH and by import', async () => {
  const own = await givenSmallShop(service, { lowStockLevel: 2 });
  const tea = await givenProduct(own, { number: 'TEA', stock: 9 });
  await givenProduct(own, { number: 'LAMP', stock: 9 });
  await givenProduct(own, { number: 'ROPE', stock: 9 });
  service.setClock(new Date());
  const setStock = (level: number) =>
    service.call('PATCH', `/${own.shopId}/products/${tea}`, {
      token: own.token,
      body: [{ op: 'replace', path: '/stocklevel', value: level }],
    });
  const reports = () =>
    service.db.many<{ content: QueuedEmail }>(sql`
      select content from job where shop_id = ${own.shopId} and content ->> 'template' = 'lowStock'`);
  const lows = () =>
    service.db.many<{ data: object }>(sql`
      select data from event where shop_id = ${own.shopId} and type = 'STOCK_LOW' order by position`);
  expect((await setStock(3)).status).toBe(200);
  expect(await reports()).toEqual([]);
  await setStock(2);
  // It stays low.
  await setStock(1);
  expect((await lows()).map(({ data }) => data)).toEqual([{ stocklevel: 2, minStocklevel: 2 }]);
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-low-stock-'));
  const file = path.join(folder, 'stock.csv');
  await writeFile(file, 'Alias;StockLevel\nLAMP;1\nROPE;5\n');
  await importFile(service.db, file, { shopId: own.shopId, visible: true });
  await rm(folder, { recursive: true });
  expect(await lows()).toHaveLength(2);
  const [report, ...others] = await reports();
  service.setClock(undefined);
  expect(others).toEqual([]);
  const read = await lowStockEmail.load!(service.db, report!.content);
  const told = read!;
  expect(told.more).toBe(0);
  expect(told.products).toHaveLength(2);
  expect(told.products).toEqual(
    expect.arrayContaining([
      { text: 'TEA (TEA)', stock: '1' },
      { text: 'LAMP (LAMP)', stock: '1' },
    ]),
  );
});

test('the last use of a coupon, and of a campaign', async () => {
  const lamp = await givenProduct(shop, { stock: 100 });
  const { campaignId } = (
    await service.call('POST', `/${shop.shopId}/coupon-campaigns?locale=en_GB`, {
      token: shop.token,
      body: {
        identifier: 'FEW',
        name: 'Few',
        currency: 'EUR',
        type: { name: 'FIX', amount: 1 },
        usageLimit: 1,
        campaignUsageLimit: 2,
      },
    })
  ).body;
  for (const code of ['FEW-1', 'FEW-2']) {
    await service.call('PUT', `/${shop.shopId}/coupon-campaigns/${campaignId}/coupons`, {
      token: shop.token,
      body: { code },
    });
  }
  const orderWith = async (code: string) => {
    const cart = await readyCart({ [lamp]: 1 });
    await done(cart, 'POST', '/coupon', { code });
    before = await lastPosition();
    await done(cart, 'POST', '/order');
    return (await newEvents()).filter(([type]) => type === 'COUPON_USED_UP');
  };
  expect(await orderWith('FEW-1')).toEqual([
    ['COUPON_USED_UP', campaignId, { campaign: false, coupons: [expect.stringMatching(/^few-1$/i)] }],
  ]);
  expect(await orderWith('FEW-2')).toEqual([
    ['COUPON_USED_UP', campaignId, { campaign: true, coupons: [expect.stringMatching(/^few-2$/i)] }],
  ]);
});

test('who polls by date misses no order that had to wait', async () => {
  const lamp = await givenProduct(shop, { stock: 10 });
  const chair = await givenProduct(shop, { stock: 10 });
  const [slow, fast] = [await readyCart({ [lamp]: 1 }), await readyCart({ [chair]: 1 })];
  const locker = new pg.Client({ ...inject('server'), database: service.database });
  await locker.connect();
  await locker.query('begin');
  await locker.query('select from product where shop_id = $1 and product_id = $2 for update', [
    shop.shopId,
    lamp,
  ]);
  const waiting = done(slow, 'POST', '/order');
  const placed = await done(fast, 'POST', '/order');
  const seen = await service.call('GET', `/${shop.shopId}/orders?resultsPerPage=100`, { token: shop.token });
  expect(seen.body.items.map(({ orderId }: { orderId: string }) => orderId)).toEqual([placed.orderId]);
  await locker.query('rollback');
  await locker.end();
  const late = await waiting;
  expect(late.creationDate > placed.creationDate).toBe(true);
  const next = await service.call('GET', `/${shop.shopId}/orders?createdAfter=${placed.creationDate}`, {
    token: shop.token,
  });
  expect(next.body.items.map(({ orderId }: { orderId: string }) => orderId)).toContain(late.orderId);
});
