import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant } from '../../test/admin.ts';
import { changesNothing } from '../../test/carts.ts';
import { expectRefusal, givenOtherShop, shopFingerprint, startDemo } from '../../test/demo.ts';
import type { Answer, CallOptions, Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { HOST_SCOPES } from '../http/scopes.ts';
import { newId, newSecret } from '../kernel/ids.ts';
import { runCleanup } from '../platform/cleanup.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { SELLER } from '../../test/builders.ts';
import { shopDeletion } from './delete-shops.ts';
import { createHostToken, endHostToken } from './tokens.ts';

const NOW = new Date('2026-11-19T10:00:00Z');
const DAY = 86_400_000;

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startDemo({}, NOW);
  token = await service.db.transaction((tx) =>
    createHostToken(tx, { name: 'order system', scopes: HOST_SCOPES }),
  );
});
afterAll(() => service.close());

const host = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  service.call(method, `/host${path}`, { token, ...options });

const TEA = { shopId: 'Tea', name: 'Tea House', email: 'shop@tea.example', country: 'AT' };

const given = async (shopId: string, more: object = {}) => {
  const answer = await host('POST', '/shops', { body: { ...TEA, shopId, ...more } });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};

const stateOf = async (shopId: string) => (await host('GET', `/shops/${shopId}`)).body.state;

const eventsOf = async (shopId: string) =>
  (await host('GET', `/log?shopId=${shopId}`)).body.items.map(
    ({ type, by, data }: { type: string; by: string | null; data: object }) => [type, by, data],
  );

