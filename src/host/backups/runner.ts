import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { renewWhile } from '../../db/lease.ts';
import { newId } from '../../kernel/ids.ts';
import { openBackup } from '../../platform/backup/content.ts';
import { markOfShop } from '../../platform/backup/mark.ts';
import { StoreProblem, type BackupStore } from '../../platform/backup/store.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import {
  beginBackup,
  deleteBackup,
  deletePlan,
  endTurn,
  failBackup,
  findBackups,
  findDueShop,
  findShopIds,
  finishBackup,
  insertPlans,
  isWholeShop,
  markRemoving,
  releasePlan,
  renewPlan,
  takePlan,
  type BackupPlan,
  type ShopBackup,
} from './queries.ts';
import { nextAttempt, nextTurn, outdated, parseKeep } from './schedule.ts';

/*
 * A backup of each shop, every day at a time of its own. Every process looks for shops that are due; a lease decides
 * which one takes the turn of a shop. Only files that a row names are ever removed from the store.
 */

export interface BackupDeps {
  db: Database;
  config: Config;
  store: BackupStore;
  log: FastifyBaseLogger;
}

const DAY = 86_400_000;
const SHOPS_AT_ONCE = 500;

/** The service stops, or another process has the turn. */
class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Gives new shops their first turn. */
export const backupPlans: CleanupStep = {
  name: 'plans of backups',
  every: 600_000,
  run: async (db) => {
    for (let after = ''; ;) {
      const shops = await findShopIds(db, after, SHOPS_AT_ONCE);
      const plans = shops.map(({ shopId }) => ({ shop: shopId, dueAt: nextTurn(shopId, db.now) }));
      await insertPlans(db, plans);
      if (shops.length < SHOPS_AT_ONCE) return 0;
      after = shops.at(-1)!.shopId;
    }
  },
};

/** Takes the turns that are due, one after the other. */
export async function runDueBackups(
  deps: BackupDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { db } = deps;
  while (!signal.aborted) {
    const shop = await findDueShop(db);
    if (shop === undefined) return;
    const holder = newId(db.now);
    const plan = await takePlan(db, shop, holder);
    if (!plan) continue;
    await renewWhile(
      () => renewPlan(db, shop, holder),
      (isHeld) => takeTurn(deps, plan, holder, () => isHeld() && !signal.aborted),
    );
  }
}

async function takeTurn(
  deps: BackupDeps,
  plan: BackupPlan,
  holder: string,
  mayGoOn: () => boolean,
): Promise<void> {
  const { db, log } = deps;
  const { shop } = plan;
  try {
    await removeLeftovers(deps, shop);
    if (!(await isWholeShop(db, shop))) {
      await endGoneShop(deps, plan, holder);
      return;
    }
    const { mark, goodAt } = await backUp(deps, plan, mayGoOn);
    await prune(deps, shop);
    const dueAt = nextTurn(shop, db.now);
    await endTurn(db, shop, holder, { dueAt, attempts: 0, error: null, goodAt, mark, goneAt: null });
  } catch (error) {
    if (error instanceof Interrupted) {
      await releasePlan(db, shop, holder);
      return;
    }
    log.error({ err: error, shop }, 'the backup of a shop failed, it will be tried again');
    const attempts = plan.attempts + 1;
    const dueAt = nextAttempt(attempts, db.now);
    await endTurn(db, shop, holder, { ...plan, dueAt, attempts, error: reasonOf(error) });
  }
}

/** What the host may read; anything else is in the log of the service. */
function reasonOf(error: unknown): string {
  return error instanceof StoreProblem ? error.message : 'An error of the service; see its log.';
}

/** Writes a backup, unless the shop is still what the last one shows and nobody has asked. */
async function backUp(
  deps: BackupDeps,
  plan: BackupPlan,
  mayGoOn: () => boolean,
): Promise<{ mark: string; goodAt: Date }> {
  const { db } = deps;
  const { shop } = plan;
  const backups = await findBackups(db, shop);
  const isAsked = backups.some(({ state }) => state === 'waiting');
  // The mark is that of the newest one.
  const newest = backups.find(({ state }) => state === 'done');
  if (plan.mark !== null && !isAsked && newest && isGood(newest)) {
    const { now, mark } = await db.transaction(
      async (tx) => ({ now: tx.now, mark: await markOfShop(tx, shop) }),
      { isolation: 'repeatable read' },
    );
    if (mark === plan.mark) return { mark, goodAt: now };
  }
  return writeBackup(deps, shop, mayGoOn);
}

