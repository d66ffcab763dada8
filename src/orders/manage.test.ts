import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenToken } from '../../test/builders.ts';
import {
  changeSettings,
  givenCoupon,
  givenDemoShop,
  givenProduct,
  givenSmallShop,
  ID,
  NOW,
  paymentId,
  price,
  queuedEmails,
  shippingId,
  totalsOf,
} from '../../test/carts.ts';
import {
  SETTINGS,
  placed,
  on,
  well,
  refused,
  stockOf,
  usesOf,
  appOf,
  historyOf,
  lineIds,
  NOT_EDITING,
  CANCELLED,
  givenOrder,
  countOrders,
  miscounts,
  lastMoment,
  service,
  startManaging,
} from '../../test/managed-orders.ts';
import type { Content } from '../pricing/content.ts';
import { sql } from '../db/sql.ts';
import { insertDemoOrders } from '../commands/demo/orders.ts';
import { newId } from '../kernel/ids.ts';
import { revised } from './revision.ts';

beforeAll(startManaging);
afterAll(() => service.close());

test('the order as it was placed', async () => {
  const { order } = await givenOrder();
  expect(totalsOf(order.body)).toEqual({
    subtotal: 35,
    discount: 0,
    coupon: 0,
    shipping: 4.9,
    payment: 0,
    total: 39.9,
    beforeTax: 34.94,
    tax: 4.96,
  });
  const seen = await well(order, 'GET');
  const { management, ...others } = seen;
  expect(others).toEqual(order.body);
  expect(management).toEqual({
    editing: null,
    state: 'waitingForPayment',
    cancelledOn: null,
    paidAmount: price(0),
    refundedAmount: price(0),
    refundableAmount: price(0),
    outstandingAmount: price(39.9),
    taxes: [
      { rate: 7, treatment: 'domestic', amount: price(15), tax: { ...price(0.98), taxType: 'NONE' } },
      { rate: 19, treatment: 'domestic', amount: price(24.9), tax: { ...price(3.98), taxType: 'NONE' } },
    ],
    buyer: { buyerReference: null, purchaseOrderNumber: null, vatCheck: null },
    promotions: [],
    deliveryOption: null,
    shipments: [],
    returns: [],
    payments: [],
  });
});

describe('edit mode', () => {
  test('is entered once, shown, and left', async () => {
    const { shop, order } = await givenOrder();
    const appId = await appOf(shop, shop.token);
    const entered = await well(order, 'POST', '/edit');
    const since = lastMoment();
    expect(entered.management.editing).toEqual({ appId, since });
    expect(entered.lastUpdatedOnDate).toBeNull();
    expect((await well(order, 'POST', '/edit')).management.editing).toEqual({ appId, since });
    expect((await well(order, 'DELETE', '/edit')).management.editing).toBeNull();
    expect((await well(order, 'DELETE', '/edit')).management.editing).toBeNull();
    expect((await historyOf(order)).map(({ kind }: { kind: string }) => kind)).toEqual([
      'placed',
      'editing started',
      'editing ended',
    ]);
  });

  test('keeps everybody else out, also from what needs no edit mode', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    const other = await givenToken(service, shop.shopId);
    await well(order, 'POST', '/payments', { amount: 5 });
    await well(order, 'POST', '/edit');
    const calls: [string, string, unknown?][] = [
      ['POST', '/edit'],
      ['DELETE', '/edit'],
      ['DELETE', '/edit?force=false'],
      ['POST', '/line-items', { productId: tea, quantity: 1 }],
      ['PUT', `/line-items/${teaLine}`, { quantity: 1 }],
      ['DELETE', `/line-items/${teaLine}`],
      ['PUT', '/shipping', { shippingMethodId: await shippingId(shop, 'express') }],
      ['PUT', '/payment', { paymentMethodId: await paymentId(shop, 'cod') }],
      ['POST', '/cancel', {}],
      ['POST', '/payments', { amount: 1 }],
      ['POST', '/refunds', { amount: 1 }],
      ['POST', '/shipments', {}],
      ['POST', '/returns', { lines: [{ lineItemId: teaLine, quantity: 1 }] }],
    ];
    for (const [method, path, body] of calls) {
      expect(await refused(order, method, path, body, other)).toEqual([
        409,
        'The order is being edited by another app',
      ]);
    }
    expect((await well(order, 'GET', '', undefined, other)).management.editing).not.toBeNull();
    await well(order, 'DELETE', '/edit?force=true', undefined, other);
    await well(order, 'POST', '/edit', undefined, other);
    const [, , , , last] = [...(await historyOf(order))];
    expect(last).toMatchObject({ kind: 'editing started', appId: await appOf(shop, other) });
    expect((await historyOf(order))[3]).toMatchObject({
      kind: 'editing ended',
      appId: await appOf(shop, other),
      details: { startedBy: await appOf(shop, shop.token) },
    });
  });

  test('of twelve apps at once, one gets it', async () => {
    const { shop, order } = await givenOrder();
    const tokens = await Promise.all(Array.from({ length: 12 }, () => givenToken(service, shop.shopId)));
    const answers = await Promise.all(tokens.map((token) => on(order, 'POST', '/edit', undefined, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11);
    const winner = tokens[answers.findIndex(({ status }) => status === 200)]!;
    expect((await well(order, 'GET')).management.editing.appId).toBe(await appOf(shop, winner));
  });

  test('is needed for lines and methods', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    for (const [method, path, body] of [
      ['POST', '/line-items', { productId: tea, quantity: 1 }],
      ['PUT', `/line-items/${teaLine}`, { quantity: 1 }],
      ['DELETE', `/line-items/${teaLine}`, undefined],
      ['PUT', '/shipping', { shippingMethodId: await shippingId(shop, 'express') }],
      ['PUT', '/payment', { paymentMethodId: await paymentId(shop, 'cod') }],
    ] as const) {
      expect(await refused(order, method, path, body)).toEqual([409, NOT_EDITING]);
    }
  });
});

