import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Parameter, Schema } from './components.ts';

/**
 * Examples of requests that succeed in the demo shop. `test/examples.test.ts` sends each of them. The ids are those of
 * `src/commands/demo/demo-ids.ts`, which are the same on every machine.
 */
export interface RequestExample {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  cartToken?: string;
  /** Path parameters that come from the answer of another operation, by the name of that operation. */
  from?: Readonly<Record<string, string>>;
  /** Why it does not succeed in the demo shop. */
  unavailable?: string;
}

interface ExampleFile {
  /** By the name of the parameter, for all operations that do not say otherwise. */
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** The id of a cart that has become an order. */
  orderedCart: string;
  operations: Readonly<Record<string, RequestExample>>;
}

/** In the root folder, where the compiled program finds it as well. */
const FILE = new URL('../../assets/api-examples.yaml', import.meta.url);

/** The example of an operation, completed by the shared values. */
export type OperationExample = RequestExample & { orderedCart: string };

/** Returns a function that adds the examples. */
export function readExamples(): (operationId: string) => OperationExample {
  const { path, query, orderedCart, operations } = parse(readFileSync(FILE, 'utf8'), {
    merge: true,
  }) as ExampleFile;
  return (operationId) => {
    const own = operations[operationId] ?? {};
    return { ...own, orderedCart, path: { ...path, ...own.path }, query: { ...query, ...own.query } };
  };
}

/** The parameter with the value that works in the demo shop. */
export function withExample(
  parameter: Parameter,
  { path = {}, query = {}, cartToken, from = {} }: RequestExample,
): Parameter {
  const { name, in: place } = parameter;
  const known = place === 'path' ? path : place === 'query' ? query : {};
  const source = from[name];
  return {
    ...parameter,
    ...(source !== undefined && {
      description: `${parameter.description} Take it from the answer of ${source}.`,
    }),
    ...(name in known && { example: known[name] }),
    ...(name === 'X-ePages-Cart-Token' && cartToken !== undefined && { example: cartToken }),
  };
}

/** The first example of each field of a schema. */
export function exampleOf(schema: Schema & { enum?: unknown[]; const?: unknown }): unknown {
  const { examples, enum: values, properties, items, anyOf, oneOf } = schema;
  if (examples && examples.length > 0) return examples[0];
  if (schema.const !== undefined) return schema.const;
  if (values) return values[0];
  if (properties) {
    const fields = Object.entries(properties).map(([name, field]) => [name, exampleOf(field)] as const);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (items) {
    const entry = exampleOf(items);
    return entry === undefined ? undefined : [entry];
  }
  const choice = (anyOf ?? oneOf ?? []).find(({ type }) => type !== 'null');
  return choice && exampleOf(choice);
}
