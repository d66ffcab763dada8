import type { OutcomeState } from './provider.ts';

/** The progress of a payment. It never goes back: an answer with less progress is out of date. */
export const PROGRESS: Readonly<Record<'starting' | OutcomeState, number>> = {
  starting: 0,
  open: 1,
  processing: 2,
  authorized: 2,
  failed: 3,
  cancelled: 3,
  paid: 4,
};

/** Whether a state follows on another one. Money on its way and reserved money may take turns. */
export function isNewState(before: 'starting' | OutcomeState, after: OutcomeState): boolean {
  const isUnderWay = PROGRESS[before] === PROGRESS.processing && PROGRESS[after] === PROGRESS.processing;
  return before !== after && (PROGRESS[after] > PROGRESS[before] || isUnderWay);
}
