import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { STATES } from '../../orders/schema.ts';
import type { EventType } from '../../platform/events/types.ts';

const REJECTED = 1 << STATES.indexOf('rejectedOn');

export interface DaySales {
  /** `2026-11-16` in UTC. */
  day: string;
  orders: number;
  /** In minor units. */
  gross: number;
}

/** The sales of each day with orders, in one currency; rejected and cancelled orders do not count. */
export function findDaySales(
  db: Queries,
  shopId: string,
  currency: string,
  { from, to }: { from: string; to: string },
) {
  return db.many<DaySales>(sql`
    select day::text as day, sum(orders)::bigint as orders, sum(gross)::bigint as gross from order_day
    where shop_id = ${shopId} and day between ${from}::date and ${to}::date and currency = ${currency}
      and states & ${REJECTED} = 0 and orders > 0
    group by day order by day`);
}

/** Things of one kind are counted up to this number: more are "100 or more". */
export const MAX_COUNTED = 100;

/** New orders, returns, emails and webhooks that wait for the merchant. */
export async function countProblems(db: Queries, shopId: string) {
  const row = await db.one<{
    newOrders: number;
    returns: number;
    reviews: number;
    reportedReviews: number;
    emails: number;
    webhooks: number;
  }>(sql`
    select (
        select count(*) from (
          select from customer_order where shop_id = ${shopId} and is_new limit ${MAX_COUNTED}
        ) as unseen
      ) as "newOrders", (
        select count(*) from (
          select from order_return
          where shop_id = ${shopId} and state in ('requested', 'approved', 'withdrawn') limit ${MAX_COUNTED}
        ) as open
      ) as returns, (
        select count(*) from (
          select from review where shop_id = ${shopId} and state = 'waiting' limit ${MAX_COUNTED}
        ) as waiting
      ) as reviews, (
        select count(*) from (
          select from review where shop_id = ${shopId} and open_reports > 0 limit ${MAX_COUNTED}
        ) as reported
      ) as "reportedReviews", (
        select count(*) from (
          select from job where shop_id = ${shopId} and failed_at is not null limit ${MAX_COUNTED}
        ) as failed
      ) as emails, (
        select count(*) from (
          select from webhook_delivery where shop_id = ${shopId} and status = 'failed' limit ${MAX_COUNTED}
        ) as failed
      ) as webhooks`);
  return row!;
}

/** How many positions of the event log are read. */
const MAX_POSITIONS = 5_000;

export interface RecentEvent {
  type: EventType;
  resourceId: string;
}

const NOTICED: readonly EventType[] = ['STOCK_LOW', 'STOCK_OUT', 'CART_ABANDONED'];

/** The events about stock and carts since a moment, newest first. */
export function findRecentEvents(db: Queries, shopId: string, since: Date) {
  return db.many<RecentEvent>(sql`
    select type, upper(resource_id::text) as "resourceId" from event
    where shop_id = ${shopId} and type = any (${NOTICED}::text[]) and at > ${since} and position > (
        select value from counter where shop_id = ${shopId} and name = 'event'
      ) - ${MAX_POSITIONS}
    order by position desc limit 1000`);
}

/** A variation has the name of its product. */
const nameColumn = sql`coalesce(product.facts -> 'name', master.facts -> 'name') as name`;

export interface ShortProduct {
  productId: string;
  productNumber: string;
  name: Record<string, string> | null;
  stock: string;
}

/** The products among these that are still short of stock, lowest stock first. `level` is the shop's own, if set. */
export function findShortProducts(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  level: number | null,
) {
  return db.many<ShortProduct>(sql`
    select upper(product.product_id::text) as "productId", product.product_number as "productNumber", ${nameColumn},
      trim_scale(product.stock)::text as stock
    from product left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])
      and product.stock <= greatest(product.min_stock, ${level ?? 0}, 0)
    order by product.stock, product.product_number limit 10`);
}

export interface BestSeller {
  productId: string;
  /** null: it was deleted. */
  productNumber: string | null;
  name: Record<string, string> | null;
  quantity: string;
  /** In minor units, not rounded. */
  gross: string;
  /** When the first of the summed lines was sold; null: all lines of the shop were summed. */
  linesSince: Date | null;
}

/**
 * The number of newest lines that are summed: as many as a page can handle at once. Sums by product and day would not
 * help: a shop that sells more lines has about as many such sums in a quarter as lines, unless it sells few products.
 */
export const MAX_SUMMED_LINES = 10_000;

/**
 * The products with the highest sales since a moment, in one currency; rejected and cancelled orders do not count.
 * Order ids sort by time, so the newest lines are at the end of the primary key. Rejected orders are searched only
 * since the oldest of these lines, so there are no more of them than lines.
 */
export function findBestSellers(db: Queries, shopId: string, currency: string, since: Date) {
  return db.many<BestSeller>(sql`
    with newest as materialized (
      select order_id, product_id, quantity, gross, currency, created_at from order_line
      where shop_id = ${shopId} order by order_id desc limit ${MAX_SUMMED_LINES}
    ), rejected as materialized (
      select found.order_id
      from (
        select distinct states from order_day
        where shop_id = ${shopId} and currency = ${currency} and orders > 0 and states & ${REJECTED} <> 0
          and day >= (${since}::timestamptz at time zone 'UTC')::date
      ) part cross join lateral (
        select order_id from customer_order
        where shop_id = ${shopId} and customer_order.currency = ${currency} and customer_order.states = part.states
          and created_at >= greatest(${since}::timestamptz, (select min(created_at) from newest))
        offset 0
      ) found
    ), best as materialized (
      select product_id, sum(quantity) as quantity, sum(gross) as gross from newest
      where currency = ${currency} and created_at >= ${since}::timestamptz
        and order_id not in (select order_id from rejected)
      group by product_id order by sum(gross) desc, product_id limit 5
    )
    select upper(best.product_id::text) as "productId", product.product_number as "productNumber", ${nameColumn},
      trim_scale(quantity)::text as quantity, gross::text as gross,
      (select case when count(*) = ${MAX_SUMMED_LINES} then min(created_at) end from newest) as "linesSince"
    from best
    left join product on product.shop_id = ${shopId} and product.product_id = best.product_id
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    order by best.gross desc, best.product_id`);
}
