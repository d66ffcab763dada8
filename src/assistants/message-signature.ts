import { createHash, createPublicKey, sign, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ProblemCode } from './problem.ts';
import { parseDictionary, type Item, type Member } from './structured-fields.ts';

/** Signatures of HTTP messages (RFC 9421) with the digest of the body (RFC 9530), as the protocol asks for them. */

/** What was signed, as far as the service has received it. */
export interface SignedRequest {
  method: string;
  /** Host and port as the client has sent them. */
  authority: string;
  /** As the client has sent it, before anything was rewritten. */
  path: string;
  /** Without the question mark; '' when there is none. */
  query: string;
  headers: IncomingHttpHeaders;
  /** The bytes of the body as they were received; empty: there is none. */
  body: Buffer;
}

/** A public key that an assistant has published. */
export type PublicKey = JsonWebKey & { kid: string };

/** Why no signature of a request authenticates it. */
export type SignatureFailure = Extract<
  ProblemCode,
  'signature_invalid' | 'key_not_found' | 'digest_mismatch' | 'algorithm_unsupported'
>;

/** The strongest reason first: it tells the sender most. */
const FAILURES: readonly SignatureFailure[] = [
  'digest_mismatch',
  'signature_invalid',
  'algorithm_unsupported',
  'key_not_found',
];

export function isSigned({ headers }: Pick<SignedRequest, 'headers'>): boolean {
  return headers['signature'] !== undefined || headers['signature-input'] !== undefined;
}

/** undefined: one of the signatures is good, by one of these keys. */
export function signatureFailure(
  request: SignedRequest,
  keys: readonly PublicKey[],
  now: Date,
): SignatureFailure | undefined {
  const inputs = parseDictionary(headerOf(request, 'signature-input') ?? '');
  const signatures = parseDictionary(headerOf(request, 'signature') ?? '');
  if (!inputs || !signatures || inputs.size === 0) return 'signature_invalid';
  const failures = new Set<SignatureFailure>();
  for (const [label, input] of inputs) {
    const failure = candidateFailure(request, keys, now, input, signatures.get(label));
    if (failure === undefined) return undefined;
    failures.add(failure);
  }
  return FAILURES.find((failure) => failures.has(failure));
}

/** Seconds by which the clocks of two machines may differ. */
const CLOCK_TOLERANCE = 300;

function candidateFailure(
  request: SignedRequest,
  keys: readonly PublicKey[],
  now: Date,
  input: Member,
  signature: Member | undefined,
): SignatureFailure | undefined {
  const { value: components, parameters } = input;
  if (!Array.isArray(components) || !Buffer.isBuffer(signature?.value)) return 'signature_invalid';
  const keyId = parameters.get('keyid');
  const tag = parameters.get('tag');
  if (tag !== undefined && tag !== WEB_BOT_AUTH) return 'signature_invalid';
  const key = keys.find(({ kid }) => kid === keyId);
  if (!key || !mayVerify(key)) return 'key_not_found';
  if (tag === WEB_BOT_AUTH && thumbprint(key) !== key.kid) return 'signature_invalid';
  const algorithm = algorithmOf(key);
  if (!algorithm) return 'algorithm_unsupported';
  if (!isInTime(parameters.get('created'), parameters.get('expires'), now)) return 'signature_invalid';
  const items = components as readonly Item[];
  if (!coversRequest(request, items)) return 'signature_invalid';
  if (request.body.length > 0 && !hasDigest(request)) return 'digest_mismatch';
  const base = signatureBase(items, input.raw, (item) => componentOf(request, item));
  if (base === undefined) return 'signature_invalid';
  const isGood = verify(
    algorithm.hash,
    Buffer.from(base),
    { key: algorithm.key, dsaEncoding: 'ieee-p1363' },
    signature.value,
  );
  return isGood ? undefined : 'signature_invalid';
}

const WEB_BOT_AUTH = 'web-bot-auth';

function mayVerify({ use, key_ops: operations }: PublicKey): boolean {
  return use !== 'enc' && (!Array.isArray(operations) || operations.includes('verify'));
}

function isInTime(created: unknown, expires: unknown, now: Date): boolean {
  const seconds = now.getTime() / 1000;
  const isFuture = typeof created === 'number' && created > seconds + CLOCK_TOLERANCE;
  const isPast = typeof expires === 'number' && expires < seconds - CLOCK_TOLERANCE;
  return !isFuture && !isPast;
}

/** The kinds of keys: by their type and curve, and whether their declared algorithm fits. */
const ALGORITHMS: Readonly<Record<string, { name: string; hash: string | null }>> = {
  'EC P-256': { name: 'ES256', hash: 'sha256' },
  'EC P-384': { name: 'ES384', hash: 'sha384' },
  'OKP Ed25519': { name: 'EdDSA', hash: null },
};

