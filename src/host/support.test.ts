import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  givenBrowser,
  givenMerchant,
  givenTotp,
  merchantWith,
  type AdminBrowser,
  type Merchant,
} from '../../test/admin.ts';
import { changesNothing, queuedEmails } from '../../test/carts.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../test/demo.ts';
import { isOfToday } from '../../test/seed.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../test/service.ts';
import type { AdminRoute } from '../admin/routes.ts';
import { stepAt, totpCode } from '../admin/account/totp-code.ts';
import { SUPPORT_ROLES, supportPermissionsOf } from '../admin/users/permissions.ts';
import { findOrCreateUser, insertPendingRole, putRole, updateHost } from '../admin/users/queries.ts';
import { copyShop } from '../commands/backup/copy.ts';
import { catalogueSql, sql } from '../db/sql.ts';
import { dateTimeText } from '../http/dates.ts';
import { HOST_SCOPES } from '../http/scopes.ts';
import { secretHash } from '../kernel/ids.ts';
import { runCleanup } from '../platform/cleanup.ts';
import { installationKey } from '../platform/sealing.ts';
import { hostLinkCleanup } from './links.ts';
import { supportVisitCleanup } from './support.ts';
import { createHostToken } from './tokens.ts';

/** People of the host enter shops, and the host's panel signs people in: nobody gets further than an owner has allowed. */

