import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/commands/table.ts';
import { Environment } from '../src/config.ts';
import { cleanUp, kontor, newFolder, startKontor, type Running } from './process.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const readme = read('README.md');
const isThere = (file: string) => existsSync(path.join(root, file));
const manifest = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const pagesIn = (folder: string) =>
  readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);
const guides = pagesIn('docs');
const operations = pagesIn('docs/operations');

test('the README has fewer than 900 words', () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThan(900);
});

test('docs/README.md, which is the contents of /docs, links every guide', () => {
  const index = read('docs/README.md');
  const others = [...guides, ...operations].filter((guide) => guide !== 'docs/README.md');
  expect(others.filter((guide) => !index.includes(`](${path.relative('docs', guide)})`))).toEqual([]);
});

test('the first page about operations links all others', () => {
  const index = read('docs/operations/README.md');
  const others = operations.map((page) => path.basename(page)).filter((page) => page !== 'README.md');
  expect(others.filter((page) => !index.includes(`](${page})`))).toEqual([]);
});

const COMMUNITY = [
  'SECURITY.md',
  'ROADMAP.md',
  'CODE_OF_CONDUCT.md',
  'packages/create-kontor/README.md',
  'packages/create-kontor-app/README.md',
];

describe.each(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...COMMUNITY, ...guides, ...operations])(
  '%s',
  (page) => {
    const text = read(page);

    test('has local links that lead somewhere', () => {
      const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link!);
      expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
    });

    test('names files and folders that are there', () => {
      const named = [...text.matchAll(/`((?:src|test|bench|proof|migrations|examples|docs)\/[\w./-]*)`/g)];
      // The guide to a new endpoint makes up a name.
      const files = named.map(([, file]) => file!).filter((file) => !file.includes('widgets'));
      expect(files.filter((file) => !isThere(file) && !isThere(`${file}.test.ts`))).toEqual([]);
    });
  },
);

/** The file is there, and the heading that the part after `#` names. */
function leadsSomewhere(page: string, link: string): boolean {
  const [file, heading] = link.split('#') as [string, string?];
  const target = file === '' ? page : path.join(path.dirname(page), file);
  if (!isThere(target)) return false;
  return heading === undefined || headingsOf(read(target)).includes(heading);
}

/** As GitHub makes addresses of headings. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the commands of the README', () => {
  const commands = [...readme.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) =>
    block!.trim().split(/\n| && /),
  );
  let data: string;
  let service: Running;

  beforeAll(async () => {
    data = await newFolder();
    service = await startKontor({ KONTOR_DATA: data });
  }, 120_000);
  afterAll(cleanUp);

  test('begin with an installation and the start that this test has made, and end with all tests', () => {
    expect(commands.slice(0, 2)).toEqual(['npm ci', 'npm start']);
    expect(commands.slice(-2)).toEqual(['npm ci', 'npm test']);
    expect(read('.ci/run')).toContain('\nnpm ci');
    expect(manifest.scripts['start']).toBe('node bin/kontor.js serve');
  });

  test.each(commands.slice(2, -2))('%s', { timeout: 60_000 }, async (command) => {
    const [program, ...words] = command.split(' ');
    if (program === 'curl') {
      const { status, body } = await curl(command);
      expect(status).toBe(200);
      expect(readme).toContain(`"results": ${body.results}`);
      expect(body.items).toHaveLength(10);
      return;
    }
    expect([program, words[0]]).toEqual(['npx', 'kontor']);
    expect(await kontor(words.slice(1), { KONTOR_DATA: data })).toMatchObject({ code: 0, stderr: '' });
  });

  async function curl(command: string) {
    const [, header, value, address] = /^curl -H '([^:]+): ([^']+)' http:\/\/localhost:8080(\/\S*)$/.exec(
      command,
    )!;
    const response = await fetch(service.address + address, { headers: { [header!]: value! } });
    const body = (await response.json()) as { results: number; items: unknown[] };
    return { status: response.status, body };
  }

  test('that stand in a sentence are scripts of package.json', () => {
    const scripts = [...readme.matchAll(/`npm (?:run )?([\w:]+)/g)].map(([, script]) => script!);
    expect(scripts).toEqual(expect.arrayContaining(['test', 'bench', 'proof']));
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  });
});

test('docs/configuration.md lists all settings of the service in their order, with their defaults', () => {
  const rows = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm)].map(
    ([, name, value]) => [name, value],
  );
  const settings = Object.entries(Environment.properties);
  expect(rows.map(([name]) => name)).toEqual(settings.map(([name]) => name));
  for (const [name, schema] of settings) {
    const standard = (schema as { default?: unknown }).default;
    if (standard === undefined) continue;
    expect(rows.find(([row]) => row === name)).toEqual([
      name,
      `\`${JSON.stringify(standard).replaceAll('"', '')}\``,
    ]);
  }
});

test.each(COMMANDS)('docs/operations/commands.md names $name', ({ name }) => {
  expect(read('docs/operations/commands.md')).toContain(`\`${name}`);
});

test('docs/dependencies.md gives a reason for every dependency', () => {
  const table = read('docs/dependencies.md');
  const client = JSON.parse(read('packages/client/package.json')) as typeof manifest;
  const unnamed = [manifest, client]
    .flatMap(({ dependencies, devDependencies }) => Object.keys({ ...dependencies, ...devDependencies }))
    .filter((name) => !name.startsWith('@types/') && !table.includes(name));
  expect(unnamed).toEqual([]);
});

test('docs/architecture.md draws the modules in the order of CONTRIBUTING.md', () => {
  const drawing = /```modules\n(.*?)```/s.exec(read('CONTRIBUTING.md'))![1]!;
  const modules = [...drawing.matchAll(/^([a-z]+) {2,}/gm)].map(([, name]) => name!);
  const [chain] = /^kernel ← [^`]*/m.exec(read('docs/architecture.md'))!;
  expect(chain.trim().split(/\s+←\s+/)).toEqual(modules);
});
