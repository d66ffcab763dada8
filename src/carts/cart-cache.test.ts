import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  changeSettings,
  done,
  givenCart,
  givenProduct,
  givenSmallShop,
  linesOf as wholeLines,
  on,
  statementsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';

/** Two processes on one database, each with a memory of its own. */
let first: Service;
let second: Service;
let shop: Shop;
let lamp: string;
let kettle: string;

beforeAll(async () => {
  first = await startService();
  second = await startService({}, first);
});
beforeEach(async () => {
  shop = await givenSmallShop(first);
  lamp = await givenProduct(shop, { number: 'LAMP', price: 2000, stock: 10 });
  kettle = await givenProduct(shop, { number: 'KETTLE', price: 5000 });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

const elsewhere = (cart: GivenCart): GivenCart => ({ ...cart, shop: { ...cart.shop, service: second } });
const add = (cart: GivenCart, productId: string, quantity = 1) =>
  done(cart, 'POST', '/line-items', { productId, quantity });
const linesOf = (cart: Answer['body']) => wholeLines(cart).map((line) => line.slice(0, 3));

test('a cart that this process knows is changed by one statement', async () => {
  const cart = await givenCart(shop, { [lamp]: 1 });
  await add(cart, kettle);
  const statements = await statementsOf(() => add(cart, lamp));
  expect(statements).toHaveLength(1);
  expect(linesOf(await done(cart, 'GET'))).toEqual([
    ['LAMP', 2, 20],
    ['KETTLE', 1, 50],
  ]);
});

test('a product that this process has not seen is read by one statement, for all who add it at the same time', async () => {
  const carts = await Promise.all(Array.from({ length: 10 }, () => givenCart(shop, { [lamp]: 1 })));
  for (const cart of carts) await add(cart, lamp);
  const statements = await statementsOf(async () => {
    await Promise.all(carts.map((cart) => add(cart, kettle)));
  });
  expect(statements.filter((text) => text.includes('select cart.cart_id'))).toEqual([]);
  expect(statements.length).toBeLessThanOrEqual(8);
  for (const cart of carts) {
    expect(linesOf(await done(cart, 'GET'))).toEqual([
      ['LAMP', 2, 20],
      ['KETTLE', 1, 50],
    ]);
  }
});

test('two processes that change a cart in turn lose nothing', async () => {
  const cart = await givenCart(shop, { [lamp]: 1 });
  for (const place of [cart, elsewhere(cart), cart, cart, elsewhere(cart), elsewhere(cart), cart]) {
    await add(place, lamp);
  }
  expect(linesOf(await done(elsewhere(cart), 'GET'))).toEqual([['LAMP', 8, 20]]);
});

test('what another process has changed shows at once: a price, a setting, the stock', async () => {
  const cart = await givenCart(shop, { [lamp]: 1 });
  await add(cart, lamp);
  await second.db.run(sql`
    update product set prices = ${{ EUR: 2500 }}, version = version + 1
    where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  expect(linesOf(await add(cart, lamp))).toEqual([['LAMP', 3, 25]]);

  await changeSettings({ ...shop, service: second }, { minimumCart: { amount: 500 } });
  expect((await add(cart, lamp)).minimumCart).toMatchObject({ status: false, amount: { amount: 500 } });

  await second.db.run(sql`
    update product set stock = 5 where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  expect(linesOf(await add(cart, lamp, 3))).toEqual([['LAMP', 5, 25]]);
});

test('what an old copy would refuse, the cart as it is may take', async () => {
  await second.db.run(sql`
    update product set stock = 0 where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  const cart = await givenCart(shop, { [kettle]: 1 });
  expect((await on(cart, 'POST', '/line-items', { productId: lamp, quantity: 1 })).status).toBe(400);
  await second.db.run(sql`
    update product set stock = 2 where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  expect(linesOf(await add(cart, lamp))).toEqual([
    ['KETTLE', 1, 50],
    ['LAMP', 1, 20],
  ]);
});

test('a product that was deleted elsewhere is gone, and can not be added', async () => {
  const cart = await givenCart(shop, { [lamp]: 1, [kettle]: 1 });
  await second.db.run(sql`delete from product where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  expect((await on(cart, 'POST', '/line-items', { productId: lamp, quantity: 1 })).status).toBe(404);
  expect(linesOf(await add(cart, kettle))).toEqual([['KETTLE', 2, 50]]);
});

test('a cart that was ordered elsewhere is gone, also with a wrong token', async () => {
  const cart = await givenCart(shop, { [lamp]: 1 });
  await done(cart, 'PUT', '/billing-address', { country: 'DE', emailAddress: 'ada@mail.example' });
  await done(elsewhere(cart), 'POST', '/order');
  expect((await on(cart, 'POST', '/line-items', { productId: lamp, quantity: 1 })).status).toBe(410);
  const stranger = { ...cart, token: 'wrong' };
  expect((await on(stranger, 'POST', '/line-items', { productId: lamp, quantity: 1 })).status).toBe(403);
  const [row] = await first.db.many<{ stock: number }>(sql`
    select stock::float8 as stock from product where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  expect(row).toEqual({ stock: 9 });
});

test('what an order has taken from the stock is known to the next cart', async () => {
  const bought = await givenCart(shop, { [lamp]: 7 });
  await done(bought, 'PUT', '/billing-address', { country: 'DE', emailAddress: 'ada@mail.example' });
  await done(bought, 'POST', '/order');
  const cart = await givenCart(shop, { [kettle]: 1 });
  let lines: unknown;
  const statements = await statementsOf(async () => {
    lines = linesOf(await add(cart, lamp, 9));
  });
  expect(lines).toEqual([
    ['KETTLE', 1, 50],
    ['LAMP', 3, 20],
  ]);
  expect(statements).toHaveLength(1);
});

test('what many shoppers do at the same time takes few statements, and each gets what is theirs', async () => {
  const carts = await Promise.all(Array.from({ length: 20 }, () => givenCart(shop, { [kettle]: 1 })));
  for (const cart of carts) await add(cart, kettle);
  const statements = await statementsOf(async () => {
    await Promise.all(carts.map((cart, index) => add(cart, kettle, index + 1)));
  });
  expect(statements.length).toBeLessThanOrEqual(4);
  for (const [index, cart] of carts.entries()) {
    expect(linesOf(await done(cart, 'GET'))).toEqual([['KETTLE', index + 3, 50]]);
  }
});

test('among many changes at once, one that was made from something old is made anew', async () => {
  const carts = await Promise.all(Array.from({ length: 5 }, () => givenCart(shop, { [kettle]: 1 })));
  const old = await givenCart(shop, { [lamp]: 1 });
  for (const cart of carts) await add(cart, kettle);
  await add(old, lamp);
  await second.db.run(sql`
    update product set prices = ${{ EUR: 2500 }}, version = version + 1
    where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  const [changed, ...others] = await Promise.all([
    add(old, lamp),
    ...carts.map((cart) => add(cart, kettle)),
    // The same cart twice in one statement: one of them must wait for the other.
    add(carts[0]!, kettle),
  ]);
  expect(linesOf(changed)).toEqual([['LAMP', 3, 25]]);
  expect(others).toHaveLength(6);
  const quantities = await Promise.all(carts.map(async (cart) => linesOf(await done(cart, 'GET'))[0]![1]));
  expect(quantities).toEqual([4, 3, 3, 3, 3]);
});

test('orders that come at the same time are placed together: numbers without gaps, stock taken once', async () => {
  const carts = await Promise.all(Array.from({ length: 12 }, () => givenCart(shop, { [lamp]: 1 })));
  for (const cart of carts) {
    await done(cart, 'PUT', '/billing-address', { country: 'DE', emailAddress: 'ada@pelican.example' });
  }
  const answers = await Promise.all(carts.map((cart) => on(cart, 'POST', '/order')));
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
  const numbers = answers
    .filter(({ status }) => status === 201)
    .map(({ body }) => Number(body.orderNumber.split('/')[1]))
    .toSorted((left, right) => left - right);
  expect(numbers).toEqual(Array.from({ length: 10 }, (_, index) => numbers[0]! + index));
  const [row] = await first.db.many(sql`
    select stock::int as stock, (select count(*) from customer_order where shop_id = ${shop.shopId}) as orders
    from product where shop_id = ${shop.shopId} and product_id = ${lamp}`);
  expect(row).toEqual({ stock: 0, orders: 10 });
});
