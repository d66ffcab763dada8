import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import { type Service } from '../../../test/service.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { runCleanup } from '../../platform/cleanup.ts';
import { missedAddressCleanup } from './queries.ts';

let service: Service;
let merchant: Merchant;

beforeAll(async () => {
  service = await startDemo({ LOG_LEVEL: 'error' });
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const manage = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) =>
  service.call(method, `/manage/shops/DemoShop${path}`, { token: 'demo-all', ...(body && { body }) });
const create = (body: object) => manage('POST', '/redirects', body);
const visit = async (path: string, headers = {}) => {
  const { status, headers: answered } = await givenVisitor(service, 'DemoShop').get(path, headers);
  return { status, location: answered.location };
};
const count = async () => (await manage('GET', '/redirects')).body.results as number;

test('an old address leads to its product, and still does when the number changes', async () => {
  const made = await create({ source: '/Teapots/Blue.html', status: 301, kind: 'product', target: 'TE-100' });
  expect([made.status, made.body]).toMatchObject([
    201,
    { source: '/Teapots/Blue.html', status: 301, kind: 'product', target: 'TE-100', origin: 'manual' },
  ]);
  for (const path of [
    '/Teapots/Blue.html',
    '/teapots/blue.html/',
    '/teapots/blue.html?utm_source=mail&x=1',
  ]) {
    expect(await visit(path)).toEqual({ status: 301, location: '/shop/DemoShop/Products/TE-100' });
  }
  expect((await visit('/Teapots/Green.html')).status).toBe(404);
  // The page itself is shown, and redirects are not asked.
  expect((await visit('/Products/TE-100')).status).toBe(200);

  const { productId } = (await service.db.one<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = 'DemoShop' and product_number = 'TE-100'`))!;
  const rename = (to: string) =>
    service.call('PATCH', `/DemoShop/products/${productId}`, {
      token: 'demo-all',
      body: [{ op: 'add', path: '/productNumber', value: to }],
    });
  expect((await rename('TE-100 new/1')).status).toBe(200);
  const place = '/shop/DemoShop/Products/TE-100%20new%2F1';
  expect(await visit('/Teapots/Blue.html')).toEqual({ status: 301, location: place });
  expect(await visit('/Products/TE-100')).toEqual({ status: 301, location: place });
  expect((await visit('/Products/TE-100%20new%2F1')).status).toBe(200);
  expect((await rename('TE-100')).status).toBe(200);
  expect((await visit('/Products/TE-100')).status).toBe(200);
  expect(await visit('/Products/TE-100%20new%2F1')).toEqual({
    status: 301,
    location: '/shop/DemoShop/Products/TE-100',
  });
  const { body } = await manage('GET', '/redirects?source=/products');
  expect(
    body.items.map(({ source, target, origin }: Record<string, string>) => [source, target, origin]),
  ).toEqual([['/Products/TE-100%20new%2F1', 'TE-100', 'moved']]);
});

test('a category that gets another alias keeps its old address', async () => {
  const { categoryId, alias } = (await service.db.one<{ categoryId: string; alias: string }>(sql`
    select upper(category_id::text) as "categoryId", alias from category
    where shop_id = 'DemoShop' and parent_id is not null and visible order by position limit 1`))!;
  const rename = (to: string) =>
    service.call('PUT', `/DemoShop/categories/${categoryId}`, {
      token: 'demo-all',
      body: { categoryId, alias: to },
    });
  const before = await create({
    source: '/old-category',
    status: 301,
    kind: 'address',
    target: `/Categories/${encodeURIComponent(alias)}`,
  });
  expect(before.status).toBe(201);
  expect((await rename('Renamed')).status).toBe(200);
  expect(await visit(`/Categories/${encodeURIComponent(alias)}`)).toEqual({
    status: 301,
    location: '/shop/DemoShop/Categories/Renamed',
  });
  // What led to the old address leads to the category itself, and not through a chain.
  expect((await manage('GET', `/redirects/${before.body.redirectId}`)).body).toMatchObject({
    kind: 'category',
    target: 'Renamed',
  });
  expect((await rename(alias)).status).toBe(200);
});

test('what is gone says so, and a language stays', async () => {
  expect((await create({ source: '/gone', status: 410 })).status).toBe(201);
  const { status, text } = await givenVisitor(service, 'DemoShop').get('/gone');
  expect([status, text.includes('This page no longer exists')]).toEqual([410, true]);
  await create({ source: '/alt?id=5', status: 301, kind: 'address', target: '/search?q=tea' });
  expect(await visit('/alt?id=5&locale=de_DE')).toEqual({
    status: 301,
    location: '/shop/DemoShop/search?locale=de_DE&q=tea',
  });
  expect((await visit('/alt?id=6')).status).toBe(404);
  await create({ source: '/blog', status: 301, kind: 'address', target: 'https://blog.example/tea' });
  expect(await visit('/blog')).toEqual({ status: 301, location: 'https://blog.example/tea' });
});

test('an address with any letters can be in a header', async () => {
  await create({ source: '/letters', status: 301, kind: 'address', target: '/Größe→Maß' });
  expect(await visit('/letters')).toEqual({
    status: 301,
    location: '/shop/DemoShop/Gr%C3%B6%C3%9Fe%E2%86%92Ma%C3%9F',
  });
  await create({
    source: '/letters-2',
    status: 301,
    kind: 'address',
    target: 'https://blog.example/→?q=1%2F2',
  });
  expect(await visit('/letters-2')).toEqual({
    status: 301,
    location: 'https://blog.example/%E2%86%92?q=1%2F2',
  });
});

test('addresses of other software find products and categories by their names', async () => {
  const place = '/shop/DemoShop/Products/TE-100';
  for (const path of [
    '/epages/DemoShop.sf/de_DE/?ObjectPath=/Shops/DemoShop/Products/TE-100',
    '/collections/all-tea/products/te-100',
    '/product/te-100/',
    '/Some-tea/TE-100',
  ]) {
    expect(await visit(path)).toEqual({ status: 301, location: place });
  }
  expect(await visit('/my-account/')).toEqual({ status: 301, location: '/shop/DemoShop/account' });
});

test.each([
  [{ source: '/', status: 301, kind: 'address', target: '/cart' }, 400, 'REDIRECT_SOURCE_HAS_PAGE'],
  [{ source: '/%00', status: 301, kind: 'address', target: '/cart' }, 400, 'REDIRECT_SOURCE_INVALID'],
  [{ source: '/a?b=1&c=2&d=3', status: 410 }, 400, 'REDIRECT_SOURCE_TOO_SPECIFIC'],
  [{ source: '/TEAPOTS/blue.html', status: 410 }, 409, 'REDIRECT_SOURCE_TAKEN'],
  [{ source: '/n', status: 301 }, 400, 'REDIRECT_TARGET_MISSING'],
  [{ source: '/n', status: 301, kind: 'product', target: 'No' }, 400, 'REDIRECT_TARGET_UNKNOWN'],
  [{ source: '/n', status: 301, kind: 'category', target: 'TE-100' }, 400, 'REDIRECT_TARGET_UNKNOWN'],
  [
    { source: '/n', status: 301, kind: 'address', target: 'javascript:alert(1)' },
    400,
    'REDIRECT_TARGET_INVALID',
  ],
  [{ source: '/n', status: 301, kind: 'address', target: '//evil.example' }, 400, 'REDIRECT_TARGET_INVALID'],
  [{ source: '/n', status: 301, kind: 'address', target: 'https://[n' }, 400, 'REDIRECT_TARGET_INVALID'],
  [{ source: '/n', status: 301, kind: 'address', target: '/n\u0001' }, 400, 'REDIRECT_TARGET_INVALID'],
  [{ source: '/n', status: 301, kind: 'address', target: '/N/?a=1' }, 400, 'REDIRECT_LOOP'],
  [{ source: '/n', status: 301, kind: 'address', target: '/teapots/blue.html?a=1' }, 400, 'REDIRECT_CHAIN'],
  [{ source: '/search?q=tea', status: 410 }, 400, 'REDIRECT_CHAIN'],
])('%j is refused', async (body, status, code) => {
  const before = await count();
  const answer = await create(body);
  expect([answer.status, answer.headers['x-error-code']]).toEqual([status, code]);
  expect(await count()).toBe(before);
});

test('two redirects that would make a chain together are not both written', async () => {
  const answers = await Promise.all([
    create({ source: '/first', status: 301, kind: 'address', target: '/second' }),
    create({ source: '/second', status: 301, kind: 'address', target: '/first' }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 400]);
});

test('a redirect is changed and deleted', async () => {
  const { redirectId } = (
    await create({ source: '/changing', status: 301, kind: 'address', target: '/cart' })
  ).body;
  const body = { source: '/changed', status: 301, kind: 'address', target: '/cart' };
  const changed = await manage('PUT', `/redirects/${redirectId}`, body);
  expect([changed.status, changed.body]).toMatchObject([200, { redirectId, source: '/changed' }]);
  expect(
    (await manage('PUT', `/redirects/${redirectId}`, { ...body, target: '/changed' })).headers[
      'x-error-code'
    ],
  ).toBe('REDIRECT_LOOP');
  expect(await visit('/changed')).toEqual({ status: 301, location: '/shop/DemoShop/cart' });
  expect((await visit('/changing')).status).toBe(404);
  expect((await manage('DELETE', `/redirects/${redirectId}`)).status).toBe(204);
  expect((await visit('/changed')).status).toBe(404);
});

test('a change makes no chain with one of several redirects to the same address', async () => {
  const [first, second] = [
    await create({ source: '/one-of-two', status: 301, kind: 'address', target: '/shared' }),
    await create({ source: '/two-of-two', status: 301, kind: 'address', target: '/shared' }),
  ];
  for (const { body } of [first, second]) {
    const answer = await manage('PUT', `/redirects/${body.redirectId}`, {
      source: '/shared',
      status: 301,
      kind: 'address',
      target: '/cart',
    });
    expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'REDIRECT_CHAIN']);
  }
});

test('redirects to very many addresses of one page are not compared one by one', async () => {
  await service.db.run(sql`
    insert into redirect (shop_id, redirect_id, source, source_key, status, address, target_path, target_parameters,
      origin, created_at)
    select 'DemoShop', gen_random_uuid(), '/from-' || number, '/from-' || number, 301, '/many?n=' || number, '/many',
      array['n=' || number], 'imported', ${service.db.now}
    from generate_series(1, 1000) number`);
  const source = { source: '/many?z=1', status: 410 };
  const first = await create(source);
  expect(first.status).toBe(201);
  await manage('DELETE', `/redirects/${first.body.redirectId}`);
  await create({ source: '/from-more', status: 301, kind: 'address', target: '/many?n=more' });
  const answer = await create(source);
  expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'REDIRECT_CHAIN']);
  await service.db.run(sql`delete from redirect where shop_id = 'DemoShop' and target_path = '/many'`);
});

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0', accept: 'text/html' };

test('addresses asked for in vain are counted, and bots are not', async () => {
  const visitor = givenVisitor(service, 'DemoShop', '127.0.0.7');
  await visitor.get('/missing/cup.html', { ...BROWSER, referer: 'https://blog.example/tea?mail=ada@x' });
  await visitor.get('/Missing/Cup.html?email=ada@mail.example&p=3', BROWSER);
  await visitor.get('/missing/cup.html', { ...BROWSER, referer: 'https://blog.example/tea' });
  for (const path of ['/wp-login.php', '/.env', '/favicon-32.png']) await visitor.get(path, BROWSER);
  await visitor.get('/missing/by-bot', { ...BROWSER, 'user-agent': 'Googlebot/2.1' });
  await visitor.get('/missing/by-program', { 'user-agent': 'x', accept: '*/*' });
  // Secret addresses are none of these.
  await visitor.get('/order/abcdefgh', BROWSER);
  const trying = givenVisitor(service, 'DemoShop', '127.0.0.8');
  for (let index = 0; index < 15; index++) await trying.get(`/tried/${index}`, BROWSER);
  await service.app.missedAddresses.write();

  const { body } = await manage('GET', '/missed-addresses');
  const [first, second] = body.items;
  const { lastDay } = first;
  expect(first).toEqual({
    address: '/missing/cup.html',
    hits: 2,
    lastDay,
    referrers: ['https://blog.example/tea'],
  });
  expect([second.hits, body.results]).toEqual([1, 12]);
  expect(body.items.map(({ address }: { address: string }) => address)).toContain('/missing/cup.html?p=3');

  const page = await merchant.get('/redirects');
  expect(page.text).toContain('/redirects/new?source=%2Fmissing%2Fcup.html');
  expect((await merchant.get('/redirects/new?source=%2Fmissing%2Fcup.html')).text).toContain(
    'value="/missing/cup.html"',
  );
  const sent = await merchant.post('/redirects/new', {
    source: '/missing/cup.html',
    status: '301',
    kind: 'product',
    target: 'TE-100',
  });
  expect([sent.status, sent.location]).toEqual([303, '/admin/shops/DemoShop/redirects']);
  expect((await manage('GET', '/missed-addresses')).body.results).toBe(11);

  await service.db.run(sql`update missed_address set day = day - 31 where shop_id = 'DemoShop'`);
  expect((await manage('GET', '/missed-addresses')).body.results).toBe(0);
  await runCleanup(service.db, [missedAddressCleanup], { log: service.app.log });
  expect(await service.db.many(sql`select from missed_address`)).toEqual([]);
});

test('a refused form keeps what was typed, and changes nothing', async () => {
  const before = await count();
  const sent = await merchant.post('/redirects/new', {
    source: '/typed',
    status: '301',
    kind: 'product',
    target: 'No such',
  });
  expect(sent.status).toBe(400);
  expect(sent.text).toContain('value="/typed"');
  expect(sent.text).toContain('There is nothing with the name No such.');
  expect(await count()).toBe(before);
});

test('a file of redirects is read, and comes out again', async () => {
  const send = (content: string) => {
    const boundary = 'x-boundary';
    return service.app.inject({
      method: 'POST',
      url: '/admin/shops/DemoShop/redirects/import',
      headers: {
        host: 'localhost:8080',
        origin: 'http://localhost:8080',
        cookie: merchant.cookie,
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
      payload: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="redirects.csv"\r\nContent-Type: text/csv\r\n\r\n${content}\r\n--${boundary}--\r\n`,
    });
  };
  const shopify = await send(
    'Redirect from,Redirect to\r\n/shopify-old,/search?q=cup\r\n/teapots/blue.html,/cart\r\n',
  );
  expect([shopify.statusCode, shopify.headers.location]).toEqual([303, '/admin/shops/DemoShop/redirects']);
  expect(await visit('/shopify-old')).toEqual({ status: 301, location: '/shop/DemoShop/search?q=cup' });
  expect(await visit('/teapots/blue.html')).toEqual({ status: 301, location: '/shop/DemoShop/cart' });

  const mixed = await send(
    'source;status;kind;target\n/good;301;product;TE-100\n/loop;;;/loop\n/dead;410;;\n/bad;;product;No\n',
  );
  expect(mixed.statusCode).toBe(200);
  expect(mixed.body).toContain('2 redirects were saved.');
  expect(mixed.body).toContain('2 lines were left out.');
  expect(mixed.body).toContain('There is nothing with the name No.');
  const file = await merchant.get('/redirects/redirects.csv');
  expect(file.text).toContain('\n/dead;410;;\n');
  expect(file.text).toContain('\n/good;301;product;TE-100\n');
  const again = await send(file.text);
  expect(again.headers.location).toBe('/admin/shops/DemoShop/redirects');
});

