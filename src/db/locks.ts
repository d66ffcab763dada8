import type { Transaction } from './database.ts';
import { sql } from './sql.ts';

/** The later statements of this transaction fail when another one holds a lock for longer. */
export function limitLockWaits(tx: Transaction) {
  return tx.run(sql`set local lock_timeout = '200ms'`);
}

/** Statements wait as long as a statement may run. */
export function unlimitLockWaits(tx: Transaction) {
  return tx.run(sql`set local lock_timeout = 0`);
}

/** How a statement treats a row that another transaction has locked. */
export const WAIT = sql``;
export const SKIP_LOCKED = sql`skip locked`;
