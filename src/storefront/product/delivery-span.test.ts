import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenProduct, givenSmallShop, queuedEmails, shippingId, type Shop } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { orderConfirmation } from '../../orders/confirmation-email.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';

let service: Service;
let shop: Shop;
const MONDAY = new Date('2026-11-16T08:30:00Z');

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service, {
    shippingMethods: [
      { key: 'pickup', name: 'Pickup', kind: 'pickup' },
      { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9, description: 'On the next working day' },
      { key: 'slow', name: 'Slow', kind: 'flat', price: 1, description: 'When the ship sails' },
    ],
    deliveryTimes: { methods: { parcel: { from: 1, to: 3 }, pickup: { from: 0, to: 0 } } },
  });
});
afterAll(() => service.close());

const pageOf = async (number: string) =>
  mainOf(await givenVisitor(service, shop.shopId).get(`/Products/${number}`));
/** The days that the page names; null: none. */
const daysOn = (text: string) =>
  /Expected delivery: (\w+ \d+ November – \w+ \d+ November)/.exec(text.replaceAll(/\s/g, ' '))?.[1] ?? null;

describe('the page of a product', () => {
  test.each<[string, ProductFacts, number | undefined, string | null]>([
    ['in stock', {}, 3, 'Tue 17 November – Thu 19 November'],
    ['whose stock is not counted', {}, undefined, 'Tue 17 November – Thu 19 November'],
    ['with a delivery period', { deliveryPeriod: '2-3' }, 3, 'Thu 19 November – Tue 24 November'],
    ['with a period that is no number', { deliveryPeriod: 'soon' }, 3, null],
    ['out of stock', {}, 0, null],
  ])('names the days of one %s', async (name, facts, stock, days) => {
    service.setClock(MONDAY);
    const number = name.replaceAll(/\W/g, '-');
    await givenProduct(shop, { number, facts, ...(stock !== undefined && { stock }) });
    expect(daysOn(await pageOf(number))).toBe(days);
  });

  test('names later days after the cut-off hour', async () => {
    service.setClock(MONDAY);
    await givenProduct(shop, { number: 'CUT' });
    expect(daysOn(await pageOf('CUT'))).toBe('Tue 17 November – Thu 19 November');
    service.setClock(new Date('2026-11-16T13:00:00Z'));
    expect(daysOn(await pageOf('CUT'))).toBe('Wed 18 November – Fri 20 November');
  });
});

test('product, cart, checkout, confirmation, order page and email name the same days', async () => {
  service.setClock(MONDAY);
  const visitor = givenVisitor(service, shop.shopId);
  const days = 'Mon 23 November – Wed 25 November';
  for (const [number, deliveryPeriod] of [
    ['QUICK', '1'],
    ['ENGRAVED', '4'],
  ] as const) {
    const productId = await givenProduct(shop, { number, facts: { deliveryPeriod } });
    await visitor.post('/cart/add', { productId, quantity: '1' });
  }
  const product = await visitor.get('/Products/ENGRAVED');
  expect(daysOn(mainOf(product))).toBe(days);
  expect(mainOf(product)).not.toMatch(/4 days|Delivery time|shipped within/);
  // Search engines are told the cheapest delivery, whose days nobody knows.
  expect(product.text).toContain('"value":"1.00"');
  expect(product.text).not.toContain('"deliveryTime"');

  await visitor.post('/checkout', {
    'billing.firstName': 'Ada',
    'billing.lastName': 'Lindqvist',
    'billing.street': 'Kai 7',
    'billing.zipCode': '20457',
    'billing.city': 'Hamburg',
    'billing.country': 'DE',
    'billing.emailAddress': 'ada@mail.example',
  });
  const step = await visitor.get('/checkout/delivery');
  const text = mainOf(step);
  expect(daysOn(text)).toBe(days);
  expect(text.match(/Expected delivery: /g)).toHaveLength(1);
  // The promise of a method gives way to the days of this cart; a method without days keeps its description.
  expect(text).not.toContain('On the next working day');
  expect(text).toContain('When the ship sails');
  const [, paymentMethod] = /name="paymentMethod"\s+value="([^"]+)"/.exec(step.text)!;
  await visitor.post('/checkout/delivery', {
    shippingMethod: await shippingId(shop, 'parcel'),
    paymentMethod: paymentMethod!,
  });
  expect(daysOn(mainOf(await visitor.get('/cart')))).toBe(days);
  const review = await visitor.get('/checkout/review');
  expect(daysOn(mainOf(review))).toBe(days);
  const [, reviewed] = /name="reviewed" value="([^"]+)"/.exec(review.text)!;
  await visitor.post('/checkout/order', { reviewed: reviewed! });

  // What was promised stays, on whichever day it is read.
  service.setClock(new Date('2026-11-18T16:00:00Z'));
  const confirmation = await visitor.get('/confirmation');
  expect(daysOn(mainOf(confirmation))).toBe(days);
  const [, orderPath] = /href="[^"]*(\/order\/[^"?]+)/.exec(confirmation.text)!;
  expect(daysOn(mainOf(await visitor.get(orderPath!)))).toBe(days);
  const email = (await queuedEmails(service, shop.shopId)).find(({ template }) => template === 'order')!;
  const facts = await orderConfirmation.load!(service.db, email);
  expect(facts!.deliveryDays!.replaceAll(/\s/g, ' ')).toBe(days);
});

