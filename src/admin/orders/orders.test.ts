import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySettings } from '../../shops/settings/file.ts';
import { givenMerchant, type AdminAnswer, type Merchant } from '../../../test/admin.ts';
import { done, givenFullCart, statementsOf } from '../../../test/carts.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { taxOn } from '../../pricing/tax.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import { formOf } from '../../../test/upload.ts';

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

async function idOf(end: string): Promise<string> {
  const row = await service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order where shop_id = 'DemoShop' and order_number like ${`%/${end}`}`);
  return row!.id;
}

function noticeIn({ headers }: AdminAnswer): { text: string; undo?: { action: string } } {
  const cookie = [headers['set-cookie']].flat().find((one) => String(one).startsWith('admin-notice='));
  const [, content] = /^admin-notice=([^.]+)/.exec(String(cookie))!;
  return JSON.parse(Buffer.from(content!, 'base64url').toString());
}

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
    const fields = { ...parts, unpaid: 'yes', carrier: 'DHL' };
    expect((await merchant.post(path, fields)).status).toBe(303);
    const again = await merchant.post(path, fields);
    expect(again.status).toBe(409);
    expect(again.text).toContain('Somebody else has changed this');
    const { management } = await managed(orderId);
    expect(management.shipments).toMatchObject([
      { carrier: 'DHL', trackingCode: '0034', lines: [{ lineItemId: line.lineItemId, quantity: 1 }] },
    ]);
    const shown = await merchant.get(`/orders/${orderId}`);
    expect(shown.text).toContain('https://www.dhl.com/global-en/home/tracking.html?tracking-id=0034');
    expect(shown.text).toContain(merchant.email);
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

test('an order is opened in 8 statements, and shipped in one transaction of 12', async () => {
  const path = `/orders/${await idOf('1013')}`;
  await merchant.get(path);
  expect(await statementsOf(() => merchant.get(path))).toHaveLength(8);
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

describe('the files for the accountant', () => {
  const PERIOD = 'from=2020-01-01&to=2020-12-31';
  const files = '/orders/accounting';
  const fetchFile = async (path: string, by = merchant) => {
    const { statusCode, rawPayload, headers } = await service.app.inject({
      url: `/admin/shops/DemoShop${files}${path}`,
      headers: { host: 'localhost:8080', cookie: by.cookie },
    });
    return { status: statusCode, bytes: rawPayload, text: rawPayload.toString('utf8'), headers };
  };
  const rowsOf = (text: string, separator: string) =>
    text
      .replace('\u{FEFF}', '')
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(separator));
  const cents = (cell: string) => Number(cell.replace(',', '').replace('.', ''));
  const manage = async (orderId: string, path: string, body: object = {}) =>
    (await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}${path}`, { token, body })).body;

  let invoice: string;
  let creditNote: string;
  /** Orders and documents of their own year, so that nothing else is in the files. */
  beforeAll(async () => {
    const product = (await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`))!;
    const shop = { service, shopId: 'DemoShop', token, ids: {} };
    const { orderId } = await done(await givenFullCart(shop, { [product.id]: 3 }), 'POST', '/order');
    const invoiced = await manage(orderId, '/invoices');
    invoice = invoiced.documentNumber;
    creditNote = (await manage(orderId, '/credit-notes', { invoiceNumber: invoice })).documentNumber;
    await service.db.run(sql`
      update order_document set issued_at = '2020-06-30T12:00:00Z' where shop_id = 'DemoShop' and order_id = ${orderId}`);
    await service.db.run(sql`
      update customer_order set created_at = '2020-06-29T10:00:00Z',
        billing_address = (billing_address::jsonb || '{"company": "=HYPERLINK(1)", "vatId": "DE811907980"}')::json
      where shop_id = 'DemoShop' and order_id = ${orderId}`);
    await service.db.run(sql`
      update customer_order set created_at = '2020-07-01T10:00:00Z'
      where shop_id = 'DemoShop' and order_id in (${await idOf('1007')}, ${await idOf('1011')})`);
  });

  test('have a row per order and tax rate that sum to the orders, and negative ones of credit notes', async () => {
    const { text, headers } = await fetchFile(`/orders.csv?${PERIOD}`);
    expect(headers['content-disposition']).toContain('accounting-2020-01-01-2020-12-31.csv');
    expect(text.split('\n')[0]).toBe(
      '\u{FEFF}Type,Order number,Order date,Document number,Document date,Credited invoice,Customer,Company,VAT ID,' +
        'Delivery country,Tax rate %,Net,Tax,Gross,Currency,Payment method,Payment status,Paid on',
    );
    const rows = rowsOf(text, ',');
    const orders = await service.db.many<{ number: string; net: number; tax: number; gross: number }>(sql`
      select order_number as number, total_before_tax as net, total_tax as tax, grand_total as gross
      from customer_order where shop_id = 'DemoShop' and created_at < '2021-01-01' and rejected_at is null
      order by created_at`);
    expect(orders).toHaveLength(2);
    const sumsOf = (kind: string, number: string) => {
      const own = rows.filter((row) => row[0] === kind && row[1] === number);
      expect(own.length).toBeGreaterThan(0);
      const sum = (column: number) => own.reduce((total, row) => total + cents(row[column]!), 0);
      return { number, net: sum(11), tax: sum(12), gross: sum(13) };
    };
    expect(orders.map(({ number }) => sumsOf('Order', number))).toEqual(orders);
    const [credited] = orders;
    expect(sumsOf('Credit note', credited!.number)).toEqual({
      number: credited!.number,
      net: -credited!.net,
      tax: -credited!.tax,
      gross: -credited!.gross,
    });
    // The cancelled order of the period has no invoice.
    expect(new Set(rows.map(([, number]) => number)).size).toBe(2);
    const first = rows.find(([kind]) => kind === 'Order')!;
    expect(first.slice(2, 6)).toEqual(['2020-06-29', invoice, '2020-06-30', '']);
    expect(first.slice(7, 9)).toEqual(["'=HYPERLINK(1)", 'DE811907980']);
    const note = rows.find(([kind]) => kind === 'Credit note')!;
    expect(note.slice(3, 6)).toEqual([creditNote, '2020-06-30', invoice]);
  });

  test('have a decimal comma and semicolons in German, as the list of orders has', async () => {
    const german = await givenMerchant(service, 'accountant');
    await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
    const { text } = await fetchFile(`/orders.csv?${PERIOD}`, german);
    expect(text).toContain('Art;Bestellnummer;Bestelldatum;Belegnummer');
    for (const row of rowsOf(text, ';')) {
      for (const cell of row.slice(11, 14)) expect(cell).toMatch(/^-?\d+,\d\d$/);
    }
    const list = await german.get('/orders/files/orders.csv');
    expect(rowsOf(list.text, ';').every((row) => !row[5]!.includes('.'))).toBe(true);
    expect(list.text).toMatch(/;\d+,\d/);
  });

  test('are the documents of the period in an archive, each under its number', async () => {
    const { bytes, headers } = await fetchFile(`/documents.zip?${PERIOD}`);
    expect(headers['content-type']).toBe('application/zip');
    const archive = await fromBufferPromise(bytes);
    const entries: Record<string, string> = {};
    const checksums: string[] = [];
    let manifest = '';
    for await (const entry of archive.eachEntry()) {
      const content = await buffer(await archive.openReadStreamPromise(entry));
      entries[entry.fileName] = content.subarray(0, 5).toString();
      if (entry.fileName === 'SHA256SUMS') manifest = content.toString();
      else checksums.push(`${createHash('sha256').update(content).digest('hex')}  ${entry.fileName}\n`);
    }
    expect(entries).toEqual({
      [`Invoice-${invoice}.pdf`]: '%PDF-',
      [`Credit-note-${creditNote}.pdf`]: '%PDF-',
      SHA256SUMS: expect.any(String) as string,
    });
    expect(manifest).toBe(checksums.join(''));
    const empty = await fetchFile('/documents.zip?from=2019-01-01&to=2019-01-31');
    expect(empty.bytes).toHaveLength(22);
  });

  test('are refused for a period that is too long or ends before it begins', async () => {
    for (const period of ['from=2020-01-01&to=2021-12-31', 'from=2020-02-01&to=2020-01-01']) {
      for (const file of ['/orders.csv', '/documents.zip']) {
        const { status, text } = await fetchFile(`${file}?${period}`);
        expect([status, text.includes('Choose a period of 1 to 366 days.')]).toEqual([400, true]);
      }
    }
    // What is no date is the month before.
    expect((await fetchFile('/orders.csv?from=soon&to=')).status).toBe(200);
  });

  test('are made one at a time for a shop, and a fifth is refused', async () => {
    const others = [await givenMerchant(service, 'manager'), await givenMerchant(service, 'orders')];
    const client = await service.db.pool.connect();
    await client.query('begin');
    await client.query('lock table order_document in access exclusive mode');
    const answers = [merchant, merchant, merchant, ...others].map((by) =>
      fetchFile(`/orders.csv?${PERIOD}`, by),
    );
    try {
      const refused = await Promise.race(answers);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    } finally {
      await client.query('rollback');
      client.release();
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted((left, right) => left - right)).toEqual([200, 200, 200, 200, 429]);
  });

  test('of another shop have nothing of this one', async () => {
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    const { text } = await stranger.get(`${files}/orders.csv?${PERIOD}`);
    expect(rowsOf(text, ',')).toEqual([]);
    expect((await fetchFile(`/orders.csv?${PERIOD}`, stranger)).status).toBe(404);
  });
});

/** A year of documents and payments with several rates, countries, treatments, credit notes and refunds. */
describe('the taxes and bookings of a generated year', () => {
  const YEAR = 2021;
  const CASES = [
    { country: 'DE', treatment: 'domestic', rates: [1900, 700] },
    { country: 'DE', treatment: null, rates: [1900, 700, 0] },
    { country: 'AT', treatment: 'oss', rates: [2000, 1000] },
    { country: 'GR', treatment: 'oss', rates: [2400] },
    { country: 'FR', treatment: 'intraCommunity', rates: [0], vatId: 'FR 12345678901' },
    { country: 'FR', treatment: 'reverseCharge', rates: [0], vatId: 'FR12345678901' },
    { country: 'CH', treatment: 'export', rates: [0] },
  ];
  const documents: {
    kind: 'Invoice' | 'CreditNote';
    number: number;
    at: string;
    case: (typeof CASES)[number];
    invoice: { number: number; issuedOn: string } | null;
    taxType: 'GROSS' | 'NET';
    taxes: { rate: number; amount: number; tax: number; treatment?: string }[];
    net: number;
    tax: number;
  }[] = [];
  const payments: { kind: 'payment' | 'refund'; amount: number; at: string }[] = [];
  let accountant: Merchant;

  /** The same numbers in every run. */
  const random = (() => {
    let state = 20_261_118;
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  })();

  beforeAll(async () => {
    for (let index = 0; index < 240; index++) {
      const sold = CASES[random(CASES.length)]!;
      const taxType = random(3) === 0 ? 'NET' : 'GROSS';
      const taxes = sold.rates.map((rate) => {
        const amount = random(100_000);
        const tax = taxOn(amount, rate, taxType);
        return { rate, amount, tax, ...(sold.treatment !== null && { treatment: sold.treatment }) };
      });
      const day = new Date(Date.UTC(YEAR, 0, 1 + random(365), random(24))).toISOString();
      const tax = taxes.reduce((sum, one) => sum + one.tax, 0);
      const amount = taxes.reduce((sum, one) => sum + one.amount, 0);
      const net = taxType === 'GROSS' ? amount - tax : amount;
      const number = 700_000 + index;
      const invoice = {
        kind: 'Invoice' as const,
        number,
        at: day,
        case: sold,
        taxType,
        taxes,
        net,
        tax,
      } as const;
      documents.push({ ...invoice, invoice: null });
      payments.push({ kind: 'payment', amount: 1 + net + tax, at: day });
      if (random(4) === 0) {
        const at = new Date(Math.min(Date.parse(day) + random(120) * 86_400_000, Date.UTC(YEAR, 11, 31)));
        const credited = { number, issuedOn: day.slice(0, 10) };
        documents.push({ ...invoice, kind: 'CreditNote', at: at.toISOString(), invoice: credited });
        payments.push({ kind: 'refund', amount: 1 + net, at: at.toISOString() });
      }
    }
    const orderId = await idOf('1014');
    const terms = (one: (typeof documents)[number]) => ({
      customerNumber: String(1 + (one.number % 50)),
      orderNumber: `ORD/${one.number}`,
      deliveryCountry: one.case.country,
      seller: { country: 'DE' },
      dueOn: null,
      invoice: one.invoice,
    });
    for (const one of documents) {
      const address = {
        ...Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, null])),
        firstName: 'Őzge',
        lastName: `Müller ${one.number}`,
        country: one.case.country,
        ...(one.case.vatId !== undefined && { vatId: one.case.vatId }),
      };
      const { taxType, taxes, net, tax } = one;
      const totals = { totalBeforeTax: net, totalTax: tax, grandTotal: net + tax };
      const content = { currency: 'EUR', taxType, taxes, lines: [], ...totals };
      await service.db.run(sql`
        insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address, terms,
          content)
        values ('DemoShop', ${newId(new Date())}, ${orderId}, ${one.kind}, ${one.number}, ${one.at}, ${one.at},
          ${JSON.stringify(address)}, ${JSON.stringify(terms(one))}, ${JSON.stringify(content)})`);
    }
    for (const { kind, amount, at } of payments) {
      await service.db.run(sql`
        insert into order_payment (shop_id, order_id, payment_id, at, kind, amount)
        values ('DemoShop', ${orderId}, ${newId(new Date())}, ${at}, ${kind}, ${amount})`);
    }
    accountant = await givenMerchant(service, 'accountant');
    await service.db.run(sql`update admin_user set language = 'de' where email = ${accountant.email}`);
  }, 60_000);

  const cents = (cell: string) => Number(cell.replace(',', ''));
  const csv = async (path: string) => {
    const { status, text } = await accountant.get(path);
    expect(status).toBe(200);
    const lines = text.replace('\u{FEFF}', '').trim().split('\n');
    return lines.slice(1).map((line) => line.split(';'));
  };
  const signed = ({ kind }: (typeof documents)[number]) => (kind === 'Invoice' ? 1 : -1);
  const quarterOf = (day: string) => `${YEAR}-Q${1 + Math.floor((Number(day.slice(5, 7)) - 1) / 3)}`;
  const QUARTERS = [1, 2, 3, 4].map((quarter) => `${YEAR}-Q${quarter}`);

  test('sum to the cents of the documents in the VAT summary, of the year and of its quarters', async () => {
    const net = documents.reduce((sum, one) => sum + signed(one) * one.net, 0);
    const tax = documents.reduce((sum, one) => sum + signed(one) * one.tax, 0);
    const sums = async (period: string) => {
      const rows = await csv(`/reports/taxes/vat.csv?period=${period}`);
      return [3, 4, 5].map((column) => rows.reduce((sum, row) => sum + cents(row[column]!), 0));
    };
    expect(await sums(String(YEAR))).toEqual([net, tax, net + tax]);
    const quarters = await Promise.all(QUARTERS.map(sums));
    expect([0, 1, 2].map((column) => quarters.reduce((sum, row) => sum + row[column]!, 0))).toEqual([
      net,
      tax,
      net + tax,
    ]);
    const treatments = new Set((await csv(`/reports/taxes/vat.csv?period=${YEAR}`)).map(([name]) => name));
    expect([...treatments]).toEqual([
      'Inland',
      'Fernverkauf (OSS)',
      'Innergemeinschaftliche Lieferung',
      'Reverse-Charge',
      'Ausfuhr',
    ]);
  });

  test('sum to the cents of the distance sales in the OSS reports, corrections apart', async () => {
    const oss = documents.filter(({ case: { treatment } }) => treatment === 'oss');
    let corrected = 0;
    for (const quarter of QUARTERS) {
      const own = oss.filter(({ at }) => quarterOf(at) === quarter);
      const isCorrection = ({ invoice }: (typeof documents)[number]) =>
        invoice !== null && quarterOf(invoice.issuedOn) !== quarter;
      const sum = (list: typeof documents, key: 'net' | 'tax') =>
        list.reduce((total, one) => total + signed(one) * one[key], 0);
      const sales = own.filter((one) => !isCorrection(one));
      const corrections = own.filter(isCorrection);
      corrected += corrections.length;
      const rows = await csv(`/reports/taxes/oss.csv?period=${quarter}`);
      expect(rows.map(([country, kind, rate]) => [country, kind, rate])).toEqual([
        ['AT Österreich', 'Waren', '20'],
        ['AT Österreich', 'Waren', '10'],
        ['EL Griechenland', 'Waren', '24'],
      ]);
      const total = (list: string[][], column: number) =>
        list.reduce((all, row) => all + cents(row[column]!), 0);
      expect([total(rows, 3), total(rows, 4)]).toEqual([sum(sales, 'net'), sum(sales, 'tax')]);
      const earlier = await csv(`/reports/taxes/oss-corrections.csv?period=${quarter}`);
      expect([total(earlier, 2), total(earlier, 3)]).toEqual([
        sum(corrections, 'net'),
        sum(corrections, 'tax'),
      ]);
    }
    expect(corrected).toBeGreaterThan(3);
    expect((await accountant.get(`/reports/taxes/oss.csv?period=${YEAR}`)).status).toBe(404);
  });

  test('sum to the cents of the businesses in the EC sales list', async () => {
    const sum = (treatment: string) =>
      documents
        .filter((one) => one.case.treatment === treatment)
        .reduce((total, one) => total + signed(one) * one.net, 0);
    const rows = await csv(`/reports/taxes/ec-sales.csv?period=${YEAR}`);
    expect(rows.map(([number, net, kind]) => [number, cents(net!), kind])).toEqual([
      ['FR12345678901', sum('intraCommunity'), 'L Waren'],
      ['FR12345678901', sum('reverseCharge'), 'S sonstige Leistungen'],
    ]);
  });

  test('are shown on a page that says what they are counted from', async () => {
    const { text } = await accountant.get(`/reports/taxes?period=${YEAR}-Q2`);
    expect(text).toContain('Rechnungen und Gutschriften zählen nach ihrem Datum');
    for (const title of ['Umsatzsteuer-Übersicht', 'One-Stop-Shop (OSS)', 'Zusammenfassende Meldung']) {
      expect(text).toContain(title);
    }
    expect((await accountant.get('/reports/taxes?period=soon')).status).toBe(200);
    // A shop without invoices is counted by its orders.
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await stranger.get('/reports/taxes')).text).toContain('Your shop has issued no invoices');
    const catalogue = await givenMerchant(service, 'catalogue');
    expect((await catalogue.get('/reports/taxes')).status).toBe(403);
  });

  test('have a real order under the treatment that was stored with it', async () => {
    const product = (await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`))!;
    const shop = { service, shopId: 'DemoShop', token, ids: {} };
    const address = { country: 'CH', city: 'Basel', zipCode: '4051' };
    const cart = await givenFullCart(shop, { [product.id]: 2 }, { address });
    const { orderId } = await done(cart, 'POST', '/order');
    await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}/invoices`, { token, body: {} });
    const stored = (await service.db.one<{ net: number; treatment: string }>(sql`
      update order_document set issued_at = '2019-05-05T12:00:00Z' where shop_id = 'DemoShop' and order_id = ${orderId}
      returning (content -> 'totalBeforeTax')::bigint as net, content #>> '{taxes,0,treatment}' as treatment`))!;
    expect(stored.treatment).toBe('export');
    const rows = await csv('/reports/taxes/vat.csv?period=2019-05');
    expect(
      rows.map(([treatment, country, rate, net, tax]) => [treatment, country, rate, cents(net!), tax]),
    ).toEqual([['Ausfuhr', 'CH Schweiz', '0', stored.net, '0,00']]);
  });

  const datev = async (query: string) => {
    const { statusCode, rawPayload } = await service.app.inject({
      url: `/admin/shops/DemoShop/orders/accounting/datev.zip?${query}`,
      headers: { host: 'localhost:8080', cookie: accountant.cookie },
    });
    return { status: statusCode, bytes: rawPayload };
  };
  const PERIOD = `from=${YEAR}-01-01&to=${YEAR}-12-31`;

  test('are refused for DATEV without its numbers, and across fiscal years', async () => {
    const unset = await datev(PERIOD);
    expect([unset.status, unset.bytes.toString().includes('Mandantennummer')]).toEqual([400, true]);
    const form = (await merchant.get('/settings/invoices')).text;
    const typed = [
      ...form.matchAll(/<input[^>]*?\sname="((?:invoicing|version)[^"]*)"[^>]*?\svalue="([^"]*)"/g),
    ];
    const stored = await merchant.post('/settings/invoices', {
      ...Object.fromEntries(typed.map(([, name, value]) => [name!, value!])),
      'accounting.advisorNumber': '29098',
      'accounting.clientNumber': '55003',
    });
    expect(stored.status).toBe(303);
    const years = await datev(`from=${YEAR}-07-01&to=${YEAR + 1}-06-30`);
    expect([years.status, years.bytes.toString().includes('zwei Wirtschaftsjahren')]).toEqual([400, true]);
  });

  test('sum to the cents of the documents and payments in the booking batch of DATEV', async () => {
    const { status, bytes } = await datev(PERIOD);
    expect(status).toBe(200);
    const archive = await fromBufferPromise(bytes);
    const files: Record<string, string[][]> = {};
    for await (const entry of archive.eachEntry()) {
      const content = (await buffer(await archive.openReadStreamPromise(entry))).toString('latin1');
      expect(content.endsWith('\r\n')).toBe(true);
      files[entry.fileName] = content
        .trim()
        .split('\r\n')
        .map((line) => line.split(';'));
    }
    expect(Object.keys(files)).toEqual(['EXTF_Buchungsstapel_001.csv', 'EXTF_DebKred_Stamm.csv']);
    const [header, titles, ...rows] = files['EXTF_Buchungsstapel_001.csv']!;
    expect(header!.slice(10, 16)).toEqual([
      '29098',
      '55003',
      `${YEAR}0101`,
      '4',
      `${YEAR}0101`,
      `${YEAR}1231`,
    ]);
    expect(rows.every((row) => row.length === titles!.length && /^\d+,\d\d$/.test(row[0]!))).toBe(true);
    expect(rows.every((row) => cents(row[0]!) > 0 && /^\d{4}$/.test(row[9]!))).toBe(true);
    const balance = (wanted: (account: string) => boolean, column: number) =>
      rows
        .filter((row) => wanted(row[column]!))
        .reduce((sum, row) => sum + (row[1] === '"S"' ? 1 : -1) * cents(row[0]!), 0);
    const gross = documents.reduce((sum, one) => sum + signed(one) * (one.net + one.tax), 0);
    expect(balance((account) => account.startsWith('8'), 7)).toBe(gross);
    const paid = payments.reduce((sum, { kind, amount }) => sum + (kind === 'payment' ? amount : -amount), 0);
    expect(balance((account) => account === '1200', 6)).toBe(paid);
    // By account: each treatment and rate has its own.
    const ofAccount = (account: string) => balance((contra) => contra === account, 7);
    const ofTreatment = (treatment: string) =>
      documents
        .filter((one) => one.case.treatment === treatment)
        .reduce((sum, one) => sum + signed(one) * (one.net + one.tax), 0);
    expect(ofAccount('8320')).toBe(ofTreatment('oss'));
    expect(ofAccount('8125')).toBe(ofTreatment('intraCommunity'));
    expect(ofAccount('8336')).toBe(ofTreatment('reverseCharge'));
    expect(ofAccount('8120')).toBe(ofTreatment('export'));
    const greek = rows.find((row) => row[39] === '"EL"')!;
    expect([greek[7], greek[8], greek[40]]).toEqual(['8320', '"240"', '24,00']);
    expect(rows.some((row) => row[13]!.includes('Ozge M\u00fcller'))).toBe(true);
    // Each of the 50 customers, and that of the payments, is a debtor once.
    const debtors = files['EXTF_DebKred_Stamm.csv']!.slice(2).map(([account]) => account!);
    expect(new Set(debtors).size).toBe(debtors.length);
    const used = new Set(rows.flatMap((row) => [row[6]!, row[7]!]).filter((account) => account.length === 5));
    expect([...used].toSorted()).toEqual(debtors.toSorted());
  });
});

