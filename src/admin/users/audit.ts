import type { Transaction } from '../../db/database.ts';
import { recordEntry } from '../../http/audit-entry.ts';
import { newId } from '../../kernel/ids.ts';
import { findShopsOf, type User } from './queries.ts';

type Actor = Pick<User, 'userId' | 'email'>;

/** A user of more shops than these gets an entry in only this many logs. */
const MAX_LOGS = 50;

/** The audit log entry for an action in a shop that is not an operation of the API. */
export function recordInShop(
  tx: Transaction,
  shopId: string,
  { userId, email }: Actor,
  route: string,
  object: Record<string, string> = {},
): Promise<void> {
  return recordEntry(tx, {
    shopId,
    entryId: newId(tx.now),
    at: tx.now,
    appId: userId,
    appName: email,
    method: 'POST',
    route,
    object,
  });
}

/**
 * The same for actions that concern all shops of a user: signing in, a new password, a second factor. A shop with a
 * pending invitation gets no entry.
 */
export async function recordInAllShops(
  tx: Transaction,
  actor: Actor,
  route: string,
  object: Record<string, string> = {},
): Promise<void> {
  const shops = await findShopsOf(tx, actor.userId);
  const works = shops.filter(({ isPending }) => !isPending).slice(0, MAX_LOGS);
  for (const { shopId } of works) await recordInShop(tx, shopId, actor, route, object);
}