describe('cancelling', () => {
  test('gives back the stock, the coupon use and nothing else, once', async () => {
    const { shop, tea, book } = await givenOrder();
    await givenCoupon(
      shop,
      'ONCE',
      { name: 'PERCENT', amount: 10 },
      {
        usageLimit: 1,
        campaignUsageLimit: 1,
      },
    );
    const order = await placed(shop, { [tea]: 2, [book]: 1 }, 'ONCE');
    expect([await stockOf(shop, tea), await stockOf(shop, book)]).toEqual([6, 6]);
    await well(order, 'POST', '/payments', { amount: 10 });
    await well(order, 'POST', '/edit');
    const cancelled = await well(order, 'POST', '/cancel', { reason: 'ordered twice' });
    const now = lastMoment();
    expect(cancelled).toMatchObject({
      rejectedOn: now,
      lastUpdatedOnDate: null,
      management: {
        editing: null,
        cancelledOn: now,
        paidAmount: price(10),
        refundedAmount: price(0),
        outstandingAmount: price(0),
      },
    });
    // Why is between the shop and itself.
    const emails = (await queuedEmails(service, shop.shopId)).filter(
      ({ facts }) => facts['orderId'] === order.id,
    );
    expect(emails.find(({ template }) => template === 'cancelled')).toEqual({
      shopId: shop.shopId,
      to: 'ada.lindqvist@mail.example',
      locale: 'en_GB',
      template: 'cancelled',
      facts: { orderId: order.id, orderNumber: order.body.orderNumber, cause: 'merchant', paid: '€10.00' },
    });
    expect(emails.find(({ template }) => template === 'paymentProblem')).toMatchObject({
      to: 'shop@mail.example',
      facts: { problem: 'refundByHand', amount: '€10.00' },
    });
    expect([await stockOf(shop, tea), await stockOf(shop, book)]).toEqual([8, 7]);
    expect(await usesOf(shop, 'ONCE')).toEqual({ used: 0, campaign: 0 });
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'cancelled',
      details: { reason: 'ordered twice' },
    });
    const [lineItemId] = lineIds(order.body);
    for (const [method, path, body] of [
      ['POST', '/cancel', {}],
      ['POST', '/edit', undefined],
      ['POST', '/line-items', { productId: tea, quantity: 1 }],
      ['PUT', `/line-items/${lineItemId}`, { quantity: 1 }],
      ['DELETE', `/line-items/${lineItemId}`, undefined],
      ['PUT', '/shipping', { shippingMethodId: await shippingId(shop, 'express') }],
      ['PUT', '/payment', { paymentMethodId: await paymentId(shop, 'cod') }],
      ['POST', '/payments', { amount: 1 }],
      ['POST', '/shipments', {}],
    ] as const) {
      expect(await refused(order, method, path, body)).toEqual([409, CANCELLED]);
    }
    expect((await well(order, 'POST', '/refunds', { amount: 10 })).management.refundedAmount).toEqual(
      price(10),
    );
    // The code can be used again.
    await placed(shop, { [tea]: 1 }, 'ONCE');
  });

  test('keeps what was sent; all of it sent, it is refused', async () => {
    const { shop, order, tea, book, teaLine } = await givenOrder();
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 1.5 }] });
    await well(order, 'POST', '/cancel', { reason: null });
    expect([await stockOf(shop, tea), await stockOf(shop, book)]).toEqual([8.5, 10]);
    await well(order, 'POST', '/returns', { lines: [{ lineItemId: teaLine, quantity: 1.5 }] });
    expect(await stockOf(shop, tea)).toBe(10);
    const sent = await placed(shop, { [tea]: 1 });
    await well(sent, 'POST', '/shipments', {});
    expect(await refused(sent, 'POST', '/cancel', {})).toEqual([
      409,
      'All of the order was sent, record a return instead',
    ]);
  });

  test('twelve at once give back the stock once', async () => {
    const { shop, order, tea, book } = await givenOrder();
    const answers = await Promise.all(Array.from({ length: 12 }, () => on(order, 'POST', '/cancel', {})));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 11 }, () => 409),
    ]);
    expect([await stockOf(shop, tea), await stockOf(shop, book)]).toEqual([10, 10]);
  });

  test('many at once that hold the same goods in another order give all of it back', async () => {
    const shop = await givenSmallShop(service, SETTINGS);
    const [tea, book] = [await givenProduct(shop, { stock: 20 }), await givenProduct(shop, { stock: 20 })];
    const orders = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        placed(shop, Object.fromEntries((index % 2 ? [tea, book] : [book, tea]).map((id) => [id, 1]))),
      ),
    );
    expect([await stockOf(shop, tea), await stockOf(shop, book)]).toEqual([0, 0]);
    await Promise.all(orders.map((order) => well(order, 'POST', '/cancel', {})));
    expect([await stockOf(shop, tea), await stockOf(shop, book)]).toEqual([20, 20]);
  });

  test('tells those who wait for what comes back', async () => {
    const shop = await givenSmallShop(service, SETTINGS);
    const tea = await givenProduct(shop, { number: 'LAST', stock: 1 });
    const order = await placed(shop, { [tea]: 1 });
    await service.db.run(sql`
      insert into watcher (shop_id, product_id, email, locale, created_at)
      values (${shop.shopId}, ${tea}, 'bo@mail.example', 'en_GB', ${NOW})`);
    await well(order, 'POST', '/cancel', {});
    const told = (await queuedEmails(service)).filter(({ template }) => template === 'availability');
    expect(told.at(-1)).toMatchObject({
      to: 'bo@mail.example',
      template: 'availability',
      facts: { productNumber: 'LAST' },
    });
  });

  test('of a product that is gone there is nothing to give back', async () => {
    const { shop, order, tea, book } = await givenOrder();
    await service.db.run(sql`delete from product where shop_id = ${shop.shopId} and product_id = ${tea}`);
    await well(order, 'POST', '/cancel', {});
    expect(await stockOf(shop, book)).toBe(10);
  });
});

