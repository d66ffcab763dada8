import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Command } from '../../src/commands/command.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { sql } from '../../src/db/sql.ts';
import { kontorHere } from '../command.ts';
import { startDemo } from '../demo.ts';
import { cleanUp, newFolder } from '../process.ts';
import { ofTheDay, SEED } from '../seed.ts';
import { databaseEnvironment, type Service } from '../service.ts';

/**
 * Every command with arguments, options and files that nobody types by accident: scripts pass on what others have written,
 * and files come from other machines. A command that can't do what it is told says so in one line per problem and ends with
 * 1 or 2, soon, without a stack. The commands and what they take are read from their own table.
 */

vi.setConfig({ testTimeout: 120_000 });

let service: Service;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  service = await startDemo();
  folder = await newFolder();
  await mkdir(path.join(folder, 'out'));
  environment = {
    ...databaseEnvironment(service.database),
    KONTOR_DATA: service.config.KONTOR_DATA,
    LOG_LEVEL: 'silent',
  };
});
afterAll(async () => {
  await service.close();
  await cleanUp();
});

/** These go on until they are stopped. */
const GOES_ON = new Set(['serve', 'webhook listen', 'app dev', 'mcp']);

const LONG = 'x'.repeat(100_000);
const TEXTS: Readonly<Record<string, string>> = {
  nothing: '',
  'a blank': ' ',
  'a very long text': LONG,
  'a line break': 'Demo\nkontor: all is well',
  'an escape sequence': '\u001b[2J\u001b]0;owned\u0007DemoShop',
  'a null': 'Demo\0Shop',
  'half a character': 'Demo\ud800',
  'text from right to left': '\u202epohSomeD',
  __proto__: '__proto__',
  constructor: 'constructor',
  'a path': '../../etc/passwd',
  'a negative number': '-1',
  'a number that is none': 'NaN',
  'a huge number': '1e309',
  SQL: "x'; drop table shop; --",
  'a format': '%s%n%x',
  'a template': '${process.exit(7)}',
  'an id that is none': '00000000-0000-0000-0000-000000000000',
  'an email address': 'nobody@nowhere.example',
};

/** The value of an option or an argument that lets the command go on to the others. */
function sample(name: string): string {
  const option = OPTION_SAMPLES[name];
  if (option !== undefined) return option;
  if (name === '[KIND]') return 'order';
  if (name === 'EMAIL') return 'nobody@nowhere.example';
  if (/FILE/.test(name)) return path.join(folder, 'no-such-file');
  return /^(?:ID|SHOP)$/.test(name) ? 'EmptyShop' : 'nothing';
}

const OPTION_SAMPLES: Readonly<Record<string, string>> = {
  scopes: 'products_read',
  name: 'Labels',
  callback: 'https://labels.example/install',
  products: '1',
  to: 'db2.internal:5432',
};

/** Where a command writes, it writes below the folder of the test. */
const isWritten = (command: Command, place: string) =>
  ['--output', '--out', '--report'].includes(place) || (command.name === 'shop backup' && place === 'FILE');

/** A call in which everything is right but for one text. */
function callOf(command: Command, at: string, text: string): string[] {
  const { name, arguments: names = [], options = {} } = command;
  const wrong = isWritten(command, at) ? path.join(folder, 'out', text) : text;
  const given = names.map((argument) => (argument === at ? wrong : sample(argument)));
  const needed = Object.entries(options).flatMap(([option, { required }]) => {
    if (`--${option}` === at) return [`--${option}=${wrong}`];
    if (option === 'out') return [`--out=${path.join(folder, 'out.html')}`];
    return required ? [`--${option}=${sample(option)}`] : [];
  });
  // What stands behind -- is never an option.
  return [...name.split(' '), ...needed, ...(given.length > 0 ? ['--', ...given] : [])];
}

const CONTROL = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Refused before the command sees them. */
const UNSAFE = Object.values(TEXTS).filter((text) => CONTROL.test(text) || text === LONG);
/** Names that something may have. Each place gets one of them, another every day, and all places together get all. */
const ODD = Object.values(TEXTS).filter((text) => !UNSAFE.includes(text));
let turn = SEED;

/** What goes on until it is stopped is called with texts that it can only refuse. */
function textsFor({ name }: Command): string[] {
  if (GOES_ON.has(name)) return UNSAFE;
  const count = process.env['KONTOR_TEST_ALL'] === undefined ? 1 : ODD.length;
  const odd = Array.from({ length: count }, () => ODD[turn++ % ODD.length]!);
  return [...UNSAFE, ...odd];
}

const placesOf = ({ arguments: names = [], options = {} }: Command) => [
  ...names,
  ...Object.entries(options).flatMap(([option, { type }]) => (type === 'string' ? [`--${option}`] : [])),
];

