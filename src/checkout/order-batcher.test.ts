import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  done,
  givenDemoShop,
  givenFullCart,
  NOW,
  statementsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { cartStoreOptions, startService, type Service } from '../../test/service.ts';
import { sql, type Sql } from '../db/sql.ts';

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

const placed = (cart: GivenCart) => done(cart, 'POST', '/order');

const SEVERAL_LINES = { 'TE-110': 1, 'KN-110': 2, 'CB-101': 1, 'AP-100': 1, 'DR-100': 6 };

// Without the cache, which plain-store.test.ts switches off, the cart is read first: other counts, the same answers.
test.skipIf(!cartStoreOptions.cache).each([
  ['as this process left it', undefined, 19],
  ['that has a coupon, which is read with it', 'AUTUMN15', 27],
])(
  'placing an order takes as many statements for many lines as for one, for a cart %s',
  async (_why, coupon, count) => {
    // Its customer is known afterwards.
    await placed(await givenFullCart(demo, { 'TE-100': 1 }));
    for (const quantities of [{ 'TE-100': 1 }, SEVERAL_LINES]) {
      const cart = await givenFullCart(demo, quantities);
      if (coupon) await done(cart, 'POST', '/coupon', { code: coupon });
      const statements = await statementsOf(() => placed(cart));
      expect(statements.at(-1)).toBe('commit');
      expect(statements).toHaveLength(count);
    }
  },
);

// plain-store.test.ts switches batches off, and then each order has a transaction of its own.
test.skipIf(!cartStoreOptions.batch)(
  'orders of a shop that come at the same time share a transaction, whose statements do not grow with them',
  async () => {
    // What the apps of the shop are asked is known afterwards.
    await placed(await givenFullCart(demo, { 'TE-100': 1 }));
    const carts: GivenCart[] = [];
    for (let count = 0; count < 6; count++) carts.push(await givenFullCart(demo, SEVERAL_LINES));
    const statements = await statementsOf(() => Promise.all(carts.map((cart) => placed(cart))));
    const transactions = statements.filter((text) => text.startsWith('begin')).length;
    expect(transactions).toBeLessThan(carts.length);
    // A customer who is new, and setting how long a lock is waited for, are some more than above.
    expect(statements.length).toBeLessThanOrEqual(21 * transactions);
  },
);

test('orders that share a transaction are counted by day and currency', async () => {
  const carts: GivenCart[] = [];
  for (const currency of ['EUR', 'USD', 'EUR', 'USD', 'EUR']) {
    carts.push(await givenFullCart(demo, SEVERAL_LINES, { currency }));
  }
  const sumsOf = (from: Sql) =>
    service.db.many(sql`
      select day::text, currency, orders::int, gross, net from (${from}) sums
      where shop_id = 'DemoShop' order by day, currency`);
  const counted = await sumsOf(sql`select * from order_day where states = 0`);
  const answers = await Promise.all(carts.map((cart) => placed(cart)));
  expect(new Set(answers.map(({ orderNumber }) => orderNumber)).size).toBe(5);
  const added = sql`
    select shop_id, (created_at at time zone 'UTC')::date as day, currency, count(*) as orders,
      sum(grand_total)::bigint as gross, sum(net_revenue) as net
    from customer_order where shop_id = 'DemoShop' and states = 0 group by 1, 2, 3`;
  const sums = await sumsOf(sql`select * from order_day where states = 0`);
  expect(sums).not.toEqual(counted);
  expect(sums).toEqual(await sumsOf(added));
});
