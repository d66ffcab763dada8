import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  givenBrowser,
  givenMerchant,
  givenTotp,
  givenTries,
  type AdminBrowser,
} from '../../../test/admin.ts';
import { queuedEmails } from '../../../test/carts.ts';
import { fingerprint, givenOtherShop, reopenDemo, startDemo } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { installationKey } from '../../platform/sealing.ts';
import { takeCode } from '../account/second-factor.ts';
import { stepAt, totpCode } from '../account/totp-code.ts';
import { insertLink, linkTokens, LINK_LIFETIME } from '../users/links.ts';
import { hashPassword } from '../users/password.ts';
import { findOrCreateUser, putRole, updatePassword } from '../users/queries.ts';

const EMAIL = 'mira@shop.example';
const PASSWORD = 'four quiet green boats';
const NOW = new Date('2026-11-16T10:10:00Z');

let service: Service;
let key: Buffer;
let passwordHash: string;
let userId: string;

beforeAll(async () => {
  service = await startDemo({}, NOW);
  await givenOtherShop(service);
  key = await installationKey(service.config);
  passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  await service.db.run(sql`delete from admin_user`);
  await service.db.run(sql`delete from shop_user`);
  await service.db.run(sql`delete from audit_entry`);
  await service.db.run(sql`delete from rate_window`);
  userId = await service.db.transaction(async (tx) => {
    const made = await findOrCreateUser(tx, EMAIL);
    await putRole(tx, 'DemoShop', made, 'manager');
    await putRole(tx, 'OtherShop', made, 'orders');
    await updatePassword(tx, made, passwordHash);
    return made;
  });
});

/** Hours are counted in memory too, so every test has an hour of its own. */
let hour = 0;
const nextHour = () => service.setClock(new Date(NOW.getTime() + ++hour * 3_600_000));

const signIn = (browser: AdminBrowser, password = PASSWORD, email = EMAIL) =>
  browser.post('/admin/sign-in', { email, password });

const entries = (shopId = 'DemoShop') =>
  service.db.many(sql`
    select app_name as name, route, object from audit_entry where shop_id = ${shopId} order by entry_id`);

