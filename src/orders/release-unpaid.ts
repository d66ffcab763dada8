import type { Database, Queries, Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { type CleanupStep, forEachShop } from '../platform/cleanup.ts';
import { type Settings, shopSettings } from '../shops/settings/settings.ts';
import { recordCancellation } from './cancel.ts';
import { findOrderActivity } from './manage-queries.ts';
import { lockOrder } from './change.ts';
import { providerMethodOf } from './payments/providers.ts';
import type { Content } from '../pricing/content.ts';

/** Runs more often than other clean-up steps, because orders are due to the minute. */
export const unpaidOrderRelease: CleanupStep = {
  name: 'unpaid orders',
  every: 5 * 60_000,
  run: releaseUnpaidOrders,
  runForShop: async (db, shopId, limit) => release(db, await findDueOrdersOf(db, shopId, limit)),
};

interface DueOrder {
  shopId: string;
  orderId: string;
}

/**
 * Cancels orders that were not paid in time, at most `limit` of them, the oldest first, and returns how many. Each has
 * its own transaction. Several processes may do this at once: the first that locks an order cancels it, and the others
 * find it no longer due. The same holds for a payment that arrives at this moment.
 */
export async function releaseUnpaidOrders(db: Database, limit: number): Promise<number> {
  return release(db, await findDueOrders(db, limit));
}

async function release(db: Database, orders: readonly DueOrder[]): Promise<number> {
  let released = 0;
  // An order that can't be cancelled does not block the others.
  await forEachShop(db, orders, async (ofShop, due) => {
    if (await ofShop.transaction((tx) => releaseOrder(tx, due))) released++;
  });
  return released;
}

async function releaseOrder(tx: Transaction, { shopId, orderId }: DueOrder): Promise<boolean> {
  if (!(await lockIfDue(tx, shopId, orderId))) return false;
  const order = await lockOrder(tx, shopId, orderId);
  const activity = await findOrderActivity(tx, shopId, orderId);
  const settings = await shopSettings(tx, shopId);
  await recordCancellation(
    tx,
    shopId,
    { order: order!, activity, settings, appId: null },
    'Not paid in time',
  );
  return true;
}

/**
 * Nothing of the order was sent, invoiced or paid but by gift cards, and no app edits it: the condition of
 * `customer_order_release_unpaid`.
 */
const isUnpaid = sql`
  release_at is not null and cancelled_at is null and editing_app_id is null
  and paid_amount = gift_card_amount and states & ~1024 < 16`;

/**
 * No more money can come through a provider. The payment worker closes the payment pages of due orders: then the
 * provider has confirmed that nothing was paid.
 */
const hasNoLiveAttempt = (shopId: Sql) => sql`not exists (
  select from payment_attempt
  where payment_attempt.shop_id = ${shopId} and payment_attempt.order_id = customer_order.order_id
    and payment_attempt.state in ('starting', 'open', 'processing', 'authorized'))`;

/** The due orders of all shops. */
function findDueOrders(db: Queries, limit: number): Promise<DueOrder[]> {
  return db.many<DueOrder>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId" from customer_order
    where ${isUnpaid} and release_at <= ${db.now} and ${hasNoLiveAttempt(sql`customer_order.shop_id`)}
    order by release_at, shop_id, order_id limit ${limit}`);
}

function findDueOrdersOf(db: Queries, shopId: string, limit: number): Promise<DueOrder[]> {
  return db.many<DueOrder>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId" from customer_order
    where shop_id = ${shopId} and ${isUnpaid} and release_at <= ${db.now} and ${hasNoLiveAttempt(sql`${shopId}`)}
    order by release_at, order_id limit ${limit}`);
}

/** Locks the order if it is still due, and returns whether it is. */
async function lockIfDue(tx: Transaction, shopId: string, orderId: string): Promise<boolean> {
  const row = await tx.one(sql`
    select from customer_order
    where shop_id = ${shopId} and order_id = ${orderId} and ${isUnpaid} and release_at <= ${tx.now}
      and ${hasNoLiveAttempt(sql`${shopId}`)}
    for no key update`);
  return row !== undefined;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Customers pay on the page of a provider at once, or come back soon. */
const PAID_WITHIN = 60 * MINUTE;

/** When an order is cancelled unless it is paid, according to its payment method, counted from `start`; null: never. */
export function releaseTime(
  content: Pick<Content, 'grandTotal' | 'payment'>,
  settings: Settings,
  start: Date,
): Date | null {
  // An order that costs nothing needs no payment.
  if (content.grandTotal <= 0) return null;
  const id = content.payment?.method?.paymentMethodId;
  const method = settings.paymentMethods.find(({ paymentMethodId }) => paymentMethodId === id);
  const { releaseUnpaidAfterMinutes: minutes, releaseUnpaidAfterDays: days } = method ?? {};
  if (minutes) return new Date(start.getTime() + minutes * MINUTE);
  if (days) return new Date(start.getTime() + days * DAY);
  return providerMethodOf(content, settings) ? new Date(start.getTime() + PAID_WITHIN) : null;
}
