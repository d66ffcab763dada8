import { encode, isHmacOf, isSignedWith, webhookKey } from './signature.ts';
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
  if (!isRecent(timestamp, TOLERANCE)) {
    throw new WebhookVerificationError('The call is too old, or its time is missing');
  }
  const message = { id: headerOf(request, 'webhook-id'), timestamp, body };
  return isSignedWith(webhookKey(secret), message, headerOf(request, 'webhook-signature'));
}

/** Whether the header of a time is so many seconds from now at most. */
export function isRecent(timestamp: string, seconds: number): boolean {
  return timestamp !== '' && Math.abs(Date.now() / 1000 - Number(timestamp)) <= seconds;
}

export function headerOf({ headers }: Pick<WebhookRequest, 'headers'>, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}
