import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenToken } from '../../test/builders.ts';
import {
  ADA,
  changesNothing,
  changeSettings,
  DAY,
  done,
  givenCart,
  givenCoupon,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  linesOf,
  NOW,
  on,
  operationsOn,
  price,
  problem,
  reasonOf,
  refusal,
  shippingId,
  totalsOf,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../test/service.ts';
import { PNG, sendImage } from '../../test/upload.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { cartCleanup } from './queries.ts';

let service: Service;
let demo: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  demo = await givenDemoShop(service);
});
beforeEach(() => service.setClock(NOW));
afterAll(() => service.close());

const post = (body: unknown, options: CallOptions = {}) =>
  service.call('POST', '/DemoShop/carts', { body, ...options });

const refused = (body: unknown, options: CallOptions = {}) => refusal(service, () => post(body, options));

const failed = (code: string, field: string) => problem(code, field, 'Create cart');

const line = (number: string, quantity: unknown = 1) => ({ productId: demo.ids[number], quantity });

const BASE = 'http://localhost:80/rs/shops/DemoShop';
const METHODS = ['Standard delivery', 'Express delivery', 'Customer pickup', 'Freight'];

/** The empty cart of the demo shop, whole. */
const empty = (cartId: string) => ({
  cartId,
  billingAddress: null,
  shippingAddress: null,
  lineItemContainer: {
    grandTotal: price(0),
    totalBeforeTax: price(0, 'NET'),
    totalTax: price(0, 'NONE'),
    lineItemsSubTotal: price(0),
    productLineItems: [],
    couponLineItem: null,
    shippingPrice: price(0),
    deposits: [],
    ecoParticipations: [],
    shippingOptions: [],
    basketDiscount: { links: [] },
  },
  shippingData: null,
  paymentData: null,
  minimumCart: { status: false, code: 'SumProduct', amount: price(5) },
  pickupToken: expect.stringMatching(/^[\w+/]+=*$/),
  creationDate: '2026-11-15T08:30:00Z',
  checkoutUrl: expect.stringContaining(
    `http://localhost:80/shop/DemoShop/checkout?cart=${cartId}&PickupToken=`,
  ),
  registerSessionUrl: expect.stringContaining(
    `http://localhost:80/shop/DemoShop/cart?cart=${cartId}&PickupToken=`,
  ),
  cartValidation: { possibleShippingMethods: METHODS },
  potentialBasketDiscounts: [
    { absolute: price(10), minimumAmount: price(100), percent: null },
    { absolute: null, minimumAmount: price(250), percent: { percentage: 10, formatted: '10 %' } },
  ],
  links: [
    { rel: 'self', href: `${BASE}/carts/${cartId}` },
    { rel: 'add-coupon', href: `${BASE}/carts/${cartId}/coupon` },
  ],
});

describe('the cart token', () => {
  test('comes in the header of the answer, and opens the cart in any spelling of the header', async () => {
    const { status, headers, body } = await post({});
    expect(status).toBe(201);
    const token = headers['x-epages-cart-token'] as string;
    expect(token).toMatch(/^[A-Za-z0-9]{24}$/);
    for (const name of ['X-ePages-Cart-Token', 'X-epages-Cart-Token', 'x-epages-cart-token']) {
      const answer = await service.call('GET', `/DemoShop/carts/${body.cartId}`, {
        headers: { [name]: token },
      });
      expect(answer).toMatchObject({ status: 200, body });
      expect(answer.headers['x-epages-cart-token']).toBeUndefined();
    }
  });

  test('every operation on a cart needs its own one: else 403', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const other = await givenCart(demo);
    await done(cart, 'POST', '/coupon', { code: 'AUTUMN15' });
    cart.body = await done(cart, 'GET');
    const text = 'Missing or wrong cart token, send it in the header X-ePages-Cart-Token';
    const operations = await operationsOn(cart);
    expect(operations).toHaveLength(15);
    const headers = [{}, { 'x-epages-cart-token': other.token }, { 'x-epages-cart-token': '' }];
    await changesNothing(service, async () => {
      for (const [method, path, body] of operations) {
        const url = `/DemoShop/carts/${cart.id}${path}`;
        for (const sent of headers as Record<string, string>[]) {
          const call = service.call(method, url, { token: demo.token, body, headers: sent });
          expect([method, path, ...(await reasonOf(call))]).toEqual([method, path, 403, text]);
        }
      }
    });
  });

  test('an unknown cart is 404, another shop’s as well, whatever token is sent', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const other = await givenSmallShop(service);
    const there = { ...cart, shop: other };
    const unknown = { ...cart, id: newId(NOW) };
    const operations = await operationsOn(cart);
    await changesNothing(service, async () => {
      for (const [method, path, body] of operations) {
        for (const nobodys of [there, unknown]) {
          const reason = await reasonOf(on(nobodys, method, path, body));
          expect([method, path, ...reason]).toEqual([method, path, 404, 'HTTP 404 Not Found']);
        }
      }
    });
    for (const id of ['1', 'abc', `${cart.id}0`]) {
      expect((await on({ ...cart, id }, 'GET')).status).toBe(404);
    }
  });

  test('an id in lower case is the same cart', async () => {
    const cart = await givenCart(demo);
    expect(await done({ ...cart, id: cart.id.toLowerCase() }, 'GET')).toEqual(cart.body);
  });

  test('neither it nor its hash is in any answer', async () => {
    const cart = await givenFullCart(demo, { 'GI-120': 1 });
    const row = await service.db.one<{ hash: Buffer }>(sql`
      select token_hash as hash from cart where cart_id = ${cart.id}`);
    const list = await service.call('GET', '/DemoShop/carts?resultsPerPage=100', { token: demo.token });
    const texts = [JSON.stringify(cart.body), (await on(cart, 'GET')).text, list.text];
    texts.push((await on(cart, 'POST', '/order')).text);
    for (const text of texts) {
      for (const secret of [cart.token, row!.hash.toString('hex'), row!.hash.toString('base64')]) {
        expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
      }
    }
  });

  test('a call that needs none does not mind one', async () => {
    const cart = await givenCart(demo);
    const { status, headers } = await post({}, { headers: { 'x-epages-cart-token': cart.token } });
    expect(status).toBe(201);
    expect(headers['x-epages-cart-token']).not.toBe(cart.token);
  });
});

