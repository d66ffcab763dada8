import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import {
  changesNothing,
  givenProduct,
  givenSmallShop,
  paymentId as methodIdOf,
  refusal,
  type Shop,
} from '../../../test/carts.ts';
import {
  answerCalls,
  answerWith,
  givenInstalledApp,
  LABELS,
  startFakeApp,
  type AppQuestion,
  type FakeApp,
  type Reply,
} from '../../../test/fake-app.ts';
import { attemptsOf, buy, paymentDeps, workOff } from '../../../test/payments.ts';
import { cleanUp, startKontor } from '../../../test/process.ts';
import { databaseEnvironment, startService, type Service } from '../../../test/service.ts';
import { mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import type { PaymentDeps } from './calls.ts';

/** Payments that an installed app handles: what it is asked, what it reports, and what happens when it lies or is away. */

vi.setConfig({ testTimeout: 120_000 });

const LATER = {
  ...LABELS,
  name: 'Later',
  scopes: ['orders_read'],
  webhooks: [],
  calls: [{ kind: 'payment', url: '/pay', timeoutMs: 1_500, onFailure: 'refuse' }],
  paymentMethods: [
    {
      name: 'later',
      title: { en: 'Pay later', de: 'Später zahlen' },
      currencies: ['EUR'],
      countries: ['DE'],
      minimum: 500,
    },
  ],
};
const PAGE = 'https://later.example/pay/1';

let service: Service;
let deps: PaymentDeps;
let app: FakeApp;
let shop: Shop;
let merchant: Merchant;
let appId: string;
/** Of the app, in the shop. */
let token: string;
let tea: string;
let asked: AppQuestion[];
let reply: Reply;

/** What an app answers that does as it is asked. */
function obey({ body }: AppQuestion): object {
  const { paymentId, refundId, amount, currency, action } = body;
  const same = { paymentId, amount, currency };
  switch (action) {
    case 'start':
      return { ...same, redirectUrl: PAGE };
    case 'refund':
      return { refundId, amount, currency, state: 'done', reference: `R ${String(refundId)}` };
    default:
      return { ...same, state: action === 'capture' ? 'paid' : 'cancelled' };
  }
}

const answering = (answer: (question: AppQuestion) => object): Reply => {
  return (question, response) => answerWith(app, question, response, JSON.stringify(answer(question)));
};

beforeAll(async () => {
  service = await startService({ WEBHOOK_ALLOW: '127.0.0.0/8', RATE_LIMIT_ANONYMOUS: '0' });
  app = await startFakeApp();
  app.manifest = LATER;
  asked = answerCalls(app, (path) => (path === '/pay' ? reply : undefined));
  // From here on only that network may be called.
  await service.app.inject({ url: '/', headers: { via: '1.1 proxy' } });
  deps = paymentDeps(service);
});
afterAll(async () => {
  await app.close();
  await service.close();
});
beforeEach(async () => {
  await service.db.run(sql`update payment_attempt set check_at = null`);
  await service.db.run(sql`update order_payment set check_at = null`);
  reply = answering(obey);
  ({ shop, merchant, appId, token, tea } = await givenPayShop());
  asked.length = 0;
});

/** A shop that offers the method of the app, beside one without. */
async function givenPayShop() {
  const made = await givenSmallShop(service, { paymentMethods: [{ key: 'advance', name: 'Advance' }] });
  const owner = await givenMerchant(service, 'owner', made.shopId);
  const id = await givenInstalledApp(owner, app);
  await owner.post(`/settings/app-payments/${id}/later`, {});
  return {
    shop: made,
    merchant: owner,
    appId: id,
    token: await givenToken(service, made.shopId, ['orders_read'], 'Later'),
    tea: await givenProduct(made, { price: 1000, stock: 100 }),
  };
}

const managed = async (orderId: string) => (await manage(orderId, 'GET')).body;

const manage = (orderId: string, method: string, path = '', body?: object) =>
  service.call(method, `/manage/shops/${shop.shopId}/orders/${orderId}${path}`, { token: shop.token, body });

const report = (paymentId: string, body: object, sent = token) =>
  service.call('PUT', `/manage/shops/${shop.shopId}/app/payments/${paymentId}`, { token: sent, body });

const PAID = { state: 'paid', amount: 10, currencyId: 'EUR' };

async function opened() {
  const purchase = await buy(shop, tea, 'later');
  const [attempt] = await attemptsOf(shop, purchase.orderId);
  return { ...purchase, paymentId: attempt!.attemptId };
}

async function paid() {
  const purchase = await opened();
  expect((await report(purchase.paymentId, PAID)).status).toBe(200);
  asked.length = 0;
  return purchase;
}

const kindsOf = async (orderId: string) =>
  (await manage(orderId, 'GET', '/history')).body.items.map(({ kind }: { kind: string }) => kind);

const refunds = async (orderId: string) =>
  (await managed(orderId)).management.payments
    .filter(({ kind }: { kind: string }) => kind === 'refund')
    .map(({ amount, state }: { amount: { amount: number }; state?: string }) => [
      amount.amount,
      state ?? 'done',
    ]);

test('is offered with a button, begun at the app, and paid when the app says so', async () => {
  const { text } = await merchant.get('/settings/payments');
  expect(text).toContain(`Later (${app.host})`);
  expect(text).not.toContain(`/settings/app-payments/${appId}`);

  const { visitor, orderId, payPath, paymentId } = await opened();
  const order = await managed(orderId);
  expect(order.paymentData.paymentMethod).toMatchObject({ name: 'Pay later', providerName: 'Later' });
  expect(asked.map(({ body }) => body)).toEqual([
    {
      kind: 'payment',
      shop: shop.shopId,
      action: 'start',
      paymentId,
      orderId,
      orderNumber: order.orderNumber,
      shopName: expect.any(String),
      amount: 1000,
      currency: 'EUR',
      capture: 'automatic',
      locale: 'en_GB',
      returnUrl: expect.stringMatching(/\/order\/[\w-]{43}\/paid$/),
      method: 'later',
    },
  ]);
  expect(asked[0]!.headers['kontor-call']).toBe('payment');
  const leaving = await visitor.get(payPath);
  expect(leaving.text).toContain(`content="0; url=${PAGE}"`);
  expect(mainOf(leaving)).toContain('You are on your way to the payment page: Later.');

  const first = await report(paymentId, { ...PAID, message: 'Batch 4711' });
  expect([first.status, first.body]).toEqual([
    200,
    { paymentId, orderId, method: 'later', ...PAID, captured: 10, refunded: 0 },
  ]);
  expect((await managed(orderId)).management).toMatchObject({
    paidAmount: { amount: 10 },
    payments: [{ paymentId, kind: 'payment', reference: paymentId }],
  });
  expect(await kindsOf(orderId)).toEqual(['placed', 'payment recorded', 'payment reported']);
  // The same again, and the check of the returning shopper, change nothing.
  const rows = () =>
    service.db.many(sql`select *, xmin from payment_attempt where attempt_id = ${paymentId}`);
  const before = await rows();
  expect((await report(paymentId, PAID)).body).toEqual(first.body);
  expect(await rows()).toEqual(before);
  await visitor.get(payPath.replace(/pay$/, 'paid'));
  expect((await managed(orderId)).management.payments).toHaveLength(1);
  const page = await merchant.get(`/orders/${orderId}`);
  expect(page.text).toMatch(/Reported by the app[^]*?paid, €10\.00, Batch 4711[^]*?Later/);
});

test('is offered within the limits of the app, and can be left for another method', async () => {
  const cheap = await givenProduct(shop, { price: 499 });
  const { visitor, orderId } = await opened();
  expect(mainOf(await visitor.get('/confirmation'))).toContain('Pay €10.00 now');
  const other = buy(shop, cheap, 'later');
  await expect(other).rejects.toThrow();
  reply = answering(() => ({ refused: 'The customer is not known' }));
  const refused = await buy(shop, tea, 'later');
  expect((await managed(refused.orderId)).management.paymentAttempts).toMatchObject([
    { state: 'failed', error: 'Later: The customer is not known' },
  ]);
  const page = await refused.visitor.get('/confirmation');
  const [, form] = /action="([^"]*payment-method)"/.exec(page.text)!;
  await refused.visitor.post(form!, { paymentMethod: await methodIdOf(shop, 'advance') });
  expect((await managed(refused.orderId)).paymentData.paymentMethod.name).toBe('Advance');
  expect(await kindsOf(orderId)).toEqual(['placed']);
});

