import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  changesNothing,
  changeSettings,
  done,
  givenCart,
  givenCoupon,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  linesOf,
  NO_TOKEN,
  NOW,
  on,
  paymentId,
  price,
  problem,
  reasonOf,
  refusal,
  shippingId,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { ADDRESS_FIELDS } from '../shops/countries/address.ts';
import { newId } from '../kernel/ids.ts';
import { sql } from '../db/sql.ts';
import type { Content } from '../pricing/content.ts';
import { revised } from '../orders/revision.ts';
import type { SettingsFile } from '../shops/settings/schema.ts';
import type { Buyer, VatCheck } from '../shops/vat-numbers/buyer.ts';
import { MINIMUM_CART_CODES, type MinimumCartCode } from '../shops/settings/settings.ts';

let service: Service;
let demo: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  demo = await givenDemoShop(service);
});
afterAll(() => service.close());

const NOTHING = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
const add = (cart: GivenCart, number: string, quantity = 1) =>
  done(cart, 'POST', '/line-items', { productId: demo.ids[number], quantity });
const ship = async (cart: GivenCart, key: string, priceAmount?: unknown) =>
  done(cart, 'PUT', '/shipping-data', { id: await shippingId(cart.shop, key), priceAmount });

describe.each([
  ['billing-address', 'billingAddress', ['country', 'emailAddress']],
  ['shipping-address', 'shippingAddress', ['country']],
] as const)('the %s', (path, key, required) => {
  const put = (cart: GivenCart, body: unknown) => on(cart, 'PUT', `/${path}`, body);
  const least = Object.fromEntries(required.map((field) => [field, ADA[field]]));

  test('is answered with all 34 keys in their order', async () => {
    const cart = await givenCart(demo);
    const { status, body } = await on(cart, 'PUT', `/${path}`, least, { token: NO_TOKEN });
    expect(status).toBe(200);
    expect(Object.entries(body[key])).toEqual(ADDRESS_FIELDS.map((field) => [field, least[field] ?? null]));
    expect(Object.keys(body[key])).toHaveLength(34);
    expect(await done(cart, 'GET')).toEqual(body);
    const other = key === 'billingAddress' ? 'shippingAddress' : 'billingAddress';
    expect(body[other]).toBeNull();
  });

  test('keeps 34 texts, and is replaced as a whole', async () => {
    const cart = await givenCart(demo);
    const address = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, `the ${field}`.slice(0, 16)]));
    Object.assign(address, {
      country: 'GB',
      gender: 'FEMALE',
      birthday: '1984-02-29',
      emailAddress: 'ada@pelican.example',
      company: 'ä "quoted" \\ 💐 <b>',
    });
    expect((await put(cart, address)).body[key]).toEqual(address);
    expect((await put(cart, ADA)).body[key]).toEqual({ ...NOTHING, ...ADA });
    expect((await put(cart, address)).body[key]).toEqual(address);
  });

  test('takes what clients send: a postcode as a number, nulls, any case, unknown keys', async () => {
    const cart = await givenCart(demo);
    const sent = { ...NOTHING, ...ADA, zipCode: 20457, country: 'de', gender: 'male', colour: 'blue' };
    expect((await put(cart, sent)).body[key]).toEqual({
      ...NOTHING,
      ...ADA,
      zipCode: '20457',
      gender: 'MALE',
    });
  });

  test('lacks nothing that is needed, else it is refused and nothing changes', async () => {
    const cart = await givenCart(demo);
    await put(cart, ADA);
    const empty = required.map((field) => `\n\tvalidation error STRING_EMPTY on field ${field}`).join('');
    await changesNothing(service, async () => {
      const refused: [unknown, string][] = [
        [undefined, problem('WRONG_TYPE', 'body')],
        [[], problem('WRONG_TYPE', 'body')],
        [{}, `Update cart failed:${empty}`],
        [{ firstName: 'Ada' }, `Update cart failed:${empty}`],
        [{ ...ADA, country: null }, problem('STRING_EMPTY', 'country')],
        [{ ...ADA, country: '' }, problem('STRING_EMPTY', 'country')],
        [{ ...ADA, country: 'XX' }, problem('UNKNOWN_VALUE', 'country')],
        [{ ...ADA, country: 'Germany' }, problem('TOO_LONG', 'country')],
        [{ ...ADA, country: 276 }, problem('WRONG_TYPE', 'country')],
        [{ ...ADA, emailAddress: 'nobody' }, problem('WRONG_FORMAT', 'emailAddress')],
        [{ ...ADA, birthday: '1985-02-29' }, problem('WRONG_FORMAT', 'birthday')],
        [{ ...ADA, firstName: 'x'.repeat(256) }, problem('TOO_LONG', 'firstName')],
      ];
      for (const [body, text] of refused) expect(await reasonOf(put(cart, body))).toEqual([400, text]);
    });
  });

  test('can be taken away, and again', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    await put(cart, { ...ADA, country: 'GB' });
    for (let times = 1; times <= 2; times++) {
      const { status, body } = await on(cart, 'DELETE', `/${path}`);
      expect(status).toBe(200);
      expect(body).toEqual(cart.body);
    }
  });
});