describe('a shop', () => {
  test('is created once for a key, with the taxes of its country and an invitation for its owner', async () => {
    const body = { ...TEA, languages: ['de_AT', 'en_GB'], owner: 'Owner@tea.example' };
    const headers = { 'idempotency-key': 'order-4711' };
    const created = await host('POST', '/shops', { body, headers });
    expect(created.status).toBe(201);
    const ownerId = created.body.owners[0].ownerId;
    expect(created.body).toEqual({
      shopId: 'Tea',
      name: 'Tea House',
      state: 'notOpen',
      plan: null,
      domain: null,
      createdAt: '2026-11-19T10:00:00.000Z',
      suspendedAt: null,
      deletionAt: null,
      orders: 0,
      mediaBytes: 0,
      backupAt: null,
      adminUrl: 'http://localhost:80/admin/shops/Tea',
      owners: [{ ownerId, email: 'owner@tea.example', isInvited: true, signedInAt: null }],
      limits: [],
    });
    expect(await host('GET', '/shops/Tea')).toMatchObject({ status: 200, body: created.body });
    const again = await host('POST', '/shops', { body, headers });
    expect([again.status, again.headers['idempotency-replayed'], again.body]).toEqual([
      201,
      'true',
      created.body,
    ]);
    const row = await service.db.one(sql`
      select default_locale as locale, locales, default_currency as currency, settings ->> 'country' as country
      from shop where shop_id = 'Tea'`);
    expect(row).toEqual({ locale: 'de_AT', locales: ['de_AT', 'en_GB'], currency: 'EUR', country: 'AT' });
    const jobs = await service.db.many<{ content: { template: string; to: string; facts: { by: string } } }>(
      sql`select content from job where shop_id = 'Tea'`,
    );
    expect(jobs.map(({ content: { template, to, facts } }) => [template, to, facts.by])).toEqual([
      ['invitation', 'owner@tea.example', 'order system'],
    ]);
    expect(await eventsOf('Tea')).toEqual([
      ['SHOP_CREATED', 'order system', { name: 'Tea House' }],
      ['SHOP_OWNER_ADDED', 'order system', { ownerId }],
    ]);
    const audit = await service.db.many(sql`
      select app_name as name, method, route from audit_entry where shop_id = 'Tea' order by entry_id limit 1`);
    expect(audit).toEqual([{ name: 'order system', method: 'POST', route: '/host/shops' }]);
  });

  test('is refused where its id is taken, or is another one in upper case', async () => {
    const answers = await changesNothing(service, async () => [
      await host('POST', '/shops', { body: TEA }),
      await host('POST', '/shops', { body: { ...TEA, shopId: 'TEA' } }),
      await host('POST', '/shops', {
        body: { ...TEA, name: 'Other' },
        headers: { 'idempotency-key': 'order-4711' },
      }),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
      [409, 'SHOP_ID_TAKEN'],
      [409, 'SHOP_ID_SIMILAR'],
      [409, 'IDEMPOTENCY_KEY_REUSED'],
    ]);
  });

  test.each([
    [{ shopId: 'no blanks' }, 'WRONG_FORMAT', 'shopId'],
    [{ shopId: undefined }, 'MISSING', 'shopId'],
    [{ name: ' ' }, 'WRONG_FORMAT', 'name'],
    [{ name: 'x'.repeat(256) }, 'TOO_LONG', 'name'],
    [{ email: 'nobody' }, 'WRONG_FORMAT', 'email'],
    [{ owner: 'nobody' }, 'WRONG_FORMAT', 'owner'],
    [{ owner: 'owner@demo.localhost' }, 'UNKNOWN_VALUE', 'email'],
    [{ country: 'XX' }, 'UNKNOWN_VALUE', 'country'],
    [{ languages: ['de_XX'] }, 'UNKNOWN_VALUE', 'languages'],
    [{ currencies: ['XXY'] }, 'UNKNOWN_VALUE', 'currencies'],
    [{ settings: { slogn: 'x' } }, 'SHOP_SETTINGS_INVALID', 'settings'],
    [{ settings: { locales: { default: 'de_DE', items: [] } } }, 'SHOP_SETTINGS_INVALID', 'settings'],
    [
      { settings: { domains: ['localhost.localdomain', 'x.localhost'] } },
      'SHOP_SETTINGS_INVALID',
      'settings',
    ],
  ])('is refused with %j, and nothing is made', async (wrong, code, field) => {
    const answer = await changesNothing(service, () =>
      host('POST', '/shops', { body: { ...TEA, shopId: 'Wrong', ...wrong } }),
    );
    expect([answer.status, answer.headers['x-error-code'], answer.headers['x-error-field']]).toEqual([
      400,
      code,
      field,
    ]);
    expect(await openMediaStorage(service.config).files('Wrong').next()).toMatchObject({ done: true });
  });

  test('with settings that need nothing more is asked for its legal texts alone', async () => {
    const shop = await given('Ready', { settings: { invoicing: SELLER, slogan: 'Fresh leaves' } });
    expect(shop.state).toBe('notOpen');
    const row = await service.db.one(sql`
      select settings -> 'slogan' ->> 'de_AT' as slogan from shop where shop_id = 'Ready'`);
    expect(row).toEqual({ slogan: 'Fresh leaves' });
  });

  test('is renamed in its default language', async () => {
    const renamed = await host('PUT', '/shops/Tea/name', { body: { name: 'Tea & Time' } });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Tea & Time']);
    await host('PUT', '/shops/Tea/name', { body: { name: 'Tea & Time' } });
    expect((await eventsOf('Tea')).slice(2)).toEqual([
      ['SHOP_RENAMED', 'order system', { name: 'Tea & Time' }],
    ]);
    expect((await host('PUT', '/shops/Nowhere/name', { body: { name: 'x' } })).status).toBe(404);
  });

  test('is suspended: paused for shoppers, refused for apps, readable in its admin; and resumes as it was', async () => {
    const merchant = await givenMerchant(service, 'owner');
    const suspended = await host('POST', '/shops/DemoShop/suspend');
    expect([suspended.status, suspended.body.state, suspended.body.suspendedAt]).toEqual([
      200,
      'suspended',
      NOW.toISOString(),
    ]);
    expect((await host('POST', '/shops/DemoShop/suspend')).body).toEqual(suspended.body);
    for (const path of ['', '/Products/TE-100', '/nothing']) {
      const page = await service.app.inject({ url: `/shop/DemoShop${path}` });
      expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '3600']);
      expect(page.body).toContain('<h1>This shop is paused</h1>');
    }
    const refused = await changesNothing(service, async () => [
      await service.call('GET', '/DemoShop/products', { token: 'demo-all' }),
      await service.call('POST', '/DemoShop/carts', { body: {} }),
      await service.call('POST', `/DemoShop/carts/${newId(NOW)}/order`, {
        token: 'demo-all',
        cartToken: 'x',
      }),
    ]);
    for (const answer of refused) {
      expect([answer.status, answer.headers['x-error-code']]).toEqual([403, 'SHOP_SUSPENDED']);
    }
    const admin = await merchant.get('/customers');
    expect(admin.status).toBe(200);
    expect(admin.text).toContain('The operator of this installation has paused the shop.');
    await host('POST', '/shops/DemoShop/resume');
    expect(await stateOf('DemoShop')).toBe('open');
    expect((await service.app.inject({ url: '/shop/DemoShop' })).statusCode).toBe(200);
    expect((await merchant.get('/customers')).text).not.toContain('has paused the shop');
    expect((await eventsOf('DemoShop')).map(([type]: [string]) => type)).toEqual([
      'SHOP_SUSPENDED',
      'SHOP_RESUMED',
    ]);
  });

  test('is deleted after the delay, can be restored until then, and leaves nothing but the log', async () => {
    await given('Short', { isSuspended: true });
    const planned = await host('DELETE', '/shops/Short');
    expect([planned.status, planned.body.state, planned.body.deletionAt]).toEqual([
      200,
      'deletionPlanned',
      new Date(NOW.getTime() + 30 * DAY).toISOString(),
    ]);
    expect((await service.app.inject({ url: '/shop/Short' })).statusCode).toBe(503);
    const restored = await host('POST', '/shops/Short/restore');
    expect([restored.body.state, restored.body.deletionAt]).toEqual(['suspended', null]);

    await host('DELETE', '/shops/Short?days=2');
    const media = openMediaStorage(service.config);
    const files = async () => (await media.files('Short').next()).done !== true;
    const due = async (rows: number) => {
      await service.db.run(sql`delete from cleanup where name = 'shops to delete'`);
      const step = shopDeletion(media, service.app.log);
      await runCleanup(service.db, [step], { log: service.app.log, rows });
    };
    await due(500);
    expect([await stateOf('Short'), await files()]).toEqual(['deletionPlanned', true]);
    service.setClock(new Date(NOW.getTime() + 2 * DAY));
    const late = await changesNothing(service, () => host('POST', '/shops/Short/restore'));
    expect([late.status, late.headers['x-error-code']]).toEqual([409, 'SHOP_DELETION_BEGUN']);
    // In steps of a few rows, of which one ends in the middle.
    const step = shopDeletion(media, service.app.log);
    expect(await step.run(service.db, 3)).toBe(3);
    expect(await stateOf('Short')).toBe('deletionPlanned');
    await due(3);
    service.setClock(NOW);
    expect([(await host('GET', '/shops/Short')).status, await files()]).toEqual([404, false]);
    expect((await eventsOf('Short')).map(([type, by]: [string, string]) => [type, by])).toEqual([
      ['SHOP_CREATED', 'order system'],
      ['SHOP_DELETION_PLANNED', 'order system'],
      ['SHOP_RESTORED', 'order system'],
      ['SHOP_DELETION_PLANNED', 'order system'],
      ['SHOP_DELETED', null],
    ]);
    const rest = await service.db.one<{ rows: number }>(sql`
      select (select count(*) from shop_domain where shop_id = 'Short') +
        (select count(*) from counter where shop_id = 'Short') +
        (select count(*) from audit_entry where shop_id = 'Short') as rows`);
    expect(rest).toEqual({ rows: 0 });
    await given('Short');
  });
});

