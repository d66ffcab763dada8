import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant } from '../../test/admin.ts';
import { givenToken, SELLER } from '../../test/builders.ts';
import { changesNothing } from '../../test/carts.ts';
import { newFolder, cleanUp } from '../../test/process.ts';
import { formOf, PNG } from '../../test/upload.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../test/service.ts';
import { startEmails } from '../composition/emails.ts';
import { sql } from '../db/sql.ts';
import { parsePlans } from '../platform/plans/plans.ts';
import { shopDays } from '../platform/plans/shop-days.ts';
import { HOST_SCOPES } from '../http/scopes.ts';
import { runCleanup } from '../platform/cleanup.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { shopDeletion } from './delete-shops.ts';
import { createHostToken } from './tokens.ts';

const NOW = new Date('2026-11-19T10:00:00Z');
const DAY = 86_400_000;

const PLANS = `version: 1
default: small
plans:
  small: { products: 2, ordersPerMonth: 3, people: 1, languages: 1, mediaMegabytes: 1, features: [feeds] }
  tiny: { products: 0, ordersPerMonth: 0, people: 0, requestsPerHour: 5 }
  large: { products: 10, ordersPerMonth: 10 }
  quiet: { emailsPerDay: 1 }
`;

let service: Service;
let token: string;
beforeAll(async () => {
  const file = path.join(await newFolder(), 'plans.yaml');
  await writeFile(file, PLANS);
  service = await startService({ PLANS_FILE: file });
  service.setClock(NOW);
  // Calls count for the day on which the service has begun to count.
  await service.app.shopCalls.flush();
  token = await service.db.transaction((tx) =>
    createHostToken(tx, { name: 'order system', scopes: HOST_SCOPES }),
  );
});
afterAll(async () => {
  await service.close();
  await cleanUp();
});

const host = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  service.call(method, `/host${path}`, { token, ...options });

const codeOf = ({ status, headers }: Answer) => [status, headers['x-error-code']];

interface Tenant {
  shopId: string;
  token: string;
  productId: string;
}

async function givenTenant(shopId: string, plan?: string): Promise<Tenant> {
  const made = await host('POST', '/shops', {
    body: {
      shopId,
      name: `Shop ${shopId}`,
      country: 'DE',
      email: 'shop@mail.example',
      settings: { invoicing: SELLER },
      ...(plan && { plan }),
    },
  });
  expect(made).toMatchObject({ status: 201, body: { plan: plan ?? null } });
  const own = await givenToken(service, shopId);
  const product = await givenProduct(shopId, own);
  expect(product.status).toBe(201);
  return { shopId, token: own, productId: product.body.productId };
}

const givenProduct = (shopId: string, own: string) =>
  service.call('POST', `/${shopId}/products`, {
    token: own,
    body: { name: 'Tea', price: 5, visible: true },
  });

async function order({ shopId, token: own, productId }: Tenant, quantity: number): Promise<Answer> {
  const address = {
    lastName: 'Lindqvist',
    street: 'Kai 7',
    zipCode: '20457',
    city: 'Hamburg',
    country: 'DE',
    emailAddress: 'ada@mail.example',
  };
  const cart = await service.call('POST', `/${shopId}/carts`, {
    token: own,
    body: { lineItems: [{ productId, quantity }], billingAddress: address },
  });
  expect([cart.status, cart.text]).toEqual([201, cart.text]);
  return service.call('POST', `/${shopId}/carts/${cart.body.cartId}/order`, {
    token: own,
    cartToken: String(cart.headers['x-epages-cart-token']),
  });
}

/** The days of all shops, read page by page. */
async function usageOf(from: string, to: string) {
  const items: {
    shopId: string;
    day: string;
    orders: number;
    turnover: { gross: string }[];
    requests: number;
  }[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: Answer = await host('GET', `/usage?from=${from}&to=${to}&limit=7&after=${after}`);
    expect(page.status).toBe(200);
    items.push(...page.body.items);
    after = page.body.next;
  }
  return items;
}

/** So that each number of orders meets each plan. */
const SHOPS = 20;

