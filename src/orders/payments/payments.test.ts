import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  changeSettings,
  changesNothing,
  givenProduct,
  givenSmallShop,
  NOW,
  price,
  queuedEmails,
  type Shop,
} from '../../../test/carts.ts';
import { createFakeProvider } from '../../../test/fake-provider.ts';
import { attemptsOf, buy, paymentDeps, workOff } from '../../../test/payments.ts';
import { startService, type Service } from '../../../test/service.ts';
import { mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { installationKey } from '../../platform/sealing.ts';
import { releaseUnpaidOrders } from '../release-unpaid.ts';
import { saveFields } from './accounts.ts';
import type { PaymentDeps } from './calls.ts';
import { PaymentRefused } from './provider.ts';

const fake = createFakeProvider();
const METHODS = [
  { key: 'advance', name: 'Advance' },
  { key: 'card', name: 'Card', provider: 'demo' },
];

let service: Service;
let deps: PaymentDeps;
let shop: Shop;
let tea: string;

beforeAll(async () => {
  service = await startService({}, undefined, { providers: { demo: fake.provider } });
  service.setClock(NOW);
  deps = paymentDeps(service, { demo: fake.provider });
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  seconds = 0;
  fake.calls.length = 0;
  // What other tests have left is not due any more.
  await service.db.run(sql`update payment_attempt set check_at = null`);
  await service.db.run(sql`update order_payment set check_at = null`);
  await service.db.run(sql`update customer_order set release_at = null`);
  for (const name of Object.keys(fake.failures)) delete fake.failures[name as 'start'];
  shop = await givenCardShop();
  tea = await givenProduct(shop, { price: 1000, stock: 10 });
});

async function givenCardShop(settings: object = {}): Promise<Shop> {
  const made = await givenSmallShop(service, {
    paymentMethods: METHODS.map((method) => (method.key === 'card' ? { ...method, ...settings } : method)),
  });
  const key = await installationKey(service.config);
  const row = await service.db.one<{ id: string }>(sql`
    select payment_method_id as id from payment_method where shop_id = ${made.shopId} and key = 'card'`);
  await service.db.transaction((tx) => saveFields(tx, key, made.shopId, row!.id, { secretKey: 'sk_1' }));
  return made;
}

/** Each call of the merchant is a second later, so that the history has an order. */
let seconds = 0;
const at = (minutes: number) => {
  seconds = minutes * 60;
  service.setClock(new Date(NOW.getTime() + seconds * 1000));
};

/** An order whose payment page was opened; the reference of its payment. */
async function opened(of: Shop = shop) {
  const purchase = await buy(of, tea, 'card');
  const [attempt] = await attemptsOf(of, purchase.orderId);
  return { ...purchase, reference: attempt!.reference! };
}

/** One that is paid, as the poll finds out. */
async function paid() {
  const purchase = await opened();
  fake.pay(purchase.reference);
  at(1);
  await workOff(deps);
  return purchase;
}

const manage = (orderId: string, method: string, part = '', body?: unknown) => {
  if (method !== 'GET') at((seconds + 1) / 60);
  return service.call(method, `/manage/shops/${shop.shopId}/orders/${orderId}${part}`, {
    token: shop.token,
    body,
  });
};

const managed = async (orderId: string) => (await manage(orderId, 'GET')).body;

const historyOf = async (orderId: string): Promise<{ kind: string; details: Record<string, unknown> }[]> =>
  (await manage(orderId, 'GET', '/history?resultsPerPage=100')).body.items;

const kindsOf = async (orderId: string) => (await historyOf(orderId)).map(({ kind }) => kind);

const webhook = (body: unknown, signature = 'sk_1', key = 'card') =>
  service.app.inject({
    method: 'POST',
    url: `/payments/${shop.shopId}/${key}/webhook`,
    headers: { 'content-type': 'application/json', 'x-signature': signature },
    payload: JSON.stringify(body),
  });

const eventsOf = (orderId: string) =>
  service.db.many<{ type: string; data: object }>(sql`
    select type, data from event where shop_id = ${shop.shopId} and resource_id = ${orderId}
      and type in ('ORDER_PAID', 'ORDER_REFUNDED', 'ORDER_CANCELLED') order by position`);

const stock = async () =>
  (await service.db.one<{ stock: number }>(sql`
    select stock::float8 as stock from product where shop_id = ${shop.shopId} and product_id = ${tea}`))!
    .stock;

describe('an order', () => {
  test('is paid by return, webhook or poll, whichever comes first, and once', async () => {
    const { visitor, payPath, orderId, reference } = await opened();
    fake.pay(reference);
    const paidPath = payPath.replace(/pay$/, 'paid');
    const answers = await Promise.all([
      visitor.get(paidPath),
      webhook([reference]).then(() => workOff(deps)),
      webhook([reference]).then(() => workOff(deps)),
      visitor.get(paidPath),
    ]);
    expect(answers[0].status).toBe(303);
    at(1);
    await webhook([reference]);
    await workOff(deps);
    const order = await managed(orderId);
    expect(order.management).toMatchObject({
      paidAmount: price(10),
      outstandingAmount: price(0),
      payments: [{ kind: 'payment', amount: price(10), reference }],
      paymentAttempts: [{ provider: 'demo', state: 'paid', amount: price(10), reference, error: null }],
    });
    expect(await kindsOf(orderId)).toEqual(['placed', 'payment recorded']);
    expect(await eventsOf(orderId)).toEqual([{ type: 'ORDER_PAID', data: { amount: 10, currency: 'EUR' } }]);
  });

  test('whose payment can not be started is there, and can be paid later', async () => {
    fake.failures.start = new Error('connection reset');
    const { visitor, payPath, orderId } = await buy(shop, tea, 'card');
    expect(payPath).toBe(`/shop/${shop.shopId}/confirmation`);
    const page = await visitor.get(payPath);
    expect(page.text).toContain(
      'The payment could not be started. Your order is saved, please try again in a moment.',
    );
    expect(mainOf(page)).toContain(
      'Your order has not been paid yet. We keep your order for another 60 minutes. Pay €10.00 now',
    );
    const [, action] = /action="([^"]*\/pay)"/.exec(page.text)!;
    delete fake.failures.start;
    const again = await visitor.post(action!, {});
    expect(again.headers.location).toBe(action);
    // The same attempt with the same id: the provider may have known it after all.
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'open', amount: 1000 }]);
    expect((await visitor.get(action!)).text).toContain('content="0; url=https://pay.example/');
  });

  test('gets a new attempt when the first one never began', async () => {
    fake.failures.start = new Error('connection reset');
    const { visitor, orderId } = await buy(shop, tea, 'card');
    const page = await visitor.get('/confirmation');
    const [, action] = /action="([^"]*\/pay)"/.exec(page.text)!;
    at(2);
    await workOff(deps);
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'failed', reference: null }]);
    delete fake.failures.start;
    await visitor.post(action!, {});
    expect((await attemptsOf(shop, orderId)).map(({ state }) => state)).toEqual(['failed', 'open']);
  });

  test('whose provider refuses says so to the merchant', async () => {
    fake.failures.start = new PaymentRefused('The account is closed');
    const { orderId } = await buy(shop, tea, 'card');
    expect((await managed(orderId)).management.paymentAttempts).toMatchObject([
      { state: 'failed', error: 'The account is closed' },
    ]);
    expect(await kindsOf(orderId)).toEqual(['placed', 'payment failed']);
  });

  test('goes on with the page that is open, and never has two', async () => {
    const { visitor, payPath, orderId } = await opened();
    const answers = await Promise.all([visitor.post(payPath, {}), visitor.post(payPath, {})]);
    expect(answers.map(({ headers }) => headers.location)).toEqual([payPath, payPath]);
    expect(await attemptsOf(shop, orderId)).toHaveLength(1);
    // Another amount needs another page: the old one is closed first.
    await manage(orderId, 'POST', '/payments', { amount: 4 });
    await visitor.post(payPath, {});
    expect(await attemptsOf(shop, orderId)).toMatchObject([
      { state: 'cancelled', amount: 1000 },
      { state: 'open', amount: 600 },
    ]);
  });

  test('can not be sent before it is paid; by hand it may be', async () => {
    const { orderId } = await opened();
    const refused = await changesNothing(service, () => manage(orderId, 'POST', '/shipments', {}));
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining(
        '10 EUR of the order are not paid yet; if they came in another way, record them with POST payments first',
      ),
    ]);
    await manage(orderId, 'POST', '/payments', { amount: 10 });
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(201);
    // Nobody is to pay a second time.
    await workOff(deps);
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'cancelled' }]);
  });

  test('whose money is on its way is not cancelled; when it does not come, it is', async () => {
    const { orderId, reference } = await opened();
    fake.move(reference, 'processing');
    at(61);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    fake.move(reference, 'failed');
    at(180);
    await workOff(deps);
    at(185);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(1);
    expect(await kindsOf(orderId)).toEqual(['placed', 'payment failed', 'cancelled']);
    expect(await stock()).toBe(10);
  });

  test('that is paid in the moment in which it would be cancelled stays', async () => {
    const { orderId, reference } = await opened();
    fake.pay(reference);
    at(61);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    expect((await managed(orderId)).paidOn).not.toBeNull();
    expect(fake.calls).toContain('cancel');
  });

  test('waits as long as the shop says', async () => {
    shop = await givenCardShop({ releaseUnpaidAfterMinutes: 15 });
    tea = await givenProduct(shop, { price: 1000 });
    const { orderId } = await opened();
    at(14);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    at(15);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(1);
    expect((await managed(orderId)).management.cancelledOn).not.toBeNull();
  });

  test('whose provider does not answer for long is asked less and less often, and given up after a week', async () => {
    const { orderId } = await opened();
    fake.failures.confirm = new Error('away');
    fake.failures.cancel = new Error('away');
    for (const minutes of [1, 2, 5, 10, 61, 200]) {
      at(minutes);
      await workOff(deps);
    }
    expect(fake.calls.filter((name) => name !== 'start').length).toBeLessThanOrEqual(7);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    expect((await managed(orderId)).management.paymentAttempts).toMatchObject([
      { state: 'open', error: 'away' },
    ]);
    at(8 * 24 * 60);
    await workOff(deps);
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'failed' }]);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(1);
  });
});

