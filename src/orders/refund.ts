import { moneyText } from '../http/price-text.ts';
import type { Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { toDecimal } from '../kernel/money.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { changeOrder, type OrderChanges } from './change.ts';
import { recordHistory } from './history.ts';
import { insertPayment, type Payment } from './manage-queries.ts';
import { emailAddressOf } from './order-email.ts';
import { findRefundable } from './payments/queries.ts';
import type { ManagedOrder } from './queries.ts';
import { refundEmail } from './refund-email.ts';

export interface RefundOptions {
  changes?: OrderChanges;
  /** Changes beside the row of the order and the payments. */
  also?: readonly string[];
  /** For the history: why the shop itself makes a refund. */
  reason?: string;
  /** The history entry of a return says what was refunded by hand. */
  isPartOfReturn?: boolean;
  /** The part of the amount that only the merchant's goodwill justifies. */
  goodwill?: Goodwill | null;
}

export interface Goodwill {
  amount: number;
  reason: string;
}

/**
 * Refunds no more than the rest of the payments of an order that this transaction has locked. Payments through a
 * provider are requested, and refunded through it a moment later; the rest has been refunded by hand, and the customer
 * is told at once. `refund.paymentId` is the id of the first part. Returns the updated order.
 */
export async function refunded(
  { tx, shopId }: { tx: Transaction; shopId: string },
  { order, appId }: { order: ManagedOrder; appId: string | null },
  amount: number,
  refund: Pick<Payment, 'paymentId' | 'reference' | 'note' | 'returnId'>,
  { changes = {}, also = [], reason, isPartOfReturn = false, goodwill = null }: RefundOptions = {},
): Promise<ManagedOrder> {
  const left = order.paidAmount - order.refundedAmount;
  if (amount > left)
    throw new Refusal('REFUND_TOO_HIGH', { amount: { minor: left, currency: order.currency } });
  const parts = refundParts(amount, await findRefundable(tx, shopId, order.orderId));
  const refundedAmount = order.refundedAmount + amount;
  const after = await changeOrder(
    tx,
    shopId,
    order,
    { ...changes, refundedAmount },
    { also: [...also, 'payments'] },
  );
  let goodwillLeft = goodwill?.amount ?? 0;
  for (const [index, part] of parts.entries()) {
    const paymentId = index === 0 ? refund.paymentId : newId(tx.now);
    const isByHand = part.attemptId === null;
    const goodwillAmount = Math.min(goodwillLeft, part.amount);
    goodwillLeft -= goodwillAmount;
    await insertPayment(tx, shopId, order.orderId, {
      ...refund,
      ...part,
      paymentId,
      kind: 'refund',
      // A provider assigns its own refund ids.
      reference: isByHand ? refund.reference : null,
      goodwillAmount,
      goodwillReason: goodwillAmount > 0 ? goodwill!.reason : null,
    });
    if (!isByHand || !isPartOfReturn) {
      const details = {
        paymentId,
        amount: toDecimal(part.amount, order.currency),
        ...(refund.returnId !== null && { returnId: refund.returnId }),
        ...(reason && { reason }),
        ...(goodwillAmount > 0 && {
          goodwill: toDecimal(goodwillAmount, order.currency),
          reason: goodwill!.reason,
        }),
      };
      const kind = isByHand ? 'refunded' : 'refund requested';
      await recordHistory(tx, shopId, order.orderId, { appId, kind, details });
    }
    if (isByHand) await tellOfRefund(tx, shopId, after, part.amount);
  }
  return after;
}

/** The part of a refund beyond the justified amount, if the merchant gives a reason for it. */
export function goodwillBeyond(
  justified: number,
  amount: number,
  reason: string | null | undefined,
): Goodwill | null {
  return reason && amount > justified ? { amount: amount - justified, reason } : null;
}

/** A refund was made: records the event and tells the customer. */
export async function tellOfRefund(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  amount: number,
): Promise<void> {
  const { orderId, orderNumber, currency, locale } = order;
  recordEvents(tx, shopId, [
    { type: 'ORDER_REFUNDED', resourceId: orderId, data: { amount: toDecimal(amount, currency), currency } },
  ]);
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const facts = { orderId, orderNumber, amount: moneyText(amount, currency, locale) };
  await queueEmails(tx, shopId, refundEmail, [{ to, locale, facts }]);
}

/**
 * Divides a refund among the payments through a provider, in order, none beyond its refundable rest. The remainder was
 * paid by hand and is refunded by hand.
 */
function refundParts(
  amount: number,
  refundable: readonly { attemptId: string; left: number }[],
): { attemptId: string | null; amount: number }[] {
  const parts: { attemptId: string | null; amount: number }[] = [];
  let rest = amount;
  for (const { attemptId, left } of refundable) {
    const part = Math.min(rest, left);
    if (part > 0) parts.push({ attemptId, amount: part });
    rest -= part;
  }
  return rest > 0 ? [...parts, { attemptId: null, amount: rest }] : parts;
}
