import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { ProductFacts } from '../products/facts.ts';
import { refreshListing } from '../products/listing.ts';
import { insertProduct, type StoredProduct } from '../products/queries.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';

const SHOP = 'Harbour';
const BASE = `http://localhost:80/rs/shops/${SHOP}`;

let service: Service;
let token: string;
const ids = new Map<string, string>();

/** A shop with a lamp in variations, a few other things, and a neighbour that sells the same. */
beforeAll(async () => {
  service = await startService();
  await givenShop(service, SHOP);
  await givenShop(service, 'Other');
  token = await givenToken(service, SHOP);
  const productTypeId = newId(service.db.now);
  await service.db.transaction(async (tx) => {
    await tx.run(sql`
      update shop set locales = '{en_GB,de_DE}', currencies = '{EUR,GBP}', exchange_rates = '{"GBP": "0.8"}'
      where shop_id = ${SHOP}`);
    await moveSettingsVersion(tx, SHOP);
    const attributes = [
      {
        number: 31,
        key: 'Colour',
        name: { en_GB: 'Colour', de_DE: 'Farbe' },
        visible: true,
        preDefined: true,
        values: [{ value: 'brass', name: { en_GB: 'Brass', de_DE: 'Messing' } }],
      },
    ];
    await tx.run(sql`
      insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
      values (${SHOP}, ${productTypeId}, 'Lamp', '{}', ${tx.now}, ${JSON.stringify(attributes)})`);
    for (const [number, name, isVisible] of [
      [70, { en_GB: 'Lamps', de_DE: 'Leuchten' }, true],
      [71, { en_GB: 'Kitchen' }, true],
      [72, { en_GB: 'Archive' }, false],
    ] as const) {
      await tx.run(sql`
        insert into category (shop_id, category_id, number, alias, position, created_at, name, page_title,
          navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
        values (${SHOP}, ${newId(tx.now)}, ${number}, ${`c${number}`}, 0, ${tx.now}, ${name}, '{}', '{}', '{}',
          ${isVisible}, true, false, true, 3)`);
    }
  });
  await givenProduct('KE-1', 7_990, [71], {
    name: { en_GB: 'Beacon Kettle 1.7 l', de_DE: 'Beacon Wasserkocher 1,7 l' },
    manufacturer: 'Beacon',
    description: { en_GB: '<p>Boils quickly, for running kitchens and lamp lovers.</p>' },
  });
  await givenProduct('GR-1', 11_900, [71], {
    name: { en_GB: 'Beacon Burr Grinder', de_DE: 'Beacon Kaffeemühle' },
    manufacturer: 'Beacon',
  });
  await givenProduct(
    'LA-100',
    8_500,
    [70, 72],
    { name: { en_GB: 'Lantern Point Lamp' }, manufacturer: 'Lantern Point' },
    {
      kind: 'master',
      productTypeId,
      mainImage: 'lamp.png',
    },
  );
  await givenVariation('LA-101', 'LA-100', { Colour: 'brass' }, 7_900);
  await givenVariation('LA-102', 'LA-100', { Colour: 'slate' }, 9_900);
  await givenProduct('KN-120', 2_990, [], {
    name: { en_GB: 'Saltbox Sharpening Stone' },
    searchKeywords: { en_GB: ['whetstone', '50% off_now'] },
    ean: '4012345678901',
  });
  await givenProduct('CI-1', 295, [], { name: { en_GB: 'Harbour Cider', de_DE: 'Hafen Cider' } });
  await givenProduct('BK-1', 2_800, [], { name: { en_GB: 'The Quiet Harbour Cookbook' } });
  await givenProduct('ZZ-1', 100, [], { name: { en_GB: 'Hidden Harbour Lamp' } }, { visible: false });
  await givenProduct('KE-1', 100, [], { name: { en_GB: 'Beacon Kettle of the neighbour' } }, {}, 'Other');
  await service.db.run(sql`
    insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
    values (${SHOP}, ${ids.get('LA-100')}, 'lamp.png', 0, '0193a5f0-7c1e-7b3a-9d2e-4f6a8b0c1d2e', ${{
      Thumbnail: { file: 'lamp_xs.png', width: 50, height: 28, bytes: 1031 },
      Large: { file: 'lamp.png', width: 500, height: 280, bytes: 9031 },
    }}, ${service.db.now})`);
});
afterAll(() => service.close());

