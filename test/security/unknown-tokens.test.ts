import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNKNOWN_FOR, createCallerDirectory } from '../../src/http/callers.ts';
import { newSecret } from '../../src/kernel/ids.ts';
import { givenShop, givenToken } from '../builders.ts';
import { statementsOf as statementsBeside } from '../carts.ts';
import { startService, type Service } from '../service.ts';

/** Somebody guesses tokens, thousands of them. Each guess used to cost a select, before the rate limit counted. */

let service: Service;
let token: string;
const LIMIT = 20;
const attacker = '192.0.2.66';

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: String(LIMIT) });
  await givenShop(service, 'Alpha');
  token = await givenToken(service, 'Alpha');
});

afterAll(() => service.close());

const statementsOf = (work: () => Promise<unknown>) => statementsBeside(work, { withCallers: true });

const guess = (secret: string, address: string, shopId = 'Alpha') =>
  service.call('GET', `/${shopId}/customers`, { token: secret, address });

test('a guess counts against the address before anything is looked up', async () => {
  const statuses: number[] = [];
  const within = await statementsOf(async () => {
    for (let at = 0; at < LIMIT; at++) statuses.push((await guess(newSecret(32), attacker)).status);
  });
  expect([...new Set(statuses)]).toEqual([401]);
  expect(within).toHaveLength(LIMIT);

  const beyond = await statementsOf(async () => {
    for (let at = 0; at < 200; at++) statuses.push((await guess(newSecret(32), attacker)).status);
    for (let at = 0; at < 20; at++) statuses.push((await guess(newSecret(32), attacker, `No${at}`)).status);
  });
  expect(statuses.slice(LIMIT).filter((status) => status !== 429)).toEqual([]);
  expect(beyond).toEqual([]);
});

test('apps that this process knows go on from the same address', async () => {
  expect((await guess(token, '192.0.2.1')).status).toBe(200);
  expect((await guess(token, attacker)).status).toBe(200);
});

test('the same guess again costs nothing for a moment', async () => {
  const secret = newSecret(32);
  expect((await guess(secret, '192.0.2.2')).status).toBe(401);
  const statements = await statementsOf(async () => {
    for (let at = 0; at < 5; at++) expect((await guess(secret, '192.0.2.2')).status).toBe(401);
  });
  expect(statements.length).toBeLessThanOrEqual(1);
});

test('so does a shop that does not exist, whatever the token', async () => {
  expect((await guess(newSecret(32), '192.0.2.3', 'Nowhere')).status).toBe(404);
  const statements = await statementsOf(async () => {
    for (let at = 0; at < 5; at++) {
      expect((await guess(newSecret(32), '192.0.2.3', 'Nowhere')).status).toBe(404);
    }
  });
  expect(statements.length).toBeLessThanOrEqual(1);
});

test('what is made in this process works at once, and in others after a moment', async () => {
  expect(UNKNOWN_FOR).toBeLessThanOrEqual(2_000);
  const callers = createCallerDirectory(service.db);
  expect((await callers.load('Beta', 'early')).caller).toBeUndefined();
  expect(callers.cached('Beta', 'early')).toMatchObject({ caller: undefined });
  await givenShop(service, 'Beta');
  callers.invalidate('Beta');
  expect((await callers.load('Beta', 'early')).caller).toEqual({
    app: undefined,
    publicCatalogue: true,
    isSuspended: false,
    plan: null,
  });
  expect(callers.cached('Beta', 'early')).toMatchObject({ caller: { app: undefined } });
  const made = await givenToken(service, 'Beta');
  callers.invalidate('Beta');
  expect((await callers.load('Beta', made)).caller?.app?.scopes).toContain('orders_read');
});

test('guesses displace no caller that exists, however many there are', async () => {
  const callers = createCallerDirectory(service.db);
  await callers.load('Alpha', token);
  for (let first = 0; first < 6_000; first += 1_000) {
    const guesses = Array.from({ length: 1_000 }, (_, at) => `guess-${first + at}`);
    await Promise.all(guesses.map((secret) => callers.load('Alpha', secret)));
  }
  expect(callers.wasFound('Alpha', token)).toBe(true);
  expect(callers.wasFound('Alpha', 'guess-5999')).toBe(false);
  expect(callers.cached('Alpha', 'guess-0')).toBeUndefined();
});
