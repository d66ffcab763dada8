import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenBrowser, givenMerchant, type AdminAnswer, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { runCleanup } from '../../platform/cleanup.ts';
import { appUseCleanup } from '../../apps/app-use.ts';
import { installSignature } from '../../apps/apps.ts';
import { adminMessagesIn } from '../messages.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const audit = async () =>
  (await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' })).body.items;

/** The value of the first input with this label. */
const secretIn = (text: string, label: string) =>
  new RegExp(`id="secret-${label}"[^>]*value="([^"]*)"`).exec(text)?.[1];

const appIdOf = async (name: string) =>
  (await service.db.one<{ id: string }>(
    sql`select upper(app_id::text) as id from app where shop_id = 'DemoShop' and name = ${name}`,
  ))!.id;

async function givenGerman(): Promise<Merchant> {
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  return german;
}

/** What the next page says. */
function noticeIn({ headers }: AdminAnswer): { text: string; isProblem?: boolean } | undefined {
  const cookie = [headers['set-cookie']].flat().find((one) => String(one).startsWith('admin-notice='));
  const [, content] = /^admin-notice=([^.]+)/.exec(String(cookie)) ?? [];
  return content === undefined ? undefined : JSON.parse(Buffer.from(content, 'base64url').toString());
}

test('a private app gets a token with what was chosen, which is shown once', async () => {
  const before = await fingerprint(service);
  const nothing = await merchant.post('/apps/new', { name: 'Till' });
  expect([nothing.status, nothing.text.includes('Select at least one permission.')]).toEqual([400, true]);
  expect(nothing.text).toContain('value="Till"');
  const wrong = await merchant.post('/apps/new', { name: 'Till', scope: 'orders_read', networks: 'home' });
  expect([wrong.status, wrong.text.includes('Please write networks like')]).toEqual([400, true]);
  expect(await fingerprint(service)).toEqual(before);

  const made = await merchant.post('/apps/new', {
    name: 'Till',
    scope: ['orders_read', 'orders_write', 'everything'],
    expires: '2099-12-31',
    networks: '127.0.0.0/8 ::1/128',
  });
  expect([made.status, made.headers['cache-control']]).toEqual([200, 'no-store']);
  const token = secretIn(made.text, 'Token')!;
  expect((await service.call('GET', '/DemoShop/orders', { token })).status).toBe(200);
  expect((await service.call('GET', '/DemoShop/customers', { token })).status).toBe(403);
  expect((await audit())[0]).toMatchObject({
    app: { name: merchant.email },
    route: '/admin/shops/:shopId/apps/tokens',
    object: { app: 'Till' },
  });

  const page = await merchant.get(`/apps/${await appIdOf('Till')}`);
  expect(page.text).toContain('Change orders: pay, ship, refund, cancel');
  expect(page.text).toContain('Expires 31 Dec 2099.');
  expect(page.text).toContain('Only from 127.0.0.0/8, ::1/128.');
  expect(page.text).not.toContain(token);
});

test('the calls of an app are counted by day, and those of people are not', async () => {
  const made = await merchant.post('/apps/new', { name: 'Counter', scope: 'orders_read' });
  const token = secretIn(made.text, 'Token')!;
  const appId = await appIdOf('Counter');
  expect((await merchant.get(`/apps/${appId}`)).text).not.toContain('Calls per day');
  // What was counted is written when a process ends.
  const beside = await startService({}, service);
  const busy = await givenMerchant(beside);
  expect((await busy.get('/orders')).status).toBe(200);
  for (const [path, status] of [
    ['orders', 200],
    ['orders', 200],
    ['customers', 403],
    [`orders/${appId}`, 404],
  ] as const) {
    expect((await beside.call('GET', `/DemoShop/${path}`, { token })).status).toBe(status);
  }
  await beside.close();
  expect(await service.db.many(sql`select calls, errors from app_use where app_id = ${appId}`)).toEqual([
    { calls: 4, errors: 2 },
  ]);
  const people = await service.db.many(sql`
    select from app_use where app_id not in (select app_id from app where shop_id = app_use.shop_id)`);
  expect(people).toEqual([]);
  const { text } = await merchant.get(`/apps/${appId}`);
  expect(text).toMatch(/Calls today<\/dt>\s*<dd>4<[^]*Refused today<\/dt>\s*<dd>2</);
  expect(text).toContain('4 calls, 2 refused');

  await service.db.run(sql`update app_use set day = day - 91 where app_id = ${appId}`);
  await runCleanup(service.db, [appUseCleanup], { log: service.app.log });
  expect(await service.db.many(sql`select from app_use where app_id = ${appId}`)).toEqual([]);
});

test('a token is revoked', async () => {
  const made = await merchant.post('/apps/new', { name: 'Short', scope: 'products_read' });
  const token = secretIn(made.text, 'Token')!;
  const appId = await appIdOf('Short');
  const [, tokenId] = /tokens\/([0-9a-f]{64})\/revoke/.exec((await merchant.get(`/apps/${appId}`)).text)!;
  expect((await merchant.post(`/apps/${appId}/tokens/${tokenId}/revoke`)).status).toBe(303);
  expect((await service.call('GET', '/DemoShop/products', { token })).status).toBe(401);
  expect((await merchant.post(`/apps/${appId}/tokens/${tokenId}/revoke`)).status).toBe(404);
});

/** Registers an app, and returns its id and secret. */
async function givenApp(name: string) {
  const made = await merchant.post('/apps/register', {
    name,
    callbackUrl: 'https://app.example/install?from=kontor',
    scope: ['products_read', 'orders_write'],
  });
  return {
    clientId: secretIn(made.text, 'Client ID')!,
    clientSecret: secretIn(made.text, 'Client secret')!,
  };
}

test('an app is installed by consent: the page says what it may do, and the code becomes a token', async () => {
  const { clientId, clientSecret } = await givenApp('Stock sync');
  const page = await merchant.get(`/apps/${clientId}/install`);
  expect(page.text).toContain('Install Stock sync?');
  expect(page.text).toContain('View products, categories and stock');
  expect(page.text).toContain('Change orders: pay, ship, refund, cancel');
  expect(page.text).not.toContain('View customers');

  const declined = await merchant.post(`/apps/${clientId}/install`, { answer: 'decline' });
  expect([declined.status, declined.location]).toEqual([303, `/admin/shops/DemoShop/apps/${clientId}`]);
  expect(
    await service.db.many(sql`select from authorisation_code where app_id = ${clientId}::uuid`),
  ).toHaveLength(0);

  const agreed = await merchant.post(`/apps/${clientId}/install`, { answer: 'agree' });
  expect(agreed.status).toBe(200);
  const address = new URL(String(agreed.headers['refresh']).replace('0; url=', ''));
  expect([address.origin, address.searchParams.get('from')]).toEqual(['https://app.example', 'kontor']);
  const { code, signature, return_url, api_url, access_token_url } = Object.fromEntries(address.searchParams);
  expect([return_url, api_url]).toEqual([
    `http://localhost:8080/admin/shops/DemoShop/apps/${clientId}`,
    'http://localhost:8080/rs/shops/DemoShop',
  ]);
  expect(signature).toBe(installSignature(clientSecret, code!, access_token_url!));
  const { body } = await service.call('POST', '/DemoShop/token', {
    body: new URLSearchParams({ code: code!, client_id: clientId, client_secret: clientSecret }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect((await service.call('GET', '/DemoShop/products', { token: body.access_token })).status).toBe(200);
  expect((await merchant.get('/apps')).text).toMatch(/Stock sync[\s\S]{0,300}Installed/);

  const gone = await merchant.post(`/apps/${clientId}/uninstall`);
  expect(gone.location).toBe('/admin/shops/DemoShop/apps');
  expect((await merchant.get(`/apps/${clientId}`)).status).toBe(404);
});

test('nobody consents for an app of another shop, or without the permission', async () => {
  const { clientId } = await givenApp('Elsewhere');
  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  const accountant = await givenMerchant(service, 'accountant');
  const before = await fingerprint(service);
  expect((await neighbour.post(`/apps/${clientId}/install`, { answer: 'agree' })).status).toBe(404);
  expect((await accountant.post(`/apps/${clientId}/install`, { answer: 'agree' })).status).toBe(403);
  const { text } = await accountant.get(`/apps/${clientId}`);
  expect(text).not.toContain('Uninstall');
  expect(await fingerprint(service)).toEqual(before);
});

test('a webhook that failed is sent again, replayed, switched off and deleted', async () => {
  const receiver = await startReceiver();
  try {
    receiver.answer = (_call, response) => response.writeHead(500).end('out of paper');
    const made = await service.call('POST', '/DemoShop/webhooks', {
      token: 'demo-all',
      body: { callbackUrl: receiver.url, eventType: 'CUSTOMER_CREATE' },
    });
    const { webhookId } = made.body;
    await service.call('POST', '/DemoShop/customers', { token: 'demo-all', body: { billingAddress: {} } });
    // As if the worker had called: what it does is tested with the webhooks.
    await service.db.run(sql`
      insert into webhook_delivery (shop_id, webhook_id, position, status, attempts, created_at, tried_at, status_code,
        error, answer)
      select shop_id, ${webhookId}::uuid, position, 'failed', 3, at, at, 500, 'The receiver answered 500', 'out of paper'
      from event where shop_id = 'DemoShop' and type = 'CUSTOMER_CREATE' order by position desc limit 1`);
    const path = `/apps/webhooks/${webhookId}`;
    const page = await merchant.get(path);
    expect(page.text).toContain('The receiver answered 500');
    const german = await givenGerman();
    expect((await german.get(path)).text).toContain('Der Empfänger antwortete mit 500');
    expect(page.text).toContain('out of paper');
    const [, deliveryId] = /name="deliveryId" value="([^"]+)"/.exec(page.text)!;
    const delivery = async () =>
      (await service.db.one<{ status: string; attempts: number }>(
        sql`select status, attempts from webhook_delivery where webhook_id = ${webhookId}::uuid`,
      ))!;
    expect((await merchant.post(`${path}/redeliver`, { deliveryId: webhookId })).status).toBe(404);
    expect(await delivery()).toEqual({ status: 'failed', attempts: 3 });
    expect((await merchant.post(`${path}/redeliver`, { deliveryId: deliveryId! })).status).toBe(303);
    expect(await delivery()).toEqual({ status: 'waiting', attempts: 0 });

    const [, from] = /name="from" value="(\d+)"/.exec(page.text)!;
    expect((await merchant.post(`${path}/replay`, { from: from! })).status).toBe(303);
    const position = await service.db.one<{ position: number }>(
      sql`select position from webhook where webhook_id = ${webhookId}::uuid`,
    );
    expect(position!.position).toBe(Number(from) - 1);
    expect((await merchant.post(`${path}/replay`, { from: '99999999' })).status).toBe(400);

    await merchant.post(`${path}/active`, { active: 'no' });
    const refused = await german.post(`${path}/redeliver`, { deliveryId: deliveryId! });
    expect([refused.status, refused.location]).toEqual([303, `/admin/shops/DemoShop${path}`]);
    expect(noticeIn(refused)).toEqual({
      text: 'Der Webhook ist ausgeschaltet, deshalb wird nichts gesendet. Schalten Sie ihn zuerst ein.',
      isProblem: true,
    });
    await service.db.run(sql`update webhook set secret_sealed = null where webhook_id = ${webhookId}::uuid`);
    const withoutSecret = await german.post(`${path}/active`, { active: 'yes' });
    expect(noticeIn(withoutSecret)?.text).toContain('Die App muss ein neues anfordern');
    expect((await merchant.get(path)).text).toContain('It was switched off');
    const all = await merchant.get('/apps/webhooks');
    expect(all.text).toContain(receiver.url);
    expect((await merchant.post(`${path}/delete`)).location).toBe('/admin/shops/DemoShop/apps/webhooks');
    expect((await merchant.get(path)).status).toBe(404);
  } finally {
    await receiver.close();
  }
});

test.each([
  ['The receiver could not be called: ENOTFOUND', 'Den Namen in dieser Adresse gibt es nicht.'],
  ['The receiver could not be called: ECONNREFUSED', 'Der Empfänger nimmt keine Verbindungen an.'],
  ['The receiver did not answer within 10 s', 'Der Empfänger hat nicht rechtzeitig geantwortet.'],
  ['The receiver could not be called: CERT_HAS_EXPIRED', 'Das Zertifikat des Empfängers ist nicht gültig.'],
  [
    'The receiver could not be called: DEPTH_ZERO_SELF_SIGNED_CERT',
    'Das Zertifikat des Empfängers ist nicht',
  ],
  ['The address must be reachable at a public address', 'Diese Adresse darf nicht aufgerufen werden.'],
  ['Its name leads to no address that may be called', 'Diese Adresse darf nicht aufgerufen werden.'],
  [
    'The receiver could not be called: EPROTO',
    'Die Verbindung ist fehlgeschlagen. The receiver could not be called: EPROTO',
  ],
])('that a webhook was not reached (%s) is said in the language of the reader', async (error, said) => {
  const made = await service.call('POST', '/DemoShop/webhooks', {
    token: 'demo-all',
    body: { callbackUrl: `https://hooks.example/${encodeURIComponent(error)}`, eventType: 'CUSTOMER_CREATE' },
  });
  const { webhookId } = made.body;
  await service.db.run(sql`
    insert into webhook_delivery (shop_id, webhook_id, position, status, attempts, created_at, tried_at, error)
    values ('DemoShop', ${webhookId}::uuid, 1, 'failed', 1, ${service.db.now}, ${service.db.now}, ${error})`);
  const { text } = await (await givenGerman()).get(`/apps/webhooks/${webhookId}`);
  const answer = /data-title="Antwort">([\s\S]*?)<\/td>/.exec(text)![1]!;
  const plain = answer
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  expect(plain.startsWith(`Nicht erreicht. ${said}`)).toBe(true);
  expect(plain.includes('could not be called')).toBe(said.includes('could not be called'));
});

test('what apps and tokens are refused for is said in the language of the reader', async () => {
  const german = await givenGerman();
  const before = await fingerprint(service);
  const refusals = [
    ['/apps/new', { name: 'x'.repeat(101) }, 'Bitte geben Sie einen Namen mit 1 bis 100 Zeichen ein.'],
    ['/apps/new', { name: 'Till', expires: '2001-01-01' }, 'Der letzte Tag eines Tokens muss in der Zukunft'],
    ['/apps/new', { name: 'Till', networks: 'home' }, 'Bitte schreiben Sie Netze wie 203.0.113.0/24'],
    ['/apps/register', { name: 'X', callbackUrl: 'http://x.example' }, 'muss mit https:// beginnen'],
    ['/apps/register', { name: 'Till', callbackUrl: 'https://x.example' }, 'schon eine App mit diesem Namen'],
  ] as const;
  for (const [path, fields, text] of refusals) {
    const refused = await german.post(path, { ...fields, scope: 'orders_read' });
    expect([path, refused.status, /<p class="problem"[^>]*>([^<]*)/.exec(refused.text)?.[1]]).toEqual([
      path,
      400,
      expect.stringContaining(text),
    ]);
  }
  expect(await fingerprint(service)).toEqual(before);
});

test('the merchant decides which scripts are necessary, and removes one', async () => {
  const { body } = await service.call('POST', '/DemoShop/script-tags', {
    token: 'demo-all',
    body: { scriptUrl: 'https://widgets.example/consent.js', necessary: true },
  });
  const { text } = await merchant.get('/apps/scripts');
  const version = /name="version" value="([^"]+)"/.exec(text)![1]!;
  const saved = await merchant.post('/apps/scripts', {
    version,
    load: 'yes',
    necessary: ['https://widgets.example/consent.js', 'https://cdn.example/chat.js'],
  });
  expect(saved.status).toBe(303);
  const settings = async () =>
    (await service.db.one<{ scripts: unknown }>(
      sql`select settings -> 'appScripts' as scripts from shop where shop_id = 'DemoShop'`,
    ))!.scripts;
  // The other app does not call its script necessary, so it can't be.
  expect(await settings()).toEqual({ load: true, necessary: ['https://widgets.example/consent.js'] });
  expect((await merchant.post('/apps/scripts', { version })).status).toBe(409);
  expect(await settings()).toEqual({ load: true, necessary: ['https://widgets.example/consent.js'] });
  expect((await merchant.post(`/apps/scripts/${body.scriptTagId}/remove`)).status).toBe(303);
  expect((await merchant.get('/apps/scripts')).text).not.toContain('widgets.example/consent.js');
});

