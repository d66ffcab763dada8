import { afterAll, beforeAll, expect, test } from 'vitest';
import { FrameTokenError, verifyFrameToken } from '../../../packages/client/src/app.ts';
import { givenMerchant, merchantWith, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { givenInstalledApp, startFakeApp, type FakeApp } from '../../../test/fake-app.ts';
import type { Service } from '../../../test/service.ts';
import { runCleanup } from '../../platform/cleanup.ts';
import { sql } from '../../db/sql.ts';
import { signingKeyCleanup } from '../../apps/manifest/signing-keys.ts';
import type { Role } from '../users/permissions.ts';

let service: Service;
let owner: Merchant;
let app: FakeApp;
let appId: string;
let orderIds: string[];
let productId: string;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  owner = await givenMerchant(service);
  app = await startFakeApp();
  appId = await givenInstalledApp(owner, app);
  const orders = await service.call('GET', '/DemoShop/orders?resultsPerPage=5', { token: 'demo-all' });
  orderIds = orders.body.items.map((order: { orderId: string }) => order.orderId);
  const products = await service.call('GET', '/DemoShop/products', { token: 'demo-all' });
  productId = products.body.items[0].productId;
});
afterAll(async () => {
  service.setClock(undefined);
  await app.close();
  await service.close();
});

const askToken = (merchant: Merchant, fields: Record<string, string | readonly string[]>) =>
  merchant.post(`/apps/${appId}/token`, fields);

const tokenFor = async (merchant: Merchant, fields: Record<string, string | readonly string[]>) => {
  const { status, text } = await askToken(merchant, fields);
  expect(status).toBe(200);
  return (JSON.parse(text) as { token: string }).token;
};

/** As the back end of an app reads it. */
const verified = (token: string, { clientId = appId, now = service.db.now.getTime() } = {}) =>
  verifyFrameToken(token, {
    issuer: 'http://localhost:8080',
    clientId,
    now,
    fetch: async (address) => {
      const { body } = await service.app.inject({ method: 'GET', url: new URL(address).pathname });
      return new Response(body);
    },
  });

test('a token says who looks at which page, for a minute, and names no person', async () => {
  const token = await tokenFor(owner, { kind: 'block', name: 'parcel', id: orderIds[0]! });
  const { userId } = (await service.db.one<{ userId: string }>(
    sql`select upper(user_id::text) as "userId" from admin_user where email = ${owner.email}`,
  ))!;
  const claims = await verified(token);
  expect(claims).toEqual({
    iss: 'http://localhost:8080',
    aud: appId,
    sub: userId,
    shop: 'DemoShop',
    role: 'owner',
    page: 'parcel',
    place: 'order',
    ids: [orderIds[0]],
    iat: expect.any(Number),
    exp: claims.iat + 60,
    jti: expect.stringMatching(/^[0-9A-F-]{36}$/),
  });
  const again = await verified(await tokenFor(owner, { kind: 'page', name: 'labels' }));
  expect([again.page, again.place, again.ids]).toEqual(['labels', 'menu', undefined]);
  expect(again.jti).not.toBe(claims.jti);

  const refused = (options: Parameters<typeof verified>[1], given = token) =>
    expect(verified(given, options)).rejects.toThrow(FrameTokenError);
  await refused({ now: (claims.exp + 6) * 1_000 });
  await refused({ now: (claims.iat - 6) * 1_000 });
  await refused({ clientId: 'another app' });
  const [head, , signature] = token.split('.');
  const forged = Buffer.from(JSON.stringify({ ...claims, shop: 'OtherShop' })).toString('base64url');
  await refused({}, `${head}.${forged}.${signature}`);
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  await refused({}, `${none}.${token.split('.')[1]}.`);
  await refused({}, 'x'.repeat(100_000));
});

