import { randomUUID } from 'node:crypto';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { takeTimeOfCommit } from '../platform/events/log.ts';
import { addToCustomerTotals, moveCustomerTotals } from './customer-totals.ts';
import { addPlacedOrders, insertOrderLines, moveDaySum, type CountedOrder } from './day-sums.ts';
import { insertOrders, type NumberedOrder } from './insert-orders.ts';

/** An order of another shop, with what has happened to it there. */
export interface PastOrder extends Omit<NumberedOrder, 'today'> {
  paidOn: Date | null;
  dispatchedOn: Date | null;
  cancelledAt: Date | null;
  paidAmount: number;
  refundedAmount: number;
  customerComment: string | null;
  internalNote: string | null;
}

/**
 * Writes orders that were placed in another shop, as they were. They take no stock, coupon, number or invoice, send no
 * email and record no event; lists, sales and the totals of customers count them. An order whose number exists is left
 * out. Returns the ids of the written ones.
 */
export async function insertPastOrders(
  tx: Transaction,
  shopId: string,
  orders: readonly PastOrder[],
): Promise<Set<string>> {
  const taken = new Set(
    (
      await tx.many<{ orderNumber: string }>(sql`
        select order_number as "orderNumber" from customer_order
        where shop_id = ${shopId} and order_number = any (${orders.map(({ orderNumber }) => orderNumber)}::text[])`)
    ).map(({ orderNumber }) => orderNumber),
  );
  const written = orders.filter(({ orderNumber }) => !taken.has(orderNumber));
  if (written.length === 0) return new Set();
  // As placing orders does, this locks the counter of events before the sums of days.
  await takeTimeOfCommit(tx, shopId);
  await insertOrders(tx, shopId, written);
  await insertOrderLines(tx, shopId, written);
  await addPlacedOrders(tx, shopId, written);
  await addToCustomerTotals(tx, shopId, written);
  const moved = await tx.many<{ orderId: string; before: Counted; after: Counted }>(sql`
    update customer_order
    set is_new = false, paid_at = past.paid_on, dispatched_at = past.dispatched_on,
      rejected_at = past.cancelled_at, cancelled_at = past.cancelled_at, paid_amount = past.paid_amount,
      refunded_amount = past.refunded_amount, customer_comment = past.customer_comment,
      internal_note = past.internal_note, viewed_at = past.viewed_on
    from jsonb_to_recordset(${JSON.stringify(written.map(toStates))}) as past (order_id uuid, paid_on timestamptz,
      dispatched_on timestamptz, cancelled_at timestamptz, paid_amount bigint, refunded_amount bigint,
      customer_comment text, internal_note text, viewed_on timestamptz)
    where customer_order.shop_id = ${shopId} and customer_order.order_id = past.order_id
    returning upper(customer_order.order_id::text) as "orderId",
      json_build_object('states', 0, 'gross', grand_total, 'net', net_revenue::text) as before,
      json_build_object('states', states, 'gross', grand_total, 'net', net_revenue::text) as after`);
  const byId = new Map(written.map((order) => [order.orderId, order]));
  for (const { orderId, before, after } of moved) {
    const order = byId.get(orderId)!;
    const { createdAt, content, buyerId, refundedAmount, cancelledAt, locale } = order;
    const { currency, grandTotal: gross } = content;
    await moveDaySum(tx, shopId, { ...before, createdAt, currency }, { ...after, createdAt, currency });
    const share = { customerId: buyerId, gross };
    await moveCustomerTotals(
      tx,
      shopId,
      { createdAt, currency, locale },
      { ...share, counts: true, refunded: 0 },
      { ...share, counts: cancelledAt === null, refunded: refundedAmount },
    );
  }
  return new Set(byId.keys());
}

type Counted = Omit<CountedOrder, 'createdAt' | 'currency'>;

/** The merchant has seen them: they are not new. */
const toStates = (order: PastOrder) => ({
  order_id: order.orderId,
  paid_on: order.paidOn,
  dispatched_on: order.dispatchedOn,
  cancelled_at: order.cancelledAt,
  paid_amount: order.paidAmount,
  refunded_amount: order.refundedAmount,
  customer_comment: order.customerComment,
  internal_note: order.internalNote,
  viewed_on: order.createdAt,
});

/** In a copy of a shop: no token of a cart there opens an order here. */
export function endCartTokens(tx: Transaction, shopId: string) {
  return tx.run(sql`
    update customer_order
    set cart_token_hash = sha256(convert_to(order_id::text || ${randomUUID()}::text, 'UTF8'))
    where shop_id = ${shopId}`);
}
