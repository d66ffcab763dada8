import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { givenMerchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import { fingerprint } from '../../../test/demo.ts';
import {
  ADA,
  changesNothing,
  done,
  givenCart,
  givenDemoShop,
  givenFullCart,
  NOW,
  on,
  queuedEmails,
  refusal,
  type Shop,
} from '../../../test/carts.ts';
import { databaseUrl, startService, type Answer, type Service } from '../../../test/service.ts';
import { privacyRequestCleanup } from './requests.ts';
import { COMMANDS } from '../../commands/table.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import { sql } from '../../db/sql.ts';
import { newId, secretHash } from '../../kernel/ids.ts';
import { type OrderChanges, changeOrder, lockOrder } from '../../orders/change.ts';

type Body = Answer['body'];

let service: Service;
let shop: Shop;

beforeEach(async () => {
  service ??= await startService();
  await service.db.run(sql`delete from shop`);
  await service.db.run(sql`delete from job`);
  service.setClock(NOW);
  shop = await givenDemoShop(service);
});
afterAll(() => service.close());

/** Words by which this person could be known. */
const WREN = {
  company: 'Wrenhouse Ltd',
  firstName: 'Wrenna',
  lastName: 'Quillfeather',
  street: 'Marrowgate 99',
  zipCode: '20457',
  city: 'Zephyrhaven',
  country: 'DE',
  phoneNumber: '+49 40 7654321',
  emailAddress: 'Wrenna.Q@zephyr.example',
};
const TRACES = ['wrenhouse', 'wrenna', 'quillfeather', 'marrowgate', 'zephyr', '7654321', 'secret hope'];

const manage = (method: string, path: string, headers: Record<string, string> = {}) =>
  service.call(method, `/manage/shops/DemoShop${path}`, { token: shop.token, headers });
const erase = (customerId: string, query = '') => manage('POST', `/customers/${customerId}/erase${query}`);
const exported = async (customerId: string) => {
  const answer = await manage('GET', `/customers/${customerId}/export`);
  expect(answer.status).toBe(200);
  return answer.body;
};

async function ordered(quantities = { 'TE-100': 1 }, address: object = WREN): Promise<Body> {
  return done(await givenFullCart(shop, quantities, { address }), 'POST', '/order');
}

async function change(orderId: string, changes: OrderChanges): Promise<void> {
  await service.db.transaction(async (tx) => {
    await changeOrder(tx, shop.shopId, (await lockOrder(tx, shop.shopId, orderId))!, changes);
  });
}

/** An order with everything that may belong to one. */
async function givenHistory(): Promise<Body> {
  const order = await ordered();
  const { orderId } = order;
  const [{ lineItemId }] = order.lineItemContainer.productLineItems;
  const shipping = { ...order.billingAddress, street: 'Marrowgate 100' };
  await change(orderId, {
    shippingAddress: shipping,
    customerComment: 'a secret hope of Wrenna',
    internalNote: 'Quillfeather pays late',
    closedOn: NOW,
    paidAmount: 1_000,
  });
  const lines = [{ lineItemId, quantity: '1' }];
  await service.db.run(sql`
    insert into order_payment (shop_id, order_id, payment_id, at, kind, amount, reference, note)
    values ('DemoShop', ${orderId}, ${id()}, ${NOW}, 'payment', 1000, 'TX-1', 'from Wrenna')`);
  const shipmentId = id();
  await service.db.run(sql`
    insert into order_shipment (shop_id, order_id, shipment_id, at, lines, carrier, tracking_code)
    values ('DemoShop', ${orderId}, ${shipmentId}, ${NOW}, ${JSON.stringify(lines)}, 'Pigeon', 'ZEPHYR1')`);
  await service.db.run(sql`
    insert into order_parcel (shop_id, order_id, shipment_id, position, tracking_code, tracking_url)
    values ('DemoShop', ${orderId}, ${shipmentId}, 2, 'ZEPHYR2', 'https://pigeon.example/ZEPHYR2')`);
  await service.db.run(sql`
    insert into order_return (shop_id, order_id, return_id, at, lines, restocked, note)
    values ('DemoShop', ${orderId}, ${id()}, ${NOW}, ${JSON.stringify(lines)}, true, 'Quillfeather: too small')`);
  await service.db.run(sql`
    insert into order_event (shop_id, order_id, event_id, at, kind, details)
    values ('DemoShop', ${orderId}, ${id()}, ${NOW}, 'cancelled', '{"reason": "Wrenna changed her mind"}')`);
  await service.db.run(sql`
    insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address, terms,
      content, pdf)
    select shop_id, ${id()}, order_id, 'Invoice', 1001, ${NOW}, ${NOW}, billing_address, '{}', content, 'a file'::bytea
    from customer_order where shop_id = 'DemoShop' and order_id = ${orderId}`);
  return order;
}

const id = () => newId(NOW);

/** What is held beside orders: a cart by its address, one by its customer, a subscription, a watch. */
async function givenTraces(customerId: string): Promise<void> {
  const email = WREN.emailAddress.toLowerCase();
  await givenFullCart(shop, { 'TE-100': 2 }, { address: WREN });
  await givenCart(shop, { 'TE-110': 1 }, { customerId });
  await service.db.run(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, subscribed, created_at)
    select shop_id, campaign_id, ${email}, 'Wrenna Q', true, ${NOW} from newsletter_campaign
    where shop_id = 'DemoShop' and identifier = 'TideLetter_EN'`);
  await service.db.run(sql`
    insert into newsletter_request (shop_id, token_hash, campaign_id, email, name, created_at)
    select shop_id, 'a hash'::bytea, campaign_id, ${email}, 'Wrenna Q', ${NOW} from newsletter_campaign
    where shop_id = 'DemoShop' and identifier = 'TideLetter_DE'`);
  await givenAccount(email);
  await service.call('POST', `/DemoShop/products/${shop.ids['TE-120']}/availability-notifications`, {
    token: shop.token,
    body: { email, locale: 'en_GB' },
  });
}

/** With an address, a session, a request to sign in, a wish, and a cart that names nobody. */
async function givenAccount(email: string): Promise<void> {
  const [accountId, { body: cart }] = [id(), await givenCart(shop, { 'TE-110': 1 })];
  await service.db.run(sql`
    insert into account (shop_id, account_id, email, created_at, cart_id)
    values ('DemoShop', ${accountId}, ${email}, ${NOW}, ${cart.cartId})`);
  await service.db.run(sql`
    insert into account_address (shop_id, address_id, account_id, address, created_at)
    values ('DemoShop', ${id()}, ${accountId}, ${{ lastName: 'Quillfeather' }}, ${NOW})`);
  await service.db.run(sql`
    insert into account_session (shop_id, session_id, account_id, token_hash, created_at, seen_at, browser, system)
    values ('DemoShop', ${id()}, ${accountId}, 'a hash'::bytea, ${NOW}, ${NOW}, 'Firefox', 'Windows')`);
  await service.db.run(sql`
    insert into account_passkey (shop_id, credential_id, account_id, public_key, counter, transports, browser, system,
      created_at)
    values ('DemoShop', ${id()}, ${accountId}, 'a key'::bytea, 0, '{}', 'Firefox', 'Windows', ${NOW})`);
  await service.db.run(sql`
    insert into sign_in_request (shop_id, request_id, email, created_at)
    values ('DemoShop', ${id()}, ${email}, ${NOW})`);
  await service.db.run(sql`
    insert into wish (shop_id, visitor_hash, product_id, created_at)
    values ('DemoShop', ${secretHash(accountId)}, ${shop.ids['TE-120']}, ${NOW})`);
}

/** Where the person is still found: all tables of the database. */
async function traces(): Promise<Record<string, number>> {
  const tables = await service.db.pool.query<{ name: string }>(`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`);
  const counts = await service.db.pool.query<{ name: string; rows: number }>(
    tables.rows
      .map(
        ({ name }) => `select '${name}' as name, count(*)::int as rows from ${name} as entry
          where to_jsonb(entry)::text ilike any ($1)`,
      )
      .join(' union all '),
    [TRACES.map((trace) => `%${trace}%`)],
  );
  return Object.fromEntries(counts.rows.filter(({ rows }) => rows > 0).map(({ name, rows }) => [name, rows]));
}

const ERASED = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
const NOTE = expect.stringContaining('Invoices and credit notes stay');

describe('erasing', () => {
  test('leaves nothing of a person but the documents', async () => {
    const before = await givenHistory();
    const { orderId, customerId, customerNumber } = before;
    await givenTraces(customerId);
    await service.call('PATCH', `/DemoShop/customers/${customerId}`, {
      token: shop.token,
      body: [{ op: 'add', path: '/internalNote', value: 'Quillfeather is nice' }],
      headers: { 'idempotency-key': 'noted' },
    });
    await service.call('GET', `/DemoShop/customers/${customerId}`, { token: shop.token });
    const held = await traces();
    expect(Object.keys(held)).toEqual(
      expect.arrayContaining([
        'public.account',
        'public.account_address',
        'public.cart',
        'public.customer',
        'public.customer_order',
        'public.idempotent_answer',
        'public.job',
        'public.newsletter_request',
        'public.newsletter_subscriber',
        'public.order_document',
        'public.order_event',
        'public.order_parcel',
        'public.order_payment',
        'public.order_return',
        'public.order_shipment',
        'public.sign_in_request',
        'public.watcher',
      ]),
    );

    await service.db.run(sql`
      insert into customer_note (shop_id, customer_id, note_id, created_at, author, note)
      select shop_id, customer_id, gen_random_uuid(), now(), 'owner@shop.example', 'Quillfeather rings twice'
      from customer where customer_id = ${customerId}`);
    await service.db.run(sql`
      insert into customer_tag (shop_id, customer_id, tag_key, tag)
      select shop_id, customer_id, 'quillfeather', 'Quillfeather' from customer where customer_id = ${customerId}`);
    await service.db.run(sql`
      insert into mailing (shop_id, mailing_id, state, newsletter_ids, author, version, created_at, changed_at,
        recipients, sent, skipped, refused, bounced, complained, unsubscribed)
      select shop_id, gen_random_uuid(), 'sent', array[campaign_id], '', 1, now(), now(), 1, 1, 0, 0, 0, 0, 0
      from newsletter_campaign where shop_id = 'DemoShop' limit 1`);
    await service.db.run(sql`
      insert into mailing_recipient (shop_id, mailing_id, email, state, changed_at)
      select distinct mailing.shop_id, mailing_id, email, 'sent', now()
      from mailing join newsletter_subscriber using (shop_id) where email ilike '%zephyr%'`);
    await service.db.run(sql`
      insert into newsletter_bounce (shop_id, email, kind, created_at)
      select distinct shop_id, email, 'complained', now()
      from newsletter_subscriber where email ilike '%zephyr%'`);
    expect(await traces()).toMatchObject({ 'public.mailing_recipient': 1, 'public.newsletter_bounce': 1 });
    const { status, body } = await erase(customerId);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        customerId,
        customerNumber,
        customer: 'anonymised',
        ordersAnonymised: 1,
        documentsKept: 1,
        customFieldsDeleted: 0,
        cartsDeleted: 3,
        wishesDeleted: 1,
        accountsDeleted: 1,
        notesDeleted: 1,
        tagsDeleted: 1,
        accessRequestsDeleted: 0,
        storeCreditKept: 0,
        subscriptionsDeleted: 1,
        mailingRecipientsDeleted: 1,
        watchesDeleted: 1,
        mailsDeleted: 2,
        orderTagsDeleted: 0,
        tasksDeleted: 0,
        reviewsDeleted: 0,
        reviewReportsErased: 0,
        downloadsClosed: 0,
        note: NOTE,
      },
    });
    expect(await traces()).toEqual({ 'public.order_document': 1 });
    const left = await service.db.many(sql`
      select (select count(*) from wish) as wishes, (select count(*) from account_session) as sessions,
        (select count(*) from account_passkey) as passkeys`);
    expect(left).toEqual([{ wishes: 0, sessions: 0, passkeys: 0 }]);
    const [document] = await service.db.many<Body>(sql`select address, pdf from order_document`);
    expect(document).toMatchObject({ address: { lastName: 'Quillfeather' }, pdf: Buffer.from('a file') });

    const order = (await service.call('GET', `/DemoShop/orders/${orderId}`, { token: shop.token })).body;
    expect(order).toMatchObject({
      orderNumber: before.orderNumber,
      grandTotal: before.grandTotal,
      customerNumber,
      customerComment: null,
      internalNote: null,
      // The time of the commit: the clock of the test stands still, and each commit is a millisecond later.
      lastUpdatedOnDate: expect.stringMatching(/^2026-11-15T08:30:00\.0\d\dZ$/),
      lineItemContainer: before.lineItemContainer,
    });
    const address = { ...ERASED, country: 'DE', zipCode: '20' };
    expect(order.billingAddress).toEqual({ ...address, emailAddress: 'erased@invalid.invalid' });
    expect(order.shippingAddress).toEqual(address);
    expect(Object.keys(order.billingAddress)).toEqual(ADDRESS_FIELDS);

    const customer = await service.call('GET', `/DemoShop/customers/${customerId}`, { token: shop.token });
    expect(customer.body).toMatchObject({ customerNumber, billingAddress: null, internalNote: null });
    const events = await service.db.many(sql`
      select kind, details, app_id is not null as "byApp" from order_event
      where order_id = ${orderId} order by kind`);
    expect(events).toEqual([
      { kind: 'cancelled', details: {}, byApp: false },
      { kind: 'erased', details: {}, byApp: true },
    ]);
    const [row] = await service.db.many<Body>(
      sql`select erased_at from customer_order where order_id = ${orderId}`,
    );
    expect(row.erased_at).toEqual(NOW);
    const { items } = (await manage('GET', '/audit')).body;
    expect(items).toContainEqual({
      entryId: expect.any(String),
      at: NOW.toISOString(),
      app: { appId: expect.any(String), name: 'all-access' },
      method: 'POST',
      route: '/manage/shops/:shopId/customers/:customerId/erase',
      object: { customerId },
    });
  });

  test('counts nothing anew', async () => {
    const { customerId } = await givenHistory();
    const days = () => service.db.many(sql`select * from order_day order by day, currency, states`);
    const before = await days();
    await erase(customerId);
    expect(await days()).toEqual(before);
  });

  test('leaves everybody else alone', async () => {
    const other = await ordered({ 'TE-100': 1 }, { ...ADA, emailAddress: 'other@mail.example' });
    await givenFullCart(shop, { 'TE-100': 2 }, { address: { emailAddress: 'other@mail.example' } });
    const { customerId } = await givenHistory();
    const rest = async () => [
      await service.db.many(
        sql`select * from customer where customer_id <> ${customerId} order by customer_id`,
      ),
      await service.db.many(sql`select * from customer_order where order_id = ${other.orderId}`),
      await service.db.many(sql`select * from cart order by cart_id`),
      await service.db.many(sql`select * from newsletter_subscriber order by email`),
      (await queuedEmails(service)).filter(({ to }) => to === 'other@mail.example'),
    ];
    const before = await rest();
    expect((await erase(customerId)).status).toBe(200);
    expect(await rest()).toEqual(before);
  });

  test('of somebody who never ordered leaves no customer', async () => {
    const body = { billingAddress: WREN, internalNote: 'a secret hope' };
    const headers = { 'idempotency-key': 'made' };
    const made = await service.call('POST', '/DemoShop/customers', { token: shop.token, body, headers });
    const { customerId, customerNumber } = made.body;
    await givenTraces(customerId);
    expect((await erase(customerId.toLowerCase())).body).toMatchObject({
      customerId,
      customerNumber,
      customer: 'deleted',
      ordersAnonymised: 0,
      documentsKept: 0,
      cartsDeleted: 3,
    });
    expect(await traces()).toEqual({});
    expect(await refusal(service, () => erase(customerId))).toEqual([404, 'HTTP 404 Not Found']);
  });

  test('is on record by the number of the customer, as each copy is; a refused one is not', async () => {
    const { customerId, customerNumber, orderId } = await givenHistory();
    await exported(customerId);
    await change(orderId, { closedOn: null });
    expect((await erase(customerId)).status).toBe(409);
    await change(orderId, { closedOn: NOW });
    await erase(customerId);
    const merchant = await givenMerchant(service);
    const list = await merchant.get('/customers/privacy');
    const rows = [...list.text.matchAll(/<tr>\s*<td[^]*?<\/tr>/g)].map(([row]) =>
      row
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
    const app = (await service.db.one<{ name: string }>(sql`
      select done_by as name from privacy_request where kind = 'erasure'`))!.name;
    expect(rows.map((row) => row.replace(/^.*(?=(Copy|Erasure))/, ''))).toEqual([
      `Erasure ${customerNumber} ${app}`,
      `Copy of the data ${customerNumber} ${app}`,
    ]);
    const again = await exported(customerId);
    expect(again.privacyRequests.map(({ kind, source }: Body) => [kind, source])).toEqual([
      ['export', 'staff'],
      ['erasure', 'staff'],
      ['export', 'staff'],
    ]);
    const clerk = await givenMerchant(service, 'catalogue');
    expect((await clerk.get('/customers/privacy')).status).toBe(403);

    // Four years later it is deleted.
    expect(await privacyRequestCleanup.run(service.db, 100)).toBe(0);
    service.setClock(new Date(NOW.getTime() + 5 * 366 * 86_400_000));
    expect(await privacyRequestCleanup.run(service.db, 100)).toBe(3);
    service.setClock(NOW);
  });

  test('again finds nothing more to do', async () => {
    const { customerId, orderId } = await givenHistory();
    await erase(customerId);
    const { status, body } = await erase(customerId);
    expect([status, body.customer, body.ordersAnonymised, body.documentsKept]).toEqual([
      200,
      'anonymised',
      0,
      1,
    ]);
    const events = await service.db.many(sql`
      select from order_event where order_id = ${orderId} and kind = 'erased'`);
    expect(events).toHaveLength(1);
  });

  test('makes room for the same person to begin anew', async () => {
    const { customerId } = await givenHistory();
    await erase(customerId);
    const again = await ordered();
    expect(again.customerId).not.toBe(customerId);
    expect(again.billingAddress).toMatchObject({ lastName: 'Quillfeather' });
  });

  test.each<[string, OrderChanges, number]>([
    ['is new', {}, 409],
    ['is paid', { paidOn: NOW }, 409],
    ['is delivered', { deliveredOn: NOW }, 409],
    ['is paid and delivered', { paidOn: NOW, deliveredOn: NOW }, 200],
    ['is closed', { closedOn: NOW }, 200],
    ['is archived', { archivedOn: NOW }, 200],
    ['is rejected', { rejectedOn: NOW }, 200],
    ['is cancelled', { cancelledAt: NOW }, 200],
    ['is closed and being edited', { closedOn: NOW, editingSince: NOW }, 409],
  ])('while an order %s', async (_, changes, status) => {
    const { customerId, orderId, orderNumber } = await ordered();
    await change(orderId, changes);
    if (status === 200) {
      expect((await erase(customerId)).status).toBe(200);
      return;
    }
    expect(await refusal(service, () => erase(customerId))).toEqual([
      409,
      `The customer has orders that are not finished: ${orderNumber}. Close or cancel them first, or erase with force`,
    ]);
    expect((await erase(customerId, '?force=false')).status).toBe(409);
    expect((await erase(customerId, '?force=true')).body).toMatchObject({ ordersAnonymised: 1 });
    expect(await traces()).toEqual({});
  });

  test('what is not shipped is finished when it is paid', async () => {
    const { customerId, orderId } = await ordered({ 'BK-100': 1 } as never);
    expect((await erase(customerId)).status).toBe(409);
    await change(orderId, { paidOn: NOW });
    expect((await erase(customerId)).status).toBe(200);
  });

  test('names no more than five orders', async () => {
    let customerId = '';
    for (let count = 0; count < 7; count++) ({ customerId } = await ordered());
    const [, text] = await refusal(service, () => erase(customerId));
    expect(text.split('ORD')).toHaveLength(6);
    expect(text).toContain(' and 2 more. ');
  });

  test('needs the scope, and a customer of this shop', async () => {
    const { customerId } = await givenHistory();
    const reader = await givenToken(service, 'DemoShop', ['customers_read', 'orders_write']);
    const path = `/manage/shops/DemoShop/customers/${customerId}`;
    expect(await refusal(service, () => service.call('POST', `${path}/erase`, { token: reader }))).toEqual([
      403,
      'The token lacks the scope customers_write',
    ]);
    const writer = await givenToken(service, 'DemoShop', ['customers_write', 'orders_read']);
    expect((await service.call('GET', `${path}/export`, { token: writer })).status).toBe(403);
    for (const id of [newId(NOW), 'nobody']) {
      expect(await refusal(service, () => erase(id))).toEqual([404, 'HTTP 404 Not Found']);
      expect((await manage('GET', `/customers/${id}/export`)).status).toBe(404);
    }
  });

  test('once per Idempotency-Key, whose answer holds nothing of the person', async () => {
    const { customerId } = await givenHistory();
    const headers = { 'idempotency-key': 'forget' };
    const first = await manage('POST', `/customers/${customerId}/erase`, headers);
    const second = await manage('POST', `/customers/${customerId}/erase`, headers);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await traces()).toEqual({ 'public.order_document': 1 });
  });

  test('while the person orders: one comes first, and nothing breaks', async () => {
    for (let round = 0; round < 5; round++) {
      const { customerId } = await ordered();
      const cart = await givenFullCart(shop, { 'BK-100': 1 }, { address: WREN });
      const [erased, placed] = await Promise.all([
        erase(customerId, '?force=true'),
        on(cart, 'POST', '/order'),
      ]);
      expect(erased.status).toBe(200);
      // Gone with the person's carts, or an order before or after.
      expect([201, 404, 409]).toContain(placed.status);
      const held = await service.db.one<{ orders: number }>(sql`
        select count(*) as orders from customer_order where customer_id = ${customerId} and erased_at is null`);
      if (held!.orders > 0) expect((await erase(customerId, '?force=true')).body.ordersAnonymised).toBe(1);
    }
  });

  test('twice at once is done once', async () => {
    const { customerId } = await givenHistory();
    const answers = await Promise.all([erase(customerId), erase(customerId)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(
      answers.map(({ body }) => body.ordersAnonymised as number).toSorted((left, right) => left - right),
    ).toEqual([0, 1]);
  });

  test('sends no mail to an address that is none', async () => {
    const { customerId, orderId } = await givenHistory();
    await erase(customerId);
    await service.db.run(sql`delete from job`);
    const answer = await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}/refunds`, {
      token: shop.token,
      body: { amount: 1 },
    });
    expect(answer.status).toBe(201);
    expect(await queuedEmails(service)).toEqual([]);
  });

  test('of 500 orders takes as many statements as of one', async () => {
    const { customerId, orderId } = await givenHistory();
    await service.db.run(sql`
      insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, content, closed_at)
      select shop_id, gen_random_uuid(), 'COPY/' || copy, gen_random_uuid(), cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, content, closed_at
      from customer_order cross join generate_series(1, 499) copy where order_id = ${orderId}`);
    const { body } = await erase(customerId);
    expect(body.ordersAnonymised).toBe(500);
    expect(await traces()).toEqual({ 'public.order_document': 1 });
    const [{ events }] = (await service.db.many<{ events: number }>(sql`
      select count(*) as events from order_event where kind = 'erased'`)) as [{ events: number }];
    expect(events).toBe(500);
  });
});

