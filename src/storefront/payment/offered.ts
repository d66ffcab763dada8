import { isProviderName } from '../../orders/payments/providers.ts';
import type { PaymentMethod } from '../../shops/settings/settings.ts';
import type { Visit } from '../visit.ts';

/**
 * Whether visitors may choose a method: not while it lacks its data, because nobody could pay, and not the demo payment
 * where people other than its owner can order.
 */
export function isOfferedHere(
  { payments, layout }: Visit,
  { paymentMethodId, providerName }: PaymentMethod,
): boolean {
  if (!layout.completePayments.has(paymentMethodId)) return false;
  return !isProviderName(providerName) || payments.providers[providerName].isAvailable !== false;
}
