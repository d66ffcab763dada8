import type { Attempt } from './queries.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A payment that was not created at its provider within this time never began: the address of its page is unknown. */
export const STARTS_WITHIN = 60 * SECOND;

/** After this long without a useful answer, the attempt is given up. Reserved money may wait for a month. */
export const givesUpAfter = (state: Attempt['state']) => (state === 'authorized' ? 35 * DAY : 7 * DAY);

/** 30 s, one minute, two minutes and so on, up to an hour. */
export function delayAfter(checks: number): number {
  return Math.min(30 * SECOND * 2 ** Math.min(checks, 10), HOUR);
}

/**
 * When to ask the provider again; null: no news is expected. An order that is to be cancelled unless paid is checked
 * in time.
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
