import type { Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { Content } from '../pricing/content.ts';
import { linesSold } from './revenue.ts';

/**
 * What lists and sales are counted from: the sums of each day (`order_day`) and the lines (`order_line`). Whatever writes
 * an order writes them in the same transaction.
 */

/** Inserts the lines of these orders. */
export async function insertOrderLines(
  tx: Transaction,
  shopId: string,
  orders: readonly { orderId: string; createdAt: Date; content: Content }[],
): Promise<void> {
  const lines = orders.flatMap(({ orderId, createdAt, content }) =>
    linesSold(content).map((line) => ({
      ...line,
      order_id: orderId,
      created_at: createdAt,
      currency: content.currency,
    })),
  );
  await tx.run(sql`
    insert into order_line (shop_id, order_id, line_item_id, product_id, created_at, currency, quantity, gross, net)
    select shop_id, order_id, line_item_id, product_id, sold.created_at, currency, quantity, gross, net
    from shop
    cross join jsonb_to_recordset(${JSON.stringify(lines)}) as sold (order_id uuid, line_item_id uuid, product_id uuid,
      created_at timestamptz, currency text, quantity numeric, gross numeric, net numeric)
    where shop_id = ${shopId}`);
}

/** Adds orders that this transaction has just inserted to the sums of their days. */
export function addPlacedOrders(tx: Transaction, shopId: string, orderIds: readonly string[]) {
  return tx.run(
    addToDaySums(sql`
      select shop_id, created_at, currency, states, 1 as orders, grand_total as gross, net_revenue as net
      from customer_order where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`),
  );
}

/** What the sums of a day count of an order. */
export interface CountedOrder {
  created_at: Date;
  currency: string;
  states: number;
  gross: number;
  /** An exact decimal as text. */
  net: string;
}

/**
 * An order that counted as `before` counts as `after`: a sum that no order is left in is deleted. The transaction must
 * have taken the time of its commit: those who place orders lock the counter of events before the sums, and so must
 * everybody else, or the two wait for each other.
 */
export async function moveDaySum(
  tx: Transaction,
  shopId: string,
  before: CountedOrder,
  after: CountedOrder,
): Promise<void> {
  const moves = JSON.stringify([
    { ...before, sign: -1 },
    { ...after, sign: 1 },
  ]);
  const changed = await tx.many<ChangedDaySum>(
    addToDaySums(sql`
      select shop_id, counted.created_at, currency, states, sign as orders, sign * gross as gross, sign * net as net
      from shop
      cross join jsonb_to_recordset(${moves}) as counted (created_at timestamptz, currency text, states int,
        gross bigint, net numeric, sign int)
      where shop_id = ${shopId}`),
  );
  await deleteEmptyDaySums(tx, shopId, changed);
}

/**
 * Adds to the sums of days; what is taken away comes with -1 order and negative sums. `changes` selects shop_id,
 * created_at, currency, states, orders, gross and net.
 */
export function addToDaySums(changes: Sql): Sql {
  return sql`
    insert into order_day (shop_id, day, currency, states, orders, gross, net)
    select shop_id, (created_at at time zone 'UTC')::date, currency, states, sum(orders), sum(gross), sum(net)
    from (${changes}) changes group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (shop_id, day, currency, states) do update set orders = order_day.orders + excluded.orders,
      gross = order_day.gross + excluded.gross, net = order_day.net + excluded.net
    returning day::text, currency, states, orders`;
}

/** A row of sums that `addToDaySums` has changed. */
interface ChangedDaySum {
  day: string;
  currency: string;
  states: number;
  orders: number;
}

/**
 * Deletes the sums that no order is left in, because the last one has got another state. The transaction has locked
 * these rows by changing them, so that nobody is waited for.
 */
async function deleteEmptyDaySums(
  tx: Transaction,
  shopId: string,
  changed: readonly ChangedDaySum[],
): Promise<void> {
  for (const { day, currency, states, orders } of changed) {
    if (orders !== 0) continue;
    await tx.run(sql`
      delete from order_day
      where shop_id = ${shopId} and day = ${day}::date and currency = ${currency} and states = ${states}
        and orders = 0`);
  }
}
