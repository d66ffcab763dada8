import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../test/demo.ts';
import {
  answerCalls,
  answerWith,
  givenInstalledApp,
  LABELS,
  startFakeApp,
  type AppQuestion,
  type FakeApp,
  type Reply,
} from '../../test/fake-app.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import type { Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';

/** Apps that price the lines of a cart: in the totals, in the order, and when they fail or change their mind. */

let service: Service;
let merchant: Merchant;
let app: FakeApp;
let appId: string;
let kettle: string;
let asked: AppQuestion[];
let prices: Reply;

const CALL = { kind: 'linePrices', url: '/prices', timeoutMs: 800, cacheSeconds: 300, onFailure: 'hide' };

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
  app = await startFakeApp();
  asked = answerCalls(app, (path) => (path === '/prices' ? prices : undefined));
  kettle = (await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'CB-101'`))!
    .id;
});
afterAll(async () => {
  await app.close();
  await service.close();
});
beforeEach(async () => {
  if (appId) await merchant.post(`/apps/${appId}/uninstall`);
  await givenCall();
  asked.length = 0;
  prices = pricing(1999);
});

/** Installs the app, after the last one is gone: its circuits begin anew. */
async function givenCall(change: object = {}): Promise<void> {
  app.manifest = { ...LABELS, scopes: ['carts_read'], webhooks: [], calls: [{ ...CALL, ...change }] };
  appId = await givenInstalledApp(merchant, app);
}

async function reinstalled(change: object): Promise<void> {
  await merchant.post(`/apps/${appId}/uninstall`);
  await givenCall(change);
}

/** Prices all lines of the question alike. */
const pricing =
  (price: unknown, currency = 'EUR'): Reply =>
  (question, response) => {
    const lines = question.body['lines'] as { lineItemId: string }[];
    const answer = { currency, prices: lines.map(({ lineItemId }) => ({ lineItemId, price })) };
    answerWith(app, question, response, JSON.stringify(answer));
  };

const ADA = {
  firstName: 'Ada',
  lastName: 'Lindqvist',
  street: 'Kai 7',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'DE',
  emailAddress: 'ada@mail.example',
};

async function givenCart(shopId = 'DemoShop', productId = kettle) {
  const { body, headers, status } = await service.call('POST', `/${shopId}/carts`, {
    ...(shopId === 'DemoShop' && { token: 'demo-all' }),
    body: { lineItems: [{ productId, quantity: 2 }], billingAddress: ADA },
  });
  expect(status).toBe(201);
  const token = { 'x-epages-cart-token': String(headers['x-epages-cart-token']) };
  const call = (method: string, at = '', more: { headers?: Record<string, string>; body?: object } = {}) =>
    service.call(method, `/${shopId}/carts/${body.cartId}${at}`, {
      ...(shopId === 'DemoShop' && { token: 'demo-all' }),
      ...more,
      headers: { ...token, ...more.headers },
    });
  return { body, call };
}

type Body = Awaited<ReturnType<typeof givenCart>>['body'];
const shownPrices = ({ lineItemContainer }: Body) =>
  (lineItemContainer.productLineItems as { lineItemPrice: { amount: number } }[]).map(
    ({ lineItemPrice }) => lineItemPrice.amount,
  );

const stored = (orderNumber: string) =>
  service.db.one<{ app: string | null; price: string; total: string }>(sql`
    select content -> 'lines' -> 0 ->> 'priceAppId' as app, content -> 'lines' -> 0 ->> 'unitPrice' as price,
      content ->> 'subTotal' as total
    from customer_order where shop_id = 'DemoShop' and order_number = ${orderNumber}`);

const ordersOf = () => service.db.one(sql`select count(*) from customer_order where shop_id = 'DemoShop'`);

test('an app prices a line, which the cart, the order and its line show', async () => {
  const { body, call } = await givenCart();
  expect(shownPrices(body)).toEqual([39.98]);
  const [{ headers, body: question }] = asked as [AppQuestion];
  expect(headers['kontor-call']).toBe('linePrices');
  expect(question).toEqual({
    kind: 'linePrices',
    shop: 'DemoShop',
    currency: 'EUR',
    taxModel: 'GROSS',
    customerId: null,
    customerGroupId: null,
    lines: [
      {
        lineItemId: body.lineItemContainer.productLineItems[0].lineItemId,
        productId: kettle,
        productNumber: 'CB-101',
        quantity: '2',
        price: expect.any(Number) as number,
        priceQuantity: 1,
        customText: null,
      },
    ],
  });
  const order = await call('POST', '/order');
  expect([order.status, shownPrices(order.body)]).toEqual([201, [39.98]]);
  expect(await stored(order.body.orderNumber)).toEqual({ app: appId, price: '1999', total: '3998' });
});

test('the cart keeps the prices until its lines change, or they are older than the app has said', async () => {
  const { body, call } = await givenCart();
  await call('GET');
  await call('PUT', '/billing-address', { body: { ...ADA, street: 'Kai 8' } });
  await call('GET');
  expect(asked).toHaveLength(1);
  const { lineItemId } = body.lineItemContainer.productLineItems[0];
  const changed = await call('PUT', `/line-items/${lineItemId}`, { body: { quantity: 3 } });
  expect([asked.length, shownPrices(changed.body)]).toEqual([2, [59.97]]);
  service.setClock(new Date(Date.now() + 301_000));
  const at = () => Date.now() + 301_000;
  prices = (question, response) => {
    const answer = { currency: 'EUR', prices: [{ lineItemId, price: 1000 }] };
    answerWith(app, question, response, JSON.stringify(answer), { at: at() });
  };
  expect(shownPrices((await call('GET')).body)).toEqual([30]);
  expect(shownPrices((await call('GET')).body)).toEqual([30]);
  expect(asked).toHaveLength(3);
  service.setClock(undefined);
});

test('a line that the app leaves out has the price of the shop, and one with a price set by hand is not asked about', async () => {
  prices = { currency: 'EUR', prices: [] };
  const { body, call } = await givenCart();
  const own = shownPrices(body);
  expect(own).not.toEqual([39.98]);
  const { lineItemId } = body.lineItemContainer.productLineItems[0];
  prices = pricing(1999);
  asked.length = 0;
  const byHand = await call('PUT', `/line-items/${lineItemId}/product-price`, {
    body: { singleItemPrice: 5 },
  });
  expect([byHand.status, shownPrices(byHand.body), asked]).toEqual([200, [10], []]);
  const order = await call('POST', '/order');
  expect(order.status).toBe(201);
  expect(await stored(order.body.orderNumber)).toMatchObject({ app: null, price: '500' });
});

test('a price of nothing is a price', async () => {
  prices = pricing(0);
  expect(shownPrices((await givenCart()).body)).toEqual([0]);
});

const LIES: readonly [string, () => Reply, string][] = [
  ['hangs', () => () => {}, 'The receiver did not answer within 0.8 s'],
  [
    'answers 10 MB',
    () => (_question, response) => void response.end(Buffer.alloc(10_000_000, ' ')),
    'The answer is larger than 64 KB',
  ],
  ['has a negative price', () => pricing(-1), 'The answer is not valid: /prices/0/price'],
  ['has a price with decimals', () => pricing(19.99), 'The answer is not valid: /prices/0/price'],
  ['has a price beyond all bounds', () => pricing(1e12), 'The answer is not valid: /prices/0/price'],
  ['is in another currency', () => pricing(1999, 'CHF'), '/currency: the cart is in EUR'],
  [
    'prices a line that is not there',
    () => ({ currency: 'EUR', prices: [{ lineItemId: '01890A5D-AC96-774B-BCCE-B302099A8057', price: 1 }] }),
    '/prices/0: it was not asked about this line',
  ],
  ['says nothing', () => ({}), 'The answer is not valid'],
];

test.each(LIES)(
  'an app that %s leaves the prices of the shop, and the log says why',
  async (_what, reply, problem) => {
    prices = { currency: 'EUR', prices: [] };
    const own = shownPrices((await givenCart()).body);
    prices = reply();
    const { body, call } = await givenCart();
    expect(shownPrices(body)).toEqual(own);
    await service.app.appCalls.writeLog();
    const [entry] = await service.db.many<{ kind: string; problem: string }>(sql`
    select kind, problem from app_call_log where shop_id = 'DemoShop' and app_id = ${appId} order by entry_id`);
    expect(entry).toMatchObject({ kind: 'linePrices', problem: expect.stringContaining(problem) as string });
    const order = await call('POST', '/order');
    expect([order.status, shownPrices(order.body)]).toEqual([201, own]);
  },
);

test('where the app must answer, nothing is ordered without it, and nothing changes', async () => {
  await reinstalled({ onFailure: 'refuse', cacheSeconds: 0 });
  const { call } = await givenCart();
  prices = (_question, response) => void response.writeHead(503).end();
  const orders = await ordersOf();
  const refused = await call('POST', '/order');
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringContaining('Labels does not answer'),
  ]);
  expect(await ordersOf()).toEqual(orders);
  expect((await call('GET')).status).toBe(200);
  const before = await fingerprint(service);
  expect((await call('POST', '/order')).status).toBe(409);
  expect(await fingerprint(service)).toEqual(before);
  prices = pricing(1999);
  expect(shownPrices((await call('GET')).body)).toEqual([39.98]);
  expect((await call('POST', '/order')).status).toBe(201);
});

test('a price that changes before the order is shown before it is ordered', async () => {
  await reinstalled({ cacheSeconds: 0 });
  const { call } = await givenCart();
  prices = pricing(2100);
  const orders = await ordersOf();
  const refused = await call('POST', '/order');
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringContaining('The price that an app gives for an item has changed'),
  ]);
  expect(await ordersOf()).toEqual(orders);
  expect(shownPrices((await call('GET')).body)).toEqual([42]);
  const order = await call('POST', '/order');
  expect([order.status, shownPrices(order.body)]).toEqual([201, [42]]);
});

test('with If-Match exactly the prices that were shown are ordered', async () => {
  await reinstalled({ cacheSeconds: 0 });
  const { call } = await givenCart();
  const { headers } = await call('GET');
  const ifMatch = { headers: { 'if-match': String(headers['etag']) } };
  prices = pricing(2100);
  expect((await call('POST', '/order', ifMatch)).status).toBe(412);
  const again = await call('GET');
  const order = await call('POST', '/order', { headers: { 'if-match': String(again.headers['etag']) } });
  expect([order.status, shownPrices(order.body)]).toEqual([201, [42]]);
});

test('with an Idempotency-Key the app is asked before the transaction', async () => {
  await reinstalled({ cacheSeconds: 0 });
  const { call } = await givenCart();
  prices = pricing(2100);
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
  expect((await call('POST', '/order', keyed('prices-1'))).status).toBe(409);
  const order = await call('POST', '/order', keyed('prices-2'));
  expect([order.status, shownPrices(order.body)]).toEqual([201, [42]]);
  expect((await call('POST', '/order', keyed('prices-2'))).body.orderId).toBe(order.body.orderId);
});

test('an app prices nothing in another shop, and nothing after it is uninstalled', async () => {
  const other = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'OtherShop' and visible and prices is not null limit 1`);
  if (other) await givenCart('OtherShop', other.id);
  expect(asked).toEqual([]);
  const { call } = await givenCart();
  expect(shownPrices((await call('GET')).body)).toEqual([39.98]);
  await merchant.post(`/apps/${appId}/uninstall`);
  expect(shownPrices((await call('GET')).body)).not.toEqual([39.98]);
  const order = await call('POST', '/order');
  expect(order.status).toBe(201);
  expect(await stored(order.body.orderNumber)).toMatchObject({ app: null });
  await givenCall();
});

