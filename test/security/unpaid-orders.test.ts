import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseUnpaidOrders } from '../../src/orders/release-unpaid.ts';
import {
  changeSettings,
  changesNothing,
  DAY,
  givenCoupon,
  givenProduct,
  givenSmallShop,
  NOW,
  paymentId,
  type Shop,
  queuedEmails,
} from '../carts.ts';
import {
  CANCELLED,
  historyOf,
  miscounts,
  on,
  placed,
  refused,
  service,
  SETTINGS,
  startManaging,
  stockOf,
  usesOf,
  well,
  type Placed,
} from '../managed-orders.ts';
import { startService } from '../service.ts';

/**
 * Whoever orders with payment in advance and never pays takes the stock away from others. A shop says at its payment
 * method how long it waits; then the order is cancelled as the merchant would do it.
 */

beforeAll(startManaging);
afterAll(() => service.close());

const ADVANCE = SETTINGS.paymentMethods!.map((method) =>
  method.key === 'advance' ? { ...method, releaseUnpaidAfterDays: 7 } : method,
);

async function givenWaitingShop(): Promise<{ shop: Shop; tea: string }> {
  const shop = await givenSmallShop(service, { ...SETTINGS, paymentMethods: ADVANCE });
  return { shop, tea: await givenProduct(shop, { number: 'TEA', price: 1000, stock: 10 }) };
}

/** Releases what is due after so many days; how many orders. */
async function releaseAfter(days: number, limit = 100): Promise<number> {
  service.setClock(new Date(NOW.getTime() + days * DAY));
  try {
    return await releaseUnpaidOrders(service.db, limit);
  } finally {
    service.setClock(NOW);
  }
}

const stateOf = async (order: Placed) => {
  const { management, rejectedOn } = await well(order, 'GET');
  return { cancelled: management.cancelledOn !== null, rejected: rejectedOn !== null };
};

test('an order that nobody pays gives its goods and its coupon back, once', async () => {
  const { shop, tea } = await givenWaitingShop();
  await givenCoupon(shop, 'ONCE', { name: 'FIX', amount: 5 });
  const order = await placed(shop, { [tea]: 4 }, 'ONCE');
  expect(await changesNothing(service, () => releaseAfter(6.9))).toBe(0);
  expect([await stockOf(shop, tea), await usesOf(shop, 'ONCE')]).toEqual([6, { used: 1, campaign: 1 }]);

  expect(await releaseAfter(7)).toBe(1);
  expect([await stockOf(shop, tea), await usesOf(shop, 'ONCE')]).toEqual([10, { used: 0, campaign: 0 }]);
  expect(await stateOf(order)).toEqual({ cancelled: true, rejected: true });
  const [, entry] = await historyOf(order);
  expect(entry).toMatchObject({
    kind: 'cancelled',
    appId: null,
    details: { reason: 'Not paid in time', givenBack: [{ quantity: '4' }] },
  });
  const facts = { orderId: order.id, orderNumber: order.body.orderNumber, cause: 'unpaid', paid: null };
  expect((await queuedEmails(service, shop.shopId)).at(-1)).toMatchObject({ template: 'cancelled', facts });
  expect(await changesNothing(service, () => releaseAfter(30))).toBe(0);
  expect(await miscounts()).toEqual([]);
});

test('what was paid, sent or invoiced, even partly, waits for the merchant; so does what somebody edits', async () => {
  const { shop, tea } = await givenWaitingShop();
  const orders = await Promise.all([1, 2, 3, 4, 5].map(() => placed(shop, { [tea]: 1 })));
  const [paid, sent, invoiced, patched, edited] = orders as [Placed, Placed, Placed, Placed, Placed];
  const mark = (order: Placed, path: string) =>
    service.call('PATCH', `/${shop.shopId}/orders/${order.id}`, {
      token: shop.token,
      body: [{ op: 'add', path, value: NOW.toISOString() }],
    });
  await well(paid, 'POST', '/payments', { amount: 1 });
  await well(sent, 'POST', '/shipments', {});
  expect((await mark(invoiced, '/invoicedOn')).status).toBe(200);
  expect((await mark(patched, '/paidOn')).status).toBe(200);
  await well(edited, 'POST', '/edit');
  expect(await changesNothing(service, () => releaseAfter(30))).toBe(0);
  expect(await stockOf(shop, tea)).toBe(5);
  await well(edited, 'DELETE', '/edit');
  expect(await releaseAfter(30)).toBe(1);
  expect(await stateOf(edited)).toEqual({ cancelled: true, rejected: true });
});

test('other methods, and what is changed to one of them, may be paid whenever one likes', async () => {
  const { shop, tea } = await givenWaitingShop();
  const changed = await placed(shop, { [tea]: 1 });
  await well(changed, 'POST', '/edit');
  await well(changed, 'PUT', '/payment', { paymentMethodId: await paymentId(shop, 'cod') });
  await well(changed, 'DELETE', '/edit');
  const same = await placed(shop, { [tea]: 2 });
  await well(same, 'POST', '/edit');
  await well(same, 'POST', '/line-items', { productId: tea, quantity: 1 });
  await well(same, 'DELETE', '/edit');
  await changeSettings(shop, { paymentMethods: SETTINGS.paymentMethods! });
  const afterwards = await placed(shop, { [tea]: 1 });
  expect(await releaseAfter(30)).toBe(1);
  expect(await Promise.all([changed, same, afterwards].map(stateOf))).toEqual([
    { cancelled: false, rejected: false },
    { cancelled: true, rejected: true },
    { cancelled: false, rejected: false },
  ]);
  expect(await stockOf(shop, tea)).toBe(8);
});

test('a payment at the same moment wins or loses, and is never lost', async () => {
  const { shop, tea } = await givenWaitingShop();
  const ahead = await startService({}, service);
  ahead.setClock(new Date(NOW.getTime() + 8 * DAY));
  for (let round = 0; round < 5; round++) {
    const order = await placed(shop, { [tea]: 2 });
    // A payment moves the clock of the test a little; the other process is a week ahead.
    const [payment, released] = await Promise.all([
      on(order, 'POST', '/payments', { amount: 24.9 }).then(({ status }) => status),
      releaseUnpaidOrders(ahead.db, 100),
    ]);
    const { cancelled } = await stateOf(order);
    expect([payment, released, cancelled]).toBeOneOf([
      [201, 0, false],
      [409, 1, true],
    ]);
    expect(await stockOf(shop, tea)).toBe(cancelled ? 10 : 8);
    if (!cancelled) await well(order, 'POST', '/cancel', {});
    else expect(await refused(order, 'POST', '/payments', { amount: 1 })).toEqual([409, CANCELLED]);
  }
  await ahead.close();
});

test('many processes release each order once, in steps', async () => {
  const { shop, tea } = await givenWaitingShop();
  for (let orders = 0; orders < 6; orders++) await placed(shop, { [tea]: 1 });
  expect(await releaseAfter(8, 2)).toBe(2);
  expect(await stockOf(shop, tea)).toBe(6);
  const second = await startService({}, service);
  second.setClock(new Date(NOW.getTime() + 8 * DAY));
  service.setClock(new Date(NOW.getTime() + 8 * DAY));
  const counts = await Promise.all([
    releaseUnpaidOrders(service.db, 100),
    releaseUnpaidOrders(second.db, 100),
    releaseUnpaidOrders(second.db, 100),
  ]);
  service.setClock(NOW);
  await second.close();
  expect(counts.reduce((sum, count) => sum + count)).toBe(4);
  expect(await stockOf(shop, tea)).toBe(10);
  expect(await miscounts()).toEqual([]);
});
