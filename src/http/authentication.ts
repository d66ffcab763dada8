import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDemo, type Config } from '../config.ts';
import {
  HOST,
  requireScopes,
  tokenProblem,
  type Caller,
  type CallerDirectory,
  type CallingApp,
  type TokenProblem,
} from './callers.ts';
import { CART_TOKEN_HEADER, wrongCartToken } from './cart-token.ts';
import type { DemoTokenCheck } from './demo-tokens.ts';
import { Refusal, tooManyRequests, unauthorised, unavailable } from './errors.ts';
import { addressCaller, type Allowance, type RateLimiter } from './rate-limit.ts';
import {
  isOfHost,
  ANONYMOUS_SCOPES,
  needsCartToken,
  needsToken,
  scopesOf,
  type Access,
  type Scope,
} from './scopes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set before the body is read. */
    caller: Caller;
  }
}

const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,256}) *$/i;
/** Where a token counts: in a shop, which is named by its id, or at the host. */
type Place = string | typeof OF_HOST;
const OF_HOST = Symbol('host');

const HOST_PATH = /^\/host(?:[/?#]|$)/;
const SHOP_PATH = /^\/(?:rs|manage)\/shops\/([^/?#]+)/;

/** Response formats of a route; absent and wildcard Accept headers accept all. An event stream can be JSON as well. */
export type Produces = 'json' | 'csv' | 'event stream' | 'bytes';

const JSON_PRODUCED = ['application/vnd.epages.v1+json', 'application/json', 'application/*', '*/*'];

const PRODUCED: Record<Produces, readonly string[]> = {
  json: JSON_PRODUCED,
  csv: ['text/csv', 'application/vnd.epages.v1+csv', '*/*'],
  bytes: ['application/octet-stream', 'application/*', '*/*'],
  'event stream': [...JSON_PRODUCED, 'text/event-stream'],
};

/**
 * Authenticates every call below /rs and /manage before its body is read. It checks in the order of the contract: the
 * rate limit, whether the shop exists, the scopes of the caller, that a cart token was sent where one is needed, and
 * that the response can have an accepted format. A caller that is in the cache passes without waiting.
 */
export function createAuthentication(deps: {
  config: Config;
  callers: CallerDirectory;
  hostCallers: CallerDirectory;
  limiter: RateLimiter;
  isRefusedDemoToken: DemoTokenCheck;
  /** Calls per hour that a plan allows the tokens of a shop together; undefined: any number, or there are no plans. */
  planLimitOf?: (plan: string | null) => number | undefined;
  now: () => Date;
}) {
  const { config, limiter, isRefusedDemoToken, now } = deps;

  const directoryOf = (place: Place) =>
    place === OF_HOST ? { callers: deps.hostCallers, key: HOST } : { callers: deps.callers, key: place };

  const limitOf = (caller: Caller | undefined) =>
    caller?.app ? config.RATE_LIMIT : config.RATE_LIMIT_ANONYMOUS;

  const rateKey = (caller: Caller | undefined, request: FastifyRequest) =>
    caller?.app?.rateKey ?? addressCaller(request.ip);

  /** Counts the call, and first loads the earlier count if this process does not know it. */
  const count = async (key: string): Promise<Allowance> => {
    let allowance: Allowance | undefined;
    while (!(allowance = limiter.count(key))) await limiter.load(key);
    return allowance;
  };

  /**
   * Reads the caller from the database. The call counts against the limit of the address before the statement runs,
   * because guessed tokens would otherwise cost a select each, without limit; it is taken back when the token exists,
   * because the token has its own limit. For an address over its limit, only tokens that this process has found before
   * are looked up.
   */
  const readCaller = async (request: FastifyRequest, reply: FastifyReply, place: Place, token?: string) => {
    const { callers, key } = directoryOf(place);
    const address = addressCaller(request.ip);
    const limit = config.RATE_LIMIT_ANONYMOUS;
    const allowance = await count(address);
    if (limit > 0 && allowance.used > limit && !(token !== undefined && callers.wasFound(key, token))) {
      showAllowance(reply, limit, allowance);
    }
    const { caller } = await callers.load(key, token);
    if (caller?.app) {
      limiter.uncount(address);
      showAllowance(reply, config.RATE_LIMIT, await count(caller.app.rateKey));
    } else {
      showAllowance(reply, limit, allowance);
    }
    return caller;
  };

  /** Waits for the database, because the caller, its count or both are not in memory. */
  const loadCaller = async (request: FastifyRequest, reply: FastifyReply, place: Place, token?: string) => {
    const { callers, key } = directoryOf(place);
    const found = callers.cached(key, token);
    if (!found) {
      const caller = await readCaller(request, reply, place, token);
      if (!caller) throw new Refusal('SHOP_NOT_FOUND');
      return caller;
    }
    const { caller } = found;
    showAllowance(reply, limitOf(caller), await count(rateKey(caller, request)));
    if (!caller) throw new Refusal('SHOP_NOT_FOUND');
    return caller;
  };

  /** undefined: the caller or its count must be loaded first. */
  const cachedCaller = (request: FastifyRequest, reply: FastifyReply, place: Place, token?: string) => {
    const { callers, key } = directoryOf(place);
    const found = callers.cached(key, token);
    if (!found) return undefined;
    const allowance = limiter.count(rateKey(found.caller, request));
    if (!allowance) return undefined;
    showAllowance(reply, limitOf(found.caller), allowance);
    if (!found.caller) throw new Refusal('SHOP_NOT_FOUND');
    return found.caller;
  };

  /** Calls with the tokens of a shop, together, as far as its plan limits them; undefined: it does not. */
  const countForPlan = (place: Place, caller: Caller): Promise<void> | undefined => {
    const limit = place === OF_HOST || !caller.app ? undefined : deps.planLimitOf?.(caller.plan ?? null);
    if (limit === undefined) return undefined;
    return count(`plan/${String(place)}`).then(({ used, secondsLeft }) => {
      if (used > limit) throw tooManyRequests(limit, secondsLeft, 'calls of the plan');
    });
  };

  /** The token to look up. A refused demo token counts as none and is not looked up. */
  const acceptedToken = (request: FastifyRequest, token: string | undefined) =>
    token !== undefined && isRefusedDemoToken(token, request) ? undefined : token;

  /** Fastify's onRequest hook for a route. */
  const hookFor = (access: Access, produces: Produces, isHost = isOfHost(access)) => {
    const scopes = scopesOf(access);
    const isAnonymous = scopes.length > 0 && scopes.every((scope) => ANONYMOUS_SCOPES.has(scope as Scope));
    const needsCart = needsCartToken(access);

    const checkScopes = (
      request: FastifyRequest,
      token: string | undefined,
      problem: TokenProblem | undefined,
    ) => {
      const { caller } = request;
      if (!needsToken(access)) return;
      if (caller.app) {
        requireScopes(caller.app, scopes);
        return;
      }
      if (request.headers.authorization !== undefined) {
        throw unauthorised(
          token === undefined
            ? 'TOKEN_MALFORMED'
            : (problem ?? (isHost ? 'HOST_TOKEN_UNKNOWN' : 'TOKEN_UNKNOWN')),
        );
      }
      if (!(caller.publicCatalogue && isAnonymous)) throw unauthorised('TOKEN_NEEDED');
    };

    const admit = (request: FastifyRequest, caller: Caller, token: string | undefined) => {
      const problem = caller.app && tokenProblem(caller.app, request.ip, now());
      request.caller = problem === undefined ? caller : { ...caller, app: undefined };
      checkScopes(request, token, problem);
      // The shop of a demo is closed only while it is reset.
      if (caller.isSuspended) throw isDemo(config) ? unavailable() : new Refusal('SHOP_SUSPENDED');
      // Whether the token is correct is checked when the cart is loaded.
      if (needsCart && !request.headers[CART_TOKEN_HEADER]) throw wrongCartToken();
      checkAccept(request.headers.accept, produces);
    };

    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      const place: Place = isHost ? OF_HOST : (request.params as { shopId: string }).shopId;
      const token = bearerOf(request);
      try {
        if (place !== OF_HOST && !SHOP_ID.test(place)) throw new Refusal('SHOP_NOT_FOUND');
        if (request.url.includes('%00')) throw new Refusal('ADDRESS_WITH_NUL');
        const accepted = acceptedToken(request, token);
        const caller = cachedCaller(request, reply, place, accepted);
        if (caller) {
          admit(request, caller, token);
          const counting = countForPlan(place, caller);
          if (counting) {
            counting.then(() => done(), done);
            return;
          }
        } else {
          loadCaller(request, reply, place, accepted)
            .then(async (loaded) => {
              admit(request, loaded, token);
              await countForPlan(place, loaded);
              done();
            })
            .catch(done);
          return;
        }
      } catch (error) {
        done(error as Error);
        return;
      }
      done();
    };
  };

  /** Answers a path below /rs or /manage that has no route with 404; it still counts as a call. */
  const rejectUnknownRoute = async (request: FastifyRequest, reply: FastifyReply) => {
    if (HOST_PATH.test(request.url)) {
      await loadCaller(request, reply, OF_HOST, acceptedToken(request, bearerOf(request)));
      throw new Refusal('PATH_NOT_FOUND');
    }
    const shopId = SHOP_PATH.exec(request.url)?.[1];
    if (shopId !== undefined && SHOP_ID.test(shopId)) {
      await loadCaller(request, reply, shopId, acceptedToken(request, bearerOf(request)));
    }
    throw new Refusal('PATH_NOT_FOUND');
  };

  /** The caller as it is now, for a long response; undefined: its token is no longer valid. */
  const currentCaller = async (request: FastifyRequest): Promise<Caller | undefined> => {
    const { shopId } = request.params as { shopId: string };
    const { callers } = deps;
    const token = acceptedToken(request, bearerOf(request));
    const { caller } = callers.cached(shopId, token) ?? (await callers.load(shopId, token));
    const isValid = caller?.app && tokenProblem(caller.app, request.ip, now()) === undefined;
    return isValid ? caller : undefined;
  };

  /**
   * The app of a token that opens something else than operations; undefined: the token is unknown or over. It is always
   * read, so that a token that was revoked opens nothing more, in no process. `key` is what it is looked up by.
   */
  const loadApp = async (
    request: FastifyRequest,
    reply: FastifyReply,
    shopId: string,
    key: string,
  ): Promise<CallingApp | undefined> => {
    const caller = await readCaller(request, reply, SHOP_ID.test(shopId) ? shopId : '', key);
    if (!caller?.app || tokenProblem(caller.app, request.ip, now()) !== undefined) return undefined;
    if (caller.isSuspended) throw new Refusal('SHOP_SUSPENDED');
    await countForPlan(shopId, caller);
    return caller.app;
  };

  return { hookFor, rejectUnknownRoute, currentCaller, loadApp };
}

export type Authentication = ReturnType<typeof createAuthentication>;

function bearerOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** Calls are counted even without a limit, because the last use of a token is saved with its count. */
function showAllowance(reply: FastifyReply, limit: number, allowance: Allowance): void {
  if (limit === 0) return;
  reply.header('x-ratelimit-limit', limit);
  reply.header('x-ratelimit-remaining', Math.max(0, limit - allowance.used));
  reply.header('x-ratelimit-reset', allowance.resetsAt);
  if (allowance.used > limit) throw tooManyRequests(limit, allowance.secondsLeft);
}

function checkAccept(accept: string | undefined, produces: Produces): void {
  if (accept === undefined || accept === '') return;
  const offered = PRODUCED[produces];
  if (offered.includes(accept)) return;
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()));
  const isAccepted = ranges.some(
    ([type, ...rest]) => offered.includes(type!) && !rest.some((part) => /^q=0(\.0*)?$/.test(part)),
  );
  if (!isAccepted) throw new Refusal('NOT_ACCEPTABLE', { types: offered });
}
