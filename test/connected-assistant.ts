import { createHash, randomBytes } from 'node:crypto';
import type { Merchant } from './admin.ts';
import type { Answer, Service } from './service.ts';

/** An assistant that a merchant connects to the demo shop, step by step as OAuth has it. */

export const HOST = 'localhost:8080';
export const ORIGIN = `http://${HOST}`;
export const CALLBACK = 'http://127.0.0.1:4711/callback';

interface Given {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  form?: Record<string, string>;
}

/** A request to the host of the service. */
export async function request(service: Service, path: string, given: Given = {}): Promise<Answer> {
  const { method, headers = {}, body, form } = given;
  const payload =
    form !== undefined
      ? new URLSearchParams(form).toString()
      : typeof body === 'string' || body === undefined
        ? body
        : JSON.stringify(body);
  const response = await service.app.inject({
    method: (method ?? (payload === undefined ? 'GET' : 'POST')) as 'GET',
    url: path,
    headers: {
      host: HOST,
      ...(payload !== undefined && {
        'content-type': form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
      }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson && response.body !== '' ? JSON.parse(response.body) : undefined,
  };
}

export async function registerClient(service: Service, name = 'Claude'): Promise<string> {
  const { body } = await request(service, '/oauth/register', {
    body: { client_name: name, redirect_uris: [CALLBACK] },
  });
  return body.client_id;
}

export interface Connecting {
  clientId: string;
  verifier: string;
  /** The part of the link after the question mark. */
  search: string;
}

/** The link that the assistant opens in the browser of the person. */
export function connectLink(clientId: string, more: Record<string, string> = {}): Connecting {
  const verifier = randomBytes(32).toString('base64url');
  const search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'a state',
    resource: `${ORIGIN}/mcp`,
    ...more,
  }).toString();
  return { clientId, verifier, search };
}

/** The merchant agrees: the address to which the browser goes. */
export async function agree(
  merchant: Merchant,
  { search }: Connecting,
  scopes: { sees?: string[]; does?: string[] } = {},
): Promise<URL> {
  const { sees = ['products_read', 'orders_read', 'customers_read'], does = [] } = scopes;
  const { headers } = await merchant.post(`/apps/connect?${search}`, { answer: 'agree', sees, does });
  return new URL(String(headers['refresh']).slice('0; url='.length));
}

export function exchange(
  service: Service,
  { clientId, verifier }: Connecting,
  code: string,
  more: Record<string, string> = {},
): Promise<Answer> {
  return request(service, '/oauth/token', {
    form: {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: CALLBACK,
      code_verifier: verifier,
      ...more,
    },
  });
}

export interface Connected {
  clientId: string;
  token: string;
  refreshToken: string;
}

/** The whole way, from the registration to the tokens. */
export async function connectAssistant(
  service: Service,
  merchant: Merchant,
  scopes: Parameters<typeof agree>[2] = {},
  name?: string,
): Promise<Connected> {
  const connecting = connectLink(await registerClient(service, name));
  const address = await agree(merchant, connecting, scopes);
  const { body } = await exchange(service, connecting, address.searchParams.get('code')!);
  return {
    clientId: connecting.clientId,
    token: body.access_token,
    refreshToken: body.refresh_token,
  };
}

/** A message to the tools. */
export function rpc(
  service: Service,
  token: string | undefined,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  return request(service, '/mcp', {
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
}

/** What a tool answers; a refusal begins with `Error: `. */
export async function callTool(service: Service, token: string, name: string, input: object = {}) {
  const { body } = await rpc(service, token, 'tools/call', { name, arguments: input });
  if (body.error) return `Problem: ${body.error.message}`;
  const { content, isError } = body.result;
  return `${isError ? 'Error: ' : ''}${content[0].text}`;
}
