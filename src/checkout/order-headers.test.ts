import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  changeSettings,
  done,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  on,
  operationsOn,
  queuedEmails,
  refusal,
  statementsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { givenToken } from '../../test/builders.ts';
import { startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';

let service: Service;
let demo: Shop;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  service.setClock(NOW);
  // A shop is gone with everything it has, so each test begins with full shelves and the first number.
  await service.db.run(sql`delete from shop`);
  await service.db.run(sql`delete from job`);
  demo = await givenDemoShop(service);
});
afterAll(() => service.close());

const order = (cart: GivenCart) => on(cart, 'POST', '/order');
const placed = (cart: GivenCart) => done(cart, 'POST', '/order');
const productRow = (productId: string) =>
  service.db.one<{ stock: number | null; version: number; stockChangedAt: Date | null }>(sql`
    select stock::float8 as stock, version, stock_changed_at as "stockChangedAt" from product
    where product_id = ${productId}`);
const counters = async (shopId: string) =>
  Object.fromEntries(
    (
      await service.db.many<{ name: string; value: number }>(sql`
        select name, value from counter where shop_id = ${shopId} and name in ('order', 'customer')`)
    ).map(({ name, value }) => [name, value]),
  );

describe('If-Match', () => {
  const order = (cart: GivenCart, ifMatch: string, headers: Record<string, string> = {}) =>
    on(cart, 'POST', '/order', undefined, { headers: { 'if-match': ifMatch, ...headers } });
  const etagOf = async (cart: GivenCart) => String((await on(cart, 'GET')).headers['etag']);
  const CHANGED: [number, string] = [412, 'It has changed: its ETag is none of those in the If-Match header'];
  const full = () => givenFullCart(demo, { 'TE-100': 1 });

  test('every answer that shows the cart carries the ETag that its GET has then', async () => {
    const cart = await full();
    const calls = (await operationsOn(cart)).filter(([, path]) => path !== '/order');
    const seen = new Set<string>();
    for (const [method, path, body] of calls) {
      const answer = await on(cart, method, path, body);
      // What a former call has taken away is not found any more.
      if (answer.status === 404) continue;
      const etag = await etagOf(cart);
      expect([method, path, answer.status < 300, answer.headers['etag']]).toEqual([method, path, true, etag]);
      expect(etag).toMatch(/^"[^"]{28}"$/);
      seen.add(etag);
    }
    // Some of the changes take others back.
    expect(seen.size).toBe(7);
    const made = await service.call('POST', '/DemoShop/carts', {
      body: { lineItems: [{ productId: demo.ids['TE-100'], quantity: 1 }] },
    });
    const cartToken = String(made.headers['x-epages-cart-token']);
    const read = await service.call('GET', `/DemoShop/carts/${made.body.cartId}`, { cartToken });
    expect([read.status, read.headers['etag']]).toEqual([200, made.headers['etag']]);
  });

  test.each([
    ['the tag', (etag: string) => etag],
    ['a list that names it', (etag: string) => `"a, b", W/"c" ,${etag}`],
    ['a star', () => '*'],
    ['a star with blanks', () => ' * '],
  ])('%s orders the cart', async (_what, headerOf) => {
    const cart = await full();
    expect((await order(cart, headerOf(await etagOf(cart)))).status).toBe(201);
  });

  test.each([
    ['another tag', () => '"another"'],
    ['a weak one', (etag: string) => `W/${etag}`],
    ['a list without it', (etag: string) => `"a", W/${etag}, "b"`],
    ['a tag without its quotes', (etag: string) => etag.replaceAll('"', '')],
    ['a tag that contains it', (etag: string) => `"x${etag.slice(1)}`],
    ['a star among others', () => '"a", *'],
    ['nothing', () => ''],
  ])('%s is answered with 412, and nothing is ordered', async (_what, headerOf) => {
    const cart = await full();
    const header = headerOf(await etagOf(cart));
    expect(await refusal(service, () => order(cart, header))).toEqual(CHANGED);
    expect((await on(cart, 'POST', '/order')).status).toBe(201);
  });

  test.each(['gzip', 'br'])('the tag of an answer in %s is strong, and orders the cart', async (encoding) => {
    const cart = await full();
    const { headers } = await service.app.inject({
      url: `/rs/shops/DemoShop/carts/${cart.id}`,
      headers: { 'x-epages-cart-token': cart.token, 'accept-encoding': encoding },
    });
    const etag = String(headers.etag);
    expect(etag).toBe((await etagOf(cart)).replace(/"$/, `-${encoding}"`));
    const known = await on(cart, 'GET', '', undefined, { headers: { 'if-none-match': etag } });
    expect(known.status).toBe(304);
    expect((await order(cart, etag)).status).toBe(201);
  });

  test('the cart, a price or a setting that has changed since is answered with 412', async () => {
    const shop = await givenSmallShop(service);
    const token = await givenToken(service, shop.shopId);
    const productId = await givenProduct(shop);
    const cart = await givenFullCart(shop, { [productId]: 1 });
    const [{ lineItemId }] = cart.body.lineItemContainer.productLineItems;
    const changes: (() => Promise<unknown>)[] = [
      () => done(cart, 'PUT', `/line-items/${lineItemId}`, { quantity: 2 }),
      () => done(cart, 'PUT', '/shipping-address', { ...ADA, city: 'Bremen' }),
      () =>
        service.call('PATCH', `/${shop.shopId}/products/${productId}`, {
          token,
          body: [{ op: 'add', path: '/priceInfo/price/amount', value: 12.5 }],
        }),
      () => changeSettings(shop, { minimumCart: { code: 'SumProduct', amount: 1 } }),
    ];
    for (const change of changes) {
      const etag = await etagOf(cart);
      await change();
      expect(await refusal(service, () => order(cart, etag))).toEqual(CHANGED);
    }
    const placed = await order(cart, await etagOf(cart));
    expect([placed.status, placed.body.grandTotal]).toEqual([201, '25']);
  });

  test('other refusals come first, and a replay answers what was answered', async () => {
    const cart = await full();
    await done(cart, 'DELETE', '/billing-address');
    expect((await order(cart, '"another"')).status).toBe(400);
    await done(cart, 'PUT', '/billing-address', ADA);
    const stranger = { headers: { 'if-match': '"another"', 'x-epages-cart-token': 'wrong' } };
    expect((await on(cart, 'POST', '/order', undefined, stranger)).status).toBe(403);
    const key = { 'idempotency-key': 'order-if-match' };
    expect((await order(cart, '"another"', key)).status).toBe(412);
    const etag = await etagOf(cart);
    const first = await order(cart, etag, key);
    const again = await order(cart, etag, key);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await order(cart, etag)).status).toBe(410);
  });
});

describe('an Idempotency-Key', () => {
  const keyed = (cart: GivenCart) =>
    on(cart, 'POST', '/order', undefined, { headers: { 'idempotency-key': 'order-1' } });

  test('places one order, and answers with it again', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 });
    const first = await keyed(cart);
    const second = await keyed(cart);
    expect(first.status).toBe(201);
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await counters('DemoShop')).toEqual({ order: 1001, customer: 1016 });
    expect((await productRow(demo.ids['KN-101']!))!.stock).toBe(13);
    expect(await queuedEmails(service)).toHaveLength(1);
    // Without the key it is a second order.
    expect((await order(cart)).status).toBe(410);
  });

  test('places one order of many calls at once', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 });
    const answers = await Promise.all(Array.from({ length: 5 }, () => keyed(cart)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect(await queuedEmails(service)).toHaveLength(1);
  });
});

test('an order with an Idempotency-Key is a transaction with its answer', async () => {
  // What the apps of the shop are asked is known afterwards.
  await placed(await givenFullCart(demo, { 'TE-100': 1 }));
  const cart = await givenFullCart(demo, { 'TE-100': 1 });
  const statements = await statementsOf(() =>
    on(cart, 'POST', '/order', undefined, { headers: { 'idempotency-key': 'once' } }),
  );
  // The cart is read before: the register of VAT numbers is asked outside of transactions.
  expect(statements[0]).toContain('from cart');
  expect(statements[1]).toContain('begin');
  expect(statements.at(-1)).toBe('commit');
  expect(statements.filter((text) => text === 'commit')).toHaveLength(1);
});
