import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenDomains, givenShop, givenToken } from '../../../test/builders.ts';
import { changesNothing } from '../../../test/carts.ts';
import { asRecorded, loadRecording, type Recording } from '../../../test/recording.ts';
import { databaseOptions, startService, type Service } from '../../../test/service.ts';
import { givenBackup, restored, rowsOf } from '../../../test/shop-copies.ts';
import { givenPlainProduct, PNG, sendImage } from '../../../test/upload.ts';
import { openDatabase } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { authorise, createApp, installSignature } from '../../apps/apps.ts';
import { installationKey, keyFromFile } from '../../platform/sealing.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { deleteShop } from '../../shops/shop/queries.ts';
import { backupShop } from './backup.ts';
import { encodeChunks, readChunks } from '../../platform/backup/file.ts';
import { checkBackup } from '../../platform/backup/manifest.ts';
import { restoreShopFile } from './restore.ts';

let service: Service;
let elsewhere: Service;

beforeAll(async () => {
  service = await startService();
  elsewhere = await startService();
});
afterAll(() => Promise.all([service.close(), elsewhere.close()]));

/** A shop with a product and a picture. */
async function givenSmallShop(shopId: string): Promise<string> {
  await givenShop(service, shopId);
  const productId = await givenPlainProduct(service, shopId);
  const token = await givenToken(service, shopId);
  const sent = await sendImage(service, `/${shopId}/products/${productId}/slideshow`, 'lamp.png', PNG, {
    token,
  });
  expect(sent.status).toBe(201);
  return token;
}

async function mediaFiles({ config }: Service): Promise<string[]> {
  const media = path.join(config.KONTOR_DATA, 'media');
  const names: string[] = await readdir(media, { recursive: true }).catch(() => []);
  return names.toSorted();
}

/** What the refusal says. Neither rows nor files have changed. */
async function refusalOf(target: Service, file: string, options: { as?: string } = {}): Promise<string> {
  const files = await mediaFiles(target);
  const message = await changesNothing(target, () =>
    restored(target, file, options).then(
      () => 'restored',
      (error: Error) => `${error.name}: ${error.message}`,
    ),
  );
  expect(await mediaFiles(target)).toEqual(files);
  return message;
}

