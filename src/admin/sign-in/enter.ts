import type { Transaction } from '../../db/database.ts';
import { badRequest } from '../../http/errors.ts';
import { recordInAllShops } from '../users/audit.ts';
import { deleteAdminSession, insertAdminSession, type User } from '../users/queries.ts';
import type { Visit } from '../visit.ts';

export type WayIn = 'password' | 'password and code' | 'passkey' | 'link' | 'demo';

/** Signs a user in with a new session, whose token has never been used before. */
export async function enter(
  tx: Transaction,
  visit: Visit<'anybody'>,
  user: Pick<User, 'userId' | 'email'>,
  { userAgent, by }: { userAgent: string; by: WayIn },
): Promise<void> {
  if (visit.user) await deleteAdminSession(tx, visit.user.userId, visit.user.sessionId);
  const token = await insertAdminSession(tx, user.userId, userAgent);
  await recordInAllShops(tx, user, '/admin/sign-in', { by });
  visit.setToken(token);
  visit.rememberUser(user.userId);
}

/** Longer than any address of the admin. */
export const MAX_TARGET_LENGTH = 4_000;

/**
 * The page after signing in: only a page of the admin. A response header holds no control characters, and an address
 * only ASCII; our own pages name no others. Called before a session is created.
 */
export function targetOf(text: string | undefined): string {
  if (text === undefined) return '/admin';
  if (text.length > MAX_TARGET_LENGTH || !/^[\x20-\x7e]*$/.test(text)) throw badRequest('Bad request');
  return /^\/admin(?:[/?]|$)/.test(text) && !text.includes('\\') ? text : '/admin';
}
