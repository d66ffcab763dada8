import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { givenToken } from '../../../test/builders.ts';
import { ADA } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { PNG } from '../../../test/upload.ts';
import { startService, type Service } from '../../../test/service.ts';
import {
  createClient,
  KontorError,
  verifyWebhook,
  WebhookVerificationError,
  type ClientOptions,
  type KontorClient,
} from '../src/index.ts';
import { WITHOUT_KEY } from '../src/retry.ts';

const root = path.join(import.meta.dirname, '../../..');
const SHOP = '/rs/shops/{shopId}';

let service: Service;
let baseUrl: string;
let folder: string;
/** Everything that clients have sent in the running test. */
let sent: Request[] = [];

beforeAll(async () => {
  service = await startDemo();
  baseUrl = await service.app.listen({ port: 0, host: '127.0.0.1' });
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-client-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A client whose requests are counted, and go through `between` on their way. */
function newClient(
  options: Partial<ClientOptions> = {},
  between: (request: Request) => Promise<Response> = (request) => fetch(request),
): KontorClient {
  sent = [];
  return createClient({
    baseUrl,
    shopId: 'DemoShop',
    accessToken: 'demo-all',
    fetch: (request) => {
      sent.push(request);
      return between(request);
    },
    ...options,
  });
}

/** Loses the answers to the first calls, after the service has done what they say. */
function losing(answers: number) {
  return async (request: Request) => {
    const response = await fetch(request);
    if (sent.length <= answers) throw new TypeError('fetch failed');
    return response;
  };
}

const keys = () => sent.map(({ headers }) => headers.get('idempotency-key'));

async function place(shop: KontorClient, quantity = 1): Promise<string> {
  const { items } = await shop.GET(`${SHOP}/products`, { params: { query: { q: 'tea' } } });
  const { cartId } = await shop.POST(`${SHOP}/carts`, {
    body: { lineItems: [{ productId: items[0]!.productId, quantity }] },
  });
  const params = { path: { cartId } };
  await shop.PUT(`${SHOP}/carts/{cartId}/billing-address`, { params, body: ADA });
  const { orderId } = await shop.POST(`${SHOP}/carts/{cartId}/order`, { params });
  return orderId;
}

describe('a call', () => {
  test('answers with the body, as the API does', async () => {
    const { body } = await service.call('GET', '/DemoShop/products?q=tea&resultsPerPage=3', {
      token: 'demo-all',
    });
    const query = { q: 'tea', resultsPerPage: 3 };
    const products = await newClient().GET(`${SHOP}/products`, { params: { query } });
    expect(products.items.map(({ name }) => name)).toEqual(
      body.items.map(({ name }: { name: string }) => name),
    );
    expect(products.results).toBe(body.results);
    expect(sent[0]!.headers.get('authorization')).toBe('Bearer demo-all');
    expect(keys()).toEqual([null]);
  });

  test('that is refused rejects with the reason', async () => {
    const call = newClient({ accessToken: 'wrong' }).GET(`${SHOP}/customers`);
    await expect(call).rejects.toThrow(KontorError);
    await expect(call).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('Request: GET /rs/shops/DemoShop/customers'),
      retryAfter: undefined,
      requestId: expect.any(String),
    });
    expect(sent).toHaveLength(1);
  });

  test('through a proxy that answers with text rejects with that', async () => {
    const shop = newClient({}, async () => new Response('down', { status: 500 }));
    await expect(shop.GET(SHOP)).rejects.toMatchObject({ status: 500, message: 'down' });
  });

  test('sends and gets files', async () => {
    const shop = newClient();
    const file = await shop.GET(`${SHOP}/products/export`, { params: { query: { locale: 'en_GB' } } });
    const { text } = await service.call('GET', '/DemoShop/products/export?locale=en_GB', {
      token: 'demo-all',
    });
    expect(file).toBe(text);

    const { items } = await shop.GET(`${SHOP}/products`);
    const params = { path: { productId: items[0]!.productId } };
    const body = new FormData();
    body.append('image', new Blob([PNG], { type: 'image/png' }), 'dot.png');
    const image = await shop.POST(`${SHOP}/products/{productId}/slideshow`, { params, body });
    const deleted = await shop.DELETE(`${SHOP}/products/{productId}/slideshow/{imageName}`, {
      params: { path: { ...params.path, imageName: image.name } },
    });
    expect([image.name, deleted]).toEqual(['dot.png', undefined]);
  });

  test('can be seen by a middleware', async () => {
    const shop = newClient();
    const left: (string | null)[] = [];
    shop.use({ onResponse: ({ response }) => void left.push(response.headers.get('x-ratelimit-limit')) });
    await shop.GET(SHOP);
    expect(left).toEqual(['6000']);
  });
});

