import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { noteShopLock } from '../platform/events/log.ts';
import { findOrderActivity, type OrderActivity } from './manage-queries.ts';
import { managedColumns, orderColumns, ordersWithCustomers, type ManagedOrder } from './queries.ts';

/** With the version of the shop's settings. */
type LockedRow = ManagedOrder & { settingsVersion: number };

/** An order that is locked until the transaction ends, and its activity. */
export interface LockedOrder {
  order: LockedRow;
  activity: OrderActivity;
}

/** The order that a page has read under its lock, for the operation that it calls in the same transaction. */
const readByPage = new WeakMap<Transaction, LockedOrder>();

/** Locks the order until the transaction ends. */
export async function lockOrder(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<LockedRow | undefined> {
  return takeReadByPage(tx, orderId)?.order ?? lockRow(tx, shopId, orderId);
}

/** Locks the order, and then reads its activity: a statement that did both would not see what it has waited for. */
export async function lockOrderWithActivity(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<LockedOrder | undefined> {
  const known = takeReadByPage(tx, orderId);
  if (known) return known;
  const order = await lockRow(tx, shopId, orderId);
  return order && { order, activity: await findOrderActivity(tx, shopId, orderId) };
}

/**
 * Locks an order for a page, which decides by what it reads and then calls an operation. That operation is the first to
 * lock the order again, and gets what is read here; a second one reads the order anew, because the first has changed it.
 */
export async function lockOrderForPage(
  tx: Transaction,
  shopId: string,
  orderId: string,
): Promise<LockedOrder | undefined> {
  const locked = await lockOrderWithActivity(tx, shopId, orderId);
  if (locked) readByPage.set(tx, locked);
  return locked;
}

function takeReadByPage(tx: Transaction, orderId: string): LockedOrder | undefined {
  const known = readByPage.get(tx);
  if (known?.order.orderId !== orderId.toUpperCase()) return undefined;
  readByPage.delete(tx);
  return known;
}

/** The shop is locked as well, which a change of the order needs before it can record events. */
async function lockRow(tx: Transaction, shopId: string, orderId: string): Promise<LockedRow | undefined> {
  const row = await tx.one<LockedRow>(sql`
    select ${orderColumns}, ${managedColumns}, shop.settings_version as "settingsVersion"
    from ${ordersWithCustomers} join shop on shop.shop_id = customer_order.shop_id
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}
    for no key update of customer_order for key share of shop`);
  if (row) noteShopLock(tx, shopId);
  return row;
}
