import type { Transaction } from '../../db/database.ts';
import { HttpError, invalid, notFound } from '../../http/errors.ts';
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

/** A refusal with a reason, which the admin shows in the reader's language. */
export class WebhookRefusal extends HttpError {
  override name = 'WebhookRefusal';
  readonly reason: 'inactive' | 'secretLost' | 'eventGone';

  constructor(status: number, reason: WebhookRefusal['reason'], text: string) {
    super(status, text);
    this.reason = reason;
  }
}

export async function redeliverOne(
  tx: Transaction,
  shopId: string,
  { webhookId, active }: WebhookRow,
  deliveryId: string,
): Promise<DeliveryRow> {
  const position = positionOfDelivery(shopId, webhookId, deliveryId);
  if (position === undefined) throw notFound();
  if (!active) throw new WebhookRefusal(409, 'inactive', 'The webhook is not active');
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
  if (from < oldest) {
    const text = `The event at ${from} is gone, the oldest position is ${oldest}`;
    throw new WebhookRefusal(410, 'eventGone', text);
  }
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
  if (active && !webhook.secretSealed) {
    const text = 'Its secret was left out when the shop was restored, make a new one first';
    throw new WebhookRefusal(409, 'secretLost', text);
  }
  if (active && !webhook.active) await retryDeliveries(tx, shopId, webhook.webhookId);
  tx.notifyAfterCommit(WEBHOOKS_CHANGED, shopId);
  return (await updateActive(tx, shopId, webhook.webhookId, active))!;
}