const NOW = new Date('2026-11-19T10:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ANNA = { name: 'Anna Weber', email: 'anna@host.example', reason: 'Ticket 4711: delivery to France' };

let service: Service;
let beside: Service;
let token: string;
let owner: Merchant;

beforeAll(async () => {
  service = await startDemo({}, NOW);
  beside = await startService({}, service);
  await givenOtherShop(service);
  token = await service.db.transaction((tx) =>
    createHostToken(tx, { name: 'panel', scopes: ['host_support', 'host_sign_in', 'host_shops_write'] }),
  );
});
afterAll(async () => {
  await beside.close();
  await service.close();
});

/** Each test has a day of its own, with its own limits and an empty log. */
let day = 0;
beforeEach(async () => {
  after(++day * 40 * DAY);
  for (const table of [
    'support_visit',
    'support_grant',
    'host_link',
    'audit_entry',
    'job',
    'admin_user',
    'shop_user',
  ]) {
    await service.db.run(catalogueSql([`delete from ${table}`], []));
  }
  await service.db.run(sql`update shop set deletion_at = null, suspended_at = null`);
  owner = await givenMerchant(service, 'owner');
});

let now: Date;
function after(milliseconds: number): void {
  now = new Date(NOW.getTime() + milliseconds);
  for (const each of [service, beside]) each.setClock(now);
}
const later = (milliseconds: number) => after(now.getTime() - NOW.getTime() + milliseconds);

const host = (path: string, options: CallOptions = {}): Promise<Answer> =>
  service.call('POST', `/host/shops/${path}`, { token, ...options });

const codeOf = ({ status, headers }: Answer) => [status, headers['x-error-code']];

const grant = (fields: Record<string, string> = {}, by = owner) =>
  by.post('/support/grant', { duration: 'day', until: '', role: 'accountant', ...fields });

/** The owner has given the password again. */
const confirmed = () => service.db.run(sql`update admin_session set confirmed_at = ${now}`);

const supportLink = (shopId = 'DemoShop', body: object = ANNA) => host(`${shopId}/support-links`, { body });

const secretOf = ({ body }: Answer): string => new URL(body.url).hash.slice(1);

/** Opens a link as a browser does: its script sends the secret, then the button is pressed. */
const press = (browser: AdminBrowser, secret: string) => browser.post('/admin/enter/open', { token: secret });

/** A person of the host who is in the shop. */
async function givenSupport(role = 'accountant', fields: Record<string, string> = {}): Promise<AdminBrowser> {
  await confirmed();
  expect((await grant({ role, ...fields })).status).toBe(303);
  const browser = givenBrowser(service);
  const link = await supportLink();
  expect(link.status).toBe(201);
  expect(await press(browser, secretOf(link))).toMatchObject({
    status: 303,
    location: '/admin/shops/DemoShop',
  });
  return browser;
}

const isIn = async (browser: AdminBrowser) =>
  (await browser.get('/admin/shops/DemoShop/orders')).status === 200;

const emails = async () =>
  (await queuedEmails(service))
    .filter(({ template }) => template === 'supportEntered')
    .map(({ to, facts }) => [to, facts]);

const entries = (shopId = 'DemoShop') =>
  service.db.many<{ name: string; method: string; route: string; object: object }>(sql`
    select app_name as name, method, route, object from audit_entry where shop_id = ${shopId} order by entry_id`);

describe('support access', () => {
  test('is granted by the owner, who sees who enters, gets an email, and finds every action under the name', async () => {
    expect((await owner.get('/support')).text).toContain('Closed');
    const granted = await grant({ role: 'manager' });
    expect([granted.status, granted.location]).toEqual([303, '/admin/shops/DemoShop/support']);

    const link = await supportLink();
    const expiresAt = new Date(now.getTime() + 5 * MINUTE).toISOString();
    const grantedUntil = new Date(now.getTime() + DAY).toISOString();
    expect([link.status, link.body]).toEqual([
      201,
      { url: link.body.url, expiresAt, role: 'manager', grantedUntil },
    ]);
    expect(link.body.url).toMatch(/^http:\/\/localhost:80\/admin\/enter#DemoShop\.[A-Za-z0-9]{32}$/);

    const browser = givenBrowser(service);
    const shown = await browser.get('/admin/enter');
    expect([shown.status, shown.text.includes('DemoShop')]).toEqual([200, false]);
    const before = await fingerprint(service);
    const greeting = await browser.post('/admin/enter', { token: secretOf(link) });
    expect(greeting.text).toContain('by support access, as Anna Weber');
    expect(greeting.text).toContain('Ticket 4711: delivery to France');
    expect(await fingerprint(service)).toEqual(before);

    const entered = await press(browser, secretOf(link));
    expect([entered.status, entered.location]).toEqual([303, '/admin/shops/DemoShop']);
    const page = await browser.get('/admin/shops/DemoShop/products');
    expect(page.text).toContain('Anna Weber (Kontor support) is in the shop');
    expect(page.text).toContain('/admin/shops/DemoShop/support/leave');
    expect(page.text).not.toContain('/admin/account');

    const changed = await browser.post('/admin/shops/DemoShop/settings/file', {
      text: 'lowStockLevel: 7',
      action: 'apply',
    });
    expect(changed.status).toBe(303);
    expect(await entries()).toEqual([
      {
        name: owner.email,
        method: 'POST',
        route: '/admin/shops/:shopId/support/grant',
        object: { role: 'manager', until: grantedUntil },
      },
      { name: 'panel', method: 'POST', route: '/host/shops/:shopId/support-links', object: ANNA },
      {
        name: 'Anna Weber (Kontor support)',
        method: 'POST',
        route: '/admin/enter',
        object: { email: ANNA.email, reason: ANNA.reason, token: 'panel' },
      },
      {
        name: 'Anna Weber (Kontor support)',
        method: 'POST',
        route: '/admin/shops/:shopId/settings',
        object: { sections: 'lowStockLevel' },
      },
    ]);
    const seen = (await owner.get('/support')).text;
    expect(seen).toContain('Anna Weber');
    expect(seen).toContain('Signed in');
    const until = dateTimeText(new Date(now.getTime() + DAY), 'en_GB');
    expect(await emails()).toEqual([[owner.email, { ...ANNA, until }]]);
  });

  test('is refused without a grant, after its end, and once it is withdrawn', async () => {
    const refused = () => changesNothing(service, () => supportLink());
    expect(codeOf(await refused())).toEqual([403, 'SUPPORT_NOT_GRANTED']);
    await grant({ duration: 'hour' });
    // The grant of one shop opens no other.
    expect(codeOf(await supportLink('OtherShop'))).toEqual([403, 'SUPPORT_NOT_GRANTED']);
    const early = secretOf(await supportLink());
    later(HOUR);
    expect(codeOf(await refused())).toEqual([403, 'SUPPORT_NOT_GRANTED']);
    expect((await press(givenBrowser(service), early)).status).toBe(410);
    await confirmed();
    await grant();
    const open = secretOf(await supportLink());
    await owner.post('/support/end');
    expect(codeOf(await refused())).toEqual([403, 'SUPPORT_NOT_GRANTED']);
    expect((await press(givenBrowser(service), open)).status).toBe(410);
    // A link of an earlier grant does not open a later one.
    await grant();
    expect((await press(givenBrowser(service), open)).status).toBe(410);
    expect(await service.db.many(sql`select from support_visit`)).toEqual([]);
    expect(codeOf(await supportLink('Nowhere'))).toEqual([404, 'SHOP_NOT_FOUND']);
  });

  test('ends at once: by the owner in any process, by the person, by time, by a new grant, by a planned deletion', async () => {
    const ended = await givenSupport();
    expect(await isIn(ended)).toBe(true);
    const inOther = givenBrowser(beside);
    ended.cookies.forEach((value, name) => inOther.cookies.set(name, value));
    expect(await isIn(inOther)).toBe(true);
    await owner.post('/support/end');
    expect([await isIn(ended), await isIn(inOther)]).toEqual([false, false]);

    const left = await givenSupport();
    const copy = givenBrowser(service);
    left.cookies.forEach((value, name) => copy.cookies.set(name, value));
    expect((await left.post('/admin/shops/DemoShop/support/leave')).location).toBe('/admin/sign-in');
    expect(await isIn(copy)).toBe(false);

    const late = await givenSupport('accountant', { duration: 'hour' });
    later(HOUR - 1);
    expect(await isIn(late)).toBe(true);
    later(1);
    expect(await isIn(late)).toBe(false);

    const replaced = await givenSupport();
    await grant({ role: 'manager' });
    expect(await isIn(replaced)).toBe(false);

    const long = await givenSupport('accountant', { duration: 'week' });
    later(12 * HOUR - 1);
    expect(await isIn(long)).toBe(true);
    later(1);
    expect(await isIn(long)).toBe(false);

    const deleted = await givenSupport();
    await service.call('DELETE', '/host/shops/DemoShop', { token });
    expect(await isIn(deleted)).toBe(false);
    expect(codeOf(await changesNothing(service, () => supportLink()))).toEqual([403, 'SUPPORT_NOT_GRANTED']);
    await host('DemoShop/restore');
    await owner.post('/support/end');
  });

  test.each([
    ['hour', undefined, HOUR],
    ['day', undefined, DAY],
    ['week', undefined, 7 * DAY],
    ['date', 30 * DAY, 30 * DAY],
    ['date', MINUTE, MINUTE],
  ])('lasts for %s %s', async (duration, ahead, lasts) => {
    const until = ahead === undefined ? '' : new Date(now.getTime() + ahead).toISOString().slice(0, 16);
    expect((await grant({ duration, until })).status).toBe(303);
    const row = await service.db.one<{ endsAt: Date }>(sql`select ends_at as "endsAt" from support_grant`);
    expect(row!.endsAt.getTime() - now.getTime()).toBe(lasts);
  });

  test.each([
    { duration: 'date', until: '' },
    { duration: 'date', until: 'tomorrow' },
    { duration: 'date', until: '2026-13-01T10:00' },
    { duration: 'date', ahead: 0 },
    { duration: 'date', ahead: 30 * DAY + MINUTE },
    { duration: 'for ever' },
    { role: 'owner' },
    { role: 'constructor' },
    { role: '' },
  ])('is not granted with %j', async ({ ahead, ...fields }: { ahead?: number } & Record<string, unknown>) => {
    const until =
      ahead === undefined ? {} : { until: new Date(now.getTime() + ahead).toISOString().slice(0, 16) };
    const answer = await changesNothing(service, () => grant({ ...(fields as object), ...until }));
    expect(answer.status).toBe(400);
  });

  test('is for owners to grant and to end, after their password', async () => {
    for (const role of ['manager', 'accountant'] as const) {
      const other = await givenMerchant(service, role);
      const answers = await changesNothing(service, async () => [
        await other.get('/support'),
        await grant({}, other),
        await other.post('/support/end'),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    }
    later(HOUR);
    expect((await grant()).location).toMatch(/^\/admin\/confirm/);
    expect(await service.db.many(sql`select from support_grant`)).toEqual([]);
  });

  test.each([
    [{ name: '' }, 'STRING_EMPTY', 'name'],
    [{ name: ' \t ' }, 'WRONG_FORMAT', 'name'],
    [{ name: 'Anna\nWeber' }, 'WRONG_FORMAT', 'name'],
    [{ name: 'x'.repeat(101) }, 'TOO_LONG', 'name'],
    [{ name: `${'a'.repeat(200_000)}\n` }, 'TOO_LONG', 'name'],
    [{ email: 'anna' }, 'WRONG_FORMAT', 'email'],
    [{ reason: ' '.repeat(200_000) }, 'TOO_LONG', 'reason'],
    [{ reason: undefined }, 'MISSING', 'reason'],
  ])('is refused with %j', async (wrong, code, field) => {
    await grant();
    const startedAt = performance.now();
    const answer = await changesNothing(service, () => supportLink('DemoShop', { ...ANNA, ...wrong }));
    expect([answer.status, answer.headers['x-error-code'], answer.headers['x-error-field']]).toEqual([
      400,
      code,
      field,
    ]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  const pathOf = ({ url }: AdminRoute) =>
    url
      .replace(':shopId', 'DemoShop')
      .replaceAll(/:\w+/g, '00000000-0000-7000-8000-000000000000')
      .replace('*', 'nothing');

  test.each(SUPPORT_ROLES)(
    'in the role %s opens what the role includes, and nothing of owners',
    async (role) => {
      const browser = await givenSupport(role);
      const as = merchantWith(
        service,
        [...browser.cookies].map((one) => one.join('=')).join('; '),
        'DemoShop',
        '',
      );
      const permissions = supportPermissionsOf(role);
      expect(
        [...permissions].filter((one) => /users|shop_write|apps_write|scripttags_write/.test(one)),
      ).toEqual([]);
      const before = await fingerprint(service);
      const routes = (await service.app.adminPages()).filter(({ method }) => method !== 'HEAD');
      for (const [index, route] of routes.entries()) {
        // Each page and form is refused to two of the five roles a day.
        if (![0, 1].some((turn) => isOfToday(index + SUPPORT_ROLES.indexOf(role) + turn, 5))) continue;
        if ('permission' in route && (route.permission === 'member' || permissions.has(route.permission)))
          continue;
        if ('audience' in route && route.audience === 'anybody') continue;
        const answer = route.method === 'GET' ? await as.get(pathOf(route)) : await as.post(pathOf(route));
        const isOfInstallation = 'audience' in route && route.audience === 'host';
        // Pages without a shop lead back to the one that the person is in.
        const expected = isOfInstallation ? 404 : 'audience' in route && route.method === 'GET' ? 303 : 403;
        expect([route.method, route.url, answer.status]).toEqual([route.method, route.url, expected]);
        if (answer.status === 303) expect(answer.location).toBe('/admin/shops/DemoShop');
      }
      expect(await fingerprint(service)).toEqual(before);
    },
  );

  test('opens every page of the role, a third of them a day, and names the person at operations, too', async () => {
    const browser = await givenSupport('manager');
    const permissions = supportPermissionsOf('manager');
    const pages = (await service.app.adminPages()).filter(({ method }) => method === 'GET');
    for (const [index, route] of pages.entries()) {
      if (!isOfToday(index, 3)) continue;
      if (!('permission' in route) || (route.permission !== 'member' && !permissions.has(route.permission))) {
        continue;
      }
      const { status, text } = await browser.get(pathOf(route));
      expect([route.url, [200, 303, 400, 403, 404]]).toEqual([route.url, expect.arrayContaining([status])]);
      // What asks an owner for the password is not for support, and says whom to ask.
      if (status === 403) expect(text).toContain('Ask the owner of the shop to do it.');
    }
    const root = await service.db.one<{ id: string }>(sql`
      select upper(category_id::text) as id from category where shop_id = 'DemoShop' and parent_id is null`);
    await browser.post(`/admin/shops/DemoShop/categories/${root!.id}/add`, { name: 'Tides' });
    const last = (await entries()).at(-1)!;
    expect([last.name, last.route.startsWith('/rs/shops/:shopId/categories')]).toEqual([
      'Anna Weber (Kontor support)',
      true,
    ]);
  });

  test('of one shop opens no other', async () => {
    const browser = await givenSupport('manager');
    for (const path of ['', '/orders', '/users', '/support', '/settings/data']) {
      expect((await browser.get(`/admin/shops/OtherShop${path}`)).status).toBe(404);
    }
    // A token that names another shop is that of nobody.
    const name = [...browser.cookies].find(([, value]) => value.startsWith('support.'))!;
    browser.cookies.set(name[0], name[1].replace('DemoShop', 'OtherShop'));
    expect((await browser.get('/admin/shops/OtherShop/orders')).status).toBe(303);
    expect((await browser.get('/admin/shops/DemoShop/orders')).status).toBe(303);
  });

  test('extends nothing, invites nobody, makes no token, downloads no backup, moves no money', async () => {
    const browser = await givenSupport('manager');
    const base = '/admin/shops/DemoShop';
    const statuses = await changesNothing(service, async () => {
      const answers = [
        await browser.post(`${base}/support/grant`, { duration: 'week', role: 'manager' }),
        await browser.post(`${base}/support/end`),
        await browser.post(`${base}/users`, { email: 'mallory@host.example', role: 'owner' }),
        await browser.post(`${base}/apps/new`, { name: 'x', scope: 'orders_read' }),
        await browser.post(`${base}/settings/data/backup`),
        await browser.get(`${base}/settings/payments/invoice`),
        await browser.post(`${base}/settings/file`, {
          text: 'invoicing: { bank: { iban: DE02120300000000202051 } }',
          action: 'apply',
        }),
        await browser.post(`${base}/settings/file`, { text: 'domains: [mallory.example]', action: 'apply' }),
        await browser.post(`${base}/views`, { list: '/orders', name: 'x', query: '' }),
        await browser.post('/admin/account/password', {
          password: 'x',
          newPassword: 'four quiet green boats',
        }),
        await browser.post('/admin/confirm', { password: 'x' }),
      ];
      return answers.map(({ status }) => status);
    });
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403]);
    expect(await isIn(browser)).toBe(true);
  });
});

describe('a link', () => {
  const signInLink = (email = owner.email, to?: string, shopId = 'DemoShop') =>
    host(`${shopId}/sign-in-links`, { body: { email, ...(to !== undefined && { to }) } });

  test('signs a person in, in the place of the password, and is in their sessions and the log', async () => {
    const link = await signInLink(owner.email.toUpperCase(), '/admin/shops/DemoShop/orders?page=1');
    expect([link.status, link.body]).toEqual([
      201,
      { url: link.body.url, expiresAt: new Date(now.getTime() + MINUTE).toISOString() },
    ]);
    const browser = givenBrowser(service);
    const greeting = await browser.post('/admin/enter', { token: secretOf(link) });
    expect(greeting.text).toContain(`as ${owner.email}`);
    const entered = await press(browser, secretOf(link));
    expect([entered.status, entered.location]).toEqual([303, '/admin/shops/DemoShop/orders?page=1']);
    expect(await isIn(browser)).toBe(true);
    expect((await browser.get('/admin/account')).text).toContain('by Kontor');
    expect((await entries()).map((entry) => [entry.name, entry.route, entry.object])).toEqual([
      ['panel', '/host/shops/:shopId/sign-in-links', { userId: expect.any(String) }],
      [owner.email, '/admin/sign-in', { by: 'host', token: 'panel' }],
    ]);
  });

  test('is stored as a hash, is not replayed, and is gone after 60 seconds', async () => {
    const link = await host('DemoShop/sign-in-links', {
      body: { email: owner.email },
      headers: { 'idempotency-key': 'one' },
    });
    const secret = secretOf(link).split('.')[1]!;
    const rows = await service.db.many<{ hash: Buffer; text: string }>(sql`
      select token_hash as hash, host_link::text as text from host_link`);
    expect(rows.map(({ hash, text }) => [hash.equals(secretHash(secret)), text.includes(secret)])).toEqual([
      [true, false],
    ]);
    expect(await service.db.many(sql`select from host_answer where body like '%admin/enter%'`)).toEqual([]);
    const again = await host('DemoShop/sign-in-links', {
      body: { email: owner.email },
      headers: { 'idempotency-key': 'one' },
    });
    expect(again.headers['idempotency-replayed']).toBeUndefined();
    later(MINUTE);
    const late = await changesNothing(service, () => press(givenBrowser(service), secretOf(link)));
    expect(late.status).toBe(410);
    expect(late.text).not.toContain(owner.email);
    later(MINUTE);
    await runCleanup(service.db, [hostLinkCleanup], { log: service.app.log });
    expect(await service.db.many(sql`select from host_link`)).toEqual([]);
  });

  test('works once, also when it is opened twenty times at the same moment in two processes', async () => {
    const secret = secretOf(await signInLink());
    const before = await sessionCount();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, number) => press(givenBrowser(number % 2 ? service : beside), secret)),
    );
    expect(countsOf(answers)).toEqual({ 303: 1, 410: 19 });
    expect((await sessionCount()) - before).toBe(1);
    await grant();
    const support = secretOf(await supportLink());
    const entered = await Promise.all(
      Array.from({ length: 20 }, (_, number) => press(givenBrowser(number % 2 ? service : beside), support)),
    );
    expect(countsOf(entered)).toEqual({ 303: 1, 410: 19 });
    expect(await service.db.many(sql`select from support_visit`)).toHaveLength(1);
    expect(await emails()).toHaveLength(1);
  });

  const countsOf = (answers: readonly { status: number }[]) =>
    Object.fromEntries(
      [303, 410].map((status) => [status, answers.filter((answer) => answer.status === status).length]),
    );

  const sessionCount = async () =>
    (await service.db.one<{ count: number }>(sql`select count(*) as count from admin_session`))!.count;

  test('still asks for the code of an authenticator app', async () => {
    const key = await installationKey(service.config);
    const userId = await service.db.transaction((tx) => findOrCreateUser(tx, owner.email));
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    await givenTotp(service, key, userId, secret);
    const browser = givenBrowser(service);
    const asked = await press(
      browser,
      secretOf(await signInLink(owner.email, '/admin/shops/DemoShop/orders')),
    );
    expect([asked.status, asked.text.includes('name="code"'), browser.cookies.has('admin')]).toEqual([
      200,
      true,
      false,
    ]);
    const [, state] = /name="state"\s+value="([^"]+)"/.exec(asked.text)!;
    const wrong = await browser.post('/admin/sign-in/code', { state: state!, code: '000000' });
    expect([wrong.status, await isIn(browser)]).toEqual([403, false]);
    const code = totpCode(secret, stepAt(now));
    const right = await browser.post('/admin/sign-in/code', { state: state!, code });
    expect([right.status, right.location, await isIn(browser)]).toEqual([
      303,
      '/admin/shops/DemoShop/orders',
      true,
    ]);
    expect((await entries()).at(-1)).toMatchObject({ object: { by: 'host and code', token: 'panel' } });
  });

  test('is only for people of the shop, who have accepted, and who do not run the installation', async () => {
    await givenMerchant(service, 'owner', 'OtherShop');
    await service.db.transaction(async (tx) => {
      const invited = await findOrCreateUser(tx, 'invited@shop.example');
      await insertPendingRole(tx, 'DemoShop', invited, 'owner');
      const operator = await findOrCreateUser(tx, 'root@host.example');
      await putRole(tx, 'DemoShop', operator, 'owner');
      await updateHost(tx, operator, true);
      const demo = await findOrCreateUser(tx, 'owner@demo.localhost');
      await putRole(tx, 'DemoShop', demo, 'owner');
    });
    const answers = await changesNothing(service, async () => [
      await signInLink('owner@othershop.example'),
      await signInLink('nobody@shop.example'),
      await signInLink('owner@demo.localhost'),
      await signInLink(owner.email, undefined, 'OtherShop'),
      await signInLink(owner.email, undefined, 'Nowhere'),
      await signInLink('invited@shop.example'),
      await signInLink('root@host.example'),
    ]);
    expect(answers.map(codeOf)).toEqual([
      [404, 'PERSON_NOT_IN_SHOP'],
      [404, 'PERSON_NOT_IN_SHOP'],
      [404, 'PERSON_NOT_IN_SHOP'],
      [404, 'PERSON_NOT_IN_SHOP'],
      [404, 'SHOP_NOT_FOUND'],
      [409, 'INVITATION_NOT_ACCEPTED'],
      [403, 'PERSON_RUNS_INSTALLATION'],
    ]);
  });

  test('is void when the person has left the shop, or runs the installation since', async () => {
    const other = await givenMerchant(service, 'manager');
    const gone = secretOf(await signInLink(other.email));
    const raised = secretOf(await signInLink(owner.email));
    await service.db.transaction(async (tx) => {
      await tx.run(sql`delete from shop_user where role = 'manager'`);
      await updateHost(tx, await findOrCreateUser(tx, owner.email), true);
    });
    const before = await sessionCount();
    expect((await press(givenBrowser(service), gone)).status).toBe(410);
    expect((await press(givenBrowser(service), raised)).status).toBe(410);
    expect(await sessionCount()).toBe(before);
  });

  test.each([
    'https://evil.example',
    '//evil.example',
    '/admin\\@evil',
    '/administrator',
    '/admin/x\r\nset-cookie: a=b',
    '/shop/DemoShop',
    `/admin/${'x'.repeat(3_000)}`,
  ])('leads to no other place than the admin: %j', async (to) => {
    const answer = await changesNothing(service, () => signInLink(owner.email, to));
    expect([answer.status, answer.headers['x-error-field']]).toEqual([400, 'to']);
  });

  test('of one shop opens no other, and a made-up one opens none', async () => {
    const secret = secretOf(await signInLink());
    const before = await fingerprint(service);
    for (const wrong of [
      secret.replace('DemoShop', 'OtherShop'),
      secret.replace('DemoShop', 'Nowhere'),
      secret.slice(0, -1),
      `${secret}x`,
      'DemoShop.',
      '',
      'x'.repeat(190),
    ]) {
      expect((await givenBrowser(service).post('/admin/enter', { token: wrong })).status).toBe(410);
      expect((await press(givenBrowser(service), wrong)).status).toBe(410);
    }
    expect((await press(givenBrowser(service), ' '.repeat(200_000))).status).toBe(413);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('is opened by no other site, and names the session of the browser that it would end', async () => {
    const secret = secretOf(await signInLink());
    for (const url of ['/admin/enter', '/admin/enter/open']) {
      const forged = await service.app.inject({
        method: 'POST',
        url,
        headers: {
          host: 'localhost:8080',
          origin: 'https://evil.example',
          'content-type': 'application/x-www-form-urlencoded',
        },
        payload: new URLSearchParams({ token: secret }).toString(),
      });
      expect(forged.statusCode).toBe(403);
    }
    const other = await givenMerchant(service, 'manager');
    const browser = givenBrowser(service);
    browser.cookies.set('admin', other.cookie.replace('admin=', ''));
    const greeting = await browser.post('/admin/enter', { token: secret });
    expect(greeting.text).toContain(`This browser is signed in as ${other.email}`);
    expect((await press(browser, secret)).status).toBe(303);
    expect((await other.get('/orders')).status).toBe(303);
    expect((await browser.get('/admin/account')).text).toContain(owner.email);
  });

  test('ends a support session that the browser has, and the other way round', async () => {
    const browser = await givenSupport();
    await press(browser, secretOf(await signInLink()));
    expect(await service.db.many(sql`select from support_visit where left_at is null`)).toEqual([]);
    const before = await sessionCount();
    await press(browser, secretOf(await supportLink()));
    expect(await sessionCount()).toBe(before - 1);
  });

  test('opens the admin of a suspended shop, as signing in does, and none of one that is being deleted', async () => {
    await service.app.inject({ method: 'GET', url: '/health' });
    await host('DemoShop/suspend');
    expect((await press(givenBrowser(service), secretOf(await signInLink()))).status).toBe(303);
    await host('DemoShop/resume');
    await service.call('DELETE', '/host/shops/DemoShop?days=0', { token });
    expect(codeOf(await changesNothing(service, () => signInLink()))).toEqual([409, 'SHOP_DELETION_BEGUN']);
    await service.db.run(sql`update shop set deletion_at = null where shop_id = 'DemoShop'`);
  });

  test('needs its own scope', async () => {
    await grant();
    for (const scope of ['host_support', 'host_sign_in'] as const) {
      const scopes = HOST_SCOPES.filter((one) => one !== scope);
      const other = await service.db.transaction((tx) => createHostToken(tx, { name: 'other', scopes }));
      const [path, body]: [string, object] =
        scope === 'host_support' ? ['support-links', ANNA] : ['sign-in-links', { email: owner.email }];
      const answer = await changesNothing(service, () => host(`DemoShop/${path}`, { token: other, body }));
      expect(codeOf(answer)).toEqual([403, 'SCOPE_MISSING']);
    }
  });
});

test('the calls of the guide work', async () => {
  const guide = readFileSync(path.join(import.meta.dirname, '../../docs/operations/hosting.md'), 'utf8');
  const calls = [...guide.matchAll(/host\/shops\/TeaHouse\/([a-z-]+-links) [^]*?-d '([^']*)'/g)];
  expect(calls.map(([, name]) => name)).toEqual(['support-links', 'sign-in-links']);
  await grant();
  for (const [, name, text] of calls) {
    const body = JSON.parse(text!.replace('owner@tea-house.example', owner.email)) as object;
    expect((await host(`DemoShop/${name}`, { body })).status).toBe(201);
  }
});

test('neither a sandbox nor a copy with its people carries a grant, a session or a link', async () => {
  const browser = await givenSupport('manager');
  await supportLink();
  for (const [to, isSandbox] of [
    ['Box', true],
    ['Twin', false],
  ] as const) {
    const options = { from: 'DemoShop', to, isSandbox, withCustomers: true };
    await copyShop(service.db, service.config, options);
    const rows = await service.db.one(sql`
      select (select count(*) from support_grant where shop_id = ${to}) as grants,
        (select count(*) from support_visit where shop_id = ${to}) as visits,
        (select count(*) from host_link where shop_id = ${to}) as links`);
    expect(rows).toEqual({ grants: 0, visits: 0, links: 0 });
    expect((await browser.get(`/admin/shops/${to}`)).status).toBe(404);
    expect(codeOf(await supportLink(to))).toEqual([403, 'SUPPORT_NOT_GRANTED']);
    await service.db.run(sql`delete from shop where shop_id = ${to}`);
  }
});

test('who was in is forgotten after 90 days', async () => {
  await givenSupport();
  later(90 * DAY);
  await runCleanup(service.db, [supportVisitCleanup], { log: service.app.log });
  expect(await service.db.many(sql`select from support_visit`)).toHaveLength(1);
  later(HOUR);
  await runCleanup(service.db, [supportVisitCleanup], { log: service.app.log });
  expect(await service.db.many(sql`select from support_visit`)).toEqual([]);
});
