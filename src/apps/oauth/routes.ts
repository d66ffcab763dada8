import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { HttpError, unavailable } from '../../http/errors.ts';
import { logFailure, refusalOf } from '../../http/failures.ts';
import { originOf } from '../../http/links.ts';
import { addressCaller, countCall, countTry, type RateLimiter } from '../../http/rate-limit.ts';
import { SCOPES } from '../../http/scopes.ts';
import { isId, newId } from '../../kernel/ids.ts';
import { clientName, isClientMetadata, isRedirectAddress } from './clients.ts';
import { extendClient, insertClient } from './queries.ts';
import {
  exchangeCode,
  refresh,
  revoke,
  shopOfSecret,
  type GrantProblem,
  type IssuedTokens,
} from './tokens.ts';

/*
 * How an assistant is connected (OAuth 2.1): it finds out where (RFC 9728, RFC 8414), registers itself (RFC 7591), sends the
 * person to the page of the admin that asks for consent, and exchanges the code for tokens, which it may give back (RFC 7009).
 */

const DAY = 86_400_000;
/** A registration that is not used. */
const REGISTRATION_LIVES = DAY;
/** One that is. */
const CLIENT_LIVES = 180 * DAY;

const REGISTRATIONS_PER_HOUR = 20;
/** Of all addresses together: each is a row for a day. */
const ALL_REGISTRATIONS_PER_HOUR = 2_000;
const TOKENS_PER_HOUR = 600;

const BODY_LIMIT = 16_384;

/** The tools, which the tokens are for. */
export const MCP_ADDRESS = '/mcp';
/** Where a person is asked. */
export const CONNECT_PATH = '/admin/connect';

export const resourceOf = (origin: string) => `${origin}${MCP_ADDRESS}`;
export const resourceMetadataOf = (origin: string) =>
  `${origin}/.well-known/oauth-protected-resource${MCP_ADDRESS}`;

export interface OauthDeps {
  db: Database;
  config: Config;
  limiter: RateLimiter;
  isMigrated: () => boolean;
}

/** A request that is refused, with the codes of RFC 6749 and RFC 7591. */
class OauthProblem extends HttpError {
  override name = 'OauthProblem';
  readonly code: string;

  constructor(code: string, text: string, status: 400 | 401 = 400) {
    super(status, text);
    this.code = code;
  }
}

const Fields = Type.Object({});
const HIDDEN = { schema: { hide: true } };
const NO_STORE = { 'cache-control': 'no-store' };

