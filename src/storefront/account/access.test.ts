import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import { changeSettings, givenDemoShop, NOW, queuedEmails, type Shop } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { signInAs } from '../../../test/signed-in.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';

/** A shop that is for customers only: what others see of it, and how they are let in. */

const ADA = 'ada.lindqvist@mail.example';
const NUMBER = 'TE-110';

let service: Service;
let shop: Shop;
let merchant: Merchant;
let token: string;
let productName: string;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  service.setClock(NOW);
  shop = await givenDemoShop(service);
  merchant = await givenMerchant(service);
  token = await givenToken(service, 'DemoShop');
  const row = await service.db.one<{ name: string }>(sql`
    select facts -> 'name' ->> 'en_GB' as name from product
    where shop_id = 'DemoShop' and product_number = ${NUMBER}`);
  productName = row!.name;
});
afterAll(() => service.close());
beforeEach(async () => {
  for (const statement of [
    sql`delete from access_request`,
    sql`delete from sign_in_request`,
    sql`delete from account`,
    sql`delete from job`,
    sql`update customer set customer_group_id = null where email_key = ${ADA}`,
  ]) {
    await service.db.run(statement);
  }
  await changeSettings(shop, { visibility: { shop: 'groups', groups: ['Cafes'], requests: true } });
});

async function signedIn(email = ADA): Promise<Visitor> {
  const visitor = givenVisitor(service, 'DemoShop');
  await signInAs(service, visitor, email);
  return visitor;
}

const guest = () => givenVisitor(service, 'DemoShop');
const api = (method: string, path: string, body?: unknown, own?: string) =>
  service.call(method, `/DemoShop${path}`, { ...(own !== undefined && { token: own }), body });

const groupId = async (name: string) =>
  (await service.db.one<{ id: string }>(sql`
    select upper(customer_group_id::text) as id from customer_group where shop_id = 'DemoShop' and name = ${name}`))!
    .id;

const PAGES = [
  '',
  `/Products/${NUMBER}`,
  `/Products/${NUMBER}.md`,
  '/search?q=tea',
  '/cart',
  '/wishlist',
  '/checkout',
  '/no-such-page',
];
const FILES = ['/sitemap.xml', '/llms.txt', '/feeds/google.xml'];

describe('guests', () => {
  test.each(PAGES)('see a page to sign in on instead of %s', async (path) => {
    const page = await guest().get(path);
    expect(page.status).toBe(200);
    expect(mainOf(page)).toContain('This shop is for customers.');
    expect(page.text).toContain('/account/sign-in"');
    for (const secret of [productName, 'application/ld+json', '€', 'name="q"']) {
      expect(page.text).not.toContain(secret);
    }
    expect(page.headers['x-robots-tag']).toBe('noindex');
    expect(page.headers['cache-control']).toBe('no-store');
  });

  test.each(FILES)('find no %s', async (path) => {
    await changeSettings(shop, { feeds: { google: true } });
    const file = await guest().get(path);
    expect(file.status).toBe(404);
    expect(file.text).not.toContain(productName);
  });

  test('can add nothing to a cart, and sign in', async () => {
    const page = await guest().post('/cart/add', { productId: shop.ids[NUMBER]!, quantity: '1' });
    expect(page.status).toBe(403);
    expect(page.text).not.toContain(productName);
    expect((await guest().get('/account/sign-in')).text).toContain('name="email"');
    expect((await guest().get('/legal/terms')).status).not.toBe(403);
  });

  test('get nothing from the API without a token that may read products', async () => {
    const lines = { lineItems: [{ productId: shop.ids[NUMBER], quantity: 1 }] };
    for (const [method, path, body] of [
      ['GET', '/products'],
      ['GET', `/products/${shop.ids[NUMBER]}`],
      ['GET', '/categories'],
      ['POST', '/carts', lines],
    ] as const) {
      const answer = await api(method, path, body);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(JSON.stringify(answer.body)).not.toContain(productName);
    }
    expect((await api('GET', '/products', undefined, token)).status).toBe(200);
    expect((await api('POST', '/carts', lines, token)).status).toBe(201);
  });
});

