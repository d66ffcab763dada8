import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import {
  andReady,
  columnsWithoutLines,
  hasStates,
  isWaiting,
  ordersWith,
  type ListedManagedOrder,
  type OrderFilter,
} from '../../orders/list.ts';
import { hasValues, MAX_WITH_VALUE, rarestValue, type WantedValue } from '../../fields/filter.ts';
import { DOCUMENT_KINDS } from '../../orders/documents/facts.ts';
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
import { afterAll, endOf, foundCustomers, zipCodeKey } from '../../people/customers/find-people.ts';
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

/** Sorts after every character. */
const LAST = '\u{10FFFF}';

const reversed = (text: string) => Array.from(text).toReversed().join('');

/** The most orders that a search finds, and the most customers of each kind of match whose orders it looks at. */
export const MAX_FOUND = 500;
const MAX_CUSTOMERS = 100;
/** A part from the middle of a number is looked for in this many of the newest orders: it has no index. */
const MAX_NUMBERS = 10_000;

/**
 * The ids of the newest orders whose numbers contain the text, in any case, at most MAX_FOUND. Only numbers contain
 * digits, so a name does not read them.
 */
export async function findOrdersByNumberPart(db: Queries, shopId: string, text: string): Promise<string[]> {
  if (!/\d/.test(text)) return [];
  const rows = await db.many<{ orderId: string }>(sql`
    select order_id as "orderId" from (
      select order_id, order_number from customer_order
      where shop_id = ${shopId} order by created_at desc limit ${MAX_NUMBERS}
    ) newest
    where position(${text.toUpperCase()} in upper(order_number)) > 0 limit ${MAX_FOUND}`);
  return rows.map(({ orderId }) => orderId);
}

/** How an order was found; the best match comes first. */
export const FOUND_BY = ['number', 'document', 'tracking', 'part of the number', 'person'] as const;

export interface OrderSearch {
  text: string;
  /** As `findOrdersByNumberPart` returns them. */
  byNumberPart: readonly string[];
}

/**
 * The orders that a text finds, at most `limit` of each kind of match, with how they were found as the place in
 * FOUND_BY. Each kind is a range of an index, so a text costs the same in a shop with a million orders. The orders of
 * customers are sorted by an expression: by the time alone, PostgreSQL would look for them among all orders of the shop.
 */
export const foundOrders = (shopId: string, { text, byNumberPart }: OrderSearch, limit: number) => sql`
  (
    select order_id, 0 as place from customer_order
    where shop_id = ${shopId} and reverse(order_number) collate "C" >= ${reversed(text)}
      and reverse(order_number) collate "C" < ${endOf(reversed(text))}
    limit ${limit}
  ) union all (
    select order_id, 0 from customer_order
    where shop_id = ${shopId} and order_number >= ${text} and order_number < ${afterAll(text)}
      and starts_with(order_number, ${text})
    order by order_number limit ${limit}
  ) union all (
    select order_id, 1 from order_document
    where shop_id = ${shopId} and kind = any (${DOCUMENT_KINDS}::text[]) and number = ${documentNumber(text)}
    limit ${limit}
  ) union all (
    select order_id, 2 from order_shipment
    where shop_id = ${shopId} and ${trackingKey} ~>=~ ${trackingKeyOf(text)}
      and ${trackingKey} ~<~ ${endOf(trackingKeyOf(text))}
    limit ${limit}
  ) union all (
    select order_id, 2 from order_parcel
    where shop_id = ${shopId} and ${trackingKey} ~>=~ ${trackingKeyOf(text)}
      and ${trackingKey} ~<~ ${endOf(trackingKeyOf(text))}
    limit ${limit}
  ) union all (
    select order_id, 4 from customer_order
    where shop_id = ${shopId} and customer_id = any (array(
      select customer_id from (${foundCustomers(shopId, { text, customerGroupId: '' }, MAX_CUSTOMERS)}) found
    ))
    order by (created_at at time zone 'UTC') desc limit ${limit}
  ) union all ${deliveryMatches(shopId, deliveryName, text.toLowerCase(), limit)}
  union all ${deliveryMatches(shopId, deliveryStreet, text.toLowerCase(), limit)}
  union all ${deliveryMatches(shopId, deliveryZipCode, zipCodeKey(text), limit)} union all (
    select order_id, 3 from unnest(${byNumberPart}::uuid[]) as order_id
  )`;

