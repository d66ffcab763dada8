import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPublicDemo, resetDemo } from '../../src/commands/demo/public-demo.ts';
import { startEmails } from '../../src/composition/emails.ts';
import { readConfig } from '../../src/config.ts';
import { sql } from '../../src/db/sql.ts';
import { DEMO_OFFICE, DEMO_SHOP, demoHour } from '../../src/http/demo-mode.ts';
import { newId } from '../../src/kernel/ids.ts';
import { updateSuspension } from '../../src/shops/shop/queries.ts';
import { givenBrowser, merchantWith, type AdminBrowser, type Merchant } from '../admin.ts';
import { givenShop, givenToken } from '../builders.ts';
import { addPictures, fingerprint } from '../demo.ts';
import { OPERATIONS } from '../operations.ts';
import { buy } from '../payments.ts';
import { waitFor } from '../process.ts';
import { startService, type Service } from '../service.ts';
import { readPage } from '../storefront.ts';
import { givenVisitor } from '../visitor.ts';

/** A demo that strangers may use (KONTOR_DEMO=1): what they may do, what they may not, and how it is reset. */

const HOUR = 3_600_000;
const NOW = new Date('2026-11-15T08:37:00Z');

let service: Service;
let product: string;

beforeAll(async () => {
  service = await startService({ KONTOR_DEMO: '1', RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  service.setClock(NOW);
  await openPublicDemo(service.db);
  await addPictures(service);
  await service.app.shopHosts.refresh();
  const found = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = ${DEMO_SHOP} and product_number = 'AP-100'`);
  product = found!.id;
});
afterAll(() => service.close());

const REFUSED = 'This is a demo: everybody may look around and buy, and nobody can change anything else';

async function givenLooker(): Promise<AdminBrowser> {
  const browser = givenBrowser(service);
  const entered = await browser.post('/admin/sign-in/demo', { to: '/admin' });
  expect([entered.status, entered.location]).toEqual([303, '/admin']);
  return browser;
}

async function lookerIn(shopId: string): Promise<Merchant> {
  const { cookies } = await givenLooker();
  return merchantWith(service, `admin=${cookies.get('admin')}`, shopId, 'visitor@demo.localhost');
}

const dataOf = (purchase: { orderId: string }) =>
  service.db.one(sql`
    select order_id from customer_order where shop_id = ${DEMO_SHOP} and order_id = ${purchase.orderId}`);

describe('in the shop', () => {
  test('a stranger buys, pays without a bank, and no email leaves', async () => {
    const shop = { service, shopId: DEMO_SHOP, token: '', ids: {} };
    const purchase = await buy(shop, product, 'quickpay');
    expect(await dataOf(purchase)).toBeDefined();
    const pay = await purchase.visitor.post(purchase.payPath, {});
    expect(pay.status).toBe(303);
    const bank = String(pay.headers.location).replace(/^https?:\/\/[^/]+/, '');
    expect((await purchase.visitor.get(bank)).status).toBe(200);

    const { db, config } = service;
    const emails = startEmails({
      db,
      config,
      log: pino({ level: 'silent' }),
      origin: 'https://demo.example',
      pause: 10,
    });
    const kept = () =>
      db.many<{ recipient: string }>(sql`select recipient from sandbox_email where shop_id = ${DEMO_SHOP}`);
    await waitFor(async () =>
      (await kept()).some(({ recipient }) => recipient === 'ada.lindqvist@mail.example'),
    );
    await emails.stop();
  });

  test('a stranger buys through the API as far as it needs no token', async () => {
    const made = await service.call('POST', `/${DEMO_SHOP}/carts`, {
      body: { lineItems: [{ productId: product, quantity: 1 }] },
    });
    expect(made.status).toBe(201);
    const cartToken = String(made.headers['x-epages-cart-token']);
    const path = `/${DEMO_SHOP}/carts/${made.body.cartId}`;
    const more = await service.call('POST', `${path}/line-items`, {
      cartToken,
      body: { productId: product, quantity: 1 },
    });
    expect(more.status).toBe(201);
  });

  test.each([
    ['en_GB', 'This is a demo shop.', 'in 23 minutes.'],
    ['de_DE', 'Das ist ein Demo-Shop.', 'in 23 Minuten.'],
  ])('each page says in %s that it is a demo, and when it is reset', async (locale, title, minutes) => {
    for (const path of ['', '/cart', '/search?q=tea', '/Products/AP-100', '/sign-in', '/nowhere']) {
      const { text } = await readPage(
        service,
        `/${DEMO_SHOP}${path}${path.includes('?') ? '&' : '?'}locale=${locale}`,
      );
      expect([path, text]).toEqual([path, expect.stringContaining(title)]);
      expect([path, text]).toEqual([path, expect.stringContaining(minutes)]);
    }
  });

  test('search engines find nothing', async () => {
    const { text, headers } = await readPage(service, `/${DEMO_SHOP}`);
    expect(text).toContain('<meta name="robots" content="noindex" />');
    expect(headers['x-robots-tag']).toBe('noindex');
    for (const url of ['/', '/docs', '/admin/sign-in', `/rs/shops/${DEMO_SHOP}`, '/robots.txt', '/nowhere']) {
      const answer = await service.app.inject({ url });
      expect([url, answer.headers['x-robots-tag']]).toEqual([url, 'noindex']);
    }
    expect((await service.app.inject({ url: '/robots.txt' })).body).toBe('User-agent: *\nDisallow: /\n');
  });

  test('nobody can buy or write in the shop whose admin is shown', async () => {
    const visitor = givenVisitor(service, DEMO_OFFICE);
    const before = await fingerprint(service);
    for (const path of ['/cart/add', '/checkout', '/contact', '/newsletter', '/sign-in', '/consent']) {
      const { status } = await visitor.post(path, { email: 'ada@mail.example', productId: product });
      expect([path, [403, 404]]).toEqual([path, expect.arrayContaining([status])]);
    }
    expect(await fingerprint(service)).toEqual(before);
  });

  test('the start page leads to the shop and to the admin, and shows nothing else', async () => {
    const { body } = await service.app.inject({ url: '/', headers: { host: 'localhost:8080' } });
    expect(body).toContain('in 23 minutes.');
    expect(body).toContain(`href="/shop/${DEMO_SHOP}"`);
    expect(body).not.toContain('token create');
  });
});

describe('in the admin', () => {
  test('a stranger looks around with one click, in a shop where nobody else types anything', async () => {
    const looker = await givenLooker();
    expect((await looker.get('/admin')).location).toBe(`/admin/shops/${DEMO_OFFICE}`);
    for (const path of ['', '/orders', '/products', '/customers', '/settings', '/reports', '/sandbox']) {
      const { status, text } = await looker.get(`/admin/shops/${DEMO_OFFICE}${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain('This is a demo.');
      expect(text).toContain('in 23 minutes.');
    }
    expect((await looker.get(`/admin/shops/${DEMO_SHOP}/orders`)).status).toBe(404);
    const { text } = await looker.get(`/admin/shops/${DEMO_OFFICE}`);
    expect(text).toContain(`href="http://localhost:8080/shop/${DEMO_SHOP}"`);
  });

  test('visitors do not see the browsers of each other', async () => {
    await givenLooker();
    const looker = await givenLooker();
    const { text } = await looker.get('/admin/account');
    expect(text.match(/Firefox/g)).toHaveLength(1);
  });

  test('no form changes anything, by a sweep over all of them', async () => {
    const office = await lookerIn(DEMO_OFFICE);
    const forms = (await service.app.adminPages()).filter(({ method }) => method === 'POST');
    expect(forms.length).toBeGreaterThan(150);
    const before = await fingerprint(service);
    const taken: string[] = [];
    for (const { url } of forms) {
      const path = url.replace(':shopId', DEMO_OFFICE).replaceAll(/:\w+|\*/g, newId(NOW));
      const { status, text } = await office.post(path, { name: 'changed', to: '/admin' });
      if (text.includes('nothing can be changed here')) expect([url, status]).toEqual([url, 403]);
      else taken.push(url);
    }
    expect(taken.toSorted()).toEqual([
      '/admin/sign-in',
      '/admin/sign-in/code',
      '/admin/sign-in/demo',
      '/admin/sign-in/passkey',
      '/admin/sign-out',
    ]);
    const after = await fingerprint(service);
    // What signing in and out has written, and nothing else.
    const changed = Object.keys(after).filter((table) => after[table] !== before[table]);
    expect(changed.toSorted()).toEqual(['admin_session', 'admin_user', 'audit_entry', 'shop_user']);
  });

  test.each([
    ['de', 'ändern lässt sich hier nichts'],
    ['fr', 'rien ne peut être modifié ici'],
  ])('the refusal is in the language of the visitor: %s', async (language, words) => {
    const response = await service.app.inject({
      method: 'POST',
      url: `/admin/shops/${DEMO_OFFICE}/products/new`,
      headers: { host: 'localhost:8080', origin: 'http://localhost:8080', 'accept-language': language },
    });
    expect([response.statusCode, response.headers['content-type']]).toEqual([
      403,
      'text/html; charset=utf-8',
    ]);
    expect(response.body).toContain(words);
  });

  test('a file is refused before it is read', async () => {
    const response = await service.app.inject({
      method: 'POST',
      url: `/admin/shops/${DEMO_OFFICE}/media/new`,
      headers: { host: 'localhost:8080', 'content-type': 'multipart/form-data; boundary=x' },
      payload: 'x'.repeat(200_000),
    });
    expect(response.statusCode).toBe(403);
  });
});

