import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds: what a piece of work may take until others are served. */
const LONGEST_TURN = 8;

/**
 * For work that takes the processor for long: `await pause()` between its parts lets other requests run, as soon as the
 * parts since the last pause have taken some milliseconds. Before that it costs nothing.
 */
export function newPauses(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < LONGEST_TURN) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
}