describe('a password', () => {
  beforeEach(nextHour);

  test('signs in to the page that was asked for, and each shop of the person hears of it', async () => {
    const browser = givenBrowser(service);
    const asked = await browser.get('/admin/shops/DemoShop/customers?q=ada');
    expect(asked.location).toBe('/admin/sign-in?to=%2Fadmin%2Fshops%2FDemoShop%2Fcustomers%3Fq%3Dada');
    const done = await browser.post(asked.location!, { email: ' Mira@Shop.example ', password: PASSWORD });
    expect([done.status, done.location]).toEqual([303, '/admin/shops/DemoShop/customers?q=ada']);
    expect((await browser.get('/admin/shops/DemoShop/customers')).status).toBe(200);
    const entry = { name: EMAIL, route: '/admin/sign-in', object: { by: 'password' } };
    expect([await entries(), await entries('OtherShop')]).toEqual([[entry], [entry]]);
    await browser.post('/admin/sign-out');
    expect(await entries()).toContainEqual({ name: EMAIL, route: '/admin/sign-out', object: {} });
    expect((await browser.get('/admin/shops/DemoShop/customers')).status).toBe(303);
  });

  test('leads to pages of the admin only', async () => {
    for (const target of ['https://evil.example', '//evil.example', '/administrator', '/admin\\@evil']) {
      const search = new URLSearchParams({ to: target }).toString();
      const done = await givenBrowser(service).post(`/admin/sign-in?${search}`, {
        email: EMAIL,
        password: PASSWORD,
      });
      expect(done.location).toBe('/admin');
    }
  });

  test('does not sign in to an address that no header can hold', async () => {
    for (const target of [
      '/admin?x\r\nSet-Cookie: a=b',
      '/admin?x\ny',
      '/admin?\tx',
      '/admin?x\u007f',
      '/admin?€',
      '/admin?\ud800',
      `/admin?${'x'.repeat(5_000)}`,
    ]) {
      const search = new URLSearchParams({ to: target }).toString();
      const before = await fingerprint(service);
      const browser = givenBrowser(service);
      const answers = [
        await browser.post(`/admin/sign-in?${search}`, { email: EMAIL, password: PASSWORD }),
        await browser.post('/admin/sign-in/demo', { to: target }),
        await browser.post('/admin/sign-in/passkey', { to: target }),
        await browser.get(`/admin/sign-in?${search}`),
      ];
      // A field is bounded before anybody looks at what it says.
      const inField = target.length > 4_000 ? 413 : 400;
      expect(answers.map(({ status }) => status)).toEqual([400, inField, inField, 400]);
      expect([...browser.cookies]).toEqual([]);
      expect(await fingerprint(service)).toEqual(before);
    }
  });

  test('that is wrong gets the same answer as an address that nobody has', async () => {
    const wrong = await signIn(givenBrowser(service), 'wrong horse battery');
    const unknown = await signIn(givenBrowser(service), PASSWORD, 'nobody@shop.example');
    const withoutPassword = await givenMerchant(service, 'owner');
    const none = await signIn(givenBrowser(service), '', withoutPassword.email);
    for (const answer of [wrong, unknown, none]) {
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('Email and password do not match.');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect(await entries('OtherShop')).toEqual([
      { name: EMAIL, route: '/admin/sign-in', object: { refused: 'wrong password' } },
    ]);
  });

  test('whose code comes too late begins again, and that does not look like a success', async () => {
    const browser = givenBrowser(service);
    const late = await browser.post('/admin/sign-in/code', { state: 'nonsense', code: '123456' });
    expect([late.status, late.location]).toEqual([303, '/admin/sign-in']);
    const { text } = await browser.get('/admin/sign-in');
    expect(text).toMatch(/<div class="problem" role="alert">\s*<span>/);
    expect(text).not.toContain('class="notice"');
  });

  test('that is long or strange is refused and nothing else', async () => {
    for (const [password, status] of [
      ['x'.repeat(1_000), 403],
      ['x'.repeat(5_000), 413],
      ['👩‍🚀'.repeat(50), 403],
      ['\u0000', 400],
    ] as const) {
      expect((await signIn(givenBrowser(service), password)).status).toBe(status);
    }
  });
});

describe('guessing', () => {
  test('is stopped for strangers, and not for a browser that the person has used before', async () => {
    nextHour();
    await givenTries(service, `password/${EMAIL}`, 24);
    const own = givenBrowser(service);
    await signIn(own);
    await own.post('/admin/sign-out');
    const stranger = givenBrowser(service, { address: '203.0.113.7' });
    // Many at once, because each refusal takes its time.
    const guesses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => signIn(stranger, `guess number ${index}`)),
    );
    const statuses = guesses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 403).length).toBeLessThanOrEqual(6);
    const limited = await signIn(stranger);
    expect(limited.status).toBe(429);
    expect(limited.text).toContain('Too many attempts.');
    // The right password, from elsewhere: a stranger as well.
    expect((await signIn(givenBrowser(service, { address: '198.51.100.1' }))).status).toBe(429);
    expect((await signIn(own)).status).toBe(303);
    // With the next hour everybody may try again.
    nextHour();
    expect((await signIn(stranger)).status).toBe(303);
  });

  test('does not get tries of its own with a cookie that was changed', async () => {
    nextHour();
    await givenTries(service, `password/${EMAIL}`, 24);
    const own = givenBrowser(service);
    await signIn(own);
    const device = own.cookies.get('admin-device')!;
    const forged = givenBrowser(service, { address: '203.0.113.8' });
    forged.cookies.set('admin-device', device.replace(/^.{24}/, 'A'.repeat(24)));
    await Promise.all(Array.from({ length: 7 }, () => signIn(forged, 'wrong horse battery')));
    expect((await signIn(forged)).status).toBe(429);
    expect((await signIn(own)).status).toBe(303);
  });
});

