import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newStartedFolder } from '../../../test/first-start.ts';
import { cleanUp, newFolder, startKontor, waitFor, type Running } from '../../../test/process.ts';
import { openDatabase, type Database } from '../../db/database.ts';
import { attachEmbedded } from '../../db/embedded.ts';
import { sql } from '../../db/sql.ts';
import { HOST_SCOPES } from '../../http/scopes.ts';
import { findShop } from '../../shops/shop/queries.ts';
import { createHostToken } from '../tokens.ts';

/** kill -9 of the service while it makes a backup, and while it makes shops from one. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 });
afterAll(cleanUp);

/** Milliseconds after which the process is killed; the whole work takes about a second here. */
const MOMENTS = [50, 300, 700];

let data: string;
let backups: string;
let service: Running;
let token: string;

const start = () =>
  startKontor({ KONTOR_DATA: data, BACKUP_URL: `file://${backups}`, RATE_LIMIT: '0', LOG_LEVEL: 'error' });

beforeAll(async () => {
  data = await newStartedFolder();
  backups = path.join(await newFolder(), 'backups');
  service = await start();
  token = await look((db) =>
    db.transaction((tx) => createHostToken(tx, { name: 'order system', scopes: HOST_SCOPES })),
  );
});

async function look<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
  const embedded = await attachEmbedded(data, { log: () => {} });
  const db = openDatabase({ connection: embedded.connection });
  try {
    return await work(db);
  } finally {
    await db.close();
    await embedded.stop();
  }
}

async function host(method: string, place: string, body?: object) {
  const response = await fetch(`${service.address}/host${place}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as Record<string, unknown>;
}

/** The process ends at once; its leases do a minute later, which nobody waits for here. */
async function killAndRestart(): Promise<void> {
  service.kill('SIGKILL');
  await service.ended;
  service = await start();
  await look(async (db) => {
    await db.run(sql`update shop_restore set leased_until = ${new Date(0)}`);
    await db.run(sql`update backup_plan set leased_until = ${new Date(0)}`);
  });
}

const rowsOf = (shopId: string) =>
  look((db) =>
    db.one(sql`
      select (select count(*) from product where shop_id = ${shopId}) as products,
        (select count(*) from customer_order where shop_id = ${shopId}) as orders,
        (select count(*) from listing_word where shop_id = ${shopId}) as words`),
  );

const filesOf = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
};

test('a backup is whole, or is not there and is made again', async () => {
  for (const moment of MOMENTS) {
    const { backupId } = await host('POST', '/shops/DemoShop/backups');
    await sleep(5_000 + moment - (Date.now() % 10));
    await killAndRestart();
    const stateOf = async () => (await host('GET', `/shops/DemoShop/backups/${String(backupId)}`))['state'];
    await waitFor(async () => ['done', 'failed'].includes(String(await stateOf())), 30_000, 100);
    const { items } = (await host('GET', '/shops/DemoShop/backups')) as { items: { state: string }[] };
    const done = items.filter(({ state }) => state === 'done').length;
    await waitFor(async () => (await filesOf(backups)) >= done, 20_000, 100);
  }
  await waitFor(async () => (await host('GET', '/shops/DemoShop/backups'))['goodAt'] !== null, 30_000, 100);
  const { items } = (await host('GET', '/shops/DemoShop/backups')) as { items: { state: string }[] };
  // Of one day the last one stays, and no draft.
  expect(items.filter(({ state }) => state === 'done').length).toBe(await filesOf(backups));
});

test('a shop from a backup is there as a whole, or nothing of it', async () => {
  const { items } = (await host('GET', '/shops/DemoShop/backups')) as {
    items: { state: string; backupId: string }[];
  };
  const { backupId } = items.find(({ state }) => state === 'done')!;
  const expected = await rowsOf('DemoShop');
  for (const [index, moment] of MOMENTS.entries()) {
    const shopId = `Killed${index}`;
    const { restoreId } = await host('POST', '/restores', { shopId, backupId });
    await sleep(moment + 500);
    service.kill('SIGKILL');
    await service.ended;
    service = await start();
    const shop = await look((db) => findShop(db, shopId));
    expect(await rowsOf(shopId)).toEqual(shop ? expected : { products: 0, orders: 0, words: 0 });
    await look((db) => db.run(sql`update shop_restore set leased_until = ${new Date(0)}`));
    const stateOf = async () => (await host('GET', `/restores/${String(restoreId)}`))['state'];
    await waitFor(async () => (await stateOf()) === 'done', 30_000, 100);
    expect(await rowsOf(shopId)).toEqual(expected);
    expect(await filesOf(path.join(data, 'media', shopId))).toBe(
      await filesOf(path.join(data, 'media', 'DemoShop')),
    );
  }
});
