import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { checkBackup } from '../../platform/backup/manifest.ts';

let service: Service;
let host: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  host = await givenMerchant(service, 'manager');
  await service.db.run(sql`update admin_user set is_host = true where email = ${host.email}`);
});
afterAll(() => service.close());

const rowOf = (text: string, shopId: string) =>
  text
    .split('<tr')
    .find((row) => row.includes(`/host/shops/${shopId}/`))!
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');

test('the shops are listed with their orders, and found by the beginning of their ids', async () => {
  const { text } = await host.get('/admin/host');
  const { orders } = (await service.db.one<{ orders: number }>(sql`
    select count(*) as orders from customer_order where shop_id = 'DemoShop'`))!;
  expect(rowOf(text, 'DemoShop')).toContain(`Harbour &amp; Hearth DemoShop None yet Open ${orders} `);
  expect(rowOf(text, 'EmptyShop')).toMatch(/ Open 0 – 0 MB/);
  const found = (await host.get('/admin/host?q=demo')).text;
  expect([found.includes('/host/shops/DemoShop/'), found.includes('/host/shops/EmptyShop/')]).toEqual([
    true,
    false,
  ]);
  expect((await host.get('/admin/host?q=%25&after=%25')).text).toContain('No results for these filters.');
});

test('the shops are paged in the order of their ids, in both directions, whatever is filtered', async () => {
  const ids = Array.from(
    { length: 120 },
    (_, index) => `${index % 2 ? 'p' : 'P'}age-${String(index).padStart(3, '0')}`,
  );
  await service.db.run(sql`
    insert into shop
    select copy.* from shop cross join unnest(${ids}::text[]) as id
    cross join lateral jsonb_populate_record(
      null::shop, to_jsonb(shop) || jsonb_build_object('shop_id', id, 'is_open', id < 'Q')) as copy
    where shop.shop_id = 'EmptyShop'`);
  const look = async (query: string) => {
    const { text } = await host.get(`/admin/host${query}`);
    const shown = [...text.matchAll(/action="\/admin\/host\/shops\/([\w-]+)\/backup"/g)].map(([, id]) => id);
    const linkTo = (rel: string) =>
      new RegExp(`rel="${rel}" href="/admin/host([^"]+)"`).exec(text)?.[1]?.replaceAll('&amp;', '&');
    return { shown, next: linkTo('next'), prev: linkTo('prev') };
  };
  const first = await look('?q=PAGE');
  expect(first).toEqual({ shown: ids.slice(0, 50), next: '?q=PAGE&after=page-049', prev: undefined });
  const second = await look(first.next!);
  expect(second).toEqual({
    shown: ids.slice(50, 100),
    next: '?q=PAGE&after=page-099',
    prev: '?q=PAGE&before=Page-050',
  });
  const third = await look(second.next!);
  expect(third).toEqual({ shown: ids.slice(100), next: undefined, prev: '?q=PAGE&before=Page-100' });
  expect(await look(third.prev!)).toEqual(second);
  expect(await look(second.prev!)).toEqual(first);

  const open = await look('?q=page&state=open');
  expect(open).toEqual({
    shown: ids.filter((id) => id.startsWith('P')).slice(0, 50),
    next: '?q=page&state=open&after=Page-098',
    prev: undefined,
  });
  expect((await look(open.next!)).shown).toEqual(ids.filter((id) => id.startsWith('P')).slice(50));
  // The first page has no filter.
  const all = await look('');
  expect(all.shown.slice(0, 4)).toEqual(['DemoShop', 'EmptyShop', 'OtherShop', 'Page-000']);
  expect((await look('?before=DemoShop')).shown).toEqual([]);
  await service.db.run(sql`delete from shop where shop_id = any (${ids}::text[])`);
});

const NEW = {
  shopId: 'Tea_House-1',
  name: 'Tea House',
  email: 'shop@tea.example',
  country: 'FR',
  locale: 'fr_FR',
  currency: 'EUR',
};

