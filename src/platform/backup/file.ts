import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

/*
 * The file of a backup is a row of chunks. A chunk is a line of text, the bytes that it announces, and a line break:
 *
 *   <SHA-256 of the rest> {"number":7,"part":"rows","table":"product","from":501,"rows":500,"bytes":51234}
 *   <51234 bytes>
 *
 * Every chunk is checked before anything in it is used, so a damaged file is noticed with the place of the damage. The
 * last chunk holds the checksum over the checksums of all others: a chunk that is missing or moved is noticed too.
 */

export type ChunkHead =
  /** The table of contents, as JSON. */
  | { part: 'manifest' }
  /** Rows of a table, as compressed lines of JSON. `from` is the number of the first one, beginning with 1. */
  | { part: 'rows'; table: string; from: number; rows: number }
  /** A media file as it is. */
  | { part: 'media'; folder: string; file: string }
  | { part: 'end'; sha256: string };

export interface Chunk {
  head: ChunkHead;
  content: Buffer;
  /** The length of the chunk in the file. */
  bytes: number;
}

/** The file can't be used; the message says where it is damaged, or what to do. */
export class BackupProblem extends Error {
  override name = 'BackupProblem';
}

const MAX_LINE_LENGTH = 1_024;

/** More than any row has: a damaged length must not fill the memory. */
const MAX_CONTENT_SIZE = 256 * 1_048_576;

const LINE = /^([0-9a-f]{64}) (\{.*\})$/;

const LINE_BREAK = Buffer.from('\n');

/** The bytes of the file, with the chunk that ends it. */
export async function* encodeChunks(
  chunks: AsyncIterable<Pick<Chunk, 'head' | 'content'>>,
): AsyncGenerator<Buffer> {
  const whole = createHash('sha256');
  let number = 0;
  const encode = (head: ChunkHead, content: Buffer) => {
    const text = JSON.stringify({ number: number++, ...head, bytes: content.length });
    const checksum = checksumOf(text, content);
    whole.update(checksum);
    return [Buffer.from(`${checksum} ${text}\n`), content, LINE_BREAK];
  };
  for await (const { head, content } of chunks) yield* encode(head, content);
  yield* encode({ part: 'end', sha256: whole.copy().digest('hex') }, Buffer.alloc(0));
}

/** The chunks of a file up to its end, each checked. Throws a BackupProblem that names the place of the damage. */
export async function* readChunks(path: string): AsyncGenerator<Chunk> {
  const file = await open(path).catch((error: Error) => {
    throw new BackupProblem(`Cannot read ${path}: ${error.message}`, { cause: error });
  });
  try {
    const whole = createHash('sha256');
    let at = 0;
    let place = 'at its beginning';
    for (let number = 0; ; number++) {
      const damage = (problem: string) =>
        new BackupProblem(`${path} is damaged at byte ${at}, ${place}: ${problem}.`);
      const line = await readLine(file, at, damage);
      const [, checksum, text] = LINE.exec(line) ?? [];
      const found = text === undefined ? undefined : parseHead(text);
      if (!found) throw damage(number === 0 ? 'no backup begins like this' : 'a chunk should begin here');
      const { head, bytes } = found;
      place = `in ${chunkName(head)}`;
      const length = line.length + 1 + bytes + 1;
      const content = await readBytes(file, at + line.length + 1, bytes + 1);
      if (content.length < bytes + 1) throw damage('it was cut off here');
      const actual = await checksumInSteps(text!, content.subarray(0, bytes));
      const isWhole = actual === checksum && content[bytes] === 10;
      if (!isWhole || found.number !== number) throw damage('the checksum is wrong');
      if (head.part === 'end' && head.sha256 !== whole.digest('hex')) throw damage('chunks are missing');
      yield { head, content: content.subarray(0, bytes), bytes: length };
      at += length;
      if (head.part === 'end') {
        place = 'behind its end';
        if ((await readBytes(file, at, 1)).length > 0) throw damage('nothing should follow');
        return;
      }
      whole.update(checksum);
      place = `behind ${chunkName(head)}`;
    }
  } finally {
    await file.close();
  }
}

/** For messages: `table product, rows 501 to 1000`. */
export function chunkName(head: ChunkHead): string {
  switch (head.part) {
    case 'rows':
      return `table ${toSingleLine(head.table)}, rows ${head.from} to ${head.from + head.rows - 1}`;
    case 'media':
      return `media file ${toSingleLine(`${head.folder}/${head.file}`)}`;
    case 'manifest':
      return 'the manifest';
    case 'end':
      return 'the end';
  }
}

/** Text from a backup, in one line of a message. */
export function toSingleLine(text: string): string {
  const line = text.replaceAll(/\p{Cc}+/gu, ' ');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** Covers the line without its checksum, the content, and the line breaks after both. */
function checksumOf(text: string, content: Buffer): string {
  return createHash('sha256').update(`${text}\n`).update(content).update(LINE_BREAK).digest('hex');
}

/** Bytes that are hashed before others are served: a service restores shops, too. */
const STEP = 4 * 1_048_576;

async function checksumInSteps(text: string, content: Buffer): Promise<string> {
  if (content.length <= STEP) return checksumOf(text, content);
  const hash = createHash('sha256').update(`${text}\n`);
  for (let at = 0; at < content.length; at += STEP) {
    hash.update(content.subarray(at, at + STEP));
    await setImmediate();
  }
  return hash.update(LINE_BREAK).digest('hex');
}

/** A damaged head may say anything; one that passes is still checked against the checksum. */
function parseHead(text: string): { head: ChunkHead; number: number; bytes: number } | undefined {
  try {
    const { number, bytes, ...head } = JSON.parse(text) as ChunkHead & { number: number; bytes: number };
    const isPossible = Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_CONTENT_SIZE;
    return isPossible && isHead(head) ? { head, number, bytes } : undefined;
  } catch {
    return undefined;
  }
}

/** Checksums detect accidental damage, not forgery. */
function isHead(head: ChunkHead): boolean {
  switch (head.part) {
    case 'manifest':
      return true;
    case 'rows':
      return typeof head.table === 'string' && Number.isInteger(head.from) && Number.isInteger(head.rows);
    case 'media':
      return typeof head.folder === 'string' && typeof head.file === 'string';
    case 'end':
      return typeof head.sha256 === 'string';
    default:
      return false;
  }
}

async function readLine(file: FileHandle, at: number, damage: (problem: string) => Error): Promise<string> {
  const bytes = await readBytes(file, at, MAX_LINE_LENGTH);
  const end = bytes.indexOf(LINE_BREAK);
  if (end !== -1) return bytes.toString('latin1', 0, end);
  throw damage(bytes.length < MAX_LINE_LENGTH ? 'it was cut off here' : 'a chunk should begin here');
}

/** Fewer than `length` if the file ends before. */
async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
