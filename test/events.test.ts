import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { abandonedCarts } from '../src/carts/abandoned.ts';
import { importFile } from '../src/catalogue/products/import.ts';
import { cleanupSteps } from '../src/composition/cleanup-steps.ts';
import { createDemoShops } from '../src/commands/demo/demo-shop.ts';
import { readConfig } from '../src/config.ts';
import { sql, type Sql } from '../src/db/sql.ts';
import { eraseCustomerData } from '../src/people/privacy/erase.ts';
import { BY_COMMAND } from '../src/people/privacy/requests.ts';
import { PERSONAL_DATA } from '../src/composition/personal-data.ts';
import type { PersonalData } from '../src/platform/personal-data.ts';
import { releaseUnpaidOrders } from '../src/orders/release-unpaid.ts';
import { deleteApp } from '../src/apps/apps.ts';
import { givenToken } from './builders.ts';
import {
  ADA,
  changeSettings,
  DAY,
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  NOW,
  paymentId,
  shippingId,
  type Shop,
} from './carts.ts';
import { countLockWaits } from './cluster.ts';
import { startService, type Answer, type Service } from './service.ts';
import { PNG, sendImage } from './upload.ts';

/** Which events each change leaves, and that lists that are filtered by date lose none of them. */

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(NOW);
  shop = await givenSmallShop(service);
});

const add = (place: string, value: unknown) => ({ op: 'add', path: place, value });
const replace = (place: string, value: unknown) => ({ op: 'replace', path: place, value });

async function call(method: string, place: string, body?: unknown): Promise<Answer> {
  const { shopId, token } = shop;
  const prefix = place.startsWith('/manage') ? `/manage/shops/${shopId}` : `/${shopId}`;
  return service.call(method, `${prefix}${place.replace(/^\/manage/, '')}`, { token, body });
}

async function well(method: string, place: string, body?: unknown): Promise<Answer['body']> {
  const answer = await call(method, place, body);
  expect({ status: answer.status, message: answer.body?.message }).toEqual({
    status: expect.toBeOneOf([200, 201, 204]),
    message: undefined,
  });
  return answer.body;
}

type Said = [type: string, resourceId: string | null, data: Record<string, unknown>];

interface Item {
  eventType: string;
  resourceId: string | null;
  data: Record<string, unknown>;
  appId: string | null;
}

async function eventsBehind(position: number): Promise<{ items: Item[]; next: number }> {
  return well('GET', `/manage/events?limit=1000&after=${position}`);
}

/** The events that the work leaves, in their order. */
async function eventsOf(work: () => Promise<unknown>): Promise<Said[]> {
  let position = 0;
  for (let page = await eventsBehind(0); page.items.length > 0; page = await eventsBehind(page.next)) {
    position = page.next;
  }
  await work();
  const { items } = await eventsBehind(position);
  return items.map(({ eventType, resourceId, data }) => [eventType, resourceId, data]);
}

const product = async (facts: object = {}): Promise<string> =>
  (await well('POST', '/products', { name: 'Tea', visible: true, price: 10, ...facts })).productId;

