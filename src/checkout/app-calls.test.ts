import { createHmac } from 'node:crypto';
import { Registry } from 'prom-client';
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
import { createAppCalls } from '../apps/calls/calls.ts';
import { receiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { installationKey } from '../platform/sealing.ts';
import { findSettings } from '../shops/settings/settings.ts';

/** Apps that are asked while a customer waits: what they offer, what they refuse, and what happens when they fail. */

let service: Service;
let merchant: Merchant;
let app: FakeApp;
let appId: string;
let other: Awaited<ReturnType<typeof givenOtherShop>>;
let kettle: string;

const EXPRESS = {
  id: 'express',
  name: { en: 'Courier', de: 'Kurier' },
  price: 1290,
  days: { from: 1, to: 2 },
};
const SLOW_BOAT = { id: 'boat', name: 'Slow boat', price: 300 };

let delivery: Reply;
let check: Reply;
let asked: AppQuestion[];

const CALLS = [
  { kind: 'deliveryOptions', url: '/delivery', timeoutMs: 800, onFailure: 'hide' },
  { kind: 'checkoutValidation', url: '/check', timeoutMs: 800, onFailure: 'hide' },
];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  other = await givenOtherShop(service);
  merchant = await givenMerchant(service);
  app = await startFakeApp();
  asked = answerCalls(app, (path) =>
    path === '/delivery' ? delivery : path === '/check' ? check : undefined,
  );
  appId = await givenCalls(CALLS);
  kettle = (await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'CB-101'`))!
    .id;
});
afterAll(async () => {
  await app.close();
  await service.close();
});
beforeEach(() => {
  delivery = { options: [EXPRESS, SLOW_BOAT] };
  check = { ok: true };
  asked.length = 0;
});

/** Installs the app with these calls, after the last one is gone: its circuits begin anew. */
async function givenCalls(calls: object[]): Promise<string> {
  app.manifest = { ...LABELS, scopes: ['carts_read', 'orders_read'], webhooks: [], calls };
  return givenInstalledApp(merchant, app);
}

async function withCalls(calls: object[], work: () => Promise<void>): Promise<void> {
  await merchant.post(`/apps/${appId}/uninstall`);
  appId = await givenCalls(calls);
  try {
    await work();
  } finally {
    await merchant.post(`/apps/${appId}/uninstall`);
    appId = await givenCalls(CALLS);
  }
}

const ADA = {
  firstName: 'Ada',
  lastName: 'Lindqvist',
  street: 'Kai 7',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'DE',
  emailAddress: 'ada@mail.example',
};

async function givenCart(quantity = 2) {
  const { body, headers } = await service.call('POST', '/DemoShop/carts', {
    token: 'demo-all',
    body: { lineItems: [{ productId: kettle, quantity }], billingAddress: ADA },
  });
  const cart = { 'x-epages-cart-token': String(headers['x-epages-cart-token']) };
  const path = `/DemoShop/carts/${body.cartId}`;
  const call = (method: string, at: string, more: object = {}) =>
    service.call(method, at.startsWith('/manage') ? at : path + at, {
      token: 'demo-all',
      headers: cart,
      ...more,
    });
  const options = async () => {
    const answer = await call('GET', `/manage/shops/DemoShop/carts/${body.cartId}/delivery-options`);
    return { status: answer.status, items: (answer.body.items ?? []) as Item[], body: answer.body };
  };
  return { cartId: body.cartId as string, call, options, headers: cart };
}

interface Item {
  id: string;
  name: string;
  price: { amount: number };
  days: object | null;
  app: string | null;
  option: string | null;
}

const ofApp = (items: Item[]) =>
  items
    .filter((item) => item.app === appId)
    .map(({ name, price, days, option }) => [option, name, price.amount, days]);

async function givenChosen(option = 'express') {
  const cart = await givenCart();
  const { items } = await cart.options();
  const { id } = items.find((item) => item.option === option)!;
  const chosen = await cart.call('PUT', '/shipping-data', { body: { id } });
  expect(chosen.status).toBe(200);
  return { ...cart, id, chosen: chosen.body };
}

const logged = async () => {
  await service.app.appCalls.writeLog();
  return service.db.many<{ kind: string; problem: string | null; statusCode: number | null }>(sql`
    select kind, problem, status_code as "statusCode" from app_call_log
    where shop_id = 'DemoShop' and app_id = ${appId} order by entry_id`);
};

test('the options of a cart include those of apps, which are asked without a name of the customer', async () => {
  const cart = await givenCart();
  const { items } = await cart.options();
  const own = items.filter(({ app: of }) => of === null).map(({ name, days }) => [name, days]);
  expect(own).toEqual([
    ['Standard delivery', { from: 2, to: 3 }],
    ['Express delivery', { from: 1, to: 1 }],
    ['Customer pickup', null],
    ['Freight', { from: 3, to: 7 }],
  ]);
  expect(ofApp(items)).toEqual([
    ['express', 'Courier', 12.9, { from: 1, to: 2 }],
    ['boat', 'Slow boat', 3, null],
  ]);
  const [{ headers, body }] = asked as [AppQuestion];
  expect(headers['kontor-call']).toBe('deliveryOptions');
  const bytes = JSON.stringify(body);
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${bytes}`;
  const secret = app.registrations.at(-1)!.body['clientSecret']!;
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  const claims = JSON.parse(
    Buffer.from(headers.authorization!.split('.')[1]!, 'base64url').toString(),
  ) as Record<string, unknown>;
  expect(claims).toMatchObject({
    iss: expect.stringMatching(/^http:\/\/localhost:\d+$/) as string,
    aud: appId,
    shop: 'DemoShop',
    page: 'call:deliveryOptions',
  });
  expect(body).toMatchObject({
    kind: 'deliveryOptions',
    shop: 'DemoShop',
    currency: 'EUR',
    taxType: 'GROSS',
    destination: { country: 'DE', zipCode: '20457' },
    lines: [{ productId: kettle, productNumber: 'CB-101', quantity: '2' }],
  });
  expect(bytes).not.toMatch(/Lindqvist|Kai 7|ada@mail/);
});

