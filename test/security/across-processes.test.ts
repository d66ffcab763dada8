import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { stepAt, totpCode } from '../../src/admin/account/totp-code.ts';
import { hashPassword } from '../../src/admin/users/password.ts';
import { deleteRole, findOrCreateUser, putRole, updatePassword } from '../../src/admin/users/queries.ts';
import { sql } from '../../src/db/sql.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { givenBrowser, givenMerchant, givenTotp, givenTries, merchantWith } from '../admin.ts';
import { queuedEmails } from '../carts.ts';
import { startDemo } from '../demo.ts';
import { startService, type Service } from '../service.ts';
import { askToSignIn, codesOf } from '../signed-in.ts';
import { givenVisitor } from '../visitor.ts';

/**
 * The service runs in several processes (`PROCESSES`), and a guesser has all of them: requests are sent to all at the same
 * moment, before any process could tell the others what it has counted. A limit on guessing is one number in the database
 * and not one for each process.
 */

vi.setConfig({ testTimeout: 60_000 });

const NOW = new Date('2026-11-16T10:10:00Z');
const EMAIL = 'mira@shop.example';
const PASSWORD = 'four quiet green boats';
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

let processes: Service[];
let first: Service;
let userId: string;

beforeAll(async () => {
  first = await startDemo({ RATE_LIMIT: '0' }, NOW);
  processes = [first];
  for (let number = 2; number <= 4; number++) {
    processes.push(await startService({ RATE_LIMIT: '0' }, first));
  }
  const passwordHash = await hashPassword(PASSWORD);
  userId = await first.db.transaction(async (tx) => {
    const made = await findOrCreateUser(tx, EMAIL);
    await putRole(tx, 'DemoShop', made, 'manager');
    await updatePassword(tx, made, passwordHash);
    return made;
  });
});
afterAll(async () => {
  for (const service of processes.toReversed()) await service.close();
});

/** Every test has an hour of its own, because calls are counted by the hour. */
let hour = 0;
let now: Date;
beforeEach(() => {
  now = new Date(NOW.getTime() + ++hour * 3_600_000);
  for (const service of processes) service.setClock(now);
});

/** The same work in all processes at the same moment; the statuses of the answers, with how many there are of each. */
async function atOnce(
  timesEach: number,
  work: (service: Service, number: number) => Promise<{ status: number }>,
): Promise<Record<number, number>> {
  const answers = await Promise.all(
    processes.flatMap((service, index) =>
      Array.from({ length: timesEach }, (_, time) => work(service, index * timesEach + time)),
    ),
  );
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('guesses in four processes at the same moment', () => {
  test('passwords of one person: 30', async () => {
    const guess = (service: Service, number: number) =>
      givenBrowser(service, { address: `203.0.113.${number}` }).post('/admin/sign-in', {
        email: EMAIL,
        password: `guess number ${number}`,
      });
    await givenTries(first, `password/${EMAIL}`, 22);
    expect(await atOnce(6, guess)).toEqual({ 403: 8, 429: 16 });
    // The right password comes too late for a stranger, in every process.
    expect(
      await atOnce(1, (service) =>
        givenBrowser(service, { address: '198.51.100.1' }).post('/admin/sign-in', {
          email: EMAIL,
          password: PASSWORD,
        }),
      ),
    ).toEqual({ 429: 4 });
  });

  test('passwords from one address: 100, whoever they are of', async () => {
    await givenTries(first, 'password-from/address/203.0.113.200', 92);
    const guess = (service: Service, number: number) =>
      givenBrowser(service, { address: '203.0.113.200' }).post('/admin/sign-in', {
        email: `person${number}@shop.example`,
        password: PASSWORD,
      });
    expect(await atOnce(6, guess)).toEqual({ 403: 8, 429: 16 });
  });

  test('codes of an authenticator app: 10', async () => {
    const key = await installationKey(first.config);
    await givenTotp(first, key, userId, SECRET);
    const asked = await givenBrowser(first).post('/admin/sign-in', { email: EMAIL, password: PASSWORD });
    const state = /name="state"\s+value="([^"]+)"/.exec(asked.text)![1]!;
    const right = [-1, 0, 1].map((step) => totpCode(SECRET, stepAt(now) + step));
    const wrong = Array.from({ length: 60 }, (_, number) => String(100_000 + number)).filter(
      (code) => !right.includes(code),
    );
    const guess = (service: Service, number: number) =>
      givenBrowser(service, { address: `203.0.113.${number}` }).post('/admin/sign-in/code', {
        state,
        code: wrong[number]!,
      });
    expect(await atOnce(10, guess)).toEqual({ 403: 10, 429: 30 });
    await first.db.run(sql`update admin_user set totp_sealed = null, totp_step = null`);
  });

  test('coupon codes from one address: 60', async () => {
    const cart = await first.call('POST', '/DemoShop/carts', { address: '203.0.113.60', body: {} });
    const guess = (service: Service, number: number) =>
      service.call('POST', `/DemoShop/carts/${cart.body.cartId}/coupon`, {
        address: '203.0.113.60',
        cartToken: String(cart.headers['x-epages-cart-token']),
        body: { code: `WRONG-${number}` },
      });
    expect(await atOnce(30, guess)).toEqual({ 400: 60, 429: 60 });
  });

  test('answers of passkeys: 60 from an address', async () => {
    const ask = (service: Service, number: number) =>
      givenVisitor(service, 'DemoShop', '203.0.113.62').post('/account/passkey', {
        credential: `{"id":"${number}"}`,
      });
    expect(await atOnce(30, ask)).toEqual({ 303: 60, 429: 60 });
  });

  test('digits of one email: 5, and the right ones sign in once', async () => {
    const visitor = givenVisitor(first, 'DemoShop');
    const requestId = await askToSignIn(first, visitor, 'wren@mail.example');
    const digits = (await codesOf(first)).digits('DemoShop', requestId);
    const cookie = visitor.cookie();
    const type = (service: Service, number: number, typed: string) => {
      const browser = givenVisitor(service, 'DemoShop', `203.0.113.${number}`);
      browser.useCookie(cookie);
      return browser.post('/account/code', { digits: typed });
    };
    const wrong = digits === '000000' ? '111111' : '000000';
    expect(await atOnce(5, (service, number) => type(service, number, wrong))).toEqual({ 400: 20 });
    // All five are used up, so that the right ones are worth nothing in any process.
    expect(await atOnce(1, (service, number) => type(service, number, digits))).toEqual({ 400: 4 });
    expect(await first.db.many(sql`select from account`)).toEqual([]);
  });
});

