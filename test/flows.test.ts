import { Session, type Profiler } from 'node:inspector/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { givenMerchant, type Merchant } from './admin.ts';
import { givenCart, givenFullCart, on, statementsOf, type Shop } from './carts.ts';
import { startDemo } from './demo.ts';
import type { Service } from './service.ts';

/*
 * How far the most frequent flows reach: the statements that each sends, and the files of the source in which it runs a
 * function with a name. A change that makes one of them longer has to say so here.
 */

let service: Service;
let shop: Shop;
let merchant: Merchant;
const profiler = new Session();
const counted: [flow: string, statements: number, files: number][] = [];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  const rows = await service.db.many<{ number: string; id: string }>(sql`
    select product_number as number, upper(product_id::text) as id from product where shop_id = 'DemoShop'`);
  const ids = Object.fromEntries(rows.map(({ number, id }) => [number, id]));
  shop = { service, shopId: 'DemoShop', token: 'demo-all', ids };
  merchant = await givenMerchant(service);
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(async () => {
  profiler.disconnect();
  const lines = counted.map((line) => `| ${line.join(' | ')} |`);
  console.log(['| flow | statements | files |', '| --- | --- | --- |', ...lines].join('\n'));
  await service.close();
});

const isRun = ({ functionName, ranges }: Profiler.FunctionCoverage) =>
  functionName !== '' && ranges.some(({ count }) => count > 0);

/** The files of the program, from its source or compiled, of which tests are no part. */
const PROGRAM = new RegExp(`^file://${path.join(import.meta.dirname, '..')}/(?:src|compiled)/.*\\.[jt]s$`);

/** What was run since the last call. */
async function filesRun(): Promise<string[]> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url, functions }) => PROGRAM.test(url) && functions.some(isRun))
    .map(({ url }) => url);
}

/** Does it once before it counts, because the first time fills the caches. */
async function count(
  flow: string,
  work: () => Promise<{ status: number }>,
): Promise<{ statements: number; files: number }> {
  const times: number[] = [];
  for (const _ of [1, 2]) times.push((await work()).status);
  await filesRun();
  const statements = await statementsOf(async () => void times.push((await work()).status));
  const files = await filesRun();
  expect(times.every((status) => status < 400)).toBe(true);
  counted.push([flow, statements.length, files.length]);
  expect(files.length).toBeGreaterThan(0);
  return { statements: statements.length, files: files.length };
}

/** Some files more or less run by the way: a timer, a cache that is filled again. */
const about = (files: number) => expect.toSatisfy((counted: number) => counted <= files + 5);

test('a line item', async () => {
  const cart = await givenCart(shop, { 'AP-100': 1 });
  const body = { productId: shop.ids['TE-100'], quantity: 1 };
  expect(await count('add a line item', () => on(cart, 'POST', '/line-items', body))).toEqual({
    statements: 1,
    files: about(60),
  });
});

test('an order', async () => {
  const carts = await Promise.all([1, 2, 3].map(() => givenFullCart(shop, { 'AP-100': 1, 'TE-100': 1 })));
  expect(await count('place an order', () => on(carts.pop()!, 'POST', '/order'))).toEqual({
    statements: 18,
    files: about(83),
  });
});

test('a product and its page', async () => {
  const path = `/DemoShop/products/${shop.ids['AP-100']}`;
  const read = () => service.call('GET', path, { token: shop.token });
  expect(await count('read a product', read)).toEqual({ statements: 1, files: about(31) });
  const page = async () => {
    const { statusCode: status } = await service.app.inject({
      url: '/Products/AP-100',
      // A host without a port, which is known also where nothing listens: pages of unknown hosts are not cached.
      headers: { host: 'demoshop.localhost' },
    });
    return { status };
  };
  expect(await count('show its page', page)).toEqual({ statements: 1, files: about(33) });
});

test('an order in the admin', async () => {
  const order = await service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order where shop_id = 'DemoShop' and order_number like '%/1013'`);
  const path = `/orders/${order!.id}`;
  expect(await count('open an order', () => merchant.get(path))).toEqual({ statements: 8, files: about(91) });
});

test('a shipment', async () => {
  const carts = await Promise.all([1, 2, 3].map(() => givenFullCart(shop, { 'AP-100': 1 })));
  const forms: [path: string, fields: Record<string, string>][] = [];
  for (const cart of carts) {
    const { body } = await on(cart, 'POST', '/order');
    const path = `/orders/${body.orderId}/ship`;
    const { text } = await merchant.get(path);
    const inputs = [...text.matchAll(/name="(version|quantity[^"]*)"[^>]*?\svalue="([^"]*)"/g)];
    forms.push([path, Object.fromEntries(inputs.map(([, name, value]) => [name!, value!]))]);
  }
  const ship = () => {
    const [path, fields] = forms.pop()!;
    return merchant.post(path, { ...fields, unpaid: 'yes' });
  };
  expect(await count('ship it', ship)).toEqual({ statements: 14, files: about(82) });
});
