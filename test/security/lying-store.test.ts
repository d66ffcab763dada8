import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openS3Storage } from '../../src/platform/media/s3-storage.ts';
import { mediaCleanup } from '../../src/platform/media/sweep.ts';
import type { MediaStorage } from '../../src/platform/media/storage.ts';
import { givenShop, givenToken } from '../builders.ts';
import { startS3Server, type Lie } from '../s3-server.ts';
import { mediaServer, startService, type Service } from '../service.ts';
import { givenPlainProduct, PNG, sendImage } from '../upload.ts';

/**
 * The store of images is another company's machine, or one in the same network that somebody else runs: its answers are
 * wrong, endless or slow. What it says about one image must not harm the answers about others, fill the memory, or hold a
 * request for ever.
 */

vi.setConfig({ testTimeout: 60_000 });

const s3 = await startS3Server();
mediaServer.s3 = s3;
afterAll(async () => {
  mediaServer.s3 = undefined;
  await s3.stop();
});

/** Milliseconds that the storage waits in these tests. */
const PATIENCE = 1_500;
const FOLDER = '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E';

let service: Service;
let port: number;
let picture: string;
let slideshow: string;
let token: string;
let media: MediaStorage;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Shop');
  token = await givenToken(service, 'Shop');
  slideshow = `/Shop/products/${await givenPlainProduct(service, 'Shop')}/slideshow`;
  const { body } = await sendImage(service, slideshow, 'lamp.png', PNG, { token });
  picture = new URL(body.sizes[0].url).pathname;
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => service.close());
beforeEach(() => {
  media = openS3Storage(service.config.MEDIA_URL!, PATIENCE);
});
afterEach(() => s3.setLie(undefined));

const on = (method: string, answer: (response: ServerResponse, request: IncomingMessage) => void): Lie => {
  return (request, response) => {
    if (request.method !== method) return false;
    request.resume();
    answer(response, request);
    return true;
  };
};
const DATE = new Date('2026-11-01T00:00:00Z').toUTCString();

/** The bytes that come over the wire when the image is asked for twice on one connection. */
async function askTwice(): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const get = `GET ${picture} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const health = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  socket.write(get + health);
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.on('error', () => {});
  await Promise.race([once(socket, 'close'), sleep(20_000)]);
  socket.destroy();
  return text;
}

const isServing = async () => (await fetch(`http://127.0.0.1:${port}/health`)).status;

