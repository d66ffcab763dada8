import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { givenDomains, givenShop, givenToken } from '../../../test/builders.ts';
import { changesNothing } from '../../../test/carts.ts';
import { cleanUp, newFolder } from '../../../test/process.ts';
import { startS3Server, type S3Server } from '../../../test/s3-server.ts';
import { ofTheDay } from '../../../test/seed.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../../test/service.ts';
import { rowsOf } from '../../../test/shop-copies.ts';
import { formOf, givenPlainProduct, PNG, sendImage } from '../../../test/upload.ts';
import { staffOf } from '../../admin/users/staff.ts';
import { sql } from '../../db/sql.ts';
import { HOST_SCOPES } from '../../http/scopes.ts';
import { newId } from '../../kernel/ids.ts';
import { runCleanup } from '../../platform/cleanup.ts';
import { checkBackup } from '../../platform/backup/manifest.ts';
import { openBackupStore } from '../../platform/backup/store.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { installationKey } from '../../platform/sealing.ts';
import { deleteShop, findShop } from '../../shops/shop/queries.ts';
import { createHostToken } from '../tokens.ts';
import { findBackup } from './queries.ts';
import { backupPlans, runDueBackups, type BackupDeps } from './runner.ts';
import { uploadCleanup } from './restore-queries.ts';
import { runDueRestores, type RestoreDeps } from './restore-runner.ts';
import { backupVerification, verifyBackup } from './verify.ts';

const NOW = new Date('2026-11-19T10:00:00Z');
const DAY = 86_400_000;
const MINUTE = 60_000;

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(async () => {
  await s3.stop();
  await cleanUp();
});

/** A service that stores backups, and what its background work needs. */
async function started(url: string) {
  const service = await startService({ BACKUP_URL: url });
  service.setClock(NOW);
  const { db, config, app } = service;
  const store = openBackupStore(config)!;
  const deps: BackupDeps = { db, config, store, log: app.log };
  const restores: RestoreDeps = {
    ...deps,
    staff: staffOf(config),
    loadKey: () => installationKey(config),
  };
  const token = await db.transaction((tx) =>
    createHostToken(tx, { name: 'order system', scopes: HOST_SCOPES }),
  );
  const host = (method: string, place: string, options: CallOptions = {}): Promise<Answer> =>
    service.call(method, `/host${place}`, { token, ...options });
  return {
    service,
    deps,
    restores,
    host,
    /** Advances the clock and does all that is due then. */
    at: async (time: Date) => {
      service.setClock(time);
      await runDueBackups(deps);
    },
    listOf: async (shopId: string) => (await host('GET', `/shops/${shopId}/backups`)).body,
    madeFor: async (shopId: string): Promise<string> => {
      const { body } = await host('POST', `/shops/${shopId}/backups`);
      await runDueBackups(deps);
      return body.backupId;
    },
    restored: async (body: object) => {
      const made = await host('POST', '/restores', { body });
      expect([made.status, made.text]).toEqual([201, made.text]);
      await runDueRestores(restores);
      await service.app.shopHosts.refresh();
      return (await host('GET', `/restores/${made.body.restoreId}`)).body;
    },
  };
}

type Started = Awaited<ReturnType<typeof started>>;

const metricsOf = async ({ app }: Service): Promise<string[]> =>
  (await app.inject({ url: '/metrics' })).body.split('\n').filter((line) => line.startsWith('backup_'));

const statesOf = ({ items }: { items: { state: string }[] }) => items.map(({ state }) => state);

async function givenImage(service: Service, shopId: string): Promise<void> {
  const token = await givenToken(service, shopId);
  const productId = await givenPlainProduct(service, shopId);
  const sent = await sendImage(service, `/${shopId}/products/${productId}/slideshow`, 'tea.png', PNG, {
    token,
  });
  expect(sent.status).toBe(201);
}