test('a full shop is deleted in steps, and its neighbour keeps everything', async () => {
  const { shopId } = await givenOtherShop(service);
  const before = await shopFingerprint(service, 'DemoShop');
  await host('DELETE', `/shops/${shopId}?days=0`);
  const step = shopDeletion(openMediaStorage(service.config), service.app.log);
  let runs = 0;
  while ((await step.run(service.db, 200)) === 200) runs++;
  expect(runs).toBeGreaterThan(3);
  const left = Object.entries(await shopFingerprint(service, shopId)).filter(
    ([, print]) => !print.startsWith('0 rows'),
  );
  expect(left).toEqual([]);
  expect(await shopFingerprint(service, 'DemoShop')).toEqual(before);
  expect((await host('GET', `/shops/${shopId}`)).status).toBe(404);
});

test('the list is filtered, and read with a cursor', async () => {
  for (const shopId of ['list-a', 'list-b', 'list-c']) await given(shopId, { name: `Green ${shopId}` });
  await host('POST', '/shops/list-b/suspend');
  const idsOf = async (query: string) =>
    (await host('GET', `/shops?${query}`)).body.items.map(({ shopId }: { shopId: string }) => shopId);
  expect(await idsOf('q=LIST-')).toEqual(['list-a', 'list-b', 'list-c']);
  expect(await idsOf('q=green')).toEqual(['list-a', 'list-b', 'list-c']);
  expect(await idsOf('q=%25')).toEqual([]);
  expect(await idsOf('q=list&state=suspended')).toEqual(['list-b']);
  expect(await idsOf('plan=none')).toEqual([]);
  expect(await idsOf('q=list&plan=')).toHaveLength(3);
  expect(await idsOf('q=list&createdAfter=2026-11-19T09:00:00Z')).toHaveLength(3);
  expect(await idsOf('q=list&createdBefore=2026-11-19T09:00:00Z')).toEqual([]);
  const first = (await host('GET', '/shops?q=list&limit=2')).body;
  expect(first.next).toBe('list-b');
  const second = (await host('GET', `/shops?q=list&limit=2&after=${first.next}`)).body;
  expect([second.items.map(({ shopId }: { shopId: string }) => shopId), second.next]).toEqual([
    ['list-c'],
    null,
  ]);
  const all = (await host('GET', '/shops?limit=500')).body.items.map(
    (shop: { shopId: string }) => shop.shopId,
  );
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const { items, next }: { items: { shopId: string }[]; next: string | null } = (
      await host('GET', `/shops?limit=1&after=${after}`)
    ).body;
    seen.push(...items.map(({ shopId }) => shopId));
    after = next;
  }
  expect(seen).toEqual(all);
  for (const query of ['limit=501', 'limit=0', 'state=gone', 'createdAfter=soon']) {
    expect((await host('GET', `/shops?${query}`)).status).toBe(400);
  }
});

