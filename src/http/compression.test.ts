import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDemo } from '../../test/demo.ts';
import type { Service } from '../../test/service.ts';
import { chosenEncoding } from './compression.ts';

let service: Service;
beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
});
afterAll(() => service.close());

const get = (url: string, headers: Record<string, string> = {}) => service.app.inject({ url, headers });

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP;q=0.5, br;q=0', 'gzip'],
  ['br;q=0.000, gzip; q=0', undefined],
  ['identity', undefined],
  ['', undefined],
  ['gzip;q=0,'.repeat(1_000), undefined],
])('%.30s: %s', (accepted, encoding) => {
  expect(chosenEncoding(accepted)).toBe(encoding);
});

describe.each([
  ['a list of the API', '/rs/shops/DemoShop/products?resultsPerPage=20', 'Accept-Encoding,User-Agent'],
  ['a page', '/shop/DemoShop/Products/TE-100', 'Accept, Accept-Encoding'],
])('%s', (_name, url, vary) => {
  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('comes with %s when it is asked for, and is the same', async (encoding, decompress) => {
    const plain = await get(url, { 'accept-encoding': 'identity' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    // The second one is cached.
    for (let n = 0; n < 2; n++) {
      const { headers, rawPayload } = await get(url, { 'accept-encoding': encoding });
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        'content-length': String(rawPayload.length),
        etag: `W/${String(plain.headers.etag)}`,
        vary,
      });
      expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
      expect(decompress(rawPayload).equals(plain.rawPayload)).toBe(true);
    }
  });

  test('is not sent again to a client that has it, compressed or not', async () => {
    const { headers } = await get(url, { 'accept-encoding': 'br' });
    const etag = String(headers.etag);
    for (const known of [etag, etag.replace('W/', '')]) {
      const again = await get(url, { 'accept-encoding': 'br', 'if-none-match': known });
      expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
    }
    expect((await get(url, { 'if-none-match': '"another"' })).statusCode).toBe(200);
  });
});

test('an asset is compressed too, and what is small is not', async () => {
  const page = (await get('/shop/DemoShop')).body;
  const [stylesheet] = /\/assets\/storefront\.[\w-]+\.css/.exec(page)!;
  const asBrowser = { 'accept-encoding': 'gzip, deflate, br' };
  expect((await get(stylesheet, asBrowser)).headers['content-encoding']).toBe('br');
  const small = await get('/rs/shops/DemoShop/currencies', asBrowser);
  expect(small.headers['content-encoding']).toBeUndefined();
  expect(String(small.headers.etag)).toMatch(/^"/);
});

test('a CDN may keep the page of a stranger, and nothing of a visitor whom we know; a cart is never compressed', async () => {
  const asBrowser = { 'accept-encoding': 'br' };
  const stranger = await get('/shop/DemoShop', asBrowser);
  expect(stranger.headers['cache-control']).toBe('no-cache');
  const added = await service.app.inject({
    method: 'POST',
    url: '/shop/DemoShop/currency',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin: 'http://localhost',
    },
    payload: 'currency=USD',
  });
  expect(added.statusCode).toBe(303);
  const cookie = String(added.headers['set-cookie']).split(';')[0]!;
  const known = await get('/shop/DemoShop', {
    ...asBrowser,
    cookie,
    'if-none-match': String(stranger.headers.etag),
  });
  expect(known.statusCode).toBe(200);
  expect(known.headers['cache-control']).toBe('private, no-cache');
  const cart = await get('/shop/DemoShop/cart', { ...asBrowser, cookie });
  expect(cart.headers['cache-control']).toBe('private, no-cache, no-transform');
  expect(cart.headers['content-encoding']).toBeUndefined();
});
