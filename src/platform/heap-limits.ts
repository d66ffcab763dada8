import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes at which the young generation stops growing. V8 would go on to 32 MB, which a busy process then keeps. */
const MAX_YOUNG_GENERATION = 8 * 1024 * 1024;

/** How much the old generation may grow until V8 collects garbage again. V8 would wait for up to 300 % more. */
const GROWTH_PERCENT = 30;

/**
 * Limits what V8 takes for garbage, in a process that works for long. bin/kontor.js does not let the young generation
 * grow while the modules are loaded. Work that goes on needs a larger one, or garbage is collected all the time.
 */
export function limitHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  let factor = setGrowthFactor(2);
  // V8 reads a limit in bytes only when a process begins, but this factor with every collection. A quiet process gives the
  // young generation back, which must be able to grow again.
  new PerformanceObserver(() => {
    const next = youngGeneration() < MAX_YOUNG_GENERATION ? 2 : 1;
    if (next !== factor) factor = setGrowthFactor(next);
  }).observe({ entryTypes: ['gc'] });
}

function setGrowthFactor(factor: number): number {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  return factor;
}

function youngGeneration(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size;
}