test('a reader of the log with a cursor gets every event once', async () => {
  const all = (await host('GET', '/log?limit=1000')).body.items as { position: number }[];
  expect(all.map(({ position }) => position)).toEqual(all.map((_, index) => index + 1));
  let after = 0;
  const seen: number[] = [];
  for (;;) {
    const { items, next } = (await host('GET', `/log?after=${after}&limit=4`)).body;
    if (items.length === 0) break;
    seen.push(...items.map((event: { position: number }) => event.position));
    after = next;
  }
  expect(seen).toHaveLength(all.length);
  const concurrent = ['list-a', 'list-c', 'Short'].map((shopId) => host('POST', `/shops/${shopId}/suspend`));
  await Promise.all(concurrent);
  const { items } = (await host('GET', `/log?after=${after}`)).body;
  expect(items.map(({ position }: { position: number }) => position)).toEqual([
    after + 1,
    after + 2,
    after + 3,
  ]);
});

test('owners are invited and removed, but never the last', async () => {
  const { ownerId: first } = (await given('Owned', { owner: 'first@tea.example' })).owners[0];
  const refusals = await changesNothing(service, async () => [
    await host('DELETE', `/shops/Owned/owners/${first}`),
    await host('POST', '/shops/Owned/owners', { body: { email: 'FIRST@tea.example' } }),
    await host('POST', '/shops/Owned/owners', { body: { email: 'nobody' } }),
    await host('DELETE', `/shops/Owned/owners/${newId(NOW)}`),
    await host('DELETE', `/shops/Ready/owners/${first}`),
    await host('POST', '/shops/Nowhere/owners', { body: { email: 'x@tea.example' } }),
  ]);
  expect(refusals.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
    [409, 'LAST_OWNER'],
    [409, 'OWNER_EXISTS'],
    [400, 'WRONG_FORMAT'],
    [404, 'NOT_FOUND'],
    [404, 'NOT_FOUND'],
    [404, 'SHOP_NOT_FOUND'],
  ]);
  const second = await host('POST', '/shops/Owned/owners', { body: { email: 'second@tea.example' } });
  expect([second.status, second.body.isInvited]).toEqual([201, true]);
  expect((await host('GET', '/shops/Owned/owners')).body.items).toHaveLength(2);
  expect((await host('DELETE', `/shops/Owned/owners/${first}`)).status).toBe(204);
  // Somebody who has accepted stays while nobody else can sign in.
  await givenMerchant(service, 'owner', 'Owned', 'second@tea.example');
  await host('POST', '/shops/Owned/owners', { body: { email: 'third@tea.example' } });
  const accepted = await host('DELETE', `/shops/Owned/owners/${second.body.ownerId}`);
  expect(accepted.headers['x-error-code']).toBe('LAST_OWNER');
  expect((await eventsOf('Owned')).map(([type]: [string]) => type)).toEqual([
    'SHOP_CREATED',
    'SHOP_OWNER_ADDED',
    'SHOP_OWNER_ADDED',
    'SHOP_OWNER_REMOVED',
    'SHOP_OWNER_ADDED',
  ]);
});

