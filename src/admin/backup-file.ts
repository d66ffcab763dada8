import { dayOf } from '../http/dates.ts';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Transaction } from '../db/database.ts';
import { tooManyRequests } from '../http/errors.ts';
import { openBackup } from '../platform/backup/content.ts';
import type { AdminFile } from './page.ts';
import type { Visit } from './visit.ts';
import type { FormRequest } from '../http/page-kit.ts';

const DOWNLOADS_PER_HOUR = 10;

/** Milliseconds: a slower download would hold a snapshot of the database for too long. */
const MAX_DOWNLOAD_TIME = 3_600_000;

type Source = Pick<Visit, 'db' | 'config'>;

/**
 * The backup of a shop, for its owner and for the operator of the installation. `record` logs in the shop who took it.
 */
export async function backupFile(
  source: Source,
  shopId: string,
  { isWithinLimit }: Pick<FormRequest, 'isWithinLimit'>,
  record: (tx: Transaction) => Promise<void>,
): Promise<AdminFile> {
  if (!(await isWithinLimit(`backup/${shopId}`, DOWNLOADS_PER_HOUR))) {
    throw tooManyRequests(DOWNLOADS_PER_HOUR, 3600, 'downloads');
  }
  // It discloses the data of all customers, which the merchant should see.
  await source.db.transaction(record);
  const day = dayOf(source.db.now);
  return {
    type: 'application/octet-stream',
    content: backupStream(source, shopId),
    fileName: `${shopId}-${day}.kontor`,
  };
}

/** Streams the bytes. An error ends the download; the file then lacks its end, which a restore detects. */
function backupStream({ db, config }: Source, shopId: string): Readable {
  const download = new PassThrough();
  db.transaction(
    async (tx) => {
      const content = await openBackup(tx, config, shopId);
      if (!content) throw new Error(`the shop ${shopId} was deleted before its backup began`);
      await pipeline(content.bytes, download, { signal: AbortSignal.timeout(MAX_DOWNLOAD_TIME) });
    },
    { isolation: 'repeatable read' },
  ).catch((error: Error) => download.destroy(error));
  return download;
}
