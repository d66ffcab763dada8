import type { webhooks } from './schema.ts';

/** What a webhook sends; `eventType` says which of them it is. */
export type WebhookCall = {
  [Type in keyof webhooks]: Sent<webhooks[Type]['post']['requestBody']['content']['application/json']>;
}[keyof webhooks];

type Sent<Body extends { entity: unknown }> = Omit<Body, 'entity'> & {
  /** What the event is about; empty when it is gone or not public, so ask for its id first. */
  entity: MaybeEmpty<Exclude<Body['entity'], Record<string, never>>>;
};
type MaybeEmpty<Entity> = Entity | { [Key in keyof Entity]?: never };

export interface WebhookRequest {
  /** Of the fetch API, or as Node has them. */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it came, before it is parsed: what is written again may be other bytes. */
  body: string | Uint8Array<ArrayBuffer>;
}

/** The secret of the webhook (`whsec_...`), or the client secret of the app, which signs all of its webhooks. */
export type SigningSecret = { secret: string } | { clientSecret: string };

/** It does not come from the shop, or it is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** Seconds that a call may be old, so that nobody can send a recorded one again later. */
const TOLERANCE = 300;

/**
 * Checks the signature of a call and returns its content; rejects with a WebhookVerificationError. With the secret of
 * the webhook the time of the call is checked as well; the client secret signs only the body.
 */
export async function verifyWebhook(request: WebhookRequest, by: SigningSecret): Promise<WebhookCall> {
  const body = typeof request.body === 'string' ? encode(request.body) : request.body;
  const isGenuine =
    'secret' in by
      ? await isSignedByWebhook(request, body, by.secret)
      : await isHmacOf(encode(by.clientSecret), body, headerOf(request, 'x-epages-hmac-sha256'));
  if (!isGenuine) throw new WebhookVerificationError('The signature is wrong');
  return JSON.parse(new TextDecoder().decode(body)) as WebhookCall;
}

/** As the Standard Webhooks specification says; for a day after a change of the secret, two sign. */
async function isSignedByWebhook(
  request: WebhookRequest,
  body: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> {
  const timestamp = headerOf(request, 'webhook-timestamp');
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE)) {
    throw new WebhookVerificationError('The call is too old, or its time is missing');
  }
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  if (!key) throw new TypeError('The secret of a webhook is whsec_ and Base64');
  const signed = join(encode(`${headerOf(request, 'webhook-id')}.${timestamp}.`), body);
  for (const signature of headerOf(request, 'webhook-signature').split(' ')) {
    const [version, text = ''] = signature.split(',');
    if (version === 'v1' && (await isHmacOf(key, signed, text))) return true;
  }
  return false;
}

/** Web Crypto compares in constant time. */
async function isHmacOf(
  secret: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
  text: string,
): Promise<boolean> {
  const signature = fromBase64(text);
  if (!signature) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, signature, message);
}

function headerOf({ headers }: WebhookRequest, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** undefined: it is no Base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