test('domains wait for their proof, unless the host confirms them; one belongs to one shop', async () => {
  await service.db.run(sql`insert into demo_access_end (ended_at, sign) values (${NOW}, 'a test')`);
  await service.app.demoAccess.refresh();
  await given('Named');
  await given('Other');
  const waiting = await host('POST', '/shops/Named/domains', { body: { domain: 'Wait.example' } });
  expect(waiting.status).toBe(201);
  expect(waiting.body.items).toEqual([
    {
      domain: 'wait.example',
      isInUse: false,
      record: {
        name: '_kontor-challenge.wait.example',
        text: expect.stringMatching(/^kontor-domain-verification=[0-9a-f]{32}$/),
        label: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    },
  ]);
  const confirmed = await host('POST', '/shops/Named/domains', {
    body: { domain: 'tea.example', isConfirmed: true },
  });
  expect(confirmed.body.items[1]).toEqual({ domain: 'tea.example', isInUse: true, record: null });
  expect((await host('GET', '/shops/Named/domains')).body).toEqual(confirmed.body);
  const page = await service.app.inject({ url: '/', headers: { host: 'tea.example' } });
  expect(page.body).toContain('Tea House');
  // The host of a shop shows nothing of the API of the host.
  const hidden = await service.app.inject({
    url: '/host/shops',
    headers: { host: 'tea.example', authorization: `Bearer ${token}` },
  });
  expect(hidden.headers['content-type']).toContain('text/html');
  const refusals = await changesNothing(service, async () => [
    await host('POST', '/shops/Other/domains', { body: { domain: 'tea.example' } }),
    await host('POST', '/shops/Other/domains', { body: { domain: 'not a host' } }),
    await host('POST', '/shops/Other/domains', { body: { domain: 'x'.repeat(300) } }),
    await host('POST', '/shops/Named/domains/other.example/check'),
    await host('DELETE', '/shops/Named/domains/other.example'),
    await host('POST', '/shops/Nowhere/domains', { body: { domain: 'new.example' } }),
  ]);
  expect(refusals.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
    [409, 'DOMAIN_REFUSED'],
    [409, 'DOMAIN_REFUSED'],
    [400, 'TOO_LONG'],
    [404, 'NOT_FOUND'],
    [404, 'NOT_FOUND'],
    [404, 'SHOP_NOT_FOUND'],
  ]);
  const rest = await host('DELETE', '/shops/Named/domains/wait.example');
  expect(rest.body.items.map(({ domain }: { domain: string }) => domain)).toEqual(['tea.example']);
});

