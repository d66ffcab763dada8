import type { Transaction } from '../db/database.ts';
import { findConsenting } from '../people/newsletters/queries.ts';
import { queueEmails } from '../platform/email/queue.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { lockUnreminded, updateReminded } from './queries.ts';
import { cartReminder } from './reminder-email.ts';

/**
 * Reminds people of their abandoned carts, and returns how many. A reminder is advertising, which the law allows with
 * consent only (§ 7 UWG, Art. 13 of Directive 2002/58/EC). People have consented if they confirmed a newsletter of
 * this shop by the link in an email, and have not unsubscribed since. Each cart is reminded of at most once.
 */
export async function remindOfCarts(
  tx: Transaction,
  { shopId, newsletterCampaigns }: Settings,
  cartIds: readonly string[],
): Promise<number> {
  const carts = await lockUnreminded(tx, shopId, cartIds);
  const consenting = await findConsenting(
    tx,
    shopId,
    newsletterCampaigns.map(({ campaignId }) => campaignId),
    carts.flatMap(({ email }) => email ?? []),
  );
  const reminded = carts.flatMap(({ email, ...cart }) =>
    email !== null && consenting.has(email) ? [{ ...cart, email }] : [],
  );
  await updateReminded(
    tx,
    shopId,
    reminded.map(({ cartId }) => cartId),
  );
  await queueEmails(
    tx,
    shopId,
    cartReminder,
    reminded.map(({ cartId, email, locale }) => ({ to: email, locale, facts: { cartId, products: [] } })),
  );
  return reminded.length;
}