describe('the history', () => {
  test('tells everything in order, in pages, and nothing of a person', async () => {
    const { shop, order, tea, teaLine, bookLine } = await givenOrder();
    const other = await givenToken(service, shop.shopId, undefined, 'Warehouse');
    await well(order, 'POST', '/edit');
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 3 });
    await well(order, 'POST', '/line-items', { productId: tea, quantity: 1 });
    await well(order, 'DELETE', `/line-items/${bookLine}`);
    await well(order, 'DELETE', '/edit');
    await well(order, 'POST', '/payments', { amount: 5, note: 'Ada paid' });
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 1 }] }, other);
    await well(
      order,
      'POST',
      '/returns',
      { lines: [{ lineItemId: teaLine, quantity: 1 }], refund: 1 },
      other,
    );
    await well(order, 'POST', '/refunds', { amount: 1, reference: 'R-1' });
    await well(order, 'POST', '/cancel', {});
    const all = await historyOf(order);
    expect(all.map(({ kind }: { kind: string }) => kind)).toEqual([
      'placed',
      'editing started',
      'line changed',
      'line added',
      'line removed',
      'editing ended',
      'payment recorded',
      'shipped',
      'returned',
      'refunded',
      'cancelled',
    ]);
    expect(all[0]).toEqual({
      eventId: order.id,
      date: order.body.creationDate,
      appId: await appOf(shop, shop.token),
      appName: expect.stringMatching(/^app /),
      kind: 'placed',
      details: {},
    });
    expect(all[8]).toEqual({
      eventId: ID,
      date: expect.any(String),
      appId: await appOf(shop, other),
      appName: 'Warehouse',
      kind: 'returned',
      details: {
        returnId: ID,
        lines: [{ lineItemId: teaLine, quantity: 1 }],
        restocked: true,
        paymentId: ID,
        refund: 1,
      },
    });
    expect(JSON.stringify(all)).not.toMatch(/Ada|Lindqvist|mail\.example/);
    const pages = [];
    for (const page of [1, 2, 3, 4, 5]) {
      const answer = await well(order, 'GET', `/history?resultsPerPage=3&page=${page}`);
      expect(answer).toMatchObject({ results: 11, page, resultsPerPage: 3 });
      pages.push(...answer.items);
    }
    expect(pages).toEqual(all);
    const rows = await service.db.many<{ route: string }>(sql`
      select route from audit_entry where shop_id = ${shop.shopId} and object ->> 'orderId' = ${order.id}
      and route like '/manage/%'`);
    expect(rows).toHaveLength(10);
  });
});

