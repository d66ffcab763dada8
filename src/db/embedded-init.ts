import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  chown,
  mkdtemp,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type SystemAccount, errorCode, runAs, statIfThere } from './embedded-account.ts';
import type { Binaries } from './embedded-binaries.ts';

const execFileAsync = promisify(execFile);

/** The settings of one folder that `initdb` and `postgres` need. */
export interface EmbeddedCluster {
  /** KONTOR_DATA, for messages and the log. */
  dataFolder: string;
  pgdata: string;
  binaries: Binaries;
  account: SystemAccount | undefined;
  settings: Record<string, string>;
  log: (line: string) => void;
  /** Called when a program of PostgreSQL has been started. */
  onLaunch: () => void;
}

/** The password of TCP connections is stored beside the data: only Windows lacks a socket to protect instead. */
export const PASSWORD_FILE = 'kontor.password';

const usesTcp = process.platform === 'win32';

/**
 * Creates the folder of PostgreSQL if it does not exist, with the database `kontor` in it. Works in a sibling folder
 * that is renamed at the end: a start that is killed leaves nothing half made, and of two concurrent starts the second
 * finds the name taken and uses the folder of the first.
 */
export async function initialise(cluster: EmbeddedCluster): Promise<void> {
  const { pgdata, binaries, log } = cluster;
  await removeAbandoned(pgdata);
  if (!(await statIfThere(path.join(pgdata, 'PG_VERSION')))) {
    log(`Creating the database in ${pgdata}.`);
    await create(cluster);
  }
  const made = (await readFile(path.join(pgdata, 'PG_VERSION'), 'utf8')).trim();
  const [major] = binaries.version.split('.');
  if (made !== major) {
    throw new Error(
      `The database in ${pgdata} was made by PostgreSQL ${made}, this Kontor brings ${major}: start the version of Kontor that made it, or move the data with pg_dump and set DATABASE_URL.`,
    );
  }
  await linkFrom(path.join(cluster.dataFolder, 'postgres'), pgdata);
}

async function create(cluster: EmbeddedCluster): Promise<void> {
  const { pgdata, account } = cluster;
  const fresh = await mkdtemp(`${pgdata}.init-${process.pid}-`);
  try {
    if (account) await chown(fresh, account.uid, account.gid);
    await runInitdb(cluster, fresh);
    await createDatabase(cluster, fresh);
    await rename(fresh, pgdata);
    await syncFolder(path.dirname(pgdata));
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (await statIfThere(path.join(pgdata, 'PG_VERSION'))) return;
    if (!(await statIfThere(pgdata))) throw error;
    throw new Error(
      `${pgdata} is there but holds no database: remove it, or choose another folder with KONTOR_DATA.`,
      { cause: error },
    );
  }
}

/**
 * Comparisons and case come from PostgreSQL itself, so an update of the system cannot break an index. LC_CTYPE must
 * know UTF-8 all the same: full-text search and pg_trgm still ask the system what a letter is, and with `C` they lose
 * every umlaut. Not every system has every name.
 */
const LETTER_LOCALES = ['C.UTF-8', 'en_US.UTF-8', 'UTF-8', 'C'];

async function runInitdb(cluster: EmbeddedCluster, folder: string): Promise<void> {
  const passwordFile = await writePassword(cluster);
  const host = passwordFile
    ? ['--auth-host=scram-sha-256', '--pwfile', passwordFile]
    : ['--auth-host=reject'];
  const options = ['--username=kontor', '--auth-local=trust', ...host, '--encoding=UTF8', '--locale=C'];
  options.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions');
  if (!isDurable(cluster)) options.push('--no-sync');
  for (const locale of LETTER_LOCALES) {
    try {
      await run(cluster, 'initdb', ['-D', folder, `--lc-ctype=${locale}`, ...options]);
      break;
    } catch (error) {
      const unknown = error instanceof Error && error.message.includes('invalid locale name');
      if (!unknown || locale === LETTER_LOCALES.at(-1)) throw error;
    }
  }
  if (passwordFile) await rename(passwordFile, path.join(folder, PASSWORD_FILE));
}

async function writePassword({ pgdata }: EmbeddedCluster): Promise<string | undefined> {
  if (!usesTcp) return undefined;
  const file = `${pgdata}.init-${process.pid}-password`;
  await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return file;
}

/** Runs without a server, so a folder is never visible before its database exists. */
async function createDatabase(cluster: EmbeddedCluster, folder: string): Promise<void> {
  const options = ['-c', 'exit_on_error=on', '-c', `fsync=${isDurable(cluster) ? 'on' : 'off'}`];
  await run(
    cluster,
    'postgres',
    ['--single', '-D', folder, ...options, 'postgres'],
    'create database kontor\n',
  );
}

function isDurable({ settings }: EmbeddedCluster): boolean {
  return settings['fsync'] !== 'off';
}

const ABANDONED_AFTER = 5 * 60_000;

/** Removes the remains of starts that were killed during initdb. */
async function removeAbandoned(pgdata: string): Promise<void> {
  const prefix = `${path.basename(pgdata)}.init-`;
  const parent = path.dirname(pgdata);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const item = path.join(parent, name);
    const maker = Number.parseInt(name.slice(prefix.length), 10);
    const age = Date.now() - ((await statIfThere(item))?.mtimeMs ?? 0);
    // In a container, the process that has the number now is seldom the one that had it.
    if (isAlive(maker) && age <= ABANDONED_AFTER) continue;
    // The initdb of a start that was killed may still be writing.
    await rm(item, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Ended, but its parent has not read the exit status: in a container, process 1 often never does. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return status.slice(status.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return true;
  }
}

async function linkFrom(usual: string, pgdata: string): Promise<void> {
  if (usual === pgdata || (await statIfThere(usual))) return;
  await symlink(pgdata, usual);
}

/** A rename survives a power cut only when its folder is written out. Windows has no such call. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function program({ binaries }: EmbeddedCluster, name: string): string {
  return path.join(binaries.native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

const PASSED_ON = ['PATH', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'ComSpec', 'LD_LIBRARY_PATH'];

/** How each program of PostgreSQL is started, under any account. */
export function surroundings(cluster: EmbeddedCluster): {
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
} {
  // Not the whole environment: it holds our secrets, and PGPORT and the like would change the result.
  const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
  // PostgreSQL does not start in a folder that it may not read, such as root's.
  return { cwd: cluster.binaries.native, env: { ...env, LC_ALL: 'C' }, ...runAs(cluster.account) };
}

export async function run(cluster: EmbeddedCluster, name: string, args: string[], input = ''): Promise<void> {
  try {
    const running = execFileAsync(program(cluster, name), args, {
      ...surroundings(cluster),
      windowsHide: true,
    });
    running.child.stdin?.end(input);
    cluster.onLaunch();
    await running;
  } catch (error) {
    throw await explainProgramFailure(cluster, name, error);
  }
}

export async function explainProgramFailure(
  cluster: EmbeddedCluster,
  name: string,
  error: unknown,
): Promise<Error> {
  const code = errorCode(error);
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  // The file exists but its loader does not: a system without glibc, such as Alpine.
  const foreign = code === 'ENOENT' && (await stat(program(cluster, name))).isFile();
  const reason = foreign ? 'it is made for another system' : stderr || String(error);
  return new Error(
    `PostgreSQL's ${name} failed: ${reason}${stderr ? '' : '. Set DATABASE_URL to use a PostgreSQL server instead.'}`,
    { cause: error },
  );
}