test('the audit log shows a sign-in that was refused', async () => {
  const wrong = await givenBrowser(service).post('/admin/sign-in', { email: merchant.email, password: 'no' });
  expect(wrong.status).toBe(403);
  const { text } = await merchant.get('/apps/audit');
  expect(text).toMatch(
    />Sign-in<\/a>\s*<\/td>\s*<td[^>]*>[^<]*<\/td>\s*<td[^>]*>\s*<span class="chip bad">Refused<\/span>/,
  );
});

test('the audit log is filtered by who, how and when, and leads to what it was about', async () => {
  const { body } = await service.call('POST', '/DemoShop/customers', {
    token: 'demo-all',
    body: { billingAddress: {} },
  });
  const appId = await appIdOf('all-access');
  const mine = await merchant.get(`/apps/audit?who=${appId}&method=POST`);
  expect(mine.text).toContain(`/admin/shops/DemoShop/customers/${body.customerId}`);
  expect(mine.text).not.toContain(`data-title="User or app">${merchant.email}`);
  expect((await merchant.get(`/apps/audit?who=${appId}&method=DELETE`)).text).toContain(
    'No results for these filters.',
  );
  expect((await merchant.get('/apps/audit?to=2020-01-01')).text).toContain('No results for these filters.');
  expect((await merchant.get('/apps/audit?from=nonsense&who=1')).status).toBe(200);
});

