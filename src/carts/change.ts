import type { Queries } from '../db/database.ts';
import { requireCartToken } from '../http/cart-token.ts';
import { badRequest, gone, notFound } from '../http/errors.ts';
import { NeedsTransaction } from '../http/operation.ts';
import { Rendered } from '../http/rendered.ts';
import { findOrderOfCart } from '../orders/queries.ts';
import { settingsOfVersion } from '../products/texts.ts';
import type { Settings } from '../shop/settings.ts';
import { contentOf, type PricedContent } from './content.ts';
import { findCart, LIFETIME, lockCart, updateCart, type CartRow, type Wanted } from './queries.ts';
import { cartText } from './render.ts';
import type { Cart } from './schema.ts';

/** What operations on a single cart know of their request. */
export interface CartCall {
  db: Queries;
  shopId: string;
  params: { cartId: string };
  cartToken: string | undefined;
  origin: string;
}

export interface OpenCart {
  cart: CartRow;
  settings: Settings;
}

/** The cart, for the one who holds its token; in a transaction, nobody else changes it until the end. */
export async function openCart(
  { db, shopId, params: { cartId }, cartToken }: CartCall,
  wanted: Wanted = {},
): Promise<OpenCart> {
  const read = 'inTransaction' in db ? lockCart : findCart;
  const cart = await read(db, shopId, cartId, wanted);
  if (!cart) {
    const order = await findOrderOfCart(db, shopId, cartId);
    if (!order) throw notFound();
    requireCartToken(cartToken, order.tokenHash);
    throw gone('This cart has become an order');
  }
  requireCartToken(cartToken, cart.tokenHash);
  // The sweep comes once an hour.
  if (cart.changedAt.getTime() + LIFETIME < db.now.getTime()) throw notFound();
  return { cart, settings: await settingsOfVersion(db, shopId, cart.settingsVersion) };
}

/** What a change says: the cart as it is to be, and whether all that was sent went in. */
export type Change = (open: OpenCart) => { cart: CartRow; status?: Cart['status'] };

/**
 * Reads the cart with everything it needs, changes it and answers with it: two statements. If somebody else has
 * changed the cart in between, it begins anew with the cart locked.
 */
export async function changedCart(call: CartCall, change: Change, wanted: Wanted = {}): Promise<Rendered> {
  const { db, shopId, origin } = call;
  const open = await openCart(call, wanted);
  const { cart: next, status } = change(open);
  const { settings } = open;
  const cart = { ...next, changedAt: db.now };
  const priced = pricedCart(cart, settings, db.now);
  if ((await updateCart(db, shopId, cart)) === 0) throw new NeedsTransaction();
  return new Rendered(cartText(cart, priced, { locale: cart.locale, origin, settings }, status));
}

/** Far below what a number holds exactly, with room for whatever a price may become. */
const MOST_WORTH = 1e13;

/** A cart that is worth more than can be counted is refused. */
export function pricedCart(cart: CartRow, settings: Settings, now: Date): PricedContent {
  const priced = contentOf(cart, settings, now);
  if (priced.totals.grandTotal > MOST_WORTH || priced.totals.subTotal > MOST_WORTH) {
    throw badRequest('The cart would be worth more than can be ordered at once');
  }
  return priced;
}
