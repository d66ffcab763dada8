import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the young generation. V8 would let it grow to 32 MB, which a busy process then keeps. */
const MAX_YOUNG_GENERATION = 8 * 1024 * 1024;

/** How much the old generation may grow until V8 collects garbage again. V8 would wait for up to 300 % more. */
const GROWTH_PERCENT = 30;

/** Share of the time in which a process that is busy computes. */
const BUSY = 0.1;

/**
 * Limits what V8 takes for garbage, in a process that works for long. bin/kontor.js does not let the young generation
 * grow. Work that goes on needs a larger one, or garbage is collected all the time, but V8 reads the limit of its size only
 * when a process begins. So while the process is busy, it may grow to twice its size once a second.
 */
export function limitHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > BUSY && youngGeneration() < MAX_YOUNG_GENERATION) growYoungGeneration();
  }, 1_000).unref();
}

function youngGeneration(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size;
}

/** V8 lets it grow when it collects garbage in it. */
function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
  collectGarbage({ type: 'minor' });
  setFlagsFromString('--semi-space-growth-factor=1');
}

type CollectGarbage = (options: { type: 'minor' | 'major'; flavor?: 'last-resort' }) => void;

let collect: CollectGarbage | undefined;

/** V8 has this function only in contexts that are made after the flag is set. */
export const collectGarbage: CollectGarbage = (options) => {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as CollectGarbage;
  }
  collect(options);
};
