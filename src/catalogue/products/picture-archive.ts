import { buffer } from 'node:stream/consumers';
import { openPromise, type Entry } from 'yauzl';
import { isPictureName, MAX_PICTURE_BYTES } from './picture-addresses.ts';

/** Pictures in a zip, and the table of products if there is one among them. */
export interface ArchiveFile {
  /** Without folders. */
  name: string;
  kind: 'picture' | 'table';
  bytes: Buffer;
}

/** Why an archive is refused. */
export class ArchiveProblem extends Error {
  override name = 'ArchiveProblem';
}

const MAX_ENTRIES = 5_000;

/**
 * Pictures are already compressed, and a table shrinks to a tenth of its size. An archive that expands more was made
 * to fill the memory or the disk.
 */
const MAX_GROWTH = 20;

/**
 * Reads the files of an archive one by one. Files that are neither pictures nor tables are skipped, as are those added
 * by operating systems. The library refuses an entry larger than it declares.
 */
export async function* filesIn(path: string): AsyncGenerator<ArchiveFile> {
  try {
    const archive = await openPromise(path);
    let unpacked = 0;
    // Its iterator closes it, however the loop ends.
    for await (const entry of archive.eachEntry()) {
      if (archive.entryCount > MAX_ENTRIES)
        throw new ArchiveProblem(`it holds more than ${MAX_ENTRIES} files`);
      const name = baseName(entry);
      const kind = kindOf(name);
      if (kind === undefined) continue;
      if (entry.uncompressedSize > MAX_PICTURE_BYTES) throw new ArchiveProblem(`${name} has more than 10 MB`);
      unpacked += entry.uncompressedSize;
      // A small archive may hold one large file.
      if (unpacked > MAX_GROWTH * archive.fileSize + MAX_PICTURE_BYTES)
        throw new ArchiveProblem(`it unpacks to more than ${MAX_GROWTH} times its own size`);
      const bytes = await buffer(await archive.openReadStreamPromise(entry));
      yield { name, kind, bytes };
    }
  } catch (error) {
    if (error instanceof ArchiveProblem) throw error;
    // A zip comes from an unknown program: content that the library can't read is a refusal, not a defect of ours.
    throw new ArchiveProblem((error as Error).message.slice(0, 200));
  }
}

function kindOf(name: string): ArchiveFile['kind'] | undefined {
  if (name.startsWith('.')) return undefined;
  if (isPictureName(name)) return 'picture';
  return /\.(?:csv|tsv|txt)$/i.test(name) ? 'table' : undefined;
}

function baseName({ fileName }: Entry): string {
  if (fileName.startsWith('__MACOSX/')) return '';
  return fileName.slice(fileName.lastIndexOf('/') + 1).normalize('NFC');
}
