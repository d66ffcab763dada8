import { readFileSync } from 'node:fs';
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isPictureName } from '../../src/catalogue/products/picture-addresses.ts';
import { sql } from '../../src/db/sql.ts';
import { openMediaStorage } from '../../src/platform/media/open-storage.ts';
import { givenMerchant, type Merchant } from '../admin.ts';
import { startDemo } from '../demo.ts';
import { MAX_BLOCK, quickestBlock } from '../event-loop.ts';
import { ofTheDay } from '../seed.ts';
import type { Service } from '../service.ts';
import { formOf, PNG } from '../upload.ts';
import { zipOf } from '../zip.ts';

/**
 * Files that are small on the wire and large in memory, sent to every place that takes a file: pictures of products (API
 * and admin), the logo, archives of pictures and tables. Each is refused in bounded time and memory, or taken as what it is.
 */

vi.setConfig({ testTimeout: 120_000 });

let service: Service;
let merchant: Merchant;
let productId: string;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0' });
  merchant = await givenMerchant(service, 'owner');
  const { body } = await service.call('GET', '/DemoShop/products?q=kettle', { token: 'demo-all' });
  productId = body.items[0].productId;
  // The decoder is loaded and has its threads.
  await sendPicture('warm.png', PNG);
});
afterAll(() => service.close());

interface Answer {
  status: number;
  text: string;
}

function sendPicture(name: string, content: Buffer): Promise<Answer> {
  const form = formOf({ filename: name, content });
  return service.call('POST', `/DemoShop/products/${productId}/slideshow`, { token: 'demo-all', ...form });
}

async function sendForm(path: string, part: string, name: string, content: Buffer): Promise<Answer> {
  const { body, headers } = formOf({ name: part, filename: name, content });
  const answer = await service.app.inject({
    method: 'POST',
    url: `/admin/shops/DemoShop${path}`,
    headers: {
      host: 'localhost:8080',
      origin: 'http://localhost:8080',
      cookie: merchant.cookie,
      ...headers,
    },
    payload: body,
  });
  return { status: answer.statusCode, text: answer.body };
}

/** Every way in for a file. */
const WAYS: Readonly<Record<string, (name: string, content: Buffer) => Promise<Answer>>> = {
  'the API': sendPicture,
  'the page of a product': (name, content) =>
    sendForm(`/products/${productId}/pictures`, 'image', name, content),
  'the logo': (name, content) => sendForm('/settings/theme/logo', 'logo', name, content),
};
const sendArchive = (content: Buffer) => sendForm('/products/import', 'file', 'goods.zip', content);

test('the API opens files in one place', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
  };
  const taking = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).some(
      ({ requestBody }) => requestBody && 'multipart/form-data' in requestBody.content,
    )
      ? [path]
      : [],
  );
  // Downloads are stored and sent as they are, and never opened. Parts of backups are stored as they are; test/security/restore.test.ts tries what bombs of backups do.
  expect(taking.toSorted()).toEqual([
    '/host/uploads/{uploadId}/parts/{part}',
    '/manage/shops/{shopId}/products/{productId}/downloads/files',
    '/manage/shops/{shopId}/products/{productId}/downloads/files/{fileId}/versions',
    '/rs/shops/{shopId}/products/{productId}/slideshow',
  ]);
});