describe('a retry', () => {
  const customer = { body: { billingAddress: ADA } };
  const customers = async () => {
    const { body } = await service.call('GET', '/DemoShop/customers', { token: 'demo-all' });
    return body.results as number;
  };

  test('of a write whose answer was lost happens once', async () => {
    const before = await customers();
    const { customerId } = await newClient({}, losing(2)).POST(`${SHOP}/customers`, customer);
    expect(await customers()).toBe(before + 1);
    expect(sent).toHaveLength(3);
    expect(new Set(keys())).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]));
    const shown = await newClient().GET(`${SHOP}/customers/{customerId}`, {
      params: { path: { customerId } },
    });
    expect(shown.billingAddress?.lastName).toBe('Lindqvist');
  });

  test('keeps the key that the caller has chosen', async () => {
    const params = { header: { 'Idempotency-Key': 'import-1' } };
    await newClient({}, losing(1)).POST(`${SHOP}/customers`, { ...customer, params });
    expect(keys()).toEqual(['import-1', 'import-1']);
  });

  test('is not made of a write that would happen twice', async () => {
    const shop = newClient({}, losing(1));
    await expect(shop.POST(`${SHOP}/carts`, { body: {} })).rejects.toThrow('fetch failed');
    expect(keys()).toEqual([null]);
  });

  test('takes no key where the service does not honour one', async () => {
    const { paths } = JSON.parse(await readFile(path.join(root, 'openapi.json'), 'utf8')) as {
      paths: Record<string, Record<string, { parameters: { $ref?: string; name?: string }[] }>>;
    };
    const isKey = ({ $ref, name = $ref }: { $ref?: string; name?: string }) =>
      name?.endsWith('Idempotency-Key') === true;
    const keyless = Object.entries(paths).flatMap(([url, item]) =>
      Object.entries(item)
        .filter(([method]) => method !== 'get')
        .filter(([, { parameters }]) => !parameters.some(isKey))
        .map(([method]) => `${method.toUpperCase()} ${url}`),
    );
    // These two only read, so they may be repeated in any case.
    const reads = [`POST ${SHOP}/products/find`, `POST ${SHOP}/search/products`];
    // The key of a new cart is honoured with a token only.
    expect(new Set([...keyless, `POST ${SHOP}/carts`])).toEqual(new Set([...WITHOUT_KEY, ...reads]));
  });

  test('waits as long as the service says', async () => {
    const limited = await startService({ RATE_LIMIT: '2' }, service);
    const limitedUrl = await limited.app.listen({ port: 0, host: '127.0.0.1' });
    limited.setClock(new Date('2026-11-16T08:59:59.100Z'));
    const waits: (string | null)[] = [];
    const shop = newClient({ baseUrl: limitedUrl }, async (request) => {
      const response = await fetch(request);
      if (response.status === 429) {
        waits.push(response.headers.get('retry-after'));
        setTimeout(() => limited.setClock(new Date('2026-11-16T09:00:00Z')), 900);
      }
      return response;
    });
    const begin = performance.now();
    for (let call = 1; call <= 3; call++) await shop.GET(SHOP);
    expect(waits).toEqual(['1']);
    expect(performance.now() - begin).toBeGreaterThan(990);

    // Nobody waits for half an hour.
    limited.setClock(new Date('2026-11-16T09:30:00Z'));
    await shop.GET(SHOP);
    sent = [];
    await expect(shop.GET(SHOP)).rejects.toMatchObject({ status: 429, retryAfter: 1800 });
    expect(sent).toHaveLength(1);
    await limited.close();
  });

  test('ends after so many attempts, and when the caller gives up', async () => {
    const busy = async () => new Response('', { status: 503, headers: { 'retry-after': '0' } });
    await expect(newClient({ retry: { attempts: 3 } }, busy).GET(SHOP)).rejects.toMatchObject({
      status: 503,
    });
    expect(sent).toHaveLength(3);

    const late = async () =>
      new Response('', {
        status: 503,
        headers: { 'retry-after': new Date(Date.now() + 20_000).toUTCString() },
      });
    const signal = AbortSignal.timeout(50);
    await expect(newClient({}, late).GET(SHOP, { signal })).rejects.toThrow('timeout');
    expect(sent).toHaveLength(1);
  });
});

