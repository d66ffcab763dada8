import { createHash } from 'node:crypto';
import { extractXml } from '@stackforge-eu/factur-x';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ACCESS_POINT_KEY, startAccessPoint, type AccessPoint } from '../../../test/access-point.ts';
import {
  ADA,
  changeSettings,
  DAY,
  done,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  NOW,
  refusal,
  statementsOf,
  type Shop,
} from '../../../test/carts.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import { startTransport } from '../../composition/background.ts';
import type { Background } from '../../platform/background.ts';
import { installationKey } from '../../platform/sealing.ts';
import { deleteShop } from '../../shops/shop/queries.ts';
import { saveTransportAccount } from '../transport/queries.ts';
import { deliveredFiles, documentFile } from './file.ts';

let service: Service;
let demo: Shop;
beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  demo = await givenDemoShop(service);
});
afterAll(() => service.close());

type Body = Answer['body'];
const SELLER = {
  company: 'Hafenrösterei GmbH',
  street: 'Speicherweg 4',
  zipCode: '20457',
  city: 'Hamburg',
  vatId: 'DE123456789',
};

const send = ({ shopId, token }: Shop, orderId: string, part: string, body: unknown) =>
  service.call('POST', `/manage/shops/${shopId}/orders/${orderId}/${part}`, { token, body });

async function finalised(shop: Shop, orderId: string, part: 'invoices' | 'credit-notes', body: object = {}) {
  const answer = await send(shop, orderId, part, body);
  expect({ status: answer.status, message: answer.body.message }).toEqual({
    status: 201,
    message: undefined,
  });
  return answer.body;
}

/** What the refusal says; nothing has changed. */
const refused = (shop: Shop, orderId: string, part: string, body: unknown) =>
  refusal(service, () => send(shop, orderId, part, body));

async function documentsOf({ shopId, token }: Shop, orderId: string, query = ''): Promise<Body> {
  const { status, body } = await service.call('GET', `/${shopId}/orders/${orderId}/documents${query}`, {
    token,
  });
  expect(status).toBe(200);
  return body;
}

async function orderOf({ shopId, token }: Shop, orderId: string): Promise<Body> {
  return (await service.call('GET', `/${shopId}/orders/${orderId}`, { token })).body;
}

/** 3 apples at 10 and 2 pears at 5 euros, 19 %, and 4.90 for the delivery. */
async function givenOrder(settings: SettingsFile = {}, facts: Record<string, unknown> = {}) {
  const shop = await givenSmallShop(service, {
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }],
    ...settings,
  });
  const apples = await givenProduct(shop, { number: 'APPLE', price: 1000 });
  const pears = await givenProduct(shop, { number: 'PEAR', price: 500 });
  const cart = await givenFullCart(shop, { [apples]: 3, [pears]: 2 }, facts);
  const order = await done(cart, 'POST', '/order');
  const [apple, pear] = order.lineItemContainer.productLineItems.map(({ lineItemId }: Body) => lineItemId);
  return { shop, order, orderId: order.orderId as string, apple: apple as string, pear: pear as string };
}

const totalsOf = ({ lineItemContainer: lines }: Body) => [
  lines.lineItemsSubTotal.amount,
  lines.shippingPrice.amount,
  lines.totalBeforeTax.amount,
  lines.totalTax.amount,
  lines.grandTotal.amount,
];