async function givenProduct(
  productNumber: string,
  price: number,
  categories: number[],
  facts: ProductFacts,
  more: Partial<StoredProduct> = {},
  shopId = SHOP,
): Promise<void> {
  await service.db.transaction(async (tx) => {
    const productId = newId(tx.now);
    await insertProduct(tx, shopId, {
      productId,
      productNumber,
      kind: 'regular',
      masterId: null,
      selection: null,
      visible: true,
      stock: 5,
      minStock: null,
      taxClassId: null,
      productTypeId: null,
      prices: { EUR: price },
      mainImage: null,
      ...more,
      facts,
    });
    await tx.run(sql`
      insert into product_category (shop_id, product_id, category_id, position)
      select ${shopId}, ${productId}, category_id, number from category
      where shop_id = ${shopId} and number = any (${categories})`);
    await refreshListing(tx, shopId, [productId]);
    if (shopId === SHOP) ids.set(productNumber, productId);
  });
}

function givenVariation(number: string, master: string, selection: Record<string, string>, price: number) {
  return givenProduct(number, price, [], {}, { kind: 'variation', masterId: ids.get(master)!, selection });
}

const everything = async () =>
  service.db.many(sql`select * from listing order by shop_id, locale, product_id`);

describe('q of the list of products', () => {
  const list = async (q: string, more = '') => {
    const { status, body } = await service.call(
      'GET',
      `/${SHOP}/products?q=${encodeURIComponent(q)}${more}`,
      { token },
    );
    expect(status).toBe(200);
    expect(body.results).toBeGreaterThanOrEqual(body.items.length);
    return body.items.map((item: { productNumber: string }) => item.productNumber);
  };

  test.each([
    ['beacon', ['GR-1', 'KE-1']],
    ['BEACON', ['GR-1', 'KE-1']],
    ['eaco', ['GR-1', 'KE-1']],
    ['beacon+grinder', ['GR-1']],
    ['grind beacon', ['GR-1']],
    ['beacon stone', []],
    ['ettl boils', ['KE-1']],
    ['"sharpening stone"', ['KN-120']],
    ['"stone sharpening"', []],
    ['"sharpening   stone', ['KN-120']],
    ['sharpened', ['KN-120']],
    ['boiling', ['KE-1']],
    ['kn-12', ['KN-120']],
    ['la-102', ['LA-100']],
    ['whetstone', ['KN-120']],
    ['345678', ['KN-120']],
    ['50%', ['KN-120']],
    ['off_n', ['KN-120']],
    ['o_f', []],
    ['h', ['CI-1', 'BK-1']],
    ['bo', ['KE-1']],
    ["' or 1=1 --", []],
    ['\\', []],
    [':* & | !', []],
  ])('%s', async (q, numbers) => {
    expect(await list(q)).toEqual(numbers);
  });

  test('an empty one is none; with sorting, a page, a category and a language', async () => {
    expect(await list('')).toHaveLength(6);
    expect(await list(' + ')).toHaveLength(6);
    expect(await list('beacon', '&sort=price')).toEqual(['KE-1', 'GR-1']);
    expect(await list('beacon', '&sort=price&direction=desc')).toEqual(['GR-1', 'KE-1']);
    expect(await list('beacon', '&resultsPerPage=1&page=2')).toEqual(['KE-1']);
    expect(await list('kaffeemühle', '&locale=de_DE')).toEqual(['GR-1']);
    expect(await list('kaffeemühlen', '&locale=de_DE')).toEqual(['GR-1']);
    const category = await service.db.one<{ id: string }>(
      sql`select category_id as id from category where shop_id = ${SHOP} and number = 70`,
    );
    expect(await list('lamp')).toEqual(['KE-1', 'LA-100']);
    expect(await list('lamp', `&categoryId=${category!.id}`)).toEqual(['LA-100']);
    expect(await list('lamp', `&categoryId=${newId(new Date())}`)).toEqual([]);
    expect(await list('lamp', '&categoryId=nonsense')).toEqual([]);
    expect(await list('hidden')).toEqual([]);
    expect(await list('hidden', '&includeInvisible=true')).toEqual(['ZZ-1']);
  });

  test.each(['beaconn', 'becaon', 'beaco', 'baecon', 'bencon', 'beaacon', 'neacon'])(
    'a typing error: %s',
    async (q) => {
      expect(await list(q)).toEqual(['GR-1', 'KE-1']);
      expect(await list(`${q} grindr`)).toEqual(['GR-1']);
    },
  );

  test('a word that is too far off, or occurs as it is, is not replaced', async () => {
    expect(await list('baconn')).toEqual([]);
    expect(await list('KN-121')).toEqual([]);
    expect(await list('lamp grinder')).toEqual([]);
  });

  test('20 words and any characters are no burden', async () => {
    expect(await list(Array.from({ length: 60 }, (_, index) => `w${index}`).join(' '))).toEqual([]);
    expect(await list('beacon '.repeat(100))).toEqual(['GR-1', 'KE-1']);
    expect(await list('😀 \u{FFFF} ß İ')).toEqual([]);
  });
});

