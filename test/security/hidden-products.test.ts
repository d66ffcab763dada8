import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { givenToken } from '../builders.ts';
import { changesNothing, givenProduct, givenSmallShop, NOW, type Shop } from '../carts.ts';
import { startService, type CallOptions, type Service } from '../service.ts';

/**
 * Anybody can make a cart, and a line says what a product is called and costs. So a cart takes what the same caller
 * could read in the catalogue: whoever guesses ids learns nothing from it.
 */

let service: Service;
let open: Shop;
let closed: Shop;

const SECRET = 'NEXT-YEARS-MODEL';

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  open = await givenSmallShop(service);
  closed = await givenSmallShop(service, { publicCatalogue: false });
});
afterAll(() => service.close());

let secrets = 0;

async function givenHiddenProduct(shop: Shop): Promise<string> {
  const productId = await givenProduct(shop, { number: `${SECRET}-${++secrets}`, price: 4711 });
  await service.db.run(sql`
    update product set visible = false where shop_id = ${shop.shopId} and product_id = ${productId}`);
  return productId;
}

async function givenEmptyCart({ shopId }: Shop, options: CallOptions = {}) {
  const made = await service.call('POST', `/${shopId}/carts`, { ...options, body: {} });
  expect(made.status).toBe(201);
  return {
    path: `/${shopId}/carts/${made.body.cartId}`,
    cartToken: String(made.headers['x-epages-cart-token']),
  };
}

const line = (productId: string) => ({ productId, quantity: 1 });

describe('a hidden product', () => {
  test('is as unknown to a cart as to the catalogue', async () => {
    const { shopId } = open;
    const productId = await givenHiddenProduct(open);
    const cart = await givenEmptyCart(open);
    const unknown = (await service.call('GET', `/${shopId}/products/${productId}`)).status;
    expect(unknown).toBe(404);
    await changesNothing(service, async () => {
      const tries = [
        await service.call('POST', `/${shopId}/carts`, { body: { lineItems: [line(productId)] } }),
        await service.call('POST', `/${shopId}/carts`, {
          body: { lineItems: [line(productId)], forceCreate: true },
        }),
        await service.call('POST', `${cart.path}/line-items`, {
          cartToken: cart.cartToken,
          body: line(productId),
        }),
      ];
      for (const { status, text } of tries) {
        expect(status).toBe(unknown);
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain('47.11');
      }
    });
    const many = await service.call('POST', `${cart.path}/multi-line-items`, {
      cartToken: cart.cartToken,
      body: [line(productId)],
    });
    expect(many.body).toMatchObject({
      status: 'PartiallyComplete',
      lineItemContainer: { productLineItems: [] },
    });
    expect(many.text).not.toContain(SECRET);
  });

  test('those who may change products are told what is wrong with it', async () => {
    const productId = await givenHiddenProduct(open);
    const post = async (scope: 'products_read' | 'products_write') =>
      service.call('POST', `/${open.shopId}/carts`, {
        token: await givenToken(service, open.shopId, [scope]),
        body: { lineItems: [line(productId)] },
      });
    expect((await post('products_read')).status).toBe(404);
    const told = await post('products_write');
    expect([told.status, told.body.message]).toEqual([400, expect.stringContaining(`${SECRET}-${secrets}`)]);
  });
});

describe('a closed shop', () => {
  test('fills no cart for anybody without a token, and an empty one holds nothing', async () => {
    const { shopId } = closed;
    const productId = await givenProduct(closed, { number: `${SECRET}-${++secrets}`, price: 4711 });
    expect((await service.call('GET', `/${shopId}/products/${productId}`)).status).toBe(401);
    const { path, cartToken } = await givenEmptyCart(closed);
    await changesNothing(service, async () => {
      const tries = [
        await service.call('POST', `/${shopId}/carts`, { body: { lineItems: [line(productId)] } }),
        await service.call('POST', `/${shopId}/carts`, {
          body: { lineItems: [line(productId)], forceCreate: true },
        }),
        await service.call('POST', `${path}/line-items`, { cartToken, body: line(productId) }),
        await service.call('POST', `${path}/multi-line-items`, { cartToken, body: [line(productId)] }),
      ];
      for (const { status, text, headers } of tries) {
        expect(status).toBe(401);
        expect(headers['www-authenticate']).toContain('invalid_token');
        expect(text).not.toContain(SECRET);
      }
    });
  });

  test('nor for an app that may not read products', async () => {
    const productId = await givenProduct(closed);
    const token = await givenToken(service, closed.shopId, ['carts_read']);
    const answer = await service.call('POST', `/${closed.shopId}/carts`, {
      token,
      body: { lineItems: [line(productId)] },
    });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      403,
      expect.stringContaining('scope="products_read"'),
    ]);
  });

  test('for an app that may read them it works, and goes on with the token of its cart alone', async () => {
    const productId = await givenProduct(closed);
    const token = await givenToken(service, closed.shopId, ['products_read']);
    const made = await service.call('POST', `/${closed.shopId}/carts`, {
      token,
      body: { lineItems: [line(productId)] },
    });
    expect(made.status).toBe(201);
    const more = await service.call('POST', `/${closed.shopId}/carts/${made.body.cartId}/line-items`, {
      cartToken: String(made.headers['x-epages-cart-token']),
      body: line(productId),
    });
    expect([more.status, more.body.lineItemContainer.productLineItems[0].quantity.amount]).toEqual([201, 2]);
  });
});
