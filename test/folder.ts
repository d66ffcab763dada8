import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '../src/db/embedded-init.ts';

/**
 * Where Linux has files in memory. A run creates and drops hundreds of databases of 700 files each, and before ext4
 * creates a file it looks at all that were deleted in the last minutes: after sixty databases a new one took five times
 * as long as the first.
 */
const MEMORY = '/dev/shm';
/** Bytes that must be free, so that a run never fills it. */
const ENOUGH_MEMORY = 4 * 2 ** 30;

async function hasMemoryForFiles(): Promise<boolean> {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = await statfs(MEMORY);
  return bavail * bsize >= ENOUGH_MEMORY;
}

/**
 * A new folder, in memory where there is enough of it. It is open to all, as a project folder is, because as root
 * PostgreSQL runs as another user; `mkdtemp` alone makes a folder that only its owner may enter. Its name is short,
 * because a socket in it must not have a path of more than 100 characters.
 */
export async function newOpenFolder(): Promise<string> {
  const parent = (await hasMemoryForFiles()) ? MEMORY : tmpdir();
  const folder = await mkdtemp(path.join(parent, `kontor-test-${process.pid}-`));
  await chmod(folder, 0o755);
  return folder;
}

/** The folders of processes that were killed before they could remove them. */
export async function forgottenFolders(): Promise<string[]> {
  const parents = [tmpdir(), ...(existsSync(MEMORY) ? [MEMORY] : [])];
  const folders = (await Promise.all(parents.map(foldersIn))).flat();
  return folders.filter((folder) => {
    const owner = /^kontor-test-(\d+)-/.exec(path.basename(folder))?.[1];
    return owner !== undefined && !isAlive(Number(owner));
  });
}

async function foldersIn(parent: string): Promise<string[]> {
  return (await readdir(parent)).map((name) => path.join(parent, name));
}
