import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

const lastCalls = new WeakMap<Transaction, object>();

/**
 * Makes the event log of a shop created by this transaction start with later events. All times are after 0. Only the
 * last call of a transaction counts: the positions of events that are recorded until then must not be used twice.
 */
export function forgetEvents(tx: Transaction, shopId: string): void {
  const call = {};
  lastCalls.set(tx, call);
  tx.beforeCommit(async () => {
    if (lastCalls.get(tx) !== call) return;
    await Promise.all([
      tx.run(sql`delete from event where shop_id = ${shopId}`),
      tx.run(sql`update counter set value = 0, at = 0 where shop_id = ${shopId} and name = 'event'`),
    ]);
  });
}
