import type { CallKind, SignedBody } from '../calls.ts';
import type { FrameToken } from '../frame-token.ts';
import { encode, hmac, isSignedWith, signatureOf, webhookKey } from '../signature.ts';
import { headerOf, isRecent, type WebhookRequest } from '../webhooks.ts';

/** What a shop sends to an app, signed as a shop signs it. */

export interface SigningOptions {
  /** Absent: a new one. */
  id?: string;
  /** When it was signed; absent: now. An app refuses what is old. */
  at?: Date;
}

/** A new secret of a webhook. */
export function newWebhookSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}

/** A webhook with the signatures of the contract and of Standard Webhooks. */
export async function signWebhook(
  content: object,
  { secret, clientSecret }: { secret: string; clientSecret?: string },
  { id = newId(), at = new Date() }: SigningOptions = {},
): Promise<SignedBody> {
  const body = JSON.stringify(content);
  return {
    headers: {
      ...(await signedHeaders(webhookKey(secret), { id, at, body })),
      'x-epages-hmac-sha256': await hmac(encode(clientSecret ?? secret), encode(body)),
    },
    body,
  };
}

/** A call while a customer waits; `token` is one whose `page` is `call:` and the kind. */
export async function signCall(
  kind: CallKind,
  question: object,
  { clientSecret, token }: { clientSecret: string; token: string },
  { id = newId(), at = new Date() }: SigningOptions = {},
): Promise<SignedBody> {
  const body = JSON.stringify(question);
  return {
    headers: {
      ...(await signedHeaders(encode(clientSecret), { id, at, body })),
      'kontor-call': kind,
      authorization: `Bearer ${token}`,
    },
    body,
  };
}

/** Seconds that an answer may be old. */
const ANSWER_TOLERANCE = 60;

/** What an app has answered to the call with this id; throws where a shop would not take it. */
export async function readAnswer(
  { headers, body }: WebhookRequest,
  { id, clientSecret }: { id: string; clientSecret: string },
): Promise<unknown> {
  const bytes = typeof body === 'string' ? encode(body) : body;
  const timestamp = headerOf({ headers }, 'webhook-timestamp');
  if (!isRecent(timestamp, ANSWER_TOLERANCE))
    throw new Error('The answer is too old, or its time is missing');
  if (headerOf({ headers }, 'webhook-id') !== id) throw new Error('The answer is to another call');
  const signature = headerOf({ headers }, 'webhook-signature');
  if (!(await isSignedWith(encode(clientSecret), { id, timestamp, body: bytes }, signature))) {
    throw new Error('The signature of the answer is wrong');
  }
  return JSON.parse(new TextDecoder().decode(bytes));
}

export interface TokenKeys {
  /** What the installation publishes at /.well-known/jwks.json. */
  jwks: { keys: PublishedKey[] };
  /** A token that its installation would give to a frame of the app, or send to it. */
  sign(claims: Partial<FrameToken> & Pick<FrameToken, 'iss' | 'aud' | 'shop' | 'page'>): Promise<string>;
}

export interface PublishedKey {
  kid: string;
  use: 'sig';
  alg: 'ES256';
  kty: string;
  crv: string;
  x: string;
  y: string;
}

/** Seconds. */
const TOKEN_LIVES = 60;

/** A key of an installation that signs tokens (ES256). */
export async function newTokenKeys(): Promise<TokenKeys> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const kid = newId();
  const part = (value: object) => base64url(encode(JSON.stringify(value)));
  return {
    jwks: { keys: [{ kid, use: 'sig', alg: 'ES256', kty: kty!, crv: crv!, x: x!, y: y! }] },
    async sign(claims) {
      const iat = Math.floor(Date.now() / 1000);
      const signed = `${part({ alg: 'ES256', typ: 'JWT', kid })}.${part({
        iat,
        exp: (claims.iat ?? iat) + TOKEN_LIVES,
        jti: newId(),
        ...claims,
      })}`;
      const hash = { name: 'ECDSA', hash: 'SHA-256' };
      const signature = await crypto.subtle.sign(hash, pair.privateKey, encode(signed));
      return `${signed}.${base64url(new Uint8Array(signature))}`;
    },
  };
}

/** An id as a shop writes it. */
export function newId(): string {
  return crypto.randomUUID().toUpperCase();
}

async function signedHeaders(
  key: Uint8Array<ArrayBuffer>,
  { id, at, body }: { id: string; at: Date; body: string },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await signatureOf(key, { id, timestamp, body: encode(body) }),
  };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
