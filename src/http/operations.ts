import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { recordEntry, type AuditEntry } from './audit-entry.ts';
import type { Config } from '../config.ts';
import type { Database, Queries, Transaction } from '../db/database.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { isId, newId } from '../kernel/ids.ts';
import type { Authentication, Produces } from './authentication.ts';
import { ACCEPTED_TYPES, JSON_TYPES, type BodyKind } from './body.ts';
import { requireScopes, type Caller, type CallerDirectory } from './callers.ts';
import { CART_TOKEN_HEADER, wrongCartToken } from './cart-token.ts';
import type { DemoAccess } from './demo-access.ts';
import type { DemoTokenCheck } from './demo-tokens.ts';
import { deprecationHook } from './deprecation.ts';
import { isRefusal, notFound } from './errors.ts';
import { answerFailure, refusalOf } from './failures.ts';
import { checkKey, onceOnly, type Answer, type AnswerSeal } from './idempotency.ts';
import {
  runEffects,
  type CallOperation,
  type InternalCaller,
  type InternalRequest,
  type JoinedTransaction,
} from './internal-call.ts';
import { originOf, shopUrl } from './links.ts';
import {
  routeOf,
  type Call,
  type Operation,
  type OperationMetadata,
  type Preparation,
  type PrepareCall,
  type PrepareStoreCall,
  type ReadCall,
  type StoreCall,
  type WriteCall,
} from './operation.ts';
import type { OtherMethods } from './other-methods.ts';
import { addressCaller, limitFailures, type RateLimiter } from './rate-limit.ts';
import { RawJson } from './raw-json.ts';
import { ErrorBody, Id } from './schemas.ts';
import { isOfHost, needsCartToken, needsToken, scopesOf, type Access } from './scopes.ts';
import { unknownParameterHook } from './unknown-parameters.ts';
import { registerUploadParser, withUpload } from './upload.ts';
import { check, compileBody, compileParameters } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: OperationMetadata & { writes: boolean };
  }
}

export interface Deps {
  config: Config;
  db: Database;
  callers: CallerDirectory;
  authentication: Authentication;
  otherMethods: OtherMethods;
  limiter: RateLimiter;
  isRefusedDemoToken: DemoTokenCheck;
  demoAccess: DemoAccess;
  answerSeal: AnswerSeal;
  /** Throws unless such an open cart exists and the token is its own: 404, 403 or 410. */
  checkCart: (request: CartCheck) => Promise<unknown>;
}

/** Decides whether a request has access to a cart. */
export interface CartCheck {
  shopId: string;
  params: { cartId: string };
  cartToken: string | undefined;
}

/** A request of an operation. It came over the network, or from a page of the admin. */
interface Incoming extends Call<never, never, never> {
  /** An operation of the host. */
  isOfHost: boolean;
  method: string;
  /** The address of the operation with its parameters. */
  url: string;
  /** Undefined: there is none, or the answer must not be stored. */
  idempotencyKey: string | undefined;
  /** The transaction that it belongs to; undefined: it has its own. */
  joined: JoinedTransaction | undefined;
  /** The headers that the handler has set. */
  headers: Record<string, string>;
  /** Set for an operation that reads. */
  db: Queries | undefined;
  /** Set for an operation that writes through a store. */
  transaction: Transaction | undefined;
  entry: AuditEntry | undefined;
  prepared: unknown;
  /** The request over the network: of the operation itself, or of the page. */
  request: FastifyRequest;
  /** Undefined: the caller is inside the process and takes the answer as it is. */
  reply: FastifyReply | undefined;
}

interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** The handler's answer; undefined for a replay. */
  value: unknown;
  /** Its text; null: it has none, or is sent in another form. */
  body: string | null;
  replayed: boolean;
}

type Run = (incoming: Incoming) => Promise<Outcome>;

