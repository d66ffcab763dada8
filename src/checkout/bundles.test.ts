import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  done,
  givenCart,
  givenCoupon,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  linesOf,
  on,
  reasonOf,
  type Shop,
} from '../../test/carts.ts';
import {
  historyOf,
  on as manage,
  placed,
  service,
  SETTINGS,
  startManaging,
  stockOf,
  well,
  type Placed,
} from '../../test/managed-orders.ts';

/** Bundles: what they cost, the tax of their parts, their stock, and what becomes of them in an order. */

beforeAll(() => startManaging());
afterAll(() => service.close());

async function update({ shopId, token }: Shop, productId: string, body: object) {
  const answer = await service.call('PATCH', `/manage/shops/${shopId}/products/${productId}`, {
    token,
    body,
  });
  return { status: answer.status, message: answer.body.message as string | undefined, body: answer.body };
}

/** A breakfast of 30.00: two mugs of 10.00 each at 19 %, and a book of 20.00 at 7 %. */
async function givenBreakfast({ discount, price = 3000 }: { discount?: number; price?: number } = {}) {
  const shop = await givenSmallShop(service, SETTINGS);
  const mug = await givenProduct(shop, { number: 'MUG', price: 1000, stock: 9 });
  const book = await givenProduct(shop, { number: 'BOOK', price: 2000, stock: 3, taxClass: 'reduced' });
  const bundle = await givenProduct(shop, { number: 'BREAKFAST', price });
  const parts = [
    { productId: mug, quantity: 2 },
    { productId: book, quantity: 1 },
  ];
  const { status, message } = await update(shop, bundle, {
    parts,
    ...(discount !== undefined && { partsDiscount: discount }),
  });
  expect([status, message]).toEqual([200, undefined]);
  return { shop, mug, book, bundle, parts };
}

const partsIn = (order: Placed['body']) =>
  order.management.bundles[0].parts.map(
    (part: { sku: string; quantity: number; amount: { amount: number } }) => [
      part.sku,
      part.quantity,
      part.amount.amount,
    ],
  );

const productOf = async ({ shopId, token }: Shop, productId: string) =>
  (await service.call('GET', `/${shopId}/products/${productId}`, { token })).body;

