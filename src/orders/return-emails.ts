import type { EmailKind } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER } from './order-email.ts';

/** What becomes of a return that a customer has asked for. */
export interface ReturnAnswered {
  orderId: string;
  orderNumber: string;
  /** What is sent back: "2 pieces Harbour Tea". */
  goods: string[];
  /** Of the merchant. */
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
  words: (email) => ({ ...email.aboutOrder, ...email.returnApproved }),
};

export const returnRejectedEmail: EmailKind<ReturnAnswered> = {
  ...RETURN_EMAIL,
  name: 'returnRejected',
  occasion: 'To the customer, when a return that the customer has asked for was rejected.',
  example: { en_GB: { text: 'We cannot take these items back:\n\n{lines}\n\n{note}' } },
  words: (email) => ({ ...email.aboutOrder, ...email.returnRejected }),
};