describe('creating', () => {
  test('an empty object makes an empty cart, without any token', async () => {
    const { status, headers, body } = await post({});
    expect(status).toBe(201);
    expect(headers['content-type']).toBe('application/json');
    expect(body.cartId).toEqual(ID);
    expect(body).toEqual(empty(body.cartId));
    expect(Object.keys(body)).toEqual(Object.keys(empty('')));
    expect(Object.keys(body.lineItemContainer)).toEqual(Object.keys(empty('').lineItemContainer));
  });

  test('line items alone are enough; the first line brings the shop’s first delivery and payment', async () => {
    const { status, body } = await post({ lineItems: [line('KN-110'), line('TE-100', 2)] });
    expect(status).toBe(201);
    expect(body.status).toBeUndefined();
    expect(linesOf(body)).toEqual([
      ['KN-110', 1, 24.5, 24.5],
      ['TE-100', 2, 7.2, 14.4],
    ]);
    expect(totalsOf(body)).toEqual({
      subtotal: 38.9,
      discount: 0,
      coupon: 0,
      shipping: 7.43,
      payment: 0,
      total: 46.33,
      beforeTax: 40.29,
      tax: 6.04,
    });
    const { taxClass } = body.lineItemContainer.productLineItems[0];
    const id = await shippingId(demo, 'standard');
    expect(body.shippingData).toEqual({
      shippingMethod: { id, name: 'Standard delivery' },
      price: price(7.43),
      taxes: [{ taxClass, price: price(1.19, 'NONE') }],
    });
    expect(body.paymentData).toEqual({
      paymentMethod: { id: ID, name: 'Payment in advance', providerName: null, additionalData: null },
      transactionId: null,
      price: price(0),
      status: null,
      taxes: null,
    });
    expect(body.minimumCart.status).toBe(true);
    expect(body.links).toEqual([
      { rel: 'self', href: `${BASE}/carts/${body.cartId}` },
      { rel: 'shipping-method', href: `${BASE}/shipping-methods/${id}` },
      { rel: 'add-coupon', href: `${BASE}/carts/${body.cartId}/coupon` },
    ]);
  });

  test('shows a line whole', async () => {
    const { body } = await post({ lineItems: [line('CB-102', 2)] });
    const [first] = body.lineItemContainer.productLineItems;
    const whole = {
      lineItemId: ID,
      sku: 'CB-102',
      name: 'Tidewater Espresso Beans',
      productId: demo.ids['CB-102'],
      quantity: { amount: 2, unit: 'piece(s)' },
      lineItemPrice: price(35),
      singleItemPrice: price(17.5),
      lineItemCouponDiscount: null,
      images: [],
      additionalInformation: { bulkPriceInfo: [] },
      links: [
        { rel: 'product', href: `${BASE}/products/${demo.ids['CB-102']}` },
        { rel: 'taxClass', href: `${BASE}/tax-classes/${first.taxClass.taxClassId}` },
      ],
      intervalOrder: '1',
      minOrder: '1',
      orderUnitShort: 'piece(s)',
      orderUnit: 'piece(s)',
      priceQuantity: '1',
      quantityPrice: price(17.5),
      variationString: 'Weight: 500 g, Roast: Medium',
      essentialFeatures: '70 % arabica, 30 % robusta, roasted every Tuesday',
      taxClass: { taxClassId: ID, name: 'reduced', percentage: 7 },
      deliveryWeight: { amount: 1040, unit: 'g' },
      energyLabelsString: null,
      energyLabelsMaxEfficiencyString: null,
      energyLabelSourceFile: null,
      productDataSheetSourceFile: null,
      isInWishlist: false,
    };
    expect(first).toEqual(whole);
    expect(Object.keys(first)).toEqual(Object.keys(whole));
  });

  test('shows the main image in its sizes, a variation that of its master', async () => {
    const shop = await givenSmallShop(service);
    const productId = await givenProduct(shop);
    const path = `/${shop.shopId}/products/${productId}/slideshow`;
    expect((await sendImage(service, path, 'lamp.png', PNG, { token: shop.token })).status).toBe(201);
    const { body } = await givenCart(shop, { [productId]: 1 });
    const { images } = body.lineItemContainer.productLineItems[0];
    expect(images.map(({ classifier }: { classifier: string }) => classifier)).toEqual([
      'HotDeal',
      'Large',
      'Medium',
      'Small',
      'Thumbnail',
    ]);
    expect(images[1]).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:80\/media\//),
      classifier: 'Large',
      isZoomEnabled: true,
      width: 2,
      height: 1,
      fileSize: expect.any(Number),
    });
    // A variation without one has its master's.
    const variation = await givenProduct(shop);
    await service.db.run(sql`
      update product set kind = 'variation', master_id = ${productId}, selection = '{}'
      where product_id = ${variation}`);
    const other = await givenCart(shop, { [variation]: 1 });
    expect(other.body.lineItemContainer.productLineItems[0].images).toEqual(images);
  });

  test('shows the tiers of a product, and takes the one that is reached', async () => {
    const { body } = await post({ lineItems: [line('CB-200', 5)] });
    const [first] = body.lineItemContainer.productLineItems;
    expect(linesOf(body)).toEqual([['CB-200', 5, 11.9, 59.5]]);
    expect(
      first.additionalInformation.bulkPriceInfo.map((tier: Answer['body']) => [
        tier.quantity.amount,
        tier.price.amount,
      ]),
    ).toEqual([
      [5, 11.9],
      [10, 10.9],
    ]);
  });

  test('shows deposits and recycling fees beside the subtotal', async () => {
    const { body } = await post({ lineItems: [line('DR-100', 6), line('AP-100', 1)] });
    const { deposits, ecoParticipations, productLineItems } = body.lineItemContainer;
    expect(deposits).toEqual([
      {
        name: 'Deposit: Slipway Cola 0.33 l',
        lineItemPrice: price(1.5),
        lineItemProductGuid: productLineItems[0].lineItemId,
      },
    ]);
    expect(ecoParticipations).toEqual([
      { name: 'Recycling fee: Beacon Kettle 1.7 l', lineItemPrice: price(0.5) },
    ]);
    // 6 x 1.45 + 49.90 = 58.60; 7.00 + 1.19 x 3.63 kg = 11.32; with 1.50 and 0.50.
    expect(totalsOf(body)).toMatchObject({ subtotal: 58.6, shipping: 11.32, total: 71.92 });
  });

  test('a line is its unit price times its quantity, and so is its weight', async () => {
    const shop = await givenSmallShop(service);
    const bolts = await givenProduct(shop, {
      price: 1250,
      facts: {
        orderUnit: { priceQuantity: 100, unit: 'piece', minimum: 1, interval: 1 },
        deliveryWeight: { amount: 2.5, unit: 'gram' },
      },
    });
    const { body } = await givenCart(shop, { [bolts]: 250 });
    expect(body.lineItemContainer.productLineItems[0]).toMatchObject({
      quantity: { amount: 250 },
      priceQuantity: '100',
      quantityPrice: price(12.5),
      singleItemPrice: price(0.13),
      // One rounding: 12.50 for a hundred, not 0.13 for each.
      lineItemPrice: price(31.25),
      deliveryWeight: { amount: 625, unit: 'g' },
    });
    const rope = await givenCart(demo, { 'RO-100': 7.5 });
    expect(rope.body.lineItemContainer.productLineItems[0]).toMatchObject({
      quantity: { amount: 7.5, unit: 'm' },
      singleItemPrice: price(2.4),
      quantityPrice: price(2.4),
      lineItemPrice: price(18),
      deliveryWeight: { amount: 525, unit: 'g' },
      minOrder: '2',
      intervalOrder: '0.5',
      orderUnitShort: 'm',
      orderUnit: 'meter(s)',
    });
  });

  test.each([
    ['USD', 'USD', 30.8, '30.80 $', 13.2],
    ['gbp', 'GBP', 23.8, '23.80 £', 10.2],
  ])('in %s everything is converted', async (currency, code, amount, formatted, shipping) => {
    const cart = await givenCart(demo, { 'BK-110': 1 }, { currency });
    const [first] = cart.body.lineItemContainer.productLineItems;
    expect(first.lineItemPrice).toEqual({ taxType: 'GROSS', formatted, amount, currency: code });
    const id = await shippingId(demo, 'express');
    const body = await done(cart, 'PUT', '/shipping-data', { id });
    expect(body.shippingData.price).toMatchObject({ amount: shipping, currency: code });
    expect(totalsOf(body)).toMatchObject({
      subtotal: amount,
      shipping,
      total: Number((amount + shipping).toFixed(2)),
    });
  });

  test('NET prices leave out the tax, which is added at the end', async () => {
    const { body } = await post({ taxType: 'NET', lineItems: [line('KN-101')] });
    const { lineItemContainer, shippingData } = body;
    // 64.00 / 1.19 = 53.78; (7.00 + 1.19 x 0.31) / 1.19 = 6.19; 19 % of 59.97 = 11.39.
    expect(lineItemContainer.productLineItems[0].lineItemPrice).toEqual(price(53.78, 'NET'));
    expect(lineItemContainer).toMatchObject({
      lineItemsSubTotal: price(53.78, 'NET'),
      shippingPrice: price(6.19, 'NET'),
      totalBeforeTax: price(59.97, 'NET'),
      totalTax: price(11.39, 'NONE'),
      grandTotal: price(71.36),
    });
    expect(shippingData.price).toEqual(price(6.19, 'NET'));
  });

  test('with NONE there is no tax', async () => {
    const { body } = await post({ taxType: 'NONE', lineItems: [line('KN-101')] }, { token: demo.token });
    expect(body.lineItemContainer).toMatchObject({
      lineItemsSubTotal: price(64, 'NONE'),
      totalBeforeTax: price(71.37, 'NET'),
      totalTax: price(0, 'NONE'),
      grandTotal: price(71.37),
    });
  });

  test('texts are in the language of the cart, whose locale may come in any case', async () => {
    const lineItems = [line('CB-101', 1), line('DR-100', 6), line('AP-120')];
    const { body } = await post({ locale: 'de_de', lineItems });
    const { productLineItems, deposits, ecoParticipations, basketDiscount, lineItemsSubTotal } =
      body.lineItemContainer;
    expect(productLineItems[0]).toMatchObject({
      name: 'Tidewater Espressobohnen',
      variationString: 'Gewicht: 250 g, Röstung: Mittel',
      essentialFeatures: '70 % Arabica, 30 % Robusta, jeden Dienstag geröstet',
      quantity: { amount: 1, unit: 'Stück' },
      orderUnit: 'Stück',
      taxClass: { name: 'ermäßigt', percentage: 7 },
      singleItemPrice: { formatted: '9,90 €' },
    });
    expect(lineItemsSubTotal.formatted).toBe('137,60 €');
    expect(deposits[0].name).toBe('Pfand: Slipway Cola 0,33 l');
    expect(ecoParticipations[0].name).toBe('Recyclingbeitrag: Beacon Kaffeemühle');
    expect(basketDiscount).toMatchObject({
      name: 'Warenkorbrabatt',
      lineItemPrice: { formatted: '-10,00 €' },
    });
    expect(body.shippingData.shippingMethod.name).toBe('Standardversand');
    expect(body.shippingData.taxes[0].taxClass.name).toBe('normal');
    expect(body.paymentData.paymentMethod.name).toBe('Vorkasse');
    expect(body.cartValidation.possibleShippingMethods).toEqual([
      'Standardversand',
      'Expressversand',
      'Selbstabholung',
      'Spedition',
    ]);
    expect(body.minimumCart.amount.formatted).toBe('5,00 €');
    expect(body.potentialBasketDiscounts[0].absolute.formatted).toBe('10,00 €');
  });

  test.each(['sv_SE', 'en_US', null, undefined])('a locale of %s is the default', async (locale) => {
    const { status, body } = await post({ locale, lineItems: [line('TE-100')] });
    expect(status).toBe(201);
    expect(body.lineItemContainer.productLineItems[0].name).toBe('Fog Lane Green Tea 100 g');
    expect(body.lineItemContainer.lineItemsSubTotal.formatted).toBe('7.20 €');
  });

  test('where the cart’s language lacks a text, the default one stands in', async () => {
    const productId = await givenProduct(demo, { facts: { name: { en_GB: 'Old Ferry Whistle' } } });
    const { body } = await post({ locale: 'fr_FR', lineItems: [{ productId, quantity: 1 }] });
    expect(body.lineItemContainer.productLineItems[0].name).toBe('Old Ferry Whistle');
    expect(body.shippingData.shippingMethod.name).toBe('Livraison standard');
    expect(body.lineItemContainer.lineItemsSubTotal.formatted).toBe('10,00 €');
  });

  test('nulls are as good as nothing, and unknown keys too', async () => {
    const nulls = { currency: null, taxType: null, locale: null, lineItems: null, forceCreate: null };
    const { status, body } = await post({ ...nulls, customerId: null, colour: 'blue' });
    expect(status).toBe(201);
    expect(body).toEqual(empty(body.cartId));
  });

  test('quantities may be numeric texts', async () => {
    const { body } = await post({ lineItems: [line('TE-100', '2'), line('RO-100', ' 2.50 ')] });
    expect(linesOf(body)).toEqual([
      ['TE-100', 2, 7.2, 14.4],
      ['RO-100', 2.5, 2.4, 6],
    ]);
  });

  test('entries of one product become one line', async () => {
    const lower = { productId: demo.ids['TE-100']!.toLowerCase(), quantity: 2 };
    const { body } = await post({ lineItems: [line('TE-100'), line('KN-110'), lower] });
    expect(linesOf(body)).toEqual([
      ['TE-100', 3, 7.2, 21.6],
      ['KN-110', 1, 24.5, 24.5],
    ]);
  });

  test.each([
    ['a list', [], failed('WRONG_TYPE', 'body')],
    ['a text', '"cart"', 'The body must have one of these Content-Types'],
    ['an unknown currency', { currency: 'ZZZ' }, 'The shop has no currency ZZZ, it has EUR, GBP, USD'],
    ['a number as currency', { currency: 978 }, failed('WRONG_TYPE', 'currency')],
    ['another tax type', { taxType: 'gross' }, failed('UNKNOWN_VALUE', 'taxType')],
    ['a language alone', { locale: 'de' }, 'expected full locale for example en_US'],
    ['one line that is no list', { lineItems: {} }, failed('WRONG_TYPE', 'lineItems')],
    ['a text as forceCreate', { forceCreate: 'true' }, failed('WRONG_TYPE', 'forceCreate')],
    [
      'more than 500 entries',
      { lineItems: Array.from({ length: 501 }, () => ({})), forceCreate: true },
      failed('TOO_LONG', 'lineItems'),
    ],
  ])('%s is refused', async (_what, body, text) => {
    const [status, message] = await refused(body);
    expect([status, message.slice(0, text.length)]).toEqual([400, text]);
  });

  test('one bad entry fails all', async () => {
    const good = line('TE-100');
    const bad: [unknown, number, string][] = [
      [{ productId: newId(NOW), quantity: 1 }, 404, 'HTTP 404 Not Found'],
      [
        line('CB-100'),
        400,
        'CB-100 (Tidewater Espresso Beans) has variations, put one of them into the cart',
      ],
      [line('ZZ-110'), 400, 'ZZ-110 (Sample Spoon) is not for sale'],
      // It is hidden.
      [line('ZZ-100'), 404, 'HTTP 404 Not Found'],
      [line('TE-120'), 400, 'TE-120 (Ginger Bay Herbal Tea 80 g) is out of stock'],
      [{ quantity: 1 }, 400, failed('MISSING', 'lineItems.1.productId')],
      [{ productId: demo.ids['TE-100'] }, 400, failed('MISSING', 'lineItems.1.quantity')],
      [line('TE-100', -1), 400, failed('OUT_OF_RANGE', 'lineItems.1.quantity')],
      [line('TE-100', 0), 400, failed('OUT_OF_RANGE', 'lineItems.1.quantity')],
      [line('TE-100', 'two'), 400, failed('WRONG_FORMAT', 'lineItems.1.quantity')],
      [line('TE-100', 1e7), 400, failed('OUT_OF_RANGE', 'lineItems.1.quantity')],
      [{ productId: 7, quantity: 1 }, 400, failed('WRONG_TYPE', 'lineItems.1.productId')],
      ['TE-100', 400, failed('WRONG_TYPE', 'lineItems.1')],
      [null, 400, failed('WRONG_TYPE', 'lineItems.1')],
    ];
    await changesNothing(service, async () => {
      for (const [entry, status, text] of bad) {
        const lineItems = [good, entry];
        expect(await reasonOf(post({ lineItems }))).toEqual([status, text]);
        expect(await reasonOf(post({ lineItems, forceCreate: false }))).toEqual([status, text]);
      }
    });
  });

  test('with forceCreate the cart is made if at least one entry fits, and says whether all did', async () => {
    const bad = [
      { productId: newId(NOW), quantity: 1 },
      { productId: 'TE-100', quantity: 1 },
      { quantity: 1 },
      'text',
      null,
      line('TE-100', -1),
      line('CB-100'),
    ];
    const some = await post({ forceCreate: true, lineItems: [...bad, line('TE-110')] });
    expect(some.status).toBe(201);
    expect(some.body.status).toBe('PartiallyComplete');
    expect(linesOf(some.body)).toEqual([['TE-110', 1, 8.95, 8.95]]);
    const keys = Object.keys(some.body);
    expect(keys.indexOf('status')).toBe(keys.indexOf('registerSessionUrl') + 1);

    const all = await post({ forceCreate: true, lineItems: [line('TE-110')] });
    expect(all.body.status).toBe('Complete');
    expect((await post({ forceCreate: true })).body.status).toBe('Complete');

    expect(await refused({ forceCreate: true, lineItems: bad })).toEqual([404, 'HTTP 404 Not Found']);
    expect(await refused({ forceCreate: true, lineItems: bad.slice(2) })).toEqual([
      400,
      failed('MISSING', 'lineItems.0.productId'),
    ]);
  });

  test('a billing address goes in with the cart, as Update billing address would store it', async () => {
    const made = await post({ lineItems: [line('TE-110')], billingAddress: ADA });
    expect(made.status).toBe(201);
    const later = await givenCart(demo);
    await done(later, 'POST', '/line-items', line('TE-110'));
    const updated = await done(later, 'PUT', '/billing-address', ADA);
    expect(made.body.billingAddress).toEqual(updated.billingAddress);
    expect(Object.keys(made.body)).toEqual(Object.keys(updated));
    expect(totalsOf(made.body)).toEqual(totalsOf(updated));

    // It is stored, and an order needs nothing else.
    const cart = { cartToken: made.headers['x-epages-cart-token'] as string };
    const path = `/DemoShop/carts/${made.body.cartId}`;
    expect((await service.call('GET', path, cart)).body.billingAddress).toEqual(updated.billingAddress);
    const placed = await service.call('POST', `${path}/order`, { ...cart, token: 'demo-all' });
    expect([placed.status, placed.body.billingAddress]).toEqual([201, updated.billingAddress]);

    // The same in the transaction of an Idempotency-Key.
    const keyed = { token: 'demo-all', headers: { 'idempotency-key': 'with-address' } };
    const again = await post({ lineItems: [line('TE-110')], billingAddress: ADA }, keyed);
    expect([again.status, again.body.billingAddress]).toEqual([201, updated.billingAddress]);
    const stored = await service.db.one(sql`
      select billing_address ->> 'city' as city from cart where shop_id = 'DemoShop' and cart_id = ${again.body.cartId}`);
    expect(stored).toEqual({ city: 'Hamburg' });
    expect((await post({ billingAddress: null })).body.billingAddress).toBeNull();
  });

  test('a wrong billing address fails all, with forceCreate too', async () => {
    const { emailAddress: _email, ...withoutEmail } = ADA;
    const bad: [unknown, string][] = [
      [{ ...ADA, country: 'XX' }, failed('UNKNOWN_VALUE', 'billingAddress.country')],
      [withoutEmail, failed('STRING_EMPTY', 'billingAddress.emailAddress')],
      [{ ...ADA, emailAddress: 'ada' }, failed('WRONG_FORMAT', 'billingAddress.emailAddress')],
      [{ ...ADA, city: 'x'.repeat(256) }, failed('TOO_LONG', 'billingAddress.city')],
      [{ ...ADA, city: 7 }, failed('WRONG_TYPE', 'billingAddress.city')],
      ['Hamburg', failed('WRONG_TYPE', 'billingAddress')],
      [[ADA], failed('WRONG_TYPE', 'billingAddress')],
    ];
    await changesNothing(service, async () => {
      for (const [billingAddress, text] of bad) {
        for (const forceCreate of [false, true]) {
          const body = { lineItems: [line('TE-110')], forceCreate, billingAddress };
          expect(await reasonOf(post(body))).toEqual([400, text]);
        }
      }
    });
  });

  test('an Idempotency-Key of an app makes one cart, and its token does not lie in the database in clear', async () => {
    const keyed = { token: 'demo-all', headers: { 'idempotency-key': 'app-one' } };
    const lineItems = [line('TE-110')];
    const first = await post({ lineItems }, keyed);
    const second = await post({ lineItems }, keyed);
    const token = first.headers['x-epages-cart-token'] as string;
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
    expect(second.headers).toMatchObject({ 'x-epages-cart-token': token, 'idempotency-replayed': 'true' });
    expect(
      (await service.call('GET', `/DemoShop/carts/${first.body.cartId}`, { cartToken: token })).status,
    ).toBe(200);
    const stored = await service.db.many<{ text: string }>(sql`
      select idempotent_answer::text as text from idempotent_answer where key = 'app-one'`);
    expect(stored).toHaveLength(1);
    expect(stored[0]!.text).not.toContain(token);

    const other = await post({ lineItems: [line('TE-110', 2)] }, keyed);
    expect([other.status, other.headers['x-error-code']]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    // The same key of another app is another key.
    const pricing = await post({ lineItems }, { ...keyed, token: 'demo-pricing' });
    expect(pricing.body.cartId).not.toBe(first.body.cartId);
  });

  test('an Idempotency-Key without a token is ignored, because callers of one address can not be told apart', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await post({}, { headers });
    const second = await post({}, { headers });
    expect(second.status).toBe(201);
    expect(second.body.cartId).not.toBe(first.body.cartId);
    expect(await service.db.many(sql`select key from idempotent_answer where key = 'one'`)).toEqual([]);
  });
});

