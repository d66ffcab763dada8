import { copyRoles } from '../../admin/users/queries.ts';
import type { Config } from '../../config.ts';
import type { Database, Queries, Transaction } from '../../db/database.ts';
import { openBackup, type BackupProgress } from '../../platform/backup/content.ts';
import type { Manifest } from '../../platform/backup/manifest.ts';
import { installationKey } from '../../platform/sealing.ts';
import { explainedFailure, insertShop } from '../../imports/backup/restore.ts';
import { endCartTokens } from '../../orders/past-orders.ts';
import { countSandboxes, MAX_SANDBOXES, updateCopy } from '../../shops/sandbox/queries.ts';
import { selectSettings, type Sandbox } from '../../shops/settings/settings.ts';
import { deleteShop } from '../../shops/shop/queries.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { noSuchShop, recordCommand } from '../command.ts';
import { CommandProblem } from '../problem.ts';
import { isCopied } from './copied-tables.ts';
import { commandProblem } from './restore.ts';

export interface CopyOptions extends BackupProgress {
  from: string;
  to: string;
  isSandbox: boolean;
  withCustomers: boolean;
}

export interface Copied {
  manifest: Manifest;
  files: number;
}

/**
 * Copies a shop under another id, as of one moment, straight from its rows to those of the copy: what a backup and its
 * restore under another id do, without the file between them. Both are transactions, so nothing of a copy that fails is
 * left.
 */
export async function copyShop(db: Database, config: Config, options: CopyOptions): Promise<Copied> {
  const { from, to, isSandbox } = options;
  const sandbox = await sandboxOfCopy(db, options);
  const keys = { own: await installationKey(config), former: undefined };
  const copied = await db
    .transaction((tx) =>
      db.transaction(
        async (source) => {
          const { onProgress } = options;
          const content = await openBackup(source, config, from, {
            ...options,
            leaveOut: (table) => !isCopied(table, options.withCustomers),
          });
          if (!content) throw noSuchShop(from);
          const { manifest, chunks } = content;
          const { files } = await insertShop(
            tx,
            config,
            // The rows come from this database: they are as large as they are.
            { path: `The copy of ${from}`, manifest, bytes: Number.MAX_SAFE_INTEGER, isOlder: false, chunks },
            to,
            { keys, finish: () => finishCopy(tx, options, sandbox), ...(onProgress && { onProgress }) },
          );
          return { manifest, files };
        },
        { isolation: 'repeatable read' },
      ),
    )
    .catch((error: unknown) => {
      throw commandProblem(explainedFailure(error, to, `${from} cannot be copied`));
    });
  if (isSandbox && (await countSandboxes(db, sandbox!.of)) > MAX_SANDBOXES) {
    // Another one was made at the same moment.
    await db.transaction((tx) => deleteShop(tx, to));
    await openMediaStorage(config).removeShop(to);
    throw tooMany(sandbox!.of);
  }
  return copied;
}

/** A sandbox of a sandbox is one more of the same shop, and as far ahead. */
async function sandboxOfCopy(db: Queries, { from, isSandbox }: CopyOptions): Promise<Sandbox | undefined> {
  const source = await selectSettings(db, from);
  if (!source) throw noSuchShop(from);
  if (!isSandbox) {
    if (!source.sandbox) return undefined;
    throw new CommandProblem(`${from} is a sandbox of ${source.sandbox.of}: add --sandbox to copy it.`);
  }
  const sandbox = source.sandbox ?? { of: from, clock: 0 };
  if ((await countSandboxes(db, sandbox.of)) >= MAX_SANDBOXES) throw tooMany(sandbox.of);
  return sandbox;
}

const tooMany = (shopId: string) =>
  new CommandProblem(
    `${shopId} has ${MAX_SANDBOXES} sandboxes already. Delete one first: npx kontor shop delete ID`,
  );

/** What the copy does not share with the shop: it is new, has a preview link of its own, and no cart token opens an order. */
async function finishCopy(
  tx: Transaction,
  { from, to, withCustomers }: CopyOptions,
  sandbox: Sandbox | undefined,
): Promise<void> {
  await updateCopy(tx, to, sandbox);
  await endCartTokens(tx, to);
  await copyRoles(tx, from, to);
  await recordCommand(tx, from, withCustomers ? 'shop copy --with-customers' : 'shop copy');
  await recordCommand(tx, to, 'shop copy');
}
