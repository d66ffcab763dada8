import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** The per-shop numbers and where they begin: the first customer is 1001. */
export const COUNTERS = {
  customer: 1000,
  product: 1000,
  order: 1000,
  /** The position of the last event; see platform/events/log.ts. */
  event: 0,
  Invoice: 1000,
  CreditNote: 1000,
  category: 1,
  attribute: 0,
  /** How many it has; see catalogue/redirects/queries.ts. */
  redirect: 0,
  /** Of the images of its products; see platform/media/quota.ts. */
  mediaBytes: 0,
} as const;

/**
 * The next number; when several are taken, the last one. Its row stays locked until the transaction ends, so numbers
 * are given in order and none is given twice; a transaction that fails gives its number back.
 */
export async function takeNumber(
  tx: Transaction,
  shopId: string,
  name: keyof typeof COUNTERS,
  count = 1,
): Promise<number> {
  const row = await tx.one<{ value: number }>(sql`
    update counter set value = value + ${count} where shop_id = ${shopId} and name = ${name} returning value`);
  return row!.value;
}

/** Adds to a number that may go down again; its row stays locked until the transaction ends. */
export async function addToCounter(
  tx: Transaction,
  shopId: string,
  name: keyof typeof COUNTERS,
  added: number,
): Promise<number> {
  // A process of the previous version has made the shop without it.
  const row = await tx.one<{ value: number }>(sql`
    insert into counter (shop_id, name, value) values (${shopId}, ${name}, ${added})
    on conflict (shop_id, name) do update set value = counter.value + excluded.value
    returning value`);
  return row!.value;
}

export function setCounter(tx: Transaction, shopId: string, name: keyof typeof COUNTERS, value: number) {
  return tx.run(sql`update counter set value = ${value} where shop_id = ${shopId} and name = ${name}`);
}

/** The next number is greater than this one; a number that is greater already stays. */
export function raiseCounter(tx: Transaction, shopId: string, name: keyof typeof COUNTERS, value: number) {
  return tx.run(sql`
    update counter set value = greatest(value, ${value}) where shop_id = ${shopId} and name = ${name}`);
}

/** For a new shop. */
export function insertCounters(tx: Transaction, shopId: string) {
  return tx.run(sql`
    insert into counter (shop_id, name, value)
    select ${shopId}, name, value::bigint from jsonb_each_text(${COUNTERS}) as counters (name, value)`);
}

/** The last assigned numbers. */
export interface Counters {
  order: number;
  customer: number;
  /** The position of the last event. */
  event: number;
  /** In milliseconds since 1970; null: there was none. */
  lastEventAt: number | null;
}

/**
 * Locks the counters of orders, events and customers, in this order; see `platform/events/log.ts`. A shop that was
 * deleted has none, and no carts either.
 */
export async function lockCounters(tx: Transaction, shopId: string): Promise<Counters> {
  const rows = await tx.many<{ name: string; value: number; at: number | null }>(sql`
    select name, value, at from counter where shop_id = ${shopId} and name in ('customer', 'event', 'order')
    order by name desc for no key update`);
  const [customer, event, order] = ['customer', 'event', 'order'].map((name) =>
    rows.find((row) => row.name === name),
  );
  return {
    order: order?.value ?? 0,
    customer: customer?.value ?? 0,
    event: event?.value ?? 0,
    lastEventAt: event?.at ?? null,
  };
}

export function setCounters(
  tx: Transaction,
  shopId: string,
  { order, customer, event, lastEventAt }: Counters,
) {
  return tx.run(sql`
    update counter set at = case when name = 'event' then ${lastEventAt}::bigint end,
      value = case when name = 'order' then ${order}::bigint when name = 'event' then ${event} else ${customer} end
    where shop_id = ${shopId} and name in ('customer', 'event', 'order')`);
}