describe('values', () => {
  test('of every kind come back as they were', async () => {
    const shopId = 'Values';
    await givenShop(service, shopId);
    const { db } = service;
    const customerId = newId(db.now);
    const text = 'two\nlines\r\n"quoted" \\ back \\n \t \u0001 ümläut 🐟 \u2028 {"json": [1]}';
    // JSON that is stored as text keeps its spaces, its line breaks and the order and number of its keys.
    const address = '{ "b" : 1.00,\n  "a":[ null,1e3 ], "a": "\\u00fc" }';
    await db.run(sql`
      insert into customer (shop_id, customer_id, customer_number, created_at, billing_address, internal_note)
      values (${shopId}, ${customerId}, '1', '2026-11-16 12:00:00.123456+02', ${address}::json, ${text}),
        (${shopId}, ${newId(db.now)}, '2', 'infinity', 'null'::json, null),
        (${shopId}, ${newId(db.now)}, '3', '0044-03-15 12:00:00 BC', null, '')`);
    await db.run(sql`
      insert into coupon_campaign (shop_id, campaign_id, identifier, name, created_at, currency, kind,
        waive_shipping_costs, product_ids, shipping_method_ids)
      values (${shopId}, ${newId(db.now)}, ${text}, 'null'::jsonb, ${db.now}, 'EUR', 'SHIPPING', true,
        '{}', ${[newId(db.now), newId(db.now)]})`);
    await db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, stock, prices, facts)
      values (${shopId}, ${newId(db.now)}, '1', 'regular', ${db.now}, 1, true, 0.100000, null, '{"n": 1.10, "e": 1e30}')`);
    await db.run(sql`
      insert into order_day (shop_id, day, currency, states, orders, gross, net)
      values (${shopId}, '2026-02-28', 'EUR', 0, 9007199254740993, 1, 3.14159265358979323846264338327950288419)`);
    await db.run(sql`
      insert into legal_page (shop_id, page, locale, content) values (${shopId}, 'cookie-policy', ${text}, '[]')`);
    const app = await givenToken(service, shopId);
    const rows = await rowsOf(service, shopId);
    expect(rows['customer']).toContainEqual(expect.objectContaining({ billing_address: address }));
    expect(rows['customer']).toContainEqual(expect.objectContaining({ billing_address: 'null' }));
    const file = await givenBackup(service, shopId);
    await restored(elsewhere, file);
    const after = await rowsOf(elsewhere, shopId);
    expect({ ...after, audit_entry: [] }).toEqual({ ...rows, audit_entry: [] });
    expect((await elsewhere.call('GET', `/${shopId}/currencies`, { token: app })).status).toBe(200);
  });

  test('of pages come back, with their versions and the redirects to them', async () => {
    const shopId = 'Pages';
    await givenShop(service, shopId);
    const token = await givenToken(service, shopId);
    const page = (slug: string) => ({
      kind: 'page',
      published: true,
      texts: [{ locale: 'en_GB', title: 'About', slug, blocks: [{ type: 'richText', html: '<p>Quay</p>' }] }],
    });
    const path = `/manage/shops/${shopId}/pages`;
    const { body } = await service.call('POST', path, { token, body: page('about') });
    const changed = await service.call('PUT', `${path}/${body.pageId}`, { token, body: page('who') });
    expect(changed.status).toBe(200);
    const rows = await rowsOf(service, shopId);
    await restored(elsewhere, await givenBackup(service, shopId));
    const after = await rowsOf(elsewhere, shopId);
    for (const [table, count] of [
      ['page', 1],
      ['page_text', 1],
      ['page_version', 2],
      ['redirect', 1],
    ] as const) {
      expect([table, rows[table]]).toEqual([table, after[table]]);
      expect(after[table]).toHaveLength(count);
    }
    const visited = await elsewhere.app.inject({ url: `/shop/${shopId}/pages/about` });
    expect([visited.statusCode, visited.headers.location]).toEqual([301, `/shop/${shopId}/pages/who`]);
  });

  test('rows stand behind those of the same table that they refer to, however they were made', async () => {
    const shopId = 'Tree';
    await givenShop(service, shopId);
    const { db } = service;
    // Of 800 categories each is below a later one: no order of the ids fits.
    await db.run(sql`
      insert into category (shop_id, category_id, number, alias, parent_id, position, created_at, name, page_title,
        navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
      select ${shopId}, ('0190000c-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n, 'c' || n,
        case when n < 800 then ('0190000c-0000-7000-8000-' || lpad((n + 1)::text, 12, '0'))::uuid end, 0, ${db.now},
        '{}', '{}', '{}', '{}', true, true, false, true, 3
      from generate_series(2, 800) n`);
    await restored(elsewhere, await givenBackup(service, shopId));
    expect((await rowsOf(elsewhere, shopId))['category']).toEqual(
      (await rowsOf(service, shopId))['category'],
    );
  });
});

async function waitingFor(table: string): Promise<number> {
  const row = await service.db.one<{ count: number }>(sql`
    select count(*) as count from pg_locks
    where not granted and relation = ${table}::regclass
      and database = (select oid from pg_database where datname = current_database())`);
  return row!.count;
}

test('a backup is the shop of one moment: what is committed while it is made is not in it', async () => {
  const shopId = 'Moment';
  await givenShop(service, shopId);
  const { db } = service;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const written = db.transaction(async (tx) => {
    // The backup has to wait for this table, so it has begun when the rows are written.
    await tx.run(sql`lock table customer in access exclusive mode`);
    await tx.run(sql`
      insert into customer (shop_id, customer_id, customer_number, created_at)
      values (${shopId}, ${newId(tx.now)}, '1001', ${tx.now})`);
    await tx.run(sql`update counter set value = 1001 where shop_id = ${shopId} and name = 'customer'`);
    await finished;
  });
  const file = givenBackup(service, shopId);
  await expect.poll(() => waitingFor('customer')).toBe(1);
  finish();
  await written;
  await restored(elsewhere, await file);
  const rows = await rowsOf(elsewhere, shopId);
  expect(rows['customer']).toEqual([]);
  expect(rows['counter']).toContainEqual({ name: 'customer', value: '1000', at: null });
  expect((await rowsOf(service, shopId))['customer']).toHaveLength(1);
});

describe('a restore is refused', () => {
  let file: string;
  let token: string;
  beforeAll(async () => {
    token = await givenSmallShop('Quay');
    file = await givenBackup(service, 'Quay');
  });

  test('when there is a shop of this id, or the id can not be one', async () => {
    expect(await refusalOf(service, file)).toBe(
      'CommandProblem: There is a shop Quay already. Delete it first (npx kontor shop delete Quay), or restore under another id: --as ID',
    );
    expect(await refusalOf(elsewhere, file, { as: 'no/shop' })).toBe(
      'CommandProblem: "no/shop" cannot be the id of a shop: use 1 to 63 letters, digits, - or _.',
    );
  });

  test('when the file is damaged, at whatever place, and nothing stays behind', async () => {
    const whole = await readFile(file);
    const damaged = path.join(service.config.KONTOR_DATA, 'damaged.backup');
    let start = 0;
    for await (const { head, bytes } of readChunks(file)) {
      if (head.part === 'end') break;
      const place = head.part === 'rows' ? `in table ${head.table}, rows ${head.from} to` : 'in ';
      const changed = Buffer.from(whole);
      changed[start + bytes - 3]! ^= 4;
      await writeFile(damaged, changed);
      expect(await refusalOf(elsewhere, damaged)).toContain(
        `BackupProblem: ${damaged} is damaged at byte ${start}, ${place}`,
      );
      await writeFile(damaged, whole.subarray(0, start + bytes - 1));
      expect(await refusalOf(elsewhere, damaged)).toContain(`is damaged at byte ${start}, ${place}`);
      start += bytes;
    }
  }, 60_000);

  test('when the file becomes damaged after it was checked: rows and files are taken back', async () => {
    const damaged = path.join(service.config.KONTOR_DATA, 'damaged.backup');
    await writeFile(damaged, await readFile(file));
    const checked = await checkBackup(damaged);
    await writeFile(damaged, (await readFile(file)).subarray(0, -10));
    const keys = { own: await installationKey(elsewhere.config) };
    const files = await mediaFiles(elsewhere);
    let entries = 0;
    await changesNothing(elsewhere, () =>
      expect(
        restoreShopFile(elsewhere.db, elsewhere.config, checked, {
          keys,
          onProgress: (more) => (entries += more),
        }),
      ).rejects.toThrow('it was cut off here'),
    );
    // All rows, and the seven sizes of the picture, were there already.
    expect(entries).toBe(checked.manifest.tables.reduce((sum, { rows }) => sum + rows, 7));
    expect(await mediaFiles(elsewhere)).toEqual(files);
  });

  test('when a newer version has made it', async () => {
    const newer = path.join(service.config.KONTOR_DATA, 'newer.backup');
    await rewriteManifest(file, newer, (manifest) => ({
      ...manifest,
      schema: '9999_future.sql',
      kontor: '99.0.0',
    }));
    expect(await refusalOf(elsewhere, newer)).toBe(
      `CommandProblem: ${newer} was made by Kontor 99.0.0 with the schema 9999_future.sql, which this version does not have. Update Kontor, then restore it.`,
    );
  });

  test('when files of such a shop are there that are not of this database', async () => {
    await restored(elsewhere, file, { as: 'Left' });
    await elsewhere.db.transaction((tx) => deleteShop(tx, 'Left'));
    expect(await refusalOf(elsewhere, file, { as: 'Left' })).toContain(
      'There are media files of a shop Left, which this database does not have (Left/',
    );
  });

  test('when another shop has one of its domains; a copy does without', async () => {
    await givenShop(service, 'Old');
    await givenDomains(service, 'Old', ['tea.example', 'www.tea.example']);
    const old = await givenBackup(service, 'Old');
    await service.db.transaction((tx) => deleteShop(tx, 'Old'));
    await givenShop(service, 'New');
    await givenDomains(service, 'New', ['www.tea.example']);
    expect(await refusalOf(service, old)).toContain('Another shop has a domain of Old.');
    await restored(service, old, { as: 'OldCopy' });
    expect((await rowsOf(service, 'OldCopy'))['shop_domain']).toEqual([]);
    await givenDomains(service, 'New', []);
    await restored(service, old);
    expect((await rowsOf(service, 'Old'))['shop_domain']).toMatchObject([
      { host: 'tea.example', position: '0' },
      { host: 'www.tea.example', position: '1' },
    ]);
  });

  test('and goes well after that, with tokens that are valid again and caches that know nothing of before', async () => {
    const name = async () => (await service.call('GET', '/Quay', { token })).body.name;
    const rename = (text: string) =>
      service.db.transaction((tx) => applySettings(tx, 'Quay', { name: text }, settingsFormat));
    await rename('After the backup');
    expect(await name()).toBe('After the backup');
    await service.db.transaction((tx) => deleteShop(tx, 'Quay'));
    await openMediaStorage(service.config).removeShop('Quay');
    await restored(service, file);
    // It has as many changes behind it now as the shop had that was deleted, and that a cache still holds.
    await rename('Another name');
    expect(await name()).toBe('Another name');
  });
});

/** The same backup with another manifest, as another version would have made it. */
async function rewriteManifest(
  from: string,
  to: string,
  change: (manifest: Record<string, unknown>) => object,
): Promise<void> {
  async function* chunks() {
    for await (const { head, content } of readChunks(from)) {
      if (head.part === 'manifest') {
        yield { head, content: Buffer.from(JSON.stringify(change(JSON.parse(content.toString())))) };
      } else if (head.part !== 'end') yield { head, content };
    }
  }
  await writeFile(to, Readable.from(encodeChunks(chunks())));
}

describe('secrets of apps', () => {
  const apiUrl = 'https://shop.example/rs/shops/Sealed';
  let file: string;
  let clientId: string;
  let clientSecret: string;

  beforeAll(async () => {
    await givenShop(service, 'Sealed');
    const key = await installationKey(service.config);
    ({ clientId, clientSecret } = await service.db.transaction((tx) =>
      createApp(tx, key, 'Sealed', { name: 'Till', callbackUrl: 'https://till.example/', scopes: [] }),
    ));
    file = await givenBackup(service, 'Sealed');
  });

  /** The app is installed, and gets what its own secret signs. */
  async function expectInstallable({ db, config }: Service, shopId: string): Promise<void> {
    const key = await installationKey(config);
    const address = new URL(await db.transaction((tx) => authorise(tx, key, shopId, 'Till', apiUrl)));
    const code = address.searchParams.get('code')!;
    expect(address.searchParams.get('signature')).toBe(
      installSignature(clientSecret, code, `${apiUrl}/token`),
    );
  }

  test('stay readable where the key is the same', async () => {
    const { appsWithoutSecret } = await restored(service, file, { as: 'SealedCopy' });
    expect(appsWithoutSecret).toEqual([]);
    await expectInstallable(service, 'SealedCopy');
  });

  test('are sealed anew where the key of the backup is given', async () => {
    const former = await keyFromFile(path.join(service.config.KONTOR_DATA, 'secret.key'));
    const { appsWithoutSecret } = await restored(elsewhere, file, { as: 'Resealed', former });
    expect(appsWithoutSecret).toEqual([]);
    await expectInstallable(elsewhere, 'Resealed');
    const phrase = path.join(elsewhere.config.KONTOR_DATA, 'phrase');
    const KONTOR_SECRET = 'a phrase of more than thirty-two characters';
    await writeFile(phrase, `${KONTOR_SECRET}\n`);
    expect(await keyFromFile(phrase)).toEqual(await installationKey({ KONTOR_SECRET, KONTOR_DATA: '' }));
  });

  test('are left out elsewhere, and what is left says what to do', async () => {
    const { appsWithoutSecret } = await restored(elsewhere, file);
    expect(appsWithoutSecret).toEqual(['Till']);
    const key = await installationKey(elsewhere.config);
    await expect(
      elsewhere.db.transaction((tx) => authorise(tx, key, 'Sealed', clientId, apiUrl)),
    ).rejects.toThrow('The secret of the app "Till" was left out when the shop was restored.');
    const [app] = (await rowsOf(elsewhere, 'Sealed'))['app'] as Record<string, string>[];
    const digest = createHash('sha256').update(clientSecret).digest('hex');
    expect(app).toMatchObject({ secret_sealed: null, secret_hash: `\\x${digest}` });
  });
});

test('a backup of an older schema comes up as the installation would have', async () => {
  const folder = new URL('../../../test/upgrade/', import.meta.url);
  const recording = JSON.parse(
    gunzipSync(await readFile(new URL('0010.json.gz', folder))).toString(),
  ) as Recording;
  const { database, drop } = await loadRecording(recording);
  const older = openDatabase(databaseOptions(database));
  const file = path.join(service.config.KONTOR_DATA, 'older.backup');
  await openMediaStorage(service.config).write('DemoShop', 'files', [{ file: 'logo.png', bytes: PNG }]);
  await backupShop(older, service.config, { shopId: 'DemoShop', file });
  await older.close();
  await drop();

  const target = await startService({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  target.setClock(new Date(recording.now));
  expect(await restored(target, file)).toMatchObject({ shopId: 'DemoShop', files: 1 });
  // The last ones were asked after the shop had changed.
  const asked = recording.answers.slice(0, -10).filter(({ request }) => request.method === 'GET');
  expect(asked.length).toBeGreaterThan(200);
  for (const { request, status, text } of asked.filter((_, index) => index % 3 === 0)) {
    const { cartToken } = request;
    const answer = await target.call('GET', request.path, {
      token: 'demo-all',
      ...(cartToken !== undefined && { cartToken }),
    });
    expect([request.path, answer.status, masked(answer.text)]).toEqual([request.path, status, masked(text)]);
  }
  expect(await refusalOf(target, file)).toContain('There is a shop DemoShop already.');
  const schemas = await target.db.many(sql`select nspname from pg_namespace where nspname like 'restore_%'`);
  expect(schemas).toEqual([]);
  await target.close();
}, 120_000);

/** The recording leaves out ids that were made while it was made. */
function masked(text: string): string {
  return asRecorded(text)
    .replaceAll(/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}|\bID\b/g, 'ID')
    .replaceAll(/"pickupToken":"[^"]*"|PickupToken=[^"]*|TOKEN/g, 'TOKEN');
}
