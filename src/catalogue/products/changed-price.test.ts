import { expect, test } from 'vitest';
import { changedPrice, type Ending } from './changed-price.ts';

test.each<[number, number, Ending, number, number]>([
  [1000, 1000, 'exact', 2, 1100],
  [995, -250, 'exact', 2, 970],
  [1000, 200, '99', 2, 999],
  [1000, 600, '99', 2, 1099],
  [1050, 0, '90', 2, 1090],
  [40, -5000, '99', 2, 20],
  [40, -5000, '00', 2, 20],
  [1000, 1000, '99', 0, 1100],
  [0, 1000, '99', 2, 0],
])('%s changed by %s basis points, ending with %s', (minor, basisPoints, ending, digits, expected) => {
  expect(changedPrice(minor, basisPoints, ending, digits)).toBe(expected);
});
