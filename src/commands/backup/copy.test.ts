import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { givenDomains, givenShop, givenToken } from '../../../test/builders.ts';
import { done, givenFullCart, givenProduct, type Shop } from '../../../test/carts.ts';
import { fingerprint, shopFingerprint } from '../../../test/demo.ts';
import { givenMerchant } from '../../../test/admin.ts';
import { startService, type Service } from '../../../test/service.ts';
import { PNG, sendImage } from '../../../test/upload.ts';
import { createApp } from '../../apps/apps.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { saveFields } from '../../orders/payments/accounts.ts';
import { saveTransportAccount } from '../../orders/transport/queries.ts';
import { findShopTables, LEFT_OUT } from '../../platform/backup/tables.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { installationKey } from '../../platform/sealing.ts';
import { deleteShop } from '../../shops/shop/queries.ts';
import { COPIED_TABLES } from '../../admin/sandbox/copied-tables.ts';
import { copyShop } from './copy.ts';

let service: Service;
let shop: Shop;
let tea: string;
let image: string;

beforeAll(async () => {
  service = await startService();
  shop = await givenShopWithSecrets('Harbour');
});
afterAll(() => service.close());
afterEach(async () => {
  const left = await service.db.many<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop where shop_id <> 'Harbour'`);
  for (const { shopId } of left) await remove(shopId);
});

const copy = async (
  to: string,
  options: { isSandbox?: boolean; withCustomers?: boolean; from?: string } = {},
) => {
  const { from = 'Harbour', isSandbox = true, withCustomers = false } = options;
  const made = await copyShop(service.db, service.config, { from, to, isSandbox, withCustomers });
  await service.app.shopHosts.refresh();
  return made;
};

/** A shop with an order and a customer, and everything that a shop can have as a secret. */
async function givenShopWithSecrets(shopId: string): Promise<Shop> {
  const { db, config } = service;
  await givenShop(service, shopId, { name: 'Harbour', email: 'hello@harbour.example' });
  const token = await givenToken(service, shopId);
  const made: Shop = { service, shopId, token, ids: {} };
  const productId = await givenProduct(made, { number: 'Tea', price: 1000 });
  tea = productId;
  const sent = await sendImage(service, `/${shopId}/products/${productId}/slideshow`, 'tea.png', PNG, {
    token,
  });
  image = /\/media\/[^"]+/.exec(sent.text)![0];
  const ordered = await givenFullCart(made, { [productId]: 1 });
  await done(ordered, 'POST', '/order');
  await givenFullCart(made, { [productId]: 2 });
  await givenDomains(service, shopId, ['tea-and-time.example']);
  await givenMerchant(service, 'owner', shopId);
  const key = await installationKey(config);
  await db.transaction(async (tx) => {
    await createApp(tx, key, shopId, {
      name: 'Stock',
      callbackUrl: 'https://stock.example/callback',
      scopes: ['products_read'],
    });
    const { id } = (await tx.one<{ id: string }>(sql`
      select payment_method_id as id from payment_method where shop_id = ${shopId} limit 1`))!;
    await saveFields(tx, key, shopId, id, { secretKey: 'sk_1' });
    await saveTransportAccount(tx, key, shopId, {
      provider: 'e-invoice.be',
      account: { apiKey: 'peppol' },
    });
  });
  const hook = await service.call('POST', `/manage/shops/${shopId}/webhooks`, {
    token,
    body: { callbackUrl: 'https://stock.example/events', eventType: 'ORDER_CREATE' },
  });
  expect(hook.status).toBe(201);
  await db.run(sql`update shop set preview_seed = ${newId(db.now)} where shop_id = ${shopId}`);
  const fromNowhere = Buffer.alloc(32, 7);
  await db.run(sql`
    insert into wish (shop_id, visitor_hash, product_id, created_at)
    values (${shopId}, ${fromNowhere}, ${productId}, ${db.now})`);
  return made;
}

test('for each table of a backup it is decided what a copy takes', async () => {
  const tables = (await findShopTables(service.db)).map(({ name }) => name);
  expect(Object.keys(COPIED_TABLES).toSorted()).toEqual(tables.toSorted());
});

describe('a sandbox', () => {
  test('has the products, the settings, the pictures and the people who work in the shop', async () => {
    const { manifest, files } = await copy('Box1');
    expect(manifest.tables.find(({ name }) => name === 'product')!.rows).toBe(1);
    expect(files).toBeGreaterThan(0);
    const token = await givenToken(service, 'Box1');
    const { body } = await service.call('GET', `/Box1/products/${tea}`, { token });
    expect([body.productNumber, body.name]).toEqual(['Tea', 'Tea']);
    const picture = await service.app.inject(image.replace('/Harbour/', '/Box1/'));
    expect([picture.statusCode, picture.rawPayload.length > 0]).toEqual([200, true]);
    expect(JSON.stringify(body)).toContain('/media/Box1/');
    expect(JSON.stringify(body)).not.toContain('/media/Harbour/');
    expect((await service.call('GET', '/manage/shops/Box1/clock', { token })).body).toMatchObject({
      aheadSeconds: 0,
      sandboxOf: 'Harbour',
    });
    expect(
      await service.db.many(sql`
      select role from shop_user where shop_id = 'Box1'`),
    ).toEqual([{ role: 'owner' }]);
  });

  test('has no people of the shop, and no order', async () => {
    await copy('Box2');
    const left = await rowsByTable('Box2');
    expect(Object.keys(left).filter((name) => COPIED_TABLES[name] !== 'shop' && !(name in LEFT_OUT))).toEqual(
      ['audit_entry'],
    );
    expect(JSON.stringify(left)).not.toContain('ada.lindqvist@mail.example');
  });

  test('has them with --with-customers', async () => {
    await copy('Box3', { withCustomers: true });
    const token = await givenToken(service, 'Box3');
    const { body } = await service.call('GET', '/Box3/orders', { token });
    expect(body.items.map(({ billingAddress }: { billingAddress: object }) => billingAddress)).toEqual([
      expect.objectContaining({ emailAddress: 'ada.lindqvist@mail.example' }),
    ]);
  });

  test.each([true, false])('holds no secret of the shop (with customers: %s)', async (withCustomers) => {
    const secrets = await secretsOf('Harbour');
    // What must be found at least: tokens of carts and apps, secrets of apps, webhooks, payment and transport, a wish.
    expect(secrets.length).toBeGreaterThanOrEqual(9);
    await copy('Box4', { withCustomers });
    const text = JSON.stringify(await rowsByTable('Box4'));
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect((await service.call('GET', '/Box4/products', { token: shop.token })).status).toBe(401);
    expect(service.app.shopHosts.shopOf('tea-and-time.example')).toBe('Harbour');
  });

  test('changes nothing in the shop but its audit log, nor when it is changed and deleted', async () => {
    const before = await shopFingerprint(service, 'Harbour');
    await copy('Box5');
    const { audit_entry: _copied, ...withCopy } = await shopFingerprint(service, 'Harbour');
    const { audit_entry: _before, ...without } = before;
    expect(withCopy).toEqual(without);
    const later = await shopFingerprint(service, 'Harbour');
    const box: Shop = { service, shopId: 'Box5', token: await givenToken(service, 'Box5'), ids: {} };
    await done(await givenFullCart(box, { [tea]: 3 }), 'POST', '/order');
    await service.call('POST', '/manage/shops/Box5/clock', { token: box.token, body: { advance: '1mo' } });
    await service.call('DELETE', `/Box5/products/${tea}`, { token: box.token });
    await remove('Box5');
    expect(await shopFingerprint(service, 'Harbour')).toEqual(later);
    expect((await service.app.inject(image)).statusCode).toBe(200);
  });

  test('is one of five', async () => {
    for (let number = 1; number <= 5; number++) await copy(`Many${number}`);
    const before = await fingerprint(service);
    await expect(copy('Many6')).rejects.toThrow(
      'Harbour has 5 sandboxes already. Delete one first: npx kontor shop delete ID',
    );
    // A sandbox of a sandbox is one of the same five.
    await expect(copy('Many6', { from: 'Many1' })).rejects.toThrow('Harbour has 5 sandboxes already.');
    expect(await fingerprint(service)).toEqual(before);
  });

  test('made six at the same time, they are no more than five', async () => {
    const made = await Promise.allSettled(Array.from({ length: 6 }, (_, index) => copy(`Box7${index}`)));
    const { count } = (await service.db.one<{ count: number }>(sql`
      select count(*) as count from shop where sandbox_of = 'Harbour'`))!;
    expect(count).toBe(made.filter(({ status }) => status === 'fulfilled').length);
    expect(count).toBeLessThanOrEqual(5);
  });
});

test('a plain copy is a shop of its own, and a sandbox is copied as a sandbox only', async () => {
  await copy('Plain', { isSandbox: false });
  const token = await givenToken(service, 'Plain');
  expect((await service.call('GET', '/manage/shops/Plain/clock', { token })).body.sandboxOf).toBeNull();
  await copy('Box8');
  await expect(copy('Plain2', { from: 'Box8', isSandbox: false })).rejects.toThrow(
    'Box8 is a sandbox of Harbour: add --sandbox to copy it.',
  );
  const boxToken = await givenToken(service, 'Box8');
  await service.call('POST', '/manage/shops/Box8/clock', { token: boxToken, body: { advance: '15d' } });
  await copy('Box9', { from: 'Box8' });
  const found = await service.call('GET', '/manage/shops/Box9/clock', {
    token: await givenToken(service, 'Box9'),
  });
  expect(found.body).toMatchObject({ sandboxOf: 'Harbour', aheadSeconds: 15 * 86_400 });
});

test.each([
  ['Harbour', 'There is a shop Harbour already.'],
  ['harbour', 'There is a shop Harbour already, and ids must differ in more than upper and lower case'],
  ['no id', '"no id" cannot be the id of a shop'],
])('a copy to %j is refused and changes nothing', async (to, reason) => {
  const before = await fingerprint(service);
  await expect(copy(to)).rejects.toThrow(reason);
  expect(await fingerprint(service)).toEqual(before);
});

async function remove(shopId: string): Promise<void> {
  await service.db.transaction((tx) => deleteShop(tx, shopId));
  await openMediaStorage(service.config).removeShop(shopId);
}

/** All rows of a shop as text, by table. */
async function rowsByTable(shopId: string): Promise<Record<string, string[]>> {
  const { rows: tables } = await service.db.pool.query<{ name: string }>(`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'shop_id' order by 1`);
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await service.db.pool.query<{ row: string }>(
      `select to_json(entry)::text as row from ${name} as entry where shop_id = $1`,
      [shopId],
    );
    if (rows.length > 0) found[name] = rows.map(({ row }) => row);
  }
  return found;
}

/** The values of all columns that can hold a secret: bytes, except those of files, and the seed of the preview link. */
async function secretsOf(shopId: string): Promise<string[]> {
  const { rows: columns } = await service.db.pool.query<{ table: string; column: string }>(`
    select columns.table_name as table, columns.column_name as column from information_schema.columns
    join information_schema.columns as shop_column
      on shop_column.table_name = columns.table_name and shop_column.column_name = 'shop_id'
    where columns.table_schema = current_schema()
      and (columns.data_type = 'bytea' or columns.column_name in ('preview_seed', 'callback_url', 'host'))
      and columns.column_name not in ('pdf', 'xml', 'content', 'source_hash', 'target_hash')`);
  const secrets: string[] = [];
  for (const { table, column } of columns) {
    const { rows } = await service.db.pool.query<{ secret: string | null }>(
      `select ltrim(${column}::text, '\\x') as secret from ${table} where shop_id = $1`,
      [shopId],
    );
    secrets.push(...rows.flatMap(({ secret }) => (secret === null || secret === '' ? [] : [secret])));
  }
  return secrets;
}
