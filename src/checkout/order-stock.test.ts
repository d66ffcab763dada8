import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  done,
  givenCoupon,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  linesOf,
  NOW,
  on,
  price,
  queuedEmails,
  refusal,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';

let service: Service;
let demo: Shop;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  service.setClock(NOW);
  // A shop is gone with everything it has, so each test begins with full shelves and the first number.
  await service.db.run(sql`delete from shop`);
  await service.db.run(sql`delete from job`);
  demo = await givenDemoShop(service);
});
afterAll(() => service.close());

const order = (cart: GivenCart) => on(cart, 'POST', '/order');
const placed = (cart: GivenCart) => done(cart, 'POST', '/order');
const productRow = (productId: string) =>
  service.db.one<{ stock: number | null; version: number; stockChangedAt: Date | null }>(sql`
    select stock::float8 as stock, version, stock_changed_at as "stockChangedAt" from product
    where product_id = ${productId}`);
const counters = async (shopId: string) =>
  Object.fromEntries(
    (
      await service.db.many<{ name: string; value: number }>(sql`
        select name, value from counter where shop_id = ${shopId} and name in ('order', 'customer')`)
    ).map(({ name, value }) => [name, value]),
  );

describe('the stock', () => {
  test('is taken, and products show it at once', async () => {
    const id = demo.ids['KN-101']!;
    const stockOf = async () =>
      (await service.call('GET', `/DemoShop/products/${id}`, { token: demo.token })).body.stocklevel;
    expect(await stockOf()).toBe(14);
    const before = await productRow(id);
    const cart = await givenFullCart(demo, { 'KN-101': 3, 'RO-100': 7.5, 'BK-100': 2 });
    expect(await stockOf()).toBe(14);
    service.setClock(new Date(NOW.getTime() + 1000));
    await placed(cart);
    expect(await stockOf()).toBe(11);
    expect(await productRow(id)).toEqual({
      stock: 11,
      version: before!.version,
      stockChangedAt: new Date(NOW.getTime() + 1000),
    });
    expect((await productRow(demo.ids['RO-100']!))!.stock).toBe(842.5);
    expect((await productRow(demo.ids['BK-100']!))!.stock).toBeNull();
    const updated = await service.call(
      'GET',
      '/DemoShop/products/updated/stocklevel?changedAfter=2026-11-15T08:30:00Z',
      { token: demo.token },
    );
    const ids = updated.body.items.map(({ item }: { item: { productId: string } }) => item.productId);
    expect(ids.toSorted()).toEqual([id, demo.ids['RO-100']!].toSorted());
  });

  test('that is not enough refuses the order with 409, names the products, and changes nothing', async () => {
    const carts = [
      await givenFullCart(demo, { 'AP-120': 2, 'CB-103': 5, 'TE-100': 1 }),
      await givenFullCart(demo, { 'AP-120': 2, 'CB-103': 5, 'TE-100': 1 }),
      await givenFullCart(demo, { 'TE-100': 1, 'AP-120': 2 }),
    ];
    await done(carts[1]!, 'POST', '/coupon', { code: 'AUTUMN15' });
    await placed(carts[0]!);
    expect(await refusal(service, () => order(carts[1]!))).toEqual([
      409,
      'There is not enough in stock of AP-120 (Beacon Burr Grinder), CB-103 (Tidewater Espresso Beans)',
    ]);
    expect(await refusal(service, () => order(carts[2]!))).toEqual([
      409,
      'There is not enough in stock of AP-120 (Beacon Burr Grinder)',
    ]);
    // With what is left it works, and the next number is used.
    const body = await done(carts[1]!, 'GET');
    for (const [index, quantity] of [1, 3].entries()) {
      const { lineItemId } = body.lineItemContainer.productLineItems[index];
      await done(carts[1]!, 'PUT', `/line-items/${lineItemId}`, { quantity });
    }
    expect((await placed(carts[1]!)).orderNumber).toBe('ORD261115/1002');
    expect((await productRow(demo.ids['AP-120']!))!.stock).toBe(0);
    expect((await productRow(demo.ids['CB-103']!))!.stock).toBe(0);
  });

  test('is never sold twice', async () => {
    const carts = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        // Some hold the same products in another order.
        givenFullCart(demo, index % 2 ? { 'AP-110': 1, 'CB-103': 1 } : { 'CB-103': 1, 'AP-110': 1 }),
      ),
    );
    const answers = await Promise.all(carts.map((cart) => order(cart)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(6);
    expect(statuses.filter((status) => status === 409)).toHaveLength(4);
    expect((await productRow(demo.ids['AP-110']!))!.stock).toBe(0);
    expect((await productRow(demo.ids['CB-103']!))!.stock).toBe(2);
    expect(await counters('DemoShop')).toMatchObject({ order: 1006 });
    expect(await queuedEmails(service)).toHaveLength(6);
  });

  test('goes below nothing in a shop that sells beyond it', async () => {
    const shop = await givenSmallShop(service, { sellBeyondStock: true });
    const productId = await givenProduct(shop, { stock: 1 });
    await placed(await givenFullCart(shop, { [productId]: 3 }));
    expect((await productRow(productId))!.stock).toBe(-2);
  });

  test('of a product that is no longer for sale is sold to customers who have it in the cart', async () => {
    const cart = await givenFullCart(demo, { 'TE-100': 1 });
    const body = [{ op: 'replace', path: '/visible', value: false }];
    const path = `/DemoShop/products/${demo.ids['TE-100']}`;
    expect((await service.call('PATCH', path, { token: demo.token, body })).status).toBe(200);
    expect(linesOf(await placed(cart))).toEqual([['TE-100', 1, 7.2, 7.2]]);
    expect((await productRow(demo.ids['TE-100']!))!.stock).toBe(74);
  });

  test('of a product that was deleted is nobody’s: the rest is ordered', async () => {
    const cart = await givenFullCart(demo, { 'TE-100': 1, 'TE-110': 1 });
    await service.call('DELETE', `/DemoShop/products/${demo.ids['TE-110']}`, { token: demo.token });
    expect(linesOf(await placed(cart))).toEqual([['TE-100', 1, 7.2, 7.2]]);
  });
});