describe('customers', () => {
  test('see the shop when they have signed in, where it is for all of them', async () => {
    await changeSettings(shop, { visibility: { shop: 'customers' } });
    expect((await guest().get(`/Products/${NUMBER}`)).text).not.toContain(productName);
    const visitor = await signedIn();
    const page = await visitor.get(`/Products/${NUMBER}`);
    expect(page.text).toContain(productName);
    expect(page.headers['cache-control']).toBe('private, no-cache');
    const cart = await visitor.submit('/cart/add', { productId: shop.ids[NUMBER]!, quantity: '1' });
    expect(mainOf(cart)).toContain(productName);
    // The page that one of them has seen is not served to a guest.
    expect((await guest().get(`/Products/${NUMBER}`)).text).not.toContain(productName);
  });

  test('of other groups see their account and nothing else', async () => {
    const visitor = await signedIn();
    const page = await visitor.get(`/Products/${NUMBER}`);
    expect(mainOf(page)).toContain('your account does not have access yet');
    expect(page.text).not.toContain(productName);
    expect((await visitor.get('/account')).text).toContain(ADA);
    await service.db.run(sql`
      update customer set customer_group_id = ${await groupId('Staff')} where email_key = ${ADA}`);
    expect((await visitor.get(`/Products/${NUMBER}`)).text).not.toContain(productName);
    await service.db.run(sql`
      update customer set customer_group_id = ${await groupId('Cafes')} where email_key = ${ADA}`);
    expect((await visitor.get(`/Products/${NUMBER}`)).text).toContain(productName);
  });
});

describe('a request for access', () => {
  const ask = (visitor: Visitor, fields: Record<string, string> = {}) =>
    visitor.submit('/account/access', {
      company: 'Quay Café',
      vatId: '',
      text: 'We open in May.',
      ...fields,
    });

  /** To whom emails say that the shop is open. */
  const approvals = async () =>
    (await queuedEmails(service, 'DemoShop'))
      .filter(({ template }) => template === 'accessApproved')
      .map(({ to }) => to);

  test('is approved in the admin, and opens the shop once', async () => {
    const visitor = await signedIn();
    const unnamed = await visitor.post('/account/access', { company: ' ', vatId: '', text: '' });
    expect(unnamed.status).toBe(400);
    expect(mainOf(await ask(visitor))).toContain('We have received your request.');
    // Asking again changes nothing.
    await ask(visitor, { company: 'Other' });
    const list = await merchant.get('/access-requests');
    expect(list.text).toContain('Quay Café');
    expect(list.text).not.toContain('Other</h2>');
    const [, customerId] = /access-requests\/([0-9A-F-]{36})\/approve/.exec(list.text)!;
    const other = await service.call('POST', `/manage/shops/DemoShop/access-requests/${customerId}/approve`, {
      token,
      body: { customerGroupId: await groupId('Staff') },
    });
    expect([other.status, other.body.message]).toEqual([
      400,
      expect.stringContaining('UNKNOWN_VALUE on field customerGroupId'),
    ]);
    const approval = { customerGroupId: await groupId('Cafes') };
    expect((await merchant.post(`/access-requests/${customerId}/approve`, approval)).status).toBe(303);
    expect((await visitor.get(`/Products/${NUMBER}`)).text).toContain(productName);
    expect(await approvals()).toEqual([ADA]);
    const again = await service.call('POST', `/manage/shops/DemoShop/access-requests/${customerId}/decline`, {
      token,
    });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('decided already')]);
  });

  test('may be sent again after it was declined', async () => {
    const visitor = await signedIn();
    await ask(visitor);
    const { body } = await service.call('GET', '/manage/shops/DemoShop/access-requests', { token });
    expect(body.items).toMatchObject([{ email: ADA, company: 'Quay Café', state: 'waiting' }]);
    const path = `/manage/shops/DemoShop/access-requests/${body.items[0].customerId}/decline`;
    expect((await service.call('POST', path, { token })).body).toMatchObject({ state: 'declined' });
    expect(await approvals()).toEqual([]);
    expect(mainOf(await visitor.get('/account/access'))).toContain('You may ask again.');
    expect(mainOf(await ask(visitor))).toContain('We have received your request.');
  });

  test('is not possible where the shop does not take any', async () => {
    await changeSettings(shop, { visibility: { shop: 'groups', groups: ['Cafes'], requests: false } });
    const visitor = await signedIn();
    expect(mainOf(await ask(visitor))).toContain('This account has no access.');
    expect(await service.db.many(sql`select * from access_request`)).toEqual([]);
  });
});
