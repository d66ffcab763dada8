import { moneyText } from '../http/price-text.ts';
import type { Transaction } from '../db/database.ts';
import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { emailAddressOf, ORDER_EMAIL, SAMPLE_ORDER, sampleMoney, unbroken } from './order-email.ts';
import type { ManagedOrder } from './queries.ts';

/** Why an order was cancelled; the words are `email.cancelled.causes` of the message catalogue. */
export type CancelCause = keyof Messages['email']['cancelled']['causes'];

/** An order was cancelled. The merchant's note about it is for the shop, so it is not among the facts. */
export interface OrderCancelled {
  orderId: string;
  orderNumber: string;
  cause: CancelCause;
  /** The amount paid and not yet refunded; null: none. */
  paid: string | null;
}

export const cancelEmail: EmailKind<OrderCancelled, EmailMessages & Messages['email']['cancelled']> = {
  ...ORDER_EMAIL,
  name: 'cancelled',
  occasion: 'To the customer, when the order was cancelled.',
  example: { en_GB: { subject: 'Order {orderNumber} is cancelled' } },
  // A stranger can order with another person's address and let the orders lapse.
  isLimited: true,
  isAlwaysSent: ({ cause }) => cause === 'merchant',
  sample: (locale) => ({ ...SAMPLE_ORDER, cause: 'merchant', paid: sampleMoney(3_000, locale) }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    cause: {
      meaning: 'Why it was cancelled, as a sentence.',
      value: ({ cause }, _, { causes }) => causes[cause],
    },
    paid: {
      meaning: 'What was paid and will be refunded; nothing if nothing was paid.',
      value: ({ paid }) => paid && unbroken(paid),
    },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.cancelled }),
};

/** Tells the customer that the order was cancelled. */
export async function queueOrderCancelled(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  cause: CancelCause,
): Promise<void> {
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const { orderId, orderNumber, currency, locale, paidAmount, refundedAmount } = order;
  const left = paidAmount - refundedAmount;
  const paid = left > 0 ? moneyText(left, currency, locale) : null;
  await queueEmails(tx, shopId, cancelEmail, [{ to, locale, facts: { orderId, orderNumber, cause, paid } }]);
}
