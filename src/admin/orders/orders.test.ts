import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { done, givenFullCart, statementsOf } from '../../../test/carts.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

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

const valueIn = (text: string, name: string) =>
  new RegExp(`name="${name}"[^>]*?\\svalue="([^"]*)"`).exec(text)?.[1];
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
    expect(text).toMatch(/To pay\s*<span class="count">7</);
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
    expect((await merchant.get('/orders?q=%25')).text).toContain('Nothing matches these filters.');
    expect((await merchant.get('/orders?state=all&to=2000-01-01')).text).toContain('Nothing matches');
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
    expect((await merchant.get('/orders?state=new&q=/1007')).text).toContain('Nothing matches');
    expect((await merchant.get('/orders?state=new&to=2000-01-01')).text).toContain('Nothing matches');
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
    expect(refused.text).toContain('No more than');
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
    expect([...text.matchAll(/name="price-[^"]*"\s+value="([^"]*)"/g)].map(([, price]) => price)).toEqual([
      '17.50',
      '119.00',
      '25.00',
    ]);
  });

  test('that an app is editing says so, and the merchant can end that', async () => {
    const orderId = await idOf('1013');
    const refused = await send('1013', 'note', { internalNote: 'Mine' });
    expect([refused.status, refused.text.includes('The order is being edited')]).toEqual([409, true]);
    expect((await merchant.get(`/orders/${orderId}`)).text).toContain('An app is changing this order');
    expect((await merchant.post(`/orders/${orderId}/edit/end`)).status).toBe(303);
    expect((await managed(orderId)).management.editing).toBeNull();
  });

  test('is sent in parts, and nobody sends it twice', async () => {
    const orderId = await idOf('1014');
    const path = `/orders/${orderId}/ship`;
    const { text } = await merchant.get(path);
    const version = valueIn(text, 'version')!;
    const [line] = (await managed(orderId)).lineItemContainer.productLineItems;
    const fields = { version, [`quantity-${line.lineItemId}`]: '1', carrier: 'DHL', trackingCode: '0034' };
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

  test('is refunded in part, and that is not asked for again', async () => {
    const saved = await send('1003', 'refund', { amount: '5', note: 'scratched' });
    expect(saved.status).toBe(303);
    const { management } = await managed(await idOf('1003'));
    expect(management.refundedAmount.amount).toBe(5);
    const { text } = await merchant.get(`/orders/${await idOf('1003')}`);
    expect(text).toContain('Partly refunded');
    expect(text).not.toContain('Still to pay');
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
    const [first, second] = [coffee, other].map(({ lineItemId }) => `credit-${invoiceNumber}-${lineItemId}`);
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
    ['billing-address', { emailAddress: 'ada', city: 'Kiel' }, 'E-Mail ist nicht richtig geschrieben.'],
    ['pay', { amount: 'zehn' }, 'Betrag ist nicht richtig geschrieben.'],
    ['shipping-address', { zipCode: '2'.repeat(33) }, 'Postleitzahl ist zu lang.'],
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
      quantity: '3',
      price: '6,50',
      [`quantity-${first.lineItemId}`]: String(first.quantity.amount + 1),
      ...(second && { [`remove-${second.lineItemId}`]: 'yes' }),
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
      quantity: '1',
      price: '',
      [`quantity-${first.lineItemId}`]: '-1',
    });
    expect(refused.status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('comes back, and is refunded for what came back', async () => {
    const orderId = await idOf('1004');
    const [line] = (await managed(orderId)).lineItemContainer.productLineItems;
    const nothing = await send('1004', 'return', { restock: 'yes' });
    expect([nothing.status, nothing.text.includes('Enter a quantity')]).toEqual([400, true]);
    expect((await send('1004', 'return', { [`quantity-${line.lineItemId}`]: '1' })).status).toBe(303);
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
    expect(text).toMatch(/\/1012<\/strong> Nothing is left to invoice/);
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
    expect(text).toContain('There is no such order.');
    expect(text).toMatch(/<textarea[^>]*>\s*9999 JD0003\n\/1009 JD0004<\/textarea>/);
    const { management } = await managed(await idOf('1015'));
    expect(management.shipments).toMatchObject([{ carrier: 'UPS', trackingCode: 'JD0002' }]);
  });

  test('have packing slips and a pick list', async () => {
    const query = `id=${await idOf('1014')}&id=${await idOf('1013')}`;
    const slips = await merchant.get(`/orders/packing-slips?${query}`);
    expect(slips.text.match(/class="card slip"/g)).toHaveLength(2);
    // It was sent already.
    expect(slips.text).not.toContain('Tidewater Espresso Beans');
    expect(slips.text).toContain('Beacon Burr Grinder');
    const list = await merchant.get(`/orders/pick-list?${query}`);
    expect(list.text).toContain('AP-120');
    expect((await merchant.get('/orders/pick-list')).text).toContain('No orders were chosen');
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
    const fields = {
      ...ADDRESS,
      product: await productId('AP-100'),
      quantity: '2',
      price: '39,50',
      note: 'by phone',
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
    const nowhere = await merchant.post('/orders/new', { product, quantity: '1', price: '', do: 'place' });
    expect(nowhere.status).toBe(400);
    const short = await merchant.post('/orders/new', {
      ...ADDRESS,
      product,
      quantity: '9999',
      price: '',
      do: 'place',
    });
    expect(short.status).toBe(400);
    expect(short.text).toMatch(/Of AP-100 only \d+ can be ordered/);
    expect(valueIn(short.text, 'billing-city')).toBe('Hamburg');
    const there = { ...ADDRESS, product, quantity: '1', price: '', do: 'place' };
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

test('an order is opened in 8 statements, and shipped in one transaction of 16', async () => {
  const path = `/orders/${await idOf('1013')}`;
  await merchant.get(path);
  expect(await statementsOf(() => merchant.get(path))).toHaveLength(8);
  const { text } = await merchant.get(`${path}/ship`);
  const quantities = [...text.matchAll(/name="(quantity[^"]*)"[^>]*?\svalue="([^"]*)"/g)];
  const fields = Object.fromEntries(quantities.map(([, name, value]) => [name!, value!]));
  const version = valueIn(text, 'version')!;
  const sent = await statementsOf(async () => {
    expect((await merchant.post(`${path}/ship`, { version, ...fields })).status).toBe(303);
  });
  expect(sent.filter((statement) => statement.startsWith('begin'))).toHaveLength(1);
  expect(sent.length - sent.findIndex((statement) => statement.startsWith('begin'))).toBe(16);
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
    for await (const entry of archive.eachEntry()) {
      const content = await buffer(await archive.openReadStreamPromise(entry));
      entries[entry.fileName] = content.subarray(0, 5).toString();
    }
    expect(entries).toEqual({
      [`Invoice-${invoice}.pdf`]: '%PDF-',
      [`Credit-note-${creditNote}.pdf`]: '%PDF-',
    });
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
