import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { hasValues, MAX_WITH_VALUE, rarestValue, type WantedValue } from '../fields/filter.ts';
import type { Content } from '../pricing/content.ts';
import {
  isPartlyReturned,
  managedColumns,
  orderColumnsWith,
  type ListedOrder,
  type ManagedOrder,
  type OrderRow,
} from './queries.ts';
import type { Window } from './window.ts';

/**
 * Pages of orders. The cost of a page does not grow with the number of orders, so there is a statement for each way of
 * finding one: by the sums of days, by a customer or product, by the last change, and by changes since a moment.
 * `findPage` chooses; each function below it is one of these ways.
 */

export interface OrderFilter extends Window {
  /** The bits of `states` in `asked` are as in `set`, and of those in `missing`, if any, one is not set. */
  states: { asked: number; set: number; missing?: number };
  /** Only orders that may be shipped: those that wait for their payment are left out. */
  isReady?: boolean;
  currency: string | null;
  customerId: string | null;
  productId: string | null;
  updatedFrom: Date | null;
  /** Values of custom fields that they all have. */
  wanted?: readonly WantedValue[];
}

export interface OrderSort {
  by: 'created' | 'touched';
  /** Only by the last change; otherwise, and by default, the newest come first. */
  isOldestFirst?: boolean;
  limit: number;
  offset: number;
}

export interface OrderPage<Row> {
  results: number;
  settingsVersion: number;
  orders: Row[];
}

/** Newest first. */
export function findOrders(db: Queries, shopId: string, filter: OrderFilter, sort: OrderSort) {
  return findPage<ListedOrder>(db, { shopId, filter, sort, columns: columnsWithoutLines });
}

export function findWholeOrders(db: Queries, shopId: string, filter: OrderFilter, sort: OrderSort) {
  return findPage<OrderRow>(db, { shopId, filter, sort, columns: columnsWithLines });
}

export type ListedManagedOrder = Omit<ManagedOrder, 'content'> & ListedOrder & { isPartlyReturned: boolean };

/** With the data for the back office. */
export function findManagedOrders(db: Queries, shopId: string, filter: OrderFilter, sort: OrderSort) {
  const columns = sql`${columnsWithoutLines}, ${managedColumns}, ${isPartlyReturned(shopId)} as "isPartlyReturned"`;
  return findPage<ListedManagedOrder>(db, { shopId, filter, sort, columns });
}

/** The same with their lines. */
export function findWholeManagedOrders(db: Queries, shopId: string, filter: OrderFilter, sort: OrderSort) {
  const columns = sql`${columnsWithLines}, ${managedColumns}`;
  return findPage<ManagedOrder>(db, { shopId, filter, sort, columns });
}

/**
 * Parts to leave out are a parameter, so a page with lines and one without are the same statement. If nothing is left
 * out, PostgreSQL returns the content as it is, without a copy.
 */
const columnsWithout = (leftOut: readonly (keyof Content)[]) =>
  orderColumnsWith(sql`customer_order.content - ${leftOut}::text[] as content`);

export const columnsWithoutLines = columnsWithout(['lines', 'coupon', 'offers', 'taxes']);
const columnsWithLines = columnsWithout([]);

interface PageRequest {
  shopId: string;
  filter: OrderFilter;
  sort: OrderSort;
  columns: Sql;
}

/** There is at least one row; it has no order when the page has none. */
type PageRow<Row> = Omit<OrderPage<Row>, 'orders'> & (Row | { orderId: null });

async function findPage<Row extends ListedOrder>(db: Queries, request: PageRequest): Promise<OrderPage<Row>> {
  const rows = await db.many<PageRow<Row>>(await pageStatement(db, request));
  const { results, settingsVersion } = rows[0]!;
  return { results, settingsVersion, orders: rows.filter((row) => row.orderId !== null) };
}

async function pageStatement(db: Queries, request: PageRequest): Promise<Sql> {
  const { filter, sort } = request;
  const { customerId, productId, updatedFrom, wanted = [] } = filter;
  if (wanted.length > 0) {
    const { value } = await rarestValue(db, request.shopId, wanted, MAX_WITH_VALUE);
    return pageOfValues(request, value, wanted);
  }
  if (customerId !== null) return pageOfCustomer(request, customerId);
  if (productId !== null) return pageOfProduct(request, productId);
  if (updatedFrom !== null) {
    const results = await countUpdated(db, request, updatedFrom);
    return results > FEW ? pageOfMany(request, results) : pageOfUpdated(request, updatedFrom, results);
  }
  if (sort.by === 'created') return pageByDays(request);
  const results = await countByDays(db, request);
  return isNarrowed(filter) ? pageByStates(request, results) : pageOfMany(request, results);
}

