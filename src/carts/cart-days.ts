import { dayOf } from '../http/dates.ts';
import type { Database, Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { addRuns, forEachShop, type CleanupStep } from '../platform/cleanup.ts';

/*
 * How many carts became orders, by the day (UTC) on which they were created. A cart is deleted when it is ordered, and
 * its id begins with the moment of its creation, so the order knows that day; other carts are there for 30 days. So a
 * day is counted from what exists, without a write for each cart, again and again until its first carts end, and is then
 * kept for ever.
 */

export interface CartDay {
  /** `2026-11-16` in UTC. */
  day: string;
  carts: number;
  withAddress: number;
  ordered: number;
}

const DAY = 86_400_000;
/** A day is counted while all of its carts are there: they end after 30 days. */
const COUNTED_DAYS = 29;
/** The last days are counted whenever a report is read. */
const LIVE_DAYS = 2;
const COUNT_EVERY = 6 * 3_600_000;
const SHOPS_AT_ONCE = 20;

/** The first id of a moment. */
function firstId(moment: number): string {
  const hex = moment.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The day that a cart id begins with. */
const dayOfCart = sql`
  (to_timestamp(('x' || left(replace(cart_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) at time zone 'UTC')::date`;

/** Counts a number of last days, today included. */
function countedDays({ now }: Queries, shopId: string, count: number): Sql {
  const first = Date.parse(dayOf(now.getTime())) - (count - 1) * DAY;
  const end = first + count * DAY;
  return sql`
    select day::date as day, coalesce(sum(carts), 0)::bigint as carts,
      coalesce(sum(with_address), 0)::bigint as with_address, coalesce(sum(ordered), 0)::bigint as ordered
    from generate_series(${dayOf(first)}::date, ${dayOf(end - DAY)}::date, interval '1 day') as day
    left join (
      select (created_at at time zone 'UTC')::date as counted_day, count(*) as carts,
        count(billing_address) as with_address, 0 as ordered
      from cart
      where shop_id = ${shopId} and created_at >= ${new Date(first)} and created_at < ${new Date(end)} group by 1
      union all
      select ${dayOfCart}, count(*), count(*), count(*) from customer_order
      where shop_id = ${shopId} and cart_id >= ${firstId(first)}::uuid and cart_id < ${firstId(end)}::uuid group by 1
    ) counted on counted_day = day::date
    group by day`;
}

/**
 * Counts the last days of a shop and keeps them. A number never falls: a person may have been erased with a cart. A day
 * whose numbers have not grown is not written again.
 */
async function keepDays(db: Database, shopId: string): Promise<void> {
  const { now } = db;
  await db.run(sql`
    update cart_day_run set due_at = ${new Date(db.serviceNow.getTime() + COUNT_EVERY)} where shop_id = ${shopId}`);
  await db.run(sql`
    insert into cart_day (shop_id, day, carts, with_address, ordered, counted_at)
    select shop.shop_id, counted.day, counted.carts, counted.with_address, counted.ordered, ${now}::timestamptz
    from shop cross join (${countedDays(db, shopId, COUNTED_DAYS)}) counted where shop.shop_id = ${shopId}
    on conflict (shop_id, day) do update set carts = greatest(cart_day.carts, excluded.carts),
      with_address = greatest(cart_day.with_address, excluded.with_address),
      ordered = greatest(cart_day.ordered, excluded.ordered), counted_at = excluded.counted_at
    where excluded.carts > cart_day.carts or excluded.with_address > cart_day.with_address
      or excluded.ordered > cart_day.ordered`);
}

/** Counts the carts of each shop some times a day. */
export const cartDays: CleanupStep = {
  name: 'cart days',
  every: 60_000,
  run: async (db, limit) => {
    await addRuns(
      db,
      sql`
      insert into cart_day_run (shop_id, due_at) select shop_id, ${new Date(0)}::timestamptz from shop
      where not exists (select from cart_day_run where cart_day_run.shop_id = shop.shop_id)
      on conflict (shop_id) do nothing`,
    );
    const due = await db.many<{ shopId: string }>(sql`
      select shop_id as "shopId" from cart_day_run where due_at <= ${db.now} order by due_at limit ${SHOPS_AT_ONCE}`);
    await forEachShop(db, due, (ofShop, { shopId }) => keepDays(ofShop, shopId));
    return due.length < SHOPS_AT_ONCE ? 0 : limit;
  },
  runForShop: async (db, shopId) => {
    await keepDays(db, shopId);
    return 0;
  },
};

/** The days of a period with carts: kept ones, and the last ones as they are now. */
export function findCartDays(
  db: Queries,
  shopId: string,
  { from, to }: { from: string; to: string },
): Promise<CartDay[]> {
  return db.many<CartDay>(sql`
    with live as materialized (${countedDays(db, shopId, LIVE_DAYS)})
    select day::text as day, carts, with_address as "withAddress", ordered from (
      select day, carts, with_address, ordered from cart_day
      where shop_id = ${shopId} and day between ${from}::date and ${to}::date
        and day < ${dayOf(db.now.getTime() - (LIVE_DAYS - 1) * DAY)}::date
      union all
      select day, carts, with_address, ordered from live where day between ${from}::date and ${to}::date
    ) days
    where carts > 0 order by day`);
}

/** The first day whose carts are known; undefined: none is kept yet. */
export async function findFirstCartDay(db: Queries, shopId: string): Promise<string | undefined> {
  const row = await db.one<{ day: string }>(sql`
    select day::text as day from cart_day where shop_id = ${shopId} order by day limit 1`);
  return row?.day;
}
