import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import {
  ask,
  digestOf,
  EVERYTHING,
  profileFile,
  signedHeaders,
  startFakeAssistant,
  type AssistantCall,
  type FakeAssistant,
} from '../../../test/fake-assistant.ts';
import { givenMerchant } from '../../../test/admin.ts';
import { startReceiver, type ReceivedCall, type Receiver } from '../../../test/receiver.ts';
import type { Answer, Service } from '../../../test/service.ts';
import { givenVisitor, type Visitor } from '../../../test/visitor.ts';
import { startNoticesOfOrders } from '../../composition/background.ts';
import { sql } from '../../db/sql.ts';
import { moneyText } from '../../http/price-text.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { UCP_VERSION } from '../capabilities.ts';

let service: Service;
let assistant: FakeAssistant;
let receiver: Receiver;
let kettle: string;

const ADA = {
  'billing.emailAddress': 'ada.lindqvist@mail.example',
  'billing.country': 'DE',
  'billing.firstName': 'Ada',
  'billing.lastName': 'Lindqvist',
  'billing.street': 'Kai 7',
  'billing.zipCode': '20457',
  'billing.city': 'Hamburg',
};

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' });
  await givenOtherShop(service);
  [assistant, receiver] = await Promise.all([startFakeAssistant(), startReceiver()]);
  const row = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  kettle = row!.id;
});
afterAll(async () => {
  await Promise.all([assistant.close(), receiver.close()]);
  await service.close();
});

let round = 0;
beforeEach(() => {
  // Profiles are cached by their address.
  assistant.profile = `${assistant.origin}/profile-${round++}.json`;
  assistant.file = withWebhook(receiver.url);
  receiver.calls.length = 0;
  receiver.answer = (_call, response) => response.end('ok');
});

const keysOf = (file: FakeAssistant['file']) => (file as { keys: object[] }).keys;

/** The profile of an assistant that wants to hear of its orders. */
function withWebhook(webhookUrl: unknown): Record<string, unknown> {
  const file = profileFile(EVERYTHING, keysOf(assistant.file)) as {
    ucp: { capabilities: Record<string, object[]> };
  };
  file.ucp.capabilities['dev.ucp.shopping.order'] = [
    { version: UCP_VERSION, config: { webhook_url: webhookUrl } },
  ];
  return file;
}

const send = (
  method: NonNullable<AssistantCall['method']>,
  path: string,
  body?: unknown,
  call: AssistantCall = {},
) => ask(service, `/ucp${path}`, body, { profile: assistant.profile, method, ...call });

const makeSession = async (quantity: number, call?: AssistantCall) => {
  const { status, body } = await send(
    'POST',
    '/checkout-sessions',
    { line_items: [{ item: { id: kettle }, quantity }] },
    call,
  );
  expect(status).toBe(201);
  return body;
};

/** A buyer who opens the link of a session. */
async function openLink({ continue_url: link }: { continue_url: string }): Promise<Visitor> {
  const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
  const { pathname, search } = new URL(link);
  expect((await visitor.get(pathname + search)).status).toBe(303);
  return visitor;
}

