import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { freshListsOf, givenCategory, givenManyProducts, listsOf } from '../../../test/catalogue.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { applySettings, type SettingsFile } from '../../shops/settings/file.ts';
import { claimRebuild, rebuildStep, runDueRebuilds } from './listing-rebuild.ts';
import { refreshListing, removeFromListing } from './listing.ts';

const SHOP = 'Harbour';
const WORKER = '01900000-0000-7000-8000-0000000000a1';
const OTHER_WORKER = '01900000-0000-7000-8000-0000000000a2';

let service: Service;
let ids: string[];

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  service.setClock(undefined);
  await service.db.run(sql`delete from shop`);
  await givenShop(service, SHOP);
  await apply(withRate(0.5));
  const categories = [await givenCategory(service, SHOP, 5), await givenCategory(service, SHOP, 6)] as const;
  ids = await givenManyProducts(service, SHOP, 350, categories);
});
afterAll(() => service.close());

const apply = (file: SettingsFile) => service.db.transaction((tx) => applySettings(tx, SHOP, file));

const withRate = (GBP: number): SettingsFile => ({
  currencies: { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP } },
});

const step = async (worker = WORKER) => (await rebuildStep(service.db, SHOP, worker)).result;

const pending = () => service.db.many(sql`select products from listing_rebuild where shop_id = ${SHOP}`);

const priceOf = async (productId: string) =>
  (
    await service.db.one<{ price: number }>(
      sql`select price from listing where shop_id = ${SHOP} and product_id = ${productId} and locale = 'en_GB'`,
    )
  )?.price;

test('a shop without products, and settings that lists do not depend on, need no rebuild', async () => {
  await givenShop(service, 'Empty');
  const applied = await service.db.transaction((tx) => applySettings(tx, 'Empty', withRate(0.5)));
  expect(applied.rebuildsListing).toBe(false);
  expect((await apply({ slogan: 'From the sea' })).rebuildsListing).toBe(false);
  expect(await service.db.many(sql`select from listing_rebuild`)).toEqual([]);
});

test('goes on step by step, and ends with what a fresh build would make', async () => {
  expect(await priceOf(ids[0]!)).toBe(200);
  const before = await service.db.one<{ version: number }>(
    sql`select settings_version as version from shop where shop_id = ${SHOP}`,
  );
  expect((await apply(withRate(0.8))).rebuildsListing).toBe(true);
  expect(await priceOf(ids[0]!)).toBe(200);
  expect(await step()).toBe('lost');
  expect(await claimRebuild(service.db, SHOP, WORKER)).toBe(true);
  expect(await step()).toBe('advanced');
  expect([await priceOf(ids[0]!), await priceOf(ids[99]!), await priceOf(ids[100]!)]).toEqual([
    125, 12_500, 20_200,
  ]);
  expect(await pending()).toEqual([{ products: 100 }]);
  for (const expected of ['advanced', 'advanced', 'advanced', 'done', 'lost']) {
    expect(await step()).toBe(expected);
  }
  expect(await pending()).toEqual([]);
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
  // Once for the settings, and once because pages in memory show the order of lists.
  const after = await service.db.one(
    sql`select settings_version as version from shop where shop_id = ${SHOP}`,
  );
  expect(after).toEqual({ version: before!.version + 2 });
});

test('a worker that dies is followed by another when its lease has ended, which begins where it was', async () => {
  const now = new Date('2026-11-15T08:00:00Z');
  service.setClock(now);
  await apply(withRate(0.8));
  await claimRebuild(service.db, SHOP, WORKER);
  await step();
  await step();
  // The other one looks too early.
  service.setClock(new Date(now.getTime() + 59_000));
  expect(await claimRebuild(service.db, SHOP, OTHER_WORKER)).toBe(false);
  expect(await runDueRebuilds(service.db)).toBe(0);
  expect(await pending()).toEqual([{ products: 200 }]);
  service.setClock(new Date(now.getTime() + 60_000));
  expect(await claimRebuild(service.db, SHOP, OTHER_WORKER)).toBe(true);
  // The first one was only slow: it notices that it is no longer in charge.
  expect(await step(WORKER)).toBe('lost');
  expect(await step(OTHER_WORKER)).toBe('advanced');
  expect(await pending()).toEqual([{ products: 300 }]);
  service.setClock(new Date(now.getTime() + 180_000));
  expect(await runDueRebuilds(service.db)).toBe(1);
  expect(await pending()).toEqual([]);
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
});

