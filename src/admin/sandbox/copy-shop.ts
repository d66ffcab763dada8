import type { Config } from '../../config.ts';
import type { Database, Queries, Transaction } from '../../db/database.ts';
import { explainedFailure, insertRestoredShop } from '../../imports/backup/restore.ts';
import { endCartTokens } from '../../orders/past-orders.ts';
import { openBackup, type BackupProgress } from '../../platform/backup/content.ts';
import type { BackupManifest } from '../../platform/backup/manifest.ts';
import { installationKey } from '../../platform/sealing.ts';
import {
  countSandboxes,
  lockShopOfSandboxes,
  MAX_SANDBOXES,
  updateCopy,
} from '../../shops/sandbox/queries.ts';
import { selectSettings, type Sandbox } from '../../shops/settings/settings.ts';
import { copyRoles } from '../users/queries.ts';
import { forgetPromises } from '../../catalogue/products/backorder-queue.ts';
import { isCopied } from './copied-tables.ts';

export interface CopyOptions extends BackupProgress {
  from: string;
  to: string;
  isSandbox: boolean;
  withCustomers: boolean;
  /** Before the first file is written; the row of the copy reserves its id by then. */
  beforeFiles?: () => Promise<void>;
  /** Files below its id were left by an attempt that ended with its process, and are removed. */
  ownsFiles?: boolean;
  /** The last statements of the transaction, such as an entry of the audit log. */
  finish: (tx: Transaction) => Promise<void>;
}

export interface Copied {
  manifest: BackupManifest;
  files: number;
}

/** Why a shop is not copied; `shopId` is the one that it is about. */
export class CopyProblem extends Error {
  override name = 'CopyProblem';
  readonly reason: 'NO_SUCH_SHOP' | 'IS_SANDBOX' | 'TOO_MANY';
  readonly shopId: string;

  constructor(reason: CopyProblem['reason'], shopId: string) {
    super(`${shopId} cannot be copied: ${reason}`);
    this.reason = reason;
    this.shopId = shopId;
  }
}

/**
 * Copies a shop under another id, as of one moment, straight from its rows to those of the copy: what a backup and its
 * restore under another id do, without the file between them. Both are transactions, so nothing of a copy that fails is
 * left.
 */
export async function copyShopToSandbox(db: Database, config: Config, options: CopyOptions): Promise<Copied> {
  const { from, to, onProgress, beforeFiles, ownsFiles } = options;
  const sandbox = await sandboxOfCopy(db, options);
  const keys = { own: await installationKey(config), former: undefined };
  return db
    .transaction((tx) =>
      db.transaction(
        async (source) => {
          const content = await openBackup(source, config, from, {
            ...options,
            leaveOut: (table) => !isCopied(table, options.withCustomers),
          });
          if (!content) throw new CopyProblem('NO_SUCH_SHOP', from);
          const { manifest, chunks } = content;
          const { files } = await insertRestoredShop(
            tx,
            config,
            // The rows come from this database: they are as large as they are.
            { path: `The copy of ${from}`, manifest, bytes: Number.MAX_SAFE_INTEGER, isOlder: false, chunks },
            to,
            {
              keys,
              finish: () => finishCopy(tx, options, sandbox),
              ...(onProgress && { onProgress }),
              ...(beforeFiles && { beforeFiles }),
              ...(ownsFiles !== undefined && { ownsFiles }),
            },
          );
          return { manifest, files };
        },
        { isolation: 'repeatable read' },
      ),
    )
    .catch((error: unknown) => {
      throw explainedFailure(error, to, `${from} cannot be copied`);
    });
}

/** A sandbox of a sandbox is one more of the same shop, and as far ahead. */
async function sandboxOfCopy(db: Queries, { from, isSandbox }: CopyOptions): Promise<Sandbox | undefined> {
  const source = await selectSettings(db, from);
  if (!source) throw new CopyProblem('NO_SUCH_SHOP', from);
  if (!isSandbox) {
    if (!source.sandbox) return undefined;
    throw new CopyProblem('IS_SANDBOX', source.sandbox.of);
  }
  const sandbox = source.sandbox ?? { of: from, clock: 0 };
  if ((await countSandboxes(db, sandbox.of)) >= MAX_SANDBOXES) throw new CopyProblem('TOO_MANY', sandbox.of);
  return sandbox;
}

/** What the copy does not share with the shop: it is new, has a preview link of its own, and no cart token opens an order. */
async function finishCopy(
  tx: Transaction,
  { from, to, withCustomers, finish }: CopyOptions,
  sandbox: Sandbox | undefined,
): Promise<void> {
  await updateCopy(tx, to, sandbox);
  // Without orders nobody waits.
  if (!withCustomers) await forgetPromises(tx, to);
  await endCartTokens(tx, to);
  await copyRoles(tx, from, to);
  await finish(tx);
  if (!sandbox) return;
  // Last, because the shop stays locked: another one may have been made meanwhile.
  await lockShopOfSandboxes(tx, sandbox.of);
  if ((await countSandboxes(tx, sandbox.of)) > MAX_SANDBOXES) throw new CopyProblem('TOO_MANY', sandbox.of);
}
