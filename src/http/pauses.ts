import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds: what a piece of work may take until others are served. */
const MAX_TURN = 8;

export type Pause = () => Promise<void> | undefined;

/**
 * For work that takes the processor for long: `await pause()` between its parts lets other requests run, as soon as the
 * parts since the last pause have taken some milliseconds. Before that it costs nothing. The clock begins with this call,
 * so it stands before the loop.
 */
export function newPauses(): Pause {
  let began = performance.now();
  return () => {
    if (performance.now() - began < MAX_TURN) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
}