describe('an invoice', () => {
  test('is over all that was ordered, when nothing else is said', async () => {
    const { shop, order, orderId } = await givenOrder();
    const invoice = await finalised(shop, orderId, 'invoices');
    expect(invoice).toEqual({
      documentId: ID,
      orderId,
      documentType: 'Invoice',
      documentNumber: '1001',
      issueDate: '2026-11-15T08:30:00.000Z',
      creationDate: '2026-11-15T08:30:00.000Z',
      address: order.billingAddress,
      lineItemContainer: order.lineItemContainer,
      links: [{ rel: 'order', href: `http://localhost:80/rs/shops/${shop.shopId}/orders/${orderId}` }],
    });
    expect(totalsOf(invoice)).toEqual([40, 4.9, 37.73, 7.17, 44.9]);
    expect(await orderOf(shop, orderId)).toMatchObject({
      invoicedOn: '2026-11-15T08:30:00.000Z',
      partiallyInvoicedOn: null,
      // The time of the commit: the clock of the test stands still, and each commit is a millisecond later.
      lastUpdatedOnDate: expect.stringMatching(/^2026-11-15T08:30:00\.0\d\dZ$/),
    });
  });

  test('names the day of delivery when something was shipped, and none before', async () => {
    const seller = { invoicing: { ...SELLER, electronic: true } };
    const printed = async ({ shopId }: Shop, { documentId }: Body) => {
      const { bytes } = (await documentFile(service.db, shopId, documentId))!;
      const { xml } = await extractXml(bytes);
      return /<ram:OccurrenceDateTime>\s*<udt:DateTimeString format="102">(\d+)</.exec(xml)?.[1];
    };
    const suppliedOn = async ({ shopId }: Shop, { documentId }: Body) =>
      (await service.db.one<{ day: string | null }>(sql`
        select terms ->> 'suppliedOn' as day from order_document
        where shop_id = ${shopId} and document_id = ${documentId}`))!.day;
    const waiting = await givenOrder(seller);
    const early = await finalised(waiting.shop, waiting.orderId, 'invoices');
    expect(await suppliedOn(waiting.shop, early)).toBeNull();
    expect(await printed(waiting.shop, early)).toBeUndefined();

    for (const state of ['dispatchedOn', 'deliveredOn', 'partiallyDispatchedOn']) {
      const sent = await givenOrder(seller);
      const { shopId, token } = sent.shop;
      const { status } = await service.call('PATCH', `/${shopId}/orders/${sent.orderId}`, {
        token,
        body: [{ op: 'add', path: `/${state}`, value: '2026-11-13' }],
      });
      expect(status).toBe(200);
      const invoice = await finalised(sent.shop, sent.orderId, 'invoices');
      expect(await suppliedOn(sent.shop, invoice)).toBe('2026-11-13');
      expect(await printed(sent.shop, invoice)).toBe('20261113');
    }
  });

  test('may be over some lines; the parts sum to the order, and the first one carries the delivery', async () => {
    const { shop, order, orderId, apple, pear } = await givenOrder();
    const first = await finalised(shop, orderId, 'invoices', {
      lines: [{ lineItemId: apple.toLowerCase(), quantity: '1' }],
    });
    expect(totalsOf(first)).toEqual([10, 4.9, 12.52, 2.38, 14.9]);
    expect(await orderOf(shop, orderId)).toMatchObject({
      invoicedOn: null,
      partiallyInvoicedOn: '2026-11-15T08:30:00.000Z',
    });
    const second = await finalised(shop, orderId, 'invoices', {
      lines: [
        { lineItemId: pear, quantity: 1 },
        { lineItemId: apple, quantity: 0.5 },
        { lineItemId: pear, quantity: 1 },
      ],
    });
    expect(totalsOf(second)).toEqual([15, 0, 12.61, 2.39, 15]);
    expect(
      second.lineItemContainer.productLineItems.map(({ sku, quantity }: Body) => [sku, quantity.amount]),
    ).toEqual([
      ['APPLE', 0.5],
      ['PEAR', 2],
    ]);
    const third = await finalised(shop, orderId, 'invoices');
    expect(totalsOf(third)).toEqual([15, 0, 12.6, 2.4, 15]);
    const totals = [first, second, third].map(totalsOf);
    expect(
      totalsOf(order).map((_, at) => totals.reduce((sum, one) => sum + Math.round(one[at]! * 100), 0)),
    ).toEqual(totalsOf(order).map((amount) => Math.round(amount * 100)));
    expect(await orderOf(shop, orderId)).toMatchObject({ invoicedOn: '2026-11-15T08:30:00.000Z' });
  });

  test('is never over more than was ordered', async () => {
    const { shop, orderId, apple, pear } = await givenOrder();
    await finalised(shop, orderId, 'invoices', { lines: [{ lineItemId: apple, quantity: 2 }] });
    const lines = [
      { lineItemId: apple, quantity: 2 },
      { lineItemId: pear, quantity: 2.5 },
    ];
    expect(await refused(shop, orderId, 'invoices', { lines })).toEqual([
      409,
      `More than is left to invoice, which is 1 of APPLE (line ${apple}), 2 of PEAR (line ${pear})`,
    ]);
    await finalised(shop, orderId, 'invoices');
    expect(await refused(shop, orderId, 'invoices', {})).toEqual([409, 'Nothing is left to invoice']);
  });

  test('carries the delivery when it is told to, and one of them must', async () => {
    const { shop, orderId, apple } = await givenOrder();
    const lines = [{ lineItemId: apple, quantity: 1 }];
    const first = await finalised(shop, orderId, 'invoices', { lines, shipping: false });
    expect(totalsOf(first)).toEqual([10, 0, 8.4, 1.6, 10]);
    expect(await refused(shop, orderId, 'invoices', { shipping: false })).toEqual([
      400,
      'The last invoice of an order must carry the cost of delivery and payment',
    ]);
    const second = await finalised(shop, orderId, 'invoices', { lines, shipping: true });
    expect(totalsOf(second)).toEqual([10, 4.9, 12.52, 2.38, 14.9]);
    expect(await refused(shop, orderId, 'invoices', { shipping: true })).toEqual([
      409,
      'The cost of delivery and payment is not left to invoice',
    ]);
  });

  test.each([
    [
      'a line that is not there',
      { lines: [{ lineItemId: newId(NOW), quantity: 1 }] },
      'UNKNOWN_VALUE on field lines.0.lineItemId',
    ],
    ['no lines', { lines: [] }, 'LIST_EMPTY on field lines'],
    ['a date that does not exist', { issueDate: '2026-02-30' }, 'WRONG_FORMAT on field issueDate'],
    ['a date far away', { issueDate: '2028-01-01' }, 'OUT_OF_RANGE on field issueDate'],
    ['a note that is too long', { note: 'x'.repeat(2001) }, 'TOO_LONG on field note'],
  ])('is refused for %s', async (_, body, problem) => {
    const { shop, orderId } = await givenOrder();
    expect(await refused(shop, orderId, 'invoices', body)).toEqual([
      400,
      `Finalise invoice failed:\n\tvalidation error ${problem}`,
    ]);
  });

  test.each([0, -1, '0', 2_000_000])('is refused for a quantity of %s', async (quantity) => {
    const { shop, orderId, apple } = await givenOrder();
    expect(await refused(shop, orderId, 'invoices', { lines: [{ lineItemId: apple, quantity }] })).toEqual([
      400,
      'Finalise invoice failed:\n\tvalidation error OUT_OF_RANGE on field lines.0.quantity',
    ]);
  });

  test('is refused while the order is edited, and when it was cancelled or its customer erased', async () => {
    const { shop, orderId } = await givenOrder();
    const set = async (column: 'editing_since' | 'cancelled_at' | 'erased_at', at: Date | null) => {
      const columns = {
        editing_since: sql`editing_since = ${at}`,
        cancelled_at: sql`cancelled_at = ${at}`,
        erased_at: sql`erased_at = ${at}`,
      };
      await service.db.run(
        sql`update customer_order set ${columns[column]} where shop_id = ${shop.shopId} and order_id = ${orderId}`,
      );
    };
    await finalised(shop, orderId, 'invoices', { lines: undefined });
    await set('editing_since', NOW);
    for (const part of ['invoices', 'credit-notes']) {
      expect(await refused(shop, orderId, part, {})).toEqual([
        409,
        'The order is in edit mode: end that first',
      ]);
    }
    await set('editing_since', null);
    await set('cancelled_at', NOW);
    expect(await refused(shop, orderId, 'invoices', {})).toEqual([409, 'The order is cancelled']);
    await set('cancelled_at', null);
    await set('erased_at', NOW);
    expect(await refused(shop, orderId, 'invoices', {})).toEqual([
      409,
      'The customer of the order was erased',
    ]);
    // What was paid goes back all the same.
    await finalised(shop, orderId, 'credit-notes');
  });

  test('is recorded in the history of the order, and sent by mail', async () => {
    const { shop, orderId, order } = await givenOrder();
    const { documentId } = await finalised(shop, orderId, 'invoices');
    const events = await service.db.many(
      sql`select kind, details from order_event where shop_id = ${shop.shopId} and order_id = ${orderId}`,
    );
    expect(events).toEqual([
      {
        kind: 'document finalised',
        details: { documentId, documentType: 'Invoice', documentNumber: '1001' },
      },
    ]);
    const mails = await service.db.many(
      sql`select content from job where shop_id = ${shop.shopId} and content ->> 'template' = 'invoice'`,
    );
    expect(mails).toEqual([
      {
        content: {
          shopId: shop.shopId,
          to: ADA.emailAddress,
          locale: 'en_GB',
          template: 'invoice',
          facts: {
            orderId: order.orderId,
            orderNumber: order.orderNumber,
            documentId,
            documentType: 'Invoice',
            documentNumber: '1001',
            grandTotal: '€44.90',
          },
        },
      },
    ]);
    const file = await documentFile(service.db, shop.shopId, documentId);
    expect(file!.name).toBe('Invoice-1001.pdf');
    expect(file!.bytes.subarray(0, 9).toString()).toBe('%PDF-1.7\n');
    expect(await documentFile(service.db, 'DemoShop', documentId)).toBeUndefined();
  });
});