test('a list brings the entries of all pages in their order', async () => {
  const { body } = await service.call('GET', '/DemoShop/products?resultsPerPage=100', { token: 'demo-all' });
  const ids = body.items.map(({ productId }: { productId: string }) => productId);
  const shop = newClient();
  const read = async (query: { resultsPerPage?: number; q?: string }) => {
    const found: string[] = [];
    for await (const { productId } of shop.list(`${SHOP}/products`, { params: { query } }))
      found.push(productId);
    return found;
  };
  expect(await read({ resultsPerPage: 7 })).toEqual(ids);
  expect(sent).toHaveLength(Math.ceil(ids.length / 7));
  sent = [];
  expect(await read({})).toEqual(ids);
  expect(await read({ q: 'nothing is called like this' })).toEqual([]);
  expect(sent).toHaveLength(Math.ceil(ids.length / 100) + 1);
});

describe('the token of a cart', () => {
  test('is stored when the cart is created, and sent with every call on it', async () => {
    const cartTokens = new Map<string, string>();
    const shop = newClient({ cartTokens });
    const { cartId } = await shop.POST(`${SHOP}/carts`, { body: {} });
    expect([...cartTokens]).toEqual([[cartId, expect.any(String)]]);
    const params = { path: { cartId: cartId.toLowerCase() } };
    expect(await shop.GET(`${SHOP}/carts/{cartId}`, { params })).toMatchObject({ cartId });
    expect(sent.map(({ headers }) => headers.get('x-epages-cart-token'))).toEqual([
      null,
      cartTokens.get(cartId),
    ]);

    // Another client has not got it, unless it is told.
    const other = newClient();
    const update = { params: { path: { cartId } }, body: ADA };
    await expect(other.PUT(`${SHOP}/carts/{cartId}/billing-address`, update)).rejects.toMatchObject({
      status: 403,
    });
    const header = { 'X-ePages-Cart-Token': cartTokens.get(cartId)! };
    const told = { ...update, params: { ...update.params, header } };
    expect(await other.PUT(`${SHOP}/carts/{cartId}/billing-address`, told)).toMatchObject({ cartId });
  });
});

describe('events', () => {
  test('come in their order, through interruptions, until the reader ends', async () => {
    const shop = newClient({ cartTokens: new Map() });
    const first = await place(shop);
    const { next } = await shop.GET('/manage/shops/{shopId}/events', { params: { query: { limit: 1000 } } });
    const second = await place(shop);

    const stop = new AbortController();
    const interruptions: unknown[] = [];
    // Two attempts of a call fail, so that the call does, and then the call after it.
    let attempts = 0;
    const flaky = newClient({ retry: { attempts: 2 } }, (request) =>
      [2, 3, 5, 6].includes(++attempts) ? Promise.reject(new TypeError('fetch failed')) : fetch(request),
    );
    const seen: (string | null)[] = [];
    const reading = (async () => {
      const options = {
        after: next - 1,
        types: ['ORDER_CREATE'] as const,
        limit: 1,
        signal: stop.signal,
        onInterruption: (error: unknown) => interruptions.push(error),
      };
      for await (const { eventType, resourceId } of flaky.events(options)) {
        expect(eventType).toBe('ORDER_CREATE');
        seen.push(resourceId);
        if (seen.length === 3) stop.abort();
      }
    })();
    await vi.waitFor(() => expect(seen).toEqual([first, second]), { timeout: 10_000 });
    const third = await place(shop);
    await reading;
    expect(seen).toEqual([first, second, third]);
    expect(interruptions).toEqual([new TypeError('fetch failed'), new TypeError('fetch failed')]);
  });

  test('that the token may not read are refused at once', async () => {
    const accessToken = await givenToken(service, 'DemoShop', ['products_read']);
    const events = newClient({ accessToken }).events({ types: ['ORDER_CREATE'] });
    await expect(events.next()).rejects.toMatchObject({ status: 403 });
    expect(sent).toHaveLength(1);
  });

  test('end while they wait for the service', async () => {
    const stop = new AbortController();
    const shop = newClient({ retry: { attempts: 1 } }, () => Promise.reject(new TypeError('fetch failed')));
    const pages = shop.eventPages({ signal: stop.signal, onInterruption: () => stop.abort() });
    expect(await pages.next()).toEqual({ done: true, value: undefined });
    expect(sent).toHaveLength(1);
  });
});

