import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenBrowser, givenMerchant, type AdminBrowser } from '../../../test/admin.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { hashPassword } from '../users/password.ts';
import { findOrCreateUser, putRole, updatePassword } from '../users/queries.ts';
import { stepAt, totpCode } from './totp-code.ts';

const EMAIL = 'mira@shop.example';
const PASSWORD = 'four quiet green boats';
const NEW = 'seven brass lanterns';
const MINUTE = 60_000;

let service: Service;
let passwordHash: string;
let browser: AdminBrowser;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(undefined);
  await service.db.run(sql`delete from admin_user`);
  await service.db.run(sql`delete from audit_entry`);
  await service.db.transaction(async (tx) => {
    const userId = await findOrCreateUser(tx, EMAIL);
    await putRole(tx, 'DemoShop', userId, 'owner');
    await updatePassword(tx, userId, passwordHash);
  });
  browser = await signedIn();
});

async function signedIn(): Promise<AdminBrowser> {
  const made = givenBrowser(service);
  const answer = await made.post('/admin/sign-in', { email: EMAIL, password: PASSWORD });
  expect(answer.status).toBe(303);
  return made;
}

const isIn = async (one: AdminBrowser) => (await one.get('/admin/account')).status === 200;
const routes = async () =>
  (
    await service.db.many<{ route: string }>(sql`select route from audit_entry where shop_id = 'DemoShop'`)
  ).map(({ route }) => route);

describe('the password', () => {
  test('is changed with the one before, which ends all other sessions', async () => {
    const other = await signedIn();
    const done = await browser.post('/admin/account/password', { password: PASSWORD, newPassword: NEW });
    expect([done.status, done.location]).toEqual([303, '/admin/account']);
    expect([await isIn(browser), await isIn(other)]).toEqual([true, false]);
    expect((await givenBrowser(service).post('/admin/sign-in', { email: EMAIL, password: NEW })).status).toBe(
      303,
    );
    expect(await routes()).toContain('/admin/account/password');
  });

  test.each([
    [{ password: 'wrong', newPassword: NEW }, 403, 'The password is incorrect.'],
    [{ password: PASSWORD, newPassword: 'short' }, 400, 'at least 10 characters'],
  ])('stays with %j', async (fields, status, text) => {
    const before = await fingerprint(service);
    const refused = await browser.post('/admin/account/password', fields);
    expect([refused.status, refused.text.includes(text)]).toEqual([status, true]);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('can’t be given to somebody who has none, whoever sits at the browser', async () => {
    const merchant = await givenMerchant(service, 'owner');
    const refused = await merchant.post('/admin/account/password', { newPassword: NEW });
    expect(refused.status).toBe(403);
  });
});

test('sessions are listed and ended, one or all others, and only one’s own', async () => {
  const other = await signedIn();
  const third = await signedIn();
  const { text } = await browser.get('/admin/account');
  const ids = [...text.matchAll(/sessions\/([0-9A-F-]{36})\/end/g)].map(([, id]) => id!);
  expect(ids).toHaveLength(2);
  expect(text).toContain('Firefox on Linux');
  const stranger = await givenMerchant(service, 'owner', 'DemoShop', 'stranger@shop.example');
  expect((await stranger.post(`/admin/account/sessions/${ids[0]}/end`)).status).toBe(404);
  expect((await browser.post('/admin/account/sessions/nothing/end')).status).toBe(404);
  await browser.post(`/admin/account/sessions/${ids[0]}/end`);
  expect([await isIn(other), await isIn(third)].filter(Boolean)).toHaveLength(1);
  await browser.post('/admin/account/sessions/end-others');
  expect([await isIn(browser), await isIn(other), await isIn(third)]).toEqual([true, false, false]);
  expect((await stranger.get('/admin/account')).status).toBe(200);
  const entries = await service.db.many(sql`
    select app_name as name, route, object from audit_entry
    where shop_id = 'DemoShop' and route like '/admin/account/sessions/%' order by entry_id`);
  expect(entries).toEqual([
    { name: EMAIL, route: '/admin/account/sessions/:sessionId/end', object: { sessionId: ids[0] } },
    { name: EMAIL, route: '/admin/account/sessions/end-others', object: { sessions: '1' } },
  ]);
});

test('the language is the chosen one, and that of the browser without a choice', async () => {
  for (const [language, title] of [
    ['fr', 'Votre compte'],
    ['xx', 'Your account'],
  ] as const) {
    await browser.post('/admin/account/language', { language });
    expect((await browser.get('/admin/account')).text).toContain(`<h1>${title}</h1>`);
  }
});

describe('the authenticator app', () => {
  const setUp = async (one: AdminBrowser) => {
    const { text } = await one.get('/admin/account/totp');
    return {
      state: /name="state" value="([^"]+)"/.exec(text)![1]!,
      secret: /<code>([A-Z2-7 ]+)<\/code>/.exec(text)![1]!.replaceAll(' ', ''),
    };
  };
  const codeOf = (secret: string, step = 0) => totpCode(secret, stepAt(service.db.now) + step);

  test('is stored sealed when a code has proved it, and its recovery codes as hashes', async () => {
    const before = await fingerprint(service);
    const { state, secret } = await setUp(browser);
    expect(await fingerprint(service)).toEqual(before);
    const done = await browser.post('/admin/account/totp', { state, code: ` ${codeOf(secret)} ` });
    const codes = [...done.text.matchAll(/<code>([a-z2-7]{5}-[a-z2-7]{5})<\/code>/g)].map(
      ([, code]) => code!,
    );
    expect(codes).toHaveLength(10);
    const stored = JSON.stringify([
      await service.db.many(sql`select totp_sealed::text from admin_user`),
      await service.db.many(sql`select code_hash::text from admin_recovery_code`),
    ]);
    expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
    expect(stored).not.toContain(Buffer.from(codes[0]!).toString('hex'));
    expect((await browser.get('/admin/account')).text).toContain('10 recovery codes are left.');

    const renewed = await browser.post('/admin/account/totp/codes');
    expect(renewed.text).not.toContain(codes[0]);
    await browser.post('/admin/account/totp/delete');
    expect(await service.db.many(sql`select from admin_recovery_code`)).toEqual([]);
    expect(
      (await givenBrowser(service).post('/admin/sign-in', { email: EMAIL, password: PASSWORD })).status,
    ).toBe(303);
    expect(await routes()).toEqual(
      expect.arrayContaining([
        '/admin/account/totp',
        '/admin/account/totp/codes',
        '/admin/account/totp/delete',
      ]),
    );
  });

  test('shows the same secret after a wrong code, and takes none of another person', async () => {
    const { state, secret } = await setUp(browser);
    const before = await fingerprint(service);
    const wrong = await browser.post('/admin/account/totp', { state, code: codeOf(secret, 9) });
    expect([wrong.status, wrong.text.includes(secret.slice(0, 4))]).toEqual([400, true]);
    const thief = await givenMerchant(service, 'owner', 'DemoShop', 'thief@shop.example');
    await fingerprint(service);
    expect((await thief.post('/admin/account/totp', { state, code: codeOf(secret) })).status).toBe(400);
    expect((await browser.post('/admin/account/totp', { state: 'x', code: codeOf(secret) })).status).toBe(
      400,
    );
    const after = await fingerprint(service);
    expect(after['admin_recovery_code']).toBe(before['admin_recovery_code']);
    expect(await service.db.many(sql`select from admin_user where totp_sealed is not null`)).toEqual([]);
  });
});

