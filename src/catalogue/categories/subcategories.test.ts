import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { freshListsOf, givenManyProducts, listsOf } from '../../../test/catalogue.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { runDueRebuilds } from '../products/listing-rebuild.ts';

/*
 * A category is searched by its name, and lists the products of those below it. Both follow every change of the tree.
 */

const SHOP = 'Harbour';
let service: Service;
let token: string;
const categories = new Map<string, string>();
const products = new Map<string, string>();

/** Coffee > Beans > Dark, and Gifts. */
beforeAll(async () => {
  service = await startService();
  await givenShop(service, SHOP);
  token = await givenToken(service, SHOP);
  const { body: roots } = await service.call('GET', `/${SHOP}/categories`, { token });
  categories.set('root', roots[0].categoryId);
  for (const [name, parent] of [
    ['Coffee', 'root'],
    ['Beans', 'Coffee'],
    ['Dark', 'Beans'],
    ['Gifts', 'root'],
  ] as const) {
    const { body } = await call('POST', `/categories/${categories.get(parent)}`, { name });
    categories.set(name, body.categoryId);
    await change(name, { name, visible: true });
  }
  for (const name of ['Arabica', 'Robusta', 'Mug']) {
    const { body } = await call('POST', '/products', { name, price: 5, visible: true });
    products.set(name, body.productId);
  }
  await assign('POST', 'Dark', 'Arabica');
  await assign('POST', 'Beans', 'Robusta');
  await assign('POST', 'Gifts', 'Mug');
});
afterAll(() => service.close());

const call = (method: string, path: string, body?: unknown, headers = {}) =>
  service.call(method, `/${SHOP}${path}`, { token, body, headers });

const change = async (name: string, changes: object, locale = 'en_GB') => {
  const categoryId = categories.get(name)!;
  const { status } = await call('PUT', `/categories/${categoryId}?locale=${locale}`, {
    categoryId,
    ...changes,
  });
  expect(status).toBe(200);
};

const assign = async (method: 'POST' | 'DELETE', category: string, product: string) => {
  const pair = `categoryId=${categories.get(category)}&productId=${products.get(product)}`;
  const { status } =
    method === 'POST'
      ? await call('POST', '/product-category-assignments', pair, {
          'content-type': 'application/x-www-form-urlencoded',
        })
      : await call('DELETE', `/product-category-assignments?${pair}`);
  expect(status).toBe(204);
};

/** The names in the list of products below a category, which is as long as it says, and as a fresh build makes it. */
const below = async (category: string) => {
  expect(await listsOf(service, SHOP)).toEqual(await freshListsOf(service, SHOP));
  const rows = await service.db.many<{ name: string }>(sql`
    select name from subcategory_listing
    where shop_id = ${SHOP} and category_id = ${categories.get(category)} and locale = 'en_GB' order by name`);
  const size = await service.db.one<{ products: number }>(sql`
    select coalesce(sum(products_below), 0)::bigint as products from listing_size
    where shop_id = ${SHOP} and category_id = ${categories.get(category)}`);
  expect(size).toEqual({ products: rows.length });
  return rows.map(({ name }) => name);
};

const found = async (query: string) => {
  const { body } = await call('GET', `/products?q=${query}`);
  return body.items.map(({ name }: { name: string }) => name);
};

test('the products of subcategories, each once, and none of its own', async () => {
  expect(await below('Coffee')).toEqual(['Arabica', 'Robusta']);
  expect(await below('Beans')).toEqual(['Arabica']);
  expect(await below('root')).toEqual([]);
  await assign('POST', 'Beans', 'Arabica');
  expect([await below('Coffee'), await below('Beans')]).toEqual([['Arabica', 'Robusta'], []]);
  await assign('POST', 'Coffee', 'Robusta');
  expect(await below('Coffee')).toEqual(['Arabica']);
  await assign('DELETE', 'Coffee', 'Robusta');
  await assign('DELETE', 'Beans', 'Arabica');
  expect([await below('Coffee'), await below('Beans')]).toEqual([['Arabica', 'Robusta'], ['Arabica']]);
});

test('the list of a category in the API has its own products only', async () => {
  const listed = async (category: string) => {
    const { body } = await call('GET', `/products?categoryId=${categories.get(category)}`);
    return [body.results, ...body.items.map(({ name }: { name: string }) => name)];
  };
  expect(await listed('Coffee')).toEqual([0]);
  expect(await listed('Beans')).toEqual([1, 'Robusta']);
});

test('a category is found by its name, and by the new one as soon as it is renamed', async () => {
  expect(await found('coffee')).toEqual(['Arabica', 'Robusta']);
  expect(await found('dark')).toEqual(['Arabica']);
  await change('Coffee', { name: 'Roastery' });
  expect([await found('coffee'), await found('roastery')]).toEqual([[], ['Arabica', 'Robusta']]);
  await change('Coffee', { name: 'Coffee' });
  expect(await found('cofee')).toEqual(['Arabica', 'Robusta']);
});

test('what a product says itself comes before the names of categories', async () => {
  await change('Gifts', { name: 'Arabica gifts' });
  expect(await found('arabica')).toEqual(['Arabica']);
  await change('Gifts', { name: 'Gifts' });
});

