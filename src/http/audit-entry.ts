import type { Queries } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';

/**
 * The audit log: every write that used a right granted to an app by the merchant, every issued token and every
 * exported person, with the ids involved and never the content sent. A shopper's cart changes need no such right and
 * are not logged; a withdrawal from a contract is, because the merchant must act on it. An entry is written in the
 * transaction of its cause, so neither exists without the other.
 */
export interface AuditEntry {
  shopId: string;
  entryId: string;
  at: Date;
  /** null: the command line, or a customer who withdraws from a contract. */
  appId: string | null;
  /** Stays readable after the app is deleted. */
  appName: string | null;
  method: string;
  /** `/rs/shops/:shopId/products/:productId` */
  route: string;
  /** The ids of the path, and of the created resource. */
  object: Record<string, string>;
}

export function recordEntry(tx: Queries, entry: AuditEntry): Promise<void> {
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

export async function recordEntries(
  tx: Queries,
  shopId: string,
  entries: readonly AuditEntry[],
): Promise<void> {
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
