import type { FastifyBaseLogger } from 'fastify';

export interface Background {
  /** Returns when the current run has ended; its signal tells it to stop. */
  stop(): Promise<void>;
}

/** Runs `work` repeatedly, each time `pause` milliseconds after it has ended. An error is logged. */
export function repeat(
  name: string,
  pause: number,
  log: FastifyBaseLogger,
  work: (signal: AbortSignal) => Promise<unknown>,
): Background {
  const stopping = new AbortController();
  const { signal } = stopping;
  let wake = () => {};
  const loop = async () => {
    while (!signal.aborted) {
      try {
        await work(signal);
      } catch (error) {
        log.warn({ err: error }, `${name} failed, it will be tried again`);
      }
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause).unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const ended = loop();
  return {
    stop: async () => {
      stopping.abort();
      wake();
      await ended;
    },
  };
}
