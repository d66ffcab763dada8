import type { Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { EventType } from './types.ts';

export interface NewEvent {
  type: EventType;
  /** null: it is about the shop itself. */
  resourceId: string | null;
  /** What changed, never what identifies a person. */
  data?: Record<string, unknown>;
  /** Who caused it; absent: the app that the transaction is for. */
  appId?: string | null;
}

/** What process-wide listeners of the database hear of: a shop has new events. */
export const NEW_EVENTS = 'events';

/** What is written when the transaction commits. */
interface Pending {
  shopId: string;
  events: NewEvent[];
  stamps: ((events: number) => Promise<unknown>)[];
  /** The counter is locked, and has the time of this transaction. */
  hasTime: boolean;
}

const pendingOf = new WeakMap<Transaction, Pending>();

/**
 * The event log of a shop, written with the commit of the transaction that caused the events.
 *
 * Positions follow commits: the last statements of the transaction lock the shop's counter, take the next positions from
 * it and insert the events, and the lock ends with the commit. So the transaction that gets a later position commits
 * later, and no reader sees a position before all earlier ones. A transaction that is rolled back gives its positions
 * back, so there are no gaps.
 *
 * Two transactions cannot deadlock, because the counter is the last lock that each of them takes. What is locked behind
 * it, is locked behind it by everybody: the counter of customers, the sums of days and the counters of documents, by
 * those who place or change orders and those who create customers; they have called `takeTimeOfCommit`, or have locked
 * the counter themselves. The row of the shop comes before the counter, because every insert refers to it and whoever
 * changes settings locks it first.
 *
 * The time of an event follows commits in the same way. It is the transaction's own, or a millisecond more than the
 * last one where that is not later: clocks of processes differ a little, and transactions wait for each other.
 */
export function recordEvents(tx: Transaction, shopId: string, events: readonly NewEvent[]): void {
  if (events.length === 0) return;
  const state = pending(tx, shopId);
  for (const event of events) state.events.push(event);
}

/**
 * Registers a statement that writes the time of the commit into what has changed, with `timeOfCommit`. Lists that are
 * filtered by such a time never show a later change while an earlier one is still to come. It learns how many events the
 * transaction records.
 */
export function stampAtCommit(
  tx: Transaction,
  shopId: string,
  statement: (events: number) => Promise<unknown>,
): void {
  pending(tx, shopId).stamps.push(statement);
}

/** The time of the transaction's commit, as SQL, for `stampAtCommit`. */
export function timeOfCommit(shopId: string): Sql {
  return sql`(select to_timestamp(at / 1000.0) from counter where shop_id = ${shopId} and name = 'event')`;
}

/**
 * The time of the transaction's commit, for those who need it before they write. It locks the counter, so no row that
 * other transactions lock may be locked afterwards, unless they lock the counter before it as well.
 */
export async function takeTimeOfCommit(tx: Transaction, shopId: string): Promise<Date> {
  const state = pending(tx, shopId);
  const at = await advance(tx, shopId, { count: 0, hasTime: state.hasTime });
  state.hasTime = true;
  return at;
}

function pending(tx: Transaction, shopId: string): Pending {
  const known = pendingOf.get(tx);
  if (known) {
    if (known.shopId !== shopId) throw new Error('A transaction writes the events of one shop');
    return known;
  }
  const state: Pending = { shopId, events: [], stamps: [], hasTime: false };
  pendingOf.set(tx, state);
  tx.beforeCommit(() => write(tx, state));
  return state;
}

async function write(tx: Transaction, { shopId, events, stamps, hasTime }: Pending): Promise<void> {
  if (events.length > 0) tx.notifyAfterCommit(NEW_EVENTS, shopId);
  const isNeeded = events.length > 0 || (stamps.length > 0 && !hasTime);
  await Promise.all([
    isNeeded && advance(tx, shopId, { count: events.length, hasTime }),
    events.length > 0 && insertEvents(tx, shopId, events),
    ...stamps.map((stamp) => stamp(events.length)),
  ]);
}

/** Milliseconds: a clock that is more wrong is not followed. */
const FOLLOWED = 60_000;

/** The time of a commit, behind that of the last one. */
export function timeAfter(last: number | null, now: Date): Date {
  const isFollowed = last !== null && last >= now.getTime() && last < now.getTime() + FOLLOWED;
  return isFollowed ? new Date(last + 1) : now;
}

/**
 * Locks the shop and then the counter, and moves the counter. A shop has none before its first event. The lock of the
 * shop is the one that an insert takes for its foreign key: taken behind the counter, it would wait for somebody who
 * changes the settings and waits for the counter.
 */
async function advance(
  tx: Transaction,
  shopId: string,
  { count, hasTime }: { count: number; hasTime: boolean },
): Promise<Date> {
  const [, row] = await Promise.all([
    tx.run(sql`select from shop where shop_id = ${shopId} for key share`),
    // As `timeAfter` computes it.
    tx.one<{ at: number }>(sql`
      insert into counter (shop_id, name, value, at) values (${shopId}, 'event', ${count}, ${tx.now.getTime()})
      on conflict (shop_id, name) do update set value = counter.value + excluded.value,
        at = case when ${hasTime} then counter.at
          when counter.at >= excluded.at and counter.at < excluded.at + ${FOLLOWED} then counter.at + 1
          else excluded.at end
      returning at`),
  ]);
  return new Date(row!.at);
}

/** The most events of one statement. A category that is deleted may have changed a hundred thousand products. */
const MAX_INSERTED = 10_000;

const insertNumbered = insertInto('event', {
  position: 'bigint',
  at: 'timestamptz',
  type: 'text',
  resource_id: 'uuid',
  app_id: 'uuid',
  data: 'jsonb',
});

/**
 * Inserts events behind a position, for who has locked the counter and sets it together with others: one statement less.
 */
export async function insertEventsAt(
  tx: Transaction,
  shopId: string,
  { position, at }: { position: number; at: Date },
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  tx.notifyAfterCommit(NEW_EVENTS, shopId);
  const rows = events.map(({ type, resourceId, appId, data }, index) => ({
    position: position + 1 + index,
    at,
    type,
    resource_id: resourceId,
    app_id: appId === undefined ? tx.appId : appId,
    data: data ?? {},
  }));
  await tx.run(insertNumbered(shopId, rows));
}

/** The counter is joined, because it has the positions, and because so Citus knows that all belongs to one shard. */
function insertEvents(tx: Transaction, shopId: string, events: readonly NewEvent[]) {
  const rows = events.map(({ type, resourceId, appId, data }, index) => ({
    offset: events.length - 1 - index,
    type,
    resourceId,
    appId: appId === undefined ? tx.appId : appId,
    data: data ?? {},
  }));
  const inserts = [];
  for (let start = 0; start < rows.length; start += MAX_INSERTED) {
    inserts.push(insertRows(tx, shopId, rows.slice(start, start + MAX_INSERTED)));
  }
  return Promise.all(inserts);
}

function insertRows(tx: Transaction, shopId: string, rows: readonly object[]) {
  return tx.run(sql`
    insert into event (shop_id, position, at, type, resource_id, app_id, data)
    select counter.shop_id, counter.value - said."offset", to_timestamp(counter.at / 1000.0), said.type, said."resourceId", said."appId",
      said.data
    from counter
    cross join jsonb_to_recordset(${JSON.stringify(rows)}) as said ("offset" bigint, type text, "resourceId" uuid,
      "appId" uuid, data jsonb)
    where counter.shop_id = ${shopId} and counter.name = 'event'`);
}
