import { Readable } from 'node:stream';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RouteOptions,
} from 'fastify';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { recordEntry, type Entry } from './audit-entry.ts';
import type { Config } from '../config.ts';
import type { Database, Queries, Transaction } from '../db/database.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { isId, newId } from '../kernel/ids.ts';
import { ACCEPTED_TYPES, JSON_TYPES, type BodyKind } from './body.ts';
import type { Caller, CallerDirectory } from './callers.ts';
import { CART_TOKEN_HEADER } from './cart-token.ts';
import type { DemoTokenCheck } from './demo-tokens.ts';
import { deprecationHook, type Deprecation } from './deprecation.ts';
import { methodNotAllowed, notFound, type HttpError } from './errors.ts';
import { answerFailure, refusalOf } from './failures.ts';
import type { Authentication, Produces } from './authentication.ts';
import { checkKey, onceOnly, type Answer } from './idempotency.ts';
import { joinedTransactionOf, runEffects } from './internal-call.ts';
import { originOf, shopUrl } from './links.ts';
import { addressCaller, limitFailures, type FailureLimit, type RateLimiter } from './rate-limit.ts';
import { RawJson } from './raw-json.ts';
import { ErrorBody, Id } from './schemas.ts';
import { needsCartToken, needsToken, type Access } from './scopes.ts';
import { registerUploadParser, withUpload } from './upload.ts';
import { compileParameters } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: OperationMetadata & { writes: boolean };
  }
}

/** Product line of the contract that an operation belongs to; information only. */
export type Label = 'Base' | 'Now';

export interface OperationMetadata {
  /** operationId in the reference. */
  name: string;
  /** Imperative; begins the message of a refused value: "Create customer failed: ...". */
  summary: string;
  /** Replaces the beginning of that message: "Update cart failed: ...". */
  action?: string;
  description?: string;
  /** Its resource in the reference. */
  tag: string;
  labels: readonly Label[];
  access: Access;
  accepts?: BodyKind;
  produces?: Produces;
  /** Named database constraints that a caller can violate, as errors. */
  constraints?: Readonly<Record<string, () => HttpError>>;
  /**
   * The answer holds a secret, which must not be stored in clear text: an Idempotency-Key is ignored, because a stored
   * answer would contain the secret.
   */
  secretAnswer?: boolean;
  /** For an operation that can be used for guessing: how often a caller may fail. Only for `writeWithStore`. */
  failureLimit?: (guess: {
    shopId: string;
    params: Record<string, string>;
    caller: Caller;
    address: string;
  }) => FailureLimit;
  /** It only reads, but its data is sensitive enough for an entry in the audit log. */
  isReadAudited?: boolean;
  /** Keys are answered in the handler's order; the schema's serialiser would put optional ones last. */
  keepsKeyOrder?: boolean;
  /** It is deprecated, and answers say so; see docs/versioning.md. */
  deprecated?: Deprecation;
  /**
   * The ETag of the resource, for clients that send it back as If-Match; a GET of the resource answers the same one.
   * It stays strong when the answer is compressed.
   */
  etag?: (answer: never) => string;
  /** It runs only if the ETag in the header If-Match is still current. */
  takesIfMatch?: boolean;
  /** Headers of the answer beside the common ones: their descriptions, by name. */
  answerHeaders?: Readonly<Record<string, string>>;
}

export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Result extends TSchema = TSchema,
> extends OperationMetadata {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /rs/shops/:shopId, or below /manage/shops/:shopId. */
  path: string;
  /** Operations beyond the contract that clients know have a separate place. */
  under?: 'rs' | 'manage';
  params?: Params;
  query?: Query;
  body?: Body;
  status?: 200 | 201 | 204;
  /** The answer's schema; absent: an empty answer. */
  answer?: Result;
}

/** The request as a handler sees it. */
export interface Call<Params, Query, Body> {
  shopId: string;
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  /** The caller as it is now, for a long response; undefined: its token is no longer valid. */
  currentCaller: () => Promise<Caller | undefined>;
  /** Whether the header Accept of a GET names an event stream. */
  wantsEventStream: boolean;
  /** The header Last-Event-ID of a client that resumes an event stream. */
  lastEventId: string | undefined;
  /** Absolute address of a path of this shop: link('/customers/1'). */
  link: (path: string) => string;
  /** Scheme and host, for addresses outside of the API. */
  origin: string;
  cartToken: string | undefined;
  /** The header If-Match. */
  ifMatch: string | undefined;
  /** Sets a header of the answer. */
  header: (name: string, value: string) => void;
}

