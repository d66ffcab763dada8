import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { expectRefusal, fingerprint } from '../../../test/demo.ts';
import { storedFiles } from '../../../test/media-files.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../../test/service.ts';
import { formOf, givenPlainProduct, PNG, sendImage } from '../../../test/upload.ts';
import type { ShopDatabase } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { UPLOAD_LIMIT } from '../../http/upload.ts';

const CLASSES = ['Thumbnail', 'Small', 'HotDeal', 'MediumSmall', 'Medium', 'MediumLarge', 'Large'];

let service: Service;
let token: string;
let productId: string;
let slideshow: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Shop');
  token = await givenToken(service, 'Shop');
});

afterAll(() => service.close());

beforeEach(async () => {
  productId = await givenPlainProduct(service, 'Shop');
  slideshow = `/Shop/products/${productId}/slideshow`;
});

const upload = (filename: string, content: Buffer | string = PNG, options: CallOptions = {}) =>
  sendImage(service, slideshow, filename, content, { token, ...options });

const read = async (place = slideshow) => {
  const { status, body } = await service.call('GET', place, { token });
  expect(status).toBe(200);
  return body;
};
const sequence = () => read(`${slideshow}/sequence`);

function facts(id = productId) {
  return service.db.one<{ mainImage: string | null; version: number; changedAt: Date | null }>(sql`
    select main_image as "mainImage", version, attributes_changed_at as "changedAt"
    from product where shop_id = 'Shop' and product_id = ${id}`);
}

async function mainImage() {
  return (await facts())!.mainImage;
}

/** Everything that is stored, so that nothing is forgotten there. */
const files = () => storedFiles(service);

/** The text of a refusal, after which the database and the disk are as before. */
async function refused(status: number, work: () => Promise<Answer>, method = 'POST', place = slideshow) {
  const before = [await fingerprint(service), await files()];
  const answer = await work();
  expect(answer.status).toBe(status);
  expectRefusal(answer, method, `/rs/shops${place}`);
  expect([await fingerprint(service), await files()]).toEqual(before);
  return (answer.body.message as string).replace(`, Request: ${method} /rs/shops${place}`, '');
}

