import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { findTree, type TreeRow } from './queries.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service, 'catalogue');
});
afterAll(() => service.close());

const rowOf = async (isWanted: (row: TreeRow) => boolean) =>
  (await findTree(service.db, 'DemoShop')).find(isWanted)!;
const root = () => rowOf(({ parentId }) => parentId === null);
const childrenOf = async (parentId: string) =>
  (await findTree(service.db, 'DemoShop'))
    .filter((row) => row.parentId === parentId)
    .map(({ alias }) => alias);
const valueIn = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1];

test('a category is added where it is wanted, and moved by steps and by dropping', async () => {
  const { categoryId: rootId } = await root();
  const before = await childrenOf(rootId);
  const added = await merchant.post(`/categories/${rootId}/add`, { name: 'Ink' });
  expect(added.status).toBe(303);
  expect(await childrenOf(rootId)).toEqual([...before, 'Ink']);
  const { categoryId } = await rowOf(({ alias }) => alias === 'Ink');

  await merchant.post(`/categories/${categoryId}/move`, { direction: 'up' });
  expect((await childrenOf(rootId)).at(-2)).toBe('Ink');
  await merchant.post(`/categories/${categoryId}/move`, { direction: 'in' });
  const { parentId } = await rowOf(({ alias }) => alias === 'Ink');
  expect(parentId).not.toBe(rootId);
  await merchant.post(`/categories/${categoryId}/move`, { parentId: rootId, position: '0' });
  expect((await childrenOf(rootId))[0]).toBe('Ink');
  const wrong = await merchant.post(`/categories/${rootId}/move`, { direction: 'up' });
  expect(wrong.status).toBe(404);
});

test('texts of all languages are saved, and a shortcoming is told without losing them', async () => {
  const { categoryId } = await rowOf(({ alias }) => alias === 'Ink');
  const path = `/categories/${categoryId}`;
  const { text } = await merchant.get(path);
  const fields = {
    version: valueIn(text, 'version')!,
    'name.en_GB': 'Paper and ink',
    'name.de_DE': 'Papier und Tinte',
    'description.de_DE': '<p>Für Briefe</p>',
    alias: 'paper',
    visible: 'yes',
  };
  const taken = await merchant.post(path, {
    ...fields,
    alias: (await childrenOf((await root()).categoryId))[1]!,
  });
  expect(taken.status).toBe(409);
  expect(taken.text).toContain('There is a category with this URL path already.');
  expect(taken.text).toContain('value="Papier und Tinte"');

  expect((await merchant.post(path, fields)).status).toBe(303);
  const { body } = await service.call('GET', `/DemoShop/categories/${categoryId}?locale=de_DE`, {
    token: 'demo-all',
  });
  expect(body).toMatchObject({
    name: 'Papier und Tinte',
    description: '<p>Für Briefe</p>',
    alias: 'paper',
    visible: true,
    visibleInNavigation: false,
  });
  expect((await merchant.post(path, fields)).status).toBe(409);
});

test('products are added by their number and taken out again', async () => {
  const { categoryId } = await rowOf(({ alias }) => alias === 'paper');
  const path = `/categories/${categoryId}`;
  await merchant.post(`${path}/products`, { number: 'te-100' });
  const { text } = await merchant.get(path);
  const productId = /products\/([0-9A-F-]{36})\/delete/.exec(text)![1]!;
  expect(text).toContain('TE-100');
  await merchant.post(`${path}/products/${productId}/delete`, { number: 'TE-100' });
  expect((await merchant.get(path)).text).toContain('No products yet.');
  await merchant.post(`${path}/products`, { number: 'nothing' });
});

test('a deleted category is gone, and its products stay', async () => {
  const { categoryId } = await rowOf(({ alias }) => alias === 'paper');
  expect((await merchant.post(`/categories/${categoryId}/delete`)).status).toBe(303);
  expect((await merchant.get(`/categories/${categoryId}`)).status).toBe(404);
  const { categoryId: rootId } = await root();
  expect((await merchant.post(`/categories/${rootId}/delete`)).status).toBe(409);
});

test('staff who may only read see the tree and no buttons', async () => {
  const accountant = await givenMerchant(service, 'accountant');
  const { status, text } = await accountant.get('/categories');
  expect(status).toBe(200);
  expect(text).not.toContain('/move"');
});

test('a large tree is shown in parts', async () => {
  const { categoryId: rootId } = await root();
  await service.db.run(sql`
    insert into category (shop_id, category_id, number, alias, parent_id, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
    select 'DemoShop', md5('many ' || n)::uuid, 10000 + n, 'many-' || n,
      case when n % 10 = 0 then ${rootId}::uuid else md5('many ' || n / 10 * 10)::uuid end, n, now(),
      jsonb_build_object('en_GB', 'Many ' || n), '{}', '{}', '{}', true, true, false, true, 3
    from generate_series(10, 59) n`);
  const { categoryId } = await rowOf(({ alias }) => alias === 'many-20');
  const shown = async (path: string) =>
    [...(await merchant.get(path)).text.matchAll(/>(Many \d+)</g)].map(([, name]) => name);
  expect(await shown('/categories')).toEqual(['Many 10', 'Many 20', 'Many 30', 'Many 40', 'Many 50']);
  expect((await merchant.get('/categories')).text).toContain('9 subcategories');
  expect((await merchant.get('/categories')).text).not.toContain('class="steps"');
  const open = ['21', '22', '23', '24', '25', '26', '27', '28', '29'].map((n) => `Many ${n}`);
  expect(await shown(`/categories?open=${categoryId}`)).toEqual([
    'Many 10',
    'Many 20',
    ...open,
    'Many 30',
    'Many 40',
    'Many 50',
  ]);
  const { text } = await merchant.get(`/categories?open=${categoryId}`);
  expect(
    [...text.matchAll(/class="steps"\s+method="post"\s+action="([^"]*)"/g)].map(([, path]) => path),
  ).toEqual([`/admin/shops/DemoShop/categories/${categoryId}/move`]);
  // Of many categories the filter of the products offers those that stand highest, and the chosen one.
  const below = await rowOf(({ alias }) => alias === 'many-21');
  expect((await merchant.get(`/products?category=${below.categoryId}`)).text).toContain(
    `<option value="${below.categoryId}" selected>`,
  );
});
