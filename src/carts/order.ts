import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { Entry } from '../http/audit-entry.ts';
import { isDatabase, type Transaction } from '../db/database.ts';
import { badRequest, conflict, forbidden, HttpError, isRefusal } from '../http/errors.ts';
import { NeedsTransaction, type Operations } from '../http/operation.ts';
import { Rendered } from '../http/rendered.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { formatMoney } from '../kernel/money.ts';
import { placeTogether } from '../orders/place-together.ts';
import { placeOrder, type NewOrder, type PlacingOptions } from '../orders/place.ts';
import type { OrderRow } from '../orders/queries.ts';
import { orderText } from '../orders/render.ts';
import { Order, STATES, type State } from '../orders/schema.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { openCart, openCachedCart, pricedCart, type CartCall, type OpenCart } from './change.ts';
import { confirmation } from '../orders/confirmation-email.ts';
import type { Content, PricedContent } from '../pricing/content.ts';
import { productLabel } from '../catalogue/products/cart-product.ts';
import { dropCachedCart } from './cart-cache.ts';
import { rememberStock } from '../catalogue/products/cart-product-cache.ts';
import { largestQuantity } from '../pricing/quantity.ts';
import type { CartRow } from './queries.ts';
import { reviewDigest } from './review-digest.ts';

export function order(api: Operations): void {
  api.change(
    {
      method: 'POST',
      path: '/carts/:cartId/order',
      name: 'createOrder',
      summary: 'Create order',
      description:
        'Takes the goods from the stock and closes the cart, which is gone from then on. A body is ignored. 409: there is not enough of a product any more, an order may not hold so much of it, or the coupon is used up.',
      tag: 'carts',
      labels: ['Base', 'Now'],
      access: { cartTokenAnd: 'orders_write' },
      params: Type.Object({ cartId: Id }),
      status: 201,
      answer: Order,
      recordsItself: true,
      // Of two customers who got the same number at the same moment, one tries again.
      constraints: {
        customer_number: () => conflict('The order could not be numbered, try again'),
        customer_order_customer: () => conflict('The customer was erased in the meantime, try again'),
      },
    },
    createOrder,
  );
}

export type OrderCall = CartCall & {
  entry: Entry | undefined;
  /** The digest of what the shopper has reviewed; undefined: nobody has, an app orders. */
  reviewed?: string;
};

/** The cart is not what the shopper has reviewed. */
export class NotAsReviewed extends HttpError {
  constructor() {
    super(409, 'The cart has changed since it was reviewed');
  }
}

/** The statement that places orders has found the cart unchanged, and refused it. */
class NotPlaced extends HttpError {
  constructor(text: string) {
    super(409, text);
  }
}

/** Throws NeedsTransaction when somebody else has changed the cart in the meantime. */
export async function createOrder(call: OrderCall): Promise<Rendered> {
  const cached = openCachedCart(call);
  if (!cached) return ordered(call, await openCart(call));
  const { settingsVersion, products } = cached.cart;
  try {
    return await ordered(call, cached, { settingsVersion, products });
  } catch (error) {
    if (error instanceof NotPlaced || !(error instanceof NeedsTransaction || isRefusal(error))) throw error;
    // A cached copy may be stale, so a refusal is checked against the stored cart.
    const stored = await openCart(call);
    if (isRefusal(error) && isSame(stored.cart, cached.cart)) throw error;
    return await ordered(call, stored);
  } finally {
    dropCachedCart(call.db, call.shopId, cached.cart.cartId);
  }
}

/** Both are computed to the same: nothing that they are computed from has changed. */
function isSame(stored: CartRow, cached: CartRow): boolean {
  const stampsOf = ({ products }: CartRow) => products.map(({ versionStamp }) => versionStamp).toSorted();
  return (
    stored.version === cached.version &&
    stored.settingsVersion === cached.settingsVersion &&
    isDeepStrictEqual(stampsOf(stored), stampsOf(cached))
  );
}

