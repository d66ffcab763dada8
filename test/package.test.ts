import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { cleanUp, kontor, newFolder, startKontor } from './process.ts';
import { manifestIn, npmFrom, startRegistry } from './registry.ts';

/*
 * The packages as people get them from npm, installed in empty folders from a registry that has them and what they
 * depend on.
 */

// npm unpacks some 250 packages, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const ROOT = path.join(import.meta.dirname, '..');
const run = promisify(execFile);

interface Packed {
  filename: string;
  name: string;
  size: number;
  files: { path: string; size: number; mode: number }[];
}

let folder: string;
let packed: Packed;
let creator: Packed;
let registry: Awaited<ReturnType<typeof startRegistry>>;

const npm = (words: string[], cwd: string) => npmFrom(registry, folder, words, cwd);

beforeAll(async () => {
  folder = await newFolder();
  // Compiles what has changed since the last time, which `npm publish` does with the script "prepare".
  await kontor(['--help'], {});
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
  const workspaces = ['--include-workspace-root', '--workspace', 'create-kontor'];
  const { stdout } = await run('npm', ['pack', ...options, ...workspaces], { cwd: ROOT });
  const all = JSON.parse(stdout) as Packed[];
  [packed, creator] = ['kontor', 'create-kontor'].map((name) => all.find((each) => each.name === name)!) as [
    Packed,
    Packed,
  ];
  const sources = { kontor: ROOT, 'create-kontor': path.join(ROOT, 'packages/create-kontor') };
  registry = await startRegistry(
    ROOT,
    Object.entries(sources).map(([name, source]) => ({
      file: path.join(folder, all.find((each) => each.name === name)!.filename),
      manifest: manifestIn(source),
    })),
  );
});
afterAll(async () => {
  registry.close();
  await cleanUp();
});

test('it holds the compiled program and what that reads, and nothing for developers', async () => {
  const folders = new Set(packed.files.map((file) => file.path.replace(/\/.*/, '')));
  expect([...folders].toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES.md',
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
  // Most of it are the pictures of the guides.
  expect(packed.size).toBeLessThan(3_000_000);
  expect(creator.files.map((file) => file.path).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'index.js',
    'package.json',
  ]);
});

