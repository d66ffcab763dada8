import type { Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { EventType } from './types.ts';

export interface NewEvent {
  type: EventType;
  /** null: it is about the shop itself. */
  resourceId: string | null;
  /** The changed fields, never personal data. */
  data?: Record<string, unknown>;
  /** The cause; absent: the app that the transaction is for. */
  appId?: string | null;
}

/** Notifies process-wide listeners of the database: a shop has new events. */
export const NEW_EVENTS = 'events';

/** The data written when the transaction commits. */
interface Pending {
  shopId: string;
  events: NewEvent[];
  stamps: ((events: number) => Promise<unknown>)[];
  /** The row of the shop is locked against a change of its key. */
  hasShop: boolean;
  /** The time of this transaction: the counter is locked, and has it. */
  time: Promise<Date> | undefined;
  /** The positions of the first events: the counter was advanced by them. */
  positions: number[];
  /** Added to the data of each event. */
  mark: Readonly<Record<string, string>>;
}

const pendingOf = new WeakMap<Transaction, Pending>();

/**
 * The event log of a shop, written with the commit of the transaction that caused the events.
 *
 * Positions follow commits: the last statements of the transaction lock the shop's counter, take the next positions
 * from it and insert the events, and the lock ends with the commit. So the transaction that gets a later position
 * commits later, and no reader sees a position before all earlier ones. A transaction that is rolled back gives its
 * positions back, so there are no gaps.
 *
 * Two transactions cannot deadlock, because the counter is the last lock that each of them takes. Some rows are always
 * locked after it: the counter of customers, the sums of days and the counters of documents, by code that places or
 * changes orders or creates customers, which has called `takeTimeOfCommit` or locked the counter itself. The row of
 * the shop comes before the counter, because every insert refers to it and a change of settings locks it first.
 *
 * The time of an event follows commits in the same way. It is the transaction's own, or a millisecond more than the
 * last one where that is not later: clocks of processes differ a little, and transactions wait for each other.
 */
export function recordEvents(tx: Transaction, shopId: string, events: readonly NewEvent[]): void {
  if (events.length === 0) return;
  const state = pending(tx, shopId);
  for (const event of events) state.events.push(event);
}

/** The data of an event that a rule of the merchant has caused names the rule. */
export const RULE_MARK = 'rule';

/** Names the rule that causes all events of the transaction, so that no rule runs because of another one. */
export function markEvents(tx: Transaction, shopId: string, ruleId: string): void {
  pending(tx, shopId).mark = { [RULE_MARK]: ruleId };
}

/**
 * Registers a statement that writes the time of the commit into the changed rows, with `timeOfCommit`. Lists filtered
 * by such a time never show a later change before an earlier one. It gets the number of events that the transaction
 * records.
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
 * The time of the transaction's commit, for callers that need it before they write. It locks the counter, so
 * afterwards no row may be locked that other transactions lock, unless they also lock the counter first.
 */
export function takeTimeOfCommit(tx: Transaction, shopId: string): Promise<Date> {
  const state = pending(tx, shopId);
  return (state.time ??= advance(tx, state));
}

/** Tells that the transaction has locked the shop, as an insert does for its foreign key: `for key share`. */
export function noteShopLock(tx: Transaction, shopId: string): void {
  pending(tx, shopId).hasShop = true;
}

function pending(tx: Transaction, shopId: string): Pending {
  const known = pendingOf.get(tx);
  if (known) {
    if (known.shopId !== shopId) throw new Error('A transaction writes the events of one shop');
    return known;
  }
  const state: Pending = {
    shopId,
    events: [],
    stamps: [],
    hasShop: false,
    time: undefined,
    positions: [],
    mark: {},
  };
  pendingOf.set(tx, state);
  tx.beforeCommit(() => write(tx, state));
  return state;
}

async function write(tx: Transaction, state: Pending): Promise<void> {
  const { shopId, events, stamps, time, positions, mark } = state;
  if (events.length > 0) tx.notifyAfterCommit(NEW_EVENTS, shopId);
  const isNeeded = events.length > positions.length || (stamps.length > 0 && !time);
  await Promise.all([
    // Not awaited before the events are sent: those without a position take it from the counter.
    isNeeded && advance(tx, state),
    events.length > 0 && insertEvents(tx, shopId, events, { positions, mark }),
    ...stamps.map((stamp) => stamp(events.length)),
  ]);
}

/** Milliseconds: a clock that is further off is not followed. */
const FOLLOWED = 60_000;

/** The time of a commit, after that of the last one. */
export function timeAfter(last: number | null, now: Date): Date {
  const isFollowed = last !== null && last >= now.getTime() && last < now.getTime() + FOLLOWED;
  return isFollowed ? new Date(last + 1) : now;
}

/**
 * Locks the shop and then the counter, and advances the counter by the events that have no positions yet. A shop has
 * none before its first event. The lock of the shop is the one that an insert takes for its foreign key: taken after
 * the counter, it would wait for a transaction that changes the settings and waits for the counter.
 */
async function advance(tx: Transaction, state: Pending): Promise<Date> {
  const { shopId, events, hasShop, time, positions } = state;
  const count = events.length - positions.length;
  state.hasShop = true;
  const [, row] = await Promise.all([
    !hasShop && tx.run(sql`select from shop where shop_id = ${shopId} for key share`),
    // As `timeAfter` computes it.
    tx.one<{ at: number; value: number }>(sql`
      insert into counter (shop_id, name, value, at)
      values (${shopId}, 'event', ${count}, ${tx.now.getTime()})
      on conflict (shop_id, name) do update set value = counter.value + excluded.value,
        at = case when ${time !== undefined} then counter.at
          when counter.at >= excluded.at and counter.at < excluded.at + ${FOLLOWED} then counter.at + 1
          else excluded.at end
      returning at, value`),
  ]);
  for (let left = count - 1; left >= 0; left--) positions.push(row!.value - left);
  return new Date(row!.at);
}

/** Maximum events of one statement. A deleted category may have changed a hundred thousand products. */
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
 * Inserts events after a position, for callers that have locked the counter and set it together with others: one
 * statement less.
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

/**
 * The counter is joined, because it has the positions, and because that tells Citus that all rows belong to one shard.
 */
function insertEvents(
  tx: Transaction,
  shopId: string,
  events: readonly NewEvent[],
  { positions, mark }: Pick<Pending, 'positions' | 'mark'>,
) {
  const rows = events.map(({ type, resourceId, appId, data }, index) => ({
    position: positions[index] ?? null,
    offset: events.length - 1 - index,
    type,
    resourceId,
    appId: appId === undefined ? tx.appId : appId,
    data: { ...data, ...mark },
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
    select counter.shop_id, coalesce(said."position", counter.value - said."offset"),
      to_timestamp(counter.at / 1000.0), said.type, said."resourceId", said."appId", said.data
    from counter
    cross join jsonb_to_recordset(${JSON.stringify(rows)}) as said ("position" bigint, "offset" bigint, type text,
      "resourceId" uuid, "appId" uuid, data jsonb)
    where counter.shop_id = ${shopId} and counter.name = 'event'`);
}