test('a shop is made, and belongs to the user who made it', async () => {
  const made = await host.post('/admin/host/shops/new', NEW);
  expect([made.status, made.location]).toEqual([303, '/admin/shops/Tea_House-1']);
  expect((await host.get('/admin/shops/Tea_House-1/users')).status).toBe(200);
  const row = await service.db.one(sql`
    select default_locale as locale, default_currency as currency, settings -> 'name' as name,
      settings ->> 'country' as country from shop where shop_id = 'Tea_House-1'`);
  expect(row).toEqual({ locale: 'fr_FR', currency: 'EUR', name: { fr_FR: 'Tea House' }, country: 'FR' });
  const page = await service.app.inject({ url: '/shop/Tea_House-1' });
  expect(page.statusCode).toBe(200);
});

test.each([
  [{ shopId: 'DemoShop' }, 409, 'The shop DemoShop already exists.'],
  [{ shopId: 'no blanks' }, 400, 'The shop ID has 1 to 63'],
  [{ name: '' }, 400, 'Please enter a name'],
  [{ email: 'nobody' }, 400, 'Please enter an email address'],
  [{ currency: 'XXX' }, 400, 'Please choose a country'],
])('what is wrong with %j is said, and nothing is made', async (wrong, status, text) => {
  const before = await fingerprint(service);
  const refused = await host.post('/admin/host/shops/new', { ...NEW, shopId: 'Fresh', ...wrong });
  expect([refused.status, refused.text.includes(text)]).toEqual([status, true]);
  expect(refused.text).toContain('<option value="FR" selected>');
  expect(await fingerprint(service)).toEqual(before);
});

test('a suspended shop is closed for shoppers and apps in every process, not for its admin, and opens again', async () => {
  const beside = await startService({}, service);
  const merchant = await givenMerchant(service, 'owner');
  const before = await service.db.one(sql`select settings from shop where shop_id = 'DemoShop'`);
  const done = await host.post('/admin/host/shops/DemoShop/suspend');
  expect([done.status, done.location]).toEqual([303, '/admin/host']);
  expect(rowOf((await host.get('/admin/host')).text, 'DemoShop')).toContain('Suspended');
  for (const process of [service, beside]) {
    const page = await process.app.inject({ url: '/shop/DemoShop' });
    expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '3600']);
    expect(page.body).toContain('This shop is paused');
    for (const token of ['demo-all', undefined]) {
      const answer = await process.call('GET', '/DemoShop/products', {
        ...(token !== undefined && { token }),
      });
      expect([answer.status, answer.body.message]).toEqual([
        403,
        'This shop is suspended, Request: GET /rs/shops/DemoShop/products',
      ]);
    }
    const cart = await process.call('POST', '/DemoShop/carts', { body: {} });
    expect(cart.status).toBe(403);
  }
  expect((await merchant.get('/customers')).status).toBe(200);
  const neighbour = await service.app.inject({ url: '/shop/OtherShop' });
  expect(neighbour.body).not.toContain('paused');

  await host.post('/admin/host/shops/DemoShop/open');
  expect((await service.app.inject({ url: '/shop/DemoShop' })).body).not.toContain('paused');
  expect(await service.db.one(sql`select settings from shop where shop_id = 'DemoShop'`)).toEqual(before);
  const log = await service.db.many(sql`
    select app_name as name, route from audit_entry where shop_id = 'DemoShop' order by entry_id`);
  expect(log).toEqual([
    { name: host.email, route: '/admin/host/shops/:shopId/suspend' },
    { name: host.email, route: '/admin/host/shops/:shopId/open' },
  ]);
  expect((await host.post('/admin/host/shops/Nowhere/suspend')).status).toBe(404);
  await beside.close();
});

