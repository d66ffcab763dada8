import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenCoupon, givenProduct, ID, NOW, price, queuedEmails } from '../../test/carts.ts';
import {
  historyOf,
  lineIds,
  placed,
  SETTINGS,
  on,
  well,
  refused,
  stockOf,
  givenOrder,
  countOrders,
  miscounts,
  lastMoment,
  service,
  startManaging,
} from '../../test/managed-orders.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import type { Answer } from '../../test/service.ts';
import type { SettingsFile } from '../shops/settings/file.ts';

beforeAll(startManaging);
afterAll(() => service.close());

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
    const first = lastMoment();
    expect(part).toMatchObject({ partiallyDispatchedOn: first, dispatchedOn: null, lastUpdatedOnDate: null });
    expect(part.management.shipments).toEqual([
      {
        shipmentId: ID,
        shippedOn: first,
        lines: [{ lineItemId: teaLine, quantity: 1 }],
        carrier: 'DHL',
        trackingCode: '0034',
        parcels: [
          {
            trackingCode: '0034',
            trackingUrl: 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=0034',
          },
        ],
      },
    ]);
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toEqual({
      shopId: shop.shopId,
      to: 'ada.lindqvist@mail.example',
      locale: 'en_GB',
      template: 'shipped',
      facts: {
        orderId: order.id,
        orderNumber: order.body.orderNumber,
        goods: ['1\u00a0× TEA'],
        isRest: false,
        carrier: 'DHL',
        trackingCode: '0034',
        trackingUrl: 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=0034',
        furtherParcels: [],
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
      dispatchedOn: lastMoment(),
    });
    expect(rest.management.shipments[1]).toMatchObject({
      lines: [
        { lineItemId: teaLine, quantity: 1 },
        { lineItemId: bookLine, quantity: 3 },
      ],
      carrier: null,
    });
    expect((await queuedEmails(service, shop.shopId)).at(-1)!.facts).toMatchObject({ isRest: true });
    expect(await refused(order, 'POST', '/shipments', {})).toEqual([409, 'There is nothing left to be sent']);
  });

  test('each parcel has its own code and page, which the customer reads and undoing removes', async () => {
    const { shop, order } = await givenOrder();
    const own = 'https://tracking.example/JD0002?a=1&b=2';
    const parcels = [{ trackingCode: '0034' }, { trackingCode: 'JD 0002', trackingUrl: own }];
    const sent = await well(order, 'POST', '/shipments', { carrier: 'DHL', parcels });
    const dhl = 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=0034';
    const shown = [
      { trackingCode: '0034', trackingUrl: dhl },
      { trackingCode: 'JD 0002', trackingUrl: own },
    ];
    expect(sent.management.shipments).toMatchObject([{ trackingCode: '0034', parcels: shown }]);
    expect((await well(order, 'GET')).management.shipments).toEqual(sent.management.shipments);
    const { facts } = (await queuedEmails(service, shop.shopId)).at(-1)!;
    expect(facts).toMatchObject({ trackingCode: '0034', trackingUrl: dhl, furtherParcels: [shown[1]] });
    const stored = () =>
      service.db.many(sql`
        select position, tracking_code as code, tracking_url as url from order_parcel where shop_id = ${shop.shopId}`);
    expect(await stored()).toEqual([{ position: 2, code: 'JD 0002', url: own }]);
    await well(order, 'DELETE', `/shipments/${sent.management.shipments[0].shipmentId}`);
    expect(await stored()).toEqual([]);
  });

  test('parcels that no shipment can have are refused, and nothing is sent', async () => {
    const { order } = await givenOrder();
    const before = await well(order, 'GET');
    const many = Array.from({ length: 21 }, (_, index) => ({ trackingCode: `P${index}` }));
    for (const [body, field] of [
      [{ parcels: many }, 'parcels'],
      [{ parcels: [{ trackingCode: '' }] }, 'parcels.0.trackingCode'],
      [{ parcels: [{ trackingCode: 'x'.repeat(201) }] }, 'parcels.0.trackingCode'],
      [{ parcels: [{ trackingUrl: 'https://tracking.example/1' }] }, 'parcels.0.trackingCode'],
      [
        { parcels: [{ trackingCode: '1', trackingUrl: 'http://tracking.example/1' }] },
        'parcels.0.trackingUrl',
      ],
      [{ parcels: [{ trackingCode: '1', trackingUrl: 'https://' }] }, 'parcels.0.trackingUrl'],
      [{ trackingCode: '2', parcels: [{ trackingCode: '1' }] }, 'trackingCode'],
    ] as const) {
      const [status, message] = await refused(order, 'POST', '/shipments', body);
      expect([field, status, message.includes(field)]).toEqual([field, 400, true]);
    }
    expect(await well(order, 'GET')).toEqual(before);
  });

  test('a shipment is undone until its email leaves: states, email, history and events', async () => {
    const { shop, order, teaLine } = await givenOrder();
    const before = await well(order, 'GET');
    const tea = { lines: [{ lineItemId: teaLine, quantity: 2 }], trackingCode: 'RR473124829DE' };
    const first = (await well(order, 'POST', '/shipments', tea)).management.shipments[0];
    const sent = await well(order, 'POST', '/shipments', {});
    const partly = new Date(first.shippedOn).toISOString();
    expect(sent).toMatchObject({ partiallyDispatchedOn: partly, dispatchedOn: lastMoment() });
    const second = sent.management.shipments[1];
    const at = (id: string) => `/shipments/${id}`;
    // The first of two: what is left is a part again, since the second.
    const left = await well(order, 'DELETE', at(first.shipmentId.toLowerCase()));
    expect(left).toMatchObject({ partiallyDispatchedOn: second.shippedOn, dispatchedOn: null });
    expect(left.management).toMatchObject({ state: 'waitingForPayment', shipments: [second] });
    expect(await refused(order, 'DELETE', at(first.shipmentId))).toEqual([404, expect.anything()]);
    // The link is there although no carrier was named.
    const emails = (await queuedEmails(service, shop.shopId)).filter(
      ({ template }) => template === 'shipped',
    );
    expect(emails.map(({ facts }) => facts)).toMatchObject([{ isRest: true, trackingUrl: null }]);
    const none = await well(order, 'DELETE', at(second.shipmentId));
    expect(none.management.shipments).toEqual([]);
    expect(none).toMatchObject({ partiallyDispatchedOn: null, dispatchedOn: null });
    expect({ ...none, links: null }).toMatchObject({ ...before, links: null });
    const kinds = (await well(order, 'GET', '/history')).items.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(['placed', 'shipped', 'shipped', 'shipment undone', 'shipment undone']);
    const told = await service.db.many(sql`
      select type, data from event where shop_id = ${shop.shopId} and resource_id = ${order.id} order by position`);
    expect(told.slice(-2)).toEqual([
      { type: 'ORDER_UPDATE', data: { changed: ['shipments', 'partiallyDispatchedOn'] } },
      { type: 'ORDER_SHIPMENT_UNDONE', data: { shipmentId: second.shipmentId } },
    ]);
  });

  test('a shipment of which the customer was told, or of which items come back, stays', async () => {
    const { shop, order, bookLine } = await givenOrder();
    const { shipmentId } = (await well(order, 'POST', '/shipments', {})).management.shipments[0];
    const due = () =>
      service.db.one<{ minutes: number }>(sql`
        select extract(epoch from run_at - created_at)::float8 / 60 as minutes from job
        where shop_id = ${shop.shopId} and content ->> 'template' = 'shipped'`);
    expect(await due()).toEqual({ minutes: 10 });
    const tooLate = [409, 'The shipment can not be undone any more, the customer has been told of it'];
    await service.db.run(
      sql`update job set attempts = 1 where shop_id = ${shop.shopId} and job_id = ${shipmentId}`,
    );
    expect(await refused(order, 'DELETE', `/shipments/${shipmentId}`)).toEqual(tooLate);
    await service.db.run(
      sql`update job set attempts = 0 where shop_id = ${shop.shopId} and job_id = ${shipmentId}`,
    );
    await service.db.run(sql`
      update order_shipment set at = at - interval '10 minutes' where shop_id = ${shop.shopId}`);
    expect(await refused(order, 'DELETE', `/shipments/${shipmentId}`)).toEqual(tooLate);
    await well(order, 'POST', '/returns', { lines: [{ lineItemId: bookLine, quantity: 1 }] });
    expect(await refused(order, 'DELETE', `/shipments/${shipmentId}`)).toEqual([
      409,
      'Items of this shipment are being returned, it can not be undone',
    ]);
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
    expect(left.dispatchedOn).toBe(lastMoment());
  });

  test('what comes back goes into the stock, and money with it', async () => {
    const { shop, order, tea, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/payments', { amount: 39.9 });
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 2 }] });
    const one = [{ lineItemId: teaLine, quantity: 1 }];
    const back = await well(order, 'POST', '/returns', { lines: one, refund: '10.00', note: 'unopened' });
    const moment = lastMoment();
    expect(back.returnedOn).toBe(moment);
    expect(back.management.returns).toEqual([
      {
        returnId: ID,
        returnedOn: moment,
        state: 'refunded',
        origin: 'merchant',
        lines: one,
        unsentLines: [],
        restocked: true,
        reason: null,
        note: 'unopened',
        declaredBy: null,
        contact: null,
        dueAmount: price(10),
        refundedAmount: price(10),
        refundableAmount: price(0),
      },
    ]);
    expect(back.management.payments[1]).toMatchObject({
      kind: 'refund',
      amount: price(10),
      returnId: back.management.returns[0].returnId,
    });
    expect(back.management.refundedAmount).toEqual(price(10));
    expect(await stockOf(shop, tea)).toBe(9);
    const about = { orderId: order.id, orderNumber: order.body.orderNumber };
    expect((await queuedEmails(service, shop.shopId)).slice(-2)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ template: 'refund', facts: { ...about, amount: '€10.00' } }),
        expect.objectContaining({ template: 'returned', facts: { ...about, goods: ['1\u00a0× TEA'] } }),
      ]),
    );
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