test('the audit log says what was done, in the language of the reader', async () => {
  const { orderId, productId } = (await service.db.one<{ orderId: string; productId: string }>(sql`
    select upper(order_id::text) as "orderId",
      (select upper(product_id::text) from product where shop_id = 'DemoShop' and product_number = 'KN-110') as "productId"
    from customer_order where shop_id = 'DemoShop' order by order_number desc limit 1`))!;
  const call = (path: string, body: object) =>
    service.call('POST', `/manage/shops/DemoShop${path}`, { token: 'demo-all', body });
  await call(`/orders/${orderId}/emails`, { kind: 'confirmation' });
  await call(`/products/${productId}/copies`, {});
  const german = await givenGerman();
  const done = [
    ...(await german.get('/apps/audit')).text.matchAll(
      /data-title="Objekt"[^>]*>\s*(?:<a[^>]*>)?([^<]*?)\s*<[^]*?<span class="chip[^>]*>([^<]*)</g,
    ),
  ].map(([, thing, action]) => `${thing}: ${action}`);
  expect(done.slice(0, 2)).toEqual(['Produkt: Dupliziert', 'Bestellung: E-Mail gesendet']);
});

test('the audit log has words for all that the API changes', () => {
  const { things, parts, actions } = adminMessagesIn('en').audit;
  const words = { ...things, ...parts, ...actions };
  const { paths } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, object>;
  };
  const names = Object.entries(paths)
    .filter(
      ([path, methods]) =>
        !path.startsWith('/host/') &&
        Object.keys(methods).some((method) => method !== 'get') &&
        !/\/(?:find|search)\b/.test(path),
    )
    .flatMap(([path]) => path.replace(/^\/(?:rs|manage)\/shops\/\{shopId\}/, '').split('/'))
    .filter((name) => name !== '' && !name.startsWith('{'));
  expect(new Set(names).size).toBeGreaterThan(60);
  expect([...new Set(names)].filter((name) => !Object.hasOwn(words, name))).toEqual([]);
});

