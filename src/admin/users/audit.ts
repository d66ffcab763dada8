import type { Transaction } from '../../db/database.ts';
import { recordEntry } from '../../http/audit-entry.ts';
import { newId } from '../../kernel/ids.ts';
import { findShopsOf, type User } from './queries.ts';

type Actor = Pick<User, 'userId' | 'email'>;

/** Somebody who works in more shops than these has a line in so many of their logs. */
const MAX_LOGS = 50;

/** The entry of the audit log for what somebody does in a shop that no operation of the API does. */
export function recordAction(
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
 * The same for what concerns all shops of a person: signing in, a new password, a second factor. A shop that only expects
 * the person learns nothing of it.
 */
export async function recordInAllShops(
  tx: Transaction,
  actor: Actor,
  route: string,
  object: Record<string, string> = {},
): Promise<void> {
  const shops = await findShopsOf(tx, actor.userId);
  const works = shops.filter(({ isPending }) => !isPending).slice(0, MAX_LOGS);
  for (const { shopId } of works) await recordAction(tx, shopId, actor, route, object);
}