describe('a document that would not name its seller is refused, and no number is used up', () => {
  const { vatId: _vatId, ...address } = SELLER;
  const text = (shop: Shop, fields: string, first: string) =>
    `Invoices and credit notes must name the seller, and the shop lacks ${fields}. ` +
    `Set it in the admin: /admin/shops/${shop.shopId}/settings/invoices#field-${first}`;

  test('an invoice', async () => {
    const { shop, orderId } = await givenOrder();
    const cases: [SettingsFile['invoicing'], string, string][] = [
      [
        {},
        'invoicing.street, invoicing.zipCode, invoicing.city, invoicing.vatId or invoicing.taxNumber',
        'invoicing.street',
      ],
      [{ ...address, city: 'Hamburg' }, 'invoicing.vatId or invoicing.taxNumber', 'invoicing.vatId'],
      [{ street: 'Kai 1', city: 'Hamburg', taxNumber: '1/2' }, 'invoicing.zipCode', 'invoicing.zipCode'],
    ];
    for (const [invoicing, fields, first] of cases) {
      await changeSettings(shop, { invoicing: invoicing! });
      expect(await refused(shop, orderId, 'invoices', {})).toEqual([409, text(shop, fields, first)]);
    }
    // A small business without a VAT id names its tax number.
    await changeSettings(shop, { invoicing: { ...address, taxNumber: '12/345/67890' } });
    expect(await finalised(shop, orderId, 'invoices')).toMatchObject({ documentNumber: '1001' });
  });

  test('a credit note, and the money stays where it is', async () => {
    const { shop, orderId } = await givenOrder();
    await finalised(shop, orderId, 'invoices');
    await changeSettings(shop, { invoicing: address });
    expect(await refused(shop, orderId, 'credit-notes', { refund: true })).toEqual([
      409,
      text(shop, 'invoicing.vatId or invoicing.taxNumber', 'invoicing.vatId'),
    ]);
    await changeSettings(shop, { invoicing: SELLER });
    expect(await finalised(shop, orderId, 'credit-notes')).toMatchObject({ documentNumber: '1001' });
  });

  test('outside the European Union an address is enough', async () => {
    const { shop, orderId } = await givenOrder({
      country: 'US',
      taxClasses: [
        { key: 'standard', name: 'No tax', default: true, defaultDigital: true, rates: { DE: 19, US: 0 } },
      ],
      invoicing: address,
    });
    expect(await finalised(shop, orderId, 'invoices')).toMatchObject({ documentNumber: '1001' });
  });
});

