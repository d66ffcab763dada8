import { expect, test } from 'vitest';
import { HOW_TO_GET_A_BROWSER, NO_BROWSER } from './find-browser.ts';
import { summaryLines } from './summary.ts';

const file = (name: string, milliseconds: number, skipReasons: (string | undefined)[] = []) => ({
  name,
  milliseconds,
  tests: milliseconds === 1 ? 1 : 7,
  skipReasons,
});

test('the ten slowest files, the slowest first', () => {
  const files = [3, 1, 12_345, 4, 5, 6, 7, 8, 9, 10, 11, 999].map((time) => file(`${time}.test.ts`, time));
  const lines = summaryLines(files);
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 3)).toEqual([
    'Slowest files',
    '    12.3 s  12345.test.ts (7 tests)',
    '     1.0 s  999.test.ts (7 tests)',
  ]);
  expect(lines.at(-1)).toBe('     0.0 s  4.test.ts (7 tests)');
});

test('of a few files all, of one file none', () => {
  expect(summaryLines([file('a.test.ts', 1), file('b.test.ts', 2000)])).toEqual([
    'Slowest files',
    '     2.0 s  b.test.ts (7 tests)',
    '     0.0 s  a.test.ts (1 test)',
  ]);
  expect(summaryLines([file('a.test.ts', 1)])).toEqual([]);
});

test('one line for all tests that were skipped because there is no browser', () => {
  const skipped = file('browser.test.ts', 5, [NO_BROWSER, undefined, 'another reason', NO_BROWSER]);
  expect(summaryLines([skipped])).toEqual([
    `There is no browser, so 2 tests were skipped: ${HOW_TO_GET_A_BROWSER}.`,
  ]);
});
