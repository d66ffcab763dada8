import type { Static } from 'typebox';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { findPromotionByCode } from '../pricing/cart-promotions.ts';
import { contentOf } from '../pricing/content.ts';
import type { DeliveryOption } from '../pricing/input.ts';
import { toAddress, type AddressRequest } from '../shops/countries/address.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { emptyToNull, type Buyer, type VatCheck } from '../shops/vat-numbers/buyer.ts';
import { isCheckOf } from '../shops/vat-numbers/register.ts';
import type { CartContext, CartPatch, CartRow, StoredCart } from './cart.ts';
import { UnknownCoupon } from './coupon-limit.ts';
import type { PaymentUpdate, ShippingUpdate } from './schema.ts';
import { amountOf, MAX_MINOR } from '../http/request-fields.ts';

/** Decisions about everything in a cart except its lines, for the API and the storefront alike. */

type AddressKey = 'billingAddress' | 'shippingAddress';

/** The required fields of this address of a cart. */
export function requiredFields(key: AddressKey, { mandatoryAddressFields }: Settings): string[] {
  return key === 'billingAddress' ? ['country', 'emailAddress', ...mandatoryAddressFields] : ['country'];
}

/**
 * Replaces the whole address. The VAT number of the billing address is the one that counts: `vatCheck` is what the
 * register has said of it just now. `at` is the key that held the address in the request, '' for the whole body.
 */
export function setAddress(
  key: AddressKey,
  sent: Static<typeof AddressRequest>,
  { buyer }: Pick<StoredCart, 'buyer'>,
  { settings }: Pick<CartContext, 'settings'>,
  vatCheck?: VatCheck,
  at = '',
): CartPatch {
  const address = toAddress(sent, at, requiredFields(key, settings));
  if (key === 'shippingAddress') return { shippingAddress: address };
  const check = [vatCheck, buyer?.vatCheck].find((one) => one && isCheckOf(one, address));
  return { billingAddress: address, ...setVatCheck(buyer, check) };
}

export function removeAddress(key: AddressKey, { buyer }: Pick<StoredCart, 'buyer'>): CartPatch {
  return { [key]: null, ...(key === 'billingAddress' && setVatCheck(buyer, undefined)) };
}

/** A cart without a check stays as it is, so nothing is written for the many that have none. */
export function setVatCheck(buyer: Buyer | null, vatCheck: VatCheck | undefined): Pick<CartPatch, 'buyer'> {
  if (buyer?.vatCheck === vatCheck) return {};
  const { vatCheck: _before, ...kept } = buyer ?? {};
  return { buyer: emptyToNull(vatCheck ? { ...kept, vatCheck } : kept) };
}

/** Adds the coupon, whose code must be prefetched, or the code of a promotion, or replaces another one with it. */
export function applyCoupon({ coupon }: CartRow, codeKey: string, { now, settings }: CartContext): CartPatch {
  if (coupon?.codeKey !== codeKey && !findPromotionByCode(codeKey, settings)) throw new UnknownCoupon();
  return { couponLineItemId: newId(now), couponCodeKey: codeKey };
}

/** Without an id it removes any coupon. */
export function removeCoupon(cart: CartRow, couponLineItemId = cart.couponLineItemId): CartPatch {
  if (cart.couponLineItemId !== couponLineItemId) throw notFound('couponLineItemId');
  return { couponLineItemId: null, couponCodeKey: null };
}

/** Chooses one of the payment methods of the shop. */
export function choosePayment(
  id: string,
  { transactionId, status }: Pick<Static<typeof PaymentUpdate>, 'transactionId' | 'status'>,
  { settings }: CartContext,
): CartPatch {
  const paymentMethodId = id.toUpperCase();
  const isKnown = settings.paymentMethods.some((method) => method.paymentMethodId === paymentMethodId);
  if (!isKnown) throw invalid('UNKNOWN_VALUE', 'id');
  return {
    paymentMethodId,
    paymentTransactionId: transactionId ?? null,
    paymentStatus: status ?? null,
    paymentName: null,
    paymentPrice: null,
  };
}

/** Sets a payment outside the methods of the shop, with its own price, which may be a discount. */
export function setPayment(
  { currency }: CartRow,
  { name, priceAmount }: Pick<Static<typeof PaymentUpdate>, 'name' | 'priceAmount'>,
): CartPatch {
  if (!name?.trim()) throw invalid(name === undefined ? 'MISSING' : 'STRING_EMPTY', 'name');
  return {
    paymentMethodId: null,
    paymentTransactionId: null,
    paymentStatus: null,
    paymentName: name,
    paymentPrice: amountOf(priceAmount ?? 0, currency, 'priceAmount', { min: -MAX_MINOR }),
  };
}

/** Chooses a shipping method that can deliver everything in the cart, or what an app offers for it. */
export function chooseShipping(
  cart: CartRow,
  { id, priceAmount }: Static<typeof ShippingUpdate>,
  { settings, now }: CartContext,
  options: readonly DeliveryOption[] = [],
): CartPatch {
  const shippingMethodId = id.toUpperCase();
  const deliveryOption = options.find((option) => option.shippingMethodId === shippingMethodId) ?? null;
  const isKnown = settings.shippingMethods.some((method) => method.shippingMethodId === shippingMethodId);
  if (!isKnown && !deliveryOption) throw invalid('UNKNOWN_VALUE', 'id');
  const chosen = { ...cart, shippingMethodId, deliveryOption };
  const { isNeeded, possible, unavailable } = contentOf(chosen, settings, now).totals.delivery;
  if (unavailable) {
    throw new Refusal(deliveryOption ? 'DELIVERY_OPTION_OUTDATED' : 'SHIPPING_METHOD_ELSEWHERE');
  }
  if (isNeeded && !possible.some((method) => method.shippingMethodId === shippingMethodId)) {
    throw new Refusal('SHIPPING_METHOD_NOT_POSSIBLE');
  }
  const hasPrice = priceAmount !== null && priceAmount !== undefined;
  return {
    shippingMethodId,
    deliveryOption,
    shippingPrice: hasPrice ? amountOf(priceAmount, cart.currency, 'priceAmount') : null,
  };
}

/** The confirmation and the order are written in the language of the shopper. */
export function setLocale(locale: string): CartPatch {
  return { locale };
}
