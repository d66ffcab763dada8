import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { hasScope, type Caller, type CallerDirectory } from './callers.ts';
import {
  badRequest,
  missingScope,
  notAcceptable,
  notFound,
  tooManyRequests,
  unauthorised,
} from './errors.ts';
import { addressCaller, type Allowance, type RateLimiter } from './rate-limit.ts';
import { ANONYMOUS_SCOPES, scopeOf, type Access } from './scopes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; set by the gate, before a body is read. */
    caller: Caller;
  }
}

const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,256}) *$/i;
const SHOP_PATH = /^\/(?:rs|manage)\/shops\/([^/?#]+)/;

/** What a route can answer with; absent and wildcard Accept headers fit both. */
export type Produces = 'json' | 'csv';

const PRODUCED: Record<Produces, readonly string[]> = {
  json: ['application/vnd.epages.v1+json', 'application/json', 'application/*', '*/*'],
  csv: ['text/csv', 'application/vnd.epages.v1+csv', '*/*'],
};

/**
 * Every call below /rs and /manage passes here before its body is read: who is it, how often did it call, can it be
 * answered in the asked form, may it do this. Callers that were seen lately pass without waiting.
 */
export function openGate(deps: { config: Config; callers: CallerDirectory; limiter: RateLimiter }) {
  const { config, callers, limiter } = deps;

  const limitOf = (caller: Caller | undefined) =>
    caller?.app ? config.RATE_LIMIT : config.RATE_LIMIT_ANONYMOUS;

  const rateKey = (caller: Caller | undefined, request: FastifyRequest) =>
    caller?.app?.rateKey ?? addressCaller(request.ip);

  /** The slow way: both the caller and its count may have to be asked of the database. */
  const meet = async (request: FastifyRequest, reply: FastifyReply, shopId: string, token?: string) => {
    const caller = callers.recall(shopId, token) ?? (await callers.find(shopId, token));
    const limit = limitOf(caller);
    const key = rateKey(caller, request);
    let allowance: Allowance | undefined;
    while (!(allowance = limiter.count(key))) await limiter.load(key);
    showAllowance(reply, limit, allowance);
    if (!caller) throw notFound();
    return caller;
  };

  /** The fast way: undefined when something must be asked first. */
  const recognise = (request: FastifyRequest, reply: FastifyReply, shopId: string, token?: string) => {
    const caller = callers.recall(shopId, token);
    if (!caller) return undefined;
    const limit = limitOf(caller);
    const allowance = limiter.count(rateKey(caller, request));
    if (!allowance) return undefined;
    showAllowance(reply, limit, allowance);
    return caller;
  };

  /** Fastify's onRequest hook of a route. */
  const guard = (access: Access, produces: Produces) => {
    const scope = scopeOf(access);
    const enter = (request: FastifyRequest, caller: Caller, token: string | undefined) => {
      request.caller = caller;
      checkAccept(request.headers.accept, produces);
      if (!scope || hasScope(caller, scope)) return;
      if (caller.app) throw missingScope(scope);
      if (request.headers.authorization !== undefined) {
        throw unauthorised(
          token === undefined
            ? 'The Authorization header is not a bearer token'
            : 'The token is unknown in this shop',
        );
      }
      if (!(caller.publicCatalogue && ANONYMOUS_SCOPES.has(scope))) throw unauthorised('A token is needed');
    };
    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      const { shopId } = request.params as { shopId: string };
      const token = bearerOf(request);
      try {
        if (!SHOP_ID.test(shopId)) throw notFound();
        if (request.url.includes('%00')) throw badRequest('The address holds a NUL character');
        const caller = recognise(request, reply, shopId, token);
        if (caller) enter(request, caller, token);
        else {
          meet(request, reply, shopId, token)
            .then((met) => {
              enter(request, met, token);
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

  /** A path below /rs that leads nowhere still counts as a call. */
  const turnAway = async (request: FastifyRequest, reply: FastifyReply) => {
    const shopId = SHOP_PATH.exec(request.url)?.[1];
    if (shopId !== undefined && SHOP_ID.test(shopId)) await meet(request, reply, shopId, bearerOf(request));
    throw notFound();
  };

  return { guard, turnAway };
}

export type Gate = ReturnType<typeof openGate>;

function bearerOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** Without a limit calls are still counted, because the last use of a token is written with its count. */
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
  const asked = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()));
  const met = asked.some(
    ([type, ...rest]) => offered.includes(type!) && !rest.some((part) => /^q=0(\.0*)?$/.test(part)),
  );
  if (!met) throw notAcceptable(offered.join(', '));
}
