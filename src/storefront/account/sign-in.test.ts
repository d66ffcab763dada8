import { signInEmail } from '../../people/accounts/sign-in-email.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changesNothing, queuedEmails } from '../../../test/carts.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { askToSignIn, codesOf, signInAs } from '../../../test/signed-in.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import type { SignInCodes } from '../../people/accounts/sign-in-codes.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const MINUTE = 60_000;
const DAY = 86_400_000;
const WREN = 'wren@mail.example';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0';

let service: Service;
let visitor: Visitor;
let codes: SignInCodes;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, NOW);
  codes = await codesOf(service);
  await givenOtherShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  for (const table of [sql`delete from job`, sql`delete from sign_in_request`, sql`delete from account`]) {
    await service.db.run(table);
  }
  visitor = givenVisitor(service, 'DemoShop');
});

const after = (milliseconds: number) => service.setClock(new Date(NOW.getTime() + milliseconds));
const requests = () => service.db.many(sql`select shop_id as shop, email, attempts from sign_in_request`);
const sessions = () =>
  service.db.many(sql`
    select account_session.shop_id as shop, email, browser, system from account_session
    join account using (shop_id, account_id) order by account_session.created_at`);
const wrongDigits = (requestId: string) =>
  String((Number(codes.digits('DemoShop', requestId)) + 1) % 1_000_000).padStart(6, '0');
const linkOf = (requestId: string, shopId = 'DemoShop') =>
  `/account/link?token=${codes.token(shopId, requestId)}`;
/** The challenge for a passkey is another one each time. */
const withoutChallenge = ({ text }: { text: string }) => text.replace(/data-options="[^"]*"/, '');
const isSignedIn = async (browser: Visitor) => (await browser.get('/account')).status === 200;

