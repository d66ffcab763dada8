import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../config.ts';
import { Caches, DEFAULT_CACHE_MEGABYTES, type CacheKind } from './cache.ts';

const byBytes: CacheKind<object> = { name: 'by bytes', limit: { megabytes: 8 } };
const byEntries: CacheKind<object> = { name: 'by entries', limit: { entries: 600 } };

/** How many of 2,000 entries of 10 KB stay. */
function fill(caches: Caches): Record<string, number> {
  for (let index = 0; index < 2_000; index++) {
    caches.of(byBytes).set(String(index), {}, 10_000);
    caches.of(byEntries).set(String(index), {});
  }
  return Object.fromEntries(caches.sizes.map(({ name, entries }) => [name, entries]));
}

test('caches are emptied once nothing has used them for a while', () => {
  const caches = new Caches();
  fill(caches);
  expect(caches.clearUnused()).toBe(false);
  caches.of(byBytes).get('1999');
  // One of them is in use, so the process is not quiet.
  expect(caches.clearUnused()).toBe(false);
  expect(caches.sizes).toEqual([
    { name: 'by bytes', entries: 806 },
    { name: 'by entries', entries: 0 },
  ]);
  expect(caches.clearUnused()).toBe(true);
  expect(caches.sizes).toEqual([
    { name: 'by bytes', entries: 0 },
    { name: 'by entries', entries: 0 },
  ]);
  expect(caches.clearUnused()).toBe(false);
});

describe('one setting', () => {
  test.each([
    [384, { 'by bytes': 806, 'by entries': 600 }, 20_000],
    [768, { 'by bytes': 1_613, 'by entries': 1_200 }, 40_000],
    [16, { 'by bytes': 33, 'by entries': 25 }, 833],
  ])('of %i MB scales every limit', (megabytes, sizes, callers) => {
    const caches = new Caches(megabytes);
    expect(fill(caches)).toEqual(sizes);
    expect(caches.scaleEntries(20_000)).toBe(callers);
  });

  test('is by default what all caches of the program take together', async () => {
    const folder = path.join(import.meta.dirname, '..');
    const files = (await readdir(folder, { recursive: true })).filter((file) =>
      /(?<!\.test)\.ts$/.test(file),
    );
    const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
    const limits = texts.flatMap((text) => [
      ...text.matchAll(/limit: \{ megabytes: (\d+) \}|= pageCache<\w+>\('[^']+', (\d+)\)/g),
    ]);
    const sum = limits.reduce((total, [, own, ofPages]) => total + Number(own ?? ofPages), 0);
    expect(sum).toBe(DEFAULT_CACHE_MEGABYTES);
    expect(readConfig({}).CACHE_MB).toBe(DEFAULT_CACHE_MEGABYTES);
  });
});
