import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { findStaleDays, sumDays, type Dimension } from './day-sums.ts';

/** Days in UTC; both are included. */
export interface ReportPeriod {
  from: string;
  to: string;
}

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

/** So many orders are counted for a report; on days beyond that, it says that they are missing. */
const MAX_COUNTED_NOW = 20_000;
const MAX_STALE = 4_000;

/**
 * The sums of a period by the parts of one dimension: those of days that were counted, and those of changed days counted
 * now, of which there are few. Only while the orders of a large shop are counted for the first time, there are many.
 */
export async function findBreakdown(
  db: Queries,
  shopId: string,
  { period, dimension, currency }: { period: ReportPeriod; dimension: Dimension; currency: string },
): Promise<Breakdown> {
  const stale = await findStaleDays(db, shopId, period, MAX_STALE);
  const now: string[] = [];
  let orders = 0;
  for (const day of stale) {
    orders += day.orders;
    if (orders > MAX_COUNTED_NOW) break;
    now.push(day.day);
  }
  const [counted, changed] = await Promise.all([
    sumCountedDays(db, shopId, { period, dimension, currency, without: stale.map(({ day }) => day) }),
    now.length === 0 ? [] : sumDays(db, shopId, now),
  ]);
  return {
    parts: merged([
      ...counted,
      ...changed.filter((part) => part.dimension === dimension && part.currency === currency),
    ]),
    uncounted: stale.length - now.length,
  };
}

function sumCountedDays(
  db: Queries,
  shopId: string,
  {
    period,
    dimension,
    currency,
    without,
  }: { period: ReportPeriod; dimension: Dimension; currency: string; without: readonly string[] },
) {
  return db.many<ReportPart>(sql`
    select key, sum(orders)::bigint as orders, sum(quantity)::text as quantity, sum(gross)::text as gross,
      sum(net)::text as net
    from report_day
    where shop_id = ${shopId} and dimension = ${dimension} and day between ${period.from}::date and ${period.to}::date
      and currency = ${currency} and day <> all (${without}::date[])
    group by key`);
}

/** One part for each key. The decimals have as many digits as money needs, so their sums are exact to the cent. */
function merged(parts: readonly ReportPart[]): ReportPart[] {
  const byKey = new Map<string, ReportPart>();
  for (const part of parts) {
    const known = byKey.get(part.key);
    byKey.set(
      part.key,
      known
        ? {
            key: part.key,
            orders: known.orders + part.orders,
            quantity: String(Number(known.quantity) + Number(part.quantity)),
            gross: String(Number(known.gross) + Number(part.gross)),
            net: String(Number(known.net) + Number(part.net)),
          }
        : part,
    );
  }
  return [...byKey.values()];
}
