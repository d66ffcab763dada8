import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../test/admin.ts';
import { givenOtherShop, startDemo } from '../../test/demo.ts';
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

/** Apps that give the taxes of a cart: rates that the totals compute with, and that an order keeps. */

let service: Service;
let merchant: Merchant;
let app: FakeApp;
let appId: string;
let kettle: string;
let asked: AppQuestion[];
let taxes: Reply;

const CALL = { kind: 'taxes', url: '/taxes', timeoutMs: 800, cacheSeconds: 300, onFailure: 'hide' };

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
  app = await startFakeApp();
  asked = answerCalls(app, (path) => (path === '/taxes' ? taxes : undefined));
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
  taxes = taxing({});
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

const STATE = { name: { en: 'State tax', de: 'Landessteuer' }, rate: 800 };
const CITY = { name: 'City tax', rate: 1150 };

/** Taxes all lines of the question with the first tax, and the delivery with the second. */
const taxing =
  (change: object): Reply =>
  (question, response) => {
    const lines = question.body['lines'] as { lineItemId: string }[];
    const answer = {
      taxes: [STATE, CITY],
      lines: lines.map(({ lineItemId }) => ({ lineItemId, tax: 0 })),
      delivery: 1,
      payment: 0,
      ...change,
    };
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

async function givenCart() {
  const { body, headers } = await service.call('POST', '/DemoShop/carts', {
    token: 'demo-all',
    body: { lineItems: [{ productId: kettle, quantity: 2 }], billingAddress: ADA },
  });
  const token = { 'x-epages-cart-token': String(headers['x-epages-cart-token']) };
  const call = (method: string, at = '', more: { headers?: Record<string, string>; body?: object } = {}) =>
    service.call(method, `/DemoShop/carts/${body.cartId}${at}`, {
      token: 'demo-all',
      ...more,
      headers: { ...token, ...more.headers },
    });
  return { body, call };
}

/** A cart with two kettles of 10.70, delivered for 5.00. */
async function givenPricedCart() {
  const { body, call } = await givenCart();
  const { lineItemId } = body.lineItemContainer.productLineItems[0];
  await call('PUT', `/line-items/${lineItemId}/product-price`, { body: { singleItemPrice: 10.7 } });
  const { id } = body.shippingData.shippingMethod;
  const { body: cart } = await call('PUT', '/shipping-data', { body: { id, priceAmount: 5 } });
  return { cart, call, lineItemId };
}

type Body = Awaited<ReturnType<typeof givenCart>>['body'];
const totalsOf = ({ lineItemContainer }: Body) => ({
  total: lineItemContainer.grandTotal.amount as number,
  tax: lineItemContainer.totalTax.amount as number,
});

interface StoredOrder {
  orderId: string;
  taxes: { rate: number; treatment: string; amount: number; tax: number }[];
  line: { name: Record<string, string>; rate: number };
  delivery: [{ taxClass: { name: Record<string, string>; rate: number }; tax: number }];
  appTaxes: { appIds: string[] } | null;
}

const stored = (orderId: string) =>
  service.db.one<StoredOrder>(sql`
    select upper(order_id::text) as "orderId", content -> 'taxes' as taxes,
      content -> 'lines' -> 0 -> 'taxClass' as line, content -> 'shipping' -> 'taxes' as delivery,
      content -> 'appTaxes' as "appTaxes"
    from customer_order where shop_id = 'DemoShop' and order_id = ${orderId}`);

test('an app gives the rates, and the totals compute the amounts to the cent', async () => {
  const { cart, call, lineItemId } = await givenPricedCart();
  // 21.40 at 8 % hold 1.59, 5.00 at 11.5 % hold 0.52.
  expect(totalsOf(cart)).toEqual({ total: 26.4, tax: 2.11 });
  const { headers, body } = asked.at(-1)!;
  expect(headers['kontor-call']).toBe('taxes');
  expect(body).toMatchObject({
    kind: 'taxes',
    shop: 'DemoShop',
    currency: 'EUR',
    taxType: 'GROSS',
    taxModel: 'GROSS',
    country: 'DE',
    destination: { country: 'DE', zipCode: '20457' },
    isPickup: false,
    vatNumber: null,
    lines: [{ lineItemId, productNumber: 'CB-101', quantity: '2', price: 1070, priceQuantity: 1 }],
  });
  expect(JSON.stringify(body)).not.toMatch(/Lindqvist|Kai 7|ada@mail/);
  const order = await call('POST', '/order');
  expect([order.status, totalsOf(order.body)]).toEqual([201, { total: 26.4, tax: 2.11 }]);
  expect(await stored(order.body.orderId)).toMatchObject({
    taxes: [
      { rate: 800, treatment: 'domestic', amount: 2140, tax: 159 },
      { rate: 1150, treatment: 'domestic', amount: 500, tax: 52 },
    ],
    line: { name: { en_GB: 'State tax', de_DE: 'Landessteuer' }, rate: 800 },
    delivery: [{ taxClass: { name: { en_GB: 'City tax' }, rate: 1150 }, tax: 52 }],
    appTaxes: { appIds: [appId] },
  });
});

test('an order that is changed, its invoice and its credit note use the rates that it was placed with', async () => {
  const { call } = await givenPricedCart();
  const { body: order } = await call('POST', '/order');
  await merchant.post(`/apps/${appId}/uninstall`);
  asked.length = 0;
  const manage = (method: string, at: string, body?: object) =>
    service.call(method, `/manage/shops/DemoShop/orders/${order.orderId}${at}`, {
      token: 'demo-all',
      ...(body && { body }),
    });
  const [line] = order.lineItemContainer.productLineItems;
  expect((await manage('POST', '/edit')).status).toBe(200);
  expect((await manage('PUT', `/line-items/${line.lineItemId}`, { quantity: 3 })).status).toBe(200);
  expect((await manage('DELETE', '/edit')).status).toBe(200);
  const taxesAfter = [
    { rate: 800, treatment: 'domestic', amount: 3210, tax: 238 },
    { rate: 1150, treatment: 'domestic', amount: 500, tax: 52 },
  ];
  expect(await stored(order.orderId)).toMatchObject({
    taxes: taxesAfter,
    line: { rate: 800 },
    delivery: [{ taxClass: { name: { en_GB: 'City tax' } }, tax: 52 }],
  });
  const invoice = await manage('POST', '/invoices', {});
  expect([invoice.status, invoice.body.message]).toEqual([201, undefined]);
  const credited = await manage('POST', '/credit-notes', {
    lines: [{ lineItemId: line.lineItemId, quantity: 1 }],
    shipping: false,
  });
  expect([credited.status, credited.body.message]).toEqual([201, undefined]);
  const documents = await service.db.many<{ taxes: StoredOrder['taxes'] }>(sql`
    select content -> 'taxes' as taxes from order_document
    where shop_id = 'DemoShop' and order_id = ${order.orderId} order by created_at, number`);
  expect(documents.map(({ taxes }) => taxes.map(({ rate, amount, tax }) => [rate, amount, tax]))).toEqual([
    [
      [800, 3210, 238],
      [1150, 500, 52],
    ],
    [[800, 1070, 79]],
  ]);
  await givenCall();
  expect(asked).toEqual([]);
});

const LIES: readonly [string, () => Reply, string][] = [
  ['hangs', () => () => {}, 'The receiver did not answer within 0.8 s'],
  [
    'answers 10 MB',
    () => (_question, response) => void response.end(Buffer.alloc(10_000_000, ' ')),
    'The answer is larger than 64 KB',
  ],
  ['has a negative rate', () => taxing({ taxes: [{ ...STATE, rate: -1 }, CITY] }), '/taxes/0/rate'],
  [
    'has a rate of more than all',
    () => taxing({ taxes: [{ ...STATE, rate: 10_001 }, CITY] }),
    '/taxes/0/rate',
  ],
  ['has a rate with decimals', () => taxing({ taxes: [{ ...STATE, rate: 7.5 }, CITY] }), '/taxes/0/rate'],
  ['names a tax that is not there', () => taxing({ delivery: 2 }), '/delivery: there is no such tax'],
  [
    'taxes a line that is not there',
    () => taxing({ lines: [{ lineItemId: '01890A5D-AC96-774B-BCCE-B302099A8057', tax: 0 }] }),
    '/lines/0: it was not asked about this line',
  ],
  ['leaves out the delivery', () => taxing({ delivery: undefined }), 'The answer is not valid'],
];

test.each(LIES)(
  'an app that %s leaves the taxes of the shop, and the log says why',
  async (_what, reply, problem) => {
    taxes = reply();
    const { cart, call } = await givenPricedCart();
    // 21.40 at 7 % hold 1.40, 5.00 at 19 % hold 0.80.
    expect(totalsOf(cart)).toEqual({ total: 26.4, tax: 2.2 });
    await service.app.appCalls.writeLog();
    const [entry] = await service.db.many<{ kind: string; problem: string }>(sql`
    select kind, problem from app_call_log where shop_id = 'DemoShop' and app_id = ${appId} order by entry_id`);
    expect(entry).toMatchObject({ kind: 'taxes', problem: expect.stringContaining(problem) as string });
    const order = await call('POST', '/order');
    expect([order.status, totalsOf(order.body)]).toEqual([201, { total: 26.4, tax: 2.2 }]);
    expect(await stored(order.body.orderId)).toMatchObject({ appTaxes: null });
  },
);

const countOrders = () => service.db.one(sql`select count(*) from customer_order where shop_id = 'DemoShop'`);

test('where the app must answer, nothing is ordered without it', async () => {
  await reinstalled({ onFailure: 'refuse', cacheSeconds: 0 });
  const { call } = await givenPricedCart();
  taxes = (_question, response) => void response.writeHead(503).end();
  const orders = await countOrders();
  const refused = await call('POST', '/order');
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringContaining('Labels does not answer'),
  ]);
  expect(await countOrders()).toEqual(orders);
  taxes = taxing({});
  await call('GET');
  expect((await call('POST', '/order')).status).toBe(201);
});