describe('money that nobody needs', () => {
  test('goes back at once when the order was cancelled meanwhile', async () => {
    const { orderId, reference } = await opened();
    expect((await manage(orderId, 'POST', '/cancel', { reason: 'sold out' })).status).toBe(200);
    fake.pay(reference);
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([1000]);
    expect((await managed(orderId)).management).toMatchObject({
      paidAmount: price(10),
      refundedAmount: price(10),
      payments: expect.arrayContaining([
        expect.objectContaining({ kind: 'payment', amount: price(10) }),
        expect.objectContaining({ kind: 'refund', amount: price(10) }),
      ]),
    });
    expect((await managed(orderId)).paidOn).toBeNull();
    const history = await historyOf(orderId);
    // What is written in one transaction has one time.
    expect(history.map(({ kind }) => kind).toSorted()).toEqual(
      ['placed', 'cancelled', 'payment recorded', 'refund requested', 'refunded'].toSorted(),
    );
    const requested = history.find(({ kind }) => kind === 'refund requested')!;
    expect(requested.details).toMatchObject({ reason: 'paid after the order was cancelled', amount: 10 });
    expect((await eventsOf(orderId)).map(({ type }) => type)).toEqual(['ORDER_CANCELLED', 'ORDER_REFUNDED']);
  });

  test('goes back as far as the order was paid in another way', async () => {
    const { orderId, reference } = await opened();
    fake.pay(reference);
    await manage(orderId, 'POST', '/payments', { amount: 4 });
    at(1);
    await workOff(deps);
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([400]);
    expect((await managed(orderId)).management).toMatchObject({
      paidAmount: price(14),
      refundedAmount: price(4),
      outstandingAmount: price(0),
    });
  });

  test('does not come when a cancelled order closes its page', async () => {
    const { orderId, reference } = await opened();
    await manage(orderId, 'POST', '/cancel', {});
    await workOff(deps);
    expect(fake.payments.get(reference)!.state).toBe('cancelled');
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'cancelled' }]);
  });
});

