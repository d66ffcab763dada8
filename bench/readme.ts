import { readFile } from 'node:fs/promises';
import { median, table, type Throughput } from './report.ts';
import type { StartTimes } from './start-times.ts';

/** What was measured of that which the README names. */
export interface MeasuredHere {
  starts?: Pick<StartTimes, 'firstStartMs' | 'restartMs'> | undefined;
  throughput?: readonly Pick<Throughput, 'name' | 'requestsPerSecond'>[] | undefined;
}

interface Sentence {
  /** Reads the figure. */
  pattern: RegExp;
  /** undefined: this part was not measured. */
  measure: (measured: MeasuredHere) => number | undefined;
  isTime?: boolean;
}

const rate = (name: string) => (measured: MeasuredHere) =>
  measured.throughput?.find((row) => row.name === name)?.requestsPerSecond;

const seconds = (milliseconds: number | undefined) =>
  milliseconds === undefined ? undefined : Math.round(milliseconds / 100) / 10;

const SENTENCES: readonly Sentence[] = [
  {
    pattern: /[\d.]+ s from an empty folder to the first list/,
    measure: ({ starts }) => seconds(starts?.firstStartMs),
    isTime: true,
  },
  {
    pattern: /[\d.]+ s for a restart/,
    measure: ({ starts }) => seconds(starts && median(starts.restartMs)),
    isTime: true,
  },
  { pattern: /[\d,]+ products/, measure: rate('GET product, one of 100') },
  { pattern: /[\d,]+ added line items/, measure: rate('POST line item') },
  { pattern: /[\d,]+ steps of a checkout/, measure: rate('checkout (7 writes)') },
];

export interface JudgedSentence {
  sentence: string;
  here: number;
  isTrue: boolean;
}

/**
 * Which figures of the README are true here. A row that says it is checked with `npm run bench` must have no figure that this
 * file does not know, so that none is promised that nothing measures.
 */
export function judgeReadme(readme: string, measured: MeasuredHere): JudgedSentence[] {
  const rows = readme
    .split('\n')
    .filter((line) => line.startsWith('|') && line.includes('`npm run bench`'))
    .join('\n');
  let unread = rows;
  const judged = SENTENCES.flatMap(({ pattern, measure, isTime = false }) => {
    const sentence = pattern.exec(rows)?.[0];
    if (sentence === undefined) throw new Error(`The README says nothing that reads ${pattern.source}`);
    unread = unread.replace(sentence, '');
    const here = measure(measured);
    const said = Number.parseFloat(sentence.replaceAll(',', ''));
    return here === undefined ? [] : [{ sentence, here, isTrue: isTime ? here <= said : here >= said }];
  });
  const unknown = /\d[\d.,]*/.exec(unread);
  if (unknown) throw new Error(`bench/readme.ts does not know what ${unknown[0]} is in the README`);
  return judged;
}

export async function readmeTable(measured: MeasuredHere): Promise<string> {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const judged = judgeReadme(readme, measured);
  return table([
    ['the README says', 'here', ''],
    ...judged.map(({ sentence, here, isTrue }) => [sentence, String(here), isTrue ? 'true' : 'NOT TRUE']),
  ]);
}