test('the chosen option is in the totals, and the order stores it', async () => {
  const { call, chosen, id } = await givenChosen();
  expect(chosen.shippingData).toMatchObject({
    price: { amount: 12.9 },
    shippingMethod: { id, name: 'Courier' },
  });
  expect(chosen.cartValidation.possibleShippingMethods).toContain('Courier');
  expect(JSON.stringify(chosen.links)).not.toContain(`/shipping-methods/${id}`);
  asked.length = 0;
  const order = await call('POST', '/order');
  expect(order.status).toBe(201);
  expect(order.body.shippingData.price.amount).toBe(12.9);
  expect(asked.map(({ body }) => String(body['kind'])).toSorted()).toEqual([
    'checkoutValidation',
    'deliveryOptions',
  ]);
  const [stored] = await service.db.many(sql`
    select content -> 'shipping' -> 'option' as option, content -> 'shipping' ->> 'price' as price,
      content ->> 'grandTotal' as total
    from customer_order where shop_id = 'DemoShop' and order_number = ${order.body.orderNumber}`);
  expect(stored).toMatchObject({
    option: { appId, optionId: 'express', days: { from: 1, to: 2 }, isFixedPrice: false },
    price: '1290',
  });
  // The app finds its own by it, in the language that it asks for.
  const path = `/manage/shops/DemoShop/orders/${order.body.orderId}`;
  const managed = await service.call('GET', `${path}?locale=de_DE`, { token: 'demo-all' });
  expect(managed.body.management.deliveryOption).toEqual({ appId, optionId: 'express', name: 'Kurier' });
  expect(order.body).not.toHaveProperty('management');
});

test('an option counts for the content and the destination that it was offered for', async () => {
  const { call, id } = await givenChosen();
  const moved = await call('PUT', '/billing-address', { body: { ...ADA, zipCode: '80331' } });
  expect(moved.headers['x-warning']).toMatch(/^DELIVERY_OPTION_OUTDATED: What an app offered/);
  expect(moved.body.shippingData.shippingMethod.id).not.toBe(id);
  const before = await fingerprint(service);
  const refused = await call('POST', '/order');
  expect([refused.status, refused.body.message]).toEqual([
    400,
    expect.stringContaining('list the options again'),
  ]);
  expect(await fingerprint(service)).toEqual(before);
  const chosen = await call('PUT', '/shipping-data', { body: { id } });
  expect(chosen.body.shippingData.price.amount).toBe(12.9);
  expect((await call('POST', '/order')).status).toBe(201);
});

