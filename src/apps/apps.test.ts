import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../test/builders.ts';
import { startService, type CallOptions, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import type { Scope } from '../http/scopes.ts';
import { newSecret, secretHash } from '../kernel/ids.ts';
import {
  authorise,
  createApp,
  createToken,
  deleteApp,
  installSignature,
  listApps,
  listTokens,
  revokeToken,
} from './apps.ts';
import { insertToken } from './queries.ts';
import { installationKey, seal, unseal } from '../platform/sealing.ts';

const SECRET = /^[A-Za-z0-9]{32}$/;
const key = Buffer.alloc(32, 7);
const apiUrl = 'https://shop.example/rs/shops/Alpha';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Alpha');
  await givenShop(service, 'Beta');
});

afterAll(() => service.close());

test('the signature of the contract', () => {
  const signature = installSignature(
    'DemoSecret00000000000000000000Z9',
    'DemoCode0000000000000000000000A1',
    'https://shop.example/rs/shops/DemoShop/token',
  );
  expect(signature).toBe('EDLJfvw3Rnbj4MhWk2J4Dauo1jpqzbLP82wMCSKR1uU=');
});

describe('a seal', () => {
  test('opens with its key, and looks different every time', () => {
    const [one, two] = [seal(key, 'grüße 🐟'), seal(key, 'grüße 🐟')];
    expect([unseal(key, one), unseal(key, two)]).toEqual(['grüße 🐟', 'grüße 🐟']);
    expect(one.equals(two)).toBe(false);
    expect(one.includes('gr')).toBe(false);
    expect(unseal(key, seal(key, ''))).toBe('');
  });

  test('does not open with another key, changed or cut', () => {
    const sealed = seal(key, 'secret');
    const message = 'sealed with another key';
    expect(() => unseal(Buffer.alloc(32, 8), sealed)).toThrow(message);
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      expect(() => unseal(key, changed)).toThrow(message);
      expect(() => unseal(key, sealed.subarray(0, index))).toThrow(message);
    }
  });
});

