import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { givenShop, givenToken } from '../builders.ts';
import { startService, type Service } from '../service.ts';

/** What a client says in X-Forwarded-* must not become a link, and a forgotten TRUST_PROXY must not go unnoticed. */

const services: Service[] = [];
let owner: Service;
let token: string;
/** Behind a proxy on this machine. */
let proxied: Service;

beforeAll(async () => {
  owner = await startService();
  await givenShop(owner, 'Alpha');
  token = await givenToken(owner, 'Alpha');
  proxied = await start({ TRUST_PROXY: '127.0.0.1' });
});

afterEach(() => vi.restoreAllMocks());

afterAll(async () => {
  for (const service of services) await service.close();
  await owner.close();
});

async function start(environment: Record<string, string>): Promise<Service> {
  const service = await startService(environment, owner);
  services.push(service);
  return service;
}

const forwarded = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' };

async function sfUrl(service: Service, headers: Record<string, string>) {
  const { status, body } = await service.call('GET', '/Alpha', { token, headers });
  return status === 200 ? (body.sfUrl as string) : status;
}

describe('the scheme of links', () => {
  test.each([
    ['https', 'https:'],
    ['HTTPS', 'https:'],
    ['http', 'http:'],
    ['javascript', 'http:'],
    ['javascript:alert(1)//', 'http:'],
    ['data', 'http:'],
    ['ftp', 'http:'],
    [' ', 'http:'],
    ['"><script>', 'http:'],
    // A client has sent the first, and the proxy has added its own.
    ['javascript, https', 'https:'],
    ['https, javascript', 'http:'],
  ])('X-Forwarded-Proto: %s makes %s', async (proto, scheme) => {
    const url = await sfUrl(proxied, { ...forwarded, host: 'shop.example', 'x-forwarded-proto': proto });
    expect(url).toBe(`${scheme}//shop.example/shop/Alpha`);
    const page = await proxied.app.inject({
      url: '/shop/Alpha',
      headers: { ...forwarded, host: 'shop.example', 'x-forwarded-proto': proto },
    });
    expect(page.body).not.toMatch(/javascript:|data:\/\/|ftp:\/\/|<script>:/);
  });
});

test.each(['a b', 'a/b', 'user@evil.example', 'a"b', "a'b", '<script>', 'a\\b', 'x:y', 'a?b', 'a#b', '%00'])(
  'X-Forwarded-Host: %s is no host, and refused',
  async (host) => {
    expect(await sfUrl(proxied, { ...forwarded, 'x-forwarded-host': host })).toBe(400);
  },
);

describe('a proxy that is not in TRUST_PROXY', () => {
  const TEXT = expect.stringContaining('set TRUST_PROXY to its address');

  test.each([{ PUBLIC_URL: 'https://shop.example' }, { TRUST_PROXY: '192.0.2.1' }, {}])(
    'with %j is logged once, and its headers are ignored',
    async (environment) => {
      const service = await start({ RATE_LIMIT_ANONYMOUS: '1000', ...environment });
      const warn = vi.spyOn(service.app.log, 'warn');
      const left: number[] = [];
      for (const client of ['192.0.2.7', '192.0.2.8']) {
        const { headers } = await service.call('GET', '/Alpha/countries', {
          headers: { ...forwarded, 'x-forwarded-for': client },
        });
        left.push(Number(headers['x-ratelimit-remaining']));
      }
      // All visitors share one address.
      expect(left[0]! - left[1]!).toBe(1);
      await service.app.inject({ url: '/shop/Alpha', headers: forwarded });
      const warnings = warn.mock.calls.filter(([values]) => !Object.hasOwn(values as object, 'sign'));
      expect(warnings).toEqual([[{ peer: '127.0.0.1' }, TEXT]]);
    },
  );

  test('is not what a trusted one is, nor a client without any', async () => {
    const behind = await start({ TRUST_PROXY: '127.0.0.1', PUBLIC_URL: 'https://shop.example' });
    const bare = await start({});
    const warnings = [behind, bare].map((service) => vi.spyOn(service.app.log, 'warn'));
    const { headers } = await behind.call('GET', '/Alpha/countries', {
      headers: { ...forwarded, 'x-forwarded-for': '192.0.2.10' },
    });
    const { headers: other } = await behind.call('GET', '/Alpha/countries', {
      headers: { ...forwarded, 'x-forwarded-for': '192.0.2.9' },
    });
    expect(other['x-ratelimit-remaining']).toBe(headers['x-ratelimit-remaining']);
    await bare.call('GET', '/Alpha/countries');
    for (const warn of warnings) expect(warn).not.toHaveBeenCalled();
  });
});