test('a product without a handling time of its own has that of the shop', async () => {
  service.setClock(MONDAY);
  const slow = await givenSmallShop(service, {
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }],
    deliveryTimes: { handling: { from: 1, to: 2 }, methods: { parcel: { from: 1, to: 1 } } },
  });
  const page = async (number: string) =>
    mainOf(await givenVisitor(service, slow.shopId).get(`/Products/${number}`));
  await givenProduct(slow, { number: 'OF-SHOP' });
  await givenProduct(slow, { number: 'OWN', facts: { deliveryPeriod: '3-4' } });
  expect(daysOn(await page('OF-SHOP'))).toBe('Wed 18 November – Thu 19 November');
  expect(daysOn(await page('OWN'))).toBe('Fri 20 November – Mon 23 November');
});

describe('a shop with zones', () => {
  let zoned: Shop;
  beforeAll(async () => {
    service.setClock(MONDAY);
    zoned = await givenSmallShop(service, {
      countries: { default: 'DE', items: ['FR', 'DE', 'ES', 'GB', 'CH'] },
      shippingMethods: [
        {
          key: 'parcel',
          name: 'Parcel',
          kind: 'flat',
          zones: [
            { countries: ['DE'], price: 4.9 },
            { countries: ['ES', 'GB'], price: 14.9, days: { from: 3, to: 5 } },
            { countries: ['ES'], postcodes: ['35000-35999', '38*'], price: 39.9, days: { from: 8, to: 10 } },
          ],
        },
        {
          key: 'courier',
          name: 'Courier',
          kind: 'flat',
          zones: [{ countries: ['DE', 'FR'], price: 19.9 }],
        },
      ],
      deliveryTimes: { methods: { parcel: { from: 1, to: 2 } } },
    });
    await givenProduct(zoned, { number: 'LAMP' });
    await givenProduct(zoned, { number: 'WARDROBE', facts: { shippingSurcharge: { EUR: 2500 } } });
  });

  test('says on the product page where it delivers, for how much and when', async () => {
    const page = await givenVisitor(service, zoned.shopId).get('/Products/LAMP');
    const text = mainOf(page).replaceAll(/\s/g, ' ');
    expect(text).toContain('Delivery: Germany from €4.90, France from €19.90, 2 more countries');
    expect(text).toContain('Germany: from €4.90, Tue 17 November – Wed 18 November');
    expect(text).toContain('France: from €19.90 Spain: from €14.90, Thu 19 November – Mon 23 November');
    expect(text).toContain('Spain (35000-35999, 38*): from €39.90, Thu 26 November – Mon 30 November');
    expect(text).not.toContain('Switzerland');
    const [, data] = />\s*(\{[^<]*"@type":"Product"[^<]*)<\/script>/.exec(page.text)!;
    const { offers } = JSON.parse(data!) as {
      offers: { shippingDetails: { shippingRate: { value: string }; shippingDestination: object[] }[] };
    };
    expect(
      offers.shippingDetails.map(({ shippingRate, shippingDestination }) => [
        shippingRate.value,
        shippingDestination,
      ]),
    ).toEqual([
      ['4.90', { '@type': 'DefinedRegion', addressCountry: 'DE' }],
      ['19.90', { '@type': 'DefinedRegion', addressCountry: 'FR' }],
      [
        '14.90',
        [
          { '@type': 'DefinedRegion', addressCountry: 'ES' },
          { '@type': 'DefinedRegion', addressCountry: 'GB' },
        ],
      ],
      [
        '39.90',
        {
          '@type': 'DefinedRegion',
          addressCountry: 'ES',
          postalCodeRange: [
            { '@type': 'PostalCodeRangeSpecification', postalCodeBegin: '35000', postalCodeEnd: '35999' },
          ],
          postalCodePrefix: ['38'],
        },
      ],
    ]);
    const wardrobe = mainOf(await givenVisitor(service, zoned.shopId).get('/Products/WARDROBE'));
    expect(wardrobe).toContain('Germany from €29.90');
  });

  const address = (country: string, zipCode: string) => ({
    'billing.firstName': 'Ada',
    'billing.lastName': 'Lindqvist',
    'billing.street': 'Kai 7',
    'billing.zipCode': zipCode,
    'billing.city': 'Town',
    'billing.state': 'Tenerife',
    'billing.country': country,
    'billing.emailAddress': 'ada@mail.example',
  });

  test('tells the shopper which address it does not deliver to, and leaves another method to be chosen', async () => {
    const visitor = givenVisitor(service, zoned.shopId);
    const productId = await givenProduct(zoned, { number: 'VASE' });
    await visitor.post('/cart/add', { productId, quantity: '1' });
    await visitor.post('/checkout', address('DE', '20457'));
    const step = await visitor.get('/checkout/delivery');
    const [, paymentMethod] = /name="paymentMethod"\s+value="([^"]+)"/.exec(step.text)!;
    const shippingMethod = await shippingId(zoned, 'parcel');
    await visitor.post('/checkout/delivery', { shippingMethod, paymentMethod: paymentMethod! });
    expect((await visitor.get('/checkout/review')).status).toBe(200);

    // The parcel does not go to France, and the courier is dearer.
    await visitor.post('/checkout', address('FR', '75001'));
    const review = await visitor.get('/checkout/review');
    expect([review.status, review.headers['location']]).toEqual([
      303,
      `/shop/${zoned.shopId}/checkout/delivery`,
    ]);
    const notice = 'Parcel does not deliver to your address. Please choose another delivery method.';
    const again = await visitor.get('/checkout/delivery');
    expect(mainOf(again)).toContain(notice);
    expect(again.text).not.toMatch(/name="shippingMethod"[^>]*checked/);
    expect(mainOf(await visitor.get('/cart'))).toContain(notice);

    // Nothing goes to Switzerland: the cart says so, and the address can be changed.
    await visitor.post('/checkout', address('CH', '8001'));
    const undeliverable =
      'We do not deliver these products to this address. Please change the address or the products.';
    const cart = await visitor.get('/cart');
    expect(mainOf(cart)).toContain(`${undeliverable} Change the address`);
    for (const path of ['/checkout/delivery', '/checkout/review']) {
      const { status, headers } = await visitor.get(path);
      expect([status, headers['location']]).toEqual([303, `/shop/${zoned.shopId}/checkout`]);
    }
    expect(mainOf(await visitor.get('/checkout'))).toContain(undeliverable);
    await visitor.post('/checkout', address('ES', '38001'));
    const islands = mainOf(await visitor.get('/checkout/delivery'));
    expect(islands).toContain('Parcel Expected delivery:');
    expect(islands).toContain('€39.90');
  });
});

