import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { verifyWebhook, WebhookVerificationError } from '@kontor/client';
import {
  CallVerificationError,
  claimedClientId,
  FrameTokenError,
  signAnswer,
  verifyCall,
  verifyFrameToken,
  type DeliveryQuestion,
} from '@kontor/client/app';
import { deliveryOptions } from './delivery.ts';
import { manifest } from './manifest.ts';
import type { Shop, Store } from './store.ts';

export interface AppOptions {
  store: Store;
  /** The installations of Kontor whose shops may install the app: `https://shops.example`. */
  origins: readonly string[];
}

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A request that is refused; the text is for whoever sent it. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export function createApp({ store, origins }: AppOptions): Server {
  const handlers: Record<string, (request: IncomingMessage, url: URL) => Promise<Answer>> = {
    'GET /.well-known/kontor-app.json': async () => json(manifest),
    'POST /kontor/register': register,
    'GET /kontor/install': install,
    'POST /kontor/hook': hook,
    'POST /kontor/delivery': delivery,
    'GET /kontor/orders': orders,
    'GET /page.html': page,
  };

  return createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://app');
    const handler = handlers[`${request.method} ${url.pathname}`] ?? file;
    handler(request, url).then(
      ({ status = 200, headers = {}, body }) => response.writeHead(status, headers).end(body),
      (error: unknown) => {
        if (!(error instanceof Refused)) console.error(error);
        const [status, text] = error instanceof Refused ? [error.status, error.message] : [500, 'It failed'];
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
      },
    );
  });

  /** A shop says who it is. Its merchant has agreed, and comes to `install` next. */
  async function register(request: IncomingMessage): Promise<Answer> {
    const given = parsed(await bodyOf(request)) as Pick<
      Shop,
      'clientId' | 'clientSecret' | 'shopId' | 'apiUrl'
    >;
    const issuer = originOf(given.apiUrl);
    if (!origins.includes(issuer))
      throw new Refused(403, `KONTOR_URL does not name this installation: ${issuer}`);
    const { page, shop } = await checked(() =>
      verifyFrameToken(bearer(request), { issuer, clientId: given.clientId }),
    );
    if (page !== 'register' || shop !== given.shopId)
      throw new Refused(401, 'The token is for something else');
    const { clientId, clientSecret, shopId, apiUrl } = given;
    await store.change((shops) => [
      ...shops.filter((known) => known.clientId !== clientId),
      {
        accessToken: null,
        orders: [],
        seen: [],
        ...store.byClientId(clientId),
        clientId,
        clientSecret,
        shopId,
        apiUrl,
      },
    ]);
    return { status: 204 };
  }

  /** The browser of the merchant brings a code, which becomes a token. */
  async function install(_request: IncomingMessage, { searchParams }: URL): Promise<Answer> {
    const {
      code = '',
      signature = '',
      return_url = '',
      access_token_url = '',
    } = Object.fromEntries(searchParams);
    const clientId = /\/apps\/([0-9A-F-]{36})$/.exec(return_url)?.[1];
    const shop = store.byClientId(clientId);
    if (!shop || !isSigned(shop, `${code}:${access_token_url}`, signature))
      throw new Refused(403, 'Not from a shop');
    const response = await fetch(access_token_url, {
      method: 'POST',
      body: new URLSearchParams({ code, client_id: shop.clientId, client_secret: shop.clientSecret }),
    });
    if (!response.ok) throw new Refused(502, `The shop has refused the code: ${response.status}`);
    const { access_token: accessToken } = (await response.json()) as { access_token: string };
    // An earlier installation in the same shop has ended.
    await store.change((shops) => [
      ...shops.filter((known) => known.clientId !== shop.clientId && known.apiUrl !== shop.apiUrl),
      { ...shop, accessToken },
    ]);
    return { status: 302, headers: { location: return_url } };
  }

  /** An order was placed. */
  async function hook(request: IncomingMessage): Promise<Answer> {
    const body = await bodyOf(request);
    const { baseUrl } = parsed(body) as { baseUrl: string };
    const shop = store.byApiUrl(baseUrl);
    if (!shop) throw new Refused(401, 'This shop is not known');
    const call = await checked(() => verifyWebhook({ headers: request.headers, body }, shop));
    const id = String(request.headers['webhook-id']);
    if (call.eventType === 'ORDER_CREATE' && call.entity.orderNumber !== undefined) {
      const { orderNumber } = call.entity;
      await store.change((shops) =>
        shops.map((known) => (known.clientId === shop.clientId ? withOrder(known, id, orderNumber) : known)),
      );
    }
    return { status: 204 };
  }

  /** A checkout asks how a cart can be delivered, while the customer waits. */
  async function delivery(request: IncomingMessage): Promise<Answer> {
    const body = await bodyOf(request);
    const shop = store.byClientId(claimedClientId(bearer(request)));
    if (!shop) throw new Refused(401, 'This shop is not known');
    const { id, question } = await checked(() =>
      verifyCall({ headers: request.headers, body }, { ...shop, issuer: originOf(shop.apiUrl) }),
    );
    return signAnswer(deliveryOptions(question as DeliveryQuestion), { id, clientSecret: shop.clientSecret });
  }

  /** What the page asks for, with a token of the person who looks at it. */
  async function orders(request: IncomingMessage): Promise<Answer> {
    const shop = store.byClientId(claimedClientId(bearer(request)));
    if (!shop) throw new Refused(401, 'This shop is not known');
    const { page } = await checked(() =>
      verifyFrameToken(bearer(request), { issuer: originOf(shop.apiUrl), clientId: shop.clientId }),
    );
    if (page !== 'orders') throw new Refused(403, 'The token is for another page');
    return json({ orders: shop.orders });
  }

  /** No other site may frame it. */
  async function page(): Promise<Answer> {
    const policy = `default-src 'self'; frame-ancestors ${origins.join(' ')}`;
    const body = await readFile(new URL('../public/page.html', import.meta.url));
    return {
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
      body,
    };
  }
}

