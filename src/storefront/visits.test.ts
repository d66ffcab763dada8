import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { changesNothing } from '../../test/carts.ts';
import { givenOtherShop, startDemo } from '../../test/demo.ts';
import type { Service } from '../../test/service.ts';
import { givenVisitor, mainOf, type Visitor } from '../../test/visitor.ts';
import { buildApp } from '../composition/app.ts';
import { sql } from '../db/sql.ts';
import { PAGES } from '../shops/legal/schema.ts';

const NOW = new Date('2026-11-15T08:30:00Z');

let service: Service;
let visitor: Visitor;
let ids: Record<string, string>;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, NOW);
  await givenOtherShop(service);
  const rows = await service.db.many<{ id: string; number: string }>(sql`
    select upper(product_id::text) as id, product_number as number from product where shop_id = 'DemoShop'`);
  ids = Object.fromEntries(rows.map(({ id, number }) => [number, id]));
});
afterAll(() => service.close());
beforeEach(() => {
  visitor = givenVisitor(service, 'DemoShop');
});

const LOCALES = ['en_GB', 'de_DE', 'fr_FR'];
const queryOf = (locale: string) => (locale === 'en_GB' ? '' : `?locale=${locale}`);

/** Pages that a search engine may know. */
const PUBLIC = ['', '/newsletter', '/Products/TE-100', ...PAGES.map(({ page }) => `/legal/${page}`)];
const MISSING: Record<string, string[]> = {
  de_DE: ['/legal/cookie-policy'],
  fr_FR: ['/legal/shipping-information', '/legal/cookie-policy'],
};
const PRIVATE = ['/wishlist', '/cart', '/newsletter/sent', '/newsletter/unsubscribed'];

