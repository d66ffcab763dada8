import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { givenCategory } from '../../../test/catalogue.ts';
import { startService, type Service } from '../../../test/service.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { refreshListing, removeFromListing } from './listing.ts';
import { pageOfProducts, parseVersions, type PageOptions } from './listing-page.ts';

/*
 * Far pages are read from products whose position is known. Every page must be what sorting all products gives, while
 * products are added, hidden, shown, renamed, priced, moved to other categories and deleted.
 */

const SHOP = 'Harbour';
/** Enough for positions to be remembered. */
const PRODUCTS = 1_100;
/** The first position that is remembered. */
const NEAR = 500;
const NAMES = [
  'Apfel',
  'apple',
  'Äpfel',
  'Zebra',
  'zoo',
  'Éclair',
  'Øl',
  'tea',
  'Tee',
  'Thé',
  '10',
  '9',
  '_',
];

let service: Service;
/** The second one is below the first. */
let categories: [string, string];
let numbers = 0;
/** A generator of its own, so that a failure can be repeated. */
let seed = 7;
const random = (below: number) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};
const pick = <Value>(values: readonly Value[]) => values[random(values.length)]!;
/** Few, so that many products have the same; some have no price. */
const someName = () => `${pick(NAMES)} ${pick(NAMES)}`;
const somePrices = () => pick([null, { EUR: 100 * random(20) }, { EUR: 100 * random(20) }]);

beforeAll(async () => {
  service = await startService();
  const { db } = service;
  await givenShop(service, SHOP);
  await db.run(sql`update shop set locales = '{en_GB,de_DE}' where shop_id = ${SHOP}`);
  const root = await db.one<{ id: string }>(
    sql`select category_id as id from category where shop_id = ${SHOP} and parent_id is null`,
  );
  categories = [await givenCategory(service, SHOP, 5), await givenCategory(service, SHOP, 6)];
  for (const [child, parent] of [
    [categories[0], root!.id],
    [categories[1], categories[0]],
  ]) {
    await db.run(
      sql`update category set parent_id = ${parent} where shop_id = ${SHOP} and category_id = ${child}`,
    );
  }
  await db.transaction(async (tx) => {
    const ids = await insert(tx, PRODUCTS);
    await refreshListing(tx, SHOP, ids);
  });
}, 60_000);
afterAll(() => service.close());