test('an order whose payment was taken off stays without one', async () => {
  const { shop, order, teaLine } = await givenOrder();
  await service.db.run(sql`
    update customer_order set content = jsonb_set(content, '{payment}', 'null')
    where shop_id = ${shop.shopId} and order_id = ${order.id}`);
  await well(order, 'POST', '/edit');
  const changed = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 });
  expect(changed.paymentData).toBeNull();
  expect(totalsOf(changed)).toMatchObject({ payment: 0, total: 29.9 });
});

test('the texts come in the locale that is asked for', async () => {
  const { shop, order } = await givenOrder();
  await changeSettings(shop, { locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] } });
  const seen = await well(order, 'GET', '?locale=de_DE');
  expect(seen.management.outstandingAmount.formatted).toBe('39,90 €');
  expect((await well(order, 'POST', '/edit?locale=de_DE')).management.paidAmount.formatted).toBe('0,00 €');
});

test('an order that is unknown or of another shop does not exist', async () => {
  const { order, teaLine, tea } = await givenOrder();
  const stranger = await givenSmallShop(service, SETTINGS);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['GET', '/history', undefined],
    ['POST', '/edit', undefined],
    ['DELETE', '/edit?force=true', undefined],
    ['POST', '/line-items', { productId: tea, quantity: 1 }],
    ['PUT', `/line-items/${teaLine}`, { quantity: 1 }],
    ['DELETE', `/line-items/${teaLine}`, undefined],
    ['POST', '/cancel', {}],
    ['POST', '/payments', { amount: 1 }],
    ['POST', '/refunds', { amount: 1 }],
    ['POST', '/shipments', {}],
    ['POST', '/returns', { lines: [{ lineItemId: teaLine, quantity: 1 }] }],
  ] as const) {
    for (const id of [order.id, newId(NOW)]) {
      expect(await refused({ ...order, shop: stranger, id }, method, path, body)).toEqual([
        404,
        'HTTP 404 Not Found',
      ]);
    }
  }
});

test('the orders of the demo shop are what their own terms come to', async () => {
  const { shopId } = await givenDemoShop(service);
  await service.db.transaction((tx) => insertDemoOrders(tx, shopId, { knownTokens: true }));
  const orders = await service.db.many<{ content: Content }>(sql`
    select content from customer_order where shop_id = ${shopId}`);
  expect(orders.length).toBeGreaterThan(10);
  for (const { content } of orders) expect(revised(content)).toEqual(content);
});

test('what lists and sales are counted from is what the orders say', async () => {
  expect(await miscounts()).toEqual([]);
  expect(await countOrders()).toBeGreaterThan(25);
});
