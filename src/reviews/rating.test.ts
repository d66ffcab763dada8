import fc from 'fast-check';
import { expect, test } from 'vitest';
import { severalLines, singleLine } from './plain-text.ts';
import { ratingOf, type StarCounts } from './rating.ts';
import { stateAfterWriting } from './write.ts';

test.each<[StarCounts, number, number]>([
  [[0, 0, 0, 0, 1], 5, 1],
  [[1, 0, 0, 0, 1], 3, 2],
  [[0, 0, 0, 1, 1], 4.5, 2],
  // 4.75 and 4.25: half of a tenth goes up.
  [[0, 0, 0, 1, 3], 4.8, 4],
  [[0, 0, 0, 3, 1], 4.3, 4],
  [[1, 0, 0, 0, 0], 1, 1],
])('of %j the average is %d', (stars, average, count) => {
  expect(ratingOf(stars)).toEqual({ average, count, stars });
});

test('without reviews there is no average, and no average leaves its reviews', () => {
  expect(ratingOf([0, 0, 0, 0, 0])).toBeUndefined();
  const count = fc.nat(1_000_000);
  fc.assert(
    fc.property(fc.tuple(count, count, count, count, count), (stars) => {
      const rating = ratingOf(stars);
      fc.pre(rating !== undefined);
      const given = [1, 2, 3, 4, 5].filter((_, index) => stars[index]! > 0);
      expect(rating.average).toBeGreaterThanOrEqual(given[0]!);
      expect(rating.average).toBeLessThanOrEqual(given.at(-1)!);
      const exact = stars.reduce((sum, reviews, index) => sum + reviews * (index + 1), 0) / rating.count;
      expect(Math.abs(rating.average - exact)).toBeLessThanOrEqual(0.05 + 1e-9);
    }),
  );
});

test.each([
  [undefined, 'before', 'waiting'],
  [undefined, 'after', 'published'],
  ['published', 'before', 'waiting'],
  ['published', 'after', 'published'],
  ['waiting', 'after', 'waiting'],
  // Changing a letter does not publish what the shop has rejected.
  ['rejected', 'after', 'waiting'],
] as const)('a review that was %s, with moderation %s, becomes %s', (before, moderation, state) => {
  expect(stateAfterWriting(before, moderation)).toBe(state);
});

test('text is stored without what nobody sees', () => {
  expect(singleLine(' a\u202Eb\nc\u0007 ')).toBe('a b c');
  expect(severalLines(' one\r\n\r\n\r\n\r\ntwo\u0000\n')).toBe('one\n\ntwo');
});
