import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UCP_VERSION } from '../src/assistants/capabilities.ts';
import type { Answer, Service } from './service.ts';

/** An assistant on this machine, with a profile and a key. */
export interface FakeAssistant {
  origin: string;
  /** The address of its profile. */
  profile: string;
  /** What it answers with there; a text is sent as it is. */
  file: Record<string, unknown> | string;
  /** How often the profile was asked for. */
  asked: number;
  /** Answers instead: true, when it has. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  privateKey: KeyObject;
  close(): Promise<void>;
}

export const KEY_ID = 'assistant-1';

/** The profile of an assistant that can do all of this. */
export function profileFile(
  capabilities: readonly string[],
  keys: readonly object[] = [],
  version = UCP_VERSION,
): Record<string, unknown> {
  const entry = { version, spec: 'https://ucp.dev/specification', schema: 'https://ucp.dev/schema.json' };
  return {
    ucp: {
      version,
      services: { 'dev.ucp.shopping': [{ ...entry, transport: 'rest' }] },
      capabilities: Object.fromEntries(capabilities.map((name) => [name, [entry]])),
      payment_handlers: {},
    },
    keys,
  };
}

/** All that shops offer. */
export const EVERYTHING = [
  'dev.ucp.shopping.catalog.search',
  'dev.ucp.shopping.catalog.lookup',
  'dev.ucp.shopping.cart',
  'dev.ucp.shopping.checkout',
  'dev.ucp.shopping.order',
  'dev.ucp.shopping.fulfillment',
  'dev.ucp.shopping.discount',
  'dev.ucp.shopping.buyer_consent',
];

export const CATALOGUE = ['dev.ucp.shopping.catalog.search', 'dev.ucp.shopping.catalog.lookup'];

export async function startFakeAssistant(): Promise<FakeAssistant> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = createServer((request, response) => {
    assistant.asked++;
    if (assistant.answer(request, response)) return;
    response.setHeader('content-type', 'application/json');
    response.setHeader('cache-control', 'public, max-age=60');
    response.end(typeof assistant.file === 'string' ? assistant.file : JSON.stringify(assistant.file));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'ES256' };
  const assistant: FakeAssistant = {
    origin,
    profile: `${origin}/profile.json`,
    file: profileFile(EVERYTHING, [key]),
    asked: 0,
    answer: () => false,
    privateKey,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return assistant;
}

export interface AssistantCall {
  profile?: string | undefined;
  headers?: Record<string, string>;
  host?: string;
  method?: 'POST' | 'GET' | 'PUT' | 'DELETE';
  /** The client's; that of this machine otherwise. */
  address?: string;
}

/** A request of an assistant to the own host of the demo shop. A text is sent as it is. */
export async function ask(
  { app }: Service,
  url: string,
  body: unknown,
  { profile, headers = {}, host = 'demoshop.localhost', method = 'POST', address }: AssistantCall = {},
): Promise<Answer> {
  const response = await app.inject({
    method,
    ...(address !== undefined && { remoteAddress: address }),
    url,
    headers: {
      host,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(profile !== undefined && { 'ucp-agent': `profile="${profile}"` }),
      ...headers,
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson && response.body !== '' ? JSON.parse(response.body) : undefined,
  };
}

export const digestOf = (text: string) => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`;

/** The headers that sign a request of this assistant, as RFC 9421 describes it. */
export function signedHeaders(
  { profile, privateKey }: Pick<FakeAssistant, 'profile' | 'privateKey'>,
  path: string,
  body: string,
  {
    keyId = KEY_ID,
    host = 'demoshop.localhost',
    components = ['@method', '@authority', '@path', 'ucp-agent', 'content-digest', 'content-type'],
    parameters = '',
    method = 'POST',
  } = {},
): Record<string, string> {
  const values: Record<string, string> = {
    '@method': method,
    '@authority': host,
    '@path': path,
    'ucp-agent': `profile="${profile}"`,
    'content-digest': digestOf(body),
    'content-type': 'application/json',
  };
  const input = `(${components.map((name) => `"${name}"`).join(' ')});keyid="${keyId}"${parameters}`;
  const base = [
    ...components.map((name) => `"${name}": ${values[name]}`),
    `"@signature-params": ${input}`,
  ].join('\n');
  const signature = sign('sha256', Buffer.from(base), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return {
    'content-digest': values['content-digest']!,
    'signature-input': `sig1=${input}`,
    signature: `sig1=:${signature.toString('base64')}:`,
  };
}
