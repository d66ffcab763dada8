/**
 * `npm run release -- 1.1.0`: the commit and the tag of a release, made of a clean main. `--dry-run` says what would be
 * done; `--notes 1.1.0` prints what the changelog says about a version, for the page of its release. It works in the
 * folder that it is called in, and pushes nothing.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareVersions } from '../src/commands/upgrade/changelog.ts';
import { ReleaseProblem, releasedChangelog, releaseNotes } from './changelog.ts';

const BRANCH = 'main';

try {
  run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ReleaseProblem)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

function run(words: string[]): void {
  const { positionals, values } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, notes: { type: 'boolean' } },
  });
  const [version = '', ...surplus] = positionals;
  if (!/^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(version) || surplus.length > 0) {
    throw new ReleaseProblem('Name one version such as 1.1.0: npm run release -- 1.1.0 [--dry-run]');
  }
  if (values.notes) {
    process.stdout.write(releaseNotes(read('CHANGELOG.md'), version));
    return;
  }
  requireReleasable(version);
  const changed = releasedFiles(version, new Date().toISOString().slice(0, 10));
  const names = [...changed.keys()].join(', ');
  if (values['dry-run']) {
    process.stdout.write(`Would change ${names}, commit "Release ${version}" and tag v${version}:\n\n`);
    process.stdout.write(releaseNotes(changed.get('CHANGELOG.md')!, version));
    return;
  }
  for (const [file, text] of changed) writeFileSync(file, text);
  git('add', ...changed.keys());
  git('commit', '--quiet', '-m', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '-m', `Kontor ${version}`);
  process.stdout.write(`Changed ${names}; committed and tagged v${version}.\n`);
  process.stdout.write(`Next: git push --atomic origin ${BRANCH} v${version}, which publishes it.\n`);
}

function requireReleasable(version: string): void {
  if (!existsSync('.git')) throw new ReleaseProblem('Call this in the root of a clone.');
  const branch = git('branch', '--show-current');
  if (branch !== BRANCH)
    throw new ReleaseProblem(`A release is made on ${BRANCH}, and this is ${branch || 'no branch'}.`);
  const changes = git('status', '--porcelain');
  if (changes !== '') throw new ReleaseProblem(`The tree is not clean: commit or remove\n${changes}`);
  const { version: current } = JSON.parse(read('package.json')) as { version: string };
  if (compareVersions(version, current) <= 0) throw new ReleaseProblem(`${version} is not after ${current}.`);
  if (git('tag', '--list', `v${version}`) !== '')
    throw new ReleaseProblem(`There is a tag v${version} already.`);
}

/** The texts of all files that name the version, by file. Nothing is written. */
function releasedFiles(version: string, day: string): Map<string, string> {
  const workspaces = readdirSync('packages').map((name) => `packages/${name}`);
  const manifests = ['package.json', ...workspaces.map((folder) => `${folder}/package.json`)];
  const lock = JSON.parse(read('package-lock.json')) as Lock;
  lock.version = version;
  // '' is the root.
  for (const folder of ['', ...workspaces]) lock.packages[folder]!.version = version;
  return new Map([
    ['CHANGELOG.md', releasedChangelog(read('CHANGELOG.md'), version, day)],
    ...[...manifests, 'openapi.json'].map((file) => [file, withVersion(file, version)] as const),
    ['package-lock.json', `${JSON.stringify(lock, null, 2)}\n`],
  ]);
}

interface Lock {
  version: string;
  packages: Record<string, { version: string }>;
}

/** The first one: of the package in a manifest, of the document in openapi.json. */
function withVersion(file: string, version: string): string {
  const text = read(file);
  const changed = text.replace(/"version": "\d+\.\d+\.\d+"/, `"version": "${version}"`);
  if (changed === text) throw new ReleaseProblem(`${file} names no version.`);
  return changed;
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trimEnd();
}
