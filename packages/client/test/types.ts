import { expectTypeOf } from 'vitest';
import {
  createClient,
  verifyWebhook,
  type Cart,
  type Order,
  type OrderSummary,
  type Price,
  type Product,
  type ShopEvent,
} from '../src/index.ts';

/** Is never run: `npm run types` fails when a line is accepted that should not be, or the other way round. */

const shop = createClient({ baseUrl: 'https://shop.example', shopId: 'DemoShop' });

export async function calls(): Promise<void> {
  const products = await shop.GET('/rs/shops/{shopId}/products', { params: { query: { q: 'tea' } } });
  expectTypeOf(products.items).toEqualTypeOf<Product[]>();
  expectTypeOf(products.results).toEqualTypeOf<number>();
  // Nothing is required, so nothing need be said.
  await shop.GET('/rs/shops/{shopId}/products');

  // @ts-expect-error there is no such path
  await shop.GET('/rs/shops/{shopId}/produkte');
  // @ts-expect-error it can't be deleted
  await shop.DELETE('/rs/shops/{shopId}/orders/{orderId}', { params: { path: { orderId: '1' } } });
  // @ts-expect-error there is no such parameter
  await shop.GET('/rs/shops/{shopId}/products', { params: { query: { search: 'tea' } } });
  // @ts-expect-error the order is not named
  await shop.GET('/rs/shops/{shopId}/orders/{orderId}');

  const nothing = await shop.DELETE('/rs/shops/{shopId}/products/{productId}', {
    params: { path: { productId: '1' } },
  });
  expectTypeOf(nothing).toEqualTypeOf<undefined>();

  const file = await shop.GET('/rs/shops/{shopId}/products/export');
  expectTypeOf(file).toEqualTypeOf<string>();
  const picture = { params: { path: { productId: '1' } }, body: new FormData() };
  await shop.POST('/rs/shops/{shopId}/products/{productId}/slideshow', picture);
}

export async function carts(): Promise<void> {
  const cart = await shop.POST('/rs/shops/{shopId}/carts', {
    body: { lineItems: [{ productId: '1', quantity: 2 }] },
  });
  expectTypeOf(cart).toEqualTypeOf<Cart>();
  const [line] = cart.lineItemContainer.productLineItems;
  expectTypeOf(line?.name).toEqualTypeOf<string | undefined>();
  // All amounts have one type.
  expectTypeOf(line?.lineItemPrice).toEqualTypeOf<Price | undefined>();
  expectTypeOf(cart.lineItemContainer.grandTotal).toEqualTypeOf<Price>();
  expectTypeOf(cart.lineItemContainer.grandTotal.taxType).toEqualTypeOf<'GROSS' | 'NET' | 'NONE'>();

  await shop.POST('/rs/shops/{shopId}/carts', {
    // @ts-expect-error a line needs a product
    body: { lineItems: [{ quantity: 2 }] },
  });
  // The token of the cart may be named, but the client knows it.
  const params = { path: { cartId: cart.cartId } };
  const order = await shop.POST('/rs/shops/{shopId}/carts/{cartId}/order', { params });
  expectTypeOf(order).toEqualTypeOf<Order>();
  // @ts-expect-error a new line has a body
  await shop.POST('/rs/shops/{shopId}/carts/{cartId}/line-items', { params });
}

export async function iterators(): Promise<void> {
  for await (const order of shop.list('/rs/shops/{shopId}/orders'))
    expectTypeOf(order).toEqualTypeOf<OrderSummary>();
  // @ts-expect-error it is no list
  shop.list('/rs/shops/{shopId}/orders/{orderId}');
  for await (const event of shop.events({ types: ['ORDER_CREATE'] }))
    expectTypeOf(event).toEqualTypeOf<ShopEvent>();
  // @ts-expect-error there is no such type
  shop.events({ types: ['ORDER_EATEN'] });
}

export async function webhooks(headers: Headers, body: string): Promise<void> {
  const call = await verifyWebhook({ headers, body }, { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
  if (call.eventType === 'ORDER_CREATE') {
    // It is empty when the order is gone.
    expectTypeOf(call.entity.orderNumber).toEqualTypeOf<string | undefined>();
    if (call.entity.orderId !== undefined) expectTypeOf(call.entity.orderNumber).toEqualTypeOf<string>();
  }
  // @ts-expect-error one of the two secrets is needed
  await verifyWebhook({ headers, body }, {});
}