test('a redirect to a hidden product waits until it is shown again', async () => {
  await service.db.run(sql`
    update product set visible = false where shop_id = 'DemoShop' and product_number = 'TE-100'`);
  expect((await visit('/good')).status).toBe(404);
  await service.db.run(sql`
    update product set visible = true where shop_id = 'DemoShop' and product_number = 'TE-100'`);
  expect((await visit('/good')).status).toBe(301);
});

test('a page that gets other addresses keeps the old ones, and redirects and menus follow it', async () => {
  const text = (locale: string, slug: string) => ({
    locale,
    title: slug,
    slug,
    blocks: [{ type: 'richText', html: `<p>${slug}</p>` }],
  });
  const pageWith = (published: boolean, ...texts: object[]) => ({ kind: 'page', published, texts });
  const made = await manage(
    'POST',
    '/pages',
    pageWith(true, text('en_GB', 'about'), text('de_DE', 'über-uns')),
  );
  expect(made.status).toBe(201);
  const change = (body: object) => manage('PUT', `/pages/${made.body.pageId}`, body);
  await service.db.run(sql`
    update shop set settings_version = settings_version + 1, settings = settings || ${JSON.stringify({
      menus: { header: [{ text: { en_GB: 'Who we are' }, link: '/pages/about', entries: [] }], footer: [] },
    })}::jsonb where shop_id = 'DemoShop'`);

  const toPage = { source: '/who.html', status: 301, kind: 'page', target: '/pages/%C3%BCber-uns' };
  expect((await create({ ...toPage, target: '/pages/none' })).headers['x-error-code']).toBe(
    'REDIRECT_TARGET_UNKNOWN',
  );
  const redirect = await create(toPage);
  expect([redirect.status, redirect.body]).toMatchObject([201, { kind: 'page', target: '/pages/über-uns' }]);
  const toPath = await create({ source: '/wir', status: 301, kind: 'address', target: '/pages/about' });
  expect(toPath.status).toBe(201);
  expect(await visit('/who.html')).toEqual({ status: 301, location: '/shop/DemoShop/pages/about' });

  const renamed = await change(pageWith(true, text('en_GB', 'who-we-are'), text('de_DE', 'wer-wir-sind')));
  expect([renamed.status, renamed.body.message]).toEqual([200, undefined]);
  const place = '/shop/DemoShop/pages/who-we-are';
  for (const path of ['/who.html', '/wir', '/pages/about', '/pages/%C3%BCber-uns'])
    expect(await visit(path)).toEqual({ status: 301, location: place });
  expect((await visit('/pages/about?locale=de_DE')).location).toBe(
    '/shop/DemoShop/pages/wer-wir-sind?locale=de_DE',
  );
  expect((await manage('GET', `/redirects/${toPath.body.redirectId}`)).body).toMatchObject({
    kind: 'page',
    target: '/pages/wer-wir-sind',
  });
  expect((await givenVisitor(service, 'DemoShop').get('')).text).toContain(`href="${place}"`);

  // The first address again: it has a page, so its redirect is gone.
  await change(pageWith(true, text('en_GB', 'about'), text('de_DE', 'wer-wir-sind')));
  expect((await visit('/pages/about')).status).toBe(200);
  expect(await visit('/pages/who-we-are')).toEqual({ status: 301, location: '/shop/DemoShop/pages/about' });
  const { body } = await manage('GET', '/redirects?source=/pages');
  expect(body.items.map(({ source }: { source: string }) => source)).toEqual([
    '/pages/who-we-are',
    '/pages/%C3%BCber-uns',
  ]);

  await change(pageWith(false, text('en_GB', 'about')));
  expect((await visit('/who.html')).status).toBe(404);
  expect((await manage('DELETE', `/pages/${made.body.pageId}`)).status).toBe(204);
  expect((await manage('GET', '/redirects?source=/pages')).body.results).toBe(0);
});
