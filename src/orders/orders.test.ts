import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenToken } from '../../test/builders.ts';
import {
  ADA,
  changesNothing,
  changeSettings,
  DAY,
  done,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  paymentId,
  price,
  problem,
  reasonOf,
  refusal,
  shippingId,
  statementsOf,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { ADDRESS_FIELDS } from '../shops/countries/address.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { STATES } from './schema.ts';

let service: Service;
let shop: Shop;
let knife: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  service.setClock(NOW);
  await service.db.run(sql`delete from shop`);
  shop = await givenSmallShop(service, {
    locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 5 }],
  });
  knife = await givenProduct(shop, { price: 1999, facts: { name: { en_GB: 'Knife', de_DE: 'Messer' } } });
});
afterAll(() => service.close());

const NOTHING = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
const FILTERS = [
  'viewedOn',
  'pendingOn',
  'archivedOn',
  'rejectedOn',
  'closedOn',
  'dispatchedOn',
  'paidOn',
  'returnedOn',
  'deliveredOn',
  'invoicedOn',
];

async function placed(
  quantities: Record<string, number> = { [knife]: 1 },
  facts: Record<string, unknown> = {},
  at: Date = NOW,
): Promise<Answer['body']> {
  service.setClock(at);
  const cart = await givenFullCart(shop, quantities, facts);
  const order = await done(cart, 'POST', '/order');
  service.setClock(NOW);
  return order;
}

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, `/${shop.shopId}${path}`, { token: shop.token, body });
const get = async (path: string) => {
  const { status, body } = await call('GET', path);
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
  return body;
};
const listed = async (search = '') => {
  const { results, items } = await get(`/orders?${search}`);
  return [results, ...items.map(({ orderNumber }: Answer['body']) => orderNumber.split('/')[1])];
};
const patch = (orderId: string, ...changes: object[]) => call('PATCH', `/orders/${orderId}`, changes);
const patched = async (orderId: string, ...changes: object[]) => {
  const { status, body } = await patch(orderId, ...changes);
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
  return body;
};
const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const remove = (path: string) => ({ op: 'remove', path });
const wrong = (code: string, field: string) => problem(code, field, 'Update order');

const events = (orderId: string) =>
  service.db.many<{ kind: string; details: unknown }>(sql`
    select kind, details from order_event where order_id = ${orderId} order by at, event_id`);

describe('an order', () => {
  test('comes as it was placed, with its texts in the language that is asked for', async () => {
    const order = await placed({ [knife]: 2 });
    expect(await get(`/orders/${order.orderId}`)).toEqual(order);
    expect(await get(`/orders/${order.orderId.toLowerCase()}?locale=en_GB`)).toEqual(order);
    const german = await get(`/orders/${order.orderId}?locale=de_DE`);
    expect(german.lineItemContainer.productLineItems[0].name).toBe('Messer');
    expect(german.lineItemContainer.grandTotal.formatted).toBe('44,98 €');
    expect(german.locale).toBe('en_GB');
    expect((await get(`/orders/${order.orderId}?locale=fr_FR`)).lineItemContainer).toEqual(
      order.lineItemContainer,
    );
  });

  test('is not there for a shop that has not got it', async () => {
    const { orderId } = await placed();
    const other = await givenSmallShop(service);
    for (const id of [orderId, newId(NOW), 'nonsense']) {
      const answer = await service.call('GET', `/${other.shopId}/orders/${id}`, { token: other.token });
      expect(answer.status).toBe(404);
    }
    expect((await service.call('GET', `/${other.shopId}/orders`, { token: other.token })).body.results).toBe(
      0,
    );
  });

  test('without delivery has no shippingData and no link to a method', async () => {
    await changeSettings(shop, { shippingMethods: [] });
    await placed();
    const { items } = await get('/orders');
    expect(items[0].shippingData).toBeNull();
    expect(items[0].links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'customer']);
  });

  test('exists before it is paid, and says so when it is', async () => {
    const { orderId, paidOn } = await placed();
    expect(paidOn).toBeNull();
    expect((await patched(orderId, add('/paidOn', '2026-11-16T10:00:00+01:00'))).paidOn).toBe(
      '2026-11-16T09:00:00.000Z',
    );
  });

  test('is read with one statement once the settings are known', async () => {
    const { orderId } = await placed();
    await get(`/orders/${orderId}`);
    expect(await statementsOf(() => get(`/orders/${orderId}`))).toHaveLength(1);
    for (const search of [
      '',
      'viewedOn=false&page=2',
      `customerId=${newId(NOW)}`,
      'createdAfter=2026-01-01',
    ]) {
      expect(await statementsOf(() => get(`/orders?${search}`))).toHaveLength(1);
    }
    for (const search of ['lastUpdated=true', 'updatedFrom=2026-11-01']) {
      expect(await statementsOf(() => get(`/orders?${search}`))).toHaveLength(2);
    }
  });
});

