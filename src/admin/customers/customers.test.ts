import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { customerTotals } from '../../orders/customer-totals.ts';

let service: Service;
let merchant: Merchant;
let customerId: string;
beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
  const row = await service.db.one<{ id: string }>(
    sql`select upper(customer_id::text) as id from customer where shop_id = 'DemoShop' and customer_number = '1001'`,
  );
  customerId = row!.id;
});
afterAll(() => service.close());

const valueIn = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1];

test('the list finds customers by the beginning of an address, a name, a company and a number', async () => {
  expect((await merchant.get('/customers')).text).toContain('1–15 of 15');
  const found = await merchant.get('/customers?q=ADA@');
  expect(found.text).toContain('ada@pelican.example');
  expect(found.text).toContain('1–1 of 1');
  expect((await merchant.get('/customers?q=1002')).text).toContain('jonas.w@mail.example');
  for (const text of ['brenn', 'Ada B', 'cafe pel', '100']) {
    expect((await merchant.get(`/customers?q=${encodeURIComponent(text)}`)).text).toContain('Ada Brennan');
  }
  expect((await merchant.get('/customers?q=rennan')).text).toContain('No results for these filters.');
  expect((await merchant.get('/customers?q=%25')).text).toContain('No results for these filters.');
});

test('a note is saved by the operation of the API, with an entry in the audit log, and taken back', async () => {
  const path = `/customers/${customerId}`;
  const { text } = await merchant.get(path);
  const version = valueIn(text, 'version')!;
  const saved = await merchant.post(path, { version, customerNumber: '1001', internalNote: 'Rings twice' });
  expect([saved.status, saved.location]).toEqual([303, `/admin/shops/DemoShop${path}`]);
  const customer = await service.call('GET', `/DemoShop/customers/${customerId}`, { token: 'demo-all' });
  expect(customer.body.internalNote).toBe('Rings twice');
  const audit = await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' });
  expect(audit.body.items[0]).toMatchObject({
    app: { name: merchant.email },
    method: 'PATCH',
    object: { customerId },
  });
});

