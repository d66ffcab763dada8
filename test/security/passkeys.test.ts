import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashPassword } from '../../src/admin/users/password.ts';
import { findOrCreateUser, putRole, updatePassword } from '../../src/admin/users/queries.ts';
import { sql } from '../../src/db/sql.ts';
import { givenBrowser, type AdminBrowser } from '../admin.ts';
import { startDemo } from '../demo.ts';
import { givenDevice } from '../passkey-device.ts';
import type { Service } from '../service.ts';
import { signInAs } from '../signed-in.ts';
import { givenVisitor, mainOf } from '../visitor.ts';

/**
 * Answers of passkeys that are wrong in one place, sent to the admin by hand: an attacker's browser sends what it likes.
 * A passkey signs in alone, without a second factor, so nothing of it may be taken on trust.
 */

const NOW = new Date('2026-11-16T10:10:00Z');
const MINUTE = 60_000;
const PASSWORD = 'four quiet green boats';
const [MIRA, EVE] = ['mira@shop.example', 'eve@shop.example'];
const SITE = { host: 'localhost', origin: 'http://localhost:8080' };

let service: Service;
let passwordHash: string;
let clock: number;
const wait = (milliseconds = 1) => service.setClock(new Date((clock += milliseconds)));

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, NOW);
  passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => service.close());
beforeEach(async () => {
  clock = NOW.getTime();
  service.setClock(NOW);
  await service.db.run(sql`delete from admin_user`);
  await service.db.transaction(async (tx) => {
    for (const email of [MIRA, EVE]) {
      const userId = await findOrCreateUser(tx, email);
      await putRole(tx, 'DemoShop', userId, 'owner');
      await updatePassword(tx, userId, passwordHash);
    }
  });
});

const passkeys = () =>
  service.db.many(sql`
    select email, counter, used_at as used from admin_passkey join admin_user using (user_id) order by email`);

async function signedIn(email: string): Promise<AdminBrowser> {
  const browser = givenBrowser(service);
  expect((await browser.post('/admin/sign-in', { email, password: PASSWORD })).status).toBe(303);
  return browser;
}

/** The challenge of a page, and the sealed state that its form sends back. */
async function asked(browser: AdminBrowser, path: string) {
  const { text } = await browser.get(path);
  const [, form = ''] = /data-options="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(text) ?? [];
  const options = JSON.parse(form.replaceAll('&quot;', '"')) as { challenge: string };
  const [, state] = /name="state"\s+value="([^"]+)"/.exec(text.slice(text.indexOf('data-options')))!;
  return { challenge: options.challenge, state: state! };
}

type Device = ReturnType<typeof givenDevice>;

async function givenPasskey(email: string): Promise<{ device: Device; owner: AdminBrowser }> {
  const [device, owner] = [givenDevice(SITE), await signedIn(email)];
  const { challenge, state } = await asked(owner, '/admin/account');
  const added = await owner.post('/admin/account/passkeys', { state, credential: device.create(challenge) });
  expect([added.status, added.location]).toEqual([303, '/admin/account']);
  wait();
  return { device, owner };
}

interface Attempt {
  browser?: AdminBrowser;
  state?: string;
  credential: string;
}

/** Whether the answer signs nobody in and leaves every passkey as it was. */
async function isRefused({
  browser = givenBrowser(service),
  state = '',
  credential,
}: Attempt): Promise<boolean> {
  const before = JSON.stringify(await passkeys());
  const answer = await browser.post('/admin/sign-in/passkey', { state, credential });
  return (
    answer.status === 303 &&
    answer.location === '/admin/sign-in?to=%2Fadmin' &&
    !browser.cookies.has('admin') &&
    JSON.stringify(await passkeys()) === before
  );
}

