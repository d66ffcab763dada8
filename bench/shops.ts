import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { cleanupSteps, COUNTING_STEPS } from '../src/composition/cleanup-steps.ts';
import { readConfig } from '../src/config.ts';
import { sql } from '../src/db/sql.ts';
import { runCleanup } from '../src/platform/cleanup.ts';
import type { ManyShops } from './many-shops.ts';
import { median, type Verdict } from './report.ts';
import { compared, facetsOfNewWord, factsOf, suggested, timedImport } from './scale.ts';
import { CALLS, get, ratioOf, rootOf, timeCalls, type Site } from './sites.ts';
import { residentMegabytes } from './start-times.ts';
import { openClient, percentile } from './timing.ts';

/*
 * Whether a shop notices how many others there are: the same calls in an installation with thousands of shops and in
 * one with a single shop, in turn; what the service does for all shops together; and what one shop with heavy searches
 * costs the others.
 */

export interface ShopsOptions {
  shops: number;
  /** Shops that are visited in turn. */
  busy: number;
  /** Calls of each kind. */
  calls: number;
  /** Seconds of each round with and without a noisy shop, and how many rounds. */
  noisySeconds: number;
  noisyRounds: number;
}

/** Start and memory, each in the installation with one shop and in the one with many; `restart` is done in turn. */
export async function measureStart(
  one: Site,
  many: Site,
  restart: (site: Site) => Promise<void>,
): Promise<Verdict[]> {
  const starts: [number[], number[]] = [[], []];
  for (let index = 0; index < 3; index++) {
    for (const [place, site] of [one, many].entries()) {
      await restart(site);
      starts[place as 0 | 1].push(site.server.startMs);
    }
  }
  await sleep(10_000);
  const [oneMegabytes, megabytes] = await Promise.all([
    residentMegabytes(one.server.pid),
    residentMegabytes(many.server.pid),
  ]);
  return [
    ratioOf('start', 'ms', median(starts[0]), median(starts[1]), 1.2),
    ratioOf('idle memory', 'MB', oneMegabytes, megabytes, 1.2),
  ];
}

/** p50 and p95 of the calls that shops get most, in shops that are busy. */
export async function measureCalls(one: Site, many: Site, options: ShopsOptions): Promise<Verdict[]> {
  const times = await timeCalls([one, many], options);
  return CALLS.flatMap(({ kind, name }) =>
    [0.5, 0.95].map((share) => {
      const [few, lots] = times.map((ofSite) => percentile(ofSite[kind]!, share));
      return ratioOf(`${name}, p${100 * share}`, 'ms', few!, lots!, 1.2);
    }),
  );
}

/**
 * One call in each shop in turn, as shops get them that few people visit. By then the service has to ask again whether the
 * token is still valid, which it does for a busy shop only every few seconds; nothing else must be read again.
 */
export async function measureRareCalls(one: Site, many: Site): Promise<Verdict[]> {
  const clients = [one, many].map((site) => openClient(site.server.origin, site.pattern.token));
  const times: [number[], number[]] = [[], []];
  const shops = many.shopIds.length;
  try {
    // The first time everything is read.
    for (let index = 0; index < 2 * shops; index++) {
      for (const [place, { pattern, shopIds }] of [one, many].entries()) {
        const root = rootOf(shopIds[index % shopIds.length]!);
        const productId = pattern.productIds[(index % shops) % pattern.productIds.length];
        const ms = await clients[place]!.time(get(`${root}/products/${productId}`));
        if (index >= shops) times[place as 0 | 1].push(ms);
      }
    }
  } finally {
    for (const client of clients) client.close();
  }
  const [busy, rare] = times.map((ms) => percentile(ms, 0.5));
  return [ratioOf('GET product, each shop in turn, p50', 'ms', busy!, rare!, 2)];
}

/** What is done for all shops: a run of the clean-up that finds nothing, and the metrics. */
export async function measureUpkeep(one: Site, many: Site): Promise<Verdict[]> {
  const log = pino({ level: 'silent' });
  const steps = [...COUNTING_STEPS, ...cleanupSteps(readConfig({}), log)].filter(
    ({ name }) => name !== 'media',
  );
  const clean = async ({ db }: Site) => {
    await db.run(sql`update cleanup set due_at = ${new Date(0)}, leased_until = ${new Date(0)}`);
    const began = performance.now();
    await runCleanup(db, steps, { log });
    return performance.now() - began;
  };
  const metrics = ({ server }: Site) => {
    const client = openClient(server.origin, '');
    return client.time(get('/metrics')).finally(() => client.close());
  };
  const verdicts: Verdict[] = [];
  for (const [name, measure] of [
    ['clean-up', clean],
    ['/metrics', metrics],
  ] as const) {
    const times: [number[], number[]] = [[], []];
    for (let index = -3; index < 20; index++) {
      for (const [place, site] of [one, many].entries()) {
        const ms = await measure(site);
        if (index >= 0) times[place as 0 | 1].push(ms);
      }
    }
    verdicts.push(ratioOf(name, 'ms', median(times[0]), median(times[1]), 1.5));
  }
  return verdicts;
}

