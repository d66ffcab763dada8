import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER, sampleMoney, unbroken } from './order-email.ts';

/** A refund was made to the customer. */
export interface OrderRefunded {
  orderId: string;
  orderNumber: string;
  amount: string;
  /** It is back on the gift card whose code ends like this; absent: it is not. */
  cardEnd?: string;
  /** It was made store credit, with this code; absent: it was not. */
  creditCode?: string;
}

type RefundWords = EmailMessages & Messages['email']['refund'];

export const refundEmail: EmailKind<OrderRefunded, RefundWords> = {
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
  // The code is money, so it is no placeholder: a shop's own words may lack it, or write it into an address.
  sections: ({ cardEnd, creditCode }, { giftCard: title, onGiftCard, asStoreCredit }) => {
    const text = creditCode ? asStoreCredit({ code: creditCode }) : cardEnd && onGiftCard({ end: cardEnd });
    return text ? [{ title, rows: [{ text, as: 'plain' }] }] : [];
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.refund }),
};
