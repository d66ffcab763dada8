import swagger from '@fastify/swagger';
import Fastify, { type FastifyContextConfig, type FastifyInstance } from 'fastify';
import { errorBody, Refusal } from '../http/errors.ts';
import { ErrorBody } from '../http/schemas.ts';
import {
  ANONYMOUS_SCOPES,
  needsCartToken,
  needsToken,
  scopesOf,
  type Access,
  type Scope,
} from '../http/scopes.ts';
import { errorExamples, type ErrorExample } from './errors.ts';
import { exampleOf, readExamples, withExample, type OperationExample } from './examples.ts';
import { programVersion } from '../platform/version.ts';
import { operationsOf } from '../site/docs/operations.ts';
import { webhookReference } from '../apps/webhooks/reference.ts';
import {
  withNamedParts,
  type OpenApiOperation,
  type DocumentedResponse,
  type OpenApiDocument,
  type Parameter,
} from './components.ts';

type Facts = NonNullable<FastifyContextConfig['operation']>;

/**
 * The reference as an OpenAPI 3.1 document, from the schemas that also validate and serialise. Building it takes a
 * second of processor time and a library that nothing else needs, so a running service sends the file that was built
 * from the same code. The operations are registered once more, in an app that only describes them.
 */
async function buildDocument({ operationRoutes }: FastifyInstance): Promise<object> {
  const factsOf = new Map(
    operationRoutes.map(({ config }) => [config!.operation!.name, config!.operation!] as const),
  );
  const described = Fastify({ exposeHeadRoutes: false });
  described.setValidatorCompiler(() => () => true);
  described.setSerializerCompiler(() => () => '');
  await described.register(swagger, {
    openapi: { openapi: '3.1.1' },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('This document is OpenAPI, not Swagger 2');
      const { paths } = document.openapiObject as Pick<OpenApiDocument, 'paths'>;
      return finished(paths, factsOf);
    },
  });
  for (const { method, url, schema } of operationRoutes) {
    described.route({ method, url, schema: schema!, handler: async () => undefined });
  }
  await described.ready();
  const document = described.swagger();
  await described.close();
  return document;
}

/** The document as the file openapi.json holds it. The app must be ready. */
export async function openapiText(app: FastifyInstance): Promise<string> {
  return `${JSON.stringify(await buildDocument(app), null, 2)}\n`;
}

/** The list of operations as the file schema/operations.json holds it. The app must be ready. */
export async function operationsText(app: FastifyInstance): Promise<string> {
  const document = (await buildDocument(app)) as Parameters<typeof operationsOf>[0];
  return `${JSON.stringify(operationsOf(document), null, 2)}\n`;
}

function finished(paths: OpenApiDocument['paths'], factsOf: ReadonlyMap<string, Facts>): OpenApiDocument {
  const examplesFor = readExamples();
  const described = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      const facts = factsOf.get(operation.operationId);
      if (!facts) throw new Error(`${method} ${path} has no facts of an operation`);
      const place = { method: method.toUpperCase(), path, example: examplesFor(operation.operationId) };
      return [method, describedOperation(operation, facts, place)] as const;
    });
    return [path, Object.fromEntries(operations)] as const;
  });
  const tags = new Set([...factsOf.values()].map((facts) => facts.tag));
  const document = withNamedParts({
    openapi: '3.1.1',
    info: { title: 'Kontor', version: programVersion(), description: INTRODUCTION },
    servers: [{ url: '/', description: 'This server' }],
    tags: [...tags].map((name) => ({
      name,
      'x-displayName': TITLES[name] ?? titleOf(name),
      description: TAGS[name] ?? '',
    })),
    paths: Object.fromEntries(described),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Where only your own machine can call, the demo shop has the token `demo-all`. Else get one with `npx kontor token create DemoShop --scopes all`.',
        },
      },
      parameters: {},
      responses: { Refused: refusalWith(OTHER_REFUSALS, notAcceptableExample) },
      schemas: {},
    },
  });
  // After the parts are named: it refers to components made by operations.
  return { ...document, webhooks: webhookReference() };
}

