import type { Queries } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';

/**
 * The audit log: every write that used a right which the merchant has given to an app, every token that was issued and
 * every person that was exported, with what it was about and never with what was sent. A shopper's changes of a cart
 * need no such right and are not in it; a withdrawal from a contract is, because the merchant must act on it. An entry is written in the transaction of its cause, so that
 * there is neither one without the other.
 */
export interface Entry {
  shopId: string;
  entryId: string;
  at: Date;
  /** null: the command line, or a customer who withdraws from a contract. */
  appId: string | null;
  /** Stays readable when the app is deleted. */
  appName: string | null;
  method: string;
  /** `/rs/shops/:shopId/products/:productId` */
  route: string;
  /** The ids of the path, and that of what was created. */
  object: Record<string, string>;
}

export function recordEntry(tx: Queries, entry: Entry): Promise<void> {
  return recordEntries(tx, entry.shopId, [entry]);
}

const insert = insertInto('audit_entry', {
  entry_id: 'uuid',
  at: 'timestamptz',
  app_id: 'uuid',
  app_name: 'text',
  method: 'text',
  route: 'text',
  object: 'jsonb',
});

export async function recordEntries(tx: Queries, shopId: string, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ entryId, at, appId, appName, method, route, object }) => ({
    entry_id: entryId,
    at,
    app_id: appId,
    app_name: appName,
    method,
    route,
    object,
  }));
  await tx.run(insert(shopId, rows));
}
