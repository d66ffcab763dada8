import { execFile } from 'node:child_process';
import { cp, mkdir, rename, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from '../build.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Kontor as it is installed in production: compiled, without its source, so that nothing is measured but what
 * runs there. The servers to compare with are compiled the same way.
 */
export async function install(folder: string): Promise<void> {
  await mkdir(folder);
  const compiler = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  // Types are checked elsewhere; here only the code counts.
  const options = ['--noEmit', 'false', '--noCheck', '--rootDir', ROOT, '--outDir', folder];
  // All files, also after a type check that has noted what is compiled already.
  options.push('--incremental', 'false');
  await promisify(execFile)(process.execPath, [compiler, '-p', path.join(ROOT, 'tsconfig.json'), ...options]);
  await rename(path.join(folder, 'src'), path.join(folder, 'compiled'));
  // First, because the bundle holds the parts of typebox that are used, as in production.
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  await bundle(path.join(folder, 'compiled'), path.join(folder, 'dist'));
  for (const name of ['bin', 'assets', 'package.json', 'migrations', 'schema', 'openapi.json']) {
    await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true }).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
