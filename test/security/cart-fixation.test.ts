import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import {
  changesNothing,
  givenDemoShop,
  NOW,
  operationsOn,
  paymentId,
  shippingId,
  type Shop,
} from '../carts.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { givenVisitor, mainOf, type Visitor } from '../visitor.ts';

/**
 * Mallory makes a cart through the public API, keeps its token and sends the link to Ada. What Ada does with the cart
 * after opening the link is nobody's business but hers.
 */

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenDemoShop(service);
});
afterAll(() => service.close());

interface Bait {
  id: string;
  token: string;
  body: Answer['body'];
  /** What Mallory can do with the cart. */
  call: (method: string, path?: string, body?: unknown) => Promise<Answer>;
}

async function givenBait(token?: string): Promise<Bait> {
  const made = await service.call('POST', '/DemoShop/carts', {
    ...(token !== undefined && { token }),
    body: { lineItems: [{ productId: shop.ids['CB-101'], quantity: 2 }] },
  });
  expect(made.status).toBe(201);
  const id: string = made.body.cartId;
  const cartToken = String(made.headers['x-epages-cart-token']);
  return {
    id,
    token: cartToken,
    body: made.body,
    call: (method, path = '', body?) =>
      service.call(method, `/DemoShop/carts/${id}${path}`, {
        cartToken,
        token: shop.token,
        ...(body !== undefined && { body }),
      }),
  };
}

const linkOf = ({ body }: Bait) => {
  const { pathname, search } = new URL(body.checkoutUrl);
  return pathname + search;
};

const ADA = {
  'billing.emailAddress': 'ada.lindqvist@mail.example',
  'billing.country': 'DE',
  'billing.firstName': 'Ada',
  'billing.lastName': 'Lindqvist',
  'billing.street': 'Kai 7',
  'billing.zipCode': '20457',
  'billing.city': 'Hamburg',
};

const MALLORYS_ADDRESS = {
  firstName: 'Mallory',
  lastName: 'Grey',
  street: 'Hafenweg 1',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'DE',
  emailAddress: 'mallory@mail.example',
};

async function toReview(visitor: Visitor, delivery = 'standard') {
  await visitor.submit('/checkout', ADA);
  return visitor.submit('/checkout/delivery', {
    shippingMethod: await shippingId(shop, delivery),
    paymentMethod: await paymentId(shop, 'advance'),
  });
}

const reviewedIn = (text: string) => /name="reviewed" value="([^"]*)"/.exec(text)![1]!;
const cartOf = (visitor: Visitor) => visitor.session()['cart'] as { id: string; count: number };

async function lastOrder() {
  return service.db.one<{ billing: string; shipping: string | null }>(sql`
    select billing_address ->> 'street' as billing, shipping_address ->> 'street' as shipping
    from customer_order where shop_id = 'DemoShop' order by created_at desc, order_number desc limit 1`);
}

