import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenToken } from '../builders.ts';
import { ADA, givenDemoShop, NOW, type Shop } from '../carts.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { loadAppScripts } from '../storefront.ts';
import { givenVisitor } from '../visitor.ts';

/**
 * An app may read all carts of a shop, to count them or to remind people of them. With the link to a cart it could
 * change them too, so lists hold no link but to the carts that the app has made.
 */

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenDemoShop(service);
});
afterAll(() => service.close());

const withoutAccess = {
  pickupToken: '',
  checkoutUrl: 'http://localhost:80/shop/DemoShop/checkout',
  registerSessionUrl: 'http://localhost:80/shop/DemoShop/cart',
};

const withAccess = (cartId: string) => ({
  pickupToken: expect.stringMatching(/^[A-Za-z0-9+/=]{80,}$/),
  checkoutUrl: expect.stringContaining(`/shop/DemoShop/checkout?cart=${cartId}&PickupToken=`),
  registerSessionUrl: expect.stringContaining(`/shop/DemoShop/cart?cart=${cartId}&PickupToken=`),
});

const accessOf = ({ pickupToken, checkoutUrl, registerSessionUrl }: Answer['body']) => ({
  pickupToken,
  checkoutUrl,
  registerSessionUrl,
});

async function makeCart(token?: string) {
  const { body, headers } = await service.call('POST', '/DemoShop/carts', {
    ...(token !== undefined && { token }),
    body: { lineItems: [{ productId: shop.ids['CB-101'], quantity: 1 }] },
  });
  return { id: body.cartId as string, body, cartToken: String(headers['x-epages-cart-token']) };
}

async function listed(token: string, cartId: string, cartToken?: string): Promise<Answer['body']> {
  const { body } = await service.call('GET', '/DemoShop/carts?resultsPerPage=100', {
    token,
    ...(cartToken !== undefined && { cartToken }),
  });
  return body.items.find((cart: Answer['body']) => cart.cartId === cartId);
}

test('a list opens nobody else’s cart', async () => {
  const reader = await givenToken(service, 'DemoShop', ['carts_read']);
  const { id } = await makeCart();
  expect(accessOf(await listed(reader, id))).toEqual(withoutAccess);
  const { text } = await service.call('GET', '/DemoShop/carts?resultsPerPage=100', { token: reader });
  expect(text).not.toContain('PickupToken');
});

test('nor that of a visitor of the shop', async () => {
  const reader = await givenToken(service, 'DemoShop', ['carts_read']);
  const visitor = givenVisitor(service, 'DemoShop');
  await visitor.submit('/cart/add', { productId: shop.ids['CB-101']!, quantity: '1' });
  const { id } = visitor.session()['cart'] as { id: string };
  expect(accessOf(await listed(reader, id))).toEqual(withoutAccess);
});

test('nor that of another app', async () => {
  const maker = await givenToken(service, 'DemoShop', ['carts_read', 'products_read']);
  const reader = await givenToken(service, 'DemoShop', ['carts_read']);
  const { id } = await makeCart(maker);
  expect(accessOf(await listed(reader, id))).toEqual(withoutAccess);
  expect(accessOf(await listed(maker, id))).toEqual(withAccess(id));
});

test('the token of one cart opens that one in a list, and no other', async () => {
  const reader = await givenToken(service, 'DemoShop', ['carts_read']);
  const mine = await makeCart();
  const other = await makeCart();
  expect(accessOf(await listed(reader, mine.id, mine.cartToken))).toEqual(withAccess(mine.id));
  expect(accessOf(await listed(reader, other.id, mine.cartToken))).toEqual(withoutAccess);
});

test('whoever makes a cart, or shows its token, gets the links', async () => {
  const { id, body, cartToken } = await makeCart();
  expect(accessOf(body)).toEqual(withAccess(id));
  const read = await service.call('GET', `/DemoShop/carts/${id}`, { cartToken });
  expect(accessOf(read.body)).toEqual(withAccess(id));
  const changed = await service.call('PUT', `/DemoShop/carts/${id}/billing-address`, {
    cartToken,
    body: ADA,
  });
  expect(accessOf(changed.body)).toEqual(withAccess(id));
});

test('a page tells the scripts of apps no link, whatever the visitor allows', async () => {
  await loadAppScripts(service);
  const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
  await visitor.post('/consent', { consent: 'all' });
  const page = await visitor.submit('/cart/add', { productId: shop.ids['CB-101']!, quantity: '1' });
  expect(page.text).toContain('cart:add');
  expect(page.text).not.toContain('PickupToken');
  expect(page.text).toContain('"pickupToken":null');
});