test('shows instructions where the app has no page', async () => {
  reply = answering((question) => {
    const { redirectUrl: _none, ...same } = obey(question) as { redirectUrl: string };
    return { ...same, instructions: { en: 'Pay at any kiosk.\nCode: <4711>', de: 'Am Kiosk zahlen.' } };
  });
  const { visitor, payPath, paymentId } = await opened();
  expect(payPath).toBe(`/shop/${shop.shopId}/confirmation`);
  const page = mainOf(await visitor.get('/confirmation'));
  expect(page).toContain('Pay at any kiosk. Code: <4711>');
  expect(page).not.toContain('Pay €10.00 now');
  await report(paymentId, PAID);
  expect(mainOf(await visitor.get('/confirmation'))).toContain('Your payment has arrived. Thank you!');
});

const raw = (write: (question: AppQuestion, response: ServerResponse) => void): Reply => write;
const changed = (change: object) => answering((question) => ({ ...obey(question), ...change }));

test.each<[string, () => Reply, RegExp]>([
  ['hangs', () => raw(() => {}), /within|time/],
  ['names another amount', () => changed({ amount: 999 }), /another payment: \/amount/],
  ['names another currency', () => changed({ currency: 'USD' }), /another payment: \/currency/],
  ['names another payment', () => changed({ paymentId: appId }), /another payment: \/paymentId/],
  [
    'answers 10 MB',
    () => raw((question, response) => answerWith(app, question, response, 'x'.repeat(10_000_000))),
    /larger than 64 KB/,
  ],
  [
    'signs with another secret',
    () =>
      raw((question, response) =>
        answerWith(app, question, response, JSON.stringify(obey(question)), { secret: 'x' }),
      ),
    /The signature of the answer is wrong/,
  ],
  [
    'leads to a private address',
    () => changed({ redirectUrl: 'https://10.0.0.1/pay' }),
    /redirectUrl must be reachable/,
  ],
  [
    'leads to a script',
    () => changed({ redirectUrl: 'javascript:alert(1)' }),
    /redirectUrl must be an https address/,
  ],
])(
  'that %s leaves the order unpaid, and the next click begins the same payment',
  async (_name, lie, problem) => {
    reply = lie();
    const { visitor, orderId, paymentId } = await opened();
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'starting', captured: 0 }]);
    expect((await managed(orderId)).paidOn).toBeNull();
    await service.app.appCalls.writeLog();
    const { body } = await service.call('GET', `/manage/shops/${shop.shopId}/app/calls`, { token });
    expect(body.items).toEqual([
      expect.objectContaining({ kind: 'payment', problem: expect.stringMatching(problem) }),
    ]);
    reply = answering(obey);
    const page = await visitor.get('/confirmation');
    const [, form] = /action="([^"]*\/pay)"/.exec(page.text)!;
    await visitor.post(form!, {});
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ attemptId: paymentId, state: 'open' }]);
    expect(asked.map((question) => question.body['paymentId'])).toEqual([paymentId, paymentId]);
  },
);

