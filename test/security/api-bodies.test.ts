import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoShop, startDemo } from '../demo.ts';
import { MAX_BLOCK, quickestBlock } from '../event-loop.ts';
import { FILLINGS, type Filling } from '../fillings.ts';
import { OPERATIONS, validCall, type Operation } from '../operations.ts';
import { ofTheDay } from '../seed.ts';
import type { Service } from '../service.ts';

/*
 * Every operation that takes a body gets one that is as large as its schema allows: texts as long as they may be, lists
 * with as many entries. The schemas are those of the reference, so that a new operation is tested by itself.
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  maxLength?: number;
  maxItems?: number;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

interface Reference {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

const reference = JSON.parse(
  readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
) as Reference;

/** Texts that say nothing of their length are ids, dates and codes; a body of 1 MB has room for longer ones. */
const UNBOUNDED = 10_000;
/** Of longer lists the body would be too large. */
const MAX_ENTRIES = 200;
const MAX_BYTES = 1_000_000;

let service: Service;
beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
});
afterAll(() => service.close());

const WITH_BODY = OPERATIONS.filter(({ body, multipart, form }) => body && !multipart && !form);

test.each(ofTheDay(Object.entries(FILLINGS), 1))(
  'no body full of %s stops other people',
  async (_name, filling) => {
    const slow: string[] = [];
    for (const operation of WITH_BODY) {
      const { path, search, options } = await validCall(operation, demoShop(service));
      const body = inflatedBody(operation, options.body, filling);
      const ms = await quickestBlock(async () => {
        const { status, text } = await service.call(operation.method, path + search, { ...options, body });
        expect([operation.name, status, status < 500 ? '' : text]).toEqual([operation.name, status, '']);
      });
      if (ms >= MAX_BLOCK) slow.push(`${operation.name}: ${ms.toFixed(0)} ms`);
    }
    expect(slow).toEqual([]);
  },
  300_000,
);

function schemaOf({ method, path }: Operation): Schema {
  const url = path.startsWith('/manage/')
    ? `/manage/shops/{shopId}${path.slice('/manage'.length)}`
    : `/rs/shops/{shopId}${path}`;
  const content = reference.paths[url]?.[method.toLowerCase()]?.requestBody?.content ?? {};
  return Object.values(content)[0]!.schema;
}

/** As large as it may be, within what a request may have. */
function inflatedBody(operation: Operation, body: unknown, filling: Filling): unknown {
  const schema = schemaOf(operation);
  let largest = body;
  for (let share = 1 / 1_024; share <= 1; share *= 2) {
    const inflated = inflate(body, schema, filling, share);
    if (JSON.stringify(inflated).length > MAX_BYTES) break;
    largest = inflated;
  }
  return largest;
}

function inflate(value: unknown, schema: Schema | undefined, filling: Filling, share: number): unknown {
  const { type, maxLength, maxItems, items, properties, enum: allowed, pattern, format } = resolved(schema);
  if (typeof value === 'string') {
    if (allowed || pattern || format || ![type ?? 'string'].flat().includes('string')) return value;
    return filling(Math.ceil((maxLength ?? UNBOUNDED) * share));
  }
  if (Array.isArray(value)) {
    const length = Math.ceil(Math.min(maxItems ?? MAX_ENTRIES, MAX_ENTRIES) * share);
    return Array.from({ length: value.length === 0 ? 0 : Math.max(length, value.length) }, (_, index) =>
      inflate(value[index % value.length], items, filling, share),
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, inflate(one, properties?.[key], filling, share)]),
  );
}

function resolved(schema: Schema = {}): Schema {
  if (schema.$ref === undefined) return schema;
  return reference.components.schemas[schema.$ref.split('/').at(-1)!]!;
}
