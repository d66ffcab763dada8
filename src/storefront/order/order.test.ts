import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  changeSettings,
  DAY,
  ID,
  NOW,
  paymentId,
  queuedEmails,
  shippingId,
} from '../../../test/carts.ts';
import {
  givenOrder,
  historyOf,
  miscounts,
  refused,
  service,
  SETTINGS,
  startManaging,
  stockOf,
  well,
  type Placed,
} from '../../../test/managed-orders.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { orderTokens } from '../../orders/order-link.ts';
import { installationKey } from '../../platform/sealing.ts';

beforeAll(startManaging);
afterAll(() => service.close());

const pathOf = async ({ shop, id }: Placed) =>
  `/order/${orderTokens(await installationKey(service.config)).token(shop.shopId, id)}`;

/** An order of 2 TEA and 3 BOOK, and its customer without a cookie. */
async function givenCustomer(settings = SETTINGS) {
  const given = await givenOrder(settings);
  const path = await pathOf(given.order);
  const visitor = givenVisitor(service, given.shop.shopId);
  const page = async () => mainOf(await visitor.get(path));
  return { ...given, path, visitor, page };
}

/** The events of the shop that this test is about. */
async function eventsOf(shopId: string): Promise<string[]> {
  const rows = await service.db.many<{ type: string }>(sql`
    select type from event where shop_id = ${shopId} and type <> 'ORDER_UPDATE' order by position`);
  return rows.map(({ type }) => type);
}

