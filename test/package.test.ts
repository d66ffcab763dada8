import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cleanUp, kontor, newFolder, startKontor } from './process.ts';

/*
 * The package as people get it from npm, installed in an empty folder: packed, unpacked to where npm would put it, and
 * beside it nothing but the packages that it names as its dependencies.
 */

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
afterAll(cleanUp);

const ROOT = path.join(import.meta.dirname, '..');
const run = promisify(execFile);

interface Packed {
  filename: string;
  size: number;
  files: { path: string; size: number; mode: number }[];
}

let folder: string;
let packed: Packed;
let installed: string;

beforeAll(async () => {
  folder = await newFolder();
  // Compiles what has changed since the last time, which `npm publish` does with the script "prepare".
  await kontor(['--help'], {});
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', ['pack', ...options], { cwd: ROOT });
  [packed] = JSON.parse(stdout) as [Packed];
  installed = path.join(folder, 'node_modules/kontor');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', path.join(folder, packed.filename), '--strip-components=1', '-C', installed]);
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(path.join(installed, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const source = path.join(ROOT, 'node_modules', name);
    const target = path.join(folder, 'node_modules', name);
    await mkdir(path.dirname(target), { recursive: true });
    // Packages for other platforms are not there.
    if (existsSync(source)) await symlink(source, target);
  }
});

test('it holds the compiled program and what that reads, and nothing for developers', async () => {
  const folders = new Set(packed.files.map((file) => file.path.replace(/\/.*/, '')));
  expect([...folders].toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'assets',
    'bin',
    'dist',
    'docs',
    'examples',
    'migrations',
    'openapi.json',
    'package.json',
    'schema',
  ]);
  const odd = packed.files.filter((file) => /\.(?:map|ts|svgz|log)$|\.test\.|(?:^|\/)\./.test(file.path));
  expect(odd).toEqual([]);
  const migrations = await readdir(path.join(ROOT, 'migrations'));
  expect(packed.files.filter((file) => file.path.startsWith('migrations/'))).toHaveLength(migrations.length);
  const { mode } = await stat(path.join(installed, 'bin/kontor.js'));
  expect(mode & 0o111).toBe(0o111);
  // Most of it are the pictures of the guides.
  expect(packed.size).toBeLessThan(3_000_000);
});

test('`npx kontor serve` starts a shop in an empty folder, and keeps its data there', async () => {
  const cwd = path.join(folder, 'shop');
  await mkdir(cwd);
  const service = await startKontor({}, { root: installed, cwd });
  expect(service.stderr()).toBe('');
  const read = async (known: string) => {
    const response = await fetch(service.address + known);
    return { status: response.status, text: await response.text() };
  };
  const page = await read('/shop/DemoShop');
  const stylesheet = /href="(\/assets\/[^"]+\.css)"/.exec(page.text)![1]!;
  for (const known of ['/health', '/docs/feeds', '/admin', stylesheet]) {
    expect([known, (await read(known)).status]).toEqual([known, 200]);
  }
  expect(await readdir(cwd)).toEqual(['data']);
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});
