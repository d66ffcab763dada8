import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ShopDatabase, Transaction } from '../db/database.ts';
import { isDatabaseAway } from '../db/failure.ts';
import type { CallingApp } from './callers.ts';
import { CART_TOKEN_HEADER } from './cart-token.ts';
import { HttpError } from './errors.ts';

/**
 * The admin is a client of the operations: a form of its pages is sent to the same operation that an app would call,
 * so there is one validation, one scope check and one audit log. The call does not leave the process. The caller is
 * passed beside the request, where nothing from the network can set it.
 */
interface InternalCaller {
  shopId: string;
  app: CallingApp;
  /** The transaction that this call belongs to; undefined: it has its own. */
  joined?: JoinedTransaction | undefined;
  /** What the request was answered with, if it failed. */
  failure?: Error | undefined;
}

/** A transaction of several calls: all or nothing. */
export interface JoinedTransaction {
  tx: Transaction;
  /** Effects of its calls outside of the database, run after the commit. */
  afterCommit: (effect: () => void | Promise<void>) => void;
  /** Things that its calls made outside of the database, to remove if it is not committed. */
  afterRollback: (effect: () => Promise<void>) => void;
}

const internalCaller = new AsyncLocalStorage<InternalCaller>();

/** The caller of a request made inside the process; undefined: it came over the network. */
export function internalCallerOf(shopId: string): CallingApp | undefined {
  const caller = internalCaller.getStore();
  return caller?.shopId === shopId ? caller.app : undefined;
}

/** The transaction that this request belongs to; undefined: it has its own. */
export function joinedTransactionOf(shopId: string): JoinedTransaction | undefined {
  const caller = internalCaller.getStore();
  return caller?.shopId === shopId ? caller.joined : undefined;
}

/**
 * Hands a failure to the caller inside the process. A refusal keeps its problems, so no text has to be parsed; any other
 * failure stays what it was, so that a transaction of several calls is retried after a deadlock.
 */
export function reportFailure(error: Error, refusal: HttpError): void {
  const caller = internalCaller.getStore();
  if (caller) caller.failure = refusal.status < 500 ? refusal : error;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface InternalRequest {
  query?: Readonly<Record<string, string | number | readonly string[] | undefined>> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, with its own type: a form with a file. */
  upload?: { content: Readable; type: string; length?: string | undefined };
  idempotencyKey?: string | undefined;
  /** The token of the cart that is called. */
  cartToken?: string | undefined;
  /** The answer is a `Readable` of its text, for one that may be long. */
  asStream?: boolean;
  /** Receives the headers of the answer: one of them holds the token of a new cart. */
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
    const known: InternalCaller = { ...caller };
    // Awaited inside: the request begins when it is awaited, and the caller must be known then.
    const response = await internalCaller.run(
      known,
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
    if (statusCode >= 400) throw known.failure ?? new HttpError(statusCode, `HTTP ${statusCode}`);
    onHeaders?.(response.headers);
    if (asStream) return response.stream() as Answer;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return (isJson && response.body !== '' ? JSON.parse(response.body) : response.body) as Answer;
  };
}

/** Makes several calls in one transaction: all or none. */
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
        // A transaction that is retried begins from nothing.
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
      // A commit without an answer may or may not have happened.
      if (!isDatabaseAway(error)) await discardAll();
      throw error;
    });
  await runEffects(effects, log);
  return result;
}

/** Runs the effects outside of the database after a commit. If one fails, the write stays done. */
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
