/** What a token says; nothing of it names a person. */
export interface FrameToken {
  /** The installation of Kontor: scheme and host. */
  iss: string;
  /** The client id of the app. */
  aud: string;
  /** The user who looks at the page. */
  sub: string;
  shop: string;
  /** The role of the user in the shop. */
  role: string;
  /** The name of the page, block or action in the manifest. */
  page: string;
  place: 'menu' | 'order' | 'product' | 'customer' | 'settings' | 'orders';
  ids?: string[];
  iat: number;
  exp: number;
  jti: string;
}

/** It is not from the installation, not for the app, or too old. */
export class FrameTokenError extends Error {
  override readonly name = 'FrameTokenError';
}

export interface VerifyOptions {
  /** The installation at which the app is registered: the origin of the `apiUrl` that it was sent. */
  issuer: string;
  clientId: string;
  /** Gets the published keys; absent: the `fetch` of the platform. */
  fetch?: (address: string) => Promise<Response>;
  /** Milliseconds since 1970; absent: the clock. */
  now?: number;
}

interface PublicKey {
  kid: string;
  kty: string;
  crv: string;
  x: string;
  y: string;
}

type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const MAX_LENGTH = 16_384;
/** Seconds by which two clocks may differ. */
const SKEW = 5;
/** Milliseconds for which keys are kept, and for which an unknown one is not asked for again. */
const KEYS_FOR = 300_000;
const ASK_AGAIN = 10_000;
const keysOf = new Map<string, { keys: readonly PublicKey[]; at: number }>();

/**
 * The client id that a token says it is for, unchecked: an app that is installed in several shops finds with it what it
 * knows of this one, and checks the token then. undefined: it is no token.
 */
export function claimedClientId(token: string): string | undefined {
  try {
    const { aud } = json(token.slice(0, MAX_LENGTH).split('.')[1] ?? '') as { aud?: unknown };
    return typeof aud === 'string' ? aud : undefined;
  } catch (error) {
    if (error instanceof FrameTokenError) return undefined;
    throw error;
  }
}

/** Checks a token in the back end of the app and returns what it says, or rejects with a FrameTokenError. */
export async function verifyFrameToken(
  token: string,
  { issuer, clientId, fetch = (address) => globalThis.fetch(address), now = Date.now() }: VerifyOptions,
): Promise<FrameToken> {
  const [head = '', body = '', signature = '', ...rest] = token.slice(0, MAX_LENGTH).split('.');
  const header = json(head) as { alg?: unknown; kid?: unknown };
  const claims = json(body) as FrameToken;
  if (rest.length > 0 || header.alg !== 'ES256') throw new FrameTokenError('It is not a token of Kontor');
  if (claims.iss !== issuer || claims.aud !== clientId) throw new FrameTokenError('It is for another app');
  const seconds = now / 1_000;
  if (!(claims.exp > seconds - SKEW && claims.iat < seconds + SKEW))
    throw new FrameTokenError('It is too old');
  const key = await publicKey(issuer, header.kid, fetch, now);
  const isGenuine = await crypto.subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    key,
    bytesOf(signature),
    new TextEncoder().encode(`${head}.${body}`),
  );
  if (!isGenuine) throw new FrameTokenError('The signature is wrong');
  return claims;
}

async function publicKey(
  issuer: string,
  kid: unknown,
  fetch: (address: string) => Promise<Response>,
  now: number,
): Promise<ImportedKey> {
  let known = keysOf.get(issuer);
  const find = () => known?.keys.find((key) => key.kid === kid);
  const age = known ? now - known.at : Infinity;
  if (age > KEYS_FOR || (!find() && age > ASK_AGAIN)) {
    const response = await fetch(`${issuer}/.well-known/jwks.json`);
    if (!response.ok) throw new FrameTokenError(`The keys can't be read: ${response.status}`);
    const { keys } = (await response.json()) as { keys: PublicKey[] };
    keysOf.set(issuer, (known = { keys, at: now }));
  }
  const found = find();
  if (!found) throw new FrameTokenError('Its key is unknown');
  const { kty, crv, x, y } = found;
  return crypto.subtle.importKey('jwk', { kty, crv, x, y }, { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'verify',
  ]);
}

function json(part: string): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(part)));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new FrameTokenError('It is not a token', { cause: error });
  }
  throw new FrameTokenError('It is not a token');
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  try {
    const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch (error) {
    throw new FrameTokenError('It is not a token', { cause: error });
  }
}
