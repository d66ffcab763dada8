import type { EmailKind } from '../platform/email/kind.ts';
import { ORDER_EMAIL, ORDER_WORDS, unbroken } from './order-email.ts';

/** Money was paid back to the customer. */
export interface OrderRefunded {
  orderNumber: string;
  amount: string;
}

export const refundEmail: EmailKind<OrderRefunded> = {
  ...ORDER_EMAIL,
  name: 'refund',
  occasion: 'To the customer, when money was paid back.',
  example: { en_GB: { text: 'We have sent you {amount} for {orderNumber}.' } },
  isLimited: false,
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    amount: { meaning: 'What was paid back, with its currency.', value: ({ amount }) => unbroken(amount) },
  },
  words: {
    en: {
      ...ORDER_WORDS.en,
      subject: 'Refund for your order {orderNumber}',
      text: '{shopName} has refunded {amount} for your order {orderNumber}.',
    },
    de: {
      ...ORDER_WORDS.de,
      subject: 'Erstattung zu Ihrer Bestellung {orderNumber}',
      text: '{shopName} hat Ihnen {amount} für Ihre Bestellung {orderNumber} erstattet.',
    },
    fr: {
      ...ORDER_WORDS.fr,
      subject: 'Remboursement de votre commande {orderNumber}',
      text: '{shopName} vous a remboursé {amount} pour votre commande {orderNumber}.',
    },
  },
};
