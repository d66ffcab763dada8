import { dayOf } from '../http/dates.ts';
import type { Database, Queries } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';

const DAY = 86_400_000;

/** Milliseconds between two writes of the counts. */
const WRITE_EVERY = 10_000;

/** Apps counted within that time; calls of further apps are not counted. */
const MAX_COUNTED = 10_000;

/** Days that are kept. */
const KEPT_DAYS = 90;

interface Use {
  appId: string;
  /** Such as 2026-11-18, in UTC. */
  day: string;
  calls: number;
  errors: number;
}

export interface AppUseCounter {
  /** Counts a call that was answered, without a statement. */
  count(shopId: string, appId: string, status: number): void;
  /** Writes the remaining counts, and ends. */
  close(): Promise<void>;
}

/**
 * Counts the calls of apps by day. The numbers are for people to look at, so the last seconds may be lost when the
 * database is unavailable or the process is killed.
 */
export function createAppUseCounter(db: Database, onFailure: (error: unknown) => void): AppUseCounter {
  /** By shop, and there by app and day. */
  let counted = new Map<string, Map<string, Use>>();
  let size = 0;

  const write = async () => {
    const shops = [...counted];
    counted = new Map();
    size = 0;
    for (const [shopId, uses] of shops) await addUse(db, shopId, [...uses.values()]).catch(onFailure);
  };
  let writing = Promise.resolve();
  const writeNext = () => (writing = writing.then(write));
  const timer = setInterval(() => void writeNext(), WRITE_EVERY).unref();

  // The same text for every call of a day.
  let today = { number: 0, day: '' };
  const currentDay = () => {
    const now = db.serviceNow;
    const number = Math.floor(now.getTime() / DAY);
    if (today.number !== number) today = { number, day: dayOf(now) };
    return today.day;
  };

  const useOf = (shopId: string, appId: string): Use | undefined => {
    const day = currentDay();
    const key = `${appId} ${day}`;
    const uses = counted.get(shopId) ?? new Map<string, Use>();
    const known = uses.get(key);
    if (known || size >= MAX_COUNTED) return known;
    const use = { appId, day, calls: 0, errors: 0 };
    counted.set(shopId, uses.set(key, use));
    size++;
    return use;
  };

  return {
    count(shopId, appId, status) {
      const use = useOf(shopId, appId);
      if (!use) return;
      use.calls++;
      if (status >= 400) use.errors++;
    },
    close() {
      clearInterval(timer);
      return writeNext();
    },
  };
}

/** An app that was deleted meanwhile is not counted; nor is an admin user, who is no app. */
function addUse(db: Database, shopId: string, uses: readonly Use[]) {
  return db.run(sql`
    insert into app_use (shop_id, app_id, day, calls, errors)
    select app.shop_id, app.app_id, used.day, used.calls, used.errors
    from app join json_to_recordset(${JSON.stringify(uses)})
      as used ("appId" uuid, day date, calls bigint, errors bigint) on app.app_id = used."appId"
    where app.shop_id = ${shopId} order by app.app_id, used.day
    on conflict (shop_id, app_id, day) do update
    set calls = app_use.calls + excluded.calls, errors = app_use.errors + excluded.errors`);
}

export type DayOfUse = Pick<Use, 'day' | 'calls' | 'errors'>;

/** The last days up to today, oldest first, including days without calls. */
export async function findUse(db: Queries, shopId: string, appId: string, days: number): Promise<DayOfUse[]> {
  const all = Array.from({ length: days }, (_, index) =>
    dayOf(new Date(db.serviceNow.getTime() - (days - 1 - index) * DAY)),
  );
  const rows = await db.many<DayOfUse>(sql`
    select day::text, calls, errors from app_use
    where shop_id = ${shopId} and app_id = ${appId} and day >= ${all[0]!}`);
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return all.map((day) => byDay.get(day) ?? { day, calls: 0, errors: 0 });
}

const deleteDays = deleteOld('app_use', 'day', { app_id: 'uuid', day: 'date' });

/** Deletes days that are no longer shown. */
export const appUseCleanup: CleanupStep = {
  name: 'app use',
  run: (db, limit) => deleteDays(db, dayOf(new Date(db.serviceNow.getTime() - KEPT_DAYS * DAY)), limit),
};
