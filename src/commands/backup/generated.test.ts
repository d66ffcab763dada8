import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import {
  ADA,
  changeSettings,
  givenCart,
  givenSmallShop,
  on,
  type GivenCart,
  type Shop,
} from '../../../test/carts.ts';
import { generatedSettings } from '../../../test/generated-settings.ts';
import type { Request } from '../../../test/reads.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import {
  appearanceOf,
  differences,
  forAnyShop,
  givenBackup,
  restored,
  rowsOf,
} from '../../../test/shop-copies.ts';
import { randomOf } from '../../../test/variations.ts';
import { SCOPES } from '../../http/scopes.ts';
import { sql } from '../../db/sql.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { generateProducts } from '../demo/generate.ts';

/** Shops that nobody has thought out: settings, products, coupons, carts and orders by chance. */

const NOW = new Date('2026-11-16T12:00:00Z');
const SEEDS = [3, 11];
const APP = 'generated';

let service: Service;
let elsewhere: Service;

beforeAll(async () => {
  const limits = { RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' };
  [service, elsewhere] = [await startService(limits), await startService(limits)];
  for (const one of [service, elsewhere]) {
    one.setClock(NOW);
    await givenShop(one, 'Neighbour');
  }
});
afterAll(() => Promise.all([service.close(), elsewhere.close()]));

/** What was refused on the way does not matter: another seed brings other carts. */
async function givenGeneratedShop(seed: number): Promise<Shop> {
  const random = randomOf(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const [settings] = fc.sample(generatedSettings, { numRuns: 1, seed });
  const shop = await givenSmallShop(service);
  // Without rules that would refuse almost every order, with a seller for the documents, and without hosts, which a copy
  // can't have too.
  const { domains: _, mandatoryAddressFields: _fields, minimumCart: _minimum, ...others } = settings!;
  const seller = { street: 'Kai 1', zipCode: '20457', city: 'Hamburg', taxNumber: '27/123/45678' };
  const invoicing = { ...others.invoicing, ...seller };
  await changeSettings(shop, { ...others, invoicing, maxPerOrder: null, sellBeyondStock: true });
  await generateProducts(service.db, { shopId: shop.shopId, products: 40, seed }, () => {});
  const codes = await service.db.many<{ code: string }>(sql`
    select code from coupon where shop_id = ${shop.shopId} order by code`);
  const { countries, locales } = await shopSettings(service.db, shop.shopId);
  const token = await givenToken(service, shop.shopId, SCOPES, APP);
  const caller = { ...shop, token };
  const list = await service.call('GET', `/${shop.shopId}/products?resultsPerPage=100`, { token });
  const products: { productId: string }[] = list.body.items.filter(
    (product: Answer['body']) => product.forSale && product.productVariationType === 'regular',
  );
  for (let made = 0; made < 20; made++) {
    const quantities = Object.fromEntries(
      Array.from({ length: 1 + below(4) }, () => [products[below(products.length)]!.productId, 1 + below(5)]),
    );
    const cart = await givenCart(caller, quantities, { locale: locales[below(locales.length)] });
    await fillCart(cart, {
      country: countries[below(countries.length)]!,
      code: codes[below(codes.length)]?.code,
    });
    if (below(3) > 0) await orderCart(cart, below);
  }
  return caller;
}

async function fillCart(cart: GivenCart, { country, code }: { country: string; code: string | undefined }) {
  const emailAddress = `buyer${cart.id.slice(-1)}@mail.example`;
  await on(cart, 'PUT', '/billing-address', { ...ADA, country, emailAddress });
  if (code !== undefined) await on(cart, 'POST', '/coupon', { code });
}

/** Places an order, and does some of what merchants do. */
async function orderCart(cart: GivenCart, below: (bound: number) => number): Promise<void> {
  const { status, body } = await on(cart, 'POST', '/order');
  if (status !== 201 && status !== 200) return;
  const { shop } = cart;
  const order = `/manage/shops/${shop.shopId}/orders/${body.orderId}`;
  const [line] = body.lineItemContainer.productLineItems;
  const steps: [string, object][] = [
    ['payments', { amount: 1 + below(9) }],
    ['shipments', { lines: [{ lineItemId: line.lineItemId, quantity: 1 }] }],
    ['invoices', {}],
  ];
  for (const [part, sent] of steps.slice(0, below(4))) {
    await service.call('POST', `${order}/${part}`, { token: shop.token, body: sent });
  }
}

/** All lists, and everything in them. */
async function requestsFor({ shopId, token }: Shop): Promise<Request[]> {
  const lists = ['products', 'orders', 'customers', 'carts'].map(
    (name) => [name, `/${shopId}/${name}?resultsPerPage=100`] as const,
  );
  const items: string[] = [];
  for (const [name, list] of lists) {
    const { body } = await service.call('GET', list, { token });
    const id = `${name.slice(0, -1)}Id`;
    items.push(...body.items.map((item: Answer['body']) => `/${shopId}/${name}/${item[id]}`));
  }
  const orders = items.filter((item) => item.includes('/orders/'));
  const paths = [
    ...lists.map(([, list]) => list),
    ...items.filter((item) => !item.includes('/carts/')),
    ...orders.map((order) => `${order}/documents?includePdf=true`),
    ...orders.map((order) => `/manage/shops${order}`),
    ...[
      '',
      '/sales',
      '/tax-model',
      '/tax-classes',
      '/shipping-methods',
      '/newsletter-campaigns',
      '/categories',
    ].map((part) => `/${shopId}${part}`),
  ];
  return forAnyShop(
    paths.map((path) => ({ method: 'GET', path })),
    shopId,
  );
}

test.each(SEEDS)(
  'shop %i comes back under its id elsewhere, and beside itself under another',
  async (seed) => {
    const shop = await givenGeneratedShop(seed);
    const requests = await requestsFor(shop);
    const file = await givenBackup(service, shop.shopId);
    const [rows, expected] = [await rowsOf(service, shop.shopId), await appearanceOf(shop, requests)];
    expect(rows['cart']!.length + rows['customer_order']!.length).toBe(20);

    await restored(elsewhere, file);
    const there = await rowsOf(elsewhere, shop.shopId);
    expect(there['audit_entry']).toHaveLength(rows['audit_entry']!.length + 1);
    expect({ ...there, audit_entry: [] }).toEqual({ ...rows, audit_entry: [] });
    expect(differences(await appearanceOf({ ...shop, service: elsewhere }, requests), expected)).toEqual([]);

    const shopId = `Copy${seed}`;
    await restored(service, file, { as: shopId });
    const token = await givenToken(service, shopId, SCOPES, APP);
    expect(differences(await appearanceOf({ ...shop, shopId, token }, requests), expected)).toEqual([]);
  },
  120_000,
);

test('the seeds bring orders, coupons and documents', async () => {
  const counts = await elsewhere.db.one(sql`
    select (select count(*) from customer_order) > 10 as orders, (select count(*) from cart) > 5 as carts,
      (select count(*) from order_document) > 3 as documents, (select count(*) from coupon) > 2 as coupons,
      (select count(*) from customer_order where content ->> 'coupon' is not null) > 0 as redeemed`);
  expect(counts).toEqual({ orders: true, carts: true, documents: true, coupons: true, redeemed: true });
});
