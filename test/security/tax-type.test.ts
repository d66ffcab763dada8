import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { newId, newSecret, secretHash } from '../../src/kernel/ids.ts';
import { givenToken } from '../builders.ts';
import {
  ADA,
  changeSettings,
  givenProduct,
  givenSmallShop,
  NOW,
  refusal,
  totalsOf,
  type Shop,
} from '../carts.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { givenVisitor } from '../visitor.ts';

/**
 * Anybody can make a cart, and may say in which tax type its prices are shown. That must not be a way to pay less:
 * a shopper who asks for other prices gets other figures and the same sum.
 */

let service: Service;
/** Asks without tax, which comes on top: the buyer of a lamp for 86.95 pays 20 % more. */
let british: Shop;
/** Asks with tax, sends parcels to Switzerland, and exports are free of tax. */
let german: Shop;
let lamp: string;
let book: string;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  british = await givenSmallShop(service, {
    country: 'GB',
    countries: { items: ['GB'], default: 'GB' },
    taxes: { model: 'net' },
    taxClasses: [{ key: 'standard', name: 'standard', default: true, rates: { GB: 20 } }],
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 17 }],
  });
  lamp = await givenProduct(british, { price: 8695 });
  german = await givenSmallShop(service, {
    countries: { items: ['DE', 'CH', 'FR'], default: 'DE' },
    taxes: { model: 'gross', taxFreeOutsideEu: true },
    taxClasses: [
      { key: 'standard', name: 'standard', default: true, rates: { DE: 19, FR: 20 } },
      { key: 'reduced', name: 'reduced', rates: { DE: 7, FR: 5.5 } },
    ],
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 8.33 }],
  });
  book = await givenProduct(german, { price: 3499 });
});
afterAll(() => service.close());

/** What anybody can do: no token but that of the cart. */
async function anybodysCart(
  { shopId }: Shop,
  taxType: string | undefined,
  quantities: Readonly<Record<string, number>>,
  address: object = {},
): Promise<Answer['body']> {
  const lineItems = Object.entries(quantities).map(([productId, quantity]) => ({ productId, quantity }));
  const made = await service.call('POST', `/${shopId}/carts`, { body: { taxType, lineItems } });
  expect({ status: made.status, message: made.body.message }).toEqual({ status: 201, message: undefined });
  const { body } = await service.call('PUT', `/${shopId}/carts/${made.body.cartId}/billing-address`, {
    cartToken: String(made.headers['x-epages-cart-token']),
    body: { ...ADA, ...address },
  });
  return body;
}

describe('a cart without tax', () => {
  test('a shopper cannot make one: the British lamp costs 124.74 and not 103.95', async () => {
    const body = { taxType: 'NONE', lineItems: [{ productId: lamp, quantity: 1 }] };
    expect(await refusal(service, () => service.call('POST', `/${british.shopId}/carts`, { body }))).toEqual([
      403,
      'The token lacks the scope carts_price_write',
    ]);
    const { total, beforeTax, tax } = totalsOf(
      await anybodysCart(british, undefined, { [lamp]: 1 }, { country: 'GB' }),
    );
    expect({ total, beforeTax, tax }).toEqual({ total: 124.74, beforeTax: 103.95, tax: 20.79 });
  });

  test('nor can an app that may do everything else', async () => {
    const token = await givenToken(service, german.shopId, ['carts_read', 'orders_write', 'products_read']);
    const answer = await service.call('POST', `/${german.shopId}/carts`, {
      token,
      body: { taxType: 'NONE', lineItems: [{ productId: book, quantity: 1 }] },
    });
    expect(answer.status).toBe(403);
    expect(answer.headers['www-authenticate']).toContain('scope="carts_price_write"');
  });

  test('an app with the right to set prices can, and can have it ordered', async () => {
    const { token, shopId } = german;
    const made = await service.call('POST', `/${shopId}/carts`, {
      token,
      body: { taxType: 'NONE', lineItems: [{ productId: book, quantity: 1 }] },
    });
    expect([made.status, totalsOf(made.body).tax]).toEqual([201, 0]);
    const options = { token, cartToken: String(made.headers['x-epages-cart-token']) };
    const path = `/${shopId}/carts/${made.body.cartId}`;
    await service.call('PUT', `${path}/billing-address`, { ...options, body: ADA });
    const order = await service.call('POST', `${path}/order`, options);
    expect([order.status, order.body.grandTotal, order.body.totalTax]).toEqual([201, '43.32', '0']);
  });

  /** As there may be some from before it needed a right. */
  async function givenOldCart(): Promise<{ cartId: string; token: string }> {
    const cartId = newId(NOW);
    const token = newSecret(24);
    const lines = [{ lineItemId: newId(NOW), productId: book, quantity: '1' }];
    await service.db.run(sql`
      insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
        lines, product_ids)
      values (${german.shopId}, ${cartId}, ${secretHash(token)}, ${NOW}, ${NOW}, 1, 'EUR', 'en_GB', 'NONE',
        ${JSON.stringify(lines)}, ${[book]})`);
    const path = `/${german.shopId}/carts/${cartId}/billing-address`;
    expect((await service.call('PUT', path, { cartToken: token, body: ADA })).status).toBe(200);
    return { cartId, token };
  }

  test('one that is there already is not ordered through the API', async () => {
    const { cartId, token } = await givenOldCart();
    const ordering = () =>
      service.call('POST', `/${german.shopId}/carts/${cartId}/order`, {
        token: german.token,
        cartToken: token,
      });
    expect(await refusal(service, ordering)).toEqual([
      403,
      'Without tax only a cart can be ordered that an app with the scope carts_price_write has made',
    ]);
  });

  test('nor in the shop', async () => {
    const { cartId, token } = await givenOldCart();
    const { body } = await service.call('GET', `/${german.shopId}/carts/${cartId}`, { cartToken: token });
    const visitor = givenVisitor(service, german.shopId);
    const { pathname, search } = new URL(body.checkoutUrl);
    await visitor.get(pathname + search);
    const { rows } = await service.db.pool.query<{ delivery: string; payment: string }>(
      `select (select upper(shipping_method_id::text) from shipping_method where shop_id = $1) as delivery,
        (select upper(payment_method_id::text) from payment_method where shop_id = $1) as payment`,
      [german.shopId],
    );
    const review = await visitor.submit('/checkout/delivery', {
      shippingMethod: rows[0]!.delivery,
      paymentMethod: rows[0]!.payment,
    });
    const reviewed = /name="reviewed" value="([^"]*)"/.exec(review.text)![1]!;
    const before = await ordersOf(german);
    expect((await visitor.post('/checkout/order', { reviewed })).status).toBe(409);
    expect(await ordersOf(german)).toBe(before);
  });
});