test(`the life of ${SHOPS} shops: made, sold, limited, suspended, resumed, deleted, restored, and billed`, async () => {
  const tenants: Tenant[] = [];
  for (let index = 0; index < SHOPS; index++) {
    const shopId = `life-${String(index).padStart(2, '0')}`;
    tenants.push(await givenTenant(shopId, index % 5 === 0 ? 'large' : undefined));
  }
  // Two products and three orders a month are all that the default plan has room for.
  for (const [index, tenant] of tenants.entries()) {
    const isLarge = index % 5 === 0;
    for (let count = 0; count <= index % 4; count++) {
      service.setClock(new Date(NOW.getTime() + (count % 2) * DAY));
      const placed = await order(tenant, 1 + (index % 3));
      expect(codeOf(placed)).toEqual(isLarge || count < 3 ? [201, undefined] : [402, 'PLAN_ORDERS_REACHED']);
    }
    service.setClock(NOW);
  }
  const second = tenants[1]!;
  expect((await givenProduct(second.shopId, second.token)).status).toBe(201);
  const refused = await changesNothing(service, () => givenProduct(second.shopId, second.token));
  expect([codeOf(refused), refused.body.message.split(', Request')[0]]).toEqual([
    [402, 'PLAN_PRODUCTS_REACHED'],
    'The plan small of this shop has room for 2 products, ask the operator of this installation for a larger one',
  ]);

  for (const { shopId, token: own } of tenants.slice(0, 10)) {
    expect((await host('POST', `/shops/${shopId}/suspend`)).body.state).toBe('suspended');
    expect(codeOf(await service.call('GET', `/${shopId}/products`, { token: own }))).toEqual([
      403,
      'SHOP_SUSPENDED',
    ]);
    expect((await host('POST', `/shops/${shopId}/resume`)).body.state).toBe('notOpen');
    expect((await service.call('GET', `/${shopId}/products`, { token: own })).status).toBe(200);
  }

  // What every shop says of its own sales is what the host bills.
  const { db } = service;
  await service.app.shopCalls.flush();
  expect(await shopDays.run(db, 500)).toBe(SHOPS);
  expect(await shopDays.run(db, 500)).toBe(0);
  const usage = await usageOf('2026-11-19', '2026-11-20');
  const own = { orders: 0, gross: 0 };
  for (const { shopId, token: ownToken } of tenants) {
    const sales = await service.call(
      'GET',
      `/${shopId}/sales?createdAfter=2026-11-18T23:59:59.999Z&createdBefore=2026-11-21T00:00:00Z`,
      { token: ownToken },
    );
    const days = usage.filter((one) => one.shopId === shopId);
    const total = {
      orders: days.reduce((sum, { orders }) => sum + orders, 0),
      gross: days.flatMap(({ turnover }) => turnover).reduce((sum, { gross }) => sum + Number(gross), 0),
    };
    const [first] = sales.body.salesPerCurrency;
    expect(total.orders).toBe(first.totalOrders);
    expect(total.gross).toBeCloseTo(first.totalGrossRevenue, 9);
    own.orders += total.orders;
    own.gross += total.gross;
  }
  const placed = tenants.reduce((sum, _, index) => {
    const wanted = 1 + (index % 4);
    return sum + (index % 5 === 0 ? wanted : Math.min(wanted, 3));
  }, 0);
  expect(own.orders).toBe(placed);
  const today = usage.filter(({ day }) => day === '2026-11-19');
  expect(today).toHaveLength(SHOPS);
  expect(today.every(({ requests }) => requests >= 3)).toBe(true);
  expect(today[1]).toMatchObject({ shopId: 'life-01', plan: null, products: 2, people: 0, mediaBytes: 0 });

  const file = await host('GET', '/usage/csv?from=2026-11-19&to=2026-11-20', {
    headers: { accept: 'text/csv' },
  });
  expect(file.headers['content-type']).toContain('text/csv');
  const [titles, ...lines] = file.text.trim().split(/\r?\n/);
  expect(titles).toBe('shop,plan,day,currency,orders,gross,requests,emails,media bytes,people,products');
  const cells = lines.map((line) => line.split(','));
  expect(cells.reduce((sum, line) => sum + Number(line[4]), 0)).toBe(placed);
  expect(cells.reduce((sum, line) => sum + Number(line[5]), 0)).toBeCloseTo(own.gross, 6);

  // The calls for the sales above are counted by a timer.
  await service.app.shopCalls.flush();
  const { body: metrics } = await service.app.inject({ url: '/metrics' });
  expect(metrics).toContain(`shops{state="notOpen"} ${SHOPS}`);
  const requests = (await usageOf('2026-11-19', '2026-11-20')).reduce((sum, day) => sum + day.requests, 0);
  expect(metrics).toContain(`shops_used_today{what="requests"} ${requests}`);
  expect(metrics).not.toContain('life-01');

  for (const { shopId } of tenants.slice(10, 20)) await host('DELETE', `/shops/${shopId}?days=1`);
  for (const { shopId } of tenants.slice(10, 15)) {
    expect((await host('POST', `/shops/${shopId}/restore`)).body.state).toBe('notOpen');
  }
  expect((await host('GET', '/shops?state=deletionPlanned')).body.items).toHaveLength(5);
  service.setClock(new Date(NOW.getTime() + 2 * DAY));
  const step = shopDeletion(openMediaStorage(service.config), service.app.log);
  await runCleanup(db, [step], { log: service.app.log });
  const left = (await host('GET', '/shops?limit=500')).body.items;
  expect(left).toHaveLength(SHOPS - 5);
  const log = (await host('GET', '/log?limit=1000')).body.items as { type: string }[];
  const counts = Object.fromEntries(
    [
      'SHOP_CREATED',
      'SHOP_SUSPENDED',
      'SHOP_RESUMED',
      'SHOP_DELETION_PLANNED',
      'SHOP_RESTORED',
      'SHOP_DELETED',
    ].map((type) => [type, log.filter((event) => event.type === type).length]),
  );
  expect(counts).toEqual({
    SHOP_CREATED: SHOPS,
    SHOP_SUSPENDED: 10,
    SHOP_RESUMED: 10,
    SHOP_DELETION_PLANNED: 10,
    SHOP_RESTORED: 5,
    SHOP_DELETED: 5,
  });
  service.setClock(NOW);
}, 120_000);