test('settings that change again begin it anew, and no step writes what is old', async () => {
  await apply(withRate(0.8));
  await claimRebuild(service.db, SHOP, WORKER);
  await step();
  await step();
  await apply(withRate(0.25));
  expect(await pending()).toEqual([{ products: 0 }]);
  // Products that the first round has done are done once more.
  expect(await step()).toBe('advanced');
  expect([await priceOf(ids[0]!), await priceOf(ids[150]!)]).toEqual([400, 18_875]);
  for (let left = 3; left > 0; left--) expect(await step()).toBe('advanced');
  expect(await step()).toBe('done');
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
});

test('settings that change during a step let the step be repeated', async () => {
  await apply(withRate(0.8));
  await claimRebuild(service.db, SHOP, WORKER);
  // The step has read which rebuild it works for, and has not moved on yet, when the settings change.
  let isFirst = true;
  const slow: typeof service.db = {
    ...service.db,
    now: service.db.now,
    transaction: (work) =>
      service.db.transaction((tx) =>
        work({
          ...tx,
          many: async (query) => {
            const rows = await tx.many(query);
            if (isFirst) {
              isFirst = false;
              await apply(withRate(0.25));
            }
            return rows as never;
          },
        }),
      ),
  };
  expect((await rebuildStep(slow, SHOP, WORKER)).result).toBe('superseded');
  expect(await priceOf(ids[0]!)).toBe(400);
  expect(await pending()).toEqual([{ products: 0 }]);
  for (let left = 4; left > 0; left--) expect(await step()).toBe('advanced');
  expect(await step()).toBe('done');
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
});

test('products that change, come and go meanwhile are right, also in a shop with other locales', async () => {
  await apply({ ...withRate(0.8), locales: { default: 'de_DE', items: ['de_DE'] } });
  await claimRebuild(service.db, SHOP, WORKER);
  await step();
  await service.db.transaction(async (tx) => {
    // One that is done, and one that is not.
    for (const id of [ids[50]!, ids[250]!]) {
      await tx.run(sql`
        update product set visible = not visible, prices = '{"GBP": 800}' where shop_id = ${SHOP} and product_id = ${id}`);
    }
    await refreshListing(tx, SHOP, [ids[50]!, ids[250]!]);
    await removeFromListing(tx, SHOP, [ids[51]!, ids[251]!]);
    await tx.run(sql`
      delete from product where shop_id = ${SHOP} and product_id = any (${[ids[51], ids[251]]}::uuid[])`);
    const [early, late] = ['01800000-0000-7000-8000-000000000001', newId(tx.now)];
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      select ${SHOP}, id, id::text, 'regular', ${tx.now}, 1, true, '{"GBP": 1600}', '{}'
      from unnest(${[early, late]}::uuid[]) id`);
    await refreshListing(tx, SHOP, [early, late]);
  });
  // In the middle of it each product is counted once.
  const { sizes } = await listsOf(service, SHOP);
  expect(sizes.filter((row) => (row as { category_id: string }).category_id.startsWith('0000'))).toEqual([
    { category_id: '00000000-0000-0000-0000-000000000000', visible: false, products: 37, products_below: 0 },
    { category_id: '00000000-0000-0000-0000-000000000000', visible: true, products: 313, products_below: 0 },
  ]);
  while ((await step()) !== 'done');
  const lists = await listsOf(service, SHOP);
  expect(lists).toEqual(await freshListsOf(service, SHOP));
  expect(new Set(lists.listing.map((row) => (row as { locale: string }).locale))).toEqual(new Set(['de_DE']));
});

test('many workers at once do every product once', async () => {
  await apply(withRate(0.8));
  const worked = await Promise.all([1, 2, 3, 4].map(() => runDueRebuilds(service.db)));
  expect(worked.filter((shops) => shops === 1)).toEqual([1]);
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
});

test('lists of an older version are rebuilt once, by a process that knows how', async () => {
  const { db } = service;
  await db.run(sql`insert into listing_upgrade (shop_id) values (${SHOP})`);
  await db.run(
    sql`update listing set text = 'as an older version wrote it', words = '' where shop_id = ${SHOP}`,
  );
  // An older process may rebuild the lists for another reason: that does not count.
  await apply(withRate(0.8));
  await db.run(sql`delete from listing_rebuild where shop_id = ${SHOP}`);
  const upgrades = () => db.many(sql`select shop_id as "shopId" from listing_upgrade`);
  expect(await upgrades()).toEqual([{ shopId: SHOP }]);
  expect(await runDueRebuilds(db)).toBe(1);
  expect(await upgrades()).toEqual([]);
  expect(await pending()).toEqual([]);
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
  expect(await runDueRebuilds(db)).toBe(0);
});
