import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { deleteShop } from '../../src/shops/shop/queries.ts';
import { givenDomains, givenShop, givenToken } from '../builders.ts';
import { changesNothing } from '../carts.ts';
import { startDemo } from '../demo.ts';
import { ofTheDay } from '../seed.ts';
import { startService, type Service } from '../service.ts';
import { cookieOfConsent, loadAppScripts } from '../storefront.ts';

/**
 * A cookie's path is no boundary, a host is. Once a script tag of one shop read the confirmation page of another,
 * because all shops were on one host; now each has hosts of its own, with its pages and nothing else.
 */
let service: Service;

beforeAll(async () => {
  service = await startDemo();
  await loadAppScripts(service);
  await givenDomains(service, 'EmptyShop', ['empty.example', 'www.empty.example:8443']);
});
afterAll(() => service.close());

async function send(options: InjectOptions & { url: string }, { app }: Service = service) {
  const { statusCode: status, headers, body } = await app.inject(options);
  return { status, headers, body };
}
const get = (host: string, url: string, headers: Record<string, string> = {}, at = service) =>
  send({ url, headers: { host, ...headers } }, at);
const post = (host: string, url: string, headers: Record<string, string> = {}, at = service) =>
  send(
    {
      method: 'POST',
      url,
      headers: { host, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: 'currency=GBP',
    },
    at,
  );

const DEMO = 'demoshop.localhost:8080';

describe("a shop's own host", () => {
  test('has its pages without /shop/ID, with paths and addresses of its own', async () => {
    const { status, headers, body } = await get(DEMO, '/');
    expect(status).toBe(200);
    expect(body).toContain('<h1>Small things from the seaside</h1>');
    expect(body).toContain('<a class="brand" href="/">');
    expect(body).toContain('href="/Categories/coffee"');
    expect(body).toContain('action="/currency"');
    expect(body).toContain('<link rel="canonical" href="http://demoshop.localhost:8080/" />');
    expect(body).toContain('hreflang="de-DE" href="http://demoshop.localhost:8080/?locale=de_DE"');
    expect(body).not.toContain('/shop/DemoShop');
    expect(headers['content-security-policy']).toContain('script-src http://demoshop.localhost:8080/assets/');

    const product = await get(DEMO, '/Products/AP-100?locale=de_DE');
    expect(product.status).toBe(200);
    expect(product.body).not.toMatch(/(?:href|src|action)="[^"]*\/shop\//);
    expect(await get('DEMOSHOP.localhost.:8080', '/cart')).toMatchObject({ status: 200 });
  });

  test('has its own robots.txt and sitemap', async () => {
    const { body: robots } = await get(DEMO, '/robots.txt');
    expect(robots).toContain('Disallow: /cart\n');
    expect(robots).toContain('Sitemap: http://demoshop.localhost:8080/sitemap.xml\n');
    const { body: sitemap } = await get(DEMO, '/sitemap.xml');
    expect(sitemap).toContain('<loc>http://demoshop.localhost:8080/sitemap/0.xml</loc>');
    const { body: first } = await get('empty.example', '/sitemap/0.xml');
    expect(first).toContain('<loc>http://empty.example/</loc>');
    expect((await get('localhost', '/robots.txt')).body).toContain('Disallow: /shop/*/cart\n');
  });

  test.each([
    '/rs/shops/DemoShop',
    '/manage/shops/DemoShop/audit',
    '/docs',
    '/docs/scalar.js',
    '/docs/getting-started.md',
    '/openapi.json',
    '/metrics',
    '/health',
    '/ready',
    '/shop/EmptyShop',
    '/media/EmptyShop/x/y.png',
    'http://localhost/rs/shops/DemoShop',
    '//rs/shops/DemoShop',
  ])('has nothing else: %s is a page that does not exist', async (url) => {
    const { status, headers, body } = await get(DEMO, url, { authorization: 'Bearer demo-all' });
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('<h1>This page does not exist</h1>');
  });

  test('loads the files of pages, and the images of this shop', async () => {
    const { body } = await get(DEMO, '/');
    const [stylesheet] = /\/assets\/storefront\.[\w-]+\.css/.exec(body)!;
    expect((await get(DEMO, stylesheet)).headers['content-type']).toBe('text/css; charset=utf-8');
    // There is none in this test, and the answer is that of images: not a page of the shop.
    expect(await get(DEMO, '/media/DemoShop/x/y.png')).toMatchObject({ status: 404, body: 'No such image' });
  });

  test('sends old links with /shop/ID on to the page', async () => {
    const { status, headers } = await get(DEMO, '/shop/DemoShop/Products/AP-100?locale=de_DE');
    expect([status, headers.location]).toEqual([
      308,
      'http://demoshop.localhost:8080/Products/AP-100?locale=de_DE',
    ]);
  });

  test('is the older one of two shops whose ids differ in case only', async () => {
    await givenShop(service, 'DEMOSHOP', { name: 'The younger' });
    expect((await get(DEMO, '/')).body).toContain('<h1>Small things from the seaside</h1>');
    expect((await get('localhost', '/shop/DEMOSHOP')).body).toContain('<h1>The younger</h1>');
    await service.db.transaction((tx) => deleteShop(tx, 'DEMOSHOP'));
  });
});

describe('any other host', () => {
  test.each([
    'localhost',
    'stranger.example',
    'nobody.localhost',
    'demoshop.localhost.example',
    'sub.demoshop.localhost',
  ])('%s is the host of the service', async (host) => {
    expect((await get(host, '/')).body).toContain('<title>Kontor</title>');
    expect(await get(host, '/rs/shops/DemoShop')).toMatchObject({ status: 200 });
  });

  test('has the pages of a shop below /shop/ID, without the scripts of apps', async () => {
    const cookie = await cookieOfConsent(service, 'DemoShop');
    const shared = await get('localhost', '/shop/DemoShop/Products/AP-100', { cookie });
    expect(shared.body).toContain('<a class="brand" href="/shop/DemoShop">');
    expect(shared.body).not.toContain('cdn.example');
    expect(shared.body).not.toContain('page.events');
    expect(shared.body).not.toContain('name="worker"');
    expect(shared.headers['content-security-policy']).not.toContain('cdn.example');
    const own = await get(DEMO, '/Products/AP-100', { cookie });
    expect(own.body).toContain('<script src="https://cdn.example/chat.js" defer>');
    expect(own.body).toContain('<meta name="worker" content="/worker.js" />');
  });

  test('ends a service worker that an older version has registered there', async () => {
    const { status, body } = await get('localhost', '/shop/DemoShop/worker.js');
    expect(status).toBe(200);
    expect(body).toContain('self.registration.unregister()');
    expect(body).not.toContain('importScripts');
  });

  test('loads no scripts of apps where there is one shop only either, because the admin is there', async () => {
    const alone = await startService();
    try {
      await givenShop(alone, 'Alone');
      await alone.db.run(sql`
        insert into app (shop_id, app_id, name, scopes, created_at)
        values ('Alone', '0199d3ad-b240-705a-bd5a-a939e0930097', 'chat', '{}', ${alone.db.now})`);
      await alone.db.run(sql`
        insert into script_tag (shop_id, script_tag_id, app_id, script_url, created_at, updated_at)
        values ('Alone', '0199d3ad-b240-705a-bd5a-a939e0930098', '0199d3ad-b240-705a-bd5a-a939e0930097',
          'https://cdn.example/chat.js', ${alone.db.now}, ${alone.db.now})`);
      const cookie = await cookieOfConsent(alone, 'Alone');
      expect((await get('localhost', '/shop/Alone', { cookie }, alone)).body).not.toContain('cdn.example');
      expect((await get('alone.localhost', '/', { cookie }, alone)).body).toContain(
        'https://cdn.example/chat.js',
      );
    } finally {
      await alone.close();
    }
  });
});

describe('a shop with a domain', () => {
  test('is there, on all of its domains, and says which is the main one', async () => {
    for (const host of ['empty.example', 'EMPTY.example:80', 'www.empty.example:8443']) {
      const { status, body } = await get(host, '/nowhere');
      expect([host, status]).toEqual([host, 404]);
      expect(body).toContain('<a class="brand" href="/">');
      expect((await get(host, '/')).body).toContain('<link rel="canonical" href="http://empty.example/" />');
    }
    expect((await get('www.empty.example', '/')).body).toContain('<title>Kontor</title>');
  });

  test('redirects from the host of the service, forms to the page they stood on', async () => {
    const page = await get('localhost', '/shop/EmptyShop/search?q=a%20b');
    expect([page.status, page.headers.location]).toEqual([308, 'http://empty.example/search?q=a%20b']);
    expect(page.headers['cache-control']).toBe('no-cache');
    expect((await get('localhost', '/shop/EmptyShop')).headers.location).toBe('http://empty.example/');
    expect((await get('localhost', '/shop/EmptyShop//evil.example')).headers.location).toBe(
      'http://empty.example//evil.example',
    );
    const form = await changesNothing(service, () =>
      post('localhost', '/shop/EmptyShop/currency', {
        origin: 'http://localhost',
        referer: 'http://localhost/shop/EmptyShop/cart?locale=de_DE',
      }),
    );
    expect([form.status, form.headers.location]).toEqual([303, 'http://empty.example/cart?locale=de_DE']);
    expect(form.headers['set-cookie']).toBeUndefined();
  });

  test('is where the addresses of the API lead, whose links stay where they were', async () => {
    const { body: shop } = await service.call('GET', '/EmptyShop', { headers: { host: 'localhost:8080' } });
    expect(shop).toMatchObject({
      sfUrl: 'http://empty.example',
      mboUrl: 'http://localhost:8080/admin/shops/EmptyShop',
    });
    const { body: cart } = await service.call('POST', '/EmptyShop/carts', {
      body: { currency: 'EUR', locale: 'de_DE' },
      headers: { host: 'localhost:8080' },
    });
    expect(cart.checkoutUrl).toMatch(/^http:\/\/empty\.example\/checkout\?cart=/);
    expect(cart.links[0].href).toMatch(/^http:\/\/localhost:8080\/rs\/shops\/EmptyShop\/carts\//);
    const { body: demo } = await service.call('GET', '/DemoShop/products?q=AP-100', {
      headers: { host: 'localhost:8080' },
    });
    expect(demo.items[0].sfUrl).toBe('http://localhost:8080/shop/DemoShop/Products/AP-100');
  });

  test('loses it with the domain, in every process within seconds and here at once', async () => {
    await givenShop(service, 'Moving');
    await givenDomains(service, 'Moving', ['moving.example']);
    expect((await get('moving.example', '/')).body).toContain('<h1>Moving</h1>');
    await givenDomains(service, 'Moving', []);
    expect((await get('moving.example', '/')).body).toContain('<title>Kontor</title>');
    await givenDomains(service, 'Moving', ['moving.example']);
    await service.db.transaction((tx) => deleteShop(tx, 'Moving'));
    await service.app.shopHosts.refresh();
    expect((await get('moving.example', '/')).body).toContain('<title>Kontor</title>');
    const left = await service.db.many(sql`select from shop_domain where shop_id = 'Moving'`);
    expect(left).toHaveLength(0);
  });

  test('can not take the host of the service', async () => {
    const other = await startService({ PUBLIC_URL: 'https://kontor.example' }, service);
    try {
      await givenShop(service, 'Thief');
      await givenDomains(service, 'Thief', ['kontor.example']);
      await other.app.shopHosts.refresh();
      expect((await get('kontor.example', '/docs', {}, other)).body).toContain('API reference');
    } finally {
      await service.db.transaction((tx) => deleteShop(tx, 'Thief'));
      await other.close();
    }
  });
});

describe('behind a proxy', () => {
  const beside = (environment: Record<string, string>) => startService(environment, service);

  test('the forwarded host counts from a trusted peer only, for routing as for links', async () => {
    const proxied = await beside({ TRUST_PROXY: '10.0.0.1, 10.1.0.0/16' });
    try {
      const ask = (remoteAddress: string, forwarded: string) =>
        send(
          {
            url: '/',
            remoteAddress,
            headers: { host: 'internal', 'x-forwarded-host': forwarded, 'x-forwarded-proto': 'https' },
          },
          proxied,
        );
      for (const trusted of ['10.0.0.1', '10.1.2.3']) {
        const { body } = await ask(trusted, 'ignored.example, empty.example');
        expect(body).toContain('<link rel="canonical" href="https://empty.example/" />');
      }
      expect((await ask('10.0.0.2', 'empty.example')).body).toContain('<title>Kontor</title>');
      expect((await ask('10.0.0.1', 'empty.example, stranger.example')).body).toContain(
        '<title>Kontor</title>',
      );
    } finally {
      await proxied.close();
    }
    // Without TRUST_PROXY nobody is trusted.
    const { body } = await get('localhost', '/', { 'x-forwarded-host': 'empty.example' });
    expect(body).toContain('<title>Kontor</title>');
  });

  test('no shop has a host by its id, and the start page says nothing of the shops', async () => {
    const environments: Record<string, string>[] = [
      { PUBLIC_URL: 'https://kontor.example' },
      { TRUST_PROXY: '10.0.0.1' },
      { HOST: '0.0.0.0' },
    ];
    for (const environment of ofTheDay(environments, 1)) {
      const open = await beside(environment);
      try {
        const { body } = await get(DEMO, '/', {}, open);
        expect(body).toContain('<title>Kontor</title>');
        expect(body).not.toContain('DemoShop');
        expect(body).not.toContain('Harbour');
        expect([...body.matchAll(/href="(\/[^"]*)"/g)].map(([, href]) => href)).toEqual([
          '/',
          '/docs',
          '/docs',
        ]);
      } finally {
        await open.close();
      }
    }
  });
});

describe('cookies', () => {
  const cookieOf = async (host: string, url: string, at: Service, origin: string) =>
    String((await post(host, url, { origin }, at)).headers['set-cookie']);

  test('are bound to the host under https, and name the shop on a shared one', async () => {
    const secure = await startService({ PUBLIC_URL: 'https://kontor.example' }, service);
    await givenDomains(service, 'DemoShop', ['demo.example']);
    await secure.app.shopHosts.refresh();
    try {
      expect(await cookieOf('demo.example', '/currency', secure, 'https://demo.example')).toMatch(
        /^__Host-visit=\S+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
    } finally {
      await givenDomains(service, 'DemoShop', []);
      await secure.app.shopHosts.refresh();
    }
    expect(
      await cookieOf('kontor.example', '/shop/DemoShop/currency', secure, 'https://kontor.example'),
    ).toMatch(/^__Host-visit-DemoShop=\S+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    await secure.close();
    expect(await cookieOf(DEMO, '/currency', service, `http://${DEMO}`)).toMatch(
      /^visit=\S+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(await cookieOf('localhost', '/shop/DemoShop/currency', service, 'http://localhost')).toMatch(
      /^visit=\S+; Max-Age=2592000; Path=\/shop\/DemoShop; HttpOnly; SameSite=Lax$/,
    );
  });
});

describe('a form', () => {
  test.each([
    ['the host of the service', { origin: 'http://localhost:8080' }],
    ['another shop', { origin: 'http://emptyshop.localhost:8080' }],
    ['nowhere', {}],
    ['another host of this site', { origin: `http://${DEMO}`, 'sec-fetch-site': 'same-site' }],
  ] as [string, Record<string, string>][])('from %s is refused', async (_, headers) => {
    const { status } = await changesNothing(service, () => post(DEMO, '/currency', headers));
    expect(status).toBe(403);
  });

  test('of the shop itself is taken, and leads back to where it stood and never to another host', async () => {
    for (const [referer, place] of [
      [`http://${DEMO}/cart?locale=de_DE`, '/cart?locale=de_DE'],
      [`http://${DEMO}/`, '/'],
      [`http://${DEMO}//evil.example/x`, '/'],
      ['http://evil.example/x', '/'],
      ['', '/'],
    ] as const) {
      const { status, headers } = await post(DEMO, '/currency', { origin: `http://${DEMO}`, referer });
      expect([status, headers.location]).toEqual([303, place]);
    }
  });
});

test('pages of the service and of shops can not reach each other by their windows', async () => {
  const policyOf = async (host: string, url: string) =>
    (await get(host, url)).headers['cross-origin-opener-policy'];
  for (const url of ['/', '/docs', '/openapi.json', '/rs/shops/DemoShop', '/nowhere', '/shop/NoShop']) {
    expect([url, await policyOf('localhost', url)]).toEqual([url, 'same-origin']);
  }
  for (const [host, url] of [
    ['localhost', '/shop/DemoShop'],
    ['localhost', '/shop/DemoShop/nowhere'],
    [DEMO, '/'],
  ] as const) {
    expect(await policyOf(host, url)).toBe('same-origin-allow-popups');
  }
});

test('pages stay in memory under hosts that are known, not under those that clients make up', async () => {
  // One that is good under any host, unlike the known tokens of the demo shop.
  const token = await givenToken(service, 'DemoShop');
  const paths = ['/', '/Categories/appliances', '/Products/AP-100'];
  const ask = (host: string) =>
    Promise.all([
      ...paths.map((path) =>
        get(host, host.startsWith('demoshop.localhost') ? path : `/shop/DemoShop${path}`),
      ),
      get(host, '/rs/shops/DemoShop/products?q=AP-100'),
      get(host, '/rs/shops/DemoShop/orders?resultsPerPage=3', { authorization: `Bearer ${token}` }),
    ]);
  const entries = async () => {
    const { body } = await get('localhost', '/metrics');
    const found = [...body.matchAll(/^cache_entries\{cache="([^"]+)"\} (\d+)$/gm)];
    return Object.fromEntries(found.map(([, cache, count]) => [cache, Number(count)]));
  };
  await ask('localhost');
  // The parts of the layout name no host, so all own hosts of a shop share them, the unknown ones too.
  await ask('demoshop.localhost:12345');
  const before = await entries();
  expect(before).toMatchObject({ 'front pages': expect.any(Number), 'product pages': expect.any(Number) });
  for (let start = 0; start < 200; start += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => get(`made-up-${start + index}.example`, '/shop/DemoShop')),
    );
  }
  for (const host of [
    'made-up.example',
    'localhost:12345',
    'demoshop.localhost:12345',
    'demoshop.localhost.',
  ]) {
    for (const answer of await ask(host)) expect([200, 404]).toContain(answer.status);
  }
  expect(await entries()).toEqual(before);
  await ask('demoshop.localhost');
  expect((await entries())['front pages']).toBe(before['front pages']! + 1);
});