describe('a second factor', () => {
  const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  let now: Date;
  let codes: readonly string[];
  beforeEach(async () => {
    nextHour();
    now = service.db.now;
    codes = await givenTotp(service, key, userId, SECRET);
  });
  const stateIn = (text: string) => /name="state"\s+value="([^"]+)"/.exec(text)![1]!;
  const codeAt = (step: number) => totpCode(SECRET, stepAt(now) + step);

  test('is asked for after the password, and each code works once', async () => {
    const browser = givenBrowser(service);
    const asked = await browser.post('/admin/sign-in?to=/admin/account', {
      email: EMAIL,
      password: PASSWORD,
    });
    expect(asked.status).toBe(200);
    expect(asked.text).toContain('One more step');
    expect(asked.headers['set-cookie']).toBeUndefined();
    const state = stateIn(asked.text);
    const wrong = await browser.post('/admin/sign-in/code', { state, code: codeAt(5) });
    expect([wrong.status, wrong.text.includes('This code is incorrect')]).toEqual([403, true]);
    const done = await browser.post('/admin/sign-in/code', { state, code: codeAt(-1) });
    expect([done.status, done.location]).toEqual([303, '/admin/account']);
    expect((await browser.get('/admin/account')).status).toBe(200);
    expect(await entries()).toEqual(
      expect.arrayContaining([
        { name: EMAIL, route: '/admin/sign-in', object: { refused: 'wrong code' } },
        { name: EMAIL, route: '/admin/sign-in', object: { by: 'password and code' } },
      ]),
    );
    // Used, or older than the one that was used.
    const thief = givenBrowser(service);
    for (const step of [-1, -2]) {
      expect((await thief.post('/admin/sign-in/code', { state, code: codeAt(step) })).status).toBe(403);
    }
    expect((await thief.post('/admin/sign-in/code', { state, code: codeAt(1) })).status).toBe(303);
  });

  test('has recovery codes, which work once, in any spelling', async () => {
    const browser = givenBrowser(service);
    const state = stateIn((await signIn(browser)).text);
    const code = codes[3]!.toUpperCase().replace('-', ' ');
    expect((await browser.post('/admin/sign-in/code', { state, code })).status).toBe(303);
    expect((await browser.post('/admin/sign-in/code', { state, code })).status).toBe(403);
    const taken = await service.db.transaction((tx) => takeCode(tx, key, userId, codes[4]!));
    expect(taken).toBe(true);
    expect(await service.db.many(sql`select from admin_recovery_code`)).toHaveLength(8);
  });

  test('is not asked for longer than ten minutes, nor with a state that was made up', async () => {
    const browser = givenBrowser(service);
    const state = stateIn((await signIn(browser)).text);
    for (const forged of ['', 'x', state.slice(0, -2), 'A'.repeat(2_000)]) {
      const answer = await browser.post('/admin/sign-in/code', { state: forged, code: codeAt(0) });
      expect([answer.status, answer.location]).toEqual([303, '/admin/sign-in']);
    }
    service.setClock(new Date(now.getTime() + 10 * 60_000));
    const late = await browser.post('/admin/sign-in/code', {
      state,
      code: totpCode(SECRET, stepAt(service.db.now)),
    });
    expect(late.location).toBe('/admin/sign-in');
    expect(browser.cookies.has('admin')).toBe(false);
  });

  test('can’t be guessed: ten tries an hour', async () => {
    const browser = givenBrowser(service, { address: '203.0.113.9' });
    const state = stateIn((await signIn(browser)).text);
    const answers = [];
    for (let index = 0; index < 11; index++) {
      answers.push((await browser.post('/admin/sign-in/code', { state, code: codeAt(7) })).status);
    }
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 403), 429]);
    expect((await browser.post('/admin/sign-in/code', { state, code: codeAt(0) })).status).toBe(429);
  });
});

