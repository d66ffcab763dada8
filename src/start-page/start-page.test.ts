import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { startService, type Service } from '../../test/service.ts';
import { buildApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { sql } from '../db/sql.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await service.app.inject({ url, headers: { host: 'kontor.example', ...headers } });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

/** Sets columns of a shop, as a settings file does. */
async function setShop(shopId: string, columns: Record<string, unknown>) {
  await service.db.run(sql`
    update shop set settings_version = settings_version + 1,
      slogan = coalesce(${columns['slogan'] ?? null}::jsonb, slogan),
      locales = coalesce(${columns['locales'] ?? null}::text[], locales),
      countries = coalesce(${columns['countries'] ?? null}::text[], countries),
      public_catalogue = coalesce(${columns['publicCatalogue'] ?? null}::boolean, public_catalogue)
    where shop_id = ${shopId}`);
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
    expect(text).toContain('href="/rs/shops/Harbour"');
    expect(text).toContain('curl http://kontor.example/rs/shops/Harbour<');
    for (const path of ['/docs', '/openapi.json', '/health', '/metrics']) {
      expect(text).toContain(`href="${path}"`);
      expect(await get(path)).toMatchObject({ status: 200 });
    }
  });

  test('a name with markup stays a name', async () => {
    await givenShop(service, 'Evil', { name: `<script>alert("x")</script>'&` });
    for (const path of ['/', '/shop/Evil']) {
      const { text } = await get(path);
      expect(text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;');
      expect(text).not.toContain('<script');
    }
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
    expect(Buffer.byteLength((await get('/shop/Harbour')).text)).toBeLessThan(20_000);
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

describe('GET /shop/ID', () => {
  test('shows what the shop has set, in the locale that is asked for', async () => {
    await givenShop(service, 'Quay');
    await setShop('Quay', {
      slogan: { en_GB: '<p>Small &amp; <b>good</b></p><script>alert(1)</script>', de_DE: 'Klein & gut' },
      locales: ['en_GB', 'de_DE'],
      countries: ['DE', 'AT'],
    });
    await service.db.run(sql`
      insert into shipping_method (shop_id, shipping_method_id, key, name, description, position, kind, amount,
        amount_per_kg, tiers, free_from)
      values ('Quay', '0193a5f0-7c1e-7b3a-9d2e-4f6a8b0c1d2e', 'standard', '{"en_GB": "Parcel"}', '{}', 0, 'weight',
        123450, 119, '[]', null)`);
    await service.db.run(sql`
      insert into legal_page (shop_id, page, locale, content)
      values ('Quay', 'contact-information', 'en_GB', ${{
        name: 'Contact',
        company: 'Quay <Ltd>',
        address: '<p>Speicherweg 4<br>20457 Hamburg</p>',
        phone: '+49 40 12 34',
        email: 'ask@quay.example',
      }})`);

    const english = await get('/shop/Quay');
    expect(english.status).toBe(200);
    expect(english.text).toContain('<p class="lines">Small &amp; good</p>');
    expect(english.text).not.toContain('alert');
    expect(english.text).toContain('Austria, Germany');
    expect(english.text).toContain('Euro (EUR)');
    expect(english.text).toMatch(/<dt>Parcel<\/dt>\s*<dd>1,234\.50 €<\/dd>/);
    expect(english.text).toContain('+ 1.19 € / kg');
    expect(english.text).toContain('Quay &lt;Ltd&gt;\nSpeicherweg 4\n20457 Hamburg');
    expect(english.text).toContain('href="mailto:ask@quay.example"');
    expect(english.text).toContain('href="tel:+49401234"');
    expect(english.text).toContain('href="/shop/Quay/legal/contact-information?locale=en_GB"');

    const german = await get('/shop/Quay/?locale=de_de');
    expect(german.status).toBe(200);
    expect(german.text).toContain('<p class="lines">Klein &amp; gut</p>');
    expect(german.text).toContain('Deutschland, Österreich');
    expect(german.text).toContain('1.234,50 €');
    // A legal text holds in its own language only; the address of the shop is always there.
    expect(german.text).not.toContain('Quay &lt;Ltd&gt;');
    expect(german.text).toContain('href="mailto:shop@mail.example"');
  });

  test('leads to the legal pages, as text', async () => {
    await givenShop(service, 'Pier');
    await service.db.run(sql`
      insert into legal_page (shop_id, page, locale, content)
      values ('Pier', 'privacy-policy', 'en_GB', ${{
        name: 'Privacy <b>',
        description: '<p>We keep <em>nothing</em>.</p><p>Really.</p><img src=x onerror=alert(1)>',
      }})`);
    const { status, text } = await get('/shop/Pier/legal/privacy-policy?locale=en_GB');
    expect(status).toBe(200);
    expect(text).toContain('<h1>Privacy &lt;b&gt;</h1>');
    expect(text).toMatch(/<p class="prose">We keep nothing\.<\/p>\s*<p class="prose">Really\.<\/p>/);
    expect(text).not.toContain('onerror');
    expect((await get('/shop/Pier/legal/cookie-policy')).text).toContain('no text in this language');
    expect((await get('/shop/Pier/legal/unknown')).status).toBe(404);
    expect((await get('/shop/Unknown/legal/privacy-policy')).status).toBe(404);
  });

  test('of a shop that is not public shows its name alone', async () => {
    await givenShop(service, 'Closed', { name: 'Closed shop', email: 'secret@mail.example' });
    await setShop('Closed', { publicCatalogue: false });
    for (const path of ['/shop/Closed', '/shop/Closed/legal/privacy-policy']) {
      const { status, text } = await get(path);
      expect(status).toBe(200);
      expect(text).toContain('not open to the public');
      expect(text).not.toContain('secret@mail.example');
    }
  });

  test.each(['Unknown', 'harbour', '%3Cscript%3E', '%00', 'a%2Fb', 'x'.repeat(200)])(
    'of the unknown shop %s is a page that leads home',
    async (shopId) => {
      const { status, headers, text } = await get(`/shop/${shopId}`);
      expect(status).toBe(404);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(text).toContain('<a class="button main" href="/">');
      expect(text).not.toContain('<script');
    },
  );

  test.each(['en', '%00', 'a&locale=b', '%3Cscript%3E'])('with the locale %s is refused', async (locale) => {
    expect((await get(`/shop/Harbour?locale=${locale}`)).status).toBe(400);
  });

  test('with a locale that the shop does not offer is in its default', async () => {
    expect((await get('/shop/Harbour?locale=fi_FI')).text).toContain('Harbour &amp; Hearth');
  });
});
