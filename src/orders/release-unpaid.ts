import type { Database, Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { cancelOrder } from './cancel.ts';
import { findDealings } from './manage-queries.ts';
import { lockOrder } from './queries.ts';

/** Orders are due to the minute, so this is looked at more often than what only takes up room. */
export const unpaidOrderRelease: CleanupStep = {
  name: 'unpaid orders',
  every: 5 * 60_000,
  run: releaseUnpaidOrders,
};

interface DueOrder {
  shopId: string;
  orderId: string;
}

/**
 * Cancels orders whose time to be paid has passed, at most `limit` of them, the oldest first; how many. Each is a
 * transaction of its own. Several processes may do this at once: whoever gets the lock of an order first cancels it,
 * and the others see that there is nothing left to do. So does a payment that comes at the same moment.
 */
export async function releaseUnpaidOrders(db: Database, limit: number): Promise<number> {
  let released = 0;
  const failures: unknown[] = [];
  for (const due of await findDue(db, limit)) {
    try {
      if (await db.transaction((tx) => releaseOrder(tx, due))) released++;
    } catch (error) {
      // The others need not wait for one that can't be cancelled.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'unpaid orders could not be released');
  return released;
}

async function releaseOrder(tx: Transaction, { shopId, orderId }: DueOrder): Promise<boolean> {
  if (!(await lockDue(tx, shopId, orderId))) return false;
  const order = await lockOrder(tx, shopId, orderId);
  const dealings = await findDealings(tx, shopId, orderId);
  const settings = await shopSettings(tx, shopId);
  await cancelOrder(tx, shopId, { order: order!, dealings, settings, appId: null }, 'Not paid in time');
  return true;
}

/** As the index `customer_order_release` has it: nothing of the order was paid, sent or invoiced, and nobody edits it. */
const isUnpaid = sql`
  release_at is not null and cancelled_at is null and editing_app_id is null and paid_amount = 0 and states < 16`;

/** Of all shops. */
function findDue(db: Queries, limit: number): Promise<DueOrder[]> {
  return db.many<DueOrder>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId" from customer_order
    where ${isUnpaid} and release_at <= ${db.now}
    order by release_at, shop_id, order_id limit ${limit}`);
}

/** Whether it is still due, now that nobody else can change it until the transaction ends. */
async function lockDue(tx: Transaction, shopId: string, orderId: string): Promise<boolean> {
  const row = await tx.one(sql`
    select from customer_order
    where shop_id = ${shopId} and order_id = ${orderId} and ${isUnpaid} and release_at <= ${tx.now}
    for no key update`);
  return row !== undefined;
}
