import path from 'node:path';
import { expect, test } from 'vitest';
import { findBrowser, PACKAGE, type FoundBrowser } from './find-browser.ts';

const NPM = path.join(PACKAGE, 'package.json');
const MAC_CHROME = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const WINDOWS_EDGE = 'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe';
const WINDOWS_CHROME = 'C:\\Users\\Ada\\AppData\\Local\\Google\\Chrome\\Application\\chrome.exe';
const WINDOWS = {
  'ProgramFiles(x86)': 'C:\\Program Files (x86)',
  LOCALAPPDATA: 'C:\\Users\\Ada\\AppData\\Local',
};
const PATH = '/home/ada/bin:/usr/local/bin::/usr/bin';

const installed = (file: string): FoundBrowser => ({ from: 'machine', path: file });

interface Row {
  where: string;
  on: [platform: NodeJS.Platform, arch: string];
  env?: Record<string, string>;
  files: string[];
  found: FoundBrowser | undefined;
}

const ROWS: Row[] = [
  {
    where: 'the variable comes before everything else',
    on: ['linux', 'x64'],
    env: { KONTOR_BROWSER: '/opt/mine', PATH },
    files: [NPM, '/opt/mine', '/usr/bin/chromium'],
    found: { from: 'KONTOR_BROWSER', path: '/opt/mine' },
  },
  {
    where: 'the variable names a file that is not there: no other browser takes its place',
    on: ['linux', 'x64'],
    env: { KONTOR_BROWSER: '/opt/mistyped' },
    files: [NPM],
    found: { from: 'KONTOR_BROWSER', path: '/opt/mistyped' },
  },
  {
    where: 'an empty variable is none',
    on: ['linux', 'x64'],
    env: { KONTOR_BROWSER: '' },
    files: [NPM],
    found: { from: 'package' },
  },
  {
    where: 'the package comes before an installed browser',
    on: ['linux', 'x64'],
    env: { PATH },
    files: [NPM, '/usr/bin/chromium'],
    found: { from: 'package' },
  },
  {
    where: 'without the package an installed one is found',
    on: ['linux', 'x64'],
    env: { PATH },
    files: ['/usr/bin/chromium'],
    found: installed('/usr/bin/chromium'),
  },
  {
    where: 'the package does not fit',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: [NPM],
    found: undefined,
  },
  {
    where: 'the package does not fit, Chromium of Debian is there',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: [NPM, '/usr/bin/chromium'],
    found: installed('/usr/bin/chromium'),
  },
  {
    where: 'the browser without windows comes first',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: ['/usr/bin/google-chrome', '/usr/bin/chromium', '/usr/bin/chromium-headless-shell'],
    found: installed('/usr/bin/chromium-headless-shell'),
  },
  {
    where: 'Chrome comes before Chromium, whatever the order of the folders',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: ['/home/ada/bin/chromium', '/usr/bin/google-chrome'],
    found: installed('/usr/bin/google-chrome'),
  },
  {
    where: 'a snap, which is not on the PATH of every program',
    on: ['linux', 'arm64'],
    env: { PATH: '/usr/bin' },
    files: ['/snap/bin/chromium'],
    found: installed('/snap/bin/chromium'),
  },
  {
    where: 'Edge alone',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: ['/usr/bin/microsoft-edge'],
    found: installed('/usr/bin/microsoft-edge'),
  },
  {
    where: 'a command comes before the program that it starts',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: ['/usr/lib/chromium/chromium', '/usr/bin/chromium'],
    found: installed('/usr/bin/chromium'),
  },
  { where: 'no PATH at all', on: ['linux', 'arm64'], files: ['/usr/bin/chromium'], found: undefined },
  {
    where: 'an empty entry of the PATH is not the current folder',
    on: ['linux', 'arm64'],
    env: { PATH },
    files: ['chromium', './chromium', '/chromium'],
    found: undefined,
  },
  {
    where: 'Chrome of all users',
    on: ['darwin', 'arm64'],
    env: { HOME: '/Users/ada', PATH },
    files: [NPM, MAC_CHROME, '/usr/local/bin/chromium'],
    found: installed(MAC_CHROME),
  },
  {
    where: 'Edge of one user',
    on: ['darwin', 'x64'],
    env: { HOME: '/Users/ada' },
    files: [NPM, '/Users/ada/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'],
    found: installed('/Users/ada/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'),
  },
  {
    where: 'Chromium of a package manager',
    on: ['darwin', 'arm64'],
    env: { PATH: '/opt/homebrew/bin:/usr/bin' },
    files: ['/opt/homebrew/bin/chromium'],
    found: installed('/opt/homebrew/bin/chromium'),
  },
  {
    where: 'Edge, which comes with the system',
    on: ['win32', 'x64'],
    env: WINDOWS,
    files: [NPM, WINDOWS_EDGE],
    found: installed(WINDOWS_EDGE),
  },
  {
    where: 'Chrome of one user comes before Edge',
    on: ['win32', 'x64'],
    env: WINDOWS,
    files: [WINDOWS_EDGE, WINDOWS_CHROME],
    found: installed(WINDOWS_CHROME),
  },
  {
    where: 'a folder of the PATH',
    on: ['win32', 'arm64'],
    env: { Path: 'C:\\Windows;D:\\Tools' },
    files: ['D:\\Tools\\chrome.exe'],
    found: installed('D:\\Tools\\chrome.exe'),
  },
  { where: 'nothing', on: ['win32', 'x64'], env: {}, files: [NPM], found: undefined },
  { where: 'another system', on: ['freebsd', 'x64'], env: { PATH }, files: [NPM], found: undefined },
];

test.each(ROWS)('on $on: $where', ({ on: [platform, arch], env = {}, files, found }) => {
  expect(findBrowser({ platform, arch, env, exists: (file) => files.includes(file) })).toEqual(found);
});
