import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { type NewEvent, noteShopLock, recordEvents, takeTimeOfCommit } from '../platform/events/log.ts';
import { changesWhatAssistantsSee, queueAssistantNotices } from './assistant-notices.ts';
import { type CustomerShare, moveCustomerTotals } from './customer-totals.ts';
import { type CountedOrder, insertOrderLines, moveDaySum, netRevenue } from './day-sums.ts';
import { type ManagedOrder, managedColumns, orderColumns, ordersWithCustomers } from './queries.ts';
import { issueSoldCards, sellsCards } from './sold-cards/issue.ts';
import { type OrderActivity, findOrderActivity } from './manage-queries.ts';
import { isDeepStrictEqual } from 'node:util';
import { toDecimal } from '../kernel/money.ts';
import { STATES } from './schema.ts';

/** The mutable parts of an order after it was placed. */
export type OrderChanges = Partial<
  Omit<
    ManagedOrder,
    | 'orderId'
    | 'createdAt'
    | 'updatedAt'
    | 'customerNumber'
    | 'locale'
    | 'currency'
    | 'appId'
    | 'assistantSessionId'
  >
>;

/**
 * Changes an order that this transaction has locked, and its counts, and records the events. `moves`: the change
 * updates lastUpdatedOnDate (lines, methods, addresses, documents). `also`: changes beside the row, for the event.
 * `releaseAt`: when it is cancelled unless it is paid, if the payment method changes; without it, the order waits for
 * payment for ever. `events`: further events of the same cause. Returns the order as it is now.
 *
 * lastUpdatedOnDate is the time of the commit, so a list of changes since a moment never shows a later change before
 * an earlier one. The time is taken after all shared rows are locked, such as stock and coupon, and before the sums of
 * days (see `recordEvents`).
 *
 * Writes every column that may change, so the statement is the same for every change: the lock keeps others from
 * writing them. Only long ones are skipped when unchanged, because writing them again costs space.
 */
export async function changeOrder(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  changes: OrderChanges,
  {
    moves = false,
    also = [],
    releaseAt = null,
    events = [],
  }: {
    moves?: boolean;
    also?: readonly string[];
    releaseAt?: Date | null;
    events?: readonly NewEvent[];
  } = {},
): Promise<ManagedOrder> {
  const changed = orderEvents(order, { ...order, ...changes }, also);
  recordEvents(tx, shopId, [...changed, ...events]);
  if (changesWhatAssistantsSee(changed)) await queueAssistantNotices(tx, shopId, [order]);
  if (Object.keys(changes).length === 0 && !moves) return order;
  const changedAt = await takeTimeOfCommit(tx, shopId);
  const next: ManagedOrder = { ...order, ...changes, ...(moves && { updatedAt: changedAt }) };
  const { content } = changes;
  const keepsRelease = !content || paymentMethodOf(content) === paymentMethodOf(order.content);
  const counted = await tx.one<{
    before: Counted;
    after: Counted;
    shareBefore: CustomerShare;
    shareAfter: CustomerShare;
  }>(sql`
      update customer_order
      set version = version + 1, updated_at = ${next.updatedAt}, order_number = ${next.orderNumber},
        customer_id = ${next.customerId}, tax_model = ${next.taxModel}, customer_comment = ${next.customerComment},
        internal_note = ${next.internalNote},
        billing_address = case when ${'billingAddress' in changes} then ${next.billingAddress}::json
          else billing_address end,
        shipping_address = case when ${'shippingAddress' in changes} then ${next.shippingAddress}::json
          else shipping_address end,
        content = coalesce(${content ?? null}::jsonb, content),
        grand_total = coalesce(${content?.grandTotal ?? null}, grand_total),
        total_before_tax = coalesce(${content?.totalBeforeTax ?? null}, total_before_tax),
        total_tax = coalesce(${content?.totalTax ?? null}, total_tax),
        net_revenue = coalesce(${content ? netRevenue(content) : null}::numeric, net_revenue),
        release_at = case when ${keepsRelease} then release_at else ${releaseAt}::timestamptz end,
        viewed_at = ${next.viewedOn}, rejected_at = ${next.rejectedOn}, in_process_at = ${next.inProcessOn},
        pending_at = ${next.pendingOn}, ready_for_dispatch_at = ${next.readyForDispatchOn},
        partially_dispatched_at = ${next.partiallyDispatchedOn}, dispatched_at = ${next.dispatchedOn},
        delivered_at = ${next.deliveredOn}, partially_invoiced_at = ${next.partiallyInvoicedOn},
        invoiced_at = ${next.invoicedOn}, partially_paid_at = ${next.partiallyPaidOn}, paid_at = ${next.paidOn},
        returned_at = ${next.returnedOn}, closed_at = ${next.closedOn}, archived_at = ${next.archivedOn},
        editing_app_id = ${next.editingAppId}, editing_since = ${next.editingSince},
        cancelled_at = ${next.cancelledAt}, paid_amount = ${next.paidAmount},
        refunded_amount = ${next.refundedAmount}, erased_at = ${next.erasedAt}, payment_wait = ${next.paymentWait}, buyer = ${next.buyer}
      from (
        select ${countedColumns} as before, ${shareColumns} as "shareBefore" from customer_order where shop_id = ${shopId} and order_id = ${order.orderId}
      ) earlier
      where shop_id = ${shopId} and order_id = ${order.orderId}
      returning before, ${countedColumns} as after, "shareBefore", ${shareColumns} as "shareAfter"`);
  const { createdAt, currency } = order;
  await moveDaySum(
    tx,
    shopId,
    { ...counted!.before, createdAt, currency },
    { ...counted!.after, createdAt, currency },
  );
  await moveCustomerTotals(tx, shopId, order, counted!.shareBefore, counted!.shareAfter);
  if (content) {
    await tx.run(sql`delete from order_line where shop_id = ${shopId} and order_id = ${order.orderId}`);
    await insertOrderLines(tx, shopId, [next]);
  }
  if (next.paidOn && !order.paidOn && !next.cancelledAt && sellsCards(next.content))
    await issueSoldCards(tx, shopId, next);
  return next;
}

