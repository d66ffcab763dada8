import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { createLog } from '../src/platform/log.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../src/composition/app.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/database.ts';
import { createDemoShops } from '../src/commands/demo/demo-shop.ts';
import { givenToken } from './builders.ts';
import { fingerprint, reopenDemo, startDemo } from './demo.ts';
import { cloneDatabase, databaseOptions, startService, type Service } from './service.ts';

/** What only a server that really listens shows. */

let service: Service;
let port: number;

beforeAll(async () => {
  service = await startDemo();
  port = await listen(service);
  bearer.authorization = `Bearer ${await givenToken(service, 'DemoShop')}`;
});

afterAll(() => service.close());

async function listen({ app }: Pick<Service, 'app'>): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  at?: number;
}

/** One request on a connection of its own; unlike fetch, it sends any Host and tidies nothing up. */
async function send({ method = 'GET', path, headers = {}, body, at = port }: Sent): Promise<Reply> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const request = httpRequest({
    host: '127.0.0.1',
    port: at,
    method,
    path,
    agent: false,
    headers: {
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...headers,
    },
  });
  request.end(text);
  const [response] = await once(request, 'response');
  let answer = '';
  for await (const chunk of response.setEncoding('utf8')) answer += chunk;
  return { status: response.statusCode, headers: response.headers, text: answer };
}