describe('a cart for a customer', () => {
  const customerOf = async (number: string) => {
    const row = await service.db.one<{ id: string }>(sql`
      select customer_id as id from customer where shop_id = 'DemoShop' and customer_number = ${number}`);
    return row!.id;
  };

  test.each([
    [1, 12.16, 12.16],
    [5, 11.31, 56.55],
    [10, 10.36, 103.6],
  ])('has the prices of the customer’s group for %s', async (quantity, unit, whole) => {
    const customerId = await customerOf('1001');
    const lineItems = [line('CB-200', quantity)];
    const { status, body } = await post({ customerId, lineItems }, { token: 'demo-pricing' });
    expect(status).toBe(201);
    expect(linesOf(body)).toEqual([['CB-200', quantity, unit, whole]]);
  });

  test('of no group has the prices of everybody', async () => {
    const customerId = await customerOf('1002');
    const { body } = await post({ customerId, lineItems: [line('CB-200')] }, { token: 'demo-pricing' });
    expect(linesOf(body)).toEqual([['CB-200', 1, 12.8, 12.8]]);
  });

  test('keeps the group’s prices when it changes', async () => {
    const cart = await givenCart(demo, { 'CB-200': 1 }, { customerId: await customerOf('1001') });
    expect(linesOf(await done(cart, 'POST', '/line-items', line('CB-200', 4)))).toEqual([
      ['CB-200', 5, 11.31, 56.55],
    ]);
    expect(linesOf(await done(cart, 'GET'))).toEqual([['CB-200', 5, 11.31, 56.55]]);
  });

  test('needs the scope, and a customer of this shop', async () => {
    const customerId = await customerOf('1001');
    const needsScope = [403, 'The token lacks the scope carts_price_write'];
    expect(await refused({ customerId })).toEqual(needsScope);
    expect(await refused({ customerId }, { token: 'demo-read' })).toEqual(needsScope);
    const other = await givenSmallShop(service);
    const stranger = await service.call('POST', `/${other.shopId}/customers`, {
      token: other.token,
      body: { billingAddress: ADA },
    });
    for (const unknown of [newId(NOW), stranger.body.customerId, '1001', '']) {
      expect(await refused({ customerId: unknown }, { token: 'demo-pricing' })).toEqual([
        400,
        failed('UNKNOWN_VALUE', 'customerId'),
      ]);
    }
  });
});

