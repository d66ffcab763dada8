import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasDemoTokens } from '../../src/commands/demo/find-access.ts';
import { sql } from '../../src/db/sql.ts';
import { DEMO_TOKENS } from '../../src/http/demo-tokens.ts';
import { givenToken } from '../builders.ts';
import { expectRefusal, fingerprint, reopenDemo, startDemo } from '../demo.ts';
import { startService, type Answer, type CallOptions, type Service } from '../service.ts';

/**
 * Somebody tries Kontor on their own machine, where `demo-all` may do everything, and later opens the same database
 * to the world. The tokens that everybody knows from the README must not come along.
 */

let service: Service;
/** The same database, as it is started later. */
const opened: Service[] = [];
let cartId: string;

beforeAll(async () => {
  service = await startDemo();
  const row = await service.db.one<{ cartId: string }>(sql`
    select upper(cart_id::text) as "cartId" from cart where shop_id = 'DemoShop' order by created_at desc limit 1`);
  ({ cartId } = row!);
});

afterEach(async () => {
  vi.restoreAllMocks();
  // The first sign of others closes demo access for good; every test begins with it open.
  await reopenDemo(service);
});

afterAll(async () => {
  for (const one of opened) await one.close();
  await service.close();
});

/** What is said of a token that nobody has. */
const UNKNOWN = {
  status: 401,
  message: 'The token is unknown in this shop, Request: GET /rs/shops/DemoShop/customers',
};

function refusalOf(answer: Answer) {
  expectRefusal(answer, 'GET', '/rs/shops/DemoShop/customers');
  return { status: answer.status, message: answer.body.message as string };
}

const customers = (of: Service, options: CallOptions) => of.call('GET', '/DemoShop/customers', options);

async function open(environment: Record<string, string>): Promise<Service> {
  const later = await startService(environment, service);
  opened.push(later);
  return later;
}

test('on a private service they work, and nothing is logged', async () => {
  const warn = vi.spyOn(service.app.log, 'warn');
  expect((await customers(service, { token: 'demo-all' })).status).toBe(200);
  const cart = await service.call('GET', `/DemoShop/carts/${cartId}`, { cartToken: 'demo-cart-a' });
  expect(cart.status).toBe(200);
  expect(warn).not.toHaveBeenCalled();
});

describe.each([
  { PUBLIC_URL: 'https://shops.example' },
  { TRUST_PROXY: '127.0.0.1' },
  { HOST: '0.0.0.0' },
  { HOST: '127.example.com' },
])('started again with %j', (environment) => {
  let later: Service;

  beforeAll(async () => {
    later = await open(environment);
  });

  test('each of them is unknown, and one line of the log says what to do', async () => {
    const warn = vi.spyOn(later.app.log, 'warn');
    const before = await fingerprint(service);
    for (const token of DEMO_TOKENS) {
      expect(refusalOf(await customers(later, { token }))).toEqual(UNKNOWN);
      const body = { billingAddress: { lastName: 'Intruder' } };
      expect((await later.call('POST', '/DemoShop/customers', { token, body })).status).toBe(401);
    }
    expect(await fingerprint(service)).toEqual(before);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('npx kontor token create DemoShop')]]);
    expect(await hasDemoTokens(later.db)).toBe(true);
  });

  test('the cart that everybody knows is closed as well', async () => {
    for (const cartToken of ['demo-cart-a', 'demo-cart-b', 'demo-cart-c', 'demo-cart-d']) {
      const answer = await later.call('GET', `/DemoShop/carts/${cartId}`, { cartToken });
      expectRefusal(answer, 'GET', `/rs/shops/DemoShop/carts/${cartId}`);
      expect(answer.status).toBe(403);
    }
  });

  test('a token that was made for it works, from anywhere', async () => {
    const token = await givenToken(service, 'DemoShop', ['customers_read']);
    const headers = { host: 'shops.example', 'x-forwarded-for': '192.0.2.1' };
    expect((await customers(later, { token, headers, address: '192.0.2.7' })).status).toBe(200);
  });
});

describe('behind a proxy that the settings do not know of', () => {
  test.each([
    { forwarded: 'for=192.0.2.1' },
    { via: '1.1 proxy' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-host': 'localhost' },
    { 'x-forwarded-proto': 'http' },
    { 'x-forwarded-port': '8080' },
    { 'x-real-ip': '127.0.0.1' },
    { 'cf-connecting-ip': '127.0.0.1' },
  ] as Record<string, string>[])('the header %j tells of it', async (headers) => {
    expect(refusalOf(await customers(service, { token: 'demo-all', headers }))).toEqual(UNKNOWN);
    const cart = await service.call('GET', `/DemoShop/carts/${cartId}`, {
      cartToken: 'demo-cart-a',
      headers,
    });
    expect(cart.status).toBe(403);
  });

  test.each([
    'shops.example',
    'shops.example:8080',
    '127.example.com',
    'localhost.example',
    '192.168.0.7:8080',
  ])('and so does the host %s, also by a name that leads to this machine', async (host) => {
    expect(refusalOf(await customers(service, { token: 'demo-all', headers: { host } }))).toEqual(UNKNOWN);
  });

  test('another machine as the peer', async () => {
    for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1']) {
      expect(refusalOf(await customers(service, { token: 'demo-all', address }))).toEqual(UNKNOWN);
    }
  });

  test.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080', '[::1]', 'api.localhost:8080'])(
    'while this machine itself, as %s, gets in',
    async (host) => {
      for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
        const answer = await customers(service, { token: 'demo-all', headers: { host }, address });
        expect(answer.status).toBe(200);
      }
    },
  );
});
