import type { PricedCart } from '../../carts/cart.ts';
import { payableOf } from '../../orders/manage-change.ts';
import { isPayable, type Payable } from '../../orders/payments/app-methods.ts';
import { isProviderName } from '../../orders/payments/providers.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import type { PaymentMethod } from '../../shops/settings/settings.ts';
import type { Visit } from '../visit.ts';

/**
 * Whether visitors may choose a method: not while it lacks its data, because nobody could pay, and not the demo payment
 * where people other than its owner can order, except in a sandbox, where nobody buys. An app limits what can be paid:
 * without `payable`, a later step looks at that.
 */
export function isOfferedHere(
  { payments, layout, settings }: Visit,
  { paymentMethodId, providerName }: PaymentMethod,
  payable?: Payable,
): boolean {
  if (!layout.completePayments.has(paymentMethodId)) return false;
  const limits = layout.appPayments.get(paymentMethodId);
  if (limits && payable && !isPayable(limits, payable)) return false;
  if (!isProviderName(providerName) || settings.sandbox) return true;
  return payments.providers[providerName].isAvailable !== false;
}

/** What the payment of a cart is about. */
export const payableOfCart = ({ cart, priced }: Pick<PricedCart, 'cart' | 'priced'>): Payable => ({
  amount: priced.totals.grandTotal,
  currency: cart.currency,
  country: cart.billingAddress?.country ?? undefined,
});

/** The amount left to pay of an order. */
export const payableOfOrder = (order: ManagedOrder): Payable => ({
  amount: payableOf(order),
  currency: order.currency,
  country: order.billingAddress.country ?? undefined,
});
