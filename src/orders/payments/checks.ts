import type { Attempt } from './queries.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A payment whose provider was not told of within this time never began: nobody knows the address of its page. */
export const STARTS_WITHIN = 60 * SECOND;

/** After so long without an answer that makes sense, nobody waits for one any more. Reserved money may wait for a month. */
export const givesUpAfter = (state: Attempt['state']) => (state === 'authorized' ? 35 * DAY : 7 * DAY);

/** 30 s, one minute, two minutes and so on, up to an hour. */
export function delayAfter(checks: number): number {
  return Math.min(30 * SECOND * 2 ** Math.min(checks, 10), HOUR);
}

/**
 * When to ask the provider again; null: there is nothing more to learn by asking. An order that is to be cancelled if it
 * is not paid is asked about in time.
 */
export function nextCheck(
  { state, checks, releaseAt }: Pick<Attempt, 'state' | 'checks' | 'releaseAt'>,
  now: Date,
): Date | null {
  if (state === 'paid' || state === 'failed' || state === 'cancelled') return null;
  const next = now.getTime() + delayAfter(checks);
  const release = releaseAt?.getTime() ?? Infinity;
  return new Date(release > now.getTime() ? Math.min(next, release) : next);
}
