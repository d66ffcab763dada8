import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { attachEmbedded, type EmbeddedServer } from '../src/db/embedded.ts';
import { SCOPES } from '../src/http/scopes.ts';
import { dropDatabase, onServers } from './cluster.ts';
import { kontorHere } from './command.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, kontor, newFolder, postmasterOf, startKontor, type Running } from './process.ts';
import { databaseEnvironment } from './service.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
afterAll(cleanUp);

const root = path.join(import.meta.dirname, '..');
const germanShop = path.join(root, 'examples/german-shop.yaml');
const SECRET = /^[A-Za-z0-9]{32}\n$/;

const done = (stdout: string) => ({ code: 0, stdout, stderr: '' });
const refused = (stderr: string) => ({ code: 1, stdout: '', stderr: `kontor: ${stderr}\n` });
const misused = (stderr: string) => ({ code: 2, stdout: '', stderr: `kontor: ${stderr}\n` });

let madeFolder: Promise<string> | undefined;
/** Where the commands below make a database without the demo shop. */
const plainFolder = () => (madeFolder ??= newFolder());

describe('without a database', () => {
  // Nothing may be created for a command that only explains, or that is called wrongly.
  const creatingNothing =
    (start: typeof kontor) =>
    async (...words: string[]) => {
      const folder = path.join(await newFolder(), 'data');
      const ended = await start(words, { KONTOR_DATA: folder });
      await expect(readdir(folder)).rejects.toThrow('ENOENT');
      return ended;
    };
  const run = creatingNothing(kontorHere);
  const runProcess = creatingNothing(kontor);

  const commands = [
    'serve',
    'shop create ID',
    'shop open ID',
    'shop close ID',
    'shop list',
    'shop delete ID',
    'shop copy ID COPY',
    'shop move ID',
    'shop apply ID FILE.yaml',
    'shop export-settings ID',
    'shop confirm-domain ID HOST',
    'shop backup ID FILE',
    'shop export ID FOLDER',
    'shop restore FILE',
    'user create EMAIL',
    'user reset EMAIL',
    'user delete EMAIL',
    'user list',
    'token create ID',
    'token list ID',
    'token revoke ID TOKEN',
    'host token create',
    'host token list',
    'host token end TOKEN',
    'app create ID',
    'app install ID CLIENT_ID',
    'app dev ID ADDRESS',
    'app list ID',
    'app delete ID APP',
    'webhook listen ID',
    'payment set SHOP METHOD',
    'mail preview SHOP [KIND]',
    'products export SHOP',
    'products import SHOP FILE.csv',
    'import SHOP SYSTEM [SOURCE]',
    'orders export SHOP',
    'customers export SHOP',
    'customer export SHOP ID',
    'customer erase SHOP ID',
    'mcp SHOP',
    'demo open',
    'demo generate SHOP',
    'doctor',
    'upgrade',
    'db migrate',
    'db status',
    'db distribute',
  ];

  test('the overview names every command and fits a terminal', async () => {
    const { code, stdout, stderr } = await runProcess('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = stdout.split('\n').filter((line) => line.startsWith('  '));
    expect(rows.map((row) => row.trim().split(/ {2,}/)[0])).toEqual(commands);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(await run('help')).toEqual(done(stdout));
  });

  test('help, version and wrong calls load nothing of the application', async () => {
    const src = path.join(root, 'src');
    const loaded = new Set<string>();
    const load = async (file: string): Promise<void> => {
      if (loaded.has(file)) return;
      loaded.add(file);
      const text = await readFile(path.join(src, file), 'utf8');
      const imports = text.matchAll(/^(?:import|export)(?! type\b)[^;]*? from '(\.[^']+)';$/gm);
      for (const [, place] of imports) await load(path.join(path.dirname(file), place!));
    };
    await load('cli.ts');
    expect([...loaded].toSorted()).toEqual([
      'cli.ts',
      'commands/printable.ts',
      'commands/problem.ts',
      'commands/run.ts',
      'commands/table-of-shops.ts',
      'commands/table.ts',
      'db/failure.ts',
      'http/scopes.ts',
      'kernel/suggestion.ts',
      'platform/version.ts',
    ]);
  });

  test('a group shows its own commands', async () => {
    for (const group of [
      'shop',
      'user',
      'token',
      'host',
      'app',
      'products',
      'orders',
      'customer',
      'demo',
      'db',
    ]) {
      const { code, stdout } = await run(group, '--help');
      expect(code).toBe(0);
      const rows = stdout.split('\n').filter((line) => line.startsWith('  '));
      expect(rows.map((row) => row.trim().split(/ {2,}/)[0])).toEqual(
        commands.filter((command) => command.startsWith(`${group} `)),
      );
    }
  });

  test('every command explains itself', async () => {
    const help = new Map<string, string>();
    for (const command of commands) {
      const name = command.replaceAll(/ [[A-Z]\S*/g, '');
      const { code, stdout, stderr } = await run(...name.split(' '), '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: npx kontor ${command}`);
      help.set(name, stdout);
      // With one option more, that one alone is what is wrong with the example.
      const [, example] = /\nExample:\n {2}npx kontor (.+?)(?: > .*)?\n$/.exec(stdout)!;
      const called = example!.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
      expect(called.join(' ')).toMatch(new RegExp(`^${name}(?: |$)`));
      const { stderr: problem } = await run(...called, '--no-such-option');
      expect(problem).toBe(`kontor: Unknown option --no-such-option. See: npx kontor ${name} --help\n`);
    }
    for (const flag of ['--demo', '--country', '--yes']) expect(help.get('shop create')).toContain(flag);
    for (const flag of ['--as', '--source-key']) expect(help.get('shop restore')).toContain(flag);
    for (const flag of ['--scopes', '--app']) expect(help.get('token create')).toContain(flag);
    for (const flag of ['--name', '--callback', '--scopes']) expect(help.get('app create')).toContain(flag);
    for (const scope of SCOPES) expect(help.get('token create')).toContain(scope);
  });

  test('the version is that of package.json', async () => {
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await runProcess('--version')).toEqual(done(`${version}\n`));
  });

  test('help says what --help says', async () => {
    for (const words of [[], ['shop'], ['shop', 'create'], ['frobnicate']]) {
      expect(await run('help', ...words)).toEqual(await run(...words, '--help'));
    }
  });

  test.each([
    [['frobnicate'], 'Unknown command: frobnicate. See: npx kontor --help'],
    [['shp', 'lst'], 'Unknown command: shp lst, did you mean shop list? See: npx kontor --help'],
    [['shops'], 'Unknown command: shops, did you mean shop? See: npx kontor --help'],
    [
      ['token', 'creat', 'A'],
      'Unknown command: token creat A, did you mean token create? See: npx kontor --help',
    ],
    [
      ['db', '-x'],
      'Unknown command: db -x. There is: db migrate, db status, db distribute. See: npx kontor --help',
    ],
  ])('an unknown command: kontor %j', async (words, line) => {
    expect(await run(...words)).toEqual(misused(line));
  });

  test('a process says the same, and ends with the code', async () => {
    for (const words of [
      ['token', '--help'],
      ['frobnicate'],
      ['token', 'create', 'A', '--scopes', 'orders'],
    ]) {
      expect(await runProcess(...words)).toEqual(await run(...words));
    }
  });

  test.each([
    [['shop', 'apply', 'A'], 'FILE.yaml is missing. See: npx kontor shop apply --help'],
    [['shop', 'list', 'A'], 'shop list takes no arguments; A is too much. See: npx kontor shop list --help'],
    [['shop', 'list', '--all'], 'Unknown option --all. See: npx kontor shop list --help'],
    [
      ['shop', 'apply', 'A', 'b.yaml', '--dryrun'],
      'Unknown option --dryrun, did you mean --dry-run? See: npx kontor shop apply --help',
    ],
    [['shop', 'delete', 'A', '--yes=no'], '--yes takes no value. See: npx kontor shop delete --help'],
    [['token', 'create', 'A'], '--scopes is missing. See: npx kontor token create --help'],
    [
      ['token', 'create', 'A', '--scopes', '--app', 'x'],
      '--scopes needs a value: --scopes all|A,B,C. See: npx kontor token create --help',
    ],
    [
      ['token', 'create', 'A', '--scopes'],
      '--scopes needs a value: --scopes all|A,B,C. See: npx kontor token create --help',
    ],
  ])('wrong usage: kontor %j', async (words, line) => {
    expect(await run(...words)).toEqual(misused(line));
  });

  test('a scope that does not exist', async () => {
    const line = `Unknown scope "orders". The scopes are: ${SCOPES.join(', ')}`;
    expect(await run('token', 'create', 'A', '--scopes', 'orders_read,orders')).toEqual(refused(line));
  });

  test('a settings file that can not be used', async () => {
    const folder = await newFolder();
    const file = path.join(folder, 'shop.yaml');
    const apply = (name: string) => run('shop', 'apply', 'A', name);
    expect(await apply(path.join(folder, 'nowhere.yaml'))).toEqual(
      refused(
        `Cannot read ${folder}/nowhere.yaml: ENOENT: no such file or directory, open '${folder}/nowhere.yaml'`,
      ),
    );
    expect(await apply(folder)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^kontor: Cannot read .*\n$/),
    });

    await writeFile(file, 'locales: [\n');
    expect(await apply(file)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^kontor: \S+shop\.yaml: line 2: .+\n$/),
    });

    await writeFile(
      file,
      'locales:\n  default: en_GB\n  items: [en_GB]\ncurrencies:\n  default: Euro\n  itens: []\n',
    );
    const { code, stdout, stderr } = await run('shop', 'apply', 'A', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines.every((line) => line.startsWith(`kontor: ${file}: currencies`))).toBe(true);
    expect(stderr).toContain('currencies.default (line 5): Euro is no currency code like EUR');
    expect(stderr).toContain('did you mean items?');
  });

  test('a backup that can not be used', async () => {
    const folder = await newFolder();
    const nowhere = path.join(folder, 'nowhere.backup');
    expect(await run('shop', 'restore', nowhere)).toEqual(
      refused(`Cannot read ${nowhere}: ENOENT: no such file or directory, open '${nowhere}'`),
    );
    expect(await run('shop', 'restore', germanShop)).toEqual(
      refused(`${germanShop} is damaged at byte 0, at its beginning: no backup begins like this.`),
    );
  });

  test('a wrong variable of the environment is named', async () => {
    const folder = path.join(await newFolder(), 'data');
    const list = (environment: Record<string, string>) =>
      kontorHere(['shop', 'list'], { KONTOR_DATA: folder, ...environment });
    expect(await list({ PORT: 'abc' })).toEqual(
      refused('PORT is "abc", expected a whole number from 0 to 65535'),
    );
    const { code, stdout, stderr } = await list({ PORT: '70000', LOG_LEVEL: 'loud' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^kontor: PORT /),
      expect.stringMatching(/^kontor: LOG_LEVEL /),
    ]);
    // It may hold a password.
    const url = await list({ DATABASE_URL: 'mysql://me:secret@host/db' });
    expect(url).toMatchObject({ code: 1, stderr: expect.stringMatching(/^kontor: DATABASE_URL .*\n$/) });
    expect(url.stderr).not.toContain('secret');
    expect(await list({ DATABASE_URL: 'postgres://me:secret@host:port/db' })).toEqual(
      refused(
        'The address of the database is not one such as postgres://user:password@host/database. Check DATABASE_URL.',
      ),
    );
  });

  test('a data folder that can not be one', async () => {
    const file = path.join(await newFolder(), 'file');
    await writeFile(file, '');
    expect(await kontorHere(['shop', 'list'], { KONTOR_DATA: file })).toEqual(
      refused(`The data folder ${file} cannot be used (EEXIST): choose another one with KONTOR_DATA.`),
    );
  });
});

