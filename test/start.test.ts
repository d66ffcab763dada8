import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, connect, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { isAlive } from '../src/db/embedded-init.ts';
import { kontorHere, serveHere } from './command.ts';
import { cleanUp, newFolder, postmasterOf, startKontor, waitFor, type Running } from './process.ts';
import { ofTheDay } from './seed.ts';
import { databaseUrl } from './service.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
afterAll(cleanUp);

type Address = Pick<Running, 'address'>;

const customers = (service: Address, token: string) =>
  fetch(`${service.address}/rs/shops/DemoShop/customers`, {
    headers: { authorization: `Bearer ${token}` },
  });

const createCustomer = (service: Address, internalNote: string, token = 'demo-all') =>
  fetch(`${service.address}/rs/shops/DemoShop/customers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ internalNote, billingAddress: { lastName: 'Brennan' } }),
  });

/** A port that somebody listens on. */
async function takenPort(): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

/** The program treats all of them alike. */
const SIGNALS = ofTheDay(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 1);

describe('the embedded database', () => {
  let data: string;
  /** Each test looks at the service that the one before it has left, or ends it. */
  let service: Running;
  beforeAll(async () => {
    data = path.join(await newFolder(), 'data');
  });

  test('the first start says what to open and a line to try, which works', async () => {
    service = await startKontor({ KONTOR_DATA: data });
    expect(service.stderr()).toBe('');
    const { address } = service;
    expect(address).toMatch(/^http:\/\/localhost:\d+$/);
    const [ownerLink, demoLink] = [...service.stdout().matchAll(/(http\S+\/admin\/link\?token=\S+)\n/g)].map(
      ([, link]) => link,
    );
    const cartId = /carts\/([0-9A-F-]{36})\n/.exec(service.stdout())?.[1];
    expect(service.stdout()).toBe(`
  Kontor is running     ${address}
  Documentation         ${address}/docs
  Data                  ${data}
  Admin                 ${address}/admin  (signs you in to the demo shop with one click)
  Become the owner      ${ownerLink}
  Be the demo owner     ${demoLink}
  Demo shop             ${address.replace('localhost', 'demoshop.localhost')}
  Token (demo shop)     demo-all

  Try it:

    curl -H 'Authorization: Bearer demo-all' ${address}/rs/shops/DemoShop/products
    curl -H 'X-ePages-Cart-Token: demo-cart-a' ${address}/rs/shops/DemoShop/carts/${cartId}

`);
    const answers = [];
    for (const [, header, value, url] of service.stdout().matchAll(/curl -H '([^:]+): ([^']+)' (\S+)/g)) {
      const response = await fetch(url!, { headers: { [header!]: value! } });
      expect(response.status).toBe(200);
      answers.push(await response.json());
    }
    expect(answers).toMatchObject([{ results: 24, page: 1 }, { cartId }]);
    for (const known of ['/health', '/ready', '/metrics']) {
      expect((await fetch(address + known)).status).toBe(200);
    }
    expect((await createCustomer(service, 'kept')).status).toBe(201);

    // One link signs the demo owner in, once, also a browser that does not say where its forms come from.
    const enter = () =>
      fetch(demoLink!, {
        method: 'POST',
        body: new URLSearchParams(),
        headers: { origin: address },
        redirect: 'manual',
      });
    expect(await (await fetch(demoLink!)).text()).toContain('Sign in as the demo owner');
    const entered = await enter();
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/admin']);
    const cookie = entered.headers.get('set-cookie')!.split(';', 1)[0]!;
    const home = await fetch(`${address}/admin/shops/DemoShop`, { headers: { cookie } });
    expect(home.status).toBe(200);
    expect((await enter()).status).toBe(410);

    // The other one makes an owner, once.
    const body = new URLSearchParams({ email: 'owner@shop.example', newPassword: 'four quiet green boats' });
    const send = () =>
      fetch(ownerLink!, { method: 'POST', body, headers: { origin: address }, redirect: 'manual' });
    expect((await fetch(ownerLink!)).status).toBe(200);
    expect((await send()).status).toBe(303);
    expect((await send()).status).toBe(410);
  });

  test.each(SIGNALS)('the signal %s finishes the request under way, then everything ends', async (signal) => {
    if (!isAlive(service.pid)) service = await startKontor({ KONTOR_DATA: data });
    const postmaster = await postmasterOf(data);
    const blocker = new pg.Client({ host: `${data}/postgres`, user: 'kontor', database: 'kontor' });
    // PostgreSQL ends this connection too when it stops.
    blocker.on('error', () => {});
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('lock table customer in access exclusive mode');

    const answer = createCustomer(service, 'just in time');
    await waitFor(async () => {
      const { rows } = await blocker.query('select from pg_locks where not granted');
      return rows.length === 1;
    });
    service.kill(signal);
    // npm passes Ctrl-C on, so that it comes twice.
    if (signal === 'SIGINT') service.kill(signal);
    await waitFor(() => refusesConnections(service));
    expect(isAlive(service.pid)).toBe(true);

    await blocker.query('commit');
    const committedAt = Date.now();
    const response = await answer;
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ internalNote: 'just in time' });
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
    // Not when the client lets go of its connection, a minute later.
    expect(Date.now() - committedAt).toBeLessThan(8_000);
    expect(isAlive(postmaster!)).toBe(false);
    expect(await postmasterOf(data)).toBeUndefined();
  });

  test('a restart keeps everything, and says the same addresses and token as the first start', async () => {
    service = await startKontor({ KONTOR_DATA: data });
    const { address } = service;
    const [, cartId] = /\/carts\/(\S+)\n/.exec(service.stdout())!;
    expect(service.stdout()).toBe(`
  Kontor is running     ${address}
  Documentation         ${address}/docs
  Data                  ${data}
  Admin                 ${address}/admin
  Demo shop             ${address.replace('localhost', 'demoshop.localhost')}
  Token (demo shop)     demo-all

  Try it:

    curl -H 'Authorization: Bearer demo-all' ${address}/rs/shops/DemoShop/products
    curl -H 'X-ePages-Cart-Token: demo-cart-a' ${address}/rs/shops/DemoShop/carts/${cartId}

`);
    const response = await customers(service, 'demo-all');
    expect(await response.json()).toMatchObject({ results: 16 + SIGNALS.length });

    // And a second one on the same folder is refused, while the first goes on.
    const second = await kontorHere(['serve'], { KONTOR_DATA: data, PORT: '0' });
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `kontor: The data folder ${data} is in use by another Kontor (process ${service.pid}): stop that one first, or choose another folder with KONTOR_DATA.\n`,
    });
    expect((await createCustomer(service, 'still here')).status).toBe(201);
  });

  test('a client that never finishes its request is cut off by a second signal', async () => {
    const { port } = new URL(service.address);
    const client = connect(Number(port), '127.0.0.1');
    client.on('error', () => {});
    await once(client, 'connect');
    client.write('POST /rs/shops/DemoShop/customers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n');
    client.write('Authorization: Bearer demo-all\r\nContent-Type: application/json\r\n\r\n{');
    await sleep(300);
    service.kill('SIGTERM');
    await waitFor(() => refusesConnections(service));
    await sleep(600);
    expect(isAlive(service.pid)).toBe(true);
    service.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
    expect(await postmasterOf(data)).toBeUndefined();
  });

  test('without the demo shop the hint names a shop that is there, and a log has a line per request', async () => {
    const environment = { KONTOR_DATA: data };
    expect((await kontorHere(['shop', 'delete', 'DemoShop', '--yes'], environment)).code).toBe(0);
    service = await startKontor({ ...environment, LOG_LEVEL: 'info' });
    expect(service.stdout()).toContain('npx kontor token create EmptyShop --scopes all\n');
    expect((await customers(service, 'demo-all')).status).toBe(404);

    // At the level info a line is JSON, without secrets.
    await fetch(`${service.address}/rs/shops/EmptyShop?q=private`, {
      headers: { authorization: 'Bearer hidden-token', 'x-request-id': 'mine' },
    });
    const requests = () => service.stderr().match(/"msg":"request"/g)?.length;
    await waitFor(() => requests() === 2);
    const stderr = service.stderr();
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ msg }) => msg === 'request')).toEqual([
      expect.objectContaining({ method: 'GET', path: '/rs/shops/DemoShop/customers' }),
      expect.objectContaining({ requestId: 'mine', method: 'GET', path: '/rs/shops/EmptyShop' }),
    ]);
    expect(stderr).not.toMatch(/hidden-token|private/);

    // A signal is heard when the log has no reader any more.
    service.deafen();
    expect((await fetch(`${service.address}/health`)).status).toBe(200);
    expect((await customers(service, 'demo-all')).status).toBe(404);
    service.kill('SIGHUP');
    expect(await service.ended).toMatchObject({ code: 0 });
    expect(await postmasterOf(data)).toBeUndefined();
  });

  test('a port in use: one line, and no PostgreSQL is left behind', async () => {
    const { port, server } = await takenPort();
    const ended = await kontorHere(['serve'], {
      KONTOR_DATA: data,
      PORT: String(port),
      LOG_LEVEL: 'warn',
    });
    server.close();
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `kontor: Port ${port} is in use. Set PORT to another one, e.g. PORT=${port + 1} npm start\n`,
    });
    expect(await postmasterOf(data)).toBeUndefined();
  });

  test('an address that is not of this machine: one line, and no PostgreSQL is left behind', async () => {
    const ended = await kontorHere(['serve'], {
      KONTOR_DATA: data,
      PORT: '0',
      HOST: '192.0.2.1',
      LOG_LEVEL: 'warn',
    });
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'kontor: HOST=192.0.2.1 is not an address of this machine.\n',
    });
    expect(await postmasterOf(data)).toBeUndefined();
  });

  test('a signal during the start waits for the start, and then leaves nothing running', async () => {
    const service = await startKontor(
      { KONTOR_DATA: data },
      {
        meanwhile: async (kill) => {
          await waitFor(async () => (await postmasterOf(data)) !== undefined);
          kill('SIGTERM');
        },
      },
    );
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
    expect(await postmasterOf(data)).toBeUndefined();
  });

  test.runIf(process.platform === 'linux')(
    'a signal to npm, which does not pass it on, ends the service too',
    async () => {
      const environment = { KONTOR_DATA: data, npm_lifecycle_event: 'start' };
      const service = await startKontor(environment, { throughShell: true });
      service.kill('SIGTERM');
      await waitFor(() => !isAlive(service.pid));
      await service.ended;
      expect(await postmasterOf(data)).toBeUndefined();
    },
  );
});

async function refusesConnections(service: Running): Promise<boolean> {
  return fetch(`${service.address}/health`).then(
    () => false,
    () => true,
  );
}

describe('DATABASE_URL', () => {
  const server = inject('server');
  const { host = '', port = 5432, user = '' } = server;
  const urlOf = (database: string) =>
    `postgres:///${database}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
  const names: string[] = [];

  async function asAdmin(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
    const admin = new pg.Client({ ...server, database: 'postgres' });
    await admin.connect();
    try {
      await work(admin);
    } finally {
      await admin.end();
    }
  }

  async function emptyDatabase(): Promise<string> {
    const name = `start_${randomBytes(6).toString('hex')}`;
    await asAdmin((admin) => admin.query(`create database ${name}`));
    names.push(name);
    return name;
  }

  afterAll(async () => {
    await cleanUp();
    for (const name of names) await asAdmin((admin) => admin.query(`drop database ${name} with (force)`));
  });

  test('two processes start at once on an empty database', async () => {
    const name = await emptyDatabase();
    const folder = path.join(await newFolder(), 'data');
    const environment = { DATABASE_URL: urlOf(name), KONTOR_DATA: folder };
    const services = await Promise.all([startKontor(environment), startKontor(environment)]);
    for (const service of services) {
      expect((await fetch(`${service.address}/ready`)).status).toBe(200);
      expect((await customers(service, 'demo-all')).status).toBe(200);
      expect(service.stderr()).toBe('');
    }
    // One of them made the demo shop, and both say its token.
    for (const service of services) expect(service.stdout()).toContain('Bearer demo-all');
    expect(services.map((service) => service.stdout().includes('Data '))).toEqual([false, false]);

    const db = new pg.Client({ ...server, database: name });
    await db.connect();
    const shops = await db.query('select shop_id from shop order by shop_id');
    const migrations = await db.query('select name from migration order by name');
    await db.end();
    expect(shops.rows).toEqual([{ shop_id: 'DemoShop' }, { shop_id: 'EmptyShop' }]);
    const files = await readdir(path.join(import.meta.dirname, '../migrations'));
    expect(migrations.rows).toEqual(
      files
        .filter((file) => file.endsWith('.sql'))
        .toSorted()
        .map((file) => ({ name: file })),
    );

    // A token that the command line makes works in both at once; once revoked, both refuse it within 5 seconds.
    const created = await kontorHere(
      ['token', 'create', 'DemoShop', '--scopes', 'customers_read'],
      environment,
    );
    const token = created.stdout.trimEnd();
    for (const service of services) expect((await customers(service, token)).status).toBe(200);
    expect((await kontorHere(['token', 'revoke', 'DemoShop', token], environment)).code).toBe(0);
    const revokedAt = Date.now();
    for (const service of services) {
      await waitFor(async () => (await customers(service, token)).status === 401, 5_000);
    }
    expect(Date.now() - revokedAt).toBeLessThan(5_000);

    for (const service of services) expect((await service.stop()).code).toBe(0);
    // Nothing embedded was made; the pictures of the demo shop are files.
    expect(await readdir(folder)).toEqual(['media', 'secret.key', 'version']);
  });

  test('HOST=0.0.0.0 makes random tokens, shown once, and all works without named statements', async () => {
    const environment = {
      // With KONTOR_TEST_PGBOUNCER=1 it goes through the pooler.
      DATABASE_URL: databaseUrl(await emptyDatabase()),
      DATABASE_NAMED_STATEMENTS: 'false',
      KONTOR_DATA: await newFolder(),
      HOST: '0.0.0.0',
    };
    const service = await serveHere(environment);
    expect(service.address).toMatch(/^http:\/\/localhost:\d+$/);
    const [, token] = /Bearer ([A-Za-z0-9]{32})'/.exec(service.stdout())!;
    expect(service.stdout()).toContain('The tokens are shown this once.');
    expect(service.stdout()).not.toContain('demo-cart');
    expect(await (await customers(service, token!)).json()).toMatchObject({ results: 15 });
    expect((await createCustomer(service, 'unnamed', token)).status).toBe(201);
    for (const known of ['demo-all', 'demo-read', 'demo-widgets', 'demo-pricing', 'demo-none', 'demo-busy']) {
      expect((await customers(service, known)).status).toBe(401);
    }
    expect((await service.stop()).code).toBe(0);
    expect((await kontorHere(['shop', 'create', 'Tea'], environment)).code).toBe(0);
  });

  test('a server that is not there: one line', async () => {
    const { port, server } = await takenPort();
    server.close();
    await once(server, 'close');
    const environment = { PORT: '0', DATABASE_URL: `postgres://me:secret@localhost:${port}/kontor` };
    const ended = await kontorHere(['serve'], environment);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /^kontor: The database cannot be reached \(connect ECONNREFUSED \S+\)\. Check DATABASE_URL\.\n$/,
    );
    expect(await kontorHere(['shop', 'list'], environment)).toEqual(ended);
  });

  test('a server that says nothing: one line, within seconds', async () => {
    const { port, server } = await takenPort();
    const began = Date.now();
    const ended = await kontorHere(['serve'], {
      PORT: '0',
      DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/kontor`,
    });
    server.close();
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'kontor: The database cannot be reached (timeout expired). Check DATABASE_URL.\n',
    });
    expect(Date.now() - began).toBeLessThan(20_000);
  });

  test('a database that is not there: one line', async () => {
    expect(await kontorHere(['serve'], { PORT: '0', DATABASE_URL: urlOf('nowhere') })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'kontor: The database refuses us (database "nowhere" does not exist). Check DATABASE_URL.\n',
    });
  });
});

test('what is in the way of the data folder is told in one line', async () => {
  const data = await newFolder();
  await writeFile(path.join(data, 'postgres'), '');
  const ended = await kontorHere(['serve'], { KONTOR_DATA: data, PORT: '0' });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/^kontor: .+\n$/);
});
