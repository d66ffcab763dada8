import { productLabel } from '../pricing/cart-product.ts';
import { dayAt } from '../catalogue/products/backorders.ts';
import { customTextProblem } from '../catalogue/products/custom-text.ts';
import { invalid, Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { formatMoney } from '../kernel/money.ts';
import { cartDelivery } from './cart-delivery.ts';
import type { Placement } from './placement.ts';
import { paymentWaitOf } from '../orders/order-state.ts';
import type { OrderRow } from '../orders/queries.ts';
import { releaseTime } from '../orders/release-unpaid.ts';
import { STATES, type State } from '../orders/schema.ts';
import { isPossibleValue } from '../giftcards/wish.ts';
import { destinationOf, wantedValue } from '../pricing/content.ts';
import { soldUnits } from '../pricing/shown-lines.ts';
import { largestQuantity, quantityOfProduct } from '../pricing/quantity.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { PricedCart, StoredCart } from '../carts/cart.ts';
import { deliveryProblem } from '../carts/render.ts';
import type { CardPayment } from '../giftcards/card.ts';
import type { NewOrder } from '../orders/insert-orders.ts';

/** A cart with what its gift cards pay. */
export type OrderableCart = PricedCart & { giftCards: readonly CardPayment[] };

/** The order that a cart becomes; refused when required data is missing. */
export function newOrder(priced: OrderableCart, now: Date, appId: string | null): NewOrder {
  const { cart, settings } = priced;
  const { content, totals } = priced.priced;
  const { billingAddress } = cart;
  // If an app made the cart, its right to leave out the tax was checked then.
  if (cart.taxType === 'NONE' && cart.appId === null) {
    throw new Refusal('TAX_FREE_NOT_ALLOWED');
  }
  if (billingAddress === null) {
    throw new Refusal('BILLING_ADDRESS_MISSING');
  }
  if (!isDelivered(cart, settings)) {
    const address = cart.shippingAddress ? 'shippingAddress' : 'billingAddress';
    throw invalid('UNKNOWN_VALUE', `${address}.country`);
  }
  if (!settings.currencies.includes(cart.currency)) {
    throw new Refusal('CURRENCY_ENDED', { currency: cart.currency });
  }
  const { minimum, delivery } = totals;
  if (!minimum.isReached) {
    throw new Refusal('MINIMUM_NOT_REACHED', {
      minimum: formatMoney(minimum.amount!, cart.currency, cart.locale),
    });
  }
  // The first of the other methods may be dearer, and the customer has not chosen it.
  const undelivered = deliveryProblem(cart, delivery);
  if (undelivered) throw new Refusal(undelivered);
  if (delivery.isNeeded && !delivery.method && settings.shippingMethods.length > 0) {
    throw new Refusal('NO_SHIPPING_METHOD');
  }
  const cartLines = new Map(cart.lines.map((line) => [line.lineItemId, line]));
  // The shop may have set the limits after the line was added.
  const sold = soldUnits(priced.priced);
  const soldLines = sold.map(({ line }) => line);
  for (const { line, product } of sold) {
    const { productId, customText } = line;
    const problem = customTextProblem(product.customisation, customText);
    if (problem)
      throw new Refusal('CUSTOM_TEXT_NOT_POSSIBLE', { product: productLabel(product, settings), problem });
    const wanted = wantedValue(cartLines.get(line.lineItemId) ?? {}, product, cart.currency);
    if (wanted !== null && !isPossibleValue(wanted, product, cart.currency, settings))
      throw new Refusal('GIFT_CARD_VALUE_NOT_POSSIBLE', { product: productLabel(product, settings) });
    const max = largestQuantity(product.facts, settings);
    if (max !== null && quantityOfProduct(soldLines, productId) > max) {
      throw new Refusal('ORDER_LIMIT_EXCEEDED', { limit: max, product: productLabel(product, settings) });
    }
  }
  if (content.coupon?.problems.includes('ValidCouponCountReached')) throw new Refusal('COUPON_USED_UP');
  const counted = (content.promotions ?? []).flatMap(({ isCounted, promotionId }) =>
    isCounted ? promotionId : [],
  );
  if (priced.giftCards.some(({ isRedeemable }) => !isRedeemable)) throw new Refusal('GIFT_CARD_CHANGED');
  const days = delivery.method && cartDelivery(priced, delivery.method, now);
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
    buyer: cart.buyer,
    content: days ? { ...content, expectedDelivery: days } : content,
    // A billing address is never stored without one.
    email: billingAddress.emailAddress!,
    customerId: cart.customerId,
    newCustomerId: newId(now),
    appId,
    assistantSessionId: cart.assistantSessionId,
    couponCodeKey: content.coupon?.terms ? content.coupon.codeKey : null,
    ...(counted.length > 0 && {
      limitedPromotions: settings.promotions.filter(({ promotionId }) => counted.includes(promotionId)),
    }),
    giftCards: priced.giftCards.filter(({ amount }) => amount > 0),
    beyondStock: settings.sellBeyondStock,
    today: dayAt(now, settings.deliveryTimes.timeZone),
    lowStockLevel: settings.lowStockLevel,
    releaseAt: releaseTime(content, settings, now),
    paymentWait: paymentWaitOf(content, settings),
    hasCartFields: settings.customFields.some(
      ({ resource }) => resource === 'cart' || resource === 'cartLine',
    ),
  };
}

/** Addresses may be anywhere in the world, but orders ship only to the countries of the shop. */
export function isDelivered(
  cart: Pick<StoredCart, 'billingAddress' | 'shippingAddress'>,
  { countries }: Pick<Settings, 'countries'>,
): boolean {
  const { country } = destinationOf(cart);
  return country === null || countries.includes(country);
}

/** Why an order was not placed although its cart is unchanged. */
export function shortage(
  { shortIds, isCardShort }: Pick<Placement, 'shortIds' | 'isCardShort'>,
  { priced, settings }: PricedCart,
): Refusal {
  if (shortIds.length === 0) {
    if (isCardShort) return new Refusal('GIFT_CARD_CHANGED');
    return new Refusal(priced.content.coupon?.terms ? 'COUPON_USED_UP' : 'PROMOTION_USED_UP');
  }
  const names = priced.products
    .filter(({ productId }) => shortIds.includes(productId))
    .map((product) => productLabel(product, settings));
  return new Refusal('OUT_OF_STOCK', { products: names });
}

/** The order as it is stored now; no state is reached yet. */
export function placedOrder(order: NewOrder, placement: Placement): OrderRow {
  return {
    ...order,
    ...(Object.fromEntries(STATES.map((state) => [state, null])) as Record<State, null>),
    ...placement.states,
    orderNumber: placement.orderNumber!,
    createdAt: placement.createdAt!,
    customerId: placement.customerId!,
    customerNumber: placement.customerNumber!,
    updatedAt: null,
    currency: order.content.currency,
    customerComment: null,
    internalNote: null,
  };
}
