import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

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

test('a value that the API refuses is refused in its words', async () => {
  const path = `/customers/${customerId}`;
  const version = valueIn((await merchant.get(path)).text, 'version')!;
  const refused = await merchant.post(path, { version, customerNumber: '1002', internalNote: '' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('This customerNumber is taken');
});

test('a wrong value is named in the language of the reader', async () => {
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  const path = `/customers/${customerId}`;
  const version = valueIn((await german.get(path)).text, 'version')!;
  const refused = await german.post(path, { version, customerNumber: '', internalNote: '' });
  const said = /<p class="problem"[^>]*>([^<]*)/.exec(refused.text)?.[1];
  expect([refused.status, said]).toEqual([400, 'Nummer darf nicht leer sein.']);
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

test('whoever may only read sees no buttons', async () => {
  const accountant = await givenMerchant(service, 'accountant');
  const { text } = await accountant.get(`/customers/${customerId}`);
  expect(text).toContain('Ada Brennan');
  for (const word of ['Edit address', 'Erase personal data', '>Save<']) expect(text).not.toContain(word);
  expect((await accountant.get('/customers')).text).not.toContain('New customer');
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
