import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySettings } from '../../shops/settings/file.ts';
import { givenMerchant, noticeIn, type Merchant } from '../../../test/admin.ts';
import { statementsOf } from '../../../test/carts.ts';
import { fingerprint, givenOtherShop, orderIdOf, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const token = 'demo-all';
const managed = async (orderId: string) =>
  (await service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token })).body;

const idOf = (end: string) => orderIdOf(service, end);

const valueIn = (text: string, name: string) =>
  new RegExp(`name="${name}"[^>]*?\\svalue="([^"]*)"`).exec(text)?.[1];
const numberOf = (orders: readonly { id: string; number: string }[], id: string) =>
  orders.find((order) => order.id === id)!.number;
const numbersIn = (text: string) =>
  [...text.matchAll(/orders\/[0-9A-F-]{36}">(ORD[^<]*)</g)].map(([, number]) => number);

/** Sends the form of an action as a browser does that has opened its page. */
async function send(end: string, action: string, fields: Record<string, string> = {}) {
  const path = `/orders/${await idOf(end)}/${action}`;
  const version = valueIn((await merchant.get(path)).text, 'version')!;
  return merchant.post(path, { version, ...fields });
}

describe('the list', () => {
  test('begins with what is to be paid or sent, and counts it', async () => {
    const { text } = await merchant.get('/orders');
    expect(text).toContain('1–10 of 10');
    expect(numbersIn(text)[0]).toMatch(/\/1014$/);
    expect(text).toMatch(/aria-current="page"\s*>To do\s*<span class="count">10</);
    expect(text).toMatch(/Unpaid\s*<span class="count">7</);
  });

  test('has to ship only what is ready, whatever it is sorted and searched by', async () => {
    const { id } = (await service.db.one<{ id: string }>(sql`
      update customer_order set payment_wait = 'failed'
      where shop_id = 'DemoShop' and order_number like '%/1011' returning upper(order_id::text) as id`))!;
    const all = await service.db.many<{ id: string; number: string }>(sql`
      select upper(order_id::text) as id, order_number as number from customer_order
      where shop_id = 'DemoShop' order by created_at desc, order_id desc`);
    const states = await Promise.all(all.map(async (order) => (await managed(order.id)).management.state));
    const numbers = (...wanted: string[]) =>
      all.filter((_, index) => wanted.includes(states[index])).map(({ number }) => number);
    const ready = numbers('readyToShip', 'partlyShipped');
    const waiting = numbers('waitingForPayment');
    expect([ready.length, waiting.length, numbers('paymentFailed')]).toEqual([4, 5, [numberOf(all, id)]]);
    const list = async (query: string) => numbersIn((await merchant.get(`/orders?${query}`)).text);
    expect(await list('state=toShip')).toEqual(ready);
    expect(await list('state=toShip&sort=date')).toEqual(ready.toReversed());
    expect(new Set(await list('state=toShip&sort=-changed'))).toEqual(new Set(ready));
    expect(await list('state=toShip&from=2020-01-01')).toEqual(ready);
    expect(await list('state=toShip&q=ORD')).toEqual(ready);
    expect(await list(`state=toShip&q=${ready[0]!.slice(-5)}`)).toEqual([ready[0]]);
    expect(await list(`state=toShip&q=${waiting[0]!.slice(-5)}`)).toEqual([]);
    expect(await list('state=waitingForPayment')).toEqual(waiting);
    expect(await list(`state=waitingForPayment&q=${waiting[0]!.slice(-5)}`)).toEqual([waiting[0]]);
    expect(await list('state=waitingForPayment&to=2000-01-01')).toEqual([]);
    expect(await list('state=paymentFailed')).toEqual([numberOf(all, id)]);
    const { text } = await merchant.get('/orders?state=toShip');
    expect(text).toContain(`1–${ready.length} of ${ready.length}`);
    expect(text).toMatch(/To ship\s*<span class="count">4</);
    expect(text).toMatch(/Waiting for payment\s*<span class="count">5</);
    expect(text).toMatch(/Payment failed\s*<span class="count">1</);
    const home = (await merchant.get('')).text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(home).toContain('Orders to ship 4 Waiting for payment 5 Payment failed 1 Unpaid orders 7 ');
    const file = await merchant.get('/orders/files/orders.csv?state=toShip');
    expect(file.text.trim().split('\n')).toHaveLength(1 + ready.length);
  });

  test('finds the parts, and orders by number, email address and day', async () => {
    expect((await merchant.get('/orders?state=all')).text).toContain('1–15 of 15');
    expect(numbersIn((await merchant.get('/orders?state=cancelled')).text)).toEqual([
      expect.stringMatching(/\/1007$/),
    ]);
    // The days of the demo orders depend on today, so they are found by the ends of their numbers.
    expect(numbersIn((await merchant.get('/orders?q=1001')).text)).toHaveLength(4);
    expect(numbersIn((await merchant.get('/orders?q=/1014')).text)).toHaveLength(1);
    expect(numbersIn((await merchant.get('/orders?q=JONAS.W@')).text)).toHaveLength(4);
    expect(numbersIn((await merchant.get('/orders?q=wittm')).text)).toHaveLength(4);
    expect((await merchant.get('/orders?q=%25')).text).toContain('No results for these filters.');
    expect((await merchant.get('/orders?state=all&to=2000-01-01')).text).toContain(
      'No results for these filters.',
    );
    expect((await merchant.get('/orders?state=all&from=nonsense')).text).toContain('1–15 of 15');
  });

  test('can be read from the oldest on', async () => {
    const newest = numbersIn((await merchant.get('/orders?state=all')).text);
    const oldest = numbersIn((await merchant.get('/orders?state=all&sort=date')).text);
    expect(oldest).toEqual(newest.toReversed());
  });

  test('is a file for a spreadsheet', async () => {
    const { text, headers } = await merchant.get('/orders/files/orders.csv?state=cancelled');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const [head, row, ...rest] = text.split('\n');
    expect(head).toContain('Number;Date;Customer;Email');
    expect(row).toMatch(/^ORD\d+\/1007;/);
    expect(rest).toEqual(['']);
  });
});

describe('an order that nobody has looked at', () => {
  const newOnes = () =>
    service.db.many<{ id: string; number: string }>(sql`
      select upper(order_id::text) as id, order_number as number from customer_order
      where shop_id = 'DemoShop' and is_new order by created_at desc, order_id desc`);
  /** All that tells of an order, and where its row was written last. */
  const traceOf = async (orderId: string) => {
    const { body, headers } = await service.call('GET', `/DemoShop/orders/${orderId}`, { token });
    const written = await service.db.one(sql`
      select xmin::text from customer_order where shop_id = 'DemoShop' and order_id = ${orderId}`);
    const row = await service.db.one(sql`
      select version, updated_at, states from customer_order
      where shop_id = 'DemoShop' and order_id = ${orderId}`);
    const events = await service.db.one(sql`
      select (select count(*) from event where shop_id = 'DemoShop') as events,
        (select count(*) from order_event where shop_id = 'DemoShop') as history`);
    return { body, etag: headers['etag'], written, row, events };
  };

  test('stands out in the list and on the home page, and can be filtered', async () => {
    const found = await newOnes();
    expect(found.length).toBeGreaterThan(2);
    const { text } = await merchant.get('/orders?state=new');
    expect(numbersIn(text)).toEqual(found.map(({ number }) => number));
    expect(text).toContain(`1–${found.length} of ${found.length}`);
    const chips = (page: string) => page.split('<span class="chip new">New</span>').length - 1;
    expect([chips(text), text.split('<tr class="unread">').length - 1]).toEqual([found.length, found.length]);
    const all = await merchant.get('/orders?state=all');
    expect(chips(all.text)).toBe(found.length);
    expect(all.text).toMatch(new RegExp(`New\\s*<span class="count">${found.length}<`));
    const home = await merchant.get('');
    expect(home.text).toMatch(
      new RegExp(`state=new">\\s*<span>New orders</span>\\s*<strong>${found.length}</strong>`),
    );
    expect(numbersIn((await merchant.get('/orders?state=new&q=/1014')).text)).toEqual([found[0]!.number]);
    expect((await merchant.get('/orders?state=new&q=/1007')).text).toContain('No results for these filters.');
    expect((await merchant.get('/orders?state=new&to=2000-01-01')).text).toContain(
      'No results for these filters.',
    );
  });

  test('is an old one when somebody has opened it, and nothing else of it has changed', async () => {
    const [first, ...others] = await newOnes();
    const before = await traceOf(first!.id);
    // An app that reads it is nobody who works in the shop.
    expect((await newOnes())[0]).toEqual(first);
    const accountant = await givenMerchant(service, 'accountant');
    expect((await accountant.get(`/orders/${first!.id}`)).status).toBe(200);
    expect(await newOnes()).toEqual(others);
    const after = await traceOf(first!.id);
    expect({ ...after, written: null }).toEqual({ ...before, written: null });
    expect((await merchant.get(`/orders/${first!.id}`)).status).toBe(200);
    expect(await traceOf(first!.id)).toEqual(after);
    expect(numbersIn((await merchant.get('/orders?state=new')).text)).not.toContain(first!.number);
  });

  test('stays new to its own shop when another one asks for it', async () => {
    const [first] = await newOnes();
    const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await neighbour.get(`/orders/${first!.id}`)).status).toBe(404);
    expect((await newOnes())[0]).toEqual(first);
  });
});

