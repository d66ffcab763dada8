import { dateTimeText } from '../http/dates.ts';
import type { EmailKind } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER, SAMPLE_TIME } from './order-email.ts';
import { orderUrl } from './order-link.ts';

/** A customer has withdrawn from a contract, or from a part of it. */
export interface WithdrawalDeclared {
  orderId: string;
  orderNumber: string;
  /** The withdrawn goods: "2 pieces Harbour Tea". */
  goods: string[];
  name: string;
  contact: string;
  /** When it arrived, with date and time, in the language of the order. */
  date: string;
}

/** The acknowledgement on a durable medium required by article 11a of the Consumer Rights Directive. */
export const withdrawalAcknowledgement: EmailKind<WithdrawalDeclared> = {
  ...ORDER_EMAIL,
  name: 'withdrawalAcknowledgement',
  occasion: 'To the customer, at once, when the customer has withdrawn from the contract.',
  example: { en_GB: { text: '{name} has withdrawn from order {orderNumber} on {date}:\n\n{lines}' } },
  // Only holders of the link to the order can cause it, and only while there is something to withdraw from.
  isLimited: false,
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    name: { meaning: 'The person who has withdrawn.', value: ({ name }) => name },
    contact: { meaning: 'The email address that was given for it.', value: ({ contact }) => contact },
    date: { meaning: 'When the withdrawal arrived, with date and time.', value: ({ date }) => date },
  },
  lines: { meaning: 'What was withdrawn.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  sample: (locale) => ({
    ...SAMPLE_ORDER,
    goods: ['2\u00a0× Ginger tea', '1\u00a0× Kettle'],
    name: 'Ada Lindqvist',
    contact: 'ada.lindqvist@mail.example',
    date: dateTimeText(SAMPLE_TIME, locale),
  }),
  messages: (email) => ({ ...email.aboutOrder, ...email.withdrawalAcknowledgement }),
};

/** A visitor has named an order and its email address: the link to withdraw goes to that address. */
export interface WithdrawalLinkRequested {
  orderId: string;
  orderNumber: string;
}

export const withdrawalLink: EmailKind<WithdrawalLinkRequested> = {
  ...ORDER_EMAIL,
  name: 'withdrawalLink',
  occasion:
    'To the customer, when the number of an order and its email address were entered to withdraw from the contract.',
  example: { en_GB: { text: 'Open the link below to withdraw from order {orderNumber}.' } },
  isLimited: true,
  sample: SAMPLE_ORDER,
  link: ({ orderId }, context) => orderUrl(context, orderId, '/withdraw'),
  messages: (email) => ({ ...email.aboutOrder, ...email.withdrawalLink }),
};