describe('fields that the shop demands', () => {
  test('must be in the billing address', async () => {
    const shop = await givenSmallShop(service, { mandatoryAddressFields: ['phoneNumber', 'lastName'] });
    const cart = await givenCart(shop);
    const put = (body: object) => refusal(service, () => on(cart, 'PUT', '/billing-address', body));
    expect(await put(ADA)).toEqual([
      400,
      'Update cart failed:\n\tvalidation error STRING_EMPTY on field phoneNumber',
    ]);
    expect(await put({ ...ADA, phoneNumber: '' })).toEqual([400, problem('STRING_EMPTY', 'phoneNumber')]);
    expect(await put({ country: 'DE', emailAddress: 'a@b.example' })).toEqual([
      400,
      `${problem('STRING_EMPTY', 'lastName')}\n\tvalidation error STRING_EMPTY on field phoneNumber`,
    ]);
    const { status, body } = await on(cart, 'PUT', '/billing-address', {});
    expect([status, body.message]).toEqual([
      400,
      `Update cart failed:\n\tvalidation error STRING_EMPTY on field lastName` +
        `\n\tvalidation error STRING_EMPTY on field country` +
        `\n\tvalidation error STRING_EMPTY on field emailAddress` +
        `\n\tvalidation error STRING_EMPTY on field phoneNumber` +
        `, Request: PUT /rs/shops/${shop.shopId}/carts/${cart.id}/billing-address`,
    ]);
    await done(cart, 'PUT', '/billing-address', { ...ADA, phoneNumber: '040 1' });
    await done(cart, 'PUT', '/shipping-address', { country: 'DE' });
  });

  test('are not asked for again when the order is placed', async () => {
    const shop = await givenSmallShop(service);
    const cart = await givenFullCart(shop, { [await givenProduct(shop)]: 1 });
    await changeSettings(shop, { mandatoryAddressFields: ['phoneNumber'] });
    expect((await on(cart, 'POST', '/order')).status).toBe(201);
  });
});

describe('the delivery', () => {
  test('is one of the shop’s methods, at its price', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const id = await shippingId(demo, 'express');
    const { status, body } = await on(cart, 'PUT', '/shipping-data', { id });
    expect(status).toBe(200);
    expect(body.shippingData).toEqual({
      shippingMethod: { id, name: 'Express delivery' },
      price: price(12),
      taxes: [{ taxClass: expect.objectContaining({ percentage: 19 }), price: price(1.92, 'NONE') }],
    });
    expect(totalsOf(body)).toMatchObject({ subtotal: 64, shipping: 12, total: 76 });
    expect(body.links[1]).toEqual({
      rel: 'shipping-method',
      href: `http://localhost:80/rs/shops/DemoShop/shipping-methods/${id}`,
    });
    expect(await done(cart, 'GET')).toEqual(body);
  });

  test('may have a price of its own, until a method is chosen without one', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const body = await ship(cart, 'express', 3.95);
    expect(body.shippingData.price).toEqual(price(3.95));
    expect(body.shippingData.taxes[0].price).toEqual(price(0.63, 'NONE'));
    expect(totalsOf(body)).toMatchObject({ shipping: 3.95, total: 67.95 });
    expect(totalsOf(await add(cart, 'KN-101'))).toMatchObject({ subtotal: 128, shipping: 3.95 });
    expect(totalsOf(await ship(cart, 'express', '0')).shipping).toBe(0);
    expect(totalsOf(await ship(cart, 'standard', null)).shipping).toBe(7.74);
  });

  test('what is no possible method, or no price, is refused and nothing changes', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const crate = await givenCart(demo, { 'DR-110': 1 });
    const id = await shippingId(demo, 'express');
    const other = await givenSmallShop(service, {
      shippingMethods: [{ key: 'post', name: 'Post', kind: 'flat', price: 5 }],
    });
    const foreign = await shippingId(other, 'post');
    const send = (body: unknown, to = cart) => reasonOf(on(to, 'PUT', '/shipping-data', body));
    await changesNothing(service, async () => {
      for (const unknown of [newId(NOW), foreign, 'express', '']) {
        expect(await send({ id: unknown })).toEqual([400, problem('UNKNOWN_VALUE', 'id')]);
      }
      expect(await send({ id }, crate)).toEqual([
        400,
        'Not all goods of the cart can be delivered by this shipping method',
      ]);
      expect(await send({})).toEqual([400, problem('MISSING', 'id')]);
      expect(await send({ id: null })).toEqual([400, problem('WRONG_TYPE', 'id')]);
      expect(await send(undefined)).toEqual([400, problem('WRONG_TYPE', 'body')]);
      expect(await send({ id, priceAmount: -1 })).toEqual([400, problem('OUT_OF_RANGE', 'priceAmount')]);
      expect(await send({ id, priceAmount: 'x' })).toEqual([400, problem('WRONG_FORMAT', 'priceAmount')]);
      expect(await send({ id, priceAmount: 1e12 })).toEqual([400, problem('OUT_OF_RANGE', 'priceAmount')]);
    });
  });

  test('is known by an id in lower case', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const id = await shippingId(demo, 'express');
    const body = await done(cart, 'PUT', '/shipping-data', { id: id.toLowerCase() });
    expect(body.shippingData.shippingMethod.id).toBe(id);
  });

  test('can be chosen before there is anything to deliver', async () => {
    const cart = await givenCart(demo);
    expect((await ship(cart, 'express')).shippingData).toBeNull();
    expect((await add(cart, 'KN-101')).shippingData.shippingMethod.name).toBe('Express delivery');
  });

  test('must be possible for all goods; else the first that is takes its place', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    await ship(cart, 'express', 3.95);
    const body = await add(cart, 'DR-110');
    expect(body.cartValidation.possibleShippingMethods).toEqual(['Customer pickup', 'Freight']);
    expect(body.shippingData.shippingMethod.name).toBe('Customer pickup');
    expect(totalsOf(body).shipping).toBe(0);
    expect(totalsOf(await ship(cart, 'freight')).shipping).toBe(49);
    const [, crate] = body.lineItemContainer.productLineItems;
    const without = await done(cart, 'DELETE', `/line-items/${crate.lineItemId}`);
    expect(without.shippingData.shippingMethod.name).toBe('Freight');
    expect(without.cartValidation.possibleShippingMethods).toHaveLength(4);
  });

  test('a price that was set by hand belongs to its method', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    await ship(cart, 'express', 3.95);
    const { lineItemContainer } = await add(cart, 'DR-110');
    const [, crate] = lineItemContainer.productLineItems;
    const body = await done(cart, 'DELETE', `/line-items/${crate.lineItemId}`);
    expect(body.shippingData).toMatchObject({
      shippingMethod: { name: 'Express delivery' },
      price: price(3.95),
    });
  });

  test('goods that are restricted to different methods have none in common, and no order', async () => {
    const shop = await givenSmallShop(service, {
      shippingMethods: [
        { key: 'post', name: 'Post', kind: 'flat', price: 5 },
        { key: 'cart', name: 'Cart', kind: 'flat', price: 9 },
      ],
    });
    const only = async (key: string) =>
      givenProduct(shop, { facts: { shippingMethodIds: [await shippingId(shop, key)] } });
    const cart = await givenFullCart(shop, { [await only('post')]: 1, [await only('cart')]: 1 });
    const body = await done(cart, 'GET');
    expect(body.cartValidation.possibleShippingMethods).toEqual([]);
    expect(body.shippingData).toBeNull();
    expect(totalsOf(body)).toMatchObject({ shipping: 0, total: 20 });
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual([
      400,
      'There is no shipping method that all goods of the cart can be delivered by',
    ]);
  });

  test('there is none for what is not shipped', async () => {
    const cart = await givenCart(demo, { 'BK-100': 1, 'BK-120': 1 });
    expect(cart.body).toMatchObject({ shippingData: null, cartValidation: { possibleShippingMethods: [] } });
    expect(cart.body.paymentData).not.toBeNull();
    expect(cart.body.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'add-coupon']);
    expect(totalsOf(cart.body)).toEqual({
      subtotal: 24.89,
      discount: 0,
      coupon: 0,
      shipping: 0,
      payment: 0,
      total: 24.89,
      beforeTax: 21.86,
      tax: 3.03,
    });
    // With something to ship there is one, for its weight alone.
    expect(totalsOf(await add(cart, 'KN-101'))).toMatchObject({ subtotal: 88.89, shipping: 7.37 });
  });

  test('needs the scope and the cart token', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const body = { id: await shippingId(demo, 'express'), name: 'Cash' };
    for (const path of ['/shipping-data', '/payment-data']) {
      const put = (token: string, cartToken = cart.token) =>
        refusal(service, () => on({ ...cart, token: cartToken }, 'PUT', path, body, { token }));
      expect(await put(NO_TOKEN)).toEqual([401, 'A token is needed']);
      expect(await put('demo-read')).toEqual([403, 'The token lacks the scope carts_price_write']);
      expect((await put('demo-pricing', 'x'))[0]).toBe(403);
    }
    expect((await on(cart, 'PUT', '/shipping-data', body, { token: 'demo-pricing' })).status).toBe(200);
  });
});

