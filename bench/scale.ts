import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { newId } from '../src/kernel/ids.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { refreshListing } from '../src/catalogue/products/listing.ts';
import { load } from './load.ts';
import { atEnd } from './processes.ts';
import type { Verdict } from './report.ts';
import { createBareShop } from './shop.ts';
import type { Call } from './targets.ts';
import { openClient, percentile, type Client } from './timing.ts';

/**
 * Whether cost grows with the size of a shop: the same calls in a shop with few products and in one with many, one
 * connection, in turn; search in the large one; a product among many variations; export and import of all of it.
 */
export interface ScaleOptions {
  small: number;
  large: number;
  /** Calls of each kind. */
  calls: number;
  variations: number;
}

export interface ScaleShops {
  token: string;
  small: ShopFacts;
  large: ShopFacts;
  variationIds: string[];
}

interface ShopFacts {
  root: string;
  productIds: string[];
  /** The largest category. */
  categoryId: string;
  categoryNumber: number;
  /** Names of products, to search for. */
  names: string[];
}

export const LOCALES = { default: 'en_GB', items: ['en_GB', 'de_DE', 'fr_FR'] };
const CURRENCIES = { default: 'EUR', items: ['EUR', 'GBP', 'USD'], rates: { GBP: 0.85, USD: 1.1 } };

export async function createScaleShops(
  db: Database,
  { small, large, variations }: ScaleOptions,
  say: (line: string) => void,
): Promise<ScaleShops> {
  const shop = async (shopId: string, products: number) => {
    const token = await createBareShop(db, shopId);
    await db.transaction((tx) => applySettings(tx, shopId, { locales: LOCALES, currencies: CURRENCIES }));
    if (products === 0) return token;
    const began = performance.now();
    await generateProducts(db, { shopId, products, seed: 7 }, () => {});
    const seconds = (performance.now() - began) / 1000;
    say(`${products} products made in ${seconds.toFixed(1)} s, ${Math.round(products / seconds)}/s`);
    return token;
  };
  await shop('Copy', 0);
  await shop('Small', small);
  const token = await shop('Large', large);
  await db.run(sql`
    insert into token (shop_id, token_hash, app_id, scopes, created_at)
    select app.shop_id, token.token_hash, app.app_id, token.scopes, token.created_at
    from token join app on app.shop_id <> 'Large' where token.shop_id = 'Large'`);
  const variationIds = await createVariations(db, 'Large', variations);
  await db.pool.query('vacuum analyze');
  return { token, small: await factsOf(db, 'Small'), large: await factsOf(db, 'Large'), variationIds };
}

export async function factsOf(db: Database, shopId: string): Promise<ShopFacts> {
  const products = await db.many<{ id: string; name: string }>(sql`
    select upper(product_id::text) as id, name from listing
    where shop_id = ${shopId} and locale = 'en_GB' and visible
    order by md5(product_id::text) limit 500`);
  const [category] = await db.many<{ id: string; number: number }>(sql`
    select upper(category_id::text) as id, number from listing_size
    join category using (shop_id, category_id)
    where shop_id = ${shopId} and listing_size.visible
    order by products desc limit 1`);
  return {
    root: `/rs/shops/${shopId}`,
    productIds: products.map(({ id }) => id),
    categoryId: category!.id,
    categoryNumber: category!.number,
    names: products.map(({ name }) => name),
  };
}

