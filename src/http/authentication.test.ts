import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { givenShop, givenToken } from '../../test/builders.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { revokeToken } from '../apps/apps.ts';
import { sql } from '../db/sql.ts';
import { newSecret, secretHash } from '../kernel/ids.ts';
import { createCallerDirectory, FRESH_FOR } from './callers.ts';

const refusedToken = {
  status: 401,
  headers: { 'www-authenticate': expect.stringMatching(/^Bearer .*error="invalid_token"/) },
  body: { message: expect.stringContaining(', Request: '), status: 'Unauthorized' },
};

describe('access', () => {
  let service: Service;
  let token: string;

  beforeAll(async () => {
    service = await startService();
    await givenShop(service, 'Alpha');
    await givenShop(service, 'Beta');
    await givenShop(service, 'Closed');
    await service.db.run(sql`update shop set public_catalogue = false where shop_id = 'Closed'`);
    token = await givenToken(service, 'Alpha');
  });

  afterAll(() => service.close());

  const customers = (headers: Record<string, string>) => service.call('GET', '/Alpha/customers', { headers });

  test('a good token passes, whatever the case of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const { status } = await customers({ authorization: `${scheme} ${token}` });
      expect(status).toBe(200);
    }
  });

  test('a missing token is refused', async () => {
    const answer = await customers({});
    expect(answer).toMatchObject(refusedToken);
    expect(answer.body.message).toBe('A token is needed, Request: GET /rs/shops/Alpha/customers');
  });

  test('an unknown token is refused', async () => {
    expect(await customers({ authorization: `Bearer ${newSecret(32)}` })).toMatchObject(refusedToken);
    expect(await customers({ authorization: `Bearer ${token.toLowerCase()}` })).toMatchObject(refusedToken);
  });

  test.each(['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Bearer a b', 'Bearer "quoted"', 'token'])(
    'a malformed header %j is refused, also where nobody needs a token',
    async (authorization) => {
      expect(await customers({ authorization })).toMatchObject(refusedToken);
      expect(await service.call('GET', '/Alpha/locales', { headers: { authorization } })).toMatchObject(
        refusedToken,
      );
    },
  );

  test('a token of another shop is unknown here', async () => {
    expect(await service.call('GET', '/Beta/customers', { token })).toMatchObject(refusedToken);
    expect(await service.call('GET', '/Beta/locales', { token })).toMatchObject(refusedToken);
  });

  test('a missing scope is refused, and the message names it', async () => {
    const reader = await givenToken(service, 'Alpha', ['products_read']);
    const { status, headers, body } = await service.call('GET', '/Alpha/customers', { token: reader });
    expect(status).toBe(403);
    expect(headers['www-authenticate']).toMatch(
      /^Bearer .*error="insufficient_scope", scope="customers_read"$/,
    );
    expect(body).toEqual({
      message: 'The token lacks the scope customers_read, Request: GET /rs/shops/Alpha/customers',
      status: 'Forbidden',
    });
  });

  test('a write scope does not include reading', async () => {
    const writer = await givenToken(service, 'Alpha', ['customers_write']);
    const body = { billingAddress: { lastName: 'Brennan' } };
    expect((await service.call('POST', '/Alpha/customers', { token: writer, body })).status).toBe(201);
    expect((await service.call('GET', '/Alpha/customers', { token: writer })).status).toBe(403);
  });

  test('a refused write changes nothing', async () => {
    const reader = await givenToken(service, 'Beta', ['customers_read']);
    const body = { billingAddress: { lastName: 'Brennan' } };
    for (const caller of [{ token: reader }, { token }, {}]) {
      const { status } = await service.call('POST', '/Beta/customers', { ...caller, body });
      expect([401, 403]).toContain(status);
    }
    const list = await service.call('GET', '/Beta/customers', { token: reader });
    expect(list.body).toMatchObject({ results: 0, items: [] });
  });

  test.each(['Nowhere', 'alpha', 'Alpha%2F', 'no.shop', 'a'.repeat(64)])(
    'the unknown shop %s is 404 with and without a token',
    async (shopId) => {
      for (const caller of [{}, { token }]) {
        for (const path of ['', '/customers', '/countries', '/nothing']) {
          const { status, body } = await service.call('GET', `/${shopId}${path}`, caller);
          expect([status, body.status]).toEqual([404, 'Not Found']);
        }
      }
    },
  );

  test('without a token shoppers may read, while publicCatalogue is on', async () => {
    expect((await service.call('GET', '/Alpha/locales')).status).toBe(200);
    expect(await service.call('GET', '/Closed/locales')).toMatchObject(refusedToken);
    expect((await service.call('GET', '/Closed/countries')).status).toBe(200);
    const insider = await givenToken(service, 'Closed', ['products_read']);
    expect((await service.call('GET', '/Closed/locales', { token: insider })).status).toBe(200);
  });

  test('a token without the scope may not read what anybody may', async () => {
    const stranger = await givenToken(service, 'Alpha', ['orders_read']);
    expect((await service.call('GET', '/Alpha/locales', { token: stranger })).status).toBe(403);
  });

  test('public operations ignore a bad token', async () => {
    for (const authorization of [`Bearer ${newSecret(32)}`, 'Basic dXNlcjpwYXNz', 'Bearer']) {
      const { status } = await service.call('GET', '/Alpha/countries', { headers: { authorization } });
      expect(status).toBe(200);
    }
  });
});