describe('the page of an order', () => {
  test('shows what has happened, to whoever has its address, and is stored nowhere', async () => {
    const { order, path, visitor, page, teaLine, shop } = await givenCustomer();
    const { orderNumber } = order.body;
    const first = await visitor.get(path);
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(first.headers['set-cookie']).toBeUndefined();
    expect(first.text).toContain('<meta name="robots" content="noindex" />');
    expect(mainOf(first)).toMatch(
      new RegExp(
        `^Your order ${orderNumber} We are waiting for your payment\\. .*Order history 15 November 2026 Order placed `,
      ),
    );
    expect(mainOf(first)).toContain('Ada Lindqvist Kai 7 20457 Hamburg');
    await well(order, 'POST', '/payments', { amount: 39.9 });
    expect(await page()).toContain('We are preparing your order.');
    await well(order, 'POST', '/shipments', {
      lines: [{ lineItemId: teaLine, quantity: 2 }],
      carrier: 'DHL',
      trackingCode: '0034',
    });
    const sent = await page();
    expect(sent).toContain(
      'Part of your order is on its way. Track your parcel : DHL 0034 DHL 0034 Order history',
    );
    const { text } = await visitor.get(path);
    const { trackingUrl } = (await queuedEmails(service, shop.shopId)).at(-1)!.facts as {
      trackingUrl: string;
    };
    expect(text.split(`href="${trackingUrl}"`)).toHaveLength(3);
    // The main button tracks the parcel. The withdrawal is there, after what customers need more often.
    expect(
      [...text.matchAll(/<(?:a|button) class="(button|quiet|button quiet)"[^>]*>\s*([^<]*?)\s*</g)].map(
        ([, kind, label]) => [kind, label],
      ),
    ).toEqual([
      ['button', 'Track your parcel'],
      ['button quiet', 'Return items'],
      ['quiet', 'Order again'],
      ['button quiet', 'Withdraw from contract here'],
    ]);
    expect(sent).toContain(
      'Order placed 15 November 2026 Payment received 15 November 2026 Shipped 2 pieces TEA Carrier: DHL Tracking number: 0034',
    );
    // Each parcel of the rest has its own page.
    const parcels = [
      { trackingCode: '0035' },
      { trackingCode: '0036', trackingUrl: 'https://dhl.example/36' },
    ];
    await well(order, 'POST', '/shipments', { carrier: 'DHL', parcels });
    const whole = await page();
    for (const code of ['0034', '0035', '0036']) expect(whole).toContain(`Track your parcel : DHL ${code}`);
    expect(whole).toContain('Carrier: DHL Tracking number: 0035 , 0036');
    expect((await visitor.get(path)).text.split('href="https://dhl.example/36"')).toHaveLength(3);
    await well(order, 'POST', '/refunds', { amount: 4.9 });
    expect(await page()).toMatch(/ €?4\.90(?: €)? refunded /);
  });

  test('has the invoice as a PDF, and no document of another order', async () => {
    const { order, path, visitor, page, shop } = await givenCustomer();
    const { documentId } = await well(order, 'POST', '/invoices', {});
    expect(await page()).toContain('Invoice 1001 Download as a PDF : Invoice 1001');
    const pdf = await visitor.get(`${path}/documents/${documentId}`);
    expect(pdf.status).toBe(200);
    expect(pdf.headers).toMatchObject({
      'content-type': 'application/pdf',
      'cache-control': 'no-store',
      'content-disposition': 'attachment; filename="Invoice-1001.pdf"',
    });
    expect(pdf.text.startsWith('%PDF-')).toBe(true);
    const other = await givenOrder();
    const elsewhere = givenVisitor(service, other.shop.shopId);
    const otherPath = await pathOf(other.order);
    expect((await elsewhere.get(`${otherPath}/documents/${documentId}`)).status).toBe(404);
    expect((await elsewhere.get(`${otherPath}/documents/x`)).status).toBe(404);
    // The token of one shop opens nothing in another one.
    expect((await givenVisitor(service, shop.shopId).get(otherPath)).status).toBe(404);
  });

  test.each(['x', 'A'.repeat(43), '%00', '..%2F'])('does not exist for the token %s', async (token) => {
    const { visitor } = await givenCustomer();
    const { status, text } = await visitor.get(`/order/${token}`);
    expect(status).toBe(404);
    expect(text).not.toContain('ORD');
  });

  test('is gone with the customer', async () => {
    const { order, path, visitor, shop } = await givenCustomer();
    await service.db.run(sql`
      update customer_order set erased_at = ${NOW} where shop_id = ${shop.shopId} and order_id = ${order.id}`);
    for (const page of ['', '/cancel', '/return', '/withdraw']) {
      expect((await visitor.get(path + page)).status).toBe(404);
    }
    await changesNothing(service, async () => {
      for (const form of ['/cancel', '/return', '/withdraw', '/withdraw/confirm', '/reorder']) {
        expect((await visitor.post(path + form, { name: 'A', contact: 'a@b.example' })).status).toBe(404);
      }
    });
  });
});

describe('a customer cancels', () => {
  test('what is not packed: goods and money follow, and the log says who it was', async () => {
    const { order, path, visitor, page, shop, tea } = await givenCustomer();
    expect(mainOf(await visitor.get(`${path}/cancel`))).toContain('Yes, cancel the order Keep the order');
    const { text } = await visitor.submit(`${path}/cancel`, {});
    expect(mainOf({ text })).toMatch(/^Your order has been cancelled\. Your order /);
    expect(await page()).toContain('This order has been cancelled.');
    expect(await page()).not.toContain('Cancel order');
    expect(await stockOf(shop, tea)).toBe(10);
    expect(await eventsOf(shop.shopId)).toContain('ORDER_CANCELLED');
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'cancelled',
      appId: null,
      details: { cause: 'customer', reason: null },
    });
    await changesNothing(service, async () => {
      const again = await visitor.post(`${path}/cancel`, {});
      expect(again.status).toBe(409);
      expect(mainOf(again)).toContain('This order can no longer be cancelled here.');
    });
  });

  test.each<[string, (order: Placed) => Promise<unknown>]>([
    ['is sent in part', (order) => well(order, 'POST', '/shipments', {})],
    ['is invoiced', (order) => well(order, 'POST', '/invoices', {})],
    ['is edited', (order) => well(order, 'POST', '/edit')],
    [
      'is packed',
      ({ shop, id }) =>
        service.call('PATCH', `/${shop.shopId}/orders/${id}`, {
          token: shop.token,
          body: [{ op: 'add', path: '/readyForDispatchOn', value: '2026-11-15T08:30:00Z' }],
        }),
    ],
    [
      'belongs to a shop that does not allow it',
      ({ shop }) => changeSettings(shop, { orderPage: { cancellation: false } }),
    ],
  ])('not what %s', async (_, prepare) => {
    const { order, path, visitor, page } = await givenCustomer();
    await prepare(order);
    expect(await page()).not.toContain('Cancel order');
    expect((await visitor.get(`${path}/cancel`)).status).toBe(303);
    await changesNothing(service, async () => {
      expect((await visitor.post(`${path}/cancel`, {})).status).toBe(409);
    });
  });
});