describe('of the API', () => {
  test('no operation changes anything but carts, whatever token it has', async () => {
    const tokens = new Map<string, string>();
    for (const shopId of [DEMO_SHOP, DEMO_OFFICE]) tokens.set(shopId, await givenToken(service, shopId));
    const writing = OPERATIONS.filter(({ writes }) => writes);
    expect(writing.length).toBeGreaterThan(100);
    const before = await fingerprint(service);
    const taken = new Set<string>();
    for (const { name, method, path } of writing) {
      for (const [shopId, token] of tokens) {
        const place = path.startsWith('/manage/')
          ? path.replace('/manage/', `/manage/shops/${shopId}/`)
          : `/${shopId}${path}`;
        const answer = await service.call(method, place.replaceAll(/\{\w+\}/g, newId(NOW)), {
          token,
          cartToken: 'x'.repeat(32),
        });
        if (answer.status === 403 && answer.body.message.startsWith(REFUSED)) continue;
        expect([name, shopId]).toEqual([name, DEMO_SHOP]);
        taken.add(name);
      }
    }
    expect([...taken].every((name) => /^\w+ (?:\/manage)?\/carts(?:\/|$)/.test(name))).toBe(true);
    expect(taken.size).toBeGreaterThan(10);
    expect(taken).toContain('POST /carts');
    expect(await fingerprint(service)).toEqual(before);
  });

  test('the tokens that everybody knows are unknown, and nobody gets one', async () => {
    expect((await service.call('GET', `/${DEMO_SHOP}/customers`, { token: 'demo-all' })).status).toBe(401);
    expect((await service.call('POST', '/host/shops', { body: {} })).status).toBe(401);
    const stored = await service.db.one<{ count: number }>(
      sql`select count(*) as count from demo_access_end`,
    );
    expect(stored!.count).toBe(0);
  });

  test('what no route takes stays 404', async () => {
    expect((await service.call('POST', `/${DEMO_SHOP}/nothing`)).status).toBe(404);
    expect((await service.app.inject({ method: 'POST', url: '/nowhere' })).statusCode).toBe(404);
  });
});

