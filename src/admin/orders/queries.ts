import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import {
  andReady,
  columnsWithoutLines,
  hasStates,
  isWaiting,
  type ListedManagedOrder,
  type OrderFilter,
} from '../../orders/list.ts';
import type { PartLine } from '../../orders/manage-queries.ts';
import type { PaymentWait } from '../../orders/order-state.ts';
import {
  isPartlyReturned,
  managedColumns,
  orderColumns,
  ordersWithCustomers,
  type ManagedOrder,
} from '../../orders/queries.ts';
import type { Window } from '../../orders/window.ts';
import { foundCustomers } from '../customers/queries.ts';
import { PART_STATES } from './states.ts';

export interface WaitingCounts {
  todo: number;
  new: number;
  toPay: number;
  toShip: number;
  waitingForPayment: number;
  paymentFailed: number;
  returns: number;
}

/**
 * The number of orders that wait for something, from the sums of days; and of returns and new orders, up to a limit.
 * An order that waits for its payment is neither sent nor ended, so it is in the sum of those to ship.
 */
export async function countWaiting(db: Queries, shopId: string): Promise<WaitingCounts> {
  const { todo, toPay, toShip } = PART_STATES;
  const row = await db.one<WaitingCounts>(sql`
    with unpaid as materialized (
      select count(*) filter (where payment_wait = 'open') as open,
        count(*) filter (where payment_wait = 'failed') as failed
      from customer_order where shop_id = ${shopId} and ${isWaiting}
    )
    select coalesce(sum(orders) filter (where ${hasStates({ states: todo })}), 0)::bigint as todo,
      coalesce(sum(orders) filter (where ${hasStates({ states: toPay })}), 0)::bigint as "toPay",
      coalesce(sum(orders) filter (where ${hasStates({ states: toShip })}), 0)::bigint
        - (select open + failed from unpaid) as "toShip",
      (select open from unpaid) as "waitingForPayment", (select failed from unpaid) as "paymentFailed", (
        select count(*) from (select from order_return where ${isOpenReturn(shopId)} limit ${MAX_FOUND}) waiting
      ) as returns, (
        select count(*) from (select from customer_order where shop_id = ${shopId} and is_new limit ${MAX_FOUND}) unseen
      ) as new
    from order_day where shop_id = ${shopId}`);
  return row!;
}

/** A condition on returns: they wait for the merchant. It has an index. */
const isOpenReturn = (shopId: string) =>
  sql`shop_id = ${shopId} and state in ('requested', 'approved', 'withdrawn')`;

/** Orders with a return that waits for the merchant, at most MAX_FOUND. */
export async function findOrdersWithReturns(db: Queries, shopId: string): Promise<string[]> {
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from order_return where ${isOpenReturn(shopId)}
    group by order_id order by max(at) desc limit ${MAX_FOUND}`);
  return rows.map(({ orderId }) => orderId);
}

/** Orders that have not been opened yet, newest first, at most MAX_FOUND. */
export async function findNewOrders(
  db: Queries,
  shopId: string,
  { createdAfter, createdBefore }: Window,
): Promise<string[]> {
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from customer_order
    where shop_id = ${shopId} and is_new and created_at > ${createdAfter ?? '-infinity'}::timestamptz
      and created_at < ${createdBefore ?? 'infinity'}::timestamptz
    order by created_at desc, order_id desc limit ${MAX_FOUND}`);
  return rows.map(({ orderId }) => orderId);
}

