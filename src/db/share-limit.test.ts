import { expect, test } from 'vitest';
import { createShareLimit } from './share-limit.ts';

/** The limit after so many pieces of work of each length, one kind after the other. */
function limitAfter(...work: [count: number, took: number][]): number {
  const limit = createShareLimit(2, 20);
  for (const [count, took] of work) for (let index = 0; index < count; index++) limit.note(took);
  return limit.value;
}

test('is the least as long as nothing is known', () => {
  expect(limitAfter()).toBe(2);
});

test('is all connections for work of a millisecond, and the fewer the longer work takes', () => {
  expect([0.2, 1, 2, 4, 9, 10, 50].map((took) => limitAfter([1, took]))).toEqual([20, 20, 10, 5, 2, 2, 2]);
});

test('does not depend on how much work there was', () => {
  expect([1, 5, 100].map((count) => limitAfter([count, 4]))).toEqual([5, 5, 5]);
});

test('is that of long work, however much short work is between', () => {
  const search: [number, number][] = [
    [3, 0.5],
    [1, 80],
  ];
  expect(limitAfter(...search, ...search, ...search, [3, 0.5])).toBe(2);
});

test('rises again when long work has ended', () => {
  expect([0, 20, 100, 200].map((count) => limitAfter([1, 50], [count, 0.5]))).toEqual([2, 2, 10, 20]);
});

test('is not moved by work that took no time', () => {
  expect(limitAfter([5, 0])).toBe(2);
});

/** The rest after the last of some pieces of work of this length. */
function restAfter(took: number): number {
  const limit = createShareLimit(2, 20);
  for (let count = 0; count < 5; count++) limit.note(took);
  return limit.restAfter(took);
}

test('work of which the least are too many at once rests for as long as makes up for it, twice its own time at most', () => {
  expect([0, 1, 10, 15, 20, 30, 50].map(restAfter)).toEqual([0, 0, 0, 8, 20, 60, 100]);
});

test('nothing rests for longer than a second', () => {
  expect(restAfter(10_000)).toBe(1_000);
});