describe('a customer asks for a return', () => {
  test('which the merchant approves, receives and refunds', async () => {
    const { order, path, visitor, page, shop, tea, teaLine, bookLine } = await givenCustomer();
    expect(await page()).not.toContain('Return items');
    await well(order, 'POST', '/payments', { amount: 39.9 });
    await well(order, 'POST', '/shipments', {});
    expect(await page()).toContain('Return items');
    // A call is a moment later than the shipment.
    await well(order, 'GET');
    const { text } = await visitor.submit(`${path}/return`, {
      [`quantity-${teaLine}`]: '1',
      [`quantity-${bookLine}`]: '0',
      reason: 'too <b>strong</b>',
    });
    expect(mainOf({ text })).toContain('We have received your request and will answer by email.');
    expect(mainOf({ text })).toContain('Return requested 1 piece TEA');
    const { body } = await service.call('GET', `/manage/shops/${shop.shopId}/returns`, { token: shop.token });
    const [asked] = body.items;
    expect(body).toEqual({
      results: 1,
      page: 1,
      resultsPerPage: 10,
      items: [
        {
          orderId: order.id,
          orderNumber: order.body.orderNumber,
          returnId: ID,
          returnedOn: expect.any(String),
          state: 'requested',
          origin: 'customer',
          lines: [{ lineItemId: teaLine, quantity: 1 }],
          unsentLines: [],
          restocked: false,
          reason: 'too <b>strong</b>',
          note: null,
          declaredBy: null,
          contact: null,
        },
      ],
    });
    const at = `/returns/${asked.returnId}`;
    expect(await refused(order, 'PUT', at, { state: 'refunded', refund: 10 })).toEqual([
      409,
      'A return that is requested can not become refunded',
    ]);
    expect(await refused(order, 'PUT', at, { state: 'approved', refund: 10 })).toEqual([
      400,
      'Update order failed:\n\tvalidation error OUT_OF_RANGE on field refund',
    ]);
    await well(order, 'PUT', at, { state: 'approved', note: 'Please use the old box.' });
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toMatchObject({
      to: 'ada.lindqvist@mail.example',
      template: 'returnApproved',
      facts: { orderId: order.id, goods: ['1\u00a0× TEA'], note: 'Please use the old box.' },
    });
    expect(await page()).toContain('Return approved Please use the old box.');
    expect(await stockOf(shop, tea)).toBe(8);
    const received = await well(order, 'PUT', at, { state: 'received' });
    expect(received.returnedOn).not.toBeNull();
    expect(await stockOf(shop, tea)).toBe(9);
    expect(await page()).toContain('Your return has arrived');
    expect(await page()).toContain('Part of your order has come back to us. Returned: 1 piece TEA (of 2)');
    expect(await refused(order, 'PUT', at, { state: 'refunded' })).toEqual([
      400,
      'Update order failed:\n\tvalidation error MISSING on field refund',
    ]);
    expect(await refused(order, 'PUT', at, { state: 'refunded', refund: 39.91 })).toEqual([
      409,
      'No more than 39.9 EUR can be refunded',
    ]);
    const done = await well(order, 'PUT', at, { state: 'refunded', refund: 10 });
    expect(done.management.refundedAmount.amount).toBe(10);
    expect(done.management.payments.at(-1)).toMatchObject({ kind: 'refund', returnId: asked.returnId });
    expect(await page()).toMatch(
      /Return requested 1 piece TEA .* Return approved .* Your return has arrived 1 piece TEA .* €?10\.00(?: €)? refunded /,
    );
    expect((await eventsOf(shop.shopId)).slice(2)).toEqual([
      'ORDER_CREATE',
      'ORDER_PAID',
      'ORDER_SHIPPED',
      'RETURN_REQUESTED',
      'RETURN_APPROVED',
      'RETURN_RECEIVED',
      'ORDER_REFUNDED',
      'RETURN_REFUNDED',
    ]);
    expect((await historyOf(order)).map(({ kind }: { kind: string }) => kind)).toEqual([
      'placed',
      'payment recorded',
      'shipped',
      'return requested',
      'return approved',
      'returned',
      'refunded',
    ]);
    const open = await service.call('GET', `/manage/shops/${shop.shopId}/returns`, { token: shop.token });
    expect(open.body.results).toBe(0);
    const all = await service.call('GET', `/manage/shops/${shop.shopId}/returns?state=refunded`, {
      token: shop.token,
    });
    expect(all.body.items.map(({ state }: { state: string }) => state)).toEqual(['refunded']);
  });

  test('which the merchant rejects: then the goods can be asked for again', async () => {
    const { order, path, visitor, page, shop, teaLine } = await givenCustomer();
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 2 }] });
    const form = { [`quantity-${teaLine}`]: '2', reason: 'too strong' };
    await visitor.submit(`${path}/return`, form);
    expect(await page()).not.toContain('Return items');
    await changesNothing(service, async () => {
      const more = await visitor.post(`${path}/return`, form);
      expect(more.status).toBe(409);
      expect(mainOf(more)).toContain('These items can no longer be returned here.');
    });
    const { body } = await service.call('GET', `/manage/shops/${shop.shopId}/returns`, { token: shop.token });
    await well(order, 'PUT', `/returns/${body.items[0].returnId}`, { state: 'rejected', note: 'Opened.' });
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toMatchObject({ template: 'returnRejected' });
    expect(await page()).toContain('Return declined Opened.');
    expect(await page()).toContain('Return items');
  });

  test('of no more than was sent, with a reason, and in time', async () => {
    const { order, path, visitor, shop, teaLine, bookLine } = await givenCustomer();
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 1 }] });
    const tea = `quantity-${teaLine}`;
    await changesNothing(service, async () => {
      for (const [fields, text] of [
        [{ [tea]: '2', reason: 'x' }, 'Please enter a quantity'],
        [{ [tea]: '-1', reason: 'x' }, 'Please enter a quantity'],
        [{ [tea]: 'many', reason: 'x' }, 'Please enter a quantity'],
        [{ [tea]: '0', reason: 'x' }, 'Please enter a quantity'],
        [{ [`quantity-${bookLine}`]: '1', reason: 'x' }, 'Please enter a quantity'],
        [{ [tea]: '1', reason: '' }, 'Please tell us the reason'],
        [{ [tea]: '1', reason: 'x'.repeat(501) }, 'Please tell us the reason'],
      ] as const) {
        const answer = await visitor.post(`${path}/return`, fields);
        expect([answer.status, mainOf(answer)]).toEqual([400, expect.stringContaining(text)]);
      }
    });
    await well(order, 'POST', '/shipments', {});
    service.setClock(new Date(NOW.getTime() + 36 * DAY));
    await changesNothing(service, async () => {
      expect((await visitor.post(`${path}/return`, { [tea]: '1', reason: 'x' })).status).toBe(409);
    });
    await changeSettings(shop, { orderPage: { returnDays: 60 } });
    expect((await visitor.post(`${path}/return`, { [tea]: '1', reason: 'x' })).status).toBe(303);
  });

  test('at the same moment as the merchant records it: it is received once', async () => {
    const { order, path, visitor, teaLine } = await givenCustomer();
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 2 }] });
    await visitor.submit(`${path}/return`, { [`quantity-${teaLine}`]: '2', reason: 'x' });
    const { management } = await well(order, 'POST', '/returns', {
      lines: [{ lineItemId: teaLine, quantity: 1 }],
    });
    const { returnId } = management.returns[0];
    expect(await refused(order, 'PUT', `/returns/${returnId}`, { state: 'received' })).toEqual([
      409,
      'Of TEA no more than 1 can be returned',
    ]);
    await well(order, 'PUT', `/returns/${returnId}`, { state: 'rejected' });
  });

  test('twelve times at once: no more comes back than was sent', async () => {
    const { order, path, visitor, teaLine } = await givenCustomer();
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 2 }] });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        visitor.post(`${path}/return`, { [`quantity-${teaLine}`]: '1', reason: 'x' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(2);
    expect((await well(order, 'GET')).management.returns).toHaveLength(2);
  });
});

