import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  changeSettings,
  done,
  givenCart,
  givenCoupon,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  on as onCart,
  queuedEmails,
  reasonOf,
  totalsOf,
  type Shop,
} from '../../test/carts.ts';
import { lineIds, placed, service, SETTINGS, startManaging, well } from '../../test/managed-orders.ts';
import { givenMerchant } from '../../test/admin.ts';
import { sql } from '../db/sql.ts';
import { loadOrder } from './confirmation-email.ts';
import type { SettingsFile } from '../shops/settings/file.ts';

/** Promotions from the settings to the refund. Their arithmetic is in `pricing`. */

beforeAll(startManaging);
afterAll(() => service.close());

type Entry = NonNullable<SettingsFile['promotions']>[number];

const THREE_FOR_TWO: Entry = {
  key: 'three-for-two',
  name: '3 for 2 on mugs',
  effect: 'buyGet',
  buy: 2,
  get: 1,
  products: ['MUG', 'CUP', 'BOWL'],
};
const givenShop = (promotions: Entry[], settings: SettingsFile = {}) =>
  givenSmallShop(service, { ...SETTINGS, ...settings, promotions });

/** A mug of 10.00, a cup of 7.99 and a book of 20.00 with another tax. */
async function givenGoods(shop: Shop) {
  const [mug, cup, book] = await Promise.all([
    givenProduct(shop, {
      number: 'MUG',
      price: 1000,
      taxClass: 'standard',
      facts: { manufacturer: 'Beacon' },
    }),
    givenProduct(shop, { number: 'CUP', price: 799, taxClass: 'standard' }),
    givenProduct(shop, { number: 'BOOK', price: 2000, taxClass: 'reduced' }),
  ]);
  return { mug, cup, book };
}

async function usesOf({ shopId }: Shop): Promise<number[]> {
  const rows = await service.db.many<{ used: number }>(sql`
    select used from promotion_use where shop_id = ${shopId}
    union all select used from promotion_customer_use where shop_id = ${shopId}`);
  return rows.map(({ used }) => used);
}

