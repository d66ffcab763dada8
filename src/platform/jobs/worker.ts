import type { FastifyBaseLogger } from 'fastify';
import type { JobWithMetadata } from 'pg-boss';
import type { Database } from '../../db/database.ts';
import { openQueues } from './queue.ts';

export interface Job<Content> {
  id: string;
  content: Content;
}

export interface WorkerOptions<Content> {
  log: FastifyBaseLogger;
  /** Throws when the job failed and is to be retried. It may run twice, after a crash between its effect and its end. */
  run: (job: Job<Content>) => Promise<void>;
  /** Makes the runs that are under way fail soon. */
  giveUp: () => void;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number;
}

const MOST_AT_ONCE = 20;
/** It fetches jobs only when this many can start, because one statement per job would cost more than most jobs. */
const LEAST_TAKEN = 10;
const MAINTENANCE = 30_000;
const LAST_JOBS = 5_000;

/**
 * Takes jobs from a queue and runs them until it is stopped. The loop of pg-boss does not wait for the statement that
 * ends a job: a database that cannot be reached at this moment would end the process. So we have our own.
 */
export function startWorker<Content>(
  db: Database,
  queue: string,
  { log, run, giveUp, pause = 2_000 }: WorkerOptions<Content>,
): { stop: () => Promise<void> } {
  const boss = openQueues(db);
  const running = new Set<Promise<void>>();
  /** Ids of jobs that have run and are still in the queue. */
  const done = new Set<string>();
  const stopping = new AbortController();
  let wake = () => {};
  let maintainedAt = -Infinity;
  /** The last read of the queue returned as many jobs as it asked for. */
  let mayHaveMore = false;

  /** A job that has run is deleted, because it contains the address of a person. */
  const deleteDone = async () => {
    const ids = [...done];
    if (ids.length === 0) return;
    await boss.deleteJob(queue, ids);
    for (const id of ids) done.delete(id);
  };
  /** One statement at a time deletes all jobs that have run meanwhile, so that no two wait for each other's rows. */
  let deleting = Promise.resolve();
  const forgetDone = () => (deleting = deleting.catch(() => {}).then(deleteDone));

  const attempt = async ({ id, data: content, retryCount, retryLimit }: JobWithMetadata<Content>) => {
    try {
      if (!done.has(id)) await run({ id, content });
      done.add(id);
    } catch (error) {
      const line = { queue, job: id, attempt: retryCount + 1, ...reasonOf(error) };
      if (retryCount < retryLimit) log.warn(line, 'job failed, it will be tried again');
      else log.error(line, 'job failed for the last time');
      await boss.fail(queue, id, error as Error);
      return;
    }
    await forgetDone();
  };

  const start = (job: JobWithMetadata<Content>) => {
    const run = attempt(job)
      // The job is retried when it counts as lost; if it has run, the next turn deletes it.
      .catch((error: unknown) => log.warn({ queue, job: job.id, err: error }, 'job could not be ended'))
      .finally(() => {
        running.delete(run);
        if (mayHaveMore && running.size <= MOST_AT_ONCE - LEAST_TAKEN) wake();
      });
    running.add(run);
  };

  const turn = async (): Promise<void> => {
    await forgetDone();
    if (performance.now() - maintainedAt > MAINTENANCE) {
      maintainedAt = performance.now();
      await boss.maintain();
    }
    const batchSize = MOST_AT_ONCE - running.size;
    if (batchSize < LEAST_TAKEN) return;
    const jobs = await boss.fetch<Content>(queue, { batchSize, includeMetadata: true });
    mayHaveMore = jobs.length === batchSize;
    for (const job of jobs) start(job);
  };

  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        await turn();
      } catch (error) {
        log.warn({ queue, err: error }, 'the queue could not be read');
      }
      if (stopping.signal.aborted) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };

  const looping = loop();
  return {
    /** Jobs that are running get a moment to end. */
    stop: async () => {
      stopping.abort();
      wake();
      await looping;
      const timer = setTimeout(giveUp, LAST_JOBS);
      await Promise.all(running);
      clearTimeout(timer);
    },
  };
}

/**
 * The reply of a server that refuses an email may contain the address, so that only codes are logged; the text is stored
 * with the job. An error without a code is a defect of our own.
 */
function reasonOf(error: unknown) {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return code === undefined ? { err: error } : { code, ...(responseCode !== undefined && { responseCode }) };
}
