import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { ErrorBody } from './http/schemas.ts';
import {
  ANONYMOUS_SCOPES,
  needsCartToken,
  needsToken,
  scopesOf,
  type Access,
  type Scope,
} from './http/scopes.ts';
import { webhookReference } from './shops/webhooks/reference.ts';
import {
  withNamedParts,
  type DocumentedOperation,
  type DocumentedResponse,
  type OpenApiDocument,
  type Parameter,
  type Reference,
} from './openapi-components.ts';

type Facts = NonNullable<FastifyContextConfig['operation']>;

/**
 * The reference as an OpenAPI 3.1 document, from the schemas that also validate and serialise. Must be registered
 * before the modules, whose routes it collects; the document is made when it is first asked for.
 */
export async function registerOpenapi(app: FastifyInstance): Promise<void> {
  const factsOf = new Map<string, Facts>();
  app.addHook('onRoute', ({ config }) => {
    if (config?.operation) factsOf.set(config.operation.name, config.operation);
  });
  await app.register(swagger, {
    openapi: { openapi: '3.1.1' },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('This document is OpenAPI, not Swagger 2');
      const { paths } = document.openapiObject as unknown as Pick<OpenApiDocument, 'paths'>;
      return finished(paths, factsOf);
    },
  });

  let rendered: { text: string; etag: string } | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) => {
    if (!rendered) {
      const text = JSON.stringify(app.swagger());
      rendered = { text, etag: `"${hash('sha1', text, 'base64')}"` };
    }
    const { text, etag } = rendered;
    // Tools in browsers (editors, generators) may load it from anywhere: it holds nothing of a shop.
    reply.headers({ etag, 'cache-control': 'no-cache', 'access-control-allow-origin': '*' });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    return reply.type('application/json').send(text);
  });
}

