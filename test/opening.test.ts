import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { saveFields } from '../src/orders/payments/accounts.ts';
import { openMediaStorage } from '../src/platform/media/open-storage.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { findLegalTexts } from '../src/shops/legal/queries.ts';
import { PAGES } from '../src/shops/legal/schema.ts';
import { createShop } from '../src/shops/shop/create-shop.ts';
import { givenMerchant, type Merchant } from './admin.ts';
import { givenShop, givenToken, SELLER } from './builders.ts';
import { ADA, changeSettings, givenProduct, type Shop } from './carts.ts';
import { createFakeProvider } from './fake-provider.ts';
import { startService, type Service } from './service.ts';
import { givenVisitor, mainOf, type PageAnswer } from './visitor.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A new shop from its creation to its opening, as its merchant, its visitors and its apps see it. */

let service: Service;
beforeAll(async () => {
  service = await startService({}, undefined, { providers: { stripe: createFakeProvider().provider } });
});
afterAll(() => service.close());

/** As the command and the host's page create it. */
async function givenNewShop(shopId: string): Promise<Shop & { merchant: Merchant }> {
  const shop = { name: `Tee ${shopId}`, email: 'tee@mail.example', country: 'DE', locale: 'de_DE' };
  await service.db.transaction((tx) =>
    createShop(tx, openMediaStorage(service.config), { ...shop, shopId, currency: 'EUR' }),
  );
  await service.app.shopHosts.refresh();
  const merchant = await givenMerchant(service, 'owner', shopId);
  return { service, shopId, token: await givenToken(service, shopId), ids: {}, merchant };
}

async function readinessOf({ shopId, token }: Shop) {
  const { status, body } = await service.call('GET', `/manage/shops/${shopId}/readiness`, { token });
  expect(status).toBe(200);
  const steps = body.steps as { key: string; done: boolean }[];
  return {
    ready: body.ready as boolean,
    open: body.open as boolean,
    missing: steps.filter(({ done }) => !done).map(({ key }) => key),
    body,
  };
}

