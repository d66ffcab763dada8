import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { orderColumns, orderColumnsWith, type ListedOrder, type OrderRow } from './queries.ts';
import type { Window } from './window.ts';

export interface OrderFilter extends Window {
  /** Of the bits of `states`, those in `asked` are as in `set`. */
  states: { asked: number; set: number };
  currency: string | null;
  customerId: string | null;
  productId: string | null;
  updatedFrom: Date | null;
}

export interface OrderSort {
  by: 'created' | 'touched';
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
  return findPage<ListedOrder>(db, shopId, filter, sort, fewColumns);
}

export function findWholeOrders(db: Queries, shopId: string, filter: OrderFilter, sort: OrderSort) {
  return findPage<OrderRow>(db, shopId, filter, sort, orderColumns);
}

async function findPage<Row extends ListedOrder>(
  db: Queries,
  shopId: string,
  filter: OrderFilter,
  sort: OrderSort,
  columns: Sql,
): Promise<OrderPage<Row>> {
  if (filter.customerId !== null || filter.productId !== null) {
    return pageOf(await db.many(pageAmongFew(shopId, filter, sort, columns)));
  }
  if (filter.updatedFrom === null && sort.by === 'created') {
    return pageOf(await db.many(pageByDays(shopId, filter, sort, columns)));
  }
  const row = await db.one<{ results: number }>(
    filter.updatedFrom === null
      ? sql`
          select coalesce(sum(${ordersOf(shopId, filter)}), 0)::bigint as results from order_day
          where ${daysOf(shopId, filter)}`
      : sql`
          select count(*) as results from customer_order
          where ${changedSince(shopId, filter, filter.updatedFrom)}`,
  );
  return pageOf(await db.many(pageByUpdate(shopId, filter, sort, columns, row!.results)));
}

/** There is one row at least; without an order in it, when the page has none. */
function pageOf<Row extends ListedOrder>(
  rows: (Omit<OrderPage<Row>, 'orders'> & (Row | { orderId: null }))[],
): OrderPage<Row> {
  const { results, settingsVersion } = rows[0]!;
  return { results, settingsVersion, orders: rows.filter((row) => row.orderId !== null) };
}

const fewColumns = orderColumnsWith(
  sql`customer_order.content - '{lines,coupon,offers,taxes}'::text[] as content`,
);

/** Of `customer_order`, or of what is called so. */
const KEYS = {
  created: sql`customer_order.created_at`,
  touched: sql`coalesce(customer_order.updated_at, customer_order.created_at)`,
};
const newestFirst = ({ by }: OrderSort) => sql`${KEYS[by]} desc, customer_order.order_id desc`;

/**
 * The orders with these ids, and the number of all of them; one row without an order when there are none. The ids are
 * an array, because of a table that it knows nothing about PostgreSQL expects too much and would read all orders.
 */
function page(shopId: string, sort: OrderSort, columns: Sql, results: Sql, ids: Sql): Sql {
  return sql`
    select ${results} as results, settings_version as "settingsVersion", ${columns}
    from shop left join (
      customer_order join customer on customer.shop_id = customer_order.shop_id
        and customer.customer_id = customer_order.customer_id
    ) on customer_order.shop_id = shop.shop_id and customer_order.order_id = any(array(${ids}))
    where shop.shop_id = ${shopId}
    order by ${newestFirst(sort)}`;
}

/**
 * Whether not all orders are asked for. Of what narrows a list, a statement names everything or nothing, so that there
 * are two of it and not one for each combination; what is not asked for is then a condition that always holds.
 */
function isNarrowed({ states, currency, createdAfter, createdBefore }: OrderFilter): boolean {
  return states.asked !== 0 || currency !== null || createdAfter !== null || createdBefore !== null;
}

/** The rows of `order_day` that count orders which are asked for. */
function daysOf(shopId: string, filter: OrderFilter): Sql {
  const ofShop = sql`shop_id = ${shopId} and orders > 0`;
  if (!isNarrowed(filter)) return ofShop;
  const { states, currency } = filter;
  const { firstDay, lastDay } = daysWithin(filter);
  return sql`${ofShop} and day between ${firstDay} and ${lastDay} and states & ${states.asked} = ${states.set}
    and (${currency}::text is null or currency = ${currency})`;
}