describe('in a cart', () => {
  test('without a code they are part of the discount, in the order of their priority', async () => {
    const shop = await givenShop([
      { key: 'all', name: 'A tenth off', effect: 'percent', percent: 10, on: 'cart' },
      { ...THREE_FOR_TWO, priority: 5 },
    ]);
    const { mug, book } = await givenGoods(shop);
    const cart = await givenCart(shop, { [mug]: 3, [book]: 1 });
    // 50.00 less a mug of 10.00, and a tenth of 40.00.
    expect(totalsOf(cart.body)).toMatchObject({ subtotal: 50, discount: -14, shipping: 4.9, total: 40.9 });
    expect(cart.body.lineItemContainer.couponLineItem).toBeNull();
  });

  test('they know categories, manufacturers and destinations', async () => {
    const shop = await givenShop([
      { key: 'beacon', name: 'Beacon', effect: 'amount', amount: 1, manufacturers: ['Beacon'] },
      { key: 'france', name: 'France', effect: 'amount', amount: 2, on: 'delivery', countries: ['FR'] },
    ]);
    const { mug, book } = await givenGoods(shop);
    expect(totalsOf((await givenCart(shop, { [book]: 1 })).body)).toMatchObject({
      discount: 0,
      shipping: 4.9,
    });
    expect(totalsOf((await givenCart(shop, { [mug]: 1 })).body)).toMatchObject({
      discount: -1,
      shipping: 4.9,
    });
    const category = (await service.db.one<{ id: string }>(sql`
      select upper(category_id::text) as id from category where shop_id = ${shop.shopId} limit 1`))!.id;
    const assign = { categoryId: category, productId: book };
    const assigned = await service.call('POST', `/${shop.shopId}/product-category-assignments`, {
      token: shop.token,
      body: assign,
    });
    expect(assigned.status).toBe(204);
    await changeSettings(shop, {
      promotions: [{ key: 'read', name: 'Reading', effect: 'price', amount: 15, categories: [category] }],
    });
    expect(totalsOf((await givenCart(shop, { [book]: 2 })).body)).toMatchObject({ discount: -10 });
  });

  test('a category counts what is in those below it, and follows when one is moved', async () => {
    const shop = await givenShop([]);
    const { mug, book } = await givenGoods(shop);
    const at = `/${shop.shopId}/categories`;
    const root = (await service.db.one<{ id: string }>(sql`
      select upper(category_id::text) as id from category where shop_id = ${shop.shopId}`))!.id;
    const add = async (parentId: string, alias: string): Promise<string> => {
      const answer = await service.call('POST', `${at}/${parentId}`, {
        token: shop.token,
        body: { alias, name: alias },
      });
      expect(answer.status).toBe(200);
      return answer.body.categoryId;
    };
    const kitchen = await add(root, 'Kitchen');
    const sale = await add(root, 'Sale');
    const cups = await add(await add(kitchen, 'Tea'), 'Cups');
    for (const [categoryId, productId] of [
      [cups, mug],
      [sale, book],
    ])
      await service.call('POST', `/${shop.shopId}/product-category-assignments`, {
        token: shop.token,
        body: { categoryId, productId },
      });
    await changeSettings(shop, {
      promotions: [
        { key: 'kitchen', name: 'Kitchen', effect: 'percent', percent: 50, categories: [kitchen] },
        // Whoever buys a book gets something of the kitchen for nothing.
        {
          key: 'gift',
          name: 'Gift',
          effect: 'buyGet',
          buy: 1,
          get: 1,
          products: ['BOOK'],
          rewardCategories: [kitchen],
        },
      ],
    });
    const cart = await givenCart(shop, { [mug]: 2, [book]: 1 });
    // Half of 20.00, and one of the two mugs of now 5.00.
    expect(totalsOf(cart.body).discount).toBe(-15);
    const move = (categoryId: string, parentId: string) =>
      service.call('PUT', `/manage/shops/${shop.shopId}/categories/${categoryId}/place`, {
        token: shop.token,
        body: { parentId, position: 0 },
      });
    expect((await move(cups, sale)).status).toBe(204);
    expect(totalsOf(await done(cart, 'GET')).discount).toBe(0);
    expect((await move(sale, kitchen)).status).toBe(204);
    // Everything is in the kitchen now: half of 40.00, and a mug.
    expect(totalsOf(await done(cart, 'GET')).discount).toBe(-25);
  });

  test('they begin and end by the clock', async () => {
    const period = { from: '2026-11-16', to: '2026-11-20T17:00:00Z' };
    const shop = await givenShop([
      { key: 'advent', name: 'Advent', effect: 'percent', percent: 50, ...period },
    ]);
    const { mug } = await givenGoods(shop);
    const cart = await givenCart(shop, { [mug]: 1 });
    const discountAt = async (moment: string) => {
      service.setClock(new Date(moment));
      return totalsOf(await done(cart, 'GET')).discount;
    };
    expect([
      await discountAt('2026-11-15T23:59:59Z'),
      await discountAt('2026-11-16T00:00:00Z'),
      await discountAt('2026-11-20T16:59:59Z'),
      await discountAt('2026-11-20T17:00:00Z'),
    ]).toEqual([0, -5, -5, 0]);
    service.setClock(NOW);
  });

  test('they apply in some hours of the week, by the time of the shop', async () => {
    const shop = await givenShop([
      {
        key: 'friday-night',
        name: 'Friday night',
        effect: 'percent',
        percent: 50,
        weekdays: ['friday'],
        fromHour: 20,
        toHour: 2,
      },
    ]);
    const { mug } = await givenGoods(shop);
    const cart = await givenCart(shop, { [mug]: 1 });
    const discounts = [];
    // In Berlin an hour later than UTC: Friday, 20 November 2026.
    for (const moment of [
      '2026-11-20T00:30:00Z',
      '2026-11-20T18:59:59Z',
      '2026-11-20T19:00:00Z',
      '2026-11-21T00:59:59Z',
      '2026-11-21T01:00:00Z',
      '2026-11-21T19:00:00Z',
    ]) {
      service.setClock(new Date(moment));
      discounts.push(totalsOf(await done(cart, 'GET')).discount);
    }
    expect(discounts).toEqual([0, 0, -5, -5, 0, 0]);
    service.setClock(NOW);
  });

  test('one that does not combine is alone, if it takes off more than all others', async () => {
    const shop = await givenShop(
      [{ key: 'alone', name: 'Alone', effect: 'amount', amount: 6, combines: false, minimumAmount: 20 }],
      { basketDiscounts: [{ from: 10, percent: 10 }] },
    );
    const { mug } = await givenGoods(shop);
    const discounts = [];
    for (const count of [1, 2, 7])
      discounts.push(totalsOf((await givenCart(shop, { [mug]: count })).body).discount);
    expect(discounts).toEqual([-1, -6, -7]);
  });
});