/** The fields of the form on a page of the admin, as they stand there. */
async function formOf(merchant: Merchant, path: string): Promise<Record<string, string>> {
  const { text } = await merchant.get(path);
  const forms = [...text.matchAll(/<form method="post"[^>]*>([\s\S]*?)<\/form>/g)].map(([, form]) => form!);
  const form = forms.find((one) => one.includes('name="version"'))!;
  const unescaped = (value: string) =>
    value
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
  // No box is ticked on the pages of this test.
  const inputs = [
    ...form.matchAll(/<input(?![^>]*type="checkbox")[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"/g),
  ];
  const areas = [...form.matchAll(/<textarea[^>]*?name="([^"]+)"[^>]*>\n?([\s\S]*?)<\/textarea>/g)];
  return Object.fromEntries(
    [...inputs, ...areas].map(([, name, value]): [string, string] => [name!, unescaped(value!)]),
  );
}

const previewLinkOf = async (merchant: Merchant) => {
  const { location } = await merchant.get('/preview');
  const { pathname } = new URL(location!);
  return pathname;
};

/** A visitor who came by the preview link; `base` of the shop is cut off. */
async function givenPreviewer({ shopId, merchant }: { shopId: string; merchant: Merchant }) {
  const visitor = givenVisitor(service, shopId);
  const answer = await visitor.get(await previewLinkOf(merchant));
  expect(answer.status).toBe(303);
  return visitor;
}

const publishTexts = async (shop: Shop, pages = PAGES.map(({ page }) => page as string)) => {
  for (const page of pages) {
    const { status } = await service.call('PUT', `/${shop.shopId}/legal/${page}?locale=de_DE`, {
      token: shop.token,
      body: { name: page, description: `<p>Fertiger Text: ${page}</p>` },
    });
    expect(status).toBe(200);
  }
};

const isClosed = (answer: PageAnswer) => {
  expect(answer.text).toContain('<h1>Wir eröffnen bald</h1>');
  expect(answer.text).toContain('<meta name="robots" content="noindex" />');
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' });
  expect(answer.headers).not.toHaveProperty('etag');
  for (const part of ['/cart', '/search', 'Anker', '<form']) expect(answer.text).not.toContain(part);
};

test('a new shop is opened step by step', async () => {
  const shop = await givenNewShop('Steps');
  const { merchant } = shop;
  const stranger = givenVisitor(service, 'Steps');
  const bare = await readinessOf(shop);
  expect(bare).toMatchObject({
    ready: false,
    open: false,
    missing: ['address', 'taxNumber', 'bankAccount', 'legalTexts', 'firstProduct', 'testOrder'],
  });
  expect(bare.body.steps[2]).toEqual({
    key: 'bankAccount',
    required: true,
    done: false,
    reason: expect.stringContaining('Customers must be able to pay') as string,
    missing: [
      {
        field: 'invoicing.bank.iban',
        href: 'http://localhost:80/admin/shops/Steps/settings/invoices#field-invoicing.bank.iban',
      },
    ],
    href: 'http://localhost:80/admin/shops/Steps/settings/invoices#field-invoicing.bank.iban',
  });

  // The home page is the same list, with links to the very fields, and no button yet.
  const home = await merchant.get('');
  expect(home.text).toContain('Your shop is not open yet');
  expect(home.text).toContain('1 of 7 steps done');
  expect(home.text).toContain('href="/admin/shops/Steps/settings/invoices#field-invoicing.street"');
  expect(home.text).not.toContain('Everything is done');
  expect(home.text).not.toContain('/settings/opening/open"');
  const early = await merchant.post('/settings/opening/open');
  expect(early.status).toBe(409);
  expect((await readinessOf(shop)).open).toBe(false);
  isClosed(await stranger.get(''));

  // Each field that a link leads to is there.
  const invoices = await merchant.get('/settings/invoices');
  for (const field of ['street', 'zipCode', 'city', 'vatId', 'bank.iban']) {
    expect(invoices.text).toContain(`id="field-invoicing.${field}"`);
  }
  const form = await formOf(merchant, '/settings/invoices');
  const seller = {
    'invoicing.street': 'Kai 1',
    'invoicing.zipCode': '20457',
    'invoicing.city': 'Hamburg',
  };
  expect((await merchant.post('/settings/invoices', { ...form, ...seller })).status).toBe(303);
  expect((await readinessOf(shop)).missing).not.toContain('address');
  const taxes = { ...(await formOf(merchant, '/settings/invoices')), 'invoicing.taxNumber': '12/345/67890' };
  expect((await merchant.post('/settings/invoices', taxes)).status).toBe(303);
  expect((await readinessOf(shop)).missing).not.toContain('taxNumber');
  expect((await merchant.get('/settings/payments')).text).toContain('bank account missing: not offered');
  const bank = {
    ...(await formOf(merchant, '/settings/invoices')),
    'invoicing.bank.iban': 'DE02120300000000202051',
  };
  expect((await merchant.post('/settings/invoices', bank)).status).toBe(303);
  expect((await merchant.get('/settings/payments')).text).not.toContain('bank account missing');
  expect((await readinessOf(shop)).missing).toEqual(['legalTexts', 'firstProduct', 'testOrder']);

  // A draft is red; saved with a gap it stays one, completed it is public, and its marks are gone.
  expect((await merchant.get('/settings/legal')).text).toContain('<span class="chip bad">draft</span>');
  for (const { page } of PAGES) {
    const path = `/settings/legal/${page}`;
    const draft = await formOf(merchant, path);
    expect(draft['name']).toContain('(Entwurf)');
    if (page === 'privacy-policy') {
      const gaps = '<p>Verantwortlich: [Anschrift], [Zahlungsanbieter]</p>';
      expect((await merchant.post(path, { ...draft, description: gaps })).status).toBe(303);
      // What the settings say of the seller is filled in, and the rest is named.
      expect((await merchant.get(path)).text).toContain('Still to be completed: [Zahlungsanbieter]');
      expect((await formOf(merchant, path))['description']).toBe(
        `<p>Verantwortlich: ${seller['invoicing.street']}, ${seller['invoicing.zipCode']} ${seller['invoicing.city']}, [Zahlungsanbieter]</p>`,
      );
      expect(mainOf(await stranger.get(`/legal/${page}`))).not.toContain('Verantwortlich');
      Object.assign(draft, await formOf(merchant, path));
    }
    const done = {
      ...draft,
      description: `<p>Fertig: ${page}</p>`,
      ...(page === 'contact-information' && {
        contactPerson: 'Ina Feldkamp',
        address: '<p>Kai 1</p>',
        phone: '040 1',
      }),
    };
    expect((await merchant.post(path, done)).status).toBe(303);
    const shown = mainOf(await stranger.get(`/legal/${page}`));
    expect(shown).toContain(`Fertig: ${page}`);
    expect(shown).not.toMatch(/Entwurf|eckigen Klammern/);
  }
  expect((await merchant.get('/settings/legal')).text).not.toContain('chip bad');
  expect(await readinessOf(shop)).toMatchObject({
    ready: true,
    open: false,
    missing: ['firstProduct', 'testOrder'],
  });

  // Ready, but not open before the merchant says so: a test order by the preview first.
  const product = await givenProduct(shop, { number: 'Anker', price: 1000 });
  isClosed(await stranger.get('/Products/Anker'));
  const previewer = await givenPreviewer(shop);
  expect(await orderAs(previewer, product)).toMatch(/^\/shop\/Steps\/(?:order\/|confirmation)/);
  expect((await readinessOf(shop)).missing).toEqual([]);
  const ready = await merchant.get('');
  expect(ready.text).toContain('action="/admin/shops/Steps/settings/opening/open"');
  expect((await merchant.post('/settings/opening/open')).location).toBe('/admin/shops/Steps');
  expect((await readinessOf(shop)).open).toBe(true);
  const open = await stranger.get('/Products/Anker');
  expect(open.text).toContain('<h1>Anker</h1>');
  expect(open.text).not.toContain('noindex');
  expect((await previewer.get('')).text).not.toContain('preview-banner');
  expect((await merchant.get('')).text).not.toContain('id="checklist"');

  // The merchant closes it again, and may then still make changes.
  expect((await merchant.post('/settings/opening/close')).status).toBe(303);
  isClosed(await stranger.get('/Products/Anker'));
});

/** Puts a product into the cart and goes through the checkout; where the order leads. */
async function orderAs(visitor: ReturnType<typeof givenVisitor>, productId: string): Promise<string> {
  await visitor.submit('/cart/add', { productId, quantity: '1' });
  const { emailAddress, ...address } = ADA;
  const fields = Object.entries({ ...address, emailAddress }).map(([name, value]): [string, string] => [
    `billing.${name}`,
    value,
  ]);
  const delivery = await visitor.submit('/checkout', Object.fromEntries(fields));
  const chosen = (name: string) => new RegExp(`name="${name}"\\s+value="([^"]+)"`).exec(delivery.text)![1]!;
  const review = await visitor.submit('/checkout/delivery', {
    shippingMethod: chosen('shippingMethod'),
    paymentMethod: chosen('paymentMethod'),
  });
  const reviewed = /name="reviewed" value="([^"]+)"/.exec(review.text)![1]!;
  const ordered = await visitor.post('/checkout/order', { reviewed });
  expect(ordered.status).toBe(303);
  return String(ordered.headers.location);
}

