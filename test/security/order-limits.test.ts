import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import {
  changeSettings,
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  on,
  paymentId,
  refusal,
  type Shop,
} from '../carts.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { givenVisitor, mainOf } from '../visitor.ts';

/** One buyer must not empty a shop: neither with one large order nor with very many. */

let service: Service;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0' });
  service.setClock(NOW);
});
afterAll(() => service.close());

const quantities = ({ lineItemContainer }: Answer['body']): number[] =>
  lineItemContainer.productLineItems.map(({ quantity }: Answer['body']) => quantity.amount);

const patch = ({ shopId, token }: Shop, productId: string, ...changes: object[]) =>
  service.call('PATCH', `/${shopId}/products/${productId}`, { token, body: changes });

const productOf = async ({ shopId, token }: Shop, productId: string) =>
  (await service.call('GET', `/${shopId}/products/${productId}`, { token })).body;

const stockOf = async ({ shopId }: Shop, productId: string) =>
  (await service.db.one<{ stock: number }>(sql`
    select stock::float8 as stock from product where shop_id = ${shopId} and product_id = ${productId}`))!
    .stock;

describe('the largest quantity of an order', () => {
  test('lowers what is more, whichever way it came into the cart', async () => {
    const shop = await givenSmallShop(service, { maxPerOrder: 5 });
    const [tea, cup] = [await givenProduct(shop, { stock: 1000 }), await givenProduct(shop, { stock: 1000 })];
    const cart = await givenCart(shop, { [tea]: 400, [cup]: 5 });
    expect(quantities(cart.body)).toEqual([5, 5]);
    expect(quantities(await done(cart, 'POST', '/line-items', { productId: tea, quantity: 3 }))).toEqual([
      5, 5,
    ]);
    const [line] = cart.body.lineItemContainer.productLineItems;
    const update = (quantity: number) => done(cart, 'PUT', `/line-items/${line.lineItemId}`, { quantity });
    expect(quantities(await update(2))).toEqual([2, 5]);
    expect(quantities(await update(6))).toEqual([5, 5]);
    const many = await done(cart, 'POST', '/multi-line-items', [{ productId: cup, quantity: 1 }]);
    expect(quantities(many)).toEqual([5, 5]);
  });

  test('a product may have its own, and its answer says which holds', async () => {
    const shop = await givenSmallShop(service);
    const tea = await givenProduct(shop, { stock: 1000 });
    expect(await productOf(shop, tea)).not.toHaveProperty('maxOrder');
    await changeSettings(shop, { maxPerOrder: 5 });
    expect((await productOf(shop, tea)).maxOrder).toBe(5);
    expect((await patch(shop, tea, { op: 'add', path: '/maxOrder', value: 12 })).body.maxOrder).toBe(12);
    expect(quantities((await givenCart(shop, { [tea]: 400 })).body)).toEqual([12]);
    expect((await patch(shop, tea, { op: 'remove', path: '/maxOrder' })).body.maxOrder).toBe(5);
    expect(
      await refusal(service, () => patch(shop, tea, { op: 'add', path: '/maxOrder', value: 0 })),
    ).toEqual([400, expect.stringContaining('OUT_OF_RANGE on field [0] /maxOrder.value')]);
  });

  test('is asked again when a cart is ordered that is older than it', async () => {
    const shop = await givenSmallShop(service);
    const tea = await givenProduct(shop, { number: 'TEA', stock: 1000 });
    const cart = await givenFullCart(shop, { [tea]: 40 });
    const refused = [409, 'No more than 5 of TEA (TEA) can be ordered at once'];
    await changeSettings(shop, { maxPerOrder: 5 });
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual(refused);
    await changeSettings(shop, { maxPerOrder: null });
    await patch(shop, tea, { op: 'add', path: '/maxOrder', value: 5 });
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual(refused);
    const [line] = cart.body.lineItemContainer.productLineItems;
    await done(cart, 'PUT', `/line-items/${line.lineItemId}`, { quantity: 40 });
    expect(quantities(await done(cart, 'POST', '/order'))).toEqual([5]);
    expect(await stockOf(shop, tea)).toBe(995);
  });

  test('is said on the pages of the shop', async () => {
    const shop = await givenSmallShop(service);
    const tea = await givenProduct(shop, { number: 'TEA-1', stock: 1000 });
    const visitor = givenVisitor(service, shop.shopId);
    await visitor.submit('/cart/add', { productId: tea, quantity: '40' });
    await changeSettings(shop, { maxPerOrder: 5 });
    expect((await visitor.get('/Products/TEA-1')).text).toMatch(/name="quantity"[^>]*\smax="5"/);
    const page = await visitor.get('/cart');
    expect(page.text).toMatch(/name="quantity"[^>]*\smax="5"/);
    expect(mainOf(page)).toContain('At most 5 pieces per order. Please change the quantity.');
    expect((await visitor.get('/checkout')).headers.location).toBe(`/shop/${shop.shopId}/cart`);
    const corrected = await visitor.submit('/cart/add', { productId: tea, quantity: '1' });
    expect(corrected.text).toContain('the quantity was changed to 5');
  });
});

describe('orders per hour and client address', () => {
  const ADA = {
    'billing.emailAddress': 'ada.lindqvist@mail.example',
    'billing.country': 'DE',
    'billing.firstName': 'Ada',
    'billing.lastName': 'Lindqvist',
    'billing.street': 'Kai 7',
    'billing.zipCode': '20457',
    'billing.city': 'Hamburg',
  };

  async function order(shop: Shop, productId: string, address: string) {
    const visitor = givenVisitor(service, shop.shopId, address);
    await visitor.submit('/cart/add', { productId, quantity: '1' });
    await visitor.submit('/checkout', ADA);
    const paymentMethod = await paymentId(shop, 'advance');
    const review = await visitor.submit('/checkout/delivery', { shippingMethod: '', paymentMethod });
    const fields = Object.fromEntries(
      [...review.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name, value]) => [name!, value!],
      ),
    );
    return visitor.post('/checkout/order', fields);
  }

  test('are 60 on the pages of the shop; an app with a token is bounded by the limit of its token', async () => {
    const shop = await givenSmallShop(service);
    const tea = await givenProduct(shop, { stock: 1000 });
    for (let orders = 0; orders < 60; orders++) {
      expect((await order(shop, tea, '192.0.2.1')).headers.location).toContain('/confirmation');
    }
    const refused = await order(shop, tea, '192.0.2.1');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1800');
    expect(await stockOf(shop, tea)).toBe(940);
    expect((await order(shop, tea, '192.0.2.2')).status).toBe(303);
    for (let orders = 0; orders < 61; orders++) {
      await done(await givenFullCart(shop, { [tea]: 1 }), 'POST', '/order');
    }
    expect(await stockOf(shop, tea)).toBe(878);
  });
});
