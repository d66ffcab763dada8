#!/usr/bin/env node
/**
 * The kontor command. In a clone it compiles what has changed since the last time, so that `npm start` and
 * `npx kontor` always run the source one sees; an installed package has only dist/ and starts at once.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = path.join(root, 'dist/cli.js');

if (isStale()) compile();
await import('../dist/cli.js');

function isStale() {
  const source = path.join(root, 'src');
  if (!existsSync(source)) return false;
  if (!existsSync(entry)) return true;
  const compiledAt = statSync(entry).mtimeMs;
  return readdirSync(source, { recursive: true }).some(
    (name) => name.endsWith('.ts') && statSync(path.join(source, name)).mtimeMs > compiledAt,
  );
}

function compile() {
  let compiler;
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    compiler = path.join(path.dirname(manifest), 'bin/tsc');
  } catch {
    process.stderr.write('kontor: not compiled yet, and TypeScript is not installed. Run npm ci first.\n');
    process.exit(1);
  }
  const { status } = spawnSync(process.execPath, [compiler, '-p', path.join(root, 'tsconfig.build.json')], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}
