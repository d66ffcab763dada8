import { dayOf } from '../../http/dates.ts';
import type { Database, Queries } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import { forEachShop, type CleanupStep } from '../cleanup.ts';

/** What shops use by day, as far as no other sum has it: calls, emails, and how much there is of what is kept. */

const DAY = 86_400_000;
const WRITE_EVERY = 10_000;
/** Shops counted within that time; calls of further shops are not counted. */
const MAX_COUNTED = 20_000;

export interface ShopCallCounter {
  /** Counts a call of a shop's API, without a statement. */
  count(shopId: string): void;
  /** Writes the counts so far. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** The last seconds may be lost when the database is unavailable or the process is killed. */
export function createShopCallCounter(db: Database, onFailure: (error: unknown) => void): ShopCallCounter {
  let counted = new Map<string, number>();
  let day = dayOf(db.now);

  const write = async (ofDay: string, calls: ReadonlyMap<string, number>) => {
    for (const [shopId, requests] of calls) await addRequests(db, shopId, ofDay, requests).catch(onFailure);
  };
  let writing = Promise.resolve();
  const writeNext = () => {
    const [ofDay, calls] = [day, counted];
    counted = new Map();
    day = dayOf(db.now);
    return (writing = writing.then(() => write(ofDay, calls)));
  };
  const timer = setInterval(() => void writeNext(), WRITE_EVERY).unref();

  return {
    count(shopId) {
      const calls = counted.get(shopId);
      if (calls === undefined && counted.size >= MAX_COUNTED) return;
      counted.set(shopId, (calls ?? 0) + 1);
    },
    flush: writeNext,
    close() {
      clearInterval(timer);
      return writeNext();
    },
  };
}

/** A shop that was deleted meanwhile is not counted. */
function addRequests(db: Queries, shopId: string, day: string, requests: number) {
  return db.run(sql`
    insert into shop_day (shop_id, day, requests)
    select shop_id, ${day}::date, ${requests}::bigint from shop where shop_id = ${shopId}
    on conflict (shop_id, day) do update set requests = shop_day.requests + excluded.requests`);
}

/** Counts an email that is about to be sent; false: the limit of the day is reached. */
export async function takeEmail(db: Queries, shopId: string, limit: number): Promise<boolean> {
  if (limit === 0) return false;
  const taken = await db.run(sql`
    insert into shop_day (shop_id, day, emails)
    select shop_id, ${dayOf(db.now)}::date, 1 from shop where shop_id = ${shopId}
    on conflict (shop_id, day) do update set emails = shop_day.emails + excluded.emails
    where shop_day.emails < ${limit}`);
  return taken === 1;
}

/** It was not sent. */
export function giveBackEmail(db: Queries, shopId: string) {
  return db.run(sql`
    update shop_day set emails = emails - 1
    where shop_id = ${shopId} and day = ${dayOf(db.now)}::date and emails > 0`);
}

/** A day is billed long before it is deleted. */
const KEPT_FOR = 800 * DAY;

/** Measures each shop once a day, soon after midnight (UTC), from its counters. */
export const shopDays: CleanupStep = {
  name: 'days of shops',
  every: 600_000,
  run: async (db, limit) => {
    const today = dayOf(db.now);
    const shops = await db.many<{ shopId: string }>(sql`
      select shop.shop_id as "shopId" from shop
      left join shop_day on shop_day.shop_id = shop.shop_id and shop_day.day = ${today}::date
      where shop_day.media_bytes is null order by shop.shop_id limit ${limit}`);
    await forEachShop(db, shops, async (_ofShop, { shopId }) => void (await measure(db, shopId, today)));
    return shops.length;
  },
};

function measure(db: Queries, shopId: string, day: string) {
  return db.run(sql`
    insert into shop_day (shop_id, day, media_bytes, people, products)
    select shop_id, ${day}::date,
      coalesce((select value from counter where shop_id = ${shopId} and name = 'mediaBytes'), 0),
      (select count(*) from shop_user where shop_id = ${shopId}),
      (
        select coalesce(sum(products), 0)::bigint from listing_size
        where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}
      )
    from shop where shop_id = ${shopId}
    on conflict (shop_id, day) do update
    set media_bytes = excluded.media_bytes, people = excluded.people, products = excluded.products`);
}

const WHOLE_SHOP = '00000000-0000-0000-0000-000000000000';

const deleteDays = deleteOld('shop_day', 'day', { day: 'date' });

export const shopDayCleanup: CleanupStep = {
  name: 'old days of shops',
  run: (db, limit) => deleteDays(db, dayOf(new Date(db.now.getTime() - KEPT_FOR)), limit),
};