describe('an upload', () => {
  test('answers the image in all sizes, and the slideshow shows it', async () => {
    const bytes = await sharp({ create: { width: 640, height: 480, channels: 3, background: 'navy' } })
      .jpeg()
      .toBuffer();
    const { status, body, headers } = await upload('Sea View.JPG', bytes);
    expect([status, headers['content-type']]).toEqual([201, 'application/json']);
    expect(Object.keys(body)).toEqual(['name', 'sizes']);
    expect(body.name).toBe('Sea View.JPG');
    expect(body.sizes.map((size: { classifier: string }) => size.classifier)).toEqual(CLASSES);
    for (const size of body.sizes) {
      expect(Object.keys(size)).toEqual(['url', 'classifier', 'isZoomEnabled']);
      expect(size.isZoomEnabled).toBe(false);
      expect(size.url).toMatch(
        /^http:\/\/localhost:80\/media\/Shop\/[0-9A-F-]{36}\/Sea-View(_xs|_s|_h|_ms|_m|_ml)?\.jpg$/,
      );
      const file = await service.app.inject(new URL(size.url).pathname);
      expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'image/jpeg']);
    }
    const [thumbnail] = body.sizes;
    const file = await service.app.inject(new URL(thumbnail.url).pathname);
    expect(await sharp(file.rawPayload).metadata()).toMatchObject({ width: 50, height: 38 });
    expect(await read()).toEqual({ items: [body] });
    expect(await sequence()).toEqual(['Sea View.JPG']);
  });

  test('a size that does not exist has no address', async () => {
    await upload('a.png');
    await service.db.run(sql`
      update product_image set sizes = jsonb_set(sizes, '{MediumSmall}', 'null')
      where shop_id = 'Shop' and product_id = ${productId}`);
    const { items } = await read();
    expect(items[0].sizes[3]).toEqual({ url: null, classifier: 'MediumSmall', isZoomEnabled: false });
  });

  test('the first uploaded image becomes the main image', async () => {
    expect(await mainImage()).toBeNull();
    await upload('first.png');
    expect(await mainImage()).toBe('first.png');
    await upload('second.png');
    expect(await mainImage()).toBe('first.png');
    expect(await sequence()).toEqual(['first.png', 'second.png']);
  });

  test('shows in the product: its version moves, in the same transaction', async () => {
    const now = new Date('2026-11-15T08:30:00.000Z');
    service.setClock(now);
    await upload('a.png');
    service.setClock(undefined);
    expect(await facts()).toEqual({ mainImage: 'a.png', version: 2, changedAt: now });
  });

  test('a name that is taken is refused, and the image stays what it was', async () => {
    await upload('lamp.png');
    const other = await sharp(PNG).resize(20).png().toBuffer();
    const before = await read();
    expect(await refused(400, () => upload('lamp.png', other))).toBe(
      'The product has an image of this name; delete it first',
    );
    expect(await read()).toEqual(before);
    // In another product, and in other letters, it is another image.
    expect((await upload('Lamp.png')).status).toBe(201);
    const elsewhere = await givenPlainProduct(service, 'Shop');
    const answer = await sendImage(service, `/Shop/products/${elsewhere}/slideshow`, 'lamp.png', PNG, {
      token,
    });
    expect(answer.status).toBe(201);
  });

  test('of the same name many times at once: one is taken, nothing is left of the others', async () => {
    const before = await files();
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload('same.png')));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(7);
    expect(await sequence()).toEqual(['same.png']);
    expect(await files()).toHaveLength(before.length + 7);
  });

  test('of many images at once: each has its place', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `image-${index}.png`);
    const answers = await Promise.all(names.map((name) => upload(name)));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    expect((await sequence()).toSorted()).toEqual(names);
    const { rows } = await service.db.pool.query(
      'select position from product_image where product_id = $1 order by position',
      [productId],
    );
    expect(rows.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await mainImage()).toBe((await sequence())[0]);
  });

  test('other extensions are refused', async () => {
    for (const name of ['x.svg', 'x.webp', 'x', 'x.png.html', '.png', 'x.bmp', 'x.tiff']) {
      expect(await refused(400, () => upload(name))).toBe(
        'The name of an image must end with .png, .jpg, .jpeg, .gif or .ico',
      );
    }
    for (const name of ['x.jpg', 'x.jpeg', 'x.gif', 'x.ico']) {
      expect(await refused(400, () => upload(name))).toMatch(/^The file is no (JPEG|GIF|ICO) image/);
    }
    expect(await refused(400, () => upload('x.png', '<svg xmlns="http://www.w3.org/2000/svg"/>'))).toBe(
      'The file is no PNG image, but its name says so',
    );
    expect(await refused(400, () => upload('x.png', PNG.subarray(0, 60)))).toBe(
      'The image is damaged or cut off',
    );
    expect((await upload('UPPER.PNG')).body.name).toBe('UPPER.PNG');
  });

  test.each([
    ['../../../../tmp/evil.png', 'evil.png'],
    ['/etc/evil.png', 'evil.png'],
    ['..\\..\\evil.png', 'evil.png'],
    ['C:\\Users\\me\\evil.png', 'evil.png'],
    ['%2e%2e%2fevil.png', '%2e%2e%2fevil.png'],
    ['Möwe 灯.png', 'Möwe 灯.png'],
  ])('of %s is called %s, and lies in the folder of media', async (filename, name) => {
    const { status, body } = await upload(filename);
    expect([status, body.name]).toEqual([201, name]);
    const before = await files();
    for (const { url } of body.sizes) expect(url).toMatch(/\/[0-9A-F-]{36}\/[A-Za-z0-9_-]+\.png$/);
    expect(before.every((file) => /^Shop\/[0-9A-F-]{36}\/[A-Za-z0-9_-]+\.\w+$/.test(file))).toBe(true);
    const place = `${slideshow}/${encodeURIComponent(name)}`;
    expect((await service.call('DELETE', place, { token })).status).toBe(204);
    expect(await files()).toHaveLength(before.length - 7);
  });

  test.each(['..', '.', '', 'a\0b.png', 'a\tb.png', `${'x'.repeat(117)}.png`, '../..', 'x/'])(
    'of the name %j is refused',
    async (filename) => {
      expect(await refused(400, () => upload(filename))).toMatch(
        /^The (name of an image|part image has no) /,
      );
    },
  );

  test('in a form with more: the part needs no type, other parts are ignored', async () => {
    const { body, headers } = formOf(
      { name: 'comment', content: 'hello' },
      { name: 'other', filename: 'other.png', content: 'no image' },
      { filename: 'a.png', head: ['Content-Type: text/html'], content: PNG },
      { name: 'data', head: ['Content-Type: application/json'], content: '{"a":1}' },
    );
    const answer = await service.call('POST', slideshow, { token, body, headers });
    expect([answer.status, answer.body.name]).toEqual([201, 'a.png']);
    const before = await files();
    expect(before.filter((file) => file.includes('.uploads'))).toEqual([]);
  });

  test.each([
    [
      'without the part',
      formOf({ name: 'file', filename: 'a.png', content: PNG }),
      'The body has no part image with a file',
    ],
    ['without a part', formOf(), /^The body (has no part image|is not a valid form)/],
    [
      'with two of them',
      formOf({ filename: 'a.png', content: PNG }, { filename: 'b.png', content: PNG }),
      'There must be one part image only',
    ],
    ['without a filename', formOf({ content: PNG }), 'The part image has no filename'],
    [
      'as bytes without a filename',
      formOf({ head: ['Content-Type: application/octet-stream'], content: PNG }),
      'The part image has no filename',
    ],
    ['with text in its place', formOf({ content: 'a.png' }), 'The part image has no filename'],
    [
      'with a name from Object',
      formOf({ name: '__proto__', filename: 'a.png', content: PNG }),
      /^The body is not a valid form/,
    ],
    [
      'with too many parts',
      formOf(...Array.from({ length: 60 }, () => ({ name: 'x', content: 'y' })), {
        filename: 'a.png',
        content: PNG,
      }),
      /^The body is not a valid form/,
    ],
    [
      'that is cut off',
      {
        ...formOf({ filename: 'a.png', content: PNG }),
        body: formOf({ filename: 'a.png', content: PNG }).body.subarray(0, 150),
      },
      /^The body /,
    ],
    [
      'with a part whose head has no end',
      {
        body: Buffer.from(
          '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n--x--\r\n',
        ),
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
      'The body is not a valid form: a part has no end',
    ],
    [
      'with a second part whose head has no end',
      {
        body: Buffer.from(
          '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\nPNG\r\n--x\r\nA: b\r\n--x--\r\n',
        ),
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
      'The body is not a valid form: a part has no end',
    ],
    [
      'without a boundary',
      { body: PNG, headers: { 'content-type': 'multipart/form-data' } },
      /^The body is not a valid form/,
    ],
    [
      'that is no form',
      { body: PNG, headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      /^The body /,
    ],
    [
      'of another type',
      { body: PNG, headers: { 'content-type': 'image/png' } },
      'The body must have one of these Content-Types: multipart/form-data',
    ],
    [
      'of JSON',
      { body: Buffer.from('{}'), headers: { 'content-type': 'application/json' } },
      'The body must have one of these Content-Types: multipart/form-data',
    ],
    [
      'of no type',
      { body: PNG, headers: {} },
      'The body must have one of these Content-Types: multipart/form-data',
    ],
  ] as [string, { body: Buffer; headers: Record<string, string> }, string | RegExp][])(
    '%s is refused',
    async (_case, form, text) => {
      const message = await refused(400, () => service.call('POST', slideshow, { token, ...form }));
      if (typeof text === 'string') expect(message).toBe(text);
      else expect(message).toMatch(text);
    },
  );

  test('without anything is refused', async () => {
    expect(await refused(400, () => service.call('POST', slideshow, { token }))).toBe(
      'The body must have one of these Content-Types: multipart/form-data',
    );
  });

  test('other operations take no such form', async () => {
    const place = `${slideshow}/sequence`;
    const form = formOf({ filename: 'a.png', content: PNG });
    const text = await refused(400, () => service.call('PUT', place, { token, ...form }), 'PUT', place);
    expect(text).toMatch(/^The body must have one of these Content-Types: application\/json, /);
  });

  test('to a product that nobody has, or of another shop, is 404', async () => {
    await givenShop(service, 'Other');
    const foreign = await givenPlainProduct(service, 'Other');
    for (const id of [foreign, '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', 'x']) {
      const place = `/Shop/products/${id}/slideshow`;
      const text = await refused(
        404,
        () => sendImage(service, place, 'a.png', PNG, { token }),
        'POST',
        place,
      );
      expect(text).toBe('HTTP 404 Not Found');
    }
  });

  test('without the scope is refused before its body is read', async () => {
    const reader = await givenToken(service, 'Shop', ['products_read']);
    const huge = Buffer.alloc(UPLOAD_LIMIT + 1);
    expect(await refused(403, () => upload('a.png', huge, { token: reader }))).toContain('products_write');
  });
});

describe('too large is 413', () => {
  /** A form whose whole body has this many bytes. */
  const formOfLength = (length: number, filename = 'a.png') => {
    const rest = formOf({ filename, content: '' }).body.length;
    return formOf({ filename, content: Buffer.alloc(length - rest) });
  };

  test('the whole body counts, to the byte', async () => {
    const over = formOfLength(UPLOAD_LIMIT + 1);
    expect(over.body).toHaveLength(UPLOAD_LIMIT + 1);
    expect(await refused(413, () => service.call('POST', slideshow, { token, ...over }))).toBe(
      `The body is larger than ${UPLOAD_LIMIT} bytes`,
    );
    const most = formOfLength(UPLOAD_LIMIT);
    expect(await refused(400, () => service.call('POST', slideshow, { token, ...most }))).toBe(
      'The file is no PNG image, but its name says so',
    );
  });

  test('an image of 10 MB is taken', async () => {
    const { width, height } = { width: 1_850, height: 1_850 };
    const image = await sharp({
      create: {
        width,
        height,
        channels: 3,
        background: 'grey',
        noise: { type: 'gaussian', mean: 128, sigma: 90 },
      },
    })
      .png({ compressionLevel: 0 })
      .toBuffer();
    expect(image.length).toBeGreaterThan(10_000_000);
    expect(image.length).toBeLessThan(UPLOAD_LIMIT);
    expect((await upload('large.png', image)).status).toBe(201);
  });

  test('also when the length is not said, and when a part that nobody asked for is long', async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = service.app.server.address() as AddressInfo;
    /** In pieces, without a Content-Length; the answer may come before all of it is sent. */
    const stream = (pieces: Buffer[], headers: Record<string, string>) =>
      new Promise<{ status: number; text: string; connection: string | undefined }>((resolve, reject) => {
        let isAnswered = false;
        const request = http.request(
          {
            port,
            method: 'POST',
            path: `/rs/shops${slideshow}`,
            headers: { ...headers, authorization: `Bearer ${token}` },
          },
          (response) => {
            isAnswered = true;
            let text = '';
            response.on('data', (chunk: Buffer) => (text += chunk.toString()));
            response.on('end', () =>
              resolve({ status: response.statusCode!, text, connection: response.headers.connection }),
            );
          },
        );
        // The connection ends with the answer, maybe while a piece is on its way.
        request.on('error', (error) => request.destroyed || reject(error));
        const next = () => {
          const piece = pieces.shift();
          if (request.destroyed || isAnswered) return;
          if (piece === undefined) request.end();
          else request.write(piece, next);
        };
        next();
      });
    const split = ({ body, headers }: { body: Buffer; headers: Record<string, string> }) => {
      const pieces = [];
      for (let at = 0; at < body.length; at += 65_536) pieces.push(body.subarray(at, at + 65_536));
      return [pieces, headers] as const;
    };
    const before = [await fingerprint(service), await files()];
    for (const form of [
      formOfLength(UPLOAD_LIMIT + 1),
      formOfLength(3 * UPLOAD_LIMIT),
      formOf({ filename: 'a.png', content: PNG }, { name: 'x', content: Buffer.alloc(2 * UPLOAD_LIMIT) }),
      formOf(
        { name: 'x', filename: 'x', content: Buffer.alloc(2 * UPLOAD_LIMIT) },
        { filename: 'a.png', content: PNG },
      ),
    ]) {
      const { status, text, connection } = await stream(...split(form));
      expect([status, connection]).toEqual([413, 'close']);
      expect(text).toContain(`The body is larger than ${UPLOAD_LIMIT} bytes`);
    }
    expect([await fingerprint(service), await files()]).toEqual(before);
    const { status } = await stream(...split(formOf({ filename: 'streamed.png', content: PNG })));
    expect([status, await sequence()]).toEqual([201, ['streamed.png']]);
  });

  test('an upload that breaks off leaves nothing', async () => {
    const before = [await fingerprint(service), await files()];
    const { port } = service.app.server.address() as AddressInfo;
    const { body, headers } = formOfLength(1_000_000);
    const request = http.request({
      port,
      method: 'POST',
      path: `/rs/shops${slideshow}`,
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-length': body.length },
    });
    request.on('error', () => {});
    await new Promise((resolve) => request.write(body.subarray(0, 500_000), resolve));
    await expect.poll(async () => (await files()).some((file) => file.includes('.uploads'))).toBe(true);
    request.destroy();
    await expect.poll(async () => [await fingerprint(service), await files()]).toEqual(before);
  });
});

