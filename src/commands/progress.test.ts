import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { duration, startProgress } from './progress.ts';

function written(isTTY: boolean, work: (progress: ReturnType<typeof startProgress>) => void): string[] {
  const texts: string[] = [];
  work(startProgress('products', 1_000, { isTTY, write: (text) => texts.push(text) }));
  return texts;
}

test('a summary at the end, and no more than that when it was quick', () => {
  const texts = written(false, (progress) => {
    progress.advance(400);
    progress.advance(600);
    progress.end();
  });
  expect(texts).toEqual([expect.stringMatching(/^1,000 products in \d\.\d s, [\d,]+\/s\n$/)]);
});

test('a bar on a terminal, which the summary replaces', async () => {
  const texts: string[] = [];
  const progress = startProgress('rows', 2_000, { isTTY: true, write: (text) => texts.push(text) });
  await sleep(110);
  progress.advance(7, 500);
  progress.end();
  const CLEARED = '\r\u001b[2K';
  const [, bar, summary] = texts.join('').split(CLEARED);
  expect(bar).toMatch(/^\[#{6}\.{18}\] 25 % {2}7 rows {2}\d+\/s {2}[\d.]+ s left$/);
  expect(summary).toMatch(/^7 rows in \d\.\d s, \d+\/s\n$/);
});

test('nothing is said about what is left before a hundredth is done', async () => {
  const texts: string[] = [];
  const progress = startProgress('rows', 2_000, { isTTY: true, write: (text) => texts.push(text) });
  await sleep(110);
  progress.advance(0, 19);
  expect(texts.join('')).toMatch(/ 0 % {2}0 rows {2}0\/s {2}\? left$/);
});

test.each([
  [420, '0.4 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_400, '59 s'],
  [185_000, '3 min 5 s'],
])('%i ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
