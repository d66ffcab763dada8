#!/usr/bin/env node
/**
 * The kontor command. In a clone it compiles what has changed since the last time, so that `npm start` and
 * `npx kontor` always run the source one sees; an installed package has only dist/ and starts at once.
 */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

if (existsSync(new URL('../src', import.meta.url))) await buildWhatHasChanged();
// Loading makes much garbage at once, and V8 would answer with 32 MB of young generation that an idle service
// keeps for ever: 117 MB instead of 90. src/platform/heap-limits.ts lets it grow, but less, while a process is busy.
setFlagsFromString('--semi-space-growth-factor=1');
// Node 20 has no navigator. Without one, pg finds out whether it runs at Cloudflare by making a Response, which loads all
// of Node's fetch: a tenth of the time that a short command takes.
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };
// Beside the code that it is made of, where only those can write who can change the code. Node 20 has none.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/compile-cache', import.meta.url)));
// Not imported: before an import, Node reads the file for the names that it exports.
module.createRequire(import.meta.url)('../dist/cli.js');

async function buildWhatHasChanged() {
  const { build, isStale } = await import('../build.js');
  if (!isStale()) return;
  process.stderr.write(
    'kontor: compiling the source, which takes some seconds and happens only when it has changed\n',
  );
  try {
    await build();
  } catch (error) {
    process.stderr.write(`kontor: the source is newer than dist/ and cannot be compiled: ${error.message}\n`);
    if (error.code?.endsWith('MODULE_NOT_FOUND')) process.stderr.write('kontor: Run npm ci first.\n');
    process.exit(1);
  }
}
