import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql, type Sql } from '../../db/sql.ts';

/*
 * Reports are read from the sums of each day by product, country and so on (`report_day`). They are derived data: a day
 * is counted from its orders by a step in the background, and counted again when it has changed. Two things tell that
 * it has: the sums of the day in `order_day`, which every transaction writes that places, cancels or reprices an order,
 * and the time of the last change of an order's lines, methods and addresses. Neither needs a write of its own, so an
 * order costs what it cost before, a process of the previous version cannot forget one, and a day that was counted
 * twice has the same sums. A report counts the days that have changed since from their orders, so it is never behind.
 */

/** The parts of a report. */
export const DIMENSIONS = ['product', 'country', 'payment', 'source', 'group', 'customer'] as const;
export type ReportDimension = (typeof DIMENSIONS)[number];

/** A row of `report_day`; exact decimals are text. */
export interface DayPart {
  /** `2026-11-16` in UTC. */
  day: string;
  currency: string;
  dimension: ReportDimension;
  key: string;
  orders: number;
  quantity: string;
  gross: string;
  net: string;
}

/** The bit of rejectedOn, which a cancelled order has, too. */
const REJECTED = 2;

/**
 * Counts these days from their orders, without cancelled and rejected ones. The costs of delivery and payment and the
 * deposits are the product '', so the parts of every dimension sum to the totals of the orders.
 */
export function sumDays(db: Queries, shopId: string, days: readonly string[]) {
  return db.many<DayPart>(sql`
    with counted as materialized (
      select found.*, exists (
          select from customer_order earlier
          where earlier.shop_id = ${shopId} and earlier.customer_id = found.customer_id
            and earlier.created_at < found.created_at
        ) as is_returning, coalesce(upper(customer.customer_group_id::text), '') as customer_group
      from unnest(${days}::date[]) as asked (day) cross join lateral (
        select asked.day, order_id, currency, customer_id, created_at, grand_total as gross, net_revenue as net,
          coalesce(coalesce(shipping_address, billing_address) ->> 'country', '') as country,
          coalesce(content #>> '{payment,method,paymentMethodId}', content #>> '{payment,name}', '') as payment,
          coalesce(upper(app_id::text), '') as source
        from customer_order
        where shop_id = ${shopId} and created_at >= asked.day::timestamp at time zone 'UTC'
          and created_at < (asked.day + 1)::timestamp at time zone 'UTC' and rejected_at is null
        offset 0
      ) found
      join customer on customer.shop_id = ${shopId} and customer.customer_id = found.customer_id
    ), sold as materialized (
      select counted.day, counted.currency, line.order_id, line.product_id, sum(line.quantity) as quantity,
        sum(line.gross) as gross, sum(line.net) as net
      from counted cross join lateral (
        select order_id, product_id, quantity, gross, net from order_line
        where shop_id = ${shopId} and order_id = counted.order_id offset 0
      ) line
      group by counted.day, counted.currency, line.order_id, line.product_id
    ), parts as (
      select day, currency, dimension, key, count(*) as orders, 0 as quantity, sum(gross) as gross, sum(net) as net
      from counted cross join lateral (values ('country', country), ('payment', payment), ('source', source),
        ('group', customer_group), ('customer', case when is_returning then 'returning' else 'new' end)
      ) as part (dimension, key)
      group by day, currency, dimension, key
      union all
      select day, currency, 'product', upper(product_id::text), count(*), sum(quantity), sum(gross), sum(net)
      from sold group by day, currency, product_id
      union all
      select day, currency, 'product', '', 0, 0, sum(gross), sum(net)
      from (
        select day, currency, gross, net from counted
        union all
        select day, currency, -gross, -net from sold
      ) rest
      group by day, currency
    )
    select day::text as day, currency, dimension, left(key, 200) as key, sum(orders)::bigint as orders,
      sum(quantity)::text as quantity, sum(gross)::text as gross, sum(net)::text as net
    from parts group by day, currency, dimension, left(key, 200)
    having sum(orders) > 0 or sum(gross) <> 0 or sum(net) <> 0`);
}

/** The fingerprints of the days of a shop: they change with the number and the value of the orders that count. */
export const dayPrints = (shopId: string, { from, to }: { from: string; to: string }): Sql => sql`
  select day, sum(orders) filter (where not is_rejected)::bigint as orders,
    md5(string_agg(concat_ws(' ', currency, is_rejected, orders, gross, trim_scale(net)), ','
      order by currency, is_rejected)) as print
  from (
    select day, currency, states & ${REJECTED} <> 0 as is_rejected, sum(orders) as orders, sum(gross) as gross,
      sum(net) as net
    from order_day where shop_id = ${shopId} and day between ${from}::date and ${to}::date and orders > 0
    group by 1, 2, 3
  ) sums
  group by day`;

export interface StaleDay {
  day: string;
  /** Orders that count. */
  orders: number;
}

/** The days of a period that have changed since they were counted, newest first. */
export function findStaleDays(
  db: Queries,
  shopId: string,
  period: { from: string; to: string },
  limit: number,
) {
  return db.many<StaleDay>(sql`
    select current.day::text as day, coalesce(current.orders, 0) as orders
    from (${dayPrints(shopId, period)}) current
    left join report_state on report_state.shop_id = ${shopId} and report_state.day = current.day
    left join (
      select (created_at at time zone 'UTC')::date as day, max(updated_at) as at from customer_order
      where shop_id = ${shopId} and updated_at > coalesce((
          select checked_until from report_run where shop_id = ${shopId}
        ), 'infinity') and updated_at < 'infinity'
      group by 1
    ) touched on touched.day = current.day
    where coalesce(report_state.print, '') <> current.print
      or coalesce(touched.at, '-infinity') > report_state.counted_until
    order by current.day desc limit ${limit}`);
}

const insertParts = insertInto('report_day', {
  day: 'date',
  currency: 'text',
  dimension: 'text',
  key: 'text',
  orders: 'bigint',
  quantity: 'numeric',
  gross: 'numeric',
  net: 'numeric',
});

/**
 * Counts one day and stores it. The fingerprint is read before the orders: what is committed in between is counted now
 * and makes the day stale once more, and nothing is lost. The row of the day is locked first, so of two processes one
 * waits for the other.
 */
export async function countDay(tx: Transaction, shopId: string, day: string): Promise<void> {
  await tx.run(sql`
    insert into report_state (shop_id, day, print, counted_until) values (${shopId}, ${day}, '', '-infinity')
    on conflict (shop_id, day) do update set print = '', revision = report_state.revision + 1`);
  const current = await tx.one<{ print: string; until: Date | null }>(sql`
    select print, (
        select max(updated_at) from customer_order
        where shop_id = ${shopId} and created_at >= ${day}::date::timestamp at time zone 'UTC'
          and created_at < (${day}::date + 1)::timestamp at time zone 'UTC'
      ) as until
    from (${dayPrints(shopId, { from: day, to: day })}) current`);
  const parts = await sumDays(tx, shopId, [day]);
  await tx.run(sql`delete from report_day where shop_id = ${shopId} and day = ${day}::date
    and dimension = any (${DIMENSIONS}::text[])`);
  await tx.run(insertParts(shopId, parts));
  await tx.run(sql`
    update report_state set print = ${current?.print ?? ''}, counted_until = ${current?.until ?? LONG_AGO}
    where shop_id = ${shopId} and day = ${day}::date`);
}

const LONG_AGO = new Date(0);
