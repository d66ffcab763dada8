import { crc32 } from 'node:zlib';

export interface ZipEntry {
  /** Unique among the entries. */
  name: string;
  bytes: Buffer;
  at: Date;
}

/** Larger archives need another format (ZIP64). */
const MAX_BYTES = 0xffff_ffff;
const MAX_ENTRIES = 0xffff;

/** The version of the format that a reader must know, and the mark that names are in UTF-8. */
const VERSION = 20;
const UTF8 = 0x0800;

/**
 * A ZIP archive, entry by entry: only one of them is in memory. They are stored as they are, because PDFs and pictures
 * are compressed already. Throws where the archive would become larger than its format allows; the reader of the
 * stream then gets no end, and no program opens the file.
 */
export async function* zipArchive(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer, void, undefined> {
  const directory: Buffer[] = [];
  let offset = 0;
  let count = 0;
  for await (const { name, bytes, at } of entries) {
    const encoded = Buffer.from(name, 'utf8');
    const facts = factsOf(bytes, encoded, at);
    const head = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), facts, encoded]);
    directory.push(directoryEntry(facts, encoded, offset));
    offset += head.length + bytes.length;
    count++;
    if (offset > MAX_BYTES || count > MAX_ENTRIES) throw new Error('the archive is too large for its format');
    yield head;
    yield bytes;
  }
  const listed = Buffer.concat(directory);
  yield listed;
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  yield end;
}

/** The facts of an entry as they stand before it and again in the directory. */
function factsOf(bytes: Buffer, name: Buffer, at: Date): Buffer {
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(VERSION, 0);
  facts.writeUInt16LE(UTF8, 2);
  const seconds = Math.floor(at.getUTCSeconds() / 2);
  facts.writeUInt16LE((at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | seconds, 6);
  const years = Math.max(0, at.getUTCFullYear() - 1980);
  facts.writeUInt16LE((years << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(), 8);
  facts.writeUInt32LE(crc32(bytes), 10);
  facts.writeUInt32LE(bytes.length, 14);
  facts.writeUInt32LE(bytes.length, 18);
  facts.writeUInt16LE(name.length, 22);
  return facts;
}

function directoryEntry(facts: Buffer, name: Buffer, offset: number): Buffer {
  const version = Buffer.alloc(2);
  version.writeUInt16LE(VERSION);
  const place = Buffer.alloc(14);
  place.writeUInt32LE(offset, 10);
  return Buffer.concat([Buffer.from('PK\u0001\u0002', 'latin1'), version, facts, place, name]);
}
