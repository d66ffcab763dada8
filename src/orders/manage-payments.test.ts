import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ID, price, queuedEmails } from '../../test/carts.ts';
import {
  on,
  well,
  refused,
  givenOrder,
  countOrders,
  miscounts,
  lastMoment,
  service,
  startManaging,
} from '../../test/managed-orders.ts';
import { sql } from '../db/sql.ts';

beforeAll(startManaging);
afterAll(() => service.close());

describe('payments and refunds', () => {
  test('add up to the grand total, and no further', async () => {
    const { shop, order } = await givenOrder();
    const part = await well(order, 'POST', '/payments', { amount: '30', reference: 'QP-1', note: 'bank' });
    const first = lastMoment();
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
    const email = { shopId: shop.shopId, to: 'ada.lindqvist@mail.example', locale: 'en_GB' };
    const facts = { orderId: order.id, orderNumber: order.body.orderNumber };
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toEqual({
      ...email,
      template: 'paymentReceived',
      facts: { ...facts, amount: '€30.00', outstanding: '€9.90' },
    });
    expect(await refused(order, 'POST', '/payments', { amount: 9.91 })).toEqual([
      400,
      'No more than 9.9 EUR are outstanding',
    ]);
    const all = await well(order, 'POST', '/payments', { amount: 9.9 });
    expect(all).toMatchObject({
      partiallyPaidOn: first,
      paidOn: lastMoment(),
    });
    expect(all.management.outstandingAmount).toEqual(price(0));
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toEqual({
      ...email,
      template: 'paymentReceived',
      facts: { ...facts, amount: '€9.90', outstanding: null },
    });
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
    const mails = (await queuedEmails(service, shop.shopId)).length;
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
    const sent = (await queuedEmails(service, shop.shopId)).slice(mails);
    expect(sent).toHaveLength(11);
    expect(sent[0]).toEqual({
      shopId: shop.shopId,
      to: 'ada.lindqvist@mail.example',
      locale: 'en_GB',
      template: 'refund',
      facts: { orderId: order.id, orderNumber: order.body.orderNumber, amount: '€3.50' },
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
    expect(paid.paidOn).toBe(lastMoment());
  });
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

test('what lists and sales are counted from is what the orders say', async () => {
  expect(await miscounts()).toEqual([]);
  expect(await countOrders()).toBeGreaterThan(3);
});