/** The number of an invoice or credit note, alone or after a word: `1001`, `Invoice 1001`, `#1001`. 0: it is none. */
function documentNumber(text: string): number {
  const [, digits] = /^(?:\p{L}+ |#)?(\d{1,15})$/u.exec(text) ?? [];
  return Number(digits ?? 0);
}

const trackingKey = sql`upper(regexp_replace(tracking_code, '[\\s.-]', '', 'g'))`;

/** As the index holds a tracking number. A shorter text begins too many of them, and then matches none. */
function trackingKeyOf(text: string): string {
  const key = text.toUpperCase().replaceAll(/[\s.-]/g, '');
  return key.length < 4 ? LAST : key;
}

const deliveryName = sql`lower(shipping_address ->> 'lastName')`;
const deliveryStreet = sql`lower(shipping_address ->> 'street')`;
const deliveryZipCode = sql`lower(replace(shipping_address ->> 'zipCode', ' ', ''))`;

/** Orders that go to another address than the customer's, by the beginning of one of its fields. */
const deliveryMatches = (shopId: string, field: Sql, beginning: string, limit: number) => sql`(
  select order_id, 4 from customer_order
  where shop_id = ${shopId} and shipping_address is not null and ${field} ~>=~ ${beginning}
    and ${field} ~<~ ${endOf(beginning)}
  limit ${limit})`;

export type SearchFilter = Pick<OrderFilter, 'states' | 'isReady' | keyof Window> & {
  /** Only orders that have not been opened yet. */
  isNew: boolean;
  /** Only orders that wait for their payment, and why. */
  paymentWait: PaymentWait | null;
};

/** The newest orders with a tag: ids begin with the moment of the order. */
const ordersTagged = (shopId: string, tag: string) => sql`
  select order_id from order_tag where shop_id = ${shopId} and tag_key = ${tag}
  order by order_id desc limit ${MAX_WITH_VALUE}`;

export interface OrderMatches {
  /** Newest first, at most MAX_FOUND. */
  orderIds: string[];
  /** There are, or may be, more. */
  isMore: boolean;
}

/** The orders that a text finds, that have values of custom fields or a tag, or all of it. */
export async function searchOrders(
  db: Queries,
  shopId: string,
  text: string,
  filter: SearchFilter,
  { wanted = [], tag = '' }: { wanted?: readonly WantedValue[]; tag?: string } = {},
): Promise<OrderMatches> {
  const { createdAfter, createdBefore, isNew, paymentWait } = filter;
  const rarest =
    text === '' && wanted.length > 0 ? await rarestValue(db, shopId, wanted, MAX_WITH_VALUE) : undefined;
  const isByTag = text === '' && !rarest;
  const found = rarest
    ? ordersWith(shopId, rarest.value)
    : isByTag
      ? ordersTagged(shopId, tag)
      : foundOrders(
          shopId,
          { text, byNumberPart: await findOrdersByNumberPart(db, shopId, text) },
          MAX_FOUND,
        );
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from customer_order
    where shop_id = ${shopId} and ${hasStates(filter)} and order_id = any (array(
        select order_id from (${found}) found
      ))
      and (is_new or not ${isNew}::boolean) ${andReady(filter)}
      and ${hasValues(shopId, sql`customer_order.order_id`, wanted)}
      and (${tag} = '' or exists (
        select from order_tag
        where order_tag.shop_id = ${shopId} and order_tag.order_id = customer_order.order_id
          and order_tag.tag_key = ${tag}))
      and (${paymentWait}::text is null or (${isWaiting} and payment_wait = ${paymentWait}))
      and created_at > ${createdAfter ?? '-infinity'}::timestamptz
      and created_at < ${createdBefore ?? 'infinity'}::timestamptz
    order by created_at desc, order_id desc limit ${MAX_FOUND}`);
  return {
    orderIds: rows.map(({ orderId }) => orderId),
    isMore: rows.length === MAX_FOUND || (rarest?.count ?? 0) > MAX_WITH_VALUE,
  };
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
export async function findUserEmails(db: Queries, userIds: readonly string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await db.many<{ userId: string; email: string }>(sql`
    select upper(user_id::text) as "userId", email from admin_user where user_id = any (${userIds}::uuid[])`);
  return new Map(rows.map(({ userId, email }) => [userId, email]));
}
