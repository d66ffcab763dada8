import { ANONYMOUS_SCOPES } from '../src/http/scopes.ts';
import { OPERATIONS, validCall, type Operation, type Shop } from './operations.ts';
import { readPage } from './storefront.ts';

/**
 * Requests in all the variations that decide which SQL is sent: which parameters come and which do not, which fields a
 * body has, how many words are searched for, which order is asked. Most succeed; a refusal is as good, because what is
 * looked at afterwards is the SQL.
 */

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  locale: ['en_GB', 'de_DE', 'fr_FR'],
  currency: ['EUR', 'GBP', 'JPY'],
  page: ['1', '2', '500'],
  resultsPerPage: ['1', '7', '100'],
  sort: ['name', 'price'],
  direction: ['asc', 'desc'],
  q: ['lamp', 'brass lamp', 'lanp', 'brass lamp harbour', 'zzzz', '"brass lamp" sea'],
  query: ['lamp', 'la', 'lanp', 'harbour lamp'],
  limit: ['1', '10'],
  includeInvisible: ['true', 'false'],
  myScriptTagsOnly: ['true', 'false'],
  force: ['true', 'false'],
  include: ['lineItems', 'nothing'],
  lastUpdated: ['true', 'false'],
  updatedFrom: ['2020-01-01', '2026-11-01T10:00:00Z', '2099-01-01'],
  createdAfter: ['2026-01-01', '2026-11-10T10:00:00Z'],
  createdBefore: ['2026-12-31', '2026-11-14'],
  changedAfter: ['2026-01-01'],
  after: ['2026-01-01'],
  before: ['2099-01-01'],
  method: ['POST', 'PATCH'],
  hasAddress: ['true', 'false'],
  sortBy: ['name', 'price'],
};
/** What is not in the table is a state that is set or not. */
const OTHERWISE = ['true', 'false'];

const SEARCH_ORDERS =
  'NAME_ASC NAME_DESC ALIAS_ASC ALIAS_DESC POSITION POSITION_DESC PRICE_ASC PRICE_DESC'.split(' ');
const PAGE_ORDERS = ['relevance', 'name', 'price', 'price-desc', 'new'];
/** Nothing, one word, two words of one product, two of different ones, a typing error, many, and what nobody has. */
const SEARCHES = [
  '',
  'tea',
  'green tea',
  'tea harbour',
  'laamp',
  'tea zzzz',
  'tea mug soap lamp',
  '"green tea" tea',
];
const WORDS = (
  'lamp brass harbour tea mug wool blanket candle lanp compass rope oak ceramic linen lighthouse soap shell ' +
  'blue green anchor zzzz x'
).split(' ');

/** What the seed decides. */
function chooserOf(seed: number) {
  const random = randomOf(seed);
  const below = (end: number) => Math.floor(random() * end);
  const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
  const someOf = <Item>(items: readonly Item[]): Item[] => {
    const share = random();
    return items.filter(() => random() < share);
  };
  const words = (count: number) => Array.from({ length: count }, () => oneOf(WORDS)).join(' ');
  return { random, oneOf, someOf, words };
}

/** The searches, lists and pages of a shop. */
function readsOf({ service, shopId, token }: Shop) {
  return {
    search: (query: string, sortBy: string, attributeFilters: readonly unknown[], locale = 'en_GB') =>
      service.call('POST', `/${shopId}/search/products?locale=${locale}`, {
        token,
        body: { query, sortBy, attributeFilters },
      }),
    list: (query: Record<string, string>) =>
      service.call('GET', `/${shopId}/products?${new URLSearchParams(query).toString()}`, { token }),
    page: (path: string, query: Record<string, string>) =>
      readPage(service, `/${shopId}/${path}?${new URLSearchParams(query).toString()}`),
  };
}

const FILTERS = [
  { fieldName: 'Manufacturer', attributeValue: 'Beacon' },
  { fieldName: 'CategoryID', attributeValue: '3' },
  { fieldName: 'ListPrice', attributeRange: { min: 1 } },
  { fieldName: 'ListPrice', attributeRange: { max: 50 } },
];

/**
 * Calls each operation once, with all that it takes or with a part of it, and searches for any number of words. The seed
 * decides what varies.
 */
