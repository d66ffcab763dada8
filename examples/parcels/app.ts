/**
 * An app that sends parcels by Sendcloud: rates at the checkout, labels and return labels on the order page.
 *
 *     npx tsx examples/parcels/app.ts
 *     npx kontor app dev DemoShop 127.0.0.1:3000
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createClient, KontorError } from '@kontor/client';
import {
  CallVerificationError,
  claimedClientId,
  FrameTokenError,
  signAnswer,
  verifyCall,
  verifyFrameToken,
  type DeliveryQuestion,
} from '@kontor/client/app';
import { LabelProblem, makeLabel, MAX_PARCELS, type LabelRequest, type Settings } from './labels.ts';
import { manifest } from './manifest.ts';
import { codeOf, codesOf, deliveryOptions, gramsOfOrder } from './rates.ts';
import { connectToSendcloud, SendcloudProblem } from './sendcloud.ts';
import { openStore, type Job, type Shop, type Store } from './store.ts';

export interface AppOptions {
  store: Store;
  /** The installations of Kontor whose shops may install the app. */
  origins: readonly string[];
  sendcloudUrl: string;
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

/** Milliseconds for which the settings of a shop are kept: a checkout waits. */
const SETTINGS_FOR = 60_000;
const MAX_KEPT = 1_000;

