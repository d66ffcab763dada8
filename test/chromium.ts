import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type LaunchOptions } from 'playwright-core';
import { findOwnBrowser, HOW_TO_GET_A_BROWSER, NO_BROWSER, PACKAGE } from './find-browser.ts';

/**
 * What keeps it from calling home, and from starting a second process beside that of each visitor, which it would use
 * if they went on to another site. As root its sandbox does not start.
 */
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
  // Pages may give tools to an assistant in the browser.
  '--enable-features=WebMCP,WebMCPTesting',
  '--renderer-process-limit=1',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

/** Whether the tests that need a browser can be skipped: not where a run without them must not pass for a whole one. */
export const isBrowserRequired = !['', '0', 'false'].includes(process.env['CI'] ?? '');

let shared: Promise<Browser> | undefined;

/**
 * The browser of this process, which ends with it. The test files of a worker share it, because it takes longer to start
 * than many tests; every visitor has a context of his own, with cookies and storage that nobody else sees.
 */
export function sharedBrowser(): Promise<Browser> {
  return (shared ??= openShared());
}

/** One that has crashed fails the test that used it; the next test has a new one. */
async function openShared(): Promise<Browser> {
  const browser = await openBrowser();
  browser.on('disconnected', () => (shared = undefined));
  return browser;
}

/** Starts the browser that `findBrowser` finds. */
export async function openBrowser(): Promise<Browser> {
  const found = findOwnBrowser();
  if (!found) throw new Error(`${NO_BROWSER}: ${HOW_TO_GET_A_BROWSER}`);
  if (found.from === 'KONTOR_BROWSER' && !existsSync(found.path)) {
    throw new Error(`KONTOR_BROWSER names ${found.path}, which does not exist`);
  }
  const program: LaunchOptions =
    found.from === 'package' ? await unpackedBrowser() : { executablePath: found.path };
  return chromium.launch({ args: FLAGS, ...program });
}

const CACHE = fileURLToPath(new URL('../node_modules/.cache/kontor', import.meta.url));

/** The package holds the browser compressed, with the libraries that a bare machine lacks. */
async function unpackedBrowser(): Promise<LaunchOptions> {
  const { version } = JSON.parse(await readFile(path.join(PACKAGE, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = path.join(CACHE, `chromium-${version}`);
  if (!existsSync(folder)) await unpack(folder);
  return {
    executablePath: path.join(folder, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: path.join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: path.join(folder, 'fonts'),
    },
  };
}

/**
 * The package takes a file that is there for a whole one, so it unpacks into a folder of its own that gets its name
 * when all is there. It does so in a process of its own, because it changes the environment.
 */
async function unpack(folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  const unpacking = spawn(
    process.execPath,
    ['--input-type=module', '-e', "(await import('@sparticuz/chromium')).default.executablePath()"],
    {
      cwd: PACKAGE,
      // It brings the libraries only to the place that this names.
      env: { ...process.env, TMPDIR: unfinished, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const [code] = (await once(unpacking, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The browser of @sparticuz/chromium could not be unpacked');
  // Only the fonts of the package, so that a page looks the same on every machine.
  await writeFile(
    path.join(unfinished, 'fonts/fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
    <fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
  );
  try {
    await rename(unfinished, folder);
  } catch (error) {
    // Another process of the same run was faster.
    if (!existsSync(folder)) throw error;
    await rm(unfinished, { recursive: true });
  }
}
