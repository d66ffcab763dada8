import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds: how long a piece of work may run before others are served. */
const MAX_TURN = 8;

export type Pause = () => Promise<void> | undefined;

/**
 * For work that takes the processor for long: `await pause()` between its parts lets other requests run once the parts
 * since the last pause have taken some milliseconds. Before that it costs nothing. The clock starts with this call, so
 * call it before the loop.
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
