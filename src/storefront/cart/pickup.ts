import { isPickupToken } from '../../carts/pickup-token.ts';
import { loadVisitorCart, type VisitorCart } from '../../checkout/visitor-cart.ts';
import { html } from '../../http/html.ts';
import { readingLocale } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import { findOrderOfCart } from '../../orders/queries.ts';
import { setSessionCart, shopperOf } from './visitor-cart.ts';
import type { Page } from '../page.ts';
import { shopPath, type Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

/**
 * Opens a cart that was created through the API, by the link with its token, and redirects to the same page without
 * the token, to hide it from others. A cart of an app becomes the visitor's, and the app keeps its access. The creator
 * of any other cart may still know its token, so the visitor gets a copy, and the token is revoked. The link stays
 * valid, because programs open links too: each visitor gets a copy of the same cart, which no longer changes.
 * undefined: the address names no cart.
 */
export async function pickUpCart(
  visit: Visit,
  { query, isHead }: PageRequest,
  path: '/cart' | '/checkout' | '/checkout/review',
): Promise<Page | Redirect | undefined> {
  const cartId = query('cart')?.toUpperCase();
  const token = query('PickupToken');
  if (cartId === undefined || token === undefined) return undefined;
  const messages = messagesIn(visit.locale).storefront.pickup;
  if (!isId(cartId)) return rejectionPage(visit, 403, messages.invalid);
  const visitorCart = await loadVisitorCart(shopperOf(visit), cartId);
  if (!visitorCart) return missingCartPage(visit, cartId, token);
  if (!isPickupToken(token, visitorCart.cart, visit.db.now)) {
    const isExpired = isPickupToken(token, visitorCart.cart, new Date(0));
    return isExpired
      ? rejectionPage(visit, 410, messages.expired)
      : rejectionPage(visit, 403, messages.invalid);
  }
  if (isHead) return new Redirect(shopPath(visit, path));
  if (visitorCart.cart.appId !== null) return takeOver(visit, visitorCart, path);
  const copy = (await findCopy(visit, cartId)) ?? (await createCopy(visit, cartId));
  const shown = /^\d{1,15}$/.test(query('shown') ?? '') ? Number(query('shown')) : undefined;
  return copy
    ? takeOver(visit, copy, path, { copyOf: cartId, shown })
    : missingCartPage(visit, cartId, token);
}

/** The visitor's copy from an earlier visit, unless it was ordered or has expired. */
async function findCopy(visit: Visit, cartId: string): Promise<VisitorCart | undefined> {
  const { cart } = visit.session;
  return cart?.copyOf === cartId ? loadVisitorCart(shopperOf(visit), cart.id) : undefined;
}

async function createCopy(visit: Visit, cartId: string): Promise<VisitorCart | undefined> {
  const copyId = await visit.carts.pickUp(visit.shopId, cartId);
  return copyId === undefined ? undefined : loadVisitorCart(shopperOf(visit), copyId);
}

function takeOver(
  visit: Visit,
  { cart, view, settings }: VisitorCart,
  path: string,
  original?: { copyOf: string; shown: number | undefined },
): Redirect {
  const { session } = visit;
  const isReplaced = session.cart !== undefined && session.cart.id !== cart.cartId && session.cart.count > 0;
  setSessionCart(visit, view);
  if (original !== undefined) {
    const { copyOf, shown } = original;
    visit.updateSession({
      cart: { ...visit.session.cart!, copyOf, ...(shown !== undefined && { shown }) },
    });
  }
  if (settings.currencies.includes(cart.currency)) visit.updateSession({ currency: cart.currency });
  const locale = readingLocale(cart.locale, settings);
  const messages = messagesIn(locale).storefront.pickup;
  return new Redirect(shopPath({ ...visit, locale }, path), isReplaced ? messages.replaced : messages.opened);
}

/** Only a visitor with the token learns that the cart was ordered. */
async function missingCartPage(visit: Visit, cartId: string, token: string): Promise<Page> {
  const messages = messagesIn(visit.locale).storefront.pickup;
  const order = await findOrderOfCart(visit.db, visit.shopId, cartId);
  const isOrdered = order && isPickupToken(token, { cartId, tokenHash: order.tokenHash }, new Date(0));
  return rejectionPage(visit, 410, isOrdered ? messages.ordered : messages.expired);
}

function rejectionPage(visit: Visit, status: 403 | 410, text: string): Page {
  const messages = messagesIn(visit.locale).storefront.pickup;
  return {
    status,
    title: messages.title,
    path: '/cart',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${messages.title}</h1>
      <p>${text}</p>
      <p><a class="button" href="${shopPath(visit, '')}">${messages.home}</a></p>
    </div>`,
  };
}