/** The same but for the store, so each of them has its day. */
describe.each(ofTheDay(['a folder', 'a bucket'], 1))('in %s', (kind) => {
  let given: Started;
  let folder: string;
  /** The names of all stored files. */
  const stored = async () => {
    if (kind === 'a bucket') return [...s3.objects.keys()].filter((key) => key.startsWith('daily/'));
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };

  beforeAll(async () => {
    folder = path.join(await newFolder(), 'backups');
    given = await started(kind === 'a bucket' ? s3.urlOf('daily') : `file://${folder}`);
    await givenShop(given.service, 'Tea');
    await givenShop(given.service, 'Bean');
    await givenImage(given.service, 'Tea');
    // The last use of a token is written within a second, and is a change of its shop.
    await vi.waitFor(
      async () => {
        const unused = await given.service.db.many(
          sql`select token_hash from token where shop_id = 'Tea' and last_used_at is null`,
        );
        if (unused.length > 0) throw new Error('the use of a token is not written');
      },
      { timeout: 10_000 },
    );
  });
  afterAll(() => given.service.close());

  test('every shop has a backup after a day, and the next one only when it has changed', async () => {
    const { deps, at, listOf, host, service } = given;
    await backupPlans.run(deps.db, 500);
    expect(await listOf('Tea')).toMatchObject({ goodAt: null, error: null, items: [] });
    await at(new Date(NOW.getTime() + DAY));
    const first = await listOf('Tea');
    expect(statesOf(first)).toEqual(['done']);
    expect(first.items[0]).toMatchObject({ files: expect.any(Number), error: null, verifiedAt: null });
    expect(first.items[0].files).toBeGreaterThan(0);
    expect(first.goodAt).toBe(first.items[0].createdAt);
    expect(statesOf(await listOf('Bean'))).toEqual(['done']);
    expect(await stored()).toHaveLength(2);

    await at(new Date(NOW.getTime() + 2 * DAY));
    expect((await listOf('Tea')).items).toEqual(first.items);
    expect((await listOf('Tea')).goodAt).toBe(new Date(NOW.getTime() + 2 * DAY).toISOString());
    await givenPlainProduct(service, 'Tea');
    await at(new Date(NOW.getTime() + 3 * DAY));
    expect(statesOf(await listOf('Tea'))).toEqual(['done', 'done']);
    expect(statesOf(await listOf('Bean'))).toEqual(['done']);
    const shops = (await host('GET', '/shops')).body.items as { shopId: string; backupAt: string }[];
    expect(shops.map(({ shopId, backupAt }) => [shopId, backupAt])).toEqual([
      ['Bean', new Date(NOW.getTime() + 3 * DAY).toISOString()],
      ['Tea', new Date(NOW.getTime() + 3 * DAY).toISOString()],
    ]);
    expect((await host('GET', '/shops/Tea')).body.backupAt).toBe(shops[1]!.backupAt);
  });

  test('one that is asked for is made although nothing has changed, and is downloaded with an entry of the audit log', async () => {
    const { deps, host, listOf, service } = given;
    const asked = await host('POST', '/shops/Bean/backups');
    expect([asked.status, asked.body.state]).toEqual([201, 'waiting']);
    expect((await host('POST', '/shops/Bean/backups')).body).toEqual(asked.body);
    await runDueBackups(deps);
    const place = `/shops/Bean/backups/${asked.body.backupId}`;
    const { body: made } = await host('GET', place);
    expect(made.state).toBe('done');
    expect(statesOf(await listOf('Bean'))).toEqual(['done', 'done']);
    const { rawPayload, headers } = await service.app.inject({
      url: `/host${place}/file`,
      headers: {
        authorization: `Bearer ${await service.db.transaction((tx) =>
          createHostToken(tx, { name: 'keeper', scopes: ['host_backups_read'] }),
        )}`,
      },
    });
    expect([headers['content-type'], Number(headers['content-length'])]).toEqual([
      'application/octet-stream',
      made.bytes,
    ]);
    const file = path.join(await newFolder(), 'bean.backup');
    await writeFile(file, rawPayload);
    const { manifest } = await checkBackup(file);
    expect([manifest.shopId, manifest.tables.reduce((sum, table) => sum + table.rows, 0)]).toEqual([
      'Bean',
      made.rows,
    ]);
    const audit = await service.db.many(sql`
      select app_name as name, route from audit_entry where shop_id = 'Bean' and app_name is not null`);
    expect(audit).toEqual([{ name: 'keeper', route: '/host/shops/:shopId/backups/:backupId/file' }]);
    // Nothing of another shop.
    for (const [method, wrong] of [
      ['GET', place.replace('Bean', 'Tea')],
      ['GET', `${place.replace('Bean', 'Tea')}/file`],
      ['GET', `/shops/Bean/backups/${newId(NOW)}`],
    ] as const) {
      expect((await host(method, wrong)).headers['x-error-code']).toBe('NOT_FOUND');
    }
    expect((await host('GET', '/shops/Nowhere/backups')).headers['x-error-code']).toBe('SHOP_NOT_FOUND');
    expect((await host('POST', '/shops/Nowhere/backups')).headers['x-error-code']).toBe('SHOP_NOT_FOUND');
  });

  test('two processes never make one twice', async () => {
    const { deps, service, listOf, host } = given;
    const other = await startService({ BACKUP_URL: deps.config.BACKUP_URL! }, service);
    const idsOf = async (shopId: string) =>
      (await listOf(shopId)).items.map(({ backupId }: { backupId: string }) => backupId);
    const before = new Set([...(await idsOf('Tea')), ...(await idsOf('Bean'))]);
    await host('POST', '/shops/Tea/backups');
    await host('POST', '/shops/Bean/backups');
    other.setClock(deps.db.now);
    const beside = { ...deps, db: other.db };
    await Promise.all([
      runDueBackups(deps),
      runDueBackups(beside),
      runDueBackups(deps),
      runDueBackups(beside),
    ]);
    for (const shopId of ['Tea', 'Bean']) {
      const added = (await idsOf(shopId)).filter((id: string) => !before.has(id));
      expect([added.length, statesOf(await listOf(shopId))[0]]).toEqual([1, 'done']);
    }
    // Of the backups of one day the last one stays.
    expect(await stored()).toHaveLength(4);
    await other.close();
  });

  test('what a process has left that ended in the middle is removed with the next one', async () => {
    const { deps, listOf, at, service } = given;
    const backupId = newId(deps.db.now);
    const place = `Tea/left-${backupId}.backup`;
    await service.db.run(sql`
      insert into shop_backup (backup_id, shop, state, place) values (${backupId}, 'Tea', 'running', ${place})`);
    if (kind === 'a bucket')
      s3.uploads.set('left', { key: `daily/${place}`, type: undefined, parts: new Map() });
    else {
      await mkdir(path.join(folder, 'Tea'), { recursive: true });
      await writeFile(path.join(folder, `${place}.draft`), 'half');
    }
    await at(new Date(deps.db.now.getTime() + DAY));
    expect(
      (await listOf('Tea')).items.find((one: { backupId: string }) => one.backupId === backupId),
    ).toMatchObject({
      state: 'failed',
      error: 'The process that made it has ended.',
    });
    expect((await stored()).filter((name) => name.includes('left'))).toEqual([]);
    expect(s3.uploads.size).toBe(0);
  });

  test('old ones are removed, but never the last whole one', async () => {
    const { deps, listOf, at, service } = given;
    for (const shop of ['Tea', 'Bean']) await givenPlainProduct(service, shop);
    await at(new Date(deps.db.now.getTime() + DAY));
    const newest = (await listOf('Tea')).items[0].backupId;
    await at(new Date(deps.db.now.getTime() + 500 * DAY));
    const left = (await listOf('Tea')).items;
    expect(left.map(({ backupId }: { backupId: string }) => backupId)).toEqual([newest]);
    expect(await stored()).toHaveLength(2);
  });

  test('one of any shop is restored to try it, and nothing of that is left', async () => {
    const { deps, host, listOf } = given;
    const answer = await changesNothingButVerification(() => backupVerification(deps).run(deps.db, 500));
    expect(answer).toBe(0);
    const items = [...(await listOf('Tea')).items, ...(await listOf('Bean')).items];
    const verified = items.filter(({ verifiedAt }) => verifiedAt !== null);
    expect(verified.map(({ verifyError }) => verifyError)).toEqual([null]);
    const metrics = await metricsOf(given.service);
    expect(metrics).toContain('backup_shops{state="good"} 2');
    expect(metrics).toContain(
      `backup_verified_timestamp_seconds{result="ok"} ${deps.db.now.getTime() / 1_000}`,
    );
    expect((await host('GET', '/shops?limit=500')).body.items).toHaveLength(2);
  });

  /** All rows of both shops, and the shops that there are. */
  async function changesNothingButVerification<Result>(work: () => Promise<Result>): Promise<Result> {
    const look = async () => [
      await rowsOf(given.service, 'Tea'),
      await rowsOf(given.service, 'Bean'),
      await given.service.db.many(sql`select shop_id from shop order by shop_id`),
    ];
    const before = await look();
    const result = await work();
    expect(await look()).toEqual(before);
    return result;
  }

  test('one that has become another file is noticed, and a new one is made', async () => {
    const { deps, listOf, madeFor, service } = given;
    for (const damage of ['cut off', 'changed', 'gone']) {
      const backupId = await madeFor('Tea');
      const backup = (await findBackup(deps.db, backupId))!;
      if (kind === 'a bucket') {
        const object = s3.objects.get(`daily/${backup.place}`)!;
        if (damage === 'gone') s3.objects.delete(`daily/${backup.place}`);
        else if (damage === 'changed') object.bytes = randomBytes(object.bytes.length);
        else object.bytes = object.bytes.subarray(0, 1_000);
      } else {
        const file = path.join(folder, backup.place);
        if (damage === 'gone') await deps.store.remove(backup.place);
        else if (damage === 'changed') await writeFile(file, randomBytes(backup.bytes!));
        else await truncate(file, 1_000);
      }
      await verifyBackup(deps, backup);
      const found = (await listOf('Tea')).items;
      expect(found[0].verifyError).toBe(
        damage === 'gone'
          ? 'It is not in the store.'
          : 'The file in the store is not the one that was written.',
      );
      await runDueBackups(deps);
      const again = (await listOf('Tea')).items;
      expect([again.length, again[0].state, again[0].verifyError]).toEqual([found.length + 1, 'done', null]);
    }
    const metrics = await metricsOf(service);
    expect(metrics.some((line) => line.includes('result="failed"'))).toBe(true);
  });
});