test('a larger plan counts at once, and a smaller one takes nothing away', async () => {
  const tenant = await givenTenant('grows');
  for (let count = 0; count < 3; count++) expect((await order(tenant, 1)).status).toBe(201);
  expect(codeOf(await order(tenant, 1))).toEqual([402, 'PLAN_ORDERS_REACHED']);
  const merchant = await givenMerchant(service, 'owner', 'grows');
  expect((await merchant.get('')).text).toContain('3 of 3 orders this month');
  const larger = await host('PUT', '/shops/grows/plan', { body: { plan: 'large' } });
  expect(larger.body).toMatchObject({
    plan: 'large',
    limits: [
      { name: 'products', used: 1, limit: 10 },
      { name: 'ordersPerMonth', used: 3, limit: 10 },
    ],
  });
  expect((await merchant.get('')).text).not.toContain('orders this month');
  expect((await order(tenant, 1)).status).toBe(201);
  await host('PUT', '/shops/grows/plan', { body: { plan: 'tiny' } });
  const products = await service.call('GET', '/grows/products', { token: tenant.token });
  expect([
    products.body.results,
    (await service.call('GET', '/grows/orders', { token: tenant.token })).body.results,
  ]).toEqual([1, 4]);
  expect(codeOf(await givenProduct('grows', tenant.token))).toEqual([402, 'PLAN_PRODUCTS_REACHED']);
  const unknown = await changesNothing(service, () =>
    host('PUT', '/shops/grows/plan', { body: { plan: 'huge' } }),
  );
  expect(codeOf(unknown)).toEqual([400, 'PLAN_UNKNOWN']);
  const log = (await host('GET', '/log?shopId=grows')).body.items as { type: string; data: object }[];
  expect(log.filter(({ type }) => type === 'SHOP_PLAN_CHANGED').map(({ data }) => data)).toEqual([
    { plan: 'large' },
    { plan: 'tiny' },
  ]);
});

test('the readiness of a shop warns from four fifths of its plan on, in the language of its people', async () => {
  const { shopId, token: own } = await givenTenant('warned', 'large');
  const readiness = async () =>
    (await service.call('GET', `/manage/shops/${shopId}/readiness`, { token: own })).body;
  const merchant = await givenMerchant(service, 'owner', shopId);
  for (let products = 2; products <= 7; products++) await givenProduct(shopId, own);
  expect(await readiness()).not.toHaveProperty('plan');
  expect((await merchant.get('/settings/opening')).text).not.toContain('Your plan is nearly used up');
  await givenProduct(shopId, own);
  expect((await readiness()).plan).toEqual({
    name: 'large',
    limits: [{ name: 'products', used: 8, limit: 10 }],
  });
  const words: Record<string, [string, string]> = {
    en: ['Your plan is nearly used up', '8 of 10 products'],
    de: ['Ihr Tarif ist fast ausgeschöpft', '8 von 10 Produkten'],
    fr: ['Votre forfait est presque épuisé', '8 produits sur 10'],
  };
  for (const [language, [title, line]] of Object.entries(words)) {
    await service.db.run(sql`update admin_user set language = ${language} where email = ${merchant.email}`);
    for (const page of ['/settings/opening', '']) {
      const { text } = await merchant.get(page);
      expect([page, text]).toEqual([page, expect.stringContaining(title)]);
      expect([page, text]).toEqual([page, expect.stringContaining(line)]);
    }
  }
});

