import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenProduct, givenSmallShop, shippingId, type Shop } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';

let service: Service;
let shop: Shop;
const MONDAY = new Date('2026-11-16T08:30:00Z');

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service, {
    shippingMethods: [
      { key: 'pickup', name: 'Pickup', kind: 'pickup' },
      { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 },
      { key: 'slow', name: 'Slow', kind: 'flat', price: 1 },
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

test('the checkout names them for each method, by the product that takes longest', async () => {
  service.setClock(MONDAY);
  const visitor = givenVisitor(service, shop.shopId);
  for (const deliveryPeriod of ['1', '4']) {
    const productId = await givenProduct(shop, { facts: { deliveryPeriod } });
    await visitor.post('/cart/add', { productId, quantity: '1' });
  }
  await visitor.post('/checkout', {
    'billing.firstName': 'Ada',
    'billing.lastName': 'Lindqvist',
    'billing.street': 'Kai 7',
    'billing.zipCode': '20457',
    'billing.city': 'Hamburg',
    'billing.country': 'DE',
    'billing.emailAddress': 'ada@mail.example',
  });
  const page = await visitor.get('/checkout/delivery');
  const text = mainOf(page);
  expect(daysOn(text)).toBe('Mon 23 November – Wed 25 November');
  expect(text.match(/Expected delivery: /g)).toHaveLength(1);
  const [, paymentMethod] = /name="paymentMethod"\s+value="([^"]+)"/.exec(page.text)!;
  await visitor.post('/checkout/delivery', {
    shippingMethod: await shippingId(shop, 'parcel'),
    paymentMethod: paymentMethod!,
  });
  expect(daysOn(mainOf(await visitor.get('/checkout/review')))).toBe('Mon 23 November – Wed 25 November');
});
