import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { renewWhile } from '../../db/lease.ts';
import { HttpError, Refusal } from '../../http/errors.ts';
import { RestoreProblem, restoreShop } from '../../imports/backup/restore.ts';
import { newId } from '../../kernel/ids.ts';
import { BackupProblem } from '../../platform/backup/file.ts';
import { checkBackup } from '../../platform/backup/manifest.ts';
import { StoreProblem, type BackupStore } from '../../platform/backup/store.ts';
import { LengthProblem } from '../../platform/bucket.ts';
import { plansOf } from '../../platform/plans/plans.ts';
import { updatePlan, updateSuspension } from '../../shops/shop/queries.ts';
import { recordChange, type Cause } from '../log.ts';
import { findHostedShop } from '../queries.ts';
import type { Staff } from '../staff.ts';
import { findBackup, insertPlans } from './queries.ts';
import {
  endRestore,
  findDueRestore,
  findPart,
  noteFiles,
  releaseRestore,
  renewRestore,
  takeRestore,
  type ShopRestore,
} from './restore-queries.ts';
import { nextTurn } from './schedule.ts';
import { withDownload } from './verify.ts';

export interface RestoreDeps {
  db: Database;
  config: Config;
  /** undefined: there is none, and only files that were sent are restored. */
  store: BackupStore | undefined;
  staff: Pick<Staff, 'inviteOwner'>;
  loadKey: () => Promise<Buffer>;
  log: FastifyBaseLogger;
}

/** A restore that ends with its process, or fails this often, is given up. */
const MAX_ATTEMPTS = 5;

/** The service stops, or another process has the restore. */
class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Makes the shops that the host has asked for, one after the other. */
export async function runDueRestores(
  deps: RestoreDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { db } = deps;
  while (!signal.aborted) {
    const due = await findDueRestore(db);
    if (due === undefined) return;
    const holder = newId(db.now);
    const restore = await takeRestore(db, due, holder);
    if (!restore) continue;
    await renewWhile(
      () => renewRestore(db, due, holder),
      (isHeld) => runRestore(deps, restore, holder, () => isHeld() && !signal.aborted),
    );
  }
}

async function runRestore(
  deps: RestoreDeps,
  restore: ShopRestore,
  holder: string,
  mayGoOn: () => boolean,
): Promise<void> {
  const { db, log } = deps;
  const { restoreId, shop, attempts } = restore;
  try {
    if (attempts > MAX_ATTEMPTS) throw new GivenUp();
    await withBackupFile(deps, restore, (file) => makeShop(deps, restore, { file, holder, mayGoOn }));
  } catch (error) {
    if (error instanceof Interrupted || !mayGoOn()) {
      await releaseRestore(db, restoreId, holder);
      return;
    }
    const failure = failureOf(error);
    if (!failure) log.warn({ err: error, shop, restoreId }, 'a shop could not be restored');
    // Tried again when the lease has ended.
    if (!failure && attempts < MAX_ATTEMPTS) return;
    await giveUp(db, restore, holder, failure ?? GIVEN_UP);
  }
}

/** A shop that was to be replaced is what it was before, and open again. */
async function giveUp(
  db: Database,
  restore: ShopRestore,
  holder: string,
  failure: { code: string; text: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const isOurs = await endRestore(tx, restore, holder, failure);
    if (isOurs && restore.replaces && !restore.isSuspended) await updateSuspension(tx, restore.shop, null);
  });
}

class GivenUp extends Error {
  override name = 'GivenUp';
}

const GIVEN_UP = { code: 'ERROR', text: 'The service could not restore it; the log says why.' };

/** What the host can do something about; undefined: nothing, it may go well later. */
function failureOf(error: unknown): { code: string; text: string } | undefined {
  if (error instanceof GivenUp) return GIVEN_UP;
  const text = (error as Error).message;
  // The codes of the refusals of an operation, where it refuses the same.
  if (error instanceof RestoreProblem) return { code: error.reason.replace(/^ID_/, 'SHOP_ID_'), text };
  if (error instanceof BackupProblem || error instanceof LengthProblem) return { code: 'DAMAGED', text };
  if (error instanceof StoreProblem) return undefined;
  if (error instanceof Refusal) return { code: error.code, text };
  return error instanceof HttpError && error.status < 500 ? { code: 'REFUSED', text } : undefined;
}

