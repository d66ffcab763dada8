/**
 * `npm run bench [-- --quick] [-- --only start|load|memory|scale|orders|reports|admin|shops|growth|statements|webhooks|pages|fields|calls|assistants|promotions|bundles|processes|cluster] [-- --shops N] [-- --scale N] [-- --match TEXT] [-- --profile FOLDER]`, `npm run bench -- --compare vendure=FOLDER [-- --quick]`, or `npm run bench -- --against COMMIT [-- --quick] [-- --match TEXT]`: what Kontor does per second
 * against the least that Fastify and one select cost on the same machine in the same minutes, how fast it starts,
 * whether cost grows with the number of products, of orders and of shops, whether a new shop stays fast while it grows, what
 * many different searches leave in PostgreSQL, how soon webhooks are called, how soon a shopper sees a page, and what the pages
 * of a merchant cost in a large shop; the same jobs beside another shop system; or this version beside an older one. Needs nothing but `npm ci`; listens on 127.0.0.1 only; writes bench/results.json. With DATABASE_URL, an empty database, the growth is measured there; with KONTOR_TEST_CITUS_URL, the coordinator of a cluster, what it costs to be distributed.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { PoolConfig } from 'pg';
import { readConfig } from '../src/config.ts';
import { openDatabase, type Database } from '../src/db/database.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { sql } from '../src/db/sql.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { CITUS_URL, createClusterDatabase, dropDatabase, findNodes } from '../test/cluster.ts';
import { startSmtp } from '../test/smtp.ts';
import { measureAdmin } from './admin.ts';
import { measureAppCalls } from './calls.ts';
import { measureAgainst, type Contender } from './against.ts';
import { measureAssistants } from './assistants.ts';
import { createAdminShop } from './admin-shop.ts';
import { distributeForBench, measureCluster } from './cluster.ts';
import { createComparedShop, measureComparison, readPeer } from './compare.ts';
import { cpuTimes, cpuUsed, megabytesOf } from './cpu-time.ts';
import { createFieldShops, measureFields } from './fields.ts';
import { compareRestarted, createGrowingShop, measureGrowth } from './growth.ts';
import { createImportShops, measureImportKinds } from './imports.ts';
import { install } from './installation.ts';
import { interleavedRounds, load, tryOnce, type Subject } from './load.ts';
import { measureMemory, snapshotOptions } from './memory.ts';
import { measurePages } from './pages.ts';
import { atEnd, endEverything, endOnSignals, startServer } from './processes.ts';
import { measureBundles } from './bundles.ts';
import { measurePromotions } from './promotions.ts';
import {
  changeTable,
  machine,
  type Verdict,
  slowestStep,
  startVerdicts,
  throughput,
  comparisonTable,
  throughputTable,
  pageTable,
  verdictTable,
} from './report.ts';
import { readmeTable } from './readme.ts';
import { createReportShop, measureReports } from './reports.ts';
import { createScaleShops, measureFiles, measureScale } from './scale.ts';
import { createOrderShops, measureOrders } from './scale-orders.ts';
import { createManyShops, createOneShop } from './many-shops.ts';
import {
  measureCalls,
  measureImports,
  measureLarge,
  measureNoise,
  measureRareCalls,
  measureStart,
  measureUpkeep,
} from './shops.ts';
import type { Site } from './sites.ts';
import { createSearchedShop, measureStatements } from './statements.ts';
import { createBareShop, type BenchShop } from './shop.ts';
import { measureWebhooks } from './webhooks.ts';
import { measureStarts } from './start-times.ts';
import { baselines, targets, type Target } from './targets.ts';
import { checkOut, loadVersion, type Version } from './version.ts';

const { values: options } = parseArgs({
  options: {
    /** Short rounds: enough to see that it runs, not to judge by. */
    quick: { type: 'boolean', default: false },
    /** `start`, `load`, `memory`, `scale`, `imports`, `orders`, `reports`, `shops`, `growth`, `statements`, `webhooks`, `pages`, `admin`, `fields`, `calls`, `assistants`, `promotions`, `bundles`, `processes` or `cluster`: only one part; results.json is then left as it is. */
    only: { type: 'string' },
    /** How many shops the part `shops` makes; results.json is left as well. */
    shops: { type: 'string' },
    /** How large the shop of the part `admin` is: 1 is a million orders, 0.01 ten thousand; results.json is left as well. */
    scale: { type: 'string' },
    /** Only the targets, pages of `admin`, calls of `fields`, or parts of `shops`, whose name has this in it; results.json is left as well. */
    match: { type: 'string' },
    /** `vendure=FOLDER`: only this: the same jobs for Kontor and for another shop system that is installed there. */
    compare: { type: 'string' },
    /** Only this: the load for this version and for the one of a commit, in alternating rounds. */
    against: { type: 'string' },
    /** Where to put a CPU profile of Kontor, or its heap snapshot after the part `memory`; the numbers of such a run are lower. */
    profile: { type: 'string' },
  },
});