describe('exporting', () => {
  test('has everything that is held', async () => {
    const { orderId, customerId, customerNumber, orderNumber, lineItemContainer } = await givenHistory();
    await givenTraces(customerId);
    const { carts, ...body } = await exported(customerId);
    expect(carts).toHaveLength(3);
    expect(carts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ billingAddress: expect.objectContaining(WREN) }),
        expect.objectContaining({
          billingAddress: null,
          lines: [expect.objectContaining({ quantity: '1' })],
        }),
      ]),
    );
    expect(body).toMatchObject({
      customerId,
      exportedOn: NOW.toISOString(),
      customer: {
        customerNumber,
        creationDate: NOW.toISOString(),
        customerGroup: null,
        billingAddress: WREN,
        internalNote: null,
      },
      emailAddresses: ['wrenna.q@zephyr.example'],
      newsletterSubscriptions: [
        { newsletter: 'TideLetter_EN', name: 'Wrenna Q', subscribed: true, since: NOW.toISOString() },
      ],
      newsletterRequests: [
        { newsletter: 'TideLetter_DE', name: 'Wrenna Q', email: 'wrenna.q@zephyr.example' },
      ],
      availabilityWatches: [{ productNumber: 'TE-120', locale: 'en_GB' }],
      wishList: [{ productNumber: 'TE-120', since: NOW.toISOString() }],
      accounts: [
        {
          email: 'wrenna.q@zephyr.example',
          since: NOW.toISOString(),
          addresses: [{ lastName: 'Quillfeather' }],
          passkeys: [{ browser: 'Firefox', system: 'Windows', lastUsed: null }],
        },
      ],
      accountSessions: [
        { browser: 'Firefox', system: 'Windows', since: NOW.toISOString(), lastSeen: NOW.toISOString() },
      ],
      signInRequests: [{ email: 'wrenna.q@zephyr.example', since: NOW.toISOString() }],
      // To the customer, and to the merchant.
      mails: expect.toSatisfy((emails: { template: string }[]) =>
        ['order', 'newOrder'].every((name) => emails.some(({ template }) => template === name)),
      ),
      orders: [
        {
          orderId,
          orderNumber,
          customerComment: 'a secret hope of Wrenna',
          lineItemContainer,
          billingAddress: WREN,
          shippingAddress: { street: 'Marrowgate 100' },
          erasedOn: null,
          documents: [{ type: 'Invoice', number: 1001, issuedOn: NOW.toISOString(), address: WREN }],
          payments: [
            { at: NOW.toISOString(), kind: 'payment', amount: 10, reference: 'TX-1', note: 'from Wrenna' },
          ],
          shipments: [{ at: NOW.toISOString(), carrier: 'Pigeon', trackingCode: 'ZEPHYR1' }],
          returns: [{ restocked: true, note: 'Quillfeather: too small' }],
          history: [{ kind: 'cancelled', details: { reason: 'Wrenna changed her mind' } }],
        },
      ],
    });
    // Of the same moment, and so in any order.
    expect(body.auditEntries.map(({ route }: { route: string }) => route).toSorted()).toEqual([
      '/manage/shops/:shopId/customers/:customerId/export',
      '/rs/shops/:shopId/carts/:cartId/order',
    ]);
    expect(body.orders[0].documents[0]).not.toHaveProperty('pdf');
    expect(JSON.stringify(body)).not.toContain('token');
  });

  test('writes its entries of the audit log and of the privacy requests alone, and is empty where nothing is held', async () => {
    const made = await service.call('POST', '/DemoShop/customers', {
      token: shop.token,
      body: { billingAddress: {} },
    });
    const withoutEntries = async () =>
      Object.entries(await fingerprint(service)).filter(
        ([table]) => !/^(audit_entry|privacy_request)/.test(table),
      );
    const before = await withoutEntries();
    const body = await exported(made.body.customerId);
    expect(await withoutEntries()).toEqual(before);
    const nothing = {
      newsletterSubscriptions: [],
      newsletterRequests: [],
      availabilityWatches: [],
      carts: [],
      wishList: [],
      accounts: [],
      accountSessions: [],
      signInRequests: [],
      mails: [],
      orderTags: [],
      tasks: [],
      orders: [],
    };
    expect(body).toMatchObject({ ...nothing, emailAddresses: [] });
    const methods = body.auditEntries.map(({ method }: { method: string }) => method);
    expect(methods.toSorted()).toEqual(['GET', 'POST']);
  });

  test('says of an erased customer what is left', async () => {
    const { customerId } = await givenHistory();
    await erase(customerId);
    const body = await exported(customerId);
    expect(body).toMatchObject({ customer: { billingAddress: null }, emailAddresses: [], mails: [] });
    expect(body.orders).toMatchObject([
      { erasedOn: NOW.toISOString(), documents: [{ address: WREN }], payments: [{ note: null }] },
    ]);
  });

  test('reads many orders piece by piece, each once', async () => {
    const { customerId, orderId } = await givenHistory();
    await service.db.run(sql`
      insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, content)
      select shop_id, gen_random_uuid(), 'COPY/' || copy, gen_random_uuid(), cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, content
      from customer_order cross join generate_series(1, 250) copy where order_id = ${orderId}`);
    const { orders } = await exported(customerId);
    expect(new Set(orders.map((order: Body) => order.orderNumber)).size).toBe(251);
    expect(orders).toHaveLength(251);
  });
});