/** What it costs: processor seconds, also those of other threads, and how much memory it took at most, in MB. */
async function costOf<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; seconds: number; megabytes: number }> {
  const before = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const began = performance.now();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  try {
    const result = await work();
    const { user, system } = process.cpuUsage(cpu);
    const seconds = Math.min((user + system) / 1e6, (performance.now() - began) / 1e3);
    return { result, seconds, megabytes: (peak - before) / 1_048_576 };
  } finally {
    clearInterval(timer);
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** A PNG whose pixels are all 0. `bytes`: as many as the decoder expects, or fewer. */
function png(
  [width, height]: [number, number],
  bytes: number,
  { bits = 8, colours = 0, isInterlaced = false, extra = [] as Buffer[] } = {},
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colours, 0, 0, isInterlaced ? 1 : 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...extra,
    chunk('IDAT', deflateSync(Buffer.alloc(bytes), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A GIF whose frames hold one pixel of data each, whatever size they claim. */
function gif(screen: [number, number], frame: [number, number], frames: number): Buffer {
  const head = Buffer.from('GIF89a\0\0\0\0\u0080\0\0\0\0\0\u00ff\u00ff\u00ff', 'latin1');
  head.writeUInt16LE(screen[0], 6);
  head.writeUInt16LE(screen[1], 8);
  const one = Buffer.from([0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0x44, 1, 0]);
  one.writeUInt16LE(frame[0], 5);
  one.writeUInt16LE(frame[1], 7);
  return Buffer.concat([head, ...Array.from({ length: frames }, () => one), Buffer.from([0x3b])]);
}

const zeros = (megabytes: number) => deflateSync(Buffer.alloc(megabytes * 1_048_576, 97), { level: 9 });

/** A progressive JPEG whose last scan comes again and again. */
async function jpegOfScans(side: number, scans: number): Promise<Buffer> {
  const plain = { create: { width: side, height: side, channels: 3, background: '#777' } } as const;
  const whole = await sharp(plain).jpeg({ progressive: true }).toBuffer();
  const lastScan = whole.lastIndexOf(Buffer.from([0xff, 0xda]));
  const [image, scan] = [whole.subarray(0, -2), whole.subarray(lastScan, -2)];
  return Buffer.concat([image, ...Array.from({ length: scans }, () => scan), whole.subarray(-2)]);
}

function iconOf(picture: Buffer, entries: number): Buffer {
  const head = Buffer.alloc(6 + 16 * entries);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(entries, 4);
  for (let entry = 0; entry < entries; entry++) {
    head.writeUInt32LE(picture.length, 6 + 16 * entry + 8);
    head.writeUInt32LE(head.length, 6 + 16 * entry + 12);
  }
  return Buffer.concat([head, picture]);
}

type Bomb = [what: string, name: string, make: () => Buffer | Promise<Buffer>, reason: RegExp];

const LARGE_PNGS: Bomb[] = [
  [
    'a PNG of 900 megapixels',
    'x.png',
    () => png([30_000, 30_000], 30_000 * 3_751, { bits: 1 }),
    /50 megapixels/,
  ],
  ['a PNG that only claims its size', 'x.png', () => png([60_000, 60_000], 1_000), /megapixels|damaged/],
  [
    'a PNG that claims 2³¹ pixels a side',
    'x.png',
    () => png([2 ** 31 - 1, 2 ** 31 - 1], 1_000),
    /megapixels|damaged/,
  ],
];
const LONG_PNGS: Bomb[] = [
  [
    'a PNG that is one pixel wide and 50 million high',
    'x.png',
    () => png([1, 50_000_000], 100_000_000),
    /16,?384/,
  ],
  [
    'a PNG that is 50 million wide and one pixel high',
    'x.png',
    () => png([50_000_000, 1], 50_000_001),
    /16,?384/,
  ],
];
const BOMBS: Bomb[] = [
  ...ofTheDay(LARGE_PNGS, 1),
  ...ofTheDay(LONG_PNGS, 1),
  [
    'an interlaced PNG with 8 bytes a pixel',
    'x.png',
    // Smaller than it could be, because making it costs more than refusing it.
    () =>
      png([4_100, 4_100], 16_810_000 * 8 + 200_000, {
        bits: 16,
        colours: 6,
        isInterlaced: true,
      }),
    /at most 16 megapixels/,
  ],
  ['a GIF of 200,000 frames', 'x.gif', () => gif([1, 1], [1, 1], 200_000), /1,?000 frames/],
  [
    'a GIF of 35 bytes and 49 megapixels',
    'x.gif',
    () => gif([7_000, 7_000], [7_000, 7_000], 1),
    /16 megapixels/,
  ],
  [
    'a GIF whose frames are larger than its screen',
    'x.gif',
    () => gif([1, 1], [65_535, 65_535], 50),
    /megapixels/,
  ],
  [
    'a GIF of 100 frames of 1 megapixel',
    'x.gif',
    () => gif([1_000, 1_000], [1_000, 1_000], 100),
    /50 megapixels/,
  ],
  ['a JPEG of 2,000 scans', 'x.jpg', () => jpegOfScans(4_000, 2_000), /damaged/],
  [
    'a JPEG that claims 65,535 pixels a side',
    'x.jpg',
    async () => {
      const bytes = await jpegOfScans(16, 0);
      bytes.fill(
        0xff,
        bytes.indexOf(Buffer.from([0xff, 0xc2])) + 5,
        bytes.indexOf(Buffer.from([0xff, 0xc2])) + 9,
      );
      return bytes;
    },
    /megapixels|damaged/,
  ],
];

describe('a picture that is larger than its file', () => {
  test.each(BOMBS)('%s is refused, on every way in', async (_what, name, make, reason) => {
    const bomb = await make();
    expect(bomb.length).toBeLessThan(10 * 1_048_576);
    for (const [way, send] of Object.entries(WAYS)) {
      const { result, seconds, megabytes } = await costOf(() => send(name, bomb));
      expect({ way, status: result.status, reason: reason.test(result.text) }).toEqual({
        way,
        status: 400,
        reason: true,
      });
      expect({ way, seconds, isSlow: seconds > 5 }).toMatchObject({ isSlow: false });
      expect({ way, megabytes, isLarge: megabytes > 250 }).toMatchObject({ isLarge: false });
    }
  });

  test('an icon whose 64 pictures are the same megapixel is refused', async () => {
    const picture = await sharp({ create: { width: 1_024, height: 1_024, channels: 4, background: '#777' } })
      .png()
      .toBuffer();
    const { result, seconds } = await costOf(() => sendPicture('x.ico', iconOf(picture, 64)));
    expect([result.status, result.text.includes('damaged')]).toEqual([400, true]);
    expect(seconds).toBeLessThan(3);
  });

  test('texts and profiles that unpack to hundreds of megabytes are not kept, and take no memory', async () => {
    const text = zeros(100);
    const texts = Array.from({ length: 6 }, () =>
      chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), text])),
    );
    const profile = chunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), text]));
    for (const extra of [texts, [profile]]) {
      const bomb = png([10, 10], 410, { colours: 6, extra });
      const { result, seconds, megabytes } = await costOf(() => sendPicture('x.png', bomb));
      expect([201, 400]).toContain(result.status);
      expect(seconds).toBeLessThan(10);
      expect(megabytes).toBeLessThan(150);
    }
  });

  test('nobody else waits: the service answers while a picture of 49 megapixels is made smaller', async () => {
    const large = png([7_000, 7_000], 7_001 * 7_000);
    const sending = sendPicture('large.png', large);
    let answered = 0;
    while (
      (await Promise.race([sending, service.call('GET', '/DemoShop').then(() => undefined)])) === undefined
    ) {
      answered++;
    }
    expect((await sending).status).toBe(201);
    expect(answered).toBeGreaterThan(10);
  });
});

