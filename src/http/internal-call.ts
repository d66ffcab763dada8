import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { ShopDatabase, Transaction } from '../db/database.ts';
import { isDatabaseAway } from '../db/failure.ts';
import type { CallingApp } from './callers.ts';
import type { Operation } from './operation.ts';

/**
 * The admin is a client of the operations: a form of its pages calls the same operation that an app would call, so
 * there is one validation, one scope check and one audit log. It neither leaves the process nor becomes text.
 */
export interface InternalCaller {
  shopId: string;
  /** The user, with the scopes of the role. */
  app: CallingApp;
  /** Scheme and host of the service. */
  origin: string;
  /** The request of the page. */
  request: FastifyRequest;
  /** The transaction that the call belongs to; undefined: it has its own. */
  joined: JoinedTransaction | undefined;
}

/** The parts of a request, as the operation declares them. */
export type InternalRequest<Params, Query, Body> = (keyof Params extends never
  ? { params?: undefined }
  : { params: Params }) &
  (undefined extends Body ? { body?: undefined } : { body: Body }) & {
    query?: Partial<Query>;
    idempotencyKey?: string | undefined;
    /** The token of the cart that is called. */
    cartToken?: string | undefined;
    /** Receives the headers of the answer: one of them holds the token of a new cart. */
    onHeaders?: (headers: Readonly<Record<string, string>>) => void;
  };

/** Calls an operation as the user. Refusals are thrown, with their problems. */
export type CallOperation = <
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Result extends TSchema,
>(
  operation: Operation<Params, Query, Body, Result>,
  ...request: RequestArguments<InternalRequest<Static<Params>, Static<Query>, Static<Body>>>
) => Promise<Static<Result>>;

/** An operation without declared parts needs no request. */
type RequestArguments<Request> = object extends Request ? [request?: Request] : [request: Request];

/** A transaction of several calls: all or nothing. */
export interface JoinedTransaction {
  tx: Transaction;
  /** Effects of its calls outside of the database, run after the commit. */
  afterCommit: (effect: () => void | Promise<void>) => void;
  /** Things that its calls made outside of the database, to remove if it is not committed. */
  afterRollback: (effect: () => Promise<void>) => void;
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