/** Visitors of other shops, who pause between two calls, while one shop is searched by eight at once. */
const VISITORS = 4;
const PAUSE = 20;
const SEARCHERS = 8;

export async function measureNoise(
  { server, db, pattern, shopIds }: Site,
  { big, largeShopId }: ManyShops,
  { noisySeconds, noisyRounds, busy }: ShopsOptions,
): Promise<Verdict[]> {
  const large = await factsOf(db, largeShopId);
  // Another search each time, because what was searched for before costs little.
  let asked = 0;
  const round = async (searchers: number) => {
    const times: number[] = [];
    const end = performance.now() + 1_000 * noisySeconds;
    let searches = 0;
    const search = async () => {
      const client = openClient(server.origin, big.token);
      while (performance.now() < end) {
        // One that takes too long is refused, which is only right.
        await client.time(facetsOfNewWord(large, asked++)).catch(() => {});
        searches++;
      }
      client.close();
    };
    const visit = async (place: number) => {
      const client = openClient(server.origin, pattern.token);
      for (let index = place; performance.now() < end; index += VISITORS) {
        const root = rootOf(shopIds[index % busy]!);
        const productId = pattern.productIds[(index % busy) % pattern.productIds.length];
        times.push(await client.time(get(`${root}/products/${productId}`)));
        times.push(await client.time(get(`${root}/products?resultsPerPage=20`)));
        await sleep(PAUSE);
      }
      client.close();
    };
    await Promise.all([
      ...Array.from({ length: searchers }, search),
      ...Array.from({ length: VISITORS }, (_, place) => visit(place)),
    ]);
    return { p95: percentile(times, 0.95), searches };
  };
  const quiet: number[] = [];
  const noisy: number[] = [];
  let searches = 0;
  for (let index = -1; index < noisyRounds; index++) {
    const before = await round(0);
    const during = await round(SEARCHERS);
    if (index < 0) continue;
    quiet.push(before.p95);
    noisy.push(during.p95);
    searches += during.searches;
  }
  const perSecond = Math.round(searches / (noisyRounds * noisySeconds));
  const name = `reads of other shops while one is searched (${perSecond}/s), p95`;
  return [ratioOf(name, 'ms', median(quiet), median(noisy), 1.5)];
}

/** A shop as large as all others together, against a medium one. */
export async function measureLarge(
  { server, db }: Site,
  shops: ManyShops,
  { calls }: ShopsOptions,
): Promise<Verdict[]> {
  // The pattern's token is in its copies; the medium shop gets it too, because one client asks both.
  await db.run(sql`
    insert into token (shop_id, token_hash, app_id, scopes, created_at)
    select app.shop_id, token.token_hash, app.app_id, token.scopes, token.created_at
    from token join app on app.shop_id = ${shops.medium.shopId} where token.shop_id = ${shops.largeShopId}`);
  const client = openClient(server.origin, shops.big.token);
  const large = await factsOf(db, shops.largeShopId);
  try {
    const sizes = { small: await factsOf(db, shops.medium.shopId), large };
    return [...(await compared(client, sizes, calls)), await suggested(client, large, calls)].map(
      (verdict) => ({ ...verdict, name: `${shops.largeProducts} products, ${verdict.name}` }),
    );
  } finally {
    client.close();
  }
}

const FEW_ROWS = 20_000;
const MANY_ROWS = 200_000;

/** The memory of an import does not depend on the length of the file. */
export async function measureImports(
  { server }: Site,
  { big, largeShopId }: ManyShops,
  installation: string,
  workFolder: string,
  environment: NodeJS.ProcessEnv,
): Promise<Verdict[]> {
  const answer = await fetch(`${server.origin}${rootOf(largeShopId)}/products/export`, {
    headers: { authorization: `Bearer ${big.token}`, accept: 'text/csv' },
  });
  if (!answer.ok) throw new Error(`The export answers ${answer.status}`);
  const files = { few: path.join(workFolder, 'few.csv'), many: path.join(workFolder, 'many.csv') };
  await writeFirstLines(answer, [
    [files.few, FEW_ROWS],
    [files.many, MANY_ROWS],
  ]);
  const few = await timedImport(installation, environment, 'Few', files.few);
  const many = await timedImport(installation, environment, 'Many', files.many);
  const name = `import, memory with ${FEW_ROWS} and ${MANY_ROWS} rows`;
  return [ratioOf(name, 'MB', few.megabytes, many.megabytes, 1.2)];
}

/** Generated texts have no line breaks, so a line is a product. */
async function writeFirstLines(answer: Response, files: [file: string, lines: number][]): Promise<void> {
  const outputs = files.map(([file, lines]) => ({ stream: createWriteStream(file), left: lines + 1 }));
  let rest = '';
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const output of outputs) {
      const own = lines.slice(0, output.left);
      output.left -= own.length;
      if (own.length > 0) output.stream.write(`${own.join('\n')}\n`);
    }
    if (outputs.every(({ left }) => left === 0)) break;
  }
  await Promise.all(outputs.map(({ stream }) => new Promise<void>((done) => void stream.end(done))));
}