test('no token is given for what the app was not agreed to show, or for what the shop does not have', async () => {
  const before = await fingerprint(service);
  const other = '00000000-0000-7000-8000-000000000000';
  for (const fields of [
    {},
    { kind: 'page', name: 'parcel' },
    { kind: 'block', name: 'labels' },
    { kind: 'block', name: 'parcel' },
    { kind: 'block', name: 'parcel', id: other },
    { kind: 'block', name: 'parcel', id: orderIds.slice(0, 2) },
    { kind: 'block', name: 'size', id: orderIds[0]! },
    { kind: 'action', name: 'create', id: orderIds.slice(0, 4) },
    { kind: 'action', name: 'create', id: [orderIds[0]!, other] },
    { kind: 'constructor', name: '__proto__' },
  ]) {
    expect([fields, (await askToken(owner, fields)).status]).toEqual([fields, 404]);
  }
  const three = await verified(
    await tokenFor(owner, { kind: 'action', name: 'create', id: orderIds.slice(0, 3) }),
  );
  expect([three.place, three.ids]).toEqual(['orders', orderIds.slice(0, 3)]);
  expect((await verified(await tokenFor(owner, { kind: 'block', name: 'size', id: productId }))).place).toBe(
    'product',
  );
  expect(await fingerprint(service)).toEqual(before);
});

test('pages of an app are for people whose role has all of its permissions', async () => {
  const sees = async (role: Role) => {
    const merchant = await givenMerchant(service, role);
    const { text } = await merchant.get('');
    const { status } = await merchant.get(`/apps/${appId}/pages/labels`);
    const token = await askToken(merchant, { kind: 'page', name: 'labels' });
    return [text.includes('Shipping labels'), status, token.status];
  };
  // It reads orders and products.
  expect(await sees('orders')).toEqual([true, 200, 200]);
  expect(await sees('accountant')).toEqual([true, 200, 200]);
  expect(await sees('marketing')).toEqual([false, 404, 404]);
  expect(await sees('catalogue')).toEqual([false, 404, 404]);
  // The place has a permission of its own.
  const packer = await givenMerchant(service, 'orders');
  expect((await askToken(packer, { kind: 'block', name: 'setup' })).status).toBe(403);
  expect((await askToken(owner, { kind: 'block', name: 'setup' })).status).toBe(200);
  const signedOut = merchantWith(service, '', 'DemoShop', '');
  expect((await askToken(signedOut, { kind: 'page', name: 'labels' })).status).toBe(303);
});

test('frames are allowed on the pages that show them, and only those of the app', async () => {
  const frameSources = async (path: string) => {
    const { headers, text, status } = await owner.get(path);
    expect([path, status]).toEqual([path, 200]);
    const [, sources] = /frame-src ([^;]*)/.exec(String(headers['content-security-policy']))!;
    return [sources, text.includes('data-app-frame')];
  };
  const framed = [`'self' ${app.origin}`, true];
  expect(await frameSources('')).toEqual(["'self'", false]);
  expect(await frameSources('/apps')).toEqual(["'self'", false]);
  expect(await frameSources(`/apps/${appId}`)).toEqual(["'self'", false]);
  expect(await frameSources('/settings/shop')).toEqual(["'self'", false]);
  expect(await frameSources(`/apps/${appId}/pages/labels`)).toEqual(framed);
  expect(await frameSources(`/orders/${orderIds[0]}`)).toEqual(framed);
  expect(await frameSources(`/products/${productId}`)).toEqual(framed);
  expect(await frameSources('/settings')).toEqual(framed);
});