/** How many orders such a row stands for: of the days at the ends of a window, those within it are counted. */
function ordersOf(shopId: string, filter: OrderFilter): Sql {
  if (filter.createdAfter === null && filter.createdBefore === null) return sql`orders`;
  const { firstDay, lastDay } = daysWithin(filter);
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
function daysWithin({ createdAfter, createdBefore }: Window): { firstDay: Sql; lastDay: Sql } {
  return {
    firstDay: sql`(${createdAfter ?? '-infinity'}::timestamptz at time zone 'UTC')::date`,
    lastDay: sql`(${createdBefore ?? 'infinity'}::timestamptz at time zone 'UTC')::date`,
  };
}

/**
 * Finds the days that the page lies in, and looks at those alone: in the index, at what matches. So a page far behind
 * costs what the first one does, and one among few matches what one among many does.
 */
function pageByDays(shopId: string, filter: OrderFilter, sort: OrderSort, columns: Sql): Sql {
  const { limit, offset } = sort;
  return sql`
    with days as (
      select day, sum(${ordersOf(shopId, filter)})::bigint as orders from order_day
      where ${daysOf(shopId, filter)} group by day
    ), ends as (
      select day, orders, sum(orders) over (order by day desc) as passed from days
    ), span as materialized (
      select coalesce(sum(orders), 0)::bigint as results,
        max(day) filter (where passed > ${offset}) as newest,
        coalesce(max(day) filter (where passed >= ${offset}::bigint + ${limit}), min(day)) as oldest,
        ${offset} - coalesce(max(passed) filter (where passed <= ${offset}), 0)::bigint as skipped
      from ends
    ), places as (
      select created_at, order_id
      from (
        select distinct currency, states from order_day
        where ${daysOf(shopId, filter)} and day between (select oldest from span) and (select newest from span)
      ) part cross join lateral (
        select created_at, order_id from customer_order
        where shop_id = ${shopId} and customer_order.currency = part.currency
          and customer_order.states = part.states
          and created_at >= (select oldest::timestamp at time zone 'UTC' from span)
          and created_at < (select (newest + 1)::timestamp at time zone 'UTC' from span) and ${inWindow(filter)}
        order by created_at desc, order_id desc limit (select skipped + ${limit} from span)
      ) found
      order by created_at desc, order_id desc limit ${limit} offset (select skipped from span)
    )
    ${page(shopId, sort, columns, sql`(select results from span)`, sql`select order_id from places`)}`;
}

/** What one customer has bought, or who has bought one product: all of it is looked at. */
function pageAmongFew(shopId: string, filter: OrderFilter, sort: OrderSort, columns: Sql): Sql {
  const areLinesEnough =
    filter.customerId === null &&
    filter.updatedFrom === null &&
    filter.states.asked === 0 &&
    sort.by === 'created';
  const found = areLinesEnough
    ? ordersOfLines(shopId, filter)
    : sql`select created_at, updated_at, order_id from customer_order where ${amongFew(shopId, filter)}`;
  const ids = sql`
    select order_id from found customer_order order by ${newestFirst(sort)} limit ${sort.limit} offset ${sort.offset}`;
  return sql`
    with found as materialized (${found})
    ${page(shopId, sort, columns, sql`(select count(*) from found)`, ids)}`;
}

/** Lines know when they were ordered, and are in an index with it; their currency is not. */
function ordersOfLines(shopId: string, filter: OrderFilter): Sql {
  const { productId, currency } = filter;
  return sql`
    select distinct created_at, order_id from order_line
    where shop_id = ${shopId} and product_id = ${productId} and ${inWindow(filter)}
      ${currency === null ? sql`` : sql`and currency = ${currency}`}`;
}

/** Up to so many matches are collected and sorted; of more, a page is soon found on the way along an index. */
const FEW = 2_000;

/** By what was changed last, or only what was changed since; `results` are known. */
function pageByUpdate(
  shopId: string,
  filter: OrderFilter,
  sort: OrderSort,
  columns: Sql,
  results: number,
): Sql {
  const { limit, offset } = sort;
  const places = sql`order by ${newestFirst(sort)} limit ${limit} offset ${offset}`;
  const known = sql`${results}::bigint`;
  if (results > FEW) {
    // Of plain conditions PostgreSQL expects that hardly an order meets them, and sorts them all. Of this one it
    // expects that every other does, and goes along the index until the page is full.
    const walk = sql`
      select order_id from customer_order
      where shop_id = ${shopId} and coalesce(${conditions(filter)}
        and (${filter.updatedFrom}::timestamptz is null or updated_at >= ${filter.updatedFrom}), false) ${places}`;
    return page(shopId, sort, columns, known, walk);
  }
  if (filter.updatedFrom !== null) {
    const ids = sql`
      select order_id from customer_order where ${changedSince(shopId, filter, filter.updatedFrom)} ${places}`;
    return page(shopId, sort, columns, known, ids);
  }
  const ids = sql`
    select order_id from (select distinct currency, states from order_day where ${daysOf(shopId, filter)}) part
    cross join lateral (
      select order_id, created_at, updated_at from customer_order
      where shop_id = ${shopId} and customer_order.currency = part.currency
        and customer_order.states = part.states and ${inWindow(filter)} offset 0
    ) customer_order ${places}`;
  return page(shopId, sort, columns, known, ids);
}

/** What one customer has bought, who has bought one product, or both: each of the three is a statement of its own. */
function amongFew(shopId: string, filter: OrderFilter): Sql {
  const { customerId, productId, updatedFrom } = filter;
  const ofCustomer = customerId === null ? sql`` : sql`and customer_id = ${customerId}`;
  const ofProduct =
    productId === null
      ? sql``
      : sql`and order_id = any(array(
          select order_id from order_line where shop_id = ${shopId} and product_id = ${productId}))`;
  return sql`shop_id = ${shopId} ${ofCustomer} ${ofProduct} and ${conditions(filter)}
    and (${updatedFrom}::timestamptz is null or updated_at >= ${updatedFrom})`;
}

/** The range has an end, so that it looks narrow to PostgreSQL and its index is used. */
function changedSince(shopId: string, filter: OrderFilter, updatedFrom: Date): Sql {
  return sql`
    shop_id = ${shopId} and updated_at between ${updatedFrom} and 'infinity' and ${conditions(filter)}`;
}

function conditions(filter: OrderFilter): Sql {
  if (!isNarrowed(filter)) return sql`true`;
  const { states, currency } = filter;
  return sql`states & ${states.asked} = ${states.set} and (${currency}::text is null or currency = ${currency})
    and ${inWindow(filter)}`;
}

/** Without bounds from first to last: the parameters are never null. */
function inWindow({ createdAfter, createdBefore }: Window): Sql {
  return sql`created_at > ${createdAfter ?? '-infinity'}::timestamptz
    and created_at < ${createdBefore ?? 'infinity'}::timestamptz`;
}