/** A master with this many variations, each with a price of its own. */
async function createVariations(db: Database, shopId: string, count: number): Promise<string[]> {
  return db.transaction(async (tx) => {
    const masterId = newId(tx.now);
    const ids = Array.from({ length: count }, () => newId(tx.now));
    const values = ids.map((_id, index) => `V${index}`);
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      values (${shopId}, ${masterId}, 'MANY', 'master', ${tx.now}, 1, true, '{"EUR": 1000}', ${{
        name: { en_GB: 'Many variations' },
        variationAttributes: [{ key: 'Kind', values }],
      }})`);
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
        visible, stock, prices, facts)
      select ${shopId}, id, 'MANY-' || place, 'variation', ${masterId}, jsonb_build_object('Kind', 'V' || place - 1),
        ${tx.now}, 1, true, 10, jsonb_build_object('EUR', 1000 + place), '{}'
      from unnest(${ids}::uuid[]) with ordinality as entry (id, place)`);
    await refreshListing(tx, shopId, [masterId]);
    return ids;
  });
}

export async function measureScale(
  origin: string,
  shops: ScaleShops,
  { calls }: ScaleOptions,
): Promise<Verdict[]> {
  const client = openClient(origin, shops.token);
  try {
    return [
      ...(await compared(client, shops, calls)),
      ...(await searched(client, shops.large, calls)),
      ...(await searchedAtOnce(origin, shops)),
      await patched(client, shops, calls),
    ];
  } finally {
    client.close();
  }
}

const get = (where: string): Call => ({ method: 'GET', path: where });

/** Kind of call -> how many times its p50 in the small shop it takes in the large one. */
export async function compared(
  client: Client,
  { small, large }: Pick<ScaleShops, 'small' | 'large'>,
  calls: number,
): Promise<Verdict[]> {
  const kinds: [name: string, call: (shop: ShopFacts, index: number) => Call][] = [
    [
      'get',
      ({ root, productIds }, index) => get(`${root}/products/${productIds[index % productIds.length]}`),
    ],
    ['list, first page', ({ root }) => get(`${root}/products?resultsPerPage=20`)],
    ['list, page 100', ({ root }) => get(`${root}/products?resultsPerPage=10&page=100`)],
    [
      'list by category',
      ({ root, categoryId }) => get(`${root}/products?resultsPerPage=20&categoryId=${categoryId}`),
    ],
    ['list by price', ({ root }) => get(`${root}/products?resultsPerPage=20&sort=price`)],
  ];
  const verdicts: Verdict[] = [];
  for (const [name, call] of kinds) {
    const times = { small: [] as number[], large: [] as number[] };
    // Warm, and in turn.
    for (let index = -50; index < calls; index++) {
      for (const [size, shop] of Object.entries({ small, large }) as ['small' | 'large', ShopFacts][]) {
        const time = await client.time(call(shop, Math.abs(index)));
        if (index >= 0) times[size].push(time);
      }
    }
    const [few, many] = [percentile(times.small, 0.5), percentile(times.large, 0.5)];
    verdicts.push({
      name: `${name}: p50 ${few.toFixed(2)} -> ${many.toFixed(2)} ms, times`,
      value: round(many / few),
      goal: 1.5,
      ok: many / few < 1.5,
    });
  }
  return verdicts;
}

type SearchKind = [name: string, goal: number, call: (index: number) => Call];

const wordsOf = ({ names }: Pick<ShopFacts, 'names'>, index: number) =>
  names[index % names.length]!.split(' ').filter((word) => word.length > 3);

/** Suggestions for the first letters of the words of products. */
function suggestKind({ root, names }: ShopFacts, letters: number, goal: number): SearchKind {
  const query = (index: number) => {
    const words = wordsOf({ names }, index);
    return encodeURIComponent(words[index % words.length]!.slice(0, letters));
  };
  return [
    `suggest, ${letters} letters, p95 ms`,
    goal,
    (index) => get(`${root}/search/product-suggest?query=${query(index)}`),
  ];
}

export function suggested(client: Client, shop: ShopFacts, calls: number): Promise<Verdict> {
  return timedSearches(client, calls, suggestKind(shop, 4, 30));
}