describe('a bundle', () => {
  test('is one line, taxed by its parts, in a cart and in an order', async () => {
    const { shop, bundle, mug, book } = await givenBreakfast();
    const cart = await givenFullCart(shop, { [bundle]: 2 });
    const { lineItemContainer } = await done(cart, 'GET');
    const [line, ...others] = lineItemContainer.productLineItems;
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      sku: 'BREAKFAST',
      quantity: { amount: 2 },
      singleItemPrice: { amount: 30 },
      lineItemPrice: { amount: 60 },
    });
    // 30.00 at 19 % have 4.79, 30.00 at 7 % 1.96, the delivery of 4.90 is in the 19 %: 34.90 have 5.57.
    expect(lineItemContainer.totalTax.amount).toBe(7.53);
    expect(lineItemContainer.grandTotal.amount).toBe(64.9);
    const order = { shop, body: await done(cart, 'POST', '/order'), id: '' };
    order.id = order.body.orderId;
    expect(order.body.lineItemContainer.productLineItems).toMatchObject([
      { sku: 'BREAKFAST', lineItemPrice: { amount: 60 } },
    ]);
    expect(partsIn(await well(order, 'GET'))).toEqual([
      ['MUG', 4, 30],
      ['BOOK', 2, 30],
    ]);
    expect([await stockOf(shop, mug), await stockOf(shop, book), await stockOf(shop, bundle)]).toEqual([
      5, 1, 1,
    ]);
  });

  test('has the stock that its scarcest part is enough for', async () => {
    const { shop, bundle, book, mug } = await givenBreakfast();
    expect((await productOf(shop, bundle)).stocklevel).toBe(3);
    await placed(shop, { [mug]: 5 });
    expect((await productOf(shop, bundle)).stocklevel).toBe(2);
    const patch = (productId: string, value: number) =>
      service.call('PATCH', `/${shop.shopId}/products/${productId}`, {
        token: shop.token,
        body: [{ op: 'replace', path: '/stocklevel', value }],
      });
    await patch(book, 1);
    expect((await productOf(shop, bundle)).stocklevel).toBe(1);
    // What is sent for the bundle itself is not used.
    await patch(bundle, 70);
    expect((await productOf(shop, bundle)).stocklevel).toBe(1);
    await service.call('DELETE', `/${shop.shopId}/products/${book}`, { token: shop.token });
    expect((await productOf(shop, bundle)).stocklevel).toBe(0);
    const [status] = await reasonOf(
      service.call('POST', `/${shop.shopId}/carts`, {
        token: shop.token,
        body: { lineItems: [{ productId: bundle, quantity: 1 }] },
      }),
    );
    expect(status).toBe(400);
  });

  test('and its parts share their stock, in a cart and between carts', async () => {
    const { shop, bundle, book } = await givenBreakfast();
    const cart = await givenCart(shop, { [book]: 1, [bundle]: 9 });
    expect(linesOf(cart.body)).toEqual([
      ['BOOK', 1, 20, 20],
      ['BREAKFAST', 2, 30, 60],
    ]);
    const first = await givenFullCart(shop, { [bundle]: 2 });
    const second = await givenFullCart(shop, { [bundle]: 2 });
    expect((await on(first, 'POST', '/order')).status).toBe(201);
    const refused = await changesNothing(service, () => reasonOf(on(second, 'POST', '/order')));
    expect(refused).toEqual([409, expect.stringContaining('BOOK')]);
  });

  test('costs its parts less a percentage, also after they have changed', async () => {
    const { shop, bundle, mug } = await givenBreakfast({ discount: 10 });
    expect((await productOf(shop, bundle)).priceInfo.price.amount).toBe(36);
    await service.call('PATCH', `/${shop.shopId}/products/${mug}`, {
      token: shop.token,
      body: [{ op: 'replace', path: '/priceInfo/price/amount', value: 15 }],
    });
    expect((await productOf(shop, bundle)).priceInfo.price.amount).toBe(45);
    const cart = await givenFullCart(shop, { [bundle]: 1 });
    expect((await done(cart, 'GET')).lineItemContainer.lineItemsSubTotal.amount).toBe(45);
    const { body } = await on(cart, 'POST', '/order');
    expect(partsIn(await well({ shop, id: body.orderId, body }, 'GET'))).toEqual([
      ['MUG', 2, 27],
      ['BOOK', 1, 18],
    ]);
  });

  test('is discounted as one product', async () => {
    const { shop, bundle } = await givenBreakfast();
    await givenCoupon(shop, 'BUNDLE', { name: 'PERCENT', amount: 10 }, { productIds: [bundle] });
    const cart = await givenFullCart(shop, { [bundle]: 1 });
    await done(cart, 'POST', '/coupon', { code: 'BUNDLE' });
    const { lineItemContainer } = await done(cart, 'GET');
    expect(lineItemContainer.couponLineItem.lineItemPrice.amount).toBe(-3);
    expect(lineItemContainer.productLineItems[0].lineItemCouponDiscount.amount).toBe(3);
  });

  test('has a price by hand as any product', async () => {
    const { shop, bundle } = await givenBreakfast();
    const cart = await givenFullCart(shop, { [bundle]: 3 });
    const { lineItemContainer } = await done(cart, 'GET');
    const [{ lineItemId }] = lineItemContainer.productLineItems;
    const priced = await done(cart, 'PUT', `/line-items/${lineItemId}/product-price`, {
      singleItemPrice: 9.99,
    });
    expect(priced.lineItemContainer.productLineItems[0]).toMatchObject({
      singleItemPrice: { amount: 9.99 },
      lineItemPrice: { amount: 29.97 },
    });
  });
});