test('what somebody else has changed meanwhile is not overwritten, and nothing that was typed is lost', async () => {
  const path = `/customers/${customerId}`;
  const version = valueIn((await merchant.get(path)).text, 'version')!;
  await service.call('PATCH', `/DemoShop/customers/${customerId}`, {
    token: 'demo-all',
    body: [{ op: 'add', path: '/internalNote', value: 'From an app' }],
  });
  const refused = await merchant.post(path, { version, customerNumber: '1001', internalNote: 'Mine' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('Somebody else has changed this');
  expect(refused.text).toMatch(/<textarea[^>]*>\s*Mine<\/textarea>/);
  const customer = await service.call('GET', `/DemoShop/customers/${customerId}`, { token: 'demo-all' });
  expect(customer.body.internalNote).toBe('From an app');
});

test('a value that another customer has is refused', async () => {
  const path = `/customers/${customerId}`;
  const version = valueIn((await merchant.get(path)).text, 'version')!;
  const refused = await merchant.post(path, { version, customerNumber: '1002', internalNote: '' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('There is a customer with this number already.');
});

test('a wrong value is named in the language of the reader', async () => {
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  const path = `/customers/${customerId}`;
  const version = valueIn((await german.get(path)).text, 'version')!;
  const refused = await german.post(path, { version, customerNumber: '', internalNote: '' });
  const said = /<p class="problem"[^>]*>([^<]*)/.exec(refused.text)?.[1];
  expect([refused.status, said]).toEqual([400, 'Nummer darf nicht leer sein.']);
  const taken = await german.post(path, { version, customerNumber: '1002', internalNote: '' });
  const why = /<p class="problem"[^>]*>([^<]*)/.exec(taken.text)?.[1];
  expect([taken.status, why]).toEqual([409, 'Einen Kunden mit dieser Nummer gibt es schon.']);
});

const read = async (id: string) =>
  (await service.call('GET', `/DemoShop/customers/${id}`, { token: 'demo-all' })).body;

test('the list and the page of a customer show what was ordered', async () => {
  const list = await merchant.get('/customers?q=ada@');
  expect(list.text).toMatch(/data-title="Orders">\s*3\s*</);
  expect(list.text).toMatch(/data-title="Total spent">\s*€439\.58\s*</);
  const { text } = await merchant.get(`/customers/${customerId}`);
  expect(text).toContain('€146.53');
  expect(text.match(/data-title="Order"/g)).toHaveLength(3);
  expect(text).toContain('Spending by month');
});

test('a customer is made by hand, and a refusal keeps what was typed', async () => {
  const before = await fingerprint(service);
  const refused = await merchant.post('/customers/new', { firstName: 'Wanda', emailAddress: 'nowhere' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('Email has the wrong format.');
  expect(refused.text).toContain('value="Wanda"');
  expect(await fingerprint(service)).toEqual(before);
  const made = await merchant.post('/customers/new', {
    firstName: 'Wanda',
    lastName: 'Meer',
    emailAddress: 'wanda@meer.example',
    internalNote: 'Met at the fair',
  });
  const id = made.location!.split('/').at(-1)!;
  expect(await read(id)).toMatchObject({
    customerNumber: '1016',
    internalNote: 'Met at the fair',
    billingAddress: { firstName: 'Wanda', lastName: 'Meer', emailAddress: 'wanda@meer.example', city: null },
  });
});

test('an address is changed in all of its fields', async () => {
  const { customerId: id } = (
    await service.call('POST', '/DemoShop/customers', {
      token: 'demo-all',
      body: { billingAddress: { lastName: 'Ebb', doorCode: '12' } },
    })
  ).body;
  const path = `/customers/${id}/address`;
  const { text } = await merchant.get(path);
  expect(text).toContain('name="doorCode"');
  const version = valueIn(text, 'version')!;
  const saved = await merchant.post(path, { version, lastName: 'Flut', faxNumber: '04' });
  expect(saved.status).toBe(303);
  const { billingAddress } = await read(id);
  expect([billingAddress.lastName, billingAddress.faxNumber, billingAddress.doorCode]).toEqual([
    'Flut',
    '04',
    null,
  ]);
  expect((await merchant.post(path, { version, lastName: 'Late' })).status).toBe(409);
  expect((await read(id)).billingAddress.lastName).toBe('Flut');
});

test('a customer gets a group, and a group that does not exist is refused', async () => {
  const group = await service.db.one<{ id: string }>(sql`
    select upper(customer_group_id::text) as id from customer_group where shop_id = 'DemoShop' and name = 'Staff'`);
  const groupOf = async () =>
    (await service.db.one<{ id: string | null }>(sql`
      select upper(customer_group_id::text) as id from customer
      where shop_id = 'DemoShop' and customer_id = ${customerId}`))!.id;
  const path = `/customers/${customerId}`;
  const fields = async () => ({
    version: valueIn((await merchant.get(path)).text, 'version')!,
    customerNumber: '1001',
    internalNote: 'x',
  });
  await merchant.post(path, { ...(await fields()), customerGroupId: group!.id });
  expect(await groupOf()).toBe(group!.id);
  const unknown = await merchant.post(path, {
    ...(await fields()),
    customerGroupId: '00000000-0000-7000-8000-000000000000',
  });
  expect(unknown.status).toBe(409);
  expect(await groupOf()).toBe(group!.id);
  await merchant.post(path, { ...(await fields()), customerGroupId: '' });
  expect(await groupOf()).toBeNull();
});

test('the list is exported as a file, which the audit log knows, and in which no cell is a formula', async () => {
  await service.call('POST', '/DemoShop/customers', {
    token: 'demo-all',
    body: { customerNumber: 'X-1', billingAddress: { lastName: '=1+1', emailAddress: 'x@formula.example' } },
  });
  const { status, text, headers } = await merchant.get('/customers/export.csv?q=x@');
  expect(status).toBe(200);
  expect(headers['content-disposition']).toBe("attachment; filename*=UTF-8''customers.csv");
  const [head, row, ...rest] = text.split('\n');
  expect(head!.split(';').slice(0, 3)).toEqual(['\u{feff}Number', 'Company', 'Salutation']);
  expect(row!.split(';')[4]).toBe("'=1+1");
  expect(rest).toEqual(['']);
  const { body } = await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' });
  expect(body.items[0]).toMatchObject({
    app: { name: merchant.email },
    method: 'GET',
    route: '/admin/shops/:shopId/customers/export.csv',
  });
});

test('all data of a person is exported, and the person is erased', async () => {
  const { customerId: id, customerNumber } = (
    await service.call('POST', '/DemoShop/customers', {
      token: 'demo-all',
      body: { billingAddress: { lastName: 'Vergiss', emailAddress: 'v@vergiss.example' } },
    })
  ).body;
  const exported = await merchant.get(`/customers/${id}/export.json`);
  expect(JSON.parse(exported.text)).toMatchObject({ customer: { customerNumber }, orders: [] });
  expect((await merchant.get(`/customers/${id}/erase`)).text).toContain('Retained data');
  const erased = await merchant.post(`/customers/${id}/erase`);
  expect(erased.location).toBe('/admin/shops/DemoShop/customers');
  expect((await merchant.get(`/customers/${id}`)).status).toBe(404);
});

test('somebody with open orders is not erased by mistake', async () => {
  const refused = await merchant.post(`/customers/${customerId}/erase`);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('orders that are not finished');
  expect((await read(customerId)).billingAddress.lastName).toBe('Brennan');
});

test('staff who may only read see no buttons', async () => {
  const accountant = await givenMerchant(service, 'accountant');
  const { text } = await accountant.get(`/customers/${customerId}`);
  expect(text).toContain('Ada Brennan');
  for (const word of ['Edit address', 'Erase personal data', '>Save<']) expect(text).not.toContain(word);
  expect((await accountant.get('/customers')).text).not.toContain('New customer');
});

test('notes have an author and a moment, stay hidden from the customer, and leave with the person', async () => {
  const { customerId: id } = (
    await service.call('POST', '/DemoShop/customers', {
      token: 'demo-all',
      body: { billingAddress: { lastName: 'Notiz', emailAddress: 'n@notiz.example' } },
    })
  ).body;
  for (const note of ['Called back', '<b>Likes</b> tea']) {
    const added = await merchant.post(`/customers/${id}/notes`, { note });
    expect([added.status, added.location]).toEqual([303, `/admin/shops/DemoShop/customers/${id}`]);
  }
  const { text } = await merchant.get(`/customers/${id}`);
  expect(text.indexOf('&lt;b&gt;Likes&lt;/b&gt; tea')).toBeLessThan(text.indexOf('Called back'));
  expect(text).toContain(merchant.email);
  const before = await fingerprint(service);
  for (const [note, status] of [
    ['', 400],
    ['   ', 400],
    ['x'.repeat(2_001), 413],
  ] as const) {
    const refused = await merchant.post(`/customers/${id}/notes`, { note });
    expect(refused.status).toBe(status);
    // An error page names the field as the form does.
    if (status === 400) expect(refused.text).toContain('New note must not be empty.');
  }
  expect((await merchant.post(`/customers/${id}/notes/${id}/delete`)).status).toBe(404);
  expect(await fingerprint(service)).toEqual(before);
  const exported = JSON.parse((await merchant.get(`/customers/${id}/export.json`)).text);
  expect(exported.notes.map(({ note, author }: { note: string; author: string }) => [note, author])).toEqual([
    ['Called back', merchant.email],
    ['<b>Likes</b> tea', merchant.email],
  ]);
  const noteId = /notes\/([0-9A-F-]{36})\/delete/.exec(text)![1]!;
  expect((await merchant.post(`/customers/${id}/notes/${noteId}/delete`)).status).toBe(303);
  expect((await merchant.get(`/customers/${id}`)).text).not.toContain('Likes');
  await merchant.post(`/customers/${id}/erase`);
  expect(await service.db.one(sql`select from customer_note where customer_id = ${id}`)).toBeUndefined();
});

test('tags are set on the page and in bulk, and filter the list and the file', async () => {
  const path = `/customers/${customerId}`;
  const version = valueIn((await merchant.get(path)).text, 'version')!;
  const fields = { version, customerNumber: '1001', internalNote: '', customerGroupId: '' };
  await merchant.post(path, { ...fields, tags: ' Wholesale,  Café Berlin , wholesale' });
  const tagsOf = async (id: string) =>
    (await service.call('GET', `/manage/shops/DemoShop/customers/${id}/tags`, { token: 'demo-all' })).body
      .tags;
  expect(await tagsOf(customerId)).toEqual(['Café Berlin', 'Wholesale']);
  const other = (await service.db.one<{ id: string }>(sql`
    select upper(customer_id::text) as id from customer where shop_id = 'DemoShop' and customer_number = '1002'`))!
    .id;
  const chosen = `/customers/tags?id=${customerId}&id=${other}`;
  expect((await merchant.get(chosen)).text).toContain('Edit tags of 2 customers');
  const saved = await merchant.post(chosen, { add: 'wholesale, spring', remove: 'café berlin' });
  expect(saved.status).toBe(303);
  expect([await tagsOf(customerId), await tagsOf(other)]).toEqual([
    ['spring', 'Wholesale'],
    ['spring', 'wholesale'],
  ]);
  const before = await fingerprint(service);
  const many = Array.from({ length: 20 }, (_, n) => `t${n}`).join(',');
  const full = await merchant.post(chosen, { add: many, remove: '' });
  expect([full.status, full.text.includes('A customer can have at most 20 tags.')]).toEqual([400, true]);
  expect((await merchant.post(chosen, { add: 'x'.repeat(41), remove: '' })).status).toBe(400);
  expect((await merchant.post(`${chosen}&id=${crypto.randomUUID()}`, { add: 'a', remove: '' })).status).toBe(
    404,
  );
  expect(await fingerprint(service)).toEqual(before);
  expect((await merchant.get('/customers?tags=WHOLESALE')).text).toContain('1–2 of 2');
  expect((await merchant.get('/customers?tags=wholesale,spring&q=ada@')).text).toContain('1–1 of 1');
  expect((await merchant.get('/customers?tags=autumn')).text).toContain('No results for these filters.');
  const file = await merchant.get('/customers/export.csv?tags=spring');
  const lines = file.text.trim().split('\n');
  const column = lines[0]!.split(';').indexOf('Tags');
  expect(lines.slice(1).map((line) => line.split(';')[column])).toEqual([
    'spring, Wholesale',
    'spring, wholesale',
  ]);
});

async function countAll(): Promise<void> {
  while ((await customerTotals.run(service.db, 500)) > 0);
}

test('a segment is saved for all people of the shop, counted, opened, exported and deleted', async () => {
  await countAll();
  const found = async (query: string) =>
    /\d+–\d+ of (\d+)/.exec((await merchant.get(`/customers?${query}`)).text)?.[1] ?? '0';
  const expected = async (condition: ReturnType<typeof sql>) =>
    String(
      (await service.db.one<{ n: number }>(sql`
      select count(*) as n from customer left join (
        select customer_id, count(*) as orders, max(created_at) as last_at,
          sum(grand_total - refunded_amount) filter (where currency = 'EUR') as worth
        from customer_order
        where shop_id = 'DemoShop' and cancelled_at is null and rejected_at is null group by customer_id
      ) t using (customer_id)
      where shop_id = 'DemoShop' and ${condition}`))!.n,
    );
  const since = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  for (const [query, condition] of [
    ['minOrders=2', sql`orders >= 2`],
    ['maxOrders=0', sql`orders is null`],
    ['minOrders=1&maxOrders=1', sql`orders = 1`],
    ['minValue=100', sql`worth >= 10000`],
    ['minValue=20.5&maxValue=99.99', sql`worth between 2050 and 9999`],
    [`after=${since}`, sql`last_at >= ${since}::date::timestamp at time zone 'UTC'`],
    [`before=${since}`, sql`last_at < ${since}::date::timestamp at time zone 'UTC'`],
    ['country=DE', sql`billing_address ->> 'country' = 'DE'`],
    ['country=DE&minOrders=1', sql`billing_address ->> 'country' = 'DE' and orders >= 1`],
    [
      'newsletter=yes',
      sql`exists (select from newsletter_subscriber s where s.shop_id = 'DemoShop' and s.email = email_key and subscribed)`,
    ],
    [
      'newsletter=no&minOrders=1',
      sql`orders >= 1 and not exists (
        select from newsletter_subscriber s where s.shop_id = 'DemoShop' and s.email = email_key and subscribed)`,
    ],
  ] as const) {
    expect([query, await found(query)]).toEqual([query, await expected(condition)]);
  }
  const query = { 'filter.country': 'DE', 'filter.minOrders': '1', 'filter.nonsense': 'x' };
  const saved = await merchant.post('/customers/segments', { name: 'German buyers', ...query });
  expect([saved.status, saved.location]).toEqual([
    303,
    '/admin/shops/DemoShop/customers?country=DE&minOrders=1',
  ]);
  const accountant = await givenMerchant(service, 'accountant');
  const count = await expected(sql`billing_address ->> 'country' = 'DE' and orders >= 1`);
  for (const person of [merchant, accountant]) {
    const { text } = await person.get('/customers/segments');
    expect(text).toContain('Country: Germany · Orders from: 1');
    expect(text).toMatch(new RegExp(`data-title="Customers" class="number">${count}<`));
    expect((await person.get('/customers')).text).toContain('German buyers');
  }
  const file = await merchant.get('/customers/export.csv?country=DE&minOrders=1');
  expect(file.text.trim().split('\n')).toHaveLength(Number(count) + 1);
  const before = await fingerprint(service);
  expect((await accountant.post('/customers/segments', { name: 'Mine', ...query })).status).toBe(403);
  expect((await merchant.post('/customers/segments', { name: 'Empty' })).status).toBe(400);
  expect((await merchant.post('/customers/segments', { name: '', ...query })).status).toBe(400);
  expect(await fingerprint(service)).toEqual(before);
  const { text } = await merchant.get('/customers/segments');
  const path = /\/customers\/segments\/[0-9A-F-]{36}\/delete/.exec(text)![0];
  expect((await merchant.post(path)).status).toBe(303);
  expect((await merchant.post(path)).status).toBe(404);
  expect((await merchant.get('/customers')).text).not.toContain('German buyers');
});

test('the totals of a customer are kept by each order, its refund and its cancellation', async () => {
  const check = async () => {
    const kept = await service.db.many<object>(sql`
      select customer_id, currency, orders, gross, refunded, first_order_at, last_order_at, language
      from customer_total where shop_id = 'DemoShop' order by customer_id, currency`);
    await service.db.run(sql`delete from customer_total_run where shop_id = 'DemoShop'`);
    await countAll();
    const counted = await service.db.many<object>(sql`
      select customer_id, currency, orders, gross, refunded, first_order_at, last_order_at, language
      from customer_total where shop_id = 'DemoShop' order by customer_id, currency`);
    expect(kept).toEqual(counted);
    return kept.length;
  };
  expect(await check()).toBeGreaterThan(10);
  const orderThat = async (condition: ReturnType<typeof sql>) =>
    (await service.db.one<{ id: string; customer: string; gross: number }>(sql`
      select upper(order_id::text) as id, upper(customer_id::text) as customer, grand_total as gross
      from customer_order
      where shop_id = 'DemoShop' and currency = 'EUR' and cancelled_at is null and rejected_at is null and ${condition}
      limit 1`))!;
  const totalOf = (customer: string) =>
    service.db.one<{ worth: number; orders: number }>(sql`
      select worth, orders from customer_total
      where shop_id = 'DemoShop' and customer_id = ${customer} and currency = 'EUR'`);
  const manage = (id: string, path: string, body: object) =>
    service.call('POST', `/manage/shops/DemoShop/orders/${id}/${path}`, { token: 'demo-all', body });
  const paid = await orderThat(sql`paid_amount > 1000 and refunded_amount = 0`);
  const before = (await totalOf(paid.customer))!;
  expect((await manage(paid.id, 'refunds', { amount: 5 })).status).toBe(201);
  expect(await totalOf(paid.customer)).toEqual({ worth: before.worth - 500, orders: before.orders });
  const open = await orderThat(sql`paid_amount = 0 and dispatched_at is null`);
  const whole = (await totalOf(open.customer))!;
  expect((await manage(open.id, 'cancel', { reason: null })).status).toBeLessThan(300);
  const rest = whole.orders === 1 ? undefined : { worth: whole.worth - open.gross, orders: whole.orders - 1 };
  expect(await totalOf(open.customer)).toEqual(rest);
  await check();
});

test('the page of a customer begins with what is open', async () => {
  const order = (await service.db.one<{ number: string; customer: string; owed: number }>(sql`
    select order_number as number, upper(customer_id::text) as customer, grand_total - paid_amount as owed
    from customer_order
    where shop_id = 'DemoShop' and grand_total > paid_amount and cancelled_at is null and rejected_at is null
      and closed_at is null and archived_at is null limit 1`))!;
  await service.db.run(sql`
    insert into job (shop_id, job_id, queue, content, created_at, attempts, failed_at)
    select 'DemoShop', gen_random_uuid(), 'mail', json_build_object('to', billing_address ->> 'emailAddress'), now(), 3,
      now()
    from customer where shop_id = 'DemoShop' and customer_id = ${order.customer}`);
  const { text } = await merchant.get(`/customers/${order.customer}`);
  const card = /<section class="card issues"[\s\S]*?<\/section>/.exec(text)![0];
  expect(card).toContain(order.number);
  expect(card).toMatch(/Unpaid|Payment failed/);
  expect(card).toContain('Email not delivered');
  const quiet = await service.call('POST', '/DemoShop/customers', {
    token: 'demo-all',
    body: { billingAddress: { lastName: 'Quiet' } },
  });
  expect((await merchant.get(`/customers/${quiet.body.customerId}`)).text).not.toContain('Open issues');
  await service.db.run(sql`delete from job where shop_id = 'DemoShop' and failed_at is not null`);
});

test('of very many customers the first are counted and leafed through', async () => {
  await service.db.run(sql`
    insert into customer (shop_id, customer_id, customer_number, created_at, billing_address)
    select 'DemoShop', gen_random_uuid(), 'M' || n, timestamptz '2020-01-01' + n * interval '1 minute',
      json_build_object('firstName', 'Maja', 'lastName', 'Many' || n)
    from generate_series(1, 10100) n`);
  const first = await merchant.get('/customers?sort=since');
  expect(first.text).toContain('1–50 of 10,000+');
  expect(first.text).toMatch(/>Maja Many1</);
  const last = await merchant.get('/customers?sort=since&page=9999');
  expect(last.text).toContain('9,951–10,000 of 10,000+');
  expect(last.text).toContain('Maja Many10000');
  expect(last.text).toContain('Use the filters to see more.');
  expect(last.text).not.toContain('rel="next"');
  expect((await merchant.get('/customers?q=maja')).text).toContain('1–50 of 1,000+');
  const found = await merchant.get('/customers?q=many1010');
  expect(found.text).toContain('1–2 of 2');
  expect([...found.text.matchAll(/>(Maja Many\d+)</g)].map(([, name]) => name)).toEqual([
    'Maja Many10100',
    'Maja Many1010',
  ]);
});
