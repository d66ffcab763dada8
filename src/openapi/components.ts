import { isDeepStrictEqual } from 'node:util';

/** An OpenAPI 3.1 document, as far as this file uses it. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string; description: string }[];
  tags: { name: string; 'x-displayName': string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    securitySchemes: Record<string, object>;
    parameters: Record<string, Parameter>;
    responses: Record<string, DocumentedResponse>;
    schemas: Record<string, Schema>;
  };
  /** Webhook requests of the service, by event type. */
  webhooks?: Record<string, { post: OpenApiOperation }>;
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, DocumentedResponse | Reference>;
}

export interface DocumentedResponse {
  description: string;
  headers?: Record<string, object>;
  content?: Content;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface Reference {
  $ref: string;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

/** A JSON Schema, with the keywords that hold further schemas. */
export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  examples?: unknown[];
  /** Marks fields that are accepted but not meant to be sent, so the reference omits them. */
  'x-undocumented'?: boolean;
}

/**
 * The same document with names for repeated parts: a schema with a title moves to components/schemas, a parameter of
 * several operations to components/parameters.
 */
export function withNamedParts(document: OpenApiDocument): OpenApiDocument {
  const parameters = { ...document.components.parameters, ...sharedParameters(document) };
  const schemas: Record<string, Schema> = {};

  const namedParameter = (parameter: Parameter | Reference): Parameter | Reference =>
    'name' in parameter && isDeepStrictEqual(parameters[parameter.name], parameter)
      ? { $ref: `#/components/parameters/${parameter.name}` }
      : parameter;
  const namedContent = <Holder extends { content?: Content }>(holder: Holder): Holder =>
    holder.content
      ? {
          ...holder,
          content: mapValues(holder.content, (media) => ({
            ...media,
            schema: namedSchema(media.schema, schemas),
          })),
        }
      : holder;

  const paths = mapValues(document.paths, (item) =>
    mapValues(item, (operation) => ({
      ...operation,
      ...(operation.parameters && { parameters: operation.parameters.map(namedParameter) }),
      ...(operation.requestBody && { requestBody: namedContent(operation.requestBody) }),
      responses: mapValues(operation.responses, (response) =>
        '$ref' in response ? response : namedContent(response),
      ),
    })),
  );
  const responses = mapValues(document.components.responses, namedContent);
  return { ...document, paths, components: { ...document.components, parameters, responses, schemas } };
}

/** Parameters that occur more than once; of two that only share a name, the first. */
function sharedParameters(document: OpenApiDocument): Record<string, Parameter> {
  const all = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => operation.parameters ?? [])
    .filter((parameter) => 'name' in parameter);
  const shared: Record<string, Parameter> = {};
  for (const [index, parameter] of all.entries()) {
    if (all.some((other, at) => at > index && isDeepStrictEqual(other, parameter)))
      shared[parameter.name] ??= parameter;
  }
  return shared;
}

/**
 * A reference to the component of this title, which is added to `schemas` at its first use. Properties of the place
 * (description, examples, nullability) stay beside the reference. A schema that differs from its namesake stays where
 * it is.
 */
function namedSchema(schema: Schema, schemas: Record<string, Schema>): Schema {
  const { description, ...whole } = mapChildren(typed(documented(schema)), (child) =>
    namedSchema(child, schemas),
  );
  if (whole.title === undefined) return { ...(description !== undefined && { description }), ...whole };
  const { examples, ...shape } = { ...whole, title: componentName(whole.title) };
  const there = { ...(description !== undefined && { description }), ...(examples && { examples }) };

  const types = [shape.type ?? []].flat();
  const isNullable = types.length > 1 && types.includes('null');
  const component = isNullable ? { ...shape, type: withoutNull(types) } : shape;
  const name = shape.title;
  const namesake = (schemas[name] ??= component);
  if (!isDeepStrictEqual(namesake, component)) return { ...there, ...shape };
  const reference = { $ref: `#/components/schemas/${name}` };
  return isNullable ? { ...there, anyOf: [reference, { type: 'null' }] } : { ...there, ...reference };
}

function withoutNull(types: string[]): string | string[] {
  const rest = types.filter((type) => type !== 'null');
  return rest.length === 1 ? rest[0]! : rest;
}

/** The schema without the choices that the reference does not offer; a single remaining choice becomes the schema. */
function documented(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  const offered = anyOf?.filter((choice) => !choice['x-undocumented']);
  if (!offered || offered.length === anyOf?.length) return schema;
  return offered.length === 1 ? { ...rest, ...offered[0] } : { ...rest, anyOf: offered };
}

/** TypeBox gives an enumeration no type, so tools that generate types from the document find none. */
function typed(schema: Schema): Schema {
  const isText = schema.type === undefined && schema.enum?.every((value) => typeof value === 'string');
  return isText ? { type: 'string', ...schema } : schema;
}

/** `customer (create request)` is the component `CustomerCreateRequest`, which tools turn into a type. */
function componentName(title: string): string {
  return title.replaceAll(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9]|$)/g, (_gap, next: string) => next.toUpperCase());
}

function mapChildren(schema: Schema, map: (child: Schema) => Schema): Schema {
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  return {
    ...schema,
    ...(properties && { properties: mapValues(properties, map) }),
    ...(items && { items: map(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: map(additionalProperties) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
    ...(oneOf && { oneOf: oneOf.map(map) }),
    ...(allOf && { allOf: allOf.map(map) }),
  };
}

function mapValues<Value, Result>(
  record: Record<string, Value>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
