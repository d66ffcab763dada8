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
  expect(product.text).toContain(
    '"deliveryTime":{"@type":"ShippingDeliveryTime",' +
      '"handlingTime":{"@type":"QuantitativeValue","minValue":4,"maxValue":4,"unitCode":"DAY"},' +
      '"transitTime":{"@type":"QuantitativeValue","minValue":1,"maxValue":3,"unitCode":"DAY"}}',
  );

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
