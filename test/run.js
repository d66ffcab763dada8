/**
 * `npm test`: everything, with the compiled program; of cases that differ little, those of the day.
 * `npm test -- --all`: those of every day. `npm test -- --quick`: what takes less than a minute, while one works.
 * All other options are those of `vitest run`; the tests of single files run the source.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, script, ...words] = process.argv;
if (words.includes('--quick')) process.env['KONTOR_TEST_QUICK'] = '1';
if (words.includes('--all')) process.env['KONTOR_TEST_ALL'] = '1';
const options = words.filter((word) => word !== '--quick' && word !== '--all');
if (options.length === 0 && !words.includes('--quick')) process.env['KONTOR_TEST_COMPILED'] = '1';
process.argv = [program, script, 'run', ...options];
const vitest = path.dirname(createRequire(import.meta.url).resolve('vitest/package.json'));
await import(pathToFileURL(path.join(vitest, 'vitest.mjs')).href);
