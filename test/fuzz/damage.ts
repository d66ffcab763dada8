import type { InjectOptions } from 'fastify';
import type { Random } from './random.ts';

/** A request before and after it was damaged. */
export interface FuzzRequest {
  method: string;
  /** `/rs/shops/DemoShop/products`, without the query. */
  path: string;
  /** Without the question mark. */
  query: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

export function injected({ method, path, query, headers, body }: FuzzRequest): InjectOptions {
  return {
    method,
    url: query === '' ? path : `${path}?${query}`,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  };
}

/** What the damage may use of the operation and of all others. */
export interface Vocabulary {
  /** The query parameters that the operation declares. */
  parameters: readonly string[];
  /** Those of all operations. */
  allParameters: readonly string[];
  /** Names of keys in all bodies. */
  keys: readonly string[];
  /** Other tokens: with few scopes, of another shop. */
  tokens: readonly string[];
}

const LONG = 5_000;

const TEXTS: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1',
  '1.5',
  '1e5',
  '1e400',
  '99999999999999999999',
  '2147483648',
  '9223372036854775808',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  'false',
  'yes',
  '[]',
  '{}',
  '[object Object]',
  "'",
  '"',
  "' or 1=1 --",
  '\\',
  '%',
  '_',
  '*',
  '..',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  '<script>alert(1)</script>',
  '${7*7}',
  '\u202e\u0627\u0644',
  'e\u0301'.repeat(50),
  '\u{1f600}',
  '\u00df\u0130\u0131',
  '\ufeff',
  '\u2028',
  '\u0007',
  'en_GB',
  'en',
  'xx_XX',
  'de_DE',
  'EUR',
  'GBP',
  'XXX',
  'eur',
  '2026-11-15',
  '2026-02-30',
  '2026-13-45T99:99:99Z',
  '-000001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E',
  '00000000-0000-0000-0000-000000000000',
  'a@b',
  'a@b.example',
  'https://cdn.example/x.js',
  'javascript:alert(1)',
  'asc',
  'desc',
  'name',
  'price',
  'AND & | ! ( ) : *',
  '"open phrase',
  'x'.repeat(LONG),
  ' '.repeat(LONG),
  '('.repeat(1_000),
  'a '.repeat(1_000),
];

const NUMBERS: readonly unknown[] = [
  0,
  -0,
  -1,
  1,
  0.1,
  1.005,
  -1.5,
  1e-7,
  Number.MIN_VALUE,
  1e21,
  1e308,
  -1e308,
  2_147_483_647,
  2_147_483_648,
  Number.MAX_SAFE_INTEGER + 1,
  100,
  1_000_000,
  1e12,
  99_999_999_999.99,
];

const BYTES: readonly Buffer[] = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0]),
  Buffer.from('\r\n'),
  Buffer.from('"'),
  Buffer.from('}'),
  Buffer.from('%zz'),
  Buffer.from('\\u0000'),
  Buffer.from('\\ud800'),
];

/** Texts that are damaged as they stand in an address. */
const ENCODED: readonly string[] = [
  '%',
  '%0',
  '%zz',
  '%ff',
  '%c0%80',
  '%00',
  '%2f',
  '%2e%2e%2f',
  '%0d%0a',
  '%ed%a0%80',
  '+',
  '&',
  '=',
  '%25',
  '%F0%9F%98%80',
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

const ACCEPTS = [
  '*/*',
  'application/json',
  'application/vnd.epages.v1+json',
  'text/csv',
  'text/xml',
  '',
  ',',
  'application/json;q=0',
  'application/json;q=',
  '*/*;q=0.0000',
  'x'.repeat(LONG),
  `text/html,${'a/b,'.repeat(500)}`,
  'application/*',
  '/',
  ';',
] as const;

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json-patch+json',
  'application/vnd.epages.v1+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=x',
  `multipart/form-data; boundary=${'x'.repeat(200)}`,
  'text/xml',
  'text/plain',
  '',
  ';',
  '/',
  'application/json,application/json',
  'x'.repeat(1_000),
] as const;

const AUTHORIZATIONS = [
  '',
  'Bearer',
  'Bearer ',
  'Bearer x',
  'bearer x y',
  'Basic dXNlcjpwYXNz',
  'Bearer demo-all',
  'Bearer "x"',
  `Bearer ${'x'.repeat(256)}`,
  `Bearer ${'x'.repeat(LONG)}`,
  'Bearer \u00ff',
] as const;

const KEYS = ['once', 'x'.repeat(255), 'x'.repeat(256), '', ' ', 'a b', '\u00e9', '"'] as const;