test('is reported by its app only, about its own amount', async () => {
  const { paymentId } = await paid();
  const open = await opened();
  const foreign = await givenPayShop();
  const others = [
    await givenToken(service, shop.shopId, ['orders_read', 'orders_write'], 'Another app'),
    foreign.token,
    'unknown',
  ];
  const statuses = [];
  for (const other of others) {
    statuses.push((await changesNothing(service, () => report(open.paymentId, PAID, other))).status);
  }
  expect(statuses).toEqual([404, 401, 401]);
  const elsewhere = `/manage/shops/${foreign.shop.shopId}/app/payments/${open.paymentId}`;
  expect((await service.call('PUT', elsewhere, { token: foreign.token, body: PAID })).status).toBe(404);
  expect((await service.call('GET', elsewhere, { token: foreign.token })).status).toBe(404);

  const reason = async (id: string, body: object) => {
    const [status, text] = await refusal(service, () => report(id, body));
    return `${status} ${text.replace(/^.*failed:\s*/s, '')}`;
  };
  const refunded = (amount: number) => ({ ...PAID, refunds: [{ reference: 'R-1', amount, state: 'done' }] });
  expect([
    await reason(open.paymentId, { ...PAID, amount: 10.01 }),
    await reason(open.paymentId, { ...PAID, currencyId: 'USD' }),
    await reason(open.paymentId, { ...PAID, state: 'authorized', amount: 9.99 }),
    await reason(open.paymentId, { ...refunded(0.01), state: 'failed' }),
    await reason(paymentId, { ...PAID, state: 'failed' }),
    await reason(paymentId, { ...PAID, amount: 9.99 }),
    await reason(paymentId, refunded(10.01)),
  ]).toEqual([
    expect.stringContaining('409 The payment is about 10 EUR'),
    expect.stringContaining('409 The payment is about 10 EUR'),
    expect.stringContaining('409 The payment is about 10 EUR'),
    expect.stringContaining('409 No more than 0 EUR can be refunded'),
    expect.stringContaining('409 The payment is paid already'),
    expect.stringContaining('409 The payment is paid already'),
    expect.stringContaining('409 No more than 10 EUR can be refunded'),
  ]);
});

