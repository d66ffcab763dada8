import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { newOrder, signWebhook, startFakeShop, type FakeShop } from '@kontor/client/testing';
import { createApp } from '../src/app.ts';
import { openStore, type Shop } from '../src/store.ts';

let folder: string;
let shop: FakeShop;
let app: ReturnType<typeof createApp>;
let address: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'app-'));
  shop = await startFakeShop();
  app = createApp({ store: await openStore(folder), origins: [shop.origin] });
  await once(app.listen(0, '127.0.0.1'), 'listening');
  address = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  await shop.install(address);
});
after(async () => {
  app.closeAllConnections();
  app.close();
  await shop.close();
  await rm(folder, { recursive: true });
});

const stored = async () => JSON.parse(await readFile(path.join(folder, 'shops.json'), 'utf8')) as Shop[];

async function shownOrders(token: string) {
  const response = await fetch(`${address}/kontor/orders`, { headers: { authorization: `Bearer ${token}` } });
  return response.ok ? ((await response.json()) as { orders: string[] }).orders : response.status;
}

test('it is installed with a token of its own', async () => {
  const [known] = await stored();
  assert.equal(known?.accessToken, shop.accessToken);
  assert.equal(known?.apiUrl, shop.apiUrl);
});

test('an order is shown on the page, once', async () => {
  const order = newOrder({ orderNumber: 'ORD1' });
  const url = `${address}/kontor/hook`;
  const sent = await shop.sendWebhook(url, { eventType: 'ORDER_CREATE', entity: order }, 'EVENT1');
  const again = await shop.sendWebhook(url, { eventType: 'ORDER_CREATE', entity: order }, 'EVENT1');
  assert.deepEqual([sent.status, again.status], [204, 204]);
  assert.deepEqual(await shownOrders(await shop.token({ page: 'orders' })), ['ORD1']);
});

test('nothing is taken that is forged', async () => {
  const before = await stored();
  const forged = await signWebhook(
    { baseUrl: shop.apiUrl, eventType: 'ORDER_CREATE', entity: newOrder() },
    { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', clientSecret: 'another' },
  );
  const hook = await fetch(`${address}/kontor/hook`, { method: 'POST', ...forged });
  const register = await fetch(`${address}/kontor/register`, {
    method: 'POST',
    body: JSON.stringify({ ...before[0], apiUrl: 'https://evil.example/rs/shops/Evil' }),
  });
  const old = await shop.token({ page: 'orders', iat: 0, exp: 60 });
  assert.deepEqual([hook.status, register.status, await shownOrders(old)], [401, 403, 401]);
  assert.deepEqual(await stored(), before);
});

test('a checkout is told what can be delivered', async () => {
  const ask = (country: string) =>
    shop.ask(`${address}/kontor/delivery`, 'deliveryOptions', { destination: { country } });
  assert.deepEqual(await ask('DE'), {
    options: [{ id: 'bike', name: { en: 'By bike', de: 'Mit dem Rad' }, price: 390 }],
  });
  assert.deepEqual(await ask('FR'), { options: [] });
});

test('the page may be framed by the installation only', async () => {
  const page = await fetch(`${address}/page.html`);
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    new RegExp(`frame-ancestors ${shop.origin}$`),
  );
  const scripts = ['/public/page.js', '/client/app.js', '/public/..%2Fsrc/main.js'];
  const found = await Promise.all(scripts.map(async (script) => (await fetch(address + script)).status));
  assert.deepEqual(found, [200, 200, 404]);
});
