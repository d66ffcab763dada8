import { newId } from '../kernel/ids.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { orderConfirmation } from './confirmation-email.ts';
import { newOrderEmail } from './new-order-email.ts';
import type { QueuedEmail } from '../platform/email/queue.ts';
import type { NewOrder } from './insert-orders.ts';

/** The content of the email is read when it is sent, so placing an order does not wait for it. */
export interface PlacedEmail {
  id: string;
  content: QueuedEmail<{ orderId: string }>;
}

/** The emails about a placed order: to the customer, and to a merchant who wants to know at once. */
export function placedEmails(
  { orderId, email, locale }: Pick<NewOrder, 'orderId' | 'email' | 'locale'>,
  { shopId, email: shopEmail, defaultLocale, emailNewOrders }: Settings,
  now: Date,
): PlacedEmail[] {
  const facts = { orderId };
  const toCustomer = { shopId, template: orderConfirmation.name, to: email, locale, facts };
  const toMerchant = { shopId, template: newOrderEmail.name, to: shopEmail, locale: defaultLocale, facts };
  return [toCustomer, ...(emailNewOrders ? [toMerchant] : [])].map((content) => ({
    id: newId(now),
    content,
  }));
}
