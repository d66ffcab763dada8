import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { givenProduct } from '../../../test/carts.ts';
import { fingerprint } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { PNG, sendImage } from '../../../test/upload.ts';
import { sql } from '../../db/sql.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { copyShop } from '../../commands/backup/copy.ts';
import { runDueCopies } from './copy-runner.ts';

let service: Service;
let owner: Merchant;
let logged: string[];
beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  owner = await givenMerchant(service, 'owner', 'Harbour');
  const token = await givenToken(service, 'Harbour');
  const productId = await givenProduct(
    { service, shopId: 'Harbour', token, ids: {} },
    { number: 'Tea', price: 1000 },
  );
  await sendImage(service, `/Harbour/products/${productId}/slideshow`, 'tea.png', PNG, { token });
  logged = [];
});
afterAll(() => service.close());

const run = (signal?: AbortSignal) => {
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  return runDueCopies({ db: service.db, config: service.config, log }, signal);
};
const shops = () =>
  service.db.many<{ shopId: string; sandboxOf: string | null }>(sql`
    select shop_id as "shopId", sandbox_of as "sandboxOf" from shop order by shop_id`);
const make = (name: string, more: Record<string, string> = {}) =>
  owner.post('/settings/sandboxes', { name, ...more });
const filesOf = async (shopId: string) => {
  let files = 0;
  for await (const _ of openMediaStorage(service.config).files(shopId)) files++;
  return files;
};

test('an owner makes a sandbox, sees how far it is, and works in it', async () => {
  expect((await owner.get('/settings')).text).toContain('/admin/shops/Harbour/settings/sandboxes');
  expect((await owner.get('/settings/sandboxes')).text).toContain('the end of the ID: Harbour-NAME');
  const begun = await make('test');
  expect([begun.status, begun.location]).toEqual([303, '/admin/shops/Harbour/settings/sandboxes']);
  const waiting = (await owner.get('/settings/sandboxes')).text;
  expect(waiting).toContain('Harbour-test is being made');
  expect(waiting).toContain('hx-get="/admin/shops/Harbour/settings/sandboxes"');
  expect(waiting).not.toContain('Make sandbox');
  await service.db.run(sql`update sandbox_copy set entries = 4000, entries_done = 1234`);
  expect((await owner.get('/settings/sandboxes')).text).toMatch(
    /<progress\s+value="1234" max="4000"[^]*1,234 of 4,000 rows and files/,
  );

  await run();
  expect(await shops()).toEqual([
    { shopId: 'Harbour', sandboxOf: null },
    { shopId: 'Harbour-test', sandboxOf: 'Harbour' },
    { shopId: 'Other', sandboxOf: null },
  ]);
  expect(await filesOf('Harbour-test')).toBe(await filesOf('Harbour'));
  const made = (await owner.get('/settings/sandboxes')).text;
  expect(made).toContain('<a href="/admin/shops/Harbour-test">Harbour-test</a>');
  expect(made).not.toContain('is being made');
  const there = await owner.get('/../Harbour-test/sandbox');
  expect([there.status, there.text.includes('Sandbox of Harbour')]).toEqual([200, true]);
  // A sandbox has none of its own.
  expect((await owner.get('/../Harbour-test/settings/sandboxes')).status).toBe(404);
  expect((await owner.get('/../Harbour-test/settings')).text).not.toContain('/settings/sandboxes');
  const entries = await service.db.many(sql`
    select shop_id as "shopId", app_name as name, route, object from audit_entry
    where route like '%sandboxes' order by entry_id`);
  const route = '/admin/shops/:shopId/settings/sandboxes';
  expect(entries).toEqual([
    { shopId: 'Harbour', name: owner.email, route, object: { sandbox: 'Harbour-test' } },
    { shopId: 'Harbour-test', name: owner.email, route, object: { sandboxOf: 'Harbour' } },
  ]);
  expect(logged).toEqual([]);
});

test.each([
  ['', 400, 'Use letters, digits'],
  ['-x', 400, 'Use letters, digits'],
  ['a b', 400, 'Use letters, digits'],
  ['x'.repeat(21), 400, 'too long'],
  ['TEST', 409, 'There is a shop Harbour-TEST already'],
])('the name %j is refused, and nothing is made', async (name, status, text) => {
  const before = await fingerprint(service);
  const refused = await make(name);
  expect([refused.status, refused.text.includes(text)]).toEqual([status, true]);
  expect(await fingerprint(service)).toEqual(before);
});