describe('a shop that is not open', () => {
  let shop: Shop & { merchant: Merchant };
  let product: string;
  beforeAll(async () => {
    shop = await givenNewShop('Closed');
    await changeSettings(shop, { invoicing: SELLER, feeds: { google: true } });
    await publishTexts(shop, ['contact-information']);
    product = await givenProduct(shop, { number: 'Anker', price: 1000 });
  });

  test.each([
    '',
    '/',
    '/Products/Anker',
    '/Products/unknown',
    '/Categories',
    '/search?q=Anker',
    '/cart',
    '/checkout',
    '/checkout/review',
    '/confirmation',
    '/wishlist',
    '/account',
    '/account/sign-in',
    '/newsletter',
    '/viewed?product=1',
    '/nothing',
  ])('answers %j with "opening soon"', async (path) => {
    const answer = await givenVisitor(service, 'Closed').get(path);
    expect(answer.status).toBe(200);
    isClosed(answer);
  });

  test.each(['/sitemap.xml', '/sitemap/0.xml', '/robots.txt', '/feeds/google.xml', '/suggest?q=An'])(
    'has no %s',
    async (path) => {
      const answer = await givenVisitor(service, 'Closed').get(path);
      expect(answer.status).toBe(404);
      isClosed(answer);
    },
  );

  test('takes no forms', async () => {
    const visitor = givenVisitor(service, 'Closed');
    for (const [path, fields] of [
      ['/cart/add', { productId: product, quantity: '1' }],
      ['/checkout', {}],
      ['/checkout/order', { reviewed: 'x' }],
      ['/newsletter', { email: 'a@b.example' }],
      ['/account/sign-in', { email: 'a@b.example' }],
      ['/order/unknown/reorder', {}],
    ] as [string, Record<string, string>][]) {
      const answer = await visitor.post(path, fields);
      expect([path, answer.status]).toEqual([path, 403]);
      isClosed(answer);
    }
    expect(visitor.cookie()).toBeUndefined();
    const carts = await service.db.one<{ count: number }>(
      sql`select count(*) as count from cart where shop_id = 'Closed'`,
    );
    expect(carts!.count).toBe(0);
  });

  test('shows its finished legal texts, and no drafts', async () => {
    const visitor = givenVisitor(service, 'Closed');
    const shown = await visitor.get('/legal/contact-information');
    expect(shown.status).toBe(200);
    expect(mainOf(shown)).toContain('Fertiger Text: contact-information');
    expect(shown.text).not.toContain('/legal/privacy-policy');
    expect((await visitor.get('')).text).toContain('href="/shop/Closed/legal/contact-information"');
    const draft = await visitor.get('/legal/privacy-policy');
    expect(mainOf(draft)).toBe('Datenschutz Diese Seite hat in dieser Sprache keinen Text.');
    const sent = await findLegalTexts(
      service.db,
      'Closed',
      ['privacy-policy', 'contact-information'],
      ['de_DE'],
    );
    expect(sent.map(({ page }) => page)).toEqual(['contact-information']);
    // The API answers as before.
    const { body } = await service.call('GET', '/Closed/legal/privacy-policy', { token: shop.token });
    expect(body.name).toBe('Datenschutz (Entwurf)');
  });

  test('is seen by those who come by its preview link, and by nobody else', async () => {
    const previewer = await givenPreviewer(shop);
    for (const path of ['', '/Products/Anker', '/cart']) {
      const answer = await previewer.get(path, { 'accept-encoding': 'gzip' });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' });
      expect(answer.headers).not.toHaveProperty('etag');
    }
    const seen = await previewer.get('/Products/Anker');
    expect(seen.text).toContain('class="preview-banner"');
    expect(seen.text).toContain('<h1>Anker</h1>');
    expect(seen.text).toContain('<meta name="robots" content="noindex" />');
    // Whatever was cached for one is not sent to the other, in either order.
    for (let round = 0; round < 3; round++) {
      isClosed(await givenVisitor(service, 'Closed').get('/Products/Anker'));
      expect((await previewer.get('/Products/Anker')).text).toContain('<h1>Anker</h1>');
    }
    expect((await previewer.get('/sitemap.xml')).status).toBe(404);
    expect((await previewer.get('/feeds/google.xml')).status).toBe(404);
    expect((await givenVisitor(service, 'Closed').get('/preview/wrong')).status).toBe(404);
    const target = await givenVisitor(service, 'Closed').get(
      `${await previewLinkOf(shop.merchant)}?to=%2F%2Fevil.example`,
    );
    expect(target.headers.location).toBe('/shop/Closed');
  });

  test('does not open another shop: neither its link nor its cookie', async () => {
    const other = await givenNewShop('Other');
    const link = (await previewLinkOf(shop.merchant)).replace('/shop/Closed', '');
    const visitor = givenVisitor(service, 'Other');
    expect((await visitor.get(link)).status).toBe(404);
    expect(visitor.cookie()).toBeUndefined();
    visitor.useCookie((await givenPreviewer(shop)).cookie());
    isClosed(await visitor.get(''));
    expect((await givenPreviewer(other)).cookie()).not.toBe(visitor.cookie());
    // A merchant of one shop finds no way into the other.
    expect((await shop.merchant.get('/admin/shops/Other/preview')).status).toBe(404);
  });

  test('ends the former link and the visits that came by it, when the merchant makes another', async () => {
    const link = await previewLinkOf(shop.merchant);
    const previewer = await givenPreviewer(shop);
    expect((await shop.merchant.post('/settings/opening/new-link')).status).toBe(303);
    isClosed(await previewer.get(''));
    expect((await givenVisitor(service, 'Closed').get(link)).status).toBe(404);
    expect(await previewLinkOf(shop.merchant)).not.toBe(link);
    expect((await (await givenPreviewer(shop)).get('')).text).toContain('preview-banner');
  });

  test('answers its apps as before', async () => {
    const { status, body } = await service.call('GET', `/Closed/products/${product}`);
    expect([status, body.productNumber]).toEqual([200, 'Anker']);
    const cart = await service.call('POST', '/Closed/carts', {
      token: shop.token,
      body: { lineItems: [{ productId: product, quantity: 1 }] },
    });
    expect(cart.status).toBe(201);
    const methods = await service.call('GET', '/Closed/shipping-methods', { token: shop.token });
    expect(methods.status).toBe(200);
  });
});

