import type { Transaction } from '../db/database.ts';
import { conflict } from '../http/errors.ts';
import { recordEvents } from '../platform/events/log.ts';
import { queueOrderCancelled, type CancelCause } from './cancel-email.ts';
import { changeOrder } from './change.ts';
import { recordHistory } from './history.ts';
import { moveStock, restOf, type OpenOrder } from './manage-change.ts';
import { giveBackCoupon } from './manage-queries.ts';
import { wishForAttempt } from './payments/queries.ts';
import type { ManagedOrder } from './queries.ts';

/**
 * Cancels an order that this transaction has locked and that is not cancelled yet: what was not sent goes back into the
 * stock, and the use of the coupon is given back. The history records who did it (`appId`; null: the shop itself, or its
 * customer) and why. The customer gets an email. Returns the cancelled order.
 */
export async function cancelOrder(
  tx: Transaction,
  shopId: string,
  open: Omit<OpenOrder, 'appId'> & { appId: string | null },
  reason: string | null,
  cause: CancelCause = open.appId === null ? 'unpaid' : 'merchant',
): Promise<ManagedOrder> {
  const { order, dealings, appId } = open;
  const { lines, coupon } = order.content;
  const rest = restOf(order.content, dealings.shipments);
  if (lines.length > 0 && rest.length === 0) {
    throw conflict('All of the order was sent, record a return instead');
  }
  // Nobody is to pay for it any more; what comes all the same is refunded.
  await wishForAttempt(tx, shopId, order.orderId, 'cancel');
  const productOf = new Map(lines.map(({ lineItemId, productId }) => [lineItemId, productId]));
  await moveStock(
    { tx, shopId },
    open,
    rest.map(({ lineItemId, quantity }) => ({
      productId: productOf.get(lineItemId)!,
      quantity: Number(quantity),
    })),
  );
  if (coupon && coupon.codeKey !== null) await giveBackCoupon(tx, shopId, coupon.codeKey);
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
  return cancelled;
}