describe('the zones of shipping methods', () => {
  let shop: Shop;
  let lamp: string;
  let wardrobe: string;
  beforeAll(async () => {
    shop = await givenSmallShop(service, {
      countries: { default: 'DE', items: ['DE', 'FR', 'ES', 'GB', 'CH'] },
      shippingMethods: [
        {
          key: 'express',
          name: 'Express',
          kind: 'flat',
          zones: [{ countries: ['DE', 'FR'], price: 19.9 }],
        },
        {
          key: 'parcel',
          name: 'Parcel',
          kind: 'flat',
          zones: [
            { countries: ['DE'], price: 4.9, freeFrom: 50, maxWeight: 31.5 },
            { countries: ['ES', 'GB'], price: 14.9 },
            { countries: ['ES'], postcodes: ['35000-35999', '38*'], price: 39.9 },
            { countries: ['GB'], postcodes: ['BT*'], weights: [{ upTo: 2, price: 24.9 }] },
          ],
        },
      ],
    });
    lamp = await givenProduct(shop, { facts: { deliveryWeight: { amount: 1.5, unit: 'kilogram' } } });
    wardrobe = await givenProduct(shop, {
      facts: { deliveryWeight: { amount: 20, unit: 'kilogram' }, shippingSurcharge: { EUR: 2500 } },
    });
  });
  const live = (cart: GivenCart, country: string, zipCode: string | null = null) =>
    on(cart, 'PUT', '/shipping-address', { country, zipCode });
  const offered = ({ body }: Answer) => [
    body.cartValidation.possibleShippingMethods,
    body.shippingData?.price.amount ?? null,
  ];

  test('decide what is offered at an address, and for how much', async () => {
    const cart = await givenCart(shop, { [lamp]: 1 });
    await done(cart, 'PUT', '/shipping-data', { id: await shippingId(shop, 'parcel') });
    // Without an address, as at home.
    expect(offered(await on(cart, 'GET', ''))).toEqual([['Express', 'Parcel'], 4.9]);
    for (const [country, zipCode, methods, cost] of [
      ['DE', '20457', ['Express', 'Parcel'], 4.9],
      ['ES', '28001', ['Parcel'], 14.9],
      ['ES', '35001', ['Parcel'], 39.9],
      ['ES', '38001', ['Parcel'], 39.9],
      ['ES', null, ['Parcel'], 14.9],
      ['GB', 'SW1A 1AA', ['Parcel'], 14.9],
      ['GB', 'BT1 1AA', ['Parcel'], 24.9],
    ] as const) {
      const answer = await live(cart, country, zipCode);
      expect([country, zipCode, ...offered(answer)]).toEqual([country, zipCode, methods, cost]);
      expect(answer.headers['x-warning']).toBeUndefined();
    }
    // Four lamps weigh more than what goes to Northern Ireland.
    const heavy = await done(cart, 'POST', '/line-items', { productId: lamp, quantity: 3 });
    expect([heavy.cartValidation.possibleShippingMethods, heavy.shippingData]).toEqual([[], null]);
    // Without a delivery address, the billing address counts.
    await done(cart, 'DELETE', '/shipping-address');
    const billed = await on(cart, 'PUT', '/billing-address', { ...ADA, country: 'ES', zipCode: '38001' });
    expect(offered(billed)).toEqual([['Parcel'], 39.9]);
  });

  test('a chosen method that does not deliver to the new address is no longer chosen, which is said', async () => {
    const cart = await givenFullCart(shop, { [lamp]: 1 });
    const id = await shippingId(shop, 'parcel');
    await done(cart, 'PUT', '/shipping-data', { id });
    const moved = await live(cart, 'FR', '75001');
    expect([moved.status, ...offered(moved)]).toEqual([200, ['Express'], 19.9]);
    const warning =
      'SHIPPING_METHOD_ELSEWHERE: The chosen shipping method does not deliver to this address, choose another one';
    expect(moved.headers['x-warning']).toBe(warning);
    expect((await on(cart, 'GET', '')).headers['x-warning']).toBe(warning);
    // The dearer method is never ordered in its place.
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual([
      400,
      'The chosen shipping method does not deliver to this address, choose another one',
    ]);
    expect(await refusal(service, () => on(cart, 'PUT', '/shipping-data', { id }))).toEqual([
      400,
      'The chosen shipping method does not deliver to this address, choose another one',
    ]);
    const chosen = await on(cart, 'PUT', '/shipping-data', { id: await shippingId(shop, 'express') });
    expect(chosen.headers['x-warning']).toBeUndefined();
    const { body: order } = await on(cart, 'POST', '/order');
    expect(order.shippingData).toMatchObject({
      shippingMethod: { name: 'Express' },
      price: { amount: 19.9 },
    });
  });

  test('an address that no method delivers to is said, and not ordered', async () => {
    const cart = await givenFullCart(shop, { [lamp]: 1 }, { address: { country: 'CH', zipCode: '8001' } });
    const answer = await on(cart, 'GET', '');
    expect(offered(answer)).toEqual([[], null]);
    const text = 'Address undeliverable: no shipping method of the shop delivers these goods to this address';
    expect(answer.headers['x-warning']).toBe(`ADDRESS_UNDELIVERABLE: ${text}`);
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual([400, text]);
    const there = await live(cart, 'DE', '20457');
    expect([offered(there), there.headers['x-warning']]).toEqual([[['Express', 'Parcel'], 19.9], undefined]);
    expect((await on(cart, 'POST', '/order')).status).toBe(201);
  });

  test('bulky goods cost more for each of them, also where the delivery is free', async () => {
    const cart = await givenFullCart(shop, { [wardrobe]: 1 });
    await done(cart, 'PUT', '/shipping-data', { id: await shippingId(shop, 'parcel') });
    expect(totalsOf(await done(cart, 'GET'))).toMatchObject({ subtotal: 10, shipping: 29.9 });
    // Two are heavier than what the parcel carries to Germany.
    const [line] = cart.body.lineItemContainer.productLineItems;
    const two = await on(cart, 'PUT', `/line-items/${line.lineItemId}`, { quantity: 2 });
    expect([...offered(two), two.headers['x-warning']]).toEqual([
      ['Express'],
      69.9,
      expect.stringMatching(/^SHIPPING_METHOD_ELSEWHERE: /),
    ]);
    await done(cart, 'PUT', `/line-items/${line.lineItemId}`, { quantity: 1 });
    const dear = await done(cart, 'PUT', `/line-items/${line.lineItemId}/product-price`, {
      singleItemPrice: 50,
    });
    expect(totalsOf(dear)).toMatchObject({ subtotal: 50, shipping: 25 });
  });
});