describe('a credit note', () => {
  test('is over the whole invoice, when nothing else is said', async () => {
    const { shop, orderId } = await givenOrder();
    const invoice = await finalised(shop, orderId, 'invoices');
    const credit = await finalised(shop, orderId, 'credit-notes');
    expect(credit).toEqual({ ...invoice, documentId: ID, documentType: 'CreditNote' });
    expect(await refused(shop, orderId, 'credit-notes', {})).toEqual([
      409,
      'Nothing is left to credit of invoice 1001',
    ]);
  });

  test('may be over some lines, never over more than was invoiced', async () => {
    const { shop, orderId, apple, pear } = await givenOrder();
    expect(await refused(shop, orderId, 'credit-notes', {})).toEqual([
      409,
      'The order has no invoice that could be credited',
    ]);
    await finalised(shop, orderId, 'invoices', { lines: [{ lineItemId: apple, quantity: 2 }] });
    const lines = [{ lineItemId: apple, quantity: 1 }];
    expect(totalsOf(await finalised(shop, orderId, 'credit-notes', { lines }))).toEqual([
      10, 0, 8.4, 1.6, 10,
    ]);
    const more = { lines: [{ lineItemId: apple, quantity: 2 }] };
    expect(await refused(shop, orderId, 'credit-notes', more)).toEqual([
      409,
      `More than is left to credit of invoice 1001, which is 1 of APPLE (line ${apple})`,
    ]);
    expect(
      await refused(shop, orderId, 'credit-notes', { lines: [{ lineItemId: pear, quantity: 1 }] }),
    ).toEqual([
      400,
      'Finalise credit note failed:\n\tvalidation error UNKNOWN_VALUE on field lines.0.lineItemId',
    ]);
    const unpaid = { lines: [{ lineItemId: apple, quantity: 1 }], refund: true };
    expect(await refused(shop, orderId, 'credit-notes', unpaid)).toEqual([
      409,
      'Nothing is left of the payments that could be refunded',
    ]);
    // The last one gives the delivery back as well.
    expect(totalsOf(await finalised(shop, orderId, 'credit-notes'))).toEqual([10, 4.9, 12.52, 2.38, 14.9]);
  });

  test('names its invoice when there are several', async () => {
    const { shop, orderId, apple } = await givenOrder();
    await finalised(shop, orderId, 'invoices', { lines: [{ lineItemId: apple, quantity: 1 }] });
    await finalised(shop, orderId, 'invoices');
    expect(await refused(shop, orderId, 'credit-notes', {})).toEqual([
      400,
      'The order has several invoices, name one as invoiceNumber: 1001, 1002',
    ]);
    expect(await refused(shop, orderId, 'credit-notes', { invoiceNumber: '1003' })).toEqual([
      400,
      'Finalise credit note failed:\n\tvalidation error UNKNOWN_VALUE on field invoiceNumber',
    ]);
    const credit = await finalised(shop, orderId, 'credit-notes', { invoiceNumber: '1002' });
    expect(totalsOf(credit)).toEqual([30, 0, 25.21, 4.79, 30]);
  });
});