describe('without the service', () => {
  let data: string;
  const run = (...words: string[]) => kontorHere(words, { KONTOR_DATA: data });
  const runProcess = (...words: string[]) => kontor(words, { KONTOR_DATA: data });
  /** Keeps PostgreSQL running between the commands, each of which would start it again. */
  let held: EmbeddedServer | undefined;
  beforeAll(async () => {
    data = await plainFolder();
  });
  afterAll(() => held?.stop());

  const steps = `  [ ] Name and address: invoicing.street, invoicing.zipCode, invoicing.city
      The law requires the name and the postal address of the seller on the pages and on every invoice.
      http://localhost:8080/admin/shops/Tea/settings/invoices#field-invoicing.street
  [ ] Tax number: invoicing.vatId
      An invoice must state the VAT ID or the tax number of the seller; small businesses need one too.
      http://localhost:8080/admin/shops/Tea/settings/invoices#field-invoicing.vatId
  [ ] Bank account or payment provider: invoicing.bank.iban
      Customers must be able to pay: by transfer to your bank account, or with a payment provider. A method without its data is not offered.
      http://localhost:8080/admin/shops/Tea/settings/invoices#field-invoicing.bank.iban
  [x] Delivery
  [ ] Legal texts: contact-information, privacy-policy, terms-and-conditions, rights-of-withdrawal, shipping-information, cookie-policy
      A text that is still a draft is not shown and not sent. Complete it and have it checked.
      http://localhost:8080/admin/shops/Tea/settings/legal/contact-information?locale=en_GB#field-description
  [ ] First product (recommended): products
      A shop without products has nothing to sell.
      http://localhost:8080/admin/shops/Tea/products/new
  [ ] Test order (recommended): orders
      Order something yourself, to see what your customers see and receive.
      http://localhost:8080/admin/shops/Tea/preview`;

  test('the database is made when it is needed first, and nothing is left running', async () => {
    const created = await runProcess('shop', 'create', 'Tea');
    expect(created).toEqual({
      code: 0,
      stdout: `Shop Tea is created: http://tea.localhost:8080

  Name         Tea, shop@tea.example
  Language     English (en_GB), prices in EUR
  Taxes        19 %, 7 % (Germany, 2026)
  Delivery     parcel, 4.90 EUR to Germany; the price is ours, set your own
  Payment      in advance, by bank transfer; your bank account is still missing
  Legal texts  6 drafts, not public: complete them and have them checked
  State        not open yet: visitors read that it opens soon

Before it opens:
${steps}

Next:
  npx kontor shop apply Tea FILE.yaml --legal FOLDER     seller, bank account, legal texts
  npx kontor shop open Tea     when all required steps are done
  npx kontor products import Tea FILE.csv
  npx kontor user create shop@tea.example --shop Tea     for the admin, which has the same list
  npx kontor shop export-settings Tea     everything else, as a file for shop apply
`,
      stderr: '',
    });
    expect(await postmasterOf(data)).toBeUndefined();
    held = await attachEmbedded(data, { log: () => {} });
  });

  test('db distribute and shop move, where there is no Citus', async () => {
    expect(await run('db', 'distribute')).toEqual(
      refused(
        'This database has no Citus. Install it on every node, run "create extension citus" in this database, and see docs/operations/citus.md.',
      ),
    );
    expect(await run('db', 'distribute', '--shards', 'many')).toEqual(
      misused('--shards is a number from 1 to 1024. See: npx kontor db distribute --help'),
    );
    expect(await run('shop', 'move', 'Tea', '--to', 'db2:5432')).toEqual(
      refused('The shops are on one machine. Distribute them first: npx kontor db distribute'),
    );
  });

  test('db status and db migrate', async () => {
    const files = (await readdir(path.join(root, 'migrations')))
      .filter((name) => name.endsWith('.sql'))
      .toSorted();
    const status = await run('db', 'status');
    expect(status).toMatchObject({ code: 0, stderr: '' });
    const [header, ...rows] = status.stdout.trimEnd().split('\n');
    expect(header).toMatch(/^MIGRATION +APPLIED$/);
    expect(rows).toEqual(
      files.map((name) => expect.stringMatching(new RegExp(`^${name} +\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$`))),
    );
    expect(await run('db', 'migrate')).toEqual(done('The schema is up to date.\n'));

    const name = `cli_${randomBytes(6).toString('hex')}`;
    await onServers(inject('nodes'), `create database ${name}`);
    const empty = { ...databaseEnvironment(name), KONTOR_DATA: await newFolder() };
    const before = await kontorHere(['db', 'status'], empty);
    expect(before.stdout).toContain('no, run: npx kontor db migrate');
    expect(await kontorHere(['db', 'migrate'], empty)).toEqual(
      done([...files.map((name) => `migration ${name} applied`), 'The schema is up to date.', ''].join('\n')),
    );
    expect(await kontorHere(['shop', 'list'], empty)).toEqual(
      done('No shops yet. Create one: npx kontor shop create ID\n'),
    );
    await dropDatabase(inject('nodes'), name);
  });

  test('a shop is created once, listed, and deleted', async () => {
    expect(await run('shop', 'create', 'Tea')).toEqual(refused('There is a shop Tea already.'));
    expect(await run('shop', 'create', 'TEA')).toEqual(
      refused('There is a shop Tea already, and ids must differ in more than upper and lower case (TEA).'),
    );
    for (const id of ['Tea house', 'x'.repeat(64)]) {
      expect(await run('shop', 'create', id)).toEqual(
        refused(
          `${JSON.stringify(id)} cannot be the id of a shop: use 1 to 63 letters, digits, - or _, a letter or digit first.`,
        ),
      );
    }
    const demo = await run('shop', 'create', 'Demo_2', '--demo');
    expect(demo).toMatchObject({ code: 0, stderr: '' });
    expect(demo.stdout).toMatch(/^Shop Demo_2 created with demo data\. Access token: [A-Za-z0-9]{32}\n$/);
    expect(await run('shop', 'close', 'Tea')).toEqual(
      done('Shop Tea is closed. Open it with: npx kontor shop open Tea\n'),
    );
    const { stdout } = await run('shop', 'list');
    expect(stdout).toMatch(
      /^ID +NAME +STATE +CREATED\nDemo_2 +Harbour & Hearth +open +\d{4}\S+Z\nTea +Tea +closed +\d{4}\S+Z\n$/,
    );
    expect(await run('shop', 'open', 'Tea')).toEqual(
      done(`Shop Tea works again for its apps. It is not ready to open to visitors:\n${steps}\n`),
    );
    expect(await run('shop', 'open', 'Tea')).toEqual({
      ...refused('Shop Tea is not ready to open: the list says what is missing.'),
      stdout: `${steps}\n`,
    });
    expect((await run('shop', 'list')).stdout).toMatch(/^Tea +Tea +not open yet +/m);
    expect(await run('shop', 'open', 'Tea', '--force')).toEqual(
      done('Shop Tea is open: everybody who can reach it can order.\n'),
    );
    expect(await run('shop', 'delete', 'Demo_2')).toEqual(
      refused(
        'This deletes the shop Demo_2 (Harbour & Hearth) for good, with 34 products, 15 orders and 15 customers. Add --yes to do it.',
      ),
    );
    expect(await readdir(path.join(data, 'media'))).toEqual(['Demo_2', 'Tea']);
    expect(await run('shop', 'delete', 'Demo_2', '--yes')).toEqual(done('Shop Demo_2 deleted.\n'));
    expect(await readdir(path.join(data, 'media'))).toEqual(['Tea']);
    expect(await run('shop', 'delete', 'Demo_2', '--yes')).toEqual(
      refused('There is no shop "Demo_2". See: npx kontor shop list'),
    );
  });

  test('a token and an app, while nobody listens', async () => {
    const created = await run('token', 'create', 'Tea', '--scopes', 'orders_read');
    expect(created).toEqual(done(expect.stringMatching(SECRET) as string));
    expect((await run('token', 'list', 'Tea')).stdout).toMatch(/^[0-9a-f]{12} +private app +/m);
    expect(await run('token', 'revoke', 'Tea', created.stdout.trimEnd())).toEqual(done('Revoked.\n'));
    const app = ['--name', 'Till', '--callback', 'http://localhost:9000/', '--scopes', 'all'];
    expect((await run('app', 'create', 'Tea', ...app)).stdout).toMatch(/^client_id {6}/);
    expect(await run('app', 'delete', 'Tea', 'Till')).toEqual(done('Uninstalled.\n'));
  });

  test('several commands at once do not get into each other’s way', async () => {
    await held?.stop();
    held = undefined;
    const ids = ['One', 'Two', 'Three'];
    const ended = await Promise.all(ids.map((id) => runProcess('shop', 'create', id)));
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      ids.map(() => ({ code: 0, stderr: '' })),
    );
    const { stdout } = await run('shop', 'list');
    for (const id of ids) expect(stdout).toMatch(new RegExp(`^${id} `, 'm'));
    expect(await postmasterOf(data)).toBeUndefined();
  });
});

