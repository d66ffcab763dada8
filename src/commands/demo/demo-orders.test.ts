import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { totalsOf } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Answer, Service } from '../../../test/service.ts';
import { findBestSellers } from '../../admin/home/queries.ts';
import { STATES } from '../../orders/schema.ts';

const now = new Date('2026-11-15T08:30:00Z');
const reader = 'demo-read';
const merchant = 'demo-all';

let service: Service;
beforeAll(async () => {
  service = await startDemo({}, now);
});
afterAll(() => service.close());

async function read(path: string, token = reader) {
  const answer = await service.call('GET', `/DemoShop${path}`, { token });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

test('three carts: one begun, one with a coupon that does not count, one forgotten', async () => {
  const { body } = await service.call('GET', '/DemoShop/carts', { token: 'demo-pricing' });
  expect(body.items.map((cart: Body) => cart.lineItemContainer.productLineItems.map(summary))).toEqual([
    ['2 CB-101'],
    ['1 AP-100'],
    [],
  ]);
  const [, withCoupon] = body.items;
  expect(withCoupon.lineItemContainer.couponLineItem).toMatchObject({
    lineItemPrice: { amount: 0 },
    validationErrors: ['LineItemsSubTotalTooSmall'],
  });
  expect(withCoupon.billingAddress).toMatchObject({ emailAddress: 'jonas.w@mail.example' });
  for (const [index, token] of ['demo-cart-a', 'demo-cart-b', 'demo-cart-c'].entries()) {
    const { cartId } = body.items[index];
    const headers = { 'x-epages-cart-token': token };
    expect((await service.call('GET', `/DemoShop/carts/${cartId}`, { headers })).status).toBe(200);
  }
});

type Body = Answer['body'];
const summary = ({ quantity, sku }: Body) => `${quantity.amount} ${sku}`;

describe('orders', () => {
  type Golden = [
    order: number,
    customer: string,
    age: number,
    totals: [
      subtotal: number,
      discount: number,
      coupon: number,
      shipping: number,
      payment: number,
      ...number[],
    ],
    states: string,
    currency?: string,
  ];
  const ALL = 'viewedOn paidOn dispatchedOn deliveredOn invoicedOn';
  /** Totals: goods, discount, coupon, shipping, payment, all, without tax, tax. */
  const GOLDEN: Golden[] = [
    [1001, '1002', 400, [38.9, 0, 0, 7.43, 0, 46.33, 40.29, 6.04], `${ALL} closedOn archivedOn`],
    [1002, '1001', 60, [171, 0, 0, 15.6, 0, 186.6, 172.92, 13.68], ALL],
    [1003, '1003', 25, [158, -10, 0, 12, 0, 160, 134.45, 25.55], 'viewedOn paidOn readyForDispatchOn'],
    [1004, '1004', 21, [389, -38.9, 0, 12, 0, 362.1, 362.1, 0], 'paidOn dispatchedOn'],
    [
      1005,
      '1005',
      18,
      [304, -30.4, 0, 13.47, 1.5, 288.57, 256.87, 31.7],
      'viewedOn inProcessOn partiallyPaidOn invoicedOn',
    ],
    [
      1006,
      '1002',
      14,
      [49.9, 0, 0, 8.61, 0, 58.51, 49.17, 9.34],
      'viewedOn paidOn dispatchedOn returnedOn invoicedOn',
    ],
    [1007, '1006', 12, [30.8, 0, 0, 13.2, 0, 44, 44, 0], 'rejectedOn', 'USD'],
    [1008, '1002', 9, [9.99, 0, 0, 0, 0, 9.99, 9.34, 0.65], 'paidOn'],
    [
      1009,
      '1001',
      7,
      [99.1, 0, -20, 11.3, 0, 90.4, 83.43, 6.97],
      'viewedOn partiallyDispatchedOn partiallyInvoicedOn',
    ],
    [1010, '1003', 5, [93.9, 0, -14.09, 8.13, 0, 87.94, 73.9, 14.04], 'pendingOn'],
    [1011, '1005', 3, [34.05, 0, 0, 0, 0, 34.05, 31.82, 2.23], 'viewedOn'],
    [1012, '1004', 2, [28.8, 0, 0, 0, 0, 28.8, 24.2, 4.6], ''],
    [1013, '1002', 1, [18, 0, 0, 7.62, 0, 25.62, 21.53, 4.09], ''],
    [1014, '1001', 0, [161.5, -10, 0, 11.08, 0, 162.58, 141.92, 20.66], ''],
    [1015, '1006', 6, [30.8, 0, 0, 13.2, 0, 44, 44, 0], 'paidOn', 'USD'],
  ];
  /** Ids by the counter in their numbers. */
  const orderIds = new Map<number, string>();
  beforeAll(async () => {
    const { items } = await read('/orders?resultsPerPage=100');
    for (const { orderId, orderNumber } of items) orderIds.set(Number(orderNumber.slice(-4)), orderId);
  });
  const orderOf = (number: number) => read(`/orders/${orderIds.get(number)}`);

  test('are fifteen', async () => {
    expect([...orderIds.keys()].toSorted((left, right) => left - right)).toEqual(
      GOLDEN.map(([number]) => number),
    );
    expect((await read('/orders')).results).toBe(15);
  });

  test.each(GOLDEN)(
    '%i has its totals and its states',
    async (number, customer, age, totals, states, currency) => {
      const order = await orderOf(number);
      const createdAt = new Date(now.getTime() - age * 86_400_000);
      const day = createdAt.toISOString().slice(2, 10).replaceAll('-', '');
      expect(order).toMatchObject({
        orderNumber: `ORD${day}/${number}`,
        creationDate: createdAt.toISOString(),
        customerNumber: customer,
        currencyId: currency ?? 'EUR',
      });
      expect(Object.values(totalsOf(order))).toEqual(totals);
      expect([order.grandTotal, order.totalBeforeTax, order.totalTax]).toEqual(totals.slice(5).map(String));
      const set = STATES.filter((state) => order[state] !== null);
      expect(set.toSorted()).toEqual(states.split(' ').filter(Boolean).toSorted());
      for (const state of set) {
        expect(new Date(order[state]).getTime()).toBeGreaterThan(createdAt.getTime());
        expect(new Date(order[state]).getTime()).toBeLessThanOrEqual(now.getTime());
      }
    },
  );

  test('count up from here: the next one is 1016', async () => {
    const { rows } = await service.db.pool.query<{ name: string; value: number }>(
      `select name, value from counter where shop_id = 'DemoShop' and name in ('order', 'Invoice', 'CreditNote', 'customer')`,
    );
    expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual({
      order: 1015,
      Invoice: 1004,
      CreditNote: 1005,
      customer: 1015,
    });
  });

  test('have documents', async () => {
    const { rows } = await service.db.pool.query(
      `select right(order_number, 4)::int as "order", kind, number from order_document
      join customer_order using (shop_id, order_id) where shop_id = 'DemoShop' order by number`,
    );
    expect(rows).toEqual([
      { order: 1001, kind: 'Invoice', number: 1001 },
      { order: 1002, kind: 'Invoice', number: 1002 },
      { order: 1005, kind: 'Invoice', number: 1003 },
      { order: 1006, kind: 'Invoice', number: 1004 },
      { order: 1006, kind: 'CreditNote', number: 1005 },
    ]);
  });

  test('have left the stock as the catalogue says', async () => {
    for (const [number, stocklevel] of [
      ['CB-102', 64],
      ['AP-120', 3],
      ['RO-100', 850],
    ] as const) {
      const found = await service.call('POST', '/DemoShop/products/find', {
        token: reader,
        body: { productNumber: number },
      });
      expect(found.body.items).toMatchObject([{ productNumber: number, stocklevel }]);
    }
  });

  test('speak the language of their customers', async () => {
    const locales = await Promise.all(
      [1003, 1004, 1011].map(async (number) => (await orderOf(number)).locale),
    );
    expect(locales).toEqual(['fr_FR', 'en_GB', 'de_DE']);
    expect(await orderOf(1011)).toMatchObject({ customerComment: 'Please deliver to the back door.' });
  });

  test('one customer wants to send something back', async () => {
    const { body } = await service.call('GET', '/manage/shops/DemoShop/returns', { token: merchant });
    expect([body.results, body.items[0]]).toMatchObject([
      1,
      {
        state: 'requested',
        origin: 'customer',
        returnedOn: '2026-10-13T08:30:00.000Z',
        lines: [{ quantity: 1 }],
        reason: 'One of the two bags was torn.',
      },
    ]);
    expect(body.items[0].orderNumber).toMatch(/1002$/);
  });

  test('what was paid is recorded', async () => {
    const { rows } = await service.db.pool.query(
      `select right(order_number, 4)::int as "order", amount, paid_amount as paid from order_payment
      join customer_order using (shop_id, order_id) where shop_id = 'DemoShop' order by 1`,
    );
    expect(rows.map(({ order, amount }) => [order, amount])).toEqual([
      [1001, 4633],
      [1002, 18_660],
      [1003, 16_000],
      [1004, 36_210],
      [1005, 15_000],
      [1006, 5851],
      [1008, 999],
      [1015, 4400],
    ]);
    for (const { amount, paid } of rows) expect(paid).toBe(amount);
  });

  test('one is being edited, and can not be patched', async () => {
    const answer = await service.call('PATCH', `/DemoShop/orders/${orderIds.get(1013)}`, {
      token: merchant,
      body: [{ op: 'add', path: '/internalNote', value: 'x' }],
    });
    expect(answer.status).toBe(409);
  });

  test('the cart of the newest has become an order', async () => {
    const { rows } = await service.db.pool.query<{ id: string }>(
      `select cart_id as id from customer_order where order_number like '%/1014'`,
    );
    const answer = await service.call('GET', `/DemoShop/carts/${rows[0]!.id}`, { cartToken: 'demo-cart-d' });
    expect(answer.status).toBe(410);
  });

  test('sell in two currencies, and what was rejected is not sold', async () => {
    const { salesPerCurrency } = await read('/sales?createdAfter=2026-01-01&createdBefore=2026-12-31');
    expect(
      salesPerCurrency.map(({ currency, totalGrossRevenue, totalOrders }: Body) => [
        currency,
        totalOrders,
        totalGrossRevenue,
      ]),
    ).toEqual([
      ['EUR', 12, 1495.16],
      ['USD', 1, 44],
    ]);
  });

  test('send no mails', async () => {
    const { rows } = await service.db.pool.query(`select count(*)::int as mails from job`);
    expect(rows).toEqual([{ mails: 0 }]);
  });
});

test('its owner sees what sold best in the last month, although the ids of its orders are older', async () => {
  const since = new Date(now.getTime() - 30 * 86_400_000);
  const best = await findBestSellers(service.db, 'DemoShop', 'EUR', since);
  expect(best.length).toBe(5);
  const later = new Date(now.getTime() + 1);
  expect(await findBestSellers(service.db, 'DemoShop', 'EUR', later)).toEqual([]);
});