describe('products', () => {
  test('creating and deleting, also with variations', async () => {
    let id = '';
    expect(await eventsOf(async () => (id = await product()))).toEqual([['PRODUCT_CREATE', id, {}]]);
    const created = await eventsOf(() =>
      well('POST', `/products/${id}/variations`, {
        productType: 'Default',
        variationAttributes: [{ name: 'Size', values: [{ value: 'S' }, { value: 'L' }] }],
      }),
    );
    const [first, second] = created.filter(([type]) => type === 'PRODUCT_CREATE').map((said) => said[1]);
    expect(created).toEqual([
      ['PRODUCT_UPDATE', id, { changed: ['productVariationType', 'producttype', 'variationAttributes'] }],
      ['PRODUCT_CREATE', first, {}],
      ['PRODUCT_CREATE', second, {}],
    ]);
    const more = await eventsOf(() =>
      well('POST', `/products/${id}/variations`, {
        productType: 'Default',
        variationAttributes: [
          { name: 'Colour', defaultForExistingProducts: 'red', values: [{ value: 'red' }] },
        ],
      }),
    );
    expect(more).toEqual([
      ['PRODUCT_UPDATE', id, { changed: ['variationAttributes'] }],
      ['PRODUCT_UPDATE', first, { changed: ['productVariationSelection'] }],
      ['PRODUCT_UPDATE', second, { changed: ['productVariationSelection'] }],
    ]);
    expect(await eventsOf(() => well('DELETE', `/products/${id}`))).toEqual([
      ['PRODUCT_DELETE', first, {}],
      ['PRODUCT_DELETE', second, {}],
      ['PRODUCT_DELETE', id, {}],
    ]);
  });

  const PATCHES: [string, object[], [string, Record<string, unknown>][]][] = [
    ['a name', [add('/name', 'Coffee')], [['PRODUCT_UPDATE', { changed: ['name'] }]]],
    ['the name that it has', [add('/name', 'Tea')], []],
    [
      'several fields',
      [add('/visible', false), add('/priceInfo/price/amount', 9), add('/ean', '401')],
      [['PRODUCT_UPDATE', { changed: ['visible', 'price', 'ean'] }]],
    ],
    ['the stock alone', [replace('/stocklevel', 9)], [['PRODUCT_UPDATE', { changed: ['stocklevel'] }]]],
    [
      'a stock at the level that warns',
      [replace('/stocklevel', 2)],
      [
        ['PRODUCT_UPDATE', { changed: ['stocklevel'] }],
        ['STOCK_LOW', { stocklevel: 2, minStocklevel: 2 }],
      ],
    ],
    [
      'nothing left, and another field',
      [add('/stocklevel', -10), add('/upc', '1')],
      [
        ['PRODUCT_UPDATE', { changed: ['stocklevel', 'upc'] }],
        ['STOCK_LOW', { stocklevel: 0, minStocklevel: 2 }],
        ['STOCK_OUT', { stocklevel: 0 }],
      ],
    ],
    ['a refusal', [add('/name', 'Coffee'), add('/colour', 'red')], []],
  ];

  test.each(PATCHES)('PATCH: %s', async (_name, patch, expected) => {
    const id = await product({ stocklevel: 10 });
    await well('PATCH', `/products/${id}`, [add('/minStocklevel', 2)]);
    const said = await eventsOf(() => call('PATCH', `/products/${id}`, patch));
    expect(said).toEqual(expected.map(([type, data]) => [type, id, data]));
  });

  test('a stock that is low already says so once', async () => {
    const id = await product({ stocklevel: 1 });
    await well('PATCH', `/products/${id}`, [add('/minStocklevel', 2)]);
    const said = await eventsOf(async () => {
      await well('PATCH', `/products/${id}`, [replace('/stocklevel', 0)]);
      await well('PATCH', `/products/${id}`, [replace('/stocklevel', -1)]);
      await well('PATCH', `/products/${id}`, [replace('/stocklevel', 5)]);
    });
    expect(said.map(([type]) => type)).toEqual([
      'PRODUCT_UPDATE',
      'STOCK_OUT',
      'PRODUCT_UPDATE',
      'PRODUCT_UPDATE',
    ]);
  });

  test('images, attributes, categories and what is sold along', async () => {
    const id = await product();
    const other = await product();
    const { shopId, token } = shop;
    const [root] = await well('GET', '/categories');
    const rootId = root.categoryId;
    const image = (name: string) => () =>
      sendImage(service, `/${shopId}/products/${id}/slideshow`, name, PNG, { token });
    const attribute = [add('/', { key: 'Origin', displayValue: 'Assam' })];
    const assign = (method: string) => async () => {
      const form = `categoryId=${rootId}&productId=${id}`;
      const answer = await service.call(
        method,
        `/${shopId}/product-category-assignments${method === 'DELETE' ? `?${form}` : ''}`,
        method === 'DELETE'
          ? { token }
          : { token, body: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      );
      expect(answer.status).toBe(204);
    };
    const steps: [string[] | null, () => Promise<unknown>][] = [
      [['slideshow', 'productImage'], image('one.png')],
      [['slideshow'], image('two.png')],
      [null, image('two.png')],
      [['slideshow'], () => well('PUT', `/products/${id}/slideshow/sequence`, ['two.png', 'one.png'])],
      [null, () => well('PUT', `/products/${id}/slideshow/sequence`, ['two.png', 'one.png'])],
      [['slideshow', 'productImage'], () => well('DELETE', `/products/${id}/slideshow/one.png`)],
      [['customAttributes'], () => well('PATCH', `/products/${id}/custom-attributes`, attribute)],
      [null, () => well('PATCH', `/products/${id}/custom-attributes`, attribute)],
      [['categories'], assign('POST')],
      [null, assign('POST')],
      [['categories'], assign('DELETE')],
      [['crossselling'], () => well('PUT', `/products/${id}/crossselling`, [other])],
      [null, () => well('PUT', `/products/${id}/crossselling`, [other])],
      [
        ['crossselling'],
        () => well('PATCH', `/products/${id}/crossselling`, [{ op: 'remove', path: '/', value: other }]),
      ],
    ];
    for (const [changed, work] of steps) {
      expect(await eventsOf(work)).toEqual(changed ? [['PRODUCT_UPDATE', id, { changed }]] : []);
    }
  });

  test('an import writes an event for each product, and one at its end', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'kontor-events-'));
    const file = path.join(folder, 'products.csv');
    const importing = async (...lines: string[]) => {
      await writeFile(file, ['Alias;Name/en;StockLevel;SuperProduct', ...lines].join('\n'));
      return eventsOf(() => importFile(service.db, file, { shopId: shop.shopId, visible: true }));
    };
    const numberOf = async (number: string) =>
      (await service.db.one<{ id: string }>(sql`
        select upper(product_id::text) as id from product
        where shop_id = ${shop.shopId} and product_number = ${number}`))!.id;

    const first = await importing('T1;Tea;5;', 'T2;Green tea;;', 'T2-S;Small;3;T2', ';Nameless;;');
    expect(first).toEqual([
      ['PRODUCT_CREATE', await numberOf('T1'), {}],
      ['PRODUCT_CREATE', await numberOf('T2'), {}],
      ['PRODUCT_CREATE', await numberOf('T2-S'), {}],
      ['PRODUCT_UPDATE', await numberOf('T2'), { changed: ['productVariationType', 'variationAttributes'] }],
      ['IMPORT_FINISHED', null, { created: 3, changed: 0, unchanged: 0, refused: 1 }],
    ]);
    const second = await importing('T1;Black tea;0;', 'T2;Green tea;;', 'T2-S;Small;2;T2');
    expect(second).toEqual([
      ['PRODUCT_UPDATE', await numberOf('T1'), { changed: ['stocklevel', 'name'] }],
      ['STOCK_OUT', await numberOf('T1'), { stocklevel: 0 }],
      ['PRODUCT_UPDATE', await numberOf('T2-S'), { changed: ['stocklevel'] }],
      ['IMPORT_FINISHED', null, { created: 0, changed: 2, unchanged: 1, refused: 0 }],
    ]);
    await rm(folder, { recursive: true });
  });

  test('the app that caused it is named', async () => {
    await product();
    const row = await service.db.one<{ appId: string }>(sql`
      select upper(app_id::text) as "appId" from token where shop_id = ${shop.shopId}`);
    const { items } = await eventsBehind(0);
    expect(items.at(-1)).toMatchObject({ eventType: 'PRODUCT_CREATE', appId: row!.appId });
  });
});

