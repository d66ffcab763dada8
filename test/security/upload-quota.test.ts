import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { loadSharp } from '../../src/platform/media/store-image.ts';
import { changesNothing, reasonOf } from '../carts.ts';
import { givenShop, givenToken } from '../builders.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { givenPlainProduct, PNG, sendImage } from '../upload.ts';

/** One shop must not fill the disk that all shops share: its images have so many megabytes, and no more. */

let service: Service;
let noise: Buffer;
beforeAll(async () => {
  service = await startService({ MEDIA_QUOTA_MB: '1', RATE_LIMIT: '0' });
  // Random pixels can't be compressed: about 300 kB.
  const sharp = await loadSharp();
  const pixels = Buffer.alloc(300 * 300 * 3);
  for (let at = 0, seed = 1; at < pixels.length; at++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    pixels[at] = seed >> 16;
  }
  noise = await sharp(pixels, { raw: { width: 300, height: 300, channels: 3 } })
    .png()
    .toBuffer();
});
afterAll(() => service.close());

interface Shop {
  shopId: string;
  token: string;
  productId: string;
}

async function givenMediaShop(shopId: string): Promise<Shop> {
  await givenShop(service, shopId);
  return {
    shopId,
    token: await givenToken(service, shopId),
    productId: await givenPlainProduct(service, shopId),
  };
}

const upload = (
  { shopId, token, productId }: Shop,
  name: string,
  image = noise,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  sendImage(service, `/${shopId}/products/${productId}/slideshow`, name, image, { token, headers });

const remove = ({ shopId, token, productId }: Shop, name = '') =>
  service.call('DELETE', `/${shopId}/products/${productId}${name === '' ? '' : `/slideshow/${name}`}`, {
    token,
  });

const counted = async ({ shopId }: Shop) =>
  (await service.db.one<{ value: number }>(sql`
    select value from counter where shop_id = ${shopId} and name = 'mediaBytes'`))!.value;

/** What the rows say, and what lies on the disk. */
const stored = async ({ shopId }: Shop) =>
  (await service.db.one<{ bytes: number }>(sql`
    select coalesce(sum((size.value ->> 'bytes')::bigint), 0)::bigint as bytes
    from product_image cross join lateral jsonb_each(sizes) as size
    where shop_id = ${shopId} and jsonb_typeof(size.value) = 'object'`))!.bytes;

const folders = async ({ shopId }: Shop) =>
  (await readdir(path.join(service.config.KONTOR_DATA, 'media', shopId)).catch(() => [])).length;

const FULL = [413, 'The images of the shop would take more than 1 MB, delete some first'];

test('an image that does not fit is refused and leaves nothing; deleting another one makes space', async () => {
  const shop = await givenMediaShop('Filling');
  const other = await givenMediaShop('Beside');
  const names: string[] = [];
  let last: Answer;
  while ((last = await upload(shop, `noise-${names.length}.png`)).status === 201) {
    names.push(`noise-${names.length}.png`);
    expect(await counted(shop)).toBe(await stored(shop));
  }
  expect(await reasonOf(Promise.resolve(last))).toEqual(FULL);
  expect(names.length).toBeGreaterThan(1);
  expect(await folders(shop)).toBe(names.length);
  expect(await changesNothing(service, () => reasonOf(upload(shop, 'again.png')))).toEqual(FULL);
  // An image that is small enough still fits, and another shop has a quota of its own.
  expect((await upload(shop, 'small.png', PNG)).status).toBe(201);
  expect((await upload(other, 'noise.png')).status).toBe(201);
  expect((await remove(shop, names[0])).status).toBe(204);
  expect(await counted(shop)).toBe(await stored(shop));
  expect((await upload(shop, 'again.png')).status).toBe(201);
});

test('many at the same moment do not pass the quota, and a key that is sent again counts once', async () => {
  const shop = await givenMediaShop('Racing');
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => upload(shop, `noise-${index}.png`)),
  );
  const taken = answers.filter(({ status }) => status === 201).length;
  expect(answers.filter(({ status }) => status === 413)).toHaveLength(8 - taken);
  expect(await counted(shop)).toBe(await stored(shop));
  expect(await counted(shop)).toBeLessThanOrEqual(1_048_576);
  expect(await folders(shop)).toBe(taken);

  expect((await remove(shop)).status).toBe(204);
  expect(await counted(shop)).toBe(0);
  shop.productId = await givenPlainProduct(service, shop.shopId);
  const key = { 'idempotency-key': 'one' };
  expect((await upload(shop, 'noise.png', noise, key)).status).toBe(201);
  expect((await upload(shop, 'noise.png', noise, key)).headers['idempotency-replayed']).toBe('true');
  expect([await counted(shop), await folders(shop)]).toEqual([await stored(shop), 1]);
});

test('without a quota anything fits', async () => {
  const open = await startService({ MEDIA_QUOTA_MB: '0', RATE_LIMIT: '0' }, service);
  try {
    const shop = await givenMediaShop('Open');
    const names = ['1.png', '2.png', '3.png', '4.png', '5.png'];
    for (const name of names) {
      const sent = sendImage(open, `/Open/products/${shop.productId}/slideshow`, name, noise, {
        token: shop.token,
      });
      expect((await sent).status).toBe(201);
    }
    expect(await counted(shop)).toBeGreaterThan(1_048_576);
  } finally {
    await open.close();
  }
});