type Counted = Omit<CountedOrder, 'createdAt' | 'currency'>;

/** As text where numbers are exact: PostgreSQL adds them up. */
const countedColumns = sql`json_build_object('states', states, 'gross', grand_total, 'net', net_revenue::text)`;

/** The order's share of the totals of its customer. */
const shareColumns = sql`json_build_object('customerId', upper(customer_id::text),
  'counts', cancelled_at is null and rejected_at is null, 'gross', grand_total, 'refunded', refunded_amount)`;

function paymentMethodOf({ payment }: ManagedOrder['content']): string | undefined {
  return payment?.method?.paymentMethodId;
}

/** With the version of the shop's settings. */
type LockedRow = ManagedOrder & { settingsVersion: number };

/** An order that is locked until the transaction ends, and its activity. */
export interface LockedOrder {
  order: LockedRow;
  activity: OrderActivity;
}

/** The order that a page has read under its lock, for the operation that it calls in the same transaction. */
const readByPage = new WeakMap<Transaction, LockedOrder>();

/** Locks the order until the transaction ends. */
export async function lockOrder(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<LockedRow | undefined> {
  return takeReadByPage(tx, orderId)?.order ?? lockRow(tx, shopId, orderId);
}

/** Locks the order, and then reads its activity: a statement that did both would not see what it has waited for. */
export async function lockOrderWithActivity(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<LockedOrder | undefined> {
  const known = takeReadByPage(tx, orderId);
  if (known) return known;
  const order = await lockRow(tx, shopId, orderId);
  return order && { order, activity: await findOrderActivity(tx, shopId, orderId) };
}

/**
 * Locks an order for a page, which decides by what it reads and then calls an operation. That operation is the first to
 * lock the order again, and gets what is read here; a second one reads the order anew, because the first has changed it.
 */
export async function lockOrderForPage(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<LockedOrder | undefined> {
  const locked = await lockOrderWithActivity(tx, shopId, orderId);
  if (locked) readByPage.set(tx, locked);
  return locked;
}

function takeReadByPage(tx: Transaction, orderId: string): LockedOrder | undefined {
  const known = readByPage.get(tx);
  if (known?.order.orderId !== orderId.toUpperCase()) return undefined;
  readByPage.delete(tx);
  return known;
}

/** The shop is locked as well, which a change of the order needs before it can record events. */
async function lockRow(tx: Transaction, shopId: string, orderId: string): Promise<LockedRow | undefined> {
  const row = await tx.one<LockedRow>(sql`
    select ${orderColumns}, ${managedColumns}, shop.settings_version as "settingsVersion"
    from ${ordersWithCustomers} join shop on shop.shop_id = customer_order.shop_id
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}
    for no key update of customer_order for key share of shop`);
  if (row) noteShopLock(tx, shopId);
  return row;
}

/** The fields of an order that can change, by their API names. */
const FIELDS: Readonly<Record<string, (order: ManagedOrder) => unknown>> = {
  orderNumber: ({ orderNumber }) => orderNumber,
  customerId: ({ customerId }) => customerId,
  taxModel: ({ taxModel }) => taxModel,
  customerComment: ({ customerComment }) => customerComment,
  internalNote: ({ internalNote }) => internalNote,
  billingAddress: ({ billingAddress }) => billingAddress,
  shippingAddress: ({ shippingAddress }) => shippingAddress,
  lineItems: ({ content }) => content.lines,
  shippingData: ({ content }) => [content.shipping, content.shippingPrice],
  paymentData: ({ content }) => content.payment,
  grandTotal: ({ content }) => content.grandTotal,
  ...Object.fromEntries(STATES.map((state) => [state, (order: ManagedOrder) => order[state]])),
  editing: ({ editingAppId }) => editingAppId,
  cancelledOn: ({ cancelledAt }) => cancelledAt,
  paidAmount: ({ paidAmount }) => paidAmount,
  refundedAmount: ({ refundedAmount }) => refundedAmount,
};

/**
 * The events of a changed order. `also` names changes beside its row: shipments, returns, payments and documents. A
 * change without effect has no event.
 */
export function orderEvents(
  before: ManagedOrder,
  after: ManagedOrder,
  also: readonly string[] = [],
): NewEvent[] {
  const { orderId, currency, content } = after;
  const changed = [
    ...also,
    ...Object.keys(FIELDS).filter((name) => !isSame(FIELDS[name]!(before), FIELDS[name]!(after))),
  ];
  if (changed.length === 0) return [];
  const isNewlyPaid = before.paidOn === null && after.paidOn !== null;
  return [
    { type: 'ORDER_UPDATE', resourceId: orderId, data: { changed } },
    ...(isNewlyPaid
      ? [
          {
            type: 'ORDER_PAID' as const,
            resourceId: orderId,
            data: { amount: toDecimal(content.grandTotal, currency), currency },
          },
        ]
      : []),
  ];
}

/** As in JSON: data from the database lacks the keys that are undefined. */
function isSame(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(plain(left), plain(right));
}

function plain(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