describe('the payment', () => {
  test('by hand has no method and no transaction, and its name is not told', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const { status, body, text } = await on(cart, 'PUT', '/payment-data', {
      name: 'Barter',
      priceAmount: 1.95,
    });
    expect(status).toBe(200);
    expect(body.paymentData).toEqual({
      paymentMethod: null,
      transactionId: null,
      price: price(1.95),
      status: null,
      taxes: null,
    });
    expect(text).not.toContain('Barter');
    // 64.00 + 7.37 + 1.95, with 19 % in it.
    expect(totalsOf(body)).toMatchObject({ payment: 1.95, total: 73.32, tax: 11.71 });
    expect(await done(cart, 'GET')).toEqual(body);
  });

  test('without a price costs nothing', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    await done(cart, 'PUT', '/payment-data', { name: 'Barter', priceAmount: '2' });
    for (const priceAmount of [undefined, null, 0]) {
      const body = await done(cart, 'PUT', '/payment-data', { name: 'Barter', priceAmount });
      expect(body.paymentData).toMatchObject({ paymentMethod: null, price: price(0) });
    }
  });

  test('needs a name or a known method, else it is refused and nothing changes', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const other = await givenSmallShop(service);
    const foreign = await paymentId(other, 'advance');
    const put = (body: unknown) => reasonOf(on(cart, 'PUT', '/payment-data', body));
    await changesNothing(service, async () => {
      expect(await put({})).toEqual([400, problem('MISSING', 'name')]);
      expect(await put({ priceAmount: 1 })).toEqual([400, problem('MISSING', 'name')]);
      expect(await put({ name: '' })).toEqual([400, problem('STRING_EMPTY', 'name')]);
      expect(await put({ name: ' ' })).toEqual([400, problem('STRING_EMPTY', 'name')]);
      expect(await put({ name: null })).toEqual([400, problem('STRING_EMPTY', 'name')]);
      expect(await put({ name: 7 })).toEqual([400, problem('WRONG_TYPE', 'name')]);
      expect(await put({ name: 'x'.repeat(256) })).toEqual([400, problem('TOO_LONG', 'name')]);
      expect(await put({ name: 'Cash', priceAmount: 'x' })).toEqual([
        400,
        problem('WRONG_FORMAT', 'priceAmount'),
      ]);
      expect(await put({ name: 'Cash', priceAmount: -1e12 })).toEqual([
        400,
        problem('OUT_OF_RANGE', 'priceAmount'),
      ]);
      for (const id of [newId(NOW), foreign, 'invoice']) {
        expect(await put({ id })).toEqual([400, problem('UNKNOWN_VALUE', 'id')]);
      }
      expect(await put(undefined)).toEqual([400, problem('WRONG_TYPE', 'body')]);
    });
  });

  test('by id is one of the shop’s methods, with what its provider wants to be shown', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    await done(cart, 'PUT', '/payment-data', { name: 'Barter', priceAmount: 4 });
    const invoice = await paymentId(demo, 'invoice');
    const body = await done(cart, 'PUT', '/payment-data', { id: invoice.toLowerCase() });
    expect(body.paymentData).toEqual({
      paymentMethod: { id: invoice, name: 'Invoice', providerName: null, additionalData: null },
      transactionId: null,
      price: price(1.5),
      status: null,
      taxes: [{ taxClass: expect.objectContaining({ percentage: 19 }), price: price(0.24, 'NONE') }],
    });
    expect(totalsOf(body)).toMatchObject({ payment: 1.5, total: 72.87 });
    const later = await done(cart, 'PUT', '/payment-data', { id: await paymentId(demo, 'paylater') });
    expect(later.paymentData.paymentMethod).toMatchObject({
      name: 'Pay later',
      providerName: 'PayLater PLUS',
      additionalData: { InvoiceBankName: 'Harbour Bank', InvoiceBIC: 'BYLADEM1001' },
    });
    expect(later.paymentData.taxes).toBeNull();
  });

  test('by id keeps what the provider says of it, through to the order', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 });
    const id = await paymentId(demo, 'quickpay');
    const said = { transactionId: 'QP-4711', status: 'FAILED' };
    const { paymentData } = await done(cart, 'PUT', '/payment-data', { id, ...said });
    expect(paymentData).toMatchObject({ paymentMethod: { id, providerName: 'QuickPay' }, ...said });
    const nothing = { transactionId: null, status: null };
    const byHand = await done(cart, 'PUT', '/payment-data', { name: 'Cash', ...said });
    expect(byHand.paymentData).toMatchObject({ paymentMethod: null, ...nothing });
    for (const wrong of [{ status: 'PAID' }, { transactionId: '' }, { transactionId: 7 }]) {
      const refused = () => on(cart, 'PUT', '/payment-data', { id, ...wrong });
      expect((await refusal(demo.service, refused))[0]).toBe(400);
    }
    await done(cart, 'PUT', '/payment-data', { id, transactionId: 'QP-4712' });
    const { paymentData: ordered } = await done(cart, 'POST', '/order');
    expect(ordered).toMatchObject({ paymentMethod: { id }, transactionId: 'QP-4712', status: null });
  });

  test('may be a discount, but the total is never below nothing', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const less = await done(cart, 'PUT', '/payment-data', { name: 'Cash', priceAmount: -1.37 });
    expect(totalsOf(less)).toMatchObject({ payment: -1.37, total: 70 });
    const nothing = await done(cart, 'PUT', '/payment-data', { name: 'Gift', priceAmount: '-500' });
    expect(totalsOf(nothing)).toMatchObject({ payment: -71.37, total: 0, beforeTax: 0, tax: 0 });
  });
});