export function createApp({ store, origins, sendcloudUrl }: AppOptions): Server {
  const kept = new Map<string, { settings: Settings; at: number }>();
  const handlers: Record<string, (request: IncomingMessage, url: URL) => Promise<Answer>> = {
    'GET /.well-known/kontor-app.json': async () => json(manifest),
    'POST /kontor/register': register,
    'GET /kontor/install': install,
    'POST /kontor/delivery': delivery,
    'GET /kontor/labels': labels,
    'POST /kontor/labels': create,
    'GET /kontor/orders': orders,
    'GET /kontor/document': label,
    'GET /page.html': page,
    'GET /many.html': page,
  };

  return createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://app');
    const handler = handlers[`${request.method} ${url.pathname}`] ?? file;
    handler(request, url).then(
      ({ status = 200, headers = {}, body }) => response.writeHead(status, headers).end(body),
      (error: unknown) => {
        const { status, text } = explained(error);
        if (status >= 500) console.error(error);
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
      },
    );
  });

  /** A shop says who it is. Its merchant has agreed, and comes to `install` next. */
  async function register(request: IncomingMessage): Promise<Answer> {
    const given = (await bodyOf(request)) as Omit<Shop, 'accessToken'>;
    const { clientId, clientSecret, shopId, apiUrl } = given;
    const issuer = originOf(apiUrl);
    if (!origins.includes(issuer))
      throw new Refused(403, `KONTOR_URL does not name this installation: ${issuer}`);
    const token = await verifyFrameToken(bearer(request), { issuer, clientId });
    if (token.page !== 'register' || token.shop !== shopId)
      throw new Refused(401, 'The token is for something else');
    const accessToken = shopOf(clientId)?.accessToken ?? null;
    const shop = { clientId, clientSecret, shopId, apiUrl, accessToken };
    await store.change((data) => ({
      ...data,
      shops: [...data.shops.filter((one) => one.clientId !== clientId), shop],
    }));
    return { status: 204 };
  }

  /** The browser of the merchant brings a code, which becomes a token. */
  async function install(_request: IncomingMessage, { searchParams }: URL): Promise<Answer> {
    const given = Object.fromEntries(searchParams);
    const { code = '', signature = '', return_url = '', access_token_url = '' } = given;
    const shop = shopOf(/\/apps\/([0-9A-F-]{36})$/.exec(return_url)?.[1]);
    if (!shop || !isSigned(shop, `${code}:${access_token_url}`, signature))
      throw new Refused(403, 'Not from a shop');
    const response = await fetch(access_token_url, {
      method: 'POST',
      body: new URLSearchParams({ code, client_id: shop.clientId, client_secret: shop.clientSecret }),
    });
    if (!response.ok) throw new Refused(502, `The shop has refused the code: ${response.status}`);
    const { access_token: accessToken } = (await response.json()) as { access_token: string };
    const others = ({ clientId, apiUrl }: Shop) => clientId !== shop.clientId && apiUrl !== shop.apiUrl;
    await store.change((data) => ({
      ...data,
      shops: [...data.shops.filter(others), { ...shop, accessToken }],
    }));
    return { status: 302, headers: { location: return_url } };
  }

  /** A checkout asks how a cart can be delivered, while the customer waits. */
  async function delivery(request: IncomingMessage): Promise<Answer> {
    const body = await textOf(request);
    const shop = requireShop(request);
    const by = { ...shop, issuer: originOf(shop.apiUrl) };
    const { id, question } = await verifyCall({ headers: request.headers, body }, by);
    const { sendcloud, settings } = await open(shop);
    const answer = await deliveryOptions(sendcloud, settings, question as DeliveryQuestion);
    return signAnswer(answer, { id, clientSecret: shop.clientSecret });
  }

  /** What the block shows of its order. */
  async function labels(request: IncomingMessage, url: URL): Promise<Answer> {
    const { shop, orderId } = await requireOrder(request, url);
    const { settings, client } = await open(shop);
    return json({ options: codesOf(settings), ...(await shown(shop, { settings, client }, orderId)) });
  }

  /** The orders that were chosen in the list, one after the other: the shop is not asked for all at once. */
  async function orders(request: IncomingMessage): Promise<Answer> {
    const { shop, ids } = await requireOrders(request);
    const { settings, client } = await open(shop);
    const list: object[] = [];
    for (const orderId of ids) list.push(await shown(shop, { settings, client }, orderId));
    return json({ options: codesOf(settings), orders: list });
  }

  /** What is suggested for the next label of an order, and the labels that it has. */
  async function shown(
    shop: Shop,
    { settings, client }: Pick<Awaited<ReturnType<typeof open>>, 'settings' | 'client'>,
    orderId: string,
  ): Promise<object> {
    const order = await client.GET('/manage/shops/{shopId}/orders/{orderId}', {
      params: { path: { orderId } },
    });
    return {
      orderId,
      orderNumber: order.orderNumber,
      option: codeOf(order, shop.clientId, settings) ?? null,
      grams: Math.min(gramsOfOrder(order), MAX_GRAMS),
      labels: jobsOf(shop, orderId).map(({ kind, number, option, made }) => ({
        kind,
        number,
        option,
        parcels:
          made?.parcels.map(({ trackingNumber, trackingUrl }) => ({ trackingNumber, trackingUrl })) ?? null,
      })),
    };
  }

  /** A label, or the rest of one that was begun. */
  async function create(request: IncomingMessage, url: URL): Promise<Answer> {
    const { shop, orderId } = await requireOrder(request, url);
    const { sendcloud, settings, client } = await open(shop);
    const asked = labelRequest(orderId, await bodyOf(request), settings);
    const deps = { clientId: shop.clientId, shop: client, sendcloud, settings, store };
    const { made } = await makeLabel(deps, asked);
    return json({ trackingNumbers: made!.parcels.map(({ trackingNumber }) => trackingNumber) });
  }

  /** The PDF of a label. */
  async function label(request: IncomingMessage, url: URL): Promise<Answer> {
    const { shop, orderId } = await requireOrder(request, url);
    const { kind, number, parcel } = Object.fromEntries(url.searchParams);
    const job = jobsOf(shop, orderId).find((one) => one.kind === kind && String(one.number) === number);
    const link = job?.made?.parcels[Number(parcel)]?.link;
    if (!link) throw new Refused(404, 'There is no such label');
    const { sendcloud } = await open(shop);
    return { headers: { 'content-type': 'application/pdf' }, body: await sendcloud.document(link) };
  }

  /** No other site may frame it. */
  async function page(_request: IncomingMessage, { pathname }: URL): Promise<Answer> {
    const policy = `default-src 'self'; frame-ancestors ${origins.join(' ')}`;
    const body = await readFile(new URL(`public${pathname}`, import.meta.url));
    return {
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
      body,
    };
  }

  function shopOf(clientId: string | undefined): Shop | undefined {
    return store.data.shops.find((shop) => shop.clientId === clientId);
  }

  function requireShop(request: IncomingMessage): Shop {
    const shop = shopOf(claimedClientId(bearer(request)));
    if (!shop) throw new Refused(401, 'This shop is not known');
    return shop;
  }

  /** The orders that the page of the token is shown for. */
  async function requireOrders(request: IncomingMessage): Promise<{ shop: Shop; ids: string[] }> {
    const shop = requireShop(request);
    const by = { issuer: originOf(shop.apiUrl), clientId: shop.clientId };
    const { page: name, ids = [] } = await verifyFrameToken(bearer(request), by);
    if (!['labels', 'create'].includes(name) || ids.length === 0)
      throw new Refused(403, 'The token is for another page');
    return { shop, ids };
  }

  /** The one of them that is asked for; of a single one there is no need to say it. */
  async function requireOrder(
    request: IncomingMessage,
    { searchParams }: URL,
  ): Promise<{ shop: Shop; orderId: string }> {
    const { shop, ids } = await requireOrders(request);
    const asked = searchParams.get('order') ?? (ids.length === 1 ? ids[0]! : '');
    const orderId = ids.find((id) => id === asked);
    if (orderId === undefined) throw new Refused(403, 'The token is for other orders');
    return { shop, orderId };
  }

  function jobsOf({ clientId }: Shop, orderId: string): Job[] {
    return store.data.jobs.filter((job) => job.clientId === clientId && job.orderId === orderId);
  }

  async function open(shop: Shop) {
    const { clientId, apiUrl, shopId, accessToken } = shop;
    const client = createClient({ baseUrl: originOf(apiUrl), shopId, accessToken: accessToken ?? '' });
    let known = kept.get(clientId);
    if (!known || Date.now() - known.at > SETTINGS_FOR) {
      const { settings } = await client.GET('/manage/shops/{shopId}/app/settings');
      known = { settings: { ...NOTHING_TYPED, ...(settings as Partial<Settings>) }, at: Date.now() };
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(clientId, known);
    }
    const { settings } = known;
    if (!settings.publicKey || !settings.country) {
      // The merchant may be typing them now.
      kept.delete(clientId);
      throw new Refused(
        409,
        'Type the keys of Sendcloud and your address into the settings of the app first.',
      );
    }
    return { client, settings, sendcloud: connectToSendcloud({ baseUrl: sendcloudUrl, ...settings }) };
  }
}

