import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import type { CallingApp } from './callers.ts';
import { CART_TOKEN_HEADER } from './cart-token.ts';
import { HttpError } from './errors.ts';

/**
 * The admin is a client of the operations: a form of its pages is sent to the same operation that an app would call, so
 * that there is one validation, one check of scopes and one audit log. The call does not leave the process. Who makes it
 * is passed beside the request, where nothing that comes over the network can put it.
 */
interface InternalCaller {
  shopId: string;
  app: CallingApp;
}

const internalCaller = new AsyncLocalStorage<InternalCaller>();

/** In whose name this request is made inside of the process; undefined: it came over the network. */
export function internalCallerOf(shopId: string): CallingApp | undefined {
  const caller = internalCaller.getStore();
  return caller?.shopId === shopId ? caller.app : undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface InternalRequest {
  query?: Readonly<Record<string, string | number | readonly string[] | undefined>> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, with its own type: a form with a file. */
  upload?: { content: Readable; type: string; length?: string | undefined };
  idempotencyKey?: string | undefined;
  /** Of the cart that the call is about. */
  cartToken?: string | undefined;
  /** The answer is a `Readable` of its text, for one that may be long. */
  asStream?: boolean;
  /** Gets the headers of the answer: the token of a new cart is in one of them. */
  onHeaders?: (headers: Readonly<Record<string, unknown>>) => void;
}

/** The operations are below `/rs` and `/manage`; the paths here leave out `/shops/ID`: `/rs/orders`, `/manage/returns`. */
export type InternalCall = <Answer>(
  caller: InternalCaller,
  method: Method,
  path: string,
  request?: InternalRequest & { host: string },
) => Promise<Answer>;

/** Refusals of the operation are thrown as they would be answered. */
export function createInternalCall(app: FastifyInstance): InternalCall {
  return async <Answer>(
    caller: InternalCaller,
    method: Method,
    path: string,
    {
      query = {},
      body,
      upload,
      idempotencyKey,
      cartToken,
      asStream = false,
      onHeaders,
      host,
    }: InternalRequest & { host: string } = {
      host: 'localhost',
    },
  ) => {
    const [, root, below] = /^\/(rs|manage)(\/.*|)$/.exec(path) ?? [];
    if (root === undefined) throw new Error(`${path} is not the path of an operation`);
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, String(one)]),
      ),
    ).toString();
    // Awaited inside: the request begins when it is awaited, and then the caller must be known.
    const response = await internalCaller.run(
      caller,
      async () =>
        await app.inject({
          method,
          url: `/${root}/shops/${caller.shopId}${below}${search === '' ? '' : `?${search}`}`,
          headers: {
            host,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(upload && { 'content-type': upload.type }),
            ...(upload?.length !== undefined && { 'content-length': upload.length }),
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
            ...(cartToken !== undefined && { [CART_TOKEN_HEADER]: cartToken }),
          },
          ...(body !== undefined && { payload: JSON.stringify(body) }),
          ...(upload && { payload: upload.content }),
          payloadAsStream: asStream,
        }),
    );
    const { statusCode } = response;
    if (statusCode >= 400) {
      throw new HttpError(statusCode, refusalText(asStream ? await text(response.stream()) : response.body));
    }
    onHeaders?.(response.headers);
    if (asStream) return response.stream() as Answer;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return (isJson && response.body !== '' ? JSON.parse(response.body) : response.body) as Answer;
  };
}

/** Without the request that the contract adds to the message of an error. */
function refusalText(body: string): string {
  const { message = '' } = JSON.parse(body) as { message?: string };
  return message.replace(/, Request: [A-Z]+ \S+$/, '');
}