describe('the tax', () => {
  const ratesOf = ({ lineItemContainer, shippingData }: Answer['body']) => [
    ...lineItemContainer.productLineItems.map((line: Answer['body']) => line.taxClass.percentage),
    shippingData.taxes[0].taxClass.percentage,
  ];
  const to = (cart: GivenCart, country: string, path = '/shipping-address') =>
    done(cart, 'PUT', path, { ...ADA, country });

  test('goes by the country of delivery: home, abroad in the EU at the shop’s own rate, none outside', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1, 'TE-100': 1 });
    expect(ratesOf(cart.body)).toEqual([19, 7, 19]);
    const home = totalsOf(cart.body);
    // 64.00 and 7.00 + 1.19 x 0.43 kg at 19 %, 7.20 at 7 %.
    expect(home).toMatchObject({
      subtotal: 71.2,
      shipping: 7.51,
      total: 78.71,
      beforeTax: 66.82,
      tax: 11.89,
    });
    const france = await to(cart, 'FR', '/billing-address');
    expect(ratesOf(france)).toEqual([19, 7, 19]);
    expect(totalsOf(france)).toEqual(home);
    // The delivery address counts before the billing address.
    const britain = await to(cart, 'GB');
    expect(ratesOf(britain)).toEqual([0, 0, 0]);
    expect(totalsOf(britain)).toEqual({ ...home, beforeTax: 78.71, tax: 0 });
    expect(totalsOf(await done(cart, 'DELETE', '/shipping-address'))).toEqual(home);
  });

  test('is that of the country where the class has one', async () => {
    const shop = await givenSmallShop(service, {
      taxClasses: [{ key: 'standard', name: 'standard', default: true, rates: { DE: 19, FR: 20 } }],
    });
    const cart = await givenCart(shop, { [await givenProduct(shop, { price: 12_000 })]: 1 });
    expect(totalsOf(cart.body)).toMatchObject({ total: 120, tax: 19.16 });
    const body = await to(cart, 'FR');
    expect(body.lineItemContainer.productLineItems[0].taxClass.percentage).toBe(20);
    expect(totalsOf(body)).toMatchObject({ total: 120, tax: 20, beforeTax: 100 });
    expect(totalsOf(await to(cart, 'AT')).tax).toBe(19.16);
  });

  test('stays outside the EU when the shop says so', async () => {
    const shop = await givenSmallShop(service, { taxes: { model: 'gross', taxFreeOutsideEu: false } });
    const cart = await givenCart(shop, { [await givenProduct(shop, { price: 11_900 })]: 1 });
    expect(totalsOf(await to(cart, 'GB')).tax).toBe(19);
  });

  test('who picks up pays the tax at home', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    expect(totalsOf(await to(cart, 'GB')).tax).toBe(0);
    const body = await ship(cart, 'pickup');
    expect(totalsOf(body)).toMatchObject({ shipping: 0, total: 64, tax: 10.22, beforeTax: 53.78 });
    expect(ratesOf(body)).toEqual([19, 19]);
  });

  /** 60.00 at 7 % and 40.00 at 19 %, delivered for 5.00. */
  async function givenMixedCart(taxes: Partial<NonNullable<SettingsFile['taxes']>>): Promise<GivenCart> {
    const shop = await givenSmallShop(service, {
      countries: { default: 'DE', items: ['DE', 'FR', 'ES', 'CH'] },
      taxes: { model: 'gross', delivery: 'shares', ...taxes },
      taxClasses: [
        { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
        { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
      ],
      shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 5 }],
    });
    const book = await givenProduct(shop, { price: 6000, taxClass: 'reduced' });
    return givenCart(shop, { [book]: 1, [await givenProduct(shop, { price: 4000 })]: 1 });
  }
  const setVatCheck = ({ id }: GivenCart, result: VatCheck['result']) => {
    const buyer: Buyer = { vatCheck: { vatNumber: 'FR40303265045', result, checkedAt: NOW.toISOString() } };
    return service.db.run(sql`update cart set buyer = ${buyer}, version = version + 1 where cart_id = ${id}`);
  };

  test('of the delivery has the shares of the goods’ rates, the highest or the standard rate', async () => {
    const taxesOf = ({ shippingData }: Answer['body']) =>
      shippingData.taxes.map((tax: Answer['body']) => [tax.taxClass.percentage, tax.price.amount]);
    const cart = await givenMixedCart({});
    // 3.00 of 5.00 at 7 % and 2.00 at 19 %: 63.00 and 42.00 in all.
    expect(taxesOf(cart.body)).toEqual([
      [7, 0.2],
      [19, 0.32],
    ]);
    expect(totalsOf(cart.body)).toMatchObject({ shipping: 5, total: 105, tax: 10.83, beforeTax: 94.17 });
    const net = await givenCart(
      cart.shop,
      {
        [cart.body.lineItemContainer.productLineItems[0].productId]: 1,
        [cart.body.lineItemContainer.productLineItems[1].productId]: 1,
      },
      { taxType: 'NET' },
    );
    // 4.48 before tax; the cent is the rounding of the two rates.
    expect(totalsOf(net.body)).toMatchObject({ shipping: 4.48, beforeTax: 94.16, total: 104.99 });
    const highest = await givenMixedCart({ delivery: 'highest' });
    expect(taxesOf(highest.body)).toEqual([[19, 0.8]]);
    const standard = await givenMixedCart({ delivery: 'standard' });
    expect(totalsOf(standard.body)).toEqual(totalsOf(highest.body));
  });

  test('of the delivery is that of the goods: a download and a service in the cart have no share in it', async () => {
    const cart = await givenMixedCart({});
    await changeSettings(cart.shop, {
      taxClasses: [
        { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
        { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
        { key: 'file', name: 'file', digital: true, rates: { DE: 19 } },
        { key: 'repair', name: 'repair', supply: 'services', rates: { DE: 19 } },
      ],
      paymentMethods: [{ key: 'cod', name: 'On delivery', price: 2.5 }],
    });
    const book = cart.body.lineItemContainer.productLineItems[0].productId;
    const file = await givenProduct(cart.shop, { price: 3000, taxClass: 'file' });
    const repair = await givenProduct(cart.shop, { price: 1000, taxClass: 'repair' });
    const mixed = await givenCart(cart.shop, { [book]: 1, [file]: 1, [repair]: 1 });
    const body = await done(mixed, 'PUT', '/billing-address', ADA);
    const partsOf = (taxes: Answer['body'][]) =>
      taxes.map((tax) => [tax.taxClass.percentage, tax.price.amount]);
    // 5.00 at 7 %; of the 2.50 of the payment, 1.50 at 7 % and 1.00 at 19 %.
    expect(partsOf(body.shippingData.taxes)).toEqual([[7, 0.33]]);
    expect(partsOf(body.paymentData.taxes)).toEqual([
      [7, 0.1],
      [19, 0.16],
    ]);
    // 66.50 at 7 % and 41.00 at 19 %.
    expect(totalsOf(body)).toMatchObject({ total: 107.5, tax: 10.9 });
    const { orderId } = await done(mixed, 'POST', '/order');
    const stored = (await service.db.one<{ content: Content }>(sql`
      select content from customer_order where shop_id = ${cart.shop.shopId} and order_id = ${orderId}`))!;
    expect(revised(stored.content)).toEqual(stored.content);
    // Two downloads more change nothing of the delivery.
    const fileLine = stored.content.lines.find(({ productId }) => productId === file)!;
    const changed = revised(stored.content, {
      changed: { lineItemId: fileLine.lineItemId, quantity: '3' },
    });
    expect(changed.shipping!.taxes).toEqual(stored.content.shipping!.taxes);
    expect(changed.grandTotal).toBe(16_750);
    const only = await givenCart(cart.shop, { [repair]: 1 });
    expect(partsOf(only.body.shippingData.taxes)).toEqual([[19, 0.8]]);
  });

  test('is not charged to a business of another member state, which pays the net price', async () => {
    const cart = await givenMixedCart({});
    await done(cart, 'PUT', '/billing-address', { ...ADA, country: 'FR' });
    await setVatCheck(cart, 'unavailable');
    expect(totalsOf(await to(cart, 'FR'))).toMatchObject({ total: 105, tax: 10.83 });
    await setVatCheck(cart, 'valid');
    const body = await to(cart, 'FR');
    expect(ratesOf(body)).toEqual([0, 0, 0]);
    // As a net customer at home: 56.07 + 33.61 + 4.48.
    expect(totalsOf(body)).toMatchObject({ subtotal: 89.68, shipping: 4.48, total: 94.16, tax: 0 });
    // Goods that stay in the country are taxed, whichever number their buyer has.
    expect(totalsOf(await to(cart, 'DE'))).toMatchObject({ total: 105, tax: 10.83 });
    await to(cart, 'FR');
    const order = await done(cart, 'POST', '/order');
    expect(order.grandTotal).toBe('94.16');
    const stored = await service.db.one<{ content: Content }>(sql`
      select content from customer_order where shop_id = ${cart.shop.shopId}`);
    expect(stored!.content).toMatchObject({
      taxes: [{ rate: 0, treatment: 'intraCommunity', amount: 9416, tax: 0 }],
      lines: [
        { taxClass: { rate: 0, treatment: 'intraCommunity', priceRate: 700 } },
        { taxClass: { rate: 0, treatment: 'intraCommunity', priceRate: 1900 } },
      ],
      deliveryTax: 'shares',
    });
    expect(revised(stored!.content)).toEqual(stored!.content);
  });

  test.each([
    ['the Canary Islands are outside', { specialTerritories: true }, '38001', { total: 105, tax: 0 }],
    [
      'and cost the net price where the shop says so',
      { specialTerritories: true, exportPrices: 'withoutTax' as const },
      '38001',
      { total: 94.16, tax: 0 },
    ],
    ['the mainland is inside', { specialTerritories: true }, '28001', { total: 105, tax: 10.83 }],
    ['a shop that does not tell them apart taxes both', {}, '38001', { total: 105, tax: 10.83 }],
  ])('goes by the postcode in Spain: %s', async (_, taxes, zipCode, totals) => {
    const cart = await givenMixedCart(taxes);
    const body = await done(cart, 'PUT', '/shipping-address', { ...ADA, country: 'ES', zipCode });
    expect(totalsOf(body)).toMatchObject(totals);
  });

  test('is the same in a shop with net prices', async () => {
    const shop = await givenSmallShop(service, { taxes: { model: 'net' } });
    const productId = await givenProduct(shop, { price: 10_000 });
    const net = await givenCart(shop, { [productId]: 1 });
    expect(net.body.lineItemContainer).toMatchObject({
      lineItemsSubTotal: price(100, 'NET'),
      totalBeforeTax: price(100, 'NET'),
      totalTax: price(19, 'NONE'),
      grandTotal: price(119),
    });
    const gross = await givenCart(shop, { [productId]: 1 }, { taxType: 'GROSS' });
    expect(gross.body.lineItemContainer).toMatchObject({
      lineItemsSubTotal: price(119),
      totalTax: price(19, 'NONE'),
      grandTotal: price(119),
    });
  });
});

