import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { couponLimit } from '../carts/coupon-limit.ts';
import { matchesEtag } from '../http/answer-headers.ts';
import { parseJsonBody } from '../http/body.ts';
import { HttpError, unavailable } from '../http/errors.ts';
import { logFailure, refusalOf } from '../http/failures.ts';
import { readingCurrency } from '../http/locale.ts';
import { isRpcMessage, rpcError, RpcProblem } from '../http/model-context.ts';
import { addressCaller, countTry } from '../http/rate-limit.ts';
import { etagOf } from '../http/raw-json.ts';
import { compileBody, fieldProblemOf } from '../http/validation.ts';
import { newId } from '../kernel/ids.ts';
import { programVersion } from '../platform/version.ts';
import type { PageName } from '../shops/legal/schema.ts';
import { findSettings, type Settings } from '../shops/settings/settings.ts';
import { isOpenToGuests } from '../shops/shop/visibility.ts';
import { loadShopLayout, type ShopLayout } from '../storefront/layout/shop-layout.ts';
import { pageLimitRefusal, shopOf, visitAddresses } from '../storefront/open-visit.ts';
import { absoluteUrl, legalNames } from '../storefront/visit.ts';
import { loadAgent, namedProfile, type Agent } from './agent.ts';
import { envelope, MCP_PATH, REST_PATH, shopProfile } from './capabilities.ts';
import type { AssistantContext, Link } from './context.ts';
import type { AssistantDeps, NotedCall } from './deps.ts';
import { findWantedCodes, type WantedCodes } from './details/codes.ts';
import { publishedKeys, signingKey } from './keys.ts';
import { answerLocale } from './locale.ts';
import { mcpAnswer, problemMessage } from './mcp.ts';
import { answerSignature } from './message-signature.ts';
import type { Message } from './messages.ts';
import { onceWriter } from './once-writer.ts';
import { hasId, OPERATIONS, type AssistantOperation } from './operations.ts';
import { isFailure } from './outcome.ts';
import { paymentHandlers, tokenMethod } from './payment.ts';
import { ProtocolProblem } from './problem.ts';
import { assistantTokens } from './tokens.ts';

/** As many as a visitor of the shop may place: each takes goods from the stock until it is paid or given up. */
const ORDERS_PER_HOUR = 60;

/** No request of the protocol comes near it. */
const BODY_LIMIT = 262_144;
/** Seconds for which an assistant may cache the profile of a shop. */
const PROFILE_AGE = 300;

/** What assistants ask for, on the own host of a shop: its profile, and the operations by REST and as MCP tools. */
export async function assistantRoutes(app: FastifyInstance, deps: AssistantDeps): Promise<void> {
  const version = programVersion();
  await app.register(async (scope) => {
    readBodies(scope);
    scope.decorateRequest('bodyBytes');
    scope.decorateRequest('assistantCall');
    scope.addHook('onRequest', (_request, _reply, done) =>
      done(deps.isMigrated() ? undefined : unavailable()),
    );
    scope.addHook('onResponse', (request, reply, done) => {
      noteCall(request, reply, deps);
      done();
    });
    scope.setErrorHandler<FastifyError>((error, request, reply) => answerProblem(error, request, reply));

    scope.get('/shop/:shopId/.well-known/ucp', { schema: { hide: true } }, async (request, reply) => {
      const { settings, home } = await openShop(request, deps);
      const db = deps.db.ofShop(settings.shopId);
      const keys = await publishedKeys(db, settings.shopId);
      const method = tokenMethod(settings, await loadShopLayout(db, settings, deps.payments), deps.payments);
      const text = JSON.stringify(shopProfile(settings, home, keys, paymentHandlers(method)));
      const etag = `"${etagOf(text)}"`;
      reply.headers({
        'cache-control': `public, max-age=${PROFILE_AGE}`,
        'access-control-allow-origin': '*',
        etag,
      });
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply.type('application/json').send(Buffer.from(text));
    });

    for (const operation of OPERATIONS) {
      const validate = validator(operation);
      scope.route({
        method: operation.method,
        url: `/shop/:shopId${REST_PATH}${operation.path}`,
        schema: { hide: true },
        bodyLimit: BODY_LIMIT,
        // The id of a cart opens it.
        config: { hasSecretPath: hasId(operation) },
        handler: async (request, reply) => {
          const shop = await openShop(request, deps);
          const call = beginCall(request, shop.settings, operation.name, 'rest');
          const given = request.body ?? {};
          validate(operation.argument === undefined ? given : request.body);
          const agent = await loadAgent(request, namedProfile(request), shop.settings, deps);
          Object.assign(call, { profile: agent.profile, signed: agent.signed });
          const { id = '' } = request.params as { id?: string };
          const key = request.headers['idempotency-key'];
          const answer = await runOperation(operation, { given, id, key }, agent, shop, request, deps);
          const status = isFailure(answer) ? 200 : (operation.status ?? 200);
          return sendSigned(reply, answer, status, shop.settings, deps);
        },
      });
    }

    scope.post(
      `/shop/:shopId${MCP_PATH}`,
      { schema: { hide: true }, bodyLimit: BODY_LIMIT, config: { isRpc: true } },
      async (request, reply) => {
        const shop = await openShop(request, deps);
        requireOwnOrigin(request, shop.home);
        if (!isRpcMessage(request.body)) {
          throw new ProtocolProblem('invalid_request', 'The body is not one message of JSON-RPC 2.0');
        }
        const { status, body } = await mcpAnswer(request.body, request.headers, {
          server: { name: shop.settings.shopId, version },
          call: async (operation, { given, id, key, profile }) => {
            const call = beginCall(request, shop.settings, operation.name, 'mcp');
            validator(operation)(given);
            const agent = await loadAgent(request, profile ?? namedProfile(request), shop.settings, deps);
            Object.assign(call, { profile: agent.profile, signed: agent.signed });
            return runOperation(operation, { given, id, key }, agent, shop, request, deps);
          },
        });
        return body === undefined
          ? reply.code(status).send()
          : sendSigned(reply, body, status, shop.settings, deps);
      },
    );
    // A stateless server has nothing to stream and no session to end.
    for (const method of ['GET', 'DELETE'] as const) {
      scope.route({
        method,
        url: `/shop/:shopId${MCP_PATH}`,
        schema: { hide: true },
        handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(),
      });
    }
  });
}