test('numbers have no gaps, however many are finalised at once and however many are refused', async () => {
  const shop = await givenSmallShop(service);
  const product = await givenProduct(shop, { price: 999 });
  const carts = await Promise.all(Array.from({ length: 10 }, () => givenFullCart(shop, { [product]: 2 })));
  const orders = await Promise.all(carts.map((cart) => done(cart, 'POST', '/order')));
  // Each order three times: the first two are over one piece each, and nothing is left for the third.
  const answers = await Promise.all(
    [0, 1, 2].flatMap(() =>
      orders.map(({ orderId, lineItemContainer }) =>
        send(shop, orderId, 'invoices', {
          lines: [{ lineItemId: lineItemContainer.productLineItems[0].lineItemId, quantity: 1 }],
        }),
      ),
    ),
  );
  const numbers = answers
    .filter(({ status }) => status === 201)
    .map(({ body }) => Number(body.documentNumber));
  expect(numbers.toSorted((left, right) => left - right)).toEqual(
    Array.from({ length: 20 }, (_, index) => 1001 + index),
  );
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(10);
});

describe('the documents of an order', () => {
  test('are the finalised ones, newest first, and none is normal', async () => {
    const { shop, orderId } = await givenOrder();
    expect(await documentsOf(shop, orderId)).toEqual({ results: 0, page: 1, resultsPerPage: 10, items: [] });
    const { documentId: _first, ...invoice } = await finalised(shop, orderId, 'invoices');
    const { documentId: _second, ...credit } = await finalised(shop, orderId, 'credit-notes');
    expect(await documentsOf(shop, orderId)).toEqual({
      results: 2,
      page: 1,
      resultsPerPage: 10,
      items: [credit, invoice],
    });
    expect(await documentsOf(shop, orderId, '?page=2&resultsPerPage=1')).toMatchObject({
      results: 2,
      page: 2,
      resultsPerPage: 1,
      items: [{ documentType: 'Invoice' }],
    });
  });

  test('have a PDF when it is asked for: base64 on one line, in the language of the checkout, always the same', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 }, { locale: 'de_DE' });
    const { orderId } = await done(cart, 'POST', '/order');
    await finalised(demo, orderId, 'invoices');
    const [without] = (await documentsOf(demo, orderId)).items;
    expect(without).not.toHaveProperty('documentPdf');
    const [{ documentPdf, ...rest }] = (await documentsOf(demo, orderId, '?includePdf=true&locale=fr_FR'))
      .items;
    expect(documentPdf).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(Object.keys(rest)).toEqual(Object.keys(without));
    const file = Buffer.from(documentPdf, 'base64');
    expect(file.includes(Buffer.from('Rechnung'))).toBe(true);
    const again = (await documentsOf(demo, orderId, '?includePdf=true')).items[0].documentPdf;
    expect(again).toBe(documentPdf);
    // It is kept since the document was finalised; made again from the same facts it is the same.
    const kept = await service.db.one<{ pdf: Buffer }>(sql`
      select pdf from order_document where shop_id = 'DemoShop' and order_id = ${orderId}`);
    expect(kept!.pdf.equals(file)).toBe(true);
    await service.db.run(sql`update order_document set pdf = null where shop_id = 'DemoShop'`);
    expect((await documentsOf(demo, orderId, '?includePdf=true')).items[0].documentPdf).toBe(documentPdf);
  });

  test('say the date of issue in UTC', async () => {
    const { shop, orderId, apple } = await givenOrder();
    const lines = [{ lineItemId: apple, quantity: 1 }];
    const issueDate = '2026-11-14T23:30:00-02:00';
    expect(await finalised(shop, orderId, 'invoices', { lines, issueDate })).toMatchObject({
      issueDate: '2026-11-15T01:30:00.000Z',
      creationDate: '2026-11-15T08:30:00.000Z',
    });
    expect(await finalised(shop, orderId, 'invoices', { lines, issueDate: '2026-11-01' })).toMatchObject({
      issueDate: '2026-11-01T00:00:00.000Z',
    });
  });

  test('move lastUpdatedOnDate', async () => {
    const { shop, orderId } = await givenOrder();
    await finalised(shop, orderId, 'invoices');
    service.setClock(new Date(NOW.getTime() + DAY));
    await finalised(shop, orderId, 'credit-notes');
    service.setClock(NOW);
    expect((await orderOf(shop, orderId)).lastUpdatedOnDate).toBe('2026-11-16T08:30:00.000Z');
  });

  test('of an order that does not exist do not exist either', async () => {
    const { orderId } = await givenOrder();
    for (const id of [newId(NOW), orderId, 'order']) {
      const { status } = await service.call('GET', `/DemoShop/orders/${id}/documents`, { token: demo.token });
      expect(status).toBe(404);
    }
  });

  test('are read with three statements, whatever there is', async () => {
    const { shop, orderId } = await givenOrder();
    await finalised(shop, orderId, 'invoices');
    await finalised(shop, orderId, 'credit-notes');
    await documentsOf(shop, orderId, '?includePdf=true');
    const statements = await statementsOf(() => documentsOf(shop, orderId, '?includePdf=true'));
    // That a token was used is written now and then, for many at once.
    expect(statements.filter((text) => !text.includes('update token'))).toHaveLength(3);
  });
});