describe('a coupon', () => {
  const usesOf = async (code: string) =>
    service.db.one(sql`
      select coupon.used, campaign.used as "campaignUsed" from coupon
      join coupon_campaign campaign using (shop_id, campaign_id)
      where coupon.shop_id = 'DemoShop' and coupon.code_key = ${code}`);
  const couponed = async (code: string, quantities: Record<string, number> = { 'KN-101': 1 }) => {
    const cart = await givenFullCart(demo, quantities);
    await done(cart, 'POST', '/coupon', { code });
    return cart;
  };

  test('is used up by one order, on its code and its campaign', async () => {
    await placed(await couponed('SUMMER20'));
    expect(await usesOf('SUMMER20')).toEqual({ used: 1, campaignUsed: 1 });
    await placed(await couponed('SUMMER20B'));
    expect(await usesOf('SUMMER20')).toEqual({ used: 1, campaignUsed: 2 });
    expect(await usesOf('SUMMER20B')).toEqual({ used: 1, campaignUsed: 2 });
  });

  test('that takes nothing off is not counted', async () => {
    const body = await placed(await couponed('SHARP10', { 'TE-100': 1 }));
    expect(body.lineItemContainer.couponLineItem).toMatchObject({
      lineItemPrice: price(0, 'NONE'),
      validationErrors: ['ProductMisMatch'],
    });
    expect(await usesOf('SHARP10')).toEqual({ used: 0, campaignUsed: 0 });
  });

  test('that is used up refuses the order with 409, and changes nothing', async () => {
    const text = 'The coupon is used up, delete it from the cart to order without it';
    const used = await couponed('ONESHOT');
    expect(await refusal(service, () => order(used))).toEqual([409, text]);

    await givenCoupon(demo, 'ONCE', { name: 'FIX', amount: 5 }, { usageLimit: 1 });
    const [first, second] = [await couponed('ONCE'), await couponed('ONCE')];
    await placed(first);
    expect(await refusal(service, () => order(second))).toEqual([409, text]);
    const { couponLineItem } = (await done(second, 'GET')).lineItemContainer;
    await done(second, 'DELETE', `/coupon/${couponLineItem.couponLineItemId}`);
    expect((await placed(second)).lineItemContainer.couponLineItem).toBeNull();
    expect(await usesOf('ONCE')).toEqual({ used: 1, campaignUsed: 1 });
  });

  test.each([
    ['per code', { usageLimit: 3 }],
    ['of its campaign', { campaignUsageLimit: 3 }],
  ])('is not used more often than the limit %s, however many try at once', async (_what, facts) => {
    await givenCoupon(demo, 'THREE', { name: 'FIX', amount: 5 }, facts);
    const carts = await Promise.all(Array.from({ length: 8 }, () => couponed('THREE')));
    const answers = await Promise.all(carts.map((cart) => order(cart)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    expect(await usesOf('THREE')).toEqual({ used: 3, campaignUsed: 3 });
    expect((await productRow(demo.ids['KN-101']!))!.stock).toBe(11);
  });
});

describe('changes at the same time', () => {
  test('come before the order or not at all', async () => {
    for (let round = 0; round < 3; round++) {
      const cart = await givenFullCart(demo, { 'TE-100': 1, 'KN-110': 1 });
      const productId = demo.ids['TE-100']!;
      const { lineItemId } = cart.body.lineItemContainer.productLineItems[1];
      const stock = (await productRow(productId))!.stock!;
      const additions = () =>
        Array.from({ length: 6 }, () => on(cart, 'POST', '/line-items', { productId, quantity: 1 }));
      const [before, rest, attempt, after] = await Promise.all([
        Promise.all(additions()),
        Promise.all([
          on(cart, 'PUT', `/line-items/${lineItemId}/product-price`, { singleItemPrice: 20 }),
          on(cart, 'POST', '/coupon', { code: 'AUTUMN15' }),
          on(cart, 'DELETE', `/line-items/${lineItemId}`),
          on(cart, 'PUT', '/billing-address', { ...ADA, country: 'GB' }),
        ]),
        order(cart),
        Promise.all(additions()),
      ]);
      const added = [...before, ...after];
      for (const { status } of [...added, ...rest]) expect(status).toBeOneOf([200, 201, 404, 410]);
      // The line is gone when its price was to be changed.
      expect(rest[0].status).toBeOneOf([200, 404, 410]);
      for (const { status } of added) expect(status).toBeOneOf([201, 410]);
      expect(attempt.status).toBe(201);
      const quantity = 1 + added.filter(({ status }) => status === 201).length;
      expectSums(attempt.body);
      expect(linesOf(attempt.body)[0]!.slice(0, 2)).toEqual(['TE-100', quantity]);
      expect((await productRow(productId))!.stock).toBe(stock - quantity);
      expect((await on(cart, 'GET')).status).toBe(410);
    }
  });

  /** The totals are those of its own lines. */
  function expectSums(body: Answer['body']): void {
    const cents = (amount: number) => Math.round(amount * 100);
    const { subtotal, discount, coupon, shipping, payment, total, beforeTax, tax } = totalsOf(body);
    const lines = linesOf(body);
    for (const [, quantity, unit, whole] of lines) expect(cents(whole)).toBe(cents(unit) * quantity);
    expect(cents(subtotal)).toBe(lines.reduce((sum, [, , , whole]) => sum + cents(whole), 0));
    expect(cents(total)).toBe(
      [subtotal, discount, coupon, shipping, payment].reduce((sum, one) => sum + cents(one), 0),
    );
    expect(cents(total)).toBe(cents(beforeTax) + cents(tax));
    expect(body.grandTotal).toBe(String(total));
  }
});