describe('a revoked token', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
    await givenShop(service, 'Alpha');
  });

  afterAll(() => service.close());

  test('is refused at once where it was revoked', async () => {
    const token = await givenToken(service, 'Alpha');
    const callers = createCallerDirectory(service.db);
    expect((await callers.load('Alpha', token)).caller?.app?.scopes).toContain('orders_read');
    expect(callers.cached('Alpha', token)).toBeDefined();

    await service.db.transaction((tx) => revokeToken(tx, 'Alpha', token));
    callers.invalidate('Alpha');
    expect(callers.cached('Alpha', token)).toBeUndefined();
    expect((await callers.load('Alpha', token)).caller?.app).toBeUndefined();
  });

  test('invalidating one shop leaves the others alone', async () => {
    await givenShop(service, 'Alpha2');
    const [one, other] = [await givenToken(service, 'Alpha'), await givenToken(service, 'Alpha2')];
    const callers = createCallerDirectory(service.db);
    await callers.load('Alpha', one);
    await callers.load('Alpha2', other);
    callers.invalidate('Alpha');
    expect(callers.cached('Alpha', one)).toBeUndefined();
    expect(callers.cached('Alpha2', other)).toBeDefined();
  });

  test('is refused within 5 s in every other process', async () => {
    const token = await givenToken(service, 'Alpha');
    const read = () => service.call('GET', '/Alpha/customers', { token });
    expect((await read()).status).toBe(200);
    // As the command line does it: not through this service.
    await service.db.transaction((tx) => revokeToken(tx, 'Alpha', token));
    const began = performance.now();
    const passed = vi.spyOn(performance, 'now');
    passed.mockReturnValue(began);
    expect((await read()).status).toBe(200);
    expect(FRESH_FOR).toBeLessThan(5_000);
    passed.mockReturnValue(began + FRESH_FOR);
    expect(await read()).toMatchObject(refusedToken);
    passed.mockRestore();
  });
});