async function order(visitor: Visitor): Promise<{ orderId: string; orderNumber: string }> {
  await visitor.submit('/checkout', ADA);
  const [row] = await service.db.many<{ delivery: string; payment: string }>(sql`
    select (select upper(shipping_method_id::text) from shipping_method
        where shop_id = 'DemoShop' order by position limit 1) as delivery,
      (select upper(payment_method_id::text) from payment_method
        where shop_id = 'DemoShop' order by position limit 1) as payment`);
  const review = await visitor.submit('/checkout/delivery', {
    shippingMethod: row!.delivery,
    paymentMethod: row!.payment,
  });
  const reviewed = /name="reviewed" value="([^"]*)"/.exec(review.text)![1]!;
  const { place } = await visitor.submit('/checkout/order', { reviewed });
  if (!place.includes('/confirmation')) throw new Error(`Not ordered: ${place}`);
  const placed = await service.db.one<{ orderId: string; orderNumber: string }>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber" from customer_order
    where shop_id = 'DemoShop' order by created_at desc limit 1`);
  return placed!;
}

/** A session whose buyer has ordered. */
async function givenOrder(quantity = 2, call?: AssistantCall) {
  const session = await makeSession(quantity, call);
  const placed = await order(await openLink(session));
  const completed = await send('GET', `/checkout-sessions/${session.id}`);
  return { session, ...placed, completed: completed.body };
}

const manage = async (method: string, path: string, body?: unknown) => {
  const answer = await service.call(method, `/manage/shops/DemoShop/orders/${path}`, {
    token: 'demo-all',
    body,
  });
  expect([answer.status, answer.body?.message]).toEqual([expect.toBeOneOf([200, 201]), undefined]);
  return answer.body;
};

const codeOf = ({ body }: Answer) => body.messages[0].code as string;

describe('a session', () => {
  test('whose link was opened still shows what it had, and can not be changed', async () => {
    const session = await makeSession(2);
    await openLink(session);
    const shown = (await send('GET', `/checkout-sessions/${session.id}`)).body;
    expect([shown.status, shown.line_items, shown.totals]).toEqual([
      'requires_escalation',
      session.line_items,
      session.totals,
    ]);
    const change = await send('PUT', `/checkout-sessions/${session.id}`, { line_items: [] });
    expect([change.status, change.body.ucp.status, codeOf(change)]).toEqual([200, 'error', 'handed_over']);
    expect((await send('GET', `/checkout-sessions/${session.id}`)).body).toEqual(shown);
  });

  test('is completed when its buyer has ordered, with the order', async () => {
    const { session, orderNumber, completed } = await givenOrder();
    expect(completed).toMatchObject({
      id: session.id,
      status: 'completed',
      currency: 'EUR',
      expires_at: session.expires_at,
      order: {
        id: expect.stringMatching(/^[\w-]{43}$/),
        label: orderNumber,
        permalink_url: `http://demoshop.localhost/account#${encodeURIComponent(orderNumber)}`,
      },
    });
    expect([completed.continue_url, completed.messages]).toEqual([undefined, undefined]);
    expect(completed.line_items[0]).toMatchObject({ item: { id: kettle }, quantity: 2 });
    const path = `/checkout-sessions/${session.id}`;
    const again = await send('POST', `${path}/complete`, { payment: { instruments: [] } });
    expect(again.body).toEqual(completed);
    expect(codeOf(await send('PUT', path, { line_items: [] }))).toBe('session_completed');
    expect(codeOf(await send('POST', `${path}/cancel`, {}))).toBe('session_completed');
    expect((await send('GET', path)).body).toEqual(completed);
  });

  test('is that of its assistant alone', async () => {
    const { session, completed } = await givenOrder();
    const other = { profile: `${assistant.origin}/another.json` };
    expect(codeOf(await send('GET', `/checkout-sessions/${session.id}`, undefined, other))).toBe('not_found');
    expect(codeOf(await send('GET', `/orders/${completed.order.id}`, undefined, other))).toBe('not_found');
    const elsewhere = { host: 'othershop.localhost' };
    for (const path of [`/checkout-sessions/${session.id}`, `/orders/${completed.order.id}`]) {
      expect(codeOf(await send('GET', path, undefined, elsewhere))).toBe('not_found');
    }
    // An id of one kind opens nothing of another.
    expect(codeOf(await send('GET', `/orders/${session.id}`))).toBe('not_found');
    expect(codeOf(await send('GET', `/checkout-sessions/${completed.order.id}`))).toBe('not_found');
    const rows = await service.db.many<{ text: string }>(sql`
      select row_to_json(assistant_session)::text as text from assistant_session`);
    expect(rows.some(({ text }) => text.includes(session.id))).toBe(false);
  });

  test('that was made with a signature is read with one only', async () => {
    const body = JSON.stringify({ line_items: [{ item: { id: kettle }, quantity: 1 }] });
    const made = await send('POST', '/checkout-sessions', body, {
      headers: signedHeaders(assistant, '/ucp/checkout-sessions', body),
    });
    expect(made.status).toBe(201);
    const path = `/ucp/checkout-sessions/${made.body.id}`;
    expect(codeOf(await send('GET', path.slice(4)))).toBe('not_found');
    const components = ['@method', '@authority', '@path', 'ucp-agent'];
    const headers = signedHeaders(assistant, path, '', { components, method: 'GET' });
    expect((await send('GET', path.slice(4), undefined, { headers })).body.id).toBe(made.body.id);
  });

  test('ends by itself, and by its assistant; who has opened the link before may still order', async () => {
    const expired = await makeSession(1);
    service.setClock(new Date(Date.parse(expired.expires_at) + 1));
    expect(codeOf(await send('GET', `/checkout-sessions/${expired.id}`))).toBe('not_found');
    service.setClock(undefined);

    const session = await makeSession(1);
    const visitor = await openLink(session);
    const path = `/checkout-sessions/${session.id}`;
    const ended = await send('POST', `${path}/cancel`, {});
    expect([ended.body.status, ended.body.continue_url]).toEqual(['canceled', undefined]);
    const { line_items, totals } = ended.body;
    for (const again of [await send('GET', path), await send('POST', `${path}/cancel`, {})]) {
      expect(again.body).toMatchObject({ id: session.id, status: 'canceled', line_items, totals });
      expect(again.body).not.toHaveProperty('buyer');
    }
    const late = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
    const { pathname, search } = new URL(session.continue_url);
    expect((await late.get(pathname + search)).status).toBe(410);
    const { orderNumber } = await order(visitor);
    expect((await send('GET', path)).body).toMatchObject({
      status: 'completed',
      order: { label: orderNumber },
    });
  });
});

