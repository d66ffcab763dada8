import type { Database, Queries } from '../db/database.ts';
import { newCartToken } from '../http/cart-token.ts';
import { inStatementOrTransaction } from '../http/operation.ts';
import { newId } from '../kernel/ids.ts';
import { findOrderOfCart } from '../orders/queries.ts';
import type { Order } from '../orders/schema.ts';
import { CartGone, changedCart, openCart, type CartCall, type Change, type OpenCart } from './change.ts';
import { contentOf, type PricedContent } from '../pricing/content.ts';
import { createCart } from './create.ts';
import { createOrder } from './order.ts';
import { dropCachedCart } from './cart-cache.ts';
import { copyCart, endCartToken, type Wanted } from './queries.ts';
import { cartText } from './render.ts';
import type { Cart, NewCart } from './schema.ts';

/**
 * The cart of a visitor, by the rules of the API. Whoever calls these has made sure that the visitor may have the cart:
 * its id stands in a signed cookie.
 */
export interface Shopper {
  db: Database;
  shopId: string;
  /** Scheme and host. */
  origin: string;
  /** In which the cart is shown. */
  locale: string;
}

export interface ShownCart extends OpenCart {
  /** As the API shows it, in the shopper's locale. */
  shown: Cart;
  priced: PricedContent;
}

/** undefined: it has become an order, has ended, or there never was one. */
export async function shownCart(shopper: Shopper, cartId: string): Promise<ShownCart | undefined> {
  const { db, origin, locale } = shopper;
  const open = await unlessGone(openCart(callOf(shopper, cartId, db)));
  if (!open) return undefined;
  const priced = contentOf(open.cart, open.settings, db.now);
  const look = { locale, origin, settings: open.settings };
  const text = cartText(open.cart, priced, look, { hasPickup: false });
  return { ...open, priced, shown: JSON.parse(text) as Cart };
}

/** The cart after the change; undefined: it is gone. What the rules refuse is thrown as the API would answer it. */
export async function changeCart(
  shopper: Shopper,
  cartId: string,
  change: Change,
  wanted: Wanted = {},
): Promise<Cart | undefined> {
  const answer = await unlessGone(
    inStatementOrTransaction(shopper.db, (db) => changedCart(callOf(shopper, cartId, db), change, wanted)),
  );
  return answer && (JSON.parse(answer.json) as Cart);
}

/**
 * Nobody gets to see its token: the visitor's cookie stands for it. `appId`: it takes the place of a cart that this app
 * has made.
 */
export async function startCart(shopper: Shopper, body: NewCart, appId: string | null = null): Promise<Cart> {
  const { text } = await createCart({ ...shopper, body, caller: undefined, appId });
  return JSON.parse(text) as Cart;
}

/**
 * A cart of the visitor's own, with everything that was chosen in a cart that anybody could have made: whoever made it
 * knows its token, and can neither read nor change the copy. The token of the original ends. Returns the id of the
 * copy; undefined: the cart is gone.
 */
export async function pickUpCart({ db, shopId }: Shopper, cartId: string): Promise<string | undefined> {
  const copy = { cartId: newId(db.now), tokenHash: newCartToken().hash };
  const isCopied = await db.transaction(async (tx) => {
    if ((await endCartToken(tx, shopId, cartId)) === 0) return false;
    return (await copyCart(tx, shopId, cartId, copy)) === 1;
  });
  dropCachedCart(db, shopId, cartId);
  return isCopied ? copy.cartId : undefined;
}

/**
 * The id of the order, also when another click was faster; undefined: the cart has ended without one. `reviewed` is the
 * digest of what the shopper has seen.
 */
export async function orderCart(
  shopper: Shopper,
  cartId: string,
  reviewed: string,
): Promise<string | undefined> {
  const { db, shopId } = shopper;
  const answer = await unlessGone(
    inStatementOrTransaction(db, (queries) =>
      createOrder({ ...callOf(shopper, cartId, queries), entry: undefined, reviewed }),
    ),
  );
  if (answer) return (JSON.parse(answer.json) as Order).orderId;
  return (await findOrderOfCart(db, shopId, cartId))?.orderId;
}

/** The language of mails and of the order is the one the shopper reads. */
export const speaking =
  (locale: string): Change =>
  () => ({ changed: { locale } });

function callOf({ shopId, origin }: Shopper, cartId: string, db: Queries): CartCall {
  return { db, shopId, origin, params: { cartId }, cartToken: undefined, isAdmitted: true };
}

async function unlessGone<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CartGone) return undefined;
    throw error;
  }
}
