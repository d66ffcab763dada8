import type { EmailKind } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER, sampleMoney, unbroken } from './order-email.ts';

/** A refund was made to the customer. */
export interface OrderRefunded {
  orderId: string;
  orderNumber: string;
  amount: string;
}

export const refundEmail: EmailKind<OrderRefunded> = {
  ...ORDER_EMAIL,
  name: 'refund',
  occasion: 'To the customer, when money was paid back.',
  example: { en_GB: { text: 'We have sent you {amount} for {orderNumber}.' } },
  isLimited: false,
  sample: (locale) => ({ ...SAMPLE_ORDER, amount: sampleMoney(980, locale) }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    amount: { meaning: 'What was paid back, with its currency.', value: ({ amount }) => unbroken(amount) },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.refund }),
};