test('the name of an app stands beside its host, in the language of the reader', async () => {
  const page = await owner.get(`/orders/${orderIds[0]}`);
  expect(page.text).toContain(`From Labels (${app.host})`);
  expect(page.text).not.toContain('eyJ');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${owner.email}`);
  const german = await owner.get(`/apps/${appId}/pages/labels`);
  expect(german.text).toContain('<h1>Versandetiketten</h1>');
  expect(german.text).toContain(`Von Labels (${app.host})`);
  await service.db.run(sql`update admin_user set language = 'en' where email = ${owner.email}`);
});

test('an action gets the orders that were chosen, within its bound', async () => {
  const path = `/apps/${appId}/actions/create`;
  expect((await owner.get('/orders')).text).toContain(`Create label (${app.host})`);
  expect((await owner.get(`/orders/${orderIds[0]}`)).text).toContain(`${path}?id=${orderIds[0]}`);
  const query = (ids: readonly string[]) => ids.map((id) => `id=${id}`).join('&');
  const two = await owner.get(`${path}?${query(orderIds.slice(0, 2))}`);
  expect([two.status, two.text.includes('2 orders')]).toEqual([200, true]);
  expect(two.text).toContain(`data-ids="${orderIds.slice(0, 2).join(' ')}"`);
  const four = await owner.get(`${path}?${query(orderIds.slice(0, 4))}`);
  expect([four.status, four.text.includes('at most 3 orders at once')]).toEqual([400, true]);
  expect((await owner.get(path)).text).toContain('No orders are selected');
});

test('people choose among what their role may see', async () => {
  const found = async (merchant: Merchant, kind: string, q: string) => {
    const { status, text } = await merchant.get(`/apps/pick?${new URLSearchParams({ kind, q }).toString()}`);
    return status === 200 ? (JSON.parse(text) as { items: { id: string; number: string }[] }).items : status;
  };
  const products = await found(owner, 'product', 'BK-100');
  expect(products).toEqual([{ id: expect.any(String), name: expect.any(String), number: 'BK-100' }]);
  const [order] = (await service.call('GET', '/DemoShop/orders', { token: 'demo-all' })).body.items;
  expect(await found(owner, 'order', order.orderNumber)).toEqual([
    expect.objectContaining({ id: order.orderId, number: order.orderNumber }),
  ]);
  expect(await found(owner, 'order', '')).toEqual([]);
  const marketing = await givenMerchant(service, 'marketing');
  expect(await found(marketing, 'order', order.orderNumber)).toBe(403);
  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  expect(await found(neighbour, 'order', order.orderNumber)).toEqual([]);
});

test('a key signs for a month, and is published a day longer', async () => {
  const keys = async () => {
    const { body } = await service.app.inject({ method: 'GET', url: '/.well-known/jwks.json' });
    return (JSON.parse(body).keys as { kid: string }[]).map(({ kid }) => kid);
  };
  const kidOf = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
  const [first] = await keys();
  expect(kidOf(await tokenFor(owner, { kind: 'page', name: 'labels' }))).toBe(first);
  await service.db.run(sql`update signing_key set created_at = created_at - interval '30 days'`);
  const second = kidOf(await tokenFor(owner, { kind: 'page', name: 'labels' }));
  expect(await keys()).toEqual([second, first]);
  await runCleanup(service.db, [signingKeyCleanup], { log: service.app.log });
  expect(await keys()).toEqual([second, first]);
  await service.db.run(sql`
    update signing_key set created_at = created_at - interval '1 day' where key_id = ${first}::uuid`);
  await service.db.run(sql`delete from cleanup`);
  await runCleanup(service.db, [signingKeyCleanup], { log: service.app.log });
  expect(await keys()).toEqual([second]);
  // A key that was sealed with another installation's secret signs no more.
  await service.db.run(sql`update signing_key set private_key_sealed = '\\x00'`);
  expect(kidOf(await tokenFor(owner, { kind: 'page', name: 'labels' }))).not.toBe(second);
});

test('a page of an app that became one of ours is not framed', async () => {
  await service.db.run(sql`
    update app_manifest set agreed = jsonb_set(agreed, '{installUrl}', '"http://localhost:8080/install"');`);
  await service.db.run(
    sql`update shop set settings_version = settings_version + 1 where shop_id = 'DemoShop'`,
  );
  expect((await owner.get('')).text).not.toContain('Shipping labels');
  expect((await owner.get(`/apps/${appId}/pages/labels`)).status).toBe(404);
});
