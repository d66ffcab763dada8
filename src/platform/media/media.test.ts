import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { putFile, setAge, storedFolders } from '../../../test/media-files.ts';
import { mediaServer, startService, type Service } from '../../../test/service.ts';
import { givenPlainProduct, PNG, sendImage } from '../../../test/upload.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { openMediaStorage } from './open-storage.ts';
import { storeImage } from './store-image.ts';
import { mediaCleanup } from './sweep.ts';

let service: Service;
let media: string;
let token: string;

beforeAll(async () => {
  service = await startService();
  media = path.join(service.config.KONTOR_DATA, 'media');
  await givenShop(service, 'Shop');
  token = await givenToken(service, 'Shop');
});

afterAll(() => service.close());

describe('an image is served', () => {
  let address: string;
  let size: number;

  const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    service.app.inject({ method, url: address, headers });

  beforeAll(async () => {
    const { imageKey, sizes } = await storeImage(openMediaStorage(service.config), 'Shop', PNG, 'dot.png');
    address = `/media/Shop/${imageKey}/${sizes.Large!.file}`;
    size = sizes.Large!.bytes;
  });

  test('to anybody, for ever, as what it is', async () => {
    const { statusCode, headers, rawPayload } = await get();
    expect([statusCode, rawPayload.length]).toEqual([200, size]);
    expect(rawPayload.subarray(1, 4).toString()).toBe('PNG');
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(size),
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^(W\/)?"[^"]+"$/),
      'last-modified': expect.stringMatching(/ GMT$/),
    });
  });

  test.each([
    ['gif', 'image/gif'],
    ['jpg', 'image/jpeg'],
    ['jpeg', 'image/jpeg'],
    ['ico', 'image/x-icon'],
  ])('.%s is %s', async (extension, type) => {
    const name = `Shop/${newId(new Date())}/x.${extension}`;
    await putFile(service, name, '<script>');
    const { statusCode, headers } = await service.app.inject(`/media/${name}`);
    expect([statusCode, headers['content-type']]).toEqual([200, type]);
  });

  test('HEAD has the headers only', async () => {
    const { statusCode, headers, body } = await get({}, 'HEAD');
    expect([statusCode, body, headers['content-length']]).toEqual([200, '', String(size)]);
    expect(headers['content-type']).toBe('image/png');
  });

  test('304 to who has it', async () => {
    const { headers } = await get();
    for (const known of [
      { 'if-none-match': String(headers.etag) },
      { 'if-modified-since': String(headers['last-modified']) },
    ]) {
      const answer = await get(known);
      expect([answer.statusCode, answer.body]).toEqual([304, '']);
    }
  });

  test('in parts', async () => {
    const part = await get({ range: 'bytes=1-3' });
    expect([part.statusCode, part.body, part.headers['content-range']]).toEqual([
      206,
      'PNG',
      `bytes 1-3/${size}`,
    ]);
    const beyond = await get({ range: 'bytes=999999-' });
    expect([beyond.statusCode, beyond.headers['content-range']]).toEqual([416, `bytes */${size}`]);
    expect(beyond.headers['content-type']).toBe('text/plain');
    expect(beyond.headers['cache-control']).toBeUndefined();
    const failed = await get({ 'if-match': '"other"' });
    expect(failed.statusCode).toBe(412);
  });

  /** Sends the path as it is: clients that mean well tidy it up first. */
  const raw = (place: string) =>
    new Promise<{ status: number; text: string; headers: http.IncomingHttpHeaders }>((resolve, reject) => {
      const { port } = service.app.server.address() as AddressInfo;
      http
        .get({ port, path: place, agent: false }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () =>
            resolve({ status: response.statusCode!, text, headers: response.headers }),
          );
        })
        .on('error', reject);
    });

  test('nothing else is', async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const secret = path.join(service.config.KONTOR_DATA, 'secret.png');
    await writeFile(secret, 'not for you');
    const key = address.split('/')[3]!;
    const linked = newId(new Date());
    await putFile(service, `Shop/${linked}/page.html`, 'not for you');
    await putFile(service, `Shop/${linked}/.hidden.png`, 'not for you');
    // Only a folder can hold these.
    if (!mediaServer.s3) {
      await symlink(secret, path.join(media, 'Shop', linked, 'link.png'));
      await mkdir(path.join(media, 'Shop', linked, 'folder.png'));
    }
    for (const place of [
      `Shop/${key}/other.png`,
      `Other/${key}/dot.png`,
      `shop/${key}/dot.png`,
      `Shop/${key.toLowerCase()}/dot.png`,
      `Shop/${newId(new Date())}/dot.png`,
      `Shop/${linked}/link.png`,
      `Shop/${linked}/page.html`,
      `Shop/${linked}/.hidden.png`,
      `Shop/${linked}/folder.png`,
      `Shop/${key}/..%2f..%2f..%2fsecret.png`,
      `Shop/${key}/..%5c..%5c..%5csecret.png`,
      `Shop/${key}/%2e%2e%2fdot.png`,
      `Shop/%2e%2e/secret.png`,
      `%2e%2e/%2e%2e/secret.png`,
      `Shop/..%2f..%2f../secret.png`,
      `..%2f/x/secret.png`,
      `Shop/${key}/%2fetc%2fpasswd`,
      `Shop/${key}/dot.png%00`,
      `Shop/${key}/%00`,
      `Shop/${key}/dot.png%0a`,
      `.uploads/${key}/dot.png`,
      `Shop/${key}/${'x'.repeat(5_000)}.png`,
      '../secret.png',
      `Shop/${key}/../../../secret.png`,
      `Shop/${key}/..`,
      `Shop/${key}/`,
      `Shop/${key}`,
      'Shop',
      '/etc/passwd',
    ]) {
      const { status, text, headers } = await raw(`/media/${place}`);
      expect([place, status]).toEqual([place, 404]);
      expect(text).not.toContain('not for you');
      expect(headers['cache-control'] ?? 'no-cache').not.toContain('immutable');
    }
    const unknown = await service.app.inject(`/media/Shop/${key}/other.png`);
    expect([unknown.body, unknown.headers['content-type']]).toEqual(['No such image', 'text/plain']);
  });
});

