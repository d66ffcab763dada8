import type { Caches } from '../db/cache.ts';
import { collectGarbage } from './heap-limits.ts';

const QUIET = 60_000;

/**
 * Gives memory back after a busy time: caches that nothing has used for a minute are emptied. V8 collects garbage only
 * when it needs room, which a process without requests does not, so it is asked to, once.
 */
export function startReturningMemory(caches: Caches): void {
  setInterval(() => {
    // Of this flavor V8 also makes its heap smaller; that of Node 20 does not know it and collects as usual.
    if (caches.clearUnused()) collectGarbage({ type: 'major', flavor: 'last-resort' });
  }, QUIET).unref();
}
