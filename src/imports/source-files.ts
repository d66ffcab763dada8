import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { openProductFile, readStart, type ProductFile } from '../catalogue/products/csv-file.ts';
import { FileProblem } from '../catalogue/products/file-problem.ts';
import type { ImportRecord, Read } from './records.ts';
import { columnIndexes } from './table.ts';

/** A table of an export, with the names of its columns in lower case. */
export interface SourceFile {
  file: ProductFile;
  columns: ReadonlyMap<string, number>;
  bytes: number;
}

const MAX_FILES = 1_000;
const MAX_ENTRIES = 5_000;
/** Bytes that an archive may unpack to. */
const MAX_UNPACKED = 8 * 1024 ** 3;
const ZIP = /\.zip$/i;
const TABLE = /\.(?:csv|tsv|txt)$/i;

/**
 * Opens the tables of an export: a file, a folder, or a zip; zips are unpacked into a folder, which is deleted when
 * `work` ends.
 */
export async function withSourceFiles<Result>(
  place: string,
  work: (files: readonly SourceFile[]) => Promise<Result>,
  { maxUnpacked = MAX_UNPACKED } = {},
): Promise<Result> {
  const found = await stat(place).catch(() => undefined);
  if (!found) throw new FileProblem(`${place} does not exist`);
  const zips = found.isDirectory() ? await filesIn(place, ZIP) : ZIP.test(place) ? [place] : [];
  const tables = found.isDirectory() ? await filesIn(place, TABLE) : zips.length > 0 ? [] : [place];
  if (zips.length === 0) return work(await openAll(tables));
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-import-'));
  try {
    const unpacking = { bytes: 0, files: 0, maxBytes: maxUnpacked };
    for (const zip of zips) await unpack(zip, folder, unpacking);
    return await work(await openAll([...tables, ...(await filesIn(folder, TABLE))]));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function filesIn(folder: string, kind: RegExp): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => kind.test(name)).toSorted();
  if (names.length > MAX_FILES) throw new FileProblem(`The export has more than ${MAX_FILES} files`);
  return names.map((name) => path.join(folder, name));
}

async function openAll(places: readonly string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const place of places) {
    const { size } = await stat(place);
    if (size === 0) continue;
    const opened = await openProductFile(place);
    const file = { ...opened, name: path.basename(place) };
    const { header } = await readStart(file);
    files.push({ file, columns: columnIndexes(header), bytes: size });
  }
  return files;
}

/** Files are named by their order in the archive, so no name of the archive becomes a path of this machine. */
async function unpack(
  archive: string,
  folder: string,
  /** Of all archives together. */
  unpacking: { bytes: number; files: number; maxBytes: number },
): Promise<void> {
  const name = path.basename(archive);
  const zip = await openPromise(archive).catch((error: unknown) => {
    throw new FileProblem(`${name} is no readable zip: ${(error as Error).message}`);
  });
  if (zip.entryCount > MAX_ENTRIES) throw new FileProblem(`${name} holds more than ${MAX_ENTRIES} files`);
  for await (const entry of zip.eachEntry()) {
    const entryName = path.posix.basename(entry.fileName);
    if (entry.fileName.startsWith('__MACOSX/') || !TABLE.test(entryName)) continue;
    const bound = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        unpacking.bytes += chunk.length;
        if (unpacking.bytes > unpacking.maxBytes) done(new FileProblem(`${name} unpacks to too many bytes`));
        else done(null, chunk);
      },
    });
    const plain = entryName.replaceAll(/[^\w.-]+/g, '_').slice(-80);
    const target = path.join(folder, `${String(unpacking.files++).padStart(4, '0')}-${plain}`);
    await pipeline(await zip.openReadStreamPromise(entry), bound, createWriteStream(target, { flags: 'wx' }));
  }
}

/** The records of all files that hold them. */
export async function* filesWith<Kind extends ImportRecord>(
  files: readonly SourceFile[],
  holds: (file: SourceFile) => boolean,
  read: (file: ProductFile) => AsyncIterable<Read<Kind>>,
): AsyncGenerator<Read<Kind>> {
  for (const source of files) if (holds(source)) yield* read(source.file);
}