export type ReadCall<Params, Query, Body> = Call<Params, Query, Body> & { db: Queries };
export type WriteCall<Params, Query, Body> = Call<Params, Query, Body> & {
  tx: Transaction;
  /** Names the created resources for the audit log: `created({ productId })`. */
  created: (ids: Readonly<Record<string, string>>) => void;
  /**
   * For effects outside of the database (caches, files): runs once, after the commit and before the answer, and
   * not at all when nothing was committed or an old answer is replayed. If it fails, the write stays done.
   */
  afterCommit: (effect: () => void | Promise<void>) => void;
};

/** The request data that a store needs to write. */
export type StoreCall<Params, Query, Body> = Call<Params, Query, Body> & {
  /** Set with an Idempotency-Key, and where several calls are one write: the write must use this transaction. */
  transaction: Transaction | undefined;
  /** Written together with the change; undefined: the operation needs no scope and leaves no entry. */
  entry: Entry | undefined;
};

export type PrepareCall<Params, Query, Body> = ReadCall<Params, Query, Body> & {
  /** With an Idempotency-Key: it may have been answered before, so only the transaction can refuse it. */
  isKeyed: boolean;
};

/** The result of the preparation, and how to undo it when nothing was committed. */
export interface Preparation<Prepared> {
  prepared: Prepared;
  discard: () => Promise<void>;
}

export interface Deps {
  config: Config;
  db: Database;
  callers: CallerDirectory;
  authentication: Authentication;
  limiter: RateLimiter;
  isRefusedDemoToken: DemoTokenCheck;
  /** Throws unless such an open cart exists and the token is its own: 404, 403 or 410. */
  checkCart: (request: CartCheck) => Promise<unknown>;
}

/** Decides whether a request has access to a cart. */
export interface CartCheck {
  shopId: string;
  params: { cartId: string };
  cartToken: string | undefined;
}