/** Up to this number, all matching orders are collected and sorted; with more, a page is found along an index. */
const FEW = 2_000;

/**
 * The orders that `orderIds` selects, with the total number of matches. The ids are put into an array, because
 * PostgreSQL expects few elements in an array; joined with a subquery it might read all orders.
 */
function selectPage({ shopId, sort, columns }: PageRequest, results: Sql, orderIds: Sql): Sql {
  return sql`
    select ${results} as results, settings_version as "settingsVersion", ${columns}
    from shop left join (
      customer_order join customer on customer.shop_id = customer_order.shop_id
        and customer.customer_id = customer_order.customer_id
    ) on customer_order.shop_id = shop.shop_id and customer_order.order_id = any (array(${orderIds}))
    where shop.shop_id = ${shopId}
    order by ${inOrder(sort)}`;
}

const SORT_KEYS = {
  created: sql`customer_order.created_at`,
  touched: sql`coalesce(customer_order.updated_at, customer_order.created_at)`,
};

const inOrder = ({ by, isOldestFirst }: OrderSort) =>
  isOldestFirst
    ? sql`${SORT_KEYS[by]}, customer_order.order_id`
    : sql`${SORT_KEYS[by]} desc, customer_order.order_id desc`;

/**
 * Finds the days of the page from the sums of days, and reads only the orders of these days, each set of states from
 * the index `customer_order_states`. So the last page costs the same as the first, and a page of few matches the same
 * as a page of many.
 */
function pageByDays(request: PageRequest): Sql {
  const { shopId, filter } = request;
  const { limit, offset } = request.sort;
  const matchingDays = daysThatMatch(shopId, filter);
  return sql`
    with day_count as (
      select day, sum(orders)::bigint as orders from (${countsOfDays(shopId, filter)}) counted group by day
    ), running_count as (
      select day, orders, sum(orders) over (order by day desc) as up_to_here from day_count
    ), span as materialized (
      select coalesce(sum(orders), 0)::bigint as results,
        max(day) filter (where up_to_here > ${offset}) as newest,
        coalesce(max(day) filter (where up_to_here >= ${offset}::bigint + ${limit}), min(day)) as oldest,
        ${offset} - coalesce(max(up_to_here) filter (where up_to_here <= ${offset}), 0)::bigint as skipped
      from running_count
    ), page as (
      select created_at, order_id
      from (
        select distinct currency, states from order_day
        where ${matchingDays} and day between (select oldest from span) and (select newest from span)
      ) matching cross join lateral (
        select created_at, order_id from customer_order
        where shop_id = ${shopId} and customer_order.currency = matching.currency
          and customer_order.states = matching.states
          and created_at >= (select oldest::timestamp at time zone 'UTC' from span)
          and created_at < (select (newest + 1)::timestamp at time zone 'UTC' from span) and ${inWindow(filter)}
          ${andReady(filter)}
        order by created_at desc, order_id desc limit (select skipped + ${limit} from span)
      ) found
      order by created_at desc, order_id desc limit ${limit} offset (select skipped from span)
    )
    ${selectPage(request, sql`(select results from span)`, sql`select order_id from page`)}`;
}

/** The newest orders with a value; open carts have some of the same fields. */
export const ordersWith = (shopId: string, { fieldId, filterKey }: WantedValue) => sql`
  select order_id from (
    select order_id from custom_field_value
    where shop_id = ${shopId} and field_id = ${fieldId} and filter_key = ${filterKey}
    order by resource_id desc limit ${MAX_WITH_VALUE}
  ) with_value where order_id is not null`;

/** Reads the orders with the value that the fewest have. */
function pageOfValues(request: PageRequest, rarest: WantedValue, wanted: readonly WantedValue[]): Sql {
  const { shopId, filter } = request;
  const { customerId, productId } = filter;
  const withProduct = productId === null ? sql`` : sql`and ${hasProduct(shopId, productId)}`;
  return pageOfSet(
    request,
    sql`
      select created_at, updated_at, order_id from customer_order
      where shop_id = ${shopId} and order_id = any (array(${ordersWith(shopId, rarest)})) ${withProduct}
        and (${customerId}::uuid is null or customer_id = ${customerId}) and ${matches(filter)}
        and ${isUpdatedSince(filter)} and ${hasValues(shopId, sql`customer_order.order_id`, wanted)}`,
  );
}

/** Reads all matching orders of one customer, optionally with one product. */
function pageOfCustomer(request: PageRequest, customerId: string): Sql {
  const { shopId, filter } = request;
  const withProduct = filter.productId === null ? sql`` : sql`and ${hasProduct(shopId, filter.productId)}`;
  return pageOfSet(
    request,
    sql`
      select created_at, updated_at, order_id from customer_order
      where shop_id = ${shopId} and customer_id = ${customerId} ${withProduct} and ${matches(filter)}
        and ${isUpdatedSince(filter)}`,
  );
}

