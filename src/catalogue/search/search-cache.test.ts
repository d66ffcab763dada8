import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { Caches } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { PageOptions } from '../products/listing-page.ts';
import { findOrFallBack, type Filters } from './faceted-search.ts';
import { searchPage } from './list-search.ts';
import { parseQuery } from './query.ts';

const SHOP = 'DemoShop';
const token = 'demo-all';
let service: Service;
beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

async function call(method: string, path: string, body?: unknown) {
  const answer = await service.call(method, `/${SHOP}${path}`, {
    token,
    ...(body !== undefined && { body }),
  });
  expect({ method, path, status: answer.status }).toEqual({ method, path, status: expect.toSatisfy(isDone) });
  return answer.body;
}

const isDone = (status: number) => status >= 200 && status < 300;

const patch = async (number: string, ...operations: { op?: string; path: string; value: unknown }[]) =>
  call(
    'PATCH',
    `/products/${await idOf(number)}`,
    operations.map((operation) => ({ op: 'replace', ...operation })),
  );

async function idOf(number: string): Promise<string> {
  const { items } = await call('POST', '/products/find', { productNumber: number });
  return items[0].productId;
}

async function categoryNamed(name: string): Promise<string> {
  const row = await service.db.one<{ categoryId: string }>(sql`
    select upper(category_id::text) as "categoryId" from category
    where shop_id = ${SHOP} and name ->> 'en_GB' = ${name}`);
  return row!.categoryId;
}

const LIST = {
  locale: 'en_GB',
  sort: 'name',
  direction: 'asc',
  includeInvisible: false,
  limit: 10,
  offset: 0,
} as const;
const FACETED = { locale: 'en_GB', sortBy: 'rank', direction: 'desc', limit: 10, offset: 0 } as const;
const ANY = { facets: [], minimum: null, maximum: null };

const list =
  (query: string, options: Partial<PageOptions> = {}) =>
  (db: Queries) =>
    searchPage(db, SHOP, { ...LIST, ...options, terms: parseQuery(query) });
const search =
  (query: string, filters: Partial<Filters> = {}) =>
  (db: Queries) =>
    findOrFallBack(db, SHOP, { ...FACETED, terms: parseQuery(query), filters: { ...ANY, ...filters } });

/** Words, parts of words, typing errors, what nothing has, filters, pages, what is invisible. */
const QUESTIONS: readonly ((db: Queries) => Promise<object>)[] = [
  list('tea'),
  list('tea', { sort: 'price', direction: 'desc', limit: 2, offset: 2 }),
  list('tea', { includeInvisible: true }),
  list('tee', { locale: 'de_DE' }),
  list('lantrn'),
  list('zeppelin'),
  search('knife'),
  search('kinfe'),
  search('kitchen knife zeppelin'),
  search('', { maximum: 3_000 }),
];

const ask = (db: Queries) => Promise.all(QUESTIONS.map((question) => question(db)));

/** What a process answers that has not searched before. */
const askFreshly = () => ask({ ...service.db, caches: new Caches() });

test('what was found once is found again without a search', async () => {
  const first = await ask(service.db);
  expect(service.db.caches.sizes).toContainEqual({ name: 'searches', entries: QUESTIONS.length });
  expect(first[0]).toMatchObject({ results: 3 });
  // Nobody but this test writes a list behind the back of its version.
  const hide = (visible: boolean) =>
    service.db.run(
      sql`update listing set visible = ${visible} where shop_id = ${SHOP} and name ilike '%tea%'`,
    );
  await hide(false);
  expect(await ask(service.db)).toEqual(first);
  expect(await askFreshly()).not.toEqual(first);
  await hide(true);
  expect(await askFreshly()).toEqual(first);
});

test.each<[string, () => Promise<unknown>]>([
  ['the stock of a hit changes', () => patch('TE-100', { op: 'add', path: '/stocklevel', value: 3 })],
  ['a hit has another name', () => patch('TE-110', { path: '/name', value: 'Evening Infusion' })],
  [
    'a description names it',
    () => patch('KN-100', { op: 'add', path: '/description', value: 'For tea leaves' }),
  ],
  ['a hit has another price', () => patch('TE-120', { path: '/priceInfo/price/amount', value: 99.5 })],
  [
    'a hit has another manufacturer',
    () => patch('KN-110', { op: 'add', path: '/manufacturer', value: 'Zeppelin' }),
  ],
  ['a hit is hidden', () => patch('TE-100', { path: '/visible', value: false })],
  ['a hit is deleted', async () => call('DELETE', `/products/${await idOf('KN-120')}`)],
  [
    'a product comes',
    () => call('POST', '/products', { productNumber: 'NEW-1', name: 'Tea knife', price: 5 }),
  ],
  [
    'a short description names it',
    () => patch('KN-100', { op: 'add', path: '/shortDescription', value: 'A zeppelin' }),
  ],
  [
    'a category has another name',
    async () => {
      const categoryId = await categoryNamed('Tea');
      return call('PUT', `/categories/${categoryId}`, { categoryId, name: 'Zeppelin leaves' });
    },
  ],
  [
    'a category is hidden',
    async () => {
      const categoryId = await categoryNamed('Zeppelin leaves');
      return call('PUT', `/categories/${categoryId}`, {
        categoryId,
        name: 'Zeppelin leaves',
        visible: false,
      });
    },
  ],
])('%s, and every search says so', async (_what, change) => {
  const before = await ask(service.db);
  await change();
  const after = await ask(service.db);
  expect(after).not.toEqual(before);
  expect(after).toEqual(await askFreshly());
});