const ordersOf = async ({ shopId }: Shop) =>
  (await service.db.one<{ count: number }>(sql`
    select count(*) as count from customer_order where shop_id = ${shopId}`))!.count;

describe('net and gross carts come to the same', () => {
  test('to Switzerland: 43.32, and not 36.39', async () => {
    const to = { country: 'CH' };
    const gross = totalsOf(await anybodysCart(german, 'GROSS', { [book]: 1 }, to));
    const net = totalsOf(await anybodysCart(german, 'NET', { [book]: 1 }, to));
    expect([gross.total, gross.tax]).toEqual([43.32, 0]);
    expect(net).toEqual(gross);
  });

  test('at home the tax is the one that the merchant owes', async () => {
    const gross = totalsOf(await anybodysCart(german, 'GROSS', { [book]: 1 }));
    const net = totalsOf(await anybodysCart(german, 'NET', { [book]: 1 }));
    expect(gross).toMatchObject({ subtotal: 34.99, total: 43.32, beforeTax: 36.4, tax: 6.92 });
    expect(net).toMatchObject({ subtotal: 29.4, shipping: 7, total: 43.32, beforeTax: 36.4, tax: 6.92 });
  });

  test('in a net shop the gross cart pays the tax as well', async () => {
    const net = totalsOf(await anybodysCart(british, 'NET', { [lamp]: 1 }, { country: 'GB' }));
    const gross = totalsOf(await anybodysCart(british, 'GROSS', { [lamp]: 1 }, { country: 'GB' }));
    expect(net).toMatchObject({ subtotal: 86.95, total: 124.74 });
    expect(gross).toMatchObject({ subtotal: 104.34, shipping: 20.4, total: 124.74, tax: 20.79 });
  });

  test('a thousand cheap pieces cost what they cost', async () => {
    const washer = await givenProduct(german, { price: 5 });
    expect(totalsOf(await anybodysCart(german, 'GROSS', { [washer]: 1000 })).total).toBe(58.33);
    expect(totalsOf(await anybodysCart(german, 'NET', { [washer]: 1000 })).total).toBe(58.33);
  });

  test('a discount that is reached with tax is reached without, and takes off the same', async () => {
    const shop = await givenSmallShop(service, {
      taxClasses: [
        { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
        { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
      ],
      basketDiscounts: [{ from: 22.6, absolute: 11.3 }],
      shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 5.95, freeFrom: 22.6 }],
      minimumCart: { code: 'SumProduct', amount: 22.6 },
    });
    const tea = await givenProduct(shop, { price: 1070, taxClass: 'reduced' });
    const cup = await givenProduct(shop, { price: 1190, taxClass: 'standard' });
    const gross = await anybodysCart(shop, 'GROSS', { [tea]: 1, [cup]: 1 });
    const net = await anybodysCart(shop, 'NET', { [tea]: 1, [cup]: 1 });
    expect(totalsOf(gross)).toMatchObject({ subtotal: 22.6, discount: -11.3, shipping: 0, total: 11.3 });
    expect(totalsOf(net)).toMatchObject({ subtotal: 20, discount: -10, shipping: 0, total: 11.3 });
    expect([gross.minimumCart.status, net.minimumCart.status]).toEqual([true, true]);
    // A limit is said as the shop says it.
    expect(net.minimumCart.amount).toMatchObject({ amount: 22.6, taxType: 'GROSS' });
    await changeSettings(shop, { minimumCart: { code: 'SumProduct', amount: 22.61 } });
    expect((await anybodysCart(shop, 'NET', { [tea]: 1, [cup]: 1 })).minimumCart.status).toBe(false);
  });
});
