import type { Content } from '../pricing/content.ts';
import type { Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { linesSold } from './revenue.ts';

/** What lists and sales are counted from, kept by every statement that writes an order. */

/** The rows of `order_line`, as a part of a larger statement. */
export function insertLines(
  shopId: string,
  orderId: string,
  createdAt: Date,
  content: Content,
  when: Sql,
): Sql {
  return sql`
    insert into order_line (shop_id, order_id, line_item_id, product_id, created_at, currency, quantity, gross, net)
    select ${shopId}, ${orderId}::uuid, line_item_id, product_id, ${createdAt}::timestamptz, ${content.currency},
      quantity, gross, net
    from jsonb_to_recordset(${JSON.stringify(linesSold(content))}) as sold (
      line_item_id uuid, product_id uuid, quantity numeric, gross numeric, net numeric)
    where ${when}`;
}

/**
 * Adds to the sums of days, as a part of a larger statement; what is taken away comes with -1 order and negative sums.
 * `changes` selects shop_id, created_at, currency, states, orders, gross and net.
 */
export function addToDays(changes: Sql): Sql {
  return sql`
    insert into order_day (shop_id, day, currency, states, orders, gross, net)
    select shop_id, (created_at at time zone 'UTC')::date, currency, states, sum(orders), sum(gross), sum(net)
    from (${changes}) changes group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (shop_id, day, currency, states) do update set orders = order_day.orders + excluded.orders,
      gross = order_day.gross + excluded.gross, net = order_day.net + excluded.net
    returning day::text, currency, states, orders`;
}

/** A row that `addToDays` has returned. */
export interface TouchedDay {
  day: string;
  currency: string;
  states: number;
  orders: number;
}

/**
 * Deletes what an order has left empty by going on to another state, in the same transaction. The rows are locked by
 * it already, so that nobody is waited for.
 */
export async function deleteEmptyDays(
  tx: Transaction,
  shopId: string,
  touched: readonly TouchedDay[],
): Promise<void> {
  for (const { day, currency, states, orders } of touched) {
    if (orders !== 0) continue;
    await tx.run(sql`
      delete from order_day
      where shop_id = ${shopId} and day = ${day}::date and currency = ${currency} and states = ${states}
        and orders = 0`);
  }
}