/**
 * Reads all matching orders with one product. The lines alone suffice when no condition needs the order: they are in
 * an index with the time of the order.
 */
function pageOfProduct(request: PageRequest, productId: string): Sql {
  const { shopId, filter, sort } = request;
  const { states, isReady, currency, updatedFrom } = filter;
  if (states.asked !== 0 || states.missing || isReady || updatedFrom !== null || sort.by !== 'created') {
    return pageOfSet(
      request,
      sql`
        select created_at, updated_at, order_id from customer_order
        where shop_id = ${shopId} and ${hasProduct(shopId, productId)} and ${matches(filter)}
          and ${isUpdatedSince(filter)}`,
    );
  }
  const inCurrency = currency === null ? sql`` : sql`and currency = ${currency}`;
  return pageOfSet(
    request,
    sql`
      select distinct created_at, order_id from order_line
      where shop_id = ${shopId} and product_id = ${productId} and ${inWindow(filter)} ${inCurrency}`,
  );
}

/** Counts and sorts all orders that `found` selects, and returns the page. */
function pageOfSet(request: PageRequest, found: Sql): Sql {
  const { sort } = request;
  const orderIds = sql`
    select order_id from found customer_order order by ${inOrder(sort)} limit ${sort.limit} offset ${sort.offset}`;
  return sql`
    with found as materialized (${found})
    ${selectPage(request, sql`(select count(*) from found)`, orderIds)}`;
}

async function countByDays(db: Queries, { shopId, filter }: PageRequest): Promise<number> {
  const row = await db.one<{ results: number }>(sql`
    select coalesce(sum(orders), 0)::bigint as results from (${countsOfDays(shopId, filter)}) counted`);
  return row!.results;
}

async function countUpdated(
  db: Queries,
  { shopId, filter }: PageRequest,
  updatedFrom: Date,
): Promise<number> {
  const row = await db.one<{ results: number }>(sql`
    select count(*) as results from customer_order where ${isUpdatedRecently(shopId, filter, updatedFrom)}`);
  return row!.results;
}

/** Collects the few orders that have changed since a moment, and sorts them. */
function pageOfUpdated(request: PageRequest, updatedFrom: Date, results: number): Sql {
  const { shopId, filter, sort } = request;
  return selectPage(
    request,
    sql`${results}::bigint`,
    sql`
      select order_id from customer_order where ${isUpdatedRecently(shopId, filter, updatedFrom)}
      order by ${inOrder(sort)} limit ${sort.limit} offset ${sort.offset}`,
  );
}

/**
 * Finds a page by the last change. The sums of days tell which sets of states the matching orders have, and the first
 * orders of each set are read from the index `customer_order_states_touched`: however few match, none is read in vain.
 */
function pageByStates(request: PageRequest, results: number): Sql {
  const { shopId, filter, sort } = request;
  return selectPage(
    request,
    sql`${results}::bigint`,
    sql`
      select order_id
      from (select distinct currency, states from order_day where ${daysThatMatch(shopId, filter)}) matching
      cross join lateral (
        select order_id, created_at, updated_at from customer_order
        where shop_id = ${shopId} and customer_order.currency = matching.currency
          and customer_order.states = matching.states and ${inWindow(filter)} ${andReady(filter)}
        order by ${inOrder(sort)} limit ${sort.limit + sort.offset}
      ) customer_order
      order by ${inOrder(sort)} limit ${sort.limit} offset ${sort.offset}`,
  );
}

/**
 * Follows the index of the sort key until the page is full, which is soon, because more than FEW orders match.
 * PostgreSQL does not know that: it expects one order in 200 to meet a comparison of bits, and would rather collect
 * and sort them. In `coalesce(..., false)` it expects every second one, which is closer to the truth here.
 */
function pageOfMany(request: PageRequest, results: number): Sql {
  const { shopId, filter, sort } = request;
  return selectPage(
    request,
    sql`${results}::bigint`,
    sql`
      select order_id from customer_order
      where shop_id = ${shopId} and coalesce(${matches(filter)} and ${isUpdatedSince(filter)}, false)
      order by ${inOrder(sort)} limit ${sort.limit} offset ${sort.offset}`,
  );
}

/**
 * Whether the orders are filtered. A statement names all of these conditions or none, so there are two texts and not
 * one for each combination; an unused condition then always holds.
 */
function isNarrowed({ states, isReady, currency, createdAfter, createdBefore }: OrderFilter): boolean {
  const isAnyState = states.asked === 0 && !states.missing && !isReady;
  return !isAnyState || currency !== null || createdAfter !== null || createdBefore !== null;
}