/** Keeps the bytes of bodies, because a signature is of them. */
function readBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, given, done) => {
    const bytes = given as Buffer;
    request.bodyBytes = bytes;
    try {
      done(null, bytes.length === 0 ? undefined : parseJsonBody(bytes));
    } catch (error) {
      done(error as Error);
    }
  });
}

interface OpenShop {
  settings: Settings;
  /** Scheme and host of the shop. */
  home: string;
  /** Scheme and host of the service. */
  origin: string;
}

/**
 * The shop on whose own host the request has come. Elsewhere there is nothing: a page of another host must not reach it by
 * a name that leads here.
 */
async function openShop(request: FastifyRequest, deps: AssistantDeps): Promise<OpenShop> {
  const refusal = await pageLimitRefusal(request, deps);
  if (refusal) throw refusal;
  const shopId = shopOf(request);
  const settings = await findSettings(deps.db, shopId);
  const isPublic = settings?.isOpen && !settings.isSuspended && !settings.sandbox && isOpenToGuests(settings);
  if (!settings || !isPublic || !settings.assistants.open) throw nothingHere();
  const { base, pageOrigin, origin } = visitAddresses(request, settings, deps);
  const cameByOwnPath = !request.originalUrl.endsWith(request.url);
  if (base !== '' || !cameByOwnPath) throw nothingHere();
  return { settings, home: pageOrigin, origin };
}

const nothingHere = () => new ProtocolProblem('not_found', 'There is nothing for assistants at this address');

/** A browser says which page has sent a request: only pages of the shop itself may. */
function requireOwnOrigin({ headers }: FastifyRequest, home: string): void {
  if (headers.origin === undefined || headers.origin === home) return;
  throw new ProtocolProblem('origin_refused', 'Pages of other sites can not use the tools of a shop');
}

/** Refuses a request that is not of the form of the operation. */
function validator({ input }: AssistantOperation): (request: unknown) => void {
  const isValid = compileBody(input);
  return (request) => {
    if (isValid(request ?? null)) return;
    const { code, field } = fieldProblemOf(isValid.errors![0]!);
    throw new ProtocolProblem('invalid_request', `${code} at ${field.slice(0, 200)}`);
  };
}

/** What a request says to its operation. */
interface Given {
  given: unknown;
  id: string;
  /** Idempotency-Key */
  key: unknown;
}

async function runOperation(
  operation: AssistantOperation,
  { given, id, key }: Given,
  agent: Agent,
  shop: OpenShop,
  request: FastifyRequest,
  deps: AssistantDeps,
): Promise<object> {
  if (!agent.capabilities.includes(operation.capability)) return incompatible(shop.home);
  const { settings, home, origin } = shop;
  const { context: asked } = given as { context?: { language?: string; currency?: string } };
  const locale = answerLocale(asked?.language, request.headers['accept-language'], settings);
  const db = deps.db.ofShop(settings.shopId);
  let layout: Promise<ShopLayout> | undefined;
  const loadLayout = () => (layout ??= loadShopLayout(db, settings, deps.payments));
  const context: AssistantContext = {
    agent,
    tokens: assistantTokens(await deps.loadKey()),
    db,
    shopId: settings.shopId,
    settings,
    locale,
    currency: readingCurrency(asked?.currency, settings),
    origin,
    home,
    carts: deps.carts,
    capabilities: agent.capabilities,
    appCalls: deps.appCalls,
    findCodes: (codes) => findCodes(codes, db, settings.shopId, request.ip, deps),
    placeOrder: deps.placeOrder,
    countOrder: async () => {
      if (deps.config.RATE_LIMIT_ANONYMOUS === 0) return;
      const caller = `assistant-orders/${addressCaller(request.ip)}`;
      await countTry(deps.limiter, caller, ORDERS_PER_HOUR, 'orders');
    },
    payments: deps.payments,
    paymentMethod: async () => tokenMethod(settings, await loadLayout(), deps.payments),
    links: async () => legalLinks(await loadLayout(), { settings, locale, home }),
  };
  const name = `${operation.name} ${id}`;
  const once = onceWriter(db, { shopId: settings.shopId, agent, key, name, given }, deps.answerSeal);
  return operation.run({ context, request: given, id, ...once });
}