test('a webhook is believed only with its signature', async () => {
  const receiver = await startReceiver();
  const shop = newClient();
  const { webhookId, secret } = await shop.POST('/manage/shops/{shopId}/webhooks', {
    body: { callbackUrl: receiver.url, eventType: 'ORDER_CREATE' },
  });
  const params = { path: { webhookId } };
  await shop.POST('/manage/shops/{shopId}/webhooks/{webhookId}/test', { params });
  const callAt = async (index: number) => {
    const calls = await receiver.until(index + 1);
    return calls[index] as { headers: Record<string, string>; text: string };
  };
  const { headers, text: body } = await callAt(0);
  const genuine = { eventType: 'ORDER_CREATE', id: webhookId };
  expect(await verifyWebhook({ headers, body }, { secret })).toMatchObject(genuine);
  const bytes = new TextEncoder().encode(body);
  expect(await verifyWebhook({ headers: new Headers(headers), body: bytes }, { secret })).toMatchObject(
    genuine,
  );
  // The app has no client secret, so its webhook's signs instead.
  expect(await verifyWebhook({ headers, body }, { clientSecret: secret })).toMatchObject(genuine);

  const other = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const refused: [typeof headers, string, Parameters<typeof verifyWebhook>[1]][] = [
    [headers, `${body} `, { secret }],
    [headers, body, { secret: other }],
    [{ ...headers, 'webhook-id': 'evt_other' }, body, { secret }],
    [
      { ...headers, 'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v2,') },
      body,
      { secret },
    ],
    [{ ...headers, 'webhook-signature': 'v1,no base64' }, body, { secret }],
    [
      { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) },
      body,
      { secret },
    ],
    [{}, body, { secret }],
    [{}, body, { clientSecret: secret }],
    [headers, `${body} `, { clientSecret: secret }],
    [headers, body, { clientSecret: other }],
  ];
  for (const [headers, body, by] of refused) {
    await expect(verifyWebhook({ headers, body }, by)).rejects.toThrow(WebhookVerificationError);
  }

  // For a day after a change of the secret both sign.
  const { secret: newer } = await shop.POST('/manage/shops/{shopId}/webhooks/{webhookId}/secret', { params });
  await shop.POST('/manage/shops/{shopId}/webhooks/{webhookId}/test', { params });
  const again = await callAt(1);
  for (const one of [secret, newer]) {
    const call = { headers: again.headers, body: again.text };
    expect(await verifyWebhook(call, { secret: one })).toMatchObject(genuine);
  }
  await receiver.close();
});