describe('what the shop offers and demands', () => {
  test('the discounts of the cart are listed, reached or not, and the best one counts', async () => {
    const cart = await givenCart(demo, { 'GI-110': 3 });
    const offers = [
      { absolute: price(10), minimumAmount: price(100), percent: null },
      { absolute: null, minimumAmount: price(250), percent: { percentage: 10, formatted: '10 %' } },
    ];
    const { lineItemId } = cart.body.lineItemContainer.productLineItems[0];
    const discounts: [number, object][] = [
      [3, { links: [] }],
      [4, { name: 'cart discount', lineItemPrice: price(-10), links: [] }],
      [9, { name: 'cart discount', lineItemPrice: price(-10), links: [] }],
      [10, { name: 'cart discount', lineItemPrice: price(-25), links: [] }],
    ];
    for (const [quantity, basketDiscount] of discounts) {
      const body = await done(cart, 'PUT', `/line-items/${lineItemId}`, { quantity });
      expect(body.lineItemContainer.basketDiscount).toEqual(basketDiscount);
      expect(body.potentialBasketDiscounts).toEqual(offers);
    }
  });

  test('they are converted into the currency of the cart', async () => {
    const { body } = await givenCart(demo, { 'GI-110': 4 }, { currency: 'USD' });
    expect(body.potentialBasketDiscounts[0]).toMatchObject({
      absolute: { amount: 11, currency: 'USD', formatted: '11.00 $' },
      minimumAmount: { amount: 110 },
    });
    expect(totalsOf(body)).toMatchObject({ subtotal: 110, discount: -11 });
    expect(body.minimumCart.amount).toMatchObject({ amount: 5.5, currency: 'USD' });
  });

  test('without any the list is empty', async () => {
    const shop = await givenSmallShop(service);
    expect((await givenCart(shop)).body).toMatchObject({
      potentialBasketDiscounts: [],
      minimumCart: { status: true, code: 'SumProduct', amount: null },
    });
  });

  test('below the minimum there is no order', async () => {
    const cart = await givenFullCart(demo, { 'RO-100': 2 });
    expect((await done(cart, 'GET')).minimumCart).toEqual({
      status: false,
      code: 'SumProduct',
      amount: price(5),
    });
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual([
      400,
      'The cart does not reach the minimum of 5.00 €',
    ]);
    expect((await add(cart, 'RO-100', 0.5)).minimumCart.status).toBe(true);
    expect((await on(cart, 'POST', '/order')).status).toBe(201);
  });

  // 50.00 of goods; less a coupon of 5.00; less a discount of 10.00; and 6.00 for the delivery; and 2.00 for the payment.
  const SUMS: Record<MinimumCartCode, number> = {
    SumProduct: 50,
    SumCoupon: 45,
    SumDiscount: 35,
    SumDelivery: 41,
    SumPayment: 43,
  };

  test.each(MINIMUM_CART_CODES)('%s says which sum is compared', async (code) => {
    const shop = await givenSmallShop(service, {
      basketDiscounts: [{ from: 40, absolute: 10 }],
      shippingMethods: [{ key: 'post', name: 'Post', kind: 'flat', price: 6 }],
      paymentMethods: [{ key: 'cash', name: 'Cash', price: 2 }],
    });
    await givenCoupon(shop, 'FIVE', { name: 'FIX', amount: 5 });
    const cart = await givenCart(shop, { [await givenProduct(shop)]: 5 });
    const body = await done(cart, 'POST', '/coupon', { code: 'FIVE' });
    expect(totalsOf(body)).toMatchObject({
      subtotal: 50,
      coupon: -5,
      discount: -10,
      shipping: 6,
      payment: 2,
      total: 43,
    });
    const amount = SUMS[code];
    await changeSettings(shop, { minimumCart: { code, amount } });
    expect((await done(cart, 'GET')).minimumCart).toEqual({ status: true, code, amount: price(amount) });
    await changeSettings(shop, { minimumCart: { code, amount: amount + 0.01 } });
    expect((await done(cart, 'GET')).minimumCart).toEqual({
      status: false,
      code,
      amount: price(amount + 0.01),
    });
  });

  test('a delivery may be free from a value on, or go by it', async () => {
    const shop = await givenSmallShop(service, {
      shippingMethods: [
        { key: 'post', name: 'Post', kind: 'flat', price: 6, freeFrom: 50 },
        {
          key: 'tiers',
          name: 'Tiers',
          kind: 'orderValue',
          tiers: [
            { from: 0, price: 7 },
            { from: 20, price: 3.9 },
          ],
        },
      ],
    });
    const productId = await givenProduct(shop);
    const cart = await givenCart(shop, { [productId]: 4 });
    expect(totalsOf(cart.body).shipping).toBe(6);
    expect(totalsOf(await done(cart, 'POST', '/line-items', { productId, quantity: 1 })).shipping).toBe(0);
    expect(totalsOf(await ship(cart, 'tiers')).shipping).toBe(3.9);
    const { lineItemId } = cart.body.lineItemContainer.productLineItems[0];
    const one = await done(cart, 'PUT', `/line-items/${lineItemId}`, { quantity: 1 });
    expect(totalsOf(one).shipping).toBe(7);
    expect(linesOf(one)[0]![1]).toBe(1);
  });
});