/** 3 x 10.00 less a coupon of 5.00, delivery 4.90: paid and sent. */
async function givenDiscounted(settings: SettingsFile = {}) {
  const { shop } = await givenOrder({ ...SETTINGS, ...settings });
  await givenCoupon(shop, 'SAVE5', { name: 'FIX', amount: 5 });
  const tea = await givenProduct(shop, { number: 'T', price: 1000, stock: 100 });
  const order = await placed(shop, { [tea]: 3 }, 'SAVE5');
  await well(order, 'POST', '/payments', { amount: 29.9 });
  await well(order, 'POST', '/shipments', {});
  const lineItemId = lineIds(order.body)[0]!;
  const giveBack = (quantity: number, body: object = {}) =>
    well(order, 'POST', '/returns', { lines: [{ lineItemId, quantity }], ...body });
  return { order, giveBack };
}

const amountsOf = ({ management }: Answer['body']) => ({
  due: management.returns.map((returned: { dueAmount: { amount: number } }) => returned.dueAmount.amount),
  left: management.returns.map(
    (returned: { refundableAmount: { amount: number } }) => returned.refundableAmount.amount,
  ),
  all: management.refundableAmount.amount,
});

describe('the refund of a return', () => {
  test('is the share of its items after discounts, and all returns sum to the payment', async () => {
    const { order, giveBack } = await givenDiscounted();
    const first = await giveBack(1);
    expect(amountsOf(first)).toEqual({ due: [8.33], left: [8.33], all: 8.33 });
    const { returnId } = first.management.returns[0];
    const paidBack = await well(order, 'PUT', `/returns/${returnId}`, { state: 'refunded', refund: 8.33 });
    expect(amountsOf(paidBack)).toEqual({ due: [8.33], left: [0], all: 0 });
    expect(amountsOf(await giveBack(1))).toEqual({ due: [8.33, 8.34], left: [0, 8.34], all: 8.34 });
    // Delivery comes back with the last item.
    const all = await giveBack(1, { refund: 13.23 });
    expect(amountsOf(all)).toEqual({ due: [8.33, 8.34, 13.23], left: [0, 8.34, 0], all: 8.34 });
    expect(all.management.refundedAmount).toEqual(price(21.56));
  });

  test('leaves delivery out where the shop keeps it', async () => {
    const { giveBack } = await givenDiscounted({ returns: { refundDelivery: false } });
    expect(amountsOf(await giveBack(3))).toEqual({ due: [25], left: [25], all: 25 });
  });

  test('belongs to the return, and more than it needs a reason', async () => {
    const { order, giveBack } = await givenDiscounted();
    const { returnId } = (await giveBack(1)).management.returns[0];
    const refund = (body: object) => refused(order, 'POST', '/refunds', { returnId, ...body });
    const tooMuch = 'More than the 8.33 EUR that are left of the return needs goodwill';
    expect(await refund({ amount: 8.34 })).toEqual([409, tooMuch]);
    expect(await refund({ amount: 29.91, goodwill: 'late' })).toEqual([
      409,
      'No more than 29.9 EUR can be refunded',
    ]);
    expect(await refund({ amount: 1, goodwill: '' })).toMatchObject([
      400,
      expect.stringContaining('goodwill'),
    ]);
    expect(await refund({ amount: 1, returnId: newId(NOW) })).toEqual([
      400,
      'Update order failed:\n\tvalidation error UNKNOWN_VALUE on field returnId',
    ]);
    const part = await well(order, 'POST', '/refunds', { returnId, amount: 5 });
    expect(part.management.returns[0]).toMatchObject({
      state: 'refunded',
      refundedAmount: price(5),
      refundableAmount: price(3.33),
    });
    const more = await well(order, 'POST', '/refunds', { returnId, amount: 5, goodwill: 'arrived late' });
    expect(more.management.returns[0]).toMatchObject({
      refundedAmount: price(8.33),
      refundableAmount: price(0),
    });
    expect(more.management.payments.at(-1)).toMatchObject({
      returnId,
      amount: price(5),
      goodwill: { amount: price(1.67), reason: 'arrived late' },
    });
    // The goodwill takes nothing from the next return.
    expect(amountsOf(await giveBack(1))).toEqual({ due: [8.33, 8.34], left: [0, 8.34], all: 8.34 });
    expect(
      (await historyOf(order)).find(({ details }: { details: object }) => 'goodwill' in details),
    ).toMatchObject({
      kind: 'refunded',
      details: { returnId, goodwill: 1.67, reason: 'arrived late' },
    });
  });

  test('is not proposed again when the money went back for the order', async () => {
    const { order, giveBack } = await givenDiscounted();
    await giveBack(1);
    const sent = await well(order, 'POST', '/refunds', { amount: 8.33 });
    expect(amountsOf(sent)).toEqual({ due: [8.33], left: [0], all: 0 });
    // Clients may refund any part of the payments of an order, as before.
    expect((await well(order, 'POST', '/refunds', { amount: 21.57 })).management.refundedAmount).toEqual(
      price(29.9),
    );
  });

  test('is the amount of its credit note, also when an earlier return has none', async () => {
    const { order, giveBack } = await givenDiscounted();
    await well(order, 'POST', '/invoices', {});
    const { returnId: earlier } = (await giveBack(1)).management.returns[0];
    const { returnId } = (await giveBack(1)).management.returns[1];
    const credit = await well(order, 'POST', '/credit-notes', { returnId, refund: true });
    expect(credit.lineItemContainer.grandTotal).toEqual(price(8.33));
    const credited = await well(order, 'GET');
    expect(amountsOf(credited)).toEqual({ due: [8.33, 8.33], left: [8.33, 0], all: 8.34 });
    expect(credited.management.returns[1].state).toBe('refunded');
    expect(credited.management.payments.at(-1)).toMatchObject({ returnId, amount: price(8.33) });
    expect(await refused(order, 'POST', '/credit-notes', { returnId })).toEqual([
      409,
      'A return that is refunded can not be credited',
    ]);
    expect(await refused(order, 'POST', '/credit-notes', { returnId: newId(NOW) })).toEqual([
      400,
      'Finalise credit note failed:\n\tvalidation error UNKNOWN_VALUE on field returnId',
    ]);
    const { lines } = credited.management.returns[0];
    expect(await refused(order, 'POST', '/credit-notes', { returnId: earlier, lines })).toEqual([
      400,
      'A credit note of a return is over its items, leave out lines',
    ]);
    await well(order, 'POST', '/credit-notes', { returnId: earlier, refund: true });
    const { returnId: last } = (await giveBack(1)).management.returns[2];
    const rest = await well(order, 'POST', '/credit-notes', { returnId: last, refund: true });
    expect(rest.lineItemContainer.grandTotal).toEqual(price(13.23));
    expect((await well(order, 'GET')).management.refundedAmount).toEqual(price(29.9));
  });

  test('of twenty at once only one is made', async () => {
    const { order, giveBack } = await givenDiscounted();
    const { returnId } = (await giveBack(1)).management.returns[0];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => on(order, 'POST', '/refunds', { returnId, amount: 8.33 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    expect((await well(order, 'GET')).management.refundedAmount).toEqual(price(8.33));
  });
});

test('who was erased gets no emails', async () => {
  const { shop, order } = await givenOrder();
  await service.db.run(sql`
    update customer_order set billing_address = (billing_address::jsonb || '{"emailAddress": null}')::json
    where shop_id = ${shop.shopId} and order_id = ${order.id}`);
  const before = await queuedEmails(service);
  await well(order, 'POST', '/payments', { amount: 1 });
  await well(order, 'POST', '/shipments', {});
  await well(order, 'POST', '/refunds', { amount: 1 });
  expect(await queuedEmails(service)).toEqual(before);
});

test('what lists and sales are counted from is what the orders say', async () => {
  expect(await miscounts()).toEqual([]);
  expect(await countOrders()).toBeGreaterThan(3);
});
