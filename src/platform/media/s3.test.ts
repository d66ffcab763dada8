import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { fingerprint } from '../../../test/demo.ts';
import { prefixOf, putFile, storedFiles } from '../../../test/media-files.ts';
import { startS3Server } from '../../../test/s3-server.ts';
import { ofTheDay } from '../../../test/seed.ts';
import { mediaServer, startService, type Service } from '../../../test/service.ts';
import { givenPlainProduct, PNG, sendImage } from '../../../test/upload.ts';
import { openMediaStorage } from './open-storage.ts';
import { openS3Storage } from './s3-storage.ts';

/** Tests of images once more, with their files in an S3 store: the answers must be the same. Every second day has a file. */
const s3 = await startS3Server();
mediaServer.s3 = s3;

// Other test files run in the same process.
afterAll(async () => {
  mediaServer.s3 = undefined;
  await s3.stop();
});

const FILES = [['./media.test.ts'], [], ['../../catalogue/products/slideshow.test.ts'], []];

describe.each(ofTheDay(FILES, 1).flat())('%s', async (file) => {
  const address = new URL(`${file}?s3`, import.meta.url).href;
  await import(address);
});

const FOLDER = '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E';

describe('the store', () => {
  let service: Service;
  let token: string;
  let slideshow: string;

  beforeAll(async () => {
    service = await startService();
    await givenShop(service, 'Shop');
    token = await givenToken(service, 'Shop');
    slideshow = `/Shop/products/${await givenPlainProduct(service, 'Shop')}/slideshow`;
  });
  afterAll(() => service.close());
  afterEach(() => {
    s3.failNext(0);
    s3.setSilent(false);
  });

  const upload = (name: string, at = service) => sendImage(at, slideshow, name, PNG, { token });

  test('holds the names that a folder has, below its prefix, with their types', async () => {
    const { body } = await upload('lamp.png');
    const names = body.sizes.map(({ url }: { url: string }) => new URL(url).pathname.slice('/media/'.length));
    expect(await storedFiles(service)).toEqual(names.toSorted());
    expect(new Set(names.map((name: string) => s3.objects.get(prefixOf(service) + name)?.type))).toEqual(
      new Set(['image/png']),
    );
  });

  test('is asked for the part of a file that the client asked for', async () => {
    const { body } = await upload('part.png');
    const { pathname } = new URL(body.sizes[0].url);
    s3.requests.length = 0;
    const part = await service.app.inject({ url: pathname, headers: { range: 'bytes=1-3' } });
    expect([part.statusCode, part.body]).toEqual([206, 'PNG']);
    const key = prefixOf(service) + pathname.slice('/media/'.length);
    expect(s3.requests).toEqual([`HEAD ${key}`, `GET ${key}`]);
    // Neither who has it already nor HEAD makes the store send it.
    const { etag } = part.headers;
    await service.app.inject({ url: pathname, headers: { 'if-none-match': String(etag) } });
    await service.app.inject({ method: 'HEAD', url: pathname });
    expect(s3.requests.slice(2)).toEqual([`HEAD ${key}`, `HEAD ${key}`]);
  });

  test('has no problem when it can be used', async () => {
    expect(await openMediaStorage(service.config).problem()).toBeUndefined();
  });

  test('is asked again when it is busy', async () => {
    s3.failNext(2);
    expect((await upload('busy.png')).status).toBe(201);
  });

  test('that is away is a 503, and nothing is written', async () => {
    const { body } = await upload('before.png');
    const { pathname } = new URL(body.sizes[0].url);
    const before = [await fingerprint(service), await storedFiles(service)];
    // More often than the client tries.
    s3.failNext(1_000);
    const refused = await upload('away.png');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2']);
    expect(refused.body.message).toMatch(
      /^The store of images can not be reached, try again soon, Request: POST /,
    );
    const image = await service.app.inject(pathname);
    expect([image.statusCode, image.headers['cache-control']]).toEqual([503, undefined]);
    s3.failNext(0);
    expect([await fingerprint(service), await storedFiles(service)]).toEqual(before);
    expect((await service.app.inject(pathname)).statusCode).toBe(200);
  });

  test('that is away does not keep an image from being deleted', async () => {
    await upload('gone.png');
    s3.failNext(1_000);
    const { status } = await service.call('DELETE', `${slideshow}/gone.png`, { token });
    s3.failNext(0);
    expect(status).toBe(204);
    const { body } = await service.call('GET', `${slideshow}/sequence`, { token });
    expect(body).not.toContain('gone.png');
  });

  test.each([
    ['another key', { AWS_SECRET_ACCESS_KEY: 'another' }, undefined],
    ['another region', {}, (url: string) => url.replace(/region=[a-z0-9-]+/, 'region=elsewhere')],
    ['another bucket', {}, (url: string) => url.replace('s3://', 's3://other-')],
    ['a port where nobody listens', {}, (url: string) => url.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1')],
  ])('that refuses us, because of %s, is a 503', async (_reason, environment, change) => {
    const kept = { ...process.env };
    Object.assign(process.env, environment);
    const url = s3.urlOf('refused');
    const media = openMediaStorage({ ...service.config, MEDIA_URL: change?.(url) ?? url });
    try {
      await expect(media.write('Shop', FOLDER, [{ file: 'a.png', bytes: PNG }])).rejects.toMatchObject({
        status: 503,
      });
      // What the service says at its start.
      expect(await media.problem()).toMatch(/^the bucket [a-z0-9-]+ can't be used: ./);
    } finally {
      process.env = kept;
    }
    expect([...s3.objects.keys()].filter((key) => key.startsWith('refused'))).toEqual([]);
  });

  test('that never answers is given up', async () => {
    s3.setSilent(true);
    const name = { shopId: 'Shop', folder: FOLDER, file: 'a.png' };
    const media = openS3Storage(s3.urlOf('silent'), 200);
    await expect(media.find(name)).rejects.toMatchObject({ status: 503 });
    await expect(media.read(name)).rejects.toMatchObject({ status: 503 });
  });

  test('is listed page by page', async () => {
    for (let index = 0; index < 1_100; index++) await putFile(service, `Big/${FOLDER}/x${index}.png`, 'x');
    s3.requests.length = 0;
    let count = 0;
    for await (const _ of openMediaStorage(service.config).files('Big')) count++;
    expect([count, s3.requests]).toEqual([
      1_100,
      [`LIST ${prefixOf(service)}Big/`, `LIST ${prefixOf(service)}Big/`],
    ]);
  });

  test('forgets a shop that is deleted, and no other whose name begins alike', async () => {
    for (let index = 0; index < 25; index++) await putFile(service, `Old/${FOLDER}/x${index}.png`, 'x');
    await putFile(service, `Old2/${FOLDER}/x0.png`, 'x');
    await openMediaStorage(service.config).removeShop('Old');
    expect((await storedFiles(service)).filter((name) => name.startsWith('Old'))).toEqual([
      `Old2/${FOLDER}/x0.png`,
    ]);
  });
});
