import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { openBackup, type BackupProgress } from '../../platform/backup/content.ts';
import type { BackupManifest } from '../../platform/backup/manifest.ts';
import { noSuchShop, recordCommand } from '../command.ts';
import { refuseNoFile } from '../output.ts';

export interface BackupOptions extends BackupProgress {
  shopId: string;
  /** It appears when it is complete, and then replaces an older one. */
  file: string;
}

export interface Backup {
  manifest: BackupManifest;
  files: number;
  /** Files that were removed while they were read. */
  missingFiles: number;
  /** The size of the backup. */
  bytes: number;
}

/** Writes a shop to a file, as of one moment. */
export async function backupShop(db: Database, config: Config, options: BackupOptions): Promise<Backup> {
  const { shopId, file } = options;
  await refuseNoFile(file);
  // It discloses the data of all customers, which the merchant should see.
  await db.transaction((tx) => recordCommand(tx, shopId, 'shop backup'));
  const draft = `${file}.draft`;
  try {
    const made = await db.transaction((tx) => writeBackup(tx, config, draft, options), {
      isolation: 'repeatable read',
    });
    const { size } = await stat(draft);
    await rename(draft, file);
    return { ...made, bytes: size };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeBackup(
  tx: Transaction,
  config: Config,
  draft: string,
  options: BackupOptions,
): Promise<Omit<Backup, 'bytes'>> {
  const content = await openBackup(tx, config, options.shopId, options);
  if (!content) throw noSuchShop(options.shopId);
  // Readable by the owner only: it holds the data of customers.
  await pipeline(content.bytes, createWriteStream(draft, { mode: 0o600, flush: true }));
  return { manifest: content.manifest, ...content.media };
}