function algorithmOf(key: PublicKey): { hash: string | null; key: KeyObject } | undefined {
  const kind = `${key.kty} ${key.crv}`;
  const algorithm = Object.hasOwn(ALGORITHMS, kind) ? ALGORITHMS[kind]! : undefined;
  if (!algorithm || (key['alg'] !== undefined && key['alg'] !== algorithm.name)) return undefined;
  const { kty, crv, x, y } = key;
  try {
    const publicKey = createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' });
    return { hash: algorithm.hash, key: publicKey };
  } catch {
    // The coordinates are of no point of the curve.
    return undefined;
  }
}

/** The hash that names a key by its content (RFC 7638). */
export function thumbprint({ kty, crv, x, y }: JsonWebKey): string {
  const members = kty === 'EC' ? { crv, kty, x, y } : { crv, kty, x };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}

/** Parts that are not covered are not signed: anyone may have put them there. */
function coversRequest({ query, headers, body }: SignedRequest, components: readonly Item[]): boolean {
  const names = components.map(({ value }) => value);
  if (new Set(components.map(({ raw }) => raw)).size < components.length) return false;
  const required = [
    '@method',
    '@authority',
    '@path',
    ...(query === '' ? [] : ['@query']),
    ...(body.length === 0 ? [] : ['content-digest', 'content-type']),
    ...['idempotency-key', 'ucp-agent', 'signature-agent'].filter((name) => headers[name] !== undefined),
  ];
  return required.every((name) => names.includes(name));
}

function hasDigest(request: SignedRequest): boolean {
  const digest = parseDictionary(headerOf(request, 'content-digest') ?? '')?.get('sha-256')?.value;
  return Buffer.isBuffer(digest) && digest.equals(createHash('sha256').update(request.body).digest());
}

/** undefined: the message lacks a component, or it is of a kind that is not needed here. */
function signatureBase(
  components: readonly Item[],
  parameters: string,
  valueOf: (item: Item) => string | undefined,
): string | undefined {
  const lines: string[] = [];
  for (const item of components) {
    const value = valueOf(item);
    if (value === undefined) return undefined;
    lines.push(`${item.raw}: ${value}`);
  }
  return [...lines, `"@signature-params": ${parameters}`].join('\n');
}

function componentOf(request: SignedRequest, { value: name, parameters }: Item): string | undefined {
  if (typeof name !== 'string') return undefined;
  const keys = [...parameters.keys()];
  if (keys.length > 0)
    return keys.join() === 'key' ? memberOf(request, name, parameters.get('key')) : undefined;
  switch (name) {
    case '@method':
      return request.method;
    case '@authority':
      return request.authority.toLowerCase().replace(/:(?:80|443)$/, '');
    case '@path':
      return request.path;
    case '@query':
      return `?${request.query}`;
  }
  return headerOf(request, name);
}

/** One member of a header that is a dictionary: `"signature-agent";key="sig1"`. */
function memberOf(request: SignedRequest, name: string, key: unknown): string | undefined {
  const text = headerOf(request, name);
  return text === undefined || typeof key !== 'string' ? undefined : parseDictionary(text)?.get(key)?.raw;
}

function headerOf({ headers }: Pick<SignedRequest, 'headers'>, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === undefined ? undefined : [value].flat().join(', ').trim();
}

export interface SigningKey {
  keyId: string;
  privateKey: KeyObject;
}

/** The headers that sign an answer with a body. */
export function answerSignature(
  key: SigningKey,
  { status, type, body, now }: { status: number; type: string; body: Buffer; now: Date },
): Record<string, string> {
  const digest = digestOf(body);
  const signed = { '@status': String(status), 'content-digest': digest, 'content-type': type };
  return { 'content-digest': digest, ...signatureOf(signed, key, now) };
}

/** The headers that sign a request which posts a body; `headers` are signed as well, and are among those returned. */
export function requestSignature(
  key: SigningKey,
  {
    url,
    type,
    body,
    headers,
    now,
  }: { url: URL; type: string; body: Buffer; headers: Record<string, string>; now: Date },
): Record<string, string> {
  const all = { ...headers, 'content-digest': digestOf(body) };
  const signed = {
    '@method': 'POST',
    '@authority': url.host,
    '@path': url.pathname,
    ...(url.search !== '' && { '@query': url.search }),
    ...all,
    'content-type': type,
  };
  return { ...all, ...signatureOf(signed, key, now) };
}

const digestOf = (body: Buffer) => `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** `components` are the parts of the message that are signed, by their names. */
function signatureOf(
  components: Readonly<Record<string, string>>,
  { keyId, privateKey }: SigningKey,
  now: Date,
): Record<'signature-input' | 'signature', string> {
  const names = Object.keys(components).map((name) => `"${name}"`);
  const parameters = `(${names.join(' ')});created=${Math.floor(now.getTime() / 1000)};keyid="${keyId}"`;
  const base = [
    ...Object.entries(components).map(([name, value]) => `"${name}": ${value}`),
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const signature = sign('sha256', Buffer.from(base), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return { 'signature-input': `sig1=${parameters}`, signature: `sig1=:${signature.toString('base64')}:` };
}
