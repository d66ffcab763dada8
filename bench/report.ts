import os from 'node:os';
import type { Change } from './against.ts';
import type { Compared } from './compare.ts';
import type { Round } from './load.ts';
import type { StartTimes } from './start-times.ts';
import type { Target } from './targets.ts';

/** A number against its goal. */
export interface Verdict {
  name: string;
  value: number;
  goal: number;
  ok: boolean;
}

/** What a page of the admin costs. */
export interface PageFigures {
  name: string;
  p50Ms: number;
  p95Ms: number;
  goalMs: number;
  /** Of the service and of PostgreSQL together, on average. */
  cpuMs: number;
  /** Of the document alone, and with all that a browser without a cache loads for it, pictures excepted. */
  kilobytes: number;
  firstLoadKilobytes: number;
  ok: boolean;
}

export interface Throughput {
  name: string;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Share of its baseline: the median of the rounds' own shares, since a round sees one state of the machine. */
  ratio: number;
  goal: number | null;
  ok: boolean | null;
  rounds: Round[];
}

export function throughput({ name, goal }: Target, rounds: Round[], baseline: Round[]): Throughput {
  const shares = rounds.map((round, index) => round.requestsPerSecond / baseline[index]!.requestsPerSecond);
  const ratio = median(shares);
  return {
    name,
    requestsPerSecond: Math.round(median(rounds.map((round) => round.requestsPerSecond))),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
    ratio: Math.round(ratio * 1000) / 1000,
    goal: goal ?? null,
    ok: goal === undefined ? null : ratio >= goal,
    rounds,
  };
}

/** The median of the rounds' 99th percentiles of one step. */
export function slowestStep(
  flow: string,
  { step, belowMs }: { step: string; belowMs: number },
  rounds: Round[],
): Verdict {
  const value = Math.round(median(rounds.map(({ stepMs }) => stepMs![step]!.p99)));
  return { name: `${flow}: p99 of ${step}, ms`, value, goal: belowMs, ok: value < belowMs };
}

export function startVerdicts({ firstStartMs, restartMs, idleMegabytes }: StartTimes): Verdict[] {
  const below = (name: string, value: number, goal: number) => ({ name, value, goal, ok: value < goal });
  return [
    below('first start, ms', firstStartMs, 8_000),
    below('restart, ms', median(restartMs), 2_000),
    below('idle memory, MB', Math.round(idleMegabytes), 120),
  ];
}

export function throughputTable(rows: Throughput[]): string {
  return table([
    ['target', 'req/s', 'p50 ms', 'p99 ms', 'ratio', 'goal', ''],
    ...rows.map((row) => [
      row.name,
      String(row.requestsPerSecond),
      String(row.p50Ms),
      String(row.p99Ms),
      row.ratio.toFixed(2),
      row.goal === null ? '-' : `>= ${row.goal}`,
      row.ok === null ? '' : judged(row.ok),
    ]),
  ]);
}

export function verdictTable(title: string, rows: Verdict[]): string {
  return table([
    [title, 'value', 'goal', ''],
    ...rows.map(({ name, value, goal, ok }) => [name, String(value), `< ${goal}`, judged(ok)]),
  ]);
}

export function pageTable(title: string, rows: PageFigures[]): string {
  return table([
    [title, 'p50 ms', 'p95 ms', 'goal', 'CPU ms', 'KB', 'first load KB', ''],
    ...rows.map(({ name, p50Ms, p95Ms, goalMs, cpuMs, kilobytes, firstLoadKilobytes, ok }) => [
      name,
      p50Ms.toFixed(1),
      p95Ms.toFixed(1),
      `< ${goalMs}`,
      cpuMs.toFixed(1),
      String(kilobytes),
      String(firstLoadKilobytes),
      judged(ok),
    ]),
  ]);
}

export function comparisonTable(peer: string, rows: readonly Compared[]): string {
  const rate = (value: number) => (value < 20 ? value.toFixed(1) : String(Math.round(value)));
  return table([
    ['a second', 'Kontor', peer, 'times', 'p99 ms', `p99 ms, ${peer}`],
    ...rows.map(({ job, kontorPerSecond, peerPerSecond, kontorP99Ms, peerP99Ms, times }) => [
      job,
      rate(kontorPerSecond),
      rate(peerPerSecond),
      rate(times),
      String(kontorP99Ms),
      String(peerP99Ms),
    ]),
  ]);
}

export function changeTable(before: string, rows: readonly Change[], now = 'now'): string {
  const figure = (value: number) => (value < 100 ? value.toPrecision(3) : String(Math.round(value)));
  return table([
    ['median of the rounds', now, before, 'ratio', 'spread'],
    ...rows.map(({ name, now, before, ratio, spread }) => [
      name,
      figure(now),
      figure(before),
      ratio.toFixed(2),
      spread.map((end) => end.toFixed(2)).join(' to '),
    ]),
  ]);
}

/** Where the numbers come from: without it they say nothing. */
export function machine() {
  const cores = os.cpus();
  return {
    node: process.version,
    platform: `${os.platform()} ${os.arch()}`,
    cores: cores.length,
    cpu: cores[0]?.model,
  };
}

function judged(ok: boolean): string {
  return ok ? 'ok' : 'MISSED';
}

export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}

export function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
