import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenDomains, givenShop, givenToken } from '../../../test/builders.ts';
import { changesNothing } from '../../../test/carts.ts';
import { givenInstalledApp, LABELS, startFakeApp, type FakeApp } from '../../../test/fake-app.ts';
import { cleanUp, newFolder } from '../../../test/process.ts';
import { startService, type CallOptions, type Service } from '../../../test/service.ts';
import { rowsOf } from '../../../test/shop-copies.ts';
import { givenPlainProduct, PNG, sendImage } from '../../../test/upload.ts';
import { staffOf } from '../../admin/users/staff.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { HOST_SCOPES } from '../../http/scopes.ts';
import { openBackupStore } from '../../platform/backup/store.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { installationKey } from '../../platform/sealing.ts';
import { createHostToken } from '../tokens.ts';
import { findBackup } from './queries.ts';
import { runDueRestores } from './restore-runner.ts';
import { runDueBackups } from './runner.ts';

let service: Service;
let owner: Merchant;
let folder: string;
let backupId: string;
/** Of the other shop. */
let otherId: string;
let token: string;
let lessApp: FakeApp;
let moreApp: FakeApp;
let lessId: string;
let moreId: string;
/** Tokens of the shop, by the name of their app. */
const access: Record<string, string> = {};

const host = (method: string, place: string, options: CallOptions = {}) =>
  service.call(method, `/host${place}`, { token, ...options });
const store = () => openBackupStore(service.config)!;
const run = () =>
  runDueRestores({
    db: service.db,
    config: service.config,
    store: store(),
    staff: staffOf(service.config),
    loadKey: () => installationKey(service.config),
    log: service.app.log,
  });
const ask = (body: object) => host('POST', '/restores', { body });
const stateOf = async (shopId = 'Tea') => (await host('GET', `/shops/${shopId}`)).body.state;
const restoreOf = async (restoreId: string) => (await host('GET', `/restores/${restoreId}`)).body;
const filesOf = async () => {
  const names: string[] = [];
  for await (const { folder: inside, file } of openMediaStorage(service.config).files('Tea')) {
    names.push(`${inside}/${file}`);
  }
  return names.toSorted();
};
const addPicture = async () => {
  const all = await givenToken(service, 'Tea');
  const productId = await givenPlainProduct(service, 'Tea');
  await sendImage(service, `/Tea/products/${productId}/slideshow`, 'tea.png', PNG, { token: all });
  return productId;
};
const backUp = async (shopId: string): Promise<string> => {
  const { body } = await host('POST', `/shops/${shopId}/backups`);
  await runDueBackups({ db: service.db, config: service.config, store: store(), log: service.app.log });
  return body.backupId;
};

beforeAll(async () => {
  folder = path.join(await newFolder(), 'backups');
  service = await startService({ BACKUP_URL: `file://${folder}` });
  await givenShop(service, 'Tea');
  await givenShop(service, 'Bean');
  token = await service.db.transaction((tx) =>
    createHostToken(tx, { name: 'order system', scopes: HOST_SCOPES }),
  );
  owner = await givenMerchant(service, 'owner', 'Tea');
  await addPicture();
  await givenDomains(service, 'Tea', ['tea.example', 'old.example']);
  for (const name of ['kept', 'revoked', 'removed'])
    access[name] = await givenToken(service, 'Tea', undefined, name);
  await service.call('POST', '/manage/shops/Tea/webhooks', {
    token: access['removed']!,
    body: { eventType: 'ORDER_CREATE', callbackUrl: 'https://app.example/hook' },
  });
  // Apps with a manifest: one asks for less today, the other for more; a webhook of an app was removed.
  lessApp = await startFakeApp();
  moreApp = await startFakeApp();
  moreApp.manifest = { ...LABELS, name: 'More', scopes: ['orders_read'], blocks: [], pages: [] };
  lessId = await givenInstalledApp(owner, lessApp);
  moreId = await givenInstalledApp(owner, moreApp);
  for (const name of ['kept', 'narrowed']) access[name] ??= await givenToken(service, 'Tea', undefined, name);
  const { body: webhook } = await service.call('POST', '/manage/shops/Tea/webhooks', {
    token: access['kept']!,
    body: { eventType: 'ORDER_UPDATE', callbackUrl: 'https://app.example/removed' },
  });
  backupId = await backUp('Tea');
  otherId = await backUp('Bean');
  // What has happened since.
  await service.db.run(sql`
    delete from token where shop_id = 'Tea' and app_id = (select app_id from app where shop_id = 'Tea' and name = 'revoked')`);
  await service.db.run(sql`delete from app where shop_id = 'Tea' and name = 'removed'`);
  await service.call('DELETE', `/Tea/webhooks/${webhook.webhookId}`, { token: access['kept']! });
  await service.db.run(sql`
    update token set scopes = '{products_read}' where shop_id = 'Tea'
      and app_id = (select app_id from app where shop_id = 'Tea' and name = 'narrowed')`);
  lessApp.manifest = {
    ...LABELS,
    scopes: ['orders_read'],
    webhooks: [],
    blocks: [LABELS.blocks[0]!],
    actions: [{ ...LABELS.actions[0]!, maxOrders: 2 }],
  };
  await owner.post(`/apps/${lessId}/read`);
  moreApp.manifest = { ...LABELS, name: 'More', scopes: ['orders_read', 'customers_read'], blocks: [] };
  await owner.post(`/apps/${moreId}/read`);
  const update = await owner.get(`/apps/${moreId}/update`);
  const version = /name="version" value="([^"]+)"/.exec(update.text)![1]!;
  await owner.post(`/apps/${moreId}/update`, { version });
  await service.db.run(sql`delete from product where shop_id = 'Tea'`);
  await addPicture();
  await givenDomains(service, 'Tea', ['tea.example']);
  await service.db.run(sql`
    update shop set plan = 'small', settings = settings || '{"name": {"en_GB": "Ruined"}}' where shop_id = 'Tea'`);
  await host('POST', '/shops/Tea/freeze-emails', { body: { reason: 'Spam' } });
  await service.app.shopHosts.refresh();
});
afterAll(async () => {
  await Promise.all([lessApp.close(), moreApp.close()]);
  await service.close();
  await cleanUp();
});

