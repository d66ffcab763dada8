import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER } from './order-email.ts';

/** Goods of an order were sent. */
export interface OrderShipped {
  orderId: string;
  orderNumber: string;
  /** The sent goods: "2 pieces Harbour Tea". */
  goods: string[];
  /** Whether everything is sent. */
  isRest: boolean;
  carrier: string | null;
  trackingCode: string | null;
  /** The carrier's tracking page. */
  trackingUrl: string | null;
}

export const shipmentEmail: EmailKind<OrderShipped, EmailMessages & Messages['email']['shipped']> = {
  ...ORDER_EMAIL,
  name: 'shipped',
  occasion: 'To the customer, when goods of an order were sent.',
  example: { en_GB: { text: 'On its way:\n\n{lines}\n\nTracking code: {trackingCode}' } },
  isLimited: false,
  sample: {
    ...SAMPLE_ORDER,
    goods: ['2\u00a0× Ginger tea', '1\u00a0× Kettle'],
    isRest: false,
    carrier: 'DHL',
    trackingCode: '00340434161094021501',
    trackingUrl: 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=00340434161094021501',
  },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    carrier: { meaning: 'Who carries the parcel; nothing if unknown.', value: ({ carrier }) => carrier },
    trackingCode: {
      meaning: 'The tracking code; nothing if there is none.',
      value: ({ trackingCode }) => trackingCode,
    },
    trackingUrl: {
      meaning: "Address of the carrier's page about the parcel; nothing if there is none.",
      value: ({ trackingUrl }) => trackingUrl,
    },
    restFollows: {
      meaning: '"The rest of your order will follow."; nothing if this was all.',
      value: ({ isRest }, _, { restFollows }) => (isRest ? null : restFollows),
    },
  },
  lines: { meaning: 'The goods in this parcel.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  // The parcel comes first, and the order below it.
  link: (facts, context) => facts.trackingUrl ?? ORDER_EMAIL.link(facts, context),
  linkLabel: (facts, messages) => (facts.trackingUrl ? messages.track : messages.link),
  moreLinks: (facts, context, messages) =>
    facts.trackingUrl ? [{ label: messages.link, href: ORDER_EMAIL.link(facts, context) }] : [],
  messages: (email) => ({ ...email.aboutOrder, ...email.shipped }),
};