describe('refunds', () => {
  test('go through the provider, in parts, to the cent and no further', async () => {
    const { orderId, reference } = await paid();
    const emails = (await queuedEmails(service, shop.shopId)).length;
    const first = await manage(orderId, 'POST', '/refunds', { amount: 3.33 });
    expect(first.body.management).toMatchObject({
      refundedAmount: price(3.33),
      payments: [
        { kind: 'payment' },
        { kind: 'refund', amount: price(3.33), state: 'requested', reference: null },
      ],
    });
    expect(await queuedEmails(service, shop.shopId)).toHaveLength(emails);
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([333]);
    const told = (await queuedEmails(service, shop.shopId)).slice(emails);
    expect(told).toMatchObject([{ template: 'refund', facts: { amount: '€3.33' } }]);

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => manage(orderId, 'POST', '/refunds', { amount: 3.33 })),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(2);
    await workOff(deps);
    await manage(orderId, 'POST', '/refunds', { amount: 0.01 });
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([333, 333, 333, 1]);
    const { management } = await managed(orderId);
    expect(management.refundedAmount).toEqual(price(10));
    expect(management.payments.filter(({ state }: { state?: string }) => state !== undefined)).toEqual([]);
    expect((await eventsOf(orderId)).filter(({ type }) => type === 'ORDER_REFUNDED')).toHaveLength(4);
  });

  test('are not asked for again, and do not keep an order from being sent', async () => {
    const { visitor, payPath, orderId } = await paid();
    await manage(orderId, 'POST', '/refunds', { amount: 2 });
    await workOff(deps);
    expect((await visitor.post(payPath, {})).headers.location).toBe(`/shop/${shop.shopId}/confirmation`);
    expect(await attemptsOf(shop, orderId)).toHaveLength(1);
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(201);
  });

  test('that the provider refuses for good give the amount back', async () => {
    const { orderId } = await paid();
    await manage(orderId, 'POST', '/refunds', { amount: 10 });
    fake.failures.refund = new PaymentRefused('The card was closed');
    at(3);
    await workOff(deps);
    const { management } = await managed(orderId);
    expect(management).toMatchObject({
      refundedAmount: price(0),
      payments: [{ kind: 'payment' }, { kind: 'refund', state: 'failed' }],
    });
    expect(await kindsOf(orderId)).toEqual([
      'placed',
      'payment recorded',
      'refund requested',
      'refund failed',
    ]);
    delete fake.failures.refund;
    expect((await manage(orderId, 'POST', '/refunds', { amount: 10 })).status).toBe(201);
  });

  test('are tried again while the provider does not answer, and happen once', async () => {
    const { orderId, reference } = await paid();
    await manage(orderId, 'POST', '/refunds', { amount: 10 });
    fake.failures.refund = new Error('away');
    await workOff(deps);
    await workOff(deps);
    expect(fake.calls.filter((name) => name === 'refund')).toHaveLength(1);
    expect((await managed(orderId)).management.payments[1].state).toBe('requested');
    delete fake.failures.refund;
    at(3);
    await workOff(deps);
    at(10);
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([1000]);
    expect(fake.calls.filter((name) => name === 'refund')).toHaveLength(2);
  });

  test('of a return go the same way', async () => {
    const { orderId, reference } = await paid();
    const { body } = await manage(orderId, 'POST', '/shipments', {});
    const [{ lineItemId }] = body.lineItemContainer.productLineItems;
    const lines = [{ lineItemId, quantity: 1 }];
    expect((await manage(orderId, 'POST', '/returns', { lines, refund: 7.5 })).status).toBe(201);
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([750]);
    at(5);
    expect((await kindsOf(orderId)).toSorted()).toEqual(
      ['placed', 'payment recorded', 'shipped', 'refund requested', 'returned', 'refunded'].toSorted(),
    );
  });

  test('of a return that fail leave it waiting for the merchant, who tries again', async () => {
    const { orderId, reference } = await paid();
    const { body } = await manage(orderId, 'POST', '/shipments', {});
    const [{ lineItemId }] = body.lineItemContainer.productLineItems;
    const lines = [{ lineItemId, quantity: 1 }];
    await manage(orderId, 'POST', '/returns', { lines, refund: 7.5 });
    fake.failures.refund = new PaymentRefused('The balance is too low');
    await workOff(deps);
    const failed = (await managed(orderId)).management;
    expect(failed).toMatchObject({ refundedAmount: price(0), returns: [{ state: 'refundFailed' }] });
    const waiting = () => service.call('GET', `/manage/shops/${shop.shopId}/returns`, { token: shop.token });
    const [{ returnId }] = failed.returns;
    expect((await waiting()).body.items).toMatchObject([{ orderId, returnId, state: 'refundFailed' }]);
    expect((await historyOf(orderId)).find(({ kind }) => kind === 'refund failed')!.details).toMatchObject({
      returnId,
      amount: 7.5,
    });
    expect((await queuedEmails(service)).at(-1)).toMatchObject({
      template: 'paymentProblem',
      facts: { orderId, problem: 'refundFailed', amount: '€7.50' },
    });
    delete fake.failures.refund;
    const again = await manage(orderId, 'PUT', `/returns/${returnId}`, { state: 'refunded', refund: 7.5 });
    expect([again.status, again.body.management.returns[0].state]).toEqual([200, 'refunded']);
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([750]);
    expect((await managed(orderId)).management.refundedAmount).toEqual(price(7.5));
    expect((await waiting()).body.items).toEqual([]);
    expect((await manage(orderId, 'PUT', `/returns/${returnId}`, { state: 'received' })).status).toBe(409);
  });

  test('follow when a paid order is cancelled by the merchant, without another call', async () => {
    const { orderId, reference } = await paid();
    await manage(orderId, 'POST', '/refunds', { amount: 3 });
    const { body } = await manage(orderId, 'POST', '/cancel', {});
    expect(body.management).toMatchObject({ paidAmount: price(10), refundedAmount: price(10) });
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([300, 700]);
    const requested = (await historyOf(orderId)).filter(({ kind }) => kind === 'refund requested');
    expect(requested.map(({ details }) => [details['amount'], details['reason']])).toEqual([
      [3, undefined],
      [7, 'the order was cancelled'],
    ]);
    const problems = (await queuedEmails(service)).filter(
      ({ template, facts }) => template === 'paymentProblem' && facts['orderId'] === orderId,
    );
    expect(problems).toEqual([]);
  });

  test('follow when the customer cancels a paid order', async () => {
    const { orderId, reference, visitor, payPath } = await paid();
    await visitor.submit(payPath.replace(`/shop/${shop.shopId}`, '').replace(/pay$/, 'cancel'), {});
    expect((await managed(orderId)).management.cancelledOn).not.toBeNull();
    await workOff(deps);
    expect(fake.refundsOf(reference)).toEqual([1000]);
  });

  test('of what was sent in part, or paid by hand, stay with the merchant, who is told', async () => {
    const problemsOf = async (orderId: string) =>
      (await queuedEmails(service)).flatMap(({ template, facts }) =>
        template === 'paymentProblem' && facts['orderId'] === orderId
          ? [[facts['problem'], facts['amount']]]
          : [],
      );
    const { orderId: byHand } = await buy(shop, tea, 'advance');
    await manage(byHand, 'POST', '/payments', { amount: 10 });
    const { body } = await manage(byHand, 'POST', '/cancel', {});
    expect(body.management).toMatchObject({ paidAmount: price(10), refundedAmount: price(0) });
    expect(await problemsOf(byHand)).toEqual([['refundByHand', '€10.00']]);
    const { orderId: unpaid } = await buy(shop, tea, 'advance');
    await manage(unpaid, 'POST', '/cancel', {});
    expect(await problemsOf(unpaid)).toEqual([]);
    const { orderId } = await paid();
    await service.db.run(sql`
      update customer_order set partially_dispatched_at = ${NOW} where order_id = ${orderId}`);
    await manage(orderId, 'POST', '/cancel', {});
    await workOff(deps);
    expect(fake.calls).not.toContain('refund');
    expect(await problemsOf(orderId)).toEqual([['refundByHand', '€10.00']]);
  });

  test('of money that came by hand stay by hand', async () => {
    const { orderId } = await opened();
    await manage(orderId, 'POST', '/payments', { amount: 10 });
    const { body } = await manage(orderId, 'POST', '/refunds', { amount: 2, reference: 'R-1' });
    expect(body.management.payments[1]).toMatchObject({ reference: 'R-1' });
    expect(body.management.payments[1].state).toBeUndefined();
    await workOff(deps);
    expect(fake.calls).not.toContain('refund');
  });
});