describe('a store', () => {
  let given: Started;
  beforeAll(async () => {
    given = await started(s3.urlOf('large'));
    await givenShop(given.service, 'Large');
    await backupPlans.run(given.deps.db, 500);
  });
  afterAll(() => given.service.close());

  const objects = () => [...s3.objects.keys()].filter((key) => key.startsWith('large/'));

  test('that is away is tried again after five minutes, and says so', async () => {
    const { deps, at, listOf, service } = given;
    s3.failNext(1_000);
    const first = new Date(NOW.getTime() + DAY);
    await at(first);
    const failed = await listOf('Large');
    expect([failed.goodAt, failed.error, statesOf(failed)]).toEqual([
      null,
      expect.stringContaining('The store of backups: 503'),
      ['failed'],
    ]);
    expect(failed.nextAt).toBe(new Date(first.getTime() + 5 * MINUTE).toISOString());
    const metrics = await metricsOf(service);
    expect(metrics).toContain('backup_shops{state="failing"} 1');
    expect(metrics).toContain('backup_shops{state="none"} 1');
    await at(new Date(first.getTime() + 4 * MINUTE));
    expect((await listOf('Large')).items).toHaveLength(1);
    s3.failNext(0);
    await at(new Date(first.getTime() + 5 * MINUTE));
    const made = await listOf('Large');
    expect([made.error, statesOf(made)]).toEqual([null, ['done', 'failed']]);
    expect(await deps.store.problem()).toBeUndefined();
  });

  test('gets a large backup in parts, which is restored byte by byte; after a failure nothing is left', async () => {
    const { deps, listOf, madeFor, service, restored } = given;
    const media = openMediaStorage(service.config);
    const pictures = Array.from({ length: 3 }, (_, index) => ({
      file: `picture-${index}.png`,
      bytes: randomBytes(8 * 1_048_576),
    }));
    await media.write('Large', 'files', pictures);
    s3.setLie((request, response) => {
      if (!request.url!.includes('partNumber=2')) return false;
      request.resume();
      response
        .writeHead(403, { 'content-type': 'application/xml' })
        .end('<Error><Code>AccessDenied</Code></Error>');
      return true;
    });
    const before = objects();
    await madeFor('Large');
    s3.setLie(undefined);
    expect(statesOf(await listOf('Large'))[0]).toBe('failed');
    expect([objects(), s3.uploads.size]).toEqual([before, 0]);

    s3.requests.length = 0;
    const backupId = await madeFor('Large');
    const { body: made } = await given.host('GET', `/shops/Large/backups/${backupId}`);
    expect([made.state, made.bytes > 24 * 1_048_576]).toEqual(['done', true]);
    expect(s3.requests.filter((line) => line.startsWith('PUT upload'))).toHaveLength(2);
    await verifyBackup(deps, (await findBackup(deps.db, backupId))!);
    expect((await given.host('GET', `/shops/Large/backups/${backupId}`)).body.verifyError).toBeNull();
    expect((await restored({ shopId: 'Large2', backupId })).state).toBe('done');
    for (const { file, bytes } of pictures) {
      const stream = (await media.read({ shopId: 'Large2', folder: 'files', file }))!;
      expect(Buffer.concat(await stream.toArray()).equals(bytes)).toBe(true);
    }
  }, 180_000);
});