describe('the examples', () => {
  const linesOf = async (file: string) =>
    (await readFile(path.join(root, file), 'utf8')).trimEnd().split('\n').length;

  test('a storefront of a hundred lines sells', async () => {
    expect(await linesOf('examples/storefront/server.ts')).toBeLessThanOrEqual(100);
    vi.stubEnv('KONTOR_URL', baseUrl);
    vi.stubEnv('PORT', '0');
    const { server } = await import('../../../examples/storefront/server.ts');
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    const storefront = `http://localhost:${(server.address() as AddressInfo).port}`;
    let cookie = '';
    const visit = async (url: string, form?: Record<string, string>) => {
      const response = await fetch(storefront + url, {
        redirect: 'manual',
        headers: { cookie },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
      return { status: response.status, page: await response.text() };
    };

    expect(await visit('/cart')).toEqual({
      status: 200,
      page: expect.stringContaining('Your cart is empty'),
    });
    const { page: products } = await visit('/?q=tea');
    const [, productId] = /name="productId" value="([^"]+)"/.exec(products)!;
    expect(await visit('/cart', { productId: productId! })).toMatchObject({ status: 303 });
    expect(await visit('/cart', { productId: productId! })).toMatchObject({ status: 303 });
    const { page: cart } = await visit('/cart');
    expect(cart).toMatch(/<li>2 × .*total \d+\.\d\d €/s);
    // Another visitor can't do anything with the cart.
    const mine = cookie;
    cookie = mine.replace(/\..*/, '.guessed');
    expect(await visit('/order', ADA)).toMatchObject({ status: 403 });
    cookie = mine;
    const refused = await visit('/order', { ...ADA, country: '<b>' });
    expect(refused.status).toBe(400);
    expect(refused.page).not.toContain('<b>');

    const { page: thanks } = await visit('/order', ADA);
    const [, number] = /number (\S+)\./.exec(thanks)!;
    const { body } = await service.call('GET', '/DemoShop/orders?resultsPerPage=1', { token: 'demo-all' });
    expect(body.items[0]).toMatchObject({ orderNumber: number, billingAddress: ADA });
    expect(cookie).toBe('cart=');
    await new Promise((resolve) => server.close(resolve));
  });

  test('a poller of fifty lines copies every order once, and goes on where it stopped', async () => {
    expect(await linesOf('examples/erp-poller/poll.ts')).toBeLessThanOrEqual(50);
    const { poll } = await import('../../../examples/erp-poller/poll.ts');
    const printed = vi.spyOn(console, 'log').mockReturnValue();
    const orders = path.join(folder, 'orders');
    const options = { baseUrl, shopId: 'DemoShop', accessToken: 'demo-all' };
    const copied = async () =>
      (await readdir(orders).catch(() => [])).filter((name) => /^[0-9A-F-]{36}\.json$/.test(name)).toSorted();
    const all = async () => {
      const found: string[] = [];
      for await (const { orderId } of newClient().list(`${SHOP}/orders`)) found.push(`${orderId}.json`);
      return found.toSorted();
    };
    const run = async (until: () => Promise<void>) => {
      const stop = new AbortController();
      const polling = poll(options, orders, stop.signal);
      await until();
      stop.abort();
      await polling;
    };

    const shop = newClient({ cartTokens: new Map() });
    const first = await place(shop);
    await run(() =>
      vi.waitFor(async () => expect(await copied()).toContain(`${first}.json`), { timeout: 10_000 }),
    );
    const position = () => readFile(path.join(orders, 'position'), 'utf8');
    await vi.waitFor(async () => expect(Number(await position())).toBeGreaterThan(0));
    printed.mockClear();
    const second = await place(shop, 3);
    await run(() =>
      vi.waitFor(async () => expect(await copied()).toContain(`${second}.json`), { timeout: 10_000 }),
    );
    expect(printed).toHaveBeenCalledTimes(1);
    const order = JSON.parse(await readFile(path.join(orders, `${second}.json`), 'utf8')) as object;
    const { body } = await service.call('GET', `/DemoShop/orders/${second}`, { token: 'demo-all' });
    expect(printed).toHaveBeenCalledWith(`${body.orderNumber} ${body.grandTotal} EUR`);
    expect(order).toMatchObject({ orderId: second, grandTotal: body.grandTotal });
    // Orders of the demo shop are older than its events.
    expect(await all()).toEqual(expect.arrayContaining(await copied()));
    printed.mockRestore();
  });
});

describe('README.md', () => {
  const blocks = async () => {
    const text = await readFile(path.join(root, 'packages/client/README.md'), 'utf8');
    const [first, ...others] = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block!);
    const [begin] = /^.*?\}\);\n/s.exec(first!)!;
    return [
      first!,
      ...others.map((block) =>
        block.includes('shop.') && !/const shop = /.test(block) ? begin + block : block,
      ),
    ];
  };

  test('makes its first call in ten lines', async () => {
    const [first] = await blocks();
    expect(first!.trim().split('\n').length).toBeLessThanOrEqual(10);
    const printed = vi.spyOn(console, 'log').mockReturnValue();
    for (const [index, block] of (await blocks()).slice(0, 4).entries()) {
      const file = path.join(folder, `run-${index}.ts`);
      await writeFile(file, block.replaceAll('http://localhost:8080', baseUrl));
      await import(/* @vite-ignore */ file);
    }
    const printedTexts = printed.mock.calls.map((words) => words.join(' '));
    printed.mockRestore();
    expect(printedTexts[0]).toMatch(/tea.* \d+\.\d\d €$/i);
    expect(printedTexts).toContain('There is no such order');
    expect(printedTexts.at(-1)).toMatch(/^\d+\.\d\d €$/);
  });

  test('has code that compiles', async () => {
    const files = await Promise.all(
      (await blocks()).map(async (block, index) => {
        const file = path.join(folder, `compile-${index}.ts`);
        await writeFile(file, block);
        return file;
      }),
    );
    expect(files).toHaveLength(7);
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: path.join(root, 'tsconfig.json'),
        compilerOptions: {
          typeRoots: [path.join(root, 'node_modules/@types')],
          paths: {
            '@kontor/client': [path.join(root, 'packages/client/src/index.ts')],
            '@kontor/client/testing': [path.join(root, 'packages/client/src/testing.ts')],
          },
        },
        files,
        include: [],
      }),
    );
    const { status, stdout } = spawnSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', folder], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, '']);
  });
});