describe('ordering the same again', () => {
  test('fills the cart with what there is, and names what there is not', async () => {
    const { path, visitor, shop, tea, book } = await givenCustomer();
    const full = await visitor.submit(`${path}/reorder`, {});
    expect(full.place).toBe(`/shop/${shop.shopId}/cart`);
    expect(mainOf(full)).toContain('Everything is in your cart again.');
    expect(mainOf(full)).toMatch(/Subtotal €?35\.00/);
    await service.db.run(sql`
      update product set stock = 3, version = version + 1 where shop_id = ${shop.shopId} and product_id = ${tea}`);
    await service.db.run(sql`
      update product set visible = false, version = version + 1
      where shop_id = ${shop.shopId} and product_id = ${book}`);
    const part = await givenVisitor(service, shop.shopId).submit(`${path}/reorder`, {});
    expect(mainOf(part)).toContain('No longer available, or not in this quantity: BOOK');
    expect(mainOf(part)).toMatch(/Subtotal €?20\.00/);
    const less = await visitor.submit(`${path}/reorder`, {});
    expect(mainOf(less)).toContain('No longer available, or not in this quantity: TEA, BOOK');
  });
});

test('the page after the purchase leads to it', async () => {
  const { shop, order, visitor } = await givenCustomer();
  const address = `/shop/${shop.shopId}${await pathOf(order)}`;
  const cart = (await visitor.submit(`${await pathOf(order)}/reorder`, {})).text;
  expect(cart).toContain('/checkout');
  await visitor.submit('/checkout', {
    'billing.firstName': 'Ada',
    'billing.lastName': 'Lindqvist',
    'billing.street': 'Kai 7',
    'billing.zipCode': '20457',
    'billing.city': 'Hamburg',
    'billing.country': 'DE',
    'billing.emailAddress': 'ada.lindqvist@mail.example',
  });
  const review = await visitor.submit('/checkout/delivery', {
    shippingMethod: await shippingId(shop, 'parcel'),
    paymentMethod: await paymentId(shop, 'advance'),
  });
  const [, reviewed] = /name="reviewed" value="([^"]+)"/.exec(review.text)!;
  const confirmation = await visitor.submit('/checkout/order', { reviewed: reviewed! });
  const [href] = /\/shop\/\w+\/order\/[\w-]{43}/.exec(confirmation.text)!;
  expect(href).not.toBe(address);
  expect(mainOf(await visitor.get(href))).toMatch(/^Your order ORD/);
});

test('what lists and sales are counted from is what the orders say', async () => {
  expect(await miscounts()).toEqual([]);
});
