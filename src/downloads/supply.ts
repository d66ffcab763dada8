import type { Transaction } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import { type LockedOrder, type OrderChanges, changeOrder, lockOrderWithActivity } from '../orders/change.ts';
import { recordHistory } from '../orders/history.ts';
import { numbered, statesReached } from '../orders/manage-change.ts';
import { insertShipment, type PartLine } from '../orders/manage-queries.ts';
import { emailAddressOf } from '../orders/order-email.ts';
import { captureWhenSent } from '../orders/payments/capture.ts';
import { millionths, quantityText, unshippedLines } from '../orders/quantities.ts';
import { queueEmails } from '../platform/email/queue.ts';
import type { ManagedOrder } from '../orders/queries.ts';
import type { Content } from '../pricing/content.ts';
import { recordEvents, type NewEvent } from '../platform/events/log.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { downloadsEmail, downloadsOf } from './downloads-email.ts';
import {
  findDownloadDeliveries,
  isQueueBefore,
  saveDelivery,
  type DownloadDelivery,
} from './delivery-queries.ts';
import { warnOfFewKeys } from './few-keys.ts';
import { findGivenKeys, giveKeys, revokeKeys } from './key-queries.ts';
import { planSupply, type LinePlan } from './plan.ts';
import { findDigitalProducts } from './queries.ts';

export interface SupplyOptions {
  /** The shop delivers although the order is not paid. */
  isReleased?: boolean;
  /** null: the shop itself. */
  appId?: string | null;
  /** The content of the order as it is from now on: with the consent of the customer. */
  content?: Content;
}

/**
 * Brings the deliveries of an order to what it entitles to: gives keys, opens files, revokes what was refunded, and tells
 * the customer of what is new. Does nothing when all is done. A line that was supplied counts as sent: with a consent, the
 * right of withdrawal ends by that. Orders that waited longer for a key are served first.
 */
export async function supplyOrder(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { isReleased = false, appId = null }: SupplyOptions = {},
): Promise<void> {
  const locked = await lockOrderWithActivity(tx, shopId, orderId);
  if (!locked || locked.order.erasedAt) return;
  // An app changes its lines; the end of that is an event, too.
  if (locked.order.editingAppId !== null) return;
  await supplyLocked(tx, shopId, locked, { isReleased, appId });
}

/** The same for an order that this transaction has locked. */
export async function supplyLocked(
  tx: Transaction,
  shopId: string,
  { order: before, activity }: LockedOrder,
  { isReleased = false, appId = null, content }: SupplyOptions = {},
): Promise<void> {
  const order = { ...before, content: content ?? before.content };
  const { orderId } = order;
  const [settings, products, deliveries, keys] = [
    await shopSettings(tx, shopId),
    await findDigitalProducts(
      tx,
      shopId,
      order.content.lines.map(({ productId }) => productId),
    ),
    await findDownloadDeliveries(tx, shopId, [orderId]),
    await findGivenKeys(tx, shopId, [orderId]),
  ];
  const facts = { order, activity, settings, products, deliveries, keys };
  const plans = planSupply(facts, tx.now, isReleased);
  const done = [];
  for (const plan of plans) done.push(await supplyLine(tx, shopId, plan));
  const revoked = plans.filter(({ revokedKeyIds }) => revokedKeyIds.length > 0);
  if (revoked.length > 0) {
    const keyIds = revoked.flatMap(({ revokedKeyIds }) => revokedKeyIds);
    await revokeKeys(tx, shopId, keyIds);
    const lines = revoked.map(({ line, revokedKeyIds }) => ({
      lineItemId: line.lineItemId,
      keyIds: revokedKeyIds,
    }));
    recordEvents(tx, shopId, [{ type: 'KEYS_REVOKED', resourceId: orderId, data: { lines } }]);
  }
  const news = done.filter(({ isNews }) => isNews);
  const shipped = await recordSupply(tx, shopId, { order, activity }, { supplied: news, appId });
  // The last locks of the transaction.
  if (content || shipped) {
    const changes = { ...(content && { content }), ...shipped?.reached };
    const events = shipped?.events ?? [];
    const also = shipped ? ['shipments'] : [];
    const sent = await changeOrder(tx, shopId, before, changes, { also, events });
    if (activity.attempts.length > 0) await captureWhenSent(tx, shopId, before, sent);
  }
  const to = emailAddressOf(order);
  const { locale, orderNumber } = order;
  if (news.length > 0 && to !== undefined)
    await queueEmails(tx, shopId, downloadsEmail, [
      { to, locale, facts: downloadsOf({ orderId, orderNumber }) },
    ]);
}