test('the audit log names the order, product and person, and what was deleted by its id', async () => {
  const call = (method: string, path: string, body?: object) =>
    service.call(method, path, { token: 'demo-all', ...(body && { body }) });
  const address = { firstName: 'Runa', lastName: 'Thorsen', emailAddress: 'runa@thorsen.example' };
  const { body: customer } = await call('POST', '/DemoShop/customers', { billingAddress: address });
  const product = (await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`))!;
  await call('PATCH', `/DemoShop/products/${product.id}`, [
    { op: 'replace', path: '/manufacturer', value: 'Reef' },
  ]);
  const order = (await service.db.one<{ id: string; number: string }>(sql`
    select upper(order_id::text) as id, order_number as number from customer_order
    where shop_id = 'DemoShop' order by order_number desc limit 1`))!;
  await call('PATCH', `/DemoShop/orders/${order.id}`, [
    { op: 'add', path: '/internalNote', value: 'call back' },
  ]);
  const { body: copy } = await call('POST', `/manage/shops/DemoShop/products/${product.id}/copies`, {});
  await call('DELETE', `/DemoShop/products/${copy.productId}`);
  const page = await merchant.post('/pages/new', { kind: 'page', title: 'About us', category: '' });
  const { body: redirect } = await call('POST', '/manage/shops/DemoShop/redirects', {
    source: '/about.html',
    status: 301,
    kind: 'address',
    target: '/pages/about-us',
  });
  const linked = (text: string, path: string) =>
    new RegExp(
      `<a href="/admin/shops/DemoShop${path}">([^<]*)</a>\\s*</td>\\s*<td[^>]*data-title="Action">`,
    ).exec(text)?.[1];
  const { text } = await merchant.get('/apps/audit');
  expect(linked(text, `/orders/${order.id}`)).toBe(order.number);
  expect(linked(text, `/products/${product.id}`)).toBe('Reefline Paring Knife (KN-110)');
  expect(linked(text, `/customers/${customer.customerId}`)).toBe(`Runa Thorsen (${customer.customerNumber})`);
  expect(
    linked(text, new URL(page.location!, 'http://localhost').pathname.replace('/admin/shops/DemoShop', '')),
  ).toBe('About us');
  expect(linked(text, `/redirects/${redirect.redirectId}`)).toBe('/about.html');
  expect(text).toContain(`<span class="quiet">${copy.productId}</span>`);
  // The page of an app names them, too, and a name of an erased person is gone.
  const ofApp = await merchant.get(`/apps/${await appIdOf('all-access')}`);
  expect(ofApp.text).toContain(`>${order.number}</a>`);
  await call('POST', `/manage/shops/DemoShop/customers/${customer.customerId}/erase`);
  expect((await merchant.get('/apps/audit')).text).not.toContain('Thorsen');
});
