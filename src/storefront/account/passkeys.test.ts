import { createPrivateKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changesNothing, queuedEmails } from '../../../test/carts.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import { givenDevice } from '../../../test/passkey-device.ts';
import type { Service } from '../../../test/service.ts';
import { signInAs } from '../../../test/signed-in.ts';
import { givenVisitor, mainOf, type PageAnswer, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const MINUTE = 60_000;
const WREN = 'wren@mail.example';

let service: Service;
let visitor: Visitor;
let clock: number;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, NOW);
  await givenOtherShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  clock = NOW.getTime();
  service.setClock(NOW);
  await service.db.run(sql`delete from account`);
  await service.db.run(sql`delete from job`);
  visitor = givenVisitor(service, 'DemoShop');
});

/** A maker of devices whose certificate has the form that the standard asks for. */
const MAKER = {
  certificate: Buffer.from(
    'MIIB9jCCAZygAwIBAgIUPeZttqIhZom3KJ1HiJHh4mVGQV0wCgYIKoZIzj0EAwIwUTELMAkGA1UEBhMCREUxDzANBgNVBAoMBktv' +
      'bnRvcjEiMCAGA1UECwwZQXV0aGVudGljYXRvciBBdHRlc3RhdGlvbjENMAsGA1UEAwwEVGVzdDAgFw0yNjExMTYxMDM2MDJaGA8y' +
      'MTI2MTAyMzEwMzYwMlowUTELMAkGA1UEBhMCREUxDzANBgNVBAoMBktvbnRvcjEiMCAGA1UECwwZQXV0aGVudGljYXRvciBBdHRl' +
      'c3RhdGlvbjENMAsGA1UEAwwEVGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABA27y/GdH0lNcJeQ2yISHChl8RQK3r4IKwYv' +
      'aqE0m1N5Uqi1OQXjoewyfV2gFtAK1/deqbYPd0xxQFoq2mRfFCOjUDBOMB0GA1UdDgQWBBSOg58R3b1ji8HlpUU1Z3JoCETsGDAf' +
      'BgNVHSMEGDAWgBSOg58R3b1ji8HlpUU1Z3JoCETsGDAMBgNVHRMBAf8EAjAAMAoGCCqGSM49BAMCA0gAMEUCIQCPnaCWdEFo57xw' +
      'FidHYxLAveQBGChzjI2XTf1jdOzm5gIgDs9CZkTK/g5qwik4G9sjZbY1URCZeBJWLPcjNRer/jE=',
    'base64',
  ),
  key: createPrivateKey({
    key: Buffer.from(
      'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQmUOLlbWc9ScHZlezmdXX0vcHUOgqq8RBcYKsI1yO2ShRANCAAQN' +
        'u8vxnR9JTXCXkNsiEhwoZfEUCt6+CCsGL2qhNJtTeVKotTkF46HsMn1doBbQCtf3Xqm2D3dMcUBaKtpkXxQj',
      'base64',
    ),
    format: 'der',
    type: 'pkcs8',
  }),
};

const wait = (milliseconds = 1) => service.setClock(new Date((clock += milliseconds)));

const challengeIn = ({ text }: Pick<PageAnswer, 'text'>): string => {
  const options = /data-options="([^"]*)"/.exec(text)![1]!.replaceAll('&quot;', '"');
  return (JSON.parse(options) as { challenge: string }).challenge;
};

/** The challenge of the page that asks for a passkey. */
const asked = async (browser: Visitor, path: string) => challengeIn(await browser.get(path));

const passkeys = () => service.db.many(sql`select counter, used_at as used from account_passkey`);

/** A device whose passkey belongs to WREN, and a browser that is not signed in. */
async function givenPasskey() {
  const [device, owner] = [givenDevice(), givenVisitor(service, 'DemoShop')];
  await signInAs(service, owner, WREN);
  const credential = device.create(await asked(owner, '/account/devices'));
  expect(mainOf(await owner.submit('/account/passkeys', { credential }))).toContain('The passkey is saved.');
  wait();
  return { device, owner };
}

/** Tries to sign in, and says what came of it. */
async function attempt(browser: Visitor, credential: string) {
  const before = await passkeys();
  const page = await browser.submit('/account/passkey', { credential });
  return {
    isRefused: mainOf(page).includes('This passkey could not be used. Please sign in by email.'),
    isSignedIn: browser.accountCookie() !== undefined,
    isUsed: JSON.stringify(await passkeys()) !== JSON.stringify(before),
  };
}

const REFUSED = { isRefused: true, isSignedIn: false, isUsed: false };

