import type { Transaction } from '../../db/database.ts';
import { recordAction } from '../record-action.ts';
import { findShopsOf, type User } from './queries.ts';

type Actor = Pick<User, 'userId' | 'email'>;

/** A user of more shops than these gets an entry in only this many logs. */
const MAX_LOGS = 50;

/**
 * Writes audit log entries for actions that concern all shops of a user: signing in, a new password, a second factor. A shop with a
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
  for (const { shopId } of works) await recordAction(tx, { shopId, user: actor }, route, object);
}
