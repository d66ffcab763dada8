import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenOtherShop, shopFingerprint, startDemo } from '../../test/demo.ts';
import {
  ask,
  startFakeAssistant,
  type AssistantCall,
  type FakeAssistant,
} from '../../test/fake-assistant.ts';
import type { Answer, Service } from '../../test/service.ts';
import { givenVisitor } from '../../test/visitor.ts';
import { sql } from '../db/sql.ts';
import { requestLog } from '../platform/log.ts';
import { UCP_VERSION } from './capabilities.ts';

let service: Service;
let assistant: FakeAssistant;
let kettle: string;
let variation: string;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' });
  await givenOtherShop(service);
  assistant = await startFakeAssistant();
  const rows = await service.db.many<{ id: string; kind: string }>(sql`
    select upper(product_id::text) as id, kind from product
    where shop_id = 'DemoShop' and visible and (product_number = 'AP-100' or kind = 'variation')
      and (stock is null or stock > 5) order by product_number`);
  kettle = rows.find(({ kind }) => kind === 'regular')!.id;
  variation = rows.find(({ kind }) => kind === 'variation')!.id;
});
afterAll(async () => {
  await assistant.close();
  await service.close();
});
beforeEach(() => service.setClock(undefined));

const send = (
  method: NonNullable<AssistantCall['method']>,
  path: string,
  body?: unknown,
  call: AssistantCall = {},
) => ask(service, `/ucp${path}`, body, { profile: assistant.profile, method, ...call });
const lines = (...entries: [id: string, quantity: number][]) => ({
  line_items: entries.map(([id, quantity]) => ({ item: { id }, quantity })),
});
const create = (body: unknown, call?: AssistantCall) => send('POST', '/carts', body, call);

/** The same cart by the API. */
async function apiCart(id: string) {
  const [cartId, cartToken] = id.split('.') as [string, string];
  const { status, body } = await service.call('GET', `/DemoShop/carts/${cartId}`, { cartToken });
  expect(status).toBe(200);
  return body;
}

const cents = ({ amount }: { amount: number }) => Math.round(amount * 100);
const totalOf = ({ totals }: { totals: { type: string; amount: number }[] }, type = 'total') =>
  totals.find((one) => one.type === type)!.amount;

const NOT_FOUND = {
  ucp: {
    version: UCP_VERSION,
    status: 'error',
    capabilities: { 'dev.ucp.shopping.cart': [{ version: UCP_VERSION }] },
  },
  messages: [
    {
      type: 'error',
      code: 'not_found',
      content: 'Your cart no longer exists. It has been ordered or has expired.',
      severity: 'unrecoverable',
    },
  ],
  continue_url: 'http://demoshop.localhost/',
};

test('a product is named by its id, or by its number as in the feeds', async () => {
  const { status, body } = await create(lines(['AP-100', 1], [kettle.toLowerCase(), 2], ['AP-0', 1]));
  expect(status).toBe(201);
  expect(body.line_items).toMatchObject([{ item: { id: kettle }, quantity: 3 }]);
  expect(body.messages[0]).toMatchObject({ code: 'not_found', content: 'Product not found: AP-0' });
});

test('a cart has the totals of the cart in the shop to the cent', async () => {
  const { status, body, headers } = await create(lines([kettle, 2], [variation, 1]));
  expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
  expect(body.ucp).toEqual({
    version: UCP_VERSION,
    capabilities: Object.fromEntries(
      ['cart', 'discount', 'buyer_consent'].map((name) => [
        `dev.ucp.shopping.${name}`,
        [{ version: UCP_VERSION }],
      ]),
    ),
  });
  expect(
    body.line_items.map(({ item, quantity }: { item: { id: string }; quantity: number }) => [
      item.id,
      quantity,
    ]),
  ).toEqual([
    [kettle, 2],
    [variation, 1],
  ]);
  const stored = await apiCart(body.id);
  const { lineItemsSubTotal, grandTotal } = stored.lineItemContainer;
  expect([totalOf(body, 'subtotal'), totalOf(body, 'fulfillment'), totalOf(body)]).toEqual([
    cents(lineItemsSubTotal),
    cents(stored.shippingData.price),
    cents(grandTotal),
  ]);
  const parts = body.totals.filter(({ type }: { type: string }) => type !== 'total');
  expect(parts.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0)).toBe(totalOf(body));
  expect(body.line_items[0].totals[0].amount).toBe(
    cents(stored.lineItemContainer.productLineItems[0].lineItemPrice),
  );
  expect(
    body.messages.filter(({ code }: { code: string }) => code === 'included_tax').length,
  ).toBeGreaterThan(0);
  expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(29 * 86_400_000);
});

