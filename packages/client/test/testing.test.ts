import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADA } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { FrameTokenError, signAnswer, verifyCall, verifyFrameToken, type PaymentStart } from '../src/app.ts';
import { createClient, KontorError, verifyWebhook, WebhookVerificationError } from '../src/index.ts';
import type { PaymentReport } from '../src/schema.ts';
import {
  newOrder,
  newTokenKeys,
  newWebhookSecret,
  readAnswer,
  signCall,
  signWebhook,
  startFakeShop,
  type FakeShop,
} from '../src/testing.ts';

const SHOP = '/rs/shops/{shopId}';
const MANAGE = '/manage/shops/{shopId}';

let service: Service;
let baseUrl: string;
const shops: FakeShop[] = [];

beforeAll(async () => {
  service = await startDemo();
  baseUrl = await service.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await Promise.all(shops.map((shop) => shop.close()));
  await service.close();
});

async function givenShop(options: Parameters<typeof startFakeShop>[0] = {}): Promise<FakeShop> {
  const shop = await startFakeShop(options);
  shops.push(shop);
  return shop;
}

/** A refusal is an answer too. */
async function answerOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    const { status, code, message } = error as KontorError;
    return { status, code, message };
  }
}

/** Everything but the ids that are made, and the times at which something happens. */
function comparable(answers: unknown[]): unknown {
  const text = JSON.stringify(answers)
    .replaceAll(/"(shipmentId)":"[^"]*"/g, '"$1":"ID"')
    .replaceAll(/"(shippedOn|dispatchedOn|partiallyDispatchedOn|lastUpdatedOnDate)":"[^"]*"/g, '"$1":"NOW"');
  return JSON.parse(text);
}

