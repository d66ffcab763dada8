import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';

/** The secret of a webhook, as Standard Webhooks writes it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

export interface SigningSecrets {
  /** The webhook's own: the current one first, and for a day the former one. */
  own: readonly string[];
  /** The secret of the app; undefined: it is private, or its secret was lost when the shop was restored. */
  client: string | undefined;
}

/**
 * The headers by which a receiver verifies that a call comes from here: that of the contract, and those of Standard
 * Webhooks. A private app has no client secret, so the contract's header is made with the webhook's own, as it was
 * shown.
 */
export function signatureHeaders(
  { own, client }: SigningSecrets,
  { messageId, at, body }: { messageId: string; at: Date; body: Buffer },
): Record<string, string> {
  return {
    'x-epages-hmac-sha256': createHmac('sha256', client ?? own[0]!)
      .update(body)
      .digest('base64'),
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': own.map((secret) => new Webhook(secret).sign(messageId, at, body)).join(' '),
  };
}
