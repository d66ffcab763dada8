import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenBrowser, givenMerchant, type Merchant } from '../../../test/admin.ts';
import { queuedEmails } from '../../../test/carts.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { runCleanup } from '../../platform/cleanup.ts';
import { installationKey } from '../../platform/sealing.ts';
import { adminLinkCleanup, linkTokens } from './links.ts';
import { adminSessionCleanup } from './queries.ts';

const MINUTE = 60_000;

let service: Service;
let owner: Merchant;
beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  await givenOtherShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(undefined);
  await service.db.run(sql`delete from admin_user`);
  await service.db.run(sql`delete from shop_user`);
  await service.db.run(sql`delete from audit_entry`);
  await service.db.run(sql`delete from job`);
  owner = await givenMerchant(service, 'owner');
});

const roles = () =>
  service.db.many(sql`
    select email, role from shop_user join admin_user on admin_user.user_id = shop_user.user_id
    where shop_id = 'DemoShop' order by email`);

const userIdOf = async (email: string) =>
  (await service.db.one<{ id: string }>(sql`
    select upper(user_id::text) as id from admin_user where email = ${email}`))!.id;

const entries = () =>
  service.db.many(sql`
    select app_name as name, route, object from audit_entry where shop_id = 'DemoShop' order by entry_id`);

test('somebody is invited by email, chooses a password, and works in the shop', async () => {
  const sent = await owner.post('/users', { email: 'Nils@Shop.example', role: 'orders' });
  expect([sent.status, sent.location]).toEqual([303, '/admin/shops/DemoShop/users']);
  expect(await roles()).toEqual([
    { email: 'nils@shop.example', role: 'orders' },
    { email: owner.email, role: 'owner' },
  ]);
  const userId = await userIdOf('nils@shop.example');
  expect(await entries()).toEqual([
    { name: owner.email, route: '/admin/shops/:shopId/users', object: { userId, role: 'orders' } },
  ]);
  const [email] = await queuedEmails(service);
  expect(email).toMatchObject({
    to: 'nils@shop.example',
    template: 'invitation',
    facts: { by: owner.email, linkId: expect.any(String) },
  });
  const page = await owner.get('/users');
  expect(page.text).toContain('Invitation pending');
  // The link is in the email alone.
  expect(page.text + sent.text).not.toContain(String(email!.facts['linkId']));

  const key = await installationKey(service.config);
  const url = linkTokens(key).urlOf('', String(email!.facts['linkId']));
  const browser = givenBrowser(service);
  expect((await browser.post(url, { newPassword: 'seven brass lanterns' })).location).toBe('/admin');
  expect((await browser.get('/admin')).location).toBe('/admin/shops/DemoShop');
  expect((await browser.get('/admin/shops/DemoShop/customers')).status).toBe(200);
  expect((await browser.get('/admin/shops/DemoShop/users')).status).toBe(403);
  expect((await owner.get('/users')).text).not.toContain('Invitation pending');
});

test('somebody who has a password accepts the invitation with its link, and keeps the password', async () => {
  const other = await givenMerchant(service, 'owner', 'OtherShop');
  await service.db.run(sql`update admin_user set password_hash = 'x' where email = ${other.email}`);
  await owner.post('/users', { email: other.email, role: 'accountant' });
  const [email] = await queuedEmails(service);
  expect((await other.get('/admin/shops/DemoShop/customers')).status).toBe(404);
  const url = linkTokens(await installationKey(service.config)).urlOf('', String(email!.facts['linkId']));
  const accepted = await other.post(url, { newPassword: 'seven brass lanterns' });
  expect(accepted.location).toBe('/admin/shops/DemoShop');
  expect((await other.get('/admin/shops/DemoShop/customers')).status).toBe(200);
  expect(
    await service.db.one(sql`select password_hash as hash from admin_user where email = ${other.email}`),
  ).toEqual({ hash: 'x' });
});

test('what is typed wrong is refused, stays in the form, and changes nothing', async () => {
  const before = await fingerprint(service);
  for (const [fields, status, text] of [
    [{ email: 'nobody', role: 'orders' }, 400, 'id="field-email-problem">Please enter an email address'],
    [{ email: 'a@b.example', role: 'king' }, 400, 'id="field-role-problem">Please choose a role.'],
    [{ email: 'owner@demo.localhost', role: 'owner' }, 400, 'Please enter an email address'],
    [{ email: owner.email, role: 'orders' }, 409, 'already works in this shop'],
  ] as const) {
    const refused = await owner.post('/users', fields);
    expect([refused.status, refused.text.includes(text)]).toEqual([status, true]);
    expect(refused.text).toContain(`value="${fields.email}"`);
  }
  expect(await fingerprint(service)).toEqual(before);
});

