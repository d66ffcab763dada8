import { readFile } from 'node:fs/promises';
import { validate } from '@scalar/openapi-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorGuide } from '../src/site/docs/error-guide.ts';
import { openapiText, operationsText } from '../src/openapi/document.ts';
import type { OpenApiDocument, Parameter, Schema } from '../src/openapi/components.ts';
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from '../src/platform/events/types.ts';
import { CONTRACT_TYPES } from '../src/apps/webhooks/render.ts';
import { startService, type Service } from './service.ts';

let service: Service;
let text: string;
let document: OpenApiDocument;

beforeAll(async () => {
  service = await startService();
  await service.app.ready();
  text = await openapiText(service.app);
  document = JSON.parse(text) as OpenApiDocument;
});
afterAll(() => service.close());

function operations() {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method,
      name: `${method.toUpperCase()} ${path}`,
      ...(operation as typeof operation & { 'x-scope': string }),
    })),
  );
}

function resolved<Thing extends object>(thing: Thing): Thing {
  if (!('$ref' in thing)) return thing;
  const steps = String(thing.$ref).split('/').slice(1);
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], document) as Thing;
}

describe('openapi.json', () => {
  test('is what the code says', async () => {
    const committed = await readFile(new URL('../openapi.json', import.meta.url), 'utf8').catch(() => '');
    const state = committed === text ? 'fresh' : 'openapi.json is stale: run npm run generate';
    expect(state).toBe('fresh');
  });

  test('and so is the list of operations that the guides show', async () => {
    const committed = await readFile(new URL('../schema/operations.json', import.meta.url), 'utf8').catch(
      () => '',
    );
    const state =
      committed === (await operationsText(service.app)) ? 'fresh' : 'it is stale: run npm run generate';
    expect(state).toBe('fresh');
  });

  test('and so is the guide to its errors', async () => {
    const committed = await readFile(new URL('../docs/errors.md', import.meta.url), 'utf8').catch(() => '');
    expect(committed === errorGuide() ? 'fresh' : 'it is stale: run npm run generate').toBe('fresh');
  });

  test('follows the rules of OpenAPI 3.1', async () => {
    const { valid, errors } = await validate(text);
    expect(errors).toEqual([]);
    expect(valid).toBe(true);
  });

  test('holds the API and nothing else', () => {
    const names = operations().map(({ name }) => name);
    expect(names).toContain('GET /rs/shops/{shopId}');
    expect(names.filter((name) => !/ \/((rs|manage)\/shops\/\{shopId\}|host\/)/.test(name))).toEqual([]);
  });

  test('names every operation once', () => {
    const names = operations().map(({ operationId }) => operationId);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('every reference leads somewhere', () => {
    const broken = [...text.matchAll(/"\$ref": "([^"]+)"/g)]
      .map(([, $ref]) => $ref!)
      .filter(($ref) => resolved({ $ref }) === undefined);
    expect(broken).toEqual([]);
    expect(text).not.toContain('def-');
  });

  test('every component is used', () => {
    const { schemas, parameters, responses } = document.components;
    const unused = Object.entries({ schemas, parameters, responses }).flatMap(([kind, components]) =>
      Object.keys(components)
        .map((name) => `#/components/${kind}/${name}`)
        .filter(($ref) => !text.includes(`"$ref": "${$ref}"`)),
    );
    expect(unused).toEqual([]);
  });

  test('declares the parameters of every path', () => {
    const declared = operations().map(({ name, parameters = [] }) => [
      name,
      ...parameters
        .map((parameter) => resolved(parameter) as Parameter)
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name),
    ]);
    const used = operations().map(({ name, path }) => [
      name,
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter),
    ]);
    expect(declared).toEqual(used);
  });

  test('says of every operation what it is and who may call it', () => {
    const security = { none: [], anonymous: [{ token: [] }, {}], token: [{ token: [] }] };
    for (const operation of operations()) {
      const scope = operation['x-scope'];
      const isAnonymous = scope === 'products_read' || scope === 'legal_read';
      const needsAnyToken = ANY_TOKEN.has(operation.tags[0]!);
      expect(operation).toMatchObject({
        summary: expect.stringMatching(/^[A-Z]/),
        description: expect.stringContaining(needsAnyToken ? 'Needs a token;' : `Scope: ${scope}.`),
        tags: [expect.any(String)],
        'x-labels': expect.any(Array),
        security:
          security[needsAnyToken ? 'token' : scope === 'none' ? 'none' : isAnonymous ? 'anonymous' : 'token'],
      });
    }
  });

  const HAVE_FIELDS = new Set(['order', 'product', 'customer', 'shop']);

  test('describes the call of every type of event, with a body whose fields have descriptions and examples', () => {
    expect(Object.keys(document.webhooks!)).toEqual(EVENT_TYPE_NAMES);
    for (const [type, { post }] of Object.entries(document.webhooks!)) {
      const { properties } = post.requestBody!.content['application/json']!.schema;
      const isOfContract = CONTRACT_TYPES.has(type as EventType);
      expect(Object.keys(properties!)).toEqual([
        'id',
        'baseUrl',
        'entityUrl',
        'createdOn',
        'eventType',
        'entity',
        ...(HAVE_FIELDS.has(EVENT_TYPES[type as EventType].resource) ? ['fields'] : []),
        ...(EVENT_TYPES[type as EventType].resource === 'order' ? ['deliveryOption'] : []),
        ...(isOfContract ? [] : ['data']),
      ]);
      for (const field of Object.values(properties!)) {
        expect([type, hasDescription(field), hasExample(field)]).toEqual([type, true, true]);
      }
    }
  });

  test('describes every tag', () => {
    const silent = document.tags
      .filter(({ description }) => description === '')
      .map(({ name }) => `add a description of ${name} to TAGS in src/openapi/document.ts`);
    expect(silent).toEqual([]);
  });

  test('no two different schemas share a title', () => {
    const inline: string[] = [];
    eachSchema((schema, at) => {
      if (schema.title !== undefined && !/^#\/components\/schemas\/\w+$/.test(at)) {
        inline.push(`${at}: another schema is called ${JSON.stringify(schema.title)}`);
      }
    });
    expect(inline).toEqual([]);
  });

  test('names components as types are named', () => {
    const names = Object.keys(document.components.schemas);
    expect(names).toEqual(expect.arrayContaining(['Cart', 'OrderSummary', 'Price', 'ProductLineItem']));
    expect(names.filter((name) => !/^([A-Z][a-z]+)+$/.test(name))).toEqual([]);
  });

  test('has one type for an amount with its currency', () => {
    const amounts = new Set<string>();
    eachSchema(({ properties = {} }, at) => {
      if ('amount' in properties && 'currency' in properties) amounts.add(at);
    });
    expect([...amounts]).toEqual(['#/components/schemas/Price']);
  });

  test('every field has a type', () => {
    const untyped = new Set<string>();
    eachSchema((schema, at) => {
      const { $ref, type, enum: choices, anyOf } = schema;
      // What a record holds under any name has no type of its own.
      if (!$ref && !type && !choices && !anyOf && !at.endsWith('{}')) untyped.add(at);
    });
    // The value depends on the path.
    expect([...untyped]).toEqual(['#/components/schemas/JsonPatchOperation.value']);
  });

  test('every field has a description and an example', () => {
    const missing: string[] = [];
    eachSchema((schema, at) => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        if (!hasDescription(field)) missing.push(`${at}.${name} has no description`);
        if (!hasExample(field)) missing.push(`${at}.${name} has no example`);
      }
    });
    expect(missing).toEqual([]);
  });

  test('every parameter has a description and an example', () => {
    const missing: string[] = [];
    for (const { name, parameters = [] } of operations()) {
      for (const parameter of parameters.map((one) => resolved(one) as Parameter)) {
        if (!parameter.description) missing.push(`${name}: ${parameter.name} has no description`);
        if (parameter.example === undefined) missing.push(`${name}: ${parameter.name} has no example`);
      }
    }
    expect(missing).toEqual([]);
  });
});

