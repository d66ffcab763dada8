import { isDeepStrictEqual } from 'node:util';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { takeTimeOfCommit } from '../platform/events/log.ts';
import { addRuns, forEachShop, type CleanupStep } from '../platform/cleanup.ts';

/*
 * The orders of each customer are counted with every order that is placed or changed, in the same transaction
 * (`customer_total`), so segments of customers are found by an index. Orders that are cancelled or rejected do not count.
 */

/** The row for all currencies. */
export const ALL_CURRENCIES = '';

/** An addition to the totals of a customer; negative values subtract. */
interface TotalChange {
  customerId: string;
  currency: string;
  orders: number;
  /** Minor units. */
  gross: number;
  refunded: number;
  at: Date;
  locale: string;
}

interface PlacedOrder {
  buyerId: string;
  createdAt: Date;
  locale: string;
  content: { currency: string; grandTotal: number };
}

export function addToCustomerTotals(
  tx: Transaction,
  shopId: string,
  orders: readonly PlacedOrder[],
): Promise<void> {
  return addTotals(
    tx,
    shopId,
    orders.map(({ buyerId, createdAt, locale, content }) => ({
      customerId: buyerId,
      currency: content.currency,
      orders: 1,
      gross: content.grandTotal,
      refunded: 0,
      at: createdAt,
      locale,
    })),
  );
}

/** How many orders count of each of these customers; those without an order are missing. */
export async function findOrderCounts(
  db: Queries,
  shopId: string,
  customerIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.many<{ customerId: string; orders: number }>(sql`
    select upper(customer_id::text) as "customerId", orders from customer_total
    where shop_id = ${shopId} and currency = ${ALL_CURRENCIES} and customer_id = any (${customerIds}::uuid[])`);
  return new Map(rows.map(({ customerId, orders }) => [customerId, orders]));
}

/** An order's share of the totals of its customer. */
export interface CustomerShare {
  customerId: string;
  counts: boolean;
  gross: number;
  refunded: number;
}

/**
 * Moves an order that counted as `before` to `after`. The transaction holds the counter of events, as it does for the
 * sums of days, so the totals of a shop are written by one transaction at a time.
 */
export async function moveCustomerTotals(
  tx: Transaction,
  shopId: string,
  { createdAt: at, currency, locale }: { createdAt: Date; currency: string; locale: string },
  before: CustomerShare,
  after: CustomerShare,
): Promise<void> {
  if (isDeepStrictEqual(before, after)) return;
  const change = ({ customerId, counts, gross, refunded }: CustomerShare, sign: 1 | -1): TotalChange[] =>
    counts
      ? [{ customerId, currency, orders: sign, gross: sign * gross, refunded: sign * refunded, at, locale }]
      : [];
  await addTotals(tx, shopId, [...change(before, -1), ...change(after, 1)]);
  if (before.counts === after.counts && before.customerId === after.customerId) return;
  await refreshMoments(tx, shopId, [before.customerId, after.customerId]);
}

async function addTotals(tx: Transaction, shopId: string, changes: readonly TotalChange[]): Promise<void> {
  if (changes.length === 0) return;
  const given = changes.map(({ customerId, at, ...rest }) => ({ ...rest, customer_id: customerId, at }));
  await tx.run(sql`
    insert into customer_total (shop_id, customer_id, currency, orders, gross, refunded, first_order_at, last_order_at,
      language)
    select shop.shop_id, change.customer_id, part.currency, sum(change.orders),
      sum(case when part.currency = ${ALL_CURRENCIES} then 0 else change.gross end),
      sum(case when part.currency = ${ALL_CURRENCIES} then 0 else change.refunded end),
      min(change.at), max(change.at), (array_agg(split_part(change.locale, '_', 1) order by change.at desc))[1]
    from shop
    cross join jsonb_to_recordset(${JSON.stringify(given)}) as change (customer_id uuid, currency text, orders bigint,
      gross bigint, refunded bigint, at timestamptz, locale text)
    cross join lateral (values (change.currency), (${ALL_CURRENCIES})) as part (currency)
    where shop.shop_id = ${shopId}
    group by shop.shop_id, change.customer_id, part.currency
    on conflict (shop_id, customer_id, currency) do update set orders = customer_total.orders + excluded.orders,
      gross = customer_total.gross + excluded.gross, refunded = customer_total.refunded + excluded.refunded,
      first_order_at = least(customer_total.first_order_at, excluded.first_order_at),
      last_order_at = greatest(customer_total.last_order_at, excluded.last_order_at),
      language = case when excluded.last_order_at >= customer_total.last_order_at then excluded.language
        else customer_total.language end`);
}

