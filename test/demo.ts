import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg, { type QueryConfig } from 'pg';
import { expect, inject } from 'vitest';
import { isPrivate, readConfig, type Config } from '../src/config.ts';
import { openDatabase, type Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { reopenDemoAccess } from '../src/http/demo-access.ts';
import { openMediaStorage } from '../src/platform/media/open-storage.ts';
import { addDemoFiles, insertDemoFiles } from '../src/commands/demo/add-files.ts';
import { readCatalogue } from '../src/commands/demo/demo-data.ts';
import {
  drawFiles,
  otherAddresses,
  type DemoFiles,
  type DrawnImage,
} from '../src/commands/demo/draw-files.ts';
import { createDemoShops, insertDemoShop } from '../src/commands/demo/demo-shop.ts';
import type { Providers } from '../src/orders/payments/providers.ts';
import { givenToken } from './builders.ts';
import { CITUS_URL } from './cluster.ts';
import { oncePerRun } from './once-per-run.ts';
import type { Shop } from './operations.ts';
import { IS_POOLED } from './pgbouncer.ts';
import { createDatabase, mediaServer, startService, type Answer, type Service } from './service.ts';

/** A service with the shops of a first start: DemoShop, whose tokens have known names, and EmptyShop. */
export async function startDemo(
  environment: Record<string, string> = {},
  now?: Date,
  { hasImages = false, providers }: { hasImages?: boolean; providers?: Partial<Providers> } = {},
): Promise<Service> {
  const own = { ...(providers && { providers }) };
  if (!isCopied()) {
    const service = await startService(environment, undefined, own);
    service.setClock(now);
    await createDemoShops(service.db, service.config);
    if (hasImages) await addDemoFiles(service.db, service.config, 'DemoShop');
    await service.app.shopHosts.refresh();
    return service;
  }
  const template = await demoTemplate(environment, now, hasImages);
  const service = await startService(environment, undefined, { template, ...own });
  service.setClock(now);
  if (hasImages) await copyPictures(service.config);
  await service.app.shopHosts.refresh();
  return service;
}

/** Opens demo access again, after requests that look like those of strangers have closed it. */
export async function reopenDemo({ app, db }: Service): Promise<void> {
  // What a request has shown a moment ago may not be written yet.
  await app.demoAccess.refresh();
  await reopenDemoAccess(db);
  await app.demoAccess.refresh();
}

/** A cluster uses its templates, and so it can't copy them while they are new; nor are the files in S3 copied here. */
const isCopied = () => CITUS_URL === undefined && mediaServer.s3 === undefined;

/** Drawing them takes three seconds of processor time, so it is done once. */
async function drawnPictures(): Promise<{ folder: string; files: DemoFiles }> {
  const { products } = await readCatalogue();
  const folder = await oncePerRun('demo-pictures', async (made) => {
    const media = openMediaStorage(readConfig({ KONTOR_DATA: made }));
    const { images, categoryImages } = await drawFiles(media, 'DemoShop', products);
    await writeFile(
      path.join(made, 'files.json'),
      JSON.stringify({ images: [...images], categoryImages: [...categoryImages] }),
    );
  });
  const drawn = JSON.parse(await readFile(path.join(folder, 'files.json'), 'utf8')) as {
    images: [string, DrawnImage[]][];
    categoryImages: [string, DrawnImage][];
  };
  const files = {
    images: new Map(drawn.images),
    categoryImages: new Map(drawn.categoryImages),
    ...otherAddresses('DemoShop', products),
  };
  return { folder, files };
}

async function copyPictures({ KONTOR_DATA }: Config): Promise<void> {
  const { folder } = await drawnPictures();
  await promisify(execFile)('cp', ['-a', path.join(folder, 'media'), KONTOR_DATA]);
}

/** Adds the pictures of the demo shop as `addDemoFiles` does, but does not draw them again. */
export async function addPictures({ db, config }: Pick<Service, 'db' | 'config'>): Promise<void> {
  const [{ products }, { files }] = await Promise.all([readCatalogue(), drawnPictures()]);
  await copyPictures(config);
  await db.transaction((tx) => insertDemoFiles(tx, 'DemoShop', products, files));
}

/**
 * The demo shops of this time, made once: half of the test files begin with them, and a copy takes a tenth of the time.
 * Of a service's settings they depend only on who can reach it and on the limit of calls. Where the clock runs they are of
 * the same hour, because the calls of a token are counted by the hour.
 */
async function demoTemplate(
  environment: Record<string, string>,
  now: Date | undefined,
  hasImages: boolean,
): Promise<string> {
  const moment = now?.toISOString() ?? new Date().toISOString().slice(0, 'yyyy-mm-ddThh'.length);
  const config = readConfig({ LOG_LEVEL: 'silent', ...environment });
  const facts = JSON.stringify([isPrivate(config), config.RATE_LIMIT, moment, hasImages]);
  const database = `demo_${createHash('sha256').update(facts).digest('hex').slice(0, 12)}`;
  const pictures = hasImages ? await drawnPictures() : undefined;
  await oncePerRun(database, async () => {
    await createDatabase(database);
    // Not through PgBouncer, which would stay connected: nobody may use a database while it is copied.
    const connection = { ...inject('server'), database };
    const db = openDatabase({ connection, clock: () => now ?? new Date() });
    await createDemoShops(db, config);
    if (pictures) {
      const { products } = await readCatalogue();
      await db.transaction((tx) => insertDemoFiles(tx, 'DemoShop', products, pictures.files));
    }
    await db.close();
  });
  return database;
}

/** The demo shop, as the app that may do everything sees it. */
export function demoShop(service: Service): Shop {
  return { service, shopId: 'DemoShop', token: 'demo-all' };
}

/** A second shop as full as the first, with a token that is good there only. */
export async function givenOtherShop(service: Service): Promise<Shop> {
  const shopId = 'OtherShop';
  await service.db.transaction((tx) => insertDemoShop(tx, { shopId, knownTokens: false, rateLimit: 0 }));
  await service.app.shopHosts.refresh();
  return { service, shopId, token: await givenToken(service, shopId) };
}

/**
 * Every table with its rows, and where and by which transaction they were written: equal before and after means that
 * nothing was written, not even the same again. What a refused call may move is left out: its own count, and when a
 * token was last used. So are days without orders, which the service tidies up by itself.
 */
export function fingerprint(service: Service): Promise<Fingerprint> {
  return CITUS_URL === undefined ? takeInTurn(service.db, '') : clusterFingerprint(service);
}

/** The same of what belongs to one shop. */
export function shopFingerprint(service: Service, shopId: string): Promise<Fingerprint> {
  return CITUS_URL === undefined ? takeInTurn(service.db, shopId) : clusterFingerprint(service, shopId);
}

/** By table. */
type Fingerprint = Record<string, string>;

async function printsOf(pool: pg.Pool, statement: QueryConfig): Promise<Fingerprint> {
  const { name: _name, ...unnamed } = statement;
  const { rows } = await pool.query<{ name: string; print: string }>(IS_POOLED ? unnamed : statement);
  return Object.fromEntries(rows.map(({ name, print }) => [name, print]));
}

/** What is known of the tables of a database. */
interface Prints {
  tables: readonly Table[];
  /** By shop, '' for all of them: the prints of the tables that were not written since. */
  ofShops: Map<string, Map<string, string>>;
}

const watched = new WeakMap<Database, Promise<Prints>>();
const lastTaken = new WeakMap<Database, Promise<Fingerprint>>();

/** One after the other, so that a print is stored before somebody hears of the next write. */
function takeInTurn(db: Database, shopId: string): Promise<Fingerprint> {
  const last = lastTaken.get(db);
  const take = () => takePrints(db, shopId);
  const taking = last ? last.then(take, take) : take();
  lastTaken.set(db, taking);
  return taking;
}

/**
 * The sweeps take thousands of fingerprints, and looking at all tables takes 10 ms and more, most of it for those that
 * nobody has written. So each table says when it was written, in the transaction that did it, and only those tables are
 * looked at that have said so since they were last. What is committed while they are looked at is looked at once more.
 */
async function takePrints(db: Database, shopId: string): Promise<Fingerprint> {
  let prints = watched.get(db);
  if (!prints) watched.set(db, (prints = watchWrites(db)));
  const { tables, ofShops } = await prints;
  const { rows } = await db.pool.query<{ name: string }>(TAKE_WRITTEN);
  for (const print of ofShops.values()) for (const { name } of rows) print.delete(name);

  const asked = shopId === '' ? tables : tables.filter(({ isOfShop }) => isOfShop);
  let print = ofShops.get(shopId);
  if (!print) ofShops.set(shopId, (print = new Map()));
  const unknown = asked.filter(({ name }) => !print.has(name));
  if (unknown.length > 0) {
    const isAll = unknown.length > MAX_PLANNED;
    const text = (isAll ? asked : unknown)
      .map(({ name }) => printOf(name, name, condition(name, shopId !== '')))
      .join(' union all ');
    const found = await printsOf(db.pool, {
      text,
      ...(isAll && { name: shopId === '' ? 'fingerprint' : 'shop_fingerprint' }),
      ...(shopId !== '' && { values: [shopId] }),
    });
    for (const [name, one] of Object.entries(found)) print.set(name, one);
  }
  return Object.fromEntries(asked.map(({ name }) => [name, print.get(name)!]));
}

/** To plan a statement over more tables takes longer than to look at all of them with the prepared one. */
const MAX_PLANNED = 20;

const TAKE_WRITTEN = 'delete from fingerprints.written returning name';

async function watchWrites(db: Database): Promise<Prints> {
  const { pool } = db;
  await pool.query(`
    create schema if not exists fingerprints;
    create table if not exists fingerprints.written (name text not null);
    create or replace function fingerprints.say_written() returns trigger language plpgsql as
      'begin insert into fingerprints.written values (tg_table_name); return null; end'`);
  const tables = await tablesOf(db);
  // One by one, because a transaction that locks all tables can deadlock with those of the service.
  for (const { name } of tables) {
    await pool.query(`
      create or replace trigger say_written after insert or update or delete or truncate on ${name}
      execute function fingerprints.say_written()`);
  }
  return { tables, ofShops: new Map() };
}

interface Table {
  name: string;
  isOfShop: boolean;
}

async function tablesOf(db: Database): Promise<Table[]> {
  const { rows } = await db.pool.query<Table>(`
    select tablename as name, exists (
      select from pg_attribute
      where attrelid = format('public.%I', tablename)::regclass and attname = 'shop_id' and not attisdropped
    ) as "isOfShop"
    from pg_tables where schemaname = 'public' and tablename not in ('app_call_log', 'app_use', 'assistant_call', 'demo_access_end', 'rate_window', 'shop_day') order by 1`);
  return rows;
}

/** Which rows of a table count. */
function condition(table: string, isOfShop: boolean): string {
  return `${isOfShop ? 'shop_id = $1' : 'true'} ${table === 'order_day' ? 'and orders <> 0' : ''}`;
}

/** The fingerprint of a table, or of one of its shards. */
function printOf(table: string, shard: string, where: string): string {
  return `select '${shard}' as name, count(*) || ' rows ' || coalesce(sum(${rowHash(table)}), 0) as print
    from ${shard} as entry where ${where}`;
}

function rowHash(table: string): string {
  // A token is written when it is used, so here what it says counts.
  if (table === 'token' || table === 'host_token')
    return "hashtextextended((to_jsonb(entry) - 'last_used_at')::text, 0)";
  // A quarter of the time that texts take, but only PostgreSQL 18 can do it, and a cluster may be older.
  if (CITUS_URL === undefined) return 'hashtidextended(entry.ctid, hashxid(entry.xmin))';
  return "hashtextextended(entry.ctid::text || ' ' || entry.xmin::text, 0)";
}

/**
 * The same on a cluster, where one statement over all tables would be hundreds: each node is asked directly for what
 * lies on it, and a table is all its shards.
 */
async function clusterFingerprint({ db, database }: Service, shopId?: string): Promise<Fingerprint> {
  const found: Fingerprint = {};
  for (const { pool, parts } of await clusterNodesOf(db, database)) {
    const asked = parts.filter(({ isOfShop }) => shopId === undefined || isOfShop);
    if (asked.length === 0) continue;
    const text = asked
      .map(({ table, part }) => printOf(table, part, condition(table, shopId !== undefined)))
      .join(' union all ');
    const prints = await printsOf(
      pool,
      shopId === undefined
        ? { name: 'fingerprint', text }
        : { name: 'shop_fingerprint', text, values: [shopId] },
    );
    for (const { table, part } of asked) found[table] = `${found[table] ?? ''}${part}: ${prints[part]}, `;
  }
  return found;
}

/** A table on the coordinator alone, or a shard. */
interface Part {
  table: string;
  part: string;
  isOfShop: boolean;
}

interface ClusterNode {
  pool: pg.Pool;
  parts: Part[];
}

const clusterNodes = new WeakMap<Database, Promise<ClusterNode[]>>();

function clusterNodesOf(db: Database, database: string): Promise<ClusterNode[]> {
  const known = clusterNodes.get(db);
  if (known) return known;
  const found = findClusterNodes(db, database);
  clusterNodes.set(db, found);
  return found;
}

async function findClusterNodes(db: Database, database: string): Promise<ClusterNode[]> {
  const tables = await tablesOf(db);
  const { rows: shards } = await db.pool.query<Part & { port: number }>(`
    select table_name::text as table, shard_name as part, citus_table_type = 'distributed' as "isOfShop",
      nodeport as port
    from citus_shards order by shard_name`);
  const isLocal = (name: string) => !shards.some(({ table, part }) => table === name || part === name);
  const local = tables
    .filter(({ name }) => isLocal(name))
    .map(({ name }) => ({ table: name, part: name, isOfShop: false }));
  return inject('nodes').map((node, index) => {
    // PostgreSQL takes two hundred shards for much work, and starting workers for it takes ten times as long as doing it.
    const options = '-c max_parallel_workers_per_gather=0';
    const pool = new pg.Pool({ ...node, database, options, max: 1, allowExitOnIdle: true });
    // The database is dropped while this connection is open.
    pool.on('error', () => {});
    const here = shards.filter(
      ({ table, port }) => port === node.port && tables.some(({ name }) => name === table),
    );
    return { pool, parts: index === 0 ? [...local, ...here] : here };
  });
}

/** What old clients understand, and this service uses. */
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
};

/**
 * A refusal as the contract words it: never 5xx, one body, no sign of success. `path` is without its query. The sweeps
 * look at tens of thousands of them, so all of it is one comparison.
 */
export function expectRefusal({ status, headers, body }: Answer, method: string, path: string): void {
  const ending = `, Request: ${method} ${path}`;
  const { message, ...others } = (body ?? {}) as { message?: unknown };
  expect({
    status,
    type: headers['content-type'],
    origin: headers['access-control-allow-origin'],
    mediaType: headers['x-epages-media-type'],
    ending: typeof message === 'string' ? message.slice(-ending.length) : message,
    others,
  }).toEqual({
    status: Object.hasOwn(REASONS, status) ? status : 'one that refuses',
    type: 'application/json',
    origin: '*',
    mediaType: undefined,
    ending,
    others: { status: REASONS[status] },
  });
}

/** The order of the demo shop whose number ends with this. */
export async function orderIdOf(service: Service, end: string): Promise<string> {
  const row = await service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order where shop_id = 'DemoShop' and order_number like ${`%/${end}`}`);
  return row!.id;
}