describe('with an Idempotency-Key', () => {
  test('the same upload happens once', async () => {
    const headers = { 'idempotency-key': 'upload-1' };
    const first = await upload('a.png', PNG, { headers });
    const before = [await fingerprint(service), await files()];
    const second = await upload('a.png', PNG, { headers });
    // The name is taken, but by this very request.
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect([await fingerprint(service), await files()]).toEqual(before);
  });

  test('another file is another request', async () => {
    const headers = { 'idempotency-key': 'upload-2' };
    await upload('a.png', PNG, { headers });
    const other = await sharp(PNG).resize(20).png().toBuffer();
    expect(await refused(409, () => upload('b.png', PNG, { headers }))).toContain('another request');
    expect(await refused(409, () => upload('b.png', other, { headers }))).toContain('another request');
  });

  test('a key that is none is refused', async () => {
    const text = await refused(400, () => upload('a.png', PNG, { headers: { 'idempotency-key': 'a b' } }));
    expect(text).toBe('Idempotency-Key must be 1 to 255 visible ASCII characters');
  });
});

describe('deleting an image', () => {
  const remove = (name: string) =>
    service.call('DELETE', `${slideshow}/${encodeURIComponent(name)}`, { token });

  test('removes it and its files; the next one becomes the main image', async () => {
    const before = await files();
    for (const name of ['a.png', 'b.png', 'c.png']) await upload(name);
    await service.call('PUT', `${slideshow}/sequence`, { token, body: ['c.png', 'a.png', 'b.png'] });
    const { version } = (await facts())!;
    expect(await remove('b.png')).toMatchObject({ status: 204, text: '' });
    expect([await mainImage(), await sequence()]).toEqual(['a.png', ['c.png', 'a.png']]);
    expect((await facts())!.version).toBe(version + 1);
    expect((await remove('a.png')).status).toBe(204);
    expect([await mainImage(), await sequence()]).toEqual(['c.png', ['c.png']]);
    expect((await remove('c.png')).status).toBe(204);
    expect([await mainImage(), await sequence(), await read()]).toEqual([null, [], { items: [] }]);
    expect(await files()).toEqual(before);
  });

  test('its name is free again, at another address', async () => {
    const first = await upload('a.png');
    await remove('a.png');
    const second = await upload('a.png');
    expect(second.status).toBe(201);
    expect(second.body.sizes[0].url).not.toBe(first.body.sizes[0].url);
    const gone = await service.app.inject(new URL(first.body.sizes[0].url).pathname);
    expect(gone.statusCode).toBe(404);
  });

  test('that is not there is 404', async () => {
    await upload('a.png');
    for (const name of ['b.png', 'A.png', 'a.png/x', 'a.png\\', '%']) {
      const encoded = `${slideshow}/${encodeURIComponent(name)}`;
      const answer = await service.call('DELETE', encoded, { token });
      expect(answer.status).toBe(404);
    }
    expect(await sequence()).toEqual(['a.png']);
    const place = '/Shop/products/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E/slideshow/a.png';
    await refused(404, () => service.call('DELETE', place, { token }), 'DELETE', place);
  });
});