describe('npm create kontor', () => {
  const guide = readFileSync(path.join(ROOT, 'docs/operations/install.md'), 'utf8');
  const [, block = ''] = /\n## npm create\n\n```sh\n(.*?)```/s.exec(guide)!;
  const commands = block.trim().split('\n');
  const files = ['.gitignore', 'README.md', 'package.json', 'shop.yaml'];
  const shop = () => path.join(folder, 'my-shop');
  /** The words of a line of the guide, without `npm`. */
  const wordsOf = (command: string) =>
    command
      .match(/"[^"]*"|\S+/g)!
      .slice(1)
      .map((word) => word.replaceAll('"', ''));

  const create = (...words: string[]) =>
    run(process.execPath, [path.join(ROOT, 'packages/create-kontor/index.js'), ...words, '--yes'], {
      cwd: folder,
    });

  test('makes a folder with four small files, and nothing where something is', async () => {
    const name = `Smith's "Tea": 100 % #1`;
    await create('tea', '--name', name, '--country', 'at', '--language', 'de');
    const tea = path.join(folder, 'tea');
    expect((await readdir(tea)).toSorted()).toEqual(files);
    expect(parse(await readFile(path.join(tea, 'shop.yaml'), 'utf8'))).toEqual({ name });
    expect(JSON.parse(await readFile(path.join(tea, 'package.json'), 'utf8'))).toMatchObject({
      scripts: {
        setup: 'kontor shop create tea --country AT --language de --settings shop.yaml --yes',
        start: 'kontor serve',
      },
    });
    expect((await readFile(path.join(tea, 'README.md'), 'utf8')).trim().split('\n')).toHaveLength(6);
    await expect(create('tea', '--name', 'Other')).rejects.toMatchObject({
      code: 2,
      stderr: 'create-kontor: tea is not empty: choose another folder.\n',
    });
    expect(parse(await readFile(path.join(tea, 'shop.yaml'), 'utf8'))).toEqual({ name });
  });

  test.each([
    [['../My Shop'], '"../My Shop" cannot be the folder'],
    [['a', 'b'], 'one folder, please: a b'],
    [['cups', '--country', 'XX'], '"XX" is no country code like DE, GB or US.'],
    [['cups', '--country', 'DE; rm -rf /'], '"DE; rm -rf /" is no country code like DE, GB or US.'],
    [['cups', '--language', 'zz'], '"zz" is no language like de or fr.'],
    [['cups', '--name', 'two\nlines'], 'the name of a shop is one line of at most 255 characters.'],
    [['cups', '--colour'], "Unknown option '--colour'. See: npm create kontor -- --help"],
  ])('refuses %j', async (words, reason) => {
    const before = await readdir(folder);
    const ended = await create(...words).catch((error: object) => error);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    const { stderr } = ended as { stderr: string };
    expect(stderr).toMatch(/^create-kontor: [^\n]+\n$/);
    expect(stderr).toContain(reason);
    expect(await readdir(folder)).toEqual(before);
  });

  test('the lines of the guide install Kontor and create the shop', async () => {
    const [made, entered, installed, setUp, started] = commands;
    const { stdout } = await npm([...wordsOf(made!)], folder);
    expect(stdout).toContain('    cd my-shop\n    npm install\n    npm run setup\n    npm start\n');
    expect([entered, installed, setUp, started]).toEqual([
      'cd my-shop',
      'npm install',
      'npm run setup',
      'npm start',
    ]);
    await npm(wordsOf(installed!), shop());
    const { mode } = await stat(path.join(shop(), 'node_modules/kontor/bin/kontor.js'));
    expect(mode & 0o111).toBe(0o111);
    const created = (await npm(wordsOf(setUp!), shop())).stdout;
    expect(created).toContain('Shop my-shop is created: http://my-shop.localhost:8080\n');
    expect(created).toContain('  Name         My shop, ');
    expect(created).toContain('  Language     German (de_DE), prices in EUR\n');
    expect((await readdir(shop())).toSorted()).toEqual(
      [...files, 'data', 'node_modules', 'package-lock.json'].toSorted(),
    );
  });
});

test('`npx kontor` starts a shop in an empty folder, keeps its data there, and sells', async () => {
  const cwd = path.join(folder, 'look');
  await mkdir(cwd);
  // What npx runs after it has installed the package.
  const installed = path.join(folder, 'my-shop/node_modules/kontor');
  const service = await startKontor({}, { root: installed, cwd, words: [] });
  expect(service.stderr()).toBe('');
  expect(service.stdout()).toContain(`  Data                  ${path.join(cwd, 'data')}\n`);
  const read = async (known: string) => {
    const response = await fetch(service.address + known);
    return { status: response.status, text: await response.text() };
  };
  const page = await read('/shop/DemoShop');
  const stylesheet = /href="(\/assets\/[^"]+\.css)"/.exec(page.text)![1]!;
  for (const known of ['/health', '/docs/feeds', '/admin', stylesheet]) {
    expect([known, (await read(known)).status]).toEqual([known, 200]);
  }
  expect(await buy(`${service.address}/rs/shops/DemoShop`)).toMatchObject({ grandTotal: '59.01' });
  expect(await readdir(cwd)).toEqual(['data']);
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});

/** The purchase of docs/getting-started.md. */
async function buy(shop: string): Promise<unknown> {
  const made = await fetch(`${shop}/carts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      lineItems: [{ productId: '018C16DF-9280-7011-A1E6-35C0FF99683F', quantity: 1 }],
      billingAddress: {
        firstName: 'Ada',
        lastName: 'Lindqvist',
        street: 'Kai 7',
        zipCode: '20457',
        city: 'Hamburg',
        country: 'DE',
        emailAddress: 'ada@mail.example',
      },
    }),
  });
  const { cartId } = (await made.json()) as { cartId: string };
  const ordered = await fetch(`${shop}/carts/${cartId}/order`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer demo-all',
      'x-epages-cart-token': made.headers.get('x-epages-cart-token')!,
    },
  });
  expect(ordered.status).toBe(201);
  const { orderId } = (await ordered.json()) as { orderId: string };
  const read = await fetch(`${shop}/orders/${orderId}`, { headers: { authorization: 'Bearer demo-all' } });
  return read.json();
}