test('a shop is deleted with a delay, found by its state, and restored', async () => {
  const merchant = await givenMerchant(service, 'owner', 'EmptyShop');
  const done = await host.post('/admin/host/shops/EmptyShop/delete');
  expect([done.status, done.location]).toEqual([303, '/admin/host']);
  const planned = (await host.get('/admin/host?state=deletionPlanned')).text;
  expect(rowOf(planned, 'EmptyShop')).toContain('Deletion planned on ');
  expect(planned).not.toContain('/host/shops/DemoShop/');
  expect(planned).toContain('action="/admin/host/shops/EmptyShop/restore"');
  expect((await service.app.inject({ url: '/shop/EmptyShop' })).statusCode).toBe(503);
  expect((await merchant.get('/customers')).text).toContain('This shop is closed and will be deleted on');
  expect((await host.post('/admin/host/shops/EmptyShop/restore')).status).toBe(303);
  expect((await host.get('/admin/host?state=deletionPlanned')).text).toContain('No results');
  expect((await merchant.get('/customers')).text).not.toContain('will be deleted');
  expect((await host.post('/admin/host/shops/Nowhere/delete')).status).toBe(404);
  const events = await service.db.many(sql`
    select type, by_name as by from host_event where shop = 'EmptyShop' order by position`);
  expect(events).toEqual([
    { type: 'SHOP_DELETION_PLANNED', by: host.email },
    { type: 'SHOP_RESTORED', by: host.email },
  ]);
});

test('the emails of a shop are frozen with a reason, and sent again', async () => {
  const merchant = await givenMerchant(service, 'owner', 'EmptyShop');
  const path = '/admin/host/shops/EmptyShop/emails';
  expect((await host.get('/admin/host')).text).toContain(`href="${path}"`);
  const before = await fingerprint(service);
  const refused = await host.post(path, { reason: '  ' });
  expect(refused.status).toBe(400);
  expect((await host.post(path, { reason: 'x'.repeat(501) })).status).toBe(400);
  expect((await host.post('/admin/host/shops/Nowhere/emails', { reason: 'Spam' })).status).toBe(404);
  expect((await host.get('/admin/host/shops/Nowhere/emails')).status).toBe(404);
  expect((await merchant.post(path, { reason: 'Spam' })).status).toBe(404);
  expect(await fingerprint(service)).toEqual(before);

  const done = await host.post(path, { reason: 'Bought <addresses>' });
  expect([done.status, done.location]).toEqual([303, path]);
  const page = (await host.get(path)).text;
  expect(page).toContain('Bought &lt;addresses&gt;');
  expect(page).toContain('action="/admin/host/shops/EmptyShop/thaw-emails"');
  expect((await merchant.get('/customers')).text).toContain('Bought &lt;addresses&gt;');
  expect((await host.post('/admin/host/shops/EmptyShop/thaw-emails')).status).toBe(303);
  expect((await host.get(path)).text).toContain('Freeze emails');
  expect((await merchant.get('/customers')).text).not.toContain('Bought');
  const events = await service.db.many(sql`
    select type, by_name as by, data from host_event where shop = 'EmptyShop' order by position desc limit 2`);
  expect(events).toEqual([
    { type: 'SHOP_EMAILS_THAWED', by: host.email, data: {} },
    { type: 'SHOP_EMAILS_FROZEN', by: host.email, data: { reason: 'Bought <addresses>' } },
  ]);
});

test('failed emails are shown with their reason, and tried again', async () => {
  const id = newId(service.db.now);
  await service.db.run(sql`
    insert into job (shop_id, job_id, queue, content, created_at, run_at, attempts, failed_at, error)
    values ('DemoShop', ${id}, 'mail', ${{ template: 'order', to: 'ada@mail.example' }}, ${service.db.now}, null, 13,
      ${service.db.now}, 'The server says <no>')`);
  const { text } = await host.get('/admin/host/jobs');
  expect(text).toContain('The server says &lt;no&gt;');
  expect(text).toContain('after 13 attempts');
  const path = `/admin/host/jobs/DemoShop/${id}/retry`;
  expect((await host.post(path.replace('DemoShop', 'OtherShop'))).status).toBe(404);
  expect((await host.post(path)).status).toBe(303);
  const job = await service.db.one(sql`
    select attempts, failed_at as "failedAt", run_at <= ${service.db.now} as "isDue" from job where job_id = ${id}`);
  expect(job).toEqual({ attempts: 0, failedAt: null, isDue: true });
  expect((await host.post(path)).status).toBe(404);
  const page = await host.get('/admin/host/jobs');
  expect(page.text).toContain('No email has failed in the last two weeks.');
  expect(page.text).toMatch(/\d+ emails? (is|are) waiting to be sent\./);
});