test('what can not be replaced is refused, and nothing changes', async () => {
  const body = { shopId: 'Tea', backupId, replaces: true };
  const answers = await changesNothing(service, async () => [
    await ask({ ...body, backupId: otherId }),
    await ask({ ...body, backupId: 'x' }),
    await ask({ shopId: 'Tea', replaces: true }),
    await ask({ ...body, shopId: 'Nowhere' }),
    await ask({ ...body, owner: 'ada@mail.example' }),
    await ask({ ...body, isSuspended: false }),
    await ask({ shopId: 'Tea', replaces: true, uploadId: backupId }),
    await ask({ shopId: 'Tea', backupId, replaces: false }),
  ]);
  expect(answers.map(({ status, headers }) => [status, headers['x-error-code']])).toEqual([
    [400, 'UNKNOWN_VALUE'],
    [400, 'UNKNOWN_VALUE'],
    [400, 'MISSING'],
    [404, 'SHOP_NOT_FOUND'],
    [400, 'UNKNOWN_VALUE'],
    [400, 'UNKNOWN_VALUE'],
    [400, 'UNKNOWN_VALUE'],
    [409, 'SHOP_ID_TAKEN'],
  ]);
});

test('a backup that is damaged changes nothing, and the shop is open again', async () => {
  const file = path.join(folder, (await findBackup(service.db, backupId))!.place);
  const whole = await readFile(file);
  await truncate(file, whole.length - 10);
  const before = { rows: await rowsOf(service, 'Tea'), files: await filesOf() };
  const asked = await ask({ shopId: 'Tea', backupId, replaces: true });
  expect([asked.status, asked.body.state]).toEqual([201, 'waiting']);
  expect(await stateOf()).toBe('suspended');
  const again = await ask({ shopId: 'Tea', backupId, replaces: true });
  expect(again.status).toBe(409);
  await run();
  expect(await restoreOf(asked.body.restoreId)).toMatchObject({ state: 'failed', errorCode: 'DAMAGED' });
  expect(await stateOf()).toBe('open');
  expect(await rowsOf(service, 'Tea')).toEqual(before.rows);
  expect(await filesOf()).toEqual(before.files);
  await writeFile(file, whole);
});

test('a shop is what it was in its backup; its people and what the host has decided stay', async () => {
  const files = await filesOf();
  const asked = await ask({ shopId: 'Tea', backupId, replaces: true });
  expect(asked.status).toBe(201);
  const closed = await service.app.inject({ url: '/', headers: { host: 'tea.example' } });
  expect(closed.statusCode).toBe(503);
  await run();
  await service.app.shopHosts.refresh();
  expect(await restoreOf(asked.body.restoreId)).toMatchObject({ state: 'done', errorCode: null });
  const shop = (await host('GET', '/shops/Tea')).body;
  expect(shop).toMatchObject({ name: 'Tea', state: 'open', plan: 'small', domain: 'tea.example' });
  expect(shop.owners.map(({ email }: { email: string }) => email)).toEqual([owner.email]);
  expect((await host('GET', '/shops/Tea/emails')).body.reason).toBe('Spam');
  expect((await owner.get('/customers')).status).toBe(200);
  // A domain that the shop has given up since must be proved again, or is in use where none needs a proof.
  const products = await service.db.many(sql`select product_id from product where shop_id = 'Tea'`);
  expect(products).toHaveLength(1);
  const picture = await service.db.one<{ key: string }>(sql`
    select upper(image_key::text) as key from product_image where shop_id = 'Tea' limit 1`);
  expect((await filesOf()).some((name) => name.toUpperCase().includes(picture!.key))).toBe(true);
  expect(await filesOf()).toEqual(files);
  const events = (await host('GET', '/log')).body.items;
  expect(events.at(-1)).toMatchObject({ type: 'SHOP_REPLACED', by: 'order system', data: { backupId } });
  const entries = await service.db.many<{ route: string }>(sql`
    select route from audit_entry where shop_id = 'Tea' order by entry_id desc limit 2`);
  expect(entries.map(({ route }) => route)).toEqual([
    '/host/restores',
    expect.stringContaining('freeze-emails'),
  ]);
});

