import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER, sampleMoney, unbroken } from './order-email.ts';

/** A refund was made to the customer. */
export interface OrderRefunded {
  orderId: string;
  orderNumber: string;
  amount: string;
  /** It is back on the gift card whose code ends like this; null or absent: it is not. */
  cardEnd?: string | null;
  /** It was made store credit, with this code; null or absent: it was not. */
  creditCode?: string | null;
}

type RefundWords = EmailMessages & Messages['email']['refund'];

export const refundEmail: EmailKind<OrderRefunded, RefundWords> = {
  ...ORDER_EMAIL,
  name: 'refund',
  occasion: 'To the customer, when money was paid back.',
  example: { en_GB: { text: 'We have sent you {amount} for {orderNumber}.' } },
  isLimited: false,
  sample: (locale) => ({ ...SAMPLE_ORDER, amount: sampleMoney(980, locale), cardEnd: 'HP4S' }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    amount: { meaning: 'What was paid back, with its currency.', value: ({ amount }) => unbroken(amount) },
    giftCard: {
      meaning:
        'Where the money is, if it went to a gift card: the end of its code, or the code of new store credit; nothing if it was money.',
      value: ({ cardEnd, creditCode }, _, { onGiftCard, asStoreCredit }) => {
        if (creditCode) return asStoreCredit({ code: creditCode });
        return cardEnd ? onGiftCard({ end: cardEnd }) : null;
      },
    },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.refund }),
};
