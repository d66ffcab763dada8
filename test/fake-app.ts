import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Merchant } from './admin.ts';

/** An app on this machine, which describes itself by a manifest. */
export interface FakeApp {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  host: string;
  /** What it answers with at the usual place; a text is sent as it is. */
  manifest: Record<string, unknown> | string;
  /** What the service has sent to /register. */
  registrations: { headers: IncomingHttpHeaders; body: Record<string, string> }[];
  /** The paths that were asked for. */
  asked: string[];
  /** Answers other paths, or all of them: true, when it has. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  close(): Promise<void>;
}

export const LABELS = {
  manifest: 1,
  name: 'Labels',
  description: { en: 'Prints shipping labels.', de: 'Druckt Versandetiketten.' },
  registerUrl: '/register',
  installUrl: '/install?from=kontor',
  scopes: ['orders_read', 'products_read'],
  webhooks: [{ eventType: 'ORDER_CREATE', url: '/hook' }],
  pages: [{ name: 'labels', title: { en: 'Shipping labels', de: 'Versandetiketten' }, url: '/pages/labels' }],
  blocks: [
    { name: 'parcel', place: 'order', title: { en: 'Parcel' }, url: '/pages/parcel', height: 120 },
    { name: 'size', place: 'product', title: { en: 'Parcel size' }, url: '/pages/size' },
    { name: 'setup', place: 'settings', title: { en: 'Label setup' }, url: '/pages/setup' },
  ],
  actions: [{ name: 'create', title: { en: 'Create label' }, url: '/pages/create', maxOrders: 3 }],
};

/** What the app is asked while a customer waits. */
export interface AppQuestion {
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** Signs what it answers with the secret that the service has sent it; `change` alters the headers. */
export function signedAnswer(
  app: Pick<FakeApp, 'registrations'>,
  { headers }: Pick<AppQuestion, 'headers'>,
  body: string,
  {
    at = Date.now(),
    id = String(headers['webhook-id']),
    secret = app.registrations.at(-1)!.body['clientSecret']!,
  } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const hmac = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hmac}` };
}

/** What an app answers to a call; a function answers by itself. */
export type Reply = object | ((question: AppQuestion, response: ServerResponse) => void);

/** Answers the calls at these paths, and records what was asked. */
export function answerCalls(app: FakeApp, replyAt: (path: string) => Reply | undefined): AppQuestion[] {
  const asked: AppQuestion[] = [];
  app.answer = (request, response) => {
    const reply = replyAt(request.url!);
    if (!reply) return false;
    void text(request).then((body) => {
      const question = { headers: request.headers, body: JSON.parse(body) as Record<string, unknown> };
      asked.push(question);
      if (typeof reply === 'function') return reply(question, response);
      return answerWith(app, question, response, JSON.stringify(reply));
    });
    return true;
  };
  return asked;
}

/** Sends an answer that the app has signed; `change` alters the headers. */
export function answerWith(
  app: FakeApp,
  question: AppQuestion,
  response: ServerResponse,
  body: string,
  change: { at?: number; id?: string; secret?: string } = {},
): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    ...signedAnswer(app, question, body, change),
  });
  response.end(body);
}

export async function startFakeApp(): Promise<FakeApp> {
  const server = createServer((request, response) => {
    app.asked.push(request.url!);
    if (app.answer(request, response)) return;
    if (request.url === '/.well-known/kontor-app.json') {
      response.setHeader('content-type', 'application/json');
      response.end(typeof app.manifest === 'string' ? app.manifest : JSON.stringify(app.manifest));
      return;
    }
    if (request.url === '/register') {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        app.registrations.push({
          headers: request.headers,
          body: JSON.parse(Buffer.concat(parts).toString()) as Record<string, string>,
        });
        response.end('ok');
      });
      return;
    }
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const app: FakeApp = {
    origin: `http://${host}`,
    host,
    manifest: LABELS,
    registrations: [],
    asked: [],
    answer: () => false,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return app;
}

/** Adds the app to a shop and agrees, as a merchant does; returns its client id. */
export async function givenInstalledApp(merchant: Merchant, app: FakeApp): Promise<string> {
  const { location } = await merchant.post('/apps/add', { address: app.origin });
  const [, appId] = /apps\/([^/]+)\/install/.exec(location!)!;
  const { text } = await merchant.get(`/apps/${appId}/install`);
  const [, version] = /name="version" value="([^"]+)"/.exec(text)!;
  const { status } = await merchant.post(`/apps/${appId}/install`, { answer: 'agree', version: version! });
  expect(status).toBe(200);
  return appId!;
}
