import type { Transaction } from '../db/database.ts';
import type { Content, ContentLine } from '../pricing/content.ts';
import { recordEntry } from '../http/audit-entry.ts';
import { dateTimeText } from '../http/dates.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { recordCancellation } from './cancel.ts';
import { changeOrder, lockOrder } from './change.ts';
import { moneyChange, moveStock, numbered, record, statesReached } from './manage-change.ts';
import {
  isAnnounced,
  millionths,
  orderedLines,
  quantitiesOf,
  quantityText,
  sentLines,
  sentQuantities,
} from './quantities.ts';
import { findOrderActivity, insertReturn, type OrderActivity, type PartLine } from './manage-queries.ts';
import { lineOf, partsOf, partText } from './manage-shipments.ts';
import { returnNoticeEmail, type ReturnAnnounced } from './return-request-emails.ts';
import { revised } from './revision.ts';
import {
  type CustomerOrder,
  hasWithdrawalRight,
  isInReturnPeriod,
  isInWithdrawalPeriod,
} from './withdrawal-period.ts';
import { revokeSoldCards } from './sold-cards/revoke.ts';
import { withdrawalAcknowledgement } from './withdrawal-emails.ts';

/** Actions of customers on their own orders, open to every holder of the link to the order page. */

/** An order that is locked until the transaction ends. The customer has no app. */
type OpenCustomerOrder = CustomerOrder & { appId: null };

