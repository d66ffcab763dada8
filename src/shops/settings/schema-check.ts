import type { TSchema } from 'typebox';

/*
 * Checks a value by the schema of the settings without compiling it. A compiled check is faster by a millisecond, but a
 * schema of this size takes most of a second to compile, in which nobody else is served, and names the first problems
 * only after all of them. A test compares what is found here with what Ajv finds.
 */

/** The part of JSON Schema that the settings use: `KEYWORDS` are all of them. */
export interface SchemaPart {
  type?: string | string[];
  enum?: unknown[];
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  maxItems?: number;
  items?: SchemaPart;
  minProperties?: number;
  required?: string[];
  properties?: Record<string, SchemaPart>;
  patternProperties?: Record<string, SchemaPart>;
  additionalProperties?: false;
  $ref?: string;
  definitions?: Record<string, SchemaPart>;
  description?: string;
  examples?: unknown[];
}

/** Keywords that refuse values, and those that only describe them. */
export const KEYWORDS = {
  checked: [
    'type',
    'enum',
    'pattern',
    'maxLength',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'minItems',
    'maxItems',
    'items',
    'minProperties',
    'required',
    'properties',
    'patternProperties',
    'additionalProperties',
    '$ref',
  ],
  describing: ['$schema', 'definitions', 'title', 'description', 'examples', 'default', 'format'],
};

type Limit =
  | 'maxLength'
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'minItems'
  | 'maxItems'
  | 'minProperties';

/** What of a schema a value violates, and where. */
export type Violation = {
  path: readonly (string | number)[];
  value: unknown;
  schema: SchemaPart;
} & (
  | { keyword: 'type' | 'pattern' }
  | { keyword: 'enum'; allowed: readonly unknown[] }
  | { keyword: Limit; limit: number }
  /** The key is unknown, or missing. */
  | { keyword: 'additionalProperties' | 'required'; key: string }
);

type Path = readonly (string | number)[];

/**
 * The violations one by one, so that who has seen enough stops. Of a value of the wrong type, nothing else is said.
 */
export function violations(schema: TSchema, value: unknown): Generator<Violation> {
  return violationsIn(schema, value, [], schema);
}

function* violationsIn(
  given: SchemaPart,
  value: unknown,
  path: Path,
  root: SchemaPart,
): Generator<Violation> {
  const schema = resolved(given, root);
  const found = { path, value, schema };
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOfType(value, type))) {
    yield { ...found, keyword: 'type' };
    return;
  }
  if (schema.enum && !schema.enum.includes(value)) yield { ...found, keyword: 'enum', allowed: schema.enum };
  if (typeof value === 'number') {
    for (const keyword of ['maximum', 'minimum', 'exclusiveMinimum'] as const) {
      const limit = schema[keyword];
      if (limit !== undefined && !isWithin(value, keyword, limit)) yield { ...found, keyword, limit };
    }
  } else if (typeof value === 'string') {
    const { maxLength, pattern } = schema;
    if (maxLength !== undefined && isLonger(value, maxLength))
      yield { ...found, keyword: 'maxLength', limit: maxLength };
    if (pattern !== undefined && !expressionOf(pattern).test(value)) yield { ...found, keyword: 'pattern' };
  } else if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Infinity, items } = schema;
    if (value.length > maxItems) yield { ...found, keyword: 'maxItems', limit: maxItems };
    if (value.length < minItems) yield { ...found, keyword: 'minItems', limit: minItems };
    if (items) {
      for (const [index, item] of value.entries()) yield* violationsIn(items, item, [...path, index], root);
    }
  } else if (typeof value === 'object' && value !== null) {
    yield* violationsOfKeys(schema, value as Record<string, unknown>, path, root);
  }
}

function* violationsOfKeys(
  schema: SchemaPart,
  value: Record<string, unknown>,
  path: Path,
  root: SchemaPart,
): Generator<Violation> {
  const { minProperties = 0, required = [], properties = {}, additionalProperties } = schema;
  const found = { path, value, schema };
  const keys = Object.keys(value);
  if (keys.length < minProperties) yield { ...found, keyword: 'minProperties', limit: minProperties };
  for (const key of required) {
    if (!Object.hasOwn(value, key) || value[key] === undefined) yield { ...found, keyword: 'required', key };
  }
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([pattern, part]) => [expressionOf(pattern), part] as const,
  );
  if (additionalProperties === false) {
    for (const key of keys) {
      const isKnown = Object.hasOwn(properties, key) || patterns.some(([pattern]) => pattern.test(key));
      if (!isKnown) yield { ...found, keyword: 'additionalProperties', key };
    }
  }
  for (const [key, part] of Object.entries(properties)) {
    // A file that code has made may have a key without a value.
    if (Object.hasOwn(value, key) && value[key] !== undefined)
      yield* violationsIn(part, value[key], [...path, key], root);
  }
  for (const [pattern, part] of patterns) {
    for (const key of keys) {
      if (pattern.test(key)) yield* violationsIn(part, value[key], [...path, key], root);
    }
  }
}

/** The settings refer to their own definitions only. */
function resolved(schema: SchemaPart, { definitions = {} }: SchemaPart): SchemaPart {
  const { $ref } = schema;
  return $ref === undefined ? schema : definitions[$ref.replace('#/definitions/', '')]!;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return false;
  }
}

function isWithin(
  value: number,
  keyword: 'maximum' | 'minimum' | 'exclusiveMinimum',
  limit: number,
): boolean {
  if (keyword === 'maximum') return value <= limit;
  return keyword === 'minimum' ? value >= limit : value > limit;
}

/** Counted in characters, of which some are two units of a text. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  return Array.from(text).length > limit;
}

/** As many as the schemas have patterns. */
const expressions = new Map<string, RegExp>();

function expressionOf(pattern: string): RegExp {
  let expression = expressions.get(pattern);
  if (!expression) expressions.set(pattern, (expression = new RegExp(pattern, 'u')));
  return expression;
}
