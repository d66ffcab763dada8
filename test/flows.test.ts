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
 *
 * Most of these files belong to no flow. Two other requests of the same kind, about nothing that a flow is about, run them
 * as well, or they are the kit that every page and operation is made with: money, statements, errors, forms. The rest is
 * what a reader of the flow has to know, and its own number in the table. A cached page of the shop has none.
 *
 * A page of the admin asks who calls with two statements, which it does not cache, so that a removed user is out at once.
 * They have their own number, because the callers of the API are cached and not counted.
 */

let service: Service;
let shop: Shop;
let merchant: Merchant;
const profiler = new Session();
interface Counts {
  statements: number;
  /** Those of them that tell who calls. */
  callers: number;
  files: number;
  own: number | null;
}
const counted: [flow: string, ...counts: (number | null)[]][] = [];
/** The files that every request of the kind runs. */
const shared: Record<'api' | 'admin', ReadonlySet<string>> = { api: new Set(), admin: new Set() };

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
  const read = (path: string) => service.call('GET', `/DemoShop${path}`, { token: shop.token });
  shared.api = await filesOfBoth(
    () => read('/currencies'),
    () => read('/legal'),
  );
  shared.admin = await filesOfBoth(
    () => merchant.get('/categories'),
    () => merchant.get('/settings/history'),
  );
});
afterAll(async () => {
  profiler.disconnect();
  const lines = counted.map((line) => `| ${line.join(' | ')} |`);
  const head = ['| flow | statements | of them callers | files | own |', '| --- | --- | --- | --- | --- |'];
  console.log([...head, ...lines].join('\n'));
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

/** What pages and operations are made with. */
const KIT =
  /\/(?:src|compiled)\/(?:(?:kernel|db|http|platform|composition|admin\/(?:components|layout))\/|(?:admin\/)?[^/]+$)/;

const LOOKS_UP_USER = /from admin_session join admin_user\b|from shop_user join shop\b/;

/** What two requests run, each for the second time. */
async function filesOfBoth(...requests: (() => Promise<{ status: number }>)[]): Promise<ReadonlySet<string>> {
  const runs: string[][] = [];
  for (const request of requests) {
    await request();
    await filesRun();
    expect((await request()).status).toBe(200);
    runs.push(await filesRun());
  }
  return new Set(runs[0]!.filter((file) => runs.every((files) => files.includes(file))));
}

/** Does it once before it counts, because the first time fills the caches. */
async function count(
  flow: string,
  work: () => Promise<{ status: number }>,
  kind: keyof typeof shared | null = 'api',
): Promise<Counts> {
  const times: number[] = [];
  for (const _ of [1, 2]) times.push((await work()).status);
  await filesRun();
  const statements = await statementsOf(async () => void times.push((await work()).status));
  const files = await filesRun();
  expect(times.every((status) => status < 400)).toBe(true);
  expect(files.length).toBeGreaterThan(0);
  const counts: Counts = {
    statements: statements.length,
    callers: statements.filter((text) => LOOKS_UP_USER.test(text)).length,
    files: files.length,
    own: kind && files.filter((file) => !shared[kind].has(file) && !KIT.test(file)).length,
  };
  counted.push([flow, ...Object.values(counts)]);
  return counts;
}

/** Some files more or less run by the way: a timer, a cache that is filled again. */
const about = (files: number) => expect.toSatisfy((counted: number) => counted <= files + 5);

test('a line item', async () => {
  const cart = await givenCart(shop, { 'AP-100': 1 });
  const body = { productId: shop.ids['TE-100'], quantity: 1 };
  expect(await count('add a line item', () => on(cart, 'POST', '/line-items', body))).toEqual({
    statements: 1,
    callers: 0,
    files: about(76),
    own: about(38),
  });
});

test('an order', async () => {
  const carts = await Promise.all([1, 2, 3].map(() => givenFullCart(shop, { 'AP-100': 1, 'TE-100': 1 })));
  expect(await count('place an order', () => on(carts.pop()!, 'POST', '/order'))).toEqual({
    statements: 19,
    callers: 0,
    files: about(103),
    own: about(61),
  });
});

test('a product and its page', async () => {
  const path = `/DemoShop/products/${shop.ids['AP-100']}`;
  const read = () => service.call('GET', path, { token: shop.token });
  expect(await count('read a product', read)).toEqual({
    statements: 1,
    callers: 0,
    files: about(35),
    own: about(4),
  });
  const page = async () => {
    const { statusCode: status } = await service.app.inject({
      url: '/Products/AP-100',
      // A host without a port, which is known also where nothing listens: pages of unknown hosts are not cached.
      headers: { host: 'demoshop.localhost' },
    });
    return { status };
  };
  expect(await count('show its page', page, null)).toEqual({
    statements: 1,
    callers: 0,
    files: about(40),
    own: null,
  });
});

test('an order in the admin', async () => {
  const order = await service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order where shop_id = 'DemoShop' and order_number like '%/1013'`);
  const path = `/orders/${order!.id}`;
  expect(await count('open an order', () => merchant.get(path), 'admin')).toEqual({
    statements: 12,
    callers: 2,
    files: about(104),
    own: about(45),
  });
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
  expect(await count('ship it', ship, 'admin')).toEqual({
    statements: 14,
    callers: 2,
    files: about(85),
    own: about(28),
  });
});
