import type { Static } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { hasScope, type Caller } from '../../http/callers.ts';
import { invalid, missingScope, Refusal } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { EVENT_TYPES } from '../../platform/events/types.ts';
import { seal } from '../../platform/sealing.ts';
import { insertWebhook, lockWebhookCount, type WebhookRow } from './queries.ts';
import type { ReceiverPolicy } from './receiver-address.ts';
import type { NewWebhook } from './schema.ts';
import { newWebhookSecret } from './signature.ts';
import { WEBHOOKS_CHANGED } from './worker.ts';

export const MAX_WEBHOOKS = 10_000;

/** Creates a webhook of the calling app. It requires the scope for reading the same things by the API. */
export async function registerWebhook(
  {
    tx,
    shopId,
    body,
    caller,
  }: { tx: Transaction; shopId: string; body: Static<typeof NewWebhook>; caller: Caller },
  {
    policy,
    key,
    includesFields = false,
  }: { policy: ReceiverPolicy; key: Buffer; includesFields?: boolean | undefined },
): Promise<{ webhook: WebhookRow; secret: string }> {
  const { callbackUrl, eventType } = body;
  const { scope } = EVENT_TYPES[eventType];
  if (scope !== null && !hasScope(caller, scope)) throw missingScope(scope);
  if (!URL.canParse(callbackUrl)) throw invalid('WRONG_FORMAT', 'callbackUrl');
  const problem = policy.problemOf(new URL(callbackUrl));
  if (problem !== undefined) throw new Refusal('WEBHOOK_ADDRESS_REFUSED', { problem });
  if ((await lockWebhookCount(tx, shopId)) >= MAX_WEBHOOKS) {
    throw new Refusal('TOO_MANY_WEBHOOKS', { limit: MAX_WEBHOOKS });
  }
  const secret = newWebhookSecret();
  const webhook = await insertWebhook(tx, shopId, {
    webhookId: newId(tx.now),
    appId: caller.app!.appId,
    eventType,
    callbackUrl,
    active: body.active ?? true,
    includesFields,
    secretSealed: seal(key, secret),
  });
  tx.notifyAfterCommit(WEBHOOKS_CHANGED, shopId);
  return { webhook, secret };
}
