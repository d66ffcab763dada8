import type { Transaction } from '../../db/database.ts';
import { badRequest } from '../../http/errors.ts';
import { brandOf } from '../../platform/brand.ts';
import { recordInAllShops } from '../users/audit.ts';
import { endSupportVisit } from '../../host/support.ts';
import { deleteAdminSession, insertAdminSession, type SignedInUser, type User } from '../users/queries.ts';
import type { Visit } from '../visit.ts';

export type WayIn = 'password' | 'password and code' | 'passkey' | 'link' | 'demo' | 'host' | 'host and code';

/** How somebody signs in. The host is the one whose panel did it. */
export interface SigningIn {
  userAgent: string;
  by: WayIn;
  host?: HostPanel | undefined;
}

/** The panel of the host: how people know it, and the token that it used. */
export interface HostPanel {
  name: string;
  token: string;
}

/** Signs a user in with a new session, whose token has never been used before. */
export async function enter(
  tx: Transaction,
  visit: Visit<'anybody'>,
  user: Pick<User, 'userId' | 'email'>,
  { userAgent, by, host }: SigningIn,
): Promise<void> {
  await endSession(tx, visit.user);
  const token = await insertAdminSession(tx, user.userId, userAgent, host?.name);
  await recordInAllShops(tx, user, '/admin/sign-in', { by, ...(host && { token: host.token }) });
  visit.setToken(token);
  visit.rememberUser(user.userId);
}

/** Ends the session that the browser has: another one takes its place. */
export async function endSession(tx: Transaction, user: SignedInUser | undefined): Promise<void> {
  if (user?.support) await endSupportVisit(tx, user.support.shopId, user.support.visitId);
  else if (user) await deleteAdminSession(tx, user.userId, user.sessionId);
}

/** Why the demo owner can't sign in from elsewhere. */
export const onlyHere = ({ messages, config }: Visit<'anybody'>): string =>
  messages.signIn.onlyHere({ product: brandOf(config).name });

/** Longer than any address of the admin. */
export const MAX_RETURN_PATH_LENGTH = 4_000;

/**
 * The page after signing in: only a page of the admin. A response header holds no control characters, and an address
 * only ASCII; our own pages name no others. Called before a session is created.
 */
export function targetAfterSignIn(text: string | undefined): string {
  if (text === undefined) return '/admin';
  if (text.length > MAX_RETURN_PATH_LENGTH || !/^[\x20-\x7e]*$/.test(text)) throw badRequest('Bad request');
  return /^\/admin(?:[/?]|$)/.test(text) && !text.includes('\\') ? text : '/admin';
}