describe('a page', () => {
  test.each(LOCALES)('is in %s, and says where it is and where it is in other languages', async (locale) => {
    for (const path of PUBLIC) {
      const { status, text } = await visitor.get(`${path}${queryOf(locale)}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain(`<html lang="${locale.replace('_', '-')}">`);
      expect(text.match(/<h1\b/g)).toHaveLength(1);
      // A legal text that is missing in a language is nothing to be found.
      const isMissing = (MISSING[locale] ?? []).includes(path);
      expect(text.includes('<meta name="robots" content="noindex" />')).toBe(isMissing);
      if (isMissing) continue;
      const address = `http://localhost/shop/DemoShop${path}`;
      expect(text).toContain(`<link rel="canonical" href="${address}${queryOf(locale)}" />`);
      for (const other of LOCALES) {
        expect(text).toContain(
          `<link rel="alternate" hreflang="${other.replace('_', '-')}" href="${address}${queryOf(other)}" />`,
        );
      }
      expect(text).toContain(`<link rel="alternate" hreflang="x-default" href="${address}" />`);
    }
  });

  test.each(LOCALES)('of one visitor is in %s and not for search engines', async (locale) => {
    for (const path of PRIVATE) {
      const { status, text } = await visitor.get(`${path}${queryOf(locale)}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain(`<html lang="${locale.replace('_', '-')}">`);
      expect(text).toContain('<meta name="robots" content="noindex" />');
      expect(text).not.toContain('rel="canonical"');
    }
  });

  test.each(['fi_FI', 'en', 'de_de_de', '%3Cscript%3E', 'en_GB&locale=de_DE', '__proto__'])(
    'with the language %s is in the default one',
    async (locale) => {
      const { status, text } = await visitor.get(`/newsletter?locale=${locale}`);
      expect(status).toBe(200);
      expect(text).toContain('<html lang="en-GB">');
    },
  );

  test('takes the language in any case', async () => {
    expect((await visitor.get('/newsletter?locale=de_de')).text).toContain('<html lang="de-DE">');
  });

  test('is kept by nobody without asking, allows nothing inline and tells nobody where one was', async () => {
    const { headers, text } = await visitor.get('/newsletter');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(headers['content-security-policy']).not.toContain('unsafe-inline');
    expect(text).not.toMatch(/<[^>]*\s(?:style|on\w+)=/);
  });

  test('of a shop whose name holds markup says it as text', async () => {
    await givenShop(service, 'Evil', { name: `<script>alert("x")</script>'&` });
    const { text } = await givenVisitor(service, 'Evil').get('/wishlist');
    expect(text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;');
    expect(text).not.toContain('<script>');
  });

  test.each(['Unknown', 'demoshop', '%3Cscript%3E', '%00', 'a%2Fb', 'x'.repeat(200)])(
    'of the unknown shop %s leads home',
    async (shopId) => {
      for (const path of ['', '/newsletter', '/legal/privacy-policy']) {
        const { statusCode, headers, body } = await service.app.inject({ url: `/shop/${shopId}${path}` });
        expect(statusCode).toBe(404);
        expect(headers['content-type']).toBe('text/html; charset=utf-8');
        expect(body).toContain('href="/"');
        expect(body).not.toContain('<script');
      }
    },
  );

  test.each([
    '/legal/unknown',
    '/nothing',
    '/Products/NONE',
    '/Products/%00',
    '/Products/%C3%28',
    `/Products/${'x'.repeat(300)}`,
  ])('%s does not exist', async (path) => {
    const answer = await visitor.get(path);
    expect([400, 404]).toContain(answer.status);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('of a shop that is not public shows its name alone, and takes no forms', async () => {
    await givenShop(service, 'Closed', { name: 'Closed shop', email: 'secret@mail.example' });
    await service.db.run(sql`
      update shop set public_catalogue = false, settings_version = settings_version + 1 where shop_id = 'Closed'`);
    const closed = givenVisitor(service, 'Closed');
    for (const path of ['', '/legal/contact-information', '/newsletter', '/wishlist']) {
      const answer = await closed.get(path);
      expect(answer.status).toBe(200);
      expect(mainOf(answer)).toBe('Closed shop This shop is not open to the public.');
      expect(answer.text).not.toContain('secret@mail.example');
    }
    const forms = await changesNothing(service, async () => [
      await closed.post('/newsletter', { email: 'ada@mail.example' }),
      await closed.post('/currency', { currency: 'EUR' }),
    ]);
    expect(forms.map(({ status }) => status)).toEqual([404, 404]);
  });
});

test.each(['/Products/TE-100', '/Categories/tea', ''])(
  'the document of %s is the same for all unknown visitors, and nobody else, until something on it changes',
  async (path) => {
    const showUnknown = async () => {
      const { status, headers, text } = await givenVisitor(service, 'DemoShop').get(path);
      const { 'x-request-id': _id, date: _date, ...rest } = headers;
      return { status, headers: rest, text };
    };
    const rename = (name: string) =>
      service.db.one<{ name: string }>(sql`
        update shop set settings = jsonb_set(shop.settings, '{name,en_GB}', ${JSON.stringify(name)}::jsonb),
          settings_version = shop.settings_version + 1
        from (select settings -> 'name' ->> 'en_GB' as name from shop where shop_id = 'DemoShop') as before
        where shop_id = 'DemoShop' returning before.name`);
    const first = await showUnknown();
    expect(first.status).toBe(200);
    expect(await showUnknown()).toEqual(first);
    await visitor.post('/wishlist/add', { productId: ids['TE-100']! });
    const known = await visitor.get(path);
    expect(known.text).toContain('<p class="notice" role="status">');
    expect(known.headers['cache-control']).toBe('private, no-cache');
    expect(await showUnknown()).toEqual(first);
    const before = await rename('Renamed & Sons');
    expect((await showUnknown()).text).toContain('Renamed &amp; Sons');
    await rename(before!.name);
    expect(await showUnknown()).toEqual(first);
  },
);

describe('a session', () => {
  test('is in a cookie that only this shop of this server gets', async () => {
    const { headers } = await visitor.post('/currency', { currency: 'GBP' });
    expect(headers['set-cookie']).toMatch(
      /^visit=[\w-]+\.\d+\.[\w-]{43}; Max-Age=2592000; Path=\/shop\/DemoShop; HttpOnly; SameSite=Lax$/,
    );
  });

  test('is sent over https only where the shop is', async () => {
    const app = await buildApp({
      config: { ...service.config, PUBLIC_URL: 'https://shop.example' },
      db: service.db,
      log: pino({ level: 'silent' }),
    });
    const { headers } = await app.inject({
      method: 'POST',
      url: '/shop/DemoShop/currency',
      headers: { origin: 'https://shop.example', 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'currency=GBP',
    });
    expect(headers['set-cookie']).toMatch(
      /^__Host-visit-DemoShop=\S+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    await app.close();
  });

  test('costs no cookie until there is something to remember', async () => {
    for (const path of ['', '/newsletter', '/wishlist', '/cart', '/legal/privacy-policy']) {
      expect((await visitor.get(path)).headers['set-cookie']).toBeUndefined();
    }
  });

  test('that is forged, or of another shop, is empty', async () => {
    await visitor.post('/currency', { currency: 'GBP' });
    expect((await visitor.get('')).text).toMatch(/<option value="GBP"\s+selected\s*>/);
    const good = visitor.cookie()!;
    const [content, end, signature] = good.split('.') as [string, string, string];
    const text = `${content}.${end}`;
    const other = Buffer.from('{"currency":"GBP","order":"X"}').toString('base64url');
    for (const cookie of [
      '',
      'x',
      '.',
      text,
      `${text}.`,
      content,
      `${content}.${signature}`,
      `${content}.${Number(end) + 1}.${signature}`,
      `${other}.${end}.${signature}`,
      `${text}.${'A'.repeat(43)}`,
      `${good}A`,
      'x'.repeat(3_000),
    ]) {
      visitor.useCookie(cookie);
      const page = await visitor.get('');
      expect(page.status).toBe(200);
      expect(page.text).toMatch(/<option value="EUR"\s+selected\s*>/);
    }
    const elsewhere = givenVisitor(service, 'OtherShop');
    elsewhere.useCookie(good);
    expect((await elsewhere.get('')).text).toMatch(/<option value="EUR"\s+selected\s*>/);
  });

  test('says a notice once', async () => {
    await visitor.post('/wishlist/add', { productId: ids['TE-100']! });
    expect((await visitor.get('/wishlist')).text).toContain('role="status"');
    expect((await visitor.get('/wishlist')).text).not.toContain('role="status"');
  });
});

describe('a form', () => {
  const forms: [string, Record<string, string>][] = [
    ['/currency', { currency: 'GBP' }],
    ['/language', { locale: 'de_DE' }],
    ['/consent', { consent: 'all' }],
    ['/newsletter', { email: 'ada@mail.example' }],
    ['/newsletter/confirm', { token: 'x' }],
    ['/newsletter/unsubscribe', { token: 'x' }],
    ['/wishlist/add', { productId: '' }],
    ['/wishlist/remove', { productId: '' }],
    ['/Products/TE-100/notify', { email: 'ada@mail.example' }],
    ['/cart/add', { productId: '', quantity: '1' }],
  ];

  test.each(forms)('%s from another site is refused', async (path, fields) => {
    const sent = { ...fields, ...('productId' in fields && { productId: ids['TE-100']! }) };
    const answers = await changesNothing(service, () =>
      Promise.all(
        [
          { origin: 'https://evil.example' },
          { origin: 'null' },
          { origin: '' },
          { origin: 'http://localhost', 'sec-fetch-site': 'cross-site' },
          { origin: 'http://localhost', 'sec-fetch-site': 'same-site' },
          { origin: 'http://localhost', 'sec-fetch-site': 'none' },
        ].map((headers) => visitor.post(path, sent, headers)),
      ),
    );
    for (const { status, headers } of answers) {
      expect(status).toBe(403);
      expect(headers['set-cookie']).toBeUndefined();
    }
  });

  test('that does not say where it comes from is refused', async () => {
    const { statusCode } = await changesNothing(service, () =>
      service.app.inject({
        method: 'POST',
        url: '/shop/DemoShop/newsletter',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: 'email=ada@mail.example',
      }),
    );
    expect(statusCode).toBe(403);
  });

  test('leads back to the page of this shop that it stands on, and nowhere else', async () => {
    const placeAfter = async (referer: string) =>
      (await visitor.post('/consent', { consent: 'all' }, { referer })).headers.location;
    expect(await placeAfter('http://localhost/shop/DemoShop/cart?locale=de_DE')).toBe(
      '/shop/DemoShop/cart?locale=de_DE',
    );
    for (const referer of [
      'https://evil.example/shop/DemoShop',
      'http://localhost/shop/OtherShop',
      'http://localhost/shop/DemoShopTwo',
      'http://localhost//evil.example',
      'javascript:alert(1)',
      'x',
    ]) {
      expect(await placeAfter(referer)).toBe('/shop/DemoShop');
    }
  });

  test.each(forms)('%s with rubbish is never a fault of ours', async (path, fields) => {
    const bodies = [
      '',
      '=',
      '&&&',
      '%00=%00',
      ...Object.keys(fields).flatMap((name) => [
        `${name}=%00`,
        `${name}=a%00b`,
        `${name}=%FF`,
        `${name}=${'x'.repeat(100_000)}`,
        `${name}=a&${name}=b`,
        `${name}[]=a`,
        `${name}=%F0%9F%92%A9`,
      ]),
      '__proto__=x',
      'x'.repeat(1_100_000),
    ];
    for (const payload of bodies) {
      const { statusCode } = await service.app.inject({
        method: 'POST',
        url: `/shop/DemoShop${path}`,
        headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
        payload,
      });
      expect([payload.slice(0, 40), statusCode < 500 && statusCode !== 200]).toEqual([
        payload.slice(0, 40),
        true,
      ]);
    }
  });

  test('in another type is refused', async () => {
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x']) {
      const { statusCode } = await changesNothing(service, () =>
        service.app.inject({
          method: 'POST',
          url: '/shop/DemoShop/newsletter',
          headers: { origin: 'http://localhost', 'content-type': type },
          payload: 'email=ada@mail.example',
        }),
      );
      expect(statusCode).toBe(400);
    }
  });
});

describe('forms per hour', () => {
  test('are limited by address, and the page says when to try again', async () => {
    const limited = await startDemo({}, NOW);
    try {
      const eager = givenVisitor(limited, 'DemoShop', '192.0.2.1');
      const send = (who: Visitor) => who.post('/newsletter', { email: 'x' });
      for (let tries = 0; tries < 10; tries++) expect((await send(eager)).status).toBe(400);
      const refused = await send(eager);
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toBe('1800');
      expect(mainOf(refused)).toContain('Too many attempts');
      expect((await eager.post('/newsletter?locale=de_DE', { email: 'x' })).status).toBe(429);
      expect((await eager.post('/currency', { currency: 'GBP' })).status).toBe(303);
      expect((await send(givenVisitor(limited, 'DemoShop', '192.0.2.2'))).status).toBe(400);
      const notify = () => eager.post('/Products/TE-100/notify', { email: 'x' });
      for (let tries = 0; tries < 20; tries++) expect((await notify()).status).toBe(400);
      expect((await notify()).status).toBe(429);
      limited.setClock(new Date(NOW.getTime() + 3_600_000));
      expect((await send(eager)).status).toBe(400);
    } finally {
      await limited.close();
    }
  });

  test('are not limited where the operator wants no limit', async () => {
    for (let tries = 0; tries < 12; tries++) {
      expect((await visitor.post('/newsletter', { email: 'x' })).status).toBe(400);
    }
  });
});

test('no line of the log names a person', async () => {
  const lines: string[] = [];
  const app = await buildApp({
    config: service.config,
    db: service.db,
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
  });
  const headers = { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' };
  const post = (path: string, payload: string) =>
    app.inject({ method: 'POST', url: `/shop/DemoShop${path}`, headers, payload });
  await post('/newsletter', 'email=wrenna%40zephyr.example&name=Quillfeather');
  await post('/newsletter', 'email=wrenna%40zephyr&name=Quillfeather%00');
  await post('/Products/TE-120/notify', 'email=wrenna%40zephyr.example');
  await app.inject({ url: '/shop/DemoShop/newsletter/unsubscribe?token=wrenna' });
  await app.inject({ url: '/shop/DemoShop', headers: { cookie: 'visit=quillfeather' } });
  await app.close();
  expect(lines.length).toBeGreaterThanOrEqual(5);
  expect(lines.join('')).not.toMatch(/wrenna|zephyr|quillfeather/i);
});

describe('the language', () => {
  const languageOf = async (path: string) =>
    /<html lang="([\w-]+)">/.exec((await visitor.get(path)).text)![1];
  const choose = (locale: string, page: string) => visitor.submit('/language', { locale, page });

  test('that was chosen is remembered, on the page it was chosen on and on every other', async () => {
    const tea = await choose('de_DE', '/Categories/tea?page=1&sort=name');
    expect(tea.place).toBe('/shop/DemoShop/Categories/tea?locale=de_DE&page=1&sort=name');
    expect(tea.text).toContain('<html lang="de-DE">');
    // The address typed again, without a language.
    expect(await languageOf('')).toBe('de-DE');
    expect(await languageOf('/Products/TE-100')).toBe('de-DE');
    expect((await choose('en_GB', '/Products/TE-100?locale=de_DE')).place).toBe(
      '/shop/DemoShop/Products/TE-100',
    );
    expect(await languageOf('')).toBe('en-GB');
    expect(visitor.session()).toEqual({ locale: 'en_GB' });
  });

  test('in an address counts for what follows, where the visitor is known', async () => {
    await choose('de_DE', '/');
    expect(await languageOf('/newsletter?locale=fr_FR')).toBe('fr-FR');
    expect(await languageOf('/newsletter')).toBe('fr-FR');
    expect(await languageOf('/newsletter?locale=en_GB')).toBe('en-GB');
    expect(await languageOf('/newsletter')).toBe('en-GB');
    expect(await languageOf('/newsletter?locale=xx_XX')).toBe('en-GB');
  });

  test('in an address gives an unknown visitor no cookie, so the page stays the same for all', async () => {
    const { headers, text } = await visitor.get('/newsletter?locale=de_DE');
    expect(text).toContain('<html lang="de-DE">');
    expect(headers).toMatchObject({ 'cache-control': 'no-cache' });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(await languageOf('/newsletter')).toBe('en-GB');
  });

  test('of a visitor has an entity tag of its own', async () => {
    const tagOf = async (one: Visitor) => {
      const { headers } = await one.get('/Products/TE-100', { 'accept-encoding': 'gzip' });
      return { etag: headers['etag'], cached: headers['cache-control'] };
    };
    const unknown = await tagOf(givenVisitor(service, 'DemoShop'));
    await choose('de_DE', '/');
    const german = await tagOf(visitor);
    expect(unknown.cached).toBe('no-cache');
    expect(german.cached).toBe('private, no-cache');
    expect(german.etag).not.toBe(unknown.etag);
    expect(await tagOf(givenVisitor(service, 'DemoShop'))).toEqual(unknown);
    const known = await visitor.get('/Products/TE-100', {
      'accept-encoding': 'gzip',
      'if-none-match': String(unknown.etag),
    });
    expect(known.status).toBe(200);
    expect(known.text).not.toBe('');
  });

  test.each([
    '//evil.example/a',
    String.raw`/\evil.example`,
    'https://evil.example/',
    'javascript:alert(1)',
    '',
  ])('does not lead to %s', async (page) => {
    expect((await choose('de_DE', page)).place).toBe('/shop/DemoShop?locale=de_DE');
  });

  test('that the shop does not have is the default one', async () => {
    expect((await choose('xx_XX', '/newsletter')).place).toBe('/shop/DemoShop/newsletter');
    expect(visitor.session()).toEqual({ locale: 'en_GB' });
  });
});

describe('the currency', () => {
  const stored = () =>
    service.db.many<{ currency: string; lines: unknown[]; billing: { city: string } | null }>(sql`
      select currency, lines, billing_address as billing from cart
      where shop_id = 'DemoShop' and cart_id = ${(visitor.session() as { cart: { id: string } }).cart.id}`);

  test('is remembered, and what is no currency of the shop is its default', async () => {
    const page = await visitor.submit('/currency', { currency: 'gbp' }, '/newsletter');
    expect(page.place).toBe('/shop/DemoShop/newsletter');
    expect(visitor.session()).toEqual({ currency: 'GBP' });
    await visitor.submit('/currency', { currency: 'XXX' });
    expect(visitor.session()).toEqual({ currency: 'EUR' });
  });

  test('takes the cart along', async () => {
    await visitor.submit('/cart/add', { productId: ids['TE-100']!, quantity: '2' });
    await visitor.submit('/cart/add', { productId: ids['TE-110']!, quantity: '1' });
    const before = visitor.session()['cart'];
    const page = await visitor.submit('/currency', { currency: 'GBP' }, '/cart');
    expect(page.text).toContain('Your cart is now in GBP.');
    expect(page.text).not.toContain('left out');
    const { cart } = visitor.session() as { cart: { id: string; count: number } };
    expect(cart).toEqual({ id: expect.any(String), count: 3 });
    expect(cart).not.toEqual(before);
    expect(await stored()).toEqual([
      {
        currency: 'GBP',
        lines: [
          expect.objectContaining({ productId: ids['TE-100'], quantity: '2' }),
          expect.objectContaining({ productId: ids['TE-110'], quantity: '1' }),
        ],
        billing: null,
      },
    ]);
    await visitor.submit('/currency', { currency: 'GBP' }, '/cart');
    expect(visitor.session()).toMatchObject({ cart });
  });

  test('keeps addresses, and says what could not be kept', async () => {
    await visitor.submit('/cart/add', { productId: ids['TE-100']!, quantity: '2' });
    await visitor.submit('/cart/coupon', { code: 'AUTUMN15' });
    const { id } = (visitor.session() as { cart: { id: string } }).cart;
    await service.db.run(sql`
      update cart set billing_address = ${JSON.stringify({ city: 'Hamburg', country: 'DE' })},
        lines = jsonb_set(lines::jsonb, '{0,price}', '123')::json, version = version + 1
      where shop_id = 'DemoShop' and cart_id = ${id}`);
    const page = await visitor.submit('/currency', { currency: 'GBP' }, '/cart');
    expect(page.text).toContain(
      'Your cart is now in GBP. The coupon has been removed. Please enter it again. ' +
        'Prices agreed with you apply only in the previous currency.',
    );
    expect(await stored()).toMatchObject([{ currency: 'GBP', billing: { city: 'Hamburg' } }]);
    expect(JSON.stringify((await stored())[0]!.lines)).not.toContain('price');
  });

  test('leaves out what is not for sale any more', async () => {
    await visitor.submit('/cart/add', { productId: ids['TE-100']!, quantity: '1' });
    await visitor.submit('/cart/add', { productId: ids['TE-110']!, quantity: '1' });
    const setVisible = (isVisible: boolean) =>
      service.db.run(sql`
        update product set visible = ${isVisible}, version = version + 1
        where shop_id = 'DemoShop' and product_number = any (array['TE-100', 'TE-110'])`);
    await setVisible(false);
    const page = await visitor.submit('/currency', { currency: 'GBP' }, '/newsletter');
    await setVisible(true);
    expect(page.text).toContain('Products that are not sold in this currency were left out.');
    expect(visitor.session()).not.toHaveProperty('cart');
  });

  test('forgets a cart that is gone', async () => {
    await visitor.submit('/cart/add', { productId: ids['TE-100']!, quantity: '1' });
    await service.db.run(sql`delete from cart where shop_id = 'DemoShop'`);
    await visitor.submit('/currency', { currency: 'GBP' });
    expect(visitor.session()).toEqual({ currency: 'GBP' });
  });
});