/** A condition on orders: states, currency and window match. */
function matches(filter: OrderFilter): Sql {
  if (!isNarrowed(filter)) return sql`true`;
  const { currency } = filter;
  return sql`${hasStates(filter)} and (${currency}::text is null or currency = ${currency})
    and ${inWindow(filter)} ${andReady(filter)}`;
}

/** A condition on orders: they wait for their payment. It is that of the index `customer_order_waiting`. */
export const isWaiting = sql`(payment_wait is not null and grand_total > paid_amount and states & 30914 = 0)`;

export const andReady = ({ isReady = false }: Pick<OrderFilter, 'isReady'>) =>
  isReady ? sql`and not ${isWaiting}` : sql``;

/** A condition on orders and on the sums of days: the states match. */
export function hasStates({ states: { asked, set, missing = 0 } }: Pick<OrderFilter, 'states'>): Sql {
  return sql`states & ${asked} = ${set} and (${missing} = 0 or states & ${missing} <> ${missing})`;
}

/** A condition on orders: they were created within the window. An open end is infinity, so no parameter is null. */
function inWindow({ createdAfter, createdBefore }: Window): Sql {
  return sql`created_at > ${createdAfter ?? '-infinity'}::timestamptz
    and created_at < ${createdBefore ?? 'infinity'}::timestamptz`;
}

/** A condition on orders: they have changed since the requested moment, if any. */
const isUpdatedSince = ({ updatedFrom }: OrderFilter) =>
  sql`(${updatedFrom}::timestamptz is null or updated_at >= ${updatedFrom})`;

/**
 * A condition on orders: they match and have changed since this moment. Clients ask for changes since their last
 * request, which are few. PostgreSQL expects a third of all orders in an open range and few in one that has an end,
 * and then it uses the index `customer_order_updated`.
 */
const isUpdatedRecently = (shopId: string, filter: OrderFilter, updatedFrom: Date) =>
  sql`shop_id = ${shopId} and updated_at between ${updatedFrom} and 'infinity' and ${matches(filter)}`;

/** A condition on orders: one of their lines is this product. */
const hasProduct = (shopId: string, productId: string) => sql`
  order_id = any (array(select order_id from order_line where shop_id = ${shopId} and product_id = ${productId}))`;

/** A condition on the sums of days: they count orders that match. */
function daysThatMatch(shopId: string, filter: OrderFilter): Sql {
  const ofShop = sql`shop_id = ${shopId} and orders > 0`;
  if (!isNarrowed(filter)) return ofShop;
  const { currency } = filter;
  const { firstDay, lastDay } = daysOfWindow(filter);
  return sql`${ofShop} and day between ${firstDay} and ${lastDay} and ${hasStates(filter)}
    and (${currency}::text is null or currency = ${currency})`;
}

/**
 * How many orders match, by day; a day may have several rows. Orders that wait for their payment are no set of states,
 * so they are subtracted one by one: an index has only them.
 */
export function countsOfDays(shopId: string, filter: OrderFilter): Sql {
  const counts = sql`
    select day, ${ordersOfDay(shopId, filter)} as orders from order_day where ${daysThatMatch(shopId, filter)}`;
  if (!filter.isReady) return counts;
  return sql`${counts}
    union all
    select (created_at at time zone 'UTC')::date, -1 from customer_order
    where shop_id = ${shopId} and ${isWaiting} and ${matches({ ...filter, isReady: false })}`;
}

/**
 * How many orders of a day match: all of them, except that on the days at the ends of a window those within it are
 * counted.
 */
function ordersOfDay(shopId: string, filter: OrderFilter): Sql {
  if (filter.createdAfter === null && filter.createdBefore === null) return sql`orders`;
  const { firstDay, lastDay } = daysOfWindow(filter);
  return sql`
    case
      when day > ${firstDay} and day < ${lastDay} then orders
      else (
        select count(*) from customer_order
        where customer_order.shop_id = ${shopId} and customer_order.currency = order_day.currency
          and customer_order.states = order_day.states
          and created_at >= day::timestamp at time zone 'UTC'
          and created_at < (day + 1)::timestamp at time zone 'UTC' and ${inWindow(filter)}
      )
    end`;
}

/** The days (UTC) at the ends of a window; an open end is infinity. */
function daysOfWindow({ createdAfter, createdBefore }: Window): { firstDay: Sql; lastDay: Sql } {
  return {
    firstDay: sql`(${createdAfter ?? '-infinity'}::timestamptz at time zone 'UTC')::date`,
    lastDay: sql`(${createdBefore ?? 'infinity'}::timestamptz at time zone 'UTC')::date`,
  };
}