describe("the installation's key", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kontor-key-'));
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('comes from KONTOR_SECRET alone', async () => {
    const secret = 'a phrase of at least thirty-two characters';
    const keys = await Promise.all([
      installationKey({ KONTOR_SECRET: secret, KONTOR_DATA: '/nowhere' }),
      installationKey({ KONTOR_SECRET: secret, KONTOR_DATA: folder }),
      installationKey({ KONTOR_SECRET: `${secret}!`, KONTOR_DATA: folder }),
    ]);
    expect(keys[0]).toHaveLength(32);
    expect(keys[0]).toEqual(keys[1]);
    expect(keys[0]).not.toEqual(keys[2]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('is made once in the data folder, also when several ask at once, and only its owner reads it', async () => {
    const data = path.join(folder, 'new', 'data');
    const keys = await Promise.all(Array.from({ length: 20 }, () => installationKey({ KONTOR_DATA: data })));
    expect(keys[0]).toHaveLength(32);
    expect(new Set(keys.map((found) => found.toString('hex'))).size).toBe(1);
    expect(await installationKey({ KONTOR_DATA: data })).toEqual(keys[0]);
    expect(await readdir(data)).toEqual(['secret.key']);
    expect((await stat(path.join(data, 'secret.key'))).mode & 0o777).toBe(0o600);
  });

  test('is never made anew when its file is damaged', async () => {
    await writeFile(path.join(folder, 'secret.key'), 'abc');
    await expect(installationKey({ KONTOR_DATA: folder })).rejects.toThrow('secret.key is damaged');
    expect(await readFile(path.join(folder, 'secret.key'), 'utf8')).toBe('abc');
  });
});

describe('private tokens', () => {
  const create = (
    shopId: string,
    options: { app?: string; scopes: Scope[]; expiresAt?: Date; networks?: string[] },
  ) => service.db.transaction((tx) => createToken(tx, shopId, options));
  const revoke = (shopId: string, tokenOrId: string) =>
    service.db.transaction((tx) => revokeToken(tx, shopId, tokenOrId));
  const idOf = (token: string) => secretHash(token).toString('hex').slice(0, 12);

  test('work at once, belong to a private app, and are listed without their text', async () => {
    await givenShop(service, 'Listed');
    service.setClock(new Date('2026-11-15T08:30:00Z'));
    const first = await create('Listed', { scopes: ['customers_read'] });
    service.setClock(new Date('2026-11-15T08:31:00Z'));
    const second = await create('Listed', { app: 'Stock', scopes: ['products_read', 'products_write'] });
    const third = await create('Listed', { app: 'Stock', scopes: [] });
    service.setClock(undefined);
    expect(first).toMatch(SECRET);
    expect((await service.call('GET', '/Listed/customers', { token: first })).status).toBe(200);
    expect((await service.call('GET', '/Listed/customers', { token: second })).status).toBe(403);

    const tokens = await listTokens(service.db, 'Listed');
    expect(tokens).toHaveLength(3);
    expect(tokens[0]).toEqual({
      id: idOf(first),
      app: 'private app',
      scopes: ['customers_read'],
      createdAt: new Date('2026-11-15T08:30:00Z'),
      lastUsedAt: null,
      expiresAt: null,
      networks: null,
    });
    expect(tokens.slice(1)).toContainEqual(
      expect.objectContaining({
        id: idOf(second),
        app: 'Stock',
        scopes: ['products_read', 'products_write'],
      }),
    );
    expect(tokens.slice(1)).toContainEqual(expect.objectContaining({ id: idOf(third), scopes: [] }));
    expect((await listApps(service.db, 'Listed')).map(({ name }) => name)).toEqual(['Stock', 'private app']);
    expect(await listTokens(service.db, 'Beta')).toEqual([]);
  });

  test('are revoked by their text or by their id, in their own shop', async () => {
    const [one, two, kept] = [
      await create('Alpha', { scopes: [] }),
      await create('Alpha', { scopes: [] }),
      await create('Alpha', { scopes: [] }),
    ];
    expect(await revoke('Beta', one)).toBe(false);
    expect(await revoke('Beta', idOf(one))).toBe(false);
    expect(await revoke('Alpha', one)).toBe(true);
    expect(await revoke('Alpha', one)).toBe(false);
    expect(await revoke('Alpha', idOf(two).toUpperCase())).toBe(true);
    expect(await revoke('Alpha', newSecret(32))).toBe(false);
    for (const nonsense of ['', '%', 'zzzz', idOf(kept).slice(0, 3), '0'.repeat(65)]) {
      expect(await revoke('Alpha', nonsense)).toBe(false);
    }
    const ids = (await listTokens(service.db, 'Alpha')).map(({ id }) => id);
    expect(ids).toContain(idOf(kept));
    expect(ids).not.toContain(idOf(one));
    expect(ids).not.toContain(idOf(two));
  });

  test('end when they expire', async () => {
    service.setClock(new Date('2026-11-15T08:30:00Z'));
    const expiresAt = new Date('2026-11-16T08:30:00Z');
    const token = await create('Alpha', { scopes: ['customers_read', 'products_read'], expiresAt });
    const read = (path: string) => service.call('GET', path, { token });
    service.setClock(new Date('2026-11-16T08:29:59Z'));
    expect((await read('/Alpha/customers')).status).toBe(200);
    service.setClock(expiresAt);
    for (const path of ['/Alpha/customers', '/Alpha/products']) {
      const { status, body } = await read(path);
      expect([status, body.message]).toEqual([401, expect.stringContaining('The token has expired')]);
    }
    // It counts for nothing where no token is needed.
    const cart = await service.call('POST', '/Alpha/carts', { token, body: {} });
    expect(cart.status).toBe(201);
    const row = await service.db.one(
      sql`select app_id from cart where shop_id = 'Alpha' and cart_id = ${cart.body.cartId}`,
    );
    expect(row).toEqual({ app_id: null });
    service.setClock(undefined);
    await expect(create('Alpha', { scopes: [], expiresAt: new Date('2020-01-01') })).rejects.toThrow(
      'A token must end in the future, not at 2020-01-01T00:00:00.000Z.',
    );
  });

  test('can be limited to networks', async () => {
    const networks = ['203.0.113.0/24', '2001:db8:1::/48'];
    const token = await create('Alpha', { scopes: ['customers_read'], networks });
    const from = async (address: string) =>
      (await service.call('GET', '/Alpha/customers', { token, address })).status;
    expect(await from('203.0.113.77')).toBe(200);
    expect(await from('::ffff:203.0.113.77')).toBe(200);
    expect(await from('2001:db8:1:2::3')).toBe(200);
    expect(await from('203.0.114.1')).toBe(401);
    expect(await from('2001:db8:2::1')).toBe(401);
    const { body } = await service.call('GET', '/Alpha/customers', { token, address: '198.51.100.1' });
    expect(body.message).toContain('The token is not valid for calls from this address');
    for (const wrong of [
      '',
      '203.0.113.0',
      '203.0.113.0/33',
      '203.0.113.0/2/4',
      '203.0.113/24',
      '::/129',
      'x/8',
    ]) {
      await expect(create('Alpha', { scopes: [], networks: [wrong] })).rejects.toThrow(
        'A network is written like 203.0.113.0/24 or 2001:db8::/32',
      );
    }
    await expect(create('Alpha', { scopes: [], networks: [] })).rejects.toThrow('1 to 50 networks');
  });

  test('an id that fits several tokens revokes none', async () => {
    await givenShop(service, 'Twins');
    const token = await create('Twins', { app: 'twins', scopes: [] });
    const { clientId } = (await listApps(service.db, 'Twins'))[0]!;
    const twin = secretHash(token);
    twin[31]! ^= 1;
    await service.db.transaction((tx) =>
      insertToken(tx, 'Twins', { tokenHash: twin, appId: clientId, scopes: [] }),
    );
    await expect(revoke('Twins', idOf(token))).rejects.toMatchObject({
      name: 'AppProblem',
      message: `More than one token begins with ${idOf(token)}. Give more digits of its id.`,
    });
    expect(await listTokens(service.db, 'Twins')).toHaveLength(2);
    expect(await revoke('Twins', secretHash(token).toString('hex'))).toBe(true);
    expect(await listTokens(service.db, 'Twins')).toHaveLength(1);
  });

  test('are refused for an unknown shop, a bad name, and the name of an app that is installed', async () => {
    await expect(create('Nowhere', { scopes: [] })).rejects.toThrow('There is no shop "Nowhere".');
    await expect(create('Alpha', { app: ' ', scopes: [] })).rejects.toThrow('1 to 100 characters');
    await service.db.transaction((tx) =>
      createApp(tx, key, 'Alpha', { name: 'Ledger', callbackUrl: 'https://ledger.example/', scopes: [] }),
    );
    await expect(create('Alpha', { app: 'Ledger', scopes: [] })).rejects.toThrow(
      'The app "Ledger" gets its token by being installed.',
    );
    const tokens = await listTokens(service.db, 'Alpha');
    expect(tokens.filter(({ app }) => app === 'Ledger')).toEqual([]);
  });
});

describe('apps', () => {
  const create = (name: string, callbackUrl: string, shopId = 'Beta') =>
    service.db.transaction((tx) =>
      createApp(tx, key, shopId, { name, callbackUrl, scopes: ['orders_read'] }),
    );

  test('get a client id and a secret, and are listed without it', async () => {
    const { clientId, clientSecret } = await create('Widgets', 'https://widgets.example/install?lang=en');
    expect(clientId).toMatch(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);
    expect(clientSecret).toMatch(SECRET);
    expect(await listApps(service.db, 'Beta')).toEqual([
      {
        clientId,
        name: 'Widgets',
        callbackUrl: 'https://widgets.example/install?lang=en',
        scopes: ['orders_read'],
        createdAt: expect.any(Date),
      },
    ]);
  });

  test('have a name of their own in the shop', async () => {
    await create('Once', 'https://once.example/');
    await expect(create('Once', 'https://other.example/')).rejects.toMatchObject({
      name: 'AppProblem',
      message: 'The shop Beta has an app named "Once" already.',
    });
    await expect(create('Once', 'https://once.example/', 'Alpha')).resolves.toBeDefined();
  });

  test.each(['', ' x', 'x ', 'two\nlines', 'x'.repeat(101)])('the name %j is refused', async (name) => {
    await expect(create(name, 'https://a.example/')).rejects.toThrow('1 to 100 characters');
  });

  test.each(['http://localhost:3000/cb', 'http://127.0.0.1/cb', 'http://[::1]:3000/', 'https://a.example'])(
    'the callback %s is good',
    async (callbackUrl) => {
      await expect(create(newSecret(24), callbackUrl)).resolves.toBeDefined();
    },
  );

  test.each([
    'http://a.example/cb',
    'http://localhost.a.example/cb',
    'ftp://localhost/',
    'javascript:alert(1)',
    'a.example/cb',
    'https://user:pass@a.example/cb',
    'https://a.example/cb#part',
    '',
  ])('the callback %j is refused', async (callbackUrl) => {
    const name = newSecret(24);
    await expect(create(name, callbackUrl)).rejects.toThrow('The callback must be an https address');
    const names = (await listApps(service.db, 'Beta')).map((app) => app.name);
    expect(names).not.toContain(name);
  });

  test('uninstalling takes tokens and script tags along', async () => {
    await givenShop(service, 'Gone');
    const doomed = await givenToken(service, 'Gone', ['scripttags_write', 'scripttags_read'], 'Doomed');
    const other = await givenToken(service, 'Gone', ['scripttags_write', 'scripttags_read'], 'Other');
    for (const token of [doomed, other]) {
      const body = { scriptUrl: `https://a.example/${token}.js` };
      expect((await service.call('POST', '/Gone/script-tags', { token, body })).status).toBe(201);
    }
    const remove = (app: string) => service.db.transaction((tx) => deleteApp(tx, 'Gone', app));
    expect(await remove('Nobody')).toBe(false);
    expect(await remove('0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E')).toBe(false);
    expect(await remove('Doomed')).toBe(true);
    expect((await listTokens(service.db, 'Gone')).map(({ app }) => app)).toEqual(['Other']);
    const tags = await service.call('GET', '/Gone/script-tags', { token: other });
    expect(tags.body.items).toHaveLength(1);
    expect(tags.body.items[0].scriptUrl).toBe(`https://a.example/${other}.js`);
    const { clientId } = (await listApps(service.db, 'Gone'))[0]!;
    expect(await remove(clientId.toLowerCase())).toBe(true);
    expect(await listApps(service.db, 'Gone')).toEqual([]);
  });
});

interface Install {
  clientId: string;
  clientSecret: string;
}

describe('installing', () => {
  let app: Install;
  let count = 0;

  const given = (scopes: Scope[], callbackUrl = 'https://app.example/install') =>
    service.db.transaction((tx) =>
      createApp(tx, key, 'Alpha', { name: `Install ${++count}`, callbackUrl, scopes }),
    );
  const agree = ({ clientId }: { clientId: string }) =>
    service.db.transaction((tx) => authorise(tx, key, 'Alpha', clientId, apiUrl));
  const codeFor = async (install: Install) => new URL(await agree(install)).searchParams.get('code')!;
  const form = ({ clientId, clientSecret }: Install, code: string): CallOptions => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ code, client_id: clientId, client_secret: clientSecret }).toString(),
  });
  const exchange = (install: Install, code: string, shopId = 'Alpha') =>
    service.call('POST', `/${shopId}/token`, form(install, code));
  const read = (token: string) => service.call('GET', '/Alpha/customers', { token });

  beforeAll(async () => {
    app = await given(['customers_read']);
  });

  test('the address holds the five parameters, signed', async () => {
    const callback = await given([], 'https://app.example/install?lang=de&code=mine');
    const url = new URL(await agree(callback));
    expect(url.origin + url.pathname).toBe('https://app.example/install');
    const { code, signature, ...others } = Object.fromEntries(url.searchParams);
    expect(code).toMatch(SECRET);
    expect(signature).toBe(installSignature(callback.clientSecret, code!, `${apiUrl}/token`));
    expect(others).toEqual({
      lang: 'de',
      return_url: `https://shop.example/admin/shops/Alpha/apps/${callback.clientId}`,
      api_url: apiUrl,
      access_token_url: `${apiUrl}/token`,
    });
    expect(url.searchParams.getAll('code')).toHaveLength(1);
  });

  test('parameters come in the order and encoding of the contract', async () => {
    expect(await agree(app)).toMatch(
      /^https:\/\/app\.example\/install\?code=\w{32}&signature=[\w%]+%3D&return_url=https%3A%2F%2Fshop\.example%2Fadmin%2Fshops%2FAlpha%2Fapps%2F[\dA-F-]{36}&api_url=https%3A%2F%2Fshop\.example%2Frs%2Fshops%2FAlpha&access_token_url=https%3A%2F%2Fshop\.example%2Frs%2Fshops%2FAlpha%2Ftoken$/,
    );
  });

  test('needs an app with a secret, and the key that sealed it', async () => {
    await givenToken(service, 'Alpha', [], 'A private one');
    await expect(agree({ clientId: 'A private one' })).rejects.toThrow('"A private one" is private');
    await expect(agree({ clientId: 'Nobody' })).rejects.toThrow('The shop Alpha has no app "Nobody".');
    await expect(
      service.db.transaction((tx) => authorise(tx, Buffer.alloc(32), 'Alpha', app.clientId, apiUrl)),
    ).rejects.toThrow('sealed with another key');
  });

  test('a code becomes a token with the scopes of the app, once', async () => {
    const code = await codeFor(app);
    const { status, headers, body } = await exchange(app, code);
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: expect.stringMatching(SECRET) });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-epages-media-type': 'application/vnd.epages.v1+json',
    });
    expect((await read(body.access_token)).status).toBe(200);
    expect((await service.call('GET', '/Alpha/locales', { token: body.access_token })).status).toBe(403);

    const again = await exchange(app, code);
    expect(again.status).toBe(400);
    expect(again.body.message).toContain('The code is wrong, was used before, or is older than ten minutes');
    expect((await read(body.access_token)).status).toBe(200);
  });

  test('JSON with the same keys is good too, and the client id in any case', async () => {
    const body = {
      code: await codeFor(app),
      client_id: app.clientId.toLowerCase(),
      client_secret: app.clientSecret,
    };
    const answer = await service.call('POST', '/Alpha/token', { body });
    expect(answer.status).toBe(200);
    expect((await read(answer.body.access_token)).status).toBe(200);
  });

  test('a new token ends the one before, at once', async () => {
    const first = (await exchange(app, await codeFor(app))).body.access_token;
    expect((await read(first)).status).toBe(200);
    const code = await codeFor(app);
    expect((await read(first)).status).toBe(200);
    const second = (await exchange(app, code)).body.access_token;
    expect((await read(first)).status).toBe(401);
    expect((await read(second)).status).toBe(200);
  });

  test('a wrong client or secret is 403 and leaves the code alone', async () => {
    const code = await codeFor(app);
    const other = await given([]);
    const wrong: Install[] = [
      { ...app, clientSecret: newSecret(32) },
      { ...app, clientSecret: app.clientSecret.slice(1) },
      { ...app, clientId: other.clientId },
      { ...app, clientId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E' },
      { ...app, clientId: 'app' },
    ];
    for (const install of wrong) {
      const { status, body } = await exchange(install, code);
      expect([status, body.status]).toEqual([403, 'Forbidden']);
      expect(body.message).toBe('Wrong client_id or client_secret, Request: POST /rs/shops/Alpha/token');
    }
    expect((await exchange(app, code, 'Beta')).status).toBe(403);
    expect((await exchange(other, code)).status).toBe(400);
    expect((await exchange(app, code)).status).toBe(200);
  });

  test('a private app has no secret that could be right', async () => {
    await givenToken(service, 'Alpha', [], 'No secret');
    const { clientId } = (await listApps(service.db, 'Alpha')).find(({ name }) => name === 'No secret')!;
    expect((await exchange({ clientId, clientSecret: 'null' }, 'code')).status).toBe(403);
  });

  test('a code lives ten minutes', async () => {
    const start = new Date('2026-11-15T08:30:00Z');
    service.setClock(start);
    const [late, inTime] = [await codeFor(app), await codeFor(app)];
    service.setClock(new Date(start.getTime() + 599_999));
    expect((await exchange(app, inTime)).status).toBe(200);
    service.setClock(new Date(start.getTime() + 600_000));
    expect((await exchange(app, late)).status).toBe(400);

    const codes = () =>
      service.db.many(sql`select from authorisation_code where expires_at <= ${service.db.now}`);
    expect(await codes()).toHaveLength(1);
    await agree(app);
    expect(await codes()).toHaveLength(0);
    service.setClock(undefined);
  });

  test('of many exchanges of one code at once, one succeeds', async () => {
    const code = await codeFor(app);
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(app, code)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 400, 400, 400, 400, 400, 400, 400,
    ]);
    const { access_token } = answers.find(({ status }) => status === 200)!.body;
    expect((await read(access_token)).status).toBe(200);
  });

  test('of two codes exchanged at once, one token stays', async () => {
    const parallel = await given(['customers_read']);
    const codes = [await codeFor(parallel), await codeFor(parallel), await codeFor(parallel)];
    const answers = await Promise.all(codes.map((code) => exchange(parallel, code)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { appId } = (await service.db.one<{ appId: string }>(sql`
      select app_id as "appId" from app where shop_id = 'Alpha' and app_id = ${parallel.clientId}`))!;
    const tokens = await service.db.many(
      sql`select from token where shop_id = 'Alpha' and app_id = ${appId}`,
    );
    expect(tokens).toHaveLength(1);
    const statuses = await Promise.all(
      answers.map(async ({ body }) => (await read(body.access_token)).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
  });

  test.each([
    ['code=x&client_id=y', 'MISSING on field client_secret'],
    ['code=&client_id=y&client_secret=z', 'STRING_EMPTY on field code'],
    ['code=a&code=b&client_id=y&client_secret=z', 'WRONG_TYPE on field code'],
    [`code=${'x'.repeat(256)}&client_id=y&client_secret=z`, 'TOO_LONG on field code'],
  ])('the form %s is refused', async (body, problem) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await service.call('POST', '/Alpha/token', { headers, body });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(`Create access token failed:\n\tvalidation error ${problem}`);
  });

  test('an unknown shop is 404', async () => {
    expect((await exchange(app, 'code', 'Nowhere')).status).toBe(404);
  });

  test('no secret lies in the database in clear, not even with an Idempotency-Key', async () => {
    const install = await given(['customers_read', 'customers_write']);
    const [code, unusedCode] = [await codeFor(install), await codeFor(install)];
    const { headers, body } = form(install, code);
    const keyed = { headers: { ...headers, 'idempotency-key': 'install-1' }, body };
    const first = await service.call('POST', '/Alpha/token', keyed);
    expect(first.status).toBe(200);
    // The key is not looked at: the code is used, and a replay would need the token.
    expect((await service.call('POST', '/Alpha/token', keyed)).status).toBe(400);

    const installed = first.body.access_token;
    const secret = await service.db.transaction((tx) => createToken(tx, 'Alpha', { scopes: [] }));
    const customer = await service.call('POST', '/Alpha/customers', {
      token: installed,
      headers: { 'idempotency-key': 'customer-1' },
      body: { billingAddress: { lastName: 'Brennan' } },
    });
    expect(customer.status).toBe(201);

    const rows = await service.db.many<{ text: string }>(sql`
      select app::text || encode(coalesce(secret_sealed, ''), 'escape') as text from app
      union all select token::text from token
      union all select authorisation_code::text from authorisation_code
      union all select idempotent_answer::text from idempotent_answer
      union all select rate_window::text from rate_window`);
    const dump = rows.map(({ text }) => text).join('\n');
    expect(dump).toContain('customer-1');
    expect(dump).not.toContain('install-1');
    for (const text of [install.clientSecret, code, unusedCode, installed, secret]) {
      expect(text).toMatch(SECRET);
      expect(dump).not.toContain(text);
      expect(dump).not.toContain(Buffer.from(text).toString('hex'));
    }
  });
});