/** Reads the first and the last order that counts again, after one has begun or ceased to count. */
async function refreshMoments(
  tx: Transaction,
  shopId: string,
  customerIds: readonly string[],
): Promise<void> {
  const counted = sql`
    from customer_order
    where customer_order.shop_id = ${shopId} and customer_order.customer_id = customer_total.customer_id
      and customer_order.cancelled_at is null and customer_order.rejected_at is null
      and (customer_total.currency = ${ALL_CURRENCIES} or customer_order.currency = customer_total.currency)`;
  await tx.run(sql`
    delete from customer_total
    where shop_id = ${shopId} and customer_id = any (${customerIds}::uuid[]) and orders <= 0`);
  await tx.run(sql`
    update customer_total set
      first_order_at = coalesce((select created_at ${counted} order by created_at limit 1), first_order_at),
      last_order_at = coalesce((select created_at ${counted} order by created_at desc limit 1), last_order_at),
      language = coalesce(
        (select split_part(locale, '_', 1) ${counted} order by created_at desc limit 1), language)
    where shop_id = ${shopId} and customer_id = any (${customerIds}::uuid[])`);
}

/** Counts the orders of these customers from the beginning. */
async function countCustomers(
  tx: Transaction,
  shopId: string,
  customerIds: readonly string[],
): Promise<void> {
  await tx.run(sql`
    delete from customer_total where shop_id = ${shopId} and customer_id = any (${customerIds}::uuid[])`);
  await tx.run(sql`
    insert into customer_total (shop_id, customer_id, currency, orders, gross, refunded, first_order_at, last_order_at,
      language)
    select shop_id, customer_id, part.currency, count(*),
      sum(case when part.currency = ${ALL_CURRENCIES} then 0 else grand_total end),
      sum(case when part.currency = ${ALL_CURRENCIES} then 0 else refunded_amount end),
      min(created_at), max(created_at), (array_agg(split_part(locale, '_', 1) order by created_at desc))[1]
    from customer_order
    cross join lateral (values (customer_order.currency), (${ALL_CURRENCIES})) as part (currency)
    where shop_id = ${shopId} and customer_id = any (${customerIds}::uuid[]) and cancelled_at is null
      and rejected_at is null
    group by shop_id, customer_id, part.currency`);
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const LONG_AGO = new Date(0);
const DAY = 86_400_000;
const ROUNDS = 2;
const NEVER = new Date('9999-01-01T00:00:00Z');
/** No order of the shop is placed while these are counted, so they are few. */
const CUSTOMERS_AT_ONCE = 20;
const SHOPS_AT_ONCE = 20;

/** Whether all orders of the shop are in the totals: those from before they were kept are counted in the background. */
export async function areTotalsComplete(db: Queries, shopId: string): Promise<boolean> {
  const run = await db.one<{ round: number }>(sql`
    select round from customer_total_run where shop_id = ${shopId}`);
  return run !== undefined && run.round > 1;
}

/** Counts the orders from before the totals were kept, shop by shop, some customers at a time. */
export const customerTotals: CleanupStep = {
  name: 'customer totals',
  every: 60_000,
  run: async (db, limit) => {
    await addRuns(
      db,
      sql`
      insert into customer_total_run (shop_id, due_at, round, customer_id)
      select shop_id, ${LONG_AGO}::timestamptz, 1, ${BEFORE_ALL}::uuid from shop
      where not exists (select from customer_total_run where customer_total_run.shop_id = shop.shop_id)
      on conflict (shop_id) do nothing`,
    );
    const due = await db.many<{ shopId: string }>(sql`
      select shop_id as "shopId" from customer_total_run where due_at <= ${db.now} order by due_at
      limit ${SHOPS_AT_ONCE}`);
    await forEachShop(db, due, (ofShop, { shopId }) =>
      ofShop.transaction((tx) => countNextCustomers(tx, shopId)),
    );
    return due.length > 0 ? limit : 0;
  },
};

async function countNextCustomers(tx: Transaction, shopId: string): Promise<void> {
  const run = await tx.one<{ round: number; customerId: string }>(sql`
    select round, customer_id as "customerId" from customer_total_run where shop_id = ${shopId} for update`);
  if (!run) return;
  const next = await tx.many<{ customerId: string }>(sql`
    select customer_id as "customerId" from customer
    where shop_id = ${shopId} and customer_id > ${run.customerId}::uuid
    order by customer_id limit ${CUSTOMERS_AT_ONCE}`);
  if (next.length > 0) {
    await takeTimeOfCommit(tx, shopId);
    await countCustomers(
      tx,
      shopId,
      next.map(({ customerId }) => customerId),
    );
  }
  const isOver = next.length < CUSTOMERS_AT_ONCE;
  const dueAt = !isOver ? LONG_AGO : run.round < ROUNDS ? new Date(tx.serviceNow.getTime() + DAY) : NEVER;
  await tx.run(sql`
    update customer_total_run set round = ${run.round + (isOver ? 1 : 0)}, due_at = ${dueAt},
      customer_id = ${isOver ? BEFORE_ALL : next.at(-1)!.customerId}::uuid
    where shop_id = ${shopId}`);
}
