import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The parts of a version of Kontor that build it, make its database and fill it: each version has its own schema. */
export interface Version {
  install: (typeof import('./installation.ts'))['install'];
  startEmbedded: (typeof import('../src/db/embedded.ts'))['startEmbedded'];
  openDatabase: (typeof import('../src/db/database.ts'))['openDatabase'];
  migrate: (typeof import('../src/db/migrate.ts'))['migrate'];
  createBenchShop: (typeof import('./shop.ts'))['createBenchShop'];
  placeOrders: (typeof import('./shop.ts'))['placeOrders'];
}

/** Loads the version in this folder; without a folder it is this one. */
export async function loadVersion(root = ROOT): Promise<Version> {
  const load = async (file: string) =>
    (await import(pathToFileURL(path.join(root, file)).href)) as Partial<Version>;
  const files = ['src/db/embedded.ts', 'src/db/database.ts', 'src/db/migrate.ts'];
  const parts = await Promise.all([...files, 'bench/installation.ts', 'bench/shop.ts'].map(load));
  return Object.assign({}, ...parts) as Version;
}

/**
 * Writes the files of a commit into the folder `source` of a new folder, and nothing of the working copy; returns that
 * folder. Where the commit has the same lock file, it uses the packages that are installed here.
 */
export async function checkOut(commit: string, folder: string): Promise<string> {
  const source = path.join(folder, 'source');
  await mkdir(source, { recursive: true });
  const archive = path.join(folder, 'source.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', source]);
  const [here, there] = await Promise.all(
    [ROOT, source].map((root) => readFile(path.join(root, 'package-lock.json'), 'utf8')),
  );
  const packages = path.join(source, 'node_modules');
  if (here === there) await symlink(path.join(ROOT, 'node_modules'), packages, 'junction');
  // Without the scripts of the packages, and without its own, which would build it: `install` does.
  else await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: source });
  // Beside `source` too, because versions before this file bundled before they linked the packages.
  await symlink(packages, path.join(folder, 'node_modules'), 'junction');
  return source;
}
