import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { renewWhile } from '../../db/lease.ts';
import { RestoreProblem } from '../../imports/backup/restore.ts';
import { newId } from '../../kernel/ids.ts';
import { recordAction } from '../record-action.ts';
import {
  endCopy,
  findDueCopy,
  noteFilesOfCopy,
  releaseCopy,
  renewCopy,
  saveProgress,
  takeCopy,
  type SandboxCopy,
} from './copy-queries.ts';
import { copyShopToSandbox, CopyProblem } from './copy-shop.ts';

export interface CopyDeps {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
}

/** A copy that ends with its process, or fails this often, is given up. */
const MAX_ATTEMPTS = 3;

const SAVE_PROGRESS_EVERY = 1_000;

/** The service stops, or another process has the copy. */
class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Makes the sandboxes that owners have asked for, one after the other. */
export async function runDueCopies(
  deps: CopyDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { db } = deps;
  while (!signal.aborted) {
    const due = await findDueCopy(db);
    if (due === undefined) return;
    const holder = newId(db.now);
    const copy = await takeCopy(db, due, holder);
    if (!copy) continue;
    await renewWhile(
      () => renewCopy(db, due, holder),
      (isHeld) => runCopy(deps, copy, holder, () => isHeld() && !signal.aborted),
    );
  }
}

async function runCopy(
  deps: CopyDeps,
  copy: SandboxCopy,
  holder: string,
  mayGoOn: () => boolean,
): Promise<void> {
  const { db, log } = deps;
  const { shopId, sandbox, attempts } = copy;
  if (attempts > MAX_ATTEMPTS) {
    await endCopy(db, shopId, holder, 'ERROR');
    return;
  }
  try {
    await makeSandbox(deps, copy, holder, mayGoOn);
  } catch (error) {
    if (error instanceof Interrupted || !mayGoOn()) {
      await releaseCopy(db, shopId, holder);
      return;
    }
    const isRefused = error instanceof CopyProblem || error instanceof RestoreProblem;
    if (!isRefused) log.warn({ err: error, shop: shopId, sandbox }, 'a sandbox could not be made');
    // Tried again when the lease has ended.
    if (!isRefused && attempts < MAX_ATTEMPTS) return;
    await endCopy(db, shopId, holder, isRefused ? error.reason : 'ERROR');
  }
}

async function makeSandbox(
  { db, config, log }: CopyDeps,
  { shopId, sandbox, withCustomers, userId, email, hasFiles }: SandboxCopy,
  holder: string,
  mayGoOn: () => boolean,
): Promise<void> {
  const progress = { entries: null as number | null, entriesDone: 0 };
  const timer = setInterval(() => {
    saveProgress(db, shopId, holder, progress).catch((error: unknown) =>
      log.warn({ err: error, shop: shopId }, 'the progress of a sandbox could not be saved'),
    );
  }, SAVE_PROGRESS_EVERY);
  try {
    await copyShopToSandbox(db, config, {
      from: shopId,
      to: sandbox,
      isSandbox: true,
      withCustomers,
      ownsFiles: hasFiles,
      onStart: (entries) => (progress.entries = entries),
      onProgress: (entries) => {
        if (!mayGoOn()) throw new Interrupted();
        progress.entriesDone += entries;
      },
      beforeFiles: async () => void (await noteFilesOfCopy(db, shopId, holder)),
      finish: async (tx) => {
        await recordAction(tx, { shopId: sandbox, user: { userId, email } }, ROUTE, { sandboxOf: shopId });
        // In the same transaction: a sandbox is there exactly when its copy is done.
        if (!(await endCopy(tx, shopId, holder, null))) throw new Interrupted();
      },
    });
  } finally {
    clearInterval(timer);
  }
}

const ROUTE = '/settings/sandboxes';