describe('the parts of a bundle', () => {
  test('that have variations are chosen by the customer', async () => {
    const shop = await givenSmallShop(service, SETTINGS);
    const shirt = await givenProduct(shop, { number: 'SHIRT', price: 2000 });
    const cap = await givenProduct(shop, { number: 'CAP', price: 1000, stock: 5 });
    const answer = await service.call('POST', `/${shop.shopId}/products/${shirt}/variations`, {
      token: shop.token,
      body: {
        productType: 'Default',
        variationAttributes: [{ name: 'Size', values: [{ value: 'S' }, { value: 'L' }] }],
        visibleAfterCreation: true,
      },
    });
    expect([answer.status, answer.body?.message]).toEqual([204, undefined]);
    const { items } = (
      await service.call('GET', `/${shop.shopId}/products/${shirt}/variations`, { token: shop.token })
    ).body;
    interface Listed {
      link: { href: string };
      attributeSelection: { value: string }[];
    }
    const [small, large] = ['S', 'L'].map((size) =>
      (items as Listed[])
        .find(({ attributeSelection }) => attributeSelection.some(({ value }) => value === size))!
        .link.href.split('/')
        .at(-1)!,
    ) as [string, string];
    const stock = (id: string, value: number) =>
      service.call('PATCH', `/${shop.shopId}/products/${id}`, {
        token: shop.token,
        body: [{ op: 'replace', path: '/stocklevel', value }],
      });
    await stock(small, 1);
    await stock(large, 4);
    const outfit = await givenProduct(shop, { number: 'OUTFIT', price: 2500 });
    await update(shop, outfit, {
      parts: [
        { productId: shirt, quantity: 1 },
        { productId: cap, quantity: 1 },
      ],
    });
    expect((await productOf(shop, outfit)).stocklevel).toBe(4);
    const cart = await givenFullCart(shop, { [cap]: 1 });
    const add = (choices?: string[], quantity = 1) =>
      on(cart, 'POST', '/line-items', { productId: outfit, quantity, ...(choices && { choices }) });
    expect(await reasonOf(add())).toEqual([400, expect.stringContaining('SHIRT')]);
    expect(await reasonOf(add([cap]))).toEqual([400, expect.stringContaining('SHIRT')]);
    expect(linesOf((await add([small], 3)).body)).toEqual([
      ['CAP', 1, 10, 10],
      ['OUTFIT', 1, 25, 25],
    ]);
    expect(linesOf((await add([large], 2)).body)).toEqual([
      ['CAP', 1, 10, 10],
      ['OUTFIT', 1, 25, 25],
      ['OUTFIT', 2, 25, 50],
    ]);
    const { body } = await on(cart, 'POST', '/order');
    const order = { shop, id: body.orderId, body };
    expect(
      (await well(order, 'GET')).management.bundles.map(({ parts }: { parts: object[] }) => parts),
    ).toMatchObject([
      [{ variationString: 'Size: S', quantity: 1 }, { sku: 'CAP' }],
      [{ variationString: 'Size: L', quantity: 2 }, { sku: 'CAP' }],
    ]);
    expect(await Promise.all([small, large, cap, outfit].map((id) => stockOf(shop, id)))).toEqual([
      0, 2, 1, 1,
    ]);
  });

  test('are products, each once, and no bundles', async () => {
    const { shop, bundle, mug } = await givenBreakfast();
    const other = await givenProduct(shop, { number: 'OTHER' });
    const of = (productId: string, quantity = 1) => ({ productId, quantity });
    const refusal = async (productId: string, parts: object[]) => {
      const { status, message } = await update(shop, productId, { parts });
      return [status, message];
    };
    expect(await refusal(other, [of(bundle)])).toEqual([
      409,
      expect.stringContaining('BREAKFAST is a bundle itself'),
    ]);
    expect(await refusal(mug, [of(other)])).toEqual([
      409,
      expect.stringContaining('The product is a part of a bundle'),
    ]);
    expect((await productOf(shop, mug)).stocklevel).toBe(9);
    expect((await refusal(other, [of(mug), of(mug)]))[0]).toBe(400);
    expect((await refusal(other, [of(other)]))[0]).toBe(400);
    expect((await refusal(other, [of(mug, 0)]))[0]).toBe(400);
    expect((await refusal(other, [of('00000000-0000-4000-8000-000000000000')]))[0]).toBe(400);
  });

  test('are sent, come back and are refunded one by one', async () => {
    const { shop, bundle, mug, book } = await givenBreakfast();
    const order = await placed(shop, { [bundle]: 1 });
    const { management } = await well(order, 'GET');
    const [mugs, books] = management.bundles[0].parts as { lineItemId: string }[];
    await well(order, 'POST', '/payments', { amount: 34.9 });
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: mugs!.lineItemId, quantity: 2 }] });
    // Its own line stands for all of its parts, of which the mugs are gone.
    const whole = [{ lineItemId: order.body.lineItemContainer.productLineItems[0].lineItemId, quantity: 1 }];
    expect((await manage(order, 'POST', '/shipments', { lines: whole })).status).toBe(409);
    await well(order, 'POST', '/shipments', {});
    const returned = await well(order, 'POST', '/returns', {
      lines: [{ lineItemId: mugs!.lineItemId, quantity: 1 }],
    });
    // One of two mugs, which are 15.00 of the 30.00.
    expect(returned.management.returns[0].dueAmount.amount).toBe(7.5);
    const rest = await well(order, 'POST', '/returns', {
      lines: [{ lineItemId: books!.lineItemId, quantity: 1 }],
      restock: false,
    });
    expect(rest.management.returns[1].dueAmount.amount).toBe(15);
    expect([await stockOf(shop, mug), await stockOf(shop, book)]).toEqual([8, 2]);
  });

  test('go back into stock when the order is cancelled', async () => {
    const { shop, bundle, mug, book } = await givenBreakfast();
    const order = await placed(shop, { [bundle]: 3 });
    expect(await stockOf(shop, bundle)).toBe(0);
    await well(order, 'POST', '/cancel', {});
    expect(await Promise.all([mug, book, bundle].map((id) => stockOf(shop, id)))).toEqual([9, 3, 3]);
  });

  test('follow their bundle when an order is changed', async () => {
    const { shop, bundle, mug, book } = await givenBreakfast();
    const order = await placed(shop, { [bundle]: 1, [book]: 1 });
    const [line] = order.body.lineItemContainer.productLineItems;
    await well(order, 'POST', '/edit', {});
    const changed = await well(order, 'PUT', `/line-items/${line.lineItemId}`, { quantity: 2, price: 25 });
    expect(changed.lineItemContainer.productLineItems[0]).toMatchObject({
      quantity: { amount: 2 },
      lineItemPrice: { amount: 50 },
    });
    expect(partsIn(changed)).toEqual([
      ['MUG', 4, 25],
      ['BOOK', 2, 25],
    ]);
    expect([await stockOf(shop, mug), await stockOf(shop, book)]).toEqual([5, 0]);
    const removed = await well(order, 'DELETE', `/line-items/${line.lineItemId}`);
    expect(removed.lineItemContainer.productLineItems).toHaveLength(1);
    expect(removed.management.bundles).toBeUndefined();
    expect([await stockOf(shop, mug), await stockOf(shop, book)]).toEqual([9, 2]);
    expect((await historyOf(order)).map(({ kind }: { kind: string }) => kind)).toContain('line removed');
    const [status] = await reasonOf(manage(order, 'POST', '/line-items', { productId: bundle, quantity: 1 }));
    expect(status).toBe(409);
  });
});
