import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { SEED, halfOf } from '../../../test/seed.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { refreshListing } from '../products/listing.ts';

/*
 * The hits of a search, their order, their number and their facets are those that reading all products one after the
 * other finds. The language has no dictionary, so that a word matches where a word begins with it.
 */

const SHOP = 'Naive';
const LOCALE = 'ja_JP';
const PRODUCTS = 300;

/** Words that contain each other, so that parts of words find more than words. */
const WORDS = 'oak oaken soak cloak lamp clamp lamplight light delight lantern ant antler table stable'.split(
  ' ',
);
const MAKERS = ['Elm', 'Lampert', 'Stable Mates'];

interface NaiveProduct {
  productId: string;
  number: string;
  name: string;
  description: string;
  manufacturer: string;
  price: number;
  visible: boolean;
}

const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 });
const product = fc.record({
  name: words.map((list) => list.join(' ')),
  description: fc.option(words, { freq: 2 }).map((list) => list?.join(' ') ?? ''),
  manufacturer: fc.constantFrom(...MAKERS),
  price: fc.integer({ min: 1, max: 40 }),
  visible: fc.integer({ min: 0, max: 9 }).map((place) => place > 0),
});

let service: Service;
let token: string;
let products: NaiveProduct[];

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0' });
  await givenShop(service, SHOP, { locale: LOCALE });
  token = await givenToken(service, SHOP);
  const { db } = service;
  await db.transaction((tx) => applySettings(tx, SHOP, { locales: { default: LOCALE, items: [LOCALE] } }));
  products = fc.sample(product, { numRuns: PRODUCTS, seed: SEED }).map((made, index) => ({
    ...made,
    productId: newId(db.now),
    number: `N${index}`,
  }));
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      select ${SHOP}, "productId", number, 'regular', ${tx.now}, 1, visible, jsonb_build_object('EUR', price),
        jsonb_build_object('name', jsonb_build_object(${LOCALE}::text, name), 'manufacturer', manufacturer,
          'description', jsonb_build_object(${LOCALE}::text, description))
      from jsonb_to_recordset(${JSON.stringify(products)}) as row ("productId" uuid, number text, visible boolean,
        price bigint, name text, manufacturer text, description text)`);
    await refreshListing(
      tx,
      SHOP,
      products.map(({ productId }) => productId),
    );
  });
});
afterAll(() => service.close());

/** How many products search believes that the shop has: it reads a large one in another way. */
async function setSize(visible: number) {
  await service.db.run(sql`
    update listing_size set products = ${visible}, version = version + 1 where shop_id = ${SHOP} and visible`);
}

/** All terms are beginnings of words, or all are parts of the name, the manufacturer and the number. */
function naiveHits(terms: readonly string[]): NaiveProduct[] {
  return products.filter(({ visible, name, number, manufacturer, description }) => {
    const text = `${name} ${manufacturer} ${number}`.toLowerCase();
    const all = `${text} ${description}`.split(' ');
    const isByWords = terms.every((term) => all.some((word) => word.startsWith(term)));
    // One or two letters are only looked for where a word begins.
    const isByParts = terms.every((term) => ` ${text}`.includes(term.length < 3 ? ` ${term}` : term));
    return visible && (isByWords || isByParts);
  });
}

const collator = new Intl.Collator('und');
const byId = (left: NaiveProduct, right: NaiveProduct) => (left.productId < right.productId ? -1 : 1);
const ORDERS = {
  name: (left: NaiveProduct, right: NaiveProduct) =>
    collator.compare(left.name, right.name) || byId(left, right),
  price: (left: NaiveProduct, right: NaiveProduct) => left.price - right.price || byId(left, right),
};

const term = fc
  .record({
    word: fc.constantFrom(...WORDS, ...MAKERS.map((maker) => maker.split(' ')[0]!.toLowerCase())),
    from: fc.nat(3),
    length: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ word, from, length }) => word.slice(Math.min(from, word.length - 1)).slice(0, length));
const question = fc.record({
  terms: fc.uniqueArray(term, { minLength: 1, maxLength: 3 }),
  sort: fc.constantFrom('name' as const, 'price' as const),
  isDescending: fc.boolean(),
  page: fc.integer({ min: 1, max: 3 }),
});

test.each([
  ['small', PRODUCTS],
  ['large', 20_001],
])(`a search in a %s shop finds what a naive one finds, seed ${SEED}`, async (_size, visible) => {
  await setSize(visible);
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(question, async ({ terms, sort, isDescending, page }) => {
      const hits = naiveHits(terms).toSorted(ORDERS[sort]);
      // Without any hit, other words may be searched for.
      if (hits.length === 0) return;
      compared++;
      const ordered = isDescending ? hits.toReversed() : hits;
      const query = `q=${terms.join('+')}&sort=${sort}&direction=${isDescending ? 'desc' : 'asc'}`;
      const list = await service.call('GET', `/${SHOP}/products?${query}&resultsPerPage=7&page=${page}`, {
        token,
      });
      expect(list.body.results).toBe(hits.length);
      expect(list.body.items.map((item: { productNumber: string }) => item.productNumber)).toEqual(
        ordered.slice(7 * (page - 1), 7 * page).map(({ number }) => number),
      );
      const found = await service.call('POST', `/${SHOP}/search/products`, {
        token,
        body: { query: terms.join(' ') },
      });
      expect([found.body.results, found.body.fallbackQuery]).toEqual([hits.length, '']);
      const counts = Object.fromEntries(
        found.body.facets[0].values.map(({ name, matches }: { name: string; matches: number }) => [
          name,
          matches,
        ]),
      );
      const expected = new Map<string, number>();
      for (const { manufacturer } of hits) expected.set(manufacturer, (expected.get(manufacturer) ?? 0) + 1);
      expect(counts).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: halfOf(60), seed: SEED },
  );
  expect(compared).toBeGreaterThan(10);
});
