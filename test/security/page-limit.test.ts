import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../demo.ts';
import type { Service } from '../service.ts';

/**
 * Pages and suggestions search and render as much as the API does, but only its calls were counted: whoever was
 * stopped there went on at the pages of the shop. Now an address has one limit for both.
 */
const LIMIT = 20;
let service: Service;

beforeAll(async () => {
  service = await startDemo(
    { RATE_LIMIT_ANONYMOUS: String(LIMIT) },
    // The middle of an hour, so that the count does not begin anew.
    new Date('2026-03-01T12:30:00Z'),
  );
});
afterAll(() => service.close());

const ask = (remoteAddress: string, url: string, form?: string) =>
  service.app.inject({
    url,
    remoteAddress,
    headers: { host: 'localhost' },
    ...(form !== undefined && {
      method: 'POST',
      payload: form,
      headers: {
        host: 'localhost',
        origin: 'http://localhost',
        'content-type': 'application/x-www-form-urlencoded',
      },
    }),
  });

const KINDS: [string, string, string?][] = [
  ['a page', '/shop/DemoShop/cart'],
  ['a product', '/shop/DemoShop/Products/AP-100'],
  ['a search', '/shop/DemoShop/search?q=tea'],
  ['suggestions', '/shop/DemoShop/suggest?q=tea'],
  ['a file', '/shop/DemoShop/sitemap.xml'],
  ['a form', '/shop/DemoShop/currency', 'currency=GBP'],
  ['a page that does not exist', '/shop/DemoShop/nowhere'],
  ['a shop that does not exist', '/shop/NoShop'],
];

test.each(KINDS.map((kind, index) => [...kind.slice(0, 1), index] as [string, number]))(
  '%s counts against the limit of the address, and is refused beyond it',
  async (_, index) => {
    const [, url, form] = KINDS[index]!;
    const address = `10.0.0.${index}`;
    for (let calls = 0; calls < LIMIT; calls++) {
      expect((await ask(address, url, form)).statusCode).not.toBe(429);
    }
    const refused = await ask(address, url, form);
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'retry-after': '1800',
    });
    expect(refused.body).toContain(
      url.includes('/DemoShop') ? '<h1>Too many attempts</h1>' : '<h1>Too many requests</h1>',
    );
    // The next address is not concerned.
    expect((await ask(`10.1.0.${index}`, url, form)).statusCode).not.toBe(429);
  },
);

test('is one limit for pages and for calls of the API', async () => {
  const address = '10.0.1.1';
  for (let calls = 0; calls < LIMIT / 2; calls++) {
    expect((await ask(address, '/shop/DemoShop/cart')).statusCode).toBe(200);
    expect((await ask(address, '/rs/shops/DemoShop')).statusCode).toBe(200);
  }
  expect((await ask(address, '/rs/shops/DemoShop')).statusCode).toBe(429);
  expect((await ask(address, '/shop/DemoShop/cart')).statusCode).toBe(429);
});

test('files that pages load do not count', async () => {
  const address = '10.0.1.2';
  const { body } = await ask('10.0.1.3', '/shop/DemoShop');
  const [stylesheet] = /\/assets\/storefront\.[\w-]+\.css/.exec(body)!;
  for (let calls = 0; calls <= LIMIT; calls++) {
    expect((await ask(address, stylesheet)).statusCode).toBe(200);
    expect((await ask(address, '/media/DemoShop/x/y.png')).statusCode).toBe(404);
    expect((await ask(address, '/robots.txt')).statusCode).toBe(200);
  }
  expect((await ask(address, '/shop/DemoShop')).statusCode).toBe(200);
});

test('a page that is counted or refused costs no statement for it', async () => {
  const address = '10.0.1.4';
  const { pool } = service.db;
  const statements: string[] = [];
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown;
  await ask(address, '/shop/DemoShop/Products/AP-100');
  pool.query = ((...given: unknown[]) => {
    statements.push((given[0] as { text: string }).text);
    return query(...given);
  }) as typeof pool.query;
  try {
    await ask(address, '/shop/DemoShop/Products/AP-100');
    expect(statements.filter((text) => text.includes('select calls from rate_window'))).toEqual([]);
    for (let calls = 2; calls < LIMIT; calls++) await ask(address, '/shop/DemoShop/Products/AP-100');
    statements.length = 0;
    expect((await ask(address, '/shop/DemoShop/search?q=tea')).statusCode).toBe(429);
    // What the service does by itself every few seconds is not this call's.
    expect(statements.filter((text) => !/rate_window|shop_domain|demo_access_end/.test(text))).toEqual([]);
  } finally {
    pool.query = query as typeof pool.query;
  }
});
