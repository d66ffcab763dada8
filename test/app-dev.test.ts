import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { startFakeApp } from './fake-app.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, kontor, newFolder, postmasterOf, startKontor, waitFor } from './process.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const ROOT = path.join(import.meta.dirname, '..');
const DEMO = '/rs/shops/DemoShop';

const programs: ChildProcess[] = [];
afterAll(async () => {
  for (const program of programs) program.kill();
  await cleanUp();
});

/** A program of Node that runs beside the test, and what it has said. */
function start(words: string[], { cwd = ROOT, ...environment }: { cwd?: string } & Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const program = spawn(process.execPath, words, { cwd, env: { PATH, HOME, ...environment } });
  programs.push(program);
  let said = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const ended = once(program, 'exit').then(([code]) => code as number | null);
  return { said: () => said, kill: (signal: NodeJS.Signals) => program.kill(signal), ended };
}

const kontorFile = path.join(ROOT, 'bin/kontor.js');

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

/** The number of an order, and what the app has offered for its delivery. */
async function placeOrder(service: string): Promise<{ number: string; offered: object[] }> {
  const call = async (method: string, url: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(service + url, {
      method,
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-all', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return { answer: (await response.json()) as Record<string, string>, headers: response.headers };
  };
  const address = {
    firstName: 'Ada',
    lastName: 'Lindqvist',
    street: 'Kai 7',
    zipCode: '20457',
    city: 'Hamburg',
    country: 'DE',
    emailAddress: 'ada@mail.example',
  };
  const productId = '018C16DF-9280-7011-A1E6-35C0FF99683F';
  const made = await call('POST', `${DEMO}/carts`, {
    lineItems: [{ productId, quantity: 1 }],
    billingAddress: address,
  });
  const token = made.headers.get('x-epages-cart-token')!;
  const cartId = made.answer['cartId']!;
  const cart = { 'x-epages-cart-token': token };
  const options = await call(
    'GET',
    `/manage/shops/DemoShop/carts/${cartId}/delivery-options`,
    undefined,
    cart,
  );
  const { items } = options.answer as unknown as {
    items: { name: string; price: object; app: string | null }[];
  };
  const { answer } = await call('POST', `${DEMO}/carts/${cartId}/order`, {}, cart);
  return { number: answer['orderNumber']!, offered: items.filter(({ app }) => app !== null) };
}

test('the app of npm create is installed into a shop that the command starts, and hears of an order', async () => {
  const data = await newStartedFolder();
  const folder = await newFolder();
  const creator = path.join(ROOT, 'packages/create-kontor-app/index.js');
  expect(await start([creator, 'my-app'], { cwd: folder }).ended).toBe(0);
  const cwd = path.join(folder, 'my-app');
  await symlink(path.join(ROOT, 'node_modules'), path.join(cwd, 'node_modules'));
  const [port, appPort] = [await freePort(), await freePort()];
  const service = `http://localhost:${port}`;
  const app = start(['--import', 'tsx', 'src/main.ts'], { cwd, PORT: appPort, KONTOR_URL: service });
  await waitFor(() => app.said().includes('The app is at'));

  const guide = await readFile(path.join(ROOT, 'docs/apps.md'), 'utf8');
  const [, line = ''] = /\n```sh\nnpx kontor (app dev [^\n]+)\n```/.exec(guide)!;
  const words = line.replace('localhost:3000', `localhost:${appPort}`).split(' ');
  const dev = start([kontorFile, ...words], { KONTOR_DATA: data, PORT: port, LOG_LEVEL: 'silent' });
  await waitFor(() => dev.said().includes('npx kontor app delete'));
  const [, appId] = /kontor app delete DemoShop (\S+)/.exec(dev.said())!;
  const admin = `${service}/admin/shops/DemoShop/apps/${appId}`;
  expect(dev.said()).toBe(
    `No service answers at ${service}: starting one.
My app is installed in DemoShop.

  In the admin     ${admin}
  Newest orders    ${admin}/pages/orders
  deliveryOptions  /kontor/delivery, within 500 ms
  ORDER_CREATE     /kontor/hook

Change the manifest, and it is in force within a second. Ctrl+C ends this, and the app stays installed;
to uninstall it: npx kontor app delete DemoShop ${appId}
`,
  );

  const { number, offered } = await placeOrder(service);
  expect(offered).toMatchObject([{ name: 'By bike', option: 'bike', price: { amount: 3.9 }, app: appId }]);
  await waitFor(() => dev.said().endsWith(' ms\n'));
  expect(dev.said()).toMatch(
    new RegExp(
      String.raw`ORDER_CREATE {2}\S+ {2}\{"orderNumber":"${number}"\}\n {2}/kontor/hook: 204 after \d+ ms\n$`,
    ),
  );

  dev.kill('SIGINT');
  expect(await dev.ended).toBe(0);
  await expect(fetch(service)).rejects.toThrow('fetch failed');
  expect(await postmasterOf(data)).toBe(undefined);
  // It is installed once, however often the command runs.
  const { stdout } = await kontor(['app', 'list', 'DemoShop'], { KONTOR_DATA: data });
  expect(stdout.match(/My app/g)).toHaveLength(1);
});

test('with a service that runs, a change of the manifest is in force within a second, and a broken one is shown', async () => {
  const data = await newStartedFolder();
  const service = await startKontor({ KONTOR_DATA: data });
  const app = await startFakeApp();
  app.answer = (request, response) => {
    if (!request.url!.startsWith('/install')) return false;
    response.writeHead(302, { location: '/' }).end();
    return true;
  };
  const environment = { KONTOR_DATA: data, PORT: new URL(service.address).port };
  const dev = start([kontorFile, 'app', 'dev', 'DemoShop', app.origin], environment);
  await waitFor(() => dev.said().includes('npx kontor app delete'));
  expect(dev.said()).toContain('Labels is installed in DemoShop.');
  expect(app.registrations).toHaveLength(1);

  app.manifest = { ...(app.manifest as object), scopes: ['orders_read', 'products_read', 'orders_write'] };
  await waitFor(() => dev.said().endsWith('The manifest has changed, and is in force.\n'));
  const listed = await kontor(['app', 'list', 'DemoShop'], environment);
  expect(listed.stdout).toMatch(/Labels .*orders_read,products_read,orders_write/);

  app.manifest = '{';
  await waitFor(() => dev.said().endsWith('The manifest is not JSON.\n'));
  dev.kill('SIGTERM');
  expect(await dev.ended).toBe(0);
  // The service is not the command's.
  expect((await fetch(`${service.address}/ready`)).status).toBe(200);
  await app.close();
  await service.stop();
});

test('what can not be installed is refused in a line, and nothing is installed', async () => {
  const data = await newStartedFolder();
  const service = await startKontor({ KONTOR_DATA: data });
  const environment = { KONTOR_DATA: data, PORT: new URL(service.address).port };
  const list = () => kontor(['app', 'list', 'DemoShop'], environment);
  const before = await list();
  const app = await startFakeApp();
  app.answer = ({ url }, response) => {
    if (url !== '/register') return false;
    response.writeHead(403).end(`KONTOR_URL does not name this installation\u001b[2J\nmore`);
    return true;
  };
  for (const [words, problem] of [
    [
      ['DemoShop', app.origin],
      'The app has not accepted the registration: 403 KONTOR_URL does not name this installation',
    ],
    [['Nowhere', 'localhost:1'], 'There is no shop "Nowhere". See: npx kontor shop list'],
    [['DemoShop', 'localhost:1'], 'The app did not answer in time'],
    [['DemoShop', 'a b'], 'This is not an address of an app'],
  ] as const) {
    const ended = await kontor(['app', 'dev', ...words], environment);
    expect(ended).toEqual({ code: 1, stdout: '', stderr: `kontor: ${problem}\n` });
  }
  expect(await list()).toEqual(before);
  await app.close();
  await service.stop();
});
