/**
 * `npx tsx bench/redirects.ts [COUNT]`: how long the lookup of a former address takes in a shop with so many redirects
 * (default: 100,000), beside the same lookup in a shop without any. Needs nothing but `npm ci`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { meaningOf } from '../src/catalogue/redirects/former-shops.ts';
import { findRedirectTargets } from '../src/catalogue/redirects/queries.ts';
import { openDatabase } from '../src/db/database.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { sql } from '../src/db/sql.ts';
import { createBareShop } from './shop.ts';
import { percentile } from './timing.ts';

const COUNT = Number(process.argv[2] ?? 100_000);
const CALLS = 5_000;
const WARM_UP_CALLS = 500;
const AT_ONCE = 10_000;

const folder = await mkdtemp(path.join(tmpdir(), 'kontor-bench-'));
const postgres = await startEmbedded(folder, { log: () => {} });
const db = openDatabase({ connection: postgres.connection });
try {
  await migrate(db, () => {});
  for (const shopId of ['Empty', 'Full']) await createBareShop(db, shopId);
  for (let first = 0; first < COUNT; first += AT_ONCE) {
    await db.run(sql`
      insert into redirect (shop_id, redirect_id, source, source_key, status, address, target_path, target_parameters,
        origin, created_at)
      select 'Full', md5('redirect ' || number)::uuid, '/old/page-' || number, '/old/page-' || number, 301,
        '/Categories', '/categories', '{}', 'imported', ${db.now}
      from generate_series(${first}::integer, ${Math.min(first + AT_ONCE, COUNT) - 1}::integer) number`);
  }
  await db.run(sql`analyze redirect`);
  for (const shopId of ['Empty', 'Full', 'Empty', 'Full']) {
    const times: number[] = [];
    for (let index = 0; index < WARM_UP_CALLS + CALLS; index++) {
      const meaning = meaningOf(`/old/page-${(index * 7_919) % COUNT}?a=${index}&b=2&c=3`)!;
      const began = performance.now();
      await findRedirectTargets(db, shopId, meaning, 'en_GB');
      if (index >= WARM_UP_CALLS) times.push(performance.now() - began);
    }
    const [p50, p95] = [0.5, 0.95].map((share) => percentile(times, share).toFixed(2));
    const redirects = (shopId === 'Full' ? COUNT : 0).toLocaleString('en');
    process.stdout.write(`${redirects} redirects: half within ${p50} ms, 95 % within ${p95} ms\n`);
  }
} finally {
  await db.close();
  await postgres.stop();
  await rm(folder, { recursive: true });
}