test('a price that changes before the order is shown before it is ordered', async () => {
  const { call } = await givenChosen();
  delivery = { options: [{ ...EXPRESS, price: 1590 }] };
  const orders = sql`select count(*) as count from customer_order where shop_id = 'DemoShop'`;
  const before = await service.db.one(orders);
  const refused = await call('POST', '/order');
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain('What an app offers for the delivery has changed');
  expect(await service.db.one(orders)).toEqual(before);
  expect((await call('GET', '')).body.shippingData.price.amount).toBe(15.9);
  const order = await call('POST', '/order');
  expect([order.status, order.body.shippingData.price.amount]).toEqual([201, 15.9]);
});

test('an option that is gone before the order is chosen no longer', async () => {
  const { call, id } = await givenChosen();
  delivery = { options: [SLOW_BOAT] };
  expect((await call('POST', '/order', { headers: undefined })).status).not.toBe(201);
  const refused = await call('POST', '/order');
  expect(refused.status).toBe(409);
  expect((await call('GET', '')).body.shippingData.shippingMethod.id).not.toBe(id);
});

test('with an Idempotency-Key the apps are asked before its transaction, and a replay asks nobody', async () => {
  const { call, headers } = await givenChosen();
  asked.length = 0;
  const keyed = { headers: { ...headers, 'idempotency-key': 'order-1' } };
  const first = await call('POST', '/order', keyed);
  expect([first.status, first.body.shippingData.price.amount]).toEqual([201, 12.9]);
  expect((await call('POST', '/order', keyed)).body.orderId).toBe(first.body.orderId);

  const other = await givenChosen();
  check = { ok: false, reason: { en: 'Not to islands', de: 'Nicht auf Inseln' }, field: 'address' };
  const refused = await other.call('POST', '/order', {
    headers: { ...other.headers, 'idempotency-key': 'order-2' },
  });
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('Not to islands')]);
});

test('an app refuses an order with a reason and a field, and nothing changes', async () => {
  check = { ok: false, reason: { en: 'Not to islands', de: 'Nicht auf Inseln' }, field: 'address' };
  const { call } = await givenChosen();
  const before = await fingerprint(service);
  const refused = await call('POST', '/order');
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain('Not to islands (Labels)');
  expect(refused.headers['x-error-field']).toBe('address');
  expect(await fingerprint(service)).toEqual(before);
  check = { ok: true };
  expect((await call('POST', '/order')).status).toBe(201);
});

