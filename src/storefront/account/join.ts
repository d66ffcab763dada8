import { productIdsOf } from '../../carts/cart.ts';
import { joinLines } from '../../carts/lines.ts';
import { loadVisitorCart } from '../../checkout/visitor-cart.ts';
import type { Transaction } from '../../db/database.ts';
import { secretHash } from '../../kernel/ids.ts';
import { shopperOf, updateVisitorCart } from '../cart/visitor-cart.ts';
import type { Visit } from '../visit.ts';
import { moveWishlistItems } from '../wishlist/queries.ts';

/** Moves the visitor's wish list items to the wish list of the account. */
export async function joinWishlist(tx: Transaction, visit: Visit, accountId: string): Promise<void> {
  const { shopId, session, account } = visit;
  // A visitor who was signed in to another account leaves that account's list unchanged.
  if (account || session.visitor === undefined) return;
  await moveWishlistItems(tx, shopId, secretHash(session.visitor), secretHash(accountId));
}

export interface JoinedCart {
  cartId: string;
  currency: string;
  /** Some products of the account's cart could not be added. */
  isPartial: boolean;
}

/**
 * The cart of an account after sign-in: the visitor's lines merged with the account's cart, by the cart's own rules.
 * It gets a new id, because another browser may know the visitor's: a former holder of this browser's cookie must not
 * see what the shopper adds from now on. Only a cart created by an app keeps its id, because the app goes on using it.
 */
export async function joinCart(visit: Visit, accountCartId: string | null): Promise<JoinedCart | undefined> {
  const shopper = shopperOf(visit);
  const load = async (cartId: string | undefined | null) =>
    cartId ? loadVisitorCart(shopper, cartId) : undefined;
  const chosen = visit.account ? undefined : await load(visit.session.cart?.id);
  const former = await load(accountCartId);
  if (!chosen || chosen.cart.lines.length === 0) {
    return former && { cartId: former.cart.cartId, currency: former.cart.currency, isPartial: false };
  }
  const cartId = (await visit.carts.pickUp(visit.shopId, chosen.cart.cartId)) ?? chosen.cart.cartId;
  const { currency } = chosen.cart;
  if (!former || former.cart.lines.length === 0) return { cartId, currency, isPartial: false };
  let isPartial = false;
  await updateVisitorCart(
    visit,
    cartId,
    (cart, context) => {
      const { lines, refusals } = joinLines(cart, former.cart, context);
      isPartial = refusals.length > 0;
      return { lines };
    },
    { productIds: productIdsOf(former.cart) },
  );
  return { cartId, currency, isPartial };
}