test('the tokens of a shop share the calls of its plan', async () => {
  const tenant = await givenTenant('calls', 'large');
  const other = await givenToken(service, 'calls');
  await host('PUT', '/shops/calls/plan', { body: { plan: 'tiny' } });
  const statuses = [];
  for (const own of [tenant.token, other, tenant.token, other, tenant.token, other]) {
    statuses.push((await service.call('GET', '/calls/products', { token: own })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

test('people, languages and domains beyond a plan are refused, and change nothing', async () => {
  await givenTenant('bounded');
  const merchant = await givenMerchant(service, 'owner', 'bounded');
  const answers = await changesNothing(service, async () => [
    await host('POST', '/shops/bounded/owners', { body: { email: 'second@mail.example' } }),
    await host('POST', '/shops/bounded/domains', { body: { domain: 'own.example', isConfirmed: true } }),
    await host('POST', '/shops', {
      body: {
        shopId: 'Many',
        name: 'Many',
        country: 'DE',
        email: 'a@mail.example',
        languages: ['de_DE', 'fr_FR'],
      },
    }),
  ]);
  expect(answers.map(codeOf)).toEqual([
    [402, 'PLAN_PEOPLE_REACHED'],
    [402, 'PLAN_FEATURE_MISSING'],
    [402, 'PLAN_LANGUAGES_REACHED'],
  ]);
  const invited = await merchant.post('/users', { email: 'x@mail.example', role: 'manager' });
  expect([invited.status, invited.text.includes('has room for 1 people')]).toEqual([402, true]);
});

test('images and apps beyond a plan are refused', async () => {
  const { token: own, productId } = await givenTenant('full');
  await service.db.run(sql`
    update counter set value = 1048576 where shop_id = 'full' and name = 'mediaBytes'`);
  const picture = formOf({ filename: 'tea.png', content: PNG });
  const image = await service.call('POST', `/full/products/${productId}/slideshow`, {
    token: own,
    body: picture.body,
    headers: picture.headers,
  });
  expect(codeOf(image)).toEqual([402, 'PLAN_MEDIA_REACHED']);
  const merchant = await givenMerchant(service, 'owner', 'full');
  const refused = await merchant.post('/apps/new', { name: 'stock sync', scope: 'products_read' });
  expect([refused.status, refused.text.includes('does not include this (apps)')]).toEqual([402, true]);
});

test('an email beyond the plan waits', async () => {
  await givenTenant('letters', 'quiet');
  // The orders of the other tests have emails too.
  await service.db.run(sql`delete from job`);
  for (const email of ['first@mail.example', 'second@mail.example']) {
    expect((await host('POST', '/shops/letters/owners', { body: { email } })).status).toBe(201);
  }
  const { app, db, config } = service;
  const emails = startEmails({ db, config, log: app.log, origin: 'http://localhost', pause: 10 });
  const left = () => db.many<{ attempts: number }>(sql`select attempts from job where shop_id = 'letters'`);
  await expect.poll(left, { timeout: 20_000 }).toEqual([{ attempts: 1 }]);
  await emails.stop();
  const usage = await usageOf('2026-11-19', '2026-11-19');
  expect(usage.find(({ shopId }) => shopId === 'letters')).toMatchObject({ emails: 1 });
});

test.each([
  ['plans: {}', 'plans'],
  ['version: 2\nplans: { a: {} }', 'version'],
  ['version: 1\nplans: { a: { product: 3 } }', 'product'],
  ['version: 1\nplans: { a: { products: -1 } }', 'products'],
  ['version: 1\ndefault: b\nplans: { a: {} }', 'default is "b"'],
  ['version: [', 'YAML'],
])('a file of plans is refused: %j', (text, named) => {
  expect(() => parsePlans(text, 'plans.yaml')).toThrow(named);
});

test.each([
  'from=2026-11-01&to=2026-12-31',
  'from=2026-11-02&to=2026-11-01',
  'from=x&to=2026-11-01',
  'to=2026-11-01',
])('usage of %s is refused', async (query) => {
  expect((await host('GET', `/usage?${query}`)).status).toBe(400);
});
