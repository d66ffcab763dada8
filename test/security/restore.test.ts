import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeChunks, readChunks, type Chunk } from '../../src/platform/backup/file.ts';
import type { BackupManifest } from '../../src/platform/backup/manifest.ts';
import { unpackRows } from '../../src/platform/backup/unpack-rows.ts';
import { givenShop } from '../builders.ts';
import { changesNothing } from '../carts.ts';
import { kontorHere } from '../command.ts';
import { ofTheDay } from '../seed.ts';
import { databaseEnvironment, startService, type Service } from '../service.ts';
import { givenBackup } from '../shop-copies.ts';

/**
 * A backup may come from somebody else. Its checksums are right, because anybody can compute them; what it holds may be
 * anything.
 */

const MEGABYTE = 1_048_576;

let service: Service;
let backup: string;
beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Quay');
  backup = await givenBackup(service, 'Quay');
});
afterAll(() => service.close());

type NewChunk = Pick<Chunk, 'head' | 'content'>;

/** A backup in which each chunk was replaced, with checksums that are right. */
async function forged(change: (chunk: NewChunk) => NewChunk): Promise<string> {
  async function* chunks(): AsyncGenerator<NewChunk> {
    for await (const { head, content } of readChunks(backup)) {
      if (head.part !== 'end') yield change({ head, content });
    }
  }
  const file = path.join(service.config.KONTOR_DATA, 'forged.backup');
  await writeFile(file, Readable.from(encodeChunks(chunks())));
  return file;
}

const forgedManifest = (change: (manifest: BackupManifest) => unknown) =>
  forged(({ head, content }) => ({
    head,
    content:
      head.part === 'manifest'
        ? Buffer.from(JSON.stringify(change(JSON.parse(content.toString()) as BackupManifest)))
        : content,
  }));

const forgedRows = (table: string, change: (rows: Buffer) => Buffer) =>
  forged(({ head, content }) => ({
    head,
    content: head.part === 'rows' && head.table === table ? change(content) : content,
  }));

/** The one line that the command prints. Nothing has changed. */
async function refusalOf(file: string): Promise<string> {
  const { code, stdout, stderr } = await changesNothing(service, () =>
    kontorHere(['shop', 'restore', file, '--as', 'Copy'], {
      KONTOR_DATA: service.config.KONTOR_DATA,
      ...databaseEnvironment(service.database),
    }),
  );
  expect([code, stdout]).toEqual([1, '']);
  const lines = stderr.replaceAll(/^.*\r/gm, '').trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  return lines[0]!.replace(file, 'FILE');
}

describe('rows that unpack to very much', () => {
  const LONG = `["${'x'.repeat(2_000)}"]\n`;

  /**
   * `megabytes` of a text, compressed. A gzip file may have several members, which are unpacked one after the other, so
   * one megabyte is compressed and repeated: compressing all of them takes longer than the tests.
   */
  const bomb = (megabytes: number, text: string) => {
    const member = gzipSync(Buffer.alloc(MEGABYTE, text), { level: 9 });
    return Buffer.concat(Array.from({ length: megabytes }, () => member));
  };

  const peakOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
    await work();
    clearInterval(timer);
    return Math.max(peak, process.memoryUsage().rss) - before;
  };

  test.each([
    ['one endless row', 'x', 200, 1, 'a row is longer than any row of a shop'],
    ['more rows than the chunk says', '[]\n', 200, 5, 'there are more rows than it says'],
    ['more than the whole backup may', LONG, 200, 1e9, 'its rows come to more than those of any shop'],
  ])('are refused: %s', async (_what, text, megabytes, rows, problem) => {
    const content = bomb(megabytes, text);
    expect(content.length).toBeLessThan(MEGABYTE);
    let message = '';
    const read = async () => {
      for await (const lines of unpackRows(content, rows, { bytesLeft: 80 * MEGABYTE })) {
        expect(lines.join('\n').length).toBeLessThan(2 * MEGABYTE);
      }
    };
    const peak = await peakOf(() => read().catch((error: Error) => (message = error.message)));
    expect(message).toBe(problem);
    expect(peak).toBeLessThan(180 * MEGABYTE);
  });

  test('are refused by the command in one line', async () => {
    const file = await forgedRows('shop', () => bomb(70, 'x'));
    expect((await readFile(file)).length).toBeLessThan(MEGABYTE);
    expect(await refusalOf(file)).toBe(
      'kontor: FILE is damaged in table shop, rows 1 to 1: a row is longer than any row of a shop.',
    );
  });
});

