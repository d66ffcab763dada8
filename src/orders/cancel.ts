import type { Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { recordEvents } from '../platform/events/log.ts';
import { queueOrderCancelled, type CancelCause } from './cancel-email.ts';
import { changeOrder } from './change.ts';
import { recordHistory } from './history.ts';
import { moveStock, type OpenOrder } from './manage-change.ts';
import { sentQuantities, unshippedLines } from './quantities.ts';
import { queuePaymentProblem } from './payment-emails.ts';
import { findRefundable, requestCancel } from './payments/queries.ts';
import type { ManagedOrder } from './queries.ts';
import { refunded } from './refund.ts';
import { findRefundableCards } from './manage-queries.ts';
import { revokeSoldCards } from './sold-cards/revoke.ts';
import { giveBackPromotions } from '../coupons/promotion-queries.ts';
import { giveBackCoupon } from '../coupons/redemption-queries.ts';

/**
 * Cancels an order that this transaction has locked and that is not cancelled yet: unsent goods go back into stock,
 * and the use of the coupon is given back. The history records the app (`appId`; null: the shop itself, or its
 * customer) and the reason. The customer gets an email. Money paid through a provider is refunded through it. Returns
 * the cancelled order.
 */
export async function recordCancellation(
  tx: Transaction,
  shopId: string,
  open: Omit<OpenOrder, 'appId'> & { appId: string | null },
  reason: string | null,
  cause: CancelCause = open.appId === null ? 'unpaid' : 'merchant',
): Promise<ManagedOrder> {
  const { order, activity, appId } = open;
  const { lines, coupon } = order.content;
  const rest = unshippedLines(order.content, activity.shipments);
  if (lines.length > 0 && rest.length === 0) {
    throw new Refusal('ORDER_SHIPPED');
  }
  // It must no longer be paid; a payment that still arrives is refunded.
  await requestCancel(tx, shopId, order.orderId);
  const productOf = new Map(lines.map(({ lineItemId, productId }) => [lineItemId, productId]));
  await moveStock(
    { tx, shopId },
    open,
    rest.map(({ lineItemId, quantity }) => ({
      lineItemId,
      productId: productOf.get(lineItemId)!,
      quantity: Number(quantity),
    })),
  );
  if (coupon?.terms && coupon.codeKey !== null) await giveBackCoupon(tx, shopId, coupon.codeKey);
  const counted = (order.content.promotions ?? []).filter(({ isCounted }) => isCounted);
  await giveBackPromotions(
    tx,
    shopId,
    counted.map(({ promotionId }) => promotionId),
    order.customerId,
  );
  await revokeSoldCards(tx, shopId, order, null, { appId, isWithdrawal: cause === 'withdrawal' });
  const cancelled = await changeOrder(tx, shopId, order, {
    cancelledAt: tx.now,
    rejectedOn: order.rejectedOn ?? tx.now,
    editingAppId: null,
    editingSince: null,
  });
  // The reason in the history is free text, and may name a person.
  recordEvents(tx, shopId, [
    {
      type: 'ORDER_CANCELLED',
      resourceId: order.orderId,
      data: { reason: cause },
    },
  ]);
  await recordHistory(tx, shopId, order.orderId, {
    appId,
    kind: 'cancelled',
    details: { reason, cause, givenBack: rest },
  });
  await queueOrderCancelled(tx, shopId, cancelled, cause);
  return cause === 'withdrawal' ? cancelled : refundCancelled(tx, shopId, { ...open, order: cancelled });
}

/**
 * Refunds what gift cards have paid, and requests the refund of payments through a provider, for an order of which nothing
 * was sent. The merchant is told of
 * the rest: a transfer is refunded by hand, and only the merchant can decide about goods that the customer keeps.
 * After a withdrawal the merchant decides, too, because of the delivery costs.
 */
async function refundCancelled(
  tx: Transaction,
  shopId: string,
  open: Parameters<typeof recordCancellation>[2],
): Promise<ManagedOrder> {
  const { order, appId, settings } = open;
  const paid = order.paidAmount - order.refundedAmount;
  if (paid === 0) return order;
  const attempts = await findRefundable(tx, shopId, order.orderId);
  const cards = await findRefundableCards(tx, shopId, order.orderId);
  const automatic = [...attempts, ...cards].reduce((sum, { left }) => sum + left, 0);
  const isSent = sentQuantities(open).size > 0 || order.partiallyDispatchedOn !== null;
  const amount = isSent ? 0 : Math.min(paid, automatic);
  if (amount < paid) {
    const problem = { problem: 'refundByHand', amount: paid - amount } as const;
    await queuePaymentProblem(tx, shopId, settings, order, problem);
  }
  if (amount === 0) return order;
  const refund = { paymentId: newId(tx.now), reference: null, note: null, returnId: null };
  return refunded({ tx, shopId }, { order, appId }, amount, refund, { reason: 'the order was cancelled' });
}