async function insert(tx: Transaction, count: number): Promise<string[]> {
  const products = Array.from({ length: count }, () => ({
    id: newId(tx.now),
    number: `N${++numbers}`,
    visible: random(6) > 0,
    prices: somePrices(),
    facts: { name: { en_GB: someName(), de_DE: someName() } },
  }));
  await tx.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
    select ${SHOP}, id, number, 'regular', ${tx.now}, 1, visible, nullif(prices, 'null'), facts
    from jsonb_to_recordset(${JSON.stringify(products)})
      as given (id uuid, number text, visible boolean, prices jsonb, facts jsonb)`);
  const ids = products.map(({ id }) => id);
  await assign(tx, ids);
  return ids;
}

/** Each to one of the two categories, to both or to none. */
async function assign(tx: Transaction, productIds: readonly string[]): Promise<void> {
  await tx.run(
    sql`delete from product_category where shop_id = ${SHOP} and product_id = any (${productIds}::uuid[])`,
  );
  for (const categoryId of categories) {
    await tx.run(sql`
      insert into product_category (shop_id, product_id, category_id, position)
      select ${SHOP}, id, ${categoryId}, 0
      from unnest(${productIds.filter(() => random(4) > 0)}::uuid[]) as given (id)`);
  }
}

/** What can happen to some products. */
const CHANGES: readonly ((tx: Transaction, ids: readonly string[]) => Promise<unknown>)[] = [
  assign,
  (tx, ids) =>
    tx.run(sql`
      update product set facts = jsonb_set(facts, ${['name', pick(['en_GB', 'de_DE'])]}::text[], to_jsonb(${someName()}::text))
      where shop_id = ${SHOP} and product_id = any (${ids}::uuid[])`),
  (tx, ids) =>
    tx.run(sql`
      update product set prices = ${somePrices()} where shop_id = ${SHOP} and product_id = any (${ids}::uuid[])`),
  (tx, ids) =>
    tx.run(sql`
      update product set visible = not visible where shop_id = ${SHOP} and product_id = any (${ids}::uuid[])`),
  async (tx, ids) => {
    await removeFromListing(tx, SHOP, ids);
    await tx.run(sql`delete from product where shop_id = ${SHOP} and product_id = any (${ids}::uuid[])`);
  },
  // As many as before, but not the same ones.
  async (tx, ids) => {
    await removeFromListing(tx, SHOP, ids);
    await tx.run(sql`delete from product where shop_id = ${SHOP} and product_id = any (${ids}::uuid[])`);
    await refreshListing(tx, SHOP, await insert(tx, ids.length));
  },
];

async function changeSome(change: (typeof CHANGES)[number]): Promise<void> {
  const { db } = service;
  const rows = await db.many<{ id: string; visible: boolean }>(
    sql`select product_id as id, visible from product where shop_id = ${SHOP} order by product_id`,
  );
  // As many visible ones as invisible ones: where both change sides, the sizes of the lists stay as they were.
  const ids = [true, false].map((visible) => pick(rows.filter((row) => row.visible === visible)).id);
  await db.transaction(async (tx) => {
    await change(tx, ids);
    await refreshListing(tx, SHOP, ids);
  });
}

type List = Omit<PageOptions, 'limit' | 'offset'>;

const LISTS: List[] = (['name', 'price'] as const).flatMap((sort) =>
  (['asc', 'desc'] as const).flatMap((direction) => {
    const list = {
      sort,
      direction,
      locale: direction === 'asc' ? 'en_GB' : 'de_DE',
      includeInvisible: false,
    };
    return [list, { ...list, includeInvisible: true }];
  }),
);

const inCategory = (list: List): List[] =>
  list.includeInvisible
    ? [{ ...list, categoryId: categories[0] }]
    : [
        { ...list, categoryId: categories[1] },
        { ...list, categoryId: categories[0], withSubcategories: true },
      ];

const allLists = () => [...LISTS, ...LISTS.flatMap(inCategory)];

/** The whole list, sorted from the products themselves. */
async function sorted({ sort, direction, locale, ...list }: List): Promise<string[]> {
  const rows = await service.db.many<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = ${SHOP} and (visible or ${list.includeInvisible})
      and (${list.categoryId === undefined} or product_id in (
        select product_id from product_category where shop_id = ${SHOP} and category_id = any (${
          list.withSubcategories ? categories : [list.categoryId ?? categories[0]]
        }::uuid[])))
    order by ${
      sort === 'name'
        ? sql`(facts -> 'name' ->> ${locale}) collate "und-x-icu"`
        : sql`(prices ->> 'EUR')::bigint`
    }, product_id`);
  const ids = rows.map(({ id }) => id);
  return direction === 'asc' ? ids : ids.toReversed();
}

async function page(list: List, limit: number, offset: number) {
  const { results, versions } = await pageOfProducts(service.db, SHOP, { ...list, limit, offset });
  return { results, ids: parseVersions(versions).map(({ productId }) => productId) };
}

test('a far page is what sorting all products gives, whatever has changed since another one', async () => {
  for (let round = 0; round < 24; round++) {
    const lists = Array.from({ length: 6 }, () => pick(allLists()));
    for (const list of lists) await page(list, 20, NEAR);
    await changeSome(CHANGES[round % CHANGES.length]!);
    for (const list of lists) {
      const expected = await sorted(list);
      for (const limit of [20, 100]) {
        const offset = NEAR + random(expected.length - NEAR + limit);
        const read = { round, ...list, limit, offset };
        expect({ ...read, ...(await page(list, limit, offset)) }).toEqual({
          ...read,
          results: expected.length,
          ids: expected.slice(offset, offset + limit),
        });
      }
    }
  }
}, 30_000);

test('all pages put together are the list, forwards and backwards', async () => {
  for (const list of allLists()) {
    const expected = await sorted(list);
    const offsets = Array.from({ length: Math.ceil(expected.length / 100) }, (_, index) => index * 100);
    for (const order of [offsets, offsets.toReversed()]) {
      const pages = new Map<number, string[]>();
      for (const offset of order) pages.set(offset, (await page(list, 100, offset)).ids);
      expect(offsets.flatMap((offset) => pages.get(offset)!)).toEqual(expected);
    }
  }
  // All of these lists are long enough for it.
  expect(service.db.caches.sizes).toContainEqual({ name: 'list positions', entries: allLists().length });
}, 30_000);
