import type { Transaction } from '../db/database.ts';
import { recordEntry } from '../http/audit-entry.ts';
import { newId } from '../kernel/ids.ts';

/** The shop whose log gets the entry, and the user who acts in it. */
interface Action {
  shopId: string;
  user: { userId: string; email: string };
}

/**
 * Writes an audit log entry for an action that is not an operation. `route` is below the shop:
 * `/apps/:appId/uninstall`; one that begins with /admin is complete.
 */
export function recordAction(
  tx: Transaction,
  { shopId, user }: Action,
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
    route: route.startsWith('/admin/') ? route : `/admin/shops/:shopId${route}`,
    object,
  });
}
