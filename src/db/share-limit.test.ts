import { beforeEach, expect, test } from 'vitest';
import { createShareLimit, type ShareLimit } from './share-limit.ts';

let now: number;
let limit: ShareLimit;

beforeEach(() => {
  now = 0;
  limit = createShareLimit(2, 6, () => now);
});

/** As many pieces of work as the limit is looked at after, all alike and as many at once as the limit allows. */
function work(took: number, { isShort = true, beside = limit.value } = {}): number {
  for (let count = 0; count < 20; count++) limit.note({ took, beside, isShort });
  return limit.value;
}

test('rises while work takes no longer than before, up to all connections', () => {
  expect(limit.value).toBe(2);
  expect([30, 30, 33, 35, 30, 30].map((took) => work(took))).toEqual([3, 4, 5, 6, 6, 6]);
});

test('does not rise when nothing waits', () => {
  expect([work(30, { isShort: false }), work(30, { isShort: false })]).toEqual([2, 2]);
});

test('falls to the least when work becomes slower, and stays there for a while', () => {
  expect([work(30), work(30), work(40)]).toEqual([3, 4, 2]);
  now = 4_999;
  expect([work(30), work(30)]).toEqual([2, 2]);
  now = 5_000;
  expect([work(30), work(30)]).toEqual([3, 4]);
});

test('follows work that has become slower by itself', () => {
  expect([work(30), work(60)]).toEqual([3, 2]);
  now = 5_000;
  // What is usual now is learnt within the least limit.
  for (let round = 0; round < 10; round++) work(60, { beside: 2, isShort: false });
  expect([work(60), work(60), work(60)]).toEqual([3, 4, 5]);
});

test('stays at the least as long as nobody knows what is usual', () => {
  expect([work(30, { beside: 6 }), work(30, { beside: 6 })]).toEqual([2, 2]);
});