test('a changed role takes effect with the next page, in every process', async () => {
  const manager = await givenMerchant(service, 'manager');
  const beside = await startService({ RATE_LIMIT_ANONYMOUS: '0' }, service);
  const elsewhere = () =>
    beside.app.inject({ url: '/admin/shops/DemoShop/customers', headers: { cookie: manager.cookie } });
  expect((await elsewhere()).statusCode).toBe(200);
  const userId = await userIdOf(manager.email);
  const path = `/users/${userId}`;
  const changed = await owner.post(`${path}/role`, { role: 'catalogue' });
  expect(changed.status).toBe(303);
  expect((await elsewhere()).statusCode).toBe(403);
  expect((await manager.get('/customers')).status).toBe(403);
  await owner.post(`${path}/remove`);
  // Nothing is left of a person who works in no other shop.
  expect((await elsewhere()).statusCode).toBe(303);
  await beside.close();
  expect(await entries()).toEqual(
    expect.arrayContaining([
      {
        name: owner.email,
        route: '/admin/shops/:shopId/users/:userId/role',
        object: { userId, role: 'catalogue' },
      },
      { name: owner.email, route: '/admin/shops/:shopId/users/:userId/remove', object: { userId } },
    ]),
  );
});

test('a user who is removed from the last shop is deleted, one who works elsewhere or is host is not', async () => {
  const both = await givenMerchant(service, 'orders', 'DemoShop', 'both@shop.example');
  await givenMerchant(service, 'orders', 'OtherShop', 'both@shop.example');
  const host = await givenMerchant(service, 'orders', 'DemoShop', 'host@shop.example');
  await service.db.run(sql`update admin_user set is_host = true where email = ${host.email}`);
  const only = await givenMerchant(service, 'orders', 'DemoShop', 'only@shop.example');
  await only.post('/views', { list: '/orders', name: 'To ship', query: 'view=ship' });
  expect(await service.db.many(sql`select from saved_view`)).toHaveLength(1);
  for (const { email } of [both, host, only]) {
    const removed = await owner.post(`/users/${await userIdOf(email)}/remove`);
    expect([removed.status, removed.location]).toEqual([303, '/admin/shops/DemoShop/users']);
  }
  expect(await service.db.many(sql`select email from admin_user order by email`)).toEqual([
    { email: 'both@shop.example' },
    { email: 'host@shop.example' },
    { email: owner.email },
  ]);
  expect((await only.get('/admin/account')).location).toBe('/admin/sign-in?to=%2Fadmin%2Faccount');
  expect((await both.get('/admin/account')).status).toBe(200);
  expect(await service.db.many(sql`select from saved_view`)).toEqual([]);
});

test('the last owner stays, and one who was only invited does not count', async () => {
  const path = `/users/${await userIdOf(owner.email)}`;
  await owner.post('/users', { email: 'second@shop.example', role: 'owner' });
  const before = await fingerprint(service);
  for (const refused of [
    await owner.post(`${path}/role`, { role: 'manager' }),
    await owner.post(`${path}/remove`),
  ]) {
    expect([refused.status, refused.text.includes('A shop needs an owner')]).toEqual([409, true]);
  }
  expect(await fingerprint(service)).toEqual(before);
  await givenMerchant(service, 'owner', 'DemoShop', 'second@shop.example');
  const left = await owner.post(`${path}/role`, { role: 'manager' });
  expect(left.location).toBe('/admin/shops/DemoShop');
});

test('two owners can’t remove each other at the same moment', async () => {
  const second = await givenMerchant(service, 'owner', 'DemoShop', 'second@shop.example');
  const [first, other] = await Promise.all([userIdOf(owner.email), userIdOf(second.email)]);
  await Promise.all([owner.post(`/users/${other}/remove`), second.post(`/users/${first}/remove`)]);
  expect(await roles()).toHaveLength(1);
});

test('nobody of another shop can be changed, and no user of another shop found', async () => {
  const neighbour = await givenMerchant(service, 'manager', 'OtherShop');
  const before = await fingerprint(service);
  const path = `/users/${await userIdOf(neighbour.email)}`;
  for (const [action, fields] of [
    ['role', { role: 'owner' }],
    ['remove', {}],
    ['invite', {}],
  ] as const) {
    expect((await owner.post(`${path}/${action}`, fields)).status).toBe(404);
    expect((await owner.post(`/users/nobody/${action}`, fields)).status).toBe(404);
  }
  expect((await owner.get('/users')).text).not.toContain(neighbour.email);
  expect(await fingerprint(service)).toEqual(before);
});

test('every change asks for the password again, and nothing that was typed is lost', async () => {
  const before = await fingerprint(service);
  service.setClock(new Date(Date.now() + 16 * MINUTE));
  const asked = await owner.get('/users');
  expect(asked.location).toBe('/admin/confirm?to=%2Fadmin%2Fshops%2FDemoShop%2Fusers');
  // A form that was opened before is still taken, so that nothing is typed twice; half an hour later it is not.
  service.setClock(new Date(Date.now() + 46 * MINUTE));
  const late = await owner.post('/users', { email: 'late@shop.example', role: 'orders' });
  expect([late.status, late.location?.split('?')[0]]).toEqual([303, '/admin/confirm']);
  const prints = await fingerprint(service);
  expect({ ...prints, admin_session: '' }).toEqual({ ...before, admin_session: '' });
});

test('what has expired is cleaned up', async () => {
  await owner.post('/users', { email: 'late@shop.example', role: 'orders' });
  service.setClock(new Date(Date.now() + 31 * 24 * 60 * MINUTE));
  const log = service.app.log;
  await runCleanup(service.db, [adminSessionCleanup, adminLinkCleanup], { log });
  expect(await service.db.many(sql`select from admin_session`)).toEqual([]);
  expect(await service.db.many(sql`select from admin_link`)).toEqual([]);
});
