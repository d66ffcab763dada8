import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { ANONYMOUS_SCOPES, SCOPES } from '../src/http/scopes.ts';
import { newSecret } from '../src/ids.ts';
import { givenToken } from './builders.ts';
import { demoShop, expectRefusal, fingerprint, givenOtherShop, startDemo } from './demo.ts';
import { OPERATIONS, validCall, type Operation, type Shop } from './operations.ts';
import type { Answer, CallOptions, Service } from './service.ts';

let service: Service;
let shop: Shop;
let other: Shop;
/** As the demo shop, but it shows nothing to strangers. */
let closed: Shop;

beforeAll(async () => {
  service = await startDemo();
  shop = demoShop(service);
  other = await givenOtherShop(service);
  await service.db.run(sql`update shop set public_catalogue = false where shop_id = ${other.shopId}`);
  closed = other;
});

afterAll(() => service.close());

/** The valid call with another Authorization header, or none. */
async function sendAs(operation: Operation, { shopId, token }: Shop, authorization: string | undefined) {
  const { method, path, search, options } = await validCall(operation, { service, shopId, token });
  const { token: _token, headers, ...rest } = options;
  const changed: CallOptions = { ...rest, headers: { ...headers, ...(authorization && { authorization }) } };
  const before = await fingerprint(service);
  const answer = await service.call(method, path + search, changed);
  return { answer, method, path: `/rs/shops${path}`, before };
}

async function expectRefused(
  operation: Operation,
  shop: Shop,
  authorization: string | undefined,
  refusal: { status: number; challenge: RegExp; message: string },
) {
  const { answer, method, path, before } = await sendAs(operation, shop, authorization);
  expect(answer.status, answer.text).toBe(refusal.status);
  expectRefusal(answer, method, path);
  expect(answer.body.message).toBe(`${refusal.message}, Request: ${method} ${path}`);
  expect(answer.headers['www-authenticate']).toMatch(refusal.challenge);
  expect(answer.headers['x-ratelimit-limit']).toBeDefined();
  expect(await fingerprint(service)).toEqual(before);
}

const unauthorised = (message: string) => ({
  status: 401,
  challenge: /^Bearer realm="kontor", error="invalid_token"/,
  message,
});

function expectSuccess(operation: Operation, { status, text }: Answer) {
  expect(status, text).toBe(operation.status);
}

const guarded = OPERATIONS.flatMap((operation) =>
  operation.scope === 'public' ? [] : [{ ...operation, scope: operation.scope }],
);
const open = OPERATIONS.filter(({ scope }) => scope === 'public');

test('only these need no token at all', () => {
  expect(open.map(({ name }) => name)).toEqual(['GET /countries', 'POST /token']);
});

describe.each(open)('$name', (operation) => {
  test.each([undefined, 'Bearer demo-none', `Bearer ${newSecret(32)}`, 'Basic dXNlcjpwYXNz', 'Bearer'])(
    'is open to anybody: %s',
    async (authorization) => {
      for (const one of [shop, closed]) {
        expectSuccess(operation, (await sendAs(operation, one, authorization)).answer);
      }
    },
  );
});

describe.each(guarded)('$name', (operation) => {
  const { scope } = operation;

  test('without a token', async () => {
    if (ANONYMOUS_SCOPES.has(scope)) {
      expect(operation.writes).toBe(false);
      expectSuccess(operation, (await sendAs(operation, shop, undefined)).answer);
    } else await expectRefused(operation, shop, undefined, unauthorised('A token is needed'));
  });

  test('without a token, in a shop that shows nothing to strangers', async () => {
    await expectRefused(operation, closed, undefined, unauthorised('A token is needed'));
    expectSuccess(operation, (await sendAs(operation, closed, `Bearer ${closed.token}`)).answer);
  });

  test('with an unknown token', async () => {
    const refusal = unauthorised('The token is unknown in this shop');
    await expectRefused(operation, shop, `Bearer ${newSecret(32)}`, refusal);
  });

  test('with a token of another shop', async () => {
    const refusal = unauthorised('The token is unknown in this shop');
    await expectRefused(operation, shop, `Bearer ${other.token}`, refusal);
  });

  test('with something that is no token', async () => {
    const refusal = unauthorised('The Authorization header is not a bearer token');
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b', 'demo-all']) {
      await expectRefused(operation, shop, authorization, refusal);
    }
  });

  test('with all scopes but the one it needs', async () => {
    const token = await givenToken(
      service,
      shop.shopId,
      SCOPES.filter((one) => one !== scope),
    );
    await expectRefused(operation, { ...shop, token }, `Bearer ${token}`, {
      status: 403,
      challenge: new RegExp(`error="insufficient_scope", scope="${scope}"$`),
      message: `The token lacks the scope ${scope}`,
    });
  });

  test('with the scope it needs, and no other', async () => {
    const token = await givenToken(service, shop.shopId, [scope]);
    const { answer, before } = await sendAs(operation, { ...shop, token }, `Bearer ${token}`);
    expectSuccess(operation, answer);
    const after = await fingerprint(service);
    if (operation.writes) expect(after).not.toEqual(before);
    else expect(after).toEqual(before);
  });
});
