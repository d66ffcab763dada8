import { dayOf } from '../../http/dates.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { DIMENSIONS } from './day-sums.ts';
import { lastDayOf, type ReportPeriod } from './period.ts';

/*
 * The sums of whole months, from which reports over years are read: of a product that is sold every day, a month has one row
 * instead of thirty. They are summed from the sums of days (`report_day`) in the background, and carry the fingerprint of
 * the days that they were summed from. A report takes a month only while its days have that fingerprint and none of them
 * has changed, and otherwise reads the days. So it does not matter whether a month was summed late, twice or never, nor
 * which version of the program counted a day of it last.
 */

/** The fingerprint of the counted days of each month: it changes whenever one of them is counted again. */
const monthPrints = (shopId: string, { from, to }: ReportPeriod): Sql => sql`
  select date_trunc('month', day::timestamp)::date as month,
    md5(string_agg(concat_ws(' ', day - '2000-01-01'::date, revision, print, extract(epoch from counted_until)), ','
      order by day)) as print
  from report_state where shop_id = ${shopId} and day between ${from}::date and ${to}::date
  group by 1`;

/** The months among these, which are their first days in order, whose sums are those of their days. */
export async function findSummedMonths(
  db: Queries,
  shopId: string,
  months: readonly string[],
): Promise<string[]> {
  if (months.length === 0) return [];
  const days = { from: months[0]!, to: lastDayOf(months.at(-1)!) };
  const rows = await db.many<{ month: string }>(sql`
    select current.month::text as month
    from (${monthPrints(shopId, days)}) current
    join report_month_state on report_month_state.shop_id = ${shopId} and report_month_state.month = current.month
      and report_month_state.print = current.print
    where current.month = any (${months}::date[]) order by current.month`);
  return rows.map(({ month }) => month);
}

/**
 * Sums one month and stores it. The fingerprint is read before the days: what is counted in between makes the month stale
 * once more. The row of the month is locked first, so of two processes one waits for the other.
 */
export async function sumMonth(tx: Transaction, shopId: string, month: string): Promise<void> {
  const days = { from: month, to: lastDayOf(month) };
  await tx.run(sql`
    insert into report_month_state (shop_id, month, print) values (${shopId}, ${month}, '')
    on conflict (shop_id, month) do update set print = ''`);
  const current = await tx.one<{ print: string }>(
    sql`select print from (${monthPrints(shopId, days)}) current`,
  );
  await tx.run(sql`delete from report_month where shop_id = ${shopId} and month = ${month}::date
    and dimension = any (${DIMENSIONS}::text[])`);
  await tx.run(sql`
    insert into report_month (shop_id, dimension, month, currency, key, orders, quantity, gross, net)
    select shop_id, dimension, ${month}::date, currency, key, sum(orders), sum(quantity), sum(gross), sum(net)
    from report_day where shop_id = ${shopId} and dimension = any (${DIMENSIONS}::text[])
      and day between ${days.from}::date and ${days.to}::date
    group by shop_id, dimension, currency, key`);
  await tx.run(sql`
    update report_month_state set print = ${current?.print ?? ''} where shop_id = ${shopId} and month = ${month}::date`);
}

/**
 * The months whose days were counted since they were summed, newest first. The month that has not ended is left out: its
 * days change with every order.
 */
export async function findChangedMonths(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const today = dayOf(db.now);
  const rows = await db.many<{ month: string }>(sql`
    select current.month::text as month
    from (${monthPrints(shopId, { from: '-infinity', to: 'infinity' })}) current
    left join report_month_state on report_month_state.shop_id = ${shopId}
      and report_month_state.month = current.month
    where current.month < date_trunc('month', ${today}::date::timestamp)::date
      and coalesce(report_month_state.print, '') <> current.print
    order by current.month desc limit ${limit}`);
  return rows.map(({ month }) => month);
}