test('access that was ended since the backup does not come back', async () => {
  const namesOf = async (from: Sql) =>
    (
      await service.db.many<{ name: string }>(sql`select app.name from ${from} where app.shop_id = 'Tea'`)
    ).map(({ name }) => name);
  expect(await namesOf(sql`app`)).toEqual(expect.arrayContaining(['kept', 'revoked']));
  expect(await namesOf(sql`app`)).not.toContain('removed');
  const tokens = await namesOf(sql`app join token using (shop_id, app_id)`);
  expect(tokens).toContain('kept');
  expect(tokens).not.toContain('revoked');
  expect(await service.db.many(sql`select from webhook where shop_id = 'Tea' and not by_manifest`)).toEqual(
    [],
  );
  const statusOf = async (name: string) =>
    (await service.call('GET', '/Tea/orders', { token: access[name]! })).status;
  expect(await Promise.all(['kept', 'revoked'].map(statusOf))).toEqual([200, 401]);
  // It was used a moment ago, and processes know a token for a few seconds.
  await vi.waitFor(async () => expect(await statusOf('removed')).toBe(401), {
    timeout: 20_000,
    interval: 200,
  });
});

test('an app has no more than today and than in the backup, and asks the merchant again for the rest', async () => {
  const appOf = async (appId: string) =>
    (await service.db.one<Record<string, unknown>>(sql`
      select app.scopes, (
          select array_agg(distinct scope) from token, unnest(token.scopes) scope
          where token.shop_id = 'Tea' and token.app_id = app.app_id
        ) as "ofTokens", agreed -> 'scopes' as agreed, offered -> 'scopes' as offered,
        jsonb_array_length(agreed -> 'pages') as pages, jsonb_array_length(agreed -> 'blocks') as blocks,
        agreed -> 'actions' -> 0 -> 'maxOrders' as "maxOrders", (
          select count(*) from webhook where webhook.shop_id = 'Tea' and webhook.app_id = app.app_id
        ) as webhooks
      from app join app_manifest on app_manifest.shop_id = 'Tea' and app_manifest.app_id = app.app_id
      where app.shop_id = 'Tea' and app.app_id = ${appId}`))!;
  const orders = ['orders_read'];
  expect(await appOf(lessId)).toEqual({
    scopes: orders,
    ofTokens: null,
    agreed: orders,
    offered: null,
    pages: 1,
    blocks: 1,
    maxOrders: 2,
    webhooks: 0,
  });
  expect(await appOf(moreId)).toEqual({
    scopes: orders,
    ofTokens: null,
    agreed: orders,
    offered: ['orders_read', 'customers_read'],
    pages: 0,
    blocks: 0,
    maxOrders: 3,
    webhooks: 1,
  });
  // The page of the app leads to what it asks for.
  const { text } = await owner.get(`/apps/${moreId}`);
  expect(text).toContain(`/apps/${moreId}/update`);
  const narrowed = await service.db.one(sql`
    select token.scopes from token join app on app.shop_id = 'Tea' and app.app_id = token.app_id
    where token.shop_id = 'Tea' and app.name = 'narrowed'`);
  expect(narrowed).toEqual({ scopes: ['products_read'] });
});

test('one that was suspended stays so', async () => {
  await host('POST', '/shops/Tea/suspend');
  const asked = await ask({ shopId: 'Tea', backupId, replaces: true });
  await run();
  expect((await restoreOf(asked.body.restoreId)).state).toBe('done');
  expect(await stateOf()).toBe('suspended');
});

test('one that is deleted meanwhile is not made again', async () => {
  const asked = await ask({ shopId: 'Tea', backupId, replaces: true });
  await service.db.run(sql`delete from shop where shop_id = 'Tea'`);
  await service.db.run(sql`delete from shop_domain where shop_id = 'Tea'`);
  await run();
  expect(await restoreOf(asked.body.restoreId)).toMatchObject({
    state: 'failed',
    errorCode: 'SHOP_NOT_FOUND',
  });
  expect((await host('GET', '/shops/Tea')).status).toBe(404);
});