describe('the sequence', () => {
  const put = (body: unknown) => service.call('PUT', `${slideshow}/sequence`, { token, body });

  beforeEach(async () => {
    for (const name of ['a.png', 'b.png', 'c.png']) await upload(name);
  });

  test('is what was put', async () => {
    const { version } = (await facts())!;
    const { status, body } = await put(['c.png', 'a.png', 'b.png']);
    expect([status, body]).toEqual([200, ['c.png', 'a.png', 'b.png']]);
    expect(await sequence()).toEqual(['c.png', 'a.png', 'b.png']);
    const { items } = await read();
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['c.png', 'a.png', 'b.png']);
    expect(await facts()).toMatchObject({ mainImage: 'a.png', version: version + 1 });
    await upload('d.png');
    expect(await sequence()).toEqual(['c.png', 'a.png', 'b.png', 'd.png']);
  });

  test.each([
    [[], 'MISSING on field body'],
    [['a.png', 'b.png'], 'MISSING on field body'],
    [['a.png', 'b.png', 'c.png', 'd.png'], 'UNKNOWN_VALUE on field 3'],
    [['a.png', 'a.png', 'b.png', 'c.png'], 'UNKNOWN_VALUE on field 1'],
    [['A.png', 'b.png', 'c.png'], 'UNKNOWN_VALUE on field 0'],
    [['a.png', 'b.png', 7], 'WRONG_TYPE on field 2'],
    [{}, 'WRONG_TYPE on field body'],
    [{ items: ['a.png', 'b.png', 'c.png'] }, 'WRONG_TYPE on field body'],
    ['"a.png"', 'WRONG_TYPE on field body'],
  ])('must name the existing images: %j is refused', async (body, problem) => {
    const place = `${slideshow}/sequence`;
    const headers = { 'content-type': 'application/json' };
    const text = await refused(400, () => service.call('PUT', place, { token, body, headers }), 'PUT', place);
    expect(text).toBe(`Set slideshow sequence failed:\n\tvalidation error ${problem}`);
  });

  test('of a product without images is empty', async () => {
    const place = `/Shop/products/${await givenPlainProduct(service, 'Shop')}/slideshow/sequence`;
    expect(await read(place)).toEqual([]);
    const { status, body } = await service.call('PUT', place, { token, body: [] });
    expect([status, body]).toEqual([200, []]);
  });
});

