import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { lockShop, requestListingRebuild } from '../../shops/settings/writes.ts';
import type { ProductFacts } from './facts.ts';
import { refreshListing, removeFromListing } from './listing.ts';
import { pageOfProducts, type PageOptions, parseVersions } from './listing-page.ts';
import { runDueRebuilds } from './listing-rebuild.ts';
import { insertProduct, type StoredProduct } from './queries.ts';

const SHOP = 'Harbour';
const WHOLE_SHOP = '00000000-0000-0000-0000-000000000000';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  await givenShop(service, SHOP);
  await givenShop(service, 'Other');
  await service.db.run(sql`
    update shop set locales = '{en_GB,de_DE,fr_FR}', currencies = '{EUR,GBP,JPY}',
      exchange_rates = '{"GBP": "0.8", "JPY": "160"}' where shop_id = ${SHOP}`);
});
afterAll(() => service.close());

type Given = Partial<Omit<StoredProduct, 'facts'>> & { facts?: ProductFacts };

const write = <Result>(work: (tx: Transaction) => Promise<Result>) => service.db.transaction(work);

/** A visible product for 10.00 that is in the lists. */
function givenProduct(productNumber: string, given: Given = {}, shopId = SHOP): Promise<string> {
  return write(async (tx) => {
    const productId = newId(tx.now);
    await insertProduct(tx, shopId, {
      productId,
      productNumber,
      kind: given.masterId ? 'variation' : 'regular',
      masterId: null,
      selection: null,
      visible: true,
      stock: null,
      minStock: null,
      taxClassId: null,
      productTypeId: null,
      prices: { EUR: 1000 },
      mainImage: null,
      ...given,
      facts: given.facts ?? {},
    });
    await refreshListing(tx, shopId, [productId]);
    return productId;
  });
}

async function givenCategory(number: number): Promise<string> {
  const categoryId = newId(service.db.now);
  await service.db.run(sql`
    insert into category (shop_id, category_id, number, alias, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
    values (${SHOP}, ${categoryId}, ${number}, ${`c${number}`}, 0, ${service.db.now}, '{}', '{}', '{}', '{}', true, true,
      false, true, 3)`);
  return categoryId;
}

const assign = (productId: string, ...categoryIds: string[]) =>
  write(async (tx) => {
    await tx.run(sql`delete from product_category where shop_id = ${SHOP} and product_id = ${productId}`);
    await tx.run(sql`
      insert into product_category (shop_id, product_id, category_id, position)
      select ${SHOP}, ${productId}, id, position from unnest(${categoryIds}::uuid[]) with ordinality as wanted (id, position)`);
    await refreshListing(tx, SHOP, [productId]);
  });

interface Row {
  locale: string;
  name: string;
  price: number | null;
  text: string;
  words: string;
  facets: string[];
  visible: boolean;
}

const rowsOf = (productId: string) =>
  service.db.many<Row>(sql`
    select locale, name, price, text, words::text, facets, visible from listing
    where shop_id = ${SHOP} and product_id = ${productId} order by locale`);

const english = async (productId: string) =>
  (await rowsOf(productId)).find(({ locale }) => locale === 'en_GB')!;

/** As the lists are counted, and as they are; both by category. */
async function sizes() {
  const counted = await service.db.many(sql`
    select category_id as "categoryId", visible, products from listing_size
    where shop_id = ${SHOP} and products <> 0 order by 1, 2`);
  const real = await service.db.many(sql`
    select category_id as "categoryId", visible, count(*) as products from (
      select ${WHOLE_SHOP}::uuid as category_id, product_id, visible from listing
      where shop_id = ${SHOP} and locale = 'en_GB'
      union all
      select category_id, product_id, visible from category_listing where shop_id = ${SHOP} and locale = 'en_GB'
    ) as entry group by category_id, visible order by 1, 2`);
  return { counted, real };
}

async function pageOf(options: Partial<PageOptions> = {}, shopId = SHOP) {
  const found = await pageOfProducts(service.db, shopId, {
    locale: 'en_GB',
    sort: 'name',
    direction: 'asc',
    includeInvisible: false,
    limit: 10,
    offset: 0,
    ...options,
  });
  const rows = await service.db.many<{ id: string; number: string; version: string }>(sql`
    select upper(product_id::text) as id, product_number as number, version::text from product where shop_id = ${shopId}`);
  const known = new Map(rows.map((row) => [row.id, row]));
  for (const { productId, version } of parseVersions(found.versions))
    expect(version).toBe(known.get(productId)!.version);
  return {
    results: found.results,
    numbers: parseVersions(found.versions).map(({ productId }) => known.get(productId)!.number),
  };
}