describe('while the service runs', () => {
  let data: string;
  let service: Running;
  const run = (...words: string[]) => kontorHere(words, { KONTOR_DATA: data });
  const runProcess = (...words: string[]) => kontor(words, { KONTOR_DATA: data });
  const get = async (path: string, token: string) => {
    const response = await fetch(`${service.address}/rs/shops${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  beforeAll(async () => {
    data = await newStartedFolder();
    service = await startKontor({ KONTOR_DATA: data });
  });

  /** Returns a token that may do all. */
  const givenShop = async (shopId: string) => {
    expect((await run('shop', 'create', shopId)).code).toBe(0);
    return (await run('token', 'create', shopId, '--scopes', 'all')).stdout.trimEnd();
  };

  test('a new shop and a new token work at once, also after they were asked for in vain', async () => {
    expect((await get('/Tea', 'nothing')).status).toBe(404);
    expect((await runProcess('shop', 'create', 'Tea')).code).toBe(0);
    const created = await run('token', 'create', 'Tea', '--scopes', 'customers_read');
    expect(created).toEqual(done(expect.stringMatching(SECRET) as string));
    expect(await get('/Tea/customers', created.stdout.trimEnd())).toMatchObject({
      status: 200,
      body: { results: 0 },
    });
    expect((await get('/DemoShop/customers', created.stdout.trimEnd())).status).toBe(401);
  });

  test('a revoked token is refused within 5 seconds', async () => {
    const created = await run('token', 'create', 'DemoShop', '--scopes', 'customers_read');
    const token = created.stdout.trimEnd();
    expect((await get('/DemoShop/customers', token)).status).toBe(200);
    expect(await run('token', 'revoke', 'DemoShop', token)).toEqual(done('Revoked.\n'));
    const revokedAt = Date.now();
    await expect
      .poll(() => get('/DemoShop/customers', token), { timeout: 5_000 })
      .toMatchObject({ status: 401 });
    expect(Date.now() - revokedAt).toBeLessThan(5_000);
  });

  test('a shop that is not there', async () => {
    const calls = [
      ['shop', 'apply', 'Nope', germanShop],
      ['shop', 'export-settings', 'Nope'],
      ['shop', 'backup', 'Nope', path.join(data, 'nope.backup')],
      ['shop', 'delete', 'Nope'],
      ['token', 'create', 'Nope', '--scopes', 'all'],
      ['token', 'list', 'Nope'],
      ['token', 'revoke', 'Nope', 'x'],
      ['app', 'create', 'Nope', '--name', 'x', '--callback', 'https://x.example', '--scopes', 'all'],
      ['app', 'install', 'Nope', 'x'],
      ['app', 'list', 'Nope'],
      ['app', 'delete', 'Nope', 'x'],
      ['demo', 'generate', 'Nope', '--products', '1'],
    ];
    for (const words of calls) {
      expect(await run(...words)).toEqual(refused('There is no shop "Nope". See: npx kontor shop list'));
    }
  });

  test('a shop is backed up and restored under another id, and in another installation', async () => {
    const file = path.join(data, 'demo.backup');
    const contents = String.raw`\d+ products, \d+ orders, \d+ customers, \d+ documents, \d+ files, \d+\.\d MB, \d+\.\d s\.`;
    const written = await run('shop', 'backup', 'DemoShop', file);
    // A bar is drawn in between where the backup takes some seconds.
    expect(written).toMatchObject({ code: 0, stderr: expect.stringMatching(/^[\d,]+ rows and files in /m) });
    expect(written.stdout).toMatch(new RegExp(`^Shop DemoShop is in ${file}: ${contents}\n$`));

    expect(await run('shop', 'restore', file)).toEqual(
      refused(
        'There is a shop DemoShop already. Delete it first (npx kontor shop delete DemoShop), or restore under another id: --as ID',
      ),
    );
    const copied = await run('shop', 'restore', file, '--as', 'DemoCopy');
    expect(copied.code).toBe(0);
    expect(copied.stdout).toMatch(
      new RegExp(
        `^Shop DemoCopy is restored from ${file}: ${contents}\nAccess tokens, domains, webhooks and the keys of payment providers were left out, because the id is another one\\. Next: npx kontor token create DemoCopy --scopes all\n$`,
      ),
    );
    expect((await get('/DemoCopy/products', 'demo-all')).status).toBe(401);
    const token = (await run('token', 'create', 'DemoCopy', '--scopes', 'all')).stdout.trimEnd();
    const { body: copy } = await get('/DemoCopy/products', token);
    expect(copy['results']).toBe((await get('/DemoShop/products', 'demo-all')).body['results']);

    const other = { KONTOR_DATA: await plainFolder() };
    const moved = await kontorHere(['shop', 'restore', file], other);
    expect(moved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        '\nAccess tokens of the backup are valid again. See: npx kontor token list DemoShop\n',
      ),
    });
    expect((await kontorHere(['token', 'list', 'DemoShop'], other)).stdout).toContain('all-access');
  });

  test('settings: applied, served, a second time nothing, and back through a file', async () => {
    const token = await givenShop('Coffee');
    expect((await get('/Coffee', token)).body['name']).toBe('Coffee');
    const planned = await run('shop', 'apply', 'Coffee', germanShop, '--dry-run');
    const first = await run('shop', 'apply', 'Coffee', germanShop);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const lines = first.stdout.trimEnd().split('\n');
    expect(lines).toContain('+ shippingMethods.express');
    expect(lines.at(-1)).toBe(`${lines.length - 1} changes applied to Coffee.`);
    // A dry run says the same lines and leaves all of them to do.
    expect(planned).toEqual(
      done(
        `${lines.slice(0, -1).join('\n')}\nNothing was written. Without --dry-run, ${lines.length - 1} changes would be applied to Coffee.\n`,
      ),
    );
    expect((await get('/Coffee', token)).body['name']).toBe('Kaffeerösterei Nordlicht');
    expect(await run('shop', 'apply', 'Coffee', germanShop)).toEqual(done('Nothing to change.\n'));

    const exported = await run('shop', 'export-settings', 'Coffee');
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    const file = path.join(await newFolder(), 'coffee.yaml');
    await writeFile(file, exported.stdout);
    expect(await run('shop', 'apply', 'Coffee', file)).toEqual(done('Nothing to change.\n'));
    expect((await run('shop', 'apply', 'EmptyShop', file)).code).toBe(0);
    expect(await run('shop', 'export-settings', 'EmptyShop')).toEqual(done(exported.stdout));

    await writeFile(file, exported.stdout.replace(/^email: .*$/m, 'email: coffee@mail.example'));
    expect(await run('shop', 'apply', 'Coffee', file)).toEqual(
      done('~ email: moin@kaffee-nordlicht.example -> coffee@mail.example\n1 change applied to Coffee.\n'),
    );
  });

  test('apps are registered, listed and uninstalled', async () => {
    const create = (name: string, callback: string) =>
      run('app', 'create', 'DemoShop', '--name', name, '--callback', callback, '--scopes', 'orders_read');
    const created = await create('Labels', 'https://labels.example/install');
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const [, clientId, secret] = /^client_id {6}(\S+)\nclient_secret {2}([A-Za-z0-9]{32})\n$/.exec(
      created.stdout,
    )!;
    // The key that seals the secret is in the data folder, and nobody else reads it.
    expect(await readdir(data)).toContain('secret.key');

    expect(await create('Labels', 'https://labels.example/install')).toEqual(
      refused('The shop DemoShop has an app named "Labels" already.'),
    );
    expect(await create('Other', 'ftp://labels.example')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^kontor: The callback must be an https address .*\n$/),
    });

    const listed = await run('app', 'list', 'DemoShop');
    expect(listed.stdout).toMatch(/^CLIENT ID +NAME +CREATED +SCOPES\n/);
    expect(listed.stdout).toMatch(new RegExp(`^${clientId} +Labels +\\S+Z +orders_read$`, 'm'));
    expect(listed.stdout).not.toContain(secret);

    const install = (...more: string[]) =>
      kontorHere(['app', 'install', 'DemoShop', clientId!, ...more], {
        KONTOR_DATA: data,
        PUBLIC_URL: 'https://shops.example/',
      });
    expect(await install()).toEqual(
      done(`https://shops.example/admin/shops/DemoShop/apps/${clientId}/install\n`),
    );
    const installed = await install('--agreed');
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    const address = new URL(installed.stdout.trimEnd());
    expect(address.origin + address.pathname).toBe('https://labels.example/install');
    expect(address.searchParams.get('code')).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(address.searchParams.get('api_url')).toBe('https://shops.example/rs/shops/DemoShop');
    expect(await run('app', 'install', 'DemoShop', 'Nope')).toEqual(
      refused('The shop DemoShop has no app "Nope".'),
    );

    expect(await run('app', 'delete', 'DemoShop', 'Labels')).toEqual(done('Uninstalled.\n'));
    expect(await run('app', 'delete', 'DemoShop', clientId!)).toEqual(
      refused('DemoShop has no such app. See: npx kontor app list DemoShop'),
    );
  });

  test('tokens are shown once, listed without being told, and revoked', async () => {
    const all = await givenShop('Cocoa');
    const few = ['--scopes', 'orders_read, customers_read', '--app', 'Till'];
    const limits = ['--expires', '2099-01-31', '--networks', '203.0.113.0/24,10.0.0.0/8'];
    const created = await run('token', 'create', 'Cocoa', ...few, ...limits);
    expect(created).toEqual(done(expect.stringMatching(SECRET) as string));
    const token = created.stdout.trimEnd();

    const { stdout } = await run('token', 'list', 'Cocoa');
    expect(stdout).not.toContain(token);
    expect(stdout).toMatch(/^TOKEN +APP +CREATED +LAST USE +ENDS +NETWORKS +SCOPES\n/);
    expect(stdout).toMatch(/^[0-9a-f]{12} +private app +\S+Z +never +never +any +all$/m);
    const [, id] =
      /^([0-9a-f]{12}) +Till +\S+Z +never +2099-01-31T00:00:00.000Z +203.0.113.0\/24,10.0.0.0\/8 +orders_read,customers_read$/m.exec(
        stdout,
      )!;

    expect(await run('token', 'revoke', 'Cocoa', id!)).toEqual(done('Revoked.\n'));
    expect(await run('token', 'revoke', 'Cocoa', token)).toEqual(
      refused('Cocoa has no such token. See: npx kontor token list Cocoa'),
    );
    expect(await run('token', 'revoke', 'Cocoa', all)).toEqual(done('Revoked.\n'));
    expect(await run('token', 'list', 'Cocoa')).toEqual(
      done('TOKEN  APP  CREATED  LAST USE  ENDS  NETWORKS  SCOPES\n'),
    );
  });

  test('made-up products, which a second run does not make again', async () => {
    const token = await givenShop('Plenty');
    const generate = (...words: string[]) => run('demo', 'generate', 'Plenty', ...words);
    const first = await run('demo', 'generate', 'Plenty', '--products', '30', '--seed', '4');
    expect(first).toMatchObject({ code: 0, stdout: '30 products added to Plenty.\n' });
    expect(first.stderr).toMatch(/^30 products in \d+\.\d s, \d+\/s\n$/);
    const { body } = await get('/Plenty/products?resultsPerPage=100&includeInvisible=true', token);
    expect(body['results']).toBe(30);
    expect(await generate('--products', '30', '--seed', '4')).toEqual(
      done('Plenty has the 30 products of seed 4 already.\n'),
    );
    for (const wrong of ['0', '-1', '1.5', 'many', '5000001']) {
      expect(await generate('--products', wrong)).toMatchObject({ code: 2, stdout: '' });
    }
  });

  test('products from a file: taken, with the lines that could not be', async () => {
    const file = path.join(await newFolder(), 'products.csv');
    await writeFile(file, 'Alias;Name/en;ListPrices/EUR/gross\nX-1;Import one;5\nX-2;Import two;much\n');
    const { code, stdout, stderr } = await run('products', 'import', 'DemoShop', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '1 created, 0 changed, 0 unchanged, 1 refused.\n' });
    expect(stderr).toMatch(/^2 rows in [\d.]+ s, [\d,]+\/s\n/);
    expect(stderr).toContain('line 3: ListPrices/EUR/gross is much, which is no price\n');
    await writeFile(file, 'Alias;Name/en;ListPrices/EUR/gross\nX-1;Import one;5\n');
    const again = await run('products', 'import', 'DemoShop', file);
    expect(again).toMatchObject({ code: 0, stdout: '0 created, 0 changed, 1 unchanged, 0 refused.\n' });
    expect(await run('products', 'import', 'DemoShop', `${file}.none`)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`${file}.none does not exist`),
    });
  });

  test('an export of products, read back, changes nothing', async () => {
    const file = path.join(await newFolder(), 'all.csv');
    const describe = (text: string) => [
      { name: 'KN-100_1.png', locale: 'de_DE', text: 'Ein Messer' },
      { name: 'KN-100_2.png', locale: 'en_GB', text },
    ];
    const pictureTexts = async (method: string, body?: object) => {
      const { body: found } = await get('/DemoShop/products?q=KN-100', 'demo-all');
      const [{ productId }] = found['items'] as [{ productId: string }];
      const answer = await fetch(
        `${service.address}/manage/shops/DemoShop/products/${productId}/picture-texts`,
        {
          method,
          headers: { authorization: 'Bearer demo-all', 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        },
      );
      return ((await answer.json()) as { items: object[] }).items;
    };
    await pictureTexts('PUT', { items: describe('Blade | handle \\') });
    expect(await run('products', 'export', 'DemoShop', '--output', file)).toEqual(done(''));
    const printed = await run('products', 'export', 'DemoShop');
    expect(await readFile(file, 'utf8')).toBe(`\u{feff}${printed.stdout}`);
    const [header, ...rows] = printed.stdout.split('\n');
    for (const key of ['Categories', 'Images', 'TaxClass', 'StockLevel', 'PageTitle/de']) {
      expect(header).toContain(`[${key}]`);
    }
    expect(rows.find((row) => row.includes('KN-100_2.png'))).toMatch(
      /http:\/\/localhost:8080\/media\/DemoShop\/[0-9A-F-]{36}\/KN-100_1\.png \| http/,
    );
    const again = await run('products', 'import', 'DemoShop', file);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 created, 0 changed, \d+ unchanged, 0 refused\.\n$/),
    });
    expect(await pictureTexts('GET')).toEqual(describe('Blade | handle \\'));
    await writeFile(file, printed.stdout.replace(' | Blade \\| handle \\\\', ' | The handle'));
    expect((await run('products', 'import', 'DemoShop', file)).stdout).toMatch(
      /\nOther texts for the pictures of 1 product\.\n$/,
    );
    expect(await pictureTexts('GET')).toEqual(describe('The handle'));
    await writeFile(file, 'SKU;ImageTexts/de;ImageTexts/en\nKN-100;Ein Messer;Knife | Handle | Box\n');
    expect(await run('products', 'import', 'DemoShop', file)).toMatchObject({
      code: 1,
      stdout: '0 created, 0 changed, 1 unchanged, 1 refused.\n',
      stderr: expect.stringContaining('line 2: ImageTexts/en has 3 texts for 2 pictures'),
    });
    expect(await pictureTexts('GET')).toEqual(describe('The handle'));
    await writeFile(file, 'SKU;ImageTexts/en\nKN-100;| Handle of the knife\n');
    expect((await run('products', 'import', 'DemoShop', file)).code).toBe(0);
    expect(await pictureTexts('GET')).toEqual(describe('Handle of the knife'));

    await writeFile(file, 'SKU;Nmae;Price\nX-9;Lamp;5\n');
    const { code, stderr } = await run('products', 'import', 'DemoShop', file);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'The column Nmae is unknown in DemoShop, did you mean Name/en? Its columns are: Class, Alias, ',
    );
    await writeFile(file, 'SKU;Image\nX-9;nowhere.png\n');
    const check = await run('products', 'import', 'DemoShop', file, '--dry-run');
    expect(check).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `line 2: Images nowhere.png: There is no file ${path.dirname(file)}/nowhere.png`,
      ),
    });
  });

  test('orders and customers as files for a spreadsheet, which the audit log knows', async () => {
    const orders = await run('orders', 'export', 'DemoShop');
    const [titles, ...rows] = orders.stdout.trimEnd().split('\n');
    expect(titles).toMatch(/^\u{feff}Number;Date;Customer;Email;/u);
    expect(rows).toHaveLength(15);
    const items = await run('orders', 'export', 'DemoShop', '--lines');
    const lines = items.stdout.trimEnd().split('\n');
    expect(lines[0]).toBe(`${titles};Item no.;Description;Quantity;Unit;Unit price;Amount;VAT %`);
    const ofOrder = (end: string) => lines.filter((line) => line.split(';')[0]!.endsWith(`/${end}`));
    expect(ofOrder('1009').map((line) => line.split(';').slice(11).join(';'))).toEqual([
      'CB-101;Tidewater Espresso Beans (Weight: 250 g, Roast: Medium);4;piece(s);9.9;39.6;7',
      'CB-200;Quayside Filter Roast, ground 500 g;5;piece(s);11.9;59.5;7',
      ';Coupon;;;;-20;',
      ';Delivery: Standard delivery;;;;11.3;19',
    ]);
    for (const row of rows) {
      const [number, , , , , total] = row.split(';');
      const own = lines.filter((line) => line.startsWith(`${number};`));
      expect(own.every((line) => line.startsWith(`${row};`))).toBe(true);
      const sum = own.reduce((amount, line) => amount + Math.round(Number(line.split(';')[16]) * 100), 0);
      expect([number, sum]).toEqual([number, Math.round(Number(total) * 100)]);
    }
    const customers = await run('customers', 'export', 'DemoShop');
    expect(customers.stdout).toMatch(/^1001;/m);
    const audit = await fetch(`${service.address}/manage/shops/DemoShop/audit`, {
      headers: { authorization: 'Bearer demo-all' },
    });
    const { items: entries } = (await audit.json()) as { items: { route: string }[] };
    expect(entries.slice(0, 2).map(({ route }) => route)).toEqual([
      'kontor customers export',
      'kontor orders export',
    ]);
  });

  test('a deleted shop is gone within 5 seconds', async () => {
    const token = await givenShop('Closing');
    expect((await get('/Closing/customers', token)).status).toBe(200);
    expect((await run('shop', 'delete', 'Closing', '--yes')).code).toBe(0);
    await expect.poll(() => get('/Closing', token), { timeout: 5_000 }).toMatchObject({ status: 404 });
  });

  test('every command leaves the service and its database as they are', async () => {
    const postmaster = await postmasterOf(data);
    expect((await runProcess('db', 'status')).code).toBe(0);
    expect((await run('db', 'migrate')).stdout).toBe('The schema is up to date.\n');
    expect((await run('shop', 'list')).stdout).toMatch(/^DemoShop +Harbour & Hearth /m);
    expect(await postmasterOf(data)).toBe(postmaster);
    expect((await fetch(`${service.address}/ready`)).status).toBe(200);
    expect(service.stderr()).toBe('');
    expect((await service.stop()).code).toBe(0);
  });
});
