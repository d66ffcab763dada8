/**
 * `npm run build`. With --if-stale, as the kontor command and `npm run generate` do it, only where the source has changed:
 * src/ is compiled file by file to compiled/, which the tests load, and joined to dist/, which runs. A published package
 * has dist/ only.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = import.meta.dirname;
const SOURCE = path.join(ROOT, 'src');
const DIST = path.join(ROOT, 'dist');
const COMPILED = path.join(ROOT, 'compiled');
/** Where a process begins, and where its threads do. */
const ENTRIES = ['cli', 'shops/settings/yaml-thread', 'composition/email-thread'];
/** Packages that the service loads when it starts. All that they load themselves is joined with them. */
const JOINED = [
  'typebox',
  '@oxc-project',
  'fastify',
  '@fastify',
  'ajv',
  'pg',
  'pino',
  'prom-client',
  'lru-cache',
  'ipaddr.js',
  'i18n-iso-countries',
  'entities',
  'sanitize-html',
  'standardwebhooks',
  'yaml',
  'yauzl',
];
/** Packages that some of them try to load, and do without. */
const OPTIONAL = ['pg-native', 'pg-cloudflare'];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isWanted = !process.argv.includes('--if-stale') || isStale();
  if (isWanted) await build();
}

export function isStale() {
  const builtAt = modifiedAt(path.join(DIST, 'cli.js'));
  // npm writes this file with every change of the packages, some of which dist/ contains.
  if (modifiedAt(path.join(ROOT, 'node_modules/.package-lock.json')) > builtAt) return true;
  return filesIn(SOURCE).some(
    (name) => /\.(ts|json)$/.test(name) && modifiedAt(path.join(SOURCE, name)) > builtAt,
  );
}

/** Into folders of its own first: several commands may do this at once, and none may see half of a file. */
export async function build() {
  const began = new Date();
  const compiled = mkdtempSync(`${COMPILED}-`);
  const dist = mkdtempSync(`${DIST}-`);
  try {
    compile(compiled);
    await bundle(compiled, dist);
    // What is edited while this runs must count as newer.
    utimesSync(path.join(dist, 'cli.js'), began, began);
    replace(COMPILED, compiled);
    replace(DIST, dist);
  } finally {
    for (const folder of [compiled, dist]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Types are not checked, which would take several seconds: `npm run types` is for that. */
function compile(folder) {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const options = ['-p', path.join(ROOT, 'tsconfig.build.json'), '--noCheck', '--outDir', folder];
  const compiler = path.join(path.dirname(manifest), 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('see above');
}

/**
 * Joins compiled files and packages to few: Node needs about a millisecond for each file that it loads, and there are
 * more than 1,500. They become CommonJS, which Node loads in less time than modules. Packages with files of their own,
 * and those that few installations use, stay where they are. JSON files keep their places.
 */
export async function bundle(compiled, dist) {
  // Loaded here, so that a command which has nothing to build does not wait for it.
  const { rolldown } = await import('rolldown');
  const joined = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, path.join(compiled, `${name}.js`)])),
    platform: 'node',
    external: isExternal,
    plugins: [keepAddresses(compiled), escapeForeignCharacters()],
    onLog: failWhereLoadedAtOnce,
  });
  await joined.write({
    dir: dist,
    format: 'cjs',
    chunkFileNames: '[name]-[hash].js',
    // Node reads and keeps the text, so it is short; functions and classes keep their names, which stacks show.
    minify: { compress: false, mangle: { keepNames: true }, codegen: { legalComments: 'inline' } },
  });
  await joined.close();
  writeFileSync(path.join(dist, 'package.json'), '{ "type": "commonjs" }\n');
  for (const name of filesIn(compiled).filter((each) => each.endsWith('.json'))) {
    const file = path.join(dist, name);
    mkdirSync(path.dirname(file), { recursive: true });
    // Without the blanks that make the source readable, which are a fifth of it.
    writeFileSync(file, JSON.stringify(JSON.parse(readFileSync(path.join(compiled, name), 'utf8'))));
  }
}

/** What one file loads when it is needed must not be loaded by another when the service starts. */
function failWhereLoadedAtOnce(level, log, handle) {
  if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(log.message);
  handle(level, log);
}

function isExternal(id, importer) {
  const isPackage = /^[^./\0]/.test(id) && !path.isAbsolute(id);
  if (!isPackage) return false;
  if (OPTIONAL.includes(id)) return true;
  return (
    !importer?.includes('node_modules') && !JOINED.some((name) => id === name || id.startsWith(`${name}/`))
  );
}

/** A module finds its files beside it, so it keeps its address when it becomes a part of a larger file. */
function keepAddresses(compiled) {
  return {
    name: 'keep-addresses',
    transform(code, id) {
      if (!id.startsWith(compiled)) return undefined;
      const address = `new URL(${JSON.stringify(`./${path.relative(compiled, id)}`)}, import.meta.url).href`;
      return code.replaceAll('import.meta.url', address);
    },
  };
}

/**
 * V8 keeps a text in two bytes a character as soon as one of them is not Latin, and the whole text of a file that has run
 * stays in memory. Escapes mean the same wherever they stand, except in `String.raw`, which nothing uses for such characters.
 */
function escapeForeignCharacters() {
  return {
    name: 'escape-foreign-characters',
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7F]/g, escaped);
      }
    },
  };
}

/** Takes half of a character that JavaScript counts as two. */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The entry goes last: its age says that all others are there. */
function replace(folder, draft) {
  const made = new Set(filesIn(draft));
  for (const name of [...made].filter((each) => each !== 'cli.js').concat('cli.js')) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    renameSync(path.join(draft, name), path.join(folder, name));
  }
  for (const name of filesIn(folder)) if (!made.has(name)) rmSync(path.join(folder, name), { force: true });
}

function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => path.relative(folder, path.join(item.parentPath, item.name)));
}