test('a pickup says where and when, at checkout, in the order and in its email', async () => {
  service.setClock(MONDAY);
  const quay = await givenSmallShop(service, {
    shippingMethods: [
      {
        key: 'pickup',
        name: 'Pickup',
        kind: 'pickup',
        place: 'Quay 4\n20457 Hamburg',
        hours: 'Mon-Fri 10-18',
      },
    ],
  });
  const visitor = givenVisitor(service, quay.shopId);
  const productId = await givenProduct(quay, { number: 'CRATE' });
  await visitor.post('/cart/add', { productId, quantity: '1' });
  await visitor.post('/checkout', {
    'billing.firstName': 'Ada',
    'billing.lastName': 'Lindqvist',
    'billing.street': 'Kai 7',
    'billing.zipCode': '20457',
    'billing.city': 'Hamburg',
    'billing.country': 'DE',
    'billing.emailAddress': 'ada@mail.example',
  });
  const said = 'Pickup location: Quay 4 20457 Hamburg Opening hours: Mon-Fri 10-18';
  const step = await visitor.get('/checkout/delivery');
  expect(mainOf(step)).toContain(said);
  const [, paymentMethod] = /name="paymentMethod"\s+value="([^"]+)"/.exec(step.text)!;
  await visitor.post('/checkout/delivery', {
    shippingMethod: await shippingId(quay, 'pickup'),
    paymentMethod: paymentMethod!,
  });
  const review = await visitor.get('/checkout/review');
  expect(mainOf(review)).toContain(said);
  const [, reviewed] = /name="reviewed" value="([^"]+)"/.exec(review.text)!;
  await visitor.post('/checkout/order', { reviewed: reviewed! });
  const confirmation = await visitor.get('/confirmation');
  expect(mainOf(confirmation)).toContain(said);
  const [, orderPath] = /href="[^"]*(\/order\/[^"?]+)/.exec(confirmation.text)!;
  expect(mainOf(await visitor.get(orderPath!))).toContain(said);
  const email = (await queuedEmails(service, quay.shopId)).find(({ template }) => template === 'order')!;
  const facts = await orderConfirmation.load!(service.db, email);
  expect(facts!.pickup).toEqual({ place: ['Quay 4', '20457 Hamburg'], hours: ['Mon-Fri 10-18'] });
});