function describedOperation(
  operation: OpenApiOperation,
  facts: Facts,
  { example, ...place }: { method: string; path: string; example: OperationExample },
): OpenApiOperation {
  const { operationId, tags, parameters = [], requestBody, responses } = operation;
  const scopes = scopesOf(facts.access);
  const needsCart = needsCartToken(facts.access);
  const own = parameters.filter((parameter) => 'name' in parameter).map(tidyParameter);
  const taken = [
    // The address first, then its optional parts.
    ...own.filter((parameter) => parameter.in === 'path'),
    ...own.filter((parameter) => parameter.in !== 'path'),
    ...(needsCart ? [CartToken] : []),
    ...(facts.writes && facts.secretAnswer !== 'not stored' ? [idempotencyKey(operationId)] : []),
    ...(facts.takesIfMatch ? [IfMatch] : []),
  ].map((parameter) => withExample(parameter, example));
  const errors = errorExamples(
    { ...place, facts, parameters: taken, hasBody: requestBody !== undefined },
    example.orderedCart,
  );
  const details = {
    operationId,
    summary: facts.summary,
    description: [facts.description, accessText(facts), example.unavailable]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    tags,
    ...(facts.deprecated && { deprecated: true }),
    'x-labels': facts.labels,
    'x-scope': scopesText(scopes),
    security: securityOf(facts.access),
    parameters: taken,
    ...(requestBody && { requestBody: withBodyExample(requestBody, example) }),
    responses: {
      ...successOf(responses, facts),
      ...Object.fromEntries(
        Object.entries(errors).map(([status, body]) => [status, refusalWith(REFUSALS[status]!, body)]),
      ),
      '4XX': { $ref: '#/components/responses/Refused' },
    },
  };
  return details;
}

/** A field with a default need not be sent, though the validated query always has it. */
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

function accessText(facts: Facts): string {
  const { access } = facts;
  const scopes = scopesOf(access);
  const needs = [
    access === 'any token'
      ? 'Needs a token; its scopes decide what is shown.'
      : `Scope: ${scopesText(scopes)}.`,
    ...(isAnonymous(scopes)
      ? ['Without a token it shows what shoppers see, unless the shop has turned that off.']
      : []),
    ...(needsCartToken(access) ? ['Needs the token of the cart.'] : []),
    limitText(facts),
    repeatText(facts),
    originText(facts),
  ];
  return needs.join(' ');
}

function limitText({ access, failureLimit }: Facts): string {
  const needsOwnToken = needsToken(access) && !isAnonymous(scopesOf(access));
  const limit = needsOwnToken
    ? 'Rate limit: 6000 calls an hour per token.'
    : 'Rate limit: 6000 calls an hour per token, 36000 per address without one.';
  return failureLimit ? `${limit} Failed tries have a limit of their own.` : limit;
}

function repeatText({ writes, secretAnswer }: Facts): string {
  if (!writes) return 'Idempotency: it changes nothing and can be repeated.';
  if (secretAnswer === 'not stored') {
    return 'Idempotency: none, because the answer holds a secret that is not stored for a replay.';
  }
  const once = 'it happens once, and a repeated call gets the first answer.';
  return secretAnswer === 'sealed'
    ? `Idempotency: with an \`Idempotency-Key\` and a token ${once} Without a token the key is ignored.`
    : `Idempotency: with an \`Idempotency-Key\` ${once}`;
}

/** The labels of the contract, in words. */
function originText({ labels }: Facts): string {
  if (labels.length === 0) return 'It goes beyond the ePages API.';
  return `Known to clients of ePages ${labels.join(' and ePages ')}.`;
}

function securityOf(access: Access): Record<string, string[]>[] {
  const scopes = scopesOf(access);
  if (!needsToken(access)) return [];
  return isAnonymous(scopes) ? [{ token: [] }, {}] : [{ token: [] }];
}

/** Shoppers may do it without a token. */
function isAnonymous(scopes: ReturnType<typeof scopesOf>): boolean {
  return scopes.length > 0 && scopes.every((scope) => ANONYMOUS_SCOPES.has(scope as Scope));
}

function scopesText(scopes: ReturnType<typeof scopesOf>): string {
  return scopes.length === 0 ? 'none' : scopes.join(' and ');
}

function successOf(responses: OpenApiOperation['responses'], { produces, answerHeaders = {} }: Facts) {
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
          ...(media && { content: { [mediaTypeOf(produces)]: media } }),
        },
      ];
    }),
  ) as Record<string, DocumentedResponse>;
}

const mediaTypeOf = (produces: Facts['produces']) =>
  produces === 'csv' ? 'text/csv' : produces === 'bytes' ? 'application/octet-stream' : 'application/json';

/** A refusal with the answer of this operation as its example. */
function refusalWith(
  refusal: Omit<DocumentedResponse, 'content'>,
  example: ErrorExample,
): DocumentedResponse {
  return { ...refusal, content: { 'application/json': { schema: ErrorBody, example } } };
}

/** The same example for each body type of an operation. */
function withBodyExample(
  requestBody: NonNullable<OpenApiOperation['requestBody']>,
  { body }: OperationExample,
): NonNullable<OpenApiOperation['requestBody']> {
  const content = Object.entries(requestBody.content).map(([type, media]) => [
    type,
    // A file cannot be an example.
    type === 'multipart/form-data' ? media : { ...media, example: body ?? exampleOf(media.schema) },
  ]);
  return { ...requestBody, content: Object.fromEntries(content) };
}