/** Whose scopes decide what is shown. */
const ANY_TOKEN = new Set([
  'app-calls',
  'app-payments',
  'app-settings',
  'custom fields',
  'events',
  'rules',
  'webhooks',
]);

function hasDescription(field: Schema): boolean {
  return Boolean(field.description ?? resolved(field).description);
}

/** Of an object or a list of objects the fields have examples, and are looked at themselves. */
function hasExample(field: Schema): boolean {
  const schema = resolved(field);
  if ((field.examples ?? schema.examples ?? []).length > 0) return true;
  if (schema.properties) return true;
  if (schema.items) return hasExample(schema.items);
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(({ type }) => type !== 'null');
  return choices.length > 0 && choices.every(hasExample);
}

/** Calls `look` with every schema of the document and its place. */
function eachSchema(look: (schema: Schema, at: string) => void): void {
  const walk = (schema: Schema, at: string) => {
    look(schema, at);
    const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
    for (const [name, child] of Object.entries(properties)) walk(child, `${at}.${name}`);
    if (items) walk(items, `${at}[]`);
    if (typeof additionalProperties === 'object') walk(additionalProperties, `${at}{}`);
    for (const child of [...anyOf, ...oneOf, ...allOf]) walk(child, at);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    walk(schema, `#/components/schemas/${name}`);
  }
  for (const { name, requestBody, responses } of operations()) {
    const answers = Object.values(responses).map((response) =>
      '$ref' in response ? undefined : response.content,
    );
    for (const content of [requestBody?.content, ...answers]) {
      for (const { schema } of Object.values(content ?? {})) walk(schema, name);
    }
  }
}

describe('GET /openapi.json', () => {
  test('serves the same document, and 304 to who has it', async () => {
    const first = await service.app.inject({ url: '/openapi.json' });
    expect(first.statusCode).toBe(200);
    expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(first.json()).toEqual(document);
    const again = await service.app.inject({
      url: '/openapi.json',
      headers: { 'if-none-match': String(first.headers.etag) },
    });
    expect(again.statusCode).toBe(304);
    expect(again.body).toBe('');
  });
});