test('the product shows the image that was chosen as its main one, and forgets one that is deleted', async () => {
  const place = `/Shop/products/${productId}`;
  const shown = async () => {
    const { productImage, images } = await read(place);
    return [productImage, images.map((image: { url: string }) => path.basename(image.url))];
  };
  const sizes = (name: string) => ['_h', '_m', '', '_s', '_xs'].map((suffix) => `${name}${suffix}.png`);
  const choose = (value: string) =>
    service.call('PATCH', place, { token, body: [{ op: 'add', path: '/productImage', value }] });

  expect(await shown()).toEqual([null, []]);
  await upload('a.png');
  expect(await shown()).toEqual(['a.png', sizes('a')]);
  await upload('b.png');
  expect(await shown()).toEqual(['a.png', sizes('a')]);
  expect((await choose('b.png')).status).toBe(200);
  expect(await shown()).toEqual(['b.png', sizes('b')]);
  expect((await choose('c.png')).status).toBe(400);
  expect(await shown()).toEqual(['b.png', sizes('b')]);
  await service.call('DELETE', `${slideshow}/b.png`, { token });
  expect(await shown()).toEqual(['a.png', sizes('a')]);
  await service.call('DELETE', `${slideshow}/a.png`, { token });
  expect(await shown()).toEqual([null, []]);
});