/** However many targets there are: more of them get shorter rounds. */
const LOAD_SECONDS = options.quick ? 20 : 180;
const ROUNDS = options.quick ? 3 : 25;
const WARM_UP_SECONDS = options.quick ? 1 : 3;
const MAX_ROUND = 1;
const VISITS = options.quick ? 2 : 7;
const RESTARTS = options.quick ? 1 : 3;
const MAILS_SENT_WITHIN = 30_000;
const POOL = '10';
const SCALE = options.quick
  ? { small: 500, large: 5_000, calls: 40, variations: 200 }
  : { small: 2_000, large: 200_000, calls: 300, variations: 2_000 };
const IMPORTS = options.quick ? { products: 4_000, quietSeconds: 5 } : { products: 20_000, quietSeconds: 30 };
const ORDERS = options.quick
  ? { small: 1_000, large: 50_000, calls: 10 }
  : { small: 10_000, large: 1_000_000, calls: 40 };

const ADMIN = options.quick ? { scale: 0.01, calls: 5 } : { scale: 1, calls: 60 };
if (options.scale !== undefined) ADMIN.scale = Number(options.scale);

const SHOPS = options.quick
  ? { shops: 200, busy: 20, calls: 40, noisySeconds: 3, noisyRounds: 2 }
  : { shops: 10_000, busy: 40, calls: 1_000, noisySeconds: 8, noisyRounds: 5 };
if (options.shops !== undefined) SHOPS.shops = Number(options.shops);

const GROWTH = options.quick
  ? { seconds: 20, buyers: 16, listSeconds: 3 }
  : { seconds: 120, buyers: 16, listSeconds: 8 };
const COMPARISON = options.quick
  ? { products: 100, rounds: 2, seconds: 10 }
  : { products: 1_000, rounds: 7, seconds: 6 };
const MEMORY = { requests: options.quick ? 1_000 : 10_000 };
const AGAINST = options.quick ? { rounds: 5, seconds: 2 } : { rounds: 11, seconds: 4 };
const CLUSTER = { calls: options.quick ? 20 : 300 };
/** What `processes` asks of one process and of two. */
const SHARED_TARGETS = ['GET product, one of 100', 'GET products, 20 a page', 'cart with a line (2 writes)'];
/** These only when they are asked for. */
const ASSISTANTS = options.quick
  ? { products: 500, rounds: 3, seconds: 2 }
  : { products: 2_000, rounds: 9, seconds: 3 };
const FIELDS = options.quick
  ? { products: 500, rounds: 5, seconds: 2 }
  : { products: 2_000, rounds: 7, seconds: 3 };
/** Only when it is asked for. */
const CALLS = options.quick ? { rounds: 3, seconds: 4 } : { rounds: 7, seconds: 6 };
const WEBHOOKS = { seconds: options.quick ? 5 : 30, perSecond: 1_000 };
const STATEMENTS = { searches: options.quick ? 2_000 : 20_000 };

const say = (line: string) => process.stdout.write(`${line}\n`);

const isInterrupted = endOnSignals();
try {
  await bench();
} catch (error) {
  // When its servers are ended, a round fails: that is no news.
  if (!isInterrupted()) throw error;
} finally {
  await endEverything();
}