test('of two assistants whose buyers want the last piece, one brings an order', async () => {
  await service.db.run(sql`
    update product set stock = 1, version = version + 1
    where shop_id = 'DemoShop' and product_id = ${kettle}`);
  const rival = { profile: `${assistant.origin}/rival-${round}.json` };
  const sessions = [await makeSession(1), await makeSession(1, rival)];
  const visitors = await Promise.all(sessions.map(openLink));
  const outcomes = await Promise.allSettled(visitors.map(order));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const shown = await Promise.all([
    send('GET', `/checkout-sessions/${sessions[0].id}`),
    send('GET', `/checkout-sessions/${sessions[1].id}`, undefined, rival),
  ]);
  expect(new Set(shown.map(({ body }) => body.status as string))).toEqual(
    new Set(['completed', 'requires_escalation']),
  );
  const row = await service.db.one(sql`
    select stock::int as stock from product where shop_id = 'DemoShop' and product_id = ${kettle}`);
  expect(row).toEqual({ stock: 0 });
  await service.db.run(sql`
    update product set stock = 100, version = version + 1
    where shop_id = 'DemoShop' and product_id = ${kettle}`);
});

describe('an order', () => {
  test('has its lines, what was sent, and what came back', async () => {
    const { session, completed, orderId, orderNumber } = await givenOrder(3);
    const { id } = completed.order;
    const read = async () => (await send('GET', `/orders/${id}`)).body;
    const placed = await read();
    const [line] = placed.line_items;
    expect(placed).toEqual({
      ucp: { version: UCP_VERSION, capabilities: { 'dev.ucp.shopping.order': [{ version: UCP_VERSION }] } },
      id,
      label: orderNumber,
      checkout_id: session.id,
      permalink_url: completed.order.permalink_url,
      currency: 'EUR',
      line_items: [
        {
          ...completed.line_items[0],
          quantity: { original: 3, total: 3, fulfilled: 0 },
          status: 'processing',
        },
      ],
      fulfillment: {
        expectations: [
          {
            id: `${orderId}-delivery`,
            line_items: [{ id: line.id, quantity: 3 }],
            method_type: 'shipping',
            destination: { address_country: 'DE' },
            description: expect.stringMatching(/^Standard delivery: /),
          },
        ],
        events: [],
      },
      adjustments: [],
      totals: completed.totals,
    });
    // The tool gives the same answer, and neither tells who the buyer is.
    const tool = await ask(service, '/ucp/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'get_order',
        arguments: { meta: { 'ucp-agent': { profile: assistant.profile } }, id },
      },
    });
    expect(tool.body.result.structuredContent).toEqual(placed);
    expect(tool.text).not.toMatch(/Lindqvist|Kai 7|20457|ada\./);

    const lines = (quantity: number) => [{ lineItemId: line.id, quantity }];
    await manage('POST', `${orderId}/shipments`, { lines: lines(2), carrier: 'DHL', trackingCode: '0034' });
    const partial = await read();
    expect(partial.line_items[0]).toMatchObject({
      quantity: { original: 3, total: 3, fulfilled: 2 },
      status: 'partial',
    });
    expect(partial.fulfillment.events).toEqual([
      {
        id: expect.any(String),
        occurred_at: expect.stringMatching(/Z$/),
        type: 'shipped',
        line_items: [{ id: line.id, quantity: 2 }],
        tracking_number: '0034',
        tracking_url: expect.stringContaining('0034'),
        carrier: 'DHL',
      },
    ]);
    await manage('POST', `${orderId}/shipments`, { lines: lines(1) });
    expect((await read()).line_items[0].status).toBe('fulfilled');

    await manage('POST', `${orderId}/payments`, { amount: placed.totals.at(-1).amount / 100 });
    await manage('POST', `${orderId}/returns`, { lines: lines(1), refund: '10.00' });
    const returned = await read();
    expect(returned.line_items[0]).toMatchObject({
      quantity: { original: 3, total: 2, fulfilled: 2 },
      status: 'fulfilled',
    });
    expect(returned.adjustments).toMatchObject([
      { type: 'return', status: 'completed', line_items: [{ id: line.id, quantity: -1 }] },
      { type: 'refund', status: 'completed', totals: [{ type: 'total', amount: -1_000 }] },
    ]);
  });

  test('that was cancelled has nothing left', async () => {
    const { completed, orderId } = await givenOrder(2);
    await manage('POST', `${orderId}/cancel`, {});
    const { body } = await send('GET', `/orders/${completed.order.id}`);
    const [line] = body.line_items;
    expect([line.quantity, line.status]).toEqual([{ original: 2, total: 0, fulfilled: 0 }, 'removed']);
    expect(body.adjustments).toEqual([
      {
        id: `${orderId}-cancellation`,
        type: 'cancellation',
        occurred_at: expect.stringMatching(/Z$/),
        status: 'completed',
        line_items: [{ id: line.id, quantity: -2 }],
      },
    ]);
    expect(body.fulfillment.expectations).toEqual([]);
  });

  test('is nobody else’s: no order without an assistant, and none of a customer who was erased', async () => {
    const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
    await visitor.submit('/cart/add', { productId: kettle, quantity: '1' });
    const own = await order(visitor);
    const row = await service.db.one(sql`
      select assistant_session_id from customer_order where shop_id = 'DemoShop' and order_id = ${own.orderId}`);
    expect(row).toEqual({ assistant_session_id: null });
    expect(codeOf(await send('GET', `/orders/${own.orderId}`))).toBe('not_found');

    const { session, completed, orderId } = await givenOrder(1);
    await service.db.run(sql`
      update customer_order set erased_at = ${service.db.now} where shop_id = 'DemoShop' and order_id = ${orderId}`);
    expect(codeOf(await send('GET', `/orders/${completed.order.id}`))).toBe('not_found');
    expect(codeOf(await send('GET', `/checkout-sessions/${session.id}`))).toBe('not_found');
  });
});

