import type { Transaction } from '../../db/database.ts';
import { recordInAllShops } from '../users/audit.ts';
import { deleteSession, insertSession, type User } from '../users/queries.ts';
import type { Visit } from '../visit.ts';

export type WayIn = 'password' | 'password and code' | 'passkey' | 'link' | 'demo';

/** Signs a person in: with a new session, whose token nobody has seen before. */
export async function enter(
  tx: Transaction,
  visit: Visit<'anybody'>,
  user: Pick<User, 'userId' | 'email'>,
  { userAgent, by }: { userAgent: string; by: WayIn },
): Promise<void> {
  if (visit.user) await deleteSession(tx, visit.user.userId, visit.user.sessionId);
  const token = await insertSession(tx, user.userId, userAgent);
  await recordInAllShops(tx, user, '/admin/sign-in', { by });
  visit.setToken(token);
  visit.rememberUser(user.userId);
}

/** Where to go after signing in: a page of the admin and nothing else. */
export function targetOf(text: string | undefined): string {
  return text !== undefined && /^\/admin(?:[/?]|$)/.test(text) && !text.includes('\\') ? text : '/admin';
}