describe('asking for the email', () => {
  test('the page says what happens, and leads to the privacy policy', async () => {
    const page = await visitor.get('/account/sign-in');
    expect(page.status).toBe(200);
    expect(mainOf(page)).toBe(
      'Sign in Enter your email address, and we will send you a link and six digits that sign you in. ' +
        'There is no password to remember. If you are new here, this opens your account. Email address ' +
        'How we use your address: Privacy Send me the email That did not work. Please try again. ' +
        // Hidden until a script has seen that the browser has passkeys.
        'Sign in with a passkey',
    );
    expect(mainOf(await visitor.get('/account/sign-in?locale=de_DE'))).toContain(
      'Ein Passwort brauchen Sie nicht',
    );
    expect((await visitor.get('/account')).headers.location).toBe(
      '/shop/DemoShop/account/sign-in?locale=de_DE',
    );
  });

  test.each(['', 'wren.mail.example', 'a@b.example,c@d.example', `${'w'.repeat(250)}@mail.example`])(
    '%j is shown again with what is wrong',
    async (email) => {
      const answer = await changesNothing(service, () => visitor.post('/account/sign-in', { email }));
      expect(answer.status).toBe(400);
      expect(mainOf(answer)).toContain('Please enter an email address, such as');
      expect(answer.text).toContain('aria-invalid="true" aria-describedby="email-error"');
      expect(visitor.session()).toEqual({});
    },
  );

  test('the answer is the same for an address with an account, with an order and with neither', async () => {
    await signInAs(service, givenVisitor(service, 'DemoShop'), WREN);
    await service.db.run(sql`
      insert into customer (shop_id, customer_id, customer_number, created_at, billing_address)
      values ('DemoShop', gen_random_uuid(), 'guest', ${NOW}, '{"emailAddress": "guest@mail.example"}')`);
    const pages = [];
    for (const email of [WREN, 'guest@mail.example', 'nobody@mail.example']) {
      const browser = givenVisitor(service, 'DemoShop');
      const page = await browser.submit('/account/sign-in', { email });
      pages.push([page.status, page.place, withoutChallenge(page).replaceAll(email, 'ADDRESS')]);
    }
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[2]).toEqual(pages[0]);
    const sent = (await queuedEmails(service)).map(({ to, template }) => [to, template]);
    expect(sent).toEqual([
      [WREN, 'signIn'],
      [WREN, 'signIn'],
      ['guest@mail.example', 'signIn'],
      ['nobody@mail.example', 'signIn'],
    ]);
  });

  test('neither the database nor the cookie holds anything that signs in', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const stored = JSON.stringify([
      await service.db.many(sql`select * from sign_in_request`),
      await service.db.many(sql`select content from job`),
      visitor.session(),
    ]);
    expect(stored).toContain(requestId);
    expect(stored).not.toContain(codes.digits('DemoShop', requestId));
    expect(stored).not.toContain(codes.token('DemoShop', requestId).split('.')[1]);
  });

  test('the email goes to the address in small letters, which the account has', async () => {
    // The Kelvin sign is a small k in small letters: an address with it belongs to somebody else.
    await visitor.post('/account/sign-in', { email: 'WREN@Mail.Example' });
    await visitor.post('/account/sign-in', { email: '\u212aim@mail.example' });
    expect((await queuedEmails(service)).map(({ to }) => to)).toEqual([WREN, 'kim@mail.example']);
    expect(await requests()).toEqual([
      { shop: 'DemoShop', email: WREN, attempts: 0 },
      { shop: 'DemoShop', email: 'kim@mail.example', attempts: 0 },
    ]);
  });

  test('an address gets five emails in an hour and ten in a day, and the answer does not change', async () => {
    const ask = () => givenVisitor(service, 'DemoShop').submit('/account/sign-in', { email: WREN });
    const first = withoutChallenge(await ask());
    for (let time = 0; time < 7; time++) expect(withoutChallenge(await ask())).toBe(first);
    expect(await queuedEmails(service)).toHaveLength(5);
    after(61 * MINUTE);
    for (let time = 0; time < 7; time++) await ask();
    expect(await queuedEmails(service)).toHaveLength(10);
    after(3 * 60 * MINUTE);
    await ask();
    expect(await queuedEmails(service)).toHaveLength(10);
    // Another address, and the same one in another shop, get theirs.
    await visitor.post('/account/sign-in', { email: 'uwe@mail.example' });
    await givenVisitor(service, 'OtherShop').post('/account/sign-in', { email: WREN });
    expect(await queuedEmails(service)).toHaveLength(12);
    after(DAY + 62 * MINUTE);
    await ask();
    expect(await queuedEmails(service)).toHaveLength(13);
  });

  test('strangers can’t use up the emails of a browser in which the shopper has signed in before', async () => {
    await signInAs(service, visitor, WREN);
    await visitor.post('/account/sign-out', {});
    await service.db.run(sql`delete from job`);
    const stranger = givenVisitor(service, 'DemoShop');
    await signInAs(service, stranger, 'stranger@mail.example');
    await stranger.post('/account/sign-out', {});
    await service.db.run(sql`delete from job`);
    for (let time = 0; time < 12; time++) await stranger.post('/account/sign-in', { email: WREN });
    expect(await queuedEmails(service)).toHaveLength(5);

    const page = await visitor.submit('/account/sign-in', { email: WREN });
    const emails = await queuedEmails(service);
    expect(emails).toHaveLength(6);
    // It is sent, too, when orders with this address have used up the day.
    expect(emails[5]).toMatchObject({ to: WREN, facts: { isKnownBrowser: true } });
    expect(signInEmail.isAlwaysSent!(emails[5]!.facts as never)).toBe(true);
    expect(signInEmail.isAlwaysSent!(emails[4]!.facts as never)).toBe(false);
    const { requestId } = emails[5]!.facts as { requestId: string };
    // A passkey is another way in, which no stranger limits.
    expect(mainOf(page)).toContain('Sign in with a passkey');
    const entered = await visitor.post('/account/code', { digits: codes.digits('DemoShop', requestId) });
    expect(entered.headers.location).toBe('/shop/DemoShop/account');

    // The allowance of a known browser has an end as well, and is worth nothing for other addresses or in other shops.
    await visitor.post('/account/sign-out', {});
    await service.db.run(sql`delete from job`);
    for (let time = 0; time < 8; time++) await visitor.post('/account/sign-in', { email: WREN });
    expect(await queuedEmails(service)).toHaveLength(5);
    await visitor.post('/account/sign-in', { email: 'uwe@mail.example' });
    const other = (await queuedEmails(service)).find(({ to }) => to === 'uwe@mail.example');
    expect(other!.facts).toEqual({ requestId: expect.any(String) });
  });

  test('a shopper who signs in each time is not limited', async () => {
    for (let time = 0; time < 12; time++) await signInAs(service, givenVisitor(service, 'DemoShop'), WREN);
    expect(await requests()).toEqual([]);
    expect(await queuedEmails(service)).toHaveLength(12);
  });
});

