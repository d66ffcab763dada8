import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { kontorHere } from './command.ts';
import { databaseEnvironment, startService, type Service } from './service.ts';
import { readPage } from './storefront.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** docs/first-shop.md, done as it is written, on a service of this process. */
const root = path.join(import.meta.dirname, '..');
const guide = readFileSync(path.join(root, 'docs/first-shop.md'), 'utf8');
const blocks = [...guide.matchAll(/```(\w+)\n(.*?)```/gs)].map(([, kind, text]) => ({ kind, text: text! }));
const textOf = (kind: string) =>
  blocks
    .filter((block) => block.kind === kind)
    .map(({ text }) => text)
    .join('');
const commands = textOf('sh').trim().split('\n');

let service: Service;
let folder: string;
let address: string;
let environment: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  address = await service.app.listen({ port: 0, host: '127.0.0.1' });
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-first-shop-'));
  environment = {
    ...databaseEnvironment(service.database),
    KONTOR_DATA: service.config.KONTOR_DATA,
    PORT: new URL(address).port,
  };
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** A command of the guide as a shell takes it apart, in the folder of the project. */
async function run(command: string): Promise<string> {
  const [npx, kontor, ...words] = command.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  expect([npx, kontor]).toEqual(['npx', 'kontor']);
  const inProject = words.map((word) => (word.startsWith('examples/') ? path.join(root, word) : word));
  const { code, stdout, stderr } = await kontorHere(inProject, environment);
  expect({ command, code, stderr: stderr.replace(/^\d+ rows in .*\n$/, '') }).toEqual({
    command,
    code: 0,
    stderr: '',
  });
  return stdout;
}

/** A program of the guide, with the address and the folder of this test. Returns what it prints. */
async function runProgram(text: string): Promise<string> {
  const [, name] = /^\/\/ (\w+\.mjs)\n/.exec(text)!;
  const file = path.join(folder, name!);
  await writeFile(
    file,
    text.replace('http://localhost:8080', address).replace("'invoice.pdf'", `'${folder}/invoice.pdf'`),
  );
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import(pathToFileURL(file).href);
    return printed.mock.calls.join('\n');
  } finally {
    printed.mockRestore();
  }
}

test('a shop, products with categories and pictures, a purchase and an invoice', async () => {
  const [install, start, create, check, load, plan, apply, open, user, token, buy, ...others] = commands;
  expect([install, start, others]).toEqual(['npm ci', 'npm start', []]);

  const created = await run(create!);
  expect(created).toContain('Shop MyShop is created: http://myshop.localhost:');
  expect(created).toContain('  [ ] Bank account or payment provider: invoicing.bank.iban\n');
  const empty = await readPage(service, '/MyShop/');
  expect(empty.text).toContain('<span>Tea &amp; Time</span></a>');
  const [logo] = /\/media\/MyShop\/files\/logo-\w+\.png/.exec(empty.text)!;
  expect((await service.app.inject(logo)).headers['content-type']).toBe('image/png');

  expect(textOf('csv')).toBe(await readFile(path.join(root, 'examples/first-shop/products.csv'), 'utf8'));
  const report =
    '3 created, 0 changed, 0 unchanged, 0 refused.\n' +
    'New categories: Tea, Tea > Black tea, Tea > Green tea, Cups.\n';
  expect(await run(check!)).toBe(`Nothing was written. Without --dry-run it would be:\n${report}`);
  expect((await service.call('GET', '/MyShop/products')).body.results).toBe(0);
  expect(await run(load!)).toBe(report.replace('refused.\n', 'refused.\n4 pictures added.\n'));
  expect((await readPage(service, '/MyShop/Categories/Cups')).lines.join(' ')).toContain('Opening soon');
  // Once more, nothing is new.
  expect(await run(load!)).toBe('0 created, 0 changed, 3 unchanged, 0 refused.\n');

  expect(await run(plan!)).toContain('~ shippingMethods.parcel.price: 4.9 -> 3.9\n');
  expect(await run(apply!)).toMatch(
    /\n\d+ changes applied to MyShop\.\nMyShop is ready\. Open it with: npx kontor shop open MyShop\n$/,
  );
  expect(await run(open!)).toBe('Shop MyShop is open: everybody who can reach it can order.\n');
  const cups = await readPage(service, '/MyShop/Categories/Cups');
  expect(cups.lines.join(' ')).toContain('Stoneware cup');
  expect(cups.text).toContain('cup');
  expect(await run(user!)).toMatch(/^http:\/\/localhost:\d+\/admin\/link\?token=\S+\n$/);

  vi.stubEnv('TOKEN', (await run(token!)).trim());
  expect(buy).toBe('TOKEN=… node buy.mjs');
  expect(await runProgram(textOf('js'))).toMatch(/^Order \S+: 31\.9 EUR$/);
  const pdf = await readFile(path.join(folder, 'invoice.pdf'));
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
});

test('with everything given, a shop is open at once', async () => {
  const stdout = await run(
    'npx kontor shop create Whole --yes --settings examples/first-shop/settings.yaml --legal examples/first-shop/legal',
  );
  expect(stdout).toContain('  State        open: everybody who can reach it can order;');
  expect(stdout).not.toContain('Before it opens');
  const { status, text } = await readPage(service, '/Whole/');
  expect(status).toBe(200);
  expect(text).toContain('href="/shop/Whole/cart"');
});

test('the examples load nothing from elsewhere', () => {
  for (const file of readdirSync(path.join(root, 'examples'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.yaml')) continue;
    const { logoUrl, theme, home } = parse(readFileSync(path.join(root, 'examples', file), 'utf8')) as {
      logoUrl?: string;
      theme?: { fontUrl?: string };
      home?: { picture?: string };
    };
    expect([file, logoUrl, theme?.fontUrl, home?.picture]).toEqual([file, undefined, undefined, undefined]);
  }
});
