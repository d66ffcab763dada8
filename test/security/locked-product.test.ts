import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import {
  ADA,
  done,
  givenCart,
  givenProduct,
  givenSmallShop,
  on,
  type GivenCart,
  type Shop,
} from '../carts.ts';
import { startService, type Service } from '../service.ts';

/**
 * Somebody holds the row of one product: an import, a merchant's tool, a stuck session. Orders for other products of
 * the same shop are placed in the same batches as the one that needs this row, and must not suffer from it.
 */

let service: Service;
let shop: Shop;
let locker: pg.Client;
/** To each server that has rows of the shop: the statements that wait are seen there. */
let watchers: pg.Client[];
let lamp: string;
let kettle: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  shop = await givenSmallShop(service);
  lamp = await givenProduct(shop, { number: 'LAMP', price: 2000, stock: 100 });
  kettle = await givenProduct(shop, { number: 'KETTLE', price: 5000, stock: 100 });
  locker = new pg.Client({ ...inject('server'), database: service.database });
  watchers = inject('nodes').map((node) => new pg.Client({ ...node, database: service.database }));
  await Promise.all([locker, ...watchers].map((client) => client.connect()));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all([locker, ...watchers].map((client) => client.end()));
});
afterAll(() => service.close());

async function cartsReadyToOrder(productId: string, count: number): Promise<GivenCart[]> {
  const carts = await Promise.all(Array.from({ length: count }, () => givenCart(shop, { [productId]: 1 })));
  await Promise.all(carts.map((cart) => done(cart, 'PUT', '/billing-address', ADA)));
  return carts;
}

const placed = (cart: GivenCart) => on(cart, 'POST', '/order');

async function lockLamp(): Promise<void> {
  await locker.query('begin');
  await locker.query('select from product where shop_id = $1 and product_id = $2 for update', [
    shop.shopId,
    lamp,
  ]);
}

const stocks = async () =>
  service.db.many(sql`
    select product_number as number, stock::int as stock from product
    where shop_id = ${shop.shopId} order by product_number`);

/** Polls until a statement of the service waits for the lock. */
async function lockIsAwaited(): Promise<void> {
  for (;;) {
    const found = await Promise.all(
      watchers.map((client) =>
        client.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      ),
    );
    if (found.some(({ rowCount }) => rowCount! > 0)) return;
  }
}

test('twenty orders succeed beside one that waits, and that one succeeds after the release', async () => {
  const [waiting] = await cartsReadyToOrder(lamp, 1);
  const others = await cartsReadyToOrder(kettle, 20);
  await lockLamp();
  let isAnswered = false;
  const slow = placed(waiting!).finally(() => (isAnswered = true));
  const answers = await Promise.all(others.map(placed));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
  expect(isAnswered).toBe(false);
  expect(await stocks()).toEqual([
    { number: 'KETTLE', stock: 80 },
    { number: 'LAMP', stock: 100 },
  ]);
  await locker.query('rollback');
  expect((await slow).status).toBe(201);
  expect(await stocks()).toEqual([
    { number: 'KETTLE', stock: 80 },
    { number: 'LAMP', stock: 99 },
  ]);
});

test('an order that already waits alone does not hold up those that come after it', async () => {
  const waiting = await cartsReadyToOrder(lamp, 6);
  const others = await cartsReadyToOrder(kettle, 10);
  await lockLamp();
  let answered = 0;
  const slow: ReturnType<typeof placed>[] = [];
  const begin = (cart: GivenCart) => {
    const order = placed(cart);
    void order.finally(() => answered++);
    slow.push(order);
  };
  begin(waiting[0]!);
  await lockIsAwaited();
  for (const cart of waiting.slice(1)) begin(cart);
  for (const cart of others) expect((await placed(cart)).status).toBe(201);
  // Connections are left for everybody else.
  expect((await on(waiting[0]!, 'GET')).status).toBe(200);
  expect(answered).toBe(0);
  await locker.query('rollback');
  for (const order of slow) expect((await order).status).toBe(201);
  expect(await stocks()).toEqual([
    { number: 'KETTLE', stock: 90 },
    { number: 'LAMP', stock: 94 },
  ]);
});

test('a lock that is held for too long fails the order that needs it, and no other', async () => {
  const [waiting] = await cartsReadyToOrder(lamp, 1);
  const others = await cartsReadyToOrder(kettle, 20);
  await lockLamp();
  const slow = placed(waiting!);
  const answers = await Promise.all(others.map(placed));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
  await lockIsAwaited();
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 16_000);
  const { status, headers, body } = await slow;
  expect({ status, retryAfter: headers['retry-after'], message: body.message }).toEqual({
    status: 503,
    retryAfter: '2',
    message: expect.stringMatching(
      /^Others are changing the same data, or it took too long; try again soon,/,
    ),
  });
  vi.restoreAllMocks();
  await locker.query('rollback');
  expect(await stocks()).toEqual([
    { number: 'KETTLE', stock: 80 },
    { number: 'LAMP', stock: 100 },
  ]);
  // The cart is still there, and can be ordered now.
  expect((await placed(waiting!)).status).toBe(201);
});

test('a cart that somebody holds does not hold up the changes of other carts', async () => {
  const carts = await Promise.all(Array.from({ length: 10 }, () => givenCart(shop, { [kettle]: 1 })));
  const add = (cart: GivenCart) => on(cart, 'POST', '/line-items', { productId: kettle, quantity: 1 });
  // Each is in memory from now on, so that its changes are written in batches.
  for (const cart of carts) expect((await add(cart)).status).toBe(201);
  const [held, ...others] = carts;
  await locker.query('begin');
  await locker.query('select from cart where shop_id = $1 and cart_id = $2 for update', [
    shop.shopId,
    held!.id,
  ]);
  const slow = add(held!);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(others.map(add));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 201));
  }
  await lockIsAwaited();
  await locker.query('rollback');
  expect((await slow).status).toBe(201);
  const { body } = await on(held!, 'GET');
  expect(body.lineItemContainer.productLineItems[0].quantity.amount).toBe(3);
});