test('is paid when the report overtakes the answer, and when the answer is lost', async () => {
  reply = raw((question, response) => {
    void report(String(question.body['paymentId']), PAID).then(() =>
      answerWith(app, question, response, JSON.stringify(obey(question))),
    );
  });
  const early = await opened();
  expect(mainOf(await early.visitor.get('/confirmation'))).toContain('Your payment has arrived. Thank you!');
  reply = raw((question) => void report(String(question.body['paymentId']), PAID));
  const lost = await opened();
  await vi.waitFor(async () => expect((await managed(lost.orderId)).paidOn).not.toBeNull());
  // Its refund names the payment, although its beginning was never recorded.
  reply = answering(obey);
  await manage(lost.orderId, 'POST', '/refunds', { amount: 10 });
  await workOff(deps);
  expect(await refunds(lost.orderId)).toEqual([[10, 'done']]);
});

test('is refunded at the app with one key, however often the answer is lost', async () => {
  const { orderId, paymentId } = await paid();
  const made = new Map<unknown, unknown>();
  reply = raw(({ body }) => void made.set(body['refundId'], body['amount']));
  await manage(orderId, 'POST', '/refunds', { amount: 4 });
  await workOff(deps);
  expect(await refunds(orderId)).toEqual([[4, 'requested']]);
  reply = answering((question) => {
    made.set(question.body['refundId'], question.body['amount']);
    return obey(question);
  });
  await service.db.run(sql`update order_payment set check_at = at where state = 'requested'`);
  await workOff(deps);
  expect(await refunds(orderId)).toEqual([[4, 'done']]);
  expect([...made.values()]).toEqual([400]);
  // Two at once are no more than was paid.
  const both = await Promise.all([6, 6].map((amount) => manage(orderId, 'POST', '/refunds', { amount })));
  expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409]);

  // A refund that was made at the app is recorded, and not made again.
  const second = await paid();
  const there = { ...PAID, refunds: [{ reference: 'R-9', amount: 3, state: 'processing' }] };
  await report(second.paymentId, there);
  asked.length = 0;
  await workOff(deps);
  expect(await refunds(second.orderId)).toEqual([[3, 'requested']]);
  const [refund] = there.refunds;
  await report(second.paymentId, { ...there, refunds: [{ ...refund, state: 'done' }] });
  await workOff(deps);
  expect(await refunds(second.orderId)).toEqual([[3, 'done']]);
  expect(asked.filter(({ body }) => body['paymentId'] === second.paymentId)).toEqual([]);
  expect(paymentId).not.toBe(second.paymentId);
});

