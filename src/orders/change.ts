import type { Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { ManagedOrder } from './queries.ts';
import { netRevenue } from './revenue.ts';
import { addToDays, deleteEmptyDays, insertLines, type TouchedDay } from './tally.ts';

/** What may change in an order after it was placed. */
export type OrderChanges = Partial<
  Omit<
    ManagedOrder,
    'orderId' | 'createdAt' | 'updatedAt' | 'customerNumber' | 'locale' | 'currency' | 'appId'
  >
>;

/** An order that is paid in another way than it was placed with waits for its payment for ever. */
const SETTERS: { [Key in keyof Required<OrderChanges>]: (value: Required<OrderChanges>[Key]) => Sql } = {
  orderNumber: (value) => sql`order_number = ${value}`,
  customerId: (value) => sql`customer_id = ${value}`,
  taxModel: (value) => sql`tax_model = ${value}`,
  customerComment: (value) => sql`customer_comment = ${value}`,
  internalNote: (value) => sql`internal_note = ${value}`,
  billingAddress: (value) => sql`billing_address = ${value}`,
  shippingAddress: (value) => sql`shipping_address = ${value}`,
  content: (value) => sql`
    content = ${value}, grand_total = ${value.grandTotal}, total_before_tax = ${value.totalBeforeTax},
    total_tax = ${value.totalTax}, net_revenue = ${netRevenue(value)},
    release_at = case when coalesce(content #>> '{payment,method,paymentMethodId}', '')
      = ${value.payment?.method?.paymentMethodId ?? ''} then release_at end`,
  viewedOn: (at) => sql`viewed_at = ${at}`,
  rejectedOn: (at) => sql`rejected_at = ${at}`,
  inProcessOn: (at) => sql`in_process_at = ${at}`,
  pendingOn: (at) => sql`pending_at = ${at}`,
  readyForDispatchOn: (at) => sql`ready_for_dispatch_at = ${at}`,
  partiallyDispatchedOn: (at) => sql`partially_dispatched_at = ${at}`,
  dispatchedOn: (at) => sql`dispatched_at = ${at}`,
  deliveredOn: (at) => sql`delivered_at = ${at}`,
  partiallyInvoicedOn: (at) => sql`partially_invoiced_at = ${at}`,
  invoicedOn: (at) => sql`invoiced_at = ${at}`,
  partiallyPaidOn: (at) => sql`partially_paid_at = ${at}`,
  paidOn: (at) => sql`paid_at = ${at}`,
  returnedOn: (at) => sql`returned_at = ${at}`,
  closedOn: (at) => sql`closed_at = ${at}`,
  archivedOn: (at) => sql`archived_at = ${at}`,
  editingAppId: (value) => sql`editing_app_id = ${value}`,
  editingSince: (at) => sql`editing_since = ${at}`,
  cancelledAt: (at) => sql`cancelled_at = ${at}`,
  paidAmount: (value) => sql`paid_amount = ${value}`,
  refundedAmount: (value) => sql`refunded_amount = ${value}`,
  erasedAt: (at) => sql`erased_at = ${at}`,
};

/**
 * Changes an order that this transaction has locked, and what is counted of it. `moves`: it is a change that
 * lastUpdatedOnDate tells of (lines, methods, addresses, documents). Returns the order as it is now.
 */
export async function changeOrder(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  changes: OrderChanges,
  { moves = false }: { moves?: boolean } = {},
): Promise<ManagedOrder> {
  const keys = Object.keys(changes) as (keyof OrderChanges)[];
  const setters = keys.map((key) => (SETTERS[key] as (value: unknown) => Sql)(changes[key]));
  if (moves) setters.push(sql`updated_at = ${tx.now}`);
  if (setters.length === 0) return order;
  const counted = sql`shop_id, created_at, currency, states`;
  const days = await tx.many<TouchedDay>(sql`
    with before as (
      select ${counted}, grand_total, net_revenue from customer_order
      where shop_id = ${shopId} and order_id = ${order.orderId}
    ), after as (
      update customer_order set version = version + 1, ${setters.reduce((all, one) => sql`${all}, ${one}`)}
      where shop_id = ${shopId} and order_id = ${order.orderId}
      returning ${counted}, grand_total, net_revenue
    )
    ${addToDays(sql`
      select ${counted}, -1 as orders, -grand_total as gross, -net_revenue as net from before
      union all select ${counted}, 1, grand_total, net_revenue from after`)}`);
  await deleteEmptyDays(tx, shopId, days);
  if (changes.content) {
    await tx.run(sql`delete from order_line where shop_id = ${shopId} and order_id = ${order.orderId}`);
    await tx.run(insertLines(shopId, order.orderId, order.createdAt, changes.content, sql`true`));
  }
  return { ...order, ...changes, ...(moves && { updatedAt: tx.now }) };
}
