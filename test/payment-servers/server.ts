import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What goes wrong between us and a payment provider; tests switch it on. */
export interface Faults {
  /** Milliseconds before every answer. */
  delay: number;
  /** So many requests are answered with this status, and nothing is done. */
  failures: { count: number; status: number };
  /** So many changes are carried out, and their connections closed without an answer. */
  lostAnswers: number;
  /** So many changes are carried out, and never answered: what asked for them can end in the meantime. */
  heldAnswers: number;
  /** Requests are accepted and never answered. */
  isSilent: boolean;
}

export interface Call {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  status: number;
  /** Absent: no body. */
  body?: object;
  headers?: Record<string, string>;
}

export interface ProviderServer {
  port: number;
  /** What was asked for, in the order in which it came. */
  calls: Call[];
  faults: Faults;
  /** How many connections are open. */
  connections(): Promise<number>;
  /** Nobody listens any more. */
  stop(): Promise<void>;
}

/** A server on this machine that answers in a provider's place. */
export async function startProviderServer(
  answer: (call: Call) => Reply,
  { tls }: { tls?: https.ServerOptions } = {},
): Promise<ProviderServer> {
  const calls: Call[] = [];
  const faults: Faults = {
    delay: 0,
    failures: { count: 0, status: 503 },
    lostAnswers: 0,
    heldAnswers: 0,
    isSilent: false,
  };

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const call = await readCall(request);
    calls.push(call);
    if (faults.isSilent) return;
    if (faults.delay > 0) await sleep(faults.delay);
    if (faults.failures.count > 0) {
      faults.failures.count--;
      const { status } = faults.failures;
      send(response, {
        status,
        body: { status, title: 'Failure', detail: 'Try again', error: { type: 'api_error' } },
      });
      return;
    }
    const reply = answer(call);
    if (faults.lostAnswers > 0 && call.method !== 'GET') {
      faults.lostAnswers--;
      request.socket.destroy();
      return;
    }
    if (faults.heldAnswers > 0 && call.method !== 'GET') {
      faults.heldAnswers--;
      return;
    }
    send(response, reply);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    calls,
    faults,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { pathname, searchParams } = new URL(request.url!, 'http://provider');
  return {
    method: request.method!,
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body: Buffer.concat(parts).toString(),
  };
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/**
 * The answers to requests with an idempotency key. `answer` is called for a new key; a key that comes again with the same
 * request gets the first answer, and with another request what `conflict` says.
 */
export function createReplays(conflict: () => Reply) {
  const replies = new Map<string, { request: string; reply: Reply }>();
  return (key: string, { method, path, body }: Call, answer: () => Reply): Reply => {
    const request = `${method} ${path} ${body}`;
    const known = replies.get(key);
    if (known && known.request !== request) return conflict();
    if (known) return { ...known.reply, headers: { ...known.reply.headers, 'Idempotent-Replayed': 'true' } };
    const reply = answer();
    replies.set(key, { request, reply });
    return reply;
  };
}

/** An id as providers make them: `re_` and letters that nobody can guess. */
export function newToken(prefix: string, length = 24): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return prefix + Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
}
