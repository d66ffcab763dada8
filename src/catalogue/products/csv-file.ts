import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { unescapeFormula } from './csv-cells.ts';

/** What spreadsheets put between cells: a semicolon where the comma is the decimal sign, a tab in what is copied. */
export const DELIMITERS = [';', ',', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** A product file that can be read, several times if need be. */
export interface ProductFile {
  /** For messages. */
  name: string;
  delimiter: Delimiter;
  read: () => Readable;
}

/** The file as a whole can't be taken. */
export class FileProblem extends Error {
  override name = 'FileProblem';
}

/** The one that is most often in the first line, outside of quotes; without any, the one that exports have. */
export function delimiterOf(start: string): Delimiter {
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

type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';

/** Spreadsheets on Windows still write the old encoding, in which every sequence of bytes is a text. */
function encodingOf(start: Buffer, isWhole: boolean): Encoding {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (isUtf8(start)) return 'utf-8';
  // The last character may be cut.
  const cuts = isWhole ? [] : [1, 2, 3];
  return cuts.some((cut) => isUtf8(start.subarray(0, -cut))) ? 'utf-8' : 'windows-1252';
}

/** The text of a file that was sent. PostgreSQL has no character 0. */
export function decodedText(bytes: Buffer): string {
  return new TextDecoder(encodingOf(bytes, true)).decode(bytes).replaceAll('\0', '');
}

/** A text that is in memory. */
export function textFile(name: string, text: string): ProductFile {
  return { name, delimiter: delimiterOf(text.slice(0, START)), read: () => Readable.from([text]) };
}

/** As much of a file as its first line has. */
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
      read: () => {
        const bytes = createReadStream(path);
        return encoding === 'utf-8' ? bytes : Readable.from(decodedPieces(bytes, encoding));
      },
    };
  } finally {
    await file.close();
  }
}

async function* decodedPieces(bytes: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
}

export interface FileRow {
  /** The line of the file in which the row ends. */
  line: number;
  cells: string[];
}

interface Read {
  header?: string[];
  row?: FileRow;
  /** How far the file was read since the last one. */
  bytes: number;
}

/** The records of the file, the header first. Quotes that are not closed end it with a clear line. */
export async function* rowsOf({ name, delimiter, read: open }: ProductFile): AsyncGenerator<Read> {
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: 8_000_000,
  });
  const stream = open();
  stream.on('error', (error) => parser.destroy(error));
  stream.pipe(parser);
  let isFirst = true;
  let read = 0;
  try {
    for await (const entry of parser) {
      const { record, info } = entry as { record: string[]; info: { lines: number; bytes: number } };
      const bytes = info.bytes - read;
      read = info.bytes;
      yield isFirst
        ? { header: record, bytes }
        : { row: { line: info.lines, cells: record.map(unescapeFormula) }, bytes };
      isFirst = false;
    }
  } catch (error) {
    const { code, message, lines } = error as Error & { code?: string; lines?: number };
    if (code?.startsWith('CSV_')) throw new FileProblem(`${name}, line ${lines ?? '?'}: ${message}`);
    throw error;
  } finally {
    stream.destroy();
  }
  if (isFirst) throw new FileProblem(`${name} is empty`);
}

export interface FileStart {
  header: string[];
  /** The first rows. */
  sample: FileRow[];
  /** Of the whole file, without the header. */
  rows: number;
}

/** Rows that show what the columns hold. */
const SAMPLE = 500;

/** Reads the whole file once. */
export async function inspectFile(file: ProductFile): Promise<FileStart> {
  const start: FileStart = { header: [], sample: [], rows: 0 };
  for await (const { header, row } of rowsOf(file)) {
    if (header) start.header = header;
    if (!row) continue;
    start.rows++;
    if (start.sample.length < SAMPLE) start.sample.push(row);
  }
  return start;
}
