import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** Makes the event log of a shop created by this transaction start with later events. All times are after 0. */
export function forgetEvents(tx: Transaction, shopId: string): void {
  tx.beforeCommit(() =>
    Promise.all([
      tx.run(sql`delete from event where shop_id = ${shopId}`),
      tx.run(sql`update counter set value = 0, at = 0 where shop_id = ${shopId} and name = 'event'`),
    ]),
  );
}