const FAILURES: readonly [string, () => Reply, string][] = [
  ['hangs', () => () => {}, 'The receiver did not answer within 0.8 s'],
  [
    'answers with an error',
    () => (_q, response) => void response.writeHead(500).end(),
    'The app answered 500',
  ],
  [
    'leads to a private network',
    () => (_q, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    'The app answered 302',
  ],
  [
    'answers 10 MB',
    () => (_q, response) => void response.end(Buffer.alloc(10_000_000, ' ')),
    'The answer is larger than 64 KB',
  ],
  [
    'signs with another secret',
    () => (question, response) =>
      answerWith(app, question, response, '{"options":[]}', { secret: 'somebody else' }),
    'The signature of the answer is wrong: webhook-signature',
  ],
  [
    'signs an old answer',
    () => (question, response) =>
      answerWith(app, question, response, '{"options":[]}', { at: Date.now() - 61_000 }),
    'The answer is too old: webhook-timestamp',
  ],
  [
    'repeats what it has said to another question',
    () => (question, response) => answerWith(app, question, response, '{"options":[]}', { id: 'recorded' }),
    'The answer is not for this call: webhook-id',
  ],
  [
    'does not sign',
    () => (_q, response) => void response.end('{"options":[]}'),
    'The answer is not for this call: webhook-id',
  ],
  [
    'answers no JSON',
    () => (question, response) => answerWith(app, question, response, 'express: 12.90'),
    'The answer is not JSON',
  ],
  [
    'has a negative price',
    () => ({ options: [{ ...EXPRESS, price: -1 }] }),
    'The answer is not valid: /options/0',
  ],
  ['names an option twice', () => ({ options: [EXPRESS, EXPRESS] }), 'The answer is not valid: /options'],
  [
    'has too many options',
    () => ({ options: Array.from({ length: 11 }, (_, index) => ({ ...EXPRESS, id: `o${index}` })) }),
    'The answer is not valid: /options',
  ],
  [
    'has a text that turns around',
    () => ({ options: [{ ...EXPRESS, name: 'free \u202e' }] }),
    'The answer is not valid: /options',
  ],
];

test.each(FAILURES)('an app that %s offers nothing, and the log says why', async (_what, reply, problem) => {
  await withCalls(CALLS, async () => {
    delivery = reply();
    const cart = await givenCart();
    const { status, items } = await cart.options();
    expect([status, ofApp(items)]).toEqual([200, []]);
    expect(items.length).toBeGreaterThan(0);
    const [entry, ...others] = await logged();
    expect([entry!.kind, others]).toEqual(['deliveryOptions', []]);
    expect(entry!.problem).toContain(problem);
  });
});

test('without an answer there is a fixed price, where the merchant has agreed to it', async () => {
  await withCalls(
    [{ ...CALLS[0]!, onFailure: { price: 690, name: { en: 'Parcel', de: 'Paket' } } }],
    async () => {
      delivery = (_q, response) => void response.writeHead(503).end();
      const cart = await givenCart();
      const { items } = await cart.options();
      expect(ofApp(items)).toEqual([['-fixed', 'Parcel', 6.9, null]]);
      const { id } = items.find((item) => item.app === appId)!;
      await cart.call('PUT', '/shipping-data', { body: { id } });
      const order = await cart.call('POST', '/order');
      expect([order.status, order.body.shippingData.price.amount]).toEqual([201, 6.9]);
    },
  );
});

test('without an answer nothing can be chosen or ordered, where the app must answer', async () => {
  await withCalls(
    CALLS.map((call) => ({ ...call, onFailure: 'refuse' })),
    async () => {
      const chosen = await givenChosen();
      delivery = (_q, response) => void response.writeHead(503).end();
      const { status, body } = await chosen.options();
      expect([status, body.message]).toEqual([409, expect.stringContaining('Labels does not answer')]);
      const before = await fingerprint(service);
      expect((await chosen.call('POST', '/order')).status).toBe(409);
      delivery = { options: [EXPRESS] };
      check = (_q, response) => void response.writeHead(503).end();
      expect((await chosen.call('POST', '/order')).status).toBe(409);
      expect(await fingerprint(service)).toEqual(before);
      check = { ok: true };
      expect((await chosen.call('POST', '/order')).status).toBe(201);
    },
  );
});

test('an app that keeps failing is not called for a while, and then tried again', async () => {
  await withCalls(CALLS, async () => {
    delivery = (_q, response) => void response.writeHead(500).end();
    const cart = await givenCart();
    for (let call = 0; call < 7; call++) await cart.options();
    expect(asked).toHaveLength(5);
    delivery = { options: [EXPRESS] };
    expect(ofApp((await cart.options()).items)).toEqual([]);
    service.setClock(new Date(Date.now() + 31_000));
    delivery = (question, response) =>
      answerWith(app, question, response, JSON.stringify({ options: [EXPRESS] }), {
        at: Date.now() + 31_000,
      });
    expect(ofApp((await cart.options()).items)).toHaveLength(1);
    expect(ofApp((await cart.options()).items)).toHaveLength(1);
    service.setClock(undefined);
  });
});

test('an answer is cached as long as the app has said', async () => {
  await withCalls([{ ...CALLS[0]!, cacheSeconds: 60 }], async () => {
    const cart = await givenCart();
    await cart.options();
    await cart.options();
    expect(asked).toHaveLength(1);
    await (await givenCart(3)).options();
    expect(asked).toHaveLength(2);
  });
});

/** While the shop has no shipping methods of its own. */
async function withoutMethods(work: () => Promise<void>): Promise<void> {
  const move = sql`update shop set settings_version = settings_version + 1 where shop_id = 'DemoShop'`;
  const methods = await service.db.many<{ row: object }>(sql`
    select to_jsonb(shipping_method) as row from shipping_method where shop_id = 'DemoShop'`);
  await service.db.run(sql`delete from shipping_method where shop_id = 'DemoShop'`);
  await service.db.run(move);
  try {
    await work();
  } finally {
    const rows = JSON.stringify(methods.map(({ row }) => row));
    await service.db.run(sql`
      insert into shipping_method select * from jsonb_populate_recordset(null::shipping_method, ${rows}::jsonb)`);
    await service.db.run(move);
  }
}

test('where only apps deliver, an order needs a delivery that was chosen', async () => {
  const cart = await givenCart();
  await withoutMethods(async () => {
    const before = await fingerprint(service);
    const refused = await cart.call('POST', '/order');
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining('Only apps deliver this cart'),
    ]);
    expect(await fingerprint(service)).toEqual(before);
    const { items } = await cart.options();
    expect(items.map(({ option }) => option)).toEqual(['express', 'boat']);
    await cart.call('PUT', '/shipping-data', { body: { id: items[0]!.id } });
    const order = await cart.call('POST', '/order');
    expect([order.status, order.body.shippingData.price.amount]).toEqual([201, 12.9]);
  });
});

