import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import {
  deleteJobs,
  findDueJobs,
  idsByShop,
  MAX_HELD,
  postponeJob,
  recordFailure,
  takeJobs,
  type DueJob,
  type JobKey,
  type TakenJob,
} from './queries.ts';

export interface Job<Content> {
  id: string;
  content: Content;
}

/** Thrown by a run: the job waits until then, and this was no attempt. */
export class Postponed extends Error {
  override name = 'Postponed';
  readonly until: Date;

  constructor(message: string, until: Date, cause?: unknown) {
    super(message, { cause });
    this.until = until;
  }
}

/** Which of the due jobs of a shop are taken. */
export interface ChosenJobs {
  jobs: readonly DueJob[];
  /** No further job of the shop is looked for until one has ended. */
  isFull: boolean;
}

export interface WorkerOptions<Content> {
  log: FastifyBaseLogger;
  /** Throws when the job failed and must be retried. It may run twice, after a crash between its effect and its end. */
  run: (job: Job<Content>) => Promise<void>;
  /** Makes current runs fail soon. */
  giveUp: () => void;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number;
  /** Jobs that run at the same time. */
  atOnce?: number;
  /** false: other work goes first, and no job is taken for now. */
  mayTake?: (fullShops: readonly string[]) => Promise<boolean>;
  /** Chooses among the due jobs of a shop, of which so many run. Those that it leaves wait by its own doing, or it is full. */
  choose?: (shopId: string, due: readonly DueJob[], running: number) => Promise<ChosenJobs>;
}

const MAX_AT_ONCE = 20;
/** It takes jobs only when this many can start, because a statement per job would cost more than most jobs. */
const MIN_TAKEN = 10;
const MAX_ATTEMPTS = 12;
const FIRST_RETRY = 30_000;
const LAST_JOBS = 5_000;

