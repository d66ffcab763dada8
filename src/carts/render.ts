import { anyText } from '../catalogue/products/render.ts';
import { toSeconds } from '../http/dates.ts';
import { storefrontUrl } from '../http/links.ts';
import type { Call } from '../http/operation.ts';
import { priceOf } from '../http/price.ts';
import { etagOf } from '../http/raw-json.ts';
import { refusalMessage } from '../http/refusals.ts';
import type { Link } from '../http/schemas.ts';
import {
  type RenderContext,
  apiOf,
  lineItemContainer,
  paymentData,
  shippingData,
  shippingLink,
} from '../orders/render.ts';
import type { Content } from '../pricing/content.ts';
import type { Delivery } from '../pricing/delivery.ts';
import { LIFETIME, type PricedCart, type StoredCart } from './cart.ts';
import { pickupToken } from './pickup-token.ts';

import type { Cart } from './schema.ts';

export interface CartAnswer {
  origin: string;
  /** Language of names and prices; by default that of the cart. */
  locale?: string;
  status?: Cart['status'];
  /**
   * Includes the token that opens the cart in the shop, and so gives access to it: only for callers who have shown the
   * cart token, and for the app that made the cart.
   */
  hasPickup: boolean;
}

/** The cart as answers show it; the keys stand in the order of `Cart`. */
export function toCart(
  { cart, settings, priced: { content, totals } }: PricedCart,
  { origin, locale = cart.locale, status, hasPickup }: CartAnswer,
): Cart {
  const context = { locale, origin, settings };
  const token = hasPickup ? pickupToken(cart, new Date(cart.changedAt.getTime() + LIFETIME)) : '';
  const pickup = hasPickup ? `?cart=${cart.cartId}&PickupToken=${encodeURIComponent(token)}` : '';
  const storefront = storefrontUrl(origin, settings);
  // Limits are compared in the shop's tax model, so they are shown in it.
  const { currency, taxType, shopTaxModel = taxType } = content;
  const price = (minor: number) => priceOf(minor, currency, shopTaxModel, locale);
  return {
    cartId: cart.cartId,
    billingAddress: cart.billingAddress,
    shippingAddress: cart.shippingAddress,
    lineItemContainer: lineItemContainer(content, context),
    shippingData: shippingData(content, context),
    paymentData: paymentData(content, context),
    minimumCart: {
      status: totals.minimum.isReached,
      code: settings.minimumCartCode,
      amount: totals.minimum.amount === null ? null : price(totals.minimum.amount),
    },
    pickupToken: token,
    creationDate: toSeconds(cart.createdAt),
    checkoutUrl: `${storefront}/checkout${pickup}`,
    registerSessionUrl: `${storefront}/cart${pickup}`,
    ...(status === undefined ? {} : { status }),
    cartValidation: {
      possibleShippingMethods: totals.delivery.possible.map(
        (method) => anyText(method.name, locale, settings.defaultLocale) ?? method.key,
      ),
    },
    potentialBasketDiscounts: totals.offers.map(({ minimumAmount, absolute: amount, percent }) => ({
      absolute: amount === undefined ? null : price(amount),
      minimumAmount: price(minimumAmount),
      percent: percent === undefined ? null : { percentage: percent / 100, formatted: `${percent / 100} %` },
    })),
    links: cartLinks(cart, content, context),
  };
}

/**
 * The answer to the caller of a cart. A header holds the value that the contract's form has no place for: the chosen
 * shipping method does not deliver to the address, or none does.
 */
export function answerCart(
  { origin, header }: Pick<Call<unknown, unknown, unknown>, 'origin' | 'header'>,
  cart: PricedCart,
  status?: Cart['status'],
): Cart {
  const problem = deliveryProblem(cart.cart, cart.priced.totals.delivery);
  if (problem) header('x-warning', `${problem}: ${refusalMessage(problem, {})}`);
  return toCart(cart, { origin, hasPickup: true, ...(status !== undefined && { status }) });
}

/** Why the goods can't be delivered as chosen; an order would be refused for the same reason. */
export function deliveryProblem(
  { deliveryOption }: Pick<StoredCart, 'deliveryOption'>,
  { isUndeliverable, unavailable }: Pick<Delivery, 'isUndeliverable' | 'unavailable'>,
): 'ADDRESS_UNDELIVERABLE' | 'SHIPPING_METHOD_ELSEWHERE' | 'DELIVERY_OPTION_OUTDATED' | undefined {
  if (unavailable && unavailable.shippingMethodId === deliveryOption?.shippingMethodId)
    return 'DELIVERY_OPTION_OUTDATED';
  if (isUndeliverable) return 'ADDRESS_UNDELIVERABLE';
  return unavailable ? 'SHIPPING_METHOD_ELSEWHERE' : undefined;
}

/**
 * The ETag of a cart: everything that its GET answers. The note of a change whether everything was added is not part
 * of it. Where custom fields are shown, they have a part of their own, after a full stop.
 */
export function cartEtag({ status: _status, fields, ...cart }: Cart): string {
  if (!fields) return `"${etagOf(JSON.stringify(cart))}"`;
  const { lineItemContainer } = cart;
  const lines = lineItemContainer.productLineItems.map(({ fields: _fields, ...line }) => line);
  const plain = { ...cart, lineItemContainer: { ...lineItemContainer, productLineItems: lines } };
  const shown = [fields, ...lineItemContainer.productLineItems.map((line) => line.fields)];
  return `"${etagOf(JSON.stringify(plain))}.${etagOf(JSON.stringify(shown))}"`;
}

/** The header If-Match without the parts of custom fields: they do not decide whether a cart is ordered. */
export function withoutFieldTags(ifMatch: string | undefined): string | undefined {
  return ifMatch?.replaceAll(/"[^"]*"/g, (tag) => tag.replace(/\.[^"-]*/, ''));
}

/** Describes the ETag for all operations that answer with a cart. */
export const CART_ETAG = {
  etag: cartEtag,
  answerHeaders: {
    ETag: 'The cart as it is shown here: send it as `If-Match` to order exactly this.',
    'X-Warning':
      "Why the cart can't be delivered as chosen, for which an order would be refused: `ADDRESS_UNDELIVERABLE`, `SHIPPING_METHOD_ELSEWHERE` when the chosen shipping method does not deliver to the address, or `DELIVERY_OPTION_OUTDATED` when the chosen option of an app was offered for other goods or another address.",
  },
} as const;

function cartLinks({ cartId }: StoredCart, { shipping, coupon }: Content, context: RenderContext): Link[] {
  const base = apiOf(context);
  const self = `${base}/carts/${cartId}`;
  return [
    { rel: 'self', href: self },
    ...shippingLink(shipping, base),
    coupon
      ? { rel: 'remove-coupon', href: `${self}/coupon/${coupon.couponLineItemId}` }
      : { rel: 'add-coupon', href: `${self}/coupon` },
  ];
}
