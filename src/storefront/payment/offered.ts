import { isProviderName } from '../../orders/payments/providers.ts';
import type { PaymentMethod } from '../../shops/settings/settings.ts';
import type { Visit } from '../visit.ts';

/**
 * Whether visitors may choose a method: not while it lacks its data, because nobody could pay, and not the demo payment
 * where people other than its owner can order, except in a sandbox, where nobody buys.
 */
export function isOfferedHere(
  { payments, layout, settings }: Visit,
  { paymentMethodId, providerName }: PaymentMethod,
): boolean {
  if (!layout.completePayments.has(paymentMethodId)) return false;
  if (!isProviderName(providerName) || settings.sandbox) return true;
  return payments.providers[providerName].isAvailable !== false;
}