test('what shoppers do not see has no slideshow for them', async () => {
  const hidden = await givenPlainProduct(service, 'Shop', { visible: false });
  const place = `/Shop/products/${hidden}/slideshow`;
  await sendImage(service, place, 'a.png', PNG, { token });
  const reader = await givenToken(service, 'Shop', ['products_read']);
  for (const end of ['', '/sequence']) {
    expect((await service.call('GET', place + end)).status).toBe(404);
    expect((await service.call('GET', place + end, { token: reader })).status).toBe(404);
    expect((await service.call('GET', place + end, { token })).status).toBe(200);
    expect((await service.call('GET', slideshow + end)).status).toBe(200);
  }
});

test('a transaction that is tried again keeps the files, one that fails does not', async () => {
  const before = await files();
  const { db } = service;
  const original = db.ofShop.bind(db);
  const tries: number[] = [];
  // PostgreSQL asks for another try; nothing else can make it do so at a moment of our choice.
  const transaction: ShopDatabase['transaction'] = (work, options) =>
    db.transaction(async (tx) => {
      tries.push(tries.length);
      const result = await work(tx);
      if (tries.length === 1) throw Object.assign(new Error('try again'), { code: '40001' });
      return result;
    }, options);
  db.ofShop = (shopId) => Object.assign(original(shopId), { transaction });
  const answer = await upload('a.png');
  db.ofShop = (shopId) =>
    Object.assign(original(shopId), { transaction: () => Promise.reject(new Error('lost')) });
  const failed = await upload('b.png');
  db.ofShop = original;
  expect([answer.status, failed.status, tries.length]).toEqual([201, 500, 2]);
  expect(await sequence()).toEqual(['a.png']);
  expect(await files()).toHaveLength(before.length + 7);
});

