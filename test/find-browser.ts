import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What decides which browser is used. */
export interface Machine {
  platform: NodeJS.Platform;
  arch: string;
  env: Readonly<Record<string, string | undefined>>;
  exists: (file: string) => boolean;
}

/** `package` is the browser of @sparticuz/chromium, which has to be unpacked first. */
export type FoundBrowser = { from: 'KONTOR_BROWSER' | 'machine'; path: string } | { from: 'package' };

export const PACKAGE = fileURLToPath(new URL('../node_modules/@sparticuz/chromium', import.meta.url));

/** Why tests were skipped; the summary of a run counts them by it. */
export const NO_BROWSER = 'There is no browser';

export const HOW_TO_GET_A_BROWSER =
  'install Chrome, Chromium or Edge (on Debian: apt-get install chromium-headless-shell), or set KONTOR_BROWSER to the path of one';

/** The shell first: it is the same browser without windows, and does the work of a page in a third of the time. */
const COMMANDS = [
  'chromium-headless-shell',
  'google-chrome-stable',
  'google-chrome',
  'chromium',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
  'msedge',
];
const WINDOWS_COMMANDS = ['chrome.exe', 'chromium.exe', 'msedge.exe'];

/** Where packages put the browser without a command on the PATH of every user. */
const LINUX_PLACES = [
  '/opt/google/chrome/chrome',
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium-browser/chromium-browser',
  '/snap/bin/chromium',
  '/opt/microsoft/msedge/msedge',
];
const MAC_APPLICATIONS = ['Google Chrome', 'Chromium', 'Microsoft Edge'];
const WINDOWS_PLACES = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
];
const WINDOWS_FOLDERS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'];

/**
 * The browser for tests and screenshots: the one that KONTOR_BROWSER names, whether it exists or not, because whoever
 * sets it wants no other; then the npm package where it fits the CPU; then what is installed. Undefined if there is none.
 */
export function findBrowser(machine: Machine): FoundBrowser | undefined {
  const { platform, arch, env, exists } = machine;
  const named = env['KONTOR_BROWSER'];
  if (named) return { from: 'KONTOR_BROWSER', path: named };
  // The package installs everywhere, but the browser in it is for this system and CPU only.
  if (platform === 'linux' && arch === 'x64' && exists(path.join(PACKAGE, 'package.json'))) {
    return { from: 'package' };
  }
  const installed = usualPlaces(machine).find(exists);
  return installed === undefined ? undefined : { from: 'machine', path: installed };
}

/** On Linux the PATH comes first: its commands are scripts that set up what the programs behind them need. */
function usualPlaces({ platform, env }: Machine): string[] {
  if (platform === 'win32') {
    // Windows does not tell upper from lower case in the names of variables.
    const variables = new Map(Object.entries(env).map(([name, value]) => [name.toUpperCase(), value]));
    const folders = WINDOWS_FOLDERS.map((name) => variables.get(name)).filter((folder) => !!folder);
    return [
      ...WINDOWS_PLACES.flatMap((place) => folders.map((folder) => path.win32.join(folder!, place))),
      ...onPath(variables.get('PATH'), WINDOWS_COMMANDS, path.win32),
    ];
  }
  const commands = onPath(env['PATH'], COMMANDS, path.posix);
  return platform === 'darwin' ? [...macPlaces(env['HOME']), ...commands] : [...commands, ...LINUX_PLACES];
}

function macPlaces(home: string | undefined): string[] {
  const folders = ['/Applications', ...(home ? [`${home}/Applications`] : [])];
  return MAC_APPLICATIONS.flatMap((name) =>
    folders.map((folder) => `${folder}/${name}.app/Contents/MacOS/${name}`),
  );
}

function onPath(
  searched: string | undefined,
  commands: readonly string[],
  paths: path.PlatformPath,
): string[] {
  const folders = (searched ?? '').split(paths.delimiter).filter((folder) => folder !== '');
  return commands.flatMap((command) => folders.map((folder) => paths.join(folder, command)));
}

/** The browser of the machine this runs on. */
export function findOwnBrowser(): FoundBrowser | undefined {
  const { platform, arch, env } = process;
  return findBrowser({ platform, arch, env, exists: existsSync });
}
