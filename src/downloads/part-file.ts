import { open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { privatePart, type ByteRange, type MediaStorage } from '../platform/media/storage.ts';

/**
 * Large files in the storage of media, in parts: so one of two gigabytes takes the memory of a part, in a folder and in
 * a bucket, and backups, copies and the deletion of a shop carry them as they carry pictures. `/media` serves no part.
 */
export const PART_BYTES = 4 * 1_048_576;

/** Stores the file at `path` below a new key. When it fails, the parts are orphans, which are removed with others. */
export async function storeInParts(
  media: MediaStorage,
  shopId: string,
  key: string,
  path: string,
): Promise<number> {
  const file = await open(path);
  try {
    let bytes = 0;
    for (let part = 0; ; part++) {
      const piece = await readPiece(file);
      if (piece.length > 0) await media.write(shopId, key, [{ file: privatePart(part), bytes: piece }]);
      bytes += piece.length;
      if (piece.length < PART_BYTES) return bytes;
    }
  } finally {
    await file.close();
  }
}

/** The next part; less than one only at the end of the file. */
async function readPiece(file: FileHandle): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(PART_BYTES);
  let length = 0;
  while (length < PART_BYTES) {
    const { bytesRead } = await file.read(piece, length, PART_BYTES - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return piece.subarray(0, length);
}

/** These bytes of a stored file, part by part. The stream fails when a part was removed meanwhile. */
export function readParts(
  media: MediaStorage,
  shopId: string,
  key: string,
  { start, end }: ByteRange,
): Readable {
  async function* bytes() {
    for (let at = start; at <= end;) {
      const part = Math.floor(at / PART_BYTES);
      const first = part * PART_BYTES;
      const range = { start: at - first, end: Math.min(end - first, PART_BYTES - 1) };
      const content = await media.read({ shopId, folder: key, file: privatePart(part) }, range);
      if (!content) throw new Error('The file was replaced while it was downloaded');
      yield* content;
      at = first + range.end + 1;
    }
  }
  return Readable.from(bytes(), { objectMode: false });
}