describe('the rate limit', () => {
  const services: Service[] = [];
  const limits = { RATE_LIMIT: '3', RATE_LIMIT_ANONYMOUS: '2' };
  const hour = new Date('2026-11-15T08:00:00Z');
  const minutes = (count: number) => new Date(hour.getTime() + count * 60_000);

  const start = async (environment: Record<string, string>, beside?: Service) => {
    const service = await startService(environment, beside);
    services.unshift(service);
    service.setClock(minutes(20));
    return service;
  };

  const startWithShop = async (environment: Record<string, string>) => {
    const service = await start(environment);
    await givenShop(service, 'Alpha');
    return { service, token: await givenToken(service, 'Alpha') };
  };

  // Those that share a database come before the one that owns it.
  afterAll(async () => {
    for (const service of services) await service.close();
  });

  const allowance = ({ status, headers }: Answer) => [status, Number(headers['x-ratelimit-remaining'])];

  test('counts down per token and refuses the first call beyond it', async () => {
    const { service, token } = await startWithShop(limits);
    const read = (path = '/Alpha/customers') => service.call('GET', path, { token });
    const first = await read();
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
      'x-ratelimit-reset': '2026-11-15T09:00:00.000Z',
    });
    expect(allowance(await read('/Alpha/customers/unknown'))).toEqual([404, 1]);
    expect(allowance(await read('/Alpha/no/such/path'))).toEqual([404, 0]);

    const refused = await service.call('GET', '/Alpha/customers', {
      token,
      headers: { origin: 'https://app.example' },
    });
    expect(allowance(refused)).toEqual([429, 0]);
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    // Else a script in a browser could not read when to try again.
    expect(refused.headers['access-control-expose-headers']).toBe(
      'X-ePages-Cart-Token, X-epages-Media-Type, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id, X-Error-Code, X-Error-Field, X-Warning, Link',
    );
    expect(refused.body).toEqual({
      message: expect.stringMatching(/^More than 3 calls in this hour, .*Request: GET/),
      status: 'Too Many Requests',
    });

    const other = await givenToken(service, 'Alpha');
    expect(allowance(await service.call('GET', '/Alpha/customers', { token: other }))).toEqual([200, 2]);
  });

  test('a new hour begins from nothing', async () => {
    const { service, token } = await startWithShop(limits);
    const read = () => service.call('GET', '/Alpha/customers', { token });
    for (const status of [200, 200, 200, 429]) expect((await read()).status).toBe(status);
    service.setClock(minutes(59.99));
    expect((await read()).status).toBe(429);
    service.setClock(minutes(60));
    const answer = await read();
    expect(allowance(answer)).toEqual([200, 2]);
    expect(answer.headers['x-ratelimit-reset']).toBe('2026-11-15T10:00:00.000Z');
  });

  test('without a known token it is per address, over all shops', async () => {
    const { service, token } = await startWithShop(limits);
    await givenShop(service, 'Beta');
    const read = (path: string, address: string, authorization?: string) =>
      service.call('GET', path, { address, ...(authorization ? { headers: { authorization } } : {}) });
    const first = await read('/Alpha/countries', '192.0.2.1');
    expect(first.headers['x-ratelimit-limit']).toBe('2');
    expect(allowance(first)).toEqual([200, 1]);
    expect(allowance(await read('/Beta/customers', '192.0.2.1', `Bearer ${newSecret(32)}`))).toEqual([
      401, 0,
    ]);
    expect(allowance(await read('/Alpha/countries', '192.0.2.1'))).toEqual([429, 0]);
    expect(allowance(await read('/Nowhere', '192.0.2.1'))).toEqual([429, 0]);

    expect(allowance(await read('/Nowhere', '192.0.2.2'))).toEqual([404, 1]);
    expect(allowance(await read('/Alpha/customers', '192.0.2.3', `Bearer ${token}`))).toEqual([200, 2]);
    expect(allowance(await read('/Alpha/customers', '192.0.2.1', `Bearer ${token}`))).toEqual([200, 1]);
  });

  test('a token counts against its own limit alone, also when it is looked up', async () => {
    const { service, token } = await startWithShop(limits);
    const read = (caller: { token?: string }) =>
      service.call('GET', '/Alpha/countries', { ...caller, address: '192.0.2.1' });
    expect(allowance(await read({ token }))).toEqual([200, 2]);
    expect(allowance(await read({}))).toEqual([200, 1]);
    expect(allowance(await read({}))).toEqual([200, 0]);
    expect(allowance(await read({}))).toEqual([429, 0]);
    expect(allowance(await read({ token }))).toEqual([200, 1]);
  });

  test('an IPv6 host is its /64', async () => {
    const { service } = await startWithShop(limits);
    const read = (address: string) => service.call('GET', '/Alpha/countries', { address });
    expect(allowance(await read('2001:db8::1'))).toEqual([200, 1]);
    expect(allowance(await read('2001:db8:0:0:ffff::2'))).toEqual([200, 0]);
    expect(allowance(await read('2001:db8:0:1::1'))).toEqual([200, 1]);
  });

  test('0 means none, and no headers', async () => {
    const { service, token } = await startWithShop({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
    for (const caller of [{ token }, {}]) {
      const { status, headers } = await service.call('GET', '/Alpha/countries', caller);
      expect(status).toBe(200);
      expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    }
  });

  test('OPTIONS is not counted', async () => {
    const { service, token } = await startWithShop(limits);
    const { status, headers } = await service.call('OPTIONS', '/Alpha/customers', { token });
    expect(status).toBe(200);
    expect(headers['x-ratelimit-remaining']).toBeUndefined();
    expect(allowance(await service.call('GET', '/Alpha/customers', { token }))).toEqual([200, 2]);
  });

  test('two processes share their counts within a flush', async () => {
    const { service: one, token } = await startWithShop({ RATE_LIMIT: '100' });
    const two = await start({ RATE_LIMIT: '100' }, one);
    const read = (service: Service) => service.call('GET', '/Alpha/customers', { token });
    await read(one);
    await read(two);
    for (let calls = 0; calls < 10; calls++) await read(one);

    let own = 1;
    await vi.waitFor(
      async () => {
        own++;
        expect(allowance(await read(two))).toEqual([200, 100 - 11 - own]);
      },
      { timeout: 5_000, interval: 300 },
    );
  });

  test('the count survives a restart', async () => {
    const { service: owner, token } = await startWithShop(limits);
    const read = (service: Service) => service.call('GET', '/Alpha/customers', { token });
    const before = await startService(limits, owner);
    before.setClock(minutes(20));
    expect(allowance(await read(before))).toEqual([200, 2]);
    expect(allowance(await read(before))).toEqual([200, 1]);
    await before.close();

    const after = await start(limits, owner);
    expect(allowance(await read(after))).toEqual([200, 0]);
    expect(allowance(await read(after))).toEqual([429, 0]);
  });

  test('the last use of a token is written with its count', async () => {
    const { service: owner, token } = await startWithShop(limits);
    const unused = await givenToken(owner, 'Alpha');
    const lastUse = async (secret: string) => {
      const row = await owner.db.one<{ lastUsedAt: Date | null }>(sql`
        select last_used_at as "lastUsedAt" from token
        where shop_id = 'Alpha' and token_hash = ${secretHash(secret)}`);
      return row!.lastUsedAt;
    };
    expect(await lastUse(token)).toBeNull();
    await owner.call('GET', '/Alpha/customers', { token });
    await vi.waitFor(async () => expect(await lastUse(token)).toEqual(minutes(20)), { timeout: 5_000 });
    expect(await lastUse(unused)).toBeNull();
  });
});
