import type { Stats } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** The account of PostgreSQL when this process is root, because PostgreSQL refuses to be root. */
export interface SystemAccount {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Undefined: PostgreSQL runs as the user of this process. A folder that already has an owner keeps it: `sudo npm
 * start` once must not lock the owner out.
 */
export async function serverAccount(pgdata: string): Promise<SystemAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // PostgreSQL looks its own user up, so a uid without an entry here does not start.
  const accounts = accountsOf(await readFile('/etc/passwd', 'utf8'));
  const owner = (await statIfThere(pgdata))?.uid;
  const account =
    accounts.find(({ uid }) => uid === owner) ??
    accounts.find(({ name }) => name === 'postgres') ??
    accounts.find(({ name }) => name === 'nobody');
  if (!account) {
    throw new Error(
      'PostgreSQL does not run as root and there is neither a user "postgres" nor "nobody": start Kontor as an ordinary user, or set DATABASE_URL.',
    );
  }
  return account;
}

export function accountsOf(passwd: string): SystemAccount[] {
  return passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid, gid }) => name !== '' && uid > 0 && gid >= 0);
}

/** Options for `spawn` to run a program as the account. */
export function runAs(account: SystemAccount | undefined): { uid?: number; gid?: number } {
  return account ? { uid: account.uid, gid: account.gid } : {};
}

const PASS = 0o1;
const READ = 0o4;

/** Whether the account can reach this folder's content: every parent must let it through. */
export async function canEnter(folder: string, account: SystemAccount | undefined): Promise<boolean> {
  if (!account) return true;
  for (const step of pathDownTo(await realpath(folder))) {
    if (!allows(await stat(step), account, PASS)) return false;
  }
  return true;
}

export async function canRead(file: string, account: SystemAccount | undefined): Promise<boolean> {
  if (!account) return true;
  const stats = await statIfThere(file);
  return stats !== undefined && allows(stats, account, READ) && (await canEnter(path.dirname(file), account));
}

function pathDownTo(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [...pathDownTo(parent), folder];
}

// Node drops the supplementary groups of a process it starts with a uid: the first group is the only one.
function allows(stats: Stats, account: SystemAccount, bits: number): boolean {
  if (stats.uid === account.uid) return ((stats.mode >> 6) & bits) === bits;
  if (stats.gid === account.gid) return ((stats.mode >> 3) & bits) === bits;
  return (stats.mode & bits) === bits;
}

export async function statIfThere(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