/** The document as the file openapi.json holds it. The app must be ready. */
export function openapiText(app: FastifyInstance): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`;
}

function finished(paths: OpenApiDocument['paths'], factsOf: ReadonlyMap<string, Facts>): OpenApiDocument {
  const described = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      const facts = factsOf.get(operation.operationId);
      if (!facts) throw new Error(`${method} ${path} has no facts of an operation`);
      return [method, describedOperation(operation, facts)] as const;
    });
    return [path, Object.fromEntries(operations)] as const;
  });
  const tags = new Set([...factsOf.values()].map((facts) => facts.tag));
  const responses = Object.entries(REFUSALS).map(([name, refusal]) => [
    name,
    { ...refusal, content: { 'application/json': { schema: ErrorBody } } },
  ]);
  const document = withNamedParts({
    openapi: '3.1.1',
    info: { title: 'Kontor', version: packageVersion(), description: INTRODUCTION },
    servers: [{ url: '/', description: 'This server' }],
    tags: [...tags].map((name) => ({ name, description: TAGS[name] ?? '' })),
    paths: Object.fromEntries(described),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Get one for the demo shop with `npx kontor token create DemoShop --scopes all`.',
        },
      },
      parameters: {},
      responses: Object.fromEntries(responses) as Record<string, DocumentedResponse>,
      schemas: {},
    },
  });
  // Behind the naming of parts: it refers to components that operations have made.
  return { ...document, webhooks: webhookReference() };
}

function describedOperation(operation: DocumentedOperation, facts: Facts): DocumentedOperation {
  const { operationId, tags, parameters = [], requestBody, responses } = operation;
  const scopes = scopesOf(facts.access);
  const needsScope = needsToken(facts.access);
  const needsCart = needsCartToken(facts.access);
  const own = parameters.filter((parameter) => 'name' in parameter).map(tidyParameter);
  const taken = [
    // The address first, then what may be added to it.
    ...own.filter((parameter) => parameter.in === 'path'),
    ...own.filter((parameter) => parameter.in !== 'path'),
    ...(needsCart ? [CartToken] : []),
    ...(facts.writes && !facts.secretAnswer ? [IdempotencyKey] : []),
  ];
  const details = {
    operationId,
    summary: facts.summary,
    description: [facts.description, accessText(facts)].filter((text) => text !== undefined).join('\n\n'),
    tags,
    ...(facts.deprecated && { deprecated: true }),
    'x-labels': facts.labels,
    'x-scope': scopesText(scopes),
    security: securityOf(facts.access),
    parameters: taken,
    ...(requestBody && { requestBody }),
    responses: {
      ...successOf(responses, facts),
      '400': refusal('BadRequest'),
      ...(needsScope && { '401': refusal('Unauthorised') }),
      ...((needsScope || needsCart) && { '403': refusal('Forbidden') }),
      '404': refusal('NotFound'),
      ...(facts.writes && { '409': refusal('Conflict') }),
      ...(needsCart && { '410': refusal('Gone') }),
      '429': refusal('TooManyRequests'),
      '4XX': refusal('Refused'),
    },
  };
  return details;
}

/** What has a default need not be sent, though the validated query always has it. */
function tidyParameter({ name, in: place, required, description, schema, ...rest }: Parameter): Parameter {
  const isRequired = place === 'path' || (required === true && !('default' in schema));
  return {
    name,
    in: place,
    ...(isRequired && { required: true }),
    ...(description !== undefined && { description }),
    schema,
    ...rest,
  };
}

function accessText({ access, labels }: Facts): string {
  const scopes = scopesOf(access);
  const needs = [
    access === 'any token'
      ? 'Needs a token; its scopes decide what is shown.'
      : `Scope: ${scopesText(scopes)}.`,
    ...(isAnonymous(scopes)
      ? ['Without a token it shows what shoppers see, unless the shop has turned that off.']
      : []),
    ...(needsCartToken(access) ? ['Needs the token of the cart.'] : []),
    ...(labels.length > 0 ? [`Labels: ${labels.join(', ')}.`] : []),
  ];
  return needs.join(' ');
}

function securityOf(access: Access): Record<string, string[]>[] {
  const scopes = scopesOf(access);
  if (!needsToken(access)) return [];
  return isAnonymous(scopes) ? [{ token: [] }, {}] : [{ token: [] }];
}

/** Shoppers may do it without a token. */
function isAnonymous(scopes: readonly Scope[]): boolean {
  return scopes.length > 0 && scopes.every((scope) => ANONYMOUS_SCOPES.has(scope));
}

function scopesText(scopes: readonly Scope[]): string {
  return scopes.length === 0 ? 'none' : scopes.join(' and ');
}

function successOf(responses: DocumentedOperation['responses'], { produces, answerHeaders = {} }: Facts) {
  const headers = Object.entries(answerHeaders).map(
    ([name, description]) => [name, { description, schema: { type: 'string' } }] as const,
  );
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return Object.fromEntries(
    successes.map(([status, response]) => {
      if ('$ref' in response) return [status, response];
      const [media] = Object.values(response.content ?? {});
      const description =
        response.description === 'Default Response'
          ? status === '201'
            ? 'Created.'
            : 'Success.'
          : response.description;
      return [
        status,
        {
          description,
          ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
          ...(media && { content: { [produces === 'csv' ? 'text/csv' : 'application/json']: media } }),
        },
      ];
    }),
  ) as Record<string, DocumentedResponse>;
}

const refusal = (name: keyof typeof REFUSALS): Reference => ({ $ref: `#/components/responses/${name}` });

const REFUSALS = {
  BadRequest: { description: 'A value, the body or a header is wrong; the message names it.' },
  Unauthorised: {
    description: 'No token where one is needed, or one that is unknown in this shop.',
    headers: {
      'WWW-Authenticate': {
        description: 'The scheme, and what is wrong with the token (RFC 6750).',
        schema: { type: 'string', examples: ['Bearer realm="kontor", error="invalid_token"'] },
      },
    },
  },
  Forbidden: { description: 'The token lacks the scope, or the token of the cart is missing or wrong.' },
  NotFound: { description: 'No such shop, or no such thing in this shop.' },
  Conflict: {
    description: 'The change contradicts what is there, or the Idempotency-Key was used for another request.',
  },
  TooManyRequests: {
    description: 'More calls in this hour than allowed.',
    headers: {
      'Retry-After': {
        description: 'Seconds to wait.',
        schema: { type: 'integer', examples: [120] },
      },
    },
  },
  Gone: { description: 'The cart has become an order.' },
  Refused: { description: 'Any other refusal, with the same body: 405, 406, 413.' },
} as const;

const IdempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Any text of your own. The same request with the same key is done once in 24 hours.',
  schema: { type: 'string' },
  example: 'a4e1c6f0-order-1',
};

const CartToken: Parameter = {
  name: 'X-ePages-Cart-Token',
  in: 'header',
  required: true,
  description: 'The token that came in the answer which created the cart.',
  schema: { type: 'string' },
  example: 'UmFuZG9tSVbYnncIV4kUCiM0',
};

/** What each tag is about; the order in the document is the order in which the modules are registered. */
const TAGS: Readonly<Record<string, string>> = {
  shop: 'Name, addresses and country of the shop.',
  countries: 'Where the shop delivers to.',
  carts: 'Carts: lines, coupon, addresses, delivery and payment, and the order that a cart becomes.',
  orders: 'What was ordered, and how far it is.',
  sales: 'What orders came to.',
  'coupon-campaigns': 'Coupons: what they take off, when they hold, and their codes.',
  currencies: 'The currencies of the shop.',
  locales: 'The languages of the shop.',
  taxes: 'Tax classes, and whether prices contain tax.',
  'shipping-methods': 'How orders reach their buyers, and the least it costs.',
  categories: 'The tree that products are found in.',
  'product-category-assignments': 'Which products are in which categories.',
  products: 'What the shop sells: prices, stock, texts, variations, images.',
  producttypes: 'What products of a kind say about themselves, and what their variations differ in.',
  search: 'Finding products by words, narrowing by facets, and suggestions while somebody types.',
  customers: 'The people and companies that buy.',
  legal: 'The six legal pages of the shop, in each of its languages.',
  newsletters: 'Newsletter campaigns and their subscribers.',
  'script-tags': 'Scripts that an app adds to the pages of the storefront.',
  audit: 'Who has changed what, and when.',
  events: 'What happened in the shop, in its order, to read on from where one was.',
  webhooks: 'Addresses of an app that are called when something happens in the shop.',
  token: 'How an app that a merchant installs gets its access token.',
};

const INTRODUCTION = `Every address begins with \`/rs/shops/{shopId}\`; the demo shop is \`DemoShop\`.

**Token.** \`npx kontor token create DemoShop --scopes all\` prints one. Send it as \`Authorization: Bearer TOKEN\`. A token holds the scopes it names: a write scope does not include reading. What shoppers may see (scopes \`products_read\` and \`legal_read\`) answers without a token as well, unless the shop has turned that off.

    curl http://localhost:8080/rs/shops/DemoShop/customers \\
      -H 'Authorization: Bearer TOKEN'

**Errors** have one body: \`{"message": "HTTP 404 Not Found, Request: GET /rs/shops/DemoShop/x", "status": "Not Found"}\`. A refused value is named: \`Create customer failed:\\n\\tvalidation error MISSING on field billingAddress, Request: ...\`. What belongs to another shop is a 404.

**Paging.** Lists take \`page\` (from 1) and \`resultsPerPage\` and answer with \`results\`, \`page\`, \`resultsPerPage\`, \`items\`. More than the maximum is taken as the maximum; a page beyond the end has no items and the true number of results.

**Locale.** \`locale=en_GB\`: language and country. A language alone is a 400; a locale or currency that the shop does not have is answered in the shop's default when reading.

**Idempotency.** A write with an \`Idempotency-Key\` header happens once: for 24 hours the same request gets the first answer again, with \`Idempotency-Replayed: true\`.

**Carts.** Whoever creates a cart gets its token in the header \`X-ePages-Cart-Token\` of the answer, and sends it with every call on that cart; no other token is needed, except for what names a scope.

**Rate limit.** 6000 calls per hour and token, 36000 per hour and address without one, unless the operator set others. Each answer says what is left in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`; over it, 429 with \`Retry-After\`.

**Media types.** Bodies are UTF-8 as \`application/json\`, \`application/vnd.epages.v1+json\` or, for changes, \`application/json-patch+json\`. Answers are \`application/json\`. Reads carry an \`ETag\`; \`If-None-Match\` is answered with 304.`;

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