describe('a payment method that lacks its data', () => {
  const SHOP = 'Payer';
  let shop: Shop;
  let product: string;
  beforeAll(async () => {
    await givenShop(service, SHOP);
    shop = { service, shopId: SHOP, token: await givenToken(service, SHOP), ids: {} };
    await changeSettings(shop, {
      invoicing: { street: 'Kai 1' },
      shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }],
      paymentMethods: [
        { key: 'advance', name: 'Bank transfer' },
        { key: 'card', name: 'Credit card', provider: 'stripe' },
        { key: 'cash', name: 'Cash on pickup' },
      ],
    });
    product = await givenProduct(shop, { number: 'Anker', price: 1000 });
  });

  const offered = async () => {
    const visitor = givenVisitor(service, SHOP);
    await visitor.submit('/cart/add', { productId: product, quantity: '1' });
    const fields = Object.entries(ADA).map(([name, value]): [string, string] => [`billing.${name}`, value]);
    const delivery = await visitor.submit('/checkout', Object.fromEntries(fields));
    const names = ['Bank transfer', 'Credit card', 'Cash on pickup'];
    const front = await visitor.get('');
    return {
      visitor,
      checkout: names.filter((name) => mainOf(delivery).includes(name)),
      footer: names.filter((name) => front.text.includes(`<li>${name}</li>`)),
    };
  };
  const methodIds = async () =>
    Object.fromEntries(
      (
        await service.db.many<{ key: string; id: string }>(
          sql`select key, upper(payment_method_id::text) as id from payment_method where shop_id = ${SHOP}`,
        )
      ).map(({ key, id }) => [key, id]),
    );

  test('is not offered until it has them', async () => {
    expect(await offered()).toMatchObject({ checkout: ['Cash on pickup'], footer: ['Cash on pickup'] });
    const ids = await methodIds();
    const key = await installationKey(service.config);
    await service.db.transaction((tx) => saveFields(tx, key, SHOP, ids['card']!, { secretKey: 'sk_1' }));
    expect(await offered()).toMatchObject({ checkout: ['Credit card', 'Cash on pickup'] });
    await changeSettings(shop, { invoicing: SELLER });
    const all = ['Bank transfer', 'Credit card', 'Cash on pickup'];
    expect(await offered()).toMatchObject({ checkout: all, footer: all });
    await changeSettings(shop, { invoicing: { street: 'Kai 1' } });
  });

  test('is refused when it is chosen all the same, and no order is placed with it', async () => {
    const ids = await methodIds();
    const { visitor } = await offered();
    const shipping = await service.db.one<{ id: string }>(
      sql`select upper(shipping_method_id::text) as id from shipping_method where shop_id = ${SHOP}`,
    );
    const refused = await visitor.post('/checkout/delivery', {
      shippingMethod: shipping!.id,
      paymentMethod: ids['advance']!,
    });
    expect(refused.status).toBe(400);
    // An app may have chosen it before: the order waits for another choice.
    await service.db.run(sql`
      update cart set payment_method_id = ${ids['advance']!}, version = version + 1 where shop_id = ${SHOP}`);
    const order = await visitor.post('/checkout/order', { reviewed: 'x' });
    expect([order.status, order.headers.location]).toEqual([303, `/shop/${SHOP}/checkout/delivery`]);
    const orders = await service.db.one<{ count: number }>(
      sql`select count(*) as count from customer_order where shop_id = ${SHOP}`,
    );
    expect(orders!.count).toBe(0);
  });

  test('leaves a checkout that nobody can pay, and says so', async () => {
    await changeSettings(shop, { paymentMethods: [{ key: 'advance', name: 'Bank transfer' }] });
    const { visitor, checkout, footer } = await offered();
    expect({ checkout, footer }).toEqual({ checkout: [], footer: [] });
    expect(mainOf(await visitor.get('/checkout/delivery'))).toContain(
      'This shop cannot take payments at the moment.',
    );
    const { status } = await visitor.post('/checkout/delivery', {});
    expect(status).toBe(400);
  });
});

test('a shop that was open before stays open, and its merchant sees what is missing', async () => {
  await givenShop(service, 'Old');
  await service.db.run(sql`update shop set settings = settings - 'invoicing' where shop_id = 'Old'`);
  const merchant = await givenMerchant(service, 'owner', 'Old');
  const home = await merchant.get('');
  expect(home.text).toContain('Your shop is open, but something is missing');
  expect(home.text).not.toContain('/settings/opening/open"');
  expect((await givenVisitor(service, 'Old').get('')).text).toContain('/cart');
  // Whoever may not see settings sees no list.
  const orders = await givenMerchant(service, 'orders', 'Old');
  expect((await orders.get('')).text).not.toContain('id="checklist"');
});