describe('signing in to the admin', () => {
  test('works with the right answer, once', async () => {
    const { device } = await givenPasskey(MIRA);
    const browser = givenBrowser(service);
    const { challenge, state } = await asked(browser, '/admin/sign-in');
    wait();
    device.setCounter(1);
    const credential = device.sign(challenge);
    const done = await browser.post('/admin/sign-in/passkey', { state, credential });
    expect([done.status, done.location, browser.cookies.has('admin')]).toEqual([303, '/admin', true]);
    // The same answer again, at once and later, and with a higher counter that was not signed.
    expect(await isRefused({ state, credential })).toBe(true);
    wait(MINUTE);
    expect(await isRefused({ state, credential })).toBe(true);
  });

  test.each([
    ['another origin', { at: 'http://evil.example' }],
    ['another port of this host', { at: 'http://localhost:9090' }],
    ['another scheme', { at: 'https://localhost:8080' }],
    ['a host below this one', { at: 'http://evil.localhost:8080' }],
    ['a host that begins like this one', { at: 'http://localhost:8080.evil.example' }],
    ['no origin', { at: '' }],
    ['another rpId', { rp: 'evil.example' }],
    ['the rpId of a shop', { rp: 'demoshop.localhost' }],
    ['no user verification', { flags: 0x01 }],
    ['nobody present', { flags: 0x04 }],
    ['neither', { flags: 0x00 }],
    ['an answer to another question', { type: 'webauthn.create' }],
    ['the key of another device', { key: givenDevice().privateKey }],
  ])('is refused with %s', async (_what, wrong) => {
    const { device } = await givenPasskey(MIRA);
    const browser = givenBrowser(service);
    const { challenge, state } = await asked(browser, '/admin/sign-in');
    device.setCounter(1);
    expect(await isRefused({ browser, state, credential: device.sign(challenge, wrong) })).toBe(true);
    expect(await passkeys()).toMatchObject([{ email: MIRA, used: null }]);
  });

  test('is refused with the challenge of another page, a made-up one, an old one, or none', async () => {
    const { device, owner } = await givenPasskey(MIRA);
    const page = await asked(givenBrowser(service), '/admin/sign-in');
    const other = await asked(givenBrowser(service), '/admin/sign-in');
    const random = randomBytes(32).toString('base64url');
    expect(await isRefused({ state: page.state, credential: device.sign(other.challenge) })).toBe(true);
    expect(await isRefused({ state: page.state, credential: device.sign(random) })).toBe(true);
    expect(await isRefused({ state: page.state, credential: device.sign('') })).toBe(true);
    for (const state of ['', 'x', page.state.slice(1), `${page.state}A`, page.state.toLowerCase()]) {
      expect(await isRefused({ state, credential: device.sign(page.challenge) })).toBe(true);
    }
    // One that was given to somebody who is signed in, to add a passkey or to confirm who it is.
    for (const path of ['/admin/account', '/admin/confirm']) {
      const { challenge, state } = await asked(owner, path);
      expect(await isRefused({ state, credential: device.sign(challenge) })).toBe(true);
    }
    wait(10 * MINUTE);
    expect(await isRefused({ state: page.state, credential: device.sign(page.challenge) })).toBe(true);
    expect(await passkeys()).toMatchObject([{ email: MIRA, used: null }]);
  });

  test('is refused when the counter stands still or goes back, as that of a copied device', async () => {
    const { device } = await givenPasskey(MIRA);
    const first = await asked(givenBrowser(service), '/admin/sign-in');
    wait();
    device.setCounter(7);
    const browser = givenBrowser(service);
    await browser.post('/admin/sign-in/passkey', { ...first, credential: device.sign(first.challenge) });
    expect(browser.cookies.has('admin')).toBe(true);
    for (const counter of [7, 6, 0]) {
      wait();
      const { challenge, state } = await asked(givenBrowser(service), '/admin/sign-in');
      device.setCounter(counter);
      expect(await isRefused({ state, credential: device.sign(challenge) })).toBe(true);
    }
  });

  test('is refused in the name of somebody else’s passkey', async () => {
    const [{ device: mira }, { device: eve }] = [await givenPasskey(MIRA), await givenPasskey(EVE)];
    const { challenge, state } = await asked(givenBrowser(service), '/admin/sign-in');
    const answer = JSON.parse(eve.sign(challenge)) as Record<string, unknown>;
    expect(await isRefused({ state, credential: JSON.stringify({ ...answer, id: mira.id }) })).toBe(true);
    expect(
      await isRefused({ state, credential: JSON.stringify({ ...answer, id: mira.id, rawId: mira.id }) }),
    ).toBe(true);
    expect(await isRefused({ state, credential: givenDevice(SITE).sign(challenge) })).toBe(true);
  });

  test.each([
    '',
    'null',
    '[]',
    '{}',
    '{"id":["x"]}',
    `{"id":"${'A'.repeat(43)}","response":{}}`,
    `{"id":"${'A'.repeat(43)}","response":null,"__proto__":{"verified":true}}`,
    `{"id":"../../admin_passkey"}`,
    `{"id":"${'A'.repeat(1_400)}"}`,
    `${'['.repeat(8_000)}${']'.repeat(8_000)}`,
    'x'.repeat(16_000),
  ])('is refused with nonsense (%#)', async (credential) => {
    await givenPasskey(MIRA);
    const { state } = await asked(givenBrowser(service), '/admin/sign-in');
    expect(await isRefused({ state, credential })).toBe(true);
  });
});