const HEADERS: readonly Record<string, string>[] = [
  { 'if-none-match': '*' },
  { 'if-none-match': '"'.repeat(1_000) },
  { 'if-none-match': 'W/"x", "y"' },
  { 'x-forwarded-for': '192.0.2.1, x, ,' },
  { 'x-forwarded-proto': 'javascript' },
  { 'x-forwarded-host': 'a b' },
  { forwarded: 'for="_x"' },
  { host: 'bad host' },
  { host: '' },
  { host: '[::1' },
  { origin: 'https://else.example' },
  { origin: 'null' },
  { 'accept-language': '\u00ff' },
  { 'accept-encoding': 'gzip;q=x' },
  { 'x-request-id': '\u00e9'.repeat(100) },
  { 'x-http-method-override': 'DELETE' },
  { 'content-length': '0' },
  { 'content-length': '5' },
  { 'content-length': '99999999999' },
  { 'content-length': 'x' },
  { expect: '100-continue' },
  { range: 'bytes=0-' },
  { cookie: 'visit=%; ;=' },
  { 'user-agent': '' },
  { 'content-encoding': 'gzip' },
];

/** One to four mistakes in a request that was right. */
export function damaged(random: Random, request: FuzzRequest, vocabulary: Vocabulary): FuzzRequest {
  let result = { ...request, headers: { ...request.headers } };
  const mistakes = 1 + Math.floor(random.next() ** 2 * 4);
  for (let at = 0; at < mistakes; at++) result = oneMistake(random, result, vocabulary);
  return result;
}

function oneMistake(random: Random, request: FuzzRequest, vocabulary: Vocabulary): FuzzRequest {
  const kind = random.next();
  if (kind < 0.4) return { ...request, query: damagedQuery(random, request.query, vocabulary) };
  if (kind < 0.78) {
    if (request.body === undefined && random.chance(0.8)) {
      return { ...request, query: damagedQuery(random, request.query, vocabulary) };
    }
    return { ...request, body: damagedBody(random, request, vocabulary) };
  }
  if (kind < 0.94) return { ...request, headers: damagedHeaders(random, request.headers, vocabulary) };
  if (kind < 0.98) return { ...request, path: damagedPath(random, request.path) };
  return { ...request, method: random.pick(METHODS) };
}

function damagedQuery(random: Random, query: string, vocabulary: Vocabulary): string {
  const pairs = query === '' ? [] : query.split('&');
  const name = () =>
    random.chance(0.7) && vocabulary.parameters.length > 0
      ? random.pick(vocabulary.parameters)
      : random.pick([...vocabulary.allParameters, ...UNKNOWN_PARAMETERS]);
  const value = () =>
    random.chance(0.15) ? random.pick(ENCODED) : encodeURIComponent(wellFormed(random.pick(TEXTS)));
  const choice = random.below(8);
  if (choice === 0 && pairs.length > 0) {
    // The same again, with the same value or with another.
    const [first = ''] = random.pick(pairs).split('=');
    pairs.push(`${first}=${value()}`);
  } else if (choice === 1) {
    const twice = name();
    pairs.push(`${twice}=${value()}`, `${twice}=${value()}`);
  } else if (choice === 2) {
    pairs.push(random.pick([`${name()}=`, name(), `=${value()}`, '', '&&', '=']));
  } else if (choice === 3 && pairs.length > 0) {
    pairs.splice(random.below(pairs.length), 1);
  } else if (choice === 4 && pairs.length > 0) {
    const at = random.below(pairs.length);
    pairs[at] = `${pairs[at]!.split('=')[0]}=${value()}`;
  } else {
    const at = random.below(pairs.length + 1);
    pairs.splice(
      at,
      0,
      `${name()}${random.chance(0.05) ? random.pick(['[]', '[x]', '.x', '%5B0%5D']) : ''}=${value()}`,
    );
  }
  return pairs.join('&');
}

const UNKNOWN_PARAMETERS = [
  'unknown',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '%F0%9F%98%80',
  'x'.repeat(500),
];

function damagedBody(
  random: Random,
  { body, headers }: FuzzRequest,
  vocabulary: Vocabulary,
): string | Buffer | undefined {
  if (body === undefined) return random.pick(['', '{}', '[]', '{', 'null', 'x'.repeat(LONG)]);
  const choice = random.next();
  if (choice < 0.05)
    return random.pick([undefined, '', 'null', '[]', '{}', '"x"', '0', 'true', '[[]]', '[null]', '{"":0}']);
  const isJson = (headers['content-type'] ?? 'application/json').includes('json');
  if (choice < 0.75 && isJson && typeof body === 'string') {
    const parsed = parsedOrUndefined(body);
    if (parsed !== undefined) return damagedJson(random, parsed, vocabulary);
  }
  return damagedBytes(random, Buffer.from(body));
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Bytes that are missing, doubled, put in or of something else. */
function damagedBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), random.pick(BYTES), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes, bytes.subarray(at)]);
    default: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[random.below(copy.length)] = random.below(256);
      return copy;
    }
  }
}

/** The place of a value inside of another, to be replaced. */
interface Place {
  parent: Record<string, unknown> | unknown[];
  key: string;
}

function placesIn(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    const parent = value as Record<string, unknown>;
    found.push({ parent, key });
    placesIn(parent[key], found);
  }
  return found;
}