const isGood = ({ state, verifyError }: ShopBackup) => state === 'done' && verifyError === null;

async function writeBackup(
  { db, config, store }: BackupDeps,
  shop: string,
  mayGoOn: () => boolean,
): Promise<{ mark: string; goodAt: Date }> {
  const stamp = db.now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const { backupId, place } = await db.transaction((tx) =>
    beginBackup(tx, shop, (id) => `${shop}/${stamp}-${id}.backup`),
  );
  try {
    const { mark, ...finished } = await db.transaction(
      async (tx) => {
        // Rows are deleted in steps: what is left of them is no shop.
        if (!(await isWholeShop(tx, shop))) throw new Error('The deletion of the shop has begun');
        const mark = await markOfShop(tx, shop);
        const content = await openBackup(tx, config, shop);
        if (!content) throw new Error('The shop was deleted meanwhile');
        const { manifest, media } = content;
        const stored = await store.write(place, whileAllowed(content.bytes, mayGoOn));
        return {
          ...stored,
          mark,
          createdAt: tx.now,
          rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
          files: media.files,
          schema: manifest.schema,
        };
      },
      { isolation: 'repeatable read' },
    );
    // Another process has given it up, and may have removed the file before it was complete.
    if (!(await finishBackup(db, backupId, finished))) {
      await store.remove(place);
      throw new Interrupted();
    }
    return { mark, goodAt: finished.createdAt };
  } catch (error) {
    if (error instanceof Interrupted) await failBackup(db, backupId, 'The service was stopped meanwhile.');
    else await failBackup(db, backupId, reasonOf(error));
    throw error;
  }
}

async function* whileAllowed(bytes: AsyncIterable<Buffer>, mayGoOn: () => boolean): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    if (!mayGoOn()) throw new Interrupted();
    yield piece;
  }
}

/** A process that ended in the middle has left a file that is not complete, or one that was to be removed. */
async function removeLeftovers({ db, store }: BackupDeps, shop: string): Promise<void> {
  for (const { backupId, state, place } of await findBackups(db, shop)) {
    if (state !== 'running' && state !== 'removing') continue;
    if (place !== '') await store.remove(place);
    if (state === 'removing') await deleteBackup(db, backupId);
    else await failBackup(db, backupId, 'The process that made it has ended.');
  }
}

/** Removes what is too old. A backup that could not be restored does not count as one. */
async function prune(deps: BackupDeps, shop: string): Promise<void> {
  const { db, config } = deps;
  const backups = await findBackups(db, shop);
  const keep = parseKeep(config.BACKUP_KEEP);
  const good = backups.filter(isGood).map((backup) => ({ ...backup, createdAt: backup.createdAt! }));
  const begun = newId(new Date(db.now.getTime() - keep.days * DAY));
  const bad = backups.filter(
    (backup) =>
      (backup.state === 'failed' || (backup.state === 'done' && backup.verifyError !== null)) &&
      backup.backupId < begun,
  );
  for (const backup of [...outdated(good, keep, db.now), ...bad]) await removeBackup(deps, backup);
}

async function removeBackup(
  { db, store }: Pick<BackupDeps, 'db' | 'store'>,
  { backupId, place }: Pick<ShopBackup, 'backupId' | 'place'>,
): Promise<void> {
  await markRemoving(db, backupId);
  if (place !== '') await store.remove(place);
  await deleteBackup(db, backupId);
}

/** The backups of a deleted shop stay for a while, so that a mistake can be undone. */
async function endGoneShop(deps: BackupDeps, plan: BackupPlan, holder: string): Promise<void> {
  const { db, config } = deps;
  const { shop } = plan;
  const goneAt = plan.goneAt ?? db.now;
  const backups = await findBackups(db, shop);
  for (const { backupId, state } of backups) {
    if (state === 'waiting') await failBackup(db, backupId, 'The shop is deleted.');
  }
  if (db.now.getTime() - goneAt.getTime() >= config.BACKUP_KEEP_DELETED * DAY) {
    for (const backup of backups) await removeBackup(deps, backup);
    await deletePlan(db, shop, holder);
    return;
  }
  const dueAt = nextTurn(shop, db.now);
  await endTurn(db, shop, holder, { ...plan, dueAt, attempts: 0, error: null, mark: null, goneAt });
}