describe('showing again who it is', () => {
  const TO = '/admin/account/totp';
  const later = () => service.setClock(new Date(Date.now() + 20 * MINUTE));

  test('takes the password, and then the page opens', async () => {
    later();
    const asked = await browser.get(TO);
    expect(asked.location).toBe('/admin/confirm?to=%2Fadmin%2Faccount%2Ftotp');
    const wrong = await browser.post(asked.location!, { password: 'wrong horse' });
    expect([wrong.status, wrong.text.includes('The password is incorrect.')]).toEqual([403, true]);
    expect((await browser.get(TO)).status).toBe(303);
    const done = await browser.post(asked.location!, { password: PASSWORD });
    expect([done.status, done.location]).toEqual([303, TO]);
    expect((await browser.get(TO)).status).toBe(200);
    expect(await routes()).toContain('/admin/confirm');
  });

  test('does not sign in anybody else, and needs more than a click', async () => {
    later();
    for (const path of ['/admin/confirm', '/admin/confirm/demo', '/admin/confirm/passkey']) {
      await browser.post(path, { credential: '{"id":"AAAAAAAAAAAAAAAAAAAAAA"}', state: 'x' });
    }
    expect((await browser.get(TO)).status).toBe(303);
    const stranger = givenBrowser(service);
    expect((await stranger.post('/admin/confirm', { password: PASSWORD })).location).toContain(
      '/admin/sign-in',
    );
  });

  test('is one click for the demo owner on this machine', async () => {
    const demo = givenBrowser(service);
    await demo.post('/admin/sign-in/demo');
    later();
    expect((await demo.get('/admin/shops/DemoShop/users')).location).toContain('/admin/confirm');
    const done = await demo.post('/admin/confirm/demo', { to: '/admin/shops/DemoShop/users' });
    expect(done.location).toBe('/admin/shops/DemoShop/users');
    expect((await demo.get('/admin/shops/DemoShop/users')).status).toBe(200);
  });
});
