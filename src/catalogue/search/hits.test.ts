import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { readPage } from '../../../test/storefront.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';

const SHOP = 'Large';
const PRODUCTS = 2_050;

let service: Service;
let token: string;

/** A shop in which more products have the same word than a search compares. The names go up, the prices go down. */
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
  await givenShop(service, SHOP);
  token = await givenToken(service, SHOP);
  const { db } = service;
  const first = db.now.getTime();
  const ids = Array.from({ length: PRODUCTS }, (_, place) => newId(new Date(first + place)));
  await db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
    select ${SHOP}, id, 'N' || place, 'regular', ${db.now}, 1, true, jsonb_build_object('EUR', 5000 - place),
      jsonb_build_object('name', jsonb_build_object('en_GB', 'Oak Thing ' || lpad(place::text, 4, '0')))
    from unnest(${ids}::uuid[]) with ordinality as entry (id, place)`);
  await db.run(sql`
    insert into listing (shop_id, locale, product_id, visible, name, price, text, words, facets)
    select shop_id, 'en_GB', product_id, true, name, (prices ->> 'EUR')::bigint,
      ' ' || lower(name) || case when name like '%7' then ' wallclock ' else ' ' end,
      to_tsvector('english', name), array[case when name like '%7' then 'm:Seven' else 'm:Other' end]
    from (select *, facts -> 'name' ->> 'en_GB' as name from product where shop_id = ${SHOP}) as made`);
  await setSize(PRODUCTS);
});
afterAll(() => service.close());

/** What search believes of the size of the shop: large ones are read in another way. */
async function setSize(products: number) {
  await service.db.run(sql`
    insert into listing_size (shop_id, category_id, visible, products)
    values (${SHOP}, '00000000-0000-0000-0000-000000000000', true, ${products})
    on conflict (shop_id, category_id, visible) do update
    set products = excluded.products, version = listing_size.version + 1`);
}

const numbersOf = ({ items }: { items: { productNumber: string }[] }) =>
  items.map(({ productNumber }) => productNumber);

const list = async (query: string) => {
  const { status, body } = await service.call('GET', `/${SHOP}/products?resultsPerPage=3&${query}`, {
    token,
  });
  expect(status).toBe(200);
  return body;
};

const search = async (query: string) => {
  const { status, body } = await service.call('POST', `/${SHOP}/search/products`, { token, body: { query } });
  expect(status).toBe(200);
  return body;
};

const suggest = async (text: string) => {
  const { body } = await service.call('GET', `/${SHOP}/search/product-suggest?limit=3&query=${text}`);
  return body.products.map(({ name }: { name: string }) => name);
};

describe('more products match than are compared', () => {
  test('so many are counted and reached, and the answer says that there are more', async () => {
    const found = await list('q=oak');
    expect([found.results, found.moreResults, found.items.length]).toEqual([1_000, true, 3]);
    expect((await list('q=oak&page=333')).items).toHaveLength(3);
    expect((await list('q=oak&page=400')).items).toEqual([]);
  });

  test('a narrower search is exact, and says nothing', async () => {
    const found = await list('q=oak+1049');
    expect(found).toEqual({
      ...found,
      results: 1,
      items: [expect.objectContaining({ productNumber: 'N1049' })],
    });
    expect(found).not.toHaveProperty('moreResults');
    expect(await list('q=allclo')).toMatchObject({ results: 205, items: [{ productNumber: 'N7' }, {}, {}] });
  });

  test('facets compare more of them', async () => {
    const found = await search('oak');
    expect(found.results).toBe(PRODUCTS);
    expect(found).not.toHaveProperty('moreResults');
    expect(found.facets[0].values.map(({ matches }: { matches: number }) => matches)).toEqual([1_845, 205]);
  });
});

describe('a large part of a large shop matches', () => {
  beforeAll(() => setSize(20_001));
  afterAll(() => setSize(PRODUCTS));

  test.each([
    ['q=oak', ['N1', 'N2', 'N3']],
    ['q=oak&direction=desc', ['N2050', 'N2049', 'N2048']],
    ['q=oak&sort=price', ['N2050', 'N2049', 'N2048']],
    ['q=oak&sort=price&direction=desc', ['N1', 'N2', 'N3']],
    ['q=oak+hing&page=2', ['N4', 'N5', 'N6']],
  ])('%s: the first of the list', async (query, numbers) => {
    const found = await list(query);
    expect([numbersOf(found), found.moreResults]).toEqual([numbers, true]);
  });

  test('with invisible products it is searched by words', async () => {
    expect(await list('q=oak&includeInvisible=true')).toMatchObject({ results: 1_000, moreResults: true });
  });

  test('facets are counted from the first of the list, and the answer says so', async () => {
    const found = await search('oak');
    expect([found.results, found.moreResults]).toEqual([2_000, true]);
    const { lines, main } = await readPage(service, `/${SHOP}/search?q=oak`);
    expect(lines).toContain('More than 2000 products');
    expect(main).toContain('Seven <small>(200+)</small>');
  });

  test('what few products have is found by the indexes', async () => {
    expect(await list('q=2050')).toMatchObject({ results: 1, items: [{ productNumber: 'N2050' }] });
    expect(await list('q=allclo')).toMatchObject({ results: 205 });
    expect(await list('q=wallclokc')).toMatchObject({ results: 0 });
  });
});

describe('suggestions', () => {
  test('of the first names, of the newest 2,000 products, and of the others', async () => {
    expect(await suggest('oa')).toEqual(['Oak Thing 0001', 'Oak Thing 0002', 'Oak Thing 0003']);
    expect(await suggest('th')).toEqual(['Oak Thing 0051', 'Oak Thing 0052', 'Oak Thing 0053']);
    expect(await suggest('2050')).toEqual(['Oak Thing 2050']);
    expect(await suggest('0007')).toEqual(['Oak Thing 0007']);
    expect(await suggest('wallc')).toEqual([]);
  });
});

describe('typing errors', () => {
  const create = async (name: string, visible = true) => {
    const { body } = await service.call('POST', `/${SHOP}/products`, { token, body: { name, visible } });
    return body.productId as string;
  };

  test('are corrected to the words of products that are there and visible', async () => {
    const lantern = await create('Lantern');
    await create('Lantorn', false);
    await create('Sextant');
    expect(await list('q=lantarn')).toMatchObject({ results: 1, items: [{ productId: lantern }] });
    expect(await search('lantarn')).toMatchObject({ results: 1, fallbackQuery: 'lantern' });
    expect(await list('q=sextnat')).toMatchObject({ results: 1 });
    await service.call('DELETE', `/${SHOP}/products/${lantern}`, { token });
    expect(await list('q=lantarn')).toMatchObject({ results: 0 });
    expect(await search('lantarn')).toMatchObject({ results: 0, fallbackQuery: '' });
  });

  test('to the word that most products have', async () => {
    for (const name of ['Copper one', 'Copper two', 'Cooper']) await create(name);
    expect(await search('coppr')).toMatchObject({ results: 2, fallbackQuery: 'copper' });
    expect(await search('coper')).toMatchObject({ results: 2, fallbackQuery: 'copper' });
  });
});