describe('the digits', () => {
  test('sign in the browser that asked, once', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const page = await visitor.get('/account/code');
    expect(mainOf(page)).toContain(`We have sent an email to ${WREN} .`);
    expect(page.text).toMatch(/<input\s+id="digits"[^>]*autocomplete="one-time-code"/);
    const digits = codes.digits('DemoShop', requestId);
    const answer = await visitor.post(
      '/account/code',
      { digits: `${digits.slice(0, 3)} ${digits.slice(3)}` },
      { 'user-agent': FIREFOX },
    );
    expect([answer.status, answer.headers.location]).toEqual([303, '/shop/DemoShop/account']);
    const cookie = [answer.headers['set-cookie']].flat().find((one) => one!.startsWith('account='));
    expect(cookie).toMatch(
      /^account=[A-Za-z0-9]{32}; Max-Age=7776000; Path=\/shop\/DemoShop; HttpOnly; SameSite=Lax$/,
    );
    expect(mainOf(await visitor.get('/account'))).toContain('You are signed in.');
    expect(await sessions()).toEqual([
      { shop: 'DemoShop', email: WREN, browser: 'Firefox', system: 'Windows' },
    ]);
    expect(await requests()).toEqual([]);
  });

  test('are worth nothing in another browser', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const digits = codes.digits('DemoShop', requestId);
    const stranger = givenVisitor(service, 'DemoShop');
    const answer = await changesNothing(service, () => stranger.post('/account/code', { digits }));
    expect([answer.status, answer.headers.location]).toEqual([303, '/shop/DemoShop/account/sign-in']);
    // Neither in one that has asked for itself.
    await askToSignIn(service, stranger, WREN);
    expect((await stranger.post('/account/code', { digits })).status).toBe(400);
    expect(await sessions()).toEqual([]);
  });

  test('are refused after five wrong ones, and the link of the email works all the same', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const texts = [];
    for (let time = 0; time < 5; time++) {
      const answer = await visitor.post('/account/code', { digits: wrongDigits(requestId) });
      expect(answer.status).toBe(400);
      texts.push(/These digits[^.]*\.( You have [^.]*\.)?/.exec(mainOf(answer))![0]);
    }
    expect(texts).toEqual([
      'These digits are incorrect. You have 4 more attempts.',
      'These digits are incorrect. You have 3 more attempts.',
      'These digits are incorrect. You have 2 more attempts.',
      'These digits are incorrect. You have 1 more attempt.',
      'These digits are no longer valid.',
    ]);
    const right = { digits: codes.digits('DemoShop', requestId) };
    const answer = await changesNothing(service, () => visitor.post('/account/code', right));
    expect(answer.status).toBe(400);
    expect(await sessions()).toEqual([]);
    expect((await visitor.post('/account/link', { token: codes.token('DemoShop', requestId) })).status).toBe(
      303,
    );
    expect(await sessions()).toHaveLength(1);
  });

  test('that are tried many times at once are tried five times', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const digits = wrongDigits(requestId);
    await Promise.all(Array.from({ length: 12 }, () => visitor.post('/account/code', { digits })));
    expect(await requests()).toEqual([{ shop: 'DemoShop', email: WREN, attempts: 5 }]);
  });

  test('sent twice at the same moment sign in once', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const cookie = visitor.cookie();
    const digits = codes.digits('DemoShop', requestId);
    const answers = await Promise.all(
      [0, 1, 2].map(() => {
        const browser = givenVisitor(service, 'DemoShop');
        browser.useCookie(cookie);
        return browser.post('/account/code', { digits });
      }),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await sessions()).toHaveLength(1);
  });

  test('end after 15 minutes, like the link', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    after(15 * MINUTE);
    const answer = await changesNothing(service, () =>
      visitor.post('/account/code', { digits: codes.digits('DemoShop', requestId) }),
    );
    expect(mainOf(answer)).toContain('These digits are no longer valid.');
    expect((await visitor.get(linkOf(requestId))).status).toBe(404);
    const token = codes.token('DemoShop', requestId);
    const late = await changesNothing(service, () => visitor.post('/account/link', { token }));
    expect([late.status, mainOf(late)]).toEqual([
      404,
      expect.stringContaining('This link is no longer valid'),
    ]);
    after(15 * MINUTE - 1);
    expect((await visitor.get(linkOf(requestId))).status).toBe(200);
  });

  test('of another shop sign nobody in', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const other = givenVisitor(service, 'OtherShop');
    // The request is unknown there, its token is not valid, and so is the cookie that names it.
    expect((await other.get(linkOf(requestId))).status).toBe(404);
    expect((await other.get(linkOf(requestId, 'OtherShop'))).status).toBe(404);
    expect((await other.post('/account/link', { token: codes.token('OtherShop', requestId) })).status).toBe(
      404,
    );
    other.useCookie(visitor.cookie());
    const digits = codes.digits('DemoShop', requestId);
    expect((await other.post('/account/code', { digits })).headers.location).toBe(
      '/shop/OtherShop/account/sign-in',
    );
    expect(await sessions()).toEqual([]);
  });
});

