#!/usr/bin/env node
/**
 * The kontor command. In a clone it compiles what has changed since the last time, so that `npm start` and
 * `npx kontor` always run the source one sees; an installed package has only dist/ and starts at once.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'dist');
const entry = 'cli.js';

if (isStale()) compile();
// Loading makes much garbage at once, and V8 would answer with 32 MB of young generation that an idle service
// keeps for ever: 117 MB instead of 90. `serve` lets it grow again once it serves.
setFlagsFromString('--semi-space-growth-factor=1');
// Node 20 has no navigator. Without one, pg finds out whether it runs at Cloudflare by making a Response, which loads all
// of Node's fetch: a tenth of the time that a short command takes.
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };
await import('../dist/cli.js');

function isStale() {
  const source = path.join(root, 'src');
  if (!existsSync(source)) return false;
  const compiledAt = modifiedAt(path.join(dist, entry));
  return filesIn(source).some(
    (name) => /\.(ts|json)$/.test(name) && modifiedAt(path.join(source, name)) > compiledAt,
  );
}

function compile() {
  const compiler = findCompiler();
  process.stderr.write(
    'kontor: compiling the source, which takes some seconds and happens only when it has changed\n',
  );
  try {
    translate(compiler);
  } catch (error) {
    refuse(`the source is newer than dist/ and cannot be compiled: ${error.message}`);
  }
}

/** Into a folder of its own first: several commands may do this at once, and none may see half of a file. */
function translate(compiler) {
  const began = new Date();
  const draft = mkdtempSync(`${dist}-`);
  try {
    // Not checked, which makes half a second of many: `npm run types` is for that.
    const options = ['-p', path.join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', draft];
    const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error('see above');
    // What is edited while this runs must count as newer.
    utimesSync(path.join(draft, entry), began, began);
    replaceDist(draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The entry goes last: its age says that all others are there. */
function replaceDist(draft) {
  const compiled = new Set(filesIn(draft));
  for (const name of [...compiled].filter((each) => each !== entry).concat(entry)) {
    mkdirSync(path.dirname(path.join(dist, name)), { recursive: true });
    renameSync(path.join(draft, name), path.join(dist, name));
  }
  for (const name of filesIn(dist)) if (!compiled.has(name)) rmSync(path.join(dist, name), { force: true });
}

function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => path.relative(folder, path.join(item.parentPath, item.name)));
}

function findCompiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    return path.join(path.dirname(manifest), 'bin/tsc');
  } catch {
    refuse('not compiled yet, and TypeScript is not installed. Run npm ci first.');
  }
}

function refuse(reason) {
  process.stderr.write(`kontor: ${reason}\n`);
  process.exit(1);
}
