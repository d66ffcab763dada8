import { setTimeout as sleep } from 'node:timers/promises';
import { load, tryOnce, type Subject } from './load.ts';
import type { Verdict } from './report.ts';
import { residentMegabytes } from './start-times.ts';

export interface MemoryOptions {
  /** Of each target, so that a slow machine loads the service as a fast one does. */
  requests: number;
  /** Whether the service writes a heap snapshot after the load. */
  takesSnapshot: boolean;
}

/** With these the service writes its heap snapshot into the folder. */
export const snapshotOptions = (folder: string) => [
  '--heapsnapshot-signal=SIGUSR2',
  `--diagnostic-dir=${folder}`,
];

const ROUND_SECONDS = 2;
/** The thread of the emails ends and caches are emptied when they have been unused for a minute, which is seen with the next. */
const QUIET_SECONDS = 125;
const MEGABYTE = 1024 * 1024;

/** Memory of the service after a load of all targets, its parts as V8 counts them, and what is left after a pause. */
export async function measureMemory(
  { pid, origin }: { pid: number; origin: string },
  subjects: readonly Subject[],
  { requests, takesSnapshot }: MemoryOptions,
  say: (line: string) => void,
): Promise<Verdict[]> {
  for (const subject of subjects) {
    await tryOnce(subject);
    for (let count = 0; count < requests;) count += (await load(subject, ROUND_SECONDS)).requests;
    say(`after ${subject.name}: ${Math.round(await residentMegabytes(pid))} MB`);
  }
  const value = Math.round(await residentMegabytes(pid));
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  for (const part of ['heap_size_used', 'heap_size_total', 'external_memory']) {
    const [, bytes] = new RegExp(`^nodejs_${part}_bytes (\\S+)$`, 'm').exec(metrics) ?? [];
    say(`${part}: ${Math.round(Number(bytes) / MEGABYTE)} MB`);
  }
  if (takesSnapshot) {
    process.kill(pid, 'SIGUSR2');
    // It is written before the next request is answered.
    await fetch(`${origin}/ready`);
  }
  await sleep(1_000 * QUIET_SECONDS);
  const later = Math.round(await residentMegabytes(pid));
  return [
    { name: 'memory after load, MB', value, goal: 250, ok: value < 250 },
    { name: `${QUIET_SECONDS} s later, MB`, value: later, goal: 150, ok: later < 150 },
  ];
}
