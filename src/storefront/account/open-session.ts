import type { Transaction } from '../../db/database.ts';
import { newSecret, secretHash } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { browserName } from '../../people/accounts/browser-name.ts';
import { findOrCreateCustomerOf } from '../../people/accounts/customer.ts';
import {
  deleteSession,
  findOrCreateAccount,
  insertAccountSession,
  updateAccountCart,
  updateAccountLocale,
} from '../../people/accounts/queries.ts';
import type { SignInTarget } from '../session.ts';
import { shopPath, type Visit } from '../visit.ts';
import { updateVisitorCart } from '../cart/visitor-cart.ts';
import { priceViewOf } from '../price-view.ts';
import { joinCart, joinWishlist } from './join.ts';
import { findSignedInAccount } from './queries.ts';
import { Redirect } from '../../http/page-kit.ts';

export interface OpenedSession {
  token: string;
  accountId: string;
  cartId: string | null;
}

/** Opens a session of the account with this address, which is now confirmed. Its token has never been used before. */
export async function openAccountSession(
  tx: Transaction,
  visit: Visit,
  email: string,
  userAgent: string,
): Promise<OpenedSession> {
  const { shopId, account: former } = visit;
  const account = await findOrCreateAccount(tx, shopId, email);
  const token = newSecret(32);
  await insertAccountSession(tx, shopId, account.accountId, {
    tokenHash: secretHash(token),
    ...browserName(userAgent),
  });
  if (former) await deleteSession(tx, shopId, former.accountId, former.sessionId);
  await joinWishlist(tx, visit, account.accountId);
  await findOrCreateCustomerOf(tx, shopId, email);
  return { token, ...account };
}

/** The cart of somebody who has signed in has the prices of this customer from the first page on. */
async function setCustomerPrices(visit: Visit, token: string, cartId: string): Promise<void> {
  const { db, shopId, session, settings } = visit;
  const account = await findSignedInAccount(db, shopId, token);
  const priceView = priceViewOf(session, account, settings, db.now);
  await updateVisitorCart({ ...visit, account, priceView }, cartId, () => ({}));
}

export async function continueSignedIn(
  visit: Visit,
  { token, accountId, cartId }: OpenedSession,
  target: SignInTarget | undefined,
): Promise<Redirect> {
  const { db, shopId, locale, settings } = visit;
  const messages = messagesIn(locale).storefront.account.signIn;
  const joined = await joinCart(visit, cartId);
  if (joined && joined.cartId !== cartId) await updateAccountCart(db, shopId, accountId, joined.cartId);
  const { locale: chosen } = visit.session;
  if (chosen !== undefined) await updateAccountLocale(db, shopId, accountId, chosen);
  visit.setAccountToken(token);
  visit.rememberAccount(accountId);
  if (joined) await setCustomerPrices(visit, token, joined.cartId);
  if (joined && settings.currencies.includes(joined.currency)) {
    visit.updateSession({ currency: joined.currency });
  }
  return new Redirect(
    shopPath(visit, target ?? '/account'),
    joined?.isPartial ? messages.donePartly : messages.done,
  );
}
