import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenBrowser } from '../../test/admin.ts';
import { kontorHere } from '../../test/command.ts';
import { startDemo } from '../../test/demo.ts';
import { databaseEnvironment, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';

let service: Service;
beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
});
afterAll(() => service.close());

function run(...words: string[]) {
  return kontorHere(['user', ...words], {
    KONTOR_DATA: service.config.KONTOR_DATA,
    ...databaseEnvironment(service.database),
    PUBLIC_URL: 'https://shop.example/',
  });
}

const LINK = /^https:\/\/shop\.example(\/admin\/link\?token=[0-9A-F-]{36}\.[\w-]{43})\n$/;
const PASSWORD = 'four quiet green boats';

async function choosePassword(stdout: string) {
  const browser = givenBrowser(service);
  const answer = await browser.post(LINK.exec(stdout)![1]!, { newPassword: PASSWORD });
  expect(answer.status).toBe(303);
  return browser;
}

test('a user is created, chooses a password with the link, works in a second shop, and is reset', async () => {
  expect(await run('list')).toEqual({
    code: 0,
    stderr: '',
    stdout: 'No users yet. Create one: npx kontor user create EMAIL --shop ID --role owner\n',
  });
  const created = await run('create', 'Ina@Shop.example', '--shop', 'DemoShop', '--role', 'manager');
  expect(created).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(LINK) });
  const browser = await choosePassword(created.stdout);
  expect((await browser.get('/admin/shops/DemoShop/customers')).status).toBe(200);

  const again = await run('create', 'ina@shop.example', '--shop', 'EmptyShop', '--host');
  expect(again.stdout).toBe(
    'ina@shop.example has a password already: sign in at https://shop.example/admin\n',
  );
  const list = await run('list');
  expect(list.stdout.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^EMAIL +HOST +LAST SIGN-IN +SHOPS$/),
    expect.stringMatching(/^ina@shop\.example +yes +\d{4}-\S+Z +EmptyShop \(owner\), DemoShop \(manager\)$/),
  ]);

  const reset = await run('reset', 'INA@shop.example', '--remove-authenticator');
  expect(reset).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(LINK) });
  expect((await browser.get('/admin/account')).status).toBe(303);
  await choosePassword(reset.stdout);
  const entries = await service.db.many(sql`
    select route from audit_entry where shop_id = 'DemoShop' and method = 'COMMAND' order by entry_id`);
  expect(entries).toEqual([{ route: 'kontor user create' }, { route: 'kontor user reset' }]);
});

test('a user is deleted with roles and sessions, and the only owner of a shop is not', async () => {
  await run('create', 'lena@shop.example', '--shop', 'EmptyShop', '--role', 'owner');
  const created = await run('create', 'lena@shop.example', '--shop', 'DemoShop', '--role', 'orders');
  const browser = await choosePassword(created.stdout);
  expect((await browser.get('/admin/account')).status).toBe(200);
  await run('create', 'other@shop.example', '--shop', 'EmptyShop', '--role', 'owner');
  expect(await run('delete', 'Lena@shop.example')).toEqual({
    code: 0,
    stderr: '',
    stdout: 'Deleted the user lena@shop.example.\n',
  });
  expect((await browser.get('/admin/account')).status).toBe(303);
  const left = await service.db.many(sql`
    select from shop_user where user_id not in (select user_id from admin_user)`);
  expect(left).toEqual([]);
  const entries = await service.db.many(sql`
    select shop_id as shop from audit_entry where route = 'kontor user delete' order by shop_id`);
  expect(entries).toEqual([{ shop: 'DemoShop' }, { shop: 'EmptyShop' }]);

  const alone = await run('create', 'solo@shop.example', '--shop', 'DemoShop', '--role', 'owner');
  expect(alone.code).toBe(0);
  expect(await run('delete', 'solo@shop.example')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'kontor: solo@shop.example is the only owner of the shop DemoShop. Make somebody else its owner first: npx kontor user create EMAIL --shop DemoShop\n',
  });
  expect((await run('list')).stdout).toMatch(/solo@shop\.example .*DemoShop \(owner\)/);
});

test.each([
  [['create', 'nobody', '--host'], '"nobody" is not an email address.'],
  [['create', 'owner@demo.localhost', '--host'], '"owner@demo.localhost" is not an email address.'],
  [
    ['create', 'a@b.example', '--shop', 'DemoShop', '--role', 'king'],
    'Unknown role "king". The roles are: owner, manager, catalogue, orders, marketing, accountant',
  ],
  [['create', 'a@b.example'], 'Say where the user works: --shop ID, or --host for the whole installation.'],
  [['create', 'a@b.example', '--shop', 'Nowhere'], 'There is no shop "Nowhere". See: npx kontor shop list'],
  [['delete', 'a@b.example'], 'There is no user "a@b.example". See: npx kontor user list'],
  [['reset', 'a@b.example'], 'There is no user "a@b.example". See: npx kontor user list'],
])('user %j is refused, and nothing is made', async (words, line) => {
  expect(await run(...words)).toEqual({ code: 1, stdout: '', stderr: `kontor: ${line}\n` });
  expect(await service.db.many(sql`select from admin_user where email = 'a@b.example'`)).toEqual([]);
});
