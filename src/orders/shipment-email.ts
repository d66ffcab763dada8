import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER } from './order-email.ts';
import type { Parcel } from './tracking.ts';

/** Goods of an order were sent. */
export interface OrderShipped {
  orderId: string;
  orderNumber: string;
  /** The sent goods: "2 pieces Harbour Tea". */
  goods: string[];
  /** Whether everything is sent. */
  isRest: boolean;
  carrier: string | null;
  /** Of the first parcel. */
  trackingCode: string | null;
  /** The carrier's tracking page. */
  trackingUrl: string | null;
  /** Absent: an earlier version has queued it. */
  furtherParcels?: readonly Parcel[];
}

function parcelsOf({ trackingCode, trackingUrl, furtherParcels = [] }: OrderShipped): readonly Parcel[] {
  return trackingCode === null ? [] : [{ trackingCode, trackingUrl }, ...furtherParcels];
}

const pagesOf = (facts: OrderShipped) =>
  parcelsOf(facts).flatMap(({ trackingCode, trackingUrl }) =>
    trackingUrl ? [{ trackingCode, href: trackingUrl }] : [],
  );

/** Where there are several, the number tells which parcel it is. */
const linkTo = (
  { trackingCode, href }: { trackingCode: string; href: string },
  label: string,
  isAlone: boolean,
) => ({ label: isAlone ? label : `${label}: ${trackingCode}`, href });

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
      meaning: 'The tracking code, of several parcels all of them; nothing if there is none.',
      value: (facts) =>
        parcelsOf(facts)
          .map(({ trackingCode }) => trackingCode)
          .join(', ') || null,
    },
    trackingUrl: {
      meaning: "Address of the carrier's page about the first parcel; nothing if there is none.",
      value: (facts) => pagesOf(facts)[0]?.href ?? null,
    },
    restFollows: {
      meaning: '"The rest of your order will follow."; nothing if this was all.',
      value: ({ isRest }, _, { restFollows }) => (isRest ? null : restFollows),
    },
  },
  lines: { meaning: 'The goods in this parcel.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  // The parcel comes first, and the order below it.
  link: (facts, context) => pagesOf(facts)[0]?.href ?? ORDER_EMAIL.link(facts, context),
  linkLabel: (facts, messages) => {
    const [first, ...others] = pagesOf(facts);
    return first ? linkTo(first, messages.track, others.length === 0).label : messages.link;
  },
  moreLinks: (facts, context, messages) => {
    const [first, ...others] = pagesOf(facts);
    if (!first) return [];
    return [
      ...others.map((page) => linkTo(page, messages.track, false)),
      { label: messages.link, href: ORDER_EMAIL.link(facts, context) },
    ];
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.shipped }),
};