test('an app at a private address is not called', async () => {
  const failures: unknown[] = [];
  const calls = createAppCalls({
    db: service.db,
    policy: receiverPolicy(service.config, { ...service.app.demoAccess, isOpen: () => false }),
    loadKey: () => installationKey(service.config),
    metrics: new Registry(),
    onLogFailure: (error) => void failures.push(error),
  });
  const settings = (await findSettings(service.db, 'DemoShop'))!;
  const answers = await calls.ask(
    { ...settings, origin: 'https://shop.example' },
    { kind: 'deliveryOptions', about: {}, read: (answer) => answer },
  );
  expect([answers.map(({ answer }) => answer), asked]).toEqual([[undefined], []]);
  await calls.close();
  expect(failures).toEqual([]);
  expect((await logged()).at(-1)).toMatchObject({ kind: 'deliveryOptions', statusCode: null });
});

test('the log is read by the app and by the merchant, and by no other shop', async () => {
  await withCalls(CALLS, async () => {
    delivery = (_q, response) => void response.writeHead(500).end();
    await (await givenCart()).options();
    await service.app.appCalls.writeLog();
    const elsewhere = await service.call('GET', '/manage/shops/OtherShop/app/calls', { token: other.token });
    expect([elsewhere.status, elsewhere.body]).toEqual([200, { items: [] }]);
    const foreign = await service.call('GET', '/manage/shops/DemoShop/app/calls', { token: other.token });
    expect(foreign.status).toBe(401);
    const page = await merchant.get(`/apps/${appId}`);
    expect(page.text).toContain('The app answered 500');
    const { body } = await service.call('GET', '/manage/shops/DemoShop/app/calls', { token: 'demo-all' });
    expect(body).toEqual({ items: [] });
  });
});

test('a customer in the storefront chooses what an app offers, and confirms what has changed', async () => {
  const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
  await visitor.post('/consent', { consent: 'all' });
  await visitor.submit('/cart/add', { productId: kettle, quantity: '2' });
  await visitor.submit(
    '/checkout',
    Object.fromEntries(Object.entries(ADA).map(([key, value]) => [`billing.${key}`, value])),
  );
  const page = await visitor.get('/checkout/delivery');
  expect(mainOf(page)).toContain('Courier');
  expect(mainOf(page)).toContain('€12.90');
  const [, id] = /value="([^"]+)"[^>]*>(?:(?!<input)[^])*?Courier/.exec(
    page.text.slice(page.text.lastIndexOf('<input', page.text.indexOf('Courier'))),
  )!;
  const [, paymentMethod] = /name="paymentMethod"\s+value="([^"]+)"/.exec(page.text)!;
  const review = await visitor.submit('/checkout/delivery', {
    shippingMethod: id!,
    paymentMethod: paymentMethod!,
  });
  expect(mainOf(review)).toContain('Courier');
  const reviewed = /name="reviewed" value="([^"]*)"/.exec(review.text)![1]!;

  delivery = { options: [{ ...EXPRESS, price: 1590 }] };
  const changed = await visitor.post('/checkout/order', { reviewed });
  expect(changed.status).toBe(409);
  expect(mainOf(changed)).toContain('Something has changed in the meantime.');
  expect(mainOf(changed)).toContain('€15.90');

  check = { ok: false, reason: 'Not before Monday' };
  const again = /name="reviewed" value="([^"]*)"/.exec(changed.text)![1]!;
  const refused = await visitor.post('/checkout/order', { reviewed: again });
  expect([refused.status, mainOf(refused).includes('Not before Monday')]).toEqual([409, true]);
  check = { ok: true };
  const done = await visitor.submit('/checkout/order', { reviewed: again });
  expect(done.status).toBe(200);
  const [order] = await service.db.many<{ price: string }>(sql`
    select content -> 'shipping' ->> 'price' as price from customer_order
    where shop_id = 'DemoShop' order by created_at desc limit 1`);
  expect(order).toEqual({ price: '1590' });
});
