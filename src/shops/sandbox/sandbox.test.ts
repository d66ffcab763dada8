import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant } from '../../../test/admin.ts';
import { givenShop, givenToken } from '../../../test/builders.ts';
import {
  changeSettings,
  changesNothing,
  DAY,
  done,
  givenFullCart,
  givenProduct,
  NOW,
  on,
  type Shop,
} from '../../../test/carts.ts';
import { attemptsOf, buy } from '../../../test/payments.ts';
import { waitFor } from '../../../test/process.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { startService, type Service } from '../../../test/service.ts';
import { startSmtp, type SmtpServer } from '../../../test/smtp.ts';
import { readPage } from '../../../test/storefront.ts';
import { copyShop } from '../../commands/backup/copy.ts';
import { insertBulkEdit } from '../../catalogue/products/bulk-edit-queries.ts';
import { runDueEdits } from '../../catalogue/products/bulk-edit-runner.ts';
import { startPayments, startTransport, startWebhooks } from '../../composition/background.ts';
import { startEmails } from '../../composition/emails.ts';
import { readConfig } from '../../config.ts';
import { sql } from '../../db/sql.ts';
import { orderTokens } from '../../orders/order-link.ts';
import { installationKey } from '../../platform/sealing.ts';
import { deleteShop } from '../shop/queries.ts';

let service: Service;
let smtp: SmtpServer;
let original: Shop;
let tea: string;
const workers: { stop: () => Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService();
  smtp = await startSmtp();
  service.setClock(NOW);
  await givenShop(service, 'Harbour', { name: 'Harbour' });
  original = { service, shopId: 'Harbour', token: await givenToken(service, 'Harbour'), ids: {} };
  await changeSettings(original, {
    paymentMethods: [
      { key: 'advance', name: 'Advance', releaseUnpaidAfterDays: 14 },
      { key: 'card', name: 'Card', provider: 'stripe' },
    ],
    shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 0 }],
    emailNewOrders: false,
  } as never);
  tea = await givenProduct(original, { number: 'Tea', price: 1000 });
  const { db, config } = service;
  const log = pino({ level: 'silent' });
  const sending = readConfig({ KONTOR_DATA: config.KONTOR_DATA, SMTP_URL: `smtp://${smtp.host}` });
  workers.push(
    startEmails({ db, config: sending, log, origin: 'https://shop.example', pause: 10 }),
    startPayments({
      db,
      config,
      demoAccess: service.app.demoAccess,
      log,
      calls: service.app.appCalls,
      pause: 10,
    }),
    startTransport({ db, config, demoAccess: service.app.demoAccess, log, pause: 10 }),
  );
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await smtp.close();
  await service.close();
});

let boxes = 0;

async function givenSandbox(withCustomers = false): Promise<Shop> {
  const shopId = `Box${++boxes}`;
  const { db, config, app } = service;
  // At most five at a time.
  if (boxes > 1) await db.transaction((tx) => deleteShop(tx, `Box${boxes - 1}`));
  await copyShop(db, config, { from: 'Harbour', to: shopId, isSandbox: true, withCustomers });
  await app.shopHosts.refresh();
  return { service, shopId, token: await givenToken(service, shopId), ids: {} };
}

const advance = async ({ shopId, token }: Shop, by: string) => {
  const { status, body } = await service.call('POST', `/manage/shops/${shopId}/clock`, {
    token,
    body: { advance: by },
  });
  expect([status, body.message]).toEqual([200, undefined]);
  return body;
};

const get = async ({ shopId, token }: Shop, place: string) => {
  const { status, body } = await service.call('GET', place.replace('{shop}', shopId), { token });
  expect([status, body.message]).toEqual([200, undefined]);
  return body;
};

const manage = async ({ shopId, token }: Shop, method: string, place: string, body?: unknown) => {
  const answer = await service.call(method, `/manage/shops/${shopId}${place}`, { token, body });
  expect([answer.status, answer.body?.message]).toEqual([expect.toBeOneOf([200, 201]), undefined]);
  return answer.body;
};

async function placeOrder(shop: Shop) {
  const body = await done(await givenFullCart(shop, { [tea]: 1 }), 'POST', '/order');
  return body.orderId as string;
}

const later = (days: number, hours = 0) =>
  new Date(NOW.getTime() + days * DAY + hours * 3_600_000).toISOString();