describe('showing again who it is', () => {
  test('takes no passkey of somebody else, and no answer that has signed in', async () => {
    const { device: eve } = await givenPasskey(EVE);
    const { device, owner } = await givenPasskey(MIRA);
    wait(20 * MINUTE);
    const isAsked = async () => (await owner.get('/admin/account/totp')).status === 303;
    expect(await isAsked()).toBe(true);
    const page = await asked(owner, '/admin/confirm');
    wait();
    await owner.post('/admin/confirm/passkey', { ...page, credential: eve.sign(page.challenge) });
    expect(await isAsked()).toBe(true);
    // A challenge of the page that signs in, or of another session of the same person.
    const own = await asked(givenBrowser(service), '/admin/sign-in');
    const other = await asked(await signedIn(MIRA), '/admin/confirm');
    wait();
    for (const { challenge, state } of [own, other]) {
      await owner.post('/admin/confirm/passkey', { state, credential: device.sign(challenge) });
      expect(await isAsked()).toBe(true);
    }
    await owner.post('/admin/confirm/passkey', { ...page, credential: device.sign(page.challenge) });
    expect(await isAsked()).toBe(false);
  });
});

describe('adding a passkey', () => {
  test('needs the password again when it was typed long ago', async () => {
    const owner = await signedIn(MIRA);
    const { challenge, state } = await asked(owner, '/admin/account');
    wait(46 * MINUTE);
    const late = await owner.post('/admin/account/passkeys', {
      state,
      credential: givenDevice(SITE).create(challenge),
    });
    expect([late.status, late.location?.startsWith('/admin/confirm')]).toEqual([303, true]);
    expect(await passkeys()).toEqual([]);
  });

  test('needs the challenge that this session was given', async () => {
    const [mira, eve] = [await signedIn(MIRA), await signedIn(EVE)];
    const ofEve = await asked(eve, '/admin/account');
    const toSignIn = await asked(givenBrowser(service), '/admin/sign-in');
    for (const { challenge, state } of [ofEve, toSignIn]) {
      const refused = await mira.post('/admin/account/passkeys', {
        state,
        credential: givenDevice(SITE).create(challenge),
      });
      expect(refused.status).toBe(400);
    }
    expect(await passkeys()).toEqual([]);
  });

  test.each([
    ['that was made elsewhere', { origin: 'http://evil.example' }, {}],
    ['that was made for another rpId', { host: 'evil.example' }, {}],
    ['that was made without recognising its owner', {}, { flags: 0x41 }],
    ['that answers another question', {}, { type: 'webauthn.get' }],
  ])('takes none %s', async (_what, site, wrong) => {
    const owner = await signedIn(MIRA);
    const { challenge, state } = await asked(owner, '/admin/account');
    const credential = givenDevice({ ...SITE, ...site }).create(challenge, undefined, wrong);
    expect((await owner.post('/admin/account/passkeys', { state, credential })).status).toBe(400);
    expect(await passkeys()).toEqual([]);
  });

  test('takes none that somebody has already', async () => {
    const { device } = await givenPasskey(MIRA);
    const eve = await signedIn(EVE);
    const { challenge, state } = await asked(eve, '/admin/account');
    const taken = await eve.post('/admin/account/passkeys', { state, credential: device.create(challenge) });
    expect(taken.status).toBe(400);
    expect(await passkeys()).toMatchObject([{ email: MIRA }]);
  });

  test('to the account of a shopper needs a sign-in of the last hour: an open browser is not enough', async () => {
    await service.db.run(sql`delete from account`);
    const visitor = givenVisitor(service, 'DemoShop');
    await signInAs(service, visitor, 'wren@mail.example');
    const challengeIn = (text: string) =>
      (
        JSON.parse(/data-options="([^"]*)"/.exec(text)![1]!.replaceAll('&quot;', '"')) as {
          challenge: string;
        }
      ).challenge;
    const challenge = challengeIn((await visitor.get('/account/devices')).text);
    const device = givenDevice();
    wait(9 * MINUTE);
    const during = await visitor.submit('/account/passkeys', { credential: device.create(challenge) });
    expect(mainOf(during)).toContain('The passkey is saved.');
    wait(44 * MINUTE);
    const last = challengeIn((await visitor.get('/account/devices')).text);
    wait(8 * MINUTE);
    const late = await visitor.submit('/account/passkeys', { credential: givenDevice().create(last) });
    expect(mainOf(late)).toContain('To add a passkey, please sign out and sign in again');
    expect(late.text).not.toContain('data-passkey');
    expect(await service.db.many(sql`select from account_passkey`)).toHaveLength(1);
  });
});
