import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import type { Config } from '../config.ts';
import { startEmbedded } from '../db/embedded.ts';
import { createLog } from '../platform/log.ts';
import { terminalLines } from '../platform/terminal-log.ts';

/*
 * The service in several processes on one machine, which share the port. Each is the whole service, as on its own
 * machine: the database keeps shared state (versions, limits, jobs) consistent.
 */

/** Settings of `serve` as one of several processes. */
export interface ProcessPlace {
  /** From 1; METRICS_PORT is that of the first, and each further process takes the next one. */
  number: number;
  /** Prints where the service is; the others print nothing. */
  isFirst: boolean;
  /**
   * Connects to the embedded PostgreSQL, which the supervising process owns; undefined: DATABASE_URL names another
   * one.
   */
  connection: PoolConfig | undefined;
  /** Call it once the process serves. */
  ready: () => void;
  /** Call it at the end: the channel to the supervising process would keep this one alive. */
  done: () => void;
}

/** As many as the embedded PostgreSQL has connections for. */
const MAX_PROCESSES = 40;

export function processCount({ PROCESSES }: Pick<Config, 'PROCESSES'>): number {
  return PROCESSES === 'auto' ? Math.min(availableParallelism(), MAX_PROCESSES) : Number(PROCESSES);
}

/** undefined: this process is the only one. */
export function placeOfThisProcess(): ProcessPlace | undefined {
  if (!cluster.isWorker) return undefined;
  const { KONTOR_PROCESS, KONTOR_RESTARTED, KONTOR_CONNECTION } = process.env;
  return {
    number: Number(KONTOR_PROCESS),
    isFirst: KONTOR_PROCESS === '1' && KONTOR_RESTARTED === undefined,
    connection: KONTOR_CONNECTION === undefined ? undefined : (JSON.parse(KONTOR_CONNECTION) as PoolConfig),
    ready: () => process.send!('ready'),
    done: () => process.disconnect(),
  };
}

/** The embedded PostgreSQL takes 100 connections, some for commands; a process needs at least two. */
const CONNECTIONS = 80;
const MIN_PROCESSES = 2;

/** A process that ends sooner than this after its start would fail again if restarted at once. */
const SHORT_LIFE = 5_000;

/**
 * Starts the processes and replaces one that ends by itself. It serves nothing, but owns the embedded PostgreSQL,
 * which therefore outlives each of them.
 */
export async function superviseProcesses(config: Config, count: number): Promise<void> {
  const log = createLog(
    config.LOG_LEVEL,
    process.stderr.isTTY ? terminalLines(process.stderr) : process.stderr,
  );
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());

  const isEmbedded = config.DATABASE_URL === undefined;
  const embedded = isEmbedded
    ? await startEmbedded(config.KONTOR_DATA, { log: (line) => log.info(line) })
    : undefined;
  const pool = isEmbedded
    ? Math.max(MIN_PROCESSES, Math.min(config.DATABASE_POOL, Math.floor(CONNECTIONS / count)))
    : config.DATABASE_POOL;

  const environment = {
    DATABASE_POOL: String(pool),
    ...(embedded && { KONTOR_CONNECTION: JSON.stringify(embedded.connection) }),
  };

  const keepRunning = async (number: number, worker: Worker): Promise<void> => {
    for (let current = worker; ;) {
      const began = Date.now();
      const [code, signal] = (await once(current, 'exit')) as [number | null, string | null];
      if (stopping.signal.aborted) return;
      log.error(`process ${number} ended by itself (${signal ?? `exit code ${code}`}): starting another one`);
      if (Date.now() - began < SHORT_LIFE) await pause(SHORT_LIFE, stopping.signal);
      if (stopping.signal.aborted) return;
      current = fork(number, { ...environment, KONTOR_RESTARTED: '1' });
    }
  };

  // Each process accepts connections from the port itself. If this process handed them out, a connection on its way to
  // a dying process would never be answered or closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;

  try {
    // The first one migrates the database and creates the demo shop; the others would only wait for it.
    const first = fork(1, environment);
    stopping.signal.addEventListener('abort', () => endAll());
    const hasStarted = await isReady(first);
    if (!hasStarted) {
      process.exitCode = first.process.exitCode ?? 1;
      return;
    }
    const others = Array.from({ length: count - 1 }, (_, index) => fork(index + 2, environment));
    await Promise.all([first, ...others].map((worker, index) => keepRunning(index + 1, worker)));
  } finally {
    await embedded?.stop();
  }
}

function fork(number: number, environment: Record<string, string>): Worker {
  return cluster.fork({ ...environment, KONTOR_PROCESS: String(number) });
}

/** Open requests have ten seconds; a process that still runs long after that is stuck. */
const STUCK_AFTER = 20_000;

function endAll(): void {
  const workers = Object.values(cluster.workers ?? {});
  for (const worker of workers) worker?.process.kill('SIGTERM');
  setTimeout(() => workers.forEach((worker) => worker?.process.kill('SIGKILL')), STUCK_AFTER).unref();
}

/** false: it ended before it served, and has logged why. */
async function isReady(worker: Worker): Promise<boolean> {
  const settled = new AbortController();
  const options = { signal: settled.signal };
  try {
    return await Promise.race([
      once(worker, 'message', options).then(() => true),
      once(worker, 'exit', options).then(() => false),
    ]);
  } finally {
    settled.abort();
  }
}

/** Ends early on the signal. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