/** The scripts of the page, and the bridge to the admin, which is in the package. */
async function file(_request: IncomingMessage, { pathname }: URL): Promise<Answer> {
  const [, folder, name] = /^\/(client|public)\/([a-z-]+\.js)$/.exec(pathname) ?? [];
  if (name === undefined) throw new Refused(404, 'Not found');
  const base =
    folder === 'public'
      ? new URL('../public/', import.meta.url)
      : new URL('../dist/', import.meta.resolve('@kontor/client/app'));
  try {
    const body = await readFile(fileURLToPath(new URL(name, base)));
    return { headers: { 'content-type': 'text/javascript' }, body };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Refused(404, 'Not found');
    throw error;
  }
}

const MAX_ORDERS = 50;
const MAX_SEEN = 1_000;

/** A webhook may come twice: its id is the same then. */
function withOrder(shop: Shop, id: string, orderNumber: string): Shop {
  if (shop.seen.includes(id)) return shop;
  return {
    ...shop,
    orders: [orderNumber, ...shop.orders].slice(0, MAX_ORDERS),
    seen: [id, ...shop.seen].slice(0, MAX_SEEN),
  };
}

/** Whatever is forged or too old is a 401. */
async function checked<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify();
  } catch (error) {
    const isForged =
      error instanceof FrameTokenError ||
      error instanceof CallVerificationError ||
      error instanceof WebhookVerificationError;
    throw isForged ? new Refused(401, error.message) : error;
  }
}

const MAX_BODY = 1_048_576;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BODY) throw new Refused(413, 'Too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parsed(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Refused like a body that is no object.
  }
  throw new Refused(400, 'The body is not a JSON object');
}

function bearer({ headers }: IncomingMessage): string {
  return headers.authorization?.replace(/^Bearer /, '') ?? '';
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : '';
}

function isSigned({ clientSecret }: Shop, message: string, signature: string): boolean {
  const expected = createHmac('sha256', clientSecret).update(message).digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function json(value: object): Answer {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