describe('notices', () => {
  const log = pino({ level: 'silent' });
  const start = () =>
    startNoticesOfOrders({
      db: service.db,
      config: service.config,
      demoAccess: service.app.demoAccess,
      hosts: service.app.shopHosts,
      log,
      origin: 'http://localhost',
      pause: 20,
    });
  const waitingJobs = async () =>
    (await service.db.one<{ jobs: number }>(sql`
      select count(*)::int as jobs from job where queue = 'assistant order' and failed_at is null`))!.jobs;

  beforeEach(async () => {
    await service.app.shopHosts.refresh();
    await service.db.run(sql`delete from job where queue = 'assistant order'`);
  });

  /** The signature, as RFC 9421 describes it, by a key that the shop has published. */
  async function isSignedByShop({ headers, text, path }: ReceivedCall): Promise<boolean> {
    const profile = await ask(service, '/.well-known/ucp', undefined, { method: 'GET' });
    const [, parameters] = /^sig1=(.*)$/.exec(String(headers['signature-input']))!;
    const [, names] = /^\(([^)]*)\)/.exec(parameters!)!;
    const [, keyId] = /keyid="([^"]+)"/.exec(parameters!)!;
    const values: Record<string, string> = {
      '@method': 'POST',
      '@authority': headers.host!,
      '@path': path.split('?')[0]!,
      '@query': `?${path.split('?')[1]}`,
    };
    const base = [
      ...names!.split(' ').map((name) => {
        const bare = name.slice(1, -1);
        return `${name}: ${values[bare] ?? String(headers[bare])}`;
      }),
      `"@signature-params": ${parameters}`,
    ].join('\n');
    const key = profile.body.keys.find(({ kid }: { kid: string }) => kid === keyId) as JsonWebKey;
    const [, signature] = /^sig1=:(.*):$/.exec(String(headers['signature']))!;
    expect(headers['content-digest']).toBe(digestOf(text));
    return verify(
      'sha256',
      Buffer.from(base),
      { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature!, 'base64'),
    );
  }

  test('say the whole order, signed by the shop, when it is placed and when it changes', async () => {
    assistant.file = withWebhook(`${receiver.url}?from=shop`);
    const { completed, orderId } = await givenOrder(2);
    const notices = start();
    try {
      const [created] = await receiver.until(1);
      const now = (await send('GET', `/orders/${completed.order.id}`)).body;
      expect(created!.body).toEqual(now);
      expect(created!.headers).toMatchObject({
        'content-type': 'application/json',
        'ucp-agent': 'profile="http://demoshop.localhost/.well-known/ucp"',
        'webhook-id': expect.stringMatching(/^[0-9A-F-]{36}$/i),
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      });
      expect(created!.headers['signature-input']).toContain(
        '("@method" "@authority" "@path" "@query" "ucp-agent" "webhook-id" "webhook-timestamp" "content-digest" "content-type")',
      );
      expect(await isSignedByShop(created!)).toBe(true);

      // A note of the merchant is no news.
      const noted = await service.call('PATCH', `/DemoShop/orders/${orderId}`, {
        token: 'demo-all',
        headers: { 'content-type': 'application/json-patch+json' },
        body: JSON.stringify([{ op: 'add', path: '/internalNote', value: 'VIP' }]),
      });
      expect(noted.status).toBe(200);
      const lines = [{ lineItemId: now.line_items[0].id, quantity: 2 }];
      await manage('POST', `${orderId}/shipments`, { lines, carrier: 'DHL', trackingCode: '0034' });
      const [, shipped] = await receiver.until(2);
      expect(shipped!.body.line_items[0].status).toBe('fulfilled');
      expect(shipped!.body.fulfillment.events).toHaveLength(1);
      expect(shipped!.headers['webhook-id']).not.toBe(created!.headers['webhook-id']);
      expect(await isSignedByShop(shipped!)).toBe(true);
      await expect.poll(waitingJobs).toBe(0);
      expect(receiver.calls).toHaveLength(2);
    } finally {
      await notices.stop();
    }
  });

  test('are sent again with the same id until they are taken', async () => {
    receiver.answer = (_call, response) => response.writeHead(500).end();
    await givenOrder(1);
    const notices = start();
    try {
      const [first] = await receiver.until(1);
      await expect
        .poll(async () =>
          service.db.one(sql`select attempts, error from job where queue = 'assistant order'`),
        )
        .toEqual({ attempts: 1, error: 'The receiver answered 500' });
      receiver.answer = (_call, response) => response.end('ok');
      await service.db.run(
        sql`update job set run_at = ${service.db.serviceNow} where queue = 'assistant order'`,
      );
      const [, second] = await receiver.until(2);
      expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
      await expect.poll(waitingJobs).toBe(0);
    } finally {
      await notices.stop();
    }
  });

  test('of one order arrive one after the other, whichever process sends them', async () => {
    const { orderId, completed } = await givenOrder(2);
    const [line] = completed.line_items;
    let running = 0;
    let most = 0;
    let answer = () => {};
    receiver.answer = (_call, response) => {
      most = Math.max(most, ++running);
      answer = () => {
        running--;
        response.end('ok');
      };
      if (receiver.calls.length > 1) answer();
    };
    const processes = [start(), start()];
    try {
      await receiver.until(1);
      await manage('POST', `${orderId}/shipments`, { lines: [{ lineItemId: line.id, quantity: 1 }] });
      const waits = async () =>
        (await service.db.one<{ waiting: number }>(sql`
          select count(*)::int as waiting from job where queue = 'assistant order' and held_at is not null`))!
          .waiting;
      await expect.poll(waits).toBe(1);
      expect(receiver.calls).toHaveLength(1);
      answer();
      const [first, second] = await receiver.until(2);
      const statusOf = ({ body }: ReceivedCall) => body.line_items[0].status;
      expect([statusOf(first!), statusOf(second!)]).toEqual(['processing', 'partial']);
      await expect.poll(waitingJobs).toBe(0);
      expect(most).toBe(1);
      // The lease has ended with the notice, and would end by itself if the process had died.
      const lease = await service.db.one<object>(sql`
        select holder, leased_until < ${service.db.serviceNow} as "isOver" from assistant_session
        join customer_order on assistant_session_id = session_id where order_id = ${orderId}`);
      expect(lease).toEqual({ holder: null, isOver: true });
    } finally {
      await Promise.all(processes.map((one) => one.stop()));
    }
  });

  test('go nowhere where assistants are shut out, and without an address', async () => {
    const set = (orders: boolean) =>
      service.db.transaction((tx) => applySettings(tx, 'DemoShop', { assistants: { open: true, orders } }));
    await givenOrder(1);
    await set(false);
    const notices = start();
    try {
      await expect.poll(waitingJobs).toBe(0);
      await set(true);
      assistant.profile = `${assistant.origin}/without-${round}.json`;
      assistant.file = withWebhook({ not: 'an address' });
      await givenOrder(1);
      await expect.poll(waitingJobs).toBe(0);
      expect(receiver.calls).toEqual([]);
    } finally {
      await notices.stop();
    }
  });

  test('go to no private address', async () => {
    // A request by another name ends demo access, in which every machine may be called; 127.0.0.0/8 is allowed here.
    await ask(service, '/', undefined, { method: 'GET', host: 'kontor.example' });
    await service.app.demoAccess.refresh();
    assistant.file = withWebhook('https://10.0.0.1/hook');
    await givenOrder(1);
    const notices = start();
    try {
      await expect
        .poll(async () =>
          service.db.one(sql`select attempts, error from job where queue = 'assistant order'`),
        )
        .toEqual({
          attempts: 1,
          error: 'The address must be reachable at a public address',
        });
    } finally {
      await notices.stop();
    }
  });
});

test('the admin shows which assistant has prepared an order, and what the buyers of each have ordered', async () => {
  const { orderId, orderNumber, completed } = await givenOrder();
  const { host } = new URL(assistant.profile);
  const merchant = await givenMerchant(service);
  expect((await merchant.get(`/orders/${orderId}`)).text).toContain(`Prepared by ${host}`);

  const { text } = await merchant.get('/settings/assistants');
  const total = completed.totals.find(({ type }: { type: string }) => type === 'total').amount as number;
  const cells = [...text.matchAll(/<td data-title="(?:Assistant|Orders|Total)"[^>]*>([^<]*)</g)].map(
    ([, cell]) => cell!,
  );
  // Each profile is another assistant here, and this one has one order.
  expect(cells.slice(0, 3)).toEqual([host, '1', moneyText(total, 'EUR', 'en')]);
  expect(text).toContain(`>${orderNumber}</a>`);
  expect(text).toContain('href="http://demoshop.localhost:8080/.well-known/ucp"');
});
