import { HOW_TO_GET_A_BROWSER, NO_BROWSER } from './find-browser.ts';

/** What the summary of a run needs to know of a test file. */
export interface FinishedFile {
  name: string;
  /** Loading it, its hooks and its tests. */
  milliseconds: number;
  tests: number;
  /** The reasons of the tests that were skipped while they ran. */
  skipReasons: readonly (string | undefined)[];
}

const SLOWEST = 10;

/** The slowest files, and how to get a browser if tests were skipped for the lack of one. */
export function summaryLines(files: readonly FinishedFile[]): string[] {
  return [...slowestFiles(files), ...browserHint(files)];
}

/** A run of a single file has its time in the line above already. */
function slowestFiles(files: readonly FinishedFile[]): string[] {
  if (files.length < 2) return [];
  const slowest = files.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, SLOWEST);
  return [
    'Slowest files',
    ...slowest.map(
      ({ name, milliseconds, tests }) =>
        `${(milliseconds / 1000).toFixed(1).padStart(8)} s  ${name} (${tests} ${tests === 1 ? 'test' : 'tests'})`,
    ),
  ];
}

function browserHint(files: readonly FinishedFile[]): string[] {
  const count = files
    .flatMap(({ skipReasons }) => skipReasons)
    .filter((reason) => reason === NO_BROWSER).length;
  return count === 0 ? [] : [`${NO_BROWSER}, so ${count} tests were skipped: ${HOW_TO_GET_A_BROWSER}.`];
}