/** An order of 2 x 10.00 and 3 x 5.00, with a delivery for 4.90. */
async function givenOrder() {
  const tea = await givenProduct(shop, { price: 1000, stock: 10 });
  const book = await givenProduct(shop, { price: 500, stock: 10 });
  const cart = await givenFullCart(shop, { [tea]: 2, [book]: 3 });
  const { orderId: id, lineItemContainer } = await done(cart, 'POST', '/order');
  const [teaLine, bookLine] = lineItemContainer.productLineItems.map(
    ({ lineItemId }: { lineItemId: string }) => lineItemId,
  ) as [string, string];
  return { id: id as string, tea, book, teaLine, bookLine };
}

describe('orders', () => {
  beforeEach(() =>
    changeSettings(shop, {
      shippingMethods: [
        { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 },
        { key: 'express', name: 'Express', kind: 'flat', price: 7 },
      ],
      paymentMethods: [
        { key: 'advance', name: 'Advance', price: 0, releaseUnpaidAfterDays: 7 },
        { key: 'cod', name: 'On delivery', price: 2.5 },
      ],
    }),
  );

  test('each change leaves its events, and a refusal none', async () => {
    const { id, tea, teaLine, bookLine } = await givenOrder();
    await service.db.run(sql`
      update product set min_stock = 7 where shop_id = ${shop.shopId} and product_id = ${tea}`);
    const at = `/manage/orders/${id}`;
    const updated = (...changed: string[]): Said => ['ORDER_UPDATE', id, { changed }];
    const money = (amount: number) => ({ amount, currency: 'EUR' });
    const patch = (...changes: object[]) => call('PATCH', `/orders/${id}`, changes);
    const shippingMethodId = await shippingId(shop, 'express');
    const paymentMethodId = await paymentId(shop, 'cod');
    const lineItem = (quantity: number) => call('PUT', `${at}/line-items/${teaLine}`, { quantity });
    const lines = [
      { lineItemId: teaLine, quantity: 3 },
      { lineItemId: bookLine, quantity: 3 },
    ];

    const steps: [string, () => Promise<Answer>, Said[]][] = [
      ['a line outside of edit mode', () => lineItem(3), []],
      ['edit mode', () => call('POST', `${at}/edit`), [updated('editing')]],
      ['edit mode again', () => call('POST', `${at}/edit`), []],
      [
        'one more, and the stock falls to its level',
        () => lineItem(3),
        [['STOCK_LOW', tea, { stocklevel: 7, minStocklevel: 7 }], updated('lineItems', 'grandTotal')],
      ],
      ['more than there is', () => lineItem(30), []],
      [
        'another delivery',
        () => call('PUT', `${at}/shipping`, { shippingMethodId }),
        [updated('shippingData', 'grandTotal')],
      ],
      [
        'another payment',
        () => call('PUT', `${at}/payment`, { paymentMethodId }),
        [updated('paymentData', 'grandTotal')],
      ],
      ['the end of edit mode', () => call('DELETE', `${at}/edit`), [updated('editing')]],
      [
        'a part of the money',
        () => call('POST', `${at}/payments`, { amount: 4.5 }),
        [updated('payments', 'partiallyPaidOn', 'paidAmount')],
      ],
      ['too much money', () => call('POST', `${at}/payments`, { amount: 500 }), []],
      [
        'all of the money',
        () => call('POST', `${at}/payments`, { amount: 50 }),
        [updated('payments', 'paidOn', 'paidAmount'), ['ORDER_PAID', id, money(54.5)]],
      ],
      [
        'a part of the goods',
        () => call('POST', `${at}/shipments`, { lines: [lines[0]] }),
        [updated('shipments', 'partiallyDispatchedOn'), ['ORDER_SHIPPED', id, { shipmentId: ID }]],
      ],
      [
        'the rest of the goods',
        () => call('POST', `${at}/shipments`, {}),
        [updated('shipments', 'dispatchedOn'), ['ORDER_SHIPPED', id, { shipmentId: ID }]],
      ],
      ['an order that was sent cannot be cancelled', () => call('POST', `${at}/cancel`, {}), []],
      [
        'an invoice',
        () => call('POST', `${at}/invoices`, {}),
        [
          updated('documents', 'invoicedOn'),
          ['DOCUMENT_ISSUED', id, { documentId: ID, kind: 'Invoice', number: 1001 }],
        ],
      ],
      [
        'goods that come back, with their money',
        () => call('POST', `${at}/returns`, { lines: [lines[1]], refund: 15 }),
        [
          updated('returns', 'payments', 'returnedOn', 'refundedAmount'),
          ['ORDER_REFUNDED', id, money(15)],
          ['RETURN_RECEIVED', id, { returnId: ID }],
          ['RETURN_REFUNDED', id, { returnId: ID }],
        ],
      ],
      [
        'goods that come back',
        () => call('POST', `${at}/returns`, { lines: [lines[0]] }),
        [updated('returns'), ['RETURN_RECEIVED', id, { returnId: ID }]],
      ],
      [
        'money that goes back',
        () => call('POST', `${at}/refunds`, { amount: 1 }),
        [updated('payments', 'refundedAmount'), ['ORDER_REFUNDED', id, money(1)]],
      ],
      ['more than was paid', () => call('POST', `${at}/refunds`, { amount: 50 }), []],
      [
        'a credit note',
        () => call('POST', `${at}/credit-notes`, {}),
        [updated('documents'), ['DOCUMENT_ISSUED', id, { documentId: ID, kind: 'CreditNote', number: 1001 }]],
      ],
      [
        'a patch',
        () => patch(add('/internalNote', 'nice'), add('/viewedOn', '2026-11-15T09:00:00Z')),
        [updated('internalNote', 'viewedOn')],
      ],
      ['the same patch again', () => patch(add('/internalNote', 'nice')), []],
      ['a patch that is refused', () => patch(add('/internalNote', 'bad'), add('/orderId', 'x')), []],
    ];
    for (const [name, work, expected] of steps) {
      let status = 0;
      const said = await eventsOf(async () => ({ status } = await work()));
      expect([name, said]).toEqual([name, expected]);
      if (expected.length > 0) expect(status).toBeLessThan(300);
    }
  });

  test('cancelled by the merchant, and because nobody has paid', async () => {
    const first = await givenOrder();
    const changed = ['rejectedOn', 'cancelledOn'];
    expect(
      await eventsOf(() => well('POST', `/manage/orders/${first.id}/cancel`, { reason: 'Ada has moved' })),
    ).toEqual([
      ['ORDER_UPDATE', first.id, { changed }],
      ['ORDER_CANCELLED', first.id, { reason: 'merchant' }],
    ]);
    const second = await givenOrder();
    service.setClock(new Date(NOW.getTime() + 8 * DAY));
    expect(await eventsOf(() => releaseUnpaidOrders(service.db, 10))).toEqual([
      ['ORDER_UPDATE', second.id, { changed }],
      ['ORDER_CANCELLED', second.id, { reason: 'unpaid' }],
    ]);
  });

  test('paid by a patch', async () => {
    const { id } = await givenOrder();
    expect(
      await eventsOf(() => well('PATCH', `/orders/${id}`, [add('/paidOn', '2026-11-15T09:00:00Z')])),
    ).toEqual([
      ['ORDER_UPDATE', id, { changed: ['paidOn'] }],
      ['ORDER_PAID', id, { amount: 39.9, currency: 'EUR' }],
    ]);
  });
});