describe('with a code', () => {
  const CODE: Entry = {
    key: 'code',
    name: 'Code',
    code: ' mugs ',
    effect: 'percent',
    percent: 20,
    products: ['MUG'],
  };

  test('is typed where coupons are, and says why it takes nothing off', async () => {
    const shop = await givenShop([
      { ...CODE, minimumAmount: 15 },
      { key: 'off', name: 'Off', code: 'OFF', active: false, effect: 'amount', amount: 1 },
      { key: 'late', name: 'Late', code: 'LATE', to: '2026-01-01', effect: 'amount', amount: 1 },
    ]);
    const { mug, book } = await givenGoods(shop);
    const reasonFor = async (code: string, quantities: Record<string, number>) => {
      const cart = await givenCart(shop, quantities);
      const { lineItemContainer } = await done(cart, 'POST', '/coupon', { code });
      const { lineItemPrice, validationErrors } = lineItemContainer.couponLineItem;
      return [lineItemPrice.amount, ...validationErrors];
    };
    expect(await reasonFor('Mugs', { [mug]: 2, [book]: 1 })).toEqual([-4]);
    expect(await reasonFor('MUGS', { [mug]: 1 })).toEqual([0, 'LineItemsSubTotalTooSmall']);
    expect(await reasonFor('MUGS', { [book]: 1 })).toEqual([0, 'ProductMisMatch']);
    expect(await reasonFor('OFF', { [mug]: 1 })).toEqual([0, 'CouponIsInvalidated']);
    expect(await reasonFor('LATE', { [mug]: 1 })).toEqual([0, 'CouponNotEffective']);
    const cart = await givenCart(shop, { [mug]: 1 });
    const unknown = () => reasonOf(onCart(cart, 'POST', '/coupon', { code: 'UNKNOWN' }));
    expect((await changesNothing(service, unknown))[0]).toBe(400);
  });

  test('a coupon with the same code comes first, and a promotion without one stays', async () => {
    const shop = await givenShop([
      CODE,
      { key: 'free', name: 'Free', effect: 'percent', percent: 100, on: 'delivery' },
    ]);
    const { mug } = await givenGoods(shop);
    await givenCoupon(shop, 'MUGS', { name: 'FIX', amount: 1 });
    const cart = await givenCart(shop, { [mug]: 1 });
    const body = await done(cart, 'POST', '/coupon', { code: 'MUGS' });
    expect(totalsOf(body)).toMatchObject({ coupon: -1, shipping: 0, total: 9 });
  });
});