describe('the link', () => {
  test('opens a page that names the address and signs nobody in, and its button signs in once', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const browser = givenVisitor(service, 'DemoShop');
    const page = await changesNothing(service, async () => {
      await service.app.inject({ method: 'HEAD', url: `/shop/DemoShop${linkOf(requestId)}` });
      return browser.get(linkOf(requestId));
    });
    expect(mainOf(page)).toBe(
      `Sign in This signs this browser in to the account of ${WREN} . Sign in ` +
        'If you have not asked for this, please close this page.',
    );
    expect(browser.accountCookie()).toBeUndefined();
    const token = codes.token('DemoShop', requestId);
    expect((await browser.post('/account/link', { token })).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
    // The one who asked is not signed in by it, and nobody is by the same link again.
    expect(await isSignedIn(visitor)).toBe(false);
    const again = await changesNothing(service, () =>
      givenVisitor(service, 'DemoShop').post('/account/link', { token }),
    );
    expect(again.status).toBe(404);
    expect(
      (await visitor.post('/account/code', { digits: codes.digits('DemoShop', requestId) })).status,
    ).toBe(400);
  });

  test.each(['', 'x', `${'0'.repeat(36)}.${'x'.repeat(43)}`])(
    'with the token %j is not valid',
    async (token) => {
      expect((await visitor.get(`/account/link?token=${token}`)).status).toBe(404);
      const answer = await changesNothing(service, () => visitor.post('/account/link', { token }));
      expect(answer.status).toBe(404);
    },
  );

  test('of a form on another site is refused', async () => {
    const requestId = await askToSignIn(service, visitor, WREN);
    const token = codes.token('DemoShop', requestId);
    const answer = await changesNothing(service, () =>
      visitor.post('/account/link', { token }, { 'sec-fetch-site': 'cross-site' }),
    );
    expect(answer.status).toBe(403);
  });
});

describe('a session', () => {
  test('has a token that was never used before, also in a browser that is signed in', async () => {
    visitor.useAccountCookie('A'.repeat(32));
    await signInAs(service, visitor, WREN);
    const first = visitor.accountCookie();
    expect(first).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(first).not.toBe('A'.repeat(32));
    await signInAs(service, visitor, WREN);
    expect(visitor.accountCookie()).not.toBe(first);
    expect(await sessions()).toHaveLength(1);
    const replay = givenVisitor(service, 'DemoShop');
    replay.useAccountCookie(first);
    expect(await isSignedIn(replay)).toBe(false);
  });

  test('is of one shop', async () => {
    await signInAs(service, visitor, WREN);
    const other = givenVisitor(service, 'OtherShop');
    other.useAccountCookie(visitor.accountCookie());
    expect((await other.get('/account')).status).toBe(303);
  });

  test('ends after 90 days', async () => {
    await signInAs(service, visitor, WREN);
    after(90 * DAY - 1);
    expect(await isSignedIn(visitor)).toBe(true);
    after(90 * DAY);
    expect(await isSignedIn(visitor)).toBe(false);
  });

  test('ends with signing out', async () => {
    await signInAs(service, visitor, WREN);
    const token = visitor.accountCookie();
    const page = await visitor.submit('/account/sign-out', {});
    expect([page.place, mainOf(page)]).toEqual([
      '/shop/DemoShop',
      expect.stringContaining('You are signed out.'),
    ]);
    expect(visitor.accountCookie()).toBeUndefined();
    visitor.useAccountCookie(token);
    expect(await isSignedIn(visitor)).toBe(false);
    expect(await sessions()).toEqual([]);
  });

  test('makes a customer of an address that had none, and finds the one that there is', async () => {
    const customers = () =>
      service.db.many(sql`
        select customer_number as number, email_key as email, ordered_as as "orderedAs" from customer
        where shop_id = 'DemoShop' and email_key = 'new@mail.example'`);
    await signInAs(service, visitor, 'new@mail.example');
    const made = await customers();
    expect(made).toEqual([
      { number: expect.stringMatching(/^\d+$/), email: 'new@mail.example', orderedAs: null },
    ]);
    await signInAs(service, givenVisitor(service, 'DemoShop'), 'new@mail.example');
    expect(await customers()).toEqual(made);
  });
});

test('a client address asks twenty times in an hour', async () => {
  const limited = await startDemo({}, NOW);
  const browser = givenVisitor(limited, 'DemoShop', '192.0.2.7');
  const statuses = [];
  for (let time = 0; time < 21; time++) {
    statuses.push((await browser.post('/account/sign-in', { email: `a${time}@mail.example` })).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 303), 429]);
  expect(await queuedEmails(limited)).toHaveLength(20);
  await limited.close();
});