/** What comes back when exactly these bytes are sent, up to the end of the connection. */
async function sendBytes(bytes: string, at = port): Promise<string> {
  const socket = connect(at, '127.0.0.1').setEncoding('latin1');
  socket.write(bytes, 'latin1');
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

/** Of a token that is good for every request: some of these here are those of strangers, which end the known tokens. */
const bearer = { authorization: '' };
const customers = '/rs/shops/DemoShop/customers';

describe('what is no request of the API', () => {
  test.each([
    '/rs/shops/DemoShop/nothing',
    '/rs/shops/DemoShop/customers/1/2/3',
    '/rs/shops',
    '/rs/shops/',
    '/rs',
    '/nothing',
    '/rs/shops/../../health',
    '//rs/shops/DemoShop',
    '/rs/shops//customers',
    '/rs/shops/Nowhere/customers',
  ])('the path %s is 404', async (path) => {
    const { status, headers, text } = await send({ path, headers: bearer });
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(text)).toEqual({
      message: `HTTP 404 Not Found, Request: GET ${path}`,
      status: 'Not Found',
    });
  });

  test.each([
    ['/rs/shops/DemoShop/nothing', 'PATH_NOT_FOUND', undefined],
    ['/rs/shops/Nowhere/customers', 'SHOP_NOT_FOUND', 'shopId'],
    ['/rs/shops/Nowhere/nothing', 'SHOP_NOT_FOUND', 'shopId'],
    ['/rs/shops/DemoShop/customers/nothing', 'NOT_FOUND', 'customerId'],
    ['/rs/shops/DemoShop/customers?page=x', 'WRONG_TYPE', 'page'],
    ['/rs/shops/DemoShop/products?locale=en', 'LOCALE_INCOMPLETE', 'locale'],
  ])('the refusal of %s has the code %s', async (path, code, field) => {
    const { headers } = await send({ path, headers: bearer });
    expect([headers['x-error-code'], headers['x-error-field'], headers['link']]).toEqual([
      code,
      field,
      `</docs/errors#${code.toLowerCase()}>; rel="help"`,
    ]);
  });

  test('an unknown query parameter is ignored, and named where only this machine can call', async () => {
    const path = `${customers}?pgae=2&resultsPerPage=1&odd%0D%0A=1&%C3%A4=1`;
    await reopenDemo(service);
    const own = await send({ path, headers: { ...bearer, host: `localhost:${port}` } });
    expect([own.status, own.headers['x-warning']]).toEqual([
      200,
      'unknown query parameter pgae, did you mean page?; unknown query parameter odd??; unknown query parameter ?',
    ]);
    const known = await send({
      path: `${customers}?page=1`,
      headers: { ...bearer, host: `localhost:${port}` },
    });
    expect(known.headers['x-warning']).toBeUndefined();
    const forwarded = { ...bearer, 'x-forwarded-for': '203.0.113.9' };
    const other = await send({ path, headers: forwarded });
    expect([other.status, other.headers['x-warning']]).toEqual([200, undefined]);
  });

  test('a method that HTTP does not need here', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'PURGE']) {
      const { status, text } = await send({ method, path: customers, headers: bearer });
      expect([404, 405]).toContain(status);
      expect(JSON.parse(text)).toEqual({
        message: expect.stringContaining(`, Request: ${method} ${customers}`),
        status: expect.any(String),
      });
    }
  });

  test.each([
    // Another path of the API has these methods, and a segment there may be anything.
    ['DELETE', '/rs/shops/DemoShop/products/find', 'POST,OPTIONS'],
    ['PATCH', '/rs/shops/DemoShop/products/export', 'HEAD,GET,OPTIONS'],
    ['POST', '/rs/shops/DemoShop/products/export', 'HEAD,GET,OPTIONS'],
    ['POST', '/rs/shops/DemoShop/products/x', 'HEAD,GET,PATCH,DELETE,OPTIONS'],
    ['DELETE', `http://localhost${customers}`, 'HEAD,GET,POST,OPTIONS'],
    ['DELETE', '/%72s/shops/DemoShop/customers/?page=1', 'HEAD,GET,POST,OPTIONS'],
  ])('%s %s is 405', async (method, path, allow) => {
    const answer = await send({ method, path, headers: bearer });
    expect([answer.status, answer.headers.allow, answer.headers['x-error-code']]).toEqual([
      405,
      allow,
      'METHOD_NOT_ALLOWED',
    ]);
    const options = await send({ method: 'OPTIONS', path });
    expect([options.status, options.headers.allow]).toEqual([200, allow]);
  });

  test('HEAD of a refusal has no body', async () => {
    for (const [path, status] of [
      ['/rs/shops/DemoShop/token', 405],
      ['/rs/shops/DemoShop/nothing', 404],
      [`${customers}/x`, 404],
    ] as const) {
      const answer = await send({ method: 'HEAD', path, headers: bearer });
      expect([answer.status, answer.text]).toEqual([status, '']);
    }
  });

  const broken = (text: string) => ({
    message: `${text}, Request: - -`,
    status: 'Bad Request',
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a version that does not exist', 'GET /rs/shops/DemoShop HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
    ['a header with a line break', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('%s is 400', async (_case, bytes) => {
    const [head, body] = (await sendBytes(bytes)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/json\r\n/);
    expect(JSON.parse(body!)).toEqual(broken('The request is not valid HTTP'));
  });

  test.each([
    ['one of 20 kB', { 'x-long': 'x'.repeat(20_000) }],
    [
      '200 of 100 bytes',
      Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${index}`, 'x'.repeat(100)])),
    ],
  ] as [string, Record<string, string>][])('headers that are too large: %s', async (_case, headers) => {
    const { status, text } = await send({ path: customers, headers: { ...bearer, ...headers } });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual(broken('The headers are too large'));
  });

  test('a header that comes twice counts once, or is refused', async () => {
    const carts = '/rs/shops/DemoShop/carts';
    const made = await send({ method: 'POST', path: carts, body: {} });
    const cart = `${carts}/${JSON.parse(made.text).cartId}`;
    const cartToken = `X-ePages-Cart-Token: ${String(made.headers['x-epages-cart-token'])}`;
    const ask = async (...lines: string[]) => {
      const answer = await sendBytes(
        [`GET ${cart} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'),
      );
      return Number(answer.split(' ')[1]);
    };
    const authorization = `Authorization: ${bearer.authorization}`;
    expect(await ask(cartToken)).toBe(200);
    expect(await ask(cartToken, cartToken.toUpperCase().replace(/:.*/, ': x'))).toBe(403);
    expect(await ask('X-epages-cart-token: x', cartToken)).toBe(403);
    expect(await ask(cartToken, authorization, 'Authorization: Bearer x')).toBe(200);
    expect(await ask(cartToken, 'Accept: text/html', 'Accept: application/json')).toBe(200);
    expect(await ask(cartToken, 'Content-Type: text/xml', 'Content-Type: text/xml')).toBe(200);
    expect(await ask(cartToken, 'If-None-Match: *', 'If-None-Match: "x"')).toBe(200);
    expect(await ask(`${cartToken}${'x'.repeat(10_000)}`)).toBe(403);
  });

  test('many small headers are fine', async () => {
    const headers = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${index}`, 'x']));
    expect((await send({ path: customers, headers: { ...bearer, ...headers } })).status).toBe(200);
  });
});

describe('slow clients', () => {
  let slow: Service;

  beforeAll(async () => {
    slow = await startService({}, service);
  });

  afterAll(() => slow.close());

  test('are cut: headers within 10 s, a request within 30 s', async () => {
    const { server } = slow.app;
    const { headersTimeout, requestTimeout, keepAliveTimeout } = server;
    expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
    });

    // The same with shorter times: what matters is that somebody looks at the clock often enough.
    server.headersTimeout = 300;
    server.requestTimeout = 600;
    const at = await listen(slow);
    const started = performance.now();
    const head = `POST ${customers} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${bearer.authorization}\r\n`;
    const [silent, ...answers] = await Promise.all([
      sendBytes('', at),
      sendBytes(`${head}X-Slow:`, at),
      sendBytes(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"billing`, at),
    ]);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(silent).toBe('');
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/json\r\n/);
      expect(answer).toContain('"message":"The request took too long, Request: - -"');
    }
  });
});

