import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readlink,
  realpath,
  rename,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type SystemAccount, canEnter, errorCode, statIfThere } from './embedded-account.ts';

/** Where root keeps files that the account of PostgreSQL must reach and cannot reach in their usual place. */
export const SYSTEM_FOLDER = '/var/lib/kontor';

/**
 * The folder of PostgreSQL: `postgres` in the data folder, or where a link of that name leads. Through the link a
 * moved folder is found even after the obstacle that moved it has gone.
 */
export async function pgdataFolder(
  dataFolder: string,
  account: SystemAccount | undefined,
  log: (line: string) => void,
  systemFolder: string = SYSTEM_FOLDER,
): Promise<string> {
  const usual = path.join(dataFolder, 'postgres');
  const moved = path.join(systemFolder, `${path.basename(dataFolder)}-${shortHash(dataFolder)}`);
  const present = await presentFolder(usual);
  if (present !== undefined) {
    await refuseStrangers(present);
    const parent = path.dirname(present);
    if (!(await canEnter(parent, account)) && !(account && (await letPass(parent, account)))) {
      throw new Error(
        `PostgreSQL runs as ${account?.name}, who may not enter ${parent}: let that user pass (chmod o+x on the folder and its parents), start Kontor as another user, or set DATABASE_URL.`,
      );
    }
    if (present !== usual) log(`The database of ${dataFolder} is in ${present}.`);
    return present;
  }
  if (await canEnter(dataFolder, account)) return usual;
  if (account && (await letPass(dataFolder, account))) return usual;
  await mkdir(systemFolder, { recursive: true, mode: 0o755 });
  log(`PostgreSQL runs as ${account?.name}, who may not enter ${dataFolder}: the database is in ${moved}.`);
  return moved;
}

async function refuseStrangers(present: string): Promise<void> {
  const self = process.getuid?.() ?? 0;
  const owner = (await stat(present)).uid;
  if (self === 0 || self === owner) return;
  throw new Error(
    `The database in ${present} belongs to another user (uid ${owner}): start Kontor as that user or as root, or choose another folder with KONTOR_DATA.`,
  );
}

async function presentFolder(usual: string): Promise<string | undefined> {
  const target = await readlink(usual).catch(() => undefined);
  if (await statIfThere(usual)) return realpath(usual);
  if (target !== undefined) {
    throw new Error(
      `${usual} leads to ${target}, which is not there: bring that folder back, or remove the link to begin with an empty database.`,
    );
  }
  return undefined;
}

/**
 * Opens a folder that is closed to all but root for the one group that needs it: PostgreSQL cannot run as root and
 * must be able to pass (0710), but still can't list the other content.
 */
async function letPass(folder: string, account: SystemAccount): Promise<boolean> {
  const stats = await stat(folder);
  // A group with more rights than that was chosen on purpose.
  if (stats.mode & 0o060 || !(await canEnter(path.dirname(folder), account))) return false;
  await chown(folder, stats.uid, account.gid);
  await chmod(folder, (stats.mode & 0o777) | 0o010);
  return canEnter(folder, account);
}

// `sun_path` is 104 bytes on macOS, 108 on Linux, and holds the name of the socket too.
const MAX_SOCKET_PATH_LENGTH = 100;
const SOCKET_NAME = '/.s.PGSQL.5432';

/** In PostgreSQL's own folder if the path is short enough, otherwise in a private temporary folder. */
export async function socketFolder(pgdata: string, account: SystemAccount | undefined): Promise<string> {
  if (fitsSocket(pgdata)) return pgdata;
  for (const base of [tmpdir(), '/tmp']) {
    const folder = path.join(await realpath(base), `kontor-${shortHash(pgdata)}`);
    if (fitsSocket(folder) && (await canEnter(base, account))) {
      await makePrivate(folder, account);
      return folder;
    }
  }
  throw new Error(`${pgdata} is too long for a socket and so is ${tmpdir()}: choose a shorter KONTOR_DATA.`);
}

function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(folder + SOCKET_NAME) <= MAX_SOCKET_PATH_LENGTH;
}

/** Others may write to the temporary folder: the creator of this folder could listen in our place. */
async function makePrivate(folder: string, account: SystemAccount | undefined): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  const stats = await lstat(folder);
  const ours = [process.getuid?.(), account?.uid];
  if (!stats.isDirectory() || !ours.includes(stats.uid)) {
    throw new Error(`${folder} belongs to another user: remove it, or choose a shorter KONTOR_DATA.`);
  }
  await chmod(folder, 0o700);
  if (account) await chown(folder, account.uid, account.gid);
}

const MAX_LOG_SIZE = 10 * 1024 * 1024;

export async function rotateLog(logFile: string): Promise<void> {
  const size = (await statIfThere(logFile))?.size ?? 0;
  if (size > MAX_LOG_SIZE) await rename(logFile, `${logFile}.1`);
}

/** PostgreSQL insists on owning its folder; a copy restored by root has the wrong owner. */
export async function giveTo(folder: string, account: SystemAccount | undefined): Promise<void> {
  if (!account || (await stat(folder)).uid === account.uid) return;
  // The folder itself last: if this is interrupted, the next start begins again.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(path.join(entry.parentPath, entry.name), account.uid, account.gid);
  }
  await chown(folder, account.uid, account.gid);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