const METHODS = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Registers the operations of the modules. */
export function operations(app: FastifyInstance, deps: Deps) {
  const { config, db, authentication, limiter, isRefusedDemoToken, checkCart } = deps;
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');
  const methodsOf = new Map<string, Set<string>>();

  const cartTokenOf = (request: FastifyRequest): string | undefined => {
    const token = request.headers[CART_TOKEN_HEADER] as string | undefined;
    return token !== undefined && isRefusedDemoToken(token, request) ? undefined : token;
  };

  /**
   * The contract checks the cart token before Accept and the body. The handlers compare it with the cart that they
   * read anyway; only when a request is refused for another reason is the cart checked first.
   */
  const answerCartFailure = (failure: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const { status } = refusalOf(failure, request);
    const isAsked = status === 400 || status === 406 || status === 413;
    // A cart created by the request's own transaction is not visible to others yet.
    if (!isAsked || joinedTo(request)) return answerFailure(failure, request, reply);
    checkCartOf(request).then(
      () => answerFailure(failure, request, reply),
      (earlier: Error) => answerFailure(earlier, request, reply),
    );
  };

  const checkCartOf = async (request: FastifyRequest): Promise<void> => {
    const { shopId, cartId } = request.params as { shopId: string; cartId: string };
    if (!isId(cartId)) throw notFound();
    await checkCart({ shopId, params: { cartId }, cartToken: cartTokenOf(request) });
  };

  const joinedTo = (request: FastifyRequest) =>
    joinedTransactionOf((request.params as { shopId: string }).shopId);

  const queriesOf = (request: FastifyRequest): Queries =>
    joinedTo(request)?.tx ?? db.ofShop((request.params as { shopId: string }).shopId);

  /** Runs `work` in the transaction that the request belongs to, or in its own. */
  const inTransaction = <Result>(request: FastifyRequest, work: (tx: Transaction) => Promise<Result>) => {
    const joined = joinedTo(request);
    const { shopId } = request.params as { shopId: string };
    return joined
      ? work(joined.tx)
      : db.ofShop(shopId).transaction(work, { appId: request.caller.app?.appId });
  };

  const callOf = (request: FastifyRequest, idNames: readonly string[]) => {
    const params = request.params as Record<string, string>;
    for (const name of idNames) {
      if (!isId(params[name]!)) throw notFound();
      params[name] = params[name]!.toUpperCase();
    }
    const shopId = params['shopId']!;
    const origin = originOf(request, publicUrl);
    const base = shopUrl(origin, shopId);
    const headers: Record<string, string> = {};
    const call: Call<never, never, never> = {
      shopId,
      params: params as never,
      query: request.query as never,
      body: request.body as never,
      caller: request.caller,
      currentCaller: () => authentication.currentCaller(request),
      // A HEAD would read a stream that has no end.
      wantsEventStream: request.method === 'GET' && request.headers.accept?.includes(EVENT_STREAM) === true,
      lastEventId: request.headers['last-event-id'] as string | undefined,
      link: (path) => base + path,
      origin,
      cartToken: cartTokenOf(request),
      ifMatch: request.headers['if-match'],
      header: (name, value) => {
        headers[name] = value;
      },
    };
    return { call, headers };
  };

  /** Outside of any transaction: reading a count takes a connection, and all of them could be waiting for one. */
  const withFailureLimit = <Result>(
    request: FastifyRequest,
    { failureLimit }: OperationMetadata,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    if (!failureLimit || config.RATE_LIMIT_ANONYMOUS === 0) return work();
    const params = request.params as Record<string, string>;
    const { caller, ip: address } = request;
    return limitFailures(limiter, failureLimit({ shopId: params['shopId']!, params, caller, address }), work);
  };

  const register = (
    operation: Operation,
    writes: boolean,
    handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ) => {
    const url = `/${operation.under ?? 'rs'}/shops/:shopId${operation.path}`;
    const methods = methodsOf.get(url) ?? new Set();
    methodsOf.set(url, methods.add(operation.method));
    if (operation.method === 'GET') methods.add('HEAD');
    const { method, path: _path, under: _under, params, query, body, status, answer, ...facts } = operation;
    const route: RouteOptions = {
      method,
      url,
      config: { operation: { ...facts, writes } },
      onRequest: authentication.hookFor(operation.access, operation.produces ?? 'json'),
      schema: {
        operationId: operation.name,
        summary: operation.summary,
        ...(operation.description === undefined ? {} : { description: operation.description }),
        tags: [operation.tag],
        ...(operation.produces === 'csv' ? { produces: ['text/csv'] } : {}),
        ...(body ? { consumes: bodyTypes(method, operation.accepts) } : {}),
        params: Type.Object({ shopId: ShopId, ...params?.properties }),
        // Set even where there are none, because a handler sees only declared parameters.
        querystring: query ?? Type.Object({}),
        ...(body ? { body } : {}),
        response: {
          [status ?? 200]: answer ?? Type.Null({ description: 'Done; the answer has no body.' }),
          '4xx': ErrorBody,
        },
      },
      handler: handle,
      ...(operation.deprecated && { onSend: deprecationHook(operation.deprecated) }),
      ...(needsCartToken(operation.access) && { errorHandler: answerCartFailure }),
    };
    if (operation.accepts !== 'multipart') {
      app.route(route);
      return;
    }
    // The schema of such a body is for the reference: the body is read and checked part by part.
    route.validatorCompiler = ({ schema, httpPart }) =>
      httpPart === 'body' ? () => true : compileParameters(schema);
    void app.register(async (scope) => {
      await registerUploadParser(scope);
      scope.route(route);
    });
  };

  const idNamesOf = (params: TObject | undefined) =>
    Object.entries(params?.properties ?? {}).flatMap(([name, schema]) => (schema === Id ? [name] : []));

  return {
    db,
    config,
    callers: deps.callers,

    /** An operation that changes nothing. */
    read<P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema>(
      operation: Operation<P, Q, B, A>,
      handler: (call: ReadCall<Static<P>, Static<Q>, Static<B>>) => Promise<Static<A> | RawJson | Readable>,
    ): void {
      const idNames = idNamesOf(operation.params);
      register(operation, false, async (request, reply) => {
        const { call, headers } = callOf(request, idNames);
        const queries = queriesOf(request);
        const answer = await handler(Object.assign(call, { db: queries }));
        if (operation.isReadAudited) await recordEntry(queries, entryOf(request, call, db.now));
        reply.headers(headers);
        if (answer instanceof RawJson) {
          if (operation.method === 'GET') reply.header('etag', `"${answer.etag}"`);
          return reply.type('application/json').send(answer.bytes);
        }
        if (answer instanceof Readable) {
          return reply.type(STREAM_TYPES[operation.produces ?? 'json']).send(answer);
        }
        return reply.type('application/json').send(textOf(answer, operation, reply));
      });
    },

    /**
     * An operation that writes: one transaction, and one effect per Idempotency-Key. Slow work that needs no
     * transaction belongs into `prepare`, which runs before it opens and holds no connection.
     */
    write<P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema, Prepared = undefined>(
      {
        prepare,
        ...operation
      }: Operation<P, Q, B, A> & {
        prepare?: (call: PrepareCall<Static<P>, Static<Q>, Static<B>>) => Promise<Preparation<Prepared>>;
      },
      handler: (
        call: WriteCall<Static<P>, Static<Q>, Static<B>> & { prepared: Prepared },
      ) => Promise<Static<A> | RawJson | void>,
    ): void {
      const idNames = idNamesOf(operation.params);
      const status = operation.status ?? 200;
      const isAudited = needsToken(operation.access);
      register(operation, true, async (request, reply) => {
        reply.code(status);
        const key = keyOf(request, operation);
        const preparing = async () =>
          prepare?.({ ...callOf(request, idNames).call, db: queriesOf(request), isKeyed: key !== undefined });
        const preparation = await (operation.accepts === 'multipart'
          ? withUpload(request, partOf(operation.body), config, preparing)
          : preparing());
        const discard = async () => {
          try {
            await preparation?.discard();
          } catch (error) {
            request.log.warn({ err: error, requestId: request.id }, 'what was prepared could not be removed');
          }
        };
        let effects: (() => void | Promise<void>)[] = [];
        const work = async (tx: Transaction): Promise<Answer> => {
          const { call, headers } = callOf(request, idNames);
          let createdIds: Readonly<Record<string, string>> = {};
          const answer = await handler({
            ...call,
            tx,
            created: (ids) => {
              createdIds = ids;
            },
            prepared: preparation?.prepared as Prepared,
            afterCommit: (effect) => void effects.push(effect),
          });
          if (isAudited) await recordEntry(tx, entryOf(request, call, tx.now, createdIds));
          return { status, headers, body: textOf(answer, operation, reply) };
        };
        const { answer, replayed } = await inTransaction(request, async (tx) => {
          // A transaction that is retried begins from nothing.
          effects = [];
          return key === undefined
            ? { answer: await work(tx), replayed: false }
            : onceOnly(tx, keyedRequest(request, key), () => work(tx));
        }).catch(async (error: unknown) => {
          // A commit without an answer may or may not have happened.
          if (!isDatabaseAway(error)) await discard();
          throw error;
        });
        if (replayed) await discard();
        const joined = joinedTo(request);
        if (joined) {
          for (const effect of effects) joined.afterCommit(effect);
          joined.afterRollback(discard);
        } else await runEffects(effects, request.log.child({ requestId: request.id }));
        return send(reply, answer, replayed);
      });
    },

    /**
     * An operation that writes through a store, which opens its own transaction only when it needs a lock: a cart is
     * usually saved by one conditional statement, and `write` would cost two more round trips.
     */
    writeWithStore<P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema>(
      operation: Operation<P, Q, B, A>,
      handler: (call: StoreCall<Static<P>, Static<Q>, Static<B>>) => Promise<Static<A>>,
    ): void {
      const idNames = idNamesOf(operation.params);
      const status = operation.status ?? 200;
      const isAudited = needsToken(operation.access);
      register(operation, true, async (request, reply) => {
        reply.code(status);
        const key = keyOf(request, operation);
        const work = async (transaction: Transaction | undefined): Promise<Answer> => {
          const { call, headers } = callOf(request, idNames);
          const entry = isAudited ? entryOf(request, call, (transaction ?? db).now) : undefined;
          const answer = await handler({ ...call, transaction, entry });
          if (operation.etag) headers['etag'] = operation.etag(answer as never);
          return { status, headers, body: textOf(answer, operation, reply) };
        };
        const { answer, replayed } = await withFailureLimit(request, operation, async () =>
          key === undefined
            ? { answer: await work(joinedTo(request)?.tx), replayed: false }
            : inTransaction(request, (tx) => onceOnly(tx, keyedRequest(request, key), () => work(tx))),
        );
        return send(reply, answer, replayed);
      });
    },

    /** After all modules: 405 with Allow, and OPTIONS, on every registered path. */
    finish(): void {
      for (const [url, methods] of methodsOf) {
        const allow = [...METHODS.filter((method) => methods.has(method)), 'OPTIONS'];
        const others = METHODS.filter((method) => !methods.has(method)) as HTTPMethods[];
        app.options(url, { schema: { hide: true } }, async (_request, reply) =>
          reply
            .headers({ ...PREFLIGHT, allow: allow.join(',') })
            .type('text/plain')
            .send(allow.join(', ')),
        );
        if (others.length === 0) continue;
        app.route({
          method: others,
          url,
          schema: { hide: true },
          exposeHeadRoute: false,
          // Counted like any call, and refused before the body is read.
          onRequest: [
            authentication.hookFor('public', 'json'),
            (_request, _reply, done) => done(methodNotAllowed(allow.join(','))),
          ],
          handler: notFound,
        });
      }
    },
  };
}