describe('customers, settings, apps and carts', () => {
  test('customers are created and erased, and the log holds nothing of them', async () => {
    const billingAddress = { ...ADA, emailAddress: 'ada.of.events@mail.example' };
    let id = '';
    expect(
      await eventsOf(async () => ({ customerId: id } = await well('POST', '/customers', { billingAddress }))),
    ).toEqual([['CUSTOMER_CREATE', id, {}]]);
    expect(
      await eventsOf(() => call('POST', '/customers', { customerNumber: '1001', billingAddress })),
    ).toEqual([]);
    const product = await givenProduct(shop, { stock: 5 });
    const cart = await givenFullCart(shop, { [product]: 1 }, { address: billingAddress });
    const { orderId } = await done(cart, 'POST', '/order');
    await well('PATCH', `/orders/${orderId}`, [add('/customerComment', 'Ring at Lovelace')]);
    await well('POST', `/manage/orders/${orderId}/cancel`, { reason: 'Lovelace has moved' });
    expect(await eventsOf(() => well('POST', `/manage/customers/${id}/erase`))).toEqual([
      [
        'ORDER_UPDATE',
        orderId,
        { changed: ['customerComment', 'internalNote', 'billingAddress', 'shippingAddress'] },
      ],
      ['CUSTOMER_ERASE', id, {}],
    ]);
    const rows = await service.db.many<{ row: string }>(
      sql`select event::text as row from event where shop_id = ${shop.shopId}`,
    );
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter(({ row }) => /Ada|Lovelace|mail/.test(row))).toEqual([]);
  });

  test('an erasure that is refused leaves none', async () => {
    const product = await givenProduct(shop, { stock: 5 });
    const cart = await givenFullCart(shop, { [product]: 1 });
    const { customerId } = await done(cart, 'POST', '/order');
    const said = await eventsOf(async () => {
      expect((await call('POST', `/manage/customers/${customerId}/erase`)).status).toBe(409);
    });
    expect(said).toEqual([]);
  });

  test('settings name what has changed', async () => {
    const settings = { maxPerOrder: 5, sellBeyondStock: true };
    expect(await eventsOf(() => changeSettings(shop, settings))).toEqual([
      ['SETTINGS_CHANGED', null, { changed: ['sellBeyondStock', 'maxPerOrder'] }],
    ]);
    expect(await eventsOf(() => changeSettings(shop, settings))).toEqual([]);
    const page = { title: 'Imprint', description: 'Harbour & Hearth' };
    const put = (body: object) => () => well('PUT', '/legal/contact-information?locale=en_GB', body);
    const changed = ['legal/contact-information'];
    expect(await eventsOf(put(page))).toEqual([['SETTINGS_CHANGED', null, { changed }]]);
    expect(await eventsOf(put(page))).toEqual([]);
    expect(await eventsOf(put({}))).toEqual([['SETTINGS_CHANGED', null, { changed }]]);
    // What is cached with the settings is not one.
    const [root] = await well('GET', '/categories');
    const category = { name: 'Tea', alias: 'tea' };
    expect(await eventsOf(() => well('POST', `/categories/${root.categoryId}`, category))).toEqual([]);
  });

  test('an app that is uninstalled', async () => {
    await givenToken(service, shop.shopId, [], 'reports');
    const app = await service.db.one<{ id: string }>(sql`
      select upper(app_id::text) as id from app where shop_id = ${shop.shopId} and name = 'reports'`);
    const uninstall = () => service.db.transaction((tx) => deleteApp(tx, shop.shopId, 'reports'));
    expect(await eventsOf(uninstall)).toEqual([['APP_UNINSTALL', app!.id, { name: 'reports' }]]);
    expect(await eventsOf(uninstall)).toEqual([]);
  });

  test('a cart that is left, once until it is changed again', async () => {
    const product = await givenProduct(shop);
    const [full, empty, ordered] = [
      await givenCart(shop, { [product]: 2 }),
      await givenCart(shop),
      await givenFullCart(shop, { [product]: 1 }),
    ];
    await done(ordered, 'POST', '/order');
    const HOUR = DAY / 24;
    const after = (hours: number, step = abandonedCarts(4)) => {
      service.setClock(new Date(NOW.getTime() + hours * HOUR));
      return eventsOf(() => step.run(service.db, 100));
    };
    const before = await done(full, 'GET');
    const versionOf = () =>
      service.db.one(sql`
        select version, changed_at from cart where shop_id = ${shop.shopId} and cart_id = ${full.id}`);
    const version = await versionOf();

    expect(await after(3.9)).toEqual([]);
    expect(await after(4.1)).toEqual([['CART_ABANDONED', full.id, { lines: 1 }]]);
    expect(await after(4.2)).toEqual([]);
    expect([await done(full, 'GET'), await versionOf()]).toEqual([before, version]);

    // Changed from the cached copy, which does not know of the mark, and by the transaction.
    await done(full, 'PUT', `/line-items/${before.lineItemContainer.productLineItems[0].lineItemId}`, {
      quantity: 3,
    });
    expect(await after(8.1)).toEqual([]);
    expect(await after(8.3)).toEqual([['CART_ABANDONED', full.id, { lines: 1 }]]);
    await done(empty, 'POST', '/line-items', { productId: product, quantity: 1 });
    expect(await after(12.4)).toEqual([['CART_ABANDONED', empty.id, { lines: 1 }]]);
  });

  test('the configuration says after how many hours, or never', () => {
    const names = (hours: string) =>
      cleanupSteps(readConfig({ CART_ABANDONED_AFTER: hours }), service.app.log).map(({ name }) => name);
    expect(names('1')).toContain('abandoned carts');
    expect(names('0')).not.toContain('abandoned carts');
  });

  test('a demo shop begins with an empty log', async () => {
    await createDemoShops(service.db, service.config);
    const row = await service.db.one(sql`
      select (select count(*) from event where shop_id = 'DemoShop') as events, value as position, at
      from counter where shop_id = 'DemoShop' and name = 'event'`);
    expect(row).toEqual({ events: 0, position: 0, at: 0 });
  });
});