describe('in an order', () => {
  test('/manage, the page of the order and the email name each with what it took off', async () => {
    const shop = await givenShop(
      [
        THREE_FOR_TWO,
        { key: 'free', name: 'Free delivery', effect: 'percent', percent: 100, on: 'delivery' },
        { key: 'code', name: 'Welcome', code: 'HELLO', effect: 'amount', amount: 5 },
        { key: 'never', name: 'Never', effect: 'amount', amount: 1, minimumAmount: 500 },
      ],
      { basketDiscounts: [{ from: 10, percent: 10 }] },
    );
    const { mug } = await givenGoods(shop);
    const cart = await givenFullCart(shop, { [mug]: 3 });
    await done(cart, 'POST', '/coupon', { code: 'HELLO' });
    const body = await done(cart, 'POST', '/order');
    const order = { shop, id: body.orderId, body };
    // 30.00 less a mug of 10.00, a tenth of 20.00 and 5.00.
    expect(totalsOf(body)).toMatchObject({ discount: -12, coupon: -5, shipping: 0, total: 13 });
    const { management } = await well(order, 'GET', '');
    const named = management.promotions.map(
      ({ name, code, amount, deliveryAmount }: (typeof management.promotions)[number]) => [
        name,
        code,
        amount.amount,
        deliveryAmount.amount,
      ],
    );
    expect(named).toEqual([
      ['3 for 2 on mugs', undefined, -10, 0],
      ['Free delivery', undefined, 0, -4.9],
      ['Welcome', 'HELLO', -5, 0],
    ]);
    const emails = await queuedEmails(service, shop.shopId);
    const email = emails.find(({ template }) => template === 'order');
    expect(await loadOrder(service.db, email!)).toMatchObject({
      promotions: [{ text: '3 for 2 on mugs', amount: '-€10.00' }],
      basketDiscount: '-€2.00',
      coupon: '-€5.00',
    });
    const { text } = await (await givenMerchant(service, 'owner', shop.shopId)).get(`/orders/${order.id}`);
    const sums = /<dl class="totals">.*?<\/dl>/s
      .exec(text)![0]
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ');
    expect(sums).toContain('3 for 2 on mugs -€10.00 Discount -€2.00 Welcome -€5.00');
    expect(sums).toContain('(Free delivery: -€4.90) €0.00');
  });

  test('what was taken off is given back in parts that sum to it', async () => {
    const shop = await givenShop([THREE_FOR_TWO]);
    const { mug, cup } = await givenGoods(shop);
    const order = await placed(shop, { [mug]: 2, [cup]: 1 });
    // The cup of 7.99 is free, and all three bear it: of 27.99 that are 20.00 each keeps 20.00 / 27.99.
    expect(totalsOf(order.body)).toMatchObject({ subtotal: 27.99, discount: -7.99, total: 24.9 });
    const [mugs, cups] = lineIds(order.body);
    await well(order, 'POST', '/payments', { amount: 24.9 });
    await well(order, 'POST', '/shipments', {});
    const due = [];
    for (const lines of [
      [{ lineItemId: cups, quantity: 1 }],
      [{ lineItemId: mugs, quantity: 1 }],
      [{ lineItemId: mugs, quantity: 1 }],
    ]) {
      const { management } = await well(order, 'POST', '/returns', { lines });
      due.push(management.returns.at(-1).dueAmount.amount);
    }
    // The last one has the delivery of 4.90 with it: all of it is 24.90.
    expect(due).toEqual([5.71, 7.15, 12.04]);
  });

  test('a changed quantity is computed by the agreed promotions, whatever the shop has now', async () => {
    const shop = await givenShop([THREE_FOR_TWO]);
    const { mug } = await givenGoods(shop);
    const order = await placed(shop, { [mug]: 6 });
    expect(totalsOf(order.body).discount).toBe(-20);
    await service.db.run(
      sql`update shop set settings = settings || '{"promotions": []}' where shop_id = ${shop.shopId}`,
    );
    await well(order, 'POST', '/edit');
    const [line] = lineIds(order.body);
    const changed = await well(order, 'PUT', `/line-items/${line}`, { quantity: 5 });
    expect(totalsOf(changed)).toMatchObject({ subtotal: 50, discount: -10, total: 44.9 });
  });

  // vendurehq/vendure#5127 and #1795: after 20 pieces had become 2, 40 % were 4 %, and after one more and one less again
  // the amount off was that of more.
  test('a changed order has the discount of what is left in it, whatever it had before', async () => {
    const shop = await givenShop([
      { key: 'forty', name: '40 %', effect: 'percent', percent: 40, products: ['MUG'] },
      { key: 'ten', name: '10 off', effect: 'amount', amount: 10, on: 'cart' },
    ]);
    const { mug, book } = await givenGoods(shop);
    const order = await placed(shop, { [mug]: 20, [book]: 1 });
    expect(totalsOf(order.body)).toMatchObject({ subtotal: 220, discount: -90 });
    await well(order, 'POST', '/edit');
    const [line] = lineIds(order.body);
    const discounts = [];
    for (const quantity of [2, 3, 2])
      discounts.push(totalsOf(await well(order, 'PUT', `/line-items/${line}`, { quantity })).discount);
    expect(discounts).toEqual([-18, -22, -18]);
  });

  test('uses are counted up to the limits, and given back when the order is cancelled', async () => {
    const shop = await givenShop([
      { key: 'once', name: 'Once', effect: 'amount', amount: 2, usageLimit: 2, usageLimitPerCustomer: 1 },
    ]);
    const { mug } = await givenGoods(shop);
    const cartOf = (emailAddress: string) => givenFullCart(shop, { [mug]: 1 }, { address: { emailAddress } });
    const first = await placed(shop, { [mug]: 1 });
    expect([totalsOf(first.body).discount, await usesOf(shop)]).toEqual([-2, [1, 1]]);

    // The same customer again pays the full price; another one does not, and then the promotion is used up.
    expect(totalsOf(await done(await givenFullCart(shop, { [mug]: 1 }), 'GET')).discount).toBe(0);
    const grace = await done(await cartOf('grace@example.com'), 'POST', '/order');
    expect(totalsOf(grace).discount).toBe(-2);
    const third = await cartOf('joan@example.com');
    expect(totalsOf(await done(third, 'GET')).discount).toBe(0);

    await well({ shop, id: grace.orderId, body: grace }, 'POST', '/cancel', {});
    expect((await usesOf(shop)).toSorted((one, other) => one - other)).toEqual([0, 1, 1]);
    expect(totalsOf(await done(third, 'POST', '/order')).discount).toBe(-2);
  });

  test('orders at the same moment never exceed a limit: the others are refused, and keep their carts', async () => {
    const shop = await givenShop([{ key: 'few', name: 'Few', effect: 'amount', amount: 2, usageLimit: 3 }]);
    const { mug } = await givenGoods(shop);
    const carts = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        givenFullCart(shop, { [mug]: 1 }, { address: { emailAddress: `shopper${index}@example.com` } }),
      ),
    );
    const answers = await Promise.all(carts.map((cart) => onCart(cart, 'POST', '/order')));
    const outcomes = answers.map(({ status, body }) => (status === 201 ? totalsOf(body).discount : status));
    expect(outcomes.filter((outcome) => outcome === -2)).toHaveLength(3);
    // Who was a moment later has either seen the full price, or is told.
    expect(outcomes.filter((outcome) => ![-2, 0, 409].includes(outcome))).toEqual([]);
    expect((await usesOf(shop))[0]).toBe(3);
    const refused = carts[outcomes.indexOf(409)];
    if (refused) expect(totalsOf(await done(refused, 'POST', '/order')).discount).toBe(0);
  });
});