test('a hidden category hides what is below it from those above', async () => {
  await change('Beans', { name: 'Beans', visible: false });
  expect([await below('Coffee'), await below('Beans')]).toEqual([[], []]);
  expect([await found('coffee'), await found('beans'), await found('dark')]).toEqual([[], [], ['Arabica']]);
  await change('Beans', { name: 'Beans', visible: true });
  expect(await below('Coffee')).toEqual(['Arabica', 'Robusta']);
});

test('a product that is renamed, hidden and shown again', async () => {
  const patch = (path: string, value: unknown) =>
    call('PATCH', `/products/${products.get('Robusta')}`, [{ op: 'replace', path, value }], {
      'content-type': 'application/json-patch+json',
    });
  await patch('/name', 'Canephora');
  expect(await below('Coffee')).toEqual(['Arabica', 'Canephora']);
  await patch('/visible', false);
  expect(await found('coffee')).toEqual(['Arabica']);
  await patch('/visible', true);
  await patch('/name', 'Robusta');
  expect(await below('Coffee')).toEqual(['Arabica', 'Robusta']);
});

test('a category that is moved takes its products along, and keeps its place', async () => {
  const place = (name: string, parent: string, position: number) =>
    service.call('PUT', `/manage/shops/${SHOP}/categories/${categories.get(name)}/place`, {
      token,
      body: { parentId: categories.get(parent), position },
    });
  const childrenOf = async (name: string) => {
    const { body } = await call('GET', `/categories/${categories.get(name)}`);
    return body.subCategories.map(({ title }: { title: string }) => title);
  };
  expect((await place('Beans', 'Gifts', 0)).status).toBe(204);
  expect([await below('Coffee'), await below('Gifts')]).toEqual([[], ['Arabica', 'Robusta']]);
  expect([await found('coffee'), await found('gifts')]).toEqual([[], ['Arabica', 'Mug', 'Robusta']]);
  expect((await place('Dark', 'Gifts', 0)).status).toBe(204);
  expect(await childrenOf('Gifts')).toEqual(['Dark', 'Beans']);
  expect((await place('Dark', 'Gifts', 99)).status).toBe(204);
  expect(await childrenOf('Gifts')).toEqual(['Beans', 'Dark']);
  expect((await place('Dark', 'Beans', 0)).status).toBe(204);
  expect((await place('Beans', 'Coffee', 0)).status).toBe(204);
  expect([await below('Coffee'), await below('Gifts')]).toEqual([['Arabica', 'Robusta'], []]);
});

test.each([
  ['below itself', 'Beans', 'Beans', 409],
  ['below one of its own', 'Coffee', 'Dark', 409],
  ['anywhere, being the root,', 'root', 'Gifts', 409],
  ['below nothing', 'Gifts', 'nothing', 400],
])('a category is not moved %s', async (_where, name, parent, expected) => {
  const before = await listsOf(service, SHOP);
  const { status } = await service.call(
    'PUT',
    `/manage/shops/${SHOP}/categories/${categories.get(name)}/place`,
    {
      token,
      body: { parentId: categories.get(parent) ?? '00000000-0000-7000-8000-000000000000', position: 0 },
    },
  );
  expect(status).toBe(expected);
  expect(await listsOf(service, SHOP)).toEqual(before);
});

test('the rename of a large category is finished in the background', async () => {
  await givenShop(service, 'Large');
  const large = await givenToken(service, 'Large');
  const { body: roots } = await service.call('GET', '/Large/categories', { token: large });
  const { body: gifts } = await service.call('POST', `/Large/categories/${roots[0].categoryId}`, {
    token: large,
    body: { name: 'Gifts' },
  });
  const { categoryId } = gifts;
  const rename = (name: string) =>
    service.call('PUT', `/Large/categories/${categoryId}`, {
      token: large,
      body: { categoryId, name, visible: true },
    });
  const count = async (query: string) =>
    (await service.call('GET', `/Large/products?q=${query}`, { token: large })).body.results;
  await rename('Gifts');
  await givenManyProducts(service, 'Large', 250, [categoryId, categoryId]);
  expect(await count('gifts')).toBe(225);
  await rename('Presents');
  expect([await count('gifts'), await count('presents')]).toEqual([225, 0]);
  expect(await runDueRebuilds(service.db)).toBe(1);
  expect([await count('gifts'), await count('presents')]).toEqual([0, 225]);
});

test('a category that is deleted leaves no list behind', async () => {
  const { status } = await call('DELETE', `/categories/${categories.get('Beans')}`);
  expect(status).toBe(204);
  expect(await below('Coffee')).toEqual([]);
  expect(await service.db.many(sql`select from subcategory_listing where shop_id = ${SHOP}`)).toEqual([]);
  expect(await found('coffee')).toEqual([]);
});

test('a product that is deleted is taken out of the lists above it', async () => {
  await assign('POST', 'Coffee', 'Mug');
  const { body } = await call('POST', `/categories/${categories.get('Coffee')}`, { name: 'Cups' });
  categories.set('Cups', body.categoryId);
  await change('Cups', { name: 'Cups', visible: true });
  await assign('POST', 'Cups', 'Arabica');
  expect(await below('Coffee')).toEqual(['Arabica']);
  await call('DELETE', `/products/${products.get('Arabica')}`);
  expect(await below('Coffee')).toEqual([]);
});