function damagedJson(random: Random, body: unknown, vocabulary: Vocabulary): string {
  const root = { body };
  const places = placesIn(root);
  const { parent, key } = random.pick(places);
  const holder = parent as Record<string, unknown>;
  const value = holder[key];
  switch (random.below(12)) {
    case 0:
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else if (holder !== (root as Record<string, unknown>)) delete holder[key];
      break;
    case 1:
      if (!Array.isArray(parent)) holder[random.pick(vocabulary.keys)] = hostileValue(random);
      break;
    case 2:
      if (Array.isArray(value))
        for (let times = random.pick([1, 1, 10, 600]); times > 0; times--)
          value.push(structuredClone(value[0]));
      else holder[key] = [value];
      break;
    case 3:
      holder[key] = { value };
      break;
    case 4:
      // As JSON, because a value that was damaged before may have a key called toString.
      holder[key] = typeof value === 'string' ? value : JSON.stringify(value);
      break;
    case 5:
      if (typeof value === 'string') holder[key] = value + random.pick(TEXTS);
      else if (typeof value === 'number')
        holder[key] = random.pick([-value, value * 1e9, value / 3, value + 0.005]);
      else holder[key] = hostileValue(random);
      break;
    default:
      holder[key] = hostileValue(random);
  }
  return damagedText(random, JSON.stringify(root.body) ?? 'null');
}

function hostileValue(random: Random): unknown {
  const kind = random.next();
  if (kind < 0.5) return random.pick(TEXTS);
  if (kind < 0.75) return random.pick(NUMBERS);
  if (kind < 0.85) return random.pick([null, true, false]);
  if (kind < 0.93)
    return random.pick<unknown>([
      [],
      [null],
      [[]],
      ['x', 1],
      [{}],
      {},
      { '': '' },
      { length: -1 },
      { toString: 1 },
    ]);
  if (kind < 0.96) return nested(random.pick([10, 49, 51, 200]));
  return Array.from({ length: random.pick([13, 100, 501]) }, () => random.pick(TEXTS).slice(0, 20));
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

/** What only the text of JSON can say: numbers without bound, keys that come twice, half of a pair of surrogates. */
function damagedText(random: Random, text: string): string {
  if (random.chance(0.85)) return text;
  switch (random.below(5)) {
    case 0:
      return text.replace(
        /-?\d+(\.\d+)?/,
        random.pick(['1e999', '-1e999', '1e-999', '-0', '00', '9'.repeat(400), '0.'.padEnd(400, '1')]),
      );
    case 1:
      return text.replace(
        /"(\w+)":/,
        (all, name: string) => `${all}${JSON.stringify(random.pick(TEXTS))},"${name}":`,
      );
    case 2:
      return text.replace(
        /"([^"]*)"(?=[,}\]])/,
        (_all, inner: string) =>
          `"${inner}${random.pick(['\\u0000', '\\ud800', '\\udc00', '\\u202e', '\\n', '\\/'])}"`,
      );
    case 3:
      return text.replace('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},');
    default:
      return `${random.pick(['\ufeff', ' ', '\n', '//x\n', ''])}${text}${random.pick(['', ' ', ',', '}', '\0', 'x'])}`;
  }
}

function damagedHeaders(
  random: Random,
  headers: Record<string, string>,
  { tokens }: Vocabulary,
): Record<string, string> {
  const next = { ...headers };
  switch (random.below(9)) {
    case 0:
      next['accept'] = random.pick(ACCEPTS);
      break;
    case 1:
      next['content-type'] = random.pick(CONTENT_TYPES);
      break;
    case 2:
      next['authorization'] = random.chance(0.6)
        ? `Bearer ${random.pick(tokens)}`
        : random.pick(AUTHORIZATIONS);
      break;
    case 3:
      delete next['authorization'];
      break;
    case 4:
      if (random.chance(0.5)) delete next['x-epages-cart-token'];
      else next['x-epages-cart-token'] = random.pick(['', 'x', 'x'.repeat(LONG), '\u00ff', 'demo-cart-a']);
      break;
    case 5:
    case 6:
      next['idempotency-key'] = random.pick(KEYS);
      break;
    default:
      Object.assign(next, random.pick(HEADERS));
  }
  return next;
}

function damagedPath(random: Random, path: string): string {
  const steps = path.split('/');
  const at = 1 + random.below(steps.length - 1);
  switch (random.below(5)) {
    case 0:
      steps[at] = random.pick(ENCODED);
      break;
    case 1:
      steps[at] = encodeURIComponent(wellFormed(random.pick(TEXTS)));
      break;
    case 2:
      steps[at] = random.chance(0.5) ? steps[at]!.toLowerCase() : steps[at]!.slice(0, -1);
      break;
    case 3:
      steps.splice(at, 0, random.pick(['', 'x', '%20', ';']));
      break;
    default:
      steps.push(random.pick(['', 'x', 'export', 'order']));
  }
  return steps.join('/') || '/';
}

function wellFormed(text: string): string {
  return text.toWellFormed();
}
