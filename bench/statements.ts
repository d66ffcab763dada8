import { readFile } from 'node:fs/promises';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { openConnections } from './client.ts';
import type { Verdict } from './report.ts';
import { createBareShop } from './shop.ts';

/**
 * What PostgreSQL needs for its connections after many different searches by visitors without a token: however many
 * words they have, whatever order and filters they ask for. Linux only, because it is read from /proc.
 */
export interface StatementOptions {
  searches: number;
}

const SHOP = 'Searched';
const PRODUCTS = 500;
const AT_ONCE = 8;
const MAX_MEGABYTES = 150;

/** Returns words that its products have. */
export async function createSearchedShop(db: Database): Promise<string[]> {
  await createBareShop(db, SHOP);
  await generateProducts(db, { shopId: SHOP, products: PRODUCTS, seed: 5 }, () => {});
  const rows = await db.many<{ name: string }>(sql`
    select name from listing where shop_id = ${SHOP} and locale = 'en_GB' order by name`);
  await db.pool.query('vacuum analyze');
  return [...new Set(rows.flatMap(({ name }) => name.split(' ')))].filter((word) => word.length > 2);
}

export async function measureStatements(
  origin: string,
  db: Database,
  words: readonly string[],
  { searches }: StatementOptions,
  say: (line: string) => void,
): Promise<Verdict[]> {
  const connections = openConnections(origin, AT_ONCE);
  const visit = async (path: string) => {
    const { status, text } = await connections.send({ method: 'GET', path });
    if (status >= 300) throw new Error(`GET ${path} answers ${status} ${text.slice(0, 500)}`);
  };
  let next = 0;
  const visitor = async (until: number) => {
    while (next < until) await visit(searchPath(next++, words));
  };
  const search = async (until: number) => {
    await Promise.all(Array.from({ length: AT_ONCE }, () => visitor(until)));
  };
  try {
    // So that the connections are there, and have done something of each kind.
    await search(AT_ONCE * 5);
    const before = await megabytesOf(db);
    const began = performance.now();
    await search(searches);
    const seconds = (performance.now() - began) / 1000;
    const after = await megabytesOf(db);
    say(
      `${searches} searches, ${Math.round(searches / seconds)} a second; PostgreSQL ${before} -> ${after} MB`,
    );
    return [
      {
        name: `memory of PostgreSQL's connections after ${searches} different searches: ${before} -> ${after} MB`,
        value: after,
        goal: MAX_MEGABYTES,
        ok: after < MAX_MEGABYTES,
      },
    ];
  } finally {
    connections.close();
  }
}

/** Each index another search; neighbours differ in everything that decides which statement is sent. */
function searchPath(index: number, words: readonly string[]): string {
  const asked = Array.from(
    { length: index % 21 },
    (_, place) => words[(index * 7 + place * 13) % words.length],
  );
  const query = new URLSearchParams({ q: asked.join(' ') });
  const kind = Math.floor(index / 21) % 3;
  if (kind === 0) {
    query.set('sort', ['name', 'price'][index % 2]!);
    query.set('direction', ['asc', 'desc'][Math.floor(index / 2) % 2]!);
    return `/rs/shops/${SHOP}/products?${query.toString()}`;
  }
  if (kind === 1) {
    return `/rs/shops/${SHOP}/search/product-suggest?query=${encodeURIComponent(asked[0] ?? 'a')}`;
  }
  query.set('sort', ['relevance', 'name', 'price', 'price-desc', 'new'][index % 5]!);
  if (index % 2 === 0) query.set('min', '1');
  if (index % 3 === 0) query.set('max', '500');
  if (index % 4 === 0) query.append('f', 'm:Beacon');
  return `/shop/${SHOP}/search?${query.toString()}`;
}

/** What the processes of the connections hold for themselves, without the memory that all of them share. */
async function megabytesOf(db: Database): Promise<number> {
  const { rows } = await db.pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  const kilobytes = await Promise.all(
    rows.map(async ({ pid }) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
      return Number(/^Pss_Anon:\s+(\d+)/m.exec(rollup)?.[1] ?? /^Private_Dirty:\s+(\d+)/m.exec(rollup)?.[1]);
    }),
  );
  return Math.round(kilobytes.reduce((sum, one) => sum + one, 0) / 1024);
}