describe('reading', () => {
  test('shows prices and settings as they are now', async () => {
    const shop = await givenSmallShop(service, { basketDiscounts: [{ from: 50, absolute: 5 }] });
    const productId = await givenProduct(shop, { number: 'TIDE', price: 2000 });
    const cart = await givenCart(shop, { [productId]: 2 });
    expect(totalsOf(cart.body)).toMatchObject({ subtotal: 40, discount: 0, total: 40, tax: 6.39 });

    await service.call('PATCH', `/${shop.shopId}/products/${productId}`, {
      token: shop.token,
      body: [{ op: 'add', path: '/priceInfo/price/amount', value: 25 }],
    });
    expect(totalsOf(await done(cart, 'GET'))).toMatchObject({ subtotal: 50, discount: -5, total: 45 });

    await changeSettings(shop, { basketDiscounts: [{ from: 50, percent: 20 }] });
    expect(totalsOf(await done(cart, 'GET'))).toMatchObject({ subtotal: 50, discount: -10, total: 40 });
  });

  test('leaves out a product that was deleted', async () => {
    const shop = await givenSmallShop(service);
    const kept = await givenProduct(shop, { number: 'KEPT', price: 300 });
    const gone = await givenProduct(shop, { number: 'GONE', price: 400 });
    const cart = await givenCart(shop, { [gone]: 1, [kept]: 1 });
    expect(totalsOf(cart.body).subtotal).toBe(7);
    await service.call('DELETE', `/${shop.shopId}/products/${gone}`, { token: shop.token });
    const body = await done(cart, 'GET');
    expect(linesOf(body)).toEqual([['KEPT', 1, 3, 3]]);
    expect(totalsOf(body)).toMatchObject({ subtotal: 3, total: 3 });
    // Its line can still be taken away, and more of the others goes in.
    const [{ lineItemId }] = cart.body.lineItemContainer.productLineItems;
    expect(linesOf(await done(cart, 'DELETE', `/line-items/${lineItemId}`))).toEqual([['KEPT', 1, 3, 3]]);
  });

  test('writes nothing', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const rows = () => service.db.many(sql`select * from cart where cart_id = ${cart.id}`);
    const before = await rows();
    await done(cart, 'GET');
    expect(await rows()).toEqual(before);
  });
});

