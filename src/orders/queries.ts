import type { Content } from '../pricing/content.ts';
import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { Address } from '../shops/countries/address.ts';
import type { Buyer } from '../shops/vat-numbers/buyer.ts';
import type { PaymentWait } from './order-state.ts';
import type { State } from './schema.ts';

/** An order as answers show it, with its customer's number. */
export interface OrderRow extends Record<State, Date | null> {
  orderId: string;
  orderNumber: string;
  createdAt: Date;
  updatedAt: Date | null;
  customerId: string;
  customerNumber: string;
  locale: string;
  currency: string;
  taxModel: 'GROSS' | 'NET';
  customerComment: string | null;
  internalNote: string | null;
  billingAddress: Address;
  shippingAddress: Address | null;
  content: Content;
}

/** As a list reads it: the lines are most of an order, and few clients need them there. */
export interface ListedOrder extends Omit<OrderRow, 'content'> {
  content: Omit<Content, 'lines' | 'coupon' | 'offers' | 'taxes'>;
}

/** The same with data for the back office only. */
export interface ManagedOrder extends OrderRow {
  /** The app that placed it; null: the shop itself. */
  appId: string | null;
  /** The checkout session of an assistant that has brought the buyer; null: none has. */
  assistantSessionId: string | null;
  /** The app that edits it; null: none. */
  editingAppId: string | null;
  editingSince: Date | null;
  cancelledAt: Date | null;
  /** In minor units of its currency. */
  paidAmount: number;
  refundedAmount: number;
  erasedAt: Date | null;
  /** It was not opened in the admin yet. */
  isNew: boolean;
  buyer: Buyer | null;
  /** See `orderState`. */
  paymentWait: PaymentWait | null;
}

/** Of `customer_order` joined with `customer`, with the requested content. */
export const orderColumnsWith = (content: Sql) => sql`
  upper(customer_order.order_id::text) as "orderId", customer_order.order_number as "orderNumber",
  customer_order.created_at as "createdAt", customer_order.updated_at as "updatedAt",
  upper(customer_order.customer_id::text) as "customerId", customer.customer_number as "customerNumber",
  customer_order.locale, customer_order.currency, customer_order.tax_model as "taxModel",
  customer_order.customer_comment as "customerComment", customer_order.internal_note as "internalNote",
  customer_order.billing_address as "billingAddress",
  customer_order.shipping_address as "shippingAddress", ${content},
  viewed_at as "viewedOn", rejected_at as "rejectedOn", in_process_at as "inProcessOn", pending_at as "pendingOn",
  ready_for_dispatch_at as "readyForDispatchOn", partially_dispatched_at as "partiallyDispatchedOn",
  dispatched_at as "dispatchedOn", delivered_at as "deliveredOn", partially_invoiced_at as "partiallyInvoicedOn",
  invoiced_at as "invoicedOn", partially_paid_at as "partiallyPaidOn", paid_at as "paidOn",
  returned_at as "returnedOn", closed_at as "closedOn", archived_at as "archivedOn"`;

export const orderColumns = orderColumnsWith(sql`customer_order.content`);

/** Data for the back office only. */
export const managedColumns = sql`
  upper(customer_order.app_id::text) as "appId",
  upper(customer_order.assistant_session_id::text) as "assistantSessionId", upper(editing_app_id::text) as "editingAppId",
  editing_since as "editingSince", cancelled_at as "cancelledAt", paid_amount as "paidAmount",
  refunded_amount as "refundedAmount", erased_at as "erasedAt", is_new as "isNew",
  payment_wait as "paymentWait", customer_order.buyer`;

/**
 * Some of the items of an order came back, and not all; a column of `customer_order`. The unsent part of a cancelled
 * order does not come back.
 */
export const isPartlyReturned = (shopId: string) => sql`
  case when returned_at is not null and cancelled_at is null then coalesce((
      select sum(line.quantity) from order_return
      cross join jsonb_to_recordset(order_return.lines) as line (quantity numeric)
      where order_return.shop_id = ${shopId} and order_return.order_id = customer_order.order_id
        and order_return.state in ('received', 'refunded', 'refundFailed')
    ) < (
      select sum(line.quantity)
      from jsonb_to_recordset(customer_order.content -> 'lines') as line (quantity numeric)
    ), false)
    else false end`;

export const ordersWithCustomers = sql`
  customer_order join customer on customer.shop_id = customer_order.shop_id
    and customer.customer_id = customer_order.customer_id`;

/** Its text depends on these. */
export interface OrderVersions {
  version: number;
  customerNumber: string;
  settingsVersion: number;
}

export function findOrderVersions(db: Queries, shopId: string, orderId: string) {
  return db.one<OrderVersions>(sql`
    select customer_order.version, customer.customer_number as "customerNumber",
      shop.settings_version as "settingsVersion"
    from ${ordersWithCustomers} join shop on shop.shop_id = customer_order.shop_id
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}`);
}

export function findOrder(db: Queries, shopId: string, orderId: string) {
  return db.one<OrderRow & { version: number }>(sql`
    select ${orderColumns}, customer_order.version from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}`);
}

/** With data for the back office. */
export function findManagedOrder(db: Queries, shopId: string, orderId: string) {
  return db.one<ManagedOrder>(sql`
    select ${orderColumns}, ${managedColumns} from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}`);
}

/** With data for the back office, in no order. */
export function findManagedOrdersByIds(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<ManagedOrder>(sql`
    select ${orderColumns}, ${managedColumns} from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.order_id = any (${orderIds}::uuid[])`);
}

/** The order that a cart became: holders of the cart's token may know. */
export function findOrderOfCart(db: Queries, shopId: string, cartId: string) {
  return db.one<{ orderId: string; tokenHash: Buffer }>(sql`
    select upper(order_id::text) as "orderId", cart_token_hash as "tokenHash" from customer_order
    where shop_id = ${shopId} and cart_id = ${cartId}`);
}

/** The order with this number, if this email address belongs to it; not that of an erased customer. */
export function findOrderOf(db: Queries, shopId: string, orderNumber: string, email: string) {
  return db.one<{ orderId: string; orderNumber: string; locale: string; email: string }>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber", locale,
      billing_address ->> 'emailAddress' as email
    from customer_order
    where shop_id = ${shopId} and order_number = ${orderNumber} and erased_at is null
      and lower(billing_address ->> 'emailAddress') = lower(${email})`);
}

/**
 * Records that an order was opened. Nothing else of the order changes, and nothing is counted from this: it is the one
 * write to an order beside `placeOrders` and `changeOrder`. An order that was seen before is not written.
 */
export function markSeen(db: Queries, shopId: string, orderId: string) {
  return db.run(sql`
    update customer_order set is_new = false where shop_id = ${shopId} and order_id = ${orderId} and is_new`);
}