test('it is read, replaced and ended by its id', async () => {
  const { body: made } = await create(lines([kettle, 1]));
  expect((await send('GET', `/carts/${made.id}`)).body).toEqual(made);
  const changed = await send('PUT', `/carts/${made.id}`, lines([variation, 3], [kettle, 2]));
  expect(changed.status).toBe(200);
  expect(changed.body.line_items.map(({ quantity }: { quantity: number }) => quantity)).toEqual([3, 2]);
  // The line of a product that stays is the same.
  expect(changed.body.line_items[1].id).toBe(made.line_items[0].id);
  expect(totalOf(changed.body)).toBe(cents((await apiCart(made.id)).lineItemContainer.grandTotal));
  const ended = await send('POST', `/carts/${made.id}/cancel`, {});
  expect([ended.status, ended.body.totals]).toEqual([200, changed.body.totals]);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PUT', '', lines([kettle, 1])],
    ['POST', '/cancel', undefined],
  ] as const) {
    const answer = await send(method, `/carts/${made.id}${path}`, body);
    expect([answer.status, answer.body]).toEqual([200, NOT_FOUND]);
  }
});

test('a cart of somebody else, of another shop, or with a wrong id is not found, and nothing changes', async () => {
  const { body: made } = await create(lines([kettle, 1]));
  const [cartId, token] = made.id.split('.') as [string, string];
  const before = await shopFingerprint(service, 'DemoShop');
  const ids = [
    cartId,
    `${cartId}.`,
    `${cartId}.${'x'.repeat(24)}`,
    `${cartId}.${token}.x`,
    `${cartId.replace(/.$/, (last) => (last === '0' ? '1' : '0'))}.${token}`,
    'nothing',
    `..${token}`,
    `${'a'.repeat(5_000)}.b`,
  ];
  for (const id of ids) {
    expect([id, (await send('GET', `/carts/${encodeURIComponent(id)}`)).body]).toEqual([id, NOT_FOUND]);
    expect((await send('PUT', `/carts/${encodeURIComponent(id)}`, lines([kettle, 5]))).body).toEqual(
      NOT_FOUND,
    );
    expect((await send('POST', `/carts/${encodeURIComponent(id)}/cancel`)).body).toEqual(NOT_FOUND);
  }
  const elsewhere = await send('GET', `/carts/${made.id}`, undefined, { host: 'othershop.localhost' });
  expect(elsewhere.body).toMatchObject({ messages: [{ code: 'not_found' }] });
  await service.app.assistantCalls.write();
  const { assistant_call: _noted, ...rest } = await shopFingerprint(service, 'DemoShop');
  const { assistant_call: _before, ...expected } = before;
  expect(rest).toEqual(expected);
});

test('what can not be put into a cart is said, and nothing is made of nothing', async () => {
  const [master] = await service.db.many<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'DemoShop' and kind = 'master' and visible limit 1`);
  const { status, body } = await create(lines([kettle, 1], [master!.id, 1], ['nothing', 1]));
  expect([status, body.line_items.length]).toEqual([201, 1]);
  expect(
    body.messages
      .filter(({ type }: { type: string }) => type === 'error')
      .map(({ code, severity }: { code: string; severity: string }) => [code, severity]),
  ).toEqual([
    ['not_found', 'recoverable'],
    ['item_unavailable', 'recoverable'],
  ]);
  const count = () => service.db.one<{ carts: number }>(sql`select count(*)::int as carts from cart`);
  const before = await count();
  const none = await create(lines(['nothing', 1]));
  expect([none.status, none.body.ucp.status, none.body.messages[0].code]).toEqual([
    200,
    'error',
    'not_found',
  ]);
  expect(await count()).toEqual(before);
  for (const wrong of [
    {},
    { line_items: {} },
    lines([kettle, 0]),
    lines([kettle, 1.5]),
    { line_items: [{ quantity: 1 }] },
  ]) {
    const refused = await create(wrong);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
  }
  expect(await count()).toEqual(before);
});

test('a quantity that does not fit is changed, and never silently', async () => {
  await service.db.run(sql`
    update product set stock = 3 where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  const { body } = await create(lines([kettle, 10]));
  expect(body.line_items[0].quantity).toBe(3);
  expect(body.messages.find(({ code }: { code: string }) => code === 'quantity_changed')).toMatchObject({
    type: 'warning',
    path: '$.line_items[0].quantity',
  });
  await service.db.run(sql`
    update product set stock = 0 where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  const soldOut = await create(lines([kettle, 1]));
  expect(soldOut.body).toMatchObject({ ucp: { status: 'error' }, messages: [{ code: 'out_of_stock' }] });
  await service.db.run(sql`
    update product set stock = 20 where shop_id = 'DemoShop' and product_number = 'AP-100'`);
});

test('a product that is no longer sold leaves the cart, and never silently', async () => {
  const row = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'DemoShop' and visible and kind = 'regular' and stock > 20 and product_number <> 'AP-100'
    order by product_number limit 1`);
  const { id } = row!;
  const { body: cart } = await create(lines([kettle, 1], [id, 2]));
  const { body: session } = await send('POST', '/checkout-sessions', lines([id, 1]));
  expect([cart.line_items.length, session.status]).toEqual([2, 'requires_escalation']);
  const deleted = await service.call('DELETE', `/DemoShop/products/${id}`, { token: 'demo-all' });
  expect(deleted.status).toBe(204);

  const gone = {
    type: 'error',
    code: 'item_unavailable',
    severity: 'recoverable',
    content: 'A product in your cart is no longer sold, so it is not listed here.',
  };
  const goneIn = ({ messages }: { messages: { code: string }[] }) =>
    messages.filter(({ code }) => code === 'item_unavailable');
  for (const [path, left, status] of [
    [`/carts/${cart.id}`, 1, undefined],
    [`/checkout-sessions/${session.id}`, 0, 'incomplete'],
  ] as const) {
    const { body } = await send('GET', path);
    expect([body.line_items.length, body.status, goneIn(body)]).toEqual([left, status, [gone]]);
  }
  const { body: replaced } = await send('PUT', `/carts/${cart.id}`, lines([kettle, 1]));
  expect(goneIn(replaced)).toEqual([]);
});

