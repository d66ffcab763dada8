import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { referenceTime } from './reference-time.ts';

/** How long other requests wait, because one piece of work does not let go of the event loop. */

/** Milliseconds between two looks at the clock. */
const TICK = 1;

/** What Linux knows of the main thread: how long it has run, in nanoseconds. */
const OWN_TIME = `/proc/self/task/${process.pid}/schedstat`;

/**
 * How many milliseconds of the processor this thread has used, to a few of them. Other threads resize images and collect
 * garbage, and other processes of a busy machine stop ours: neither is a block of the event loop, and no clock on the wall
 * can tell them apart. Where the system does not say it, the time of all threads stands in.
 */
function ownTime(): number {
  if (ownTimeFile === undefined) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  const length = readSync(ownTimeFile, buffer, 0, buffer.length, 0);
  return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
}

const buffer = Buffer.alloc(100);
const ownTimeFile = openOwnTime();

function openOwnTime(): number | undefined {
  try {
    const file = openSync(OWN_TIME, 'r');
    process.once('exit', () => closeSync(file));
    return file;
  } catch {
    return undefined;
  }
}

/**
 * The longest time in which the event loop did not turn while `work` ran, in milliseconds of the processor, or of the
 * clock where that is less.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let clock = performance.now();
  let used = ownTime();
  const look = () => {
    const now = performance.now();
    const usedNow = ownTime();
    longest = Math.max(longest, Math.min(now - clock, usedNow - used));
    clock = now;
    used = usedNow;
  };
  const timer = setInterval(look, TICK);
  try {
    await work();
    // Whatever was still computed when the answer came.
    await sleep(2 * TICK);
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

let quickestReference = Infinity;

/**
 * How many times longer the same work takes at this moment than on the machine before the tests began: a processor whose
 * caches other tests share computes more slowly, and that is not the program's fault.
 */
export function slowdown(): number {
  const ms = referenceTime(3);
  quickestReference = Math.min(quickestReference, inject('referenceTime'), ms);
  return ms / quickestReference;
}

/** Milliseconds: nobody waits longer for somebody else's request. */
export const MAX_BLOCK = 50;
const TRIES = 5;

/**
 * The longest block of this work in the quickest of some tries, at the speed that the machine has when nothing else runs
 * on it: what a busy machine did is not what the program does. The first try is taken as it is, because measuring the
 * speed costs more than most of what is measured here.
 */
export async function quickestBlock(work: () => Promise<unknown>): Promise<number> {
  let ms = await longestBlock(work);
  for (let tries = 1; tries < TRIES && ms >= MAX_BLOCK; tries++) {
    const before = slowdown();
    const block = await longestBlock(work);
    ms = Math.min(ms, block / Math.min(before, slowdown()));
  }
  return ms;
}
