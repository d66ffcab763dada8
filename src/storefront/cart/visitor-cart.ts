import type { CartChange, Prefetch } from '../../carts/cart.ts';
import { largestQuantity } from '../../pricing/quantity.ts';
import { changeCart, shownCart, type Shopper, type ShownCart } from '../../carts/shopping.ts';
import { setLocale } from '../../carts/changes.ts';
import type { Cart } from '../../carts/schema.ts';
import { addVisitorEvents, type VisitorEvent } from '../session.ts';
import type { Visit } from '../visit.ts';
import { findWishedIds } from '../wishlist/queries.ts';

/** Who shops: the session names the cart, so no token is needed. */
export function shopperOf({ db, carts, placeOrder, shopId, origin, locale }: Visit): Shopper {
  return { db, carts, placeOrder, shopId, origin, locale };
}

/** The visitor's cart, if there is one. What is gone is forgotten. */
export async function cartOf(visit: Visit): Promise<ShownCart | undefined> {
  const { cart } = visit.session;
  if (!cart) return undefined;
  const shown = await shownCart(shopperOf(visit), cart.id);
  if (!shown) {
    visit.updateSession({ cart: undefined });
    return undefined;
  }
  rememberCart(visit, shown.shown);
  return { ...shown, shown: await withWishes(visit, shown.shown) };
}

/** The cart knows nothing of the visitor's wishes: only here both are known. */
async function withWishes(visit: Visit, cart: Cart): Promise<Cart> {
  const { lineItemContainer } = cart;
  const { productLineItems } = lineItemContainer;
  const wished = await findWishedIds(
    visit,
    productLineItems.map(({ productId }) => productId),
  );
  if (wished.size === 0) return cart;
  const lines = productLineItems.map((line) => ({ ...line, isInWishlist: wished.has(line.productId) }));
  return { ...cart, lineItemContainer: { ...lineItemContainer, productLineItems: lines } };
}

/** Changes a cart that the session names; from then on it speaks the visitor's language. undefined: it is gone. */
export function changeCartOf(
  visit: Visit,
  cartId: string,
  change: CartChange,
  prefetch: Prefetch = {},
): Promise<Cart | undefined> {
  const inLanguage: CartChange = (cart, context) => ({
    ...change(cart, context),
    ...setLocale(visit.locale),
  });
  return changeCart(shopperOf(visit), cartId, inLanguage, prefetch);
}

/** The header shows how much is in it. */
export function rememberCart(visit: Visit, cart: Cart, ...events: VisitorEvent[]): void {
  const { cart: before } = visit.session;
  const copyOf = before?.id === cart.cartId ? before.copyOf : undefined;
  visit.updateSession({
    cart: { id: cart.cartId, count: countOf(cart), ...(copyOf !== undefined && { copyOf }) },
  });
  if (events.length === 0) return;
  visit.updateSession({ visitorEvents: addVisitorEvents(visit.session, ...events) });
}

const LONGEST_NAME = 80;

/** A name as it stands in a notice, which is kept in the cookie too. */
export function shortName(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1).toWellFormed()}…` : name;
}

/** Pieces; what is sold by the metre counts once. */
function countOf({ lineItemContainer }: Cart): number {
  return lineItemContainer.productLineItems.reduce(
    (count, { quantity: { amount } }) => count + (Number.isInteger(amount) ? amount : 1),
    0,
  );
}

/** Why a cart can't be ordered, whatever is filled in. */
export type Obstacle = 'empty' | 'minimum' | 'quantity' | 'delivery';

export function obstacleTo({ priced, settings }: ShownCart): Obstacle | undefined {
  const { totals, content } = priced;
  const { delivery, minimum } = totals;
  if (content.lines.length === 0) return 'empty';
  if (!minimum.isReached) return 'minimum';
  if (delivery.isNeeded && !delivery.method && settings.shippingMethods.length > 0) return 'delivery';
  const shown = { priced, settings };
  const isRefused = content.lines.some(
    (_line, index) => stockShortOf(index, shown) !== undefined || quantityLimitOf(index, shown) !== undefined,
  );
  return isRefused ? 'quantity' : undefined;
}

/** What is there of the product of this line, if that is less than is wanted. */
export function stockShortOf(
  index: number,
  { priced, settings }: Pick<ShownCart, 'priced' | 'settings'>,
): number | undefined {
  const { stock } = priced.goods[index]!;
  if (settings.sellBeyondStock || stock === null) return undefined;
  return stock < Number(priced.content.lines[index]!.quantity) ? Math.max(0, stock) : undefined;
}

/** What an order may hold of the product of this line, if that is less than is wanted. */
export function quantityLimitOf(
  index: number,
  { priced, settings }: Pick<ShownCart, 'priced' | 'settings'>,
): number | undefined {
  const most = largestQuantity(priced.goods[index]!.facts, settings);
  return most !== null && most < Number(priced.content.lines[index]!.quantity) ? most : undefined;
}