/** Registers the operations of the modules. Both ways to call one enter the same function. */
export function operations(app: FastifyInstance, deps: Deps) {
  const {
    config,
    db,
    authentication,
    otherMethods,
    limiter,
    isRefusedDemoToken,
    demoAccess,
    answerSeal,
    checkCart,
  } = deps;
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');
  const callables = new Map<string, { run: Run; checkRequest: (request: Checked) => void }>();

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
    if (!isAsked) return answerFailure(failure, request, reply);
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

  /** The host has no share of the connections: it acts on many shops, and is no busy one. */
  const databaseOf = ({ shopId, isOfHost }: Incoming) => (isOfHost ? db : db.ofShop(shopId));

  const queriesOf = (incoming: Incoming) => incoming.joined?.tx ?? databaseOf(incoming);

  /** Runs `work` in the transaction that the request belongs to, or in its own. */
  const inTransaction = <Result>(incoming: Incoming, work: (tx: Transaction) => Promise<Result>) => {
    const { joined, caller, isOfHost } = incoming;
    if (joined) return work(joined.tx);
    // A token of the host is no app of the shop.
    return databaseOf(incoming).transaction(work, { appId: isOfHost ? undefined : caller.app?.appId });
  };

  /** Runs `work`, which has one effect per Idempotency-Key. */
  const doOnce = (
    tx: Transaction,
    incoming: Incoming,
    { access, secretAnswer }: OperationMetadata,
    work: () => Promise<Answer>,
  ) => onceOnly(tx, keyedRequest(incoming, access), work, secretAnswer && answerSeal);

  /** A request over the network. */
  const incomingFrom = (request: FastifyRequest, reply: FastifyReply, operation: Operation): Incoming => {
    const isOfHost = operation.under === 'host';
    const { shopId = '' } = request.params as { shopId?: string };
    const origin = originOf(request, publicUrl);
    const { link, headers, header } = answering(isOfHost ? `${origin}/host` : shopUrl(origin, shopId));
    // Every request makes one. Without a spread the literal has its shape from the start, which is cheaper.
    return {
      shopId,
      isOfHost,
      origin,
      link,
      headers,
      header,
      db: undefined,
      transaction: undefined,
      entry: undefined,
      prepared: undefined,
      params: request.params as never,
      query: request.query as never,
      body: request.body as never,
      caller: request.caller,
      currentCaller: () => authentication.currentCaller(request),
      // A HEAD would read a stream that has no end.
      wantsEventStream: request.method === 'GET' && request.headers.accept?.includes(EVENT_STREAM) === true,
      lastEventId: request.headers['last-event-id'] as string | undefined,
      cartToken: cartTokenOf(request),
      ifMatch: request.headers['if-match'],
      method: request.method,
      url: request.url,
      idempotencyKey: keyOf(
        request.headers['idempotency-key'] as string | undefined,
        operation,
        request.caller,
      ),
      joined: undefined,
      request,
      reply,
    };
  };

  /** A request from inside the process. */
  const incomingFromPage = (
    { shopId, app: user, origin, request, joined }: InternalCaller,
    operation: Operation,
    { params, query, body }: Checked,
    { idempotencyKey, cartToken }: InternalRequest<unknown, unknown, unknown>,
  ): Incoming => {
    const caller = { app: user, publicCatalogue: false, isSuspended: false };
    const { link, headers, header } = answering(shopUrl(origin, shopId));
    return {
      shopId,
      isOfHost: false,
      origin,
      link,
      headers,
      header,
      db: undefined,
      transaction: undefined,
      entry: undefined,
      prepared: undefined,
      params: params as never,
      query: query as never,
      body: body as never,
      caller,
      currentCaller: async () => caller,
      wantsEventStream: false,
      lastEventId: undefined,
      cartToken,
      ifMatch: undefined,
      method: operation.method,
      url: `${routeOf(operation)} ${JSON.stringify({ params, query })}`,
      idempotencyKey: keyOf(idempotencyKey, operation, caller),
      joined,
      request,
      reply: undefined,
    };
  };

  /** Outside of any transaction: reading a count takes a connection, and all of them could be waiting for one. */
  const withFailureLimit = <Result>(
    { shopId, params, caller, request }: Incoming,
    { failureLimit }: OperationMetadata,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    if (!failureLimit || config.RATE_LIMIT_ANONYMOUS === 0) return work();
    return limitFailures(limiter, failureLimit({ shopId, params, caller, address: request.ip }), work);
  };

  const register = (operation: Operation, writes: boolean, handle: Run) => {
    const url = routeOf(operation);
    otherMethods.add(url, operation.method);
    if (callables.has(operation.name)) throw new Error(`${operation.name} is registered twice`);
    const idNames = idNamesOf(operation.params);
    const run: Run = (incoming) => {
      toUpperCaseIds(incoming.params, idNames);
      return handle(incoming);
    };
    callables.set(operation.name, { run, checkRequest: requestCheck(operation) });
    const part = operation.accepts === 'multipart' ? partOf(operation.body) : undefined;
    const uploadLimit = operation.uploadLimit?.(config);
    const answer = async (request: FastifyRequest, reply: FastifyReply) => {
      // Before the answer is serialised, because each status has its own schema.
      reply.code(operation.status ?? 200);
      const work = () => run(incomingFrom(request, reply, operation));
      // A file is removed before the answer, so that none is left when it arrives.
      const outcome = await (part === undefined
        ? work()
        : withUpload(request, part, config, work, uploadLimit));
      return send(reply, operation, outcome);
    };
    const {
      method,
      path: _path,
      under: _under,
      params,
      query,
      body,
      status,
      answer: schema,
      ...facts
    } = operation;
    const route: RouteOptions = {
      method,
      url,
      config: { operation: { ...facts, writes } },
      onRequest: authentication.hookFor(operation.access, operation.produces ?? 'json'),
      preValidation: unknownParameterHook(Object.keys(query?.properties ?? {}), demoAccess),
      schema: {
        operationId: operation.name,
        summary: operation.summary,
        ...(operation.description === undefined ? {} : { description: operation.description }),
        tags: [operation.tag],
        ...(operation.produces === 'csv' || operation.produces === 'bytes'
          ? { produces: [STREAM_TYPES[operation.produces]] }
          : {}),
        ...(body ? { consumes: bodyTypes(method, operation.accepts) } : {}),
        params:
          operation.under === 'host'
            ? (params ?? Type.Object({}))
            : Type.Object({ shopId: ShopId, ...params?.properties }),
        // Set even where there are none, because a handler sees only declared parameters.
        querystring: query ?? Type.Object({}),
        ...(body ? { body } : {}),
        response: {
          [status ?? 200]: schema ?? Type.Null({ description: 'Done; the answer has no body.' }),
          '4xx': ErrorBody,
        },
      },
      handler: answer,
      ...(operation.deprecated && { onSend: deprecationHook(operation.deprecated) }),
      ...(needsCartToken(operation.access) && { errorHandler: answerCartFailure }),
    };
    if (part === undefined) {
      app.route(route);
      return;
    }
    // The schema of such a body is for the reference: the body is read and checked part by part.
    route.validatorCompiler = ({ schema, httpPart }) =>
      httpPart === 'body' ? () => true : compileParameters(schema);
    void app.register(async (scope) => {
      await registerUploadParser(scope, uploadLimit);
      scope.route(route);
    });
  };

  return {
    db,
    config,
    callers: deps.callers,

    /** An operation that changes nothing. */
    read<P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema>(
      operation: Operation<P, Q, B, A>,
      handler: (call: ReadCall<Static<P>, Static<Q>, Static<B>>) => Promise<Static<A> | RawJson | Readable>,
    ): void {
      register(operation, false, async (incoming) => {
        const { headers, reply } = incoming;
        const queries = queriesOf(incoming);
        incoming.db = queries;
        const value = await handler(incoming as typeof incoming & { db: Queries });
        if (operation.isReadAudited) await recordEntry(queries, entryOf(incoming, operation, queries.now));
        const isText = reply && !(value instanceof RawJson || value instanceof Readable);
        const body = isText ? textOf(value, operation, reply) : null;
        return { status: operation.status ?? 200, headers, value, body, replayed: false };
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
      // The host's actions are in its own log, and in that of the shop: src/host/log.ts.
      const isAudited = needsToken(operation.access) && !isOfHost(operation.access);
      register(operation, true, async (incoming) => {
        const { joined, request, idempotencyKey: key } = incoming;
        const log = request.log.child({ requestId: request.id });
        const preparation = await prepare?.({
          ...incoming,
          db: queriesOf(incoming),
          isKeyed: key !== undefined,
        });
        const discard = async () => {
          try {
            await preparation?.discard();
          } catch (error) {
            log.warn({ err: error }, 'what was prepared could not be removed');
          }
        };
        let effects: (() => void | Promise<void>)[] = [];
        let value: unknown;
        const work = async (tx: Transaction): Promise<Answer> => {
          let createdIds: Readonly<Record<string, string>> = {};
          value = await handler({
            ...incoming,
            tx,
            created: (ids) => {
              createdIds = ids;
            },
            prepared: preparation?.prepared as Prepared,
            afterCommit: (effect) => void effects.push(effect),
          });
          if (isAudited) await recordEntry(tx, entryOf(incoming, operation, tx.now, createdIds));
          return answerOf(value, operation, incoming);
        };
        const { answer, replayed } = await inTransaction(incoming, async (tx) => {
          // A transaction that is retried begins from nothing.
          effects = [];
          return key === undefined
            ? { answer: await work(tx), replayed: false }
            : doOnce(tx, incoming, operation, () => work(tx));
        }).catch(async (error: unknown) => {
          // A commit without an answer may or may not have happened.
          if (!isDatabaseAway(error)) await discard();
          throw error;
        });
        if (replayed) await discard();
        if (joined) {
          for (const effect of effects) joined.afterCommit(effect);
          joined.afterRollback(discard);
        } else await runEffects(effects, log);
        return { ...answer, value, replayed };
      });
    },

    /**
     * An operation that writes through a store, which opens its own transaction only when it needs a lock: a cart is
     * usually saved by one conditional statement, and `write` would cost two more round trips. `prepare` asks other
     * services before any transaction; a call that belongs to a transaction of several has none.
     */
    writeWithStore<
      P extends TObject,
      Q extends TObject,
      B extends TSchema,
      A extends TSchema,
      Prepared = undefined,
    >(
      {
        prepare,
        ...operation
      }: Operation<P, Q, B, A> & {
        prepare?: (call: PrepareStoreCall<Static<P>, Static<Q>, Static<B>>) => Promise<Prepared>;
      },
      handler: (
        call: StoreCall<Static<P>, Static<Q>, Static<B>> & { prepared: Prepared | undefined },
      ) => Promise<Static<A>>,
    ): void {
      const isAudited = needsToken(operation.access);
      register(operation, true, async (incoming) => {
        const { joined, headers, idempotencyKey: key } = incoming;
        // The handler refuses the same requests, unless the request is a replay.
        const prepared = joined
          ? undefined
          : await prepare?.({ ...incoming, isKeyed: key !== undefined }).catch((error: unknown) => {
              if (!isRefusal(error)) throw error;
              return undefined;
            });
        let value: unknown;
        const work = async (transaction: Transaction | undefined): Promise<Answer> => {
          incoming.transaction = transaction;
          if (isAudited)
            incoming.entry = entryOf(incoming, operation, (transaction ?? db.atClockOf(incoming.shopId)).now);
          incoming.prepared = prepared;
          value = await handler(incoming as typeof incoming & { prepared: Prepared | undefined });
          if (operation.etag) headers['etag'] = operation.etag(value as never);
          return answerOf(value, operation, incoming);
        };
        const { answer, replayed } = await withFailureLimit(incoming, operation, async () =>
          key === undefined
            ? { answer: await work(joined?.tx), replayed: false }
            : inTransaction(incoming, (tx) => doOnce(tx, incoming, operation, () => work(tx))),
        );
        return { ...answer, value, replayed };
      });
    },

    /**
     * Calls an operation from inside the process, with the same checks as over the network. A refusal keeps its
     * problems; any other failure stays what it was, so that a transaction of several calls is retried after a deadlock.
     */
    callAs:
      (caller: InternalCaller): CallOperation =>
      async (operation, request = {} as never) => {
        const { run, checkRequest } = callables.get(operation.name)!;
        try {
          requireScopes(caller.app, scopesOf(operation.access));
          if (needsCartToken(operation.access) && !request.cartToken) throw wrongCartToken();
          // Copies, because checking adds defaults.
          const checked = { params: { ...request.params }, query: { ...request.query }, body: request.body };
          checkRequest(checked);
          const { value, body, headers, replayed } = await run(
            incomingFromPage(caller, operation, checked, request as never),
          );
          request.onHeaders?.(headers);
          if (value instanceof RawJson) return JSON.parse(value.bytes.toString());
          return replayed && body !== null ? JSON.parse(body) : value;
        } catch (error) {
          const refusal = refusalOf(error as Error, caller.request, operation);
          throw refusal.status < 500 ? refusal : error;
        }
      },
  };
}

export type Operations = ReturnType<typeof operations>;

const EVENT_STREAM = 'text/event-stream';

const STREAM_TYPES: Record<Produces, string> = {
  json: 'application/json',
  csv: 'text/csv',
  bytes: 'application/octet-stream',
  'event stream': EVENT_STREAM,
};

const ShopId = Type.String({
  description: 'Short name of the shop, case as created.',
  default: 'DemoShop',
  examples: ['DemoShop'],
});

function bodyTypes(method: string, accepts: BodyKind = 'json'): string[] {
  if (accepts !== 'json') return [...ACCEPTED_TYPES[accepts]];
  return method === 'PATCH' ? [JSON_TYPES[1], JSON_TYPES[0]] : [JSON_TYPES[0]];
}

/** The parts of a request that are checked by the schemas of the operation. */
interface Checked {
  params: object;
  query: object;
  body: unknown;
}

/** The checks that Fastify makes of a request over the network, in its order. */
function requestCheck({ params, query, body, accepts }: Operation): (request: Checked) => void {
  const none = Type.Object({});
  const validateParams = compileParameters(params ?? none);
  const validateQuery = compileParameters(query ?? none);
  const validateBody = body && accepts !== 'multipart' ? compileBody(body) : undefined;
  return (request) => {
    check(validateParams, request.params);
    if (validateBody) check(validateBody, request.body);
    check(validateQuery, request.query);
  };
}

/** Names addresses in an answer, and sets its headers. */
function answering(base: string) {
  const headers: Record<string, string> = {};
  return {
    link: (path: string) => base + path,
    headers,
    header: (name: string, value: string) => {
      headers[name] = value;
    },
  };
}

function idNamesOf(params: TObject | undefined): string[] {
  return Object.entries(params?.properties ?? {}).flatMap(([name, schema]) => (schema === Id ? [name] : []));
}

function toUpperCaseIds(params: Record<string, string>, idNames: readonly string[]): void {
  for (const name of idNames) {
    if (!isId(params[name]!)) throw notFound();
    params[name] = params[name]!.toUpperCase();
  }
}

/** The audit entry of a call: the ids of its path, and those of the created resources. */
function entryOf(
  { shopId, params, caller, method }: Incoming,
  operation: Pick<Operation, 'under' | 'path'>,
  at: Date,
  created: Readonly<Record<string, string>> = {},
): AuditEntry {
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
    method,
    route: routeOf(operation),
    object: { ...ids, ...(parent !== undefined && { parent }), ...created },
  };
}

/** The part of a form that holds the file. */
function partOf(body: TSchema | undefined): string {
  const [name] = Object.keys((body as TObject | undefined)?.properties ?? {});
  if (name === undefined) throw new Error('An upload needs the name of its part');
  return name;
}

function send(
  reply: FastifyReply,
  { method, produces = 'json' }: Operation,
  { status, headers, value, body, replayed }: Outcome,
) {
  reply.code(status).headers(headers);
  if (replayed) reply.header('idempotency-replayed', 'true');
  if (value instanceof Readable) return reply.type(STREAM_TYPES[produces]).send(value);
  if (value instanceof RawJson && body === null) {
    if (method === 'GET') reply.header('etag', `"${value.etag}"`);
    return reply.type('application/json').send(value.bytes);
  }
  if (body !== null) reply.type('application/json');
  return reply.send(body ?? undefined);
}

/** The answer to a write. Inside the process its text is needed only to be stored. */
function answerOf(
  value: unknown,
  operation: Operation,
  { headers, reply, idempotencyKey }: Incoming,
): Answer {
  const isText = reply !== undefined || idempotencyKey !== undefined;
  return {
    status: operation.status ?? 200,
    headers,
    body: isText ? textOf(value, operation, reply) : null,
  };
}

/** The only place where the answer of an operation becomes text. */
function textOf(
  value: unknown,
  { keepsKeyOrder }: OperationMetadata,
  reply: FastifyReply | undefined,
): string | null {
  if (value === undefined) return null;
  if (value instanceof RawJson) return value.bytes.toString();
  return keepsKeyOrder || !reply ? JSON.stringify(value) : (reply.serialize(value) as string);
}

function keyOf(
  key: string | undefined,
  { secretAnswer }: OperationMetadata,
  { app }: Caller,
): string | undefined {
  if (key === undefined || secretAnswer === 'not stored' || (secretAnswer === 'sealed' && !app)) {
    return undefined;
  }
  checkKey(key);
  return key;
}

function keyedRequest(
  { shopId, isOfHost: isHost, caller, cartToken = '', request, method, url, body, idempotencyKey }: Incoming,
  access: Access,
) {
  const app = caller.app?.tokenHash;
  return {
    shopId: isHost ? undefined : shopId,
    // A caller without access to a cart gets no replay that shows it. Elsewhere a cart token means nothing.
    caller: needsCartToken(access) ? `${app ?? ''} ${cartToken}` : (app ?? addressCaller(request.ip)),
    key: idempotencyKey!,
    method,
    url,
    body,
  };
}
