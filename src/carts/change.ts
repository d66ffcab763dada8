import type { Queries } from '../db/database.ts';
import { requireCartToken } from '../http/cart-token.ts';
import { badRequest, forbidden, gone, HttpError, isRefusal, notFound } from '../http/errors.ts';
import { NeedsTransaction } from '../http/operation.ts';
import { Rendered } from '../http/rendered.ts';
import { findOrderOfCart } from '../orders/queries.ts';
import { cachedSettings, type Settings, settingsSince } from '../shops/settings/settings.ts';
import { contentOf, type PricedContent } from '../pricing/content.ts';
import { dropCachedCart, cacheCart, cachedCart } from './cart-cache.ts';
import {
  findCart,
  LIFETIME,
  lockCart,
  updateCart,
  type CartChange,
  type CartRow,
  type Choices,
  type Wanted,
} from './queries.ts';
import { cartText } from './render.ts';
import type { Cart } from './schema.ts';
import { updateKeptCart } from './together.ts';

/** What operations on a single cart know of their request. */
export interface CartCall {
  db: Queries;
  shopId: string;
  params: { cartId: string };
  cartToken: string | undefined;
  /** No token is needed: the visitor's signed cookie names this cart. */
  isAdmitted?: true;
  origin: string;
}

/** Whoever has picked up a cart has a copy of it: the token of the original is of no use to its maker any more. */
function admit(
  { cartToken, isAdmitted }: CartCall,
  { tokenHash, pickedUpAt }: { tokenHash: Buffer; pickedUpAt?: Date | null },
): void {
  if (isAdmitted) return;
  requireCartToken(cartToken, tokenHash);
  if (pickedUpAt) throw forbidden('The cart was picked up in the shop, so its token has ended');
}

export interface OpenCart {
  cart: CartRow;
  settings: Settings;
}

/** There is no such cart, or no longer: it has become an order or has ended. */
export class CartGone extends HttpError {
  constructor({ status, message }: HttpError) {
    super(status, message);
  }
}

/** The cart, for the one who holds its token; in a transaction, nobody else changes it until the end. */
export async function openCart(call: CartCall, wanted: Wanted = {}): Promise<OpenCart> {
  const { db, shopId, params } = call;
  const { cartId } = params;
  const read = 'inTransaction' in db ? lockCart : findCart;
  const cart = await read(db, shopId, cartId, wanted);
  if (!cart) {
    const order = await findOrderOfCart(db, shopId, cartId);
    if (!order) throw new CartGone(notFound());
    admit(call, order);
    throw new CartGone(gone('This cart has become an order'));
  }
  admit(call, cart);
  // The sweep comes once an hour.
  if (isEnded(cart, db.now)) throw new CartGone(notFound());
  const settings = await settingsSince(db, shopId, cart.settingsVersion);
  cart.settingsVersion = settings.version;
  return { cart, settings };
}

function isEnded({ changedAt }: CartRow, now: Date): boolean {
  return changedAt.getTime() + LIFETIME < now.getTime();
}

/** The same from memory, if all of it is there; undefined in a transaction, which must see the cart itself. */
export function openCachedCart(call: CartCall, wanted: Wanted = {}) {
  const { db, shopId, params } = call;
  if ('inTransaction' in db) return undefined;
  const cart = cachedCart(db, shopId, params.cartId, wanted);
  const settings = cachedSettings(db, shopId);
  if (!cart || !settings || isEnded(cart, db.now)) return undefined;
  admit(call, cart);
  cart.settingsVersion = settings.version;
  return { cart, settings };
}

/** What a change says: what is to be otherwise, and whether all that was sent went in. */
export type Change = (open: OpenCart) => { changed: Partial<Choices>; status?: Cart['status'] };

/**
 * Reads the cart with everything it needs, changes it and answers with it: two statements, or one when this process
 * has it all in memory. If somebody else has changed the cart in between, it begins anew with the cart locked.
 */
export async function changedCart(call: CartCall, change: Change, wanted: Wanted = {}): Promise<Rendered> {
  const quick = await changedFromMemory(call, change, wanted);
  if (quick) return quick;
  const next = changedWith(call, await openCart(call, wanted), change);
  if ((await updateCart(call.db, call.shopId, next)) === 0) throw new NeedsTransaction();
  return answered(call, next);
}

/** undefined: it must be read, because a part is not in memory or was old. */
async function changedFromMemory(call: CartCall, change: Change, wanted: Wanted) {
  const { db, shopId } = call;
  const open = openCachedCart(call, wanted);
  if (!open) return undefined;
  try {
    const next = changedWith(call, open, change);
    if (await updateKeptCart(db, shopId, next)) return answered(call, next);
  } catch (error) {
    // What an old copy does not allow, the real cart may: it decides.
    if (!isRefusal(error)) throw error;
  }
  dropCachedCart(db, shopId, open.cart.cartId);
  return undefined;
}

interface ChangedCart extends CartChange {
  cart: CartRow;
  priced: PricedContent;
  settings: Settings;
  status: Cart['status'];
}

function changedWith({ db }: CartCall, open: OpenCart, change: Change): ChangedCart {
  const { changed, status } = change(open);
  const cart = { ...open.cart, ...changed, changedAt: db.now };
  return { cart, changed, priced: pricedCart(cart, open.settings, db.now), settings: open.settings, status };
}

function answered(
  { db, shopId, origin, isAdmitted }: CartCall,
  { cart, priced, settings, status }: ChangedCart,
): Rendered {
  const look = { locale: cart.locale, origin, settings };
  const text = cartText(cart, priced, look, { status, hasPickup: isAdmitted !== true });
  cacheCart(db, shopId, { ...cart, version: cart.version + 1 });
  return new Rendered(text);
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
