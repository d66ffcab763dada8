import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { DIMENSIONS, dayPrints, type ReportDimension } from '../src/orders/reports/day-sums.ts';
import { findChangedMonths, sumMonth } from '../src/orders/reports/month-sums.ts';
import type { ReportPeriod } from '../src/orders/reports/period.ts';
import { findBreakdown } from '../src/orders/reports/queries.ts';
import type { Verdict } from './report.ts';
import { createBareShop } from './shop.ts';
import { percentile } from './timing.ts';

/**
 * What a report over two years costs in a shop with a million orders: from the sums of its days alone, as it is before
 * the months are summed, and from months and days. The sums are made up; orders are not needed, because no day has
 * changed since it was counted.
 */

const SHOP = 'Reports';
const DAY = 86_400_000;
const DAYS = 730;
const ORDERS_A_DAY = 1_370;
const PRODUCTS = 2_000;
/** Different products that are sold on a day. */
const SOLD_A_DAY = 1_200;
/** Keys of the other dimensions. */
const OTHER_KEYS = 12;
const GOAL_MS = 200;

export async function createReportShop(db: Database): Promise<ReportPeriod> {
  await createBareShop(db, SHOP);
  const today = Date.parse(db.now.toISOString().slice(0, 10));
  const dayBefore = (days: number) => new Date(today - days * DAY).toISOString().slice(0, 10);
  const period = { from: dayBefore(DAYS), to: dayBefore(1) };
  await db.transaction(async (tx) => {
    await tx.run(sql`set local statement_timeout = 0`);
    await tx.run(sql`
      insert into order_day (shop_id, day, currency, states, orders, gross, net)
      select ${SHOP}, ${period.from}::date + n, 'EUR', states, ${ORDERS_A_DAY / 10}::bigint, ${ORDERS_A_DAY * 600}::bigint,
        ${String((ORDERS_A_DAY * 600) / 1.19)}::numeric
      from generate_series(0, ${DAYS - 1}::integer) n cross join generate_series(0, 90, 10) states`);
    await tx.run(sql`
      insert into report_day (shop_id, dimension, day, currency, key, orders, quantity, gross, net)
      select ${SHOP}, 'product', ${period.from}::date + n, 'EUR',
        '00000000-0000-7000-8000-' || lpad(((n * 7919::bigint + product * 3) % ${PRODUCTS}::bigint)::text, 12, '0'), 1 + n % 5,
        1 + n % 5, 1999 * (1 + n % 5), round(1999 * (1 + n % 5) / 1.19, 12)
      from generate_series(0, ${DAYS - 1}::integer) n cross join generate_series(1, ${SOLD_A_DAY}::integer) product
      on conflict do nothing`);
    await tx.run(sql`
      insert into report_day (shop_id, dimension, day, currency, key, orders, quantity, gross, net)
      select ${SHOP}, dimension, ${period.from}::date + n, 'EUR', 'K' || key, ${Math.round(ORDERS_A_DAY / OTHER_KEYS)}::bigint, 0, 456600,
        round(456600 / 1.19, 12)
      from generate_series(0, ${DAYS - 1}::integer) n cross join generate_series(1, ${OTHER_KEYS}::integer) key
      cross join unnest(${DIMENSIONS.filter((dimension) => dimension !== 'product')}::text[]) dimension`);
    await tx.run(sql`
      insert into report_state (shop_id, day, print, counted_until)
      select ${SHOP}, day, print, '1970-01-01' from (${dayPrints(SHOP, period)}) counted`);
  });
  await db.pool.query('vacuum analyze');
  return period;
}

export async function measureReports(
  db: Database,
  period: ReportPeriod,
  calls: number,
  say: (line: string) => void,
): Promise<Verdict[]> {
  const [{ rows } = { rows: 0 }] = await db.many<{ rows: number }>(sql`
    select count(*) as rows from report_day where shop_id = ${SHOP} and dimension = 'product'`);
  const measured = async (dimension: ReportDimension) => {
    const times: number[] = [];
    for (let call = 0; call < calls; call++) {
      const began = performance.now();
      await findBreakdown(db, SHOP, { period, dimension, currency: 'EUR' });
      times.push(performance.now() - began);
    }
    return Math.round(percentile(times, 0.5));
  };
  const fromDays = { product: await measured('product'), country: await measured('country') };
  say(`from ${rows} sums of days: by product ${fromDays.product} ms, by country ${fromDays.country} ms`);
  const sums: number[] = [];
  for (;;) {
    const [month] = await findChangedMonths(db, SHOP, 1);
    if (month === undefined) break;
    const began = performance.now();
    await db.transaction((tx) => sumMonth(tx, SHOP, month));
    sums.push(performance.now() - began);
  }
  await db.pool.query('vacuum analyze');
  say(`${sums.length} months summed, ${Math.round(percentile(sums, 0.5))} ms each`);
  const verdict = (name: string, value: number) => ({ name, value, goal: GOAL_MS, ok: value < GOAL_MS });
  return [
    verdict('two years by product, p50 ms', await measured('product')),
    verdict('two years by country, p50 ms', await measured('country')),
  ];
}
