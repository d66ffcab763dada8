import { isPickupToken } from '../../carts/pickup-token.ts';
import { shownCart, type ShownCart } from '../../carts/shopping.ts';
import { html } from '../../http/html.ts';
import { readingLocale } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import { findOrderOfCart } from '../../orders/queries.ts';
import { rememberCart, shopperOf } from './visitor-cart.ts';
import { Redirect, type Page } from '../page.ts';
import type { PageRequest } from '../pages.ts';
import { to, type Visit } from '../visit.ts';
import { messages } from '../../kernel/messages.ts';

/**
 * A cart that was made through the API, by the link with its token. The visitor goes on to the same page without the
 * token, which is for nobody else's eyes. A cart that an app made becomes the visitor's, and the app keeps its access.
 * Anybody could have made any other cart and still know its token, so the visitor gets a copy of it, and the token
 * ends. The link stays good, because programs look into links too: each visitor gets a copy of the same cart, which
 * nobody changes any more. undefined: the address names no cart.
 */
export async function pickedUp(
  visit: Visit,
  { query, isHead }: PageRequest,
  path: '/cart' | '/checkout',
): Promise<Page | Redirect | undefined> {
  const cartId = query('cart')?.toUpperCase();
  const token = query('PickupToken');
  if (cartId === undefined || token === undefined) return undefined;
  const words = messages(visit.locale).storefront.pickup;
  if (!isId(cartId)) return refusedPage(visit, 403, words.invalid);
  const shown = await shownCart(shopperOf(visit), cartId);
  if (!shown) return gonePage(visit, cartId, token);
  if (!isPickupToken(token, shown.cart, visit.db.now)) {
    const isOnlyLate = isPickupToken(token, shown.cart, new Date(0));
    return isOnlyLate ? refusedPage(visit, 410, words.expired) : refusedPage(visit, 403, words.invalid);
  }
  if (isHead) return new Redirect(to(visit, path));
  if (shown.cart.appId !== null) return taken(visit, shown, path);
  const copy = (await copyOf(visit, cartId)) ?? (await newCopyOf(visit, cartId));
  return copy ? taken(visit, copy, path, cartId) : gonePage(visit, cartId, token);
}

/** The copy that the visitor has got already, unless it is ordered or gone. */
async function copyOf(visit: Visit, cartId: string): Promise<ShownCart | undefined> {
  const { cart } = visit.session;
  return cart?.copyOf === cartId ? shownCart(shopperOf(visit), cart.id) : undefined;
}

async function newCopyOf(visit: Visit, cartId: string): Promise<ShownCart | undefined> {
  const copyId = await visit.carts.pickUp(visit.shopId, cartId);
  return copyId === undefined ? undefined : shownCart(shopperOf(visit), copyId);
}

function taken(
  visit: Visit,
  { cart, shown, settings }: ShownCart,
  path: string,
  original?: string,
): Redirect {
  const { session } = visit;
  const isReplaced = session.cart !== undefined && session.cart.id !== cart.cartId && session.cart.count > 0;
  rememberCart(visit, shown);
  if (original !== undefined) visit.updateSession({ cart: { ...visit.session.cart!, copyOf: original } });
  if (settings.currencies.includes(cart.currency)) visit.updateSession({ currency: cart.currency });
  const locale = readingLocale(cart.locale, settings);
  const words = messages(locale).storefront.pickup;
  return new Redirect(to({ ...visit, locale }, path), isReplaced ? words.replaced : words.opened);
}

/** Only who has its token learns that it was ordered. */
async function gonePage(visit: Visit, cartId: string, token: string): Promise<Page> {
  const words = messages(visit.locale).storefront.pickup;
  const order = await findOrderOfCart(visit.db, visit.shopId, cartId);
  const isOrdered = order && isPickupToken(token, { cartId, tokenHash: order.tokenHash }, new Date(0));
  return refusedPage(visit, 410, isOrdered ? words.ordered : words.expired);
}

function refusedPage(visit: Visit, status: 403 | 410, text: string): Page {
  const words = messages(visit.locale).storefront.pickup;
  return {
    status,
    title: words.title,
    path: '/cart',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${words.title}</h1>
      <p>${text}</p>
      <p><a class="button" href="${to(visit, '')}">${words.home}</a></p>
    </div>`,
  };
}