/** Searches of each kind, one after the other. The words are those of products, so that some are in every thirtieth one. */
export async function searched(client: Client, shop: ShopFacts, calls: number): Promise<Verdict[]> {
  const { root, categoryNumber } = shop;
  const words = (index: number) => newWords(shop, index);
  const word = (index: number) => newWord(shop, index);
  const list = (...terms: string[]) => get(`${root}/products?q=${terms.map(encodeURIComponent).join('+')}`);
  const faceted = (body: object) => facetedSearch(shop, body);
  const category = { fieldName: 'CategoryID', attributeValue: categoryNumber };
  const anyPrice = { fieldName: 'ListPrice' };
  const kinds: SearchKind[] = [
    ...[1, 2, 3, 6].map((letters) => suggestKind(shop, letters, 8)),
    ['q with one word, p95 ms', 10, (index) => list(word(index))],
    ['q with a part of a word, p95 ms', 10, (index) => list(word(index).slice(1))],
    ['q with a word of every product, p95 ms', 10, (index) => pageOf(list(EVERY_PRODUCT), index)],
    ['q with two words, p95 ms', 25, (index) => list(...words(index).slice(0, 2))],
    ['q with a wrong letter, p95 ms', 10, (index) => list(mistyped(words(index)[0]!))],
    ['facets of a word, p95 ms', 50, (index) => facetsOfNewWord(shop, index)],
    [
      'facets of the largest category, p95 ms',
      50,
      (index) =>
        faceted({ attributeFilters: [category, { ...anyPrice, attributeRange: { max: 1e6 + index } }] }),
    ],
  ];
  const verdicts: Verdict[] = [];
  for (const kind of kinds) verdicts.push(await timedSearches(client, calls, kind));
  return verdicts;
}

/** The numbers of generated products begin with it. */
const EVERY_PRODUCT = 'G7';

const pageOf = (call: Call, index: number) => ({ ...call, path: `${call.path}&page=${1 + (index % 150)}` });

/**
 * What a search costs when many search at the same time: what others have searched for before, and what nobody has. A
 * noun is in the names of one product in a hundred or so.
 */
async function searchedAtOnce(origin: string, { large, token }: ScaleShops): Promise<Verdict[]> {
  const nouns = [...new Set(large.names.map((name) => name.split(' ')[2]!))];
  const variants = Array.from({ length: 63 }, (_, index) => index + 1);
  const kinds: [name: string, goal: number, call: (query: string) => Call][] = [
    ['q', 1, (query) => get(`${large.root}/products?q=${encodeURIComponent(query)}`)],
    [
      'facets',
      2.5,
      (query) => ({
        method: 'POST',
        path: `${large.root}/search/products`,
        body: JSON.stringify({ query }),
      }),
    ],
  ];
  const verdicts: Verdict[] = [];
  for (const [name, goal, call] of kinds) {
    for (const [when, calls] of [
      ['new', variants.flatMap((index) => nouns.map((noun) => call(inOtherLetters(noun, index))))],
      ['known', nouns.map(call)],
    ] as const) {
      const subject = { name, origin, token, calls };
      if (when === 'known') await load(subject, 2);
      const ms = 1000 / (await load(subject, 10)).requestsPerSecond;
      verdicts.push({
        name: `${name} with a noun (${when}), 32 at once, ms a search`,
        value: round(ms),
        goal,
        ok: ms < goal,
      });
    }
  }
  return verdicts;
}

async function timedSearches(
  client: Client,
  calls: number,
  [name, goal, call]: SearchKind,
): Promise<Verdict> {
  const times: number[] = [];
  for (let index = -20; index < calls; index++) {
    const time = await client.time(call(index + 20));
    if (index >= 0) times.push(time);
  }
  const p95 = percentile(times, 0.95);
  return { name, value: round(p95), goal, ok: p95 < goal };
}

/** Words of a product, written as nobody has searched for them before. */
function newWords(shop: ShopFacts, index: number): string[] {
  return wordsOf(shop, index).map((word) => inOtherLetters(word, index));
}

function newWord(shop: ShopFacts, index: number): string {
  const words = newWords(shop, index);
  return words[index % words.length]!;
}

