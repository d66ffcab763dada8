import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { judgeReadme } from '../bench/readme.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

const row = (text: string) => `| fact | ${text} | \`npm run bench\` |`;
const FIGURES = row(
  '4.5 s from an empty folder to the first list, 1.4 s for a restart; 5,100 products, 2,700 added line items or 1,800 steps of a checkout',
);
const MEASURED = {
  starts: { firstStartMs: 4_449, restartMs: [1_500, 1_400, 9_000] },
  throughput: [
    { name: 'GET product, one of 100', requestsPerSecond: 5_100 },
    { name: 'POST line item', requestsPerSecond: 2_699 },
  ],
};

test('the bench measures every figure of the README that it is named for', () => {
  const throughput = ['GET product, one of 100', 'POST line item', 'checkout (7 writes)'];
  const rows = throughput.map((name) => ({ name, requestsPerSecond: 1e6 }));
  const starts = { firstStartMs: 1, restartMs: [1] };
  const judged = judgeReadme(README, { starts, throughput: rows });
  expect(judged.map(({ isTrue }) => isTrue)).toEqual([true, true, true, true, true]);
});

test('a sentence is true where this machine does as well, and is left out where it was not measured', () => {
  expect(judgeReadme(FIGURES, MEASURED)).toEqual([
    { sentence: '4.5 s from an empty folder to the first list', here: 4.4, isTrue: true },
    { sentence: '1.4 s for a restart', here: 1.5, isTrue: false },
    { sentence: '5,100 products', here: 5_100, isTrue: true },
    { sentence: '2,700 added line items', here: 2_699, isTrue: false },
  ]);
});

test('a figure that nothing measures is an error', () => {
  expect(() => judgeReadme(`${FIGURES}\n${row('90 MB idle')}`, MEASURED)).toThrow(
    'bench/readme.ts does not know what 90 is in the README',
  );
  expect(() => judgeReadme(row('1.4 s for a restart'), MEASURED)).toThrow('The README says nothing');
});