test('is refunded once by a service that is killed while it asks', async () => {
  const { orderId } = await paid();
  const made = new Map<unknown, number>();
  const isAsked = new Promise<void>((resolve) => {
    reply = raw(({ body }) => {
      made.set(body['refundId'], Number(body['amount']));
      resolve();
    });
  });
  await manage(orderId, 'POST', '/refunds', { amount: 10 });
  const environment = {
    ...databaseEnvironment(service.database),
    KONTOR_DATA: service.config.KONTOR_DATA,
    WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  const meanwhile = async (kill: (signal: NodeJS.Signals) => void) => {
    await isAsked;
    kill('SIGKILL');
  };
  // It may be killed before it says that it is there.
  const [started] = await Promise.allSettled([startKontor(environment, { meanwhile })]);
  if (started.status === 'fulfilled') await started.value.ended;
  reply = answering((question) => {
    made.set(question.body['refundId'], Number(question.body['amount']));
    return obey(question);
  });
  expect(await refunds(orderId)).toEqual([[10, 'requested']]);
  await service.db.run(sql`update order_payment set check_at = at where state = 'requested'`);
  await workOff(deps);
  expect(await refunds(orderId)).toEqual([[10, 'done']]);
  expect([...made.values()]).toEqual([1000]);
});
afterEach(cleanUp);

test('that is reserved is captured at the app, and given up with its order', async () => {
  const RESERVED = { ...PAID, state: 'authorized' };
  const { orderId, paymentId } = await opened();
  await report(paymentId, RESERVED);
  expect((await manage(orderId, 'POST', '/capture')).status).toBe(200);
  await workOff(deps);
  expect((await managed(orderId)).paidOn).not.toBeNull();
  const second = await opened();
  await report(second.paymentId, RESERVED);
  await manage(second.orderId, 'POST', '/cancel', {});
  await workOff(deps);
  expect(await attemptsOf(shop, second.orderId)).toMatchObject([{ state: 'cancelled', captured: 0 }]);
  expect(asked.map(({ body }) => body['action'])).toEqual(['start', 'capture', 'start', 'cancel']);
});

test('that is paid while its order is cancelled goes back', async () => {
  const { orderId, paymentId } = await opened();
  const [reported, cancelled] = await Promise.all([
    report(paymentId, PAID),
    manage(orderId, 'POST', '/cancel', {}),
  ]);
  expect([reported.status, cancelled.status]).toEqual([200, 200]);
  await workOff(deps);
  await workOff(deps);
  const order = await managed(orderId);
  expect(order.management).toMatchObject({ paidAmount: { amount: 10 }, refundedAmount: { amount: 10 } });
  expect(await refunds(orderId)).toEqual([[10, 'done']]);
  // The app that has ended a payment may still find its money.
  const second = await opened();
  await manage(second.orderId, 'POST', '/cancel', {});
  await workOff(deps);
  expect(await attemptsOf(shop, second.orderId)).toMatchObject([{ state: 'cancelled' }]);
  await report(second.paymentId, PAID);
  await workOff(deps);
  expect(await refunds(second.orderId)).toEqual([[10, 'done']]);
});

test('of an uninstalled app is offered no longer, and says what to do', async () => {
  const { orderId, visitor } = await opened();
  const settled = await paid();
  await merchant.post(`/apps/${appId}/uninstall`);
  await visitor.submit('/cart/add', { productId: tea, quantity: '1' });
  await expect(buy(shop, tea, 'later', { visitor })).rejects.toThrow();
  expect((await merchant.get('/settings/payments')).text).toContain('app missing: not offered');
  await service.db.run(sql`update payment_attempt set check_at = created_at where state = 'open'`);
  await workOff(deps);
  const GONE = expect.stringContaining('The app of this payment is not installed any more.');
  expect((await managed(orderId)).management.paymentAttempts).toMatchObject([{ state: 'open', error: GONE }]);
  await manage(settled.orderId, 'POST', '/refunds', { amount: 10 });
  await workOff(deps);
  expect(await refunds(settled.orderId)).toEqual([[10, 'failed']]);
  // Nobody can report it any more, so it ends with its order.
  await manage(orderId, 'POST', '/cancel', {});
  await workOff(deps);
  expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'cancelled' }]);
});