/** Takes jobs from a queue and runs them until it is stopped. */
export function startWorker<Content>(
  db: Database,
  queue: string,
  { log, run, giveUp, pause = 2_000, atOnce = MAX_AT_ONCE, mayTake, choose }: WorkerOptions<Content>,
): { stop: () => Promise<void>; quietFor: () => number } {
  const running = new Set<Promise<void>>();
  /** How many of them are of each shop. */
  const runningOf = new Map<string, number>();
  /** Shops of which no job is looked for at the moment. */
  const full = new Set<string>();
  /** Jobs that have run and are still in the queue, by their ids. */
  const done = new Map<string, JobKey>();
  const stopping = new AbortController();
  let wake = () => {};
  /** The shop that had the last turn; empty: the first shop is next. */
  let lastShop = '';
  let mayHaveMore = false;
  let lastEnd = performance.now();

  /** A finished job is deleted, because it contains the address of a person. */
  const deleteDone = async () => {
    for (const [shopId, ids] of idsByShop(done.values())) {
      await deleteJobs(db, shopId, ids);
      for (const id of ids) done.delete(id);
    }
  };
  /** One statement at a time deletes all jobs that have finished meanwhile, so no two wait for each other's rows. */
  let deleting = Promise.resolve();
  const forgetDone = () => (deleting = deleting.catch(() => {}).then(deleteDone));

  const attempt = async (job: TakenJob<Content>) => {
    const { shopId, id, content, attempts } = job;
    try {
      if (attempts > MAX_ATTEMPTS)
        throw new Error('Every process that took this job ended before it was done');
      if (!done.has(id)) await run({ id, content });
      done.set(id, { shopId, id });
    } catch (error) {
      if (error instanceof Postponed) return postpone(job, error);
      const line = { queue, job: id, attempt: attempts, ...reasonOf(error) };
      const isLast = attempts >= MAX_ATTEMPTS;
      if (isLast) log.error(line, 'job failed for the last time');
      else log.warn(line, 'job failed, it will be tried again');
      const runAt = isLast ? null : new Date(db.serviceNow.getTime() + retryDelay(attempts));
      await recordFailure(db, job, { error: textOf(error), runAt });
      return;
    }
    await forgetDone();
  };

  /** A job that has waited for days has failed. */
  const postpone = async (job: TakenJob<Content>, error: Postponed) => {
    const { heldAt } = job;
    const isOver = heldAt !== null && heldAt.getTime() < db.serviceNow.getTime() - MAX_HELD;
    const line = { queue, job: job.id, reason: error.message };
    if (isOver) log.error(line, 'job has waited for too long');
    else log.info(line, 'job waits');
    const text = textOf(error);
    if (isOver) await recordFailure(db, job, { error: text, runAt: null });
    else await postponeJob(db, job, { error: text, runAt: error.until });
  };

  const hasRoom = () => running.size <= atOnce - Math.min(MIN_TAKEN, atOnce);

  const start = (job: TakenJob<Content>) => {
    const run = attempt(job)
      // The job is retried when it counts as lost; if it has run, the next turn deletes it.
      .catch((error: unknown) => log.warn({ queue, job: job.id, err: error }, 'job could not be ended'))
      .finally(() => {
        running.delete(run);
        runningOf.set(job.shopId, runningOf.get(job.shopId)! - 1);
        if (runningOf.get(job.shopId) === 0) runningOf.delete(job.shopId);
        mayHaveMore ||= full.size > 0;
        full.clear();
        lastEnd = performance.now();
        if (mayHaveMore && hasRoom()) wake();
      });
    running.add(run);
    runningOf.set(job.shopId, (runningOf.get(job.shopId) ?? 0) + 1);
  };

  /** The ids of those that may run now. */
  const chosenIds = async (shopId: string, due: readonly DueJob[]): Promise<string[]> => {
    if (!choose) return due.map(({ id }) => id);
    const { jobs, isFull } = await choose(shopId, due, runningOf.get(shopId) ?? 0);
    if (isFull) full.add(shopId);
    return jobs.map(({ id }) => id);
  };

  const turn = async (): Promise<void> => {
    await forgetDone();
    if (!hasRoom()) return;
    if (mayTake && !(await mayTake([...full]))) {
      mayHaveMore = false;
      return;
    }
    const limit = atOnce - running.size;
    const due = await findDueJobs(db, queue, { afterShop: lastShop, limit, except: [...full] });
    // Only a read that began with the first shop and found fewer than it asked for has seen all that is due.
    mayHaveMore = due.length === limit || lastShop !== '';
    lastShop = due.length === limit ? due.at(-1)!.shopId : '';
    for (const [shopId, jobs] of jobsByShop(due)) {
      if (stopping.signal.aborted) return;
      const ids = await chosenIds(shopId, jobs);
      if (ids.length === 0) continue;
      for (const job of await takeJobs<Content>(db, shopId, ids)) start(job);
    }
  };

  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        await turn();
      } catch (error) {
        mayHaveMore = false;
        log.warn({ queue, err: error }, 'the queue could not be read');
      }
      if (stopping.signal.aborted) break;
      // Another process may have taken the jobs of this turn.
      if (mayHaveMore && hasRoom()) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      full.clear();
    }
  };

  const looping = loop();
  return {
    /** Milliseconds since the last job ended; 0 while one runs. */
    quietFor: () => (running.size > 0 ? 0 : performance.now() - lastEnd),
    /** Gives running jobs a moment to end. */
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

function jobsByShop(due: readonly DueJob[]): Map<string, DueJob[]> {
  const jobs = new Map<string, DueJob[]>();
  for (const job of due) jobs.set(job.shopId, [...(jobs.get(job.shopId) ?? []), job]);
  return jobs;
}

/**
 * The reply of a server that refuses an email may contain the address, so only codes are logged; the text is stored
 * with the job. An error without a code is our own defect.
 */
function reasonOf(error: unknown) {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return code === undefined ? { err: error } : { code, ...(responseCode !== undefined && { responseCode }) };
}

/** The error as stored with the job. PostgreSQL does not allow character 0 in texts. */
function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll('\0', '').slice(0, 2_000);
}

/** 30 to 60 s after the first attempt, then twice as long each time: the twelfth attempt is about a day later. */
function retryDelay(attempts: number): number {
  return FIRST_RETRY * 2 ** (attempts - 1) * (1 + Math.random());
}