describe('the list', () => {
  test('begins with the newest order; lastUpdated with the one that was changed last', async () => {
    const [first] = [await placed({}, {}, new Date(NOW.getTime() - 2 * DAY))];
    await placed({}, {}, new Date(NOW.getTime() - DAY));
    await placed();
    expect(await listed()).toEqual([3, '1003', '1002', '1001']);
    expect(await listed('lastUpdated=true')).toEqual([3, '1003', '1002', '1001']);
    service.setClock(new Date(NOW.getTime() + 1000));
    await patched(first.orderId, add('/billingAddress', ADA));
    expect(await listed('lastUpdated=true')).toEqual([3, '1001', '1003', '1002']);
    expect(await listed('lastUpdated=false')).toEqual([3, '1003', '1002', '1001']);
  });

  test('has orders without their lines, unless they are asked for', async () => {
    const { lineItemContainer, ...order } = await placed();
    expect(await get('/orders')).toEqual({ results: 1, page: 1, resultsPerPage: 10, items: [order] });
    expect((await get('/orders?include=lineItems')).items).toEqual([{ ...order, lineItemContainer }]);
    expect((await get('/orders?locale=de_DE')).items[0].shippingData.price.formatted).toBe('5,00 €');
    expect(await reasonOf(call('GET', '/orders?include=everything'))).toEqual([
      400,
      'List orders failed:\n\tvalidation error UNKNOWN_VALUE on field include',
    ]);
  });

  test('has pages, the last of them cut off, and the true number beyond the end', async () => {
    for (let count = 5; count > 0; count--) await placed({}, {}, new Date(NOW.getTime() - count));
    expect(await listed('resultsPerPage=2')).toEqual([5, '1005', '1004']);
    expect(await listed('resultsPerPage=2&page=3')).toEqual([5, '1001']);
    expect(await listed('resultsPerPage=2&page=4')).toEqual([5]);
    expect(await listed('resultsPerPage=2&page=2147483647')).toEqual([5]);
    expect((await get('/orders?resultsPerPage=1000')).resultsPerPage).toBe(100);
  });

  test('is filtered by ten states, set or not', async () => {
    const { orderId } = await placed({}, {}, new Date(NOW.getTime() - 1));
    await placed({});
    for (const state of FILTERS) {
      expect([state, await listed(`${state}=true`)]).toEqual([state, [0]]);
      await patched(orderId, add(`/${state}`, '2026-11-15'));
      expect([state, await listed(`${state}=true`)]).toEqual([state, [1, '1001']]);
      expect([state, await listed(`${state}=false`)]).toEqual([state, [1, '1002']]);
    }
    expect(await listed(FILTERS.map((state) => `${state}=true`).join('&'))).toEqual([1, '1001']);
    expect(await listed('viewedOn=true&paidOn=false')).toEqual([0]);
    for (const state of STATES.filter((one) => !FILTERS.includes(one))) {
      expect(await listed(`${state}=true`)).toEqual([2, '1002', '1001']);
    }
    expect((await call('GET', '/orders?viewedOn=perhaps')).status).toBe(400);
  });

  test('is filtered by a window of at most a year, whose ends do not count', async () => {
    await placed({}, {}, new Date('2026-11-13T23:59:59.999Z'));
    await placed({}, {}, new Date('2026-11-14T00:00:00Z'));
    await placed({}, {}, new Date('2026-11-14T12:00:00Z'));
    await placed({}, {}, new Date('2026-11-15T00:00:00Z'));
    expect(await listed('createdAfter=2026-11-14&createdBefore=2026-11-15')).toEqual([1, '1003']);
    expect(await listed('createdAfter=2026-11-13T23:59:59.998Z&createdBefore=2026-11-14T12:00:00')).toEqual([
      2,
      '1002',
      '1001',
    ]);
    expect(await listed('createdAfter=2026-11-14T11:00:00%2B01:00')).toEqual([2, '1004', '1003']);
    expect(await listed('createdBefore=2026-11-14T00:00:00.001Z')).toEqual([2, '1002', '1001']);
    expect(await listed('createdAfter=2026-11-15&createdBefore=2026-11-14')).toEqual([0]);
    expect(await listed('createdAfter=2025-11-15&createdBefore=2026-11-15')).toEqual([
      3,
      '1003',
      '1002',
      '1001',
    ]);
    expect(
      await reasonOf(call('GET', '/orders?createdAfter=2025-11-15&createdBefore=2026-11-15T00:00:01Z')),
    ).toEqual([400, 'createdAfter and createdBefore must not be more than a year apart']);
    for (const name of ['createdAfter', 'createdBefore', 'updatedFrom']) {
      for (const value of ['yesterday', '2026-02-30', '', '1e9']) {
        expect(await reasonOf(call('GET', `/orders?${name}=${value}`))).toEqual([
          400,
          `List orders failed:\n\tvalidation error WRONG_FORMAT on field ${name}`,
        ]);
      }
    }
  });

  test('is filtered by customer, product and currency', async () => {
    const lamp = await givenProduct(shop);
    await changeSettings(shop, {
      currencies: { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP: 0.5 } },
    });
    const first = await placed({ [knife]: 1, [lamp]: 2 }, {}, new Date(NOW.getTime() - 1));
    await placed({ [lamp]: 1 }, { currency: 'GBP', address: { emailAddress: 'ben@mail.example' } });
    expect(await listed(`customerId=${first.customerId.toLowerCase()}`)).toEqual([1, '1001']);
    expect(await listed(`productId=${lamp}`)).toEqual([2, '1002', '1001']);
    expect(await listed(`productId=${knife}&customerId=${first.customerId}`)).toEqual([1, '1001']);
    expect(await listed(`productId=${lamp}&currency=gbp`)).toEqual([1, '1002']);
    expect(await listed(`productId=${lamp}&viewedOn=true`)).toEqual([0]);
    expect(await listed('currency=GBP')).toEqual([1, '1002']);
    expect(await listed('currency=EUR&viewedOn=false')).toEqual([1, '1001']);
    for (const search of [
      'currency=XXX',
      'currency=nonsense',
      'customerId=nonsense',
      `productId=${newId(NOW)}`,
    ]) {
      expect([search, await listed(search)]).toEqual([search, [0]]);
    }
    expect((await call('GET', '/orders?customerId=nonsense&locale=de')).status).toBe(400);
  });

  test('updatedFrom finds what was changed since', async () => {
    const { orderId } = await placed({}, {}, new Date(NOW.getTime() - 3 * DAY));
    const other = await placed({}, {}, new Date(NOW.getTime() - DAY));
    const since = 'updatedFrom=2026-11-14T08:30:00Z';
    expect(await listed(since)).toEqual([0]);
    await patched(
      orderId,
      add('/viewedOn', '2026-11-15'),
      add('/internalNote', 'x'),
      add('/orderNumber', 'O/7'),
    );
    expect(await listed(since)).toEqual([0]);
    await patched(orderId, add('/shippingAddress', ADA));
    expect(await listed(since)).toEqual([1, '7']);
    await patched(other.orderId, add('/billingAddress', ADA));
    expect(await listed(since)).toEqual([2, '1002', '7']);
    expect(await listed(`${since}&lastUpdated=true`)).toHaveLength(3);
    expect(await listed(`${since}&viewedOn=true`)).toEqual([1, '7']);
    expect(await listed(`${since}&resultsPerPage=1&page=2`)).toEqual([2, '7']);
    expect(await listed('updatedFrom=2026-11-16')).toEqual([0]);
  });
});

