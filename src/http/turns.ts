import { Refusal, retryAfter } from './errors.ts';

/** Runs work in turn among all work with the same key. */
export type Turns = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Limits how many pieces of work with one key run at the same time. The others wait in the order of arrival, and are
 * refused when the queue is too long.
 */
export function createTurns({ running, waiting }: { running: number; waiting: number }): Turns {
  /** Only keys with running work are in it, so it is as large as the number of open requests. */
  const queues = new Map<string, { running: number; waiting: (() => void)[] }>();
  return async (key, work) => {
    let queue = queues.get(key);
    if (!queue) queues.set(key, (queue = { running: 0, waiting: [] }));
    if (queue.running < running) {
      queue.running++;
    } else {
      if (queue.waiting.length >= waiting) throw tooManyAtOnce(running + waiting);
      // Finished work hands its place on, so the number of running ones stays the same.
      await new Promise<void>((resolve) => void queue.waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = queue.waiting.shift();
      if (next) next();
      else if (--queue.running === 0) queues.delete(key);
    }
  };
}

const tooManyAtOnce = (limit: number) => new Refusal('TOO_MANY_AT_ONCE', { limit }, retryAfter(1));