describe('Idempotency-Key', () => {
  let count = 0;
  const newKey = () => `key-${++count}`;
  const body = { billingAddress: { firstName: 'Once' } };

  const create = (key: string, changed: Partial<Sent> = {}) =>
    send({
      method: 'POST',
      path: customers,
      body,
      ...changed,
      headers: { ...bearer, 'idempotency-key': key, ...changed.headers },
    });
  const rows = async () =>
    Number((await service.db.pool.query('select count(*) from customer')).rows[0].count);
  const idOf = ({ text }: Reply) => (JSON.parse(text) as { customerId: string }).customerId;

  afterEach(() => service.setClock(undefined));

  test('the same request again gets the first answer', async () => {
    const before = await rows();
    const key = newKey();
    const first = await create(key);
    const again = await create(key);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers).toMatchObject({
      'idempotency-replayed': 'true',
      'content-type': 'application/json',
      'x-epages-media-type': 'application/vnd.epages.v1+json',
    });
    expect(await rows()).toBe(before + 1);
  });

  test('without a key every request counts', async () => {
    const [first, second] = [
      await send({ method: 'POST', path: customers, headers: bearer, body }),
      await send({ method: 'POST', path: customers, headers: bearer, body }),
    ];
    expect(idOf(first)).not.toBe(idOf(second));
  });

  test('another request is refused, and changes nothing', async () => {
    const key = newKey();
    await create(key);
    const before = await fingerprint(service);
    const others: Partial<Sent>[] = [
      { body: { billingAddress: { firstName: 'Other' } } },
      { path: `${customers}?x=1` },
      { path: '/rs/shops/DemoShop/script-tags', body: { scriptUrl: 'https://cdn.example/a.js' } },
    ];
    for (const other of others) {
      const { status, text } = await create(key, other);
      expect(status).toBe(409);
      expect(JSON.parse(text).message).toMatch(
        /^This Idempotency-Key was used for another request, Request: POST /,
      );
    }
    expect(await fingerprint(service)).toEqual(before);
  });

  test('many at once have one effect', async () => {
    const before = await rows();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(key)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(7);
    expect(await rows()).toBe(before + 1);
  });

  test('after 24 hours it is a new write', async () => {
    const key = newKey();
    const now = Date.now();
    const hours = (count: number) => service.setClock(new Date(now + count * 3_600_000));
    hours(0);
    const first = await create(key);
    hours(23.99);
    expect(idOf(await create(key))).toBe(idOf(first));
    hours(24.01);
    const later = await create(key);
    expect(later.status).toBe(201);
    expect(later.headers['idempotency-replayed']).toBeUndefined();
    expect(idOf(later)).not.toBe(idOf(first));
    hours(48);
    expect(idOf(await create(key))).toBe(idOf(later));
  });

  test('a refused write is not kept', async () => {
    const key = newKey();
    const taken = { customerNumber: '1001', ...body };
    expect((await create(key, { body: {} })).status).toBe(400);
    expect((await create(key, { body: taken })).status).toBe(409);
    const { status, headers } = await create(key);
    expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  test("is not another token's, nor another shop's", async () => {
    const key = newKey();
    const first = await create(key);
    const token = await givenToken(service, 'DemoShop');
    const second = await create(key, { headers: { authorization: `Bearer ${token}` } });
    expect([second.status, second.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect(idOf(second)).not.toBe(idOf(first));
    const elsewhere = await givenToken(service, 'EmptyShop');
    const third = await create(key, {
      path: '/rs/shops/EmptyShop/customers',
      headers: { authorization: `Bearer ${elsewhere}` },
    });
    expect([third.status, third.headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  test('an empty answer is replayed as well', async () => {
    const { text } = await send({
      method: 'POST',
      path: '/rs/shops/DemoShop/script-tags',
      headers: bearer,
      body: { scriptUrl: 'https://cdn.example/gone.js' },
    });
    const path = `/rs/shops/DemoShop/script-tags/${(JSON.parse(text) as { scriptTagId: string }).scriptTagId}`;
    const headers = { ...bearer, 'idempotency-key': newKey() };
    const remove = () => send({ method: 'DELETE', path, headers });
    expect(await remove()).toMatchObject({ status: 204, text: '' });
    const again = await remove();
    expect(again).toMatchObject({ status: 204, text: '', headers: { 'idempotency-replayed': 'true' } });
    expect(again.headers['content-type']).toBeUndefined();
    expect((await send({ method: 'DELETE', path, headers: bearer })).status).toBe(404);
  });
});

describe('the addresses in answers', () => {
  const others: Service[] = [];
  /** One that works from anywhere, which those of the demo shop do not. */
  let own: { authorization: string };

  beforeAll(async () => {
    own = { authorization: `Bearer ${await givenToken(service, 'DemoShop')}` };
  });

  afterAll(async () => {
    for (const other of others) await other.close();
  });

  const start = async (environment: Record<string, string>) => {
    const other = await startService(environment, service);
    others.push(other);
    return listen(other);
  };
  const selfOf = async (sent: Omit<Sent, 'path'>) => {
    const { text } = await send({
      ...sent,
      path: `${customers}?resultsPerPage=1`,
      headers: { ...own, ...sent.headers },
    });
    const { items } = JSON.parse(text) as { items: { links: { href: string }[] }[] };
    return items[0]!.links[0]!.href.replace(/\/customers\/.*/, '');
  };
  const forwarded = {
    'x-forwarded-host': 'shop.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '192.0.2.7',
  };

  test('are those the client used', async () => {
    expect(await selfOf({})).toBe(`http://127.0.0.1:${port}/rs/shops/DemoShop`);
    expect(await selfOf({ headers: { host: 'kontor.example:81' } })).toBe(
      'http://kontor.example:81/rs/shops/DemoShop',
    );
    expect(await selfOf({ headers: { host: '[::1]:8080' } })).toBe('http://[::1]:8080/rs/shops/DemoShop');
  });

  test('X-Forwarded-* of anybody is ignored', async () => {
    expect(await selfOf({ headers: forwarded })).toBe(`http://127.0.0.1:${port}/rs/shops/DemoShop`);
    const at = await start({ TRUST_PROXY: '192.0.2.1' });
    expect(await selfOf({ at, headers: forwarded })).toBe(`http://127.0.0.1:${at}/rs/shops/DemoShop`);
  });

  test('X-Forwarded-* of a proxy counts', async () => {
    const at = await start({ TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' });
    expect(await selfOf({ at, headers: forwarded })).toBe('https://shop.example/rs/shops/DemoShop');
    expect(await selfOf({ at })).toBe(`http://127.0.0.1:${at}/rs/shops/DemoShop`);
  });

  test('so does the address of its client, for the rate limit', async () => {
    const left = async (at: number, address: string) => {
      const headers = { 'x-forwarded-for': address };
      const answer = await send({ at, path: '/rs/shops/DemoShop/countries', headers });
      return Number(answer.headers['x-ratelimit-remaining']);
    };
    const limit = { RATE_LIMIT_ANONYMOUS: '1000' };
    const behind = await start({ ...limit, TRUST_PROXY: '127.0.0.1' });
    expect([await left(behind, '192.0.2.8'), await left(behind, '192.0.2.9')]).toEqual([999, 999]);
    const bare = await start(limit);
    const first = await left(bare, '192.0.2.10');
    expect(await left(bare, '192.0.2.11')).toBe(first - 1);
  });

  test('PUBLIC_URL beats them all', async () => {
    for (const PUBLIC_URL of ['https://public.example', 'https://public.example/']) {
      const at = await start({ PUBLIC_URL, TRUST_PROXY: '127.0.0.1' });
      expect(await selfOf({ at, headers: forwarded })).toBe('https://public.example/rs/shops/DemoShop');
      expect(await selfOf({ at, headers: { host: 'bad host' } })).toBe(
        'https://public.example/rs/shops/DemoShop',
      );
    }
  });

  test.each(['bad host', 'a/b', 'a@b', '<script>', "a'b", 'a"b', 'a:b', '[::1', 'x'.repeat(300)])(
    'the Host %s is refused',
    async (host) => {
      const { status, text } = await send({ path: customers, headers: { ...own, host } });
      expect(status).toBe(400);
      expect(JSON.parse(text)).toEqual({
        message: `The Host header is not a host name, Request: GET ${customers}`,
        status: 'Bad Request',
      });
    },
  );
});

describe('X-Request-Id', () => {
  const idOf = async (given: string) =>
    (await send({ path: customers, headers: { ...bearer, 'x-request-id': given } })).headers['x-request-id'];

  test('is given back', async () => {
    for (const id of ['a', 'b7f1.trace_2-x', 'x'.repeat(64)]) expect(await idOf(id)).toBe(id);
  });

  test('is replaced when it is none', async () => {
    const made = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    for (const id of ['', 'a b', 'x'.repeat(65), '{"a":1}', '<b>', 'a;b'])
      expect(await idOf(id)).toMatch(made);
    const { headers } = await send({ path: '/nothing' });
    expect(headers['x-request-id']).toMatch(made);
  });
});

describe('without its database', () => {
  test('the service says so, and lives', async () => {
    const { name, drop } = await cloneDatabase();
    const db = openDatabase(databaseOptions(name));
    const config = readConfig({});
    const known = { authorization: 'Bearer demo-all' };
    await createDemoShops(db, config);
    const { lines, log } = recordedLog();
    const app = await buildApp({ config, db, log });
    const at = await listen({ app });
    const get = (path: string, headers: Record<string, string> = known) => send({ at, path, headers });
    expect((await get(customers)).status).toBe(200);
    expect((await get('/ready')).status).toBe(200);

    await drop();
    lines.length = 0;
    const unknown = { authorization: 'Bearer somebody-else' };
    const calls: [string, Record<string, string>][] = [
      [customers, known],
      [customers, unknown],
      ['/rs/shops/DemoShop/locales', {}],
      ['/rs/shops/Nowhere/locales', {}],
      ['/rs/shops/DemoShop/nothing', unknown],
    ];
    for (let round = 1; round <= 2; round++) {
      for (const [path, headers] of calls) {
        const answer = await get(path, headers);
        expect(answer).toMatchObject({ status: 503, headers: { 'content-type': 'application/json' } });
        expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
        expect(JSON.parse(answer.text)).toEqual({
          message: expect.stringMatching(new RegExp(`, Request: GET ${path}$`)),
          status: 'Service Unavailable',
        });
        expect(answer.text).not.toContain(name);
      }
      const write = await send({
        at,
        method: 'POST',
        path: customers,
        headers: known,
        body: { billingAddress: {} },
      });
      expect(write.status).toBe(503);
      expect((await get('/ready')).status).toBe(503);
      expect((await get('/health')).status).toBe(200);
      expect((await get('/metrics')).status).toBe(200);
    }
    // What saves counts every few seconds has a line of its own.
    const failures = lines.filter((line) => line['msg'] !== 'request' && 'requestId' in line);
    expect(failures).toEqual(
      failures.map(() => ({
        level: 40,
        time: expect.any(Number),
        requestId: expect.any(String),
        reason: expect.any(String),
        msg: 'no database',
      })),
    );
    expect(failures.length).toBeGreaterThan(0);
    await app.close();
    await db.close();
  });

  test('and while its schema is being brought up to date', async () => {
    let migrated = false;
    const { lines, log } = recordedLog();
    const app = await buildApp({ config: readConfig({}), db: service.db, log, isMigrated: () => migrated });
    const at = await listen({ app });
    const status = async (path: string) => (await send({ at, path, headers: bearer })).status;
    expect(await Promise.all(['/health', '/ready', customers].map(status))).toEqual([200, 503, 503]);
    lines.length = 0;
    const early = [
      customers,
      '/rs/shops/DemoShop/nothing',
      '/manage/shops/DemoShop/events',
      '/shop/DemoShop',
    ];
    for (const path of early) expect([path, await status(path)]).toEqual([path, 503]);
    expect(lines).toEqual(
      early.map((path) => ({
        level: 30,
        time: expect.any(Number),
        requestId: expect.any(String),
        method: 'GET',
        path,
        status: 503,
        ms: expect.any(Number),
        msg: 'request',
      })),
    );
    migrated = true;
    expect(await Promise.all(['/health', '/ready', customers].map(status))).toEqual([200, 200, 200]);
    await app.close();
  });
});

/** A log, and its lines as they are written. */
function recordedLog() {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
  return { lines, log: createLog('info', stream) };
}

test('no browser may render, frame or guess at an answer', async () => {
  for (const url of [
    '/rs/shops/DemoShop/currencies',
    '/rs/shops/DemoShop/nothing',
    '/rs/shops/DemoShop/%ff',
  ]) {
    const { headers } = await service.app.inject(url);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'private, no-cache',
    });
  }
  // The pages of a shop tell their own forms, and nobody else, where they come from.
  for (const [url, policy] of [
    ['/', 'no-referrer'],
    ['/shop/DemoShop', 'same-origin'],
    ['/docs', 'no-referrer'],
    ['/nothing', 'no-referrer'],
  ] as const) {
    const { headers } = await service.app.inject(url);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': policy,
    });
  }
});

describe('what is left behind', () => {
  const lines: string[] = [];
  let at: number;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    });
    const app = await buildApp({
      config: readConfig({}),
      db: service.db,
      log: createLog('info', stream),
    });
    at = await listen({ app });
    lines.length = 0;
    close = () => app.close();
  });

  afterAll(() => close());

  const requests: [Sent, number][] = [
    [{ path: `${customers}?page=1&word=private-word` }, 200],
    [{ method: 'POST', path: customers, body: { billingAddress: { firstName: 'private-word' } } }, 201],
    [{ method: 'POST', path: customers, body: { billingAddress: { birthday: 'private-word' } } }, 400],
    [{ path: `${customers}/x?word=private-word` }, 404],
    [{ path: '/rs/shops/DemoShop/nothing?word=private-word' }, 404],
    [{ path: '/rs/shops/DemoShop/%ff?word=private-word' }, 400],
    [{ path: customers, headers: { authorization: 'Bearer private-word' } }, 401],
    [{ path: customers, headers: { accept: 'text/html' } }, 406],
    [{ method: 'DELETE', path: customers }, 405],
    [{ method: 'OPTIONS', path: customers }, 200],
    [{ method: 'HEAD', path: customers }, 200],
    [{ path: '/health?word=private-word' }, 200],
    [{ path: '/nothing/one?word=private-word' }, 404],
    [{ path: '/nothing/two' }, 404],
  ];

  test('one line per request in the log, without anything private', async () => {
    for (const [sent, status] of requests) {
      const id = `line-${lines.length}`;
      const headers = { ...bearer, cookie: 'private-word', 'x-request-id': id, ...sent.headers };
      const answer = await send({ ...sent, at, headers });
      expect(answer).toMatchObject({ status });
      await expect.poll(() => lines.length).toBeGreaterThan(Number(id.slice('line-'.length)));
      expect(JSON.parse(lines.at(-1)!)).toMatchObject({
        requestId: id,
        method: sent.method ?? 'GET',
        path: sent.path.split('?')[0],
        status,
        ms: expect.any(Number),
        msg: 'request',
      });
    }
    expect(lines).toHaveLength(requests.length);
    expect(lines.join('')).not.toMatch(/private-word|Bearer|billingAddress|\?/);
    expect(lines.join('')).not.toContain(bearer.authorization.slice('Bearer '.length));
    const [first] = lines;
    expect(JSON.parse(first!).app).toMatch(/^[0-9a-f-]{36}$/i);
  });

  test('counts by route and status, where paths that lead nowhere share one', async () => {
    const { headers, text } = await send({ at, path: '/metrics' });
    expect(headers['content-type']).toMatch(/^text\/plain; version=/);
    const counts = new Map(
      [...text.matchAll(/^http_request_duration_seconds_count\{(.*)\} (\d+)$/gm)].map(([, labels, count]) => [
        labels!.replaceAll('"', ''),
        Number(count),
      ]),
    );
    const of = (method: string, route: string, status: number) =>
      counts.get(`method=${method},route=${route},status=${status}`);
    const route = '/rs/shops/:shopId/customers';
    expect([of('GET', route, 200), of('GET', route, 401), of('GET', route, 406)]).toEqual([1, 1, 1]);
    expect([of('POST', route, 201), of('POST', route, 400), of('DELETE', route, 405)]).toEqual([1, 1, 1]);
    expect(of('GET', `${route}/:customerId`, 404)).toBe(1);
    expect(of('any', 'unrouted', 404)).toBe(3);
    expect(of('GET', '/health', 200)).toBe(1);
    expect(text).not.toMatch(/private-word|nothing|DemoShop/);
    expect(text).toMatch(/^database_connections\{state="open"\} \d+$/m);
  });
});