describe('what somebody has made up is refused in one line:', () => {
  const renamed = (table: string, from: string, to: string) =>
    forgedManifest((manifest) => ({
      ...manifest,
      tables: manifest.tables.map((one) =>
        one.name === table
          ? { ...one, columns: one.columns.map((column) => (column === from ? to : column)) }
          : one,
      ),
    }));

  const COLUMNS: [column: string, named: string][] = [
    ['currency"); drop table shop; --', 'currency"); drop table shop; --'],
    ['shop_id', 'shop_id'],
    ['locales', 'locales'],
    ['two\nlines\u001b[31m', 'two lines [31m'],
  ];
  test.each(ofTheDay(COLUMNS, 2))('a column %j', async (column, named) => {
    expect(await refusalOf(await renamed('shop', 'created_at', column))).toBe(
      `kontor: FILE cannot be restored: its table shop has a column that does not belong there, ${named}.`,
    );
  });

  test('no manifest', async () => {
    expect(await refusalOf(await forgedManifest(() => null))).toBe('kontor: FILE is no backup of a shop.');
  });

  const MANIFESTS: [what: string, change: (manifest: BackupManifest) => unknown][] = [
    ['a manifest without tables', (m) => ({ ...m, tables: undefined })],
    ['a table that is none', (m) => ({ ...m, tables: [null] })],
    ['columns that are none', (m) => ({ ...m, tables: [{ name: 'shop', columns: [7], rows: 1 }] })],
    ['an id that is a pattern', (m) => ({ ...m, shopId: '(a+)+(' })],
  ];
  test.each(ofTheDay(MANIFESTS, 2))('%s', async (_what, change) => {
    expect(await refusalOf(await forgedManifest(change))).toBe(
      'kontor: FILE is damaged: its manifest is not complete.',
    );
  });

  const rewritten = (change: (line: string) => string) => (rows: Buffer) =>
    gzipSync(change(gunzipSync(rows).toString()));

  type BadRows = [what: string, change: (rows: Buffer) => Buffer, problem: string];
  const NOT_PACKED: BadRows[] = [
    ['rows that are not compressed', () => Buffer.from('[]\n'), 'it cannot be unpacked.'],
    ['rows that were cut off', (rows) => rows.subarray(0, -9), 'it cannot be unpacked.'],
  ];
  const REFUSED_BY_THE_DATABASE: BadRows[] = [
    ['no JSON', rewritten(() => 'nonsense\n'), 'invalid input syntax for type json'],
    ['a row that is too short', rewritten(() => '[]\n'), 'null value in column "'],
    ['a row that is none', rewritten(() => '7\n'), 'invalid input syntax for type '],
  ];
  test.each<BadRows>([
    ...ofTheDay(NOT_PACKED, 1),
    ...ofTheDay(REFUSED_BY_THE_DATABASE, 1),
    ['fewer rows', rewritten(() => ''), 'rows are missing.'],
    [
      'deep nesting',
      rewritten(() => `${'['.repeat(200_000)}${']'.repeat(200_000)}\n`),
      'stack depth limit exceeded',
    ],
  ])('%s', async (_what, change, problem) => {
    const line = await refusalOf(await forgedRows('shop', change));
    const begin = `kontor: FILE is damaged in table shop, rows 1 to 1: ${problem}`;
    expect(line.slice(0, begin.length)).toBe(begin);
  });
});