describe('electronic invoices', () => {
  test('are inside the PDF, when the shop wants them', async () => {
    const { shop, orderId } = await givenOrder({
      invoicing: { ...SELLER, electronic: true },
    });
    const { documentId } = await finalised(shop, orderId, 'invoices');
    const { bytes } = (await documentFile(service.db, shop.shopId, documentId))!;
    const { xml } = await extractXml(bytes);
    expect(xml).toContain('<ram:ID>1001</ram:ID>');
    expect(xml).toContain('<ram:GrandTotalAmount>44.90</ram:GrandTotalAmount>');
    expect(bytes.includes('<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>')).toBe(true);
  });

  test('of exports need the VAT id: a tax number is not enough', async () => {
    const { vatId: _vatId, ...seller } = SELLER;
    const { shop, orderId } = await givenOrder(
      {
        countries: { default: 'DE', items: ['DE', 'US'] },
        invoicing: { ...seller, taxNumber: '12/345/67890', electronic: true },
      },
      { address: { country: 'US' } },
    );
    expect(await refused(shop, orderId, 'invoices', {})).toEqual([
      400,
      'Electronic invoices need settings that the shop lacks: invoicing.vatId; set them with npx kontor shop apply',
    ]);
  });

  const COMPANY = { ...ADA, company: 'Hafenamt', country: 'DE', zipCode: '20457', vatId: 'DE136695976' };
  const PHONE = { phone: '+49 40 123456' };

  /** An order whose buyer has said this of itself. */
  async function givenBusinessOrder(invoicing: object, buyer: object | null, address: object = COMPANY) {
    const given = await givenOrder({ invoicing: { ...SELLER, ...invoicing } });
    const { shop, order, orderId } = given;
    await service.db.run(sql`
      update customer_order
      set buyer = ${buyer}, billing_address = ${JSON.stringify({ ...order.billingAddress, ...address })}
      where shop_id = ${shop.shopId} and order_id = ${orderId}`);
    return given;
  }

  const electronicOf = ({ shopId, token }: Shop, orderId: string, documentId: string, format = '') =>
    service.call(
      'GET',
      `/manage/shops/${shopId}/orders/${orderId}/documents/${documentId}/electronic${format && `?format=${format}`}`,
      { token },
    );

  const attachmentsOf = async (shop: Shop, documentId: string) => {
    const files = await deliveredFiles(service.db, shop.shopId, documentId);
    return files.map(({ name, type }) => `${name} ${type}`);
  };

  test('are for businesses in the European Union, when the shop has decided nothing', async () => {
    const { shop, orderId } = await givenBusinessOrder({}, null);
    const { documentId } = await finalised(shop, orderId, 'invoices');
    const { bytes } = (await documentFile(service.db, shop.shopId, documentId))!;
    expect((await extractXml(bytes)).xml).toContain('<ram:Name>Hafenamt</ram:Name>');
    expect(await attachmentsOf(shop, documentId)).toEqual(['Invoice-1001.pdf application/pdf']);

    const consumer = await givenBusinessOrder({}, null, { ...COMPANY, company: null, vatId: null });
    const other = await finalised(consumer.shop, consumer.orderId, 'invoices');
    const plain = (await documentFile(service.db, consumer.shop.shopId, other.documentId))!;
    await expect(extractXml(plain.bytes)).rejects.toThrow();

    const off = await givenBusinessOrder({ electronic: false }, null);
    const without = await finalised(off.shop, off.orderId, 'invoices');
    await expect(
      extractXml((await documentFile(service.db, off.shop.shopId, without.documentId))!.bytes),
    ).rejects.toThrow();
  });

  test('of an authority are XRechnung: a file beside the PDF, stored as it was sent', async () => {
    const buyer = { buyerReference: '04011000-12345-03', purchaseOrderNumber: 'PO-4711' };
    const { shop, orderId } = await givenBusinessOrder(PHONE, buyer);
    const { documentId } = await finalised(shop, orderId, 'invoices');
    expect(await attachmentsOf(shop, documentId)).toEqual([
      'Invoice-1001.pdf application/pdf',
      'Invoice-1001.xml application/xml',
    ]);
    const { status, body } = await electronicOf(shop, orderId, documentId);
    expect(status).toBe(200);
    expect(body).toEqual({
      documentId,
      format: 'xrechnung-ubl',
      fileName: 'Invoice-1001.xml',
      xml: expect.stringContaining('<cbc:BuyerReference>04011000-12345-03</cbc:BuyerReference>') as string,
      sha256: createHash('sha256').update(body.xml).digest('hex'),
      delivery: null,
    });
    expect(body.xml).toContain('<cbc:ID>PO-4711</cbc:ID>');
    // The PDF is a copy, so it carries no second original.
    await expect(
      extractXml((await documentFile(service.db, shop.shopId, documentId))!.bytes),
    ).rejects.toThrow();
    // It is stored, so a later version of the program sends the same.
    await service.db.run(sql`
      update order_document set xml = ${Buffer.from('<as-sent/>')} where shop_id = ${shop.shopId}`);
    expect((await electronicOf(shop, orderId, documentId)).body.xml).toBe('<as-sent/>');
    // The credit note goes the same way.
    const credit = await finalised(shop, orderId, 'credit-notes');
    expect((await electronicOf(shop, orderId, credit.documentId)).body).toMatchObject({
      format: 'xrechnung-ubl',
      xml: expect.stringMatching(/<CreditNote [\s\S]*04011000-12345-03[\s\S]*PO-4711/) as string,
    });
    // An invoice after it replaces the credited one.
    const again = await finalised(shop, orderId, 'invoices');
    expect((await electronicOf(shop, orderId, again.documentId)).body.xml).toMatch(
      /<cbc:InvoiceTypeCode>384<[\s\S]*<cac:InvoiceDocumentReference>\s*<cbc:ID>1001</,
    );
  });

  test('are to be had in every format that the facts allow', async () => {
    const { shop, orderId } = await givenBusinessOrder({}, null);
    const { documentId } = await finalised(shop, orderId, 'invoices');
    const answers: Record<string, unknown> = {};
    for (const format of ['zugferd', 'xrechnung-cii', 'xrechnung-ubl', 'peppol', 'pdf']) {
      const { status, body } = await electronicOf(shop, orderId, documentId, format);
      answers[format] =
        status === 200
          ? body.xml.match(/<(?:rsm:)?(\w+) /)[1]
          : [status, body.message.split(', Request: ')[0]];
    }
    const phoneMissing = (format: string) => [
      409,
      `The document does not exist as ${format}, because it lacks invoicing.phone`,
    ];
    expect(answers).toEqual({
      zugferd: 'CrossIndustryInvoice',
      'xrechnung-cii': phoneMissing('xrechnung-cii'),
      'xrechnung-ubl': phoneMissing('xrechnung-ubl'),
      peppol: 'Invoice',
      pdf: [400, expect.any(String)],
    });
    // Another order's document does not exist here.
    const other = await givenOrder();
    expect((await electronicOf(shop, other.orderId, documentId)).status).toBe(404);
  });

  test('need the phone number, when the shop wants XRechnung', async () => {
    const { shop, orderId } = await givenBusinessOrder({ electronicFormat: 'xrechnung-cii' }, null);
    expect(await refused(shop, orderId, 'invoices', {})).toEqual([
      400,
      'Electronic invoices need settings that the shop lacks: invoicing.phone; set them with npx kontor shop apply',
    ]);
  });

  test('are kept: an order with documents cannot be deleted, the whole shop can', async () => {
    const { shop, orderId } = await givenBusinessOrder({}, null);
    await finalised(shop, orderId, 'invoices');
    await expect(
      service.db.run(
        sql`delete from customer_order where shop_id = ${shop.shopId} and order_id = ${orderId}`,
      ),
    ).rejects.toThrow('order_document_order');
    await service.db.transaction((tx) => deleteShop(tx, shop.shopId));
    expect(await service.db.one(sql`select from order_document where shop_id = ${shop.shopId}`)).toBe(
      undefined,
    );
  });
});

