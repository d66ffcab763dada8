import { updateAccountCart } from '../../people/accounts/queries.ts';
import type { Session } from '../session.ts';
import type { Visit } from '../visit.ts';
import type { SignedInAccount } from './signed-in-account.ts';

/** The anonymous part of a session, which stays after signing in or out. */
export function sharedSession({ locale, currency, isBusiness, consent, notice, preview }: Session): Session {
  return {
    ...(locale !== undefined && { locale }),
    ...(currency !== undefined && { currency }),
    ...(isBusiness && { isBusiness }),
    ...(consent !== undefined && { consent }),
    ...(notice !== undefined && { notice }),
    ...(preview !== undefined && { preview }),
  };
}

/**
 * A visitor who is signed in has the cart and the wish list of the account, whatever the cookie says. When the session
 * has ended, in this browser or another one, no account data is left here.
 */
export function sessionOfAccount(session: Session, account: SignedInAccount | undefined): Session {
  if (!account) return session.isSignedIn ? sharedSession(session) : session;
  const { cart: before, ...rest } = session.isSignedIn ? session : sharedSession(session);
  const { accountId, cartId, cartCount, wishlistCount } = account;
  return {
    ...rest,
    isSignedIn: true,
    visitor: accountId,
    wishlistCount,
    ...(cartId !== null && {
      cart: { ...(before?.id === cartId && before), id: cartId, count: cartCount },
    }),
  };
}

/**
 * The cart that the visitor has after a request is the cart of the account on all devices. A page that finds it
 * missing only shows that: a GET without a new cart writes nothing.
 */
export async function saveAccountCart(
  { db, shopId, account, session }: Visit,
  { mayRemove }: { mayRemove: boolean },
): Promise<void> {
  const cartId = session.cart?.id ?? null;
  if (!account || account.cartId === cartId || (cartId === null && !mayRemove)) return;
  await updateAccountCart(db, shopId, account.accountId, cartId);
}