test('goods that are sold by the metre are counted in steps', async () => {
  await service.db.run(sql`
    update product set version = version + 1,
      facts = facts || '{"orderUnit": {"unit": "metre", "priceQuantity": 1, "minimum": 0.5, "interval": 0.5}}'
    where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  const { body } = await create({
    line_items: [{ item: { id: kettle, quantity_unit: { unit: 'MTR', scale: 1 } }, quantity: 25 }],
  });
  expect(body.line_items[0]).toMatchObject({
    item: { quantity_unit: { unit: 'MTR', scale: 1, display_text: 'm', increment: 5 } },
    quantity: 25,
  });
  const { productLineItems } = (await apiCart(body.id)).lineItemContainer;
  expect(productLineItems[0].quantity.amount).toBe(2.5);
  const other = await create({
    line_items: [{ item: { id: kettle, quantity_unit: { unit: 'C62' } }, quantity: 1 }],
  });
  expect([other.status, other.body.code]).toEqual([400, 'invalid_request']);
  await service.db.run(sql`
    update product set version = version + 1, facts = facts - 'orderUnit'
    where shop_id = 'DemoShop' and product_number = 'AP-100'`);
});

test('an Idempotency-Key makes one cart, and is refused for another', async () => {
  const key = { 'idempotency-key': '7b0a3d0e-0c55-4f4e-8d25-7f0a8a2a9f10' };
  const count = () => service.db.one<{ carts: number }>(sql`select count(*)::int as carts from cart`);
  const before = (await count())!.carts;
  const answers = await Promise.all([1, 2, 3].map(() => create(lines([kettle, 1]), { headers: key })));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect((await count())!.carts).toBe(before + 1);
  const other = await create(lines([kettle, 2]), { headers: key });
  expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
  // Anybody may name this profile, and so a stranger who guesses the key gets a cart of his own.
  const stranger = await create(lines([kettle, 1]), { headers: key, address: '203.0.113.7' });
  expect(stranger.status).toBe(201);
  expect(stranger.body.id).not.toBe(answers[0]!.body.id);
  // The stored answer does not tell the id in clear.
  const stored = await service.db.many<{ body: string }>(sql`select body from idempotent_answer`);
  const [, token] = answers[0]!.body.id.split('.');
  expect(stored.some(({ body }) => body.includes(token))).toBe(false);
});

test('the buyer goes on with a copy of this very cart', async () => {
  const { body } = await create(lines([kettle, 2]));
  const url = new URL(body.continue_url);
  expect(url.origin).toBe('http://demoshop.localhost');
  const visitor = givenVisitor(service, 'DemoShop');
  await visitor.get(`${url.pathname}${url.search}`);
  const page = await visitor.get('/cart');
  expect(page.text).toContain('Beacon Kettle 1.7 l');
  // From now on the cart is the buyer's.
  expect((await send('GET', `/carts/${body.id}`)).body).toEqual(NOT_FOUND);
});

test('a checkout session leads its buyer to the shop, and orders nothing itself', async () => {
  const { status, body } = await send('POST', '/checkout-sessions', lines([kettle, 1]));
  expect(status).toBe(201);
  expect([body.status, body.ucp.payment_handlers]).toEqual(['requires_escalation', {}]);
  expect(body.messages.at(-1)).toEqual({
    type: 'error',
    code: 'buyer_input_required',
    severity: 'requires_buyer_input',
    content: 'Please check everything in the shop, enter your address and place the order there.',
  });
  expect(body.links.map(({ type }: { type: string }) => type)).toEqual([
    'terms_of_service',
    'privacy_policy',
    'refund_policy',
    'shipping_policy',
  ]);
  expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  expect(Date.parse(body.expires_at) - Date.now()).toBeLessThan(24 * 3_600_000);
  const orders = () =>
    service.db.one<{ orders: number }>(sql`select count(*)::int as orders from customer_order`);
  const before = await orders();
  const completed = await send('POST', `/checkout-sessions/${body.id}/complete`, {
    payment: { instruments: [{ id: 'x', handler_id: 'y', type: 'card' }] },
  });
  expect([completed.status, completed.body]).toEqual([200, body]);
  expect(await orders()).toEqual(before);
  const headers = { 'idempotency-key': 'cancel-1' };
  const cancel = () => send('POST', `/checkout-sessions/${body.id}/cancel`, {}, { headers });
  const cancelled = await cancel();
  expect([cancelled.body.status, cancelled.body.continue_url]).toEqual(['canceled', undefined]);
  expect((await cancel()).body).toEqual(cancelled.body);
  const { id, line_items, totals, currency, expires_at } = cancelled.body;
  const ended = { id, line_items, totals, currency, expires_at, status: 'canceled', links: body.links };
  const read = await send('GET', `/checkout-sessions/${id}`);
  expect(read.body).toEqual({ ucp: expect.anything(), ...ended });
  expect((await send('POST', `/checkout-sessions/${id}/cancel`)).body).toEqual(read.body);
  for (const [method, path] of [
    ['PUT', ''],
    ['POST', '/complete'],
  ] as const) {
    const refused = await send(method, `/checkout-sessions/${id}${path}`, lines([kettle, 1]));
    expect([path, refused.body.messages[0].code]).toEqual([path, 'not_found']);
  }
});

test('a cart becomes one session', async () => {
  const { body: cart } = await create(lines([kettle, 2]));
  const make = () => send('POST', '/checkout-sessions', { cart_id: cart.id, line_items: [] });
  const [one, other] = [await make(), await make()];
  expect(other.body).toEqual(one.body);
  expect(one.body.id).not.toBe(cart.id);
  expect(one.body.line_items).toEqual(cart.line_items);
  expect(totalOf(one.body)).toBe(cents((await apiCart(cart.id)).lineItemContainer.grandTotal));
  // What is said of the session is said of its cart.
  await send('PUT', `/checkout-sessions/${one.body.id}`, lines([variation, 1]));
  expect((await send('GET', `/carts/${cart.id}`)).body.line_items[0].item.id).toBe(variation);
});

test('the tools of MCP give the same answers', async () => {
  const tool = (name: string, given: object): Promise<Answer> =>
    ask(service, '/ucp/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { meta: { 'ucp-agent': { profile: assistant.profile } }, ...given } },
    });
  const made = (await tool('create_cart', { cart: lines([kettle, 1]) })).body.result.structuredContent;
  const { id } = made;
  expect((await send('GET', `/carts/${id}`)).body).toEqual(made);
  expect((await tool('get_cart', { id })).body.result.structuredContent).toEqual(made);
  const changed = (await tool('update_cart', { id, cart: lines([kettle, 2]) })).body.result.structuredContent;
  expect((await send('GET', `/carts/${id}`)).body).toMatchObject({ totals: changed.totals });
  const session = (await tool('create_checkout', { checkout: { cart_id: id, line_items: [] } })).body.result
    .structuredContent;
  expect((await send('GET', `/checkout-sessions/${session.id}`)).body).toEqual(session);
  expect(
    (await tool('complete_checkout', { id: session.id, checkout: {} })).body.result.structuredContent,
  ).toEqual(session);
  expect((await tool('cancel_cart', { id })).body.result.structuredContent.id).toBe(id);
});

test('the id of a cart is not in the log', () => {
  const written: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void written.push(line) });
  const request = {
    id: 'r1',
    method: 'GET',
    url: '/shop/DemoShop/ucp/carts/id.secret',
    routeOptions: { url: '/shop/:shopId/ucp/carts/:id', config: { hasSecretPath: true } },
  };
  requestLog(log)(request as never, { statusCode: 200 } as never, 1);
  expect(JSON.parse(written[0]!)).toMatchObject({ path: '/shop/:shopId/ucp/carts/:id', status: 200 });
});
