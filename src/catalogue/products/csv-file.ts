import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { newPauses } from '../../http/pauses.ts';
import { withUpperCharacters } from '../../kernel/windows-1252.ts';
import { unescapeFormula } from './csv-cells.ts';
import { CsvReader, DELIMITERS, type Delimiter, type FileRow, type TableLimits } from './csv-reader.ts';
import { FileProblem } from './file-problem.ts';

/** A product file that can be read several times if necessary. */
export interface ProductFile {
  /** For messages. */
  name: string;
  delimiter: Delimiter;
  limits: TableLimits;
  /** Its text in small pieces. */
  read: () => Iterable<string> | AsyncIterable<string>;
}

/**
 * The limits of a file sent to the admin. The longest texts of a product have 200,000 characters, and a longer cell is
 * reported with its row; a table for people has a few dozen columns. The bytes are those of an upload.
 */
const SENT_LIMITS: TableLimits = { rows: 200_000, columns: 500, cell: 1_000_000, row: 8_000_000 };

/** A file of this machine may have any number of rows, because they are never all in memory. */
const MACHINE_LIMITS: TableLimits = { ...SENT_LIMITS, rows: Infinity };

/** The most frequent one in the first line, outside quotes; without any, the one used by exports. */
function delimiterOf(start: string): Delimiter {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let isQuoted = false;
  for (const character of start) {
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '\n' || character === '\r') break;
    const count = counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  return DELIMITERS.reduce((best, one) => (counts.get(one)! > counts.get(best)! ? one : best));
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Spreadsheets on Windows still write the old encoding, in which every byte sequence is valid text. */
function encodingOf(start: Buffer, isWhole: boolean): Encoding {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  if (isUtf8(start)) return 'utf-8';
  // The last character may be cut.
  const cuts = isWhole ? [] : [1, 2, 3];
  return cuts.some((cut) => isUtf8(start.subarray(0, -cut))) ? 'utf-8' : 'windows-1252';
}

/** Bytes or characters that are decoded or parsed at once, which takes at most a few milliseconds. */
const PIECE = 16_384;

/** Bytes of a file that are read at once: each read costs as much as parsing a piece. */
const READ_AT_ONCE = 16 * PIECE;

function* piecesOf<Piece>(length: number, cut: (start: number, end: number) => Piece): Generator<Piece> {
  for (let start = 0; start < length; start += PIECE) yield cut(start, start + PIECE);
}

/** The text of an uploaded file. */
export async function decodedText(bytes: Buffer): Promise<string> {
  const pause = newPauses();
  const pieces: string[] = [];
  const parts = piecesOf(bytes.length, (start, end) => bytes.subarray(start, end));
  for await (const piece of decodedPieces(parts, encodingOf(bytes, true))) {
    pieces.push(piece);
    await pause();
  }
  return pieces.join('');
}

/** A text that is in memory. */
export function textFile(name: string, text: string): ProductFile {
  return {
    name,
    delimiter: delimiterOf(text.slice(0, START)),
    limits: SENT_LIMITS,
    read: () => piecesOf(text.length, (start, end) => text.slice(start, end)),
  };
}

/** Enough of a file for its first line. */
const START = 65_536;

/** A file of any size: it is read piece by piece. */
export async function openProductFile(path: string): Promise<ProductFile> {
  const file = await open(path).catch((error: unknown) => {
    const { code } = error as { code?: string };
    if (code === 'ENOENT') throw new FileProblem(`${path} does not exist`);
    throw error;
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START), 0, START, 0);
    const start = buffer.subarray(0, bytesRead);
    const encoding = encodingOf(start, bytesRead < START);
    return {
      name: path,
      delimiter: delimiterOf(new TextDecoder(encoding).decode(start)),
      limits: MACHINE_LIMITS,
      read: () => decodedPieces(piecesIn(path), encoding),
    };
  } finally {
    await file.close();
  }
}

async function* piecesIn(path: string): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: READ_AT_ONCE });
  for await (const chunk of chunks) {
    yield* piecesOf(chunk.length, (start, end) => chunk.subarray(start, end));
  }
}

/** PostgreSQL has no character 0. */
async function* decodedPieces(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true }).split('\0').join('');
    yield encoding === 'windows-1252' ? withUpperCharacters(text) : text;
  }
  yield decoder.decode();
}

interface Read {
  header?: string[];
  row?: FileRow;
  /** The bytes read since the last one. */
  bytes: number;
}

/** The records of the file, the header first. Other requests are served between them. */
export async function* rowsOf({ name, delimiter, limits, read }: ProductFile): AsyncGenerator<Read> {
  const reader = new CsvReader(delimiter, limits);
  const pause = newPauses();
  let isFirst = true;
  let bytes = 0;
  const toRead = ({ line, cells }: FileRow): Read => {
    const entry = isFirst
      ? { header: cells, bytes }
      : { row: { line, cells: cells.map(unescapeFormula) }, bytes };
    isFirst = false;
    bytes = 0;
    return entry;
  };
  try {
    for await (const piece of read()) {
      bytes += Buffer.byteLength(piece);
      for (const row of reader.read(piece)) {
        yield toRead(row);
        await pause();
      }
      await pause();
    }
    for (const row of reader.end()) yield toRead(row);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    throw new FileProblem(`${name}, ${error.message}`, error.code, error.values);
  }
  if (isFirst) throw new FileProblem(`${name} is empty`, 'empty');
}

export interface FileStart {
  header: string[];
  /** The first rows. */
  sample: FileRow[];
}

/** Rows that show the content of the columns, up to a number of characters. */
const SAMPLE_ROWS = 500;
const SAMPLE_CHARACTERS = 1_000_000;

/** Reads the first rows. */
export async function readStart(file: ProductFile): Promise<FileStart> {
  return inspectFile(file, { isSample: true });
}

/** Reads the whole file once, and counts its rows without the header. */
export async function inspectFile(
  file: ProductFile,
  { isSample = false } = {},
): Promise<FileStart & { rows: number }> {
  const start: FileStart & { rows: number } = { header: [], sample: [], rows: 0 };
  let characters = 0;
  for await (const { header, row } of rowsOf(file)) {
    if (header) start.header = header;
    if (!row) continue;
    start.rows++;
    if (start.sample.length < SAMPLE_ROWS && characters < SAMPLE_CHARACTERS) {
      start.sample.push(row);
      characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
    } else if (isSample) break;
  }
  return start;
}