const waitingCount = () => countLockWaits(inject('nodes'), service.database);

describe('the order of locks', () => {
  test('nobody waits for a change of the settings with the counter locked', async () => {
    const { id } = await givenOrder();
    let waiting: Promise<unknown> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.run(sql`select from shop where shop_id = ${shop.shopId} for update`);
      waiting = well('PATCH', `/orders/${id}`, [add('/internalNote', 'nice')]);
      await expect.poll(waitingCount, { timeout: 10_000 }).toBe(1);
      await tx.run(sql`
        select from counter where shop_id = ${shop.shopId} and name = 'event' for no key update nowait`);
    });
    await waiting;
  });

  test('an order that comes during an erasure is placed, and the erasure is refused', async () => {
    const { shopId } = shop;
    const goods = await givenProduct(shop);
    const ordered = async () => done(await givenFullCart(shop, { [goods]: 1 }), 'POST', '/order');
    const { orderId, customerId } = await ordered();
    await well('POST', `/manage/orders/${orderId}/cancel`, {});
    const orderMeanwhile: PersonalData = {
      sections: {},
      erase: async () => {
        expect((await ordered()).customerId).toBe(customerId);
        return { counts: {} };
      },
    };
    const options = { shopId, customerId, by: BY_COMMAND, appId: null, force: true, afterCommit: () => {} };
    const erasing = service.db.transaction((tx) =>
      eraseCustomerData(tx, [...PERSONAL_DATA, orderMeanwhile], options),
    );
    await expect(erasing).rejects.toThrow('The customer has ordered at this moment, try again');
    const { customer } = (await service.db.transaction((tx) =>
      eraseCustomerData(tx, PERSONAL_DATA, options),
    ))!;
    expect(customer).toBe('anonymised');
  });
});