/** Runs a command, and says what is wrong with how it ended; nothing, if it did what it was told. */
async function problemsOf(words: string[], { mayBeDone = false } = {}): Promise<string[]> {
  const began = performance.now();
  const memory = process.memoryUsage.rss();
  const { code, stdout, stderr } = await kontorHere(words, environment);
  const lines = stderr.split('\n').filter((line) => line !== '');
  // A progress line says how much was done; that so many commands ran in one process is this test's doing.
  const reasons = lines.filter((line) => !/^[\d,]+ [a-z ]+ in [\d.]+ s|^\(node:|^\(Use `node/.test(line));
  const isDone = mayBeDone && code === 0 && reasons.length === 0;
  return [
    ...(isDone || code === 1 || code === 2 ? [] : [`ended with ${code}`]),
    ...(isDone || reasons.length > 0 ? [] : ['gave no reason']),
    ...reasons.filter((line) => !line.startsWith('kontor: ')).map((line) => `said ${line.slice(0, 200)}`),
    ...(reasons.length > 101 ? [`said ${reasons.length} lines`] : []),
    ...(reasons.some((line) => line.length > 1_200) ? ['said a line without end'] : []),
    ...(lines.some((line) => CONTROL.test(line)) ? ['printed control characters'] : []),
    ...(/^\s+at /m.test(stderr) ? ['printed a stack'] : []),
    ...(CONTROL.test(stdout.replaceAll(/[\n\r\t]/g, '')) ? ['printed control characters to stdout'] : []),
    ...(performance.now() - began > 30_000 ? ['took more than 30 seconds'] : []),
    ...(process.memoryUsage.rss() - memory > 400 * 1_048_576 ? ['took more than 400 MB'] : []),
  ];
}

/** Those of many calls that ended badly. */
async function badEndings(calls: readonly string[][], options = {}): Promise<unknown[]> {
  const bad = [];
  for (const words of calls) {
    const problems = await problemsOf(words, options);
    if (problems.length > 0) bad.push({ words: words.map((word) => word.slice(0, 80)), problems });
  }
  return bad;
}

const named = COMMANDS.map((command) => [command.name, command] as const);

describe('texts', () => {
  test.each(named)(
    'kontor %s is given no odd text that it does not refuse or take as it is',
    async (_name, command) => {
      const calls = placesOf(command).flatMap((place) =>
        textsFor(command).map((text) => callOf(command, place, text)),
      );
      expect(await badEndings(calls, { mayBeDone: true })).toEqual([]);
    },
  );

  test.each(named)('kontor %s is called wrongly', async (_name, command) => {
    const { name, arguments: names = [], options = {} } = command;
    const begin = name.split(' ');
    const booleans = Object.keys(options).filter((option) => options[option]!.type === 'boolean');
    const strings = Object.keys(options).filter((option) => options[option]!.type === 'string');
    const calls = [
      ['--no-such-option'],
      ['--__proto__'],
      ['--__proto__=x'],
      ['--constructor=x'],
      ['--toString'],
      ['-x'],
      ['-'.repeat(50)],
      ['--', ...Array.from({ length: names.length + 1 }, () => 'x')],
      Array.from({ length: 5_000 }, () => 'x'),
      ...booleans.map((option) => [`--${option}=x`]),
      ...strings.map((option) => [`--${option}`]),
      ...(names.some((argument) => !argument.startsWith('[')) ? [[]] : []),
    ].map((words) => [...begin, ...words]);
    expect(await badEndings(calls)).toEqual([]);
  });

  test('commands that do not exist', async () => {
    const calls = [
      ...Object.values(TEXTS).map((text) => [text]),
      ...Object.values(TEXTS).map((text) => ['shop', text]),
      ...Object.values(TEXTS).map((text) => ['shop', 'nonsense', text]),
      ['__proto__', 'constructor'],
      ['--help', 'x'.repeat(5_000)],
      Array.from({ length: 5_000 }, () => 'shop'),
    ].filter(
      (words) =>
        words.join('').trim() !== '' &&
        words.join(' ').trim() !== 'shop' &&
        words.join(' ').trim() !== 'help',
    );
    expect(await badEndings(calls)).toEqual([]);
  });
});

describe('files', () => {
  const ALIASES = ['a: &a ["x","x","x","x","x","x","x","x","x"]']
    .concat(
      'bcdefghij'
        .split('')
        .map((name, index) => `${name}: &${name} [${`*${'abcdefghij'[index]},`.repeat(9)}]`),
    )
    .join('\n');
  /** Beyond a limit. */
  const BOMBS: Readonly<Record<string, Buffer | string>> = {
    'too large': Buffer.alloc(20_000_000, 'a: b\n'),
    'nested lists': '['.repeat(20_000),
    aliases: ALIASES,
    'many columns': `${'a;'.repeat(5_000)}\nx`,
  };
  const FILES: Readonly<Record<string, Buffer | string>> = {
    empty: '',
    blank: ' \n \n',
    binary: Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7_919) % 256)),
    nulls: Buffer.alloc(300_000),
    'utf-16': Buffer.from('\ufeffname: x\n', 'utf16le'),
    'one line': 'x'.repeat(300_000),
    'nested maps': '{a: '.repeat(3_000),
    'nested lines': Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
    'nested quotes': '"'.repeat(100_001),
    'an alias of itself': '&a [*a]',
    tags: '!!js/function "function(){process.exit(7)}"',
    merge: '<<: {__proto__: {x: 1}}\n__proto__: {y: 1}\nconstructor: {prototype: {z: 1}}',
    'a second document': 'name: a\n---\nname: b\n',
    'escape sequences': 'name: "\\e[2J\\x07"\n\u001b[2J: 1\n',
    'a table without rows': 'SKU;Name\n',
    'a table without a header': ';;;;;\n;;;;\n',
    'a table with odd names': 'SKU;__proto__;constructor\nA;B;C\n\u001b[2J;\0;\ud800\n',
    'a zip': Buffer.from('PK\u0003\u0004'),
    'a gzip': Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 255]),
    'a backup of nothing': 'KONTOR\n{}\n',
    json: '{"__proto__":{"x":1},"format":"kontor shop backup"}',
  };

  /** The bombs, some of the other files, and what is no file. */
  async function places(): Promise<string[]> {
    const files = [...Object.entries(BOMBS), ...ofTheDay(Object.entries(FILES), 7)];
    const made = path.join(folder, 'files');
    await mkdir(made, { recursive: true });
    for (const [name, content] of files) await writeFile(path.join(made, name), content);
    await symlink(path.join(made, 'loop'), path.join(made, 'loop')).catch(() => {});
    const devices = process.platform === 'linux' ? ['/dev/zero', '/dev/null', '/proc/self/mem'] : [];
    return [
      ...files.map(([name]) => path.join(made, name)),
      path.join(made, 'loop'),
      path.join(made, 'missing'),
      path.join(made, 'aliases', 'below a file'),
      made,
      ...devices,
    ];
  }

  const reading = named.flatMap(([name, command]) =>
    placesOf(command)
      .filter((place) => {
        const { value = '' } = command.options?.[place.slice(2)] ?? {};
        return (/FILE/.test(place) || /FILE/.test(value)) && !isWritten(command, place);
      })
      .map((place) => [name, place, command] as const),
  );

  test('these commands read files', () => {
    expect(reading.map(([name, place]) => `${name} ${place}`)).toEqual([
      'shop create --settings',
      'shop apply FILE.yaml',
      'shop restore FILE',
      'shop restore --source-key',
      'products import FILE.csv',
    ]);
  });

  test.each(reading)('kontor %s %s', async (name, place, command) => {
    // A table may be as large as it likes.
    const files = (await places()).filter(
      (file) => name !== 'products import' || !file.endsWith('too large'),
    );
    const calls = files.map((file) => callOf(command, place, file));
    // A table without rows is one, and any text can be a phrase that a key is made of.
    expect(await badEndings(calls, { mayBeDone: name === 'products import' })).toEqual([]);
    expect([({} as Record<string, unknown>)['x'], ({} as Record<string, unknown>)['y']]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('that can’t be written are one line', async () => {
    const written = named.flatMap(([, command]) =>
      placesOf(command)
        .filter((place) => isWritten(command, place))
        .flatMap((place) =>
          ofTheDay([folder, '/proc/x', '/dev/null', path.join(folder, 'missing', 'folder', 'x')], 2).map(
            (file) =>
              callOf(command, place, 'x').map((word) => word.replace(path.join(folder, 'out', 'x'), file)),
          ),
        ),
    );
    expect(written.length).toBeGreaterThan(7);
    expect(await badEndings(written)).toEqual([]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.draft'))).toEqual([]);
  });
});

test('what a merchant has called a shop moves no cursor of the operator', async () => {
  await service.db.run(sql`
    update shop set settings = jsonb_set(settings, array['name', default_locale], to_jsonb(${'Evil \u009b2J\u202e shop'}::text)) where shop_id = 'EmptyShop'`);
  const { code, stdout } = await kontorHere(['shop', 'list'], environment);
  expect([code, CONTROL.test(stdout.replaceAll('\n', ''))]).toEqual([0, false]);
  expect(stdout).toContain('Evil \\u{9b}2J\\u{202e} shop');
});

test('the shops that were there are there', async () => {
  const shops = await service.db.many<{ shopId: string }>(sql`select shop_id as "shopId" from shop`);
  expect(shops.map(({ shopId }) => shopId)).toEqual(expect.arrayContaining(['DemoShop', 'EmptyShop']));
});