describe('the reset', () => {
  const orders = async () =>
    (await service.db.one<{ count: number }>(sql`
      select count(*) as count from customer_order where shop_id = ${DEMO_SHOP}`))!.count;
  const next = (hours: number) => new Date(demoHour(NOW).getTime() + hours * HOUR);

  test('deletes what visitors have made, once in an hour, and a cart that is open is not found', async () => {
    const shop = { service, shopId: DEMO_SHOP, token: '', ids: {} };
    const visitor = givenVisitor(service, DEMO_SHOP);
    await visitor.submit('/cart/add', { productId: product, quantity: '2' });
    const { body, headers } = await service.call('POST', `/${DEMO_SHOP}/carts`, { body: {} });
    const cart = `/${DEMO_SHOP}/carts/${body.cartId}`;
    const cartToken = String(headers['x-epages-cart-token']);
    expect((await service.call('GET', cart, { cartToken })).status).toBe(200);
    const before = await orders();
    const versionOf = async () =>
      Number(
        (await service.db.one<{ version: string }>(sql`
          select version::text from product where shop_id = ${DEMO_SHOP} and product_number = 'AP-100'`))!
          .version,
      );
    const version = await versionOf();
    const purchase = await buy(shop, product, 'quickpay');
    expect(await orders()).toBe(before + 1);
    const looker = await givenLooker();
    const picture = /src="(\/media\/[^"]+)"/.exec((await readPage(service, `/${DEMO_SHOP}`)).text)![1]!;

    expect(await resetDemo(service.db, demoHour(NOW), 0)).toEqual([]);
    service.setClock(next(1));
    const both = await Promise.all([1, 2].map(() => resetDemo(service.db, next(1), 10)));
    expect(both.flat().toSorted()).toEqual([DEMO_OFFICE, DEMO_SHOP]);
    expect(await resetDemo(service.db, next(1), 0)).toEqual([]);

    expect(await dataOf(purchase)).toBeUndefined();
    expect((await service.call('GET', cart, { cartToken })).status).toBe(404);
    expect(
      (
        await service.call('POST', `${cart}/line-items`, {
          cartToken,
          body: { productId: product, quantity: 1 },
        })
      ).status,
    ).toBe(404);
    const page = await visitor.get('/cart');
    expect([page.status, page.text.includes('Your cart is empty')]).toEqual([200, true]);
    expect((await purchase.visitor.get(purchase.payPath)).status).toBe(404);
    // Caches know products by their ids, which are those of before, and their versions.
    expect(await versionOf()).toBeGreaterThan(version);
    // The next purchase goes as the first one.
    await buy(shop, product, 'quickpay', { visitor });
    // The visitor of the admin signs in again.
    expect((await looker.get('/admin')).location).toContain('/admin/sign-in');
    expect(
      (await service.db.one<{ count: number }>(
        sql`select count(*) as count from admin_user where starts_with(email, 'visitor-')`,
      ))!.count,
    ).toBe(0);
    // Pictures are those of before.
    expect((await readPage(service, `/${DEMO_SHOP}`)).text).toContain(picture);
    expect((await service.app.inject({ url: picture })).statusCode).toBe(200);
  });

  test('tells visitors who come meanwhile to try again', async () => {
    service.setClock(next(2));
    const { db } = service;
    // A process that is killed in between leaves the shops like this.
    await db.transaction(async (tx) => {
      for (const shopId of [DEMO_SHOP, DEMO_OFFICE]) await updateSuspension(tx, shopId, tx.now);
    });
    const page = await readPage(service, `/${DEMO_SHOP}`);
    expect([page.status, page.headers['retry-after'], page.headers['refresh']]).toEqual([503, '5', '5']);
    expect(page.text).toContain('The demo is being reset');
    const visitor = givenVisitor(service, DEMO_SHOP);
    expect((await visitor.post('/cart/add', { productId: product, quantity: '1' })).status).toBe(503);
    await waitFor(
      async () => (await service.call('GET', `/${DEMO_SHOP}/products`)).status === 503,
      5_000,
      200,
    );
    const answer = await service.call('GET', `/${DEMO_SHOP}/products`);
    expect(answer.headers['retry-after']).toBe('2');

    expect(await resetDemo(db, next(2), 0)).toEqual([DEMO_SHOP, DEMO_OFFICE]);
    expect((await readPage(service, `/${DEMO_SHOP}`)).status).toBe(200);
  });
});

