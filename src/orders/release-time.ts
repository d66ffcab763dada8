import type { Settings } from '../shops/settings/settings.ts';
import { providerMethodOf } from './payments/providers.ts';
import type { Content } from './pricing/content.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Whoever pays on the page of a provider does so at once, or comes back soon. */
const PAID_WITHIN = 60 * MINUTE;

/** When an order is cancelled unless it is paid, as its payment method says, counted from `start`; null: never. */
export function releaseTime(
  content: Pick<Content, 'grandTotal' | 'payment'>,
  settings: Settings,
  start: Date,
): Date | null {
  // Nobody pays for an order that costs nothing.
  if (content.grandTotal <= 0) return null;
  const id = content.payment?.method?.paymentMethodId;
  const method = settings.paymentMethods.find(({ paymentMethodId }) => paymentMethodId === id);
  const { releaseUnpaidAfterMinutes: minutes, releaseUnpaidAfterDays: days } = method ?? {};
  if (minutes) return new Date(start.getTime() + minutes * MINUTE);
  if (days) return new Date(start.getTime() + days * DAY);
  return providerMethodOf(content, settings) ? new Date(start.getTime() + PAID_WITHIN) : null;
}
