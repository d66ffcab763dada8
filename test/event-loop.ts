/** How long other requests wait, because one piece of work does not let go of the event loop. */

/** Milliseconds between two looks at the clock. */
const TICK = 1;

/**
 * The longest time in which the event loop did not turn while `work` ran, in milliseconds. A machine that is busy with
 * other processes stops ours now and then; such a pause takes time on the clock but not of the processor, so the smaller
 * of the two counts.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let clock = performance.now();
  let used = process.cpuUsage();
  const look = () => {
    const elapsed = performance.now() - clock;
    const { user, system } = process.cpuUsage(used);
    longest = Math.max(longest, Math.min(elapsed, (user + system) / 1_000));
    clock = performance.now();
    used = process.cpuUsage();
  };
  const timer = setInterval(look, TICK);
  try {
    await work();
    // Whatever was still computed when the answer came.
    await new Promise((resolve) => setTimeout(resolve, 2 * TICK));
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

const QUIET_WITHIN = 2_000;

/**
 * Waits until the other threads of this process rest, which resize images or collect garbage for what came before: their
 * time counts as the process's, and would be taken for that of the work that is measured next.
 */
export async function quiet(): Promise<void> {
  for (const end = performance.now() + QUIET_WITHIN; performance.now() < end;) {
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 10));
    const { user, system } = process.cpuUsage(before);
    if (user + system < 3_000) return;
  }
}

const REFERENCE = 'A text of a fixed length. '.repeat(40_000);
let quickestReference = Infinity;

/**
 * How many times longer the same work takes at this moment than at the best one so far: a processor that other tests
 * share computes more slowly, and that is not the program's fault.
 */
export function slowdown(): number {
  const start = performance.now();
  JSON.parse(JSON.stringify(REFERENCE.split(' ')));
  const ms = performance.now() - start;
  quickestReference = Math.min(quickestReference, ms);
  return ms / quickestReference;
}

/** Milliseconds: nobody waits longer for somebody else's request. */
export const MAX_BLOCK = 50;
const TRIES = 8;

/**
 * The longest block of this work in the quickest of some tries, at the speed that the machine has when nothing else runs
 * on it: what a busy machine did is not what the program does.
 */
export async function quickestBlock(work: () => Promise<unknown>): Promise<number> {
  let ms = Infinity;
  for (let tries = 0; tries < TRIES && ms >= MAX_BLOCK; tries++) {
    const before = slowdown();
    const block = await longestBlock(work);
    ms = Math.min(ms, block / Math.min(before, slowdown()));
  }
  return ms;
}
