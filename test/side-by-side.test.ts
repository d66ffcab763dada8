import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { openConnections, type Connections } from '../bench/client.ts';
import { checkout, type Call, type Memory } from '../bench/targets.ts';
import { CITUS_URL, createClusterDatabase, dropDatabase, onServers } from './cluster.ts';
import { IS_POOLED } from './pgbouncer.ts';
import { cleanUp, kontor, newFolder, startKontor } from './process.ts';

/*
 * Upgrades without a pause: the previous version serves while this one starts beside it and brings the schema up to
 * date, both serve for a while, then the previous one ends. No request fails. The previous version is the last release
 * tag; as long as there is none, the commit in `upgrade/previous-version`. On a cluster it has distributed its tables.
 */

const ROOT = path.join(import.meta.dirname, '..');
const SECONDS_TOGETHER = 1;
const SHOPPERS = 4;

const DATABASE = `side_by_side_${process.pid}`;

afterAll(async () => {
  await cleanUp();
  await dropDatabase(inject('nodes'), DATABASE);
});

const git = async (...words: string[]) =>
  (await promisify(execFile)('git', ['-C', ROOT, ...words])).stdout.trim();

/** The commit of the previous version, or why there is nothing to compare with. */
async function findPrevious(): Promise<{ commit: string } | { reason: string }> {
  if (!existsSync(path.join(ROOT, '.git'))) return { reason: 'this is no clone of the repository' };
  const recorded = await readFile(new URL('upgrade/previous-version', import.meta.url), 'utf8');
  const tag = await git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^').catch(() => undefined);
  const commit = tag ?? recorded.trim();
  const manifest = await git('show', `${commit}:package.json`).catch(() => undefined);
  if (manifest === undefined) {
    return { reason: `the previous version ${commit} is not in this clone: git fetch --unshallow --tags` };
  }
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  const missing = Object.keys(dependencies).filter(
    (name) => !existsSync(path.join(ROOT, 'node_modules', name)),
  );
  return missing.length === 0
    ? { commit }
    : {
        reason: `the previous version ${commit} needs ${missing.join(', ')}, which is no longer installed: record a later one`,
      };
}

/** The source of a commit in a folder of its own, with our node_modules; it compiles itself when it starts. */
async function checkOut(commit: string): Promise<string> {
  const folder = await newFolder();
  const archive = path.join(folder, 'previous.tar');
  await git('archive', '--output', archive, commit);
  await promisify(execFile)('tar', ['-xf', archive, '-C', folder]);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  return folder;
}

async function createDatabase(): Promise<pg.ClientConfig> {
  await (CITUS_URL === undefined
    ? onServers(inject('nodes'), `create database ${DATABASE} template template0`)
    : createClusterDatabase(inject('nodes'), DATABASE));
  return { ...inject('connection'), database: DATABASE };
}

/** The tables of a version, before anything is in them. */
async function distribute(environment: Record<string, string>, root: string): Promise<void> {
  for (const words of [
    ['db', 'migrate'],
    ['db', 'distribute', '--shards', '4'],
  ]) {
    expect(await kontor(words, environment, { root })).toMatchObject({ code: 0 });
  }
}

function urlOf({ host, port, user, database }: pg.ClientConfig): string {
  return `postgres://${user}@localhost:${port ?? 5432}/${database}?host=${encodeURIComponent(host!)}`;
}

test('the previous version and this one serve the same shop side by side, and no request fails', async ({
  skip,
}) => {
  const found = await findPrevious();
  if ('reason' in found) {
    const note = `There is no previous version to start beside this one: ${found.reason}`;
    // A skipped test is easily overlooked.
    process.stderr.write(`${note}\n`);
    return skip(note);
  }
  const root = await checkOut(found.commit);
  const connection = await createDatabase();
  const environment = {
    DATABASE_URL: urlOf(connection),
    DATABASE_NAMED_STATEMENTS: String(!IS_POOLED),
    KONTOR_DATA: await newFolder(),
    RATE_LIMIT: '0',
    RATE_LIMIT_ANONYMOUS: '0',
  };
  if (CITUS_URL !== undefined) await distribute(environment, root);
  const previous = await startKontor(environment, { root });
  const token = /Token \(demo shop\) +(\S+)/.exec(previous.stdout())![1]!;
  const load = startLoad(token);
  await load.add(previous.address);
  await load.pass(10);

  // It migrates while the previous version serves.
  const current = await startKontor(environment);
  await load.add(current.address);
  await sleep(1_000 * SECONDS_TOGETHER);
  await load.pass(20);
  // As a proxy does it: no new requests for the one that ends.
  await load.remove(previous.address);
  expect((await previous.stop()).code).toBe(0);
  await load.pass(10);
  const { failures, requests, orders } = await load.end();

  expect(failures).toEqual([]);
  expect(requests.get(previous.address)).toBeGreaterThan(100);
  expect(requests.get(current.address)).toBeGreaterThan(100);
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client.query(
    "select upper(order_id::text) as id from customer_order where billing_address ->> 'emailAddress' like 'buyer-%'",
  );
  await client.end();
  expect(rows.map(({ id }: { id: string }) => id).toSorted()).toEqual(orders.toSorted());
  expect((await current.stop()).code).toBe(0);
}, 240_000);

