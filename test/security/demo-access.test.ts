import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { givenBrowser } from '../admin.ts';
import { givenToken } from '../builders.ts';
import { kontorHere } from '../command.ts';
import { reopenDemo, startDemo } from '../demo.ts';
import { databaseEnvironment, startService, type Service } from '../service.ts';

/**
 * A service on a loopback address has to guess whether a proxy stands in front of it. Once it guessed anew for each
 * request, so that one without a forwarding header got the demo owner, and demo payments stayed open beside closed
 * tokens. Now the first sign of others closes all of it, in every process and for every later start.
 */
let service: Service;
const others: Service[] = [];

beforeAll(async () => {
  service = await startDemo();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reopenDemo(service);
});
afterAll(async () => {
  for (const other of others) await other.close();
  await service.close();
});

async function startBeside(environment: Record<string, string> = {}): Promise<Service> {
  const other = await startService(environment, service);
  others.push(other);
  await other.app.ready();
  return other;
}

const tokenStatus = async (at = service) =>
  (await at.call('GET', '/DemoShop/customers', { token: 'demo-all' })).status;

interface Sent {
  method?: 'GET' | 'POST';
  url?: string;
  headers?: Record<string, string>;
  address?: string;
}
const send = ({ method = 'GET', url = '/health', headers = {}, address = '127.0.0.1' }: Sent, at = service) =>
  at.app.inject({
    method,
    url,
    remoteAddress: address,
    headers: { host: 'localhost:8080', ...headers },
    ...(method === 'POST' && { payload: '' }),
  });

const storedEnds = () => service.db.many<{ sign: string }>(sql`select sign from demo_access_end`);

describe('the first sign of others closes demo access', () => {
  test.each<[string, Sent]>([
    ['a Host header that is not localhost', { headers: { host: 'shops.example' } }],
    ['a Host header that is not localhost', { headers: { host: '192.168.0.7:8080' } }],
    ['a Host header that is not localhost', { headers: { host: '127.example.com' } }],
    ['a peer that is not this machine', { address: '203.0.113.9' }],
    ['an Origin header that is not localhost', { headers: { origin: 'https://shops.example' } }],
    [
      'a Referer header that is not localhost',
      { headers: { referer: 'https://shops.example/admin', 'sec-fetch-site': 'same-origin' } },
    ],
    ...[
      'forwarded',
      'via',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-forwarded-port',
      'x-forwarded-server',
      'x-real-ip',
      'x-client-ip',
      'x-cluster-client-ip',
      'x-original-forwarded-for',
      'x-original-host',
      'x-original-url',
      'x-envoy-external-address',
      'x-envoy-expected-rq-timeout-ms',
      'x-amzn-trace-id',
      'x-amz-cf-id',
      'x-cloud-trace-context',
      'x-azure-clientip',
      'x-arr-log-id',
      'x-vercel-id',
      'x-nf-client-connection-ip',
      'x-varnish',
      'x-scheme',
      'x-ssl',
      'x-no-list-names-this',
      'fly-client-ip',
      'fly-forwarded-port',
      'fastly-client-ip',
      'fastly-ssl',
      'cdn-loop',
      'cf-connecting-ip',
      'cf-ray',
      'cf-visitor',
      'true-client-ip',
      'client-ip',
      'do-connecting-ip',
      'akamai-origin-hop',
      'cloudfront-viewer-address',
      'incap-client-ip',
      'wl-proxy-client-ip',
      'ali-cdn-real-ip',
      'front-end-https',
      'surrogate-capability',
      'remote-addr',
    ].map((name): [string, Sent] => [`the header ${name}`, { headers: { [name]: '127.0.0.1' } }]),
  ])('%s: %j', async (sign, sent) => {
    expect(await tokenStatus()).toBe(200);
    const warn = vi.spyOn(service.app.log, 'warn');
    await send(sent);
    // An ordinary request from this machine finds it closed.
    expect(await tokenStatus()).toBe(401);
    await service.app.demoAccess.refresh();
    expect(await tokenStatus()).toBe(401);
    expect(await storedEnds()).toEqual([{ sign }]);
    const lines = warn.mock.calls.filter(([values]) => Object.hasOwn(values as object, 'sign'));
    expect(lines).toEqual([[{ sign }, expect.stringContaining('npx kontor demo open')]]);
  });

  test('a connection of nginx as it is by default: HTTP/1.0, the address of the upstream as host', async () => {
    const listening = await startBeside();
    await listening.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = listening.app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /admin/sign-in/demo HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n` +
        `Origin: http://127.0.0.1:${port}\r\nSec-Fetch-Site: same-origin\r\n` +
        'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n',
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).not.toMatch(/set-cookie: admin=/i);
    await listening.app.demoAccess.refresh();
    expect(await storedEnds()).toEqual([{ sign: 'HTTP/1.0' }]);
  });
});