test('a month of orders in a minute: payment deadline, withdrawal period, invoice, report of the month', async () => {
  const shop = await givenSandbox();
  const unpaid = await placeOrder(shop);
  const paid = await placeOrder(shop);
  await manage(shop, 'POST', `/orders/${paid}/payments`, { amount: 10 });
  const { lineItemContainer } = await get(shop, `/manage/shops/{shop}/orders/${paid}`);
  const [{ lineItemId }] = lineItemContainer.productLineItems;
  await manage(shop, 'POST', `/orders/${paid}/shipments`, { lines: [{ lineItemId, quantity: 1 }] });

  // After ten days nothing has happened: the customer of the second order may still withdraw.
  expect(await advance(shop, '10d')).toEqual({
    now: later(10),
    aheadSeconds: 10 * 86_400,
    sandboxOf: 'Harbour',
  });
  expect((await get(shop, `/manage/shops/{shop}/orders/${unpaid}`)).rejectedOn).toBeNull();
  const key = await installationKey(service.config);
  const orderPage = `/${shop.shopId}/order/${orderTokens(key).token(shop.shopId, paid)}`;
  expect((await readPage(service, orderPage)).text).toContain(`${orderPage}/withdraw`);

  // The payment was due after fourteen days: the order is cancelled when the call returns, and its stock is free.
  await advance(shop, 'P5D');
  expect((await get(shop, `/manage/shops/{shop}/orders/${unpaid}`)).rejectedOn).toBe(later(15));
  expect((await get(shop, `/manage/shops/{shop}/orders/${paid}`)).rejectedOn).toBeNull();

  // The withdrawal period has ended a month later, and an invoice is of that day.
  await advance(shop, '1mo');
  expect((await readPage(service, orderPage)).text).not.toContain(`${orderPage}/withdraw`);
  expect((await manage(shop, 'POST', `/orders/${paid}/invoices`, {})).issueDate).toContain('2026-12-30');

  // The report of the last thirty days has the order of today, and none of November.
  await placeOrder(shop);
  await advance(shop, '1h');
  const { salesPerCurrency, ...span } = await get(shop, '/{shop}/sales');
  expect(span).toEqual({
    createdAfter: '2026-11-30T09:30:00.000Z',
    createdBefore: '2026-12-30T09:30:00.000Z',
  });
  expect(salesPerCurrency).toMatchObject([{ currency: 'EUR', totalGrossRevenue: 10, totalOrders: 1 }]);
  const november = await get(
    shop,
    '/{shop}/sales?createdAfter=2026-11-01T00:00:00Z&createdBefore=2026-12-01T00:00:00Z',
  );
  expect(november.salesPerCurrency).toHaveLength(1);
  const days = await service.db.many<{ day: string; orders: number }>(sql`
    select day::text, orders from order_day where shop_id = ${shop.shopId} and orders > 0 order by day, orders`);
  expect(new Set(days.map(({ day }) => day))).toEqual(new Set(['2026-11-15', '2026-12-30']));

  // All of it was told, and nothing was sent.
  const { items } = await waitForEmails(shop, 'cancelled');
  expect(new Set(items.map(({ to }: { to: string }) => to))).toEqual(new Set(['ada.lindqvist@mail.example']));
  expect(smtp.taken).toEqual([]);
});

async function waitForEmails(shop: Shop, kind: string) {
  await waitFor(async () =>
    (await get(shop, '/manage/shops/{shop}/sandbox-emails')).items.some(
      (item: { kind: string }) => item.kind === kind,
    ),
  );
  return get(shop, '/manage/shops/{shop}/sandbox-emails');
}