describe('the way through the Peppol network', () => {
  let point: AccessPoint;
  let worker: Background;
  beforeAll(async () => {
    point = await startAccessPoint();
    const { db, config, app } = service;
    worker = startTransport({
      db,
      config,
      demoAccess: app.demoAccess,
      log: pino({ level: 'silent' }),
      endpoint: point.endpoint,
      pause: 10,
    });
  });
  afterAll(async () => {
    await worker.stop();
    await point.stop();
    service.setClock(NOW);
  });
  beforeEach(() => {
    point.calls.length = 0;
    point.failures.length = 0;
    point.documents.clear();
    service.setClock(NOW);
  });

  /** An invoice for an authority, of a shop that has the key of the access point. */
  async function givenSent(apiKey = ACCESS_POINT_KEY) {
    const invoicing = { ...SELLER, phone: '+49 40 123456' };
    const { shop, order, orderId } = await givenOrder({ invoicing });
    const address = { ...order.billingAddress, company: 'Hafenamt' };
    await service.db.transaction(async (tx) => {
      await tx.run(sql`
        update customer_order
        set buyer = ${{ buyerReference: '04011000-12345-03' }}, billing_address = ${JSON.stringify(address)}
        where shop_id = ${shop.shopId} and order_id = ${orderId}`);
      const key = await installationKey(service.config);
      await saveTransportAccount(tx, key, shop.shopId, { provider: 'e-invoice.be', account: { apiKey } });
    });
    const { documentId } = await finalised(shop, orderId, 'invoices');
    const path = `/manage/shops/${shop.shopId}/orders/${orderId}/documents/${documentId}`;
    const delivery = async () =>
      (await service.call('GET', `${path}/electronic`, { token: shop.token })).body.delivery;
    const until = (state: string) =>
      vi.waitFor(async () => expect(await delivery()).toMatchObject({ state }), {
        timeout: 20_000,
        interval: 20,
      });
    return { shop, documentId, path, delivery, until };
  }

  const minutesLater = (minutes: number) => service.setClock(new Date(NOW.getTime() + minutes * 60_000));
  const emailsTo = async ({ shopId }: Shop) =>
    service.db.many(sql`
      select content -> 'facts' ->> 'reason' as reason from job
      where shop_id = ${shopId} and content ->> 'template' = 'documentProblem'`);
  const sends = () => point.calls.filter((call) => call.endsWith('/send')).length;

  test('stores a document at the access point, sends it, and asks until it was delivered', async () => {
    const { shop, documentId, delivery, until } = await givenSent();
    await until('sending');
    expect(point.calls).toEqual([
      'POST /api/documents/ubl',
      'GET /api/documents/{id}',
      'POST /api/documents/{id}/send',
    ]);
    const [sent] = point.documents.values();
    expect(sent!.xml).toContain('<cbc:EndpointID schemeID="0204">04011000-12345-03</cbc:EndpointID>');
    // The email has only the copy, so that the customer gets one original.
    const files = await deliveredFiles(service.db, shop.shopId, documentId);
    expect(files.map(({ name }) => name)).toEqual(['Invoice-1001.pdf']);
    sent!.state = 'SENT';
    minutesLater(1);
    await until('delivered');
    expect(await delivery()).toEqual({
      provider: 'e-invoice.be',
      state: 'delivered',
      error: null,
      updatedOn: '2026-11-15T08:31:00.000Z',
    });
    expect(await emailsTo(shop)).toEqual([]);
  });

  test('sends nothing twice, when the answer to an upload or to the sending is lost', async () => {
    point.failures.push('hang up');
    const { until } = await givenSent();
    await vi.waitFor(() => expect(point.calls).toHaveLength(1), { timeout: 20_000 });
    minutesLater(1);
    await vi.waitFor(() => expect(point.documents.size).toBe(2), { timeout: 20_000 });
    await until('sending');
    // The first one stayed a draft.
    expect([...point.documents.values()].map(({ state }) => state)).toEqual(['DRAFT', 'TRANSIT']);

    // The access point sends it, and its answer to that is lost.
    point.documents.clear();
    point.calls.length = 0;
    service.setClock(NOW);
    point.loseAnswerTo = '/send';
    const other = await givenSent();
    await vi.waitFor(() => expect(sends()).toBe(1), { timeout: 20_000 });
    point.loseAnswerTo = undefined;
    minutesLater(1);
    await other.until('sending');
    expect([sends(), [...point.documents.values()].map(({ state }) => state)]).toEqual([1, ['TRANSIT']]);
  });

  test('tells the merchant when it could not be delivered, and sends it again when asked', async () => {
    const { shop, path, delivery, until } = await givenSent();
    await until('sending');
    [...point.documents.values()][0]!.state = 'FAILED';
    minutesLater(1);
    await until('failed');
    const reason = 'e-invoice.be could not deliver it: is the recipient registered in the Peppol network?';
    expect(await delivery()).toMatchObject({ error: reason });
    expect(await emailsTo(shop)).toEqual([{ reason }]);
    const again = await service.call('POST', `${path}/delivery`, { token: shop.token });
    expect([again.status, again.body]).toMatchObject([200, { state: 'waiting', error: null }]);
    await until('sending');
    expect(point.documents.size).toBe(2);
    // One that is on its way is not sent again.
    const third = await service.call('POST', `${path}/delivery`, { token: shop.token });
    expect(third.body).toMatchObject({ state: 'sending' });
    expect(sends()).toBe(2);
  });

  test('ends with a key that is refused, and never tells the key', async () => {
    const { shop, until, delivery } = await givenSent('another-key');
    await until('failed');
    expect(await delivery()).toMatchObject({ error: 'e-invoice.be answered 401: {"detail":"no such key"}' });
    expect(await emailsTo(shop)).toHaveLength(1);
    expect(point.documents.size).toBe(0);
    const row = await service.db.one<{ sealed: Buffer }>(sql`
      select fields_sealed as sealed from transport_account where shop_id = ${shop.shopId}`);
    expect(row!.sealed.includes('another-key')).toBe(false);
  });

  test('is not there without an account', async () => {
    const { shop, orderId } = await givenOrder();
    const { documentId } = await finalised(shop, orderId, 'invoices');
    const path = `/manage/shops/${shop.shopId}/orders/${orderId}/documents/${documentId}/delivery`;
    const { status, body } = await service.call('POST', path, { token: shop.token });
    expect([status, body.message.split(', Request: ')[0]]).toEqual([
      409,
      'The shop has no account of a provider that sends electronic documents',
    ]);
  });
});