export type Operations = ReturnType<typeof operations>;

const EVENT_STREAM = 'text/event-stream';

const STREAM_TYPES: Record<Produces, string> = {
  json: 'application/json',
  csv: 'text/csv',
  'event stream': EVENT_STREAM,
};

const ShopId = Type.String({
  description: 'Short name of the shop, case as created.',
  default: 'DemoShop',
  examples: ['DemoShop'],
});

const PREFLIGHT = {
  'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
  'access-control-allow-headers':
    'accept, authorization, content-type, x-epages-cart-token, idempotency-key, if-match, if-none-match',
  'access-control-max-age': '3628800',
};

function bodyTypes(method: string, accepts: BodyKind = 'json'): string[] {
  if (accepts !== 'json') return [...ACCEPTED_TYPES[accepts]];
  return method === 'PATCH' ? [JSON_TYPES[1], JSON_TYPES[0]] : [JSON_TYPES[0]];
}

/** The audit entry of a call: the ids of its path, and those of the created resources. */
function entryOf(
  request: FastifyRequest,
  { shopId, params, caller }: Call<unknown, unknown, unknown>,
  at: Date,
  created: Readonly<Record<string, string>> = {},
): Entry {
  const { shopId: _shopId, ...ids } = params as Record<string, string>;
  // A resource created inside one of its own kind, such as a category, must not hide its parent.
  const parent = Object.keys(created)
    .map((name) => ids[name])
    .find((id) => id !== undefined);
  return {
    shopId,
    entryId: newId(at),
    at,
    appId: caller.app?.appId ?? null,
    appName: caller.app?.name ?? null,
    method: request.method,
    route: request.routeOptions.url!,
    object: { ...ids, ...(parent !== undefined && { parent }), ...created },
  };
}

