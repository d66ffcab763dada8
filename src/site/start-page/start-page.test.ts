import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { buildApp } from '../../composition/app.ts';
import { readConfig } from '../../config.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await service.app.inject({ url, headers: { host: 'localhost:8080', ...headers } });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

describe('GET /', () => {
  test('without shops says how to make one', async () => {
    const { status, text } = await get('/');
    expect(status).toBe(200);
    expect(text).toContain('No shops yet');
    expect(text).toContain('npx kontor shop create MyShop --demo');
  });

  test('lists shops with their links and a line to copy', async () => {
    await givenShop(service, 'Harbour', { name: 'Harbour & Hearth' });
    const { text } = await get('/');
    expect(text).toContain('1 shop<');
    expect(text).toMatch(/<li class="card" id="Harbour">/);
    expect(text).toContain('>Harbour &amp; Hearth</a>');
    expect(text).toContain('href="/shop/Harbour"');
    expect((await get('/', { host: 'localhost:8080' })).text).toContain(
      '<a href="http://harbour.localhost:8080">Harbour &amp; Hearth</a>',
    );
    expect(text).toContain('href="/rs/shops/Harbour"');
    expect(text).toContain('curl http://localhost:8080/rs/shops/Harbour<');
    for (const path of ['/docs', '/openapi.json', '/health', '/metrics']) {
      expect(text).toContain(`href="${path}"`);
      expect(await get(path, { host: 'localhost' })).toMatchObject({ status: 200 });
    }
  });

  test('a name with markup stays a name', async () => {
    await givenShop(service, 'Evil', { name: `<script>alert("x")</script>'&` });
    const { text } = await get('/');
    expect(text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;');
    expect(text).not.toContain('<script');
  });

  test('allows no script, one stylesheet, no frame', async () => {
    const { headers, text } = await get('/');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; .*frame-ancestors 'none'$/,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(text).not.toMatch(/\sstyle=|\son\w+=/);
  });

  test('is small', async () => {
    expect(Buffer.byteLength((await get('/')).text)).toBeLessThan(20_000);
  });

  test('shows 100 shops and counts all', async () => {
    for (let number = 100; number < 201; number++) await givenShop(service, `Many${number}`);
    const { text } = await get('/');
    expect(text).toContain('103 shops<');
    expect(text.match(/<li class="card"/g)).toHaveLength(100);
    expect(text).toMatch(/The first 100 are shown; <code>npx kontor shop list<\/code> prints all 103\./);
  });

  test('while the schema is being made, says so and asks again', async () => {
    const app = await buildApp({
      config: readConfig({}),
      db: service.db,
      log: pino({ level: 'silent' }),
      isMigrated: () => false,
    });
    const response = await app.inject({ url: '/' });
    expect(response.statusCode).toBe(503);
    expect(response.headers.refresh).toBe('1');
    expect(response.body).toContain('Kontor is starting');
    await app.close();
  });

  test('a host that is no host is refused', async () => {
    expect((await get('/', { host: '"><script>' })).status).toBe(400);
  });
});