describe('bank statements', () => {
  const table = (rows: readonly (readonly [string, string, string])[]) =>
    `Buchungstag;Beguenstigter/Zahlungspflichtiger;Verwendungszweck;Betrag;Waehrung\n${rows
      .map(([payer, text, amount]) => `15.11.2026;${payer};${text};${amount};EUR\n`)
      .join('')}`;
  const upload = async (content: string | Buffer, by = merchant) => {
    const { headers, body: payload } = formOf({ name: 'file', filename: 'statement.csv', content });
    const answer = await service.app.inject({
      method: 'POST',
      url: '/admin/shops/DemoShop/orders/bank',
      headers: { host: 'localhost:8080', origin: 'http://localhost:8080', cookie: by.cookie, ...headers },
      payload,
    });
    const { statusCode: status, body: text } = answer;
    return { status, text, location: undefined, headers: answer.headers };
  };
  const payable = () =>
    service.db.many<{ id: string; number: string; left: number }>(sql`
      select upper(order_id::text) as id, order_number as number, grand_total - paid_amount as left from customer_order
      where shop_id = 'DemoShop' and grand_total > paid_amount and cancelled_at is null and rejected_at is null
        and currency = 'EUR' and editing_app_id is null
      order by created_at desc`);
  const german = (minor: number) => (minor / 100).toFixed(2).replace('.', ',');
  const paidOf = async (id: string) => (await managed(id)).management.paidAmount.amount;
  const fieldsIn = (text: string) =>
    [...text.matchAll(/name="pair" value="([^"]+)"/g)].map(([, pair]) => pair!);

  test('are matched by number and sum, and the sure ones are recorded once', async () => {
    const [sure, wrongSum] = await payable();
    const before = await Promise.all([sure, wrongSum].map((order) => paidOf(order!.id)));
    const content = table([
      ['Jonas', `Bestellung ${sure!.number}`, german(sure!.left)],
      ['Ada', `zu ${wrongSum!.number.toLowerCase()} danke`, german(wrongSum!.left - 1)],
      ['Somebody', 'rent', '1234567,89'],
      ['Shop', 'refund', '-5,00'],
    ]);
    const first = await upload(content);
    expect([first.status, noticeIn(first).text]).toEqual([303, '3 new payments received.']);
    const again = await upload(content);
    expect(noticeIn(again).text).toBe('0 new payments received. 3 were known already.');
    const { text } = await merchant.get('/orders/bank');
    expect(text).toContain('Record 1 matching payment');
    for (const kind of ['Order and amount match', 'Possible', 'No order found']) expect(text).toContain(kind);
    const pair = fieldsIn(text)[0]!;
    expect(pair.endsWith(sure!.id)).toBe(true);
    // Nothing is recorded before the merchant says so.
    expect(await Promise.all([sure, wrongSum].map((order) => paidOf(order!.id)))).toEqual(before);
    const clicks = await Promise.all([1, 2].map(() => merchant.post('/orders/bank/record', { pair })));
    expect(clicks.map(({ status }) => status)).toEqual([303, 303]);
    expect(clicks.map((answer) => noticeIn(answer).text).toSorted()).toEqual([
      '0 payments recorded. 1 no longer fits its order, or was recorded before.',
      '1 payment recorded.',
    ]);
    expect(Math.round((await paidOf(sure!.id)) * 100)).toBe(Math.round(before[0] * 100) + sure!.left);
    const { management } = await managed(sure!.id);
    expect(management.payments.at(-1).note).toBe('2026-11-15 Jonas');
    expect(noticeIn(await upload(content)).text).toBe('0 new payments received. 3 were known already.');
    expect((await merchant.get('/orders/bank')).text).not.toContain('Record 1 matching payment');
  });

  test('take a possible one with a click, another by the number of its order, and ignore the rest', async () => {
    const [order, other] = await payable();
    await upload(
      table([
        ['Eve', `for ${order!.number}`, german(1)],
        ['Zoe', 'thank you', german(1)],
      ]),
    );
    const shown = async () => (await merchant.get('/orders/bank')).text;
    const entryOf = async (payer: string) =>
      (await service.db.one<{ id: string }>(sql`
        select upper(entry_id::text) as id from bank_entry
        where shop_id = 'DemoShop' and state = 'open' and payer = ${payer}`))!.id;
    const pair = `${await entryOf('Eve')} ${order!.id}`;
    expect(fieldsIn(await shown())).toContain(pair);
    const before = await paidOf(order!.id);
    expect(noticeIn(await merchant.post('/orders/bank/record', { pair })).text).toBe('1 payment recorded.');
    expect(await paidOf(order!.id)).toBeCloseTo(before + 0.01, 5);
    const entries = [...(await shown()).matchAll(/name="entry" value="([^"]+)"/g)].map(([, id]) => id!);
    const zoe = await entryOf('Zoe');
    expect(entries).toContain(zoe);
    const unknown = await merchant.post('/orders/bank/record', { entry: zoe, orderNumber: 'nothing' });
    expect([unknown.status, unknown.text.includes('There is no unpaid order')]).toEqual([400, true]);
    const typed = await merchant.post('/orders/bank/record', { entry: zoe, orderNumber: other!.number });
    expect(noticeIn(typed).text).toBe('1 payment recorded.');
    for (const id of entries.filter((one) => one !== zoe)) {
      expect((await merchant.post(`/orders/bank/${id}/ignore`)).status).toBe(303);
      expect((await merchant.post(`/orders/bank/${id}/ignore`)).status).toBe(404);
    }
  });

  test('are refused with the reason, and store nothing', async () => {
    const count = async () => {
      const { bank_entry: entries, order_payment: payments } = await fingerprint(service);
      return [entries, payments];
    };
    const before = await count();
    const bomb = '<!DOCTYPE a [<!ENTITY b "b">]><Document>&b;</Document>';
    for (const [content, status, reason] of [
      [bomb, 400, 'a document type'],
      ['<Document>', 400, 'not a readable XML statement'],
      ['Name;Price\n', 400, 'columns were not recognised'],
      [table([]), 400, 'no received payments'],
      [Buffer.alloc(9 * 1_048_576, 'a'), 413, ''],
      [Buffer.concat([Buffer.from('<Document>'), Buffer.from([0xff, 0xe4])]), 400, 'do not fit its encoding'],
    ] as const) {
      const answer = await upload(content);
      expect([answer.status, answer.text.includes(reason)]).toEqual([status, true]);
    }
    expect(await count()).toEqual(before);
    const accountant = await givenMerchant(service, 'accountant');
    expect((await upload(table([['A', 'B', '1,00']]), accountant)).status).toBe(403);
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await stranger.get('/orders/bank')).text).toContain('All received payments are assigned.');
    expect(await count()).toEqual(before);
  });
});