/** Counts each code as a try until it turns out to be known, so that many requests at once can not guess more. */
async function findCodes(
  codes: readonly string[],
  db: AssistantContext['db'],
  shopId: string,
  address: string,
  { config, limiter }: AssistantDeps,
): Promise<WantedCodes> {
  const { caller, perHour, what } = couponLimit({ address });
  const isLimited = config.RATE_LIMIT_ANONYMOUS > 0;
  if (isLimited) for (const _code of codes) await countTry(limiter, caller, perHour, what);
  const found = await findWantedCodes(db, shopId, codes);
  const known = found.codes.filter(({ refusal }) => refusal !== 'unknown');
  if (isLimited) for (const _code of known) await limiter.uncountTry(caller);
  return found;
}

/** The legal pages, by the types of the protocol. */
const LINK_TYPES = {
  'terms-and-conditions': 'terms_of_service',
  'privacy-policy': 'privacy_policy',
  'rights-of-withdrawal': 'refund_policy',
  'shipping-information': 'shipping_policy',
} as const satisfies Partial<Record<PageName, string>>;

function legalLinks(
  layout: ShopLayout,
  context: Pick<AssistantContext, 'settings' | 'locale' | 'home'>,
): Link[] {
  const names = legalNames({ ...context, layout });
  return Object.entries(LINK_TYPES).flatMap(([page, type]) => {
    const title = names[page as keyof typeof LINK_TYPES];
    return title === undefined ? [] : [{ type, url: absoluteUrl(context, `/legal/${page}`), title }];
  });
}

/** The assistant and the shop have no version of this operation in common; its buyer goes on by hand. */
function incompatible(home: string): object {
  const messages: Message[] = [
    {
      type: 'error',
      code: 'capabilities_incompatible',
      content: 'The profile of the assistant does not name what this operation needs',
      severity: 'unrecoverable',
    },
  ];
  return { ucp: envelope([], 'error'), messages, continue_url: `${home}/` };
}

async function sendSigned(
  reply: FastifyReply,
  answer: object,
  status: number,
  { shopId }: Settings,
  { db, loadKey }: AssistantDeps,
): Promise<FastifyReply> {
  const body = Buffer.from(JSON.stringify(answer));
  const key = await signingKey(db, shopId, loadKey);
  const type = 'application/json';
  return reply
    .code(status)
    .headers({
      'cache-control': 'no-store',
      ...answerSignature(key, { status, type, body, now: db.serviceNow }),
    })
    .type(type)
    .send(body);
}

function beginCall(
  request: FastifyRequest,
  { shopId }: Settings,
  operation: string,
  transport: NotedCall['transport'],
): NotedCall {
  return (request.assistantCall = {
    shopId,
    operation,
    transport,
    profile: '',
    signed: false,
    problem: null,
  });
}

function noteCall(request: FastifyRequest, reply: FastifyReply, { db, calls }: AssistantDeps): void {
  if (!request.assistantCall) return;
  const { shopId, ...call } = request.assistantCall;
  const now = db.serviceNow;
  calls.note(shopId, { ...call, callId: newId(now), calledAt: now, status: reply.statusCode });
}

const STATUS_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  404: 'not_found',
  413: 'request_too_large',
  415: 'invalid_request',
  429: 'rate_limit_exceeded',
  503: 'unavailable',
};

/** Problems are said in the form of the protocol: a code and a text. */
function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error, request);
  logFailure(error, refusal, request);
  const code =
    error instanceof ProtocolProblem ? error.code : (STATUS_CODES[refusal.status] ?? 'internal_error');
  if (request.assistantCall) request.assistantCall.problem = code;
  const { isRpc } = request.routeOptions.config;
  const body =
    isRpc && error instanceof RpcProblem
      ? rpcError(request.body, { code: error.rpcCode, message: error.message, data: error.data })
      : isRpc
        ? problemMessage(request.body, { code: rpcCodeOf(refusal), problem: code, refusal })
        : { code, content: refusal.message };
  return reply
    .code(refusal.status)
    .headers({ 'cache-control': 'no-store', ...refusal.headers })
    .type('application/json')
    .send(Buffer.from(JSON.stringify(body)));
}

function rpcCodeOf(refusal: HttpError): number {
  if (refusal instanceof ProtocolProblem) return refusal.rpcCode;
  return refusal.status === 400 ? -32600 : refusal.status >= 500 && refusal.status !== 503 ? -32603 : -32000;
}