const NOTHING_TYPED: Settings = {
  publicKey: '',
  secretKey: '',
  options: '',
  returnOption: '',
  name: '',
  street: '',
  houseNumber: '',
  zipCode: '',
  city: '',
  country: '',
};

const MAX_GRAMS = 100_000;

function labelRequest(orderId: string, body: unknown, settings: Settings): LabelRequest {
  const { kind, number, option, parcels } = body as Partial<Record<keyof LabelRequest, unknown>>;
  const isReturn = kind === 'return';
  if (!isReturn && kind !== 'shipment') throw new Refused(400, 'kind is shipment or return');
  if (!Number.isInteger(number)) throw new Refused(400, 'number is missing');
  const isParcel = (grams: unknown) =>
    Number.isInteger(grams) && Number(grams) > 0 && Number(grams) <= MAX_GRAMS;
  const isList = Array.isArray(parcels) && parcels.length > 0 && parcels.length <= MAX_PARCELS;
  if (!isList || !parcels.every(isParcel))
    throw new Refused(400, `1 to ${MAX_PARCELS} parcels of 1 g to 100 kg`);
  const chosen = isReturn ? settings.returnOption : codesOf(settings).find((code) => code === option);
  if (!chosen) throw new Refused(400, 'Choose a shipping option of the settings');
  return { orderId, kind, number: number as number, option: chosen, parcels: parcels as number[] };
}

/** The scripts and styles of the pages, and the bridge to the admin, which is in the package. */
async function file(_request: IncomingMessage, { pathname }: URL): Promise<Answer> {
  const [, folder, name, ending = ''] = /^\/(client|public)\/([a-z-]+\.(js|css))$/.exec(pathname) ?? [];
  if (name === undefined) throw new Refused(404, 'Not found');
  const base =
    folder === 'public'
      ? new URL('public/', import.meta.url)
      : new URL('../dist/', import.meta.resolve('@kontor/client/app'));
  try {
    const body = await readFile(fileURLToPath(new URL(name, base)));
    return { headers: { 'content-type': ending === 'js' ? 'text/javascript' : 'text/css' }, body };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Refused(404, 'Not found');
    throw error;
  }
}

function explained(error: unknown): { status: number; text: string } {
  if (error instanceof Refused) return { status: error.status, text: error.message };
  if (error instanceof LabelProblem) return { status: 409, text: error.message };
  if (error instanceof FrameTokenError || error instanceof CallVerificationError) {
    return { status: 401, text: error.message };
  }
  if (error instanceof SendcloudProblem) return { status: 502, text: `Sendcloud: ${error.message}` };
  if (error instanceof KontorError) return { status: 502, text: `The shop: ${error.message}` };
  return { status: 500, text: 'It failed. Try again: a label that was made already is not made twice.' };
}

const MAX_BODY = 262_144;

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BODY) throw new Refused(413, 'Too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

async function bodyOf(request: IncomingMessage): Promise<object> {
  const body = await textOf(request);
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { PORT = '3000', DATA = 'data-parcels', KONTOR_URL = 'http://localhost:8080' } = process.env;
  const { SENDCLOUD_URL = 'https://panel.sendcloud.sc/api/v3' } = process.env;
  const store = await openStore(DATA);
  const app = createApp({ store, origins: KONTOR_URL.split(','), sendcloudUrl: SENDCLOUD_URL });
  app.listen(Number(PORT), '127.0.0.1', () => {
    console.log(`The app is at http://127.0.0.1:${(app.address() as AddressInfo).port}`);
  });
}