test('a tax that changes before the order is shown before it is ordered', async () => {
  await reinstalled({ cacheSeconds: 0 });
  const { call } = await givenPricedCart();
  taxes = taxing({ taxes: [{ ...STATE, rate: 0 }, CITY] });
  const orders = await countOrders();
  const refused = await call('POST', '/order');
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringContaining('A tax that an app gives for this cart has changed'),
  ]);
  expect(await countOrders()).toEqual(orders);
  const { headers, body } = await call('GET');
  expect(totalsOf(body)).toEqual({ total: 26.4, tax: 0.52 });
  taxes = taxing({});
  const ifMatch = { headers: { 'if-match': String(headers['etag']) } };
  expect((await call('POST', '/order', ifMatch)).status).toBe(412);
  const order = await call('POST', '/order');
  expect([order.status, totalsOf(order.body)]).toEqual([201, { total: 26.4, tax: 2.11 }]);
});

test('an app is asked when it is known where the goods go, and again when they go elsewhere', async () => {
  const { body } = await service.call('POST', '/DemoShop/carts', {
    token: 'demo-all',
    body: { lineItems: [{ productId: kettle, quantity: 2 }] },
  });
  expect([typeof body.cartId, asked]).toEqual(['string', []]);
  const { call } = await givenCart();
  expect(asked).toHaveLength(1);
  await call('GET');
  expect(asked).toHaveLength(1);
  await call('PUT', '/billing-address', { body: { ...ADA, zipCode: '80331' } });
  expect(asked.map((question) => question.body['destination'])).toEqual([
    { country: 'DE', zipCode: '20457' },
    { country: 'DE', zipCode: '80331' },
  ]);
});