async function bench(): Promise<void> {
  if (options.only === 'promotions') return judge('promotions', measurePromotions());
  if (options.only === 'bundles') return judge('bundles', measureBundles());
  const workFolder = await mkdtemp(path.join(tmpdir(), 'kontor-bench-'));
  atEnd(() => rm(workFolder, { recursive: true, force: true }));
  // PostgreSQL runs as another user when the bench runs as root.
  await chmod(workFolder, 0o755);
  const installation = path.join(workFolder, 'kontor');
  await install(installation);

  if (options.compare !== undefined) return benchComparison(options.compare, installation, workFolder);

  if (options.against !== undefined) return benchAgainst(options.against, installation, workFolder);

  if (options.only === 'calls') return benchCalls(installation, workFolder);
  if (options.only === 'assistants') return benchAssistants(installation, workFolder);
  if (options.only === 'fields') return benchFields(installation, workFolder);
  if (options.only === 'processes') return benchProcesses(installation, workFolder);

  const isAsked = (part: string) => options.only === undefined || options.only === part;
  const starts = isAsked('start') ? await benchStarts(installation, workFolder) : undefined;
  const loads = isAsked('load') ? await benchLoads(installation, workFolder) : undefined;
  const memory = isAsked('memory') ? await benchMemory(installation, workFolder) : undefined;
  const scale = isAsked('scale') ? await benchScale(installation, workFolder) : undefined;
  const imports = isAsked('imports') ? await benchImports(installation, workFolder) : undefined;
  const orders = isAsked('orders') ? await benchOrders(installation, workFolder) : undefined;
  const reports = isAsked('reports') ? await benchReports(installation, workFolder) : undefined;
  const shops = isAsked('shops') ? await benchShops(installation, workFolder) : undefined;
  const growth = isAsked('growth') ? await benchGrowth(installation, workFolder) : undefined;
  const statements = isAsked('statements') ? await benchStatements(installation, workFolder) : undefined;
  const webhooks = isAsked('webhooks') ? await benchWebhooks(installation, workFolder) : undefined;
  const pages = isAsked('pages') ? await benchPages(installation, workFolder) : undefined;
  const admin = isAsked('admin') ? await benchAdmin(installation, workFolder) : undefined;
  const cluster = isAsked('cluster') ? await benchCluster(installation, workFolder) : undefined;
  say('');
  if (loads) {
    say(`${throughputTable(loads.throughput)}\n`);
    say(`${verdictTable('steps', loads.slowest)}\n`);
  }
  if (memory) say(`${verdictTable('memory', memory.memory)}\n`);
  if (scale) say(`${verdictTable('scale', scale.scale)}\n`);
  if (imports) say(`${verdictTable('imports', imports.imports)}\n`);
  if (orders) say(`${verdictTable('orders', orders.orders)}\n`);
  if (reports) say(`${verdictTable('reports', reports.reports)}\n`);
  if (shops) say(`${verdictTable('shops', shops.shops)}\n`);
  if (growth) say(`${verdictTable('growth', growth.growth)}\n`);
  if (statements) say(`${verdictTable('statements', statements.statements)}\n`);
  if (webhooks) say(`${verdictTable('webhooks', webhooks.webhooks)}\n`);
  if (starts) say(`${verdictTable('start', starts.start)}\n`);
  if (pages) say(`${verdictTable('pages', pages.pages)}\n`);
  if (admin) say(pageTable('admin', admin.admin));
  if (cluster) say(`${verdictTable('cluster', cluster)}\n`);
  if (starts || loads) {
    say(`${await readmeTable({ starts: starts?.times, throughput: loads?.throughput })}\n`);
  }

  const isWhole =
    starts &&
    loads &&
    memory &&
    scale &&
    imports &&
    orders &&
    reports &&
    shops &&
    growth &&
    statements &&
    webhooks &&
    pages &&
    admin;
  const isChosen = [options.match, options.shops, options.scale].some((option) => option !== undefined);
  if (isWhole && !isChosen) {
    const results = {
      date: new Date().toISOString(),
      quick: options.quick,
      ...machine(),
      ...loads,
      ...memory,
      ...scale,
      ...imports,
      ...orders,
      ...reports,
      ...shops,
      ...growth,
      ...statements,
      ...webhooks,
      start: starts.start,
      restartsMs: starts.restartsMs,
      ...pages,
      ...admin,
    };
    await writeFile(new URL('results.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
  }
  const judged = [
    ...(loads?.throughput ?? []),
    ...(loads?.slowest ?? []),
    ...(memory?.memory ?? []),
    ...(scale?.scale ?? []),
    ...(imports?.imports ?? []),
    ...(orders?.orders ?? []),
    ...(reports?.reports ?? []),
    ...(shops?.shops ?? []),
    ...(growth?.growth ?? []),
    ...(statements?.statements ?? []),
    ...(webhooks?.webhooks ?? []),
    ...(starts?.start ?? []),
    ...(pages?.pages ?? []),
    ...(admin?.admin ?? []),
    ...(cluster ?? []),
  ];
  if (judged.some(({ ok }) => ok === false)) process.exitCode = 1;
}

async function benchComparison(given: string, installation: string, workFolder: string): Promise<void> {
  const named = readPeer(given);
  say(
    `Comparison: the same jobs for Kontor and ${named.peer.name}, with ${COMPARISON.products} products ...`,
  );
  const { db, connection, start } = await startDatabase(installation, workFolder, 'compared-data');
  atEnd(() => db.close());
  const shop = await createComparedShop(db, COMPARISON.products);
  const kontor = await start('kontor', ['bin/kontor.js', 'serve'], '/ready', kontorSettings(workFolder));
  const setup = { db, connection, start, workFolder };
  const { peer, compared } = await measureComparison(kontor, shop, named, setup, COMPARISON, say);
  const { cpu, cores, platform, node } = machine();
  say(
    `\n${new Date().toISOString().slice(0, 10)}, ${platform}, ${cores} cores, ${cpu}, Node ${node}, 32 connections\n`,
  );
  say(comparisonTable(peer, compared));
}

async function benchAgainst(commit: string, installation: string, workFolder: string): Promise<void> {
  if (options.only !== undefined && options.only !== 'load')
    throw new Error('--against measures the part load; choose among its targets with --match');
  say(
    `Against ${commit}: the same calls for both, ${AGAINST.rounds} rounds of ${AGAINST.seconds} s each ...`,
  );
  const folder = path.join(workFolder, 'before');
  const before = await loadVersion(await checkOut(commit, folder));
  const olderInstallation = path.join(folder, 'kontor');
  await before.install(olderInstallation);
  const contenders: Contender[] = [];
  for (const [name, version, installed] of [
    ['now', await loadVersion(), installation],
    ['before', before, olderInstallation],
  ] as const) {
    const { kontor, shop, db } = await startBenchShop(version, installed, workFolder, { name });
    const subjects = askedTargets().map((target) => subjectOf(target, kontor.origin, shop));
    contenders.push({ pid: kontor.pid, db, subjects, settle: () => mailsSent(db) });
  }
  const [ours, theirs] = contenders as [Contender, Contender];
  const changes = await measureAgainst(ours, theirs, AGAINST, say);
  const { cpu, cores, platform, node } = machine();
  say(`\n${new Date().toISOString().slice(0, 10)}, ${platform}, ${cores} cores, ${cpu}, Node ${node}\n`);
  say(changeTable(commit, changes));
}

function judge(what: string, judged: Verdict[]): void {
  say(verdictTable(what, judged));
  if (judged.some(({ ok }) => !ok)) process.exitCode = 1;
}

async function benchCalls(installation: string, workFolder: string): Promise<void> {
  say(`Calls of apps: checkouts with and without, ${CALLS.rounds} rounds of ${CALLS.seconds} s each ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'calls-data');
  atEnd(() => db.close());
  const secret = randomBytes(32).toString('hex');
  const kontor = await start('kontor-calls', [...profiling(), 'bin/kontor.js', 'serve'], '/ready', {
    ...kontorSettings(workFolder),
    KONTOR_SECRET: secret,
    // The app is on this machine.
    WEBHOOK_ALLOW: '127.0.0.0/8',
  });
  const key = await installationKey(readConfig({ KONTOR_SECRET: secret }));
  const added = await measureAppCalls(db, kontor.origin, key, CALLS, say);
  const { cpu, cores, platform, node } = machine();
  say(`\n${new Date().toISOString().slice(0, 10)}, ${platform}, ${cores} cores, ${cpu}, Node ${node}\n`);
  say(verdictTable('calls', added));
}

async function benchAssistants(installation: string, workFolder: string): Promise<void> {
  say(`Assistants: their requests beside those of the API, ${ASSISTANTS.rounds} rounds each ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'assistants-data');
  atEnd(() => db.close());
  const kontor = await start('kontor-assistants', [...profiling(), 'bin/kontor.js', 'serve'], '/ready', {
    ...kontorSettings(workFolder),
    // The profile of the assistant is on this machine.
    WEBHOOK_ALLOW: '127.0.0.0/8',
  });
  const compared = await measureAssistants(db, kontor.origin, ASSISTANTS, say);
  const { cpu, cores, platform, node } = machine();
  say(`\n${new Date().toISOString().slice(0, 10)}, ${platform}, ${cores} cores, ${cpu}, Node ${node}\n`);
  for (const { name, api, assistant } of compared) {
    const rates = [api, assistant].map(({ requestsPerSecond }) => requestsPerSecond.toFixed(0)).join(', ');
    const p95s = [api, assistant].map(({ p95Ms }) => p95Ms.toFixed(1)).join(', ');
    say(`${name}: p95 of a request ${p95s} ms, ${rates} requests a second (API, assistant)`);
  }
}

async function benchFields(installation: string, workFolder: string): Promise<void> {
  say(`Custom fields: two shops with ${FIELDS.products} products, one with 20 fields as filters ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'fields-data');
  atEnd(() => db.close());
  const shops = await createFieldShops(db, FIELDS.products);
  const kontor = await start(
    'kontor-fields',
    [...profiling(), 'bin/kontor.js', 'serve'],
    '/ready',
    kontorSettings(workFolder),
  );
  const changes = await measureFields(kontor, db, shops, { ...FIELDS, match: options.match ?? '' }, say);
  const { cpu, cores, platform, node } = machine();
  say(`\n${new Date().toISOString().slice(0, 10)}, ${platform}, ${cores} cores, ${cpu}, Node ${node}\n`);
  say(changeTable('without', changes, 'with fields'));
}

async function benchStarts(installation: string, workFolder: string) {
  say('Start times: first start, restarts, memory after 10 s of idling ...');
  const times = await measureStarts(installation, workFolder, RESTARTS);
  return { start: startVerdicts(times), restartsMs: times.restartMs, times };
}

async function benchLoads(installation: string, workFolder: string) {
  say('Throughput: a shop with 1,000 customers and 10,000 products on a PostgreSQL of its own ...');
  const { subjects, settle, kontor, db } = await startSubjects(installation, workFolder);
  const all = [...subjects.values()];
  const share = LOAD_SECONDS / all.length;
  const roundSeconds = Math.min(MAX_ROUND, (0.85 * share) / ROUNDS);
  for (const subject of all) {
    await tryOnce(subject);
    await load(subject, Math.min(WARM_UP_SECONDS, 0.15 * share));
  }
  const rounds = await interleavedRounds(all, { rounds: ROUNDS, seconds: roundSeconds, settle }, say);
  const rows = [...subjects].map(([target, subject]) => {
    const baseline = subjects.get(baselines[target.baseline ?? 'select']) ?? subject;
    return throughput(target, rounds.get(subject)!, rounds.get(baseline)!);
  });
  const slowest = [...subjects].flatMap(([{ name, slowest }, subject]) =>
    slowest ? [slowestStep(name, slowest, rounds.get(subject)!)] : [],
  );
  const flow = [...subjects].find(([target]) => target.slowest)?.[1];
  const costs = flow ? await measureFlow(flow, flow.flow!.length, { pid: kontor.pid, db }) : [];
  return { roundSeconds, throughput: rows, slowest: [...slowest, ...costs] };
}

async function benchMemory(installation: string, workFolder: string) {
  say(`Memory: ${MEMORY.requests} requests of each kind, by a shop with 10,000 products ...`);
  const isSnapshotAsked = options.profile !== undefined && options.only === 'memory';
  const nodeOptions = isSnapshotAsked ? snapshotOptions(path.resolve(options.profile!)) : [];
  const { kontor, shop } = await startBenchShop(await loadVersion(), installation, workFolder, {
    name: 'kontor-memory',
    nodeOptions,
  });
  const subjects = askedTargets().map((target) => subjectOf(target, kontor.origin, shop));
  const settings = { ...MEMORY, takesSnapshot: isSnapshotAsked };
  return { memory: await measureMemory(kontor, subjects, settings, say) };
}

/** What one run through a flow costs, in the service and in PostgreSQL. Emails of its orders are part of it. */
async function measureFlow(
  subject: Subject,
  steps: number,
  { pid, db }: { pid: number; db: Database },
): Promise<Verdict[]> {
  if (process.platform !== 'linux') return [];
  const seconds = options.quick ? 3 : 15;
  const before = await cpuTimes(pid, db);
  const { requestsPerSecond } = await load(subject, seconds);
  await mailsSent(db);
  const after = await cpuTimes(pid, db);
  const runs = (requestsPerSecond * seconds) / steps;
  const inNode = (after.get(pid)! - before.get(pid)!) / runs;
  const inPostgres = cpuUsed(before, after) / runs - inNode;
  const verdict = (where: string, value: number, goal: number) => ({
    name: `${subject.name}: CPU in ${where}, ms`,
    value: Math.round(value * 10) / 10,
    goal,
    ok: value < goal,
  });
  return [verdict('Node', inNode, 4), verdict('PostgreSQL', inPostgres, 2.5)];
}

async function benchPages(installation: string, workFolder: string) {
  say('Pages: a product of the demo shop in a browser ...');
  return { pages: await measurePages(installation, workFolder, VISITS) };
}

async function benchScale(installation: string, workFolder: string) {
  const { large } = SCALE;
  say(`Scale: shops with ${SCALE.small} and ${large} products, made, searched, exported and imported ...`);
  const { db, environment, start } = await startDatabase(installation, workFolder, 'scale-data');
  const shops = await createScaleShops(db, SCALE, say);
  await db.close();
  const kontor = await start(
    'kontor-scale',
    [...profiling(), 'bin/kontor.js', 'serve'],
    '/ready',
    kontorSettings(workFolder),
  );
  const scale = [
    ...(await measureScale(kontor.origin, shops, SCALE)),
    ...(await measureFiles(kontor.origin, shops, { installation, workFolder, environment })),
  ];
  return { scale };
}

async function benchImports(installation: string, workFolder: string) {
  say(`Imports: files of ${IMPORTS.products} products, while another shop is visited ...`);
  const { db, environment, start } = await startDatabase(installation, workFolder, 'imports-data');
  const shops = await createImportShops(db, IMPORTS, workFolder);
  await db.close();
  const { origin } = await start(
    'kontor-imports',
    [...profiling(), 'bin/kontor.js', 'serve'],
    '/ready',
    kontorSettings(workFolder),
  );
  return { imports: await measureImportKinds(origin, shops, IMPORTS, { installation, environment }) };
}

async function benchOrders(installation: string, workFolder: string) {
  say(`Orders: shops with ${ORDERS.small} and ${ORDERS.large} orders, listed and summed up ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'orders-data');
  const shops = await createOrderShops(db, ORDERS, say);
  await db.close();
  const kontor = await start(
    'kontor-orders',
    [...profiling(), 'bin/kontor.js', 'serve'],
    '/ready',
    kontorSettings(workFolder),
  );
  return { orders: await measureOrders(kontor.origin, shops, ORDERS) };
}

async function benchReports(installation: string, workFolder: string) {
  say('Reports: two years of a shop with a million orders, from days and from months ...');
  const { db } = await startDatabase(installation, workFolder, 'reports-data');
  atEnd(() => db.close());
  const period = await createReportShop(db);
  return { reports: await measureReports(db, period, options.quick ? 5 : 15, say) };
}

async function benchAdmin(installation: string, workFolder: string) {
  say(`Admin: every list of a merchant, in a shop of the scale ${ADMIN.scale} (1: a million orders) ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'admin-data');
  const shop = await createAdminShop(db, ADMIN.scale);
  atEnd(() => db.close());
  const kontor = await start('kontor-admin', [...profiling(), 'bin/kontor.js', 'serve'], '/ready', {
    ...kontorSettings(workFolder),
    // The pages of the admin have a limit of their own, which cannot be raised.
    RATE_LIMIT_ANONYMOUS: '0',
  });
  return { admin: await measureAdmin(kontor, db, shop, { ...ADMIN, match: options.match }) };
}

async function benchShops(installation: string, workFolder: string) {
  say(`Shops: ${SHOPS.shops} of them, against an installation with one ...`);
  const serve = ({ start }: Pick<Installed, 'start'>, name: string) =>
    start(`kontor-${name}`, [...profiling(), 'bin/kontor.js', 'serve'], '/ready', {
      ...kontorSettings(path.join(workFolder, name)),
    });
  const single = await startDatabase(installation, workFolder, 'one-shop-data');
  atEnd(() => single.db.close());
  const pattern = await createOneShop(single.db);
  const crowd = await startDatabase(installation, workFolder, 'shops-data');
  atEnd(() => crowd.db.close());
  const shops = await createManyShops(crowd.db, SHOPS.shops);
  for (const shopId of ['Few', 'Many']) await createBareShop(crowd.db, shopId);
  const one: Site = {
    name: 'one',
    server: await serve(single, 'one'),
    db: single.db,
    pattern,
    shopIds: ['Small'],
  };
  const many: Site = {
    name: 'many',
    server: await serve(crowd, 'many'),
    db: crowd.db,
    pattern: shops.small,
    shopIds: shops.smallShopIds,
  };
  const restart = async (site: Site) => {
    await site.server.stop();
    site.server = await serve(site === one ? single : crowd, site.name);
  };
  const parts: Record<string, () => Promise<Verdict[]>> = {
    start: () => measureStart(one, many, restart),
    calls: () => measureCalls(one, many, SHOPS),
    rare: () => measureRareCalls(one, many),
    upkeep: () => measureUpkeep(one, many),
    noise: () => measureNoise(many, shops, SHOPS),
    large: () => measureLarge(many, shops, SHOPS),
    imports: () => measureImports(many, shops, installation, workFolder, crowd.environment),
  };
  const verdicts: Verdict[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (name.includes(options.match ?? '')) verdicts.push(...(await measure()));
  }
  return { shops: verdicts };
}

async function benchGrowth(installation: string, workFolder: string) {
  const url = process.env['DATABASE_URL'];
  say(`Growth: a new shop sells for ${GROWTH.seconds} s${url === undefined ? '' : ' on DATABASE_URL'} ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'growth-data', url);
  const shop = await createGrowingShop(db);
  atEnd(() => db.close());
  const smtp = await startSmtp();
  atEnd(() => smtp.close());
  const serve = () =>
    start('kontor-growth', [...profiling(), 'bin/kontor.js', 'serve'], '/ready', {
      ...kontorSettings(workFolder),
      SMTP_URL: `smtp://${smtp.host}`,
    });
  const kontor = await serve();
  const { verdict, lastPerSecond } = await measureGrowth(kontor.origin, shop, GROWTH, say);
  const settle = () => mailsSent(db, 10 * MAILS_SENT_WITHIN);
  const restarted = await compareRestarted({ ...kontor, lastPerSecond }, { serve, settle }, shop, GROWTH);
  return { growth: [verdict, ...restarted] };
}

/** Two processes beside one, on one database. What the emails of orders cost could be the other server's. */
async function benchProcesses(installation: string, workFolder: string): Promise<void> {
  say(`Processes: PROCESSES=2 beside 1, ${AGAINST.rounds} rounds of ${AGAINST.seconds} s each ...`);
  const { db, start, kontor, shop } = await startBenchShop(await loadVersion(), installation, workFolder);
  const two = await start('kontor-two', ['bin/kontor.js', 'serve'], '/ready', {
    ...kontorSettings(path.join(workFolder, 'kontor-two-files')),
    PROCESSES: '2',
  });
  const contenderOf = ({ pid, origin }: { pid: number; origin: string }): Contender => ({
    pid,
    db,
    subjects: askedTargets()
      .filter(({ name }) => SHARED_TARGETS.includes(name))
      .map((target) => subjectOf(target, origin, shop)),
    settle: () => mailsSent(db),
  });
  const changes = await measureAgainst(contenderOf(two), contenderOf(kontor), AGAINST, say);
  // Requests are answered in several processes, so none of them has a thread that answers all.
  const shown = changes.filter(({ name }) => !name.includes('thread'));
  say(`\n${changeTable('1 process', shown, '2 processes')}\n`);
  const [one, both] = [await megabytesOf(kontor.pid), await megabytesOf(two.pid)].map(Math.round);
  say(`Memory after the load: one process ${one} MB, two ${both} MB`);
}

async function benchStatements(installation: string, workFolder: string) {
  if (process.platform !== 'linux') return { statements: [] };
  say(`Statements: ${STATEMENTS.searches} different searches ...`);
  const { db, start } = await startDatabase(installation, workFolder, 'statements-data');
  const words = await createSearchedShop(db);
  atEnd(() => db.close());
  const kontor = await start('kontor-statements', [...profiling(), 'bin/kontor.js', 'serve'], '/ready', {
    ...kontorSettings(workFolder),
    RATE_LIMIT_ANONYMOUS: '0',
  });
  return { statements: await measureStatements(kontor.origin, db, words, STATEMENTS, say) };
}

async function benchWebhooks(installation: string, workFolder: string) {
  say(`Webhooks: ${WEBHOOKS.perSecond} events a second to ten receivers, for ${WEBHOOKS.seconds} s ...`);
  const { db } = await startDatabase(installation, workFolder, 'webhooks-data');
  atEnd(() => db.close());
  return { webhooks: await measureWebhooks(db, path.join(workFolder, 'webhooks'), WEBHOOKS, say) };
}

/** undefined: nobody has said where a cluster is. */
async function benchCluster(installation: string, workFolder: string): Promise<Verdict[] | undefined> {
  if (CITUS_URL === undefined) {
    if (options.only === 'cluster')
      throw new Error('Set KONTOR_TEST_CITUS_URL; see docs/operations/citus.md.');
    return undefined;
  }
  say('Cluster: the same calls on a cluster and on its coordinator alone ...');
  const nodes = await findNodes(CITUS_URL);
  const openSite = async (name: string, prepare: (db: Database) => Promise<unknown>): Promise<Site> => {
    const database = `kontor_bench_${name}`;
    await createClusterDatabase(nodes, database);
    atEnd(() => dropDatabase(nodes, database));
    const url = new URL(CITUS_URL!);
    url.pathname = database;
    const { db, start } = await startDatabase(installation, workFolder, name, url.href);
    atEnd(() => db.close());
    const pattern = await createOneShop(db);
    await prepare(db);
    const settings = kontorSettings(path.join(workFolder, name));
    const server = await start(`kontor-${name}`, ['bin/kontor.js', 'serve'], '/ready', settings);
    return { name, server, db, pattern, shopIds: [pattern.shopId] };
  };
  const plain = await openSite('plain', async () => {});
  const cluster = await openSite('cluster', distributeForBench);
  return measureCluster(plain, cluster, CLUSTER.calls);
}

type Installed = Awaited<ReturnType<typeof startDatabase>>;

/** A PostgreSQL of its own or the one of this address, and how to start a server on it. */
async function startDatabase(
  installation: string,
  workFolder: string,
  folder: string,
  url?: string,
  version: Pick<Version, 'startEmbedded' | 'openDatabase' | 'migrate'> = {
    startEmbedded,
    openDatabase,
    migrate,
  },
) {
  if (url !== undefined) {
    const db = openDatabase({ connection: { connectionString: url } });
    await migrate(db, () => {});
    const connection: PoolConfig = { connectionString: url };
    return {
      connection,
      ...serversOn(db, { DATABASE_URL: url, DATABASE_POOL: POOL }, installation, workFolder),
    };
  }
  const starting = version.startEmbedded(path.join(workFolder, folder), { log: () => {} });
  atEnd(async () => (await starting).stop());
  const postgres = await starting;
  const db = version.openDatabase({ connection: postgres.connection });
  await version.migrate(db, () => {});
  const { connection } = postgres;
  const environment = { DATABASE_URL: urlOf(connection), DATABASE_POOL: POOL };
  return { connection, ...serversOn(db, environment, installation, workFolder) };
}

function serversOn(
  db: Database,
  environment: Record<string, string>,
  installation: string,
  workFolder: string,
) {
  const start = (
    name: string,
    words: string[],
    probe: string,
    more: Record<string, string> = {},
    startsWithin?: number,
  ) =>
    startServer({
      name,
      words,
      folder: installation,
      environment: { ...environment, ...more },
      logFile: path.join(workFolder, `${name}.log`),
      probe,
      ...(startsWithin !== undefined && { startsWithin }),
    });
  return { db, environment, start };
}

function profiling(): string[] {
  return options.profile ? ['--cpu-prof', `--cpu-prof-dir=${path.resolve(options.profile)}`] : [];
}

function kontorSettings(workFolder: string): Record<string, string> {
  return {
    KONTOR_DATA: path.join(workFolder, 'kontor-data'),
    // On, as in production, but never reached.
    RATE_LIMIT: '1000000000',
    RATE_LIMIT_ANONYMOUS: '1000000000',
  };
}

/** A version of Kontor that serves a shop with customers, products, carts and orders, on a database of its own. */
async function startBenchShop(
  version: Version,
  installation: string,
  workFolder: string,
  { name = 'kontor', nodeOptions = profiling() }: { name?: string; nodeOptions?: string[] } = {},
) {
  const folder = `${name}-database`;
  const { db, start } = await startDatabase(installation, workFolder, folder, undefined, version);
  const bareShop = await version.createBenchShop(db);
  atEnd(() => db.close());
  // As in production, a mail server takes the confirmations of orders.
  const smtp = await startSmtp();
  atEnd(() => smtp.close());
  const kontor = await start(name, [...nodeOptions, 'bin/kontor.js', 'serve'], '/ready', {
    ...kontorSettings(path.join(workFolder, `${name}-files`)),
    SMTP_URL: `smtp://${smtp.host}`,
  });
  const shop: BenchShop = { ...bareShop, orderIds: await version.placeOrders(kontor.origin, bareShop) };
  return { db, start, kontor, shop };
}

function askedTargets(): Target[] {
  return targets.filter(({ name }) => name.includes(options.match ?? ''));
}

function subjectOf({ name, connections, calls, flow }: Target, origin: string, shop: BenchShop): Subject {
  return {
    name,
    origin,
    token: shop.token,
    calls: calls(shop),
    ...(flow && { flow: flow(shop) }),
    ...(connections !== undefined && { connections }),
  };
}

/** The servers, and what is asked of each of them. */
async function startSubjects(installation: string, workFolder: string) {
  const { db, start, kontor, shop } = await startBenchShop(await loadVersion(), installation, workFolder);
  const customer = `/${shop.shopId}/${shop.customerIds[0]}`;
  const constant = await start('constant', ['bench/servers/constant.js'], '/');
  const select = await start('select', ['bench/servers/select.js'], customer);
  const write = await start('write', ['bench/servers/write.js'], '/health');
  const list = await fetch(`${kontor.origin}${shop.root}/products?resultsPerPage=20`, {
    headers: { authorization: `Bearer ${shop.token}` },
  });
  const pageFile = path.join(workFolder, 'page.json');
  await writeFile(pageFile, await list.text());
  const page = await start('page', ['bench/servers/page.js'], customer, { PAGE_FILE: pageFile });

  const subject = (target: Target, { origin }: { origin: string }): [Target, Subject] => [
    target,
    subjectOf(target, origin, shop),
  ];
  const asked = askedTargets();
  const compared = new Set(asked.map(({ baseline = 'select' }) => baseline));
  const servers = { constant, select, selectAlone: select, page, pageAlone: page, write };
  const names = Object.keys(servers) as (keyof typeof servers)[];
  const subjects = new Map([
    ...names
      .filter((name) => options.match === undefined || compared.has(name))
      .map((name) => subject(baselines[name], servers[name])),
    ...asked.map((target) => subject(target, kontor)),
  ]);
  return { subjects, settle: () => mailsSent(db), kontor, db };
}

/** The mails of a round of orders must not slow down the round after it, which is another server's. */
async function mailsSent(db: Database, within = MAILS_SENT_WITHIN): Promise<void> {
  const isWaiting = async () => (await db.many(sql`select from job limit 1`)).length > 0;
  for (const began = performance.now(); await isWaiting(); await sleep(50)) {
    if (performance.now() - began > within) throw new Error('The mails of the orders are not sent');
  }
}

/** A socket's folder travels as a parameter, as PostgreSQL writes it. */
function urlOf({ host, port, user, password, database }: PoolConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  return `postgres://${user}${secret}@localhost:${port ?? 5432}/${database}?host=${encodeURIComponent(host!)}`;
}