describe('a cart that anybody could have made', () => {
  test('who opens its link gets an own one, and the maker of the first learns and changes nothing', async () => {
    const bait = await givenBait();
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(bait));
    const own = cartOf(ada);
    expect(own).toMatchObject({ count: 2, copyOf: bait.id });
    expect(own.id).not.toBe(bait.id);
    expect(mainOf(await ada.get('/cart'))).toContain('Subtotal €19.80');
    const review = await toReview(ada);

    // Mallory reads, changes and orders: everything is refused, and nothing has changed.
    await changesNothing(service, async () => {
      for (const [method, path, body] of await operationsOn({ shop, ...bait })) {
        const answer = await bait.call(method, path, body);
        expect([method, path, answer.status, answer.body.message.split(',')[0]]).toEqual([
          method,
          path,
          403,
          'The cart was picked up in the shop',
        ]);
        expect(answer.text).not.toContain('Kai 7');
      }
      // The cart of Ada has a token that nobody knows.
      const guess = await service.call('GET', `/DemoShop/carts/${own.id}`, { cartToken: bait.token });
      expect(guess.status).toBe(403);
    });

    await ada.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(await lastOrder()).toEqual({ billing: 'Kai 7', shipping: null });
  });

  test('a copy in the memory of the service does not let the maker in either', async () => {
    const bait = await givenBait();
    expect((await bait.call('PUT', '/billing-address', MALLORYS_ADDRESS)).status).toBe(200);
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(bait));
    expect((await bait.call('PUT', '/shipping-address', MALLORYS_ADDRESS)).status).toBe(403);
    expect((await bait.call('POST', '/order')).status).toBe(403);
    // Another process has a copy of its own.
    const beside = await startService({}, service);
    try {
      beside.setClock(NOW);
      const second = await givenBait();
      const path = `/DemoShop/carts/${second.id}`;
      const options = { cartToken: second.token, token: shop.token };
      await beside.call('PUT', `${path}/billing-address`, { ...options, body: MALLORYS_ADDRESS });
      await givenVisitor(service, 'DemoShop').get(linkOf(second));
      const put = await beside.call('PUT', `${path}/shipping-address`, {
        ...options,
        body: MALLORYS_ADDRESS,
      });
      expect(put.status).toBe(403);
      expect((await beside.call('POST', `${path}/order`, options)).status).toBe(403);
    } finally {
      await beside.close();
    }
  });

  test('everything that was chosen comes along', async () => {
    const bait = await givenBait();
    await service.call('POST', `/DemoShop/carts/${bait.id}/coupon`, {
      cartToken: bait.token,
      body: 'code=AUTUMN15',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    await bait.call('PUT', '/billing-address', MALLORYS_ADDRESS);
    await bait.call('PUT', '/shipping-data', { id: await shippingId(shop, 'express') });
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(bait));
    const columns = sql`currency, locale, tax_type, lines, product_ids, coupon_code_key, billing_address::text as billing,
      shipping_address::text as shipping, shipping_method_id, payment_method_id, customer_id`;
    const stored = (id: string) =>
      service.db.one(sql`select ${columns} from cart where shop_id = 'DemoShop' and cart_id = ${id}`);
    expect(await stored(cartOf(ada).id)).toEqual(await stored(bait.id));
  });

  test('the link stays good: each visitor gets a copy, and the same visitor the same one', async () => {
    const bait = await givenBait();
    const previewer = givenVisitor(service, 'DemoShop');
    await previewer.get(linkOf(bait));
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(bait));
    const own = cartOf(ada);
    expect(own.id).not.toBe(cartOf(previewer).id);
    await ada.submit('/checkout', ADA);
    await ada.get(linkOf(bait));
    expect(cartOf(ada)).toEqual(own);
    expect((await ada.get('/checkout')).text).toContain('value="Kai 7"');
  });

  test('whoever asks for the headers only writes nothing', async () => {
    const bait = await givenBait();
    await changesNothing(service, async () => {
      const head = await service.app.inject({
        method: 'HEAD',
        url: linkOf(bait),
        headers: { host: 'localhost' },
      });
      expect([head.statusCode, head.cookies]).toEqual([303, []]);
    });
    expect((await bait.call('GET')).status).toBe(200);
  });

  test('lists show the cart that goes on, and not the one that has ended', async () => {
    const bait = await givenBait();
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(bait));
    const { body } = await service.call('GET', '/DemoShop/carts?resultsPerPage=100', { token: shop.token });
    const ids = body.items.map(({ cartId }: { cartId: string }) => cartId);
    expect(ids).toContain(cartOf(ada).id);
    expect(ids).not.toContain(bait.id);
    expect(body.results).toBe(ids.length);
  });
});

test('a cart that an app with a token made stays one cart: the app goes on with it', async () => {
  const given = await givenBait(shop.token);
  const ada = givenVisitor(service, 'DemoShop');
  await ada.get(linkOf(given));
  expect(cartOf(ada)).toEqual({ id: given.id, count: 2 });
  await ada.submit('/checkout', ADA);
  expect((await given.call('GET')).body.billingAddress.street).toBe('Kai 7');
});

describe('the order is what was reviewed', () => {
  const CHANGES: [string, string, () => Promise<unknown>][] = [
    ['the delivery address', '/shipping-address', async () => MALLORYS_ADDRESS],
    ['the billing address', '/billing-address', async () => MALLORYS_ADDRESS],
    ['the delivery', '/shipping-data', async () => ({ id: await shippingId(shop, 'pickup') })],
    ['the payment', '/payment-data', async () => ({ name: 'Cash' })],
  ];

  test.each(CHANGES)('%s was changed in between: nothing is ordered', async (_what, path, body) => {
    // An app made this cart, so it may still change it.
    const given = await givenBait(shop.token);
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(given));
    const review = await toReview(ada);
    expect((await given.call('PUT', path, await body())).status).toBe(200);
    await changesNothing(service, async () => {
      const answer = await ada.post('/checkout/order', { reviewed: reviewedIn(review.text) });
      expect(answer.status).toBe(409);
      expect(reviewedIn(answer.text)).not.toBe(reviewedIn(review.text));
    });
  });

  test('another quantity that comes to the same total is seen too', async () => {
    const given = await givenBait(shop.token);
    const ada = givenVisitor(service, 'DemoShop');
    await ada.get(linkOf(given));
    const review = await toReview(ada, 'express');
    const [line] = given.body.lineItemContainer.productLineItems;
    await given.call('PUT', `/line-items/${line.lineItemId}`, { quantity: 1 });
    await given.call('PUT', `/line-items/${line.lineItemId}/product-price`, { singleItemPrice: 19.8 });
    const answer = await ada.post('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(answer.status).toBe(409);
    expect(mainOf(answer)).toContain('Review and order');
    // What is on the page now can be ordered.
    const done = await ada.submit('/checkout/order', { reviewed: reviewedIn(answer.text) });
    expect(done.place).toBe('/shop/DemoShop/confirmation');
  });

  test('a form without a review orders nothing', async () => {
    const ada = givenVisitor(service, 'DemoShop');
    await ada.submit('/cart/add', { productId: shop.ids['CB-101']!, quantity: '1' });
    await toReview(ada);
    await changesNothing(service, async () => {
      expect((await ada.post('/checkout/order', {})).status).toBe(409);
    });
  });
});