describe('emails that strangers cause in four processes at the same moment', () => {
  test('links for a new password: 3 for a person', async () => {
    const before = (await queuedEmails(first)).length;
    const ask = (service: Service, number: number) =>
      givenBrowser(service, { address: `203.0.113.${number}` }).post('/admin/forgotten', { email: EMAIL });
    expect(await atOnce(5, ask)).toEqual({ 200: 20 });
    expect((await queuedEmails(first)).length - before).toBe(3);
  });

  test('sign-in emails of shoppers: 20 from an address, and 5 to one person', async () => {
    const before = (await queuedEmails(first)).length;
    const ask = (service: Service, number: number) =>
      givenVisitor(service, 'DemoShop', '203.0.113.61').post('/account/sign-in', {
        email: `person${number}@mail.example`,
      });
    expect(await atOnce(10, ask)).toEqual({ 303: 20, 429: 20 });
    expect((await queuedEmails(first)).length - before).toBe(20);
    const flood = (service: Service, number: number) =>
      givenVisitor(service, 'DemoShop', `203.0.113.${100 + number}`).post('/account/sign-in', {
        email: 'victim@mail.example',
      });
    expect(await atOnce(5, flood)).toEqual({ 303: 20 });
    const toVictim = (await queuedEmails(first)).filter(({ to }) => to === 'victim@mail.example');
    expect(toVictim).toHaveLength(5);
  });
});

describe('what ends in one process has ended in all', () => {
  test('a session, a role, and the account of a shopper', async () => {
    const merchant = await givenMerchant(first, 'owner', 'DemoShop', 'gone@shop.example');
    const opens = () =>
      Promise.all(
        processes.map(
          async (service) =>
            (await merchantWith(service, merchant.cookie, 'DemoShop', '').get('/orders')).status,
        ),
      );
    expect(await opens()).toEqual([200, 200, 200, 200]);
    const gone = await first.db.transaction(async (tx) => {
      const goneId = await findOrCreateUser(tx, 'gone@shop.example');
      await deleteRole(tx, 'DemoShop', goneId);
      return goneId;
    });
    expect(await opens()).toEqual([404, 404, 404, 404]);
    await first.db.run(sql`delete from admin_session where user_id = ${gone}`);
    expect(await opens()).toEqual([303, 303, 303, 303]);
  });
});