describe('what is listed', () => {
  test('the name in the language, else in the default one, else in any, else the number', async () => {
    const names = async (name: Record<string, string> | undefined) => {
      const id = await givenProduct(`N-${newId(new Date())}`, name ? { facts: { name } } : {});
      return (await rowsOf(id)).map((row) => row.name.replace(/^N-.*/, 'the number'));
    };
    expect(await names({ en_GB: 'Tea', de_DE: 'Tee' })).toEqual(['Tee', 'Tea', 'Tea']);
    expect(await names({ de_DE: 'Tee', en_GB: '' })).toEqual(['Tee', 'Tee', 'Tee']);
    expect(await names(undefined)).toEqual(['the number', 'the number', 'the number']);
  });

  test('the price in the default currency, or converted from the first that has one', async () => {
    const price = async (prices: Record<string, number> | null) =>
      (await english(await givenProduct(`P-${newId(new Date())}`, { prices }))).price;
    expect(await price({ EUR: 990, GBP: 1 })).toBe(990);
    expect(await price({ GBP: 801, JPY: 1 })).toBe(1001);
    expect(await price({ JPY: 1000 })).toBe(625);
    expect(await price({ CHF: 1000 })).toBeNull();
    expect(await price(null)).toBeNull();
    expect(await price({ GBP: Number.MAX_SAFE_INTEGER })).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('of a master the lowest price, the numbers and the values of its visible variations', async () => {
    const productTypeId = newId(service.db.now);
    const attribute = { key: 'Size', name: {}, visible: true, values: [] };
    const attributes = [
      { ...attribute, number: 7, preDefined: true },
      { ...attribute, number: 8, key: 'Note', preDefined: false },
    ];
    await write(async (tx) => {
      await tx.run(sql`
        insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
        values (${SHOP}, ${productTypeId}, 'Lamp', '{}', ${tx.now}, ${JSON.stringify(attributes)})`);
      await moveSettingsVersion(tx, SHOP);
    });
    const facts: ProductFacts = {
      name: { en_GB: 'Lamp' },
      manufacturer: 'Beacon',
      attributes: [
        { key: 'Note', name: {}, type: 'string', singleValue: true, values: [{ value: 'x', name: {} }] },
      ],
    };
    const masterId = await givenProduct('LA-100', {
      kind: 'master',
      productTypeId,
      facts,
      prices: { EUR: 9900 },
    });
    expect(await english(masterId)).toMatchObject({ price: 9900, facets: ['m:Beacon'] });

    await givenProduct('LA-101', { masterId, selection: { Size: 'Small' }, prices: { EUR: 7900 } });
    const large = await givenProduct('LA-102', { masterId, selection: { Size: 'Large' }, prices: null });
    await givenProduct('LA-103', {
      masterId,
      selection: { Size: 'Tiny' },
      prices: { EUR: 1 },
      visible: false,
    });
    expect(await english(masterId)).toMatchObject({
      price: 7900,
      facets: ['a:7:Large', 'a:7:Small', 'm:Beacon', 'p:9900'],
      text: ' lamp | beacon | la-100 | la100 | la-101 | la101 | la-102 | la102 ',
    });
    expect(await rowsOf(large)).toEqual([]);
    expect((await sizes()).counted).toEqual([{ categoryId: WHOLE_SHOP, visible: true, products: 1 }]);
  });

  test('the words of its language, without markup, the name above the description', async () => {
    const id = await givenProduct('W-1', {
      facts: {
        name: { en_GB: 'Running lamps', de_DE: 'Laufende Lampen' },
        description: { en_GB: '<p class="kettles">Burning&nbsp;<b>brightly</b></p>' },
        searchKeywords: { en_GB: ['loose leaf'] },
      },
    });
    const { words, text } = await english(id);
    expect(words).toContain("'run':1A");
    expect(words).toContain("'lamp':2A");
    expect(words).toMatch(/'bright':\d+ /);
    expect(words).not.toMatch(/kettl|nbsp|class/);
    expect(text).toBe(' running lamps | loose leaf | w-1 | w1 ');
    expect((await rowsOf(id))[0]).toMatchObject({
      locale: 'de_DE',
      words: expect.stringContaining("'laufend':1A"),
    });
  });

  test('texts of any size', async () => {
    const long = Array.from({ length: 20_000 }, (_, index) => `w${index * 7919}`).join(' ');
    const emoji = '😀'.repeat(3_000);
    const id = await givenProduct('L-1', {
      facts: {
        name: { en_GB: emoji },
        description: { en_GB: long + 'y'.repeat(5_000) },
        shortDescription: { en_GB: long },
        manufacturer: emoji,
        searchKeywords: { en_GB: [long, emoji] },
      },
    });
    const { name, facets } = await english(id);
    expect([Array.from(name).length, Array.from(facets[0]!).length]).toEqual([500, 500]);
    expect((await pageOf()).numbers).toEqual(['L-1']);
  });

  test('nothing is written when nothing has changed', async () => {
    const id = await givenProduct('S-1', {
      facts: { name: { en_GB: 'Same' }, description: { en_GB: 'Same text' } },
    });
    await assign(id, await givenCategory(5));
    const places = () =>
      service.db.many(sql`
        select ctid::text, xmin::text from listing where shop_id = ${SHOP}
        union all select ctid::text, xmin::text from category_listing where shop_id = ${SHOP}
        union all select ctid::text, xmin::text from listing_size where shop_id = ${SHOP}`);
    const before = await places();
    expect(before).toHaveLength(3 + 3 + 2);
    await write((tx) => refreshListing(tx, SHOP, [id, id]));
    expect(await places()).toEqual(before);
  });

  test('a product with another price has the rows that it gets when all is made anew', async () => {
    const facts: ProductFacts = {
      name: { en_GB: 'Ginger tea', de_DE: 'Ingwertee' },
      manufacturer: 'Harbour',
      description: { en_GB: '<p>Strong and <b>warm</b></p>' },
    };
    const id = await givenProduct('W-1', { facts });
    await assign(id, await givenCategory(6));
    const setPrice = (price: number) =>
      service.db.run(sql`
        update product set prices = ${{ EUR: price }} where shop_id = ${SHOP} and product_id = ${id}`);
    const before = await rowsOf(id);
    await setPrice(1200);
    await write((tx) => refreshListing(tx, SHOP, [], [id]));
    const repriced = await rowsOf(id);
    expect(repriced).toEqual(before.map((row) => ({ ...row, price: 1200 })));
    await write((tx) => refreshListing(tx, SHOP, [id]));
    expect(await rowsOf(id)).toEqual(repriced);
    // A language that it had no row in: there is nothing to take the words from.
    await service.db.run(
      sql`delete from listing where shop_id = ${SHOP} and product_id = ${id} and locale = 'de_DE'`,
    );
    await write((tx) => refreshListing(tx, SHOP, [], [id]));
    expect(await rowsOf(id)).toEqual(repriced);
  });

  test('the words of a master are made anew when one variation has another price and one another number', async () => {
    const master = await givenProduct('M-9', { kind: 'master' });
    const variation = (number: string) =>
      givenProduct(number, { masterId: master, selection: { Size: number }, prices: { EUR: 900 } });
    const [small, large] = [await variation('M-9-S'), await variation('M-9-L')];
    await service.db.run(sql`
      update product set product_number = 'M-9-XL' where shop_id = ${SHOP} and product_id = ${large}`);
    await service.db.run(sql`
      update product set prices = '{"EUR": 700}' where shop_id = ${SHOP} and product_id = ${small}`);
    await write((tx) => refreshListing(tx, SHOP, [large], [small]));
    expect(await english(master)).toMatchObject({ price: 700, text: expect.stringContaining('m-9-xl') });
  });

  test('unknown products, and those of another shop, change nothing', async () => {
    const id = await givenProduct('O-1', {}, 'Other');
    await write((tx) => refreshListing(tx, SHOP, [id, newId(new Date())]));
    await write((tx) => removeFromListing(tx, SHOP, [id]));
    expect(await sizes()).toEqual({ counted: [], real: [] });
    expect(await pageOf({}, 'Other')).toEqual({ results: 1, numbers: ['O-1'] });
  });
});

describe('pages', () => {
  beforeEach(async () => {
    const named = (name: string, given: Given = {}) => ({ facts: { name: { en_GB: name } }, ...given });
    await givenProduct('1', named('banana', { prices: { EUR: 300 } }));
    await givenProduct('2', named('Apple', { prices: { EUR: 200 } }));
    await givenProduct('3', named('Äpfel', { prices: null }));
    await givenProduct('4', named('cherry', { prices: { EUR: 200 } }));
    await givenProduct('5', named('Blackberry', { prices: { EUR: 100 }, visible: false }));
    const masterId = await givenProduct('6', named('date', { kind: 'master', prices: { EUR: 900 } }));
    await givenProduct('6-1', { masterId, selection: { Size: 'S' }, prices: { EUR: 150 } });
  });

  test('by name as people sort, upwards and downwards; variations stand for themselves nowhere', async () => {
    expect(await pageOf()).toEqual({ results: 5, numbers: ['3', '2', '1', '4', '6'] });
    expect(await pageOf({ direction: 'desc' })).toEqual({ results: 5, numbers: ['6', '4', '1', '2', '3'] });
  });

  test('by price, equals by age, without a price at the end', async () => {
    expect(await pageOf({ sort: 'price' })).toEqual({ results: 5, numbers: ['6', '2', '4', '1', '3'] });
    expect(await pageOf({ sort: 'price', direction: 'desc' })).toEqual({
      results: 5,
      numbers: ['3', '1', '4', '2', '6'],
    });
  });

  test('invisible ones among the others', async () => {
    const all = { includeInvisible: true };
    expect(await pageOf(all)).toEqual({ results: 6, numbers: ['3', '2', '1', '5', '4', '6'] });
    expect(await pageOf({ ...all, limit: 2, offset: 3 })).toEqual({ results: 6, numbers: ['5', '4'] });
    expect(await pageOf({ ...all, sort: 'price', limit: 3 })).toEqual({
      results: 6,
      numbers: ['5', '6', '2'],
    });
  });

  test('beyond the end', async () => {
    expect(await pageOf({ limit: 2, offset: 4 })).toEqual({ results: 5, numbers: ['6'] });
    expect(await pageOf({ offset: 10 })).toEqual({ results: 5, numbers: [] });
    expect(await pageOf({ limit: 100, offset: 2_147_483_646 * 100 })).toEqual({ results: 5, numbers: [] });
  });

  test('of a category', async () => {
    const categoryId = await givenCategory(5);
    const id = async (number: string) =>
      (await service.db.one<{ id: string }>(sql`
        select product_id as id from product where shop_id = ${SHOP} and product_number = ${number}`))!.id;
    for (const number of ['1', '2', '5', '6']) await assign(await id(number), categoryId);
    expect(await pageOf({ categoryId })).toEqual({ results: 3, numbers: ['2', '1', '6'] });
    expect(await pageOf({ categoryId: categoryId.toLowerCase(), includeInvisible: true })).toEqual({
      results: 4,
      numbers: ['2', '1', '5', '6'],
    });
    await assign(await id('1'));
    expect(await pageOf({ categoryId })).toEqual({ results: 2, numbers: ['2', '6'] });
    for (const unknown of [newId(new Date()), WHOLE_SHOP, 'nonsense', '']) {
      expect(await pageOf({ categoryId: unknown })).toEqual({ results: 0, numbers: [] });
    }
    expect(await pageOf({ categoryId }, 'Other')).toEqual({ results: 0, numbers: [] });
  });

  test('names the versions of the products and of the settings', async () => {
    const { settingsVersion } = await pageOfProducts(service.db, SHOP, {
      locale: 'en_GB',
      sort: 'name',
      direction: 'asc',
      includeInvisible: false,
      limit: 1,
      offset: 0,
    });
    const shop = await service.db.one<{ version: number }>(
      sql`select settings_version as version from shop where shop_id = ${SHOP}`,
    );
    expect(settingsVersion).toBe(shop!.version);
  });
});

describe('how many there are', () => {
  test('follows visibility, assignments and deletion', async () => {
    const [first, second] = [await givenCategory(5), await givenCategory(6)];
    const id = await givenProduct('1');
    await givenProduct('2', { visible: false });
    await assign(id, first, second);
    const expected = (...rows: [string, boolean, number][]) => {
      const counted = rows
        .map(([categoryId, visible, products]) => ({
          categoryId: categoryId.toLowerCase(),
          visible,
          products,
        }))
        .toSorted((left, right) => (left.categoryId < right.categoryId ? -1 : 1));
      return { counted, real: counted };
    };
    expect(await sizes()).toEqual(
      expected([WHOLE_SHOP, false, 1], [WHOLE_SHOP, true, 1], [first, true, 1], [second, true, 1]),
    );
    await write(async (tx) => {
      await tx.run(sql`update product set visible = not visible where shop_id = ${SHOP}`);
      const rows = await tx.many<{ id: string }>(
        sql`select product_id as id from product where shop_id = ${SHOP}`,
      );
      await refreshListing(
        tx,
        SHOP,
        rows.map((row) => row.id),
      );
    });
    await assign(id, second);
    expect(await sizes()).toEqual(
      expected([WHOLE_SHOP, false, 1], [WHOLE_SHOP, true, 1], [second, false, 1]),
    );
    await write(async (tx) => {
      await removeFromListing(tx, SHOP, [id]);
      await tx.run(sql`delete from product where shop_id = ${SHOP} and product_id = ${id}`);
    });
    expect(await sizes()).toEqual(expected([WHOLE_SHOP, true, 1]));
  });

  test('is right after many transactions at once, on different and on the same products', async () => {
    const categories = [await givenCategory(5), await givenCategory(6)];
    const masterId = await givenProduct('M', { kind: 'master' });
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => givenProduct(`C-${index}`)));
    await Promise.all([
      ...ids.map((id, index) => assign(id, ...categories.slice(index % 3))),
      ...ids.map((id, index) =>
        write(async (tx) => {
          await tx.run(sql`
            update product set visible = ${index % 2 === 0} where shop_id = ${SHOP} and product_id = ${id}`);
          await refreshListing(tx, SHOP, [id, ids[(index + 5) % ids.length]!]);
        }),
      ),
      ...Array.from({ length: 6 }, (_, index) =>
        givenProduct(`V-${index}`, {
          masterId,
          selection: { Size: String(index) },
          prices: { EUR: 100 + index },
        }),
      ),
    ]);
    const { counted, real } = await sizes();
    expect(counted).toEqual(real);
    expect(counted).toContainEqual({ categoryId: WHOLE_SHOP, visible: true, products: 7 });
    expect(await english(masterId)).toMatchObject({
      price: 100,
      text: ' m | m | v-0 | v0 | v-1 | v1 | v-2 | v2 | v-3 | v3 | v-4 | v4 | v-5 | v5 ',
    });
  });

  test('a transaction that fails leaves the lists as they were', async () => {
    const id = await givenProduct('1');
    const before = [await rowsOf(id), await sizes()];
    await expect(
      write(async (tx) => {
        await tx.run(sql`update product set visible = false where shop_id = ${SHOP}`);
        await refreshListing(tx, SHOP, [id]);
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect([await rowsOf(id), await sizes()]).toEqual(before);
  });
});

test('after a change of locales and rates everything is made anew', async () => {
  const categoryId = await givenCategory(5);
  const id = await givenProduct('1', {
    facts: { name: { de_DE: 'Tee', es_ES: 'Té' } },
    prices: { GBP: 800 },
  });
  await assign(id, categoryId);
  await givenProduct('2', { visible: false });
  await write(async (tx) => {
    await tx.run(sql`
      update shop set locales = '{es_ES}', default_locale = 'es_ES', exchange_rates = '{"GBP": "0.5"}'
      where shop_id = ${SHOP}`);
    await lockShop(tx, SHOP);
    expect(await requestListingRebuild(tx, SHOP)).toBe(true);
  });
  expect(await runDueRebuilds(service.db)).toBe(1);
  expect(await rowsOf(id)).toMatchObject([{ locale: 'es_ES', name: 'Té', price: 1600 }]);
  expect(await pageOf({ locale: 'es_ES', categoryId })).toEqual({ results: 1, numbers: ['1'] });
  expect(await pageOf({ locale: 'es_ES', includeInvisible: true })).toEqual({
    results: 2,
    numbers: ['2', '1'],
  });
  const left = await service.db.many(
    sql`select distinct locale from category_listing where shop_id = ${SHOP}`,
  );
  expect(left).toEqual([{ locale: 'es_ES' }]);
});
