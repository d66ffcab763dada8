import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/**
 * The audit log: every write that used a right which the merchant has given to an app, every token that was issued and
 * every person that was exported, with what it was about and never with what was sent. A shopper's changes of a cart
 * need no such right and are not in it. An entry is written in the transaction of its cause, so that
 * there is neither one without the other.
 */
export interface Entry {
  shopId: string;
  entryId: string;
  at: Date;
  /** null: the command line. */
  appId: string | null;
  method: string;
  /** `/rs/shops/:shopId/products/:productId` */
  route: string;
  /** The ids of the path, and that of what was created. */
  object: Record<string, string>;
}

export function recordEntry(tx: Queries, entry: Entry): Promise<void> {
  return recordEntries(tx, entry.shopId, [entry]);
}

/** The shop is joined, because so Citus knows that all of the statement belongs to one shard. */
export async function recordEntries(tx: Queries, shopId: string, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.run(sql`
    insert into audit_entry (shop_id, entry_id, at, app_id, app_name, method, route, object)
    select shop.shop_id, said."entryId", said.at, said."appId", app.name, said.method, said.route, said.object
    from shop
    cross join jsonb_to_recordset(${JSON.stringify(entries)}) as said ("entryId" uuid, at timestamptz, "appId" uuid,
      method text, route text, object jsonb)
    left join app on app.shop_id = ${shopId} and app.app_id = said."appId"
    where shop.shop_id = ${shopId}`);
}