describe('what programs on this machine send does not close it', () => {
  test.each<Sent>([
    { headers: { host: 'localhost' } },
    { headers: { host: '127.0.0.1:8080' } },
    { headers: { host: '127.0.0.2:8080' } },
    { headers: { host: '[::1]:8080' }, address: '::1' },
    { headers: { host: 'demoshop.localhost:8080' }, url: '/', address: '::ffff:127.0.0.1' },
    // A page from the dev server of a front end, a file, a sandboxed frame, a browser extension.
    { headers: { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' } },
    { headers: { origin: 'http://app.localhost:3000' } },
    { headers: { origin: 'https://[::1]:5173' } },
    { headers: { origin: 'null' } },
    { headers: { origin: 'chrome-extension://aicmkgpgakddgnaphhhpliifpcfhicfo' } },
    // Somebody has followed a link from another site.
    { headers: { referer: 'https://github.com/', 'sec-fetch-site': 'cross-site' } },
    // Headers of browsers, page scripts, tracers, monitoring, and clients of the API.
    {
      headers: {
        'x-requested-with': 'XMLHttpRequest',
        'hx-request': 'true',
        'hx-current-url': 'http://localhost:8080/admin',
        'x-csrf-token': 'x',
      },
    },
    { headers: { 'x-epages-cart-token': 'x', 'x-request-id': 'a-1', 'idempotency-key': '1' } },
    { headers: { 'x-correlation-id': '1', traceparent: '00-1-1-01', 'x-b3-traceid': '1', baggage: 'a=b' } },
    { headers: { 'x-prometheus-scrape-timeout-seconds': '10' }, url: '/metrics' },
    { headers: { 'sec-purpose': 'prefetch', 'x-moz': 'prefetch', dnt: '1', 'sec-gpc': '1', te: 'trailers' } },
    {
      headers: { 'postman-token': '1', connection: 'close', 'cache-control': 'no-cache', pragma: 'no-cache' },
    },
  ])('%j', async (sent) => {
    expect((await send(sent)).statusCode).toBeLessThan(400);
    expect(await tokenStatus()).toBe(200);
    expect(await storedEnds()).toEqual([]);
  });
});

describe('closed for good', () => {
  test('in every process, after a restart, and until a command opens it', async () => {
    const running = await startBeside();
    expect(await tokenStatus(running)).toBe(200);
    await send({ headers: { 'fly-client-ip': '203.0.113.9' } });
    await service.app.demoAccess.refresh();
    // Here with the next look at the database, which every process takes every three seconds.
    await running.app.demoAccess.refreshQuietly();
    expect(await tokenStatus(running)).toBe(401);
    const restarted = await startBeside();
    expect(await tokenStatus(restarted)).toBe(401);

    const environment = {
      ...databaseEnvironment(service.database),
      KONTOR_DATA: service.config.KONTOR_DATA,
    };
    const refused = await kontorHere(['demo', 'open'], {
      ...environment,
      PUBLIC_URL: 'https://shops.example',
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Demo access is for a service that only this machine can call');
    expect(await storedEnds()).toEqual([{ sign: 'the header fly-client-ip' }]);
    const opened = await kontorHere(['demo', 'open'], environment);
    expect(opened.code).toBe(0);
    expect(opened.stdout).toContain('because a request had the header fly-client-ip');
    for (const one of [service, running, restarted]) {
      await one.app.demoAccess.refreshQuietly();
      expect(await tokenStatus(one)).toBe(200);
    }
  });

  test('without a statement for each request', async () => {
    const statements: string[] = [];
    const query = service.db.pool.query.bind(service.db.pool);
    vi.spyOn(service.db.pool, 'query').mockImplementation(((
      statement: { text: string },
      ...more: unknown[]
    ) => {
      statements.push(statement.text);
      return (query as (...given: unknown[]) => unknown)(statement, ...more);
    }) as never);
    for (let call = 0; call < 20; call++) await send({});
    await send({ headers: { via: '1.1 proxy' } });
    for (let call = 0; call < 20; call++) await send({ headers: { via: '1.1 proxy' } });
    await service.app.demoAccess.refresh();
    // One write, and a look at the database after it and for this test; the timer may have looked as well.
    const own = statements.filter((statement) => statement.includes('demo_access_end'));
    expect(own.filter((statement) => statement.includes('insert'))).toHaveLength(1);
    expect(own.length).toBeLessThanOrEqual(6);
  });

  test('a demo payment that waits can not be paid', async () => {
    const paymentId = '0199D3AD-B240-705A-BD5A-A939E0930051';
    await service.db.run(sql`
      insert into demo_payment (shop_id, payment_id, amount, currency, state, is_captured_by_hand, return_url,
        order_number, created_at)
      values ('DemoShop', ${paymentId}, 100, 'EUR', 'open', false, 'http://localhost:8080/', '1', ${service.db.now})`);
    const page = `/shop/DemoShop/demo-payment/${paymentId}`;
    expect((await send({ url: page })).statusCode).toBe(200);
    const paid = await service.app.inject({
      method: 'POST',
      url: page,
      headers: {
        host: 'shops.example',
        origin: 'http://shops.example',
        'x-forwarded-for': '203.0.113.9',
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: 'answer=yes',
    });
    expect(paid.statusCode).toBe(404);
    expect((await send({ url: page })).statusCode).toBe(404);
    const rows = await service.db.many(sql`select state from demo_payment where payment_id = ${paymentId}`);
    expect(rows).toEqual([{ state: 'open' }]);
    expect(service.app.demoAccess.isOpen()).toBe(false);
  });

  test('a webhook to a private address is refused', async () => {
    const token = await givenToken(service, 'DemoShop');
    const create = () =>
      service.call('POST', '/DemoShop/webhooks', {
        token,
        body: { callbackUrl: 'http://127.0.0.1:18108/internal', eventType: 'ORDER_CREATE' },
      });
    expect((await create()).status).toBe(201);
    await send({ headers: { 'x-envoy-external-address': '203.0.113.9' } });
    const refused = await create();
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('must be an https address');
  });

  test('the pages say so, and what to do; the reference offers no token', async () => {
    const pages = ['/', '/admin/sign-in', '/docs/reference'];
    const textOf = async (url: string, headers = {}) => (await send({ url, headers })).body;
    expect(await textOf('/')).not.toContain('Demo access is closed');
    expect(await textOf('/admin/sign-in')).toContain('/admin/sign-in/demo');
    expect(await textOf('/docs/reference')).toContain('demo-all');
    await send({ headers: { via: '1.1 proxy' } });
    for (const headers of [{}, { via: '1.1 proxy' }, { host: 'shops.example' }]) {
      const [start, signIn, reference] = await Promise.all(pages.map((url) => textOf(url, headers)));
      expect(start).toContain('Demo access is closed');
      expect(start).toContain('npx kontor demo open');
      expect(signIn).toContain('Demo access is closed');
      expect(signIn).toContain('npx kontor demo open');
      expect(signIn).not.toContain('/admin/sign-in/demo');
      expect(reference).not.toContain('demo-all');
    }
    // Strangers learn nothing of the shops.
    expect(await textOf('/')).toContain('DemoShop</code>');
    expect(await textOf('/', { host: 'shops.example' })).not.toContain('Harbour');
  });
});

describe('the demo owner', () => {
  test('is one click away in a browser on this machine, and signed out when others come', async () => {
    const browser = givenBrowser(service);
    expect((await browser.post('/admin/sign-in/demo')).status).toBe(303);
    expect((await browser.get('/admin/shops/DemoShop')).status).toBe(200);
    await send({ headers: { 'cdn-loop': 'cloudflare' } });
    expect((await browser.get('/admin/shops/DemoShop')).location).toContain('/admin/sign-in');
  });

  test.each<Record<string, string>>([
    {},
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin', connection: 'close' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://localhost:8080' },
  ])('is not for a form that no browser on this machine vouches for: %j', async (headers) => {
    const answer = await service.app.inject({
      method: 'POST',
      url: '/admin/sign-in/demo',
      headers: {
        host: 'localhost:8080',
        origin: 'http://localhost:8080',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      payload: '',
    });
    expect(answer.statusCode).toBe(403);
    expect(answer.cookies).toEqual([]);
  });
});