const REFUSALS: Readonly<Record<string, Omit<DocumentedResponse, 'content'>>> = {
  '400': { description: 'A value, the body or a header is wrong; the message names it.' },
  '401': {
    description: 'No token where one is needed, or one that is unknown in this shop.',
    headers: {
      'WWW-Authenticate': {
        description: 'The scheme, and what is wrong with the token (RFC 6750).',
        schema: { type: 'string', examples: ['Bearer realm="kontor", error="invalid_token"'] },
      },
    },
  },
  '403': { description: 'The token lacks the scope, or the token of the cart is missing or wrong.' },
  '404': { description: 'The shop, or the resource in this shop, does not exist.' },
  '409': {
    description: 'The change contradicts what is there, or the Idempotency-Key was used for another request.',
  },
  '429': {
    description: 'More calls in this hour than allowed.',
    headers: {
      'Retry-After': {
        description: 'Seconds to wait.',
        schema: { type: 'integer', examples: [120] },
      },
    },
  },
  '410': { description: 'The cart has become an order.' },
  '412': { description: 'It is not what the ETag in `If-Match` stands for.' },
};

const headerOf = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

/** The headers are those of every refusal; named once, because each operation has many. */
const OTHER_REFUSALS = {
  description: 'Any other refusal, with the same body: 405, 406, 413.',
  headers: {
    'X-Error-Code': headerOf('The stable code of the refusal; /docs/errors lists all of them.', 'NOT_FOUND'),
    'X-Error-Field': headerOf(
      'The field of the body, the parameter or the header that the refusal is about, where it is about one.',
      'productId',
    ),
    Link: headerOf('Where the code is documented.', '</docs/errors#not_found>; rel="help"'),
  },
};

const notAcceptableExample = errorBody(
  406,
  new Refusal('NOT_ACCEPTABLE', { types: 'application/vnd.epages.v1+json, application/json' }).message,
  'GET',
  '/rs/shops/DemoShop/products',
);

/** A separate key for each operation, because a key that was used for another request is refused. */
const idempotencyKey = (operationId: string): Parameter => ({
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Any text of your own. The same request with the same key is done once in 24 hours.',
  schema: { type: 'string' },
  example: `my-first-${operationId}`,
});

const CartToken: Parameter = {
  name: 'X-ePages-Cart-Token',
  in: 'header',
  required: true,
  description: 'The token that came in the answer which created the cart.',
  schema: { type: 'string' },
  example: 'UmFuZG9tSVbYnncIV4kUCiM0',
};

const IfMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'One or several ETags that the client has seen, or `*`. If none matches, the answer is 412. Weak tags never match (RFC 9110).',
  schema: { type: 'string' },
  example: '*',
};

/** The subject of each tag; the order in the document is the order in which the modules are registered. */
const TAGS: Readonly<Record<string, string>> = {
  shop: 'Name, addresses and country of the shop.',
  countries: 'The countries that the shop delivers to.',
  carts: 'Carts: lines, coupon, addresses, delivery and payment, and the order that a cart becomes.',
  orders: 'Orders and their states.',
  sales: 'Revenue of orders.',
  reviews: 'What buyers say of products, and what the shop does with it.',
  'coupon-campaigns': 'Coupon campaigns: discounts, validity and codes.',
  currencies: 'The currencies of the shop.',
  locales: 'The languages of the shop.',
  taxes: 'Tax classes, and whether prices contain tax.',
  'shipping-methods': 'Shipping methods, and their lowest prices.',
  categories: 'The category tree.',
  rules:
    'Rules of the merchant that act when something happens or at an hour, if conditions hold, what they have done, and the tasks of the team.',
  'custom fields':
    'What products, categories, customers, carts, orders and the shop may have beyond what all have.',
  'price-lists': 'Prices of customer groups for a time.',
  'access-requests': 'Customers who ask to be let into a shop that is for some groups only.',
  redirects: 'Former addresses of the shop, and where they lead.',
  'product-category-assignments': 'Which products are in which categories.',
  products: 'Products: prices, stock, texts, variations, images.',
  producttypes: 'Product types: the attributes of their products and variations.',
  search: 'Product search with facets, and suggestions while typing.',
  customers: 'The people and companies that buy.',
  legal: 'The six legal pages of the shop, in each of its languages.',
  pages: 'The pages that the shop writes itself: pages, posts, the front page, tops of categories.',
  newsletters: 'Newsletter campaigns and their subscribers.',
  'gift-cards': 'Gift cards and store credit: issuing, blocking and correcting them, and what the shop owes.',
  downloads: 'Files and licence keys that products are delivered as, and what orders have got of them.',
  'script-tags': 'Scripts that an app adds to the pages of the storefront.',
  sandbox: 'The clock and the emails of a sandbox, a copy of a shop for trying things out.',
  audit: 'The audit log: who changed what, and when.',
  events: 'The event log of the shop, in order, readable from any position.',
  webhooks: 'Addresses of an app that are called when something happens in the shop.',
  token: 'The access token of an app that a merchant installs.',
  'app-settings': 'What the merchant has entered into the fields that the manifest of an app declares.',
  'app-calls': 'What an app was asked while customers waited, where it was slow or has failed.',
  'app-payments': 'Payments that an app handles: it reports what became of them.',
  host: 'For who runs the installation: its shops, their owners and domains. Below /host, with tokens of its own: `npx kontor host token create --scopes all`.',
};