describe('a link', () => {
  const urlOf = async (user: string | null = userId, lifetime = LINK_LIFETIME.reset) => {
    const linkId = await service.db.transaction((tx) => insertLink(tx, user, lifetime));
    return linkTokens(key).urlOf('', linkId);
  };
  const NEW = 'seven brass lanterns';
  beforeEach(nextHour);

  test('chooses a password once, signs in, and ends all other sessions', async () => {
    const before = givenBrowser(service);
    await signIn(before);
    const url = await urlOf();
    const other = await urlOf();
    const print = await fingerprint(service);
    const browser = givenBrowser(service);
    expect((await browser.get(url)).text).toContain('For mira@shop.example');
    expect(await fingerprint(service)).toEqual(print);
    const done = await browser.post(url, { newPassword: NEW });
    expect([done.status, done.location]).toEqual([303, '/admin']);
    expect((await browser.get('/admin/account')).status).toBe(200);
    expect((await before.get('/admin/account')).status).toBe(303);
    for (const used of [url, other]) {
      expect((await browser.get(used)).status).toBe(410);
      expect((await browser.post(used, { newPassword: 'another good one' })).status).toBe(410);
    }
    expect((await signIn(givenBrowser(service), NEW)).status).toBe(303);
    expect((await signIn(givenBrowser(service))).status).toBe(403);
  });

  test.each([
    ['short', 'nine char', 'at least 10 characters'],
    ['common', 'Password1234', 'easy to guess'],
    ['of few characters', 'abababababab', 'easy to guess'],
    ['like the address', 'Mira@shop.example', 'must not contain'],
    ['long', 'x'.repeat(100) + 'y z'.repeat(50), '200 characters at most'],
  ])('refuses a password that is %s, and can be used again', async (_, newPassword, text) => {
    const url = await urlOf();
    const refused = await givenBrowser(service).post(url, { newPassword });
    expect([refused.status, refused.text.includes(text)]).toEqual([400, true]);
    expect((await givenBrowser(service).post(url, { newPassword: NEW })).status).toBe(303);
  });

  test('expires, and can’t be made up', async () => {
    const url = await urlOf();
    const forged = url.replace(/.{3}$/, 'AAA');
    for (const wrong of [forged, '/admin/link', '/admin/link?token=x', url.replace(/token=../, 'token=00')]) {
      expect((await givenBrowser(service).get(wrong)).status).toBe(410);
    }
    service.setClock(new Date(service.db.now.getTime() + LINK_LIFETIME.reset));
    expect((await givenBrowser(service).get(url)).status).toBe(410);
    expect((await givenBrowser(service).post(url, { newPassword: NEW })).status).toBe(410);
  });

  test('does not replace the second factor', async () => {
    await givenTotp(service, key, userId, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
    const browser = givenBrowser(service);
    const done = await browser.post(await urlOf(), { newPassword: NEW });
    expect(done.location).toBe('/admin/sign-in');
    expect(browser.cookies.has('admin')).toBe(false);
  });

  test('of two that are sent at once, one wins', async () => {
    const url = await urlOf();
    const statuses = await Promise.all(
      ['first good password', 'second good password'].map(
        async (newPassword) => (await givenBrowser(service).post(url, { newPassword })).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([303, 410]));
  });

  test('for the first user makes the owner of all shops and the host, and none beside', async () => {
    await service.db.run(sql`delete from admin_user`);
    const url = await urlOf(null);
    const later = await urlOf(null);
    const browser = givenBrowser(service);
    for (const email of ['nobody', 'owner@demo.localhost']) {
      expect((await browser.post(url, { email, newPassword: NEW })).status).toBe(400);
    }
    const done = await browser.post(url, { email: 'First@shop.example', newPassword: NEW });
    expect(done.status).toBe(303);
    const rows = await service.db.many(sql`
      select email, is_host as "isHost", shop_id as "shopId", role from admin_user
      join shop_user on shop_user.user_id = admin_user.user_id order by shop_id`);
    expect(rows).toEqual(
      ['DemoShop', 'EmptyShop', 'OtherShop'].map((shopId) => ({
        email: 'first@shop.example',
        isHost: true,
        shopId,
        role: 'owner',
      })),
    );
    expect((await browser.post(later, { email: 'second@shop.example', newPassword: NEW })).status).toBe(410);
    // A link of a start at which there was no user yet is worth nothing once there is one.
    const old = await urlOf(null);
    expect((await browser.get(old)).status).toBe(410);
  });
});

describe('a forgotten password', () => {
  beforeEach(async () => {
    nextHour();
    await service.db.run(sql`delete from job`);
  });
  const ask = (email: string, browser = givenBrowser(service)) => browser.post('/admin/forgotten', { email });

  test('is chosen again with a link that goes to the mailbox alone, and works for an hour', async () => {
    const before = givenBrowser(service);
    await signIn(before);
    expect((await before.get('/admin/sign-in')).text).toContain('href="/admin/forgotten"');
    const asked = await ask(' Mira@Shop.example ');
    expect([asked.status, asked.text.includes('If there is a user with mira@shop.example')]).toEqual([
      200,
      true,
    ]);
    const [email, ...others] = await queuedEmails(service);
    expect(others).toEqual([]);
    expect(email).toMatchObject({
      to: EMAIL,
      shopId: 'DemoShop',
      template: 'password',
      facts: { linkId: expect.any(String) },
    });
    expect(asked.text).not.toContain(String(email!.facts['linkId']));
    // Until the link is used nothing changes, because anybody can ask for it.
    expect((await before.get('/admin/account')).status).toBe(200);
    const entry = { name: EMAIL, route: '/admin/forgotten', object: {} };
    expect([await entries(), await entries('OtherShop')]).toEqual([
      expect.arrayContaining([entry]),
      expect.arrayContaining([entry]),
    ]);
    const url = linkTokens(key).urlOf('', String(email!.facts['linkId']));
    service.setClock(new Date(service.db.now.getTime() + LINK_LIFETIME.forgotten - 1));
    expect((await givenBrowser(service).post(url, { newPassword: 'seven brass lanterns' })).status).toBe(303);
    expect((await before.get('/admin/account')).status).toBe(303);
  });

  test('is answered in the same way for an address that nobody has', async () => {
    const bare = (text: string, email: string) => text.replaceAll(email, '');
    const known = await ask(EMAIL);
    const before = await fingerprint(service);
    for (const email of ['nobody@shop.example', 'owner@demo.localhost']) {
      const unknown = await ask(email);
      expect([unknown.status, bare(unknown.text, email)]).toEqual([known.status, bare(known.text, EMAIL)]);
      expect(unknown.headers['set-cookie']).toEqual(known.headers['set-cookie']);
    }
    expect((await ask('nobody')).status).toBe(400);
    expect({ ...(await fingerprint(service)), rate_window: '' }).toEqual({ ...before, rate_window: '' });
    expect(await queuedEmails(service)).toHaveLength(1);
  });

  test('sends three emails an hour to one person, and twenty from one address', async () => {
    const answers = [];
    for (let index = 0; index < 4; index++) answers.push((await ask(EMAIL)).status);
    expect(answers).toEqual([200, 200, 200, 200]);
    expect(await queuedEmails(service)).toHaveLength(3);
    const stranger = givenBrowser(service, { address: '203.0.113.10' });
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => (await ask(`x${index}@shop.example`, stranger)).status),
    );
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
    expect((await ask('y@shop.example', stranger)).text).toContain('Please wait an hour');
  });

  test('is written about in the language of the person, else in that of the browser', async () => {
    await service.db.run(sql`update admin_user set language = 'fr'`);
    await ask(EMAIL);
    await service.db.run(sql`update admin_user set language = null`);
    await service.app.inject({
      method: 'POST',
      url: '/admin/forgotten',
      headers: {
        host: 'localhost:8080',
        origin: 'http://localhost:8080',
        'accept-language': 'de-AT',
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams({ email: EMAIL }).toString(),
    });
    const locales = (await queuedEmails(service)).map(({ locale }) => locale.slice(0, 2));
    expect(locales).toEqual(['fr', 'de']);
  });
});

describe('the demo owner', () => {
  test('needs no password on this machine, and does not exist for anybody else', async () => {
    await reopenDemo(service);
    const browser = givenBrowser(service);
    expect((await browser.post('/admin/sign-in/demo', { to: '/admin/account' })).location).toBe(
      '/admin/account',
    );
    for (const options of [{ address: '203.0.113.7' }, { host: 'shop.example' }]) {
      const stranger = givenBrowser(service, options);
      expect((await stranger.post('/admin/sign-in/demo')).status).toBe(403);
      expect(stranger.cookies.has('admin')).toBe(false);
    }
    const open = await startService({ PUBLIC_URL: 'https://shop.example' }, service);
    const visitor = givenBrowser(open, { host: 'shop.example' });
    expect((await visitor.post('/admin/sign-in/demo')).status).toBe(403);
    expect((await visitor.get('/admin/sign-in')).text).not.toContain('demo');
    await open.close();
  });
});