describe('what is no picture', () => {
  const ENTITIES = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">${'bcdefghij'
    .split('')
    .map((name, index) => `<!ENTITY ${name} "${`&${'abcdefghij'[index]};`.repeat(10)}">`)
    .join('')}<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&j;&x;</svg>`;
  const OTHERS: [what: string, name: string, content: Buffer][] = [
    ['an SVG with entities', 'x.svg', Buffer.from(ENTITIES)],
    ['the same under the name of a PNG', 'x.png', Buffer.from(ENTITIES)],
    ['a WebP', 'x.webp', Buffer.from('RIFF\0\0\0\0WEBPVP8 ')],
    ['a WebP under the name of a JPEG', 'x.jpg', Buffer.from('RIFF\0\0\0\0WEBPVP8 ')],
    [
      'a PDF',
      'x.pdf',
      Buffer.from('%PDF-1.7\n1 0 obj<</Length 10 /Filter[/FlateDecode /FlateDecode]>>stream\n'),
    ],
    ['a PDF under the name of a GIF', 'x.gif', Buffer.from('%PDF-1.7\n')],
    ['a ZIP', 'x.zip', zipOf({ 'a.png': PNG })],
    ['a ZIP under the name of a PNG', 'x.png', zipOf({ 'a.png': PNG })],
    ['an icon that is a PNG file', 'x.ico', PNG],
    ['a name with a path', '../../x.png', PNG.subarray(0, 20)],
    ['a name with a line break', 'x%0d%0aSet-Cookie: a=b.png', PNG.subarray(0, 20)],
    ['a name without an end', `${'x'.repeat(5_000)}.png`, PNG],
  ];
  test.each(ofTheDay(OTHERS, 6))('%s is refused before any decoder sees it', async (_what, name, content) => {
    for (const [way, send] of Object.entries(WAYS)) {
      const { result, seconds } = await costOf(() => send(name, content));
      expect({ way, status: result.status }).toEqual({ way, status: 400 });
      expect(seconds).toBeLessThan(2);
    }
  });

  test('an XML body is no body of the API', async () => {
    const answer = await service.call('POST', '/DemoShop/products', {
      token: 'demo-all',
      body: ENTITIES,
      headers: { 'content-type': 'application/xml' },
    });
    expect([400, 415]).toContain(answer.status);
    expect(answer.text).not.toContain('root:');
  });
});

describe('an archive', () => {
  const waiting = () =>
    service.db.many<{ name: string }>(sql`select name from import_picture where shop_id = 'DemoShop'`);
  const imports = () => service.db.many(sql`select from product_import`);

  /** Refused with a reason, in bounded time and memory, and nothing of it is kept. */
  async function isRefused(archive: Buffer): Promise<string> {
    const before = [await waiting(), await imports()];
    const { result, seconds, megabytes } = await costOf(() => sendArchive(archive));
    expect(result.status).toBe(400);
    expect(seconds).toBeLessThan(5);
    expect(megabytes).toBeLessThan(250);
    expect([await waiting(), await imports()]).toEqual(before);
    return /<p class="problem"[^>]*>([^<]*)/.exec(result.text)?.[1] ?? result.text;
  }

  interface Entry {
    name: string;
    /** Packed bytes, and what the directory says of them. */
    packed: Buffer;
    size: number;
    flags?: number;
    method?: number;
    /** Where its data is said to be; else behind the entry before. */
    offset?: number;
    extra?: Buffer;
  }

  /** A zip whose directory says whatever it likes. */
  function lyingZip(entries: readonly Entry[], count = entries.length): Buffer {
    const parts: Buffer[] = [];
    const directory: Buffer[] = [];
    let at = 0;
    for (const {
      name,
      packed,
      size,
      flags = 0x0800,
      method = 8,
      offset,
      extra = Buffer.alloc(0),
    } of entries) {
      const bytes = Buffer.from(name, 'utf8');
      const facts = Buffer.alloc(26);
      facts.writeUInt16LE(20, 0);
      facts.writeUInt16LE(flags, 2);
      facts.writeUInt16LE(method, 4);
      facts.writeUInt32LE(packed.length, 14);
      facts.writeUInt32LE(size, 18);
      facts.writeUInt16LE(bytes.length, 22);
      facts.writeUInt16LE(extra.length, 24);
      const place = Buffer.alloc(14);
      place.writeUInt32LE(offset ?? at, 10);
      directory.push(Buffer.from('PK\u0001\u0002\u0014\0'), facts, place, bytes, extra);
      if (offset !== undefined) continue;
      parts.push(Buffer.from('PK\u0003\u0004'), facts, bytes, extra, packed);
      at += 30 + bytes.length + extra.length + packed.length;
    }
    const end = Buffer.alloc(22);
    end.write('PK\u0005\u0006');
    end.writeUInt16LE(count, 8);
    end.writeUInt16LE(count, 10);
    end.writeUInt32LE(Buffer.concat(directory).length, 12);
    end.writeUInt32LE(at, 16);
    return Buffer.concat([...parts, ...directory, end]);
  }

  const MEGABYTES = 9;
  const packedZeros = deflateRawSync(Buffer.alloc(MEGABYTES * 1_048_576), { level: 9 });
  const SIZE = MEGABYTES * 1_048_576;

  test('that unpacks to a thousand times its size is refused', async () => {
    const files = Array.from({ length: 25 }, (_, index) => ({
      name: `p${index}.png`,
      packed: packedZeros,
      size: SIZE,
    }));
    expect(await isRefused(lyingZip(files))).toContain('times its own size');
    expect(
      await isRefused(lyingZip([{ name: 'goods.csv', packed: packedZeros, size: SIZE }, ...files])),
    ).toContain('times its own size');
  });

  test('whose entries overlap is refused', async () => {
    const first = { name: 'p.png', packed: packedZeros, size: SIZE };
    const others = Array.from({ length: 3_000 }, (_, index) => ({
      name: `q${index}.png`,
      packed: packedZeros,
      size: SIZE,
      offset: 0,
    }));
    expect(await isRefused(lyingZip([first, ...others]))).toContain('times its own size');
  });

  test('whose entries are larger or smaller than they say is refused', async () => {
    for (const size of [10, SIZE - 1, SIZE + 1, 11 * 1_048_576, 2 ** 32 - 2]) {
      expect(await isRefused(lyingZip([{ name: 'p.png', packed: packedZeros, size }]))).not.toBe('');
    }
  });

  test('that says it has more entries than it has, or has too many, is refused', async () => {
    const entry = { name: 'p.png', packed: deflateRawSync(PNG), size: PNG.length };
    expect(await isRefused(lyingZip([entry], 60_000))).not.toBe('');
    expect(await isRefused(lyingZip([entry], 5))).not.toBe('');
    const many = Array.from({ length: 6_000 }, (_, index) => ({
      ...entry,
      name: `p${index}.png`,
      offset: 0,
    }));
    expect(await isRefused(lyingZip([entry, ...many]))).toContain('5000');
  });

  test('with encrypted entries, unknown methods, nonsense or nothing is refused', async () => {
    const entry = { name: 'p.png', packed: deflateRawSync(PNG), size: PNG.length };
    for (const archive of [
      lyingZip([{ ...entry, flags: 0x0801 }]),
      lyingZip([{ ...entry, method: 99 }]),
      lyingZip([{ ...entry, packed: Buffer.from('nonsense') }]),
      lyingZip([{ ...entry, extra: Buffer.from([1, 0, 255, 255]) }]),
      lyingZip([]),
      Buffer.from('PK\u0003\u0004'),
      Buffer.alloc(0),
      Buffer.alloc(100_000, 'PK\u0005\u0006'),
      zipOf({ 'inner.zip': zipOf({ 'a.png': PNG }) }),
      zipOf({ 'x.pdf': '%PDF-1.7', 'x.svg': '<svg/>', 'x.xml': '<!DOCTYPE x>' }),
    ]) {
      expect(await isRefused(archive)).not.toBe('');
    }
  });

  const NAMES = [
    '../../p.png',
    '/etc/p.png',
    'C:\\p.png',
    'a/../../../p.png',
    '..\\..\\p.png',
    'p\0.png',
    '"p".png',
    "p'; drop table shop; --.png",
    'p\r\nSet-Cookie: x.png',
    '\u202egnp.png',
    `${'İ'.repeat(110)}.png`,
    `${'x'.repeat(60_000)}.png`,
    'con.png',
    '.png',
  ];
  const TABLE_NAMES = [`${'x'.repeat(60_000)}.csv`, 'goods\0.csv', 'goods\r\n.csv'];

  test('with a name that is as long as it may be stops nobody', async () => {
    const isPicture = async () => isPictureName(TABLE_NAMES[0]!);
    expect(await isPicture()).toBe(false);
    expect(await quickestBlock(isPicture)).toBeLessThan(MAX_BLOCK);
  });

  test.each([...ofTheDay(NAMES, 5), ...ofTheDay(TABLE_NAMES, 1)])(
    'with the name %j writes no file, and nothing but a picture',
    async (name) => {
      const isTable = name.endsWith('.csv');
      const content = isTable ? Buffer.from('SKU;Name\nA;B\n') : PNG;
      const storage = openMediaStorage(service.config);
      const files = async () => {
        const names = [];
        for await (const { folder, file } of storage.files('DemoShop')) names.push(`${folder}/${file}`);
        return names;
      };
      const before = await files();
      const { status } = await sendArchive(
        lyingZip([{ name, packed: deflateRawSync(content), size: content.length }]),
      );
      expect([303, 400]).toContain(status);
      expect(await files()).toEqual(before);
      for (const kept of await waiting()) expect(kept.name).not.toMatch(/[/\\\p{Cc}]/u);
      expect((await merchant.get('/products/import')).status).toBe(200);
      await merchant.post('/products/import/pictures/delete');
    },
  );
});
