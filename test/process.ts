import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../src/db/embedded-init.ts';
import { readPidFile } from '../src/db/embedded-postmaster.ts';
import { newOpenFolder } from './folder.ts';

/** The kontor command as a person runs it: a process of its own, on a folder of its own. */

const ROOT = path.join(import.meta.dirname, '..');
const PATIENCE = 60_000;

/**
 * A third of the processor time of a start is V8's: it optimises code that runs only once, and collects garbage in a heap
 * that is small at first. The tests start some hundred processes, none of which lives long.
 */
const V8_OPTIONS = ['--no-opt', '--min-semi-space-size=16', '--initial-heap-size=512'];

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  pid: number;
  /** `http://localhost:12345`, as printed. */
  address: string;
  stdout: () => string;
  stderr: () => string;
  /** Nobody reads what it says any more, as when a terminal is closed. */
  deafen: () => void;
  /** Resolves when the process is gone. */
  ended: Promise<Ended>;
  kill: (signal: NodeJS.Signals) => void;
  /** SIGTERM, and waits. */
  stop: () => Promise<Ended>;
}

const children: ChildProcess[] = [];
/** Of services, which are not always our own children. */
const services: { pid: number; root: string }[] = [];
const folders: string[] = [];

/** A folder that `cleanUp` removes. */
export async function newFolder(): Promise<string> {
  const folder = await newOpenFolder();
  folders.push(folder);
  return folder;
}

/** Runs a command to its end. */
export function kontor(
  words: string[],
  environment: Record<string, string>,
  options: Pick<StartOptions, 'root'> = {},
): Promise<Ended> {
  return launch(words, environment, options).ended;
}

export interface StartOptions {
  /** What happens to it while it starts. */
  meanwhile?: (kill: Running['kill']) => Promise<void>;
  /** As npm does it: `kill` and `stop` then reach the shell only. */
  throughShell?: boolean;
  /** Where its source is; this version's when not given. */
  root?: string;
  /** The folder that it is started in. */
  cwd?: string;
  /** Another command that serves. */
  words?: string[];
}

/** Starts the service on a free port and waits until it says where it is. */
export async function startKontor(
  environment: Record<string, string>,
  { meanwhile = async () => {}, words = ['serve'], ...options }: StartOptions = {},
): Promise<Running> {
  const launched = launch(words, { PORT: '0', LOG_LEVEL: 'warn', ...environment }, options);
  const { child, stdout, stderr, ended } = launched;
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  await meanwhile(kill);
  await waitFor(
    () => addressIn(stdout()) !== undefined || child.exitCode !== null || child.signalCode !== null,
  );
  const address = addressIn(stdout());
  if (address === undefined) throw new Error(`did not start: ${stdout()}${stderr()}`);
  const stop = () => {
    kill('SIGTERM');
    return ended;
  };
  const deafen = () => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const pid = options.throughShell ? (await childrenOf(child.pid!))[0]! : child.pid!;
  services.push({ pid, root: options.root ?? ROOT });
  return { pid, address, stdout, stderr, ended, kill, stop, deafen };
}

/** The address in what a service prints when it has started; undefined before it has printed all of it. */
export function addressIn(stdout: string): string | undefined {
  return /Kontor is running +(\S+)\n[^]*\n\n/.exec(stdout)?.[1];
}

function launch(
  words: string[],
  environment: Record<string, string>,
  { throughShell = false, root = ROOT, cwd = process.cwd() }: Omit<StartOptions, 'meanwhile' | 'words'> = {},
) {
  // Not our whole environment: a DATABASE_URL or PORT of the one who runs the tests is not meant.
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  const command = [process.execPath, ...V8_OPTIONS, path.join(root, 'bin/kontor.js'), ...words];
  // More than one command, so that the shell stays.
  const [program, ...args] = throughShell ? ['sh', '-c', '"$@"; exit $?', 'sh', ...command] : command;
  const child = spawn(program!, args, {
    env: { PATH, HOME, ...(TMPDIR === '' ? {} : { TMPDIR }), ...environment },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  // `close` comes when nobody holds the pipes any more.
  const ended = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, ...output }));
  return { child, ended, stdout: () => output.stdout, stderr: () => output.stderr };
}

export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  within = PATIENCE,
  pause = 20,
): Promise<void> {
  for (const deadline = Date.now() + within; !(await condition()); await sleep(pause)) {
    if (Date.now() > deadline) throw new Error(`waited ${within} ms in vain for ${condition.toString()}`);
  }
}

/** The process id of the PostgreSQL of a data folder; undefined when there is none. */
export async function postmasterOf(dataFolder: string): Promise<number | undefined> {
  const pid = (await readPidFile(path.join(dataFolder, 'postgres')))?.pid;
  return pid !== undefined && isAlive(pid) ? pid : undefined;
}

/** `kill -9` for PostgreSQL and all of its processes; waits until they are gone. */
export async function killPostgres(dataFolder: string): Promise<void> {
  const postmaster = await postmasterOf(dataFolder);
  if (postmaster === undefined) throw new Error(`no PostgreSQL runs in ${dataFolder}`);
  const all = [postmaster, ...(await childrenOf(postmaster))];
  for (const pid of all) killIfThere(pid);
  await waitFor(() => !all.some(isAlive));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Where there is no /proc the children are left to themselves: they end when their postmaster has gone. */
async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_, index) => parents[index] === parent);
}

async function parentOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const parent = /^PPid:\s+(\d+)$/m.exec(status)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

/** Numbers are given again, so one that is long gone may be somebody else's. */
async function isKontor({ pid, root }: { pid: number; root: string }): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes(path.join(root, 'bin/kontor.js'));
}

/** Ends what these functions have started, whatever state a test left it in, and removes the folders. */
export async function cleanUp(): Promise<void> {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const service of services.splice(0)) if (await isKontor(service)) killIfThere(service.pid);
  for (const folder of folders.splice(0)) {
    const postmaster = await postmasterOf(folder).catch(() => undefined);
    if (postmaster !== undefined) {
      process.kill(postmaster, 'SIGQUIT');
      await waitFor(() => !isAlive(postmaster));
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
