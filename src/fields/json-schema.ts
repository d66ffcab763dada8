/**
 * The part of JSON Schema that custom fields take: nothing in it runs for longer than the value is large, so there are
 * no regular expressions, no references and no alternatives.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const MAX_DEPTH = 8;
const MAX_PROPERTIES = 100;
const MAX_CHOICES = 200;

type Check = (value: unknown, depth: number) => boolean;

const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isText: Check = (value) => typeof value === 'string' && value.length <= 1_000;
const isNumber: Check = (value) => typeof value === 'number';

/** Each word of a schema, and whether its value is valid. */
const KEYWORDS: Readonly<Record<string, Check>> = {
  type: (value) => TYPES.includes(value as string),
  title: isText,
  description: isText,
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= MAX_CHOICES && value.every(isScalar),
  minimum: isNumber,
  maximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  items: isSchema,
  properties: (value, depth) =>
    isObject(value) &&
    Object.keys(value).length <= MAX_PROPERTIES &&
    Object.values(value).every((schema) => isSchema(schema, depth + 1)),
  required: (value) =>
    Array.isArray(value) && value.length <= MAX_PROPERTIES && value.every((name) => typeof name === 'string'),
  additionalProperties: (value) => typeof value === 'boolean',
};

function isSchema(value: unknown, depth = 0): value is JsonSchema {
  if (!isObject(value) || depth > MAX_DEPTH) return false;
  return Object.entries(value).every(
    ([word, given]) => Object.hasOwn(KEYWORDS, word) && KEYWORDS[word]!(given, depth + 1),
  );
}

/** Whether this is a schema that values can be checked against. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return isSchema(value);
}

/** Whether a value is as a schema demands, which `isJsonSchema` has accepted. */
export function matchesSchema(value: unknown, schema: JsonSchema): boolean {
  const {
    type,
    enum: choices,
    minimum,
    maximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
  } = schema as {
    type?: string;
    enum?: unknown[];
  } & Partial<Record<'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems', number>>;
  if (type !== undefined && !isOfType(value, type)) return false;
  if (choices && !choices.includes(value)) return false;
  if (typeof value === 'number') return isWithin(value, minimum, maximum);
  if (typeof value === 'string') return isWithin(value.length, minLength, maxLength);
  if (Array.isArray(value)) {
    const items = schema['items'] as JsonSchema | undefined;
    return (
      isWithin(value.length, minItems, maxItems) &&
      (!items || value.every((item) => matchesSchema(item, items)))
    );
  }
  return !isObject(value) || hasProperties(value, schema);
}

function hasProperties(value: Readonly<Record<string, unknown>>, schema: JsonSchema): boolean {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (schema['required'] ?? []) as readonly string[];
  if (!required.every((name) => Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, part]) =>
    Object.hasOwn(properties, name)
      ? matchesSchema(part, properties[name]!)
      : schema['additionalProperties'] !== false,
  );
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

function isWithin(size: number, min = -Infinity, max = Infinity): boolean {
  return size >= min && size <= max;
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
