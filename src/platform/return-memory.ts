import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Caches } from '../db/cache.ts';

const QUIET = 60_000;

/**
 * Gives memory back after a busy time: caches that nothing has used for a minute are emptied. V8 collects garbage only
 * when it needs room, which a process without requests does not, so it is asked to, once.
 */
export function startReturningMemory(caches: Caches): void {
  setInterval(() => {
    if (caches.clearUnused()) collectGarbage();
  }, QUIET).unref();
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  // Of this kind V8 also shrinks its heap; Node 20 does not know it and collects as usual.
  const options = { type: 'major', execution: 'sync', flavor: 'last-resort' };
  (runInNewContext('gc') as (how: object) => void)(options);
}
