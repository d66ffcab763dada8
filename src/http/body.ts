import { isUtf8 } from 'node:buffer';
import querystring from 'node:querystring';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from './errors.ts';

/** The body types of a route: JSON (the default), a form whose keys JSON may carry as well, or a form with a file. */
export type BodyKind = 'json' | 'form' | 'multipart';

export const JSON_TYPES = [
  'application/json',
  'application/json-patch+json',
  'application/vnd.epages.v1+json',
] as const;
export const FORM_TYPE = 'application/x-www-form-urlencoded';

export const ACCEPTED_TYPES: Readonly<Record<BodyKind, readonly string[]>> = {
  json: JSON_TYPES,
  form: [FORM_TYPE, JSON_TYPES[0]],
  multipart: ['multipart/form-data'],
};

export const BODY_LIMIT = 1_048_576;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A form of our own pages, as browsers send it. */
    takesForm?: boolean;
    /** Maximum number of values of a form, where it is higher than usual. */
    maxFormValues?: number | undefined;
  }
}

/** No body of the contract comes near it, and recursion over a body (JSON.stringify) must not overflow the stack. */
const DEEPEST = 50;

/**
 * 500 line items or patch operations have a few thousand values. A body of 1 MB can have 300,000 and more, which would
 * take the processor for a third of a second.
 */
const MAX_VALUES = 30_000;

/** Assigning products to categories takes 1,000 ids of each. */
const MAX_FORM_VALUES = 3_000;

/** For a body whose type the route does not take. */
export function wrongContentType(accepts: BodyKind = 'json') {
  return new Refusal('CONTENT_TYPE_NOT_ACCEPTED', { types: ACCEPTED_TYPES[accepts].join(', ') });
}

/** The parsers of request bodies. Fastify refuses other types; the error handler turns that into a 400. */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([...JSON_TYPES], { parseAs: 'buffer' }, (request, bytes, done) =>
    parsed(request, bytes as Buffer, parseJson, done),
  );
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, (request, bytes, done) =>
    parsed(request, bytes as Buffer, (form) => parseForm(request, form), done),
  );
}

function parsed(
  request: FastifyRequest,
  bytes: Buffer,
  parse: (bytes: Buffer) => unknown,
  done: (error: Error | null, body?: unknown) => void,
): void {
  // Old clients send a body, or only its Content-Type, where none is taken (DELETE, an order): neither may fail.
  if (bytes.length === 0 || request.method === 'DELETE') return done(null, undefined);
  try {
    done(null, readBody(bytes, parse));
  } catch (error) {
    // Read only now, because Fastify creates the object again each time.
    if (request.routeOptions.schema?.body) done(error as Error);
    else done(null, undefined);
  }
}

function readBody(bytes: Buffer, parse: (bytes: Buffer) => unknown): unknown {
  if (!isUtf8(bytes)) throw new Refusal('BODY_NOT_UTF8');
  const body = parse(bytes);
  refuseUnstorableText(body, bytes);
  return body;
}

/** A body of JSON, for routes that need its bytes as well. */
export const parseJsonBody = (bytes: Buffer) => readBody(bytes, parseJson);

function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  refuseCostly(text);
  try {
    return JSON.parse(text, dropPrototype(text));
  } catch (error) {
    throw new Refusal('BODY_NOT_JSON', { reason: (error as Error).message.slice(0, 120) });
  }
}

/** Where JSON is expected, the keys of a form would look like an object without any known key. */
function parseForm(request: FastifyRequest, bytes: Buffer): unknown {
  const { operation, takesForm, maxFormValues = MAX_FORM_VALUES } = request.routeOptions.config;
  if (operation?.accepts !== 'form' && !takesForm) throw wrongContentType(operation?.accepts);
  blankPlusSigns(bytes);
  const text = bytes.toString('utf8');
  if (text.split('&', maxFormValues + 1).length > maxFormValues) {
    throw new Refusal('BODY_WITH_TOO_MANY_FIELDS', { limit: maxFormValues });
  }
  // Without a limit of its own, which would silently drop the rest of a long form.
  return { ...querystring.parse(text, '&', '=', { maxKeys: 0 }) };
}

/**
 * A plus sign of a form is a blank. The parser would replace them one by one, which takes 100 ms for a megabyte of them.
 * In UTF-8 no other character has this byte.
 */
function blankPlusSigns(form: Buffer): void {
  for (let at = 0; at < form.length; at++) {
    if (form[at] === PLUS) form[at] = BLANK;
  }
}

const PLUS = 43;
const BLANK = 32;

/** Counts levels and values in the text before parsing. Strings are skipped. */
function refuseCostly(text: string): void {
  let depth = 0;
  let deepest = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at + 1);
    } else if (code === COMMA) {
      values++;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  if (deepest > DEEPEST) {
    if (depth !== 0) throw new Refusal('BODY_NOT_JSON', { reason: 'its brackets do not match' });
    throw new Refusal('BODY_TOO_DEEP', { limit: DEEPEST });
  }
  if (values > MAX_VALUES) throw new Refusal('BODY_WITH_TOO_MANY_VALUES', { limit: MAX_VALUES });
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The position of the quote that ends a string: the next one without an unescaped backslash before it. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** `__proto__` as a key is an attack, never data; the reviver is slow, so it runs only for texts that hold it. */
function dropPrototype(text: string): ((key: string, value: unknown) => unknown) | undefined {
  if (!/__proto__|\\u005f/i.test(text)) return undefined;
  return (key, value) => (key === '__proto__' ? undefined : value);
}

/** PostgreSQL can't store U+0000 or half a surrogate pair. Both can only come in as escapes. */
function refuseUnstorableText(body: unknown, bytes: Buffer): void {
  if (!bytes.includes('\\u') && !bytes.includes('%00') && !bytes.includes(0)) return;
  const open = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
      throw new Refusal('BODY_NOT_UNICODE');
    }
    if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) open.push(key, inner);
    }
  }
}
