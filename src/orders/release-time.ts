import type { Settings } from '../shops/settings/settings.ts';
import { providerMethodOf } from './payments/providers.ts';
import type { Content } from '../pricing/content.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Customers pay on the page of a provider at once, or come back soon. */
const PAID_WITHIN = 60 * MINUTE;

/** When an order is cancelled unless it is paid, according to its payment method, counted from `start`; null: never. */
export function releaseTime(
  content: Pick<Content, 'grandTotal' | 'payment'>,
  settings: Settings,
  start: Date,
): Date | null {
  // An order that costs nothing needs no payment.
  if (content.grandTotal <= 0) return null;
  const id = content.payment?.method?.paymentMethodId;
  const method = settings.paymentMethods.find(({ paymentMethodId }) => paymentMethodId === id);
  const { releaseUnpaidAfterMinutes: minutes, releaseUnpaidAfterDays: days } = method ?? {};
  if (minutes) return new Date(start.getTime() + minutes * MINUTE);
  if (days) return new Date(start.getTime() + days * DAY);
  return providerMethodOf(content, settings) ? new Date(start.getTime() + PAID_WITHIN) : null;
}
