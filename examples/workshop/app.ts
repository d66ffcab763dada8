/**
 * An app that is asked for prices and for taxes while a customer waits. Its answers are in answers.ts.
 *
 *     npx tsx examples/workshop/app.ts
 *     npx kontor app dev DemoShop 127.0.0.1:3000
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  CallVerificationError,
  claimedClientId,
  FrameTokenError,
  signAnswer,
  verifyCall,
  verifyFrameToken,
} from '@kontor/client/app';
import { linePrices, taxes } from './answers.ts';

const { PORT = '3000', DATA = 'workshop.json', KONTOR_URL = 'http://localhost:8080' } = process.env;

const manifest = {
  manifest: 1,
  name: 'Workshop',
  description: { en: 'Prices engravings by the character, and knows the sales tax of some states.' },
  registerUrl: '/kontor/register',
  installUrl: '/kontor/install',
  scopes: ['carts_read'],
  calls: [
    { kind: 'linePrices', url: '/kontor/calls', cacheSeconds: 600, onFailure: 'refuse' },
    { kind: 'taxes', url: '/kontor/calls', cacheSeconds: 600, onFailure: 'refuse' },
  ],
};

/** A shop that has installed the app. */
interface Shop {
  clientId: string;
  clientSecret: string;
  shopId: string;
  /** Where it comes from. */
  issuer: string;
}

const shops = new Map(existsSync(DATA) ? (JSON.parse(readFileSync(DATA, 'utf8')) as [string, Shop][]) : []);

/** The file is complete or not there, whenever the process ends. It holds secrets. */
function save(shop: Shop): void {
  shops.set(shop.clientId, shop);
  writeFileSync(`${DATA}.new`, JSON.stringify([...shops]), { mode: 0o600 });
  renameSync(`${DATA}.new`, DATA);
}

class Refused extends Error {}

type Incoming = Parameters<Parameters<typeof createServer>[1] & object>[0];

const tokenOf = ({ headers }: Incoming) => headers.authorization?.replace(/^Bearer /, '') ?? '';

/** A shop says who it is, with a token that only its installation can sign. */
async function register(request: Incoming): Promise<void> {
  const { clientId, clientSecret, shopId, apiUrl } = JSON.parse(await text(request)) as Shop & {
    apiUrl: string;
  };
  const issuer = new URL(apiUrl).origin;
  if (!KONTOR_URL.split(',').includes(issuer)) {
    throw new Refused(`KONTOR_URL does not name this installation: ${issuer}`);
  }
  const { page, shop } = await verifyFrameToken(tokenOf(request), { issuer, clientId });
  if (page !== 'register' || shop !== shopId) throw new Refused('The token is for something else');
  save({ clientId, clientSecret, shopId, issuer });
}

/** A cart asks. */
async function answer(request: Incoming) {
  const shop = shops.get(claimedClientId(tokenOf(request)) ?? '');
  if (!shop) throw new Refused('This shop is not known');
  const { kind, id, question } = await verifyCall(
    { headers: request.headers, body: await text(request) },
    shop,
  );
  const given = kind === 'taxes' ? taxes(question as never) : linePrices(question as never);
  return signAnswer(given, { id, clientSecret: shop.clientSecret });
}

/** What is asked for at a path: the answer, or its status. */
async function handle(
  request: Incoming,
): Promise<{ status?: number; headers?: Record<string, string>; body?: string }> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://app');
  if (pathname === '/.well-known/kontor-app.json') {
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(manifest) };
  }
  if (pathname === manifest.registerUrl) return register(request).then(() => ({ status: 204 }));
  if (pathname === '/kontor/calls') return answer(request);
  // The app calls no shop, so it needs no token: the merchant only goes back to where they come from.
  const back = searchParams.get('return_url') ?? '';
  const isKnown = [...shops.values()].some(
    ({ issuer, shopId, clientId }) => back === `${issuer}/admin/shops/${shopId}/apps/${clientId}`,
  );
  return pathname === manifest.installUrl && isKnown
    ? { status: 302, headers: { location: back } }
    : { status: 404 };
}

const server = createServer((request, response) => {
  handle(request).then(
    ({ status = 200, headers = {}, body }) => response.writeHead(status, headers).end(body),
    (error: Error) => {
      const isForged = [Refused, CallVerificationError, FrameTokenError].some(
        (kind) => error instanceof kind,
      );
      if (!isForged) console.error(error);
      response.writeHead(isForged ? 401 : 500).end(isForged ? error.message : 'It failed');
    },
  );
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The app is at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
