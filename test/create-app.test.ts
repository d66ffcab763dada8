import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cleanUp, newFolder } from './process.ts';
import { manifestIn, npmFrom, startRegistry } from './registry.ts';

/** `npm create kontor-app` as people run it, from a registry that has what is packed here. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const ROOT = path.join(import.meta.dirname, '..');
const SOURCES = ['client', 'create-kontor-app'].map((name) => path.join(ROOT, 'packages', name));
const run = promisify(execFile);

let folder: string;
let registry: Awaited<ReturnType<typeof startRegistry>>;

const npm = (words: string[], cwd: string) => npmFrom(registry, folder, words, cwd);

beforeAll(async () => {
  folder = await newFolder();
  for (const config of ['build', 'testing']) {
    await run(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', `packages/client/tsconfig.${config}.json`], {
      cwd: ROOT,
    });
  }
  const packed = await Promise.all(
    SOURCES.map(async (source) => {
      const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
      const { stdout } = await run('npm', ['pack', ...options], { cwd: source });
      const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
      return { file: path.join(folder, filename), manifest: manifestIn(source) };
    }),
  );
  registry = await startRegistry(ROOT, packed, { isDev: true });
});
afterAll(async () => {
  registry.close();
  await cleanUp();
});

test('the lines of the guide make an app in an empty folder, and its own tests pass', async () => {
  const guide = readFileSync(path.join(ROOT, 'docs/apps.md'), 'utf8');
  const [, block = ''] = /\n## Begin an app\n\n```sh\n(.*?)```/s.exec(guide)!;
  const lines = block.replaceAll('my-app', 'order-notes').trim().split('\n');
  const [create, ...others] = lines;
  expect(create).toBe('npm create kontor-app order-notes');
  const { stdout } = await npm(create!.split(' ').slice(1), folder);
  expect(stdout).toContain(others.map((line) => `    ${line}\n`).join(''));
  expect(others).toEqual(['cd order-notes', 'npm install', 'npm test', 'npm run dev']);
  const app = path.join(folder, 'order-notes');
  expect((await readdir(app)).toSorted()).toEqual(
    ['.gitignore', 'README.md', 'package.json', 'public', 'src', 'test', 'tsconfig.json'].toSorted(),
  );
  expect(manifestIn(app)).toMatchObject({
    name: 'order-notes',
    dependencies: { '@kontor/client': `^${manifestIn(SOURCES[0]!).version}` },
  });
  expect(await readFile(path.join(app, 'src/manifest.ts'), 'utf8')).toContain("name: 'Order notes'");

  await npm(['install'], app);
  await npm(['run', 'types'], app);
  const tested = await npm(['test'], app);
  expect(tested.stdout).toMatch(/^# pass 5$/m);
  expect(tested.stdout).toMatch(/^# fail 0$/m);
  expect(await readdir(app)).not.toContain('data');
});

const create = (...words: string[]) =>
  run(process.execPath, [path.join(SOURCES[1]!, 'index.js'), ...words], { cwd: folder });

test.each([
  [['../My App'], '"../My App" cannot be the folder'],
  [['a', 'b'], 'one folder, please: a b'],
  [['a', '--colour'], 'there is no option --colour. See: npm create kontor-app -- --help'],
  [['.'], 'cannot be the folder'],
])('refuses %j', async (words, reason) => {
  const before = await readdir(folder);
  const ended = await create(...words).catch((error: object) => error);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  const { stderr } = ended as { stderr: string };
  expect(stderr).toMatch(/^create-kontor-app: [^\n]+\n$/);
  expect(stderr).toContain(reason);
  expect(await readdir(folder)).toEqual(before);
});

test('it overwrites nothing', async () => {
  await create('mine');
  await expect(create('mine')).rejects.toMatchObject({
    code: 2,
    stderr: 'create-kontor-app: mine is not empty: choose another folder.\n',
  });
});

test('the app is made with the versions that are tested here', () => {
  const read = (file: string) =>
    JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as Record<string, Record<string, string>>;
  const made = read('packages/create-kontor-app/template/package.json');
  const ours = read('package.json')['devDependencies']!;
  const all = { ...made['dependencies'], ...made['devDependencies'] };
  delete all['@kontor/client'];
  expect(all).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, ours[name]])));
});