test('the files of a shop are listed, and what is none of ours is left out', async () => {
  const media = openMediaStorage(service.config);
  const folder = newId(new Date());
  await media.write('Listed', folder, [{ file: 'a.png', bytes: PNG }]);
  await media.write('Listed', 'files', [
    { file: 'logo.png', bytes: PNG },
    { file: 'sheet.pdf', bytes: PNG },
  ]);
  await media.write('Listed2', folder, [{ file: 'a.png', bytes: PNG }]);
  await putFile(service, `Listed/${folder}/page.html`, 'x');
  await putFile(service, 'Listed/notes/a.png', 'x');
  const names = [];
  for await (const name of media.files('Listed')) names.push(Object.values(name).join('/'));
  expect(names.toSorted()).toEqual([
    `Listed/${folder}/a.png`,
    'Listed/files/logo.png',
    'Listed/files/sheet.pdf',
  ]);
});

describe('the sweep', () => {
  const OLD = new Date(Date.now() - 2 * 3_600_000);

  /** A folder as an upload leaves it. */
  async function givenFolder(
    shopId: string,
    { isOld = true, key = newId(new Date()) } = {},
  ): Promise<string> {
    await putFile(service, `${shopId}/${key}/x.png`, 'x');
    if (isOld) await setAge(service, `${shopId}/${key}`, OLD);
    return key;
  }

  const folders = (shopId: string) => storedFolders(service, shopId);
  /** All steps of one clean-up; returns how many there were. */
  async function sweep(
    { db, config }: Pick<Service, 'db' | 'config'> = service,
    rows = 500,
  ): Promise<number> {
    const step = mediaCleanup(openMediaStorage(config), { config, log: pino({ level: 'silent' }) });
    for (let steps = 1; ; steps++) if ((await step.run(db, rows)) < rows) return steps;
  }

  beforeEach(() => openMediaStorage(service.config).removeShop('Shop'));

  test('removes folders that no row names and that are an hour old, and no others', async () => {
    const productId = await givenPlainProduct(service, 'Shop');
    await sendImage(service, `/Shop/products/${productId}/slideshow`, 'a.png', PNG, { token });
    const [named] = await folders('Shop');
    await setAge(service, `Shop/${named}`, OLD);
    const ofCategory = await givenFolder('Shop');
    await service.db.run(
      sql`update category set image_key = ${ofCategory}, image_sizes = '{}' where shop_id = 'Shop'`,
    );
    // One is the logo, the other was it and can be restored.
    const [logo, formerLogo] = [await givenFolder('Shop'), await givenFolder('Shop')];
    const logoUrl = (key: string) => JSON.stringify({ logoUrl: `/media/Shop/${key}/x.png` });
    await service.db.run(sql`
      update shop set settings = settings || ${logoUrl(logo)}::jsonb where shop_id = 'Shop'`);
    await service.db.run(sql`
      insert into settings_version (shop_id, version_id, changes, file)
      values ('Shop', ${newId(new Date())}, '[]', ${logoUrl(formerLogo)}::json)`);
    // The same of the front page, and a picture that only the media library shows.
    const [cover, formerCover, uploaded] = [
      await givenFolder('Shop'),
      await givenFolder('Shop'),
      await givenFolder('Shop'),
    ];
    const home = (key: string) => JSON.stringify({ home: { picture: `/media/Shop/${key}/x.png` } });
    await service.db.run(sql`
      update shop set settings = settings || ${home(cover)}::jsonb where shop_id = 'Shop'`);
    await service.db.run(sql`
      insert into settings_version (shop_id, version_id, changes, file)
      values ('Shop', ${newId(new Date())}, '[]', ${home(formerCover)}::json)`);
    await service.db.run(sql`
      insert into library_image (shop_id, image_key, name, sizes, created_at)
      values ('Shop', ${uploaded}, 'x.png', '{}', ${new Date()})`);
    // A former version of a page can be restored, too.
    const ofPage = await givenFolder('Shop');
    const pageId = newId(new Date());
    await service.db.run(sql`
      insert into page (shop_id, page_id, kind, version, created_at, changed_at)
      values ('Shop', ${pageId}, 'home', 2, now(), now())`);
    await service.db.run(sql`
      insert into page_version (shop_id, page_id, version, saved_at, author, content, image_keys)
      values ('Shop', ${pageId}, 1, now(), '', '{}', array[${ofPage}::uuid])`);
    const fresh = await givenFolder('Shop', { isOld: false });
    await givenFolder('Shop');
    // The key is named, but in another shop.
    await givenShop(service, 'Second');
    await givenFolder('Second', { key: named! });
    const unknown = await givenFolder('Unknown');
    await putFile(service, 'Shop/notes/x.png', 'x');
    await setAge(service, 'Shop/notes', OLD);

    await sweep();
    expect(new Set(await folders('Shop'))).toEqual(
      new Set([named, ofCategory, logo, formerLogo, cover, formerCover, uploaded, ofPage, fresh, 'notes']),
    );
    expect(await folders('Second')).toEqual([]);
    expect(await folders('Unknown')).toEqual([unknown]);
    const { items } = (await service.call('GET', `/Shop/products/${productId}/slideshow`, { token })).body;
    const image = await service.app.inject(new URL(items[0].sizes[0].url).pathname);
    expect(image.statusCode).toBe(200);
  });

  test('removes uploads that were given up', async () => {
    const uploads = path.join(media, '.uploads');
    await mkdir(uploads, { recursive: true });
    await writeFile(path.join(uploads, 'old'), 'x');
    await utimes(path.join(uploads, 'old'), OLD, OLD);
    await writeFile(path.join(uploads, 'new'), 'x');
    await sweep();
    expect(await readdir(uploads)).toEqual(['new']);
  });

  test('asks in batches, however many there are', async () => {
    const kept = await givenFolder('Shop');
    await service.db.run(sql`update category set image_key = ${kept} where shop_id = 'Shop'`);
    for (let index = 0; index < 120; index++) await givenFolder('Shop');
    const statements: string[] = [];
    const counted = {
      ...service.db,
      many: (query: never) => (statements.push('one'), service.db.many(query)),
    };
    expect(await sweep({ ...service, db: counted as never }, 50)).toBe(3);
    expect(await folders('Shop')).toEqual([kept]);
    // One more than there are batches, because one of them has folders of two shops.
    expect(statements).toHaveLength(4);
  });

  test('of a folder that is not there does nothing', async () => {
    const config = { ...service.config, KONTOR_DATA: path.join(service.config.KONTOR_DATA, 'nowhere') };
    await sweep({ ...service, config });
    expect(await readdir(service.config.KONTOR_DATA)).not.toContain('nowhere');
  });
});
