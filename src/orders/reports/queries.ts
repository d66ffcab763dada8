import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { findStaleDays, sumDays, type ReportDimension } from './day-sums.ts';
import { findSummedMonths } from './month-sums.ts';
import { daysOf, firstDayOf, wholeMonthsOf, type ReportPeriod } from './period.ts';

export interface DayTotal {
  day: string;
  orders: number;
  gross: number;
  /** An exact decimal as text. */
  net: string;
}

/** The bit of rejectedOn. */
const REJECTED = 2;

/** The totals of each day with orders, in one currency, from the sums that are written with the orders. */
export function findDayTotals(db: Queries, shopId: string, currency: string, { from, to }: ReportPeriod) {
  return db.many<DayTotal>(sql`
    select day::text as day, sum(orders)::bigint as orders, sum(gross)::bigint as gross, sum(net)::text as net
    from order_day
    where shop_id = ${shopId} and day between ${from}::date and ${to}::date and currency = ${currency}
      and states & ${REJECTED} = 0 and orders > 0
    group by day order by day`);
}

/** The currencies of all orders. */
export async function findCurrencies(db: Queries, shopId: string): Promise<string[]> {
  const rows = await db.many<{ currency: string }>(sql`
    select distinct currency from order_day where shop_id = ${shopId} and orders > 0 order by currency`);
  return rows.map(({ currency }) => currency);
}

export interface ReportPart {
  key: string;
  orders: number;
  /** Exact decimals as text; amounts in minor units. */
  quantity: string;
  gross: string;
  net: string;
}

export interface Breakdown {
  parts: ReportPart[];
  /** Days that are still to be counted for the first time, and are not included. */
  uncounted: number;
}

/** Limit of the orders that are counted for a report; it names the days beyond that as missing. */
const MAX_COUNTED_NOW = 20_000;
const MAX_STALE = 4_000;

/**
 * The sums of a period by the parts of one dimension: those of whole months and of the other days, as far as they were
 * counted, and those of changed days counted now, of which there are few. Only while the orders of a large shop are
 * counted for the first time, there are many.
 */
export async function findBreakdown(
  db: Queries,
  shopId: string,
  { period, dimension, currency }: { period: ReportPeriod; dimension: ReportDimension; currency: string },
): Promise<Breakdown> {
  const stale = await findStaleDays(db, shopId, period, MAX_STALE);
  const now: string[] = [];
  let orders = 0;
  for (const day of stale) {
    orders += day.orders;
    if (orders > MAX_COUNTED_NOW) break;
    now.push(day.day);
  }
  const staleDays = new Set(stale.map(({ day }) => day));
  const staleMonths = new Set(stale.map(({ day }) => firstDayOf(day)));
  const [months, changed] = await Promise.all([
    findSummedMonths(
      db,
      shopId,
      wholeMonthsOf(period).filter((month) => !staleMonths.has(month)),
    ),
    now.length === 0 ? [] : sumDays(db, shopId, now),
  ]);
  const days = daysOf(period).filter((day) => !staleDays.has(day) && !months.includes(firstDayOf(day)));
  const parts = changed.filter((part) => part.dimension === dimension && part.currency === currency);
  return {
    parts: await sumParts(db, shopId, { dimension, currency, months, days, parts }),
    uncounted: stale.length - now.length,
  };
}

/** Sums of months, of days and of these parts, added up by PostgreSQL because JavaScript has no exact decimals. */
function sumParts(
  db: Queries,
  shopId: string,
  {
    dimension,
    currency,
    months,
    days,
    parts,
  }: {
    dimension: ReportDimension;
    currency: string;
    months: readonly string[];
    days: readonly string[];
    parts: readonly ReportPart[];
  },
) {
  return db.many<ReportPart>(sql`
    select key, sum(orders)::bigint as orders, sum(quantity)::text as quantity, sum(gross)::text as gross,
      sum(net)::text as net
    from (
      select key, orders, quantity, gross, net from report_month
      where shop_id = ${shopId} and dimension = ${dimension} and month = any (${months}::date[])
        and currency = ${currency}
      union all
      select key, orders, quantity, gross, net from report_day
      where shop_id = ${shopId} and dimension = ${dimension} and day = any (${days}::date[])
        and currency = ${currency}
      union all
      select changed.key, changed.orders, changed.quantity, changed.gross, changed.net
      from shop cross join jsonb_to_recordset(${JSON.stringify(parts)}) as changed (key text, orders bigint,
        quantity numeric, gross numeric, net numeric)
      where shop.shop_id = ${shopId}
    ) part
    group by key`);
}