function facetedSearch({ root }: ShopFacts, body: object): Call {
  return { method: 'POST', path: `${root}/search/products`, body: JSON.stringify(body) };
}

/** The search that costs most. */
export function facetsOfNewWord(shop: ShopFacts, index: number): Call {
  return facetedSearch(shop, { query: newWord(shop, index) });
}

/** The same word in other letters is another search, which nobody has made before, and finds the same. */
function inOtherLetters(word: string, index: number): string {
  return Array.from(word, (letter, place) =>
    (index >> place) % 2 === 1 ? letter.toUpperCase() : letter.toLowerCase(),
  ).join('');
}

function mistyped(word: string): string {
  const middle = Math.floor(word.length / 2);
  return `${word.slice(0, middle)}q${word.slice(middle + 1)}`;
}

async function patched(client: Client, shops: ScaleShops, calls: number): Promise<Verdict> {
  const times: number[] = [];
  for (let index = -20; index < calls; index++) {
    const id = shops.variationIds[(Math.abs(index) * 37) % shops.variationIds.length];
    const value = 10 + ((index + 20) % 100) / 100;
    const time = await client.time({
      method: 'PATCH',
      path: `${shops.large.root}/products/${id}`,
      body: JSON.stringify([{ op: 'add', path: '/priceInfo/price/amount', value }]),
    });
    if (index >= 0) times.push(time);
  }
  const p95 = percentile(times, 0.95);
  return {
    name: `PATCH price, one of ${shops.variationIds.length} variations, p95 ms`,
    value: round(p95),
    goal: 30,
    ok: p95 < 30,
  };
}

/** The large shop as a file, and that file into an empty shop. */
export async function measureFiles(
  origin: string,
  shops: ScaleShops,
  {
    installation,
    workFolder,
    environment,
  }: { installation: string; workFolder: string; environment: NodeJS.ProcessEnv },
): Promise<Verdict[]> {
  const file = path.join(workFolder, 'products.csv');
  const began = performance.now();
  const answer = await fetch(`${origin}${shops.large.root}/products/export`, {
    headers: { authorization: `Bearer ${shops.token}`, accept: 'text/csv' },
  });
  if (!answer.ok) throw new Error(`The export answers ${answer.status}`);
  await pipeline(answer.body!, createWriteStream(file));
  const exportSeconds = (performance.now() - began) / 1000;
  const { size } = await stat(file);

  const { seconds, megabytes, output } = await timedImport(installation, environment, 'Copy', file);
  const rows = Number(/(\d+) created/.exec(output)?.[1]);
  const perSecond = rows / seconds;
  return [
    {
      name: `export of ${Math.round(size / 1e6)} MB, s`,
      value: round(exportSeconds),
      goal: 120,
      ok: exportSeconds < 120,
    },
    {
      name: `import of ${rows} rows, ms a row`,
      value: round(1000 / perSecond),
      goal: round(1000 / 1500),
      ok: perSecond >= 1500,
    },
    { name: 'import, memory of Node, MB', value: Math.round(megabytes), goal: 300, ok: megabytes < 300 },
  ];
}

export async function timedImport(
  installation: string,
  environment: NodeJS.ProcessEnv,
  shopId: string,
  file: string,
) {
  const began = performance.now();
  const child = spawn(process.execPath, ['bin/kontor.js', 'products', 'import', shopId, file], {
    cwd: installation,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(async () => void child.kill());
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  let megabytes = 0;
  const watch = setInterval(() => {
    // The peak so far, as Linux counts it; of a process that has just ended it says nothing any more.
    void readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (status) => (megabytes = Math.max(megabytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)),
      () => {},
    );
  }, 250);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  clearInterval(watch);
  if (code !== 0) throw new Error(`The import ended with ${code}: ${output}`);
  return { seconds: (performance.now() - began) / 1000, megabytes, output };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
