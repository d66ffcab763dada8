import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tryRestore } from '../../imports/backup/try-restore.ts';
import { checkBackup } from '../../platform/backup/manifest.ts';
import { BackupProblem } from '../../platform/backup/file.ts';
import { LengthProblem } from '../../platform/bucket.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { RestoreProblem } from '../../imports/backup/restore.ts';
import { distrustBackups, findRandomBackup, saveVerification, type ShopBackup } from './queries.ts';
import type { BackupDeps } from './runner.ts';

const DAY = 86_400_000;

/** Once a day a backup of any shop is restored, compared and taken back: a backup is worth what its restore is. */
export function backupVerification({ store, log }: Pick<BackupDeps, 'store' | 'log'>): CleanupStep {
  return {
    name: 'verification of a backup',
    every: DAY,
    run: async (db) => {
      const backup = await findRandomBackup(db);
      if (backup) await verifyBackup({ db, store, log }, backup);
      return 0;
    },
  };
}

export async function verifyBackup(
  { db, store, log }: Pick<BackupDeps, 'db' | 'store' | 'log'>,
  backup: ShopBackup,
): Promise<void> {
  const { backupId, shop, place, bytes, rows } = backup;
  const problem = await problemOf().catch((error: unknown) => {
    if (error instanceof LengthProblem) return 'The file in the store is not the one that was written.';
    throw error;
  });
  await saveVerification(db, backupId, problem ?? null);
  if (problem === undefined) {
    log.info({ shop, backupId, rows }, 'a backup was restored to try it, and is as the shop was');
    return;
  }
  log.error({ shop, backupId, place, problem }, 'a backup can not be restored, another one is made');
  await distrustBackups(db, shop);

  /** The problem of the backup; a store that can't be reached is none, and is thrown. */
  async function problemOf(): Promise<string | undefined> {
    const stream = await store.read(place, bytes!);
    if (!stream) return 'It is not in the store.';
    return withDownload(stream, backup, async (file, isSame) => {
      if (!isSame) return 'The file in the store is not the one that was written.';
      try {
        const trial = await tryRestore(db, await checkBackup(file));
        return trial.problems.length > 0 ? trial.problems.join('; ') : undefined;
      } catch (error) {
        if (error instanceof BackupProblem || error instanceof RestoreProblem) {
          return error.message.replaceAll(file, 'The backup');
        }
        throw error;
      }
    });
  }
}

/** Puts a stored backup into a file, which is removed when `work` ends. */
export async function withDownload<Result>(
  stream: Readable,
  { sha256 }: Pick<ShopBackup, 'sha256'>,
  work: (file: string, isSame: boolean) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-backup-'));
  try {
    const file = path.join(folder, 'shop.backup');
    const hash = createHash('sha256');
    await pipeline(
      stream,
      async function* (pieces: AsyncIterable<Buffer>) {
        for await (const piece of pieces) {
          hash.update(piece);
          yield piece;
        }
      },
      createWriteStream(file, { mode: 0o600 }),
    );
    return await work(file, hash.digest('hex') === sha256);
  } finally {
    await rm(folder, { recursive: true });
  }
}
