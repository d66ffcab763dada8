import { anyText } from '../catalogue/products/render.ts';
import { toSeconds } from '../http/dates.ts';
import { storefrontUrl } from '../http/links.ts';
import { priceOf } from '../http/price.ts';
import type { Link } from '../http/schemas.ts';
import {
  apiOf,
  lineItemContainer,
  paymentData,
  shippingData,
  shippingLink,
  type RenderContext,
} from '../orders/line-item-view.ts';
import type { Content, PricedContent } from '../pricing/content.ts';
import { pickupToken } from './pickup-token.ts';
import { LIFETIME, type StoredCart } from './queries.ts';
import type { Cart } from './schema.ts';

export interface CartTextOptions {
  status?: Cart['status'];
  /**
   * With the token that opens the cart in the shop, and so lets read and change it: only for callers who have shown
   * the token of the cart, and for the app that made it.
   */
  hasPickup: boolean;
}

/** The answer's text, key by key as in `Cart`: the addresses are JSON already. */
export function cartText(
  cart: StoredCart,
  { content, totals }: PricedContent,
  look: RenderContext,
  { status, hasPickup }: CartTextOptions,
): string {
  const { locale, settings } = look;
  const token = hasPickup ? pickupToken(cart, new Date(cart.changedAt.getTime() + LIFETIME)) : '';
  const pickup = hasPickup ? `?cart=${cart.cartId}&PickupToken=${encodeURIComponent(token)}` : '';
  const storefront = storefrontUrl(look.origin, settings);
  // Limits are compared in the shop's tax model, so that is what they are said in.
  const { currency, taxType, shopTaxModel = taxType } = content;
  const price = (minor: number) => priceOf(minor, currency, shopTaxModel, locale);
  const rest: Omit<Cart, 'cartId' | 'billingAddress' | 'shippingAddress'> = {
    lineItemContainer: lineItemContainer(content, look),
    shippingData: shippingData(content, look),
    paymentData: paymentData(content, look),
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
    links: cartLinks(cart, content, look),
  };
  return (
    `{"cartId":"${cart.cartId}","billingAddress":${cart.billingAddress},` +
    `"shippingAddress":${cart.shippingAddress},${JSON.stringify(rest).slice(1)}`
  );
}

function cartLinks({ cartId }: StoredCart, { shipping, coupon }: Content, look: RenderContext): Link[] {
  const base = apiOf(look);
  const self = `${base}/carts/${cartId}`;
  return [
    { rel: 'self', href: self },
    ...shippingLink(shipping, base),
    coupon
      ? { rel: 'remove-coupon', href: `${self}/coupon/${coupon.couponLineItemId}` }
      : { rel: 'add-coupon', href: `${self}/coupon` },
  ];
}