/** Shoppers who read and buy, each request at another one of the processes, as behind a proxy. */
function startLoad(token: string) {
  const root = '/rs/shops/DemoShop';
  const processes = new Map<string, Connections>();
  const requests = new Map<string, number>();
  const failures: string[] = [];
  const orders: string[] = [];
  let turn = 0;
  const over = new AbortController();
  let passes = 0;
  const inFlight = new Map<string, number>();
  const countInFlight = (origin: string, change: 1 | -1) =>
    inFlight.set(origin, (inFlight.get(origin) ?? 0) + change);

  const send = async (call: Call) => {
    const origins = [...processes.keys()];
    const origin = origins[turn++ % origins.length]!;
    requests.set(origin, (requests.get(origin) ?? 0) + 1);
    countInFlight(origin, 1);
    try {
      const reply = await processes
        .get(origin)!
        .send({ ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } });
      if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`);
      return reply;
    } catch (error) {
      failures.push(`${call.method} ${call.path}: ${String(error)}`);
      throw error;
    } finally {
      countInFlight(origin, -1);
    }
  };

  const shop = async (saleIds: string[]) => {
    await send({ method: 'GET', path: `${root}/products?resultsPerPage=20` });
    await send({ method: 'GET', path: `${root}/products/${saleIds[passes % saleIds.length]}` });
    const memory: Memory = {};
    for (const { name, call, note } of checkout({ root, saleIds, shippingMethodId: '' })) {
      if (name === 'shipping') continue;
      const { text, headers } = await send(call(memory));
      note?.(memory, text, headers as Record<string, string>);
      if (name === 'order') orders.push((JSON.parse(text) as { orderId: string }).orderId);
    }
    await send({ method: 'GET', path: `${root}/orders/${orders.at(-1)}` });
    passes++;
  };

  const createProducts = async () => {
    const ids: string[] = [];
    for (const number of ['SIDE-1', 'SIDE-2', 'SIDE-3']) {
      const body = JSON.stringify({
        productNumber: number,
        name: `Lamp ${number}`,
        price: 9.95,
        visible: true,
      });
      const { text } = await send({ method: 'POST', path: `${root}/products`, body });
      ids.push((JSON.parse(text) as { productId: string }).productId);
    }
    return ids;
  };

  let shoppers: Promise<unknown> | undefined;
  const start = async () => {
    const saleIds = await createProducts();
    const shopper = async () => {
      // The first failure is enough to see.
      while (!over.signal.aborted && failures.length === 0) await shop(saleIds).catch(() => {});
    };
    shoppers = Promise.all(Array.from({ length: SHOPPERS }, shopper));
  };

  return {
    async add(origin: string) {
      processes.set(origin, openConnections(origin, SHOPPERS));
      if (!shoppers) await start();
    },
    /** Returns when what it has been sent is answered. */
    async remove(origin: string) {
      const connections = processes.get(origin)!;
      processes.delete(origin);
      await expect.poll(() => inFlight.get(origin), { timeout: 30_000 }).toBe(0);
      connections.close();
    },
    /** Until the shoppers have bought so many times more. */
    async pass(count: number) {
      const mark = passes;
      await expect.poll(() => passes >= mark + count || failures.length > 0, { timeout: 60_000 }).toBe(true);
    },
    async end() {
      over.abort();
      await shoppers;
      for (const connections of processes.values()) connections.close();
      return { failures, requests, orders };
    },
  };
}
