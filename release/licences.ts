/**
 * The licences of all packages that an installation has, from package-lock.json: which are allowed, and the page that
 * ships with Kontor. Packages for development are not in it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Licences that ask for no more than their text beside the code. */
export const ALLOWED: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-0-Clause',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
];

/** Packages that say it otherwise, or whose licence is allowed for a reason. */
const REVIEWED: readonly { name: RegExp; licence: string; reason: string }[] = [
  {
    name: /^@img\/sharp-(?:libvips|win32|wasm32)/,
    licence: 'LGPL-3.0-or-later',
    reason: 'libvips is a library of its own that is loaded while running, and can be replaced',
  },
  {
    name: /^dejavu-fonts-ttf$/,
    licence: 'Bitstream Vera and public domain',
    reason: 'fonts that may be embedded and passed on, not sold by themselves',
  },
  { name: /^png-js$/, licence: 'MIT', reason: 'its package.json names none, its file LICENSE does' },
  { name: /^type-fest$/, licence: 'MIT', reason: 'MIT or CC0-1.0: we take MIT' },
];

export interface Installed {
  name: string;
  version: string;
  licence: string;
  /** For some platforms only. */
  isOptional: boolean;
  folder: string;
}

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
  optional?: boolean;
}

/** With those for development only, if it is said. */
export function installedPackages(lockText: string, { isDev = false } = {}): Installed[] {
  const { packages } = JSON.parse(lockText) as { packages: Record<string, Locked> };
  const marker = 'node_modules/';
  const found = new Map<string, Installed>();
  for (const [folder, { version = '', license = '', dev, link, optional }] of Object.entries(packages)) {
    if (!folder.startsWith(marker) || (dev && !isDev) || link) continue;
    const name = folder.slice(folder.lastIndexOf(marker) + marker.length);
    const licence = REVIEWED.find((reviewed) => reviewed.name.test(name))?.licence ?? license;
    found.set(`${name} ${version}`, { name, version, licence, isOptional: optional === true, folder });
  }
  return [...found.values()].toSorted((one, other) => (`${one.name} ` < `${other.name} ` ? -1 : 1));
}

/** Those that nobody has decided about. */
export function refusedPackages(installed: readonly Installed[]): Installed[] {
  return installed.filter(
    ({ name, licence }) =>
      !ALLOWED.includes(licence) && !REVIEWED.some((reviewed) => reviewed.name.test(name)),
  );
}

/** THIRD-PARTY-LICENSES.md */
export function licencesPage(installed: readonly Installed[], root: string): string {
  const texts = new Map<string, { names: string[]; notices: Set<string> }>();
  for (const { name, folder, isOptional } of installed) {
    // Not there on every platform: the package brings its text itself.
    if (isOptional) continue;
    const { body, notices } = licenceText(path.join(root, folder));
    if (body === '') continue;
    const same = texts.get(body) ?? { names: [], notices: new Set() };
    same.names.push(name);
    for (const notice of notices) same.notices.add(notice);
    texts.set(body, same);
  }
  return [
    '# Third-party licences\n',
    'What an installation of Kontor contains besides its own code, with the licence of each package, and below the texts of',
    'those that every installation has. `npm run licences` makes this file from package-lock.json.\n',
    ...installed.map(({ name, version, licence }) => `- ${name} ${version}: ${licence}`),
    '\nReviewed one by one:\n',
    ...REVIEWED.map(({ name, licence, reason }) => `- \`${name.source}\`, ${licence}: ${reason}`),
    ...[...texts].flatMap(([body, { names, notices }]) => [
      `\n## ${[...new Set(names)].join(', ')}\n`,
      '```',
      ...notices,
      ...(notices.size > 0 ? [''] : []),
      body,
      '```',
    ]),
    '',
  ].join('\n');
}

/** The text without who holds the copyright, which is what differs between packages of one licence. */
function licenceText(folder: string): { body: string; notices: string[] } {
  if (!existsSync(folder)) return { body: '', notices: [] };
  const file = readdirSync(folder)
    .toSorted()
    .find((name) => /^(?:licen[cs]e|copying)/i.test(name));
  if (file === undefined) return { body: '', notices: [] };
  const lines = readFileSync(path.join(folder, file), 'utf8')
    .split(/\r?\n/)
    .map((line) => line.trim());
  const isNotice = (line: string) =>
    /^(?:copyright (?:\(c\)|©|\d|[A-Z][a-z])|\(c\) )/i.test(line) && /\d{4}|\(c\)/i.test(line);
  const body = lines
    .filter((line) => !isNotice(line))
    .join('\n')
    .replaceAll(/\n{2,}/g, '\n\n')
    // Wrapped differently it is the same text.
    .replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
    .replaceAll('```', "'''")
    .trim();
  return { body, notices: lines.filter(isNotice) };
}