/** Two statements with reading the cart. If somebody else has changed it in between, it begins anew with a lock. */
async function ordered(
  { db, shopId, origin, entry, reviewed }: OrderCall,
  open: OpenCart,
  expected?: PlacingOptions['expected'],
): Promise<Rendered> {
  const { settings } = open;
  const priced = pricedCart(open.cart, settings, db.now);
  if (reviewed !== undefined && reviewed !== reviewDigest(open.cart, priced.content)) {
    throw new NotAsReviewed();
  }
  const wanted = newOrder(open, priced, db.now, entry?.appId ?? null);
  const look = { locale: wanted.locale, origin, settings };
  const options = {
    mailId: newId(db.now),
    mail: { ...confirmation(wanted, look), shopId },
    entry: entry && { ...entry, object: { ...entry.object, orderId: wanted.orderId } },
    expected,
  };
  const { orderNumber, customerId, customerNumber, isCurrent, shortIds, left } = isDatabase(db)
    ? await placeTogether(db, shopId, { order: wanted, options })
    : await placeOrder(db as Transaction, shopId, wanted, options);
  if (!isCurrent) throw new NeedsTransaction();
  if (orderNumber === null) throw new NotPlaced(shortage(shortIds, priced, settings));
  rememberStock(db, shopId, left);

  const row: OrderRow = {
    ...wanted,
    ...(Object.fromEntries(STATES.map((state) => [state, null])) as Record<State, null>),
    orderNumber,
    customerId: customerId!,
    customerNumber: customerNumber!,
    updatedAt: null,
    currency: wanted.content.currency,
    customerComment: null,
    internalNote: null,
  };
  return new Rendered(orderText(row, look));
}

/** The order that this cart is to become; what is missing refuses it. */
export function newOrder(
  { cart, settings }: OpenCart,
  { content, totals, goods }: PricedContent,
  now: Date,
  appId: string | null,
): NewOrder {
  const { billingAddress } = cart;
  // Where an app made the cart, its right to leave out the tax was checked then.
  if (cart.taxType === 'NONE' && cart.appId === null) {
    throw forbidden(
      'Without tax only a cart can be ordered that an app with the scope carts_price_write has made',
    );
  }
  if (billingAddress === null) {
    throw badRequest('The cart has no billing address, set it with PUT billing-address');
  }
  if (!settings.currencies.includes(cart.currency)) {
    throw badRequest(`The shop does not sell in ${cart.currency} any more, make a new cart`);
  }
  const { minimum, delivery } = totals;
  if (!minimum.isReached) {
    const least = formatMoney(minimum.amount!, cart.currency, cart.locale);
    throw badRequest(`The cart does not reach the minimum of ${least}`);
  }
  if (delivery.isNeeded && !delivery.method && settings.shippingMethods.length > 0) {
    throw badRequest('There is no shipping method that all goods of the cart can be delivered by');
  }
  // The limit may have come after the line.
  for (const [index, { quantity }] of content.lines.entries()) {
    const product = goods[index]!;
    const most = largestQuantity(product.facts, settings);
    if (most !== null && Number(quantity) > most) {
      throw conflict(`No more than ${most} of ${productLabel(product, settings)} can be ordered at once`);
    }
  }
  if (content.coupon?.problems.includes('ValidCouponCountReached')) throw conflict(USED_UP);
  return {
    orderId: newId(now),
    createdAt: now,
    numberPrefix: `ORD${now.toISOString().slice(2, 10).replaceAll('-', '')}/`,
    cartId: cart.cartId,
    cartVersion: cart.version,
    cartTokenHash: cart.tokenHash,
    locale: cart.locale,
    taxModel: cart.taxType === 'NONE' ? settings.taxModel : cart.taxType,
    billingAddress,
    shippingAddress: cart.shippingAddress,
    content,
    email: (JSON.parse(billingAddress) as { emailAddress: string }).emailAddress,
    customerId: cart.customerId,
    newCustomerId: newId(now),
    appId,
    couponCodeKey: content.coupon?.codeKey ?? null,
    beyondStock: settings.sellBeyondStock,
    releaseAt: releaseTime(content, settings, now),
  };
}

/** When the order is cancelled if it is not paid, as its payment method says; null: never. */
function releaseTime({ payment, grandTotal }: Content, { paymentMethods }: Settings, now: Date): Date | null {
  const id = payment?.method?.paymentMethodId;
  const days = paymentMethods.find(({ paymentMethodId }) => paymentMethodId === id)?.releaseUnpaidAfterDays;
  // Nobody pays for an order that costs nothing.
  return days && grandTotal > 0 ? new Date(now.getTime() + days * DAY) : null;
}

const DAY = 86_400_000;

const USED_UP = 'The coupon is used up, delete it from the cart to order without it';

function shortage(shortIds: readonly string[], { goods }: PricedContent, settings: Settings): string {
  if (shortIds.length === 0) return USED_UP;
  const names = goods
    .filter(({ productId }) => shortIds.includes(productId))
    .map((one) => productLabel(one, settings));
  return `There is not enough in stock of ${names.join(', ')}`;
}
