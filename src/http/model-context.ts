import { Type, type Static } from 'typebox';
import { HttpError } from './errors.ts';
import { compileBody } from './validation.ts';

/**
 * The Model Context Protocol by Streamable HTTP, without sessions: each request is one message, and its answer is one message
 * of JSON. A message of the version 2026-07-28 says its version itself, and repeats in headers what it asks for; those of
 * older versions begin with `initialize`, and say nothing else that an answer depends on.
 */

const MODERN = '2026-07-28';

/** The newest first. None of them is needed for what we offer, so the client's is taken where it is known. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'];

const VERSIONS = [MODERN, ...LEGACY];

export const RpcMessage = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Number()])),
  method: Type.String({ maxLength: 100 }),
  params: Type.Optional(Type.Object({})),
});
export type RpcMessage = Static<typeof RpcMessage>;

const isMessage = compileBody(RpcMessage);

export const isRpcMessage = (body: unknown): body is RpcMessage => isMessage(body ?? null);

/** A message that is refused, with the code of JSON-RPC. */
export class RpcProblem extends HttpError {
  override name = 'RpcProblem';
  readonly rpcCode: number;
  readonly data: object | undefined;

  constructor(
    rpcCode: number,
    text: string,
    { status = 400, data }: { status?: number; data?: object } = {},
  ) {
    super(status, text);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

export const invalidParameters = (text: string, data?: object) =>
  new RpcProblem(-32_602, text, data === undefined ? {} : { data });

export type RpcParams = Readonly<Record<string, unknown>>;

export interface McpServer {
  server: { name: string; title?: string; version: string };
  capabilities: Readonly<Record<string, object>>;
  instructions: string;
  /** The methods beside those of the protocol itself: `tools/list`. */
  methods: Readonly<Record<string, (params: RpcParams) => Promise<object>>>;
  /** Milliseconds for which a client may use a list or a text again. */
  cacheable: number;
  /** Whether those are the same for everybody. */
  isPublic: boolean;
}

export interface RpcAnswer {
  status: number;
  /** undefined: the message was a notification, which has none. */
  body: object | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The answer to a message. Refusals are thrown. */
export async function answerMessage(
  { id, method, params = {} }: RpcMessage,
  headers: Headers,
  offer: McpServer,
): Promise<RpcAnswer> {
  if (id === undefined) return { status: 202, body: undefined };
  const version = checkVersion(method, params as RpcParams, headers);
  const run = methodsOf(version, offer)[method];
  if (!run) {
    const error = { code: -32_601, message: 'There is no such method' };
    return { status: version === MODERN ? 404 : 200, body: { jsonrpc: '2.0', id, error } };
  }
  const result = await run(params as RpcParams);
  return { status: 200, body: { jsonrpc: '2.0', id, result: withMeta(version, method, result, offer) } };
}

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_SERVER = 'io.modelcontextprotocol/serverInfo';

/** The version of the message, after the checks that it demands. */
function checkVersion(method: string, params: RpcParams, headers: Headers): string {
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const said = meta[META_VERSION];
  const header = headers['mcp-protocol-version'];
  const isLegacy = said === undefined && (header === undefined || LEGACY.includes(String(header)));
  if (isLegacy) return String(header ?? LEGACY.at(-1));
  if (said === undefined) {
    // A client of an older version that we do not know has no other way to learn which ones we do.
    if (header !== MODERN) throw unsupported(String(header));
    throw invalidParameters(`_meta lacks ${META_VERSION}`);
  }
  if (typeof said !== 'string') throw invalidParameters(`${META_VERSION} is not a text`);
  if (header !== said) throw headerMismatch('MCP-Protocol-Version');
  if (said !== MODERN) throw unsupported(said);
  if (headers['mcp-method'] !== method) throw headerMismatch('Mcp-Method');
  const name = NAMED[method];
  if (name !== undefined && decoded(headers['mcp-name']) !== params[name]) throw headerMismatch('Mcp-Name');
  if (!isObject(meta[META_CAPABILITIES])) throw invalidParameters(`_meta lacks ${META_CAPABILITIES}`);
  return MODERN;
}

/** The parameter that a header repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'prompts/get': 'name',
};

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

function decoded(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const encoded = ENCODED.exec(header)?.[1];
  return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString('utf8');
}

const headerMismatch = (name: string) =>
  new RpcProblem(-32_020, `The header ${name} is missing, or says something else than the message`);

const unsupported = (requested: string) =>
  new RpcProblem(-32_022, 'Unsupported protocol version', {
    data: { supported: VERSIONS, requested: requested.slice(0, 50) },
  });

function methodsOf(version: string, offer: McpServer): McpServer['methods'] {
  const { server, capabilities, instructions, methods } = offer;
  if (version === MODERN) {
    const discover = async () => ({ supportedVersions: VERSIONS, capabilities, instructions });
    return { ...methods, 'server/discover': discover };
  }
  return {
    ...methods,
    initialize: async ({ protocolVersion }) => ({
      protocolVersion: LEGACY.find((known) => known === protocolVersion) ?? LEGACY[0],
      capabilities,
      serverInfo: server,
      instructions,
    }),
    ping: async () => ({}),
  };
}

const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

function withMeta(version: string, method: string, result: object, offer: McpServer): object {
  if (version !== MODERN) return result;
  return {
    resultType: 'complete',
    ...result,
    ...(CACHEABLE.has(method) && {
      ttlMs: offer.cacheable,
      cacheScope: offer.isPublic ? 'public' : 'private',
    }),
    _meta: { [META_SERVER]: offer.server },
  };
}

/** The message that says why another one was not processed. */
export function rpcError(
  request: unknown,
  { code, message, data }: { code: number; message: string; data?: object | undefined },
): object {
  const id = isRpcMessage(request) ? (request.id ?? null) : null;
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
