import type { AppCalls } from '../apps/calls/calls.ts';
import { askForDelivery, type OfferedDeliveries } from '../carts/delivery-options.ts';
import type { ShopDatabase } from '../db/database.ts';
import { findOrderOfCart } from '../orders/queries.ts';
import { findCardPayments } from '../carts/gift-cards.ts';
import type { CardPayment } from '../giftcards/card.ts';
import type { CartChange, Prefetch, PricedCart } from '../carts/cart.ts';
import { CartGone, type CartStore, type CartWriteRequest } from '../carts/cart-store.ts';
import type { Address } from '../shops/countries/address.ts';
import type { VatCheck } from '../shops/vat-numbers/buyer.ts';
import { newOrder } from './new-order.ts';
import type { PlaceOrder } from './order-cart.ts';
import { requiredConsents, withConsents, type ConsentKind } from './withdrawal-consent.ts';
import { toCart } from '../carts/render.ts';
import { NotAsReviewed, reviewDigest } from '../carts/review-digest.ts';
import type { Cart, NewCart } from '../carts/schema.ts';

/**
 * The cart of a visitor, by the rules of the API. Callers have checked that the visitor may use the cart: its id is in
 * a signed cookie.
 */
export interface Shopper {
  db: ShopDatabase;
  carts: CartStore;
  placeOrder: PlaceOrder;
  calls: AppCalls;
  shopId: string;
  /** Scheme and host. */
  origin: string;
  /** The language of the cart's view. */
  locale: string;
}

export interface VisitorCart extends PricedCart {
  /** Apps of the shop offer deliveries, which are known when they are asked. */
  hasDeliveryApps: boolean;
  /** What its gift cards pay. */
  giftCards: readonly CardPayment[];
  /** As the API shows it, in the shopper's locale. */
  view: Cart;
}

/** undefined: it has become an order, has expired, or never existed. */
export async function loadVisitorCart(shopper: Shopper, cartId: string): Promise<VisitorCart | undefined> {
  const { carts, calls, db, origin, locale } = shopper;
  const cart = await undefinedIfGone(carts.open(requestOf(shopper, cartId)));
  if (!cart) return undefined;
  const asked = await calls.asked(db, cart.settings, 'deliveryOptions');
  const view = toCart(cart, { origin, locale, hasPickup: false });
  const giftCards = await findCardPayments(db, shopper.shopId, cart);
  return { ...cart, view, giftCards, hasDeliveryApps: asked.length > 0 };
}

/** Asks the apps for the delivery methods of the cart. */
export function askVisitorDelivery(
  { calls, db, origin }: Shopper,
  cart: VisitorCart,
): Promise<OfferedDeliveries> {
  return askForDelivery(calls, cart, origin, db.now);
}

/** The cart after the change; undefined: it is gone. Refusals are thrown as the API would answer them. */
export async function changeCart(
  shopper: Shopper,
  cartId: string,
  change: CartChange,
  prefetch: Prefetch = {},
): Promise<Cart | undefined> {
  const { carts, origin } = shopper;
  const changed = await undefinedIfGone(carts.update(requestOf(shopper, cartId), change, prefetch));
  return changed && toCart(changed, { origin, hasPickup: false });
}

/** The register's answer about the VAT number of a new billing address; see the store of carts. undefined: nothing to check. */
export function checkVatNumber(
  shopper: Shopper,
  cartId: string,
  address: Pick<Address, 'vatId' | 'country'>,
): Promise<VatCheck | undefined> {
  return undefinedIfGone(shopper.carts.checkVatNumber(requestOf(shopper, cartId), address));
}

/**
 * Its token is never shown, because the visitor's cookie replaces it. `appId`: it replaces a cart that this app has
 * made.
 */
export async function startCart(
  { carts, shopId, origin }: Shopper,
  body: NewCart,
  appId: string | null = null,
): Promise<Cart> {
  const made = await carts.create({ shopId, body, caller: undefined, appId, origin });
  return toCart(made, { origin, status: made.status, hasPickup: false });
}

/**
 * The id of the order, also when another click was faster; undefined: the cart has expired without one. `reviewed` is
 * the digest of the cart that the shopper saw, `consents` are those that the shopper has given.
 */
export async function orderCart(
  shopper: Shopper,
  cartId: string,
  reviewed: string,
  consents: readonly ConsentKind[],
): Promise<string | undefined> {
  const { db, placeOrder, shopId, locale } = shopper;
  const placed = await undefinedIfGone(
    placeOrder({ ...requestOf(shopper, cartId), isConfirmed: true }, (cart, now) => {
      if (reviewed !== reviewDigest(cart.cart, cart.priced.content, cart.giftCards, cart.priced.waits))
        throw new NotAsReviewed();
      const given = requiredConsents(cart.priced.content, cart.settings, locale).filter(({ kind }) =>
        consents.includes(kind),
      );
      return withConsents(newOrder(cart, now, null), given);
    }),
  );
  return placed ? placed.order.orderId : (await findOrderOfCart(db, shopId, cartId))?.orderId;
}

function requestOf({ shopId, origin }: Shopper, cartId: string): CartWriteRequest {
  return {
    shopId,
    origin,
    params: { cartId },
    cartToken: undefined,
    isAdmitted: true,
    caller: undefined,
    transaction: undefined,
    entry: undefined,
  };
}

async function undefinedIfGone<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CartGone) return undefined;
    throw error;
  }
}