/** Orders that wait for their payment, newest first, at most MAX_FOUND. */
export async function findWaitingOrders(
  db: Queries,
  shopId: string,
  paymentWait: PaymentWait,
  { createdAfter, createdBefore }: Window,
): Promise<string[]> {
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from customer_order
    where shop_id = ${shopId} and ${isWaiting} and payment_wait = ${paymentWait}
      and created_at > ${createdAfter ?? '-infinity'}::timestamptz
      and created_at < ${createdBefore ?? 'infinity'}::timestamptz
    order by created_at desc, order_id desc limit ${MAX_FOUND}`);
  return rows.map(({ orderId }) => orderId);
}

/** A text is the beginning of all texts from itself to this one, in the order of bytes. */
const endOf = (beginning: string) => `${beginning}\u{10FFFF}`;

const reversed = (text: string) => Array.from(text).toReversed().join('');

/** The most orders that a search finds, and the most customers of each kind of match whose orders it looks at. */
export const MAX_FOUND = 500;
const MAX_CUSTOMERS = 100;

/** A condition on orders: the number ends with this text, or the customer is found by it: number, email address, name. */
const isFound = (shopId: string, text: string) => sql`
  customer_order.order_id = any (array(
    (
      select order_id from customer_order
      where shop_id = ${shopId} and reverse(order_number) collate "C" >= ${reversed(text)}
        and reverse(order_number) collate "C" < ${endOf(reversed(text))}
      limit ${MAX_FOUND}
    ) union (
      select order_id from customer_order
      where shop_id = ${shopId} and customer_id = any (array(
        select customer_id from (${foundCustomers(shopId, { text, customerGroupId: '' }, MAX_CUSTOMERS)}) found
      ))
      order by created_at desc limit ${MAX_FOUND}
    )
  ))`;

export type SearchFilter = Pick<OrderFilter, 'states' | 'isReady' | keyof Window> & {
  /** Only orders that have not been opened yet. */
  isNew: boolean;
  /** Only orders that wait for their payment, and why. */
  paymentWait: PaymentWait | null;
};

/** Newest first, at most MAX_FOUND. */
export async function searchOrders(
  db: Queries,
  shopId: string,
  text: string,
  filter: SearchFilter,
): Promise<string[]> {
  const { createdAfter, createdBefore, isNew, paymentWait } = filter;
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from customer_order
    where shop_id = ${shopId} and ${isFound(shopId, text)} and ${hasStates(filter)}
      and (is_new or not ${isNew}::boolean) ${andReady(filter)}
      and (${paymentWait}::text is null or (${isWaiting} and payment_wait = ${paymentWait}))
      and created_at > ${createdAfter ?? '-infinity'}::timestamptz
      and created_at < ${createdBefore ?? 'infinity'}::timestamptz
    order by created_at desc, order_id desc limit ${MAX_FOUND}`);
  return rows.map(({ orderId }) => orderId);
}

/** The orders among these that belong to the shop, newest first. */
export function findListedOrders(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<ListedManagedOrder>(sql`
    select ${columnsWithoutLines}, ${managedColumns}, ${isPartlyReturned(shopId)} as "isPartlyReturned"
    from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.order_id = any (${orderIds}::uuid[])
    order by customer_order.created_at desc, customer_order.order_id desc`);
}

/** The orders among these that belong to the shop, with their lines, oldest first. */
export function findWholeOrdersById(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<ManagedOrder>(sql`
    select ${orderColumns}, ${managedColumns} from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.order_id = any (${orderIds}::uuid[])
    order by customer_order.created_at, customer_order.order_id`);
}

/** The shipments of these orders. */
export function findShipments(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<{ orderId: string; lines: PartLine[] }>(sql`
    select upper(order_id::text) as "orderId", lines from order_shipment
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`);
}

export interface OrderNumberMatch {
  orderId: string;
  orderNumber: string;
  currency: string;
  /** In minor units; null: it does not wait for its payment. */
  unpaid: number | null;
}

/** The order with this number, or those whose numbers end with it: at most two, which is ambiguous. */
export async function findOrdersByNumberSuffix(
  db: Queries,
  shopId: string,
  text: string,
): Promise<OrderNumberMatch[]> {
  const found = await db.many<OrderNumberMatch>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber", currency,
      case when ${isWaiting} then grand_total - paid_amount end as unpaid
    from customer_order
    where shop_id = ${shopId} and reverse(order_number) collate "C" >= ${reversed(text)}
      and reverse(order_number) collate "C" < ${endOf(reversed(text))}
    order by reverse(order_number) collate "C" limit 2`);
  // An exact match comes first among those that end with it.
  return found[0]?.orderNumber === text ? [found[0]] : found;
}

/** The email addresses of users by id: their changes to an order are recorded under their id. */
export async function findEmails(db: Queries, userIds: readonly string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await db.many<{ userId: string; email: string }>(sql`
    select upper(user_id::text) as "userId", email from admin_user where user_id = any (${userIds}::uuid[])`);
  return new Map(rows.map(({ userId, email }) => [userId, email]));
}
