import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CallKind, PaymentStart } from '../calls.ts';
import type { FrameToken } from '../frame-token.ts';
import type { AppPayment, ManagedOrder, Order, PaymentReport, Shipment } from '../schema.ts';
import { encode, hmac } from '../signature.ts';
import { newPayment, reportedPayment } from './payments.ts';
import { newId, newTokenKeys, newWebhookSecret, readAnswer, signCall, signWebhook } from './signatures.ts';

/** What the app has asked the shop for. */
export interface AskedRequest {
  method: string;
  /** With the query: `/rs/shops/TestShop/orders/...`. */
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body; undefined without one. */
  body: unknown;
}

/** An answer of the shop; without a body, it is empty. */
export interface FakeAnswer {
  status: number;
  body?: unknown;
}

export interface FakeShopOptions {
  shopId?: string;
  /** Of the app at this shop. */
  orders?: readonly ManagedOrder[];
  /** What the merchant has typed into the fields of the app. */
  settings?: Readonly<Record<string, string | boolean>>;
  /**
   * Answers what the fake does not know, or instead of it: undefined leaves it to the fake. A shop that is down is one
   * that answers everything with 503.
   */
  answer?: (request: AskedRequest) => FakeAnswer | undefined;
}

/**
 * A shop for the tests of an app: an HTTP server that speaks the operations an app needs, keeps what it is told, and
 * records what it was asked. What it answers has the form of the real operations.
 */
export interface FakeShop {
  /** `http://127.0.0.1:PORT`, the issuer of its tokens. */
  origin: string;
  shopId: string;
  apiUrl: string;
  clientId: string;
  clientSecret: string;
  /** The token of the app once it is installed. */
  accessToken: string;
  orders: Map<string, ManagedOrder>;
  settings: Record<string, string | boolean>;
  /** The values of custom fields by the id of their order. */
  customFields: Map<string, Record<string, unknown>>;
  /** Those that the app was asked to begin, as it has reported them. */
  payments: Map<string, AppPayment>;
  /** In order. */
  asked: AskedRequest[];
  answer: (request: AskedRequest) => FakeAnswer | undefined;
  /** Installs an app at this address as a merchant does; returns its manifest, and where its install page has led. */
  install(address: string): Promise<{ manifest: FakeManifest; location: string | null }>;
  /** The token that a frame of the app would get, or that comes with a call. */
  token(claims: Partial<FrameToken> & Pick<FrameToken, 'page'>): Promise<string>;
  /** Sends a webhook to the app. The id is a new one, unless it is sent again. */
  sendWebhook(url: string, content: { eventType: string; entity: object }, id?: string): Promise<Response>;
  /** Asks the app as a checkout does, and returns its answer, checked. */
  ask(url: string, kind: CallKind, question: object): Promise<unknown>;
  close(): Promise<void>;
}

export interface FakeManifest {
  registerUrl: string;
  installUrl: string;
  [key: string]: unknown;
}

