import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { Plugin } from 'vitest/config';

const ROOT = path.join(import.meta.dirname, '..');
const SOURCE = path.join(ROOT, 'src') + path.sep;
const COMPILED = path.join(ROOT, 'compiled') + path.sep;

/** Its files, which Node loads by itself. */
export const COMPILED_FILES = new RegExp(`^${COMPILED.replaceAll(/[^\w/]/g, String.raw`\$&`)}`);

/**
 * Lets the tests import the compiled program in place of its source. A whole run does, because that is what is shipped,
 * and because Node loads it in a tenth of the time that it takes to compile each file for each worker.
 */
export function compiledProgram(): Plugin {
  // The command compiles what has changed since the last time.
  execFileSync(process.execPath, [path.join(ROOT, 'bin/kontor.js'), '--version'], { stdio: 'ignore' });
  return {
    name: 'compiled-program',
    enforce: 'pre',
    resolveId(id, importer) {
      if (importer === undefined || !/^[./].*\.ts$/.test(id)) return undefined;
      const file = path.resolve(path.dirname(importer), id);
      if (!file.startsWith(SOURCE) || file.endsWith('.test.ts')) return undefined;
      return path.join(COMPILED, path.relative(SOURCE, file).replace(/\.ts$/, '.js'));
    },
  };
}
