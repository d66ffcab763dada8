import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stepAt, totpCode } from '../../src/admin/account/totp-code.ts';
import { hashPassword } from '../../src/admin/users/password.ts';
import { findOrCreateUser, putRole, updatePassword } from '../../src/admin/users/queries.ts';
import { sql } from '../../src/db/sql.ts';
import { secretHash } from '../../src/kernel/ids.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { givenBrowser, givenTotp, type AdminBrowser } from '../admin.ts';
import { startDemo } from '../demo.ts';
import { startService, type Service } from '../service.ts';

/**
 * Somebody knows the password of a merchant, and lacks the authenticator app. Six digits are few: codes are guessed,
 * copied from over a shoulder, sent twice at the same moment, and tried in several browsers and processes.
 */

const NOW = new Date('2026-11-16T10:10:00Z');
const EMAIL = 'mira@shop.example';
const PASSWORD = 'four quiet green boats';
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

let service: Service;
let beside: Service;
let key: Buffer;
let recoveryCodes: readonly string[];
let userId: string;
let now: Date;
let hour = 0;

beforeAll(async () => {
  service = await startDemo({}, NOW);
  beside = await startService({}, service);
  key = await installationKey(service.config);
  await service.db.transaction(async (tx) => {
    userId = await findOrCreateUser(tx, EMAIL);
    await updatePassword(tx, userId, await hashPassword(PASSWORD));
  });
  recoveryCodes = await givenTotp(service, key, userId, SECRET);
  await service.db.transaction(async (tx) => {
    await tx.run(sql`create table first_user as select * from admin_user`);
    await tx.run(sql`create table first_code as select * from admin_recovery_code`);
  });
});
afterAll(async () => {
  await beside.close();
  await service.close();
});
beforeEach(async () => {
  setClock(new Date(NOW.getTime() + ++hour * 3_600_000));
  await service.db.run(sql`delete from admin_user`);
  // Copied, because making ten recovery codes takes half a second.
  await service.db.transaction(async (tx) => {
    await tx.run(sql`insert into admin_user select * from first_user`);
    await tx.run(sql`insert into admin_recovery_code select * from first_code`);
    await putRole(tx, 'DemoShop', userId, 'owner');
  });
});

function setClock(moment: Date): void {
  now = moment;
  for (const each of [service, beside]) each.setClock(moment);
}

const codeAt = (step: number) => totpCode(SECRET, stepAt(now) + step);

/** A browser in which the password was right, and what its form sends back. */
async function afterPassword(at = service, address = '127.0.0.1') {
  const browser = givenBrowser(at, { address });
  const { text } = await browser.post('/admin/sign-in', { email: EMAIL, password: PASSWORD });
  const [, state] = /name="state"\s+value="([^"]+)"/.exec(text)!;
  return { browser, state: state! };
}

const type = ({ browser, state }: { browser: AdminBrowser; state: string }, code: string) =>
  browser.post('/admin/sign-in/code', { state, code });

const isIn = ({ browser }: { browser: AdminBrowser }) => browser.cookies.has('admin');

describe('a code', () => {
  test('works once, also when it is sent twenty times at the same moment, in two processes', async () => {
    const browsers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        afterPassword(index % 2 ? beside : service, `203.0.113.${index}`),
      ),
    );
    const answers = await Promise.all(browsers.map((one) => type(one, codeAt(0))));
    expect(answers.map(({ status }) => status).filter((status) => status === 303)).toHaveLength(1);
    expect(browsers.filter(isIn)).toHaveLength(1);
  });

  test.each([
    [-3, false],
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
    [3, false],
  ])('of step %i: %s', async (step, isTaken) => {
    const one = await afterPassword();
    await type(one, codeAt(step));
    expect(isIn(one)).toBe(isTaken);
  });

  test('that was used makes all codes before it worthless', async () => {
    await type(await afterPassword(), codeAt(1));
    for (const step of [1, 0, -1]) {
      const thief = await afterPassword();
      await type(thief, codeAt(step));
      expect(isIn(thief)).toBe(false);
    }
    // Half a minute later the code that was shown then is a new one, but the used one is not.
    setClock(new Date(now.getTime() + 30_000));
    const thief = await afterPassword();
    await type(thief, codeAt(0));
    expect(isIn(thief)).toBe(false);
  });

  test.each([
    '',
    '0',
    '00000',
    '0000000',
    '1e5   ',
    '٠٠٠٠٠٠',
    '-00001',
    '0x1234',
    '\u0000',
    "' or 1=1 --",
    '9'.repeat(1_000),
    '9'.repeat(5_000),
  ])('is never something else (%#)', async (code) => {
    const one = await afterPassword();
    expect([400, 403, 413]).toContain((await type(one, code)).status);
    expect(isIn(one)).toBe(false);
  });
});