export async function callInVariations(shop: Shop, seed: number, { isPlain = false } = {}): Promise<void> {
  const { random, oneOf, someOf, words } = chooserOf(seed);
  const someParameters = ({ query }: Operation, found: URLSearchParams) => {
    const chosen = new URLSearchParams();
    for (const name of someOf(query)) {
      const given = found.get(name);
      chosen.set(name, given !== null && random() < 0.8 ? given : oneOf(VALUES[name] ?? OTHERWISE));
    }
    for (const [name, value] of found) if (random() < 0.9 && !chosen.has(name)) chosen.set(name, value);
    return `?${chosen.toString()}`;
  };
  const someFields = (body: unknown): unknown => {
    if (Array.isArray(body)) return someOf(body);
    if (typeof body !== 'object' || body === null) return body;
    return Object.fromEntries(someOf(Object.entries(body)));
  };

  for (const operation of OPERATIONS) {
    const { path, search, options } = await validCall(operation, shop);
    const body = isPlain || operation.multipart || operation.form ? options.body : someFields(options.body);
    const isAnonymous =
      operation.scopes.length > 0 &&
      operation.scopes.every((scope) => ANONYMOUS_SCOPES.has(scope)) &&
      random() < 0.3;
    const { token, ...without } = options;
    await shop.service.call(
      operation.method,
      path + (isPlain ? search : someParameters(operation, new URLSearchParams(search))),
      { ...(isAnonymous ? without : { token: token!, ...without }), ...(body !== undefined && { body }) },
    );
  }

  const { search, page } = readsOf(shop);
  const { alias } = await someCategory(shop);
  for (const count of [0, 1, 2, 3, 4, 7, 20]) {
    for (const sortBy of someOf(SEARCH_ORDERS)) {
      await search(words(count), sortBy, someOf(FILTERS), oneOf(VALUES['locale']!));
    }
    for (const sort of someOf(PAGE_ORDERS)) {
      const narrowed = {
        sort,
        ...(random() < 0.5 && { min: '5' }),
        ...(random() < 0.5 && { f: 'm:Beacon' }),
      };
      await page(`Categories/${encodeURIComponent(alias)}`, narrowed);
      await page('search', { ...narrowed, q: words(count) });
      await page('suggest', { q: words(count) });
    }
  }
}

/** Every combination of what decides how a search, a category and a list of orders are read. */
export async function callCombinations(shop: Shop, seed: number): Promise<void> {
  const { oneOf, someOf } = chooserOf(seed);
  const { service, shopId, token } = shop;
  const { search, list, page } = readsOf(shop);
  const { categoryId, alias } = await someCategory(shop);
  // Every way that a search takes.
  for (const query of SEARCHES) {
    for (const sortBy of ['RELEVANCE', oneOf(SEARCH_ORDERS)]) {
      await search(query, sortBy, []);
      await search(query, sortBy, FILTERS.slice(0, 1));
    }
    for (const sort of VALUES['sort']!) {
      for (const direction of VALUES['direction']!) {
        await list({ q: query, sort, direction });
        await list({ q: query, sort, direction, categoryId, includeInvisible: 'true' });
        await list({ q: query, sort, direction, categoryId });
        await list({ q: query, sort, direction, includeInvisible: 'true' });
      }
    }
  }
  // A category that shows the products of its subcategories is read by statements of its own.
  for (const shown of [alias, await someParent(shop)]) {
    for (const sort of PAGE_ORDERS) {
      for (const filter of [{}, { f: 'm:Beacon' }])
        await page(`Categories/${encodeURIComponent(shown)}`, { sort, ...filter });
    }
  }

  const customerId = await someId(shop, 'customer');
  const productId = await someId(shop, 'product');
  const given = {
    customerId,
    productId,
    updatedFrom: '2020-01-01',
    lastUpdated: 'true',
    include: 'lineItems',
  };
  const names = Object.keys(given) as (keyof typeof given)[];
  for (let bits = 0; bits < 2 ** names.length; bits++) {
    const chosen = names.filter((_name, index) => bits & (1 << index)).map((name) => [name, given[name]]);
    const narrowing = Object.entries({ currency: 'EUR', createdAfter: '2026-01-01', paidOn: 'true' });
    for (const narrowed of [[], ...narrowing.map((one) => [one]), someOf(narrowing)]) {
      const query = [...chosen, ...narrowed];
      const parameters = new URLSearchParams(query as [string, string][]);
      await service.call('GET', `/${shopId}/orders?${parameters.toString()}`, { token });
    }
  }
}

async function someId({ service, shopId }: Shop, table: 'customer' | 'product'): Promise<string> {
  const { rows } = await service.db.pool.query<{ id: string }>(
    `select ${table}_id::text as id from ${table} where shop_id = $1 order by 1 limit 1`,
    [shopId],
  );
  return rows[0]!.id;
}

async function someParent({ service, shopId }: Shop): Promise<string> {
  const { rows } = await service.db.pool.query<{ alias: string }>(
    `select alias from category parent
    where shop_id = $1 and parent_id is not null and visible and exists (
      select from category where shop_id = $1 and parent_id = parent.category_id and visible)
    order by number limit 1`,
    [shopId],
  );
  return rows[0]!.alias;
}

async function someCategory({ service, shopId }: Shop): Promise<{ categoryId: string; alias: string }> {
  const { rows } = await service.db.pool.query(
    `select category_id::text as "categoryId", alias from category
     where shop_id = $1 and parent_id is not null order by number limit 1`,
    [shopId],
  );
  return rows[0] as { categoryId: string; alias: string };
}
