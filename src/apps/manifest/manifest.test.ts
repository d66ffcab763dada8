import { readFile } from 'node:fs/promises';
import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { LABELS, startFakeApp, type FakeApp } from '../../../test/fake-app.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { seal, unseal } from '../../platform/sealing.ts';
import { receiverPolicy } from '../webhooks/receiver-address.ts';
import { ManifestProblem, manifestAddress, parseManifest } from './manifest.ts';
import { manifestSchemaText } from './schema.ts';
import { APP_SETTINGS, restoreManifests } from './restore.ts';
import { readDueManifests } from './worker.ts';
import { fetchManifest } from './fetch-manifest.ts';

let service: Service;
let merchant: Merchant;
let app: FakeApp;
beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
  app = await startFakeApp();
});
afterAll(async () => {
  await app.close();
  await service.close();
});
beforeEach(() => {
  app.manifest = LABELS;
  app.answer = () => false;
});

const versionIn = (text: string) => /name="version" value="([^"]+)"/.exec(text)![1]!;

async function added(address = app.host): Promise<string> {
  const { status, location } = await merchant.post('/apps/add', { address: `http://${address}` });
  expect(status).toBe(303);
  return /apps\/([^/]+)\//.exec(location!)![1]!;
}

async function agreed(appId: string) {
  const page = await merchant.get(`/apps/${appId}/install`);
  return merchant.post(`/apps/${appId}/install`, { answer: 'agree', version: versionIn(page.text) });
}