describe('the life of a cart', () => {
  test('ends 30 days after its last change, before the sweep has come', async () => {
    const shop = await givenSmallShop(service);
    const productId = await givenProduct(shop);
    const cart = await givenFullCart(shop, { [productId]: 1 });
    service.setClock(new Date(NOW.getTime() + 29 * DAY));
    await done(cart, 'POST', '/line-items', { productId, quantity: 1 });
    const end = NOW.getTime() + 59 * DAY;
    service.setClock(new Date(end));
    expect(totalsOf(await done(cart, 'GET')).subtotal).toBe(20);
    const carts = async () =>
      (await service.call('GET', `/${shop.shopId}/carts`, { token: shop.token })).body.results;
    expect(await carts()).toBe(1);

    service.setClock(new Date(end + 1));
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/line-items', { productId, quantity: 1 }],
      ['DELETE', '/billing-address', undefined],
      ['POST', '/order', undefined],
    ] as const) {
      expect(await refusal(service, () => on(cart, method, path, body))).toEqual([404, 'HTTP 404 Not Found']);
    }
    expect(await carts()).toBe(0);
  });

  test('the sweep deletes exactly the old ones', async () => {
    const shop = await givenSmallShop(service);
    const old = await givenCart(shop);
    service.setClock(new Date(NOW.getTime() + 1));
    const young = await givenCart(shop);
    service.setClock(new Date(NOW.getTime() + 30 * DAY + 1));
    const fresh = await givenCart(shop);
    const left = async () =>
      (
        await service.db.many<{ id: string }>(sql`
          select upper(cart_id::text) as id from cart where shop_id = ${shop.shopId} order by created_at`)
      ).map(({ id }) => id);
    expect(await left()).toEqual([old.id, young.id, fresh.id]);
    await cartCleanup.run(service.db, 1_000);
    expect(await left()).toEqual([young.id, fresh.id]);
  });
});

