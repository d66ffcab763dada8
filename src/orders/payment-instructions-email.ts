import type { Transaction } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import type { EmailKind } from '../platform/email/kind.ts';
import { EMAIL_QUEUE, type QueuedEmail } from '../platform/email/queue.ts';
import { queueJobs } from '../platform/jobs/queue.ts';
import {
  loadOrder,
  ORDER_PLACED_PLACEHOLDERS,
  samplePlaced,
  transferSection,
  type OrderPlaced,
  type OrderWords,
} from './confirmation-email.ts';
import { emailAddressOf, ORDER_EMAIL } from './order-email.ts';
import type { ManagedOrder } from './queries.ts';

export const paymentInstructionsEmail: EmailKind<OrderPlaced, OrderWords> = {
  ...ORDER_EMAIL,
  name: 'paymentInstructions',
  occasion: 'To the customer, who has chosen another way to pay an order, such as a bank transfer.',
  example: { en_GB: { text: 'Please transfer {total} for {orderNumber}.' } },
  // A holder of the link to an order can choose again and again.
  isLimited: true,
  sample: samplePlaced,
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    total: ORDER_PLACED_PLACEHOLDERS.total,
    paymentMethod: ORDER_PLACED_PLACEHOLDERS.paymentMethod,
  },
  sections: transferSection,
  messages: (email) => ({ ...email.aboutOrder, ...email.order, ...email.paymentInstructions }),
  load: loadOrder,
};

/** Tells the customer how to pay the order, which is not paid through a provider. */
export async function queuePaymentInstructions(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
): Promise<void> {
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const { orderId, locale } = order;
  const template = paymentInstructionsEmail.name;
  const content: QueuedEmail = { shopId, template, to, locale, facts: { orderId } };
  await queueJobs(tx, shopId, EMAIL_QUEUE, [{ id: newId(tx.now), content }]);
}
