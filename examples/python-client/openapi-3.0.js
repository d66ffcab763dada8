/**
 * Writes the operations at /manage as an OpenAPI 3.0 document, for generators that do not read 3.1:
 *
 *     node examples/python-client/openapi-3.0.js http://localhost:8080/openapi.json openapi-3.0.json
 */
import { readFile, writeFile } from 'node:fs/promises';

/** Keywords of 3.1 without an equal, and patterns, which generators read in their own dialects. */
const LEFT_OUT = new Set(['pattern', 'patternProperties', 'propertyNames', 'examples', 'const', 'webhooks']);

const [, , source = 'http://localhost:8080/openapi.json', target = 'openapi-3.0.json'] = process.argv;
const text = source.startsWith('http') ? await (await fetch(source)).text() : await readFile(source, 'utf8');
const document = JSON.parse(text);
const paths = Object.entries(document.paths).filter(([path]) => path.startsWith('/manage/'));
const manage = { ...document, openapi: '3.0.3', paths: Object.fromEntries(paths) };
await writeFile(target, JSON.stringify(downgraded(manage), null, 2));

function downgraded(value) {
  if (Array.isArray(value)) return value.map(downgraded);
  if (typeof value !== 'object' || value === null) return value;
  // Nothing stands beside a reference in 3.0.
  if (typeof value.$ref === 'string') return { $ref: value.$ref };
  const entries = Object.entries(value).filter(([key, entry]) => !isLeftOut(key, entry));
  const result = Object.fromEntries(entries.map(([key, entry]) => [key, downgraded(entry)]));
  const isOfSchema = (key) => !('properties' in value && key in value.properties);
  if (Array.isArray(value.type)) Object.assign(result, typeOf(value.type));
  if (Array.isArray(value.anyOf) && isOfSchema('anyOf')) Object.assign(result, choiceOf(result.anyOf));
  if ('anyOf' in result && result.anyOf === undefined) delete result.anyOf;
  // It is nullable already.
  if (Array.isArray(value.enum)) result.enum = value.enum.filter((one) => one !== null);
  // A list of anything.
  if (result.items && Object.keys(result.items).length === 0) result.items = { type: 'object' };
  if ('const' in value && typeof value.const !== 'object') result.enum = [value.const];
  return result;
}

/** A property may have the name of a keyword; its value is a schema then. */
function isLeftOut(key, entry) {
  const isSchema =
    typeof entry === 'object' && entry !== null && !Array.isArray(entry) && 'description' in entry;
  return LEFT_OUT.has(key) && !isSchema;
}

function typeOf(types) {
  const others = types.filter((one) => one !== 'null');
  // A number that may be a text is sent as a text.
  const type = others.includes('string') ? 'string' : others[0];
  return { type, ...(types.includes('null') && { nullable: true }) };
}

/** Of several, the first: generators make a class of each choice, which takes no plain value. */
function choiceOf(choices) {
  const first = choices.find(({ type }) => type !== 'null');
  const nullable = choices.some(({ type }) => type === 'null') && { nullable: true };
  return { anyOf: undefined, ...(first.$ref ? { allOf: [first] } : first), ...nullable };
}
