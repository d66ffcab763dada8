import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { addRuns, forEachShop, type CleanupStep } from '../../platform/cleanup.ts';
import { countDay, findStaleDays } from './day-sums.ts';
import { findChangedMonths, sumMonth } from './month-sums.ts';

/** The step in the background that keeps the sums of reports up to date, a few days and months of a shop at a time. */

const LONG_AGO = new Date(0);
const ALL_DAYS = { from: '-infinity', to: 'infinity' };
const DAYS_AT_ONCE = 31;
const MONTHS_AT_ONCE = 3;
const CHECK_EVERY = 300_000;
/** A shop that sold nothing since the last time: reports count its new days themselves until then. */
const CHECK_IDLE_EVERY = 3_600_000;
/** Days that were never counted are counted anyway: only later changes have to be looked for. */
const HOUR = 3_600_000;

/**
 * Counts the days of a shop that have changed, some at a time, then their months. false: all of them are counted. The shop is put to the end
 * of the queue first, so that one that fails does not hold up the others. The changes that were looked at are remembered
 * only after all their days were counted, so a process that dies in between repeats them.
 */
async function countStaleDays(db: Database, shopId: string): Promise<boolean> {
  await db.run(sql`
    update report_run set due_at = ${new Date(db.serviceNow.getTime() + CHECK_EVERY)} where shop_id = ${shopId}`);
  const seen = await db.one<{ until: Date | null }>(sql`
    select max(updated_at) as until from customer_order where shop_id = ${shopId} and updated_at < 'infinity'`);
  const stale = await findStaleDays(db, shopId, ALL_DAYS, DAYS_AT_ONCE);
  for (const { day } of stale) await db.transaction((tx) => countDay(tx, shopId, day));
  if (stale.length === DAYS_AT_ONCE) {
    await db.run(sql`update report_run set due_at = ${LONG_AGO} where shop_id = ${shopId}`);
    return true;
  }
  const dueAt = new Date(db.serviceNow.getTime() + (stale.length === 0 ? CHECK_IDLE_EVERY : CHECK_EVERY));
  await db.run(sql`
    update report_run
    set checked_until = greatest(checked_until, ${seen?.until ?? LONG_AGO}::timestamptz), due_at = ${dueAt}
    where shop_id = ${shopId}`);
  const months = await findChangedMonths(db, shopId, MONTHS_AT_ONCE);
  for (const month of months) await db.transaction((tx) => sumMonth(tx, shopId, month));
  if (months.length < MONTHS_AT_ONCE) return false;
  await db.run(sql`update report_run set due_at = ${LONG_AGO} where shop_id = ${shopId}`);
  return true;
}

const SHOPS_AT_ONCE = 20;

/** Counts the days that have changed, of all shops that are due. Orders that were there before the reports are counted too. */
export const reportSums: CleanupStep = {
  name: 'report sums',
  every: 60_000,
  run: async (db, limit) => {
    await addRuns(
      db,
      sql`
      insert into report_run (shop_id, due_at, checked_until)
      select shop_id, ${LONG_AGO}::timestamptz, ${new Date(db.now.getTime() - HOUR)}::timestamptz from shop
      where not exists (select from report_run where report_run.shop_id = shop.shop_id)
      on conflict (shop_id) do nothing`,
    );
    const due = await db.many<{ shopId: string }>(sql`
      select shop_id as "shopId" from report_run where due_at <= ${db.now} order by due_at limit ${Math.min(limit, SHOPS_AT_ONCE)}`);
    let isMore = due.length >= Math.min(limit, SHOPS_AT_ONCE);
    await forEachShop(db, due, async (ofShop, { shopId }) => {
      if (await countStaleDays(ofShop, shopId)) isMore = true;
    });
    return isMore ? limit : 0;
  },
  runForShop: async (db, shopId, limit) => ((await countStaleDays(db, shopId)) ? limit : 0),
};
