import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, constants, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config.ts';
import { ofLength, openBucket, orMissing } from '../bucket.ts';

/**
 * Where the backups of shops are stored: a folder, or a bucket of an S3-compatible store (`BACKUP_URL`). Both have the
 * same names: <shop>/<moment>-<id>.backup, so that a backup is found without the database, too.
 */
export interface BackupStore {
  /** Why backups can't be stored, in words for the operator; undefined: they can. */
  problem(): Promise<string | undefined>;
  /** Stores a stream in constant memory. A backup appears when it is complete; after a failure nothing is left. */
  write(place: string, bytes: AsyncIterable<Buffer>): Promise<StoredBackup>;
  /** undefined: it is not there. */
  read(place: string, bytes: number): Promise<Readable | undefined>;
  /** Also what an interrupted write has left. */
  remove(place: string): Promise<void>;
}

export interface StoredBackup {
  bytes: number;
  sha256: string;
}

/** The store can't be reached, or has refused. */
export class StoreProblem extends Error {
  override name = 'StoreProblem';
}

const FOLDER = 'file://';

/** undefined: there is none. */
export function openBackupStore({ BACKUP_URL }: Config): BackupStore | undefined {
  if (BACKUP_URL === undefined) return undefined;
  return BACKUP_URL.startsWith(FOLDER)
    ? openBackupFolder(fileURLToPath(BACKUP_URL))
    : openBackupBucket(BACKUP_URL);
}

function openBackupFolder(root: string): BackupStore {
  const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (!('syscall' in (error as object))) throw error;
      throw new StoreProblem((error as Error).message, { cause: error });
    }
  };
  return {
    async problem() {
      try {
        await mkdir(root, { recursive: true, mode: 0o700 });
        await access(root, constants.R_OK | constants.W_OK);
        return undefined;
      } catch (error) {
        return `the folder ${root} can't be written: ${(error as Error).message}`;
      }
    },

    write: (place, bytes) =>
      explained(async () => {
        const target = path.join(root, place);
        await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
        const draft = `${target}.${randomUUID()}`;
        const stored = measured(bytes);
        try {
          // Readable by the owner only: it holds the data of customers.
          await pipeline(stored.bytes, createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true }));
          await rename(draft, target);
        } catch (error) {
          await rm(draft, { force: true });
          throw error;
        }
        return stored.result();
      }),

    read: (place, bytes) =>
      explained(async () => {
        const file = await open(path.join(root, place)).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined;
          throw error;
        });
        return file && ofLength(file.createReadStream(), bytes);
      }),

    remove: (place) =>
      explained(async () => {
        const target = path.join(root, place);
        const folder = path.dirname(target);
        const names = await readdir(folder).catch(() => []);
        // Drafts begin with the name of the backup.
        for (const name of names) {
          if (name.startsWith(path.basename(target))) await rm(path.join(folder, name), { force: true });
        }
      }),
  };
}

/** A part of a large upload; a store takes at most 10,000 of them, so a backup has at most 156 GB. */
const PART_BYTES = 16 * 1_048_576;
const PATIENCE = 120_000;
const ANSWER_WITHIN = 60_000;

function openBackupBucket(address: string): BackupStore {
  const { bucket, prefix, call } = openBucket(address, {
    patience: PATIENCE,
    answerWithin: ANSWER_WITHIN,
    unavailable: (reason) =>
      new StoreProblem(`The store of backups: ${(reason as Error).message}`, { cause: reason }),
  });
  const objectOf = (place: string) => ({ Bucket: bucket, Key: prefix + place });

  const abortUploads = async (place: string) => {
    const begun = await call((client, options) =>
      client.listMultipartUploads({ Bucket: bucket, Prefix: prefix + place }, options),
    );
    for (const { Key, UploadId } of begun.Uploads ?? []) {
      if (Key !== prefix + place) continue;
      await call((client, options) =>
        orMissing(client.abortMultipartUpload({ ...objectOf(place), UploadId }, options)),
      );
    }
  };

  /** The first part is known not to be the last one. */
  const writeParts = async (place: string, parts: AsyncIterator<Buffer>, first: Buffer) => {
    const { UploadId } = await call((client, options) =>
      client.createMultipartUpload({ ...objectOf(place), ContentType: 'application/octet-stream' }, options),
    );
    try {
      const sent: { ETag: string | undefined; PartNumber: number }[] = [];
      for (let part: Buffer | undefined = first; part; part = await nextOf(parts)) {
        const PartNumber = sent.length + 1;
        const Body = part;
        const { ETag } = await call((client, options) =>
          client.uploadPart({ ...objectOf(place), UploadId, PartNumber, Body }, options),
        );
        sent.push({ ETag, PartNumber });
      }
      await call((client, options) =>
        client.completeMultipartUpload(
          { ...objectOf(place), UploadId, MultipartUpload: { Parts: sent } },
          options,
        ),
      );
    } catch (error) {
      // Parts cost as much as a file. Parts that are left now are removed with the failed backup.
      await abortUploads(place).catch(() => {});
      throw error;
    }
  };

  return {
    async problem() {
      try {
        await call((client, options) =>
          client.listObjectsV2({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }, options),
        );
        return undefined;
      } catch (error) {
        return `the bucket ${bucket} can't be used: ${(error as Error).message}`;
      }
    },

    async write(place, bytes) {
      const stored = measured(bytes);
      const parts = partsOf(stored.bytes);
      try {
        const first = (await nextOf(parts)) ?? Buffer.alloc(0);
        if (first.length === PART_BYTES) {
          await writeParts(place, parts, first);
        } else {
          const object = { ...objectOf(place), Body: first, ContentType: 'application/octet-stream' };
          await call((client, options) => client.putObject(object, options));
        }
      } finally {
        // After a failure nobody reads on: what the reading holds is given back.
        await parts.return(undefined);
      }
      return stored.result();
    },

    read: (place, bytes) =>
      call(async (client, options) => {
        const found = await orMissing(client.getObject(objectOf(place), options));
        return found && ofLength(found.Body as Readable, bytes);
      }),

    async remove(place) {
      await abortUploads(place);
      await call((client, options) => client.deleteObject(objectOf(place), options));
    },
  };
}

async function nextOf(parts: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await parts.next();
  return done === true ? undefined : value;
}

/** The same bytes in pieces of one size; only the last one is smaller. */
async function* partsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (let piece of bytes) {
    while (length + piece.length >= PART_BYTES) {
      const missing = PART_BYTES - length;
      yield Buffer.concat([...pieces, piece.subarray(0, missing)]);
      piece = piece.subarray(missing);
      pieces = [];
      length = 0;
    }
    if (piece.length === 0) continue;
    pieces.push(piece);
    length += piece.length;
  }
  if (length > 0) yield Buffer.concat(pieces);
}

/** Counts and hashes bytes on their way. */
function measured(source: AsyncIterable<Buffer>) {
  const hash = createHash('sha256');
  let length = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      hash.update(piece);
      length += piece.length;
      yield piece;
    }
  }
  return { bytes: counted(), result: (): StoredBackup => ({ bytes: length, sha256: hash.digest('hex') }) };
}
