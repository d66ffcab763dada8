import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ShopDatabase, Transaction } from '../db/database.ts';
import { isDatabaseAway } from '../db/failure.ts';
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
  /** The transaction that this call is a part of; undefined: it has one of its own. */
  joined?: JoinedTransaction | undefined;
}

/** A transaction of several calls, which are done together or not at all. */
export interface JoinedTransaction {
  tx: Transaction;
  /** What its calls do outside of the database once it is committed. */
  afterCommit: (effect: () => void | Promise<void>) => void;
  /** What its calls have made outside of the database, and must remove when it is not. */
  afterRollback: (effect: () => Promise<void>) => void;
}

const internalCaller = new AsyncLocalStorage<InternalCaller>();

/** In whose name this request is made inside of the process; undefined: it came over the network. */
export function internalCallerOf(shopId: string): CallingApp | undefined {
  const caller = internalCaller.getStore();
  return caller?.shopId === shopId ? caller.app : undefined;
}

/** The transaction that this request is a part of; undefined: it has one of its own. */
export function joinedTransactionOf(shopId: string): JoinedTransaction | undefined {
  const caller = internalCaller.getStore();
  return caller?.shopId === shopId ? caller.joined : undefined;
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

/** Makes several calls in one transaction: all of them are done, or none is. */
export async function joinCalls<Result>(
  db: ShopDatabase,
  { appId, log }: { appId: string; log: FastifyBaseLogger },
  work: (joined: JoinedTransaction) => Promise<Result>,
): Promise<Result> {
  let effects: (() => void | Promise<void>)[] = [];
  const discards: (() => Promise<void>)[] = [];
  const discardAll = async () => {
    for (const discard of discards.splice(0)) await discard();
  };
  const result = await db
    .transaction(
      async (tx) => {
        // A transaction that is tried again begins from nothing.
        effects = [];
        await discardAll();
        return work({
          tx,
          afterCommit: (effect) => void effects.push(effect),
          afterRollback: (discard) => void discards.push(discard),
        });
      },
      { appId },
    )
    .catch(async (error: unknown) => {
      // Of a commit that was not answered nobody knows whether it happened.
      if (!isDatabaseAway(error)) await discardAll();
      throw error;
    });
  await runEffects(effects, log);
  return result;
}

/** What is done outside of the database after a commit. If it fails, the write stays done. */
export async function runEffects(
  effects: readonly (() => void | Promise<void>)[],
  log: FastifyBaseLogger,
): Promise<void> {
  for (const effect of effects) {
    try {
      await effect();
    } catch (error) {
      log.error({ err: error }, 'failed after the commit');
    }
  }
}