test('alternative texts are set for all images at once, in the locales of the shop, and nothing else changes', async () => {
  await upload('a.png');
  await upload('b.png');
  const place = `/manage/shops/Shop/products/${productId}/picture-texts`;
  const shown = await read();
  const before = await facts();
  const [locale] = (await service.call('GET', '/Shop/locales')).body.items;
  const items = [{ name: 'b.png', locale, text: ' A blue square ' }];
  const set = await service.call('PUT', place, { token, body: { items } });
  const stored = { items: [{ name: 'b.png', locale, text: 'A blue square' }] };
  expect([set.status, set.body]).toEqual([200, stored]);
  expect((await service.call('GET', place, { token })).body).toEqual(stored);
  expect(await read()).toEqual(shown);
  expect((await facts())!.version).toBeGreaterThan(before!.version);

  const print = await fingerprint(service);
  for (const [item, field] of [
    [{ ...items[0], name: 'c.png' }, 'items.0.name'],
    [{ ...items[0], locale: 'xx_XX' }, 'items.0.locale'],
    [{ ...items[0], text: 'x'.repeat(501) }, 'items.0.text'],
  ] as const) {
    const refusal = await service.call('PUT', place, { token, body: { items: [item] } });
    expect([refusal.status, refusal.body.message.includes(field)]).toEqual([400, true]);
  }
  expect((await service.call('PUT', place, { body: { items } })).status).toBe(401);
  // What is there already changes nothing.
  await service.call('PUT', place, { token, body: { items } });
  const after = await fingerprint(service);
  expect({ ...after, audit_entry: '' }).toEqual({ ...print, audit_entry: '' });
  const emptied = await service.call('PUT', place, { token, body: { items: [{ ...items[0], text: '' }] } });
  expect(emptied.body).toEqual({ items: [] });
});