test('one is made at a time, only by an owner, and never more than five', async () => {
  await make('second');
  const before = await fingerprint(service);
  const again = await make('third');
  expect([again.status, again.text.includes('A sandbox is being made already')]).toEqual([409, true]);
  const manager = await givenMerchant(service, 'manager', 'Harbour');
  expect((await manager.get('/settings/sandboxes')).status).toBe(403);
  expect((await manager.post('/settings/sandboxes', { name: 'mine' })).status).toBe(403);
  expect((await manager.post('/settings/sandboxes/Harbour-test/delete')).status).toBe(403);
  await service.db.run(sql`delete from shop_user where user_id in (
    select user_id from admin_user where email = ${manager.email}) and role = 'manager'`);
  expect(await service.db.many(sql`select state, sandbox from sandbox_copy`)).toEqual([
    { state: 'waiting', sandbox: 'Harbour-second' },
  ]);
  expect(Object.keys(await fingerprint(service))).toEqual(Object.keys(before));
  await run();
  for (const name of ['third', 'fourth', 'fifth']) {
    expect((await make(name)).status).toBe(303);
    await run();
  }
  expect((await owner.get('/settings/sandboxes')).text).toContain('A shop has at most 5 sandboxes.');
  const sixth = await make('sixth');
  expect([sixth.status, sixth.text.includes('A shop has at most 5 sandboxes.')]).toEqual([409, true]);
  expect((await shops()).length).toBe(7);
});

test('an owner deletes a sandbox of this shop, and nothing else', async () => {
  await copyShop(service.db, service.config, {
    from: 'Other',
    to: 'Other-box',
    isSandbox: true,
    withCustomers: false,
  });
  const before = await shops();
  for (const shopId of ['Other-box', 'Other', 'Harbour', 'Nowhere']) {
    expect((await owner.post(`/settings/sandboxes/${shopId}/delete`)).status).toBe(404);
  }
  expect(await shops()).toEqual(before);
  const page = (await owner.get('/settings/sandboxes')).text;
  expect(page).toContain('data-confirm="Delete the sandbox Harbour-fifth?');
  for (const name of ['second', 'third', 'fourth', 'fifth']) {
    const done = await owner.post(`/settings/sandboxes/Harbour-${name}/delete`);
    expect([done.status, done.location]).toEqual([303, '/admin/shops/Harbour/settings/sandboxes']);
    expect(await filesOf(`Harbour-${name}`)).toBe(0);
  }
  expect((await shops()).map(({ shopId }) => shopId)).toEqual([
    'Harbour',
    'Harbour-test',
    'Other',
    'Other-box',
  ]);
  const entries = await service.db.many(sql`
    select object from audit_entry where shop_id = 'Harbour' and route like '%/delete' order by entry_id limit 1`);
  expect(entries).toEqual([{ object: { sandbox: 'Harbour-second' } }]);
});

test('a service that stops leaves nothing of it, and another one makes it', async () => {
  await make('late');
  const stopping = new AbortController();
  const stopped = run(stopping.signal);
  stopping.abort();
  await stopped;
  expect((await shops()).some(({ shopId }) => shopId === 'Harbour-late')).toBe(false);
  expect(await filesOf('Harbour-late')).toBe(0);
  await run();
  expect((await shops()).find(({ shopId }) => shopId === 'Harbour-late')?.sandboxOf).toBe('Harbour');
  expect(logged).toEqual([]);
});

test('an id that was taken meanwhile is told, and another name can be chosen', async () => {
  await make('taken');
  await givenShop(service, 'Harbour-taken');
  await run();
  const failed = (await owner.get('/settings/sandboxes')).text;
  expect(failed).toContain('There is a shop Harbour-taken already. Choose another name.');
  expect(failed).toContain('Make sandbox');
  expect((await make('free')).status).toBe(303);
  await run();
  expect((await owner.get('/settings/sandboxes')).text).not.toContain('Choose another name');
  expect(logged).toEqual([]);
});

test('files of a process that died are in nobody’s way', async () => {
  await owner.post('/settings/sandboxes/Harbour-free/delete');
  await make('again');
  await service.db.run(sql`update sandbox_copy set has_files = true, attempts = 1`);
  await openMediaStorage(service.config).write('Harbour-again', '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', [
    { file: 'original.png', bytes: PNG },
  ]);
  await run();
  expect(await filesOf('Harbour-again')).toBe(await filesOf('Harbour'));
});