describe('the start', () => {
  test('is refused where the database has shops of others', async () => {
    const other = await startService({ KONTOR_DEMO: '1' });
    await givenShop(other, 'TeaHouse');
    await expect(openPublicDemo(other.db)).rejects.toThrow(
      'KONTOR_DEMO=1 deletes its shops at every full hour, and this database has the shop TeaHouse: set KONTOR_DATA to an empty folder or DATABASE_URL to an empty database, or remove KONTOR_DEMO.',
    );
    expect(
      (await other.db.many<{ id: string }>(sql`select shop_id as id from shop`)).map(({ id }) => id),
    ).toEqual(['TeaHouse']);
    await other.close();
  });

  test('is refused on the demo shop of a private installation, and on a demo with another shop', async () => {
    const other = await startService({ KONTOR_DEMO: '1' });
    await givenShop(other, DEMO_SHOP);
    await expect(openPublicDemo(other.db)).rejects.toThrow(`has the shop ${DEMO_SHOP}`);
    await other.db.run(sql`delete from shop`);
    await openPublicDemo(other.db);
    await openPublicDemo(other.db);
    await givenShop(other, 'TeaHouse');
    await expect(openPublicDemo(other.db)).rejects.toThrow('has the shop TeaHouse');
    await other.close();
  });

  test('is refused with an SMTP server', () => {
    expect(() => readConfig({ KONTOR_DEMO: '1', SMTP_URL: 'smtp://mail.example' })).toThrow(
      'SMTP_URL is set, and a demo sends no emails: remove SMTP_URL or KONTOR_DEMO.',
    );
    expect(() => readConfig({ KONTOR_DEMO: 'yes' })).toThrow('KONTOR_DEMO is "yes"');
    expect(readConfig({}).KONTOR_DEMO).toBe(0);
  });
});