describe('suggestions', () => {
  const suggest = (query: string, more = '', shop = SHOP) =>
    service.call('GET', `/${shop}/search/product-suggest?query=${encodeURIComponent(query)}${more}`);
  const names = async (query: string, more = '') => {
    const { status, body } = await suggest(query, more);
    expect(status).toBe(200);
    return body.products.map(({ name }: { name: string }) => name);
  };

  test('names that begin with it, then those of which a word does, then the rest', async () => {
    expect(await names('harb')).toEqual(['Harbour Cider', 'The Quiet Harbour Cookbook']);
    expect(await names('HARB')).toEqual(['Harbour Cider', 'The Quiet Harbour Cookbook']);
    expect(await names('b')).toEqual(['Beacon Burr Grinder', 'Beacon Kettle 1.7 l']);
    expect(await names('k')).toEqual(['Beacon Kettle 1.7 l']);
    expect(await names('ettl')).toEqual(['Beacon Kettle 1.7 l']);
    expect(await names('quiet harb')).toEqual(['The Quiet Harbour Cookbook']);
    expect(await names('l')).toEqual(['Lantern Point Lamp', 'Beacon Kettle 1.7 l']);
    expect(await names('kaffeem', '&locale=de_DE')).toEqual(['Beacon Kaffeemühle']);
  });

  test('only names count', async () => {
    expect(await names('whetstone')).toEqual([]);
    expect(await names('kn-120')).toEqual([]);
    expect(await names('%')).toEqual([]);
    expect(await names('_a')).toEqual([]);
  });

  test('as many as asked for', async () => {
    expect(await names('beacon', '&limit=1')).toEqual(['Beacon Burr Grinder']);
    expect(await names('beacon', '&limit=100')).toHaveLength(2);
    for (const limit of ['0', '101', '-1', 'x', '1.5']) {
      expect((await suggest('beacon', `&limit=${limit}`)).status).toBe(400);
    }
  });

  test('a query is needed', async () => {
    expect((await suggest('')).status).toBe(400);
    expect((await suggest('  ')).status).toBe(400);
    expect((await service.call('GET', `/${SHOP}/search/product-suggest`)).status).toBe(400);
  });

  test('typing errors are forgiven when nothing is found', async () => {
    expect(await names('ketle')).toEqual(['Beacon Kettle 1.7 l']);
    expect(await names('becaon ketle')).toEqual(['Beacon Kettle 1.7 l']);
    expect(await names('xyzzy')).toEqual([]);
  });

  test('with the thumbnail and the link', async () => {
    expect((await suggest('lantern')).body).toEqual({
      products: [
        {
          name: 'Lantern Point Lamp',
          images: [
            {
              url: `http://localhost:80/media/${SHOP}/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E/lamp_xs.png`,
              classifier: 'Thumbnail',
              isZoomEnabled: false,
              width: 50,
              height: 28,
              fileSize: 1031,
            },
          ],
          link: { rel: 'product', href: `${BASE}/products/${ids.get('LA-100')}` },
        },
      ],
    });
    expect((await suggest('cider')).body.products[0].images).toEqual([]);
    expect((await suggest('beacon', '', 'Other')).body.products).toMatchObject([
      { name: 'Beacon Kettle of the neighbour' },
    ]);
  });
});