/** The part of a form that holds the file. */
function partOf(body: TSchema | undefined): string {
  const [name] = Object.keys((body as TObject | undefined)?.properties ?? {});
  if (name === undefined) throw new Error('An upload needs the name of its part');
  return name;
}

function send(reply: FastifyReply, answer: Answer, replayed: boolean) {
  reply.code(answer.status).headers(answer.headers);
  if (replayed) reply.header('idempotency-replayed', 'true');
  if (answer.body !== null) reply.type('application/json');
  return reply.send(answer.body ?? undefined);
}

/** The only place where the answer of an operation becomes text. */
function textOf(answer: unknown, { keepsKeyOrder }: OperationMetadata, reply: FastifyReply): string | null {
  if (answer === undefined) return null;
  if (answer instanceof RawJson) return answer.bytes.toString();
  return keepsKeyOrder ? JSON.stringify(answer) : (reply.serialize(answer) as string);
}

/** The Idempotency-Key; undefined: there is none, or the answer must not be stored. */
function keyOf({ headers }: FastifyRequest, { secretAnswer }: OperationMetadata): string | undefined {
  const key = secretAnswer ? undefined : (headers['idempotency-key'] as string | undefined);
  if (key !== undefined) checkKey(key);
  return key;
}

function keyedRequest(request: FastifyRequest, key: string) {
  const { shopId } = request.params as { shopId: string };
  const { access } = request.routeOptions.config.operation!;
  const app = request.caller.app?.tokenHash;
  // A caller without access to a cart gets no replay that shows it. Elsewhere a cart token means nothing.
  const cartToken = (request.headers[CART_TOKEN_HEADER] as string | undefined) ?? '';
  return {
    shopId,
    caller: needsCartToken(access) ? `${app ?? ''} ${cartToken}` : (app ?? addressCaller(request.ip)),
    key,
    method: request.method,
    url: request.url,
    body: request.body,
  };
}