describe('on the command line', () => {
  async function run(name: string, args: string[], options: Record<string, string | boolean> = {}) {
    const config = { ...service.config, DATABASE_URL: databaseUrl(service.database) };
    const printed = vi.spyOn(process.stdout, 'write').mockImplementation((...given: unknown[]) => {
      const callback = given.findLast((one) => typeof one === 'function');
      (callback as (() => void) | undefined)?.();
      return true;
    });
    try {
      const command = COMMANDS.find((one) => one.name === name)!;
      await command.run({ config, arguments: args, options });
      return printed.mock.calls.map(([text]) => String(text)).join('');
    } finally {
      printed.mockRestore();
    }
  }

  test('a customer is exported by number or id, to the screen or a file', async () => {
    const { customerId, customerNumber } = await givenHistory();
    for (const id of [customerNumber, customerId, customerId.toLowerCase()]) {
      const text = await run('customer export', ['DemoShop', id]);
      expect(JSON.parse(text)).toMatchObject({ customerId, orders: [{ customerNumber }] });
    }
    const folder = await mkdtemp(path.join(tmpdir(), 'kontor-export-'));
    const output = path.join(folder, 'person.json');
    expect(await run('customer export', ['DemoShop', customerNumber], { output })).toBe('');
    expect(JSON.parse(await readFile(output, 'utf8'))).toMatchObject({ customerId });
    expect((await stat(output)).mode & 0o777).toBe(0o600);
    const nowhere = path.join(folder, 'nowhere', 'person.json');
    await expect(run('customer export', ['DemoShop', customerNumber], { output: nowhere })).rejects.toThrow(
      'ENOENT',
    );
    await rm(folder, { recursive: true });
    await expect(run('customer export', ['DemoShop', '4711'])).rejects.toThrow(
      'DemoShop has no customer "4711".',
    );
    await expect(run('customer export', ['Nowhere', '1'])).rejects.toThrow('There is no shop "Nowhere"');
  });

  test('a customer is erased when it is said twice', async () => {
    const { customerId, customerNumber, orderId, orderNumber } = await givenHistory();
    await changesNothing(service, () =>
      expect(run('customer erase', ['DemoShop', customerNumber])).rejects.toThrow(
        `This erases customer ${customerNumber} of DemoShop with 1 order for good. Add --yes to do it.`,
      ),
    );
    await change(orderId, { closedOn: null });
    await changesNothing(service, () =>
      expect(run('customer erase', ['DemoShop', customerNumber], { yes: true })).rejects.toThrow(
        `The customer has orders that are not finished: ${orderNumber}. Close or cancel them first, or erase with force (--force).`,
      ),
    );
    const text = await run('customer erase', ['DemoShop', customerNumber], { yes: true, force: true });
    expect(text.split('\n')).toEqual([
      `Customer ${customerNumber} anonymised.`,
      'Anonymised: 1 order. Deleted: 0 carts, 0 subscriptions, 0 watches, 2 emails.',
      'Kept, as the law demands: 1 invoice or credit note.',
      '',
    ]);
    expect(await traces()).toEqual({ 'public.order_document': 1 });
    service.setClock(undefined);
    const { items } = (await manage('GET', '/audit?method=command')).body;
    expect(items).toMatchObject([{ app: null, route: 'kontor customer erase', object: { customerId } }]);
    expect(
      await service.db.many(sql`
        select kind, source, done_by as by, customer_number as number from privacy_request
        where customer_id = ${customerId}`),
    ).toEqual([{ kind: 'erasure', source: 'command', by: null, number: customerNumber }]);
    await expect(run('customer erase', ['DemoShop', '4711'], { yes: true })).rejects.toThrow(
      'no customer "4711"',
    );
  });
});
