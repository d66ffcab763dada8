import { setTimeout as sleep } from 'node:timers/promises';
import { deleteDemoVisitors } from '../../admin/users/demo-visitor.ts';
import type { Database, Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { DEMO_OFFICE, DEMO_SHOP } from '../../http/demo-mode.ts';
import { updateCopy } from '../../shops/sandbox/queries.ts';
import {
  deleteShop,
  findShop,
  findShops,
  updateOpening,
  updateSuspension,
} from '../../shops/shop/queries.ts';
import { CommandProblem } from '../problem.ts';
import { findDemoFiles, insertDemoFiles } from './add-files.ts';
import { insertDemoCarts } from './carts.ts';
import { readCatalogue } from './demo-data.ts';
import { insertDemoShop } from './demo-shop.ts';
import { insertDemoOrders } from './orders.ts';

/* The shops of a demo that strangers may use (KONTOR_DEMO): `src/http/demo-mode.ts` says what they can do there. */

const SHOPS = [DEMO_SHOP, DEMO_OFFICE];

/** Creates the shops of an empty database. Shops of others are never deleted: with them the service does not start. */
export async function openPublicDemo(db: Database): Promise<void> {
  const isOurs = (await db.one(sql`select from public_demo`)) !== undefined;
  const shops = await findShops(db, SHOPS.length + 1);
  const other = shops.find(({ shopId }) => !isOurs || !SHOPS.includes(shopId));
  if (other) {
    throw new CommandProblem(
      `KONTOR_DEMO=1 deletes its shops at every full hour, and this database has the shop ${other.shopId}: ` +
        'set KONTOR_DATA to an empty folder or DATABASE_URL to an empty database, or remove KONTOR_DEMO.',
    );
  }
  await db.run(sql`insert into public_demo default values on conflict (is_only) do nothing`);
  for (const shopId of SHOPS) {
    await db.transaction(async (tx) => {
      await lockDemo(tx);
      if (!(await findShop(tx, shopId))) await createShop(tx, shopId);
    });
  }
}

/** Requests that began before the shops were closed have ended after this. */
const LAST_REQUESTS = 1_000;

/**
 * Deletes the shops that were created before this hour, creates them again and returns their ids. A shop is closed until
 * the one transaction that does both, so a process that is killed leaves it closed or new, and the next one goes on.
 */
export async function resetDemo(db: Database, hour: Date, pause = LAST_REQUESTS): Promise<string[]> {
  if ((await findOld(db, hour)).length === 0) return [];
  await forOldShops(db, hour, (tx, shopId) => updateSuspension(tx, shopId, tx.now));
  await sleep(pause);
  return forOldShops(db, hour, replaceShop);
}

/** Runs a step for each shop that is older than this hour, and returns their ids. */
async function forOldShops(
  db: Database,
  hour: Date,
  step: (tx: Transaction, shopId: string) => Promise<unknown>,
): Promise<string[]> {
  const done: string[] = [];
  for (const shopId of SHOPS) {
    await db.transaction(async (tx) => {
      await lockDemo(tx);
      // Another process may have been faster.
      if (!(await findOld(tx, hour)).some((old) => old.shopId === shopId)) return;
      await step(tx, shopId);
      done.push(shopId);
    });
  }
  return done;
}

function findOld(db: Queries, hour: Date) {
  return db.many<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop where shop_id = any (${SHOPS}::text[]) and created_at < ${hour}`);
}

async function replaceShop(tx: Transaction, shopId: string): Promise<void> {
  const { products } = await readCatalogue();
  // Nobody can change the pictures, so they stay.
  const files = await findDemoFiles(tx, shopId, products);
  await deleteShop(tx, shopId);
  await createShop(tx, shopId);
  if (files) await insertDemoFiles(tx, shopId, products, files);
  await raiseVersions(tx, shopId);
  if (shopId === DEMO_OFFICE) await deleteDemoVisitors(tx);
}

/** Products have the ids of before, and caches know them by id and version: each second has versions of its own. */
function raiseVersions(tx: Transaction, shopId: string) {
  return tx.run(sql`
    update product set version = version + ${Math.floor(tx.now.getTime() / 1000)} where shop_id = ${shopId}`);
}

/** As a sandbox, it sends no emails, takes demo payments only, and no search engine finds it. */
async function createShop(tx: Transaction, shopId: string): Promise<void> {
  const knownTokens = false;
  await insertDemoShop(tx, { shopId, knownTokens, rateLimit: 0 });
  await updateCopy(tx, shopId, { of: shopId, clock: 0 });
  await insertDemoCarts(tx, shopId, { knownTokens });
  await insertDemoOrders(tx, shopId, { knownTokens });
  if (shopId === DEMO_OFFICE) await updateOpening(tx, shopId, false);
}

/** One process at a time creates shops. */
function lockDemo(tx: Transaction) {
  return tx.one(sql`select from public_demo for update`);
}
