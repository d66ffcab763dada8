import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export interface SalesRow {
  currency: string;
  /** Minor units; not rounded for one product. */
  gross: string;
  net: string;
  /** For one product. */
  units?: string;
  orders: number;
}

/**
 * Orders placed between these moments and not rejected: whole days come from sums, the rest of both ends is added up.
 */
export function sumSales(db: Queries, shopId: string, after: Date, before: Date) {
  return db.many<SalesRow>(sql`
    with window_days as (
      select (${after}::timestamptz at time zone 'UTC')::date as first,
        (${before}::timestamptz at time zone 'UTC')::date as last
    ), parts as (
      select currency, orders, gross, net from order_day
      where shop_id = ${shopId} and day > (select first from window_days) and day < (select last from window_days)
        and states & ${REJECTED} = 0
      union all
      select currency, 1, grand_total, net_revenue from customer_order
      where shop_id = ${shopId} and created_at > ${after} and created_at < ${before}
        and created_at < (select (first + 1)::timestamp at time zone 'UTC' from window_days) and rejected_at is null
      union all
      select currency, 1, grand_total, net_revenue from customer_order
      where shop_id = ${shopId} and created_at < ${before}
        and created_at >= (select greatest(first + 1, last)::timestamp at time zone 'UTC' from window_days)
        and rejected_at is null
    )
    select currency, sum(gross)::text as gross, sum(net)::text as net, sum(orders)::bigint as orders
    from parts group by currency having sum(orders) > 0 order by currency`);
}

/** The bit of rejectedOn. */
export const REJECTED = 2;

/**
 * The same for one product. Few orders are rejected: finding those in the index of states costs less than reading each
 * order with the product.
 */
export function sumProductSales(db: Queries, shopId: string, productId: string, after: Date, before: Date) {
  return db.many<SalesRow>(sql`
    with rejected as materialized (
      select found.order_id
      from (
        select distinct currency, states from order_day
        where shop_id = ${shopId} and orders > 0 and states & ${REJECTED} <> 0
          and day >= (${after}::timestamptz at time zone 'UTC')::date
          and day <= (${before}::timestamptz at time zone 'UTC')::date
      ) part cross join lateral (
        select order_id from customer_order
        where shop_id = ${shopId} and customer_order.currency = part.currency
          and customer_order.states = part.states and created_at > ${after} and created_at < ${before}
        offset 0
      ) found
    )
    select currency, sum(gross)::text as gross, sum(net)::text as net, sum(quantity)::text as units,
      count(distinct order_id) as orders
    from order_line
    where shop_id = ${shopId} and product_id = ${productId} and created_at > ${after} and created_at < ${before}
      and order_id not in (select order_id from rejected)
    group by currency order by currency`);
}
