import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Server {
  name: string;
  pid: number;
  origin: string;
  /** From spawning the process to its first successful answer. */
  startMs: number;
  /** SIGTERM, and SIGKILL when that is not heard. */
  stop(): Promise<void>;
  /** SIGKILL at once. */
  kill(): Promise<void>;
}

export interface ServerCommand {
  name: string;
  /** What node runs. */
  words: string[];
  folder: string;
  environment: Record<string, string>;
  /** Standard output and error go to this file, as in production. */
  logFile: string;
  /** The server has started when this path answers 200. */
  probe: string;
  /** In milliseconds; half a minute when it is not given. */
  startsWithin?: number;
}

const STARTS_WITHIN = 30_000;
const STOPS_WITHIN = 5_000;

const running = new Set<ChildProcess>();
const endings: (() => Promise<unknown>)[] = [];
let ended: Promise<void> | undefined;

/** What has to be undone when the run is over, in reverse order, also when it fails or is interrupted. */
export function atEnd(ending: () => Promise<unknown>): void {
  endings.push(ending);
}

/** Runs once: the end of the run and a signal may come together. */
export function endEverything(): Promise<void> {
  return (ended ??= runEndings());
}

/** A signal ends everything, and the process. Returns whether one has come: what fails from then on is no news. */
export function endOnSignals(): () => boolean {
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isInterrupted = true;
      void endEverything().then(() => process.exit(1));
    });
  }
  return () => isInterrupted;
}

async function runEndings(): Promise<void> {
  for (let ending = endings.pop(); ending; ending = endings.pop()) {
    await ending().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }
}

// The last resort: a server must not outlive the run.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export async function startServer(command: ServerCommand): Promise<Server> {
  const { name, words, folder, environment, logFile, probe, startsWithin = STARTS_WITHIN } = command;
  if (ended) throw new Error('The run is ending');
  const port = await freePort();
  const log = await open(logFile, 'a');
  const began = performance.now();
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: String(port), ...environment },
    stdio: ['ignore', log.fd, log.fd],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  atEnd(() => stopProcess(child));
  await log.close();

  const origin = `http://127.0.0.1:${port}`;
  while (!(await answers(origin + probe))) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${name} ended (${child.exitCode ?? child.signalCode}): ${await lastWords(logFile)}`);
    }
    if (performance.now() - began > startsWithin) {
      throw new Error(`${name} did not answer ${probe} in time: ${await lastWords(logFile)}`);
    }
    await sleep(10);
  }
  const startMs = Math.round(performance.now() - began);
  return {
    name,
    pid: child.pid!,
    origin,
    startMs,
    stop: () => stopProcess(child),
    kill: () => killProcess(child),
  };
}

/** The folder of the logs goes with the run, so what matters of them has to be said. */
async function lastWords(logFile: string): Promise<string> {
  return (await readFile(logFile, 'utf8')).slice(-2_000);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN);
  await ended;
  clearTimeout(patience);
}

async function killProcess(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