describe('signing in', () => {
  test('works without an email, once for each page that asks', async () => {
    const { device } = await givenPasskey();
    const challenge = await asked(visitor, '/account/sign-in');
    const cookie = visitor.cookie();
    wait();
    const credential = device.sign(challenge);
    const page = await visitor.submit('/account/passkey', { credential });
    expect([page.place, mainOf(page)]).toEqual([
      '/shop/DemoShop/account',
      expect.stringContaining(`Signed in as ${WREN}`),
    ]);
    expect(await queuedEmails(service)).toHaveLength(1);
    // The same answer with the same cookie, as somebody might have copied them.
    const replay = givenVisitor(service, 'DemoShop');
    replay.useCookie(cookie);
    expect(await attempt(replay, credential)).toEqual(REFUSED);
  });

  test('needs the challenge of the browser’s own page', async () => {
    const { device } = await givenPasskey();
    const stranger = givenVisitor(service, 'DemoShop');
    const challenge = await asked(visitor, '/account/sign-in');
    expect(await attempt(stranger, device.sign(challenge))).toEqual(REFUSED);
    await asked(stranger, '/account/sign-in');
    expect(await attempt(stranger, device.sign(challenge))).toEqual(REFUSED);
  });

  test('needs it within ten minutes', async () => {
    const { device } = await givenPasskey();
    const challenge = await asked(visitor, '/account/sign-in');
    wait(10 * MINUTE);
    expect(await attempt(visitor, device.sign(challenge))).toEqual(REFUSED);
  });

  test('needs the owner of the device, the right host and a counter that does not go back', async () => {
    const { device } = await givenPasskey();
    for (const wrong of [{ flags: 0x01 }, { rp: 'evil.example' }, { at: 'http://evil.example' }]) {
      expect(await attempt(visitor, device.sign(await asked(visitor, '/account/sign-in'), wrong))).toEqual(
        REFUSED,
      );
    }
    device.setCounter(7);
    await visitor.submit('/account/passkey', {
      credential: device.sign(await asked(visitor, '/account/sign-in')),
    });
    wait();
    const copy = givenVisitor(service, 'DemoShop');
    device.setCounter(6);
    expect(await attempt(copy, device.sign(await asked(copy, '/account/sign-in')))).toEqual(REFUSED);
  });

  test('needs a passkey of this shop, which was not deleted', async () => {
    const { device, owner } = await givenPasskey();
    const other = givenVisitor(service, 'OtherShop');
    expect(await attempt(other, device.sign(await asked(other, '/account/sign-in')))).toEqual(REFUSED);
    const [, credential] = /name="credential" value="([\w-]+)"/.exec(
      (await owner.get('/account/devices')).text,
    )!;
    // Nobody else deletes it.
    const stranger = givenVisitor(service, 'DemoShop');
    await signInAs(service, stranger, 'stranger@mail.example');
    await stranger.submit('/account/passkeys/delete', { credential: credential! });
    expect(await passkeys()).toHaveLength(1);
    await owner.submit('/account/passkeys/delete', { credential: credential! });
    expect(await passkeys()).toEqual([]);
    expect(await attempt(visitor, device.sign(await asked(visitor, '/account/sign-in')))).toEqual(REFUSED);
  });

  test.each(['', '{', 'null', '[]', '"x"', '{"id":5}', `{"id":"${'x'.repeat(20)}"}`, 'x'.repeat(16_000)])(
    'refuses %.20j',
    async (credential) => {
      await givenPasskey();
      await asked(visitor, '/account/sign-in');
      expect(await attempt(visitor, credential)).toEqual(REFUSED);
    },
  );
});

describe('adding a passkey', () => {
  /** Tries to add what this makes, which must change nothing, and returns what the page says. */
  const attemptToAdd = async (make: (challenge: string) => string): Promise<string> => {
    await signInAs(service, visitor, WREN);
    const challenge = await asked(visitor, '/account/devices');
    await changesNothing(service, () => visitor.post('/account/passkeys', { credential: make(challenge) }));
    return mainOf(await visitor.get('/account/devices'));
  };
  const FAILED = expect.stringMatching(/^That did not work\. Please try again\./);

  test('needs the challenge, the host and an answer that can be read', async () => {
    expect(await attemptToAdd(() => givenDevice().create(randomBytes(32).toString('base64url')))).toEqual(
      FAILED,
    );
    expect(
      await attemptToAdd((challenge) => givenDevice({ host: 'evil.example' }).create(challenge)),
    ).toEqual(FAILED);
    expect(
      await attemptToAdd((challenge) => givenDevice({ origin: 'http://evil.example' }).create(challenge)),
    ).toEqual(FAILED);
    expect(
      await attemptToAdd(() => '{"id":"xxxxxxxxxxxxxxxxxxxx","response":{"attestationObject":"AAAA"}}'),
    ).toEqual(FAILED);
    expect(await attemptToAdd(() => '{"id":"xxxxxxxxxxxxxxxxxxxx"}')).toEqual(FAILED);
  });

  test('takes a device that vouches for itself, and no certificates, which nobody has asked for', async () => {
    expect(await attemptToAdd((challenge) => givenDevice().create(challenge, MAKER))).toEqual(FAILED);
    const credential = givenDevice().create(await asked(visitor, '/account/devices'), 'itself');
    expect(mainOf(await visitor.submit('/account/passkeys', { credential }))).toContain(
      'The passkey is saved.',
    );
  });

  test('of somebody who is signed in only, and ten at most', async () => {
    const answer = await changesNothing(service, () =>
      visitor.post('/account/passkeys', { credential: '{}' }),
    );
    expect(answer.headers.location).toBe('/shop/DemoShop/account/sign-in');
    await signInAs(service, visitor, WREN);
    for (let time = 0; time < 10; time++) {
      const credential = givenDevice().create(await asked(visitor, '/account/devices'));
      await visitor.submit('/account/passkeys', { credential });
    }
    expect(await passkeys()).toHaveLength(10);
    const page = await visitor.get('/account/devices');
    expect(mainOf(page)).toContain('You can have up to 10 passkeys. Please delete one first.');
    expect(page.text).not.toContain('data-passkey');
  });

  test('is never the passkey of another account', async () => {
    const { device } = await givenPasskey();
    await signInAs(service, visitor, 'stranger@mail.example');
    const credential = device.create(await asked(visitor, '/account/devices'));
    await visitor.submit('/account/passkeys', { credential });
    const owners = await service.db.many(sql`
      select email from account_passkey join account using (shop_id, account_id)`);
    expect(owners).toEqual([{ email: WREN }]);
  });
});
