import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../cleanup.ts';
import type { EventType } from './types.ts';

export interface EventRow {
  position: number;
  at: Date;
  type: EventType;
  resourceId: string | null;
  appId: string | null;
  data: Record<string, unknown>;
}

export interface EventPage {
  events: EventRow[];
  /** Where to continue reading: all events up to here were returned, or are of other types. */
  next: number;
  /** The position of the last event; 0: there was none yet. */
  last: number;
  /** The first position that still exists; without any event, the next one. */
  oldest: number;
}

/** Positions read for one page, however few of them have the requested types. */
const MAX_POSITIONS = 10_000;

/**
 * Reads the events after a position. One statement, and so one snapshot: an event that is committed meanwhile is after
 * `next`.
 */
export async function readEvents(
  db: Queries,
  shopId: string,
  { after, types, limit }: { after: number; types: readonly EventType[]; limit: number },
): Promise<EventPage> {
  const until = after + MAX_POSITIONS;
  const rows = await db.many<{ last: number; oldest: number | null } & EventRow>(sql`
    select counter.value as last, (select min(position) from event where shop_id = ${shopId}) as oldest,
      event.position, event.at, event.type, upper(event.resource_id::text) as "resourceId",
      upper(event.app_id::text) as "appId", event.data
    from counter
    left join event on event.shop_id = ${shopId} and event.position > ${after}::bigint
      and event.position <= ${until}::bigint and event.type = any (${types}::text[])
    where counter.shop_id = ${shopId} and counter.name = 'event'
    order by event.position limit ${limit}`);
  const last = rows[0]?.last ?? 0;
  const events = rows
    .filter(({ position }) => position !== null)
    .map(({ last: _last, oldest: _oldest, ...event }) => event);
  const isFull = events.length === limit;
  return {
    events,
    next: isFull ? events.at(-1)!.position : Math.max(after, Math.min(until, last)),
    last,
    oldest: rows[0]?.oldest ?? last + 1,
  };
}

/** The position of the last event of each of these shops. */
export function findLastPositions(db: Queries, shopIds: readonly string[]) {
  return db.many<{ shopId: string; position: number }>(sql`
    select shop_id as "shopId", value as position from counter
    where shop_id = any (${shopIds}::text[]) and name = 'event'`);
}

/** Deletes the old events of all shops, the oldest first, so the rest of a shop has no gaps. */
export function eventCleanup(days: number): CleanupStep {
  return {
    name: 'events',
    run: async (db, limit) => {
      const old = await db.many<{ shopId: string; position: number }>(sql`
        select shop_id as "shopId", position from event
        where at < ${new Date(db.now.getTime() - days * 86_400_000)} order by at limit ${limit}`);
      const lastOf = new Map<string, number>();
      for (const { shopId, position } of old) {
        lastOf.set(shopId, Math.max(position, lastOf.get(shopId) ?? 0));
      }
      for (const [shopId, position] of lastOf) {
        await db.run(sql`delete from event where shop_id = ${shopId} and position <= ${position}::bigint`);
      }
      return old.length;
    },
  };
}