async function makeShop(
  { db, config, staff, loadKey }: RestoreDeps,
  restore: ShopRestore,
  { file, holder, mayGoOn }: { file: string; holder: string; mayGoOn: () => boolean },
): Promise<void> {
  const { restoreId, shop, hasFiles, replaces } = restore;
  try {
    await restoreShop(db, config, await checkBackup(file), {
      as: shop,
      keys: { own: await loadKey(), former: undefined },
      ownsFiles: hasFiles,
      replaces,
      beforeFiles: async () => void (await noteFiles(db, restoreId, holder)),
      onProgress: () => {
        if (!mayGoOn()) throw new Interrupted();
      },
      finish: async (tx) => {
        await (replaces ? completeReplaced(tx, restore) : completeShop(tx, config, staff, restore));
        // In the same transaction: a shop is there exactly when its restore is done.
        if (!(await endRestore(tx, restore, holder))) throw new Interrupted();
      },
    });
  } catch (error) {
    // People read it, to whom the name of our own file says nothing.
    if (error instanceof Error) error.message = error.message.replaceAll(file, 'The backup');
    throw error;
  }
}

async function completeShop(
  tx: Transaction,
  config: Config,
  staff: RestoreDeps['staff'],
  { shop, plan, owner, isSuspended, byName, backupId }: ShopRestore,
): Promise<void> {
  const restored = (await findHostedShop(tx, shop))!;
  const cause: Cause = { appId: null, appName: byName, method: 'POST', route: '/host/restores' };
  const known = plansOf(config)?.byName;
  // A backup may come from an installation with other plans.
  const kept = restored.plan !== null && known?.has(restored.plan) === true ? restored.plan : null;
  await updatePlan(tx, shop, plan ?? kept);
  await updateSuspension(tx, shop, isSuspended ? tx.now : null);
  const { name } = restored;
  // One of this id may have been deleted before: it is there again.
  await insertPlans(tx, [{ shop, dueAt: nextTurn(shop, tx.now) }]);
  const ownerId =
    owner === null ? undefined : await staff.inviteOwner(tx, shop, { email: owner, by: byName });
  await recordChange(tx, shop, 'SHOP_CREATED', cause, { name, ...(backupId !== null && { backupId }) });
  if (ownerId !== undefined) await recordChange(tx, shop, 'SHOP_OWNER_ADDED', cause, { ownerId });
}

async function completeReplaced(
  tx: Transaction,
  { shop, backupId, isSuspended, byName }: ShopRestore,
): Promise<void> {
  await updateSuspension(tx, shop, isSuspended ? tx.now : null);
  const cause: Cause = { appId: null, appName: byName, method: 'POST', route: '/host/restores' };
  await recordChange(tx, shop, 'SHOP_REPLACED', cause, { backupId: backupId! });
}

/** Puts the backup into a file, which is removed when `work` ends. */
async function withBackupFile(
  { db, store }: RestoreDeps,
  { backupId, uploadId }: ShopRestore,
  work: (file: string) => Promise<void>,
): Promise<void> {
  if (uploadId !== null) {
    const folder = await mkdtemp(path.join(tmpdir(), 'kontor-backup-'));
    try {
      const file = path.join(folder, 'shop.backup');
      const parts = Readable.from(partsOf(db, uploadId));
      await pipeline(parts, createWriteStream(file, { mode: 0o600 }));
      await work(file);
    } finally {
      await rm(folder, { recursive: true });
    }
    return;
  }
  const backup = await findBackup(db, backupId!);
  const stream = backup?.state === 'done' ? await store?.read(backup.place, backup.bytes!) : undefined;
  if (!backup || !stream) throw new BackupProblem('The backup is no longer there.');
  await withDownload(stream, backup, async (file, isSame) => {
    if (!isSame) throw new BackupProblem('The backup is not the one that was written.');
    await work(file);
  });
}

async function* partsOf(db: Database, uploadId: string): AsyncGenerator<Buffer> {
  for (let number = 1; ; number++) {
    const part = await findPart(db, uploadId, number);
    if (!part) return;
    yield part.content;
  }
}
