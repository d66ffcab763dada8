import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BackupProblem, encodeChunks, readChunks, type Chunk } from './file.ts';
import { checkBackup } from './manifest.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-backup-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const manifest = {
  format: 'kontor shop backup',
  version: 1,
  kontor: '9.9.9',
  schema: '0001',
  shopId: 'MyShop',
  createdAt: '2026-11-17T00:00:00Z',
  tables: [],
};
const parts: Pick<Chunk, 'head' | 'content'>[] = [
  { head: { part: 'manifest' }, content: Buffer.from(JSON.stringify(manifest)) },
  { head: { part: 'rows', table: 'shop', from: 1, rows: 1 }, content: Buffer.from('some\nrows') },
  { head: { part: 'rows', table: 'product', from: 1, rows: 2 }, content: Buffer.from([0, 10, 255]) },
  { head: { part: 'rows', table: 'product', from: 3, rows: 5 }, content: Buffer.from('more') },
  { head: { part: 'media', folder: 'files', file: 'empty.png' }, content: Buffer.alloc(0) },
  { head: { part: 'media', folder: 'files', file: 'logo.png' }, content: Buffer.alloc(3_000, 10) },
];

const encoded = (chunks: typeof parts) => buffer(Readable.from(encodeChunks(Readable.from(chunks))));

async function written(bytes: Buffer): Promise<string> {
  const file = path.join(folder, 'shop.backup');
  await writeFile(file, bytes);
  return file;
}

async function readAll(bytes: Buffer): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of readChunks(await written(bytes))) chunks.push(chunk);
  return chunks;
}

/** What is said about a file, without its name. */
async function problemOf(bytes: Buffer): Promise<string> {
  const error: unknown = await checkBackup(await written(bytes)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BackupProblem);
  return (error as BackupProblem).message.replace(path.join(folder, 'shop.backup'), 'FILE');
}

/** Where each chunk of the whole file begins. */
async function begins(bytes: Buffer): Promise<number[]> {
  let at = 0;
  return (await readAll(bytes)).map((chunk) => (at += chunk.bytes) - chunk.bytes);
}

const PLACES = [
  'the manifest',
  'table shop, rows 1 to 1',
  'table product, rows 1 to 2',
  'table product, rows 3 to 7',
  'media file files/empty.png',
  'media file files/logo.png',
  'the end',
];

test('chunks come back as they were written', async () => {
  const bytes = await encoded(parts);
  const chunks = await readAll(bytes);
  expect(chunks.slice(0, -1).map(({ head, content }) => ({ head, content }))).toEqual(parts);
  expect(chunks.at(-1)!.head).toEqual({ part: 'end', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)).toBe(bytes.length);
});

describe('a damaged file', () => {
  let whole: Buffer;
  let starts: number[];
  beforeAll(async () => {
    whole = await encoded(parts);
    starts = await begins(whole);
  });

  test('is noticed wherever it was cut off, with the byte and the part', async () => {
    for (const [index, start] of starts.entries()) {
      const end = starts[index + 1] ?? whole.length;
      const before = index === 0 ? 'at its beginning' : `behind ${PLACES[index - 1]}`;
      const line = whole.indexOf('\n', start) + 1;
      for (const length of [start, start + 1, line - 1]) {
        expect(await problemOf(whole.subarray(0, length))).toBe(
          `FILE is damaged at byte ${start}, ${before}: it was cut off here.`,
        );
      }
      for (const length of [line, Math.floor((line + end) / 2), end - 1]) {
        expect(await problemOf(whole.subarray(0, length))).toBe(
          `FILE is damaged at byte ${start}, in ${PLACES[index]}: it was cut off here.`,
        );
      }
    }
  });

  test('is noticed whichever bit has changed, with the chunk it is in', async () => {
    // Every byte of some heads, then here and there.
    for (let at = 0; at < whole.length; at += at < 400 ? 1 : 23) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 1 << (at % 8);
      const start = starts.findLast((one) => one <= at)!;
      expect(await problemOf(changed)).toContain(`FILE is damaged at byte ${start}, `);
    }
  });

  test('is noticed when a chunk is missing, comes twice, or others follow the end', async () => {
    const [, , third, fourth] = starts as [number, number, number, number];
    const piece = whole.subarray(third, fourth);
    expect(await problemOf(Buffer.concat([whole.subarray(0, third), whole.subarray(fourth)]))).toBe(
      `FILE is damaged at byte ${third}, in table product, rows 3 to 7: the checksum is wrong.`,
    );
    expect(await problemOf(Buffer.concat([whole.subarray(0, fourth), piece, whole.subarray(fourth)]))).toBe(
      `FILE is damaged at byte ${fourth}, in table product, rows 1 to 2: the checksum is wrong.`,
    );
    expect(await problemOf(Buffer.concat([whole, piece]))).toBe(
      `FILE is damaged at byte ${whole.length}, behind its end: nothing should follow.`,
    );
    // A chunk of another backup fits by its number, but not into the whole.
    const other = await encoded(parts.with(2, { ...parts[2]!, content: Buffer.from([0, 10, 254]) }));
    const mixed = Buffer.concat([
      whole.subarray(0, third),
      other.subarray(third, fourth),
      whole.subarray(fourth),
    ]);
    expect(await problemOf(mixed)).toBe(
      `FILE is damaged at byte ${starts.at(-1)}, in the end: chunks are missing.`,
    );
  });
});

test('what is no backup is refused, and what a newer version has made', async () => {
  expect(await problemOf(Buffer.alloc(0))).toBe(
    'FILE is damaged at byte 0, at its beginning: it was cut off here.',
  );
  expect(await problemOf(Buffer.from('name: Quay\n'))).toBe(
    'FILE is damaged at byte 0, at its beginning: no backup begins like this.',
  );
  const file = path.join(folder, 'nowhere.backup');
  await expect(checkBackup(file)).rejects.toThrow(`Cannot read ${file}: ENOENT`);
  const later = { ...manifest, version: 2 };
  expect(
    await problemOf(await encoded([{ ...parts[0]!, content: Buffer.from(JSON.stringify(later)) }])),
  ).toBe(
    'FILE was made by Kontor 9.9.9 in a format that this version does not know (2). Update Kontor, then restore it.',
  );
  expect(await problemOf(await encoded([{ ...parts[0]!, content: Buffer.from('{}') }]))).toBe(
    'FILE is no backup of a shop.',
  );
});

test('a length that was damaged does not fill the memory', async () => {
  const whole = await encoded(parts);
  const text = whole.toString('latin1').replace('"bytes":', '"bytes":999');
  expect(await problemOf(Buffer.from(text, 'latin1'))).toContain('FILE is damaged at byte 0, ');
  expect(await readFile(path.join(folder, 'shop.backup'))).toHaveLength(whole.length + 3);
});