export async function oauthRoutes(app: FastifyInstance, deps: OauthDeps): Promise<void> {
  const { config } = deps;
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');
  await app.register(async (scope) => {
    scope.addHook('onRequest', (_request, _reply, done) =>
      done(deps.isMigrated() ? undefined : unavailable()),
    );
    scope.setErrorHandler<FastifyError>(answerProblem);

    for (const path of ['', MCP_ADDRESS]) {
      scope.get(`/.well-known/oauth-protected-resource${path}`, HIDDEN, async (request, reply) => {
        const origin = originOf(request, publicUrl);
        return sendMetadata(reply, {
          resource: resourceOf(origin),
          authorization_servers: [origin],
          scopes_supported: SCOPES.filter((one) => one.endsWith('_read')),
          bearer_methods_supported: ['header'],
          resource_name: 'Kontor',
          resource_documentation: `${origin}/docs/mcp`,
        });
      });
    }

    scope.get('/.well-known/oauth-authorization-server', HIDDEN, async (request, reply) => {
      const origin = originOf(request, publicUrl);
      return sendMetadata(reply, {
        issuer: origin,
        authorization_endpoint: `${origin}${CONNECT_PATH}`,
        token_endpoint: `${origin}/oauth/token`,
        revocation_endpoint: `${origin}/oauth/revoke`,
        revocation_endpoint_auth_methods_supported: ['none'],
        registration_endpoint: `${origin}/oauth/register`,
        scopes_supported: SCOPES,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['none'],
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${origin}/docs/mcp`,
      });
    });

    scope.post(
      '/oauth/register',
      { schema: { hide: true, body: Fields }, bodyLimit: BODY_LIMIT },
      async (request, reply) => {
        const client = await register(request, deps);
        return reply.code(201).headers(NO_STORE).send(client);
      },
    );

    scope.post(
      '/oauth/token',
      { schema: { hide: true, body: Fields }, bodyLimit: BODY_LIMIT, config: { takesForm: true } },
      async (request, reply) => {
        const origin = originOf(request, publicUrl);
        const tokens = await grant(request, resourceOf(origin), deps);
        return reply.headers(NO_STORE).send(tokens);
      },
    );

    scope.post(
      '/oauth/revoke',
      { schema: { hide: true, body: Fields }, bodyLimit: BODY_LIMIT, config: { takesForm: true } },
      async (request, reply) => {
        await end(request, deps);
        return reply.headers(NO_STORE).send();
      },
    );
  });
}

function sendMetadata(reply: FastifyReply, metadata: object): FastifyReply {
  return reply
    .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
    .send(metadata);
}

async function register(request: FastifyRequest, { db, config, limiter }: OauthDeps): Promise<object> {
  const { body } = request;
  if (!isClientMetadata(body)) {
    throw new OauthProblem('invalid_client_metadata', 'The body does not describe a client');
  }
  const { redirect_uris: redirectAddresses } = body;
  if (!redirectAddresses.every(isRedirectAddress)) {
    throw new OauthProblem(
      'invalid_redirect_uri',
      'A redirect address begins with https://, or with http:// on localhost, and has no fragment',
    );
  }
  if (config.RATE_LIMIT_ANONYMOUS > 0) {
    await countTry(
      limiter,
      `oauth-client/${addressCaller(request.ip)}`,
      REGISTRATIONS_PER_HOUR,
      'registrations',
    );
    await countTry(limiter, 'oauth-clients', ALL_REGISTRATIONS_PER_HOUR, 'registrations');
  }
  const createdAt = db.serviceNow;
  const client = { clientId: newId(createdAt), name: clientName(body.client_name), redirectAddresses };
  await insertClient(db, {
    ...client,
    createdAt,
    endsAt: new Date(createdAt.getTime() + REGISTRATION_LIVES),
  });
  return {
    client_id: client.clientId,
    client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
    client_name: client.name,
    redirect_uris: redirectAddresses,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // Every client is a program on the machine of somebody else, which can keep no secret of ours.
    token_endpoint_auth_method: 'none',
  };
}

async function grant(
  request: FastifyRequest,
  resource: string,
  { db, config, limiter }: OauthDeps,
): Promise<IssuedTokens> {
  const { field, clientId } = await readFields(request, { config, limiter });
  if (!['', resource].includes(field('resource'))) {
    throw new OauthProblem('invalid_target', `Tokens are for ${resource} only`);
  }
  const type = field('grant_type');
  const secret = type === 'refresh_token' ? field('refresh_token') : field('code');
  if (type !== 'authorization_code' && type !== 'refresh_token') {
    throw new OauthProblem('unsupported_grant_type', 'grant_type is authorization_code or refresh_token');
  }
  const shopId = shopOfSecret(secret);
  const result =
    shopId === undefined
      ? 'code'
      : await db.ofShop(shopId).transaction((tx) =>
          type === 'refresh_token'
            ? refresh(tx, shopId, { refreshToken: secret, clientId })
            : exchangeCode(tx, shopId, {
                code: secret,
                clientId,
                redirectAddress: field('redirect_uri'),
                verifier: field('code_verifier'),
              }),
        );
  if (typeof result === 'string') throw new OauthProblem('invalid_grant', GRANT_PROBLEMS[result]);
  if (isId(clientId)) await extendClient(db, clientId, new Date(db.serviceNow.getTime() + CLIENT_LIVES));
  return result;
}

/** Who asks for tokens, or gives them back: each client is public, so its id is all that it shows. */
async function readFields(
  request: FastifyRequest,
  { config, limiter }: Pick<OauthDeps, 'config' | 'limiter'>,
) {
  if (config.RATE_LIMIT_ANONYMOUS > 0) {
    await countCall(limiter, `oauth-token/${addressCaller(request.ip)}`, TOKENS_PER_HOUR, 'tokens');
  }
  const field = fieldsOf(request.body);
  const clientId = field('client_id');
  if (clientId === '') throw new OauthProblem('invalid_client', 'client_id is missing', 401);
  return { field, clientId };
}

/** A token that opens nothing is as good as revoked, whatever it looks like. */
async function end(request: FastifyRequest, deps: OauthDeps): Promise<void> {
  const { field, clientId } = await readFields(request, deps);
  const token = field('token');
  if (token === '') throw new OauthProblem('invalid_request', 'token is missing');
  const shopId = shopOfSecret(token);
  if (shopId === undefined) return;
  const isOwn = await deps.db.ofShop(shopId).transaction((tx) => revoke(tx, shopId, { token, clientId }));
  if (!isOwn) throw new OauthProblem('invalid_grant', 'The token is of another client');
}

const GRANT_PROBLEMS: Readonly<Record<GrantProblem, string>> = {
  code: 'The code is unknown or over, or it was given to another client, address or verifier',
  'code used twice': 'The code was used before, so the connection has ended',
  'refresh token': 'The refresh token is unknown or over',
  'used twice': 'The refresh token was used before, so the connection has ended',
};

const MAX_FIELD = 500;

/** The text of a field that was sent once, else ''. */
function fieldsOf(body: unknown): (name: string) => string {
  const fields = body as Record<string, unknown>;
  return (name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : '';
    return typeof value === 'string' && value.length <= MAX_FIELD ? value : '';
  };
}

function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error, request);
  logFailure(error, refusal, request);
  const code =
    error instanceof OauthProblem
      ? error.code
      : refusal.status === 503 || refusal.status === 429
        ? 'temporarily_unavailable'
        : refusal.status >= 500
          ? 'server_error'
          : 'invalid_request';
  return reply
    .code(refusal.status)
    .headers({ ...NO_STORE, ...refusal.headers })
    .type('application/json')
    .send(Buffer.from(JSON.stringify({ error: code, error_description: refusal.message })));
}