/** The token that the app gets for the code of the browser. */
async function tokenOf(appId: string, refresh: unknown): Promise<string> {
  const code = new URL(String(refresh).replace('0; url=', '')).searchParams.get('code')!;
  const secret = app.registrations.at(-1)!.body['clientSecret']!;
  const { body } = await service.call('POST', '/DemoShop/token', {
    body: new URLSearchParams({ code, client_id: appId, client_secret: secret }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return body.access_token;
}

const webhooksOf = (appId: string) =>
  service.db.many<{ eventType: string; callbackUrl: string }>(sql`
    select event_type as "eventType", callback_url as "callbackUrl" from webhook
    where shop_id = 'DemoShop' and app_id = ${appId} order by event_type`);

const rowOf = (appId: string) =>
  service.db.one<{
    agreed: { name: string } | null;
    offered: { name: string } | null;
    problem: string | null;
  }>(sql`
    select agreed, offered, problem from app_manifest where shop_id = 'DemoShop' and app_id = ${appId}`);

test('an app is added by its address, and does nothing before the merchant agrees', async () => {
  const appId = await added();
  const page = await merchant.get(`/apps/${appId}/install`);
  for (const text of [
    'Install Labels?',
    `From ${app.host}`,
    'Prints shipping labels.',
    'View orders',
    'View products, categories and stock',
    'A page in the menu: Shipping labels',
    'Parcel, on the page of an order',
    'An action on orders: Create label',
    'ORDER_CREATE',
  ]) {
    expect(page.text).toContain(text);
  }
  expect(page.text).not.toContain('View customers');
  expect(app.registrations).toEqual([]);
  expect(await webhooksOf(appId)).toEqual([]);
  expect((await merchant.get('')).text).not.toContain('Shipping labels');
  expect((await merchant.get(`/apps/${appId}/pages/labels`)).status).toBe(404);
  // The same address again is the same app.
  expect(await added()).toBe(appId);

  const stale = await merchant.post(`/apps/${appId}/install`, { answer: 'agree', version: 'x' });
  expect(stale.status).toBe(409);
  expect(app.registrations).toEqual([]);

  const answer = await agreed(appId);
  expect(answer.status).toBe(200);
  expect(app.registrations).toHaveLength(1);
  const [{ headers, body }] = app.registrations as [FakeApp['registrations'][0]];
  expect(body).toMatchObject({
    clientId: appId,
    shopId: 'DemoShop',
    apiUrl: 'http://localhost:8080/rs/shops/DemoShop',
  });
  expect(await claimsOf(headers.authorization!.replace('Bearer ', ''))).toMatchObject({
    iss: 'http://localhost:8080',
    aud: appId,
    shop: 'DemoShop',
    page: 'register',
  });
  const token = await tokenOf(appId, answer.headers['refresh']);
  expect((await service.call('GET', '/DemoShop/orders', { token })).status).toBe(200);
  expect((await service.call('GET', '/DemoShop/customers', { token })).status).toBe(403);
  expect(await webhooksOf(appId)).toEqual([{ eventType: 'ORDER_CREATE', callbackUrl: `${app.origin}/hook` }]);
  expect((await merchant.get('')).text).toContain('Shipping labels');

  await merchant.post(`/apps/${appId}/uninstall`);
  expect(await webhooksOf(appId)).toEqual([]);
  expect(await rowOf(appId)).toBeUndefined();
  expect((await merchant.get('')).text).not.toContain('Shipping labels');
});

test('a webhook of the manifest has custom fields when an update says so, and goes on where it is', async () => {
  const appId = await added();
  await agreed(appId);
  const row = () =>
    service.db.one<{ webhookId: string; includesFields: boolean }>(sql`
      select webhook_id as "webhookId", includes_fields as "includesFields" from webhook
      where shop_id = 'DemoShop' and app_id = ${appId}`);
  const { webhookId } = (await row())!;
  expect(await row()).toEqual({ webhookId, includesFields: false });
  const [webhook] = LABELS.webhooks;
  app.manifest = { ...LABELS, webhooks: [{ ...webhook, includeFields: true }] };
  await merchant.post(`/apps/${appId}/read`);
  expect((await merchant.get(`/apps/${appId}`)).text).not.toContain('An update of this app asks for more.');
  expect(await row()).toEqual({ webhookId, includesFields: true });
  app.manifest = LABELS;
  await merchant.post(`/apps/${appId}/read`);
  expect(await row()).toEqual({ webhookId, includesFields: false });
  await merchant.post(`/apps/${appId}/uninstall`);
});

/** The claims of a token that one of the published keys has signed. */
async function claimsOf(token: string): Promise<Record<string, unknown>> {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const { kid, alg } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const { body, headers } = await service.app
    .inject({ method: 'GET', url: '/.well-known/jwks.json', headers: { host: 'localhost:8080' } })
    .then((response) => ({ body: response.json(), headers: response.headers }));
  expect(headers['access-control-allow-origin']).toBe('*');
  const key = body.keys.find((one: { kid: string }) => one.kid === kid) as JsonWebKey;
  expect([alg, Object.keys(key).toSorted()]).toEqual([
    'ES256',
    ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  ]);
  const isGenuine = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(isGenuine).toBe(true);
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

test('an update that asks for less is in force at once; one that asks for more waits, and the app works on', async () => {
  const appId = await added();
  const token = await tokenOf(appId, (await agreed(appId)).headers['refresh']);
  app.manifest = { ...LABELS, scopes: ['orders_read', 'customers_read'], webhooks: [] };
  const waiting = await merchant.post(`/apps/${appId}/read`);
  expect(waiting.location).toBe(`/admin/shops/DemoShop/apps/${appId}`);
  expect((await merchant.get(`/apps/${appId}`)).text).toContain('An update of this app asks for more.');
  expect((await service.call('GET', '/DemoShop/customers', { token })).status).toBe(403);
  expect((await service.call('GET', '/DemoShop/products', { token })).status).toBe(200);
  expect(await webhooksOf(appId)).toHaveLength(1);

  const page = await merchant.get(`/apps/${appId}/update`);
  expect(page.text).toContain('View customers with addresses and notes');
  const accountant = await givenMerchant(service, 'accountant');
  expect((await accountant.post(`/apps/${appId}/update`, { version: versionIn(page.text) })).status).toBe(
    403,
  );
  // Another version comes while the merchant reads this one.
  app.manifest = { ...LABELS, scopes: ['orders_read', 'orders_write'] };
  await merchant.post(`/apps/${appId}/read`);
  expect((await merchant.post(`/apps/${appId}/update`, { version: versionIn(page.text) })).status).toBe(409);

  const current = await merchant.get(`/apps/${appId}/update`);
  expect((await merchant.post(`/apps/${appId}/update`, { version: versionIn(current.text) })).status).toBe(
    303,
  );
  const stored = await service.db.one(sql`
    select app.scopes, token.scopes as "tokenScopes" from app join token using (shop_id, app_id)
    where shop_id = 'DemoShop' and app_id = ${appId}`);
  expect(stored).toEqual({
    scopes: ['orders_read', 'orders_write'],
    tokenScopes: ['orders_read', 'orders_write'],
  });

  app.manifest = { ...LABELS, scopes: ['orders_read'], pages: [] };
  await merchant.post(`/apps/${appId}/read`);
  expect((await rowOf(appId))!.offered).toBeNull();
  expect((await merchant.get('')).text).not.toContain('Shipping labels');
  expect((await merchant.get(`/apps/${appId}/update`)).status).toBe(404);
  await merchant.post(`/apps/${appId}/uninstall`);
});

test('what an app is asked while customers wait is agreed to, and a change that asks for more waits', async () => {
  const calls = [
    {
      kind: 'deliveryOptions',
      url: '/delivery',
      timeoutMs: 500,
      cacheSeconds: 60,
      onFailure: { price: 690 },
    },
    { kind: 'checkoutValidation', url: '/check', onFailure: 'hide' },
  ];
  const scopes = [...LABELS.scopes, 'carts_read'];
  app.manifest = { ...LABELS, scopes, calls };
  const appId = await added();
  const page = await merchant.get(`/apps/${appId}/install`);
  expect(page.text).toContain('Is asked while customers wait');
  expect(page.text).toContain(
    'How a cart can be delivered, and what that costs. Without an answer, its delivery costs €6.90.',
  );
  expect(page.text).toContain('Whether a cart may be ordered. Without an answer, the cart may be ordered.');
  await agreed(appId);
  const isWaiting = async (changed: object[]) => {
    app.manifest = { ...LABELS, scopes, calls: changed };
    await merchant.post(`/apps/${appId}/read`);
    return (await rowOf(appId))!.offered !== null;
  };
  const [delivery, check] = calls as [object, object];
  expect(await isWaiting([{ ...delivery, timeoutMs: 300, cacheSeconds: 0, url: '/other' }, check])).toBe(
    false,
  );
  expect(await isWaiting([{ ...delivery, timeoutMs: 301 }, check])).toBe(true);
  expect(await isWaiting([{ ...delivery, timeoutMs: 300, onFailure: 'refuse' }, check])).toBe(true);
  expect(await isWaiting([check])).toBe(false);
  expect(await isWaiting([{ ...delivery, timeoutMs: 50 }, check])).toBe(true);
  await merchant.post(`/apps/${appId}/uninstall`);
});

const PAYMENT = { kind: 'payment', url: '/pay', onFailure: 'refuse' };
const METHOD = { name: 'later', title: { en: 'Pay later' } };

test.each([
  ['without the scope', { calls: [{ kind: 'deliveryOptions', url: '/d', onFailure: 'hide' }] }, 'callScope'],
  [
    'of a kind that is not there yet',
    { calls: [{ kind: 'payment', url: '/t', onFailure: 'hide' }] },
    'invalid',
  ],
  [
    'with a budget that is too long',
    { calls: [{ kind: 'deliveryOptions', url: '/d', onFailure: 'hide', timeoutMs: 801 }] },
    'invalid',
  ],
  [
    'that has a price for a check',
    { calls: [{ kind: 'checkoutValidation', url: '/c', onFailure: { price: 1 } }], scopes: ['carts_read'] },
    'invalid',
  ],
  [
    'of another host',
    { calls: [{ kind: 'deliveryOptions', url: 'https://other.example/d', onFailure: 'hide' }] },
    'otherOrigin',
  ],
  [
    'twice',
    {
      calls: [
        { kind: 'deliveryOptions', url: '/d', onFailure: 'hide' },
        { kind: 'deliveryOptions', url: '/e', onFailure: 'hide' },
      ],
    },
    'invalid',
  ],
  ['for payments without methods', { calls: [PAYMENT], scopes: ['orders_read'] }, 'invalid'],
  ['for payments that is missing', { paymentMethods: [METHOD] }, 'invalid'],
  ['for payments without its scope', { calls: [PAYMENT], paymentMethods: [METHOD], scopes: [] }, 'callScope'],
  [
    'for payments that is cached',
    { calls: [{ ...PAYMENT, cacheSeconds: 1 }], paymentMethods: [METHOD] },
    'invalid',
  ],
  [
    'for payments that is hidden',
    { calls: [{ ...PAYMENT, onFailure: 'hide' }], paymentMethods: [METHOD] },
    'invalid',
  ],
  [
    'for payments with an amount of no currency',
    { calls: [PAYMENT], paymentMethods: [{ ...METHOD, maximum: 100 }] },
    'invalid',
  ],
])('a call %s is refused', (_why, change, reason) => {
  const text = JSON.stringify({ ...LABELS, ...change });
  expect(() => parseManifest(text, new URL(app.origin))).toThrow(
    expect.objectContaining({ name: 'ManifestProblem', reason }) as Error,
  );
});

test('a kind of call that is not there yet is named with those that are', () => {
  const calls = [{ kind: 'shipping', url: '/t', onFailure: 'hide' }];
  expect(() => parseManifest(JSON.stringify({ ...LABELS, calls }), new URL(app.origin))).toThrow(
    'The manifest is not valid: /calls/0/kind must be equal to one of the allowed values: deliveryOptions, linePrices, taxes, checkoutValidation, payment',
  );
});

test('manifests are read again once a day, and one that is broken changes nothing but its note', async () => {
  const appId = await added();
  await agreed(appId);
  const deps = {
    db: service.db,
    policy: receiverPolicy(service.config, service.app.demoAccess),
    loadKey: async () => Buffer.alloc(32),
    isOwnOrigin: () => false,
  };
  app.asked.length = 0;
  await readDueManifests(deps, service.app.log);
  expect(app.asked).toEqual([]);

  const makeDue = () =>
    service.db.run(sql`update app_manifest set due_at = ${service.db.now} where app_id = ${appId}`);
  app.manifest = '<html>';
  await makeDue();
  await readDueManifests(deps, service.app.log);
  expect(app.asked).toEqual(['/.well-known/kontor-app.json']);
  expect(await rowOf(appId)).toMatchObject({
    agreed: { name: 'Labels' },
    problem: 'The manifest is not JSON',
  });
  expect((await merchant.get('')).text).toContain('Shipping labels');
  // It is due tomorrow.
  await readDueManifests(deps, service.app.log);
  expect(app.asked).toHaveLength(1);

  app.manifest = { ...LABELS, name: 'Kontor Support' };
  await makeDue();
  await readDueManifests(deps, service.app.log);
  expect(await rowOf(appId)).toMatchObject({
    agreed: { name: 'Labels' },
    offered: { name: 'Kontor Support' },
    problem: null,
  });
  expect((await merchant.get('/apps')).text).not.toContain('Kontor Support');
  await merchant.post(`/apps/${appId}/uninstall`);
});

test('an icon is drawn anew as a small PNG, and a picture with a script is refused', async () => {
  const icon = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#ff0000' } })
    .jpeg()
    .withExif({ IFD0: { Artist: 'Somebody' } })
    .toBuffer();
  let sent: Buffer = icon;
  app.answer = (request, response) => {
    if (request.url !== '/icon') return false;
    response.end(sent);
    return true;
  };
  app.manifest = { ...LABELS, name: 'Painted', icon: '/icon' };
  const appId = await added();
  const stored = await service.db.one<{ icon: Buffer }>(sql`
    select icon from app_manifest where shop_id = 'DemoShop' and app_id = ${appId}`);
  const { format, width, height, exif } = await sharp(stored!.icon).metadata();
  expect([format, width, height, exif]).toEqual(['png', 64, 64, undefined]);
  expect((await merchant.get(`/apps/${appId}/install`)).text).toContain('src="data:image/png;base64,');
  await merchant.post(`/apps/${appId}/uninstall`);

  sent = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const before = await fingerprint(service);
  const refused = await merchant.post('/apps/add', { address: app.origin });
  expect([refused.status, refused.text.includes('is not a PNG or JPEG')]).toEqual([400, true]);
  sent = Buffer.concat([icon, Buffer.alloc(262_144)]);
  expect((await merchant.post('/apps/add', { address: app.origin })).status).toBe(400);
  expect(await fingerprint(service)).toEqual(before);
});

const entry = LABELS.pages[0]!;

test.each([
  ['not JSON', '{', 'is not JSON'],
  ['another version of the format', { ...LABELS, manifest: 2 }, '/manifest must be &lt;= 1'],
  ['no name', { ...LABELS, name: undefined }, 'required property'],
  ['a name that turns the text', { ...LABELS, name: 'Labels\u202e' }, '/name must match'],
  ['a name of two lines', { ...LABELS, name: 'Labels\nKontor' }, '/name must match'],
  ['an unknown scope', { ...LABELS, scopes: ['everything'] }, '/scopes/0'],
  [
    'a page of another host',
    { ...LABELS, pages: [{ ...entry, url: 'https://evil.example/x' }] },
    '(/pages/0/url)',
  ],
  ['a script as a page', { ...LABELS, pages: [{ ...entry, url: 'javascript:alert(1)' }] }, '(/pages/0/url)'],
  ['data as a page', { ...LABELS, pages: [{ ...entry, url: 'data:text/html,hello' }] }, '(/pages/0/url)'],
  ['a host without a scheme', { ...LABELS, installUrl: '//evil.example/install' }, '(/installUrl)'],
  ['a page with a password', { ...LABELS, registerUrl: 'http://user:password@APP/' }, '(/registerUrl)'],
  ['two pages of one name', { ...LABELS, pages: [entry, entry] }, 'is there twice'],
  [
    'too many pages',
    { ...LABELS, pages: Array.from({ length: 6 }, () => entry) },
    '/pages must NOT have more',
  ],
  ['a webhook without its scope', { ...LABELS, scopes: [] }, 'ORDER_CREATE: orders_read'],
  ['64 KB and one', JSON.stringify(LABELS) + ' '.repeat(65_536), 'is too large'],
])('a manifest with %s is refused, and nothing is stored', async (_name, manifest, problem) => {
  app.manifest =
    typeof manifest === 'string'
      ? manifest
      : JSON.parse(JSON.stringify(manifest).replaceAll('APP', app.host));
  const before = await fingerprint(service);
  const refused = await merchant.post('/apps/add', { address: app.origin });
  expect([refused.status, refused.text.includes(problem) || refused.text]).toEqual([400, true]);
  expect(await fingerprint(service)).toEqual(before);
});

test('an app that hangs, fails or leads elsewhere is refused', async () => {
  const other = await startFakeApp();
  const before = await fingerprint(service);
  const problemWith = async (answer: FakeApp['answer']) => {
    app.answer = answer;
    const { status, text } = await merchant.post('/apps/add', { address: app.origin });
    expect(status).toBe(400);
    return /class="problem"[^>]*>([^<]*)</.exec(text)![1];
  };
  const redirectTo = (location: string) => (_request: unknown, response: { writeHead: Function }) => {
    response.writeHead(302, { location }).end();
    return true;
  };
  try {
    expect(await problemWith(redirectTo(`${other.origin}/.well-known/kontor-app.json`))).toContain(
      `redirects to another host. Please enter the address of that host. (${other.host})`,
    );
    expect(await problemWith(redirectTo('file:///etc/passwd'))).toContain('redirects to another host');
    expect(await problemWith(redirectTo('/again'))).toContain('(too many redirects)');
    expect(other.asked).toEqual([]);
    expect(
      await problemWith((_request, response) => {
        response.writeHead(500).end();
        return true;
      }),
    ).toContain('(500)');
    const began = performance.now();
    expect(
      await problemWith((_request, response) => {
        response.write('{');
        return true;
      }),
    ).toContain('did not answer in time');
    expect(performance.now() - began).toBeLessThan(7_000);
  } finally {
    await other.close();
  }
  for (const address of ['ftp://labels.example', 'http://a:b@labels.example', 'http://x/#y']) {
    const { status, text } = await merchant.post('/apps/add', { address });
    expect([address, status, text.includes('Please enter an https address')]).toEqual([address, 400, true]);
  }
  const own = await merchant.post('/apps/add', { address: 'http://localhost' });
  expect(own.text).toContain('an address of this service');
  expect(await fingerprint(service)).toEqual(before);
});

test('an app that does not accept the registration is not installed', async () => {
  const appId = await added();
  app.answer = ({ url }, response) => {
    if (url !== '/register') return false;
    response.writeHead(503).end();
    return true;
  };
  const before = await fingerprint(service);
  const refused = await agreed(appId);
  expect([refused.status, refused.text.includes('has not accepted the registration')]).toEqual([400, true]);
  expect((await rowOf(appId))!.agreed).toBeNull();
  expect(await webhooksOf(appId)).toEqual([]);
  // But for the key that has signed it, if there was none.
  expect(await fingerprint(service)).toEqual(before);
  await merchant.post(`/apps/${appId}/uninstall`);
});

test('an address of the network of the service is refused where others can call', async () => {
  const closed = { isOpen: () => false };
  const policy = receiverPolicy(service.config, closed);
  for (const address of ['http://127.0.0.1:3000', 'https://10.0.0.1', 'https://localhost', 'https://[::1]']) {
    const reading = (async () =>
      fetchManifest({ policy, isOwnOrigin: () => false }, manifestAddress(address)))();
    await expect(reading).rejects.toMatchObject({ reason: 'forbidden' });
  }
});

test('a manifest of a backup is checked like one of an app', async () => {
  const keys = { own: Buffer.alloc(32, 1), former: Buffer.alloc(32, 2) };
  const set = (appId: string, agreed: object, secret: Buffer) =>
    service.db.run(sql`
      update app_manifest set agreed = ${agreed}, secrets_sealed = ${secret}
      where shop_id = 'DemoShop' and app_id = ${appId}`);
  const restore = () => service.db.transaction((tx) => restoreManifests(tx, 'DemoShop', keys));
  const sealedOf = async (appId: string) =>
    (await service.db.one<{ sealed: Buffer | null }>(sql`
      select secrets_sealed as sealed from app_manifest where shop_id = 'DemoShop' and app_id = ${appId}`))!
      .sealed;
  const appId = await added();
  await agreed(appId);
  const stored = (await rowOf(appId))!.agreed!;
  await set(appId, stored, seal(keys.former, '{"apiKey":"1"}', APP_SETTINGS));
  await restore();
  expect((await rowOf(appId))!.agreed).toEqual(stored);
  expect(unseal(keys.own, (await sealedOf(appId))!, APP_SETTINGS)).toBe('{"apiKey":"1"}');
  await set(appId, stored, seal(Buffer.alloc(32, 3), '{}', APP_SETTINGS));
  await restore();
  expect(await sealedOf(appId)).toBeNull();

  for (const broken of [
    { ...stored, installUrl: 'http://localhost:8080/install' },
    { ...stored, pages: [{ ...entry, url: 'javascript:alert(1)' }] },
    { name: 'Labels' },
    [],
  ]) {
    const broke = await added();
    await agreed(broke);
    await set(broke, broken, Buffer.alloc(0));
    await restore();
    expect(await rowOf(broke)).toBeUndefined();
    await merchant.post(`/apps/${broke}/uninstall`);
  }
});

test('an app of one shop is unknown in another', async () => {
  const appId = await added();
  await agreed(appId);
  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  for (const path of ['pages/labels', 'update', 'actions/create']) {
    expect((await neighbour.get(`/apps/${appId}/${path}`)).status).toBe(404);
  }
  for (const path of ['read', 'token', 'update']) {
    expect((await neighbour.post(`/apps/${appId}/${path}`, { kind: 'page', name: 'labels' })).status).toBe(
      404,
    );
  }
  await merchant.post(`/apps/${appId}/uninstall`);
});

test('a host stands for the usual place of its manifest', () => {
  const at = (typed: string) => manifestAddress(typed).href;
  expect(at('labels.example')).toBe('https://labels.example/.well-known/kontor-app.json');
  expect(at(' https://labels.example/ ')).toBe('https://labels.example/.well-known/kontor-app.json');
  expect(at('https://labels.example/apps/one.json')).toBe('https://labels.example/apps/one.json');
});

test('the schema of manifests is the one in the repository', async () => {
  const text = await readFile(new URL('../../../schema/app-manifest.schema.json', import.meta.url), 'utf8');
  expect(text, 'schema/app-manifest.schema.json is stale: run npm run generate').toBe(manifestSchemaText());
});

test('the manifest of the guide is valid', async () => {
  const guide = await readFile(new URL('../../../docs/apps.md', import.meta.url), 'utf8');
  const [, text] = /```json\n(\{\s+"manifest"[^]*?)```/.exec(guide)!;
  const manifest = parseManifest(text!, new URL('https://labels.example/.well-known/kontor-app.json'));
  expect(manifest.actions).toEqual([
    {
      name: 'create',
      title: { en: 'Create label' },
      url: 'https://labels.example/kontor/create',
      maxOrders: 50,
    },
  ]);
});

test('keys of later versions are ignored, and not stored', () => {
  const text = JSON.stringify({ ...LABELS, blessings: [{ name: 'rates' }] });
  const manifest = parseManifest(text, new URL('https://labels.example/.well-known/kontor-app.json'));
  expect(Object.keys(manifest)).not.toContain('blessings');
  expect(manifest.pages[0]!.url).toBe('https://labels.example/pages/labels');
  expect(() => parseManifest('[]', new URL('https://labels.example'))).toThrow(ManifestProblem);
});
