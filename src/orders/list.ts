import type { Queries } from '../db/database.ts';
import { and, sql, type Sql } from '../db/sql.ts';
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
      : sql`select count(*) as results from customer_order where ${matches(shopId, filter)}`,
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

/** The rows of `order_day` that count orders which are asked for. */
function daysOf(shopId: string, { states, currency, createdAfter, createdBefore }: OrderFilter): Sql {
  return and([
    sql`shop_id = ${shopId} and orders > 0`,
    ...(states.asked === 0 ? [] : [sql`states & ${states.asked} = ${states.set}`]),
    ...(currency === null ? [] : [sql`currency = ${currency}`]),
    ...(createdAfter === null ? [] : [sql`day >= (${createdAfter}::timestamptz at time zone 'UTC')::date`]),
    ...(createdBefore === null ? [] : [sql`day <= (${createdBefore}::timestamptz at time zone 'UTC')::date`]),
  ]);
}

/** How many orders such a row stands for: of the days at the ends of a window, those within it are counted. */
function ordersOf(shopId: string, filter: OrderFilter): Sql {
  const { createdAfter, createdBefore } = filter;
  if (createdAfter === null && createdBefore === null) return sql`orders`;
  return sql`
    case
      when day > (coalesce(${createdAfter}::timestamptz, '-infinity') at time zone 'UTC')::date
        and day < (coalesce(${createdBefore}::timestamptz, 'infinity') at time zone 'UTC')::date
      then orders
      else (
        select count(*) from customer_order
        where customer_order.shop_id = ${shopId} and customer_order.currency = order_day.currency
          and customer_order.states = order_day.states
          and created_at >= day::timestamp at time zone 'UTC'
          and created_at < (day + 1)::timestamp at time zone 'UTC' and ${inWindow(filter)}
      )
    end`;
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
    : sql`select created_at, updated_at, order_id from customer_order where ${matches(shopId, filter)}`;
  const ids = sql`
    select order_id from found customer_order order by ${newestFirst(sort)} limit ${sort.limit} offset ${sort.offset}`;
  return sql`
    with found as materialized (${found})
    ${page(shopId, sort, columns, sql`(select count(*) from found)`, ids)}`;
}

/** Lines know when they were ordered, and are in an index with it. */
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
      where shop_id = ${shopId} and coalesce(${and(conditions(filter))}, false) ${places}`;
    return page(shopId, sort, columns, known, walk);
  }
  if (filter.updatedFrom !== null) {
    const ids = sql`select order_id from customer_order where ${matches(shopId, filter)} ${places}`;
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

function matches(shopId: string, filter: OrderFilter): Sql {
  const { customerId, productId } = filter;
  return and([
    sql`shop_id = ${shopId}`,
    ...(customerId === null ? [] : [sql`customer_id = ${customerId}`]),
    ...(productId === null
      ? []
      : [
          sql`order_id = any(array(
            select order_id from order_line where shop_id = ${shopId} and product_id = ${productId}))`,
        ]),
    ...conditions(filter),
  ]);
}

/** What is not asked for is not said: a condition that always holds looks to PostgreSQL as if few orders met it. */
function conditions(filter: OrderFilter): Sql[] {
  const { states, currency, updatedFrom, createdAfter, createdBefore } = filter;
  return [
    // With an end, so that it looks narrow and its index is used.
    ...(updatedFrom === null ? [] : [sql`updated_at between ${updatedFrom} and 'infinity'`]),
    ...(states.asked === 0 ? [] : [sql`states & ${states.asked} = ${states.set}`]),
    ...(currency === null ? [] : [sql`currency = ${currency}`]),
    ...(createdAfter === null && createdBefore === null ? [] : [inWindow(filter)]),
  ];
}

function inWindow({ createdAfter, createdBefore }: Window): Sql {
  return sql`created_at > coalesce(${createdAfter}::timestamptz, '-infinity')
    and created_at < coalesce(${createdBefore}::timestamptz, 'infinity')`;
}