test('a customer in the storefront sees the price, and confirms one that has changed', async () => {
  await reinstalled({ cacheSeconds: 0 });
  const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
  const cart = await visitor.submit('/cart/add', { productId: kettle, quantity: '2' });
  expect(mainOf(cart)).toContain('€39.98');
  await visitor.submit(
    '/checkout',
    Object.fromEntries(Object.entries(ADA).map(([key, value]) => [`billing.${key}`, value])),
  );
  const page = await visitor.get('/checkout/delivery');
  const [, shippingMethod] = /name="shippingMethod"\s+value="([^"]+)"/.exec(page.text)!;
  const [, paymentMethod] = /name="paymentMethod"\s+value="([^"]+)"/.exec(page.text)!;
  const review = await visitor.submit('/checkout/delivery', {
    shippingMethod: shippingMethod!,
    paymentMethod: paymentMethod!,
  });
  expect(mainOf(review)).toContain('€39.98');
  const reviewedOf = ({ text }: { text: string }) => /name="reviewed" value="([^"]*)"/.exec(text)![1]!;
  prices = pricing(2100);
  const changed = await visitor.post('/checkout/order', { reviewed: reviewedOf(review) });
  expect([changed.status, mainOf(changed).includes('€42.00')]).toEqual([409, true]);
  expect(mainOf(changed)).toContain('Something has changed in the meantime.');
  const done = await visitor.submit('/checkout/order', { reviewed: reviewedOf(changed) });
  expect(done.status).toBe(200);
  const [order] = await service.db.many<{ app: string; total: string }>(sql`
    select content -> 'lines' -> 0 ->> 'priceAppId' as app, content ->> 'subTotal' as total from customer_order
    where shop_id = 'DemoShop' order by created_at desc limit 1`);
  expect(order).toEqual({ app: appId, total: '4200' });
});