test('the page about health names the versions', async () => {
  const { text } = await host.get('/admin/host/health');
  const plain = text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(plain).toMatch(/Database OK Answers in \d+ ms\./);
  expect(plain).toContain('Image store OK Files can be stored.');
  expect(plain).toMatch(/Schema \d{4}_\w+ PostgreSQL \d+\.\d+/);
  expect(plain).toContain(`Node ${process.versions.node}`);
});

test('the menu of somebody else does not name these pages', async () => {
  const owner = await givenMerchant(service, 'owner', 'DemoShop', 'other@shop.example');
  expect((await owner.get('/customers')).text).not.toContain('/admin/host');
  expect((await host.get('/customers')).text).toContain('/admin/host');
  expect((await owner.get('/admin/host')).status).toBe(404);
});

test('the backup of a shop can be downloaded, after the password was shown again, and its owner can see that', async () => {
  const path = '/admin/host/shops/DemoShop/backup';
  expect((await host.get('/admin/host')).text).toContain(`action="${path}"`);
  const sent = () =>
    service.app.inject({
      method: 'POST',
      url: path,
      headers: { host: 'localhost:8080', origin: 'http://localhost:8080', cookie: host.cookie },
    });
  const response = await sent();
  expect([response.statusCode, response.headers['content-type'], response.headers['cache-control']]).toEqual([
    200,
    'application/octet-stream',
    'no-store',
  ]);
  expect(response.headers['content-disposition']).toMatch(/DemoShop-\d{4}-\d\d-\d\d\.kontor$/);
  const folder = await mkdtemp(join(tmpdir(), 'kontor-'));
  await writeFile(join(folder, 'backup'), response.rawPayload);
  const { manifest } = await checkBackup(join(folder, 'backup'));
  await rm(folder, { recursive: true });
  expect(manifest.shopId).toBe('DemoShop');
  expect(manifest.tables.find(({ name }) => name === 'customer')!.rows).toBe(15);
  const entries = () =>
    service.db.many<{ route: string; name: string }>(sql`
      select route, app_name as name from audit_entry
      where shop_id = 'DemoShop' and route like '%/backup' order by entry_id`);
  expect(await entries()).toEqual([{ route: '/admin/host/shops/:shopId/backup', name: host.email }]);

  expect((await host.post('/admin/host/shops/Nowhere/backup')).status).toBe(404);
  const owner = await givenMerchant(service, 'owner');
  expect((await owner.post(path)).status).toBe(404);
  await service.db.run(sql`update admin_session set confirmed_at = confirmed_at - interval '1 day'`);
  const asked = await sent();
  expect([asked.statusCode, asked.headers.location]).toEqual([
    303,
    expect.stringContaining('/admin/confirm?'),
  ]);
  await service.db.run(sql`update admin_session set confirmed_at = confirmed_at + interval '1 day'`);
  expect(await entries()).toHaveLength(1);
});

test('the page about health leads to the emails that failed', async () => {
  expect((await host.get('/admin/host/health')).text).toContain('No email has failed');
  await service.db.run(sql`
    insert into job (shop_id, job_id, queue, content, attempts, created_at, failed_at, error)
    values ('DemoShop', ${newId(service.db.now)}::uuid, 'mail', '{}', 10, ${service.db.now}, ${service.db.now}, 'refused')`);
  expect((await host.get('/admin/host/health')).text).toMatch(
    /chip bad">Problem<\/span>\s*<a href="\/admin\/host\/jobs">1 email could not be sent in the last two weeks\.</,
  );
  await service.db.run(sql`delete from job where shop_id = 'DemoShop'`);
});
