import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenToken } from '../../test/builders.ts';
import {
  changeSettings,
  changesNothing,
  DAY,
  done,
  givenCoupon,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  linesOf,
  NOW,
  paymentId,
  price,
  queuedMails,
  reasonOf,
  shippingId,
  totalsOf,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import type { Content } from '../carts/content.ts';
import { sql } from '../db/sql.ts';
import { insertDemoOrders } from '../demo/orders.ts';
import { newId, secretHash } from '../ids.ts';
import type { SettingsFile } from '../shop/settings-file.ts';
import { revised } from './revision.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
});

afterAll(() => service.close());

/** Each call is a moment later, so that the history has an order. */
let seconds = 0;
const tick = () => service.setClock(new Date(NOW.getTime() + ++seconds * 1000));

const SETTINGS: SettingsFile = {
  taxClasses: [
    { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
    { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
  ],
  shippingMethods: [
    { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 },
    { key: 'express', name: 'Express', kind: 'weight', price: 7, pricePerKg: 1.19 },
  ],
  paymentMethods: [
    { key: 'advance', name: 'Advance', price: 0 },
    { key: 'cod', name: 'On delivery', price: 2.5 },
    { key: 'debit', name: 'Debit', price: -1 },
  ],
};

interface Placed {
  shop: Shop;
  id: string;
  body: Answer['body'];
}

async function placed(shop: Shop, goods: Record<string, number>, coupon?: string): Promise<Placed> {
  const cart = await givenFullCart(shop, goods);
  if (coupon !== undefined) await done(cart, 'POST', '/coupon', { code: coupon });
  const body = await done(cart, 'POST', '/order');
  return { shop, id: body.orderId, body };
}

async function on(
  { shop, id }: Placed,
  method: string,
  path = '',
  body?: unknown,
  token = shop.token,
): Promise<Answer> {
  tick();
  return service.call(method, `/manage/shops/${shop.shopId}/orders/${id}${path}`, { token, body });
}

/** A call that goes well; the order that was answered. */
async function well(order: Placed, method: string, path = '', body?: unknown, token?: string) {
  const answer = await on(order, method, path, body, token);
  expect({ status: answer.status, message: answer.body.message }).toEqual({
    status: expect.toBeOneOf([200, 201]),
    message: undefined,
  });
  return answer.body;
}

/** Why it is refused; on the way it is checked that nothing has changed, and no mail was queued. */
function refused(order: Placed, method: string, path: string, body?: unknown, token?: string) {
  return changesNothing(service, () => reasonOf(on(order, method, path, body, token)));
}

async function stockOf({ shopId }: Shop, productId: string): Promise<number | null> {
  const row = await service.db.one<{ stock: number | null }>(sql`
    select stock::float8 as stock from product where shop_id = ${shopId} and product_id = ${productId}`);
  return row!.stock;
}

async function usesOf({ shopId }: Shop, code: string) {
  return service.db.one<{ used: number; campaign: number }>(sql`
    select coupon.used, campaign.used as campaign
    from coupon join coupon_campaign campaign on campaign.shop_id = coupon.shop_id
      and campaign.campaign_id = coupon.campaign_id
    where coupon.shop_id = ${shopId} and coupon.code = ${code}`);
}

const appOf = async ({ shopId }: Shop, token: string) =>
  (await service.db.one<{ id: string }>(sql`
    select upper(app_id::text) as id from token
    where shop_id = ${shopId} and token_hash = ${secretHash(token)}`))!.id;

const historyOf = async (order: Placed) => (await well(order, 'GET', '/history?resultsPerPage=100')).items;

const lineIds = ({ lineItemContainer }: Answer['body']): string[] =>
  lineItemContainer.productLineItems.map(({ lineItemId }: { lineItemId: string }) => lineItemId);

const NOT_EDITING = 'The order is not in edit mode, POST to its path .../edit first';
const CANCELLED = 'The order is cancelled and can not be changed';

/** Two products of two rates: 2 x 10.00 at 19 % and 3 x 5.00 at 7 %, delivery 4.90. */
async function givenOrder(settings: SettingsFile = SETTINGS) {
  const shop = await givenSmallShop(service, settings);
  const tea = await givenProduct(shop, { number: 'TEA', price: 1000, stock: 10 });
  const book = await givenProduct(shop, { number: 'BOOK', price: 500, stock: 10, taxClass: 'reduced' });
  const order = await placed(shop, { [tea]: 2, [book]: 3 });
  const [teaLine, bookLine] = lineIds(order.body) as [string, string];
  return { shop, order, tea, book, teaLine, bookLine };
}

test('the order as it was placed', async () => {
  const { order } = await givenOrder();
  expect(totalsOf(order.body)).toEqual({
    goods: 35,
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
    cancelledOn: null,
    paidAmount: price(0),
    refundedAmount: price(0),
    outstandingAmount: price(39.9),
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
    const since = new Date(NOW.getTime() + seconds * 1000).toISOString();
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

  test('73: keeps everybody else out, also from what needs no edit mode', async () => {
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

describe('lines', () => {
  test('70: more of a line takes stock, less gives it back, and the price stays as agreed', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    await service.db.run(sql`
      update product set prices = '{"EUR": 7777}', version = version + 1
      where shop_id = ${shop.shopId} and product_id = ${tea}`);
    const more = await well(order, 'PUT', `/line-items/${teaLine.toLowerCase()}`, { quantity: '4' });
    expect(linesOf(more)).toEqual([
      ['TEA', 4, 10, 40],
      ['BOOK', 3, 5, 15],
    ]);
    // 44.90 at 19 % hold 7.17, 15.00 at 7 % hold 0.98.
    expect(totalsOf(more)).toMatchObject({
      goods: 55,
      shipping: 4.9,
      total: 59.9,
      beforeTax: 51.75,
      tax: 8.15,
    });
    expect(more.grandTotal).toBe('59.9');
    expect(more.lastUpdatedOnDate).toBe(new Date(NOW.getTime() + seconds * 1000).toISOString());
    expect(await stockOf(shop, tea)).toBe(6);
    const less = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 0.5 });
    expect(totalsOf(less)).toMatchObject({ goods: 20, total: 24.9, beforeTax: 22.34, tax: 2.56 });
    expect(await stockOf(shop, tea)).toBe(9.5);
    expect(
      (await historyOf(order)).slice(2).map(({ kind, details }: Answer['body']) => [kind, details]),
    ).toEqual([
      [
        'line changed',
        {
          lineItemId: teaLine,
          productId: tea,
          quantity: { from: 2, to: 4 },
          price: { from: 10, to: 10 },
          grandTotal: { from: 39.9, to: 59.9 },
        },
      ],
      [
        'line changed',
        {
          lineItemId: teaLine,
          productId: tea,
          quantity: { from: 4, to: 0.5 },
          price: { from: 10, to: 10 },
          grandTotal: { from: 59.9, to: 24.9 },
        },
      ],
    ]);
  });

  test('a price of its own moves no stock', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const changed = await well(order, 'PUT', `/line-items/${teaLine}`, { price: '8.25', quantity: null });
    expect(linesOf(changed)[0]).toEqual(['TEA', 2, 8.25, 16.5]);
    expect(totalsOf(changed)).toMatchObject({ goods: 31.5, total: 36.4 });
    expect(await stockOf(shop, tea)).toBe(8);
    expect((await historyOf(order)).at(-1).details.price).toEqual({ from: 10, to: 8.25 });
    const free = await well(order, 'PUT', `/line-items/${teaLine}`, { price: 0 });
    expect(linesOf(free)[0]).toEqual(['TEA', 2, 0, 0]);
  });

  test('a product is added with the price and the texts of today, taxed at its rate', async () => {
    const { shop, order } = await givenOrder();
    const lamp = await givenProduct(shop, { number: 'LAMP', price: 2000, stock: 3, taxClass: 'reduced' });
    await well(order, 'POST', '/edit');
    const answer = await on(order, 'POST', '/line-items', { productId: lamp.toLowerCase(), quantity: 3 });
    expect(answer.status).toBe(201);
    expect(linesOf(answer.body)[2]).toEqual(['LAMP', 3, 20, 60]);
    // 24.90 at 19 % hold 3.98, 75.00 at 7 % hold 4.91.
    expect(totalsOf(answer.body)).toMatchObject({ goods: 95, total: 99.9, beforeTax: 91.01, tax: 8.89 });
    expect(await stockOf(shop, lamp)).toBe(0);
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'line added',
      details: { lineItemId: ID, productId: lamp, quantity: { from: 0, to: 3 }, price: { from: 0, to: 20 } },
    });
    const rows = await service.db.many(sql`
      select upper(product_id::text) as id, quantity::float8 as quantity, gross::float8 as gross from order_line
      where shop_id = ${shop.shopId} and order_id = ${order.id} order by gross`);
    expect(rows).toHaveLength(3);
    expect(rows.at(-1)).toEqual({ id: lamp, quantity: 3, gross: 6000 });
  });

  test('or with a price that is named, even if it has none', async () => {
    const { shop, order } = await givenOrder();
    const gift = await givenProduct(shop, { number: 'GIFT' });
    await service.db.run(sql`
      update product set prices = null where shop_id = ${shop.shopId} and product_id = ${gift}`);
    await well(order, 'POST', '/edit');
    expect(await refused(order, 'POST', '/line-items', { productId: gift, quantity: 1 })).toEqual([
      400,
      'GIFT has no price in EUR',
    ]);
    const added = await well(order, 'POST', '/line-items', { productId: gift, quantity: 1.5, price: 0.99 });
    expect(linesOf(added)[2]).toEqual(['GIFT', 1.5, 0.99, 1.49]);
  });

  test('one is removed, and its goods come back', async () => {
    const { shop, order, book, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const left = await well(order, 'DELETE', `/line-items/${bookLine}`);
    expect(linesOf(left)).toEqual([['TEA', 2, 10, 20]]);
    expect(totalsOf(left)).toMatchObject({ goods: 20, total: 24.9, beforeTax: 20.92, tax: 3.98 });
    expect(await stockOf(shop, book)).toBe(10);
    expect(await refused(order, 'DELETE', `/line-items/${teaLine}`)).toEqual([
      409,
      'The last line can not be removed, cancel the order instead',
    ]);
    expect((await on(order, 'DELETE', `/line-items/${bookLine}`)).status).toBe(404);
  });

  test('what is not there can not be sold, unless the shop says so', async () => {
    const { shop, order, tea, book, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const short = [409, 'There is not enough in stock of TEA'];
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 10.000001 })).toEqual(short);
    expect(await refused(order, 'POST', '/line-items', { productId: tea, quantity: 9 })).toEqual(short);
    expect(await refused(order, 'POST', '/line-items', { productId: book, quantity: 8 })).toEqual([
      409,
      'There is not enough in stock of BOOK',
    ]);
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 10 });
    expect(await stockOf(shop, tea)).toBe(0);
    await changeSettings(shop, { sellBeyondStock: true });
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 12 });
    expect(await stockOf(shop, tea)).toBe(-2);
  });

  test('of ten orders that want one of the last five, five get it', async () => {
    const { shop, tea } = await givenOrder();
    const last = await givenProduct(shop, { number: 'FIVE', stock: 5 });
    await changeSettings(shop, { sellBeyondStock: true });
    const orders = await Promise.all(Array.from({ length: 10 }, () => placed(shop, { [tea]: 1 })));
    await changeSettings(shop, { sellBeyondStock: false });
    await Promise.all(orders.map((order) => well(order, 'POST', '/edit')));
    const answers = await Promise.all(
      orders.map((order) => on(order, 'POST', '/line-items', { productId: last, quantity: 1 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    expect(await stockOf(shop, last)).toBe(0);
  });

  test('what makes no sense is refused', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const unknown = newId(NOW);
    const problem = (code: string, field: string) =>
      `Update order failed:\n\tvalidation error ${code} on field ${field}`;
    const line = `/line-items/${teaLine}`;
    for (const [method, path, body, status, text] of [
      ['PUT', line, {}, 400, problem('MISSING', 'body')],
      ['PUT', line, { other: 1 }, 400, problem('MISSING', 'quantity')],
      ['PUT', line, { quantity: null, price: null }, 400, problem('MISSING', 'quantity')],
      ['PUT', line, { quantity: 0 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['PUT', line, { quantity: -1 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['PUT', line, { quantity: 1_000_001 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['PUT', line, { price: -1 }, 400, problem('OUT_OF_RANGE', 'price')],
      ['PUT', line, { price: 1.005 }, 400, problem('OUT_OF_RANGE', 'price')],
      ['PUT', line, { price: '1.005' }, 400, problem('OUT_OF_RANGE', 'price')],
      ['POST', '/line-items', { productId: tea, quantity: 0 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['POST', '/line-items', { productId: tea }, 400, problem('MISSING', 'quantity')],
      ['POST', '/line-items', { productId: unknown, quantity: 1 }, 404, 'HTTP 404 Not Found'],
      ['POST', '/line-items', { productId: 'tea', quantity: 1 }, 404, 'HTTP 404 Not Found'],
      ['PUT', `/line-items/${unknown}`, { quantity: 1 }, 404, 'HTTP 404 Not Found'],
      ['PUT', '/shipping', { shippingMethodId: unknown }, 400, problem('UNKNOWN_VALUE', 'shippingMethodId')],
      ['PUT', '/payment', { paymentMethodId: unknown }, 400, problem('UNKNOWN_VALUE', 'paymentMethodId')],
    ] as const) {
      expect(await refused(order, method, path, body)).toEqual([status, text]);
    }
    await changeSettings(shop, { sellBeyondStock: true });
    expect(
      await refused(order, 'POST', '/line-items', {
        productId: tea,
        quantity: 1_000_000,
        price: 100_000_000,
      }),
    ).toEqual([400, 'The order would be worth more than can be ordered at once']);
  });

  test('an order with an invoice waits for a credit note', async () => {
    const { shop, order, tea, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const document = (kind: string, number: number, quantity: string, grandTotal: number) =>
      service.db.run(sql`
        insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address,
          terms, content)
        values (${shop.shopId}, ${newId(NOW)}, ${order.id}, ${kind}, ${number}, ${NOW}, ${NOW}, '{}', '{}',
          ${{ lines: [{ lineItemId: teaLine, quantity }], grandTotal }})`);
    await document('Invoice', 1, '2', 2490);
    const text = 'The order is invoiced, credit it first with a credit note';
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 })).toEqual([409, text]);
    expect(await refused(order, 'DELETE', `/line-items/${teaLine}`)).toEqual([409, text]);
    const express = { shippingMethodId: await shippingId(shop, 'express') };
    expect(await refused(order, 'PUT', '/shipping', express)).toEqual([409, text]);
    expect(await refused(order, 'PUT', `/line-items/${bookLine}`, { quantity: 1 })).toEqual([409, text]);
    expect(await refused(order, 'POST', '/line-items', { productId: tea, quantity: 1 })).toEqual([409, text]);
    await document('CreditNote', 1, '1', 1000);
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 })).toEqual([409, text]);
    await document('CreditNote', 2, '1', 1490);
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 });
    await well(order, 'PUT', '/shipping', express);
    expect(await stockOf(shop, tea)).toBe(9);
  });

  test('a basket discount and a coupon are computed anew with the terms of the order', async () => {
    const { shop } = await givenOrder({
      ...SETTINGS,
      basketDiscounts: [{ from: 50, percent: 10 }],
    });
    await givenCoupon(
      shop,
      'SAVE5',
      { name: 'FIX', amount: 5 },
      {
        minimumOrderValue: 20,
      },
    );
    const tea = await givenProduct(shop, { number: 'T', price: 1000, stock: 100 });
    const order = await placed(shop, { [tea]: 3 }, 'SAVE5');
    expect(totalsOf(order.body)).toMatchObject({ goods: 30, discount: 0, coupon: -5, total: 29.9 });
    await changeSettings(shop, { basketDiscounts: [] });
    await well(order, 'POST', '/edit');
    const line = `/line-items/${lineIds(order.body)[0]}`;
    const more = await well(order, 'PUT', line, { quantity: 6 });
    expect(totalsOf(more)).toMatchObject({ goods: 60, discount: -6, coupon: -5, total: 53.9, tax: 8.61 });
    const less = await well(order, 'PUT', line, { quantity: 1 });
    expect(totalsOf(less)).toMatchObject({ goods: 10, discount: 0, coupon: 0, total: 14.9 });
    expect(less.lineItemContainer.couponLineItem.validationErrors).toEqual(['LineItemsSubTotalTooSmall']);
    expect(await usesOf(shop, 'SAVE5')).toEqual({ used: 1, campaign: 1 });
    const again = await well(order, 'PUT', line, { quantity: 2 });
    expect(totalsOf(again)).toMatchObject({ goods: 20, coupon: -5, total: 19.9 });
    expect(again.lineItemContainer.couponLineItem.validationErrors).toEqual([]);
    await well(order, 'POST', '/cancel', {});
    expect(await usesOf(shop, 'SAVE5')).toEqual({ used: 0, campaign: 0 });
  });

  test('a delivery that a coupon has waived stays free, whatever becomes of the coupon', async () => {
    const { shop, tea } = await givenOrder();
    await givenCoupon(
      shop,
      'FREE',
      { name: 'SHIPPING', waiveShippingCosts: true },
      {
        minimumOrderValue: 20,
      },
    );
    const order = await placed(shop, { [tea]: 2 }, 'FREE');
    expect(totalsOf(order.body)).toMatchObject({ shipping: 0, total: 20 });
    await well(order, 'POST', '/edit');
    const line = `/line-items/${lineIds(order.body)[0]}`;
    const more = await well(order, 'PUT', line, { quantity: 3 });
    expect(totalsOf(more)).toMatchObject({ shipping: 0, total: 30 });
    expect(more.lineItemContainer.couponLineItem.validationErrors).toEqual([]);
    const less = await well(order, 'PUT', line, { quantity: 1 });
    expect(totalsOf(less)).toMatchObject({ shipping: 0, total: 10 });
  });
});

describe('shipping and payment', () => {
  test('70: another delivery, by its rules of today or at a price that is named', async () => {
    const { shop, order, teaLine } = await givenOrder();
    const heavy = await givenProduct(shop, {
      number: 'HEAVY',
      price: 100,
      facts: { deliveryWeight: { amount: 1500, unit: 'gram' } },
    });
    await well(order, 'POST', '/edit');
    await well(order, 'POST', '/line-items', { productId: heavy, quantity: 2 });
    const express = await shippingId(shop, 'express');
    const changed = await well(order, 'PUT', '/shipping', { shippingMethodId: express.toLowerCase() });
    expect(changed.shippingData).toMatchObject({
      shippingMethod: { id: express, name: 'Express' },
      price: price(10.57),
      taxes: [{ price: { amount: 1.69 } }],
    });
    expect(totalsOf(changed)).toMatchObject({ goods: 37, shipping: 10.57, total: 47.57 });
    const less = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 });
    expect(totalsOf(less)).toMatchObject({ goods: 27, shipping: 10.57, total: 37.57 });
    const named = await well(order, 'PUT', '/shipping', { shippingMethodId: express, price: 0 });
    expect(totalsOf(named)).toMatchObject({ goods: 27, shipping: 0, total: 27 });
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'shipping changed',
      details: {
        shippingMethodId: { from: express, to: express },
        price: { from: 10.57, to: 0 },
        grandTotal: { from: 37.57, to: 27 },
      },
    });
  });

  test('70: another payment, which may be a discount', async () => {
    const { shop, order } = await givenOrder();
    await well(order, 'POST', '/edit');
    const cod = await paymentId(shop, 'cod');
    const charged = await well(order, 'PUT', '/payment', { paymentMethodId: cod });
    expect(charged.paymentData).toMatchObject({
      paymentMethod: { id: cod, name: 'On delivery' },
      price: price(2.5),
    });
    expect(totalsOf(charged)).toMatchObject({ payment: 2.5, total: 42.4 });
    const debit = await paymentId(shop, 'debit');
    const reduced = await well(order, 'PUT', '/payment', { paymentMethodId: debit });
    // 0.62 of it falls on 24.90 at 19 %, 0.38 on 15.00 at 7 %.
    expect(totalsOf(reduced)).toMatchObject({ payment: -1, total: 38.9, tax: 4.84, beforeTax: 34.06 });
    const free = await well(order, 'PUT', '/payment', { paymentMethodId: debit, price: '-100' });
    expect(totalsOf(free)).toMatchObject({ payment: -39.9, total: 0, tax: 0 });
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'payment method changed',
      details: { paymentMethodId: { from: debit, to: debit }, price: { from: -1, to: -39.9 } },
    });
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
    const now = new Date(NOW.getTime() + seconds * 1000).toISOString();
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
    expect((await queuedMails(service)).at(-1)).toMatchObject({
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

describe('payments and refunds', () => {
  test('add up to the grand total, and no further', async () => {
    const { order } = await givenOrder();
    const part = await well(order, 'POST', '/payments', { amount: '30', reference: 'QP-1', note: 'bank' });
    const first = new Date(NOW.getTime() + seconds * 1000).toISOString();
    expect(part).toMatchObject({ partiallyPaidOn: first, paidOn: null, lastUpdatedOnDate: null });
    expect(part.management).toMatchObject({
      paidAmount: price(30),
      outstandingAmount: price(9.9),
      payments: [
        {
          paymentId: ID,
          recordedOn: first,
          kind: 'payment',
          amount: price(30),
          reference: 'QP-1',
          note: 'bank',
          returnId: null,
        },
      ],
    });
    expect(await refused(order, 'POST', '/payments', { amount: 9.91 })).toEqual([
      400,
      'No more than 9.9 EUR are outstanding',
    ]);
    const all = await well(order, 'POST', '/payments', { amount: 9.9 });
    expect(all).toMatchObject({
      partiallyPaidOn: first,
      paidOn: new Date(NOW.getTime() + seconds * 1000).toISOString(),
    });
    expect(all.management.outstandingAmount).toEqual(price(0));
  });

  test.each([0, -1, '0.00', 0.001, '1.001', 1e11])('%j is no amount', async (amount) => {
    const { order } = await givenOrder();
    await well(order, 'POST', '/payments', { amount: 10 });
    const text = 'Update order failed:\n\tvalidation error OUT_OF_RANGE on field amount';
    for (const path of ['/payments', '/refunds']) {
      const [status, reason] = await refused(order, 'POST', path, { amount });
      if (amount === 1e11) expect([400, 409]).toContain(status);
      else expect([status, reason]).toEqual([400, text]);
    }
  });

  test('of twenty refunds at once as many succeed as there is money for', async () => {
    const { shop, order } = await givenOrder();
    await well(order, 'POST', '/payments', { amount: 39.9 });
    const mails = (await queuedMails(service)).length;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => on(order, 'POST', '/refunds', { amount: 3.5 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(11);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect((await well(order, 'GET')).management).toMatchObject({
      refundedAmount: price(38.5),
      outstandingAmount: price(38.5),
    });
    expect(await refused(order, 'POST', '/refunds', { amount: 1.41 })).toEqual([
      409,
      'No more than 1.4 EUR can be refunded',
    ]);
    const sent = (await queuedMails(service)).slice(mails);
    expect(sent).toHaveLength(11);
    expect(sent[0]).toEqual({
      shopId: shop.shopId,
      to: 'ada.lindqvist@mail.example',
      locale: 'en_GB',
      template: 'refund',
      facts: { orderNumber: order.body.orderNumber, amount: '3.50 €' },
    });
    const sums = await service.db.one(sql`
      select sum(amount) filter (where kind = 'refund')::int as refunds, count(*)::int as rows from order_payment
      where shop_id = ${shop.shopId} and order_id = ${order.id}`);
    expect(sums).toEqual({ refunds: 3850, rows: 12 });
  });

  test('what is taken off an order may make it paid', async () => {
    const { order, bookLine } = await givenOrder();
    await well(order, 'POST', '/payments', { amount: 24.9 });
    await well(order, 'POST', '/edit');
    const paid = await well(order, 'DELETE', `/line-items/${bookLine}`);
    expect(paid.paidOn).toBe(new Date(NOW.getTime() + seconds * 1000).toISOString());
  });
});

describe('shipments and returns', () => {
  test('parts are sent until nothing is left', async () => {
    const { shop, order, teaLine, bookLine } = await givenOrder();
    const part = await well(order, 'POST', '/shipments', {
      lines: [
        { lineItemId: teaLine.toLowerCase(), quantity: '0.5' },
        { lineItemId: teaLine, quantity: 0.5 },
      ],
      carrier: 'DHL',
      trackingCode: '0034',
    });
    const first = new Date(NOW.getTime() + seconds * 1000).toISOString();
    expect(part).toMatchObject({ partiallyDispatchedOn: first, dispatchedOn: null, lastUpdatedOnDate: null });
    expect(part.management.shipments).toEqual([
      {
        shipmentId: ID,
        shippedOn: first,
        lines: [{ lineItemId: teaLine, quantity: 1 }],
        carrier: 'DHL',
        trackingCode: '0034',
      },
    ]);
    expect((await queuedMails(service)).at(-1)).toEqual({
      shopId: shop.shopId,
      to: 'ada.lindqvist@mail.example',
      locale: 'en_GB',
      template: 'shipped',
      facts: {
        orderNumber: order.body.orderNumber,
        goods: ['1 piece(s) TEA'],
        isRest: false,
        carrier: 'DHL',
        trackingCode: '0034',
      },
    });
    const tooMuch = { lines: [{ lineItemId: teaLine, quantity: 1.000001 }] };
    expect(await refused(order, 'POST', '/shipments', tooMuch)).toEqual([
      409,
      'Of TEA no more than 1 can be sent',
    ]);
    const rest = await well(order, 'POST', '/shipments', {});
    expect(rest).toMatchObject({
      partiallyDispatchedOn: first,
      dispatchedOn: new Date(NOW.getTime() + seconds * 1000).toISOString(),
    });
    expect(rest.management.shipments[1]).toMatchObject({
      lines: [
        { lineItemId: teaLine, quantity: 1 },
        { lineItemId: bookLine, quantity: 3 },
      ],
      carrier: null,
    });
    expect((await queuedMails(service)).at(-1)!.facts).toMatchObject({ isRest: true });
    expect(await refused(order, 'POST', '/shipments', {})).toEqual([409, 'There is nothing left to be sent']);
  });

  test('what was sent stays in the order', async () => {
    const { order, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 1 }] });
    await well(order, 'POST', '/edit');
    const text = '1 of this line were sent already';
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 0.5 })).toEqual([409, text]);
    expect(await refused(order, 'DELETE', `/line-items/${teaLine}`)).toEqual([409, text]);
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 });
    const left = await well(order, 'DELETE', `/line-items/${bookLine}`);
    expect(left.dispatchedOn).toBe(new Date(NOW.getTime() + seconds * 1000).toISOString());
  });

  test('what comes back goes into the stock, and money with it', async () => {
    const { shop, order, tea, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/payments', { amount: 39.9 });
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 2 }] });
    const one = [{ lineItemId: teaLine, quantity: 1 }];
    const back = await well(order, 'POST', '/returns', { lines: one, refund: '10.00', note: 'unopened' });
    const moment = new Date(NOW.getTime() + seconds * 1000).toISOString();
    expect(back.returnedOn).toBe(moment);
    expect(back.management.returns).toEqual([
      { returnId: ID, returnedOn: moment, lines: one, restocked: true, note: 'unopened' },
    ]);
    expect(back.management.payments[1]).toMatchObject({
      kind: 'refund',
      amount: price(10),
      returnId: back.management.returns[0].returnId,
    });
    expect(back.management.refundedAmount).toEqual(price(10));
    expect(await stockOf(shop, tea)).toBe(9);
    expect((await queuedMails(service)).at(-1)).toMatchObject({
      template: 'refund',
      facts: { amount: '10.00 €' },
    });
    expect(await refused(order, 'POST', '/returns', { lines: one, refund: 29.91 })).toEqual([
      409,
      'No more than 29.9 EUR can be refunded',
    ]);
    const broken = await well(order, 'POST', '/returns', { lines: one, restock: false });
    expect(broken.returnedOn).toBe(moment);
    expect(await stockOf(shop, tea)).toBe(9);
    expect(await refused(order, 'POST', '/returns', { lines: one })).toEqual([
      409,
      'Of TEA no more than 0 can be returned',
    ]);
    const unsent = { lines: [{ lineItemId: bookLine, quantity: 1 }] };
    expect(await refused(order, 'POST', '/returns', unsent)).toEqual([
      409,
      'Of BOOK no more than 0 can be returned',
    ]);
    const unknown = { lines: [{ lineItemId: newId(NOW), quantity: 1 }] };
    for (const path of ['/returns', '/shipments']) {
      expect(await refused(order, 'POST', path, unknown)).toEqual([
        400,
        'Update order failed:\n\tvalidation error UNKNOWN_VALUE on field lines.0.lineItemId',
      ]);
      expect(await refused(order, 'POST', path, { lines: [] })).toEqual([
        400,
        'Update order failed:\n\tvalidation error LIST_EMPTY on field lines',
      ]);
    }
  });

  test('twelve shipments at once send no more than there is', async () => {
    const { order, teaLine } = await givenOrder();
    const lines = [{ lineItemId: teaLine, quantity: 1 }];
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => on(order, 'POST', '/shipments', { lines })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect((await well(order, 'GET')).management.shipments).toHaveLength(2);
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

test('an order in a currency without decimals, to another country', async () => {
  const shop = await givenSmallShop(service, {
    ...SETTINGS,
    currencies: { default: 'EUR', items: ['EUR', 'JPY'], rates: { JPY: 160 } },
    countries: { default: 'DE', items: ['DE', 'FR'] },
    taxClasses: [{ key: 'standard', name: 'standard', default: true, rates: { DE: 19, FR: 20 } }],
  });
  const [tea, lamp] = [
    await givenProduct(shop, { number: 'TEA' }),
    await givenProduct(shop, { number: 'LAMP' }),
  ];
  const cart = await givenFullCart(shop, { [tea]: 1 }, { currency: 'JPY', address: { country: 'FR' } });
  const body = await done(cart, 'POST', '/order');
  const order = { shop, id: body.orderId, body };
  expect(totalsOf(body)).toMatchObject({ goods: 1600, shipping: 784, total: 2384, tax: 397 });
  await well(order, 'POST', '/edit');
  const added = await well(order, 'POST', '/line-items', { productId: lamp, quantity: 2 });
  expect(linesOf(added)[1]).toEqual(['LAMP', 2, 1600, 3200]);
  expect(added.lineItemContainer.productLineItems[1].taxClass.percentage).toBe(20);
  expect(totalsOf(added)).toMatchObject({ goods: 4800, total: 5584, tax: 931, beforeTax: 4653 });
  const cod = { paymentMethodId: await paymentId(shop, 'cod') };
  expect(totalsOf(await well(order, 'PUT', '/payment', cod))).toMatchObject({ payment: 400, total: 5984 });
  expect(await refused(order, 'POST', '/payments', { amount: 0.5 })).toEqual([
    400,
    expect.stringContaining('OUT_OF_RANGE on field amount'),
  ]);
  const paid = await well(order, 'POST', '/payments', { amount: '5984.00' });
  expect(paid.management.paidAmount).toMatchObject({ amount: 5984, currency: 'JPY' });
  await changeSettings(shop, { currencies: { default: 'EUR', items: ['EUR'] } });
  expect(await refused(order, 'POST', '/line-items', { productId: lamp, quantity: 1 })).toEqual([
    400,
    'LAMP has no price in JPY',
  ]);
  const parcel = { shippingMethodId: await shippingId(shop, 'parcel') };
  expect(await refused(order, 'PUT', '/shipping', parcel)).toEqual([
    400,
    'The shop does not sell in JPY any more, name a price',
  ]);
  await well(order, 'PUT', '/shipping', { ...parcel, price: 100 });
});

test('a line at another rate of the same class is taxed at its own', async () => {
  const { shop, order } = await givenOrder();
  const lamp = await givenProduct(shop, { number: 'LAMP', price: 1000 });
  await changeSettings(shop, {
    taxClasses: [
      { key: 'standard', name: 'standard', default: true, rates: { DE: 25 } },
      { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
    ],
  });
  await well(order, 'POST', '/edit');
  const added = await well(order, 'POST', '/line-items', { productId: lamp, quantity: 1 });
  // 10.00 at 25 % hold 2.00; what was agreed before stays at 19 % and 7 %: 3.98 and 0.98.
  expect(totalsOf(added)).toMatchObject({ total: 49.9, tax: 6.96 });
  const rates = added.lineItemContainer.productLineItems.map(
    (line: Answer['body']) => line.taxClass.percentage,
  );
  expect(rates).toEqual([19, 7, 25]);
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

test('who was erased gets no mails', async () => {
  const { shop, order } = await givenOrder();
  await service.db.run(sql`
    update customer_order set billing_address = '{"country": "DE", "emailAddress": null}'
    where shop_id = ${shop.shopId} and order_id = ${order.id}`);
  await well(order, 'POST', '/payments', { amount: 1 });
  const before = await queuedMails(service);
  await well(order, 'POST', '/shipments', {});
  await well(order, 'POST', '/refunds', { amount: 1 });
  expect(await queuedMails(service)).toEqual(before);
});

test('a refund with a key happens once', async () => {
  const { shop, order } = await givenOrder();
  await well(order, 'POST', '/payments', { amount: 10 });
  const path = `/manage/shops/${shop.shopId}/orders/${order.id}/refunds`;
  const options = { token: shop.token, body: { amount: 2 }, headers: { 'idempotency-key': 'refund-1' } };
  for (const replayed of [undefined, 'true']) {
    const { status, headers, body } = await service.call('POST', path, options);
    expect([status, headers['idempotency-replayed']]).toEqual([201, replayed]);
    expect(body.management.refundedAmount).toEqual(price(2));
  }
  expect((await well(order, 'GET')).management.refundedAmount).toEqual(price(2));
});

test('a master is not added itself', async () => {
  const { shop, order } = await givenOrder();
  const master = await givenProduct(shop, { number: 'ROPE' });
  await service.db.run(sql`
    update product set kind = 'master', stock = null where shop_id = ${shop.shopId} and product_id = ${master}`);
  await well(order, 'POST', '/edit');
  expect(await refused(order, 'POST', '/line-items', { productId: master, quantity: 1 })).toEqual([
    400,
    'ROPE has variations, add one of them',
  ]);
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

test('a product of another shop can not be added', async () => {
  const { order } = await givenOrder();
  const stranger = await givenSmallShop(service, SETTINGS);
  const theirs = await givenProduct(stranger);
  await well(order, 'POST', '/edit');
  expect(await refused(order, 'POST', '/line-items', { productId: theirs, quantity: 1 })).toEqual([
    404,
    'HTTP 404 Not Found',
  ]);
});

test('an order of a net shop', async () => {
  const { order, teaLine } = await givenOrder({ ...SETTINGS, taxes: { model: 'net' } });
  expect(totalsOf(order.body)).toMatchObject({
    goods: 35,
    shipping: 4.9,
    beforeTax: 39.9,
    tax: 5.78,
    total: 45.68,
  });
  await well(order, 'POST', '/edit');
  const changed = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 3 });
  expect(totalsOf(changed)).toMatchObject({ goods: 45, beforeTax: 49.9, tax: 7.68, total: 57.58 });
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
  // After all that the tests above have done, and on another day.
  service.setClock(new Date(NOW.getTime() + DAY));
  const differences = await service.db.many(sql`
    with counted as (
      select shop_id, (created_at at time zone 'UTC')::date as day, currency, states, count(*) as orders,
        sum(grand_total) as gross, sum(net_revenue) as net
      from customer_order group by 1, 2, 3, 4
    )
    select * from counted full join (
      select * from order_day where (orders, gross, net) <> (0, 0, 0)
    ) kept
      using (shop_id, day, currency, states, orders, gross, net)
    where counted.shop_id is distinct from kept.shop_id`);
  expect(differences).toEqual([]);
  const sums = await service.db.one<{ orders: number; days: number }>(sql`
    select (select count(*) from customer_order) as orders,
      (select sum(orders)::bigint from order_day) as days`);
  expect(sums!.days).toBe(sums!.orders);
  expect(sums!.orders).toBeGreaterThan(25);
  const lines = await service.db.many(sql`
    select customer_order.order_id from customer_order
    where jsonb_array_length(content -> 'lines') <> (
      select count(*) from order_line
      where order_line.shop_id = customer_order.shop_id and order_line.order_id = customer_order.order_id)`);
  expect(lines).toEqual([]);
});
