/**
 * `npm test`: everything, with the compiled program. `npm test -- --quick`: what takes less than a minute, while one works.
 * All other options are those of `vitest run`; the tests of single files run the source.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, script, ...words] = process.argv;
if (words.includes('--quick')) process.env['KONTOR_TEST_QUICK'] = '1';
if (words.length === 0) process.env['KONTOR_TEST_COMPILED'] = '1';
process.argv = [program, script, 'run', ...words.filter((word) => word !== '--quick')];
const vitest = path.dirname(createRequire(import.meta.url).resolve('vitest/package.json'));
await import(pathToFileURL(path.join(vitest, 'vitest.mjs')).href);
