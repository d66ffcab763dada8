import { expectedDayText } from '../catalogue/products/availability-text.ts';
import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER } from './order-email.ts';

/** Items of an order that had to be waited for are in stock. */
export interface BackorderReady {
  orderId: string;
  orderNumber: string;
  /** "2 × Harbour Tea". */
  goods: string[];
}

/** They are expected on another day. */
export interface BackorderMoved extends BackorderReady {
  /** As text; null: it is not known. */
  date: string | null;
}

const SAMPLE = { ...SAMPLE_ORDER, goods: ['2\u00a0× Ginger tea'] };
const rows = ({ goods }: BackorderReady) => goods.map((text) => ({ text }));

/** A customer need not wait longer than agreed (Directive 2011/83/EU, article 18), so the email says what can be done. */
export const backorderMovedEmail: EmailKind<
  BackorderMoved,
  EmailMessages & Messages['email']['backorderMoved']
> = {
  ...ORDER_EMAIL,
  name: 'backorderMoved',
  occasion: 'To the customer, when items that the order waits for are expected on another day.',
  example: { en_GB: { text: 'Now expected around {date}:\n\n{lines}' } },
  isLimited: false,
  sample: (locale) => ({ ...SAMPLE, date: expectedDayText('2027-03-01', locale) }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    date: {
      meaning: 'The new day, or "not known yet".',
      value: ({ date }, _, { noDate }) => date ?? noDate,
    },
  },
  lines: { meaning: 'The items that the order waits for.', rows },
  messages: (email) => ({ ...email.aboutOrder, ...email.backorderMoved }),
};

export const backorderReadyEmail: EmailKind<BackorderReady> = {
  ...ORDER_EMAIL,
  name: 'backorderReady',
  occasion: 'To the customer, when items that the order has waited for are in stock.',
  example: { en_GB: { text: 'They are here:\n\n{lines}' } },
  isLimited: false,
  sample: SAMPLE,
  lines: { meaning: 'The items that are in stock.', rows },
  messages: (email) => ({ ...email.aboutOrder, ...email.backorderReady }),
};
