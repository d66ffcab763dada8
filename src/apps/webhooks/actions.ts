import type { Transaction } from '../../db/database.ts';
import { Refusal, invalid, notFound } from '../../http/errors.ts';
import { readEvents } from '../../platform/events/queries.ts';
import { positionOfDelivery } from './delivery-id.ts';
import {
  moveWebhookBack,
  redeliver,
  retryDeliveries,
  updateActive,
  type DeliveryRow,
  type WebhookRow,
} from './queries.ts';
import { WEBHOOKS_CHANGED } from './worker.ts';

/** Actions of apps on their own webhooks, and of merchants on those of all apps. The caller locks the webhook. */

export async function redeliverOne(
  tx: Transaction,
  shopId: string,
  { webhookId, active }: WebhookRow,
  deliveryId: string,
): Promise<DeliveryRow> {
  const position = positionOfDelivery(shopId, webhookId, deliveryId);
  if (position === undefined) throw notFound();
  if (!active) throw new Refusal('WEBHOOK_INACTIVE');
  const row = await redeliver(tx, shopId, webhookId, position);
  if (!row) throw notFound();
  tx.notifyAfterCommit(WEBHOOKS_CHANGED, shopId);
  return row;
}

/** Sends the event at this position and all later ones again. */
export async function replayFrom(
  tx: Transaction,
  shopId: string,
  { webhookId }: WebhookRow,
  from: number,
): Promise<void> {
  const { oldest, last } = await readEvents(tx, shopId, { after: from - 1, types: [], limit: 1 });
  if (from > last) throw invalid('OUT_OF_RANGE', 'from');
  if (from < oldest) throw new Refusal('EVENT_GONE', { position: from, oldest });
  await moveWebhookBack(tx, shopId, webhookId, from - 1);
  tx.notifyAfterCommit(WEBHOOKS_CHANGED, shopId);
}

/** A webhook that is reactivated resumes at the event where it stopped. */
export async function setActive(
  tx: Transaction,
  shopId: string,
  webhook: WebhookRow,
  active: boolean,
): Promise<WebhookRow> {
  if (active && !webhook.secretSealed) throw new Refusal('WEBHOOK_SECRET_MISSING');
  if (active && !webhook.active) await retryDeliveries(tx, shopId, webhook.webhookId);
  tx.notifyAfterCommit(WEBHOOKS_CHANGED, shopId);
  return (await updateActive(tx, shopId, webhook.webhookId, active))!;
}