describe('a patch', () => {
  test('sets number, notes and addresses; what can only be added can not be removed', async () => {
    const { orderId } = await placed();
    const order = await patched(
      orderId,
      add('/orderNumber', 'K-1'),
      add('/customerComment', 'Ring twice'),
      { op: 'replace', path: '/internalNote', value: 'pays late' },
      add('/billingAddress', { ...ADA, zipCode: 20457, gender: 'female' }),
      add('/shippingAddress', { country: 'at', city: 'Graz' }),
    );
    expect(order).toMatchObject({
      orderNumber: 'K-1',
      customerComment: 'Ring twice',
      internalNote: 'pays late',
      billingAddress: { ...NOTHING, ...ADA, gender: 'FEMALE' },
      shippingAddress: { ...NOTHING, country: 'AT', city: 'Graz' },
    });
    expect(await get(`/orders/${orderId}`)).toEqual(order);
    expect(await patched(orderId, remove('/customerComment'), add('/internalNote', null))).toMatchObject({
      customerComment: null,
      internalNote: null,
    });
    for (const path of ['/orderNumber', '/billingAddress', '/shippingAddress', '/payment']) {
      expect(await refusal(service, () => patch(orderId, remove(path)))).toEqual([
        400,
        wrong('WRONG_OPERATION', `[0] ${path}`),
      ]);
    }
  });

  test('sets and clears each of the fifteen states, one by one and all at once', async () => {
    const { orderId } = await placed();
    for (const state of STATES) {
      const order = await patched(orderId, add(`/${state}`, '2026-11-15T10:00:00.5'));
      expect([state, order[state]]).toEqual([state, '2026-11-15T10:00:00.500Z']);
    }
    const all = await get(`/orders/${orderId}`);
    expect(STATES.map((state) => all[state])).toEqual(STATES.map(() => '2026-11-15T10:00:00.500Z'));
    const none = await patched(orderId, ...STATES.map((state) => remove(`/${state}`)));
    expect(STATES.map((state) => none[state])).toEqual(STATES.map(() => null));
    expect(none.lastUpdatedOnDate).toBeNull();
  });

  test('moves lastUpdatedOnDate with addresses and payment only', async () => {
    const { orderId } = await placed();
    const later = new Date(NOW.getTime() + DAY);
    service.setClock(later);
    const calm = await patched(
      orderId,
      add('/customerComment', 'a'),
      add('/internalNote', 'b'),
      add('/orderNumber', 'c'),
      ...STATES.map((state) => add(`/${state}`, '2026-11-15')),
    );
    expect(calm.lastUpdatedOnDate).toBeNull();
    for (const [hours, change] of [
      [1, add('/billingAddress', ADA)],
      [2, add('/shippingAddress', ADA)],
      [3, add('/payment', 'Cash')],
    ] as const) {
      const now = new Date(later.getTime() + hours * 3_600_000);
      service.setClock(now);
      expect((await patched(orderId, change)).lastUpdatedOnDate).toBe(now.toISOString());
    }
  });

  test('a payment by hand has no attributes, costs nothing and is not shown', async () => {
    await changeSettings(shop, {
      paymentMethods: [{ key: 'later', name: 'Pay later', price: 3, provider: 'Later AG' }],
    });
    const before = await placed({ [knife]: 2 });
    expect([before.grandTotal, before.totalTax, before.paymentData.price.amount]).toEqual([
      '47.98',
      '7.66',
      3,
    ]);
    const after = await patched(before.orderId, add('/payment', 'Cash in the shop'));
    expect(after.paymentData).toEqual({
      paymentMethod: null,
      transactionId: null,
      price: price(0),
      status: null,
      taxes: null,
    });
    expect([after.grandTotal, after.totalBeforeTax, after.totalTax]).toEqual(['44.98', '37.8', '7.18']);
    expect(after.lineItemContainer).toEqual({
      ...before.lineItemContainer,
      grandTotal: price(44.98),
      totalBeforeTax: price(37.8, 'NET'),
      totalTax: price(7.18, 'NONE'),
    });
    expect(await get(`/orders/${before.orderId}`)).toEqual(after);
    expect(JSON.stringify(after)).not.toContain('Cash');
    const { salesPerCurrency } = await get('/sales?createdAfter=2026-11-01');
    expect(salesPerCurrency[0].totalGrossRevenue).toBe(44.98);
  });

  test('a discount for the payment is gone from every rate with it', async () => {
    await changeSettings(shop, {
      taxClasses: [
        { key: 'standard', name: 'Standard', default: true, rates: { DE: 19 } },
        { key: 'reduced', name: 'Reduced', rates: { DE: 7 } },
      ],
      paymentMethods: [{ key: 'advance', name: 'In advance', price: -2 }],
    });
    const book = await givenProduct(shop, { price: 1070, taxClass: 'reduced' });
    const before = await placed({ [knife]: 1, [book]: 1 });
    expect([before.grandTotal, before.paymentData.price.amount]).toEqual(['33.69', -2]);
    const after = await patched(before.orderId, add('/payment', 'Cash'));
    // 24.99 hold 3.99 at 19 %, 10.70 hold 0.70 at 7 %.
    expect([after.grandTotal, after.totalBeforeTax, after.totalTax]).toEqual(['35.69', '31', '4.69']);
  });

  test('an order that is being edited is left alone by everybody', async () => {
    const { orderId } = await placed();
    await service.db.run(sql`
      update customer_order set editing_app_id = (select app_id from app where shop_id = ${shop.shopId} limit 1),
        editing_since = ${NOW}
      where order_id = ${orderId}`);
    for (const token of [shop.token, await givenToken(service, shop.shopId)]) {
      const path = `/${shop.shopId}/orders/${orderId}`;
      const body = [add('/viewedOn', '2026-11-15')];
      expect(await refusal(service, () => service.call('PATCH', path, { token, body }))).toEqual([
        409,
        'The order is being edited',
      ]);
    }
  });

  test('of an address without a country keeps the country it had', async () => {
    const { orderId } = await placed();
    // What a client sends that corrects a name and an email address.
    const corrected = { firstName: 'Ada', lastName: 'Byron', emailAddress: 'ada.byron@mail.example' };
    expect(await patched(orderId, add('/billingAddress', corrected))).toMatchObject({
      billingAddress: { ...NOTHING, ...corrected, country: 'DE' },
    });
    // Until now the goods went to the billing address.
    expect(await patched(orderId, add('/shippingAddress', { city: 'Kiel' }))).toMatchObject({
      shippingAddress: { ...NOTHING, city: 'Kiel', country: 'DE' },
    });
    await patched(orderId, add('/shippingAddress', { city: 'Graz', country: 'AT' }));
    for (const country of [undefined, null, '']) {
      expect(await patched(orderId, add('/shippingAddress', { city: 'Wien', country }))).toMatchObject({
        shippingAddress: { ...NOTHING, city: 'Wien', country: 'AT' },
        billingAddress: { country: 'DE' },
      });
    }
    expect(
      await patched(
        orderId,
        add('/billingAddress', { ...corrected, country: 'FR' }),
        add('/billingAddress', corrected),
      ),
    ).toMatchObject({ billingAddress: { ...NOTHING, ...corrected, country: 'FR' } });
  });

  test('is all or nothing, and names the first bad entry', async () => {
    const { orderId } = await placed();
    const good = [add('/viewedOn', '2026-11-15'), add('/payment', 'Cash')];
    for (const [bad, code, field] of [
      [add('/grandTotal', 1), 'UNKNOWN_PATH', '[2] /grandTotal'],
      [add('/paidOn', 'tomorrow'), 'WRONG_FORMAT', '[2] /paidOn'],
      [add('/paidOn', 5), 'WRONG_TYPE', '[2] /paidOn'],
      [{ op: 'add', path: '/paidOn' }, 'MISSING', '[2] /paidOn.value'],
      [add('/orderNumber', ''), 'STRING_EMPTY', '[2] /orderNumber'],
      [add('/billingAddress', { country: 'DE' }), 'STRING_EMPTY', '[2] /billingAddress.emailAddress'],
      [add('/shippingAddress', { country: 'XX' }), 'UNKNOWN_VALUE', '[2] /shippingAddress.country'],
      [add('/shippingAddress', null), 'WRONG_TYPE', '[2] /shippingAddress'],
      [add('/payment', null), 'WRONG_TYPE', '[2] /payment'],
    ] as const) {
      expect(await refusal(service, () => patch(orderId, ...good, bad))).toEqual([400, wrong(code, field)]);
    }
    for (const body of [[[add('/viewedOn', '2026-11-15')]], {}, [], [{}]]) {
      const { status } = await changesNothing(service, () => call('PATCH', `/orders/${orderId}`, body));
      expect(status).toBe(400);
    }
    expect(await refusal(service, () => patch(newId(NOW), ...good))).toEqual([404, 'HTTP 404 Not Found']);
  });

  test('demands of a billing address what the shop demands', async () => {
    const { orderId } = await placed();
    await changeSettings(shop, { mandatoryAddressFields: ['phoneNumber'] });
    expect(await refusal(service, () => patch(orderId, add('/billingAddress', ADA)))).toEqual([
      400,
      wrong('STRING_EMPTY', '[0] /billingAddress.phoneNumber'),
    ]);
  });

  test('gives no number twice', async () => {
    const first = await placed({});
    const second = await placed({});
    const twice = add('/orderNumber', first.orderNumber);
    expect(
      await refusal(service, () => patch(second.orderId, add('/viewedOn', '2026-11-15'), twice)),
    ).toEqual([409, 'This orderNumber is taken']);
    expect((await patched(first.orderId, twice)).orderNumber).toBe(first.orderNumber);
  });

  test('is remembered by its paths, without what was written', async () => {
    const { orderId } = await placed();
    await patched(
      orderId,
      add('/internalNote', 'secret'),
      add('/viewedOn', '2026-11-15'),
      remove('/viewedOn'),
    );
    expect(await events(orderId)).toEqual([
      { kind: 'patched', details: { paths: ['/internalNote', '/viewedOn'] } },
    ]);
  });
});

test('the demo shop: a patched order keeps what it was ordered with', async () => {
  const demo = await givenDemoShop(service);
  const cart = await givenFullCart(demo, { 'KN-101': 1, 'KN-120': 1 }, { locale: 'de_DE' });
  await done(cart, 'PUT', '/shipping-data', { id: await shippingId(demo, 'standard') });
  await done(cart, 'PUT', '/payment-data', { id: await paymentId(demo, 'paylater') });
  const order = await done(cart, 'POST', '/order');
  const { body } = await service.call('PATCH', `/DemoShop/orders/${order.orderId}?locale=de_DE`, {
    token: demo.token,
    body: [add('/internalNote', 'Danke')],
  });
  expect(body).toEqual({ ...order, internalNote: 'Danke' });
});
