import type { EmailKind, EmailWords } from '../platform/email/kind.ts';
import { ORDER_EMAIL, ORDER_WORDS } from './order-email.ts';

/** Goods of an order were sent. */
export interface OrderShipped {
  orderNumber: string;
  /** What was sent: "2 pieces Harbour Tea". */
  goods: string[];
  /** Whether nothing is left to be sent. */
  isRest: boolean;
  carrier: string | null;
  trackingCode: string | null;
}

interface ShipmentWords extends EmailWords {
  restFollows: string;
}

export const shipmentEmail: EmailKind<OrderShipped, ShipmentWords> = {
  ...ORDER_EMAIL,
  name: 'shipped',
  occasion: 'To the customer, when goods of an order were sent.',
  example: { en_GB: { text: 'On its way:\n\n{lines}\n\nTracking code: {trackingCode}' } },
  isLimited: false,
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    carrier: { meaning: 'Who carries the parcel; nothing if unknown.', value: ({ carrier }) => carrier },
    trackingCode: {
      meaning: 'The tracking code; nothing if there is none.',
      value: ({ trackingCode }) => trackingCode,
    },
    restFollows: {
      meaning: '"The rest of your order follows."; nothing if this was all.',
      value: ({ isRest }, _, { restFollows }) => (isRest ? null : restFollows),
    },
  },
  lines: { meaning: 'The goods in this parcel.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  words: {
    en: {
      ...ORDER_WORDS.en,
      subject: 'Your order {orderNumber} is on its way',
      text: '{shopName} has sent these goods of your order {orderNumber}:\n\n{lines}\n\n{restFollows}\n\nCarrier: {carrier}\nTracking code: {trackingCode}',
      restFollows: 'The rest of your order follows.',
    },
    de: {
      ...ORDER_WORDS.de,
      subject: 'Ihre Bestellung {orderNumber} ist unterwegs',
      text: '{shopName} hat diese Artikel Ihrer Bestellung {orderNumber} versandt:\n\n{lines}\n\n{restFollows}\n\nVersand durch: {carrier}\nSendungsnummer: {trackingCode}',
      restFollows: 'Der Rest Ihrer Bestellung folgt.',
    },
    fr: {
      ...ORDER_WORDS.fr,
      subject: 'Votre commande {orderNumber} est en route',
      text: '{shopName} a expédié ces articles de votre commande {orderNumber}\u00a0:\n\n{lines}\n\n{restFollows}\n\nTransporteur\u00a0: {carrier}\nNuméro de suivi\u00a0: {trackingCode}',
      restFollows: 'Le reste de votre commande suivra.',
    },
  },
};