describe('an order', () => {
  test('is shown to people who may only read it, without forms', async () => {
    const accountant = await givenMerchant(service, 'accountant');
    const path = `/orders/${await idOf('1014')}`;
    const { text } = await accountant.get(path);
    expect(text).toContain('Beacon Burr Grinder');
    expect(text).not.toContain('class="card panel"');
    const before = await fingerprint(service);
    expect((await accountant.post(`${path}/pay`, { amount: '1' })).status).toBe(403);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('is paid with a decimal comma, and not with more than it costs', async () => {
    const orderId = await idOf('1011');
    const refused = await send('1011', 'pay', { amount: '9.999,00', note: 'too much' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('is still to be paid');
    expect(valueIn(refused.text, 'amount')).toBe('9.999,00');
    expect((await managed(orderId)).management.paidAmount.amount).toBe(0);
    const saved = await send('1011', 'pay', { amount: '10,50', note: 'cash' });
    expect([saved.status, saved.location]).toEqual([303, `/admin/shops/DemoShop/orders/${orderId}`]);
    const { management, partiallyPaidOn } = await managed(orderId);
    expect(management.payments).toMatchObject([{ amount: { amount: 10.5 }, note: 'cash' }]);
    expect(partiallyPaidOn).not.toBeNull();
  });

  test('shows the prices of its lines with all their decimals', async () => {
    const orderId = await idOf('1014');
    const { text } = await merchant.get(`/orders/${orderId}/edit`);
    expect(
      [...text.matchAll(/name="price\.[^"]*"[^>]*?\svalue="([^"]*)"/g)].map(([, price]) => price),
    ).toEqual(['17.50', '119.00', '25.00']);
  });

  test('that an app is editing says so, and the merchant can end that', async () => {
    const orderId = await idOf('1013');
    const refused = await send('1013', 'note', { internalNote: 'Mine' });
    expect([refused.status, refused.text.includes('The order is being edited')]).toEqual([409, true]);
    expect((await merchant.get(`/orders/${orderId}`)).text).toContain('An app is editing this order');
    expect((await merchant.post(`/orders/${orderId}/edit/end`)).status).toBe(303);
    expect((await managed(orderId)).management.editing).toBeNull();
  });

  test('is sent in parts, and nobody sends it twice', async () => {
    const orderId = await idOf('1014');
    const path = `/orders/${orderId}/ship`;
    const { text } = await merchant.get(path);
    const version = valueIn(text, 'version')!;
    const [line] = (await managed(orderId)).lineItemContainer.productLineItems;
    const parts = { version, [`quantity.${line.lineItemId}`]: '1', trackingCode: '0034' };
    // It is to be paid in advance, and it is not paid.
    const { management: before, lineItemContainer } = await managed(orderId);
    const unpaid = (lineItemContainer.grandTotal.amount - before.paidAmount.amount).toFixed(2);
    expect([before.state, text.includes(`€${unpaid} of this order is not paid yet.`)]).toEqual([
      'waitingForPayment',
      true,
    ]);
    const unchanged = await fingerprint(service);
    const asked = await merchant.post(path, { ...parts, carrier: 'DHL' });
    expect([asked.status, asked.text.includes('To ship it anyway, tick the box.')]).toEqual([400, true]);
    // The number alone does not say who carries the parcel.
    const unknown = await merchant.post(path, { ...parts, unpaid: 'yes' });
    expect([unknown.status, unknown.text.includes('0034 does not show the carrier.')]).toEqual([400, true]);
    expect(await fingerprint(service)).toEqual(unchanged);
    const fields = { ...parts, trackingCode: '0034, 00 35', unpaid: 'yes', carrier: 'DHL' };
    expect((await merchant.post(path, fields)).status).toBe(303);
    const again = await merchant.post(path, fields);
    expect(again.status).toBe(409);
    expect(again.text).toContain('Somebody else has changed this');
    const { management } = await managed(orderId);
    expect(management.shipments).toMatchObject([
      { carrier: 'DHL', trackingCode: '0034', lines: [{ lineItemId: line.lineItemId, quantity: 1 }] },
    ]);
    const shown = await merchant.get(`/orders/${orderId}`);
    for (const code of ['0034', '0035']) {
      expect(shown.text).toContain(`https://www.dhl.com/global-en/home/tracking.html?tracking-id=${code}`);
    }
    expect(shown.text).toContain(merchant.email);
    // The second parcel is found by its number, however it is typed.
    const found = await merchant.get('/orders?view=all&q=00-35');
    expect(numbersIn(found.text)).toEqual([(await managed(orderId)).orderNumber]);
  });

  test('that was shipped by mistake is not, as long as its email waits', async () => {
    const orderId = await idOf('1013');
    const before = await managed(orderId);
    const quantities = Object.fromEntries(
      before.lineItemContainer.productLineItems.map(
        ({ lineItemId, quantity }: { lineItemId: string; quantity: { amount: number } }) => [
          `quantity.${lineItemId}`,
          String(quantity.amount),
        ],
      ),
    );
    const waiting = () =>
      service.db.many<{ code: string }>(sql`
        select content -> 'facts' ->> 'trackingCode' as code from job
        where shop_id = 'DemoShop' and content ->> 'template' = 'shipped' and content -> 'facts' ->> 'orderId' = ${orderId}`);
    const ship = () =>
      send('1013', 'ship', { ...quantities, unpaid: 'yes', trackingCode: '1Z5R89390357567127' });
    const sent = await ship();
    const { text } = await merchant.get(sent.location!);
    expect(noticeIn(sent).text).toBe('Marked as shipped. The customer gets an email in 10 minutes.');
    expect(text).toContain('Possible for 10 more minutes.');
    expect(text).toContain('https://www.ups.com/track?tracknum=1Z5R89390357567127');
    const { management } = await managed(orderId);
    expect(management).toMatchObject({ state: 'shipped', shipments: [{ carrier: 'UPS' }] });
    expect(await waiting()).toEqual([{ code: '1Z5R89390357567127' }]);
    const undo = `/orders/${orderId}/shipments/${management.shipments[0].shipmentId}/undo`;
    expect(text).toContain(`${undo}"`);
    expect(noticeIn(sent).undo!.action).toContain(undo);
    const undone = await merchant.post(undo, {});
    const page = (await merchant.get(undone.location!)).text;
    expect(noticeIn(undone).text).toBe('The shipment is undone. The customer gets no email.');
    expect(page).toContain('Shipment undone');
    expect(await managed(orderId)).toEqual(before);
    expect(await waiting()).toEqual([]);
    expect(
      await service.db.many(sql`
        select object ->> 'orderId' as "orderId" from audit_entry
        where shop_id = 'DemoShop' and method = 'DELETE' and route like '%/shipments/:shipmentId'`),
    ).toEqual([{ orderId }]);
    // Once more it is gone, and later it is too late.
    expect((await merchant.post(undo, {})).status).toBe(404);
    await ship();
    const [again] = (await managed(orderId)).management.shipments;
    await service.db.run(sql`
      update order_shipment set at = at - interval '10 minutes' where shop_id = 'DemoShop' and order_id = ${orderId}`);
    expect((await merchant.get(`/orders/${orderId}`)).text).not.toContain('/undo"');
    const late = await merchant.post(`/orders/${orderId}/shipments/${again.shipmentId}/undo`, {});
    expect(noticeIn(late).text).toContain('This shipment can no longer be undone.');
    expect((await managed(orderId)).management.shipments).toHaveLength(1);
    // The other tests find it as it was.
    await service.db.run(sql`
      update order_shipment set at = at + interval '10 minutes' where shop_id = 'DemoShop' and order_id = ${orderId}`);
    await merchant.post(`/orders/${orderId}/shipments/${again.shipmentId}/undo`, {});
    expect((await managed(orderId)).management).toEqual(before.management);
  });

  test('is refunded in part, and that is not asked for again', async () => {
    // Nothing came back, so it needs a reason.
    const before = await fingerprint(service);
    const refused = await send('1003', 'refund', { amount: '5', note: 'by phone' });
    expect([refused.status, refused.text.includes('Only €0.00 is still to be refunded.')]).toEqual([
      409,
      true,
    ]);
    expect(await fingerprint(service)).toEqual(before);
    const saved = await send('1003', 'refund', { amount: '5', note: 'by phone', goodwill: 'scratched' });
    expect(saved.status).toBe(303);
    const { management } = await managed(await idOf('1003'));
    expect(management.refundedAmount.amount).toBe(5);
    expect(management.payments.at(-1)).toMatchObject({
      goodwill: { amount: { amount: 5 }, reason: 'scratched' },
    });
    const { text } = await merchant.get(`/orders/${await idOf('1003')}`);
    expect(text).toContain('Goodwill: scratched');
    expect(text).toContain('Partly refunded');
    expect(text).not.toContain('Outstanding');
  });

  test('names a discount on the cart in the language of the reader', async () => {
    const { id } = (await service.db.one<{ id: string }>(sql`
      select order_id as id from customer_order
      where shop_id = 'DemoShop' and content ->> 'basketDiscount' <> '0' limit 1`))!;
    const { text } = await merchant.get(`/orders/${id}`);
    expect(text).toMatch(/<dt>Discount<\/dt>/);
    expect(text).not.toContain('cart discount');
  });

  test('is invoiced, and the file is shown in place, of this order only', async () => {
    const orderId = await idOf('1012');
    const saved = await send('1012', 'invoice', { note: 'As agreed' });
    const documentId = new URL(saved.location!, 'http://localhost').searchParams.get('document')!;
    expect(
      /<iframe[^>]* src="([^"]*)"/.exec(
        (await merchant.get(saved.location!)).text.replaceAll('\n', ' '),
      )?.[1],
    ).toBe(`/admin/shops/DemoShop/orders/${orderId}/documents/${documentId}`);
    const file = await merchant.get(`/orders/${orderId}/documents/${documentId}`);
    expect(file.headers['content-type']).toBe('application/pdf');
    expect(file.headers['x-frame-options']).toBe('SAMEORIGIN');
    expect(file.text.slice(0, 5)).toBe('%PDF-');
    expect((await merchant.get(`/orders/${await idOf('1013')}/documents/${documentId}`)).status).toBe(404);
    // Its XML is to be had in the formats that its facts allow.
    const { text: page } = await merchant.get(`/orders/${orderId}?document=${documentId}`);
    expect([...page.matchAll(/documents\/[0-9A-F-]{36}\/([\w-]+)"/g)].map(([, format]) => format)).toContain(
      'zugferd',
    );
    const xml = await merchant.get(`/orders/${orderId}/documents/${documentId}/zugferd`);
    expect([xml.status, xml.headers['content-type']]).toEqual([200, 'application/xml']);
    expect(xml.text).toContain('<rsm:CrossIndustryInvoice ');
    expect((await merchant.get(`/orders/${orderId}/documents/${documentId}/paper`)).status).toBe(404);
    const elsewhere = await merchant.get(`/orders/${await idOf('1013')}/documents/${documentId}/zugferd`);
    expect(elsewhere.status).toBe(404);
    expect((await send('1012', 'email', { documentId })).status).toBe(303);
    const history = await service.call('GET', `/manage/shops/DemoShop/orders/${orderId}/history`, { token });
    expect(history.body.items.at(-1)).toMatchObject({
      kind: 'email sent',
      details: { email: 'invoice', documentId },
    });
  });

  test('is credited line by line, and the money goes back with it, never more than was paid', async () => {
    const orderId = await idOf('1002');
    const { lineItemContainer } = await managed(orderId);
    const [coffee, other] = lineItemContainer.productLineItems;
    const total = lineItemContainer.grandTotal.amount;
    const { text } = await merchant.get(`/orders/${orderId}/credit`);
    const invoiceNumber = valueIn(text, 'invoiceNumber')!;
    const [first, second] = [coffee, other].map(
      ({ lineItemId }) => `quantity.${invoiceNumber}-${lineItemId}`,
    );
    expect([valueIn(text, first!), valueIn(text, second!)]).toEqual(['10', '2']);
    const before = await fingerprint(service);
    const more = await send('1002', 'credit', { invoiceNumber, [first!]: '11', refund: 'yes' });
    expect([more.status, valueIn(more.text, first!)]).toEqual([409, '11']);
    expect((await send('1002', 'credit', { invoiceNumber, [first!]: '0' })).status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);

    const some = { invoiceNumber, [first!]: '3', [second!]: '0', shipping: 'no', refund: 'yes' };
    const saved = await send('1002', 'credit', some);
    expect(saved.location).toMatch(/document=[0-9A-F-]{36}$/);
    const documents = await service.call('GET', `/DemoShop/orders/${orderId}/documents`, { token });
    const [{ documentType, lineItemContainer: credited }] = documents.body.items;
    const { productLineItems, grandTotal } = credited;
    expect(documentType).toBe('CreditNote');
    expect(productLineItems).toMatchObject([{ lineItemId: coffee.lineItemId, quantity: { amount: 3 } }]);
    expect((await managed(orderId)).management.refundedAmount.amount).toBe(grandTotal.amount);
    // The rest of the invoice, and with it the rest of the money and the delivery.
    const rest = (await merchant.get(`/orders/${orderId}/credit`)).text;
    expect([valueIn(rest, first!), valueIn(rest, second!)]).toEqual(['7', '2']);
    await send('1002', 'credit', { invoiceNumber, [first!]: '7', [second!]: '2', refund: 'yes' });
    expect((await managed(orderId)).management.refundedAmount.amount).toBe(total);
    expect((await merchant.get(`/orders/${orderId}`)).text).not.toContain(`/orders/${orderId}/credit"`);
  });

  test('keeps a note and an address, which can be taken back', async () => {
    const orderId = await idOf('1011');
    const { billingAddress } = await managed(orderId);
    await send('1011', 'note', { internalNote: 'Rings twice' });
    await send('1011', 'billing-address', {
      ...Object.fromEntries(
        Object.entries<string | null>(billingAddress).map(([key, value]) => [key, value ?? '']),
      ),
      city: 'Kiel',
    });
    const after = await managed(orderId);
    expect([after.internalNote, after.billingAddress.city]).toEqual(['Rings twice', 'Kiel']);
    expect({ ...after.billingAddress, city: billingAddress.city }).toEqual(billingAddress);
    const refused = await send('1011', 'billing-address', {
      emailAddress: 'nobody',
      country: 'DE',
      city: 'Ulm',
    });
    expect(refused.status).toBe(400);
    expect(valueIn(refused.text, 'city')).toBe('Ulm');
    expect((await managed(orderId)).billingAddress.city).toBe('Kiel');
  });

  test.each([
    ['billing-address', { emailAddress: 'ada', city: 'Kiel' }, 'E-Mail hat das falsche Format.'],
    ['pay', { amount: 'zehn' }, 'Betrag hat das falsche Format.'],
    ['shipping-address', { zipCode: '2'.repeat(33) }, 'Postleitzahl ist zu lang.'],
    // Three digits after a point are thousands in German.
    ['pay', { amount: '123.456' }, 'Es sind nur noch 162,58 € zu zahlen.'],
  ])(
    'is not changed by a refused form (%s), which names the field in the reader’s language',
    async (action, fields, text) => {
      const german = await givenMerchant(service, 'orders');
      await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
      const path = `/orders/${await idOf('1014')}/${action}`;
      const version = valueIn((await german.get(path)).text, 'version')!;
      const before = await fingerprint(service);
      const refused = await german.post(path, { version, ...fields });
      expect(refused.status).toBe(400);
      expect(/role="alert">([^<]*)</.exec(refused.text)?.[1]).toBe(text);
      expect(await fingerprint(service)).toEqual(before);
    },
  );

  test('is changed: quantity, price, a product more and one less', async () => {
    const orderId = await idOf('1010');
    const path = `/orders/${orderId}/edit`;
    const before = await managed(orderId);
    const [first, second] = before.lineItemContainer.productLineItems;
    const { text } = await merchant.get(path);
    const found = await merchant.post(path, { do: 'find', q: 'TE-100' });
    const productId = /value="add:([0-9A-F-]{36})"/.exec(found.text)![1]!;
    const saved = await merchant.post(path, {
      do: 'save',
      version: valueIn(text, 'version')!,
      product: productId,
      [`quantity.${productId}`]: '3',
      [`price.${productId}`]: '6,50',
      [`quantity.${first.lineItemId}`]: String(first.quantity.amount + 1),
      ...(second && { [`remove.${second.lineItemId}`]: 'yes' }),
    });
    expect(saved.status).toBe(303);
    const after = await managed(orderId);
    expect(after.management.editing).toBeNull();
    const lines = after.lineItemContainer.productLineItems.map(
      ({
        sku,
        quantity,
        singleItemPrice,
      }: {
        sku: string;
        quantity: { amount: number };
        singleItemPrice: { amount: number };
      }) => [sku, quantity.amount, singleItemPrice.amount],
    );
    const kept = before.lineItemContainer.productLineItems
      .slice(2)
      .map(({ sku, quantity, singleItemPrice }: typeof first) => [
        sku,
        quantity.amount,
        singleItemPrice.amount,
      ]);
    expect(lines).toEqual([
      [first.sku, first.quantity.amount + 1, first.singleItemPrice.amount],
      ...kept,
      ['TE-100', 3, 6.5],
    ]);
  });

  test('stays as it is when one of its changes is refused', async () => {
    const orderId = await idOf('1010');
    const path = `/orders/${orderId}/edit`;
    const [first] = (await managed(orderId)).lineItemContainer.productLineItems;
    const { text } = await merchant.get(path);
    const before = await fingerprint(service);
    const refused = await merchant.post(path, {
      do: 'save',
      version: valueIn(text, 'version')!,
      product: first.productId,
      [`quantity.${first.productId}`]: '1',
      [`quantity.${first.lineItemId}`]: '-1',
    });
    expect(refused.status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('comes back, and is refunded for what came back', async () => {
    const orderId = await idOf('1004');
    const [line] = (await managed(orderId)).lineItemContainer.productLineItems;
    const nothing = await send('1004', 'return', { restock: 'yes' });
    expect([nothing.status, nothing.text.includes('Enter a quantity')]).toEqual([400, true]);
    expect((await send('1004', 'return', { [`quantity.${line.lineItemId}`]: '1' })).status).toBe(303);
    const [returned] = (await managed(orderId)).management.returns;
    expect(returned).toMatchObject({ state: 'received', restocked: false, lines: [{ quantity: 1 }] });
    // It is what is to be done next.
    const path = `/orders/${orderId}/returns/${returned.returnId}`;
    const { text } = await merchant.get(`/orders/${orderId}`);
    expect(text).toContain(`action="/admin/shops/DemoShop${path}"`);
    const version = valueIn(text, 'version')!;
    const refused = await merchant.post(path, { version, state: 'refunded', refund: '99999' });
    expect([refused.status, valueIn(refused.text, 'refund')]).toEqual([409, '99999']);
    expect((await merchant.post(path, { version, state: 'refunded', refund: '1,50' })).status).toBe(303);
    const { management } = await managed(orderId);
    expect([management.returns[0].state, management.refundedAmount.amount]).toEqual(['refunded', 1.5]);
    expect((await merchant.get(`/orders/${orderId}/returns/${orderId}`)).status).toBe(404);
  });

  test('is refunded once for an item that came back, even when the money is sent with the button of the order', async () => {
    const orderId = await idOf('1001');
    const [, line] = (await managed(orderId)).lineItemContainer.productLineItems;
    expect((await send('1001', 'return', { [`quantity.${line.lineItemId}`]: '1' })).status).toBe(303);
    const [returned] = (await managed(orderId)).management.returns;
    const path = `/orders/${orderId}/returns/${returned.returnId}`;
    const amount = String(line.singleItemPrice.amount);
    expect((await send('1001', 'refund', { amount })).status).toBe(303);
    const { text } = await merchant.get(`/orders/${orderId}`);
    expect(text).not.toContain(`action="/admin/shops/DemoShop${path}"`);
    const form = await merchant.get(path);
    expect(valueIn(form.text, 'refund')).toBe('0.00');
    const version = valueIn(form.text, 'version')!;
    const again = await merchant.post(path, { version, state: 'refunded', refund: amount });
    expect([again.status, again.text.includes('enter a reason for goodwill')]).toEqual([409, true]);
    expect((await managed(orderId)).management.refundedAmount.amount).toBe(line.singleItemPrice.amount);
  });

  test('is refunded and credited in one step, of two people one is second, and all refunds sum to the payment', async () => {
    const orderId = await idOf('1001');
    const before = await managed(orderId);
    const [knife, tea] = before.lineItemContainer.productLineItems;
    const [invoice] = (await service.call('GET', `/DemoShop/orders/${orderId}/documents`, { token })).body
      .items;
    expect((await send('1001', 'return', { [`quantity.${tea.lineItemId}`]: '1' })).status).toBe(303);
    const page = (await merchant.get(`/orders/${orderId}`)).text;
    expect(page).toContain('2 of 2 returned');
    expect(page).toContain('Partly returned');
    expect((await merchant.get('/orders?state=returned')).text).toContain('Partly returned');
    const path = /action="\/admin\/shops\/DemoShop(\/orders\/[^"]*\/returns\/[^"]*)"/.exec(page)![1]!;
    const fields = {
      version: valueIn(page, 'version')!,
      state: 'refunded',
      refund: valueIn(page, 'refund')!,
      creditNote: valueIn(page, 'creditNote')!,
    };
    expect(fields).toMatchObject({
      refund: tea.singleItemPrice.amount.toFixed(2),
      creditNote: invoice.documentNumber,
    });
    const beyond = await merchant.post(path, { ...fields, refund: String(Number(fields.refund) + 1) });
    expect([beyond.status, beyond.text.includes('enter a reason for goodwill')]).toEqual([409, true]);
    const answers = await Promise.all([merchant.post(path, fields), merchant.post(path, fields)]);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const second = answers.find(({ status }) => status === 409)!;
    expect(second.text).toContain('Somebody else has changed this');
    expect(second.text).toContain(`Already refunded: €${fields.refund}.`);
    const paidBack = await managed(orderId);
    expect(paidBack.management.refundedAmount.amount).toBe(2 * tea.singleItemPrice.amount);
    const [credit] = (await service.call('GET', `/DemoShop/orders/${orderId}/documents`, { token })).body
      .items;
    expect(credit).toMatchObject({
      documentType: 'CreditNote',
      lineItemContainer: { grandTotal: { amount: tea.singleItemPrice.amount } },
    });
    expect(await merchant.get(`/orders/${orderId}`)).toMatchObject({
      text: expect.not.stringContaining(`action="/admin/shops/DemoShop${path}"`),
    });
    // The rest comes back, and delivery with it.
    expect((await send('1001', 'return', { [`quantity.${knife.lineItemId}`]: '1' })).status).toBe(303);
    const rest = (await merchant.get(`/orders/${orderId}/refund`)).text;
    expect(rest).not.toContain('Partly returned');
    const { status } = await send('1001', 'refund', {
      amount: valueIn(rest, 'amount')!,
      returnId: /<option value="([^"]*)" selected/.exec(rest)![1]!,
    });
    expect(status).toBe(303);
    const { management } = await managed(orderId);
    expect(management.refundedAmount).toEqual(management.paidAmount);
    expect(management.returns.map(({ state }: { state: string }) => state)).toEqual([
      'received',
      'refunded',
      'refunded',
    ]);
  });

  test('is cancelled', async () => {
    const saved = await send('1009', 'cancel', { reason: 'ordered twice' });
    expect(saved.status).toBe(303);
    expect((await managed(await idOf('1009'))).management.cancelledOn).not.toBeNull();
    expect((await merchant.get(saved.location!)).text).toContain('ordered twice');
  });
});

describe('many orders', () => {
  test('are invoiced and printed as one file; what is refused is named', async () => {
    const ids = [await idOf('1008'), await idOf('1015'), await idOf('1012')];
    const { text } = await merchant.post('/orders/invoices', { id: ids });
    expect(text).toContain('2 invoices are created.');
    expect(text).toMatch(/\/1012<\/strong> Everything has been invoiced already/);
    const query = ids.map((id) => `id=${id}`).join('&');
    const file = await merchant.get(`/orders/files/invoices.pdf?${query}`);
    expect(file.text.slice(0, 5)).toBe('%PDF-');
    expect(file.text.match(/\/Type \/Page\b/g)).toHaveLength(3);
    expect((await merchant.get('/orders/files/invoices.pdf')).status).toBe(404);
  });

  test('are marked as shipped by pasting codes; what does not work stays in the field', async () => {
    const { text } = await merchant.post('/orders/ship', {
      codes: '/1008\tJD0001\n/1015;JD0002\n9999 JD0003\n/1009 JD0004',
      carrier: 'UPS',
    });
    expect(text).toContain('2 orders are marked as shipped.');
    expect(text).toContain('This order does not exist.');
    expect(text).toMatch(/<textarea[^>]*>\s*9999 JD0003\n\/1009 JD0004<\/textarea>/);
    const { management } = await managed(await idOf('1015'));
    expect(management.shipments).toMatchObject([{ carrier: 'UPS', trackingCode: 'JD0002' }]);
  });

  test('that wait for their payment are left out and named, until the merchant says otherwise', async () => {
    const orderId = await idOf('1013');
    const { management, lineItemContainer } = await managed(orderId);
    expect(management.state).toBe('waitingForPayment');
    const codes = '/1013 1Z5R89390357567127\n/1003 JD0009';
    const unchanged = await fingerprint(service);
    const left = await merchant.post('/orders/ship', { codes });
    const { amount } = lineItemContainer.grandTotal;
    expect(left.text).toMatch(
      new RegExp(`/1013</strong>\\s*€${amount.toFixed(2)} of this order is not paid yet`),
    );
    expect(left.text).toContain('JD0009 does not show the carrier.');
    expect(left.text).toContain('2 lines have errors.');
    expect(left.text).toContain('Ship unpaid goods anyway');
    expect(await fingerprint(service)).toEqual(unchanged);
    const sent = await merchant.post('/orders/ship', { codes: '/1013 1Z5R89390357567127', unpaid: 'yes' });
    expect(sent.text).toContain('1 order is marked as shipped.');
    const { shipments } = (await managed(orderId)).management;
    expect(shipments).toMatchObject([{ carrier: 'UPS', trackingCode: '1Z5R89390357567127' }]);
    await merchant.post(`/orders/${orderId}/shipments/${shipments[0].shipmentId}/undo`, {});
  });

  test('have a proforma invoice if they leave the European Union', async () => {
    const orderId = await idOf('1014');
    const path = `/orders/${orderId}/proforma`;
    expect((await merchant.get(`/orders/${orderId}`)).text).not.toContain('/proforma');
    expect((await merchant.get(path)).status).toBe(404);
    const setCountry = (country: string) =>
      service.db.run(sql`
        update customer_order set billing_address = (billing_address::jsonb || ${{ country }}::jsonb)::json,
          shipping_address = (shipping_address::jsonb || ${{ country }}::jsonb)::json
        where shop_id = 'DemoShop' and order_id = ${orderId}`);
    await setCountry('CH');
    expect((await merchant.get(`/orders/${orderId}`)).text).toContain('Proforma invoice for customs');
    const file = await merchant.get(path);
    expect([file.status, file.headers['content-type']]).toEqual([200, 'application/pdf']);
    expect(file.text.slice(0, 5)).toBe('%PDF-');
    await setCountry('DE');
  });

  test('have packing slips and a pick list', async () => {
    const chosen = [await idOf('1014'), await idOf('1013')];
    const query = chosen.map((id) => `id=${id}`).join('&');
    // Unpaid orders are not packed; one that is opened by itself is printed.
    const unpaid = await merchant.get(`/orders/pick-list?${query}`);
    expect(unpaid.text).toMatch(/payment in advance has not arrived: ORD\d+\/1013, ORD\d+\/1014</);
    expect(unpaid.text).not.toContain('AP-120');
    expect((await merchant.get(`/orders/packing-slips?id=${chosen[0]}`)).text).toContain('class="card slip"');
    await service.db.run(sql`
      update customer_order set payment_wait = null where shop_id = 'DemoShop' and order_id = any (${chosen}::uuid[])`);
    const slips = await merchant.get(`/orders/packing-slips?${query}`);
    expect(slips.text.match(/class="card slip"/g)).toHaveLength(2);
    // It was sent already.
    expect(slips.text).not.toContain('Tidewater Espresso Beans');
    expect(slips.text).toContain('Beacon Burr Grinder');
    // The parcel says where it comes from and how it is sent, in the language of the shop, whoever prints it.
    await service.db.run(sql`update admin_user set language = 'de'`);
    const german = await merchant.get(`/orders/packing-slips?${query}`);
    await service.db.run(sql`update admin_user set language = null`);
    expect(german.text).toContain('<html lang="de"');
    for (const { text } of [slips, german]) {
      expect(text).toContain('Return address: Harbour &amp; Hearth GmbH, Speicherweg 4, 20457 Hamburg');
      expect(text).toMatch(/<p>Delivery: (?:Standard|Express) delivery<\/p>/);
    }
    await service.db.transaction((tx) =>
      applySettings(tx, 'DemoShop', {
        producerRegistrations: ['DE', 'FR'].map((country) => ({
          country,
          kind: 'packaging' as const,
          number: `${country}-4711`,
        })),
      }),
    );
    const numbered = await merchant.get(`/orders/packing-slips?id=${chosen[1]}`);
    expect(numbered.text).toContain('Packaging register (Germany): DE-4711');
    expect(numbered.text).not.toContain('FR-4711');
    const list = await merchant.get(`/orders/pick-list?${query}`);
    expect(list.text).toContain('AP-120');
    expect((await merchant.get('/orders/pick-list')).text).toContain('No orders selected.');
  });
});

describe('an order by hand', () => {
  const productId = async (number: string) =>
    (await service.call('GET', `/DemoShop/products?q=${number}`)).body.items[0].productId as string;

  const ADDRESS = {
    'billing-firstName': 'Ida',
    'billing-lastName': 'Holm',
    'billing-street': 'Kaistraße 1',
    'billing-zipCode': '20457',
    'billing-city': 'Hamburg',
    'billing-emailAddress': 'ida@holm.example',
    'billing-country': 'DE',
  };

  test('is placed with prices of its own, and has the note', async () => {
    const product = await productId('AP-100');
    const fields = {
      ...ADDRESS,
      product,
      [`quantity.${product}`]: '2',
      [`price.${product}`]: '39,50',
      internalNote: 'by phone',
    };
    const total = await merchant.post('/orders/new', { ...fields, do: 'compute' });
    expect(total.text).toContain('€79.00');
    const saved = await merchant.post('/orders/new', { ...fields, do: 'place' });
    expect(saved.status).toBe(303);
    const order = await managed(saved.location!.split('/').at(-1)!);
    expect(order.lineItemContainer.lineItemsSubTotal.amount).toBe(79);
    expect([order.internalNote, order.billingAddress.emailAddress]).toEqual(['by phone', 'ida@holm.example']);
  });

  test('takes the address of a customer who is chosen', async () => {
    const found = await merchant.post('/orders/new', { do: 'findCustomer', customer: 'jonas.w@' });
    const value = /value="(customer:[^"]+)"/.exec(found.text)![1]!;
    const chosen = await merchant.post('/orders/new', { do: value });
    expect(valueIn(chosen.text, 'billing-emailAddress')).toBe('jonas.w@mail.example');
    expect(chosen.text).toContain('Customer 1002');
  });

  test('is refused without an address or with more than there is, and nothing is ordered', async () => {
    const product = await productId('AP-100');
    const before = await fingerprint(service);
    const nowhere = await merchant.post('/orders/new', {
      product,
      [`quantity.${product}`]: '1',
      do: 'place',
    });
    expect(nowhere.status).toBe(400);
    const short = await merchant.post('/orders/new', {
      ...ADDRESS,
      product,
      [`quantity.${product}`]: '9999',
      do: 'place',
    });
    expect(short.status).toBe(400);
    expect(short.text).toMatch(/Only \d+ of AP-100 can be ordered/);
    expect(valueIn(short.text, 'billing-city')).toBe('Hamburg');
    const there = { ...ADDRESS, product, [`quantity.${product}`]: '1', do: 'place' };
    const abroad = await merchant.post('/orders/new', { ...there, 'billing-country': 'JP' });
    expect(abroad.status).toBe(400);
    expect(abroad.text).toContain('The shop does not deliver to Japan.');
    const elsewhere = { ...there, 'shipping-city': 'Santos', 'shipping-country': 'BR' };
    const sent = await merchant.post('/orders/new', elsewhere);
    expect([sent.status, sent.text.includes('The shop does not deliver to Brazil.')]).toEqual([400, true]);
    const unpayable = { ...there, paymentMethodId: '00000000-0000-0000-0000-000000000000' };
    expect((await merchant.post('/orders/new', unpayable)).status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);
  });
});

test('a return is received and refunded at once when it arrives, or not at all', async () => {
  const orderId = await idOf('1008');
  const [{ lineItemId }] = (await managed(orderId)).lineItemContainer.productLineItems;
  const returnId = newId(service.db.now);
  await service.db.run(sql`
    insert into order_return (shop_id, order_id, return_id, at, lines, restocked, state, origin)
    values ('DemoShop', ${orderId}, ${returnId}, ${service.db.now}, ${JSON.stringify([{ lineItemId, quantity: '1' }])},
      false, 'approved', 'customer')`);
  const path = `/orders/${orderId}/returns/${returnId}`;
  const { text } = await merchant.get(path);
  const paid = (await managed(orderId)).management.paidAmount.amount;
  const refund = valueIn(text, 'refund')!;
  // It is all of the order, so delivery is refunded as well.
  expect(Number(refund)).toBe(paid);
  const before = await fingerprint(service);
  const fields = { version: valueIn(text, 'version')!, state: 'receivedAndRefunded', restock: 'yes', refund };
  expect((await merchant.post(path, { ...fields, creditNote: '9999' })).status).toBe(400);
  const tooMuch = await merchant.post(path, { ...fields, refund: String(paid + 1), goodwill: 'late' });
  expect([tooMuch.status, tooMuch.text.includes('because no more was paid')]).toEqual([409, true]);
  expect(await fingerprint(service)).toEqual(before);
  const creditNote = valueIn(text, 'creditNote')!;
  expect((await merchant.post(path, { ...fields, creditNote })).status).toBe(303);
  const { management } = await managed(orderId);
  expect(management.returns).toMatchObject([
    { state: 'refunded', restocked: true, refundableAmount: { amount: 0 } },
  ]);
  expect(management.refundedAmount.amount).toBe(paid);
  const { body } = await service.call('GET', `/DemoShop/orders/${orderId}/documents`, { token });
  expect(body.items[0]).toMatchObject({
    documentType: 'CreditNote',
    lineItemContainer: { grandTotal: { amount: paid } },
  });
});

test('an order is opened in 12 statements, and shipped in one transaction of 12', async () => {
  const path = `/orders/${await idOf('1013')}`;
  await merchant.get(path);
  expect(await statementsOf(() => merchant.get(path))).toHaveLength(12);
  const { text } = await merchant.get(`${path}/ship`);
  const quantities = [...text.matchAll(/name="(quantity[^"]*)"[^>]*?\svalue="([^"]*)"/g)];
  const fields = Object.fromEntries(quantities.map(([, name, value]) => [name!, value!]));
  const version = valueIn(text, 'version')!;
  const sent = await statementsOf(async () => {
    expect((await merchant.post(`${path}/ship`, { version, unpaid: 'yes', ...fields })).status).toBe(303);
  });
  expect(sent.filter((statement) => statement.startsWith('begin'))).toHaveLength(1);
  const written = sent.slice(sent.findIndex((statement) => statement.startsWith('begin')));
  // It was the last order of its day in this state, so the sum of the day is deleted.
  const rest = written.filter((statement) => !/^\s*delete from order_day/.test(statement));
  expect([rest.length, written.length - rest.length]).toEqual([12, 1]);
});