interface SuppliedLine {
  plan: LinePlan;
  /** Keys that it has got now. */
  given: number;
  waiting: number;
  /** The customer is told. */
  isNews: boolean;
}

async function supplyLine(tx: Transaction, shopId: string, plan: LinePlan): Promise<SuppliedLine> {
  const { delivery, missingKeys, pieces } = plan;
  const mayTake = missingKeys > 0 && !(await isQueueBefore(tx, shopId, delivery));
  const given = mayTake ? await giveKeys(tx, shopId, delivery, missingKeys) : 0;
  const waiting = missingKeys - given;
  const isDelivered =
    delivery.beginsAt === null &&
    pieces > 0 &&
    delivery.revokedAt === null &&
    (missingKeys === 0 || given > 0);
  const isFirst = isDelivered && delivery.deliveredAt === null;
  const next: DownloadDelivery = {
    ...delivery,
    keysWaiting: waiting,
    deliveredAt: isFirst ? tx.now : delivery.deliveredAt,
  };
  if (JSON.stringify(next) !== JSON.stringify(plan.known)) await saveDelivery(tx, shopId, next);
  if (mayTake) await warnOfFewKeys(tx, shopId, delivery.productId);
  // A customer who has to wait for a key, or has to consent, is told so once.
  return { plan, given, waiting, isNews: isFirst || given > 0 || !plan.known };
}

/** What was supplied is a shipment without a parcel: nothing of it has to be sent any more. undefined: there is none. */
async function recordSupply(
  tx: Transaction,
  shopId: string,
  { order, activity }: Pick<LockedOrder, 'activity'> & { order: ManagedOrder },
  { supplied, appId }: { supplied: readonly SuppliedLine[]; appId: string | null },
): Promise<{ reached: OrderChanges; events: NewEvent[] } | undefined> {
  const { orderId } = order;
  const unsent = unshippedLines(order.content, activity.shipments);
  const lines = supplied.flatMap((one): PartLine[] => {
    const { lineItemId } = one.plan.line;
    const left = unsent.find((part) => part.lineItemId === lineItemId);
    if (!left || one.plan.delivery.beginsAt !== null) return [];
    // With keys missing, as many pieces as there are keys.
    const available = one.waiting === 0 ? Infinity : one.given * 1_000_000;
    const quantity = Math.min(millionths(left.quantity), available);
    return quantity > 0 ? [{ lineItemId, quantity: quantityText(quantity) }] : [];
  });
  if (lines.length === 0) return undefined;
  const shipmentId = newId(tx.now);
  const shipment = {
    shipmentId,
    lines,
    carrier: null,
    trackingCode: null,
    trackingUrl: null,
    furtherParcels: [],
  };
  await insertShipment(tx, shopId, orderId, shipment);
  await recordHistory(tx, shopId, orderId, {
    appId,
    kind: 'shipped',
    details: { shipmentId, lines: numbered(lines) },
  });
  const data = {
    lines: supplied.map(({ plan, given }) => ({ lineItemId: plan.line.lineItemId, keys: given })),
  };
  return {
    reached: statesReached(order, [...activity.shipments, { ...shipment, at: tx.now.toISOString() }], tx.now),
    events: [
      { type: 'ORDER_SHIPPED', resourceId: orderId, data: { shipmentId } },
      { type: 'DOWNLOADS_DELIVERED', resourceId: orderId, data },
    ],
  };
}
