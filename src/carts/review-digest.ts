import { createHash } from 'node:crypto';
import type { Content } from '../pricing/content.ts';
import { Refusal } from '../http/errors.ts';
import type { CardPayment } from '../giftcards/card.ts';
import type { Wait } from '../pricing/waiting.ts';
import type { StoredCart } from './cart.ts';

/** The cart differs from the reviewed one. */
export class NotAsReviewed extends Refusal<'CART_CHANGED'> {
  constructor() {
    super('CART_CHANGED');
  }
}

/**
 * A fingerprint of everything that a shopper reviews before the order: the lines, their destination, delivery, payment
 * and the total. The order form carries it, so only the content that was shown is ordered. Texts count in all
 * languages of the shop, because the language of a cart may be switched without changing the cart.
 */
export function reviewDigest(
  { billingAddress, shippingAddress }: Pick<StoredCart, 'billingAddress' | 'shippingAddress'>,
  content: Content,
  giftCards: readonly CardPayment[],
  waits: ReadonlyMap<string, Wait>,
): string {
  const { lines, coupon, shipping, payment } = content;
  const reviewed = {
    billingAddress,
    shippingAddress,
    lines: lines.map((line) => [
      line.productId,
      line.name,
      line.variation,
      line.quantity,
      line.unitPrice,
      line.quantityPrice,
      line.amount,
      line.deposit,
      line.ecoParticipation,
      line.taxClass.rate,
      ...(line.customText === undefined ? [] : [{ customText: line.customText }]),
      ...(line.giftCard ? [{ giftCard: line.giftCard }] : []),
      ...(line.withdrawalExcluded ? [line.withdrawalExcluded] : []),
    ]),
    ...(content.bundles && {
      bundles: content.bundles.map(({ productId, name, customText }) => [productId, name, customText]),
    }),
    subTotal: content.subTotal,
    basketDiscount: content.basketDiscount,
    coupon: coupon && [coupon.couponCampaignId, coupon.amount],
    shipping: shipping && [
      shipping.shippingMethodId,
      shipping.name,
      shipping.price,
      ...(shipping.pickup ? [shipping.pickup] : []),
      ...(shipping.option ? [shipping.option] : []),
    ],
    payment: payment && [
      payment.method && [payment.method.paymentMethodId, payment.method.name],
      payment.name,
      payment.price,
    ],
    // A VAT number that was confirmed, or is no longer, changes why something is taxed.
    taxes: content.taxes.map(({ rate, treatment, amount, tax }) => [rate, treatment, amount, tax]),
    totalTax: content.totalTax,
    grandTotal: content.grandTotal,
    ...(giftCards.length > 0 && {
      giftCards: giftCards.map(({ giftCardId, amount }) => [giftCardId, amount]),
    }),
    // What was in stock may have been sold since: then the customer sees that it has to be waited for.
    ...(waits.size > 0 && { waits: [...waits.values()] }),
    currency: content.currency,
    taxType: content.taxType,
  };
  return createHash('sha256').update(JSON.stringify(reviewed, withSortedKeys)).digest('base64url');
}

/** Equal content gives equal text, in any order of keys. */
function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