describe('an image', () => {
  test('that is longer than the store has said is cut: no byte of it becomes the next answer', async () => {
    const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEVIL!';
    s3.setLie(
      on('GET', (response) => {
        response.writeHead(200, { 'content-length': PNG.length + forged.length, 'last-modified': DATE });
        response.end(Buffer.concat([PNG, Buffer.from(forged)]));
      }),
    );
    expect(await askTwice()).not.toContain('EVIL!');
    // The same without a length.
    s3.setLie(
      on('GET', (response) => {
        response.writeHead(200, { 'last-modified': DATE });
        response.write(PNG);
        response.end(forged.repeat(100));
      }),
    );
    expect(await askTwice()).not.toContain('EVIL!');
  });

  test('that never ends is cut, and the store is let go', async () => {
    let closed = 0;
    s3.setLie(
      on('GET', (response) => {
        response.writeHead(200, { 'last-modified': DATE });
        const timer = setInterval(() => response.write(Buffer.alloc(65_536)), 1);
        response.on('close', () => {
          clearInterval(timer);
          closed++;
        });
      }),
    );
    const before = process.memoryUsage.rss();
    await askTwice();
    await vi.waitFor(() => expect(closed).toBe(1), 5_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1_048_576);
  });

  test('that is shorter than the store has said ends the connection, and does not hang', async () => {
    s3.setLie(
      on('GET', (response) => {
        response.writeHead(200, { 'last-modified': DATE });
        response.end(PNG.subarray(0, 10));
      }),
    );
    const began = performance.now();
    const text = await askTwice();
    // The answer to the next request never stands where the rest of the image should be.
    expect(text).not.toContain('"status"');
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(await isServing()).toBe(200);
  });

  test.each([
    ['no length', { 'last-modified': DATE, 'transfer-encoding': 'chunked' }],
    ['no date', { 'content-length': '79' }],
    ['a length that no file of ours has', { 'content-length': '2000000000', 'last-modified': DATE }],
    ['a length that is no number', { 'content-length': 'much', 'last-modified': DATE }],
    ['a negative length', { 'content-length': '-5', 'last-modified': DATE }],
    ['a length of nine petabytes', { 'content-length': '9007199254740993', 'last-modified': DATE }],
    ['a date that is none', { 'content-length': '79', 'last-modified': 'yesterday' }],
  ])('with %s is a 503, in a line of the log', async (_what, headers) => {
    s3.setLie((request) => {
      if (request.method !== 'HEAD') return false;
      // Written by hand: an honest server would not let such headers out.
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      request.socket.end(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`);
      return true;
    });
    const answer = await service.app.inject({ url: picture });
    expect([answer.statusCode, answer.body]).toEqual([
      503,
      expect.stringContaining('The store of images can not be reached'),
    ]);
    expect(await isServing()).toBe(200);
  });

  test('that is somewhere else is not looked for there', async () => {
    let visits = 0;
    const elsewhere = http.createServer((_request, response) => {
      visits++;
      response.end('secret');
    });
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    for (const status of [301, 302, 303, 307, 308]) {
      for (const method of ['HEAD', 'GET']) {
        s3.setLie(on(method, (response) => response.writeHead(status, { location }).end()));
        const answer = await service.app.inject({ url: picture });
        expect([method, status, answer.statusCode]).toEqual([method, status, 503]);
        expect(answer.body).not.toContain('secret');
      }
    }
    expect(visits).toBe(0);
    elsewhere.close();
  });

  test('that comes drop by drop holds neither the service nor other images', async () => {
    s3.setLie(
      on('HEAD', (response, request) => {
        const timer = setInterval(() => request.socket.write('X'), 100);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const slow = media.find({ shopId: 'Shop', folder: FOLDER, file: 'a.png' });
    const began = performance.now();
    await expect(slow).rejects.toMatchObject({ status: 503 });
    expect(performance.now() - began).toBeLessThan(PATIENCE + 3_000);
    expect(await isServing()).toBe(200);
  });
});

describe('a list of images', () => {
  const xml = (response: ServerResponse, text: string) =>
    response.writeHead(200, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);
  const contents = (key: string) =>
    `<Contents><Key>${key}</Key><LastModified>2026-11-01T00:00:00.000Z</LastModified><Size>5</Size></Contents>`;
  const prefix = () => new URL(service.config.MEDIA_URL!).pathname.slice(1);
  const all = async () => {
    const names = [];
    for await (const name of media.files('Shop')) names.push(name);
    return names;
  };

  test.each([
    [
      'that goes on with the same page',
      '<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>',
    ],
    ['that goes on without saying where', '<IsTruncated>true</IsTruncated>'],
  ])('%s ends with a 503', async (_what, more) => {
    let asked = 0;
    s3.setLie(
      on('GET', (response) => {
        asked++;
        xml(
          response,
          `<ListBucketResult>${more}${contents(`${prefix()}/Shop/${FOLDER}/a.png`)}</ListBucketResult>`,
        );
      }),
    );
    await expect(all()).rejects.toMatchObject({ status: 503 });
    expect(asked).toBeLessThan(5);
  });

  test('whose pages are empty and never end, ends with a 503', async () => {
    let asked = 0;
    s3.setLie(
      on('GET', (response) => {
        asked++;
        xml(
          response,
          `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${asked}</NextContinuationToken></ListBucketResult>`,
        );
      }),
    );
    await expect(all()).rejects.toMatchObject({ status: 503 });
    expect(asked).toBeLessThan(5);
  });

  test('of a gigabyte is not read into memory', async () => {
    let sent = 0;
    s3.setLie(
      on('GET', (response) => {
        response.writeHead(200, { 'content-type': 'application/xml' });
        response.write('<?xml version="1.0"?><ListBucketResult>');
        const piece = contents(`${prefix()}/Shop/${FOLDER}/a.png`).repeat(500);
        const more = () => {
          while (sent < 1_073_741_824 && !response.destroyed) {
            sent += piece.length;
            if (!response.write(piece)) return void response.once('drain', more);
          }
        };
        more();
      }),
    );
    const before = process.memoryUsage.rss();
    await expect(all()).rejects.toMatchObject({ status: 503 });
    expect(sent).toBeLessThan(100 * 1_048_576);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1_048_576);
  });

  test('that comes drop by drop ends when the patience does', async () => {
    s3.setLie(
      on('GET', (response) => {
        response.writeHead(200, { 'content-type': 'application/xml' });
        response.write('<?xml version="1.0"?><ListBucketResult>');
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const began = performance.now();
    await expect(all()).rejects.toMatchObject({ status: 503 });
    expect(performance.now() - began).toBeLessThan(PATIENCE + 3_000);
  });

  const ENTITIES = `<!DOCTYPE l [<!ENTITY a "${'a'.repeat(1_000)}">${'bcdefgh'
    .split('')
    .map((name, index) => `<!ENTITY ${name} "${`&${'abcdefgh'[index]};`.repeat(10)}">`)
    .join('')}<!ENTITY x SYSTEM "file:///etc/passwd">]>`;
  test.each([
    [
      'with entities',
      `${ENTITIES}<ListBucketResult><Contents><Key>&h;&x;</Key></Contents></ListBucketResult>`,
    ],
    ['that is an error', '<Error><Code>InternalError</Code><Message>We lied</Message></Error>'],
    ['that is a page', '<!doctype html><html><body>hello</body></html>'],
    ['that is no XML', '{"Contents":[]}'],
    ['that is nested deeply', `${'<a>'.repeat(200_000)}${'</a>'.repeat(200_000)}`],
    [
      'with names of an object’s own',
      '<ListBucketResult><__proto__><x>1</x></__proto__><constructor/></ListBucketResult>',
    ],
    ['without keys', '<ListBucketResult><Contents><Size>5</Size></Contents></ListBucketResult>'],
    [
      'without dates',
      `<ListBucketResult><Contents><Key>Shop/${FOLDER}/a.png</Key></Contents></ListBucketResult>`,
    ],
  ])('%s names no file, and holds nobody up', async (_what, text) => {
    s3.setLie(on('GET', (response) => void xml(response, text)));
    const began = performance.now();
    const names = await all().catch((error: unknown) => error);
    expect(names instanceof Error ? (names as { status?: number }).status : names).toEqual(
      names instanceof Error ? 503 : [],
    );
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('that names files of others leads to none being removed', async () => {
    const deleted: string[] = [];
    s3.setLie((request, response) => {
      request.resume();
      if (request.method === 'DELETE') {
        deleted.push(request.url!);
        response.writeHead(204).end();
        return true;
      }
      xml(
        response,
        `<ListBucketResult>${[
          'other-bucket-file',
          `${prefix()}/Other/${FOLDER}/a.png`,
          `${prefix()}/Shop/../Other/b.png`,
        ]
          .map(contents)
          .join('')}</ListBucketResult>`,
      );
      return true;
    });
    await media.removeFolders('Shop', [FOLDER]).catch(() => {});
    await media.removeShop('Shop').catch(() => {});
    expect(deleted).toEqual([]);
  });

  test('is tried again the next day, when the clean-up met one that lies', async () => {
    s3.setLie(
      on(
        'GET',
        (response) =>
          void xml(response, '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'),
      ),
    );
    const step = mediaCleanup(media, { config: service.config, log: pino({ level: 'silent' }) });
    await expect(step.run(service.db, 100)).rejects.toMatchObject({ status: 503 });
    s3.setLie(undefined);
    expect(await step.run(service.db, 100)).toBe(0);
  });
});

describe('an upload', () => {
  test('whose answer is an error with 200, a wrong ETag, or a page, leaves no half of an image', async () => {
    for (const [body, etag] of [
      ['<?xml version="1.0"?><Error><Code>InternalError</Code><Message>We lied</Message></Error>', '"x"'],
      ['', '"00000000000000000000000000000000"'],
      ['<html>hello</html>', ''],
      ['x'.repeat(5_000_000), '"x"'],
    ] as const) {
      s3.setLie(on('PUT', (response) => response.writeHead(200, etag === '' ? {} : { etag }).end(body)));
      const { status } = await sendImage(service, slideshow, `lied-${body.length}.png`, PNG, { token });
      expect([201, 503]).toContain(status);
      expect(await isServing()).toBe(200);
    }
  });

  test('that the store takes and forgets is an image that is missing, and the page is whole', async () => {
    s3.setLie(on('PUT', (response) => response.writeHead(200, { etag: '"x"' }).end()));
    const { body, status } = await sendImage(service, slideshow, 'forgotten.png', PNG, { token });
    s3.setLie(undefined);
    expect(status).toBe(201);
    const { statusCode } = await service.app.inject({ url: new URL(body.sizes[0].url).pathname });
    expect(statusCode).toBe(404);
  });
});