export async function openCustomerOrder(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<OpenCustomerOrder> {
  const order = await lockOrder(tx, shopId, orderId);
  if (!order || order.erasedAt) throw notFound();
  const activity = await findOrderActivity(tx, shopId, orderId);
  return { order, activity, settings: await shopSettings(tx, shopId), appId: null };
}

/** Until the merchant begins to pack or to invoice it; not while an app edits it. */
export function isUntouched({ order, activity }: CustomerOrder): boolean {
  return (
    !order.cancelledAt &&
    order.editingAppId === null &&
    activity.invoicedIds.length === 0 &&
    activity.shipments.length === 0 &&
    [order.readyForDispatchOn, order.partiallyDispatchedOn, order.dispatchedOn, order.deliveredOn].every(
      (state) => state === null,
    )
  );
}

export function mayCancel(open: CustomerOrder): boolean {
  return open.settings.orderPage.cancellation && isUntouched(open);
}

export async function cancelForCustomer(tx: Transaction, shopId: string, orderId: string): Promise<void> {
  const open = await openCustomerOrder(tx, shopId, orderId);
  if (!mayCancel(open)) throw new Refusal('ORDER_NOT_CANCELLABLE');
  await recordCancellation(tx, shopId, open, null, 'customer');
}

/** A customer who asks again and again must not fill the order. */
const MAX_RETURNS = 50;

const isFull = ({ returns }: OrderActivity) => returns.length >= MAX_RETURNS;

/** The lines that the customer may ask to return. */
export function returnableLines(open: CustomerOrder, now: Date): PartLine[] {
  if (isFull(open.activity) || !isInReturnPeriod(open, now)) return [];
  return sentLines(open, isAnnounced);
}

export async function requestReturn(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { parts, reason }: { parts: readonly PartLine[]; reason: string },
): Promise<void> {
  const open = await openCustomerOrder(tx, shopId, orderId);
  const lines = partsOf(parts, open, returnableLines(open, tx.now), 'returned');
  const returnId = newId(tx.now);
  await insertReturn(tx, shopId, orderId, {
    returnId,
    lines,
    state: 'requested',
    origin: 'customer',
    reason,
  });
  await changeOrder(tx, shopId, open.order, {}, { also: ['returns'] });
  recordEvents(tx, shopId, [{ type: 'RETURN_REQUESTED', resourceId: orderId, data: { returnId } }]);
  await record({ tx, shopId }, open, 'return requested', { returnId, lines: numbered(lines) });
  await tellMerchant(tx, shopId, open, { parts: lines, wish: 'return', reason });
}

/** For the merchant, in the language of the shop. */
async function tellMerchant(
  tx: Transaction,
  shopId: string,
  { order, settings }: OpenCustomerOrder,
  { parts, ...wish }: Pick<ReturnAnnounced, 'wish' | 'reason'> & { parts: readonly PartLine[] },
): Promise<void> {
  const { email: to, defaultLocale: locale } = settings;
  const goods = parts.map((part) => partText(part, { order: { ...order, locale }, settings }));
  const { orderId, orderNumber } = order;
  const facts = { orderId, orderNumber, goods, ...wish };
  await queueEmails(tx, shopId, returnNoticeEmail, [{ to, locale, facts }]);
}

/** The lines that the customer may withdraw from: all that were ordered, except those without the right. */
export function withdrawableLines(open: CustomerOrder, now: Date): PartLine[] {
  const { order, activity } = open;
  if (order.cancelledAt || isFull(activity) || !isInWithdrawalPeriod(open, now)) return [];
  const excluded = new Set(linesWithoutRight(open).map(({ lineItemId }) => lineItemId));
  return orderedLines(open, isAnnounced).filter(({ lineItemId }) => !excluded.has(lineItemId));
}

/** The lines that were sold without the right of withdrawal, or have lost it since. */
export function linesWithoutRight(open: CustomerOrder): ContentLine[] {
  const sent = sentQuantities(open);
  return open.order.content.lines.filter((line) => !hasWithdrawalRight(line, sent.get(line.lineItemId) ?? 0));
}

export interface Declaration {
  parts: readonly PartLine[];
  /** The person who withdraws. */
  name: string;
  /** The email address for the acknowledgement. */
  contact: string;
}

/**
 * The withdrawal from a contract, or from a part of it. It takes effect at once, without any consent. Unsent goods are
 * cancelled; sent goods become a return that waits for them. The acknowledgement names everything, with date and time
 * (article 11a).
 */
export async function withdraw(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { parts, name, contact }: Declaration,
): Promise<void> {
  const open = await openCustomerOrder(tx, shopId, orderId);
  const { order } = open;
  const withdrawn = partsOf(parts, open, withdrawableLines(open, tx.now), 'withdrawn');
  const { lines, unsentLines } = splitWithdrawal(open, withdrawn);
  const returnId = newId(tx.now);
  /** null: nothing is left, and the order is cancelled. */
  const rest = isWhole(open, unsentLines) ? null : contentWithout(open, unsentLines);
  await insertReturn(tx, shopId, orderId, {
    returnId,
    lines,
    unsentDueAmount:
      unsentLines.length === 0 ? null : Math.max(0, order.content.grandTotal - (rest?.grandTotal ?? 0)),
    unsentLines: unsentLines.map((part) => ({ ...part, text: partText(part, open) })),
    state: 'withdrawn',
    origin: 'withdrawal',
    declaredBy: name,
    contact,
  });
  if (rest === null) await recordCancellation(tx, shopId, open, null, 'withdrawal');
  else await removeUnsent(tx, shopId, open, unsentLines, rest);
  recordEvents(tx, shopId, [{ type: 'ORDER_WITHDRAWN', resourceId: orderId, data: { returnId } }]);
  await record({ tx, shopId }, open, 'withdrawn', {
    returnId,
    lines: numbered(lines),
    unsentLines: numbered(unsentLines),
  });
  await recordEntry(tx, {
    shopId,
    entryId: newId(tx.now),
    at: tx.now,
    appId: null,
    appName: null,
    method: 'POST',
    route: '/shop/:shopId/order/:token/withdraw/confirm',
    object: { orderId, returnId },
  });
  const goods = withdrawn.map((part) => partText(part, open));
  const facts = {
    orderId,
    orderNumber: order.orderNumber,
    goods,
    name,
    contact,
    date: dateTimeText(tx.now, order.locale),
  };
  await tellMerchant(tx, shopId, open, { parts: withdrawn, wish: 'withdrawal', reason: null });
  await queueEmails(tx, shopId, withdrawalAcknowledgement, [{ to: contact, locale: order.locale, facts }]);
}

/**
 * In each line, unsent goods are withdrawn first, because they need not be sent back. An invoice can only be undone by
 * the merchant's credit note, so the lines of an invoiced order stay, and the merchant takes the unsent goods back.
 */
function splitWithdrawal(
  open: OpenCustomerOrder,
  withdrawn: readonly PartLine[],
): { lines: PartLine[]; unsentLines: PartLine[] } {
  const { order, activity } = open;
  const sent = sentQuantities(open);
  const split = withdrawn.map(({ lineItemId, quantity }) => {
    const unsent = Math.min(
      millionths(quantity),
      millionths(lineOf({ lineItemId }, { order }).quantity) - (sent.get(lineItemId) ?? 0),
    );
    return { lineItemId, unsent, sent: millionths(quantity) - unsent };
  });
  const partOf = (lineItemId: string, parts: number) =>
    parts > 0 ? [{ lineItemId, quantity: quantityText(parts) }] : [];
  const unsentLines = split.flatMap(({ lineItemId, unsent }) => partOf(lineItemId, unsent));
  const isFixed = activity.invoicedIds.length > 0 && !isWhole(open, unsentLines);
  return isFixed
    ? { lines: [...withdrawn], unsentLines: [] }
    : { lines: split.flatMap((one) => partOf(one.lineItemId, one.sent)), unsentLines };
}

/** Nothing of the order was sent, and all of it is withdrawn. */
function isWhole({ order }: OpenCustomerOrder, unsentLines: readonly PartLine[]): boolean {
  const unsent = quantitiesOf([{ lines: unsentLines }]);
  return order.content.lines.every(
    ({ lineItemId, quantity }) => unsent.get(lineItemId) === millionths(quantity),
  );
}

/** The content of the order without these goods. */
function contentWithout(open: OpenCustomerOrder, unsentLines: readonly PartLine[]): Content {
  let { content } = open.order;
  for (const { lineItemId, quantity } of unsentLines) {
    const left = millionths(lineOf({ lineItemId }, open).quantity) - millionths(quantity);
    content = revised(
      content,
      left === 0 ? { removed: lineItemId } : { changed: { lineItemId, quantity: quantityText(left) } },
    );
  }
  return content;
}

/** Removes unsent goods from the order and returns them to stock; the sums follow. */
async function removeUnsent(
  tx: Transaction,
  shopId: string,
  open: OpenCustomerOrder,
  unsentLines: readonly PartLine[],
  content: Content,
): Promise<void> {
  const { order, activity } = open;
  await moveStock(
    { tx, shopId },
    open,
    unsentLines.map((part) => ({
      lineItemId: part.lineItemId,
      productId: lineOf(part, open).productId,
      quantity: Number(part.quantity),
    })),
  );
  await revokeSoldCards(tx, shopId, order, unsentLines, { appId: null, isWithdrawal: true });
  const isChanged = unsentLines.length > 0;
  const states = statesReached({ ...order, content }, activity.shipments, tx.now);
  await changeOrder(tx, shopId, order, isChanged ? { content, ...states } : {}, {
    moves: isChanged,
    also: ['returns'],
  });
  if (!isChanged) return;
  await record({ tx, shopId }, open, 'line changed', {
    lines: numbered(unsentLines),
    grandTotal: moneyChange(order.content.grandTotal, content.grandTotal, order),
  });
}