describe('guessing', () => {
  test('14 codes in 14 browsers, from 14 addresses and in both processes: ten are looked at', async () => {
    const guessers = [];
    for (let index = 0; index < 14; index++) {
      guessers.push(
        await afterPassword(index % 2 ? beside : service, `203.0.113.${index}`).catch(() => undefined),
      );
    }
    const known = guessers.filter((one) => one !== undefined);
    const right = new Set([-1, 0, 1].map(codeAt));
    const wrong = Array.from({ length: 40 }, (_, index) => String(200_000 + index)).filter(
      (code) => !right.has(code),
    );
    const answers = await Promise.all(known.map((one, index) => type(one, wrong[index]!)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 403)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(known.length - 10);
    // The right code comes too late, in a browser of the guesser and in the one beside it.
    for (const one of known.slice(0, 2)) expect((await type(one, codeAt(0))).status).toBe(429);
    expect(known.some(isIn)).toBe(false);
    // A recovery code is counted with them.
    expect((await type(known[0]!, recoveryCodes[0]!)).status).toBe(429);
  });

  test('is seen in the audit log', async () => {
    await service.db.run(sql`delete from audit_entry`);
    const one = await afterPassword();
    for (let time = 0; time < 3; time++) await type(one, '000000');
    const entries = await service.db.many(sql`
      select object from audit_entry where shop_id = 'DemoShop' and route = '/admin/sign-in'`);
    expect(entries).toEqual(Array.from({ length: 3 }, () => ({ object: { refused: 'wrong code' } })));
  });

  test('where the account asks again is counted with the rest', async () => {
    const one = await afterPassword(service, '203.0.113.80');
    await type(one, codeAt(0));
    expect(isIn(one)).toBe(true);
    const statuses = [];
    for (let time = 0; time < 12; time++) {
      statuses.push((await one.browser.post('/admin/confirm', { code: '000000' })).status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    expect(statuses.filter((status) => status === 403).length).toBeLessThanOrEqual(10);
  });
});

describe('a recovery code', () => {
  test('works once, also when it is sent to both processes at the same moment', async () => {
    const browsers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        afterPassword(index % 2 ? beside : service, `203.0.113.${index}`),
      ),
    );
    await Promise.all(browsers.map((one) => type(one, recoveryCodes[0]!)));
    expect(browsers.filter(isIn)).toHaveLength(1);
    expect(await service.db.many(sql`select from admin_recovery_code`)).toHaveLength(9);
  });

  test('of somebody else, of a former list, or in part, is worth nothing', async () => {
    const otherId = await service.db.transaction((tx) => findOrCreateUser(tx, 'eve@shop.example'));
    const others = await givenTotp(service, key, otherId, SECRET);
    const former = recoveryCodes[0]!;
    await givenTotp(service, key, userId, SECRET);
    for (const code of [others[0]!, former, former.slice(0, 5), `${former}${former}`]) {
      const one = await afterPassword();
      await type(one, code);
      expect(isIn(one)).toBe(false);
    }
  });

  test('of an earlier version, which hashed it without a salt, works until new ones are made', async () => {
    const code = 'abcde-23456';
    await service.db.transaction((tx) =>
      tx.run(sql`
        insert into admin_recovery_code (user_id, code_hash) values (${userId}::uuid, ${secretHash(code)})`),
    );
    const first = await afterPassword();
    await type(first, code);
    expect(isIn(first)).toBe(true);
    const second = await afterPassword();
    await type(second, code);
    expect(isIn(second)).toBe(false);
  });

  test('is hashed slowly, so that a stolen table says nothing about it', async () => {
    const hashes = await service.db.many<{ hash: Buffer }>(sql`
      select code_hash as hash from admin_recovery_code where user_id = ${userId}`);
    expect(hashes.length).toBeGreaterThan(0);
    const plain = new Set(recoveryCodes.map((code) => secretHash(code).toString('hex')));
    expect(hashes.filter(({ hash }) => plain.has(hash.toString('hex')))).toEqual([]);
  });

  test('is not in the database, nor is the secret', async () => {
    const rows = await service.db.many(sql`
      select code_hash::text as text from admin_recovery_code
      union all select totp_sealed::text from admin_user where totp_sealed is not null`);
    const text = JSON.stringify(rows);
    for (const secret of [...recoveryCodes, SECRET]) {
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });
});

test('the state after the password is no session, and none of another person', async () => {
  const one = await afterPassword();
  expect((await one.browser.get('/admin/shops/DemoShop/orders')).status).toBe(303);
  const otherId = await service.db.transaction((tx) => findOrCreateUser(tx, 'eve@shop.example'));
  await givenTotp(service, key, otherId, 'A'.repeat(32));
  await type(one, totpCode('A'.repeat(32), stepAt(now)));
  expect(isIn(one)).toBe(false);
});