test('the taxes of an app end with it, and another shop never asks it', async () => {
  const product = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'OtherShop' and visible and prices is not null limit 1`);
  expect(product).toBeDefined();
  const other = await service.call('POST', '/OtherShop/carts', {
    body: { lineItems: [{ productId: product!.id, quantity: 1 }], billingAddress: ADA },
  });
  expect([other.status, asked]).toEqual([201, []]);
  const { call } = await givenPricedCart();
  await merchant.post(`/apps/${appId}/uninstall`);
  expect(totalsOf((await call('GET')).body)).toEqual({ total: 26.4, tax: 2.2 });
  const order = await call('POST', '/order');
  expect(order.status).toBe(201);
  expect(await stored(order.body.orderId)).toMatchObject({ appTaxes: null });
  await givenCall();
});

test('a customer in the storefront sees the taxes, and confirms those that have changed', async () => {
  await reinstalled({ cacheSeconds: 0 });
  const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
  await visitor.submit('/cart/add', { productId: kettle, quantity: '2' });
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
  expect(mainOf(review)).toContain('8%');
  const reviewedOf = ({ text }: { text: string }) => /name="reviewed" value="([^"]*)"/.exec(text)![1]!;
  taxes = taxing({ taxes: [{ ...STATE, rate: 900 }, CITY] });
  const changed = await visitor.post('/checkout/order', { reviewed: reviewedOf(review) });
  expect([changed.status, mainOf(changed).includes('9%')]).toEqual([409, true]);
  const done = await visitor.submit('/checkout/order', { reviewed: reviewedOf(changed) });
  expect(done.status).toBe(200);
  const [order] = await service.db.many<{ rate: number }>(sql`
    select (content -> 'lines' -> 0 -> 'taxClass' ->> 'rate')::int as rate from customer_order
    where shop_id = 'DemoShop' order by created_at desc limit 1`);
  expect(order).toEqual({ rate: 900 });
});