describe('reserved money', () => {
  /** An order whose money is reserved. */
  async function reserved() {
    const purchase = await opened();
    fake.move(purchase.reference, 'authorized');
    await webhook([purchase.reference]);
    await workOff(deps);
    return purchase;
  }
  const problemsOf = async (orderId: string) =>
    (await queuedEmails(service)).flatMap(({ template, facts }) =>
      template === 'paymentProblem' && facts['orderId'] === orderId
        ? [[facts['problem'], facts['amount']]]
        : [],
    );

  beforeEach(async () => {
    shop = await givenCardShop({ capture: 'manual' });
    tea = await givenProduct(shop, { price: 1000 });
  });

  test('keeps the order, and is taken when the merchant asks for it', async () => {
    const { orderId, reference } = await opened();
    expect((await changesNothing(service, () => manage(orderId, 'POST', '/capture'))).status).toBe(409);
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(409);
    fake.move(reference, 'authorized');
    await webhook([reference]);
    await workOff(deps);
    at(61);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    expect((await manage(orderId, 'POST', '/capture')).status).toBe(200);
    await workOff(deps);
    expect((await managed(orderId)).management.paidAmount).toEqual(price(10));
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(201);
    await workOff(deps);
    expect(fake.calls.filter((name) => name === 'capture')).toHaveLength(1);
  });

  test('is taken when all of the order is sent, and not before', async () => {
    const { orderId } = await reserved();
    const order = await managed(orderId);
    const [{ lineItemId }] = order.lineItemContainer.productLineItems;
    const half = { lines: [{ lineItemId, quantity: 0.5 }] };
    expect((await manage(orderId, 'POST', '/shipments', half)).status).toBe(201);
    at(5);
    await workOff(deps);
    expect(fake.calls).not.toContain('capture');
    expect((await manage(orderId, 'POST', '/shipments', half)).status).toBe(201);
    await workOff(deps);
    expect((await managed(orderId)).management.paidAmount).toEqual(price(10));
    expect(await problemsOf(orderId)).toEqual([]);
  });

  test('is taken when the order is marked as dispatched, also before the money was reserved', async () => {
    const mark = (orderId: string) =>
      service.call('PATCH', `/${shop.shopId}/orders/${orderId}`, {
        token: shop.token,
        body: [{ op: 'add', path: '/dispatchedOn', value: NOW.toISOString() }],
      });
    const { orderId } = await reserved();
    expect((await mark(orderId)).status).toBe(200);
    await workOff(deps);
    expect((await managed(orderId)).management.paidAmount).toEqual(price(10));
    const early = await opened();
    await mark(early.orderId);
    fake.move(early.reference, 'authorized');
    await webhook([early.reference]);
    await workOff(deps);
    await workOff(deps);
    expect((await managed(early.orderId)).management.paidAmount).toEqual(price(10));
  });

  test('that is refused is told to the merchant, who asks again', async () => {
    const { orderId } = await reserved();
    fake.failures.capture = new PaymentRefused('The card has expired');
    await manage(orderId, 'POST', '/shipments', {});
    await workOff(deps);
    expect(await problemsOf(orderId)).toEqual([['captureFailed', '€10.00']]);
    expect(await kindsOf(orderId)).toEqual(['placed', 'shipped', 'capture failed']);
    expect((await managed(orderId)).management.paymentAttempts).toMatchObject([
      { state: 'authorized', error: 'The card has expired' },
    ]);
    // Nobody tries again by himself.
    at(60 * 24);
    await workOff(deps);
    expect(fake.calls.filter((name) => name === 'capture')).toHaveLength(1);
    delete fake.failures.capture;
    expect((await manage(orderId, 'POST', '/capture')).status).toBe(200);
    await workOff(deps);
    expect((await managed(orderId)).management.paidAmount).toEqual(price(10));
    expect(await problemsOf(orderId)).toHaveLength(1);
  });

  test('is tried for while the provider does not answer, and after half an hour the merchant is told', async () => {
    const { orderId } = await reserved();
    fake.failures.capture = new Error('no answer');
    await manage(orderId, 'POST', '/shipments', {});
    for (const minutes of [1, 2, 4, 8, 16]) {
      at(minutes);
      await workOff(deps);
    }
    expect(await problemsOf(orderId)).toEqual([]);
    at(32);
    await workOff(deps);
    expect(await problemsOf(orderId)).toEqual([['captureFailed', '€10.00']]);
    delete fake.failures.capture;
    at(120);
    await workOff(deps);
    expect((await managed(orderId)).management.paidAmount).toEqual(price(10));
    expect(await problemsOf(orderId)).toHaveLength(1);
  });

  test('that the bank has given up after the goods were sent is for the merchant to see to', async () => {
    const { orderId, reference } = await reserved();
    await manage(orderId, 'POST', '/shipments', {});
    fake.move(reference, 'cancelled');
    await workOff(deps);
    expect(await problemsOf(orderId)).toEqual([['captureFailed', '€10.00']]);
    const templates = (await queuedEmails(service))
      .filter(({ facts }) => facts['orderId'] === orderId)
      .map(({ template }) => template);
    expect(templates).not.toContain('paymentFailed');
  });
});

