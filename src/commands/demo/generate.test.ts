import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { generateProducts } from './generate.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  for (const shopId of ['One', 'Two']) {
    await givenShop(service, shopId);
    await service.db.run(sql`update shop set locales = '{en_GB,de_DE,fr_FR}' where shop_id = ${shopId}`);
  }
});
afterAll(() => service.close());

async function generate(shopId: string, products: number, seed: number) {
  let advanced = 0;
  const made = await generateProducts(service.db, { shopId, products, seed }, (count) => {
    advanced += count;
  });
  expect(advanced).toBe(products);
  return made;
}

/** All but ids and times. */
const content = (shopId: string) =>
  service.db.many(sql`
    select product_number, kind, selection, visible, stock, prices, facts,
      (
        select array_agg(category.alias order by assigned.position) from product_category assigned join category
          on category.shop_id = ${shopId} and category.category_id = assigned.category_id
        where assigned.shop_id = ${shopId} and assigned.product_id = product.product_id
      ) as categories
    from product where shop_id = ${shopId} order by product_number`);

const counts = (shopId: string) =>
  service.db.one(sql`
    select (select count(*) from product where shop_id = ${shopId} and kind <> 'variation') as products,
      (select count(*) from category where shop_id = ${shopId} and alias like 'gen-%') as categories,
      (select count(*) from listing where shop_id = ${shopId}) as listed,
      (select sum(products)::bigint from listing_size
        where shop_id = ${shopId} and category_id = '00000000-0000-0000-0000-000000000000') as counted`);

test('makes so many products, in lists and search, and the same ones again for the same seed', async () => {
  expect(await generate('One', 700, 7)).toBe(700);
  const expected = { products: 700, categories: 40, listed: 2_100, counted: 700 };
  expect(await counts('One')).toEqual(expected);
  expect(await generate('Two', 300, 7)).toBe(300);
  // Goes on where the last run ended.
  expect(await generate('Two', 700, 7)).toBe(400);
  expect(await counts('Two')).toEqual(expected);
  const made = await content('One');
  expect(await content('Two')).toEqual(made);

  expect(await generate('One', 700, 7)).toBe(0);
  expect(await content('One')).toEqual(made);
  expect(await generate('One', 20, 8)).toBe(20);
  expect(await counts('One')).toEqual({ products: 720, categories: 40, listed: 2_160, counted: 720 });
});

test('they look like products', async () => {
  const token = await givenToken(service, 'One');
  const { status, body } = await service.call('GET', '/One/products?resultsPerPage=100&locale=de_DE', {
    token,
  });
  expect([status, body.items.length]).toEqual([200, 100]);
  expect(new Set(body.items.map(({ name }: { name: string }) => name)).size).toBeGreaterThan(95);
  for (const { name, priceInfo, manufacturer, description } of body.items) {
    expect(name).toMatch(/^\p{Lu}.+ \p{Lu}\p{L}+, \p{Lu}\p{L}+, \p{Ll}+$/u);
    expect(priceInfo.price.amount).toBeGreaterThan(1);
    expect(manufacturer).toMatch(/^\p{Lu}/u);
    expect(description).toMatch(/^<p>/);
  }
  const kinds = await service.db.many(sql`
    select kind from product where shop_id = 'One' group by kind having count(*) > 10 order by kind`);
  expect(kinds).toEqual([{ kind: 'master' }, { kind: 'regular' }, { kind: 'variation' }]);
  const found = await service.call('POST', '/One/search/products', { token, body: { query: 'oak' } });
  expect(found.body.results).toBeGreaterThan(10);
  expect(found.body.facets.map(({ attributeName }: { attributeName: string }) => attributeName)).toEqual([
    'Category',
    'Manufacturer',
    'Colour',
    'Size',
    'ListPrice',
  ]);
});
