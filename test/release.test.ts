import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { cleanUp, newFolder } from './process.ts';

/** `npm run release` in a repository that has the files which name the version. */

const ROOT = path.join(import.meta.dirname, '..');
const FILES = [
  'package.json',
  'package-lock.json',
  'packages/client/package.json',
  'packages/create-kontor/package.json',
  'packages/create-kontor-app/package.json',
];

let folder: string;
afterAll(cleanUp);
beforeEach(async () => {
  folder = await newFolder();
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Releaser');
  git('config', 'user.email', 'releaser@kontor.example');
  for (const file of FILES) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(folder, file));
  }
  write(
    'openapi.json',
    '{\n  "openapi": "3.1.0",\n  "info": {\n    "version": "1.0.0"\n  },\n  "x": { "version": "7.7.7" }\n}\n',
  );
  write(
    'CHANGELOG.md',
    '# Changelog\n\n## Unreleased\n\n- Carts are faster.\n\n## 1.0.0 (2026-11-16)\n\nThe first.\n',
  );
  // Whatever the version is when this runs, it is 1.0.0 here.
  for (const file of FILES) write(file, read(file).replace(/"version": "[\d.]+"/, '"version": "1.0.0"'));
  commit('Begin');
});

const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text);
const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trimEnd();
function commit(subject: string) {
  git('add', '--all');
  git('commit', '--quiet', '-m', subject);
}

function release(...words: string[]) {
  const loader = path.join(ROOT, 'node_modules/tsx/dist/loader.mjs');
  const script = path.join(ROOT, 'release/run.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', loader, script, ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('a release is one commit and a tag, with the version in every file that names it', () => {
  const before = git('rev-parse', 'HEAD');
  const day = new Date().toISOString().slice(0, 10);
  expect(release('1.1.0', '--dry-run')).toEqual({
    status: 0,
    stdout: expect.stringMatching(
      /commit "Release 1\.1\.0" and tag v1\.1\.0:\n\n- Carts are faster\.\n$/,
    ) as string,
    stderr: '',
  });
  expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(['', before, '']);

  expect(release('1.1.0')).toMatchObject({ status: 0, stderr: '' });
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '--format=%s', `${before}..`)).toBe('Release 1.1.0');
  expect(git('rev-parse', 'v1.1.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
  expect(git('diff', '--stat', '--format=', before).split('\n')).toHaveLength(FILES.length + 3);
  const versionOf = (text: string) => (JSON.parse(text) as { version: string }).version;
  for (const file of FILES) expect([file, versionOf(read(file))]).toEqual([file, '1.1.0']);
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  const folders = ['', ...FILES.slice(2).map((file) => path.dirname(file))];
  expect(folders.map((name) => packages[name]!.version)).toEqual(folders.map(() => '1.1.0'));
  // Nothing else changes in the lock file, and only the first version in openapi.json.
  expect(git('diff', '--numstat', before, '--', 'package-lock.json')).toBe('5\t5\tpackage-lock.json');
  expect(read('openapi.json')).toContain(
    '"info": {\n    "version": "1.1.0"\n  },\n  "x": { "version": "7.7.7" }',
  );
  expect(read('CHANGELOG.md')).toBe(
    `# Changelog\n\n## Unreleased\n\n## 1.1.0 (${day})\n\n- Carts are faster.\n\n## 1.0.0 (2026-11-16)\n\nThe first.\n`,
  );
  expect(release('--notes', '1.1.0').stdout).toBe('- Carts are faster.\n');
  expect(release('1.1.1')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('says nothing under') as string,
  });
});

test('what is wrong is refused with its reason, and nothing is changed', () => {
  const refusals: [prepare: () => void, words: string[], reason: string][] = [
    [() => {}, [], 'Name one version such as 1.1.0'],
    [() => {}, ['v1.1.0'], 'Name one version such as 1.1.0'],
    [() => {}, ['1.0.0'], '1.0.0 is not after 1.0.0.'],
    [() => {}, ['0.9.9'], '0.9.9 is not after 1.0.0.'],
    [() => {}, ['--notes', '1.5.0'], 'CHANGELOG.md has no section of 1.5.0.'],
    [() => git('tag', 'v1.1.0'), ['1.1.0'], 'There is a tag v1.1.0 already.'],
    [
      () => git('checkout', '--quiet', '-b', 'feature'),
      ['1.2.0'],
      'A release is made on main, and this is feature.',
    ],
    [() => git('checkout', '--quiet', 'main'), ['1.2.0', '1.3.0'], 'Name one version'],
    [() => write('new.txt', 'x'), ['1.2.0'], 'The tree is not clean: commit or remove\n?? new.txt'],
  ];
  const head = git('rev-parse', 'HEAD');
  for (const [prepare, words, reason] of refusals) {
    prepare();
    const { status, stdout, stderr } = release(...words);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`release: ${reason}`);
  }
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([head, '?? new.txt']);
});
