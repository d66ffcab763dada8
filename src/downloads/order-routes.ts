import { Type } from 'typebox';
import type { Queries } from '../db/database.ts';
import { parseMoment, toMilliseconds } from '../http/dates.ts';
import { notFound } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { lockOrderWithActivity } from '../orders/change.ts';
import { findOrderWithActivity } from '../orders/manage-queries.ts';
import { emailAddressOf } from '../orders/order-email.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { downloadsEmail, downloadsOf } from './downloads-email.ts';
import { findDownloadDeliveries, saveDelivery } from './delivery-queries.ts';
import { entitledPieces } from './entitlement.ts';
import { findGivenKeys, restoreKeys } from './key-queries.ts';
import { loadPurchase, type PurchasedItem } from './purchase.ts';
import {
  DeliverBody,
  DeliveryBody,
  DownloadDeliveryList,
  type DeliveryJson,
  type DownloadState,
} from './schema.ts';
import { supplyLocked } from './supply.ts';

const shared = { under: 'manage', tag: 'downloads', labels: [] } as const;
const params = Type.Object({ orderId: Id });

export const listDeliveries = operation({
  ...shared,
  method: 'GET',
  path: '/orders/:orderId/deliveries',
  name: 'listDeliveries',
  summary: 'List digital deliveries',
  description: 'What the lines of an order have got as files and licence keys, or wait for.',
  access: 'orders_read',
  params,
  answer: DownloadDeliveryList,
});

export const deliverOrder = operation({
  ...shared,
  method: 'POST',
  path: '/orders/:orderId/deliveries',
  name: 'deliverOrder',
  summary: 'Deliver order',
  description:
    'Delivers the files and keys of an order now. That happens by itself when it is paid; this is for an order on account, for one that was paid before its product had files, and to send the email again.',
  access: 'orders_write',
  params,
  body: DeliverBody,
  answer: DownloadDeliveryList,
});

export const setDelivery = operation({
  ...shared,
  method: 'PUT',
  path: '/orders/:orderId/deliveries/:lineItemId',
  name: 'setDelivery',
  summary: 'Set digital delivery',
  description:
    'Revokes the files and keys of a line, gives them back, or lets them be downloaded longer or more often.',
  access: 'orders_write',
  params: Type.Object({ orderId: Id, lineItemId: Id }),
  body: DeliveryBody,
  answer: DownloadDeliveryList,
});

/** What orders have brought as files and keys. */
export function digitalDeliveries(api: Operations): void {
  api.read(listDeliveries, ({ db, shopId, params: { orderId } }) => loadDeliveries(db, shopId, orderId));

  api.write(deliverOrder, async ({ tx, shopId, params: { orderId }, body, caller }) => {
    const locked = await lockOrderWithActivity(tx, shopId, orderId);
    if (!locked) throw notFound();
    const isReleased = body.isReleased ?? false;
    if (!locked.order.erasedAt)
      await supplyLocked(tx, shopId, locked, { isReleased, appId: caller.app!.appId });
    const to = emailAddressOf(locked.order);
    const { orderNumber, locale } = locked.order;
    if (body.sendsEmail && to !== undefined)
      await queueEmails(tx, shopId, downloadsEmail, [
        { to, locale, facts: downloadsOf({ orderId, orderNumber }) },
      ]);
    return loadDeliveries(tx, shopId, orderId);
  });

  api.write(setDelivery, async ({ tx, shopId, params: { orderId, lineItemId }, body, caller }) => {
    const locked = await lockOrderWithActivity(tx, shopId, orderId);
    const deliveries = locked ? await findDownloadDeliveries(tx, shopId, [orderId]) : [];
    const delivery = deliveries.find((one) => one.lineItemId === lineItemId);
    if (!locked || !delivery) throw notFound();
    const { isRevoked, maxDownloads, expiresOn } = body;
    const expiresAt = expiresOn === null ? null : parseMoment(expiresOn, 'expiresOn');
    const revokedAt = isRevoked ? (delivery.revokedAt ?? tx.now) : null;
    await saveDelivery(tx, shopId, { ...delivery, maxDownloads, expiresAt, revokedAt });
    if (delivery.revokedAt && !isRevoked) {
      const left = entitledPieces(locked).get(lineItemId) ?? 0;
      const keys = (await findGivenKeys(tx, shopId, [orderId])).filter(
        (key) => key.lineItemId === lineItemId,
      );
      await restoreKeys(
        tx,
        shopId,
        keys.slice(0, left).map(({ keyId }) => keyId),
      );
    }
    recordEvents(tx, shopId, [
      { type: 'ORDER_UPDATE', resourceId: orderId, data: { changed: ['deliveries'] } },
    ]);
    await supplyLocked(tx, shopId, locked, { appId: caller.app!.appId });
    return loadDeliveries(tx, shopId, orderId);
  });
}

async function loadDeliveries(db: Queries, shopId: string, orderId: string) {
  const order = await findOrderWithActivity(db, shopId, orderId);
  if (!order) throw notFound();
  const items = await loadPurchase(db, shopId, { order, activity: order, key: undefined });
  return { items: items.map(toDelivery) };
}

export function deliveryState({ delivery, isOpen, areFilesOpen, files }: PurchasedItem): DownloadState {
  if (delivery.keysWaiting > 0) return 'waitsForKeys';
  if (delivery.beginsAt) return 'waitsForConsent';
  if (!isOpen) return 'ended';
  return files.length > 0 && !areFilesOpen ? 'expired' : 'open';
}

function toDelivery(item: PurchasedItem): DeliveryJson {
  const { line, delivery, files, keys } = item;
  const moment = (at: Date | null) => at && toMilliseconds(at);
  return {
    lineItemId: line.lineItemId,
    productId: delivery.productId,
    state: deliveryState(item),
    deliveredOn: moment(delivery.deliveredAt),
    beginsOn: moment(delivery.beginsAt),
    expiresOn: moment(delivery.expiresAt),
    maxDownloads: delivery.maxDownloads,
    isRevoked: delivery.revokedAt !== null,
    missingKeys: delivery.keysWaiting,
    files: files.map(({ file: { fileId, name }, downloads, lastAt }) => ({
      fileId,
      name,
      downloads,
      lastDownloadOn: moment(lastAt),
    })),
    keys: keys.map(({ keyId, lastCharacters, isRevoked }) => ({ keyId, lastCharacters, isRevoked })),
  };
}