interface Documented {
  method: string;
  path: string;
  scope: string;
}

const DOCUMENTED: Documented[] = Object.entries(
  (
    JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, { 'x-scope': string }>>;
    }
  ).paths,
).flatMap(([path, item]) =>
  path.startsWith('/host/')
    ? Object.entries(item).map(([method, { 'x-scope': scope }]) => ({
        method: method.toUpperCase(),
        path: path
          .slice('/host'.length)
          .replace('{shopId}', 'DemoShop')
          .replace('{ownerId}', newId(NOW))
          .replace('{domain}', 'x.example')
          .replace('{messageId}', newId(NOW))
          .replace(/\{(?:backup|upload|restore)Id\}/, newId(NOW))
          .replace('{part}', '1'),
        scope,
      }))
    : [],
);

describe.each(DOCUMENTED)('$method /host$path', ({ method, path, scope }) => {
  const refused = async (options: CallOptions) => {
    const answer = await changesNothing(service, () => service.call(method, `/host${path}`, options));
    expectRefusal(answer, method, `/host${path}`);
    return [answer.status, answer.headers['x-error-code']];
  };

  test('is closed without a token of the host', async () => {
    const ended = await service.db.transaction((tx) =>
      createHostToken(tx, { name: 'ended', scopes: HOST_SCOPES }),
    );
    await service.db.transaction((tx) => endHostToken(tx, ended, false));
    expect(await refused({})).toEqual([401, 'TOKEN_NEEDED']);
    expect(await refused({ headers: { authorization: 'Basic x' } })).toEqual([401, 'TOKEN_MALFORMED']);
    for (const unknown of ['demo-all', newSecret(32), ended]) {
      expect(await refused({ token: unknown })).toEqual([401, 'HOST_TOKEN_UNKNOWN']);
    }
  });

  test('needs its scope', async () => {
    const scopes = HOST_SCOPES.filter((one) => one !== scope);
    const other = await service.db.transaction((tx) => createHostToken(tx, { name: 'other', scopes }));
    expect(await refused({ token: other })).toEqual([403, 'SCOPE_MISSING']);
  });
});

test('a token of the host opens nothing of a shop', async () => {
  const answers = await changesNothing(service, async () => [
    await service.call('GET', '/DemoShop/customers', { token }),
    await service.call('GET', '/manage/shops/DemoShop/audit', { token }),
    await service.call('POST', '/manage/shops/DemoShop/redirects', { token, body: {} }),
    await service.call('GET', '/DemoShop/orders', { token }),
  ]);
  expect(answers.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
    [401, 'TOKEN_UNKNOWN'],
    [401, 'TOKEN_UNKNOWN'],
    [401, 'TOKEN_UNKNOWN'],
    [401, 'TOKEN_UNKNOWN'],
  ]);
});

test('unknown paths and methods are refused, and calls are counted by token', async () => {
  const unknown = await host('GET', '/nothing');
  expect([unknown.status, unknown.headers['x-error-code']]).toEqual([404, 'PATH_NOT_FOUND']);
  const wrong = await host('PATCH', '/shops');
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'HEAD,GET,POST,OPTIONS']);
  const before = Number((await host('GET', '/log')).headers['x-ratelimit-remaining']);
  expect(Number((await host('GET', '/log')).headers['x-ratelimit-remaining'])).toBe(before - 1);
});
