import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { COMMANDS } from '../../src/commands/table.ts';
import { sql } from '../../src/db/sql.ts';
import { ADA, done, givenCart, givenSmallShop, on, type Shop } from '../carts.ts';
import { freshListsOf, givenCategory, givenManyProducts, listsOf } from '../catalogue.ts';
import { countLockWaits } from '../cluster.ts';
import { databaseUrl, startService, type Service } from '../service.ts';

/**
 * A merchant applies a new exchange rate to a large shop: every product stands elsewhere in the lists then. That takes
 * minutes, and somebody may hold one of the products for even longer; the shop sells meanwhile.
 */

let service: Service;
let shop: Shop;
let locker: pg.Client;
let ids: string[];

const withRate = (rate: number) => `currencies: { default: EUR, items: [EUR, GBP], rates: { GBP: ${rate} } }`;

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service, {
    currencies: { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP: 0.5 } },
  });
  const { shopId } = shop;
  const categories = [
    await givenCategory(service, shopId, 5),
    await givenCategory(service, shopId, 6),
  ] as const;
  ids = await givenManyProducts(service, shopId, 3_000, categories);
  locker = new pg.Client({ ...inject('server'), database: service.database });
  await locker.connect();
});
afterAll(async () => {
  await locker.end();
  await service.close();
});

/** Runs `kontor shop apply` beside the service, as an operator does. */
async function apply(yaml: string): Promise<void> {
  const file = path.join(service.config.KONTOR_DATA, 'shop.yaml');
  await writeFile(file, yaml);
  await COMMANDS.find(({ name }) => name === 'shop apply')!.run({
    config: { ...service.config, DATABASE_URL: databaseUrl(service.database) },
    arguments: [shop.shopId, file],
    options: {},
  });
}

/** Polls until somebody waits for the product that is locked. */
async function lockIsAwaited(): Promise<void> {
  await expect
    .poll(() => countLockWaits(inject('nodes'), service.database), { timeout: 30_000 })
    .toBeGreaterThan(0);
}

const priceIn = async (productId: string) => {
  const { body } = await service.call('GET', `/${shop.shopId}/products/${productId}?currency=EUR`, {
    token: shop.token,
  });
  return body.priceInfo.price.amount;
};

const listedPrice = async (productId: string) =>
  service.db.one(sql`
    select price from listing where shop_id = ${shop.shopId} and product_id = ${productId} and locale = 'en_GB'`);

test('carts and orders go on while the lists are rebuilt', async () => {
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const old = await givenCart(shop, { [ids[10]!]: 1 });
  await done(old, 'PUT', '/billing-address', ADA);
  expect(await priceIn(ids[0]!)).toBe(2);

  // The rebuild gets as far as this product and then has to wait.
  await locker.query('begin');
  await locker.query('select from product where shop_id = $1 and product_id = $2 for update', [
    shop.shopId,
    ids[1_500],
  ]);
  let isApplied = false;
  const applying = apply(withRate(0.8)).finally(() => (isApplied = true));
  await lockIsAwaited();

  // A cart from before, a new one, its changes and the orders of both.
  expect((await on(old, 'POST', '/line-items', { productId: ids[11], quantity: 2 })).status).toBe(201);
  expect((await on(old, 'POST', '/order')).status).toBe(201);
  for (const productId of [ids[0]!, ids[1_490]!, ids[1_498]!, ids[1_501]!, ids[2_995]!]) {
    const cart = await givenCart(shop, { [productId]: 1 });
    await done(cart, 'PUT', '/billing-address', ADA);
    expect((await on(cart, 'POST', '/order')).status).toBe(201);
  }
  // Prices are the new ones everywhere; the place in the lists is not yet.
  expect([await priceIn(ids[0]!), await priceIn(ids[2_995]!)]).toEqual([1.25, 3745]);
  expect([await listedPrice(ids[0]!), await listedPrice(ids[2_995]!)]).toEqual([
    { price: 125 },
    { price: 599_200 },
  ]);
  // A product that changes meanwhile is listed by the new rate at once.
  const patched = await service.call('PATCH', `/${shop.shopId}/products/${ids[2_998]!}?currency=GBP`, {
    token: shop.token,
    body: [{ op: 'replace', path: '/priceInfo/price/amount', value: 8 }],
  });
  expect(patched.status).toBe(200);
  expect(await listedPrice(ids[2_998]!)).toEqual({ price: 1_000 });
  expect(isApplied).toBe(false);

  await locker.query('rollback');
  await applying;
  printed.mockRestore();
  expect(said.mock.calls.map(([text]) => String(text)).join('')).toMatch(
    /^The settings apply now\..*\n(.*left\n)*3,000 products in /,
  );
  said.mockRestore();
  expect(await listsOf(service, shop.shopId)).toEqual(await freshListsOf(service, shop.shopId));
  expect(await listedPrice(ids[2_995]!)).toEqual({ price: 374_500 });
});
