import { quantityInBundle, shownLines, soldUnits, type SoldUnit } from '../../pricing/shown-lines.ts';
import { customTextProblem, type CustomTextProblem } from '../../catalogue/products/custom-text.ts';
import type { CartChange, CartPatch, CartRow, Prefetch } from '../../carts/cart.ts';
import { largestQuantity, quantityOfProduct } from '../../pricing/quantity.ts';
import { orderableStock } from '../../pricing/waiting.ts';
import { changeCart, loadVisitorCart, type Shopper, type VisitorCart } from '../../checkout/visitor-cart.ts';
import { setLocale } from '../../carts/changes.ts';
import type { Cart } from '../../carts/schema.ts';
import { addVisitorEvents, type VisitorEvent } from '../session.ts';
import type { Visit } from '../visit.ts';
import { findWishedIds } from '../wishlist/queries.ts';

/** The signed session names the cart, so the shopper needs no token. */
export function shopperOf({
  db,
  carts,
  placeOrder,
  appCalls: calls,
  shopId,
  origin,
  locale,
}: Visit): Shopper {
  return { db, carts, placeOrder, calls, shopId, origin, locale };
}

/** The visitor's cart. A cart that no longer exists is removed from the session. */
export async function findVisitorCart(visit: Visit): Promise<VisitorCart | undefined> {
  const { cart } = visit.session;
  if (!cart) return undefined;
  const visitorCart = await loadVisitorCart(shopperOf(visit), cart.id);
  if (!visitorCart) {
    visit.updateSession({ cart: undefined });
    return undefined;
  }
  setSessionCart(visit, visitorCart.view);
  return { ...visitorCart, view: await markWishlistItems(visit, visitorCart.view) };
}

/** Marks the lines whose product is on the wish list, which the cart itself does not know. */
async function markWishlistItems(visit: Visit, cart: Cart): Promise<Cart> {
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

/** Changes a cart of the session and sets it to the visitor's language and prices. undefined: it no longer exists. */
export function updateVisitorCart(
  visit: Visit,
  cartId: string,
  change: CartChange,
  prefetch: Prefetch = {},
): Promise<Cart | undefined> {
  const inLanguage: CartChange = (cart, context) => ({
    ...termsOf(visit, cart),
    ...change(cart, context),
    ...setLocale(visit.locale),
  });
  return changeCart(shopperOf(visit), cartId, inLanguage, prefetch);
}

/** Sets a cart to the prices that the visitor sees. Prices that an app has set stay in the terms of the cart. */
function termsOf({ priceView, account, settings }: Visit, cart: CartRow): CartPatch {
  const hasOwnPrices =
    cart.taxType === 'NONE' ||
    cart.shippingPrice !== null ||
    cart.paymentPrice !== null ||
    cart.lines.some(({ price }) => price !== undefined);
  return {
    ...(!hasOwnPrices && { taxType: priceView.taxType ?? settings.taxModel }),
    ...(priceView.customerGroupId !== undefined && {
      customerId: account!.customer!.customerId,
      customerGroupId: priceView.customerGroupId,
    }),
  };
}

/** The terms of a visitor's new cart. */
export function newCartTerms({ currency, locale, priceView, account }: Visit) {
  const { taxType, customerGroupId } = priceView;
  return {
    currency,
    locale,
    ...(taxType !== undefined && { taxType }),
    ...(customerGroupId !== undefined && { customerId: account!.customer!.customerId }),
  };
}

/** Stores the id of the cart and the count for the header in the session. */
export function setSessionCart(visit: Visit, cart: Cart, ...events: VisitorEvent[]): void {
  const { cart: before } = visit.session;
  const { copyOf, shown } = before?.id === cart.cartId ? before : {};
  visit.updateSession({
    cart: {
      id: cart.cartId,
      count: countPieces(cart),
      ...(copyOf !== undefined && { copyOf }),
      ...(shown !== undefined && { shown }),
    },
  });
  if (events.length === 0) return;
  visit.updateSession({ visitorEvents: addVisitorEvents(visit.session, ...events) });
}

const MAX_NAME_LENGTH = 80;

/** Shortens a name for a notice, because the cookie holds the notice. */
export function shortName(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…` : name;
}

/** Counts pieces; a product that is sold by the metre counts once. */
function countPieces({ lineItemContainer }: Cart): number {
  return lineItemContainer.productLineItems.reduce(
    (count, { quantity: { amount } }) => count + (Number.isInteger(amount) ? amount : 1),
    0,
  );
}

/** Why a cart can't be ordered, regardless of the checkout's input. */
export type Obstacle = 'empty' | 'minimum' | 'product' | 'delivery' | 'address';

export function checkoutObstacle({ priced, settings, hasDeliveryApps }: VisitorCart): Obstacle | undefined {
  const { totals, content } = priced;
  const { delivery, minimum } = totals;
  if (content.lines.length === 0) return 'empty';
  if (!minimum.isReached) return 'minimum';
  // What apps offer is known in the checkout, when they are asked.
  if (delivery.isUndeliverable && !hasDeliveryApps) return 'address';
  const isArranged = settings.shippingMethods.length === 0 || hasDeliveryApps;
  if (delivery.isNeeded && !delivery.method && !isArranged) return 'delivery';
  const context = { priced, settings };
  const isRefused = soldUnits(priced).some(
    (unit) =>
      insufficientStock(unit, context) !== undefined ||
      exceededLimit(unit, context) !== undefined ||
      textProblem(unit) !== undefined,
  );
  return isRefused ? 'product' : undefined;
}

/** Why the text of this line can no longer be ordered: the merchant may have changed the rules for it. */
export function textProblem({ line, product }: SoldUnit): CustomTextProblem | undefined {
  return customTextProblem(product.customisation, line.customText);
}

/** How much of this line can be ordered, if it is less than all lines with its products hold. */
export function insufficientStock(
  { line, goods }: SoldUnit,
  { priced, settings }: Pick<VisitorCart, 'priced' | 'settings'>,
): number | undefined {
  const { lines } = priced.content;
  const left = goods.flatMap(({ line: part, product }) => {
    const { productId } = product;
    const stock = orderableStock(product, settings, priced.now);
    if (stock === null || stock >= quantityOfProduct(lines, productId)) return [];
    const isPart = part.bundleId !== undefined;
    return isPart ? Math.floor(stock / quantityInBundle(part, line)) : stock;
  });
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left));
}

/** The largest quantity of the product of this line in one order, if it is less than all lines with it hold. */
export function exceededLimit(
  { line: { productId }, product }: SoldUnit,
  { priced, settings }: Pick<VisitorCart, 'priced' | 'settings'>,
): number | undefined {
  const limit = largestQuantity(product.facts, settings);
  const ordered = quantityOfProduct(shownLines(priced.content), productId);
  return limit !== null && limit < ordered ? limit : undefined;
}
