import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { startDemo } from '../../../test/demo.ts';
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

test('the list finds customers by the beginning of their address and by their number', async () => {
  expect((await merchant.get('/customers')).text).toContain('1–15 of 15');
  const found = await merchant.get('/customers?q=ADA@');
  expect(found.text).toContain('ada@pelican.example');
  expect(found.text).toContain('1–1 of 1');
  expect((await merchant.get('/customers?q=1002')).text).toContain('jonas.w@mail.example');
  expect((await merchant.get('/customers?q=%25')).text).toContain('Nothing matches these filters.');
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
