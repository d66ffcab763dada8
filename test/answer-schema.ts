import { tracingChannel } from 'node:diagnostics_channel';
import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifyRequest, LightMyRequestResponse } from 'fastify';
import { PROBLEM_CODES } from '../src/http/errors.ts';
import { REFUSALS } from '../src/http/refusals.ts';
import { ErrorBody } from '../src/http/schemas.ts';

const CODES: ReadonlySet<string> = new Set([...Object.keys(REFUSALS), ...Object.keys(PROBLEM_CODES)]);

/** What operations promise, by status; errors have one form everywhere. */
type Responses = Readonly<Record<string, object>>;

/** The promises of the operation that handled a request. Only Fastify knows which one that was. */
const promised = new WeakMap<object, Responses>();

tracingChannel('fastify.request.handler').start.subscribe((message) => {
  const { request } = message as { request: FastifyRequest };
  const { schema } = request.routeOptions;
  if (schema?.response) promised.set(request.raw, schema.response as Responses);
});

const ajv = new Ajv({ strict: false, validateFormats: false, code: { optimize: false } });
/** Every service has schemas of its own, with the same texts. */
const compiledBySchema = new WeakMap<object, ValidateFunction>();
const compiledByText = new Map<string, ValidateFunction>();

function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  let validate = compiledByText.get(text);
  if (!validate) compiledByText.set(text, (validate = ajv.compile(withoutMore(schema))));
  return validate;
}

/**
 * Throws when a JSON answer of the API is not what its operation promises, or says more than that. Compressed ones are
 * compared with plain ones where they are tested.
 */
export function checkAnswer(response: LightMyRequestResponse): void {
  const { method, url } = response.raw.req as { method: string; url: string };
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const isPlain = response.headers['content-encoding'] === undefined;
  if (!/^\/(rs|manage)\//.test(url) || !isJson || !isPlain || response.body === '') return;
  const { statusCode } = response;
  if (statusCode >= 400 && !CODES.has(String(response.headers['x-error-code']))) {
    throw new Error(`${method} ${url} answers ${statusCode} without a code of the catalogue`);
  }
  const schema = statusCode >= 400 ? ErrorBody : promised.get(response.raw.req)?.[String(statusCode)];
  if (!schema) throw new Error(`${method} ${url} answers ${statusCode}, which it does not promise`);
  let validate = compiledBySchema.get(schema);
  if (!validate) compiledBySchema.set(schema, (validate = compile(schema)));
  if (validate(JSON.parse(response.body))) return;
  const [error] = validate.errors!;
  throw new Error(
    `${method} ${url} answers ${statusCode} with a body that is not as promised: ` +
      `${error!.instancePath || 'the body'} ${error!.message} ${JSON.stringify(error!.params)}`,
  );
}

/** The schema, with nothing allowed in an object that it does not name. */
function withoutMore<Value>(schema: Value): Value {
  if (Array.isArray(schema)) return schema.map(withoutMore) as Value;
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutMore(value)]));
  const isOpen = 'properties' in closed && closed['additionalProperties'] === undefined;
  return (isOpen ? { ...closed, additionalProperties: false } : closed) as Value;
}
