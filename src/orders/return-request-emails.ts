import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { ORDER_EMAIL, orderInAdmin, SAMPLE_ORDER } from './order-email.ts';

/** The state of a return that a customer has requested. */
export interface ReturnAnswered {
  orderId: string;
  orderNumber: string;
  /** The goods to return: "2 pieces Harbour Tea". */
  goods: string[];
  /** From the merchant. */
  note: string | null;
}

const RETURN_EMAIL: Pick<
  EmailKind<ReturnAnswered>,
  'isLimited' | 'placeholders' | 'lines' | 'link' | 'sample'
> = {
  isLimited: false,
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    note: {
      meaning: 'What the merchant says about it; nothing if there is no note.',
      value: ({ note }) => note,
    },
  },
  lines: { meaning: 'The goods of the return.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  link: ORDER_EMAIL.link,
  sample: { ...SAMPLE_ORDER, goods: ['1\u00a0× Kettle'], note: 'Please use the box it came in.' },
};

export const returnApprovedEmail: EmailKind<ReturnAnswered> = {
  ...RETURN_EMAIL,
  name: 'returnApproved',
  occasion: 'To the customer, when a return that the customer has asked for was approved.',
  example: { en_GB: { text: 'Please send these items back:\n\n{lines}\n\n{note}' } },
  messages: (email) => ({ ...email.aboutOrder, ...email.returnApproved }),
};

export const returnRejectedEmail: EmailKind<ReturnAnswered> = {
  ...RETURN_EMAIL,
  name: 'returnRejected',
  occasion: 'To the customer, when a return that the customer has asked for was rejected.',
  example: { en_GB: { text: 'We cannot take these items back:\n\n{lines}\n\n{note}' } },
  messages: (email) => ({ ...email.aboutOrder, ...email.returnRejected }),
};

/** A customer's request, for the merchant. */
export interface ReturnAnnounced {
  /** Missing in emails that an older version has queued. */
  orderId?: string;
  orderNumber: string;
  goods: string[];
  /** The words are `email.returnNotice.wishes` of the message catalogue. */
  wish: keyof Messages['email']['returnNotice']['wishes'];
  /** From the customer; null: a withdrawal needs none. */
  reason: string | null;
}

export const returnNoticeEmail: EmailKind<
  ReturnAnnounced,
  EmailMessages & Messages['email']['returnNotice']
> = {
  name: 'returnNotice',
  occasion: 'To the shop, when a customer asks for a return or has withdrawn from the contract.',
  example: { en_GB: { subject: 'Return for {orderNumber}' } },
  // Only holders of the link to an order can cause it, and an order has few returns.
  isLimited: false,
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    wish: {
      meaning: 'What the customer wants, as a sentence.',
      value: ({ wish }, _, { wishes }) => wishes[wish],
    },
    reason: {
      meaning: 'What the customer says about it; nothing if nothing.',
      value: ({ reason }) => reason,
    },
  },
  lines: { meaning: 'The goods.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  link: orderInAdmin,
  sample: {
    ...SAMPLE_ORDER,
    goods: ['1\u00a0× Kettle'],
    wish: 'return',
    reason: 'Too small',
  },
  messages: (email) => ({ ...email.aboutShop, ...email.returnNotice }),
};