export async function startFakeShop({
  shopId = 'TestShop',
  orders = [],
  settings = {},
  answer = () => undefined,
}: FakeShopOptions = {}): Promise<FakeShop> {
  const keys = await newTokenKeys();
  const webhookSecret = newWebhookSecret();
  const webhookId = newId();
  const codes = new Set<string>();
  const replays = new Map<string, FakeAnswer>();
  const server = createServer((request, response) => {
    handle(request).then(
      (given) => send(response, given),
      (error: Error) => send(response, { status: 500, body: { message: error.message } }),
    );
  });

  const handle = async (request: IncomingMessage): Promise<FakeAnswer> => {
    const asked: AskedRequest = {
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: request.headers,
      body: parsed(request, await text(request)),
    };
    shop.asked.push(asked);
    const own = shop.answer(asked);
    if (own) return own;
    if (asked.path === '/.well-known/jwks.json') return { status: 200, body: keys.jwks };
    if (asked.path === `/rs/shops/${shopId}/token`) return issueToken(asked);
    if (asked.headers.authorization !== `Bearer ${shop.accessToken}`) {
      return refusal(asked, 401, 'Unauthorized', 'The token is unknown in this shop', 'TOKEN_UNKNOWN');
    }
    // What was done with a key is not done again.
    const key = asked.headers['idempotency-key'];
    const known = typeof key === 'string' ? replays.get(key) : undefined;
    if (known) return known;
    const given = operate(asked);
    if (typeof key === 'string' && given.status < 400) replays.set(key, given);
    return given;
  };

  const issueToken = (asked: AskedRequest): FakeAnswer => {
    const { code, client_id, client_secret } = asked.body as Record<string, string>;
    const isOurs = client_id === shop.clientId && client_secret === shop.clientSecret;
    if (!isOurs)
      return refusal(asked, 403, 'Forbidden', 'Wrong client_id or client_secret', 'CLIENT_SECRET_WRONG');
    if (!codes.delete(code ?? '')) {
      const message = 'The code is wrong, was used before, or is older than ten minutes';
      return refusal(asked, 400, 'Bad Request', message, 'INSTALL_CODE_WRONG');
    }
    shop.accessToken = newId();
    return { status: 200, body: { access_token: shop.accessToken } };
  };

  const operate = (asked: AskedRequest): FakeAnswer => {
    const [path = '', search = ''] = asked.path.split('?', 2);
    const route = `${asked.method} ${path.replace(/\/shops\/[^/]+/, '')}`;
    if (!path.includes(`/shops/${shopId}/`)) return notFound(asked);
    if (route === 'GET /manage/app/settings') return { status: 200, body: { settings: shop.settings } };
    if (route === 'GET /rs/orders') return orderList(search);
    const [, paymentId] = /^\/manage\/shops\/[^/]+\/app\/payments\/([^/]+)$/.exec(path) ?? [];
    if (paymentId !== undefined) return payment(asked, paymentId.toUpperCase());
    const [, id = '', part = ''] = /\/orders\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const order = shop.orders.get(id.toUpperCase());
    if (!order) return notFound(asked);
    switch (route.replace(`/orders/${id}`, '/orders/ID')) {
      case 'GET /rs/orders/ID':
        return { status: 200, body: publicOrder(order) };
      case 'GET /manage/orders/ID':
        return { status: 200, body: order };
      case 'POST /manage/orders/ID/shipments':
        return createShipment(asked, order);
      case 'GET /manage/orders/ID/custom-fields':
        return { status: 200, body: { fields: shop.customFields.get(order.orderId) ?? {} } };
      case 'PATCH /manage/orders/ID/custom-fields': {
        const { fields } = asked.body as { fields: Record<string, unknown> };
        const all = { ...shop.customFields.get(order.orderId), ...fields };
        const left = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
        shop.customFields.set(order.orderId, left);
        return { status: 200, body: { fields: left } };
      }
      default:
        return part === ''
          ? refusal(asked, 405, 'Method Not Allowed', 'HTTP 405 Method Not Allowed')
          : notFound(asked);
    }
  };

  const payment = (asked: AskedRequest, paymentId: string): FakeAnswer => {
    const known = shop.payments.get(paymentId);
    if (!known) return notFound(asked);
    if (asked.method === 'GET') return { status: 200, body: known };
    if (asked.method !== 'PUT') {
      return refusal(asked, 405, 'Method Not Allowed', 'HTTP 405 Method Not Allowed');
    }
    const after = reportedPayment(known, asked.body as PaymentReport);
    if (typeof after === 'string') return refusal(asked, 409, 'Conflict', 'The report is refused', after);
    shop.payments.set(paymentId, after);
    return { status: 200, body: after };
  };

  const orderList = (search: string): FakeAnswer => {
    const query = new URLSearchParams(search);
    const page = Number(query.get('page') ?? 1);
    const resultsPerPage = Number(query.get('resultsPerPage') ?? 10);
    const all = [...shop.orders.values()].toReversed();
    const items = all.slice((page - 1) * resultsPerPage, page * resultsPerPage).map(publicOrder);
    return { status: 200, body: { results: all.length, page, resultsPerPage, items } };
  };

  const createShipment = (asked: AskedRequest, order: ManagedOrder): FakeAnswer => {
    const { lines, carrier, trackingCode, parcels } = (asked.body ?? {}) as Partial<Shipment>;
    const left = unshippedLines(order);
    if (left.length === 0) {
      return refusal(asked, 409, 'Conflict', 'There is nothing left to be sent', 'NOTHING_TO_SHIP');
    }
    const shippedOn = new Date().toISOString();
    const shipment: Shipment = {
      shipmentId: newId(),
      shippedOn,
      lines: lines ?? left,
      carrier: carrier ?? null,
      trackingCode: parcels?.[0]?.trackingCode ?? trackingCode ?? null,
      parcels: (parcels ?? (trackingCode ? [{ trackingCode }] : [])).map((parcel) => ({
        // The fake knows no carriers.
        trackingUrl: null,
        ...parcel,
      })),
    };
    const sent: ManagedOrder = {
      ...order,
      management: { ...order.management, shipments: [...order.management.shipments, shipment] },
    };
    const isWhole = unshippedLines(sent).length === 0;
    sent.management.state = isWhole ? 'shipped' : 'partlyShipped';
    if (isWhole) sent.dispatchedOn = shippedOn;
    else sent.partiallyDispatchedOn = shippedOn;
    shop.orders.set(order.orderId, sent);
    return { status: 201, body: sent };
  };

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shop: FakeShop = {
    origin,
    shopId,
    apiUrl: `${origin}/rs/shops/${shopId}`,
    clientId: newId(),
    clientSecret: newId().replaceAll('-', ''),
    accessToken: newId(),
    orders: new Map(orders.map((order) => [order.orderId, order])),
    settings: { ...settings },
    customFields: new Map(),
    payments: new Map(),
    asked: [],
    answer,
    async install(address) {
      const { clientId, clientSecret, apiUrl } = shop;
      const manifestUrl = new URL('/.well-known/kontor-app.json', address);
      const read = await fetch(manifestUrl);
      if (!read.ok) throw new Error(`The manifest is answered with ${read.status}`);
      const manifest = (await read.json()) as FakeManifest;
      const registered = await fetch(new URL(manifest.registerUrl, manifestUrl), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await shop.token({ page: 'register' })}`,
        },
        body: JSON.stringify({ clientId, clientSecret, shopId, apiUrl }),
      });
      if (!registered.ok) throw new Error(`The app has not accepted the registration: ${registered.status}`);
      const code = newId();
      codes.add(code);
      const accessTokenUrl = `${apiUrl}/token`;
      const page = new URL(manifest.installUrl, manifestUrl);
      page.searchParams.set('code', code);
      const signed = encode(`${code}:${accessTokenUrl}`);
      page.searchParams.set('signature', await hmac(encode(clientSecret), signed));
      page.searchParams.set('return_url', `${origin}/admin/shops/${shopId}/apps/${clientId}`);
      page.searchParams.set('api_url', apiUrl);
      page.searchParams.set('access_token_url', accessTokenUrl);
      const installed = await fetch(page, { redirect: 'manual' });
      if (installed.status >= 400) throw new Error(`The app can't be installed: ${installed.status}`);
      return { manifest, location: installed.headers.get('location') };
    },
    token: (claims) =>
      keys.sign({
        iss: origin,
        aud: shop.clientId,
        shop: shopId,
        sub: newId(),
        role: 'owner',
        ...claims,
      }),
    async sendWebhook(url, { eventType, entity }, id = newId()) {
      const { orderId } = entity as { orderId?: string };
      const content = {
        id: webhookId,
        baseUrl: shop.apiUrl,
        entityUrl: orderId === undefined ? shop.apiUrl : `${shop.apiUrl}/orders/${orderId}`,
        createdOn: `${new Date().toISOString().slice(0, 19)}Z`,
        eventType,
        entity,
      };
      const { clientSecret } = shop;
      const { headers, body } = await signWebhook(content, { secret: webhookSecret, clientSecret }, { id });
      return fetch(url, { method: 'POST', headers, body });
    },
    async ask(url, kind, question) {
      const start = question as PaymentStart;
      const isNew = kind === 'payment' && start.action === 'start' && !shop.payments.has(start.paymentId);
      if (isNew) shop.payments.set(start.paymentId, newPayment(start));
      const { clientSecret } = shop;
      const token = await shop.token({ page: `call:${kind}` });
      const id = newId();
      const { headers, body } = await signCall(
        kind,
        { kind, shop: shopId, ...question },
        { clientSecret, token },
        { id },
      );
      const response = await fetch(url, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`The app has answered ${response.status}: ${await response.text()}`);
      const given = { headers: response.headers, body: await response.text() };
      return readAnswer(given, { id, clientSecret });
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return shop;
}

function parsed({ headers }: IncomingMessage, body: string): unknown {
  if (body === '') return undefined;
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
}

function send(response: ServerResponse, { status, body }: FakeAnswer): void {
  const { code, ...shown } = (body ?? {}) as { code?: string };
  const isRefusal = status >= 400 && code !== undefined;
  if (isRefusal) response.setHeader('x-error-code', code);
  response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(isRefusal ? shown : body));
}

function refusal(
  { method, path }: AskedRequest,
  status: number,
  reason: string,
  message: string,
  code = reason.toUpperCase().replaceAll(' ', '_'),
): FakeAnswer {
  const text = `${message}, Request: ${method} ${path.split('?', 1)[0]}`;
  return { status, body: { message: text, status: reason, code } };
}

const notFound = (asked: AskedRequest) => refusal(asked, 404, 'Not Found', 'HTTP 404 Not Found');

/** The order without what only the back office sees. */
function publicOrder(order: ManagedOrder): Order {
  const shown: Order & Partial<ManagedOrder> = { ...order };
  delete shown.management;
  return shown;
}

function unshippedLines({ lineItemContainer, management }: ManagedOrder) {
  return lineItemContainer.productLineItems.flatMap(({ lineItemId, quantity }) => {
    const sent = management.shipments
      .flatMap(({ lines }) => lines)
      .filter((line) => line.lineItemId === lineItemId)
      .reduce((sum, line) => sum + line.quantity, 0);
    return quantity.amount > sent ? [{ lineItemId, quantity: quantity.amount - sent }] : [];
  });
}