test('the fake answers as the real shop does', async () => {
  const cartTokens = new Map<string, string>();
  const real = createClient({ baseUrl, shopId: 'DemoShop', accessToken: 'demo-all', cartTokens });
  const { items } = await real.GET(`${SHOP}/products`, { params: { query: { q: 'tea' } } });
  const { cartId } = await real.POST(`${SHOP}/carts`, {
    body: { lineItems: [{ productId: items[0]!.productId, quantity: 3 }] },
  });
  const cart = { path: { cartId } };
  await real.PUT(`${SHOP}/carts/{cartId}/billing-address`, { params: cart, body: ADA });
  const { orderId } = await real.POST(`${SHOP}/carts/{cartId}/order`, { params: cart });
  const params = { path: { orderId } };
  const { grandTotal } = await real.GET(`${SHOP}/orders/{orderId}`, { params });
  await real.POST(`${MANAGE}/orders/{orderId}/payments`, { params, body: { amount: grandTotal } });
  await real.POST(`${MANAGE}/custom-fields`, {
    body: {
      resource: 'order',
      namespace: 'parcels',
      key: 'label',
      type: 'text',
      name: { en_GB: 'Label' },
      readableBy: 'merchant',
      writableBy: 'owner',
    },
  });
  const order = await real.GET(`${MANAGE}/orders/{orderId}`, { params });

  const shop = await givenShop({ shopId: 'DemoShop', orders: [order] });
  const fake = createClient({ baseUrl: shop.origin, shopId: 'DemoShop', accessToken: shop.accessToken });
  const [line] = order.lineItemContainer.productLineItems;
  const answers = [];
  for (const client of [real, fake]) {
    const ship = (body: object, key: string) =>
      answerOf(
        client.POST(`${MANAGE}/orders/{orderId}/shipments`, {
          params,
          body,
          headers: { 'idempotency-key': key },
        }),
      );
    const stranger = createClient({
      baseUrl: client === real ? baseUrl : shop.origin,
      shopId: 'DemoShop',
      accessToken: 'unknown',
    });
    const part = {
      lines: [{ lineItemId: line!.lineItemId, quantity: 1 }],
      carrier: 'Messenger',
      trackingCode: 'X1',
    };
    const gone = { path: { orderId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E' } };
    answers.push(
      comparable([
        await client.GET(`${SHOP}/orders/{orderId}`, { params }),
        await answerOf(client.GET(`${SHOP}/orders/{orderId}`, { params: gone })),
        await answerOf(stranger.GET(`${SHOP}/orders/{orderId}`, { params })),
        await client.PATCH(`${MANAGE}/orders/{orderId}/custom-fields`, {
          params,
          body: { fields: { 'parcels.label': 'L1' } },
        }),
        await client.GET(`${MANAGE}/orders/{orderId}/custom-fields`, { params }),
        await ship(part, 'first'),
        await ship(part, 'first'),
        await ship({ carrier: 'Messenger', trackingCode: 'X2' }, 'second'),
        await ship({}, 'third'),
        await client.PATCH(`${MANAGE}/orders/{orderId}/custom-fields`, {
          params,
          body: { fields: { 'parcels.label': null } },
        }),
        await client.GET(`${MANAGE}/app/settings`),
      ]),
    );
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(shop.asked.map(({ method }) => method).join(' ')).toBe(
    'GET GET GET PATCH GET POST POST POST POST PATCH GET',
  );
});

test('an order that a test makes has every field, and is paid', async () => {
  const order = newOrder({ lines: [{ quantity: 2, price: 595, grams: 250 }, { price: 1_000 }] });
  expect(order).toMatchObject({
    grandTotal: '21.90',
    totalTax: '3.50',
    management: { state: 'readyToShip', paidAmount: { formatted: '€21.90', amount: 21.9 } },
  });
});

test('webhooks are signed as the library of Standard Webhooks verifies them', async () => {
  const secret = newWebhookSecret();
  const call = { eventType: 'ORDER_CREATE', entity: { orderNumber: 'ORD1' } };
  const { headers, body } = await signWebhook(call, { secret, clientSecret: 'client' });
  expect(new Webhook(secret).verify(body, headers)).toEqual(call);
  expect(await verifyWebhook({ headers, body }, { secret })).toEqual(call);
  expect(await verifyWebhook({ headers, body }, { clientSecret: 'client' })).toEqual(call);
  const old = await signWebhook(call, { secret }, { at: new Date(Date.now() - 301_000) });
  await expect(verifyWebhook(old, { secret })).rejects.toThrow(WebhookVerificationError);
});

test('a payment that the app was asked to begin is reported as at a real shop', async () => {
  const shop = await startFakeShop();
  const app = createServer((request, response) => {
    void verify(request).then(async ({ id, question }) => {
      const { paymentId, amount, currency } = question as PaymentStart;
      const redirectUrl = 'https://later.example/pay';
      const given = { paymentId, amount, currency, redirectUrl };
      const { headers, body } = await signAnswer(given, { id, clientSecret: shop.clientSecret });
      response.writeHead(200, headers).end(body);
    });
  });
  const verify = async (request: IncomingMessage) =>
    verifyCall(
      { headers: request.headers, body: await text(request) },
      { issuer: shop.origin, clientId: shop.clientId, clientSecret: shop.clientSecret },
    );
  app.listen(0, '127.0.0.1');
  await once(app, 'listening');
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/pay`;
  const start = {
    action: 'start',
    paymentId: 'P1',
    orderId: 'O1',
    method: 'later',
    amount: 4633,
    currency: 'EUR',
  };
  expect(await shop.ask(url, 'payment', start)).toMatchObject({ paymentId: 'P1', amount: 4633 });
  const api = createClient({ baseUrl: shop.origin, shopId: 'TestShop', accessToken: shop.accessToken });
  const at = `${MANAGE}/app/payments/{paymentId}` as const;
  const report = (body: PaymentReport) => api.PUT(at, { params: { path: { paymentId: 'P1' } }, body });
  const paid = { state: 'paid', amount: 46.33, currencyId: 'EUR' } as const;
  await expect(report({ ...paid, amount: 46.34 })).rejects.toMatchObject({ code: 'PAYMENT_REPORT_DIFFERS' });
  const after = { paymentId: 'P1', orderId: 'O1', method: 'later', ...paid, captured: 46.33, refunded: 0 };
  expect(await report(paid)).toEqual(after);
  expect(await report(paid)).toEqual(after);
  await expect(report({ ...paid, state: 'failed' })).rejects.toMatchObject({
    code: 'PAYMENT_REPORT_OUTDATED',
  });
  await shop.close();
  app.close();
});

test('a call is taken with its token and signature only, and so is its answer', async () => {
  const keys = await newTokenKeys();
  const [issuer, clientId, clientSecret] = ['https://shop.example', 'ID', 'a secret'];
  const claims = { iss: issuer, aud: clientId, shop: 'DemoShop', page: 'call:deliveryOptions' };
  const token = await keys.sign(claims);
  const published = async () => Response.json(keys.jwks);
  const by = { issuer, clientId, clientSecret, fetch: published };
  const question = { country: 'DE' };
  const sign = (options = {}, given = { clientSecret, token }) =>
    signCall('deliveryOptions', question, given, options);

  const call = await verifyCall(await sign({ id: 'CALL1' }), by);
  expect(call).toEqual({ kind: 'deliveryOptions', id: 'CALL1', shop: 'DemoShop', question });
  const answer = await signAnswer({ options: [] }, { id: call.id, clientSecret });
  expect(await readAnswer(answer, { id: 'CALL1', clientSecret })).toEqual({ options: [] });
  await expect(readAnswer(answer, { id: 'CALL2', clientSecret })).rejects.toThrow('another call');
  await expect(readAnswer({ ...answer, body: '{}' }, { id: 'CALL1', clientSecret })).rejects.toThrow('wrong');

  const changed = { ...(await sign()), body: '{"country":"FR"}' };
  await expect(verifyCall(changed, by)).rejects.toThrow('The signature is wrong');
  const old = await sign({ at: new Date(Date.now() - 61_000) });
  await expect(verifyCall(old, by)).rejects.toThrow('too old');
  const ofPage = await keys.sign({ ...claims, page: 'labels' });
  const withPageToken = await sign({}, { clientSecret, token: ofPage });
  await expect(verifyCall(withPageToken, by)).rejects.toThrow('for something else');
  const ofOther = await (await newTokenKeys()).sign(claims);
  await expect(verifyCall(await sign({}, { clientSecret, token: ofOther }), by)).rejects.toThrow(
    FrameTokenError,
  );
});

test('a shop installs an app, sends it webhooks and asks it', async () => {
  const shop = await givenShop({ settings: { apiKey: 'sk-1' } });
  const seen: unknown[] = [];
  let known = { clientId: '', clientSecret: '', shopId: '', apiUrl: '' };
  const app = createServer((request, response) => {
    const url = new URL(request.url!, 'http://app');
    const answer = async () => {
      const body = await text(request);
      switch (url.pathname) {
        case '/.well-known/kontor-app.json':
          return JSON.stringify({ registerUrl: '/register', installUrl: '/install' });
        case '/register': {
          known = JSON.parse(body);
          const token = request.headers.authorization!.replace('Bearer ', '');
          const { page } = await verifyFrameToken(token, { issuer: shop.origin, clientId: known.clientId });
          seen.push(page);
          return '';
        }
        case '/install': {
          const { code = '', access_token_url = '' } = Object.fromEntries(url.searchParams);
          const form = { code, client_id: known.clientId, client_secret: known.clientSecret };
          const exchange = () => fetch(access_token_url, { method: 'POST', body: new URLSearchParams(form) });
          const { access_token } = (await (await exchange()).json()) as { access_token: string };
          seen.push(access_token === shop.accessToken, (await exchange()).status);
          return '';
        }
        case '/hook':
          seen.push((await verifyWebhook({ headers: request.headers, body }, known)).eventType);
          return '';
        default: {
          const by = { ...known, issuer: shop.origin };
          const { id, question } = await verifyCall({ headers: request.headers, body }, by);
          const signed = await signAnswer({ seen: question }, { id, ...known });
          response.setHeaders(new Headers(signed.headers));
          return signed.body;
        }
      }
    };
    void answer().then((body) => response.end(body));
  });
  await once(app.listen(0, '127.0.0.1'), 'listening');
  const { port } = app.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}`;

  await shop.install(address);
  expect(known).toEqual({
    clientId: shop.clientId,
    clientSecret: shop.clientSecret,
    shopId: 'TestShop',
    apiUrl: `${shop.origin}/rs/shops/TestShop`,
  });
  await shop.sendWebhook(`${address}/hook`, { eventType: 'ORDER_CREATE', entity: {} });
  expect(seen).toEqual(['register', true, 400, 'ORDER_CREATE']);
  const answer = await shop.ask(`${address}/rates`, 'deliveryOptions', { country: 'DE' });
  expect(answer).toEqual({ seen: { kind: 'deliveryOptions', shop: 'TestShop', country: 'DE' } });

  const api = createClient({ baseUrl: shop.origin, shopId: 'TestShop', accessToken: shop.accessToken });
  expect(await api.GET(`${MANAGE}/app/settings`)).toEqual({ settings: { apiKey: 'sk-1' } });
  shop.answer = () => ({ status: 503 });
  const impatient = createClient({ baseUrl: shop.origin, shopId: 'TestShop', retry: { attempts: 1 } });
  await expect(impatient.GET(`${MANAGE}/app/settings`)).rejects.toMatchObject({ status: 503 });
  app.close();
});