describe('search with facets', () => {
  const post = (body: unknown, query = '') =>
    service.call('POST', `/${SHOP}/search/products${query}`, { token, body });
  const search = async (body: unknown, query = '') => {
    const answer = await post(body, query);
    expect(answer.status).toBe(200);
    return {
      ...answer.body,
      numbers: answer.body.items.map((item: { productNumber: string }) => item.productNumber),
    };
  };
  const facetNamed = (body: { facets: { attributeName: string }[] }, name: string) =>
    body.facets.find(({ attributeName }) => attributeName === name);

  test('everything about the lamp', async () => {
    const { body } = await post({ query: 'lantern' });
    const { items, ...others } = body;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ productNumber: 'LA-100', productVariationType: 'master' });
    expect(items[0]).not.toHaveProperty('bulkPriceInfo');
    expect(items[0]).not.toHaveProperty('shippingMethodsRestrictedTo');
    expect(others).toEqual({
      results: 1,
      page: 1,
      resultsPerPage: 10,
      query: 'lantern',
      fallbackQuery: '',
      facets: [
        {
          attributeName: 'Category',
          attributeType: 'Standard',
          values: [{ matches: 1, name: 'Lamps', filter: { fieldName: 'CategoryID', attributeValue: '70' } }],
        },
        {
          attributeName: 'Manufacturer',
          attributeType: 'Standard',
          values: [
            {
              matches: 1,
              name: 'Lantern Point',
              filter: { fieldName: 'Manufacturer', attributeValue: 'Lantern Point' },
            },
          ],
        },
        {
          attributeName: 'Colour',
          attributeType: 'PreDefString',
          values: [
            {
              matches: 1,
              name: 'Brass',
              filter: { fieldName: 'PreDefString_en_31', attributeValue: 'brass' },
            },
            {
              matches: 1,
              name: 'slate',
              filter: { fieldName: 'PreDefString_en_31', attributeValue: 'slate' },
            },
          ],
        },
        {
          attributeName: 'ListPrice',
          attributeType: 'Standard',
          values: [
            {
              matches: -1,
              name: 'EUR',
              filter: { fieldName: 'ListPrice', attributeRange: { min: '79.00', max: '99.00' } },
            },
          ],
        },
      ],
    });
    expect(Object.keys(body)).toEqual([
      'results',
      'page',
      'resultsPerPage',
      'items',
      'query',
      'fallbackQuery',
      'facets',
    ]);
  });

  test('in another language', async () => {
    const found = await search({ query: 'lantern' }, '?locale=de_DE');
    expect(facetNamed(found, 'Category')).toMatchObject({ values: [{ name: 'Leuchten' }] });
    expect(facetNamed(found, 'Farbe')).toMatchObject({
      values: [{ name: 'Messing', filter: { fieldName: 'PreDefString_de_31' } }, { name: 'slate' }],
    });
  });

  test('each value of a facet carries the filter that finds as many products', async () => {
    const all = await search({});
    expect([all.results, all.query, all.fallbackQuery]).toEqual([6, '', '']);
    expect(facetNamed(all, 'Manufacturer')).toMatchObject({
      values: [
        { name: 'Beacon', matches: 2 },
        { name: 'Lantern Point', matches: 1 },
      ],
    });
    let tried = 0;
    for (const { attributeName, values } of all.facets) {
      for (const { matches, filter } of values) {
        const found = await search({ attributeFilters: [filter] });
        expect(found.results).toBe(matches === -1 ? all.results : matches);
        const value = (
          facetNamed(found, attributeName) as { attributeName: string; values: object[] }
        ).values.find((one) => 'selectedValue' in one || 'selectedRange' in one);
        expect(value).toMatchObject(
          matches === -1
            ? { selectedRange: filter.attributeRange }
            : { selectedValue: filter.attributeValue, matches },
        );
        tried++;
      }
    }
    expect(tried).toBe(2 + 2 + 2 + 1);
  });

  test('filters narrow together, with the query, and by price', async () => {
    const maker = { fieldName: 'Manufacturer', attributeValue: 'Beacon' };
    const range = (min: unknown, max: unknown) => ({
      fieldName: 'ListPrice',
      attributeValue: null,
      attributeRange: { min, max },
    });
    const numbers = async (...attributeFilters: unknown[]) =>
      (await search({ attributeFilters, sortBy: 'ALIAS_ASC' })).numbers;
    expect(await numbers(maker)).toEqual(['GR-1', 'KE-1']);
    expect(await numbers(maker, range(100, '200'))).toEqual(['GR-1']);
    expect(await numbers(range('79', 79.9))).toEqual(['KE-1', 'LA-100']);
    expect(await numbers(range(85, 98))).toEqual(['LA-100']);
    expect(await numbers(range(99, null))).toEqual(['GR-1', 'LA-100']);
    expect(await numbers(range(100, 1))).toEqual([]);
    expect(await numbers(range(0, 100), range(20, 30))).toEqual(['BK-1', 'KN-120']);
    expect(await numbers(maker, { fieldName: 'CategoryID', attributeValue: 71 })).toEqual(['GR-1', 'KE-1']);
    expect(await numbers(maker, { fieldName: 'Manufacturer', attributeValue: 'Lantern Point' })).toEqual([]);
    expect(await numbers({ fieldName: 'CategoryID', attributeValue: 'none' })).toEqual([]);
    expect(await numbers({ fieldName: 'PreDefString_de_31', attributeValue: 'slate' })).toEqual(['LA-100']);
    expect(await numbers({ fieldName: 'PreDefString_de_-99', attributeValue: 'slate' })).toEqual([]);
    expect((await search({ query: 'kettle', attributeFilters: [maker] })).numbers).toEqual(['KE-1']);
    const none = await search({ query: 'kettle', attributeFilters: [range(1, 2)] });
    expect([none.results, none.items, none.facets, none.fallbackQuery]).toEqual([0, [], [], '']);
  });

  test('every order', async () => {
    const byAge = ['KE-1', 'GR-1', 'LA-100', 'KN-120', 'CI-1', 'BK-1'];
    const byName = ['GR-1', 'KE-1', 'CI-1', 'LA-100', 'KN-120', 'BK-1'];
    const byNumber = ['BK-1', 'CI-1', 'GR-1', 'KE-1', 'KN-120', 'LA-100'];
    const byPrice = ['CI-1', 'BK-1', 'KN-120', 'LA-100', 'KE-1', 'GR-1'];
    const orders: [string | null, string[]][] = [
      ['NAME_ASC', byName],
      ['NAME_DESC', byName.toReversed()],
      ['ALIAS_ASC', byNumber],
      ['ALIAS_DESC', byNumber.toReversed()],
      ['POSITION', byAge],
      ['POSITION_ASC', byAge],
      ['POSITION_DESC', byAge.toReversed()],
      ['PRICE_ASC', byPrice],
      ['PRICE_DESC', byPrice.toReversed()],
      ['RELEVANCE', byName],
      ['CUSTOMER_RATING', byName],
      [null, byName],
    ];
    for (const [sortBy, numbers] of orders) expect((await search({ sortBy })).numbers).toEqual(numbers);
    // In the name, then in the description.
    expect((await search({ query: 'lamp' })).numbers).toEqual(['LA-100', 'KE-1']);
    const second = await search({ sortBy: 'NAME_ASC' }, '?resultsPerPage=2&page=2');
    expect([second.numbers, second.results, second.page]).toEqual([['CI-1', 'LA-100'], 6, 2]);
    expect((await search({}, '?page=9')).numbers).toEqual([]);
  });

  test('what was found instead is told only when the query itself finds nothing', async () => {
    const fallback = async (query: string) => {
      const found = await search({ query });
      expect(found.query).toBe(query);
      return [found.fallbackQuery, found.numbers];
    };
    expect(await fallback('beacon kettle')).toEqual(['', ['KE-1']]);
    expect(await fallback('becaon ketle')).toEqual(['beacon kettle', ['KE-1']]);
    expect(await fallback('kettle zeppelin')).toEqual(['kettle', ['KE-1']]);
    expect(await fallback('"sharpening stone" zeppelin')).toEqual(['"sharpening stone"', ['KN-120']]);
    expect(await fallback('zeppelin')).toEqual(['', []]);
    expect(await fallback('zeppelin qwerty')).toEqual(['', []]);
    expect(await fallback('hidden')).toEqual(['', []]);
  });

  test('refuses what it does not understand, and changes nothing', async () => {
    const before = await everything();
    const filters = (...attributeFilters: unknown[]) => ({ attributeFilters });
    for (const body of [
      filters({ fieldName: 'Weight', attributeValue: '1' }),
      filters({ fieldName: 'PreDefString_1', attributeValue: '1' }),
      filters({ fieldName: 'Manufacturer' }),
      filters({ fieldName: 'Manufacturer', attributeValue: null }),
      filters({ fieldName: 'Manufacturer', attributeValue: {} }),
      filters({ fieldName: 'ListPrice' }),
      filters({ fieldName: 'ListPrice', attributeValue: 5 }),
      filters({ fieldName: 'ListPrice', attributeRange: {} }),
      filters({ fieldName: 'ListPrice', attributeRange: { min: 'cheap' } }),
      filters({ fieldName: 'ListPrice', attributeRange: [1, 2] }),
      filters({ attributeValue: 'x' }),
      filters('Manufacturer'),
      { attributeFilters: {} },
      {
        attributeFilters: Array.from({ length: 101 }, () => ({
          fieldName: 'CategoryID',
          attributeValue: '1',
        })),
      },
      { sortBy: 'PRICE' },
      { sortBy: 1 },
      { query: 7 },
      { query: 'x'.repeat(1_001) },
      [],
      'text',
    ]) {
      expect((await post(body)).status).toBe(400);
    }
    expect((await post({}, '?locale=de')).status).toBe(400);
    expect((await service.call('POST', '/Nowhere/search/products', { token, body: {} })).status).toBe(404);
    expect(await everything()).toEqual(before);
  });

  test('nulls mean: not given', async () => {
    expect((await search({ query: null, sortBy: null, attributeFilters: null })).results).toBe(6);
  });

  test('a hundred values of a facet at most, and the chosen one in any case', async () => {
    const shopId = 'Many';
    await givenShop(service, shopId);
    const many = await givenToken(service, shopId);
    await service.db.transaction(async (tx) => {
      const made = Array.from({ length: 120 }, () => newId(tx.now));
      await tx.run(sql`
        insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
        select ${shopId}, id, 'M' || place, 'regular', ${tx.now}, 1, true,
          jsonb_build_object('manufacturer', 'Maker ' || lpad(place::text, 3, '0'))
        from unnest(${made}::uuid[]) with ordinality as entry (id, place)`);
      await refreshListing(tx, shopId, made);
    });
    const values = async (attributeFilters: unknown[]) => {
      const { body } = await service.call('POST', `/${shopId}/search/products`, {
        token: many,
        body: { attributeFilters },
      });
      return (facetNamed(body, 'Manufacturer') as { attributeName: string; values: { name: string }[] })
        .values;
    };
    const all = await values([]);
    expect([all.length, all[0]!.name, all.at(-1)!.name]).toEqual([100, 'Maker 001', 'Maker 100']);
    expect(await values([{ fieldName: 'Manufacturer', attributeValue: 'Maker 120' }])).toMatchObject([
      { name: 'Maker 120', matches: 1, selectedValue: 'Maker 120' },
    ]);
  });
});