/** The names of groups for people, where they are not the words of the tag. */
const TITLES: Readonly<Record<string, string>> = {
  carts: 'Carts and checkout',
  'coupon-campaigns': 'Coupons',
  sales: 'Revenue',
  locales: 'Languages',
  'product-category-assignments': 'Products in categories',
  producttypes: 'Product types',
  search: 'Product search',
  legal: 'Legal pages',
  'script-tags': 'Scripts in the storefront',
  sandbox: 'Sandboxes',
  audit: 'Audit log',
  token: 'Installing an app',
  'app-settings': 'Settings of an app',
  'app-calls': 'Calls of an app',
  'app-payments': 'Payments of an app',
  host: 'Shops of the installation',
};

/** `shipping-methods` becomes `Shipping methods`. */
function titleOf(tag: string): string {
  return tag.charAt(0).toUpperCase() + tag.slice(1).replaceAll('-', ' ');
}

const INTRODUCTION = `Every address begins with \`/rs/shops/{shopId}\`; the demo shop is \`DemoShop\`.

**Token.** Where only your own machine can call, the demo shop has the token \`demo-all\`; elsewhere \`npx kontor token create DemoShop --scopes all\` prints one. Send it as \`Authorization: Bearer TOKEN\`. A token has exactly the scopes it names: a write scope does not include reading. Operations for shoppers (scopes \`products_read\` and \`legal_read\`) also work without a token, unless the shop has turned that off.

    GET /rs/shops/DemoShop/customers
    Authorization: Bearer TOKEN

**Errors** have one body: \`{"message": "HTTP 404 Not Found, Request: GET /rs/shops/DemoShop/x", "status": "Not Found"}\`. A refused value is named: \`Create customer failed:\\n\\tvalidation error MISSING on field billingAddress, Request: ...\`. A resource of another shop is a 404. Each answer also has headers for programs: \`X-Error-Code\` is a stable code such as \`ORDER_CANCELLED\`, \`X-Error-Field\` the field, parameter or header that it is about, and \`Link\` leads to the [page of all codes](/docs/errors). A 404 says \`SHOP_NOT_FOUND\`, \`PATH_NOT_FOUND\` or, for an id, \`NOT_FOUND\`.

**Unknown parameters** of the query are ignored. Where only your own machine can call, the header \`X-Warning\` names them.

**Paging.** Lists take \`page\` (from 1) and \`resultsPerPage\` and answer with \`results\`, \`page\`, \`resultsPerPage\`, \`items\`. A \`resultsPerPage\` above the maximum is lowered to it; a page beyond the end has no items and the true number of results.

**Locale.** \`locale=en_GB\`: language and country. A language alone is a 400; a read with a locale or currency that the shop does not have uses the shop's default.

**Idempotency.** A write with an \`Idempotency-Key\` header happens once: for 24 hours the same request gets the first answer again, with \`Idempotency-Replayed: true\`. Where the answer holds a secret (creating a cart or a webhook), the key is honoured for callers with a token.

**Carts.** Creating a cart returns its token in the header \`X-ePages-Cart-Token\`. Send it with every call on that cart; only operations that name a scope need an access token as well.

**Rate limit.** 6000 calls per hour and token, 36000 per hour and address without one, unless the operator sets other limits. Each answer shows the rest in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`; above the limit, the answer is 429 with \`Retry-After\`.

**Base and Now** are the two product lines of ePages, whose API this is. A client for one of them knows the operations with its label. Kontor has all operations in every shop; the label only shows which ones an existing client may call.

**Examples.** Every example of a request succeeds in the demo shop of a first start, and every example of an error is the actual answer. Deleted or cancelled resources are gone afterwards: delete the folder \`data\` to start again.

**Media types.** Bodies are UTF-8 as \`application/json\`, \`application/vnd.epages.v1+json\` or, for changes, \`application/json-patch+json\`. Answers are \`application/json\`. Reads carry an \`ETag\`; \`If-None-Match\` is answered with 304. Carts have one in every answer: \`POST order\` takes it as \`If-Match\` and is answered with 412 if the cart has changed.`;