describe('the clock', () => {
  test('is read in every shop, and moved in a sandbox only', async () => {
    expect(await get(original, '/manage/shops/{shop}/clock')).toEqual({
      now: NOW.toISOString(),
      aheadSeconds: 0,
      sandboxOf: null,
    });
    const refused = await changesNothing(service, () =>
      service.call('POST', '/manage/shops/Harbour/clock', {
        token: original.token,
        body: { advance: '15d' },
      }),
    );
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'NOT_A_SANDBOX']);
    expect((await get(original, '/manage/shops/{shop}/clock')).now).toBe(NOW.toISOString());
  });

  test.each([
    ['-1d', 400],
    ['', 400],
    ['0d', 400],
    ['soon', 400],
    ['x'.repeat(200_000), 400],
    ['11y', 409],
    ['999999999y', 409],
    ['P999999Y', 409],
    ['3655d', 409],
  ])('does not move by %.20j', async (by, status) => {
    const shop = await givenSandbox();
    const answer = await changesNothing(service, () =>
      service.call('POST', `/manage/shops/${shop.shopId}/clock`, {
        token: shop.token,
        body: { advance: by },
      }),
    );
    expect(answer.status).toBe(status);
  });

  test('is that of the audit log, also for what a store writes', async () => {
    const shop = await givenSandbox();
    await advance(shop, '15d');
    await placeOrder(shop);
    const { items } = await get(shop, '/manage/shops/{shop}/audit?resultsPerPage=1');
    expect(items).toMatchObject([{ route: '/rs/shops/:shopId/carts/:cartId/order', at: later(15) }]);
  });

  test('moves by ten years at most, in all', async () => {
    const shop = await givenSandbox();
    await advance(shop, '6y');
    const { status } = await service.call('POST', `/manage/shops/${shop.shopId}/clock`, {
      token: shop.token,
      body: { advance: 'P6Y' },
    });
    expect(status).toBe(409);
    expect((await get(shop, '/manage/shops/{shop}/clock')).now).toBe('2032-11-15T08:30:00.000Z');
  });

  test('lets carts and coupons end, and another shop does not notice', async () => {
    const shop = await givenSandbox();
    const cart = await givenFullCart(shop, { [tea]: 1 });
    const other = await givenFullCart(original, { [tea]: 1 });
    await advance(shop, '29d');
    expect((await on(cart, 'GET')).status).toBe(200);
    await advance(shop, '2d');
    expect((await on(cart, 'GET')).status).toBe(404);
    expect((await on(other, 'GET')).status).toBe(200);
    const left = await service.db.many(sql`select cart_id from cart where shop_id = ${shop.shopId}`);
    expect(left).toEqual([]);
  });

  test('reaches another process with the next change that it makes', async () => {
    const shop = await givenSandbox();
    const beside = await startService({}, service);
    try {
      beside.setClock(NOW);
      const there: Shop = { ...shop, service: beside };
      await placeOrder(there);
      await advance(shop, '15d');
      const orderId = await placeOrder(there);
      const { body } = await beside.call('GET', `/${shop.shopId}/orders/${orderId}`, { token: shop.token });
      expect(body.creationDate).toMatch(/^2026-11-30T08:30:00/);
      // And after a restart.
      const restarted = await startService({}, service);
      restarted.setClock(NOW);
      const again = await placeOrder({ ...shop, service: restarted });
      await restarted.close();
      expect((await get(shop, `/{shop}/orders/${again}`)).creationDate).toContain('2026-11-30');
    } finally {
      await beside.close();
    }
  });

  test('lets an email that waits for its time be due', async () => {
    const shop = await givenSandbox();
    const orderId = await placeOrder(shop);
    const { lineItemContainer } = await get(shop, `/manage/shops/{shop}/orders/${orderId}`);
    const [{ lineItemId }] = lineItemContainer.productLineItems;
    await manage(shop, 'POST', `/orders/${orderId}/shipments`, { lines: [{ lineItemId, quantity: 1 }] });
    await waitForEmails(shop, 'order');
    await advance(shop, '1h');
    const { items } = await waitForEmails(shop, 'shipped');
    expect(items[0]).toMatchObject({ kind: 'shipped', to: 'ada.lindqvist@mail.example', at: later(0, 1) });
    expect(smtp.taken).toEqual([]);
  });
});

describe('to the outside', () => {
  test('all methods of providers are paid with the demo payment, and money on its way arrives by its clock', async () => {
    const shop = await givenSandbox();
    const { visitor, orderId } = await buy(shop, tea, 'card');
    const [attempt] = await attemptsOf(shop, orderId);
    expect(attempt).toMatchObject({ state: 'open' });
    await visitor.post(`/demo-payment/${attempt!.attemptId}`, { answer: 'later' });
    expect((await attemptsOf(shop, orderId))[0]!.state).toBe('open');
    await advance(shop, '1d');
    await waitFor(async () => (await get(shop, `/{shop}/orders/${orderId}`)).paidOn !== null);
    expect((await get(shop, `/{shop}/orders/${orderId}`)).paidOn).toContain('2026-11-16');
  });

  test('its pages say so and are found by nobody', async () => {
    const shop = await givenSandbox();
    const { text, headers } = await readPage(service, `/${shop.shopId}`);
    expect(text).toContain('<strong>Sandbox of Harbour.</strong>');
    expect(text).toContain('<meta name="robots" content="noindex" />');
    expect(headers['x-robots-tag']).toBe('noindex');
    for (const file of ['sitemap.xml', 'robots.txt', 'sitemap/0.xml']) {
      expect((await readPage(service, `/${shop.shopId}/${file}`)).status).toBe(404);
    }
    const own = await readPage(service, '/Harbour');
    expect(own.text).not.toContain('andbox');
    expect(own.headers['x-robots-tag']).toBeUndefined();
  });

  test('its documents say so', async () => {
    const shop = await givenSandbox();
    for (const one of [shop, original]) {
      const orderId = await placeOrder(one);
      await manage(one, 'POST', `/orders/${orderId}/invoices`, {});
      const row = await service.db.one<{ sandbox: boolean | null }>(sql`
        select (terms -> 'sandbox')::boolean as sandbox from order_document
        where shop_id = ${one.shopId} and order_id = ${orderId}`);
      expect(row!.sandbox).toBe(one === shop ? true : null);
    }
  });
});

