import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { installedPackages } from '../release/licences.ts';
import { compareVersions } from '../src/commands/upgrade/changelog.ts';

/** A package as npm packs it. */
export interface Tarball {
  file: string;
  manifest: Manifest;
}

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * A registry of npm on this machine, which has what is installed here and the given packages, and nothing else: a test
 * installs from it as people do from npm's, without a network and without what happens to be in a cache.
 */
export async function startRegistry(
  root: string,
  packed: readonly Tarball[],
  /** Also what is for development only, with the types of everything. */
  { isDev = false } = {},
) {
  const folders = installedPackages(readFileSync(path.join(root, 'package-lock.json'), 'utf8'), { isDev })
    .map(({ folder }) => path.join(root, folder))
    // Those of other platforms are not there, and npm goes on without them, as with a network.
    .filter((folder) => existsSync(folder));
  const { overrides = {} } = manifestIn(root);
  const sources = [
    ...packed.map(({ file, manifest }) => ({ source: file, manifest })),
    ...folders.map((folder) => ({ source: folder, manifest: overridden(manifestIn(folder), overrides) })),
  ];
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url!);
    const number = /^\/-\/(\d+)$/.exec(url)?.[1];
    if (number !== undefined) {
      sendPackage(sources[Number(number)]!.source, isDev).pipe(response);
      return;
    }
    const name = url.slice(1).replace(/\/latest$/, '');
    const versions = Object.fromEntries(
      sources.flatMap(({ manifest }, index) =>
        manifest.name === name
          ? [[manifest.version, { ...manifest, dist: { tarball: `${address}/-/${index}` } }]]
          : [],
      ),
    );
    const latest = Object.keys(versions).toSorted(compareVersions).at(-1);
    response.statusCode = latest === undefined ? 404 : 200;
    response.setHeader('content-type', 'application/json');
    const isLatest = latest !== undefined && url.endsWith('/latest');
    response.end(JSON.stringify(isLatest ? versions[latest] : { name, 'dist-tags': { latest }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, close: () => server.close() };
}

/** `npm`, with nothing but this registry and a cache of its own in the folder. */
export function npmFrom(registry: { address: string }, folder: string, words: string[], cwd: string) {
  // npx asks before it fetches a package, and a test is no terminal.
  const options = [
    '--yes',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--registry',
    registry.address,
  ];
  const [command = '', ...rest] = words;
  return promisify(execFile)('npm', [command, ...options, '--cache', path.join(folder, 'cache'), ...rest], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1', npm_config_loglevel: 'error' },
  });
}

/**
 * What package.json overrides is here in that version only. Overrides are not those of whoever installs a package: from
 * npm's registry they get a cookie that asks for a newer Node, which nothing loads, because dist/ has ours.
 */
function overridden(manifest: Manifest, overrides: Record<string, string>): Manifest {
  const entries = Object.entries(manifest.dependencies ?? {});
  return {
    ...manifest,
    dependencies: Object.fromEntries(entries.map(([name, range]) => [name, overrides[name] ?? range])),
  };
}

/** Without what only compilers and debuggers read, which is a third of it. */
function sendPackage(source: string, isWhole: boolean): NodeJS.ReadableStream {
  if (source.endsWith('.tgz')) return createReadStream(source);
  const name = path.basename(source);
  const types = ['*.map', '*.d.ts', '*.d.mts', '*.d.cts'];
  const without = [`${name}/node_modules`, ...(isWhole ? [] : types)];
  const options = without.map((pattern) => `--exclude=${pattern}`);
  return spawn('tar', ['-c', '-f', '-', ...options, '-C', path.dirname(source), name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }).stdout;
}