describe('who polls by date loses nothing', () => {
  /** Runs `late`, which waits for a row from 10:00:00 on, and `early`, which is committed five seconds later. */
  async function interleaved(lock: Sql, late: () => Promise<unknown>, early: () => Promise<unknown>) {
    let seen: unknown;
    let waiting: Promise<unknown> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.run(lock);
      service.setClock(new Date('2026-11-16T10:00:00Z'));
      waiting = late();
      await expect.poll(waitingCount, { timeout: 10_000 }).toBe(1);
      service.setClock(new Date('2026-11-16T10:00:05Z'));
      seen = await early();
    });
    await waiting;
    return seen;
  }

  test('orders that were changed since', async () => {
    const [slow, fast] = [await givenOrder(), await givenOrder()];
    const updated = async (since: string) => {
      const { items } = await well('GET', `/orders?updatedFrom=${since}`);
      return items.map((order: { orderId: string; lastUpdatedOnDate: string }) => [
        order.orderId,
        order.lastUpdatedOnDate,
      ]);
    };
    const patch = ({ id }: { id: string }) =>
      well('PATCH', `/orders/${id}`, [add('/billingAddress', { ...ADA, firstName: 'Augusta' })]);
    let answer: Answer['body'];
    const seen = await interleaved(
      sql`select from customer_order where shop_id = ${shop.shopId} and order_id = ${slow.id} for update`,
      async () => (answer = await patch(slow)),
      async () => {
        await patch(fast);
        return updated('2026-11-16T00:00:00Z');
      },
    );
    expect(seen).toEqual([[fast.id, '2026-11-16T10:00:05.000Z']]);
    expect(await updated('2026-11-16T10:00:05.001Z')).toEqual([[slow.id, '2026-11-16T10:00:05.001Z']]);
    expect(answer.lastUpdatedOnDate).toBe('2026-11-16T10:00:05.001Z');
  });

  test.each([
    ['attributes', add('/name', 'Coffee')],
    ['stocklevel', replace('/stocklevel', 7)],
  ])('products/updated/%s', async (property, change) => {
    const [slow, fast] = [await product({ stocklevel: 9 }), await product({ stocklevel: 9 })];
    const updated = async (since: string) => {
      const { items } = await well('GET', `/products/updated/${property}?changedAfter=${since}`);
      return items.map((entry: { item: { productId: string }; lastUpdated: string }) => [
        entry.item.productId,
        entry.lastUpdated,
      ]);
    };
    const seen = await interleaved(
      sql`select from product where shop_id = ${shop.shopId} and product_id = ${slow} for update`,
      () => well('PATCH', `/products/${slow}`, [change]),
      async () => {
        await well('PATCH', `/products/${fast}`, [change]);
        return updated('2026-11-16T00:00:00Z');
      },
    );
    expect(seen).toEqual([[fast, '2026-11-16T10:00:05Z']]);
    expect(await updated('2026-11-16T10:00:05Z')).toEqual([[slow, '2026-11-16T10:00:05Z']]);
  });
});