describe('queues, whatever the clock says', () => {
  test('webhooks that were set in it are called at once, and signed with the time of the service', async () => {
    const shop = await givenSandbox();
    await advance(shop, '1y');
    const receiver = await startReceiver();
    const { db, config, app } = service;
    const worker = startWebhooks({
      db,
      config,
      demoAccess: app.demoAccess,
      log: pino({ level: 'silent' }),
      origin: 'https://shop.example',
      pause: 20,
    });
    try {
      await manage(shop, 'POST', '/webhooks', { callbackUrl: receiver.url, eventType: 'ORDER_CREATE' });
      const orderId = await placeOrder(shop);
      const [call] = await receiver.until(1);
      expect(call!.text).toContain(orderId);
      expect(call!.headers['webhook-timestamp']).toBe(String(NOW.getTime() / 1000));
      await waitFor(async () => {
        const rows = await db.many(sql`select from webhook_delivery where shop_id = ${shop.shopId}`);
        return rows.length === 1;
      });
      // The lease has ended, so the next event is delivered, too.
      await placeOrder(shop);
      expect(await receiver.until(2)).toHaveLength(2);
    } finally {
      await worker.stop();
      await receiver.close();
    }
  });

  test('many products are changed, and their prices have the time of the sandbox', async () => {
    const shop = await givenSandbox();
    await advance(shop, '1y');
    const { db } = service;
    await db.ofShop(shop.shopId).transaction((tx) =>
      insertBulkEdit(tx, shop.shopId, {
        author: 'owner@mail.example',
        action: { kind: 'setPrice', currency: 'EUR', amount: 1500 },
        productIds: [tea],
      }),
    );
    await runDueEdits({ db, log: pino({ level: 'silent' }) });
    expect(await db.many(sql`select state from bulk_edit where shop_id = ${shop.shopId}`)).toEqual([
      { state: 'done' },
    ]);
    const prices = await db.many<{ at: Date }>(sql`
      select valid_from as at from price_history where shop_id = ${shop.shopId} and price = 1500`);
    expect(prices.map(({ at }) => at.toISOString())).toEqual(['2027-11-15T08:30:00.000Z']);
  });
});

describe('the admin of a sandbox', () => {
  test('says so, moves the clock, shows its emails and deletes it, and only it', async () => {
    const shop = await givenSandbox();
    await placeOrder(shop);
    await waitForEmails(shop, 'order');
    const owner = await givenMerchant(service, 'owner', shop.shopId);
    const home = await owner.get('');
    expect(home.text).toContain('Sandbox of Harbour</a>');
    const page = await owner.get('/sandbox');
    expect(page.status).toBe(200);
    const [, emailId] = /\/sandbox\/emails\/([0-9A-F-]{36})/.exec(page.text)!;
    expect((await owner.get(`/sandbox/emails/${emailId}`)).text).toContain('ada.lindqvist@mail.example');
    const moved = await owner.post('/sandbox/clock', { step: 'weeks' });
    expect(moved.status).toBe(303);
    expect((await get(shop, '/manage/shops/{shop}/clock')).now).toBe(later(14));
    expect((await owner.post('/sandbox/clock', { step: 'toString' })).status).toBe(404);

    const other = await givenMerchant(service, 'owner', 'Harbour');
    expect((await other.get('/sandbox')).status).toBe(404);
    expect((await other.post('/sandbox/delete')).status).toBe(404);
    expect((await other.get('')).text).not.toContain('andbox');
    const manager = await givenMerchant(service, 'manager', shop.shopId);
    expect((await manager.post('/sandbox/delete')).status).toBe(403);

    expect(await owner.post('/sandbox/delete')).toMatchObject({ status: 303, location: '/admin' });
    expect((await readPage(service, `/${shop.shopId}`)).status).toBe(404);
    expect((await readPage(service, '/Harbour')).status).toBe(200);
  });

  test('an email that lets staff into the admin is sent, and is not among those', async () => {
    const shop = await givenSandbox();
    const owner = await givenMerchant(service, 'owner', shop.shopId);
    await owner.post('/users', { email: 'new@staff.example', role: 'orders' });
    await waitFor(async () => smtp.taken.some(({ to }) => to.includes('new@staff.example')));
    expect((await get(shop, '/manage/shops/{shop}/sandbox-emails')).items).toEqual([]);
  });
});

test('a shop of its own has no emails here', async () => {
  const { status, body } = await service.call('GET', '/manage/shops/Harbour/sandbox-emails', {
    token: original.token,
  });
  expect([status, body]).toEqual([200, { items: [] }]);
});