describe('a shop from a backup', () => {
  let given: Started;
  let backupId: string;
  let token: string;
  beforeAll(async () => {
    given = await started(`file://${await newFolder()}`);
    const { service, madeFor } = given;
    await givenShop(service, 'Quay');
    await givenImage(service, 'Quay');
    await givenDomains(service, 'Quay', ['quay.example']);
    token = await givenToken(service, 'Quay');
    await service.call('POST', '/Quay/products', { token, body: { name: 'Rope', price: 5, visible: true } });
    backupId = await madeFor('Quay');
  });
  afterAll(() => given.service.close());

  const codeOf = ({ status, headers }: Answer) => [status, headers['x-error-code']];

  test('has everything but what belongs to one shop only, and an owner who is invited', async () => {
    const { service, restored, host } = given;
    const made = await restored({
      shopId: 'Quay2',
      backupId,
      owner: 'owner@quay.example',
      isSuspended: true,
    });
    expect(made).toMatchObject({ shopId: 'Quay2', state: 'done', errorCode: null, error: null });
    const { body: shop } = await host('GET', '/shops/Quay2');
    expect(shop).toMatchObject({ state: 'suspended', domain: null, plan: null });
    expect(shop.owners).toMatchObject([{ email: 'owner@quay.example', isInvited: true }]);
    const log = (await host('GET', '/log?shopId=Quay2')).body.items as { type: string; by: string }[];
    expect(log.map(({ type, by }) => [type, by])).toEqual([
      ['SHOP_CREATED', 'order system'],
      ['SHOP_OWNER_ADDED', 'order system'],
    ]);
    await host('POST', '/shops/Quay2/resume');
    expect(codeOf(await service.call('GET', '/Quay2/products', { token }))).toEqual([401, 'TOKEN_UNKNOWN']);
    expect((await service.call('GET', '/Quay/products', { token })).body.results).toBe(1);
    const own = await givenToken(service, 'Quay2');
    expect((await service.call('GET', '/Quay2/products', { token: own })).body.results).toBe(1);
  });

  test('is made once for an Idempotency-Key', async () => {
    const { host, restores } = given;
    const headers = { 'idempotency-key': 'restore-1' };
    const body = { shopId: 'Once', backupId };
    const [first, second] = [
      await host('POST', '/restores', { body, headers }),
      await host('POST', '/restores', { body, headers }),
    ];
    expect(second.body).toEqual(first.body);
    await runDueRestores(restores);
    expect((await host('POST', '/restores', { body, headers })).body).toEqual(first.body);
    expect((await host('GET', `/restores/${first.body.restoreId}`)).body.state).toBe('done');
  });

  test('is refused where it can not be made, and nothing changes', async () => {
    const { host, service } = given;
    const body = { shopId: 'New', backupId };
    const answers = await changesNothing(service, async () => [
      await host('POST', '/restores', { body: { ...body, shopId: 'Quay' } }),
      await host('POST', '/restores', { body: { ...body, shopId: 'QUAY' } }),
      await host('POST', '/restores', { body: { ...body, shopId: '../x' } }),
      await host('POST', '/restores', { body: { shopId: 'New' } }),
      await host('POST', '/restores', { body: { ...body, uploadId: newId(NOW) } }),
      await host('POST', '/restores', { body: { shopId: 'New', backupId: newId(NOW) } }),
      await host('POST', '/restores', { body: { shopId: 'New', backupId: 'x' } }),
      await host('POST', '/restores', { body: { shopId: 'New', uploadId: newId(NOW) } }),
      await host('POST', '/restores', { body: { ...body, plan: 'huge' } }),
      await host('POST', '/restores', { body: { ...body, owner: 'nobody' } }),
      await host('GET', `/restores/${newId(NOW)}`),
    ]);
    expect(answers.map(codeOf)).toEqual([
      [409, 'SHOP_ID_TAKEN'],
      [409, 'SHOP_ID_SIMILAR'],
      [400, 'WRONG_FORMAT'],
      [400, 'MISSING'],
      [400, 'UNKNOWN_VALUE'],
      [400, 'UNKNOWN_VALUE'],
      [400, 'UNKNOWN_VALUE'],
      [400, 'UNKNOWN_VALUE'],
      [400, 'PLAN_UNKNOWN'],
      [400, 'WRONG_FORMAT'],
      [404, 'NOT_FOUND'],
    ]);
    const twice = [
      await host('POST', '/restores', { body: { shopId: 'Twice', backupId } }),
      await host('POST', '/restores', { body: { shopId: 'Twice', backupId } }),
    ];
    expect(twice.map(codeOf)).toEqual([
      [201, undefined],
      [409, 'SHOP_ID_TAKEN'],
    ]);
    await runDueRestores(given.restores);
  });

  const send = (uploadId: string, part: number, content: Buffer) => {
    const { body, headers } = formOf({ name: 'part', filename: 'shop.backup', content });
    return given.host('PUT', `/uploads/${uploadId}/parts/${part}`, { body, headers });
  };

  const bytesOf = async (id: string) =>
    readFile(
      path.join(
        new URL(given.deps.config.BACKUP_URL!).pathname,
        (await findBackup(given.deps.db, id))!.place,
      ),
    );

  test('comes from a file that is sent in parts', async () => {
    const { service, restored } = given;
    const bytes = await bytesOf(backupId);
    const uploadId = newId(NOW);
    const middle = Math.floor(bytes.length / 2);
    expect((await send(uploadId, 2, bytes.subarray(middle))).status).toBe(204);
    const early = await given.host('POST', '/restores', { body: { shopId: 'Sent', uploadId } });
    expect(codeOf(early)).toEqual([400, 'UNKNOWN_VALUE']);
    expect((await send(uploadId, 1, bytes.subarray(0, 10))).status).toBe(204);
    expect((await send(uploadId, 1, bytes.subarray(0, middle))).status).toBe(204);
    expect((await restored({ shopId: 'Sent', uploadId })).state).toBe('done');
    expect(await findShop(service.db, 'Sent')).toBeDefined();
    expect(await service.db.one(sql`select from backup_part`)).toBeUndefined();
    for (let count = 0; count < 10; count++) {
      expect((await send(newId(new Date(NOW.getTime() + count)), 1, bytes.subarray(0, 10))).status).toBe(204);
    }
    const eleventh = await changesNothing(service, () => send(newId(NOW), 1, bytes.subarray(0, 10)));
    expect(codeOf(eleventh)).toEqual([409, 'TOO_MANY_UPLOADS']);
    expect((await send(newId(NOW), 501, bytes.subarray(0, 10))).status).toBe(400);
    expect((await send(newId(NOW), 1, Buffer.alloc(0))).status).toBe(400);
  });

  test('that was begun and never ended is removed after two days', async () => {
    const { db } = given.deps;
    await db.run(sql`delete from backup_part`);
    await db.run(sql`
      insert into backup_part (upload_id, part_number, sent_at, content)
      select ${newId(NOW)}, number, ${NOW}::timestamptz, 'x' from generate_series(1, 45) as number`);
    const sweep = async (days: number) => {
      given.service.setClock(new Date(NOW.getTime() + days * DAY));
      await db.run(sql`delete from cleanup where name = ${uploadCleanup.name}`);
      await runCleanup(db, [uploadCleanup], { log: given.service.app.log });
      return (await db.one<{ parts: number }>(sql`select count(*) as parts from backup_part`))!.parts;
    };
    expect([await sweep(1.9), await sweep(2.1)]).toEqual([45, 0]);
    given.service.setClock(NOW);
  });

  test('of a damaged file leaves nothing, wherever the damage is', async () => {
    const { service, restored } = given;
    const bytes = await bytesOf(backupId);
    const shops = await service.db.many(sql`select shop_id from shop order by shop_id`);
    for (const damaged of [
      Buffer.from('name: Quay\n'),
      bytes.subarray(0, bytes.length - 1),
      Buffer.concat([bytes.subarray(0, 2_000), Buffer.from('x'), bytes.subarray(2_001)]),
      randomBytes(100_000),
    ]) {
      const uploadId = newId(new Date());
      await send(uploadId, 1, damaged);
      const failed = await restored({ shopId: 'Broken', uploadId });
      expect(failed).toMatchObject({ state: 'failed', errorCode: 'DAMAGED' });
      expect(failed.error).toMatch(/^The backup is (damaged|no backup)/);
    }
    expect(await service.db.many(sql`select shop_id from shop order by shop_id`)).toEqual(shops);
    expect(await readdir(path.join(service.config.KONTOR_DATA, 'media'))).not.toContain('Broken');
    // The id is free again.
    expect((await restored({ shopId: 'Broken', backupId })).state).toBe('done');
  });

  test('is finished by another process when the first one ends in the middle', async () => {
    const { service, host, restores } = given;
    const { body } = await host('POST', '/restores', { body: { shopId: 'Killed', backupId } });
    // What kill -9 leaves: a lease that ends, files without rows, and the note about them.
    const media = openMediaStorage(service.config);
    await media.write('Killed', 'files', [{ file: 'left.png', bytes: PNG }]);
    await service.db.run(sql`
      update shop_restore
      set attempts = 1, has_files = true, holder = ${newId(NOW)}, leased_until = ${new Date(NOW.getTime() + MINUTE)}
      where shop = 'Killed'`);
    await runDueRestores(restores);
    const restoreOf = async () => (await host('GET', `/restores/${body.restoreId}`)).body;
    expect((await restoreOf()).state).toBe('waiting');
    service.setClock(new Date(NOW.getTime() + MINUTE));
    await Promise.all([runDueRestores(restores), runDueRestores(restores)]);
    service.setClock(NOW);
    expect((await restoreOf()).state).toBe('done');
    const names: string[] = [];
    for await (const { file } of media.files('Killed')) names.push(file);
    expect(names).not.toContain('left.png');
    expect(names.length).toBeGreaterThan(0);
  });

  test('does not take the files of others, and is given up after five attempts', async () => {
    const { service, host, restores, restored } = given;
    const media = openMediaStorage(service.config);
    await media.write('Foreign', 'files', [{ file: 'own.png', bytes: PNG }]);
    expect(await restored({ shopId: 'Foreign', backupId })).toMatchObject({
      state: 'failed',
      errorCode: 'FILES_IN_THE_WAY',
    });
    expect(await media.find({ shopId: 'Foreign', folder: 'files', file: 'own.png' })).toBeDefined();
    const { body } = await host('POST', '/restores', { body: { shopId: 'Hopeless', backupId } });
    await service.db.run(sql`update shop_restore set attempts = 5 where shop = 'Hopeless'`);
    await runDueRestores(restores);
    expect((await host('GET', `/restores/${body.restoreId}`)).body).toMatchObject({
      state: 'failed',
      errorCode: 'ERROR',
    });
    expect(await findShop(service.db, 'Hopeless')).toBeUndefined();
  });

  test('under its own id has its tokens and domains again, but none that another shop has meanwhile', async () => {
    const { service, at, deps, restored, listOf } = given;
    const before = await rowsOf(service, 'Quay');
    const { place } = (await findBackup(deps.db, backupId))!;
    await service.db.transaction((tx) => deleteShop(tx, 'Quay'));
    await openMediaStorage(service.config).removeShop('Quay');
    await givenShop(service, 'Thief');
    await givenDomains(service, 'Thief', ['quay.example']);
    expect(await restored({ shopId: 'Quay', backupId })).toMatchObject({
      state: 'failed',
      errorCode: 'DOMAIN_TAKEN',
    });
    expect(await findShop(service.db, 'Quay')).toBeUndefined();
    await service.db.transaction((tx) => deleteShop(tx, 'Thief'));
    // The backups of a deleted shop are still there.
    await at(new Date(NOW.getTime() + DAY));
    expect(statesOf(await listOf('Quay'))).toEqual(['done']);
    service.setClock(NOW);
    expect((await restored({ shopId: 'Quay', backupId })).state).toBe('done');
    const after = await rowsOf(service, 'Quay');
    expect(after['product']).toEqual(before['product']);
    expect(after['token']).toEqual(before['token']);
    expect((await service.call('GET', '/Quay/products', { token })).body.results).toBe(1);

    await service.db.transaction((tx) => deleteShop(tx, 'Quay'));
    await at(new Date(NOW.getTime() + 2 * DAY));
    await at(new Date(NOW.getTime() + 31 * DAY));
    expect(statesOf(await listOf('Quay'))).toEqual(['done']);
    await at(new Date(NOW.getTime() + 33 * DAY));
    expect((await given.host('GET', '/shops/Quay/backups')).headers['x-error-code']).toBe('SHOP_NOT_FOUND');
    expect(await deps.store.read(place, 1)).toBeUndefined();
  });
});

test('without a store there are no backups, and files that are sent are restored all the same', async () => {
  const service = await startService();
  await givenShop(service, 'Tea');
  const token = await service.db.transaction((tx) => createHostToken(tx, { name: 'x', scopes: HOST_SCOPES }));
  const refused = await changesNothing(service, () =>
    service.call('POST', '/host/shops/Tea/backups', { token }),
  );
  expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'BACKUPS_OFF']);
  const { body } = await service.call('GET', '/host/shops/Tea/backups', { token });
  expect(body).toEqual({ goodAt: null, nextAt: null, error: null, items: [] });
  await service.close();
});