describe('the list', () => {
  let shop: Shop;
  let ids: string[];
  const at = (day: number) => new Date(NOW.getTime() + day * DAY);
  const list = (query = '', token = shop.token) =>
    service.call('GET', `/${shop.shopId}/carts${query}`, { token });
  const found = async (query: string) =>
    (await list(query)).body.items.map(({ cartId }: { cartId: string }) => ids.indexOf(cartId));

  beforeAll(async () => {
    shop = await givenSmallShop(service, {
      locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
      shippingMethods: [{ key: 'post', name: { en_GB: 'Post', de_DE: 'Paket' }, kind: 'flat', price: 5 }],
    });
    const productId = await givenProduct(shop, { facts: { name: { en_GB: 'Rope', de_DE: 'Seil' } } });
    ids = [];
    for (const [day, address] of [
      [0, ''],
      [1, '/billing-address'],
      [2, '/shipping-address'],
      [3, ''],
    ] as const) {
      service.setClock(at(day));
      const cart = await givenCart(shop, day === 3 ? {} : { [productId]: 1 }, { locale: 'de_DE' });
      if (address) await done(cart, 'PUT', address, ADA);
      ids.push(cart.id);
    }
  });
  beforeEach(() => service.setClock(at(4)));

  test('without a filter shows every cart whole, newest first', async () => {
    const { status, headers, body } = await list();
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(Object.keys(body)).toEqual(['results', 'page', 'resultsPerPage', 'items']);
    expect(body).toMatchObject({ results: 4, page: 1, resultsPerPage: 10 });
    expect(await found('')).toEqual([3, 2, 1, 0]);
    const [empty, third] = body.items;
    expect(Object.keys(third)).toEqual(Object.keys(empty));
    expect(third).toMatchObject({ shippingAddress: { city: 'Hamburg' }, billingAddress: null });
    expect(third.lineItemContainer.productLineItems).toHaveLength(1);
  });

  test('is in the asked language, not the carts’', async () => {
    const names = async (query: string) => {
      const { body } = await list(query);
      const cart = body.items[2];
      return [
        cart.lineItemContainer.productLineItems[0].name,
        cart.shippingData.shippingMethod.name,
        cart.lineItemContainer.grandTotal.formatted,
      ];
    };
    expect(await names('')).toEqual(['Rope', 'Post', '15.00 €']);
    expect(await names('?locale=de_DE')).toEqual(['Seil', 'Paket', '15,00 €']);
    expect(await names('?locale=sv_SE')).toEqual(['Rope', 'Post', '15.00 €']);
    expect((await list('?locale=de')).status).toBe(400);
  });

  test('has pages', async () => {
    expect(await found('?resultsPerPage=3')).toEqual([3, 2, 1]);
    expect(await found('?resultsPerPage=3&page=2')).toEqual([0]);
    expect((await list('?page=3')).body).toEqual({ results: 4, page: 3, resultsPerPage: 10, items: [] });
    expect((await list('?resultsPerPage=1000')).body.resultsPerPage).toBe(100);
    for (const query of ['?page=0', '?page=x', '?resultsPerPage=0']) {
      expect((await list(query)).status).toBe(400);
    }
  });

  test('is narrowed by moments, which are not included, and by addresses', async () => {
    expect(await found('?createdAfter=2026-11-16T08:30:00Z')).toEqual([3, 2]);
    expect(await found('?createdAfter=2026-11-16T08:29:59Z')).toEqual([3, 2, 1]);
    expect(await found('?createdBefore=2026-11-16T08:30:00Z')).toEqual([0]);
    expect(await found('?createdBefore=2026-11-16')).toEqual([0]);
    expect(await found('?createdAfter=2026-11-15T09:30:00+01:00&createdBefore=2026-11-18')).toEqual([2, 1]);
    expect(await found('?createdAfter=2020-01-01')).toEqual([3, 2, 1, 0]);
    expect(await found('?createdBefore=2020-01-01')).toEqual([]);
    expect(await found('?hasAddressData=true')).toEqual([2, 1]);
    expect(await found('?hasAddressData=false')).toEqual([3, 0]);
    expect((await list('?hasAddressData=true&createdAfter=2026-11-17')).body.results).toBe(1);
  });

  test('looks at 30 days at most', async () => {
    expect((await list('?createdAfter=2026-11-01&createdBefore=2026-12-01')).body.results).toBe(4);
    const { status, body } = await list('?createdAfter=2026-11-01&createdBefore=2026-12-01T00:00:01Z');
    expect([status, body.message.split(', Request')[0]]).toEqual([
      400,
      'createdAfter and createdBefore must not be more than 30 days apart',
    ]);
  });

  test.each(['createdAfter', 'createdBefore'])('a bad date as %s is refused', async (name) => {
    for (const value of ['yesterday', '2026-02-30', '']) {
      const { status, body } = await list(`?${name}=${value}`);
      expect([status, body.message.split(', Request')[0]]).toEqual([
        400,
        problem('WRONG_FORMAT', name, 'List carts'),
      ]);
    }
    expect((await list('?hasAddressData=perhaps')).status).toBe(400);
  });

  test('needs the scope, and no cart token', async () => {
    expect((await list('', await givenToken(service, shop.shopId, ['carts_read']))).status).toBe(200);
    expect((await list('', await givenToken(service, shop.shopId, ['carts_price_write']))).status).toBe(403);
    expect((await service.call('GET', `/${shop.shopId}/carts`)).status).toBe(401);
  });

  test('shows neither another shop’s carts nor what has become an order', async () => {
    const own = await givenSmallShop(service);
    const productId = await givenProduct(own);
    const [first] = [
      await givenFullCart(own, { [productId]: 1 }),
      await givenFullCart(own, { [productId]: 1 }),
    ];
    const results = async () =>
      (await service.call('GET', `/${own.shopId}/carts`, { token: own.token })).body.results;
    expect(await results()).toBe(2);
    await done(first, 'POST', '/order');
    expect(await results()).toBe(1);
    expect((await list()).body.results).toBe(4);
  });

  test('shows coupons with their problems', async () => {
    const own = await givenSmallShop(service);
    await givenCoupon(own, 'HUNDRED', { name: 'FIX', amount: 5 }, { minimumOrderValue: 100 });
    const cart = await givenCart(own, { [await givenProduct(own)]: 1 });
    await done(cart, 'POST', '/coupon', { code: 'HUNDRED' });
    const { body } = await service.call('GET', `/${own.shopId}/carts`, { token: own.token });
    expect(body.items[0].lineItemContainer.couponLineItem.validationErrors).toEqual([
      'LineItemsSubTotalTooSmall',
    ]);
  });
});