describe('webhooks', () => {
  test('are refused without their signature, and change nothing', async () => {
    const { reference } = await opened();
    await changesNothing(service, async () => {
      expect((await webhook([reference], 'wrong')).statusCode).toBe(400);
      expect((await webhook([reference], '')).statusCode).toBe(400);
      expect((await webhook([reference], 'sk_1', 'advance')).statusCode).toBe(404);
      expect((await webhook([reference], 'sk_1', 'none')).statusCode).toBe(404);
      const unknown = await service.app.inject({ method: 'POST', url: '/payments/Nobody/card/webhook' });
      expect(unknown.statusCode).toBe(404);
      const large = await webhook(['x'.repeat(300_000)]);
      expect(large.statusCode).toBe(413);
      // Signed, and not what it should be.
      expect((await webhook({ no: 'list' })).statusCode).toBe(400);
    });
  });

  test('about payments of others are no error', async () => {
    expect((await webhook(['fake_of_somebody', 'a\0b'])).statusCode).toBe(200);
    expect((await webhook([])).statusCode).toBe(200);
  });

  test('say nothing that is believed: the provider is asked', async () => {
    const { orderId, reference } = await opened();
    await webhook([reference]);
    await workOff(deps);
    expect(fake.calls).toEqual(['start', 'confirm']);
    expect((await managed(orderId)).paidOn).toBeNull();
  });
});

test('an app that names its own transaction has paid without us', async () => {
  const { orderId } = await opened();
  const { body } = await manage(orderId, 'GET');
  expect(body.paymentData.paymentMethod.providerName).toBe('Demo payment');
  await changeSettings(shop, {
    paymentMethods: METHODS.map((method) => ({
      ...method,
      ...(method.key === 'card' && { providerLabel: 'CardPay' }),
    })),
  });
  const { orderId: second } = await opened();
  expect((await manage(second, 'GET')).body.paymentData.paymentMethod.providerName).toBe('CardPay');
});
