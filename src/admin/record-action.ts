import type { Transaction } from '../db/database.ts';
import { recordEntry } from '../http/audit-entry.ts';
import { newId } from '../kernel/ids.ts';
import type { ShopVisit } from './visit.ts';

/**
 * Writes an audit log entry for an action that is not an operation. `route` is below the shop:
 * `/apps/:appId/uninstall`.
 */
export function recordAction(
  tx: Transaction,
  { shopId, user }: ShopVisit,
  route: string,
  object: Record<string, string> = {},
  method: 'POST' | 'GET' = 'POST',
): Promise<void> {
  return recordEntry(tx, {
    shopId,
    entryId: newId(tx.now),
    at: tx.now,
    appId: user.userId,
    appName: user.email,
    method,
    route: `/admin/shops/:shopId${route}`,
    object,
  });
}
