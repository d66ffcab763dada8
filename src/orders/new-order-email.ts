import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { orderInAdmin } from './order-email.ts';
import {
  addressSections,
  loadOrder,
  ORDER_PLACED_PLACEHOLDERS,
  orderRows,
  samplePlaced,
  type OrderPlaced,
} from './confirmation-email.ts';

type NewOrderWords = EmailMessages & Messages['email']['order'] & Messages['email']['newOrder'];

/** To the merchant, who can switch it off with `emailNewOrders`. */
export const newOrderEmail: EmailKind<OrderPlaced, NewOrderWords> = {
  name: 'newOrder',
  occasion: 'To the shop, when an order was placed, unless emailNewOrders is false.',
  example: { en_GB: { subject: '{total} from {customerName}' } },
  isLimited: false,
  sample: samplePlaced,
  placeholders: {
    ...ORDER_PLACED_PLACEHOLDERS,
    customerName: { meaning: 'Who has ordered.', value: ({ customerName }) => customerName },
  },
  lines: { meaning: 'The table of what was ordered, with discounts, costs and total.', rows: orderRows },
  sections: (facts, messages) => [
    ...(facts.comment === null
      ? []
      : [{ title: messages.comment, rows: [{ text: facts.comment, as: 'plain' as const }] }]),
    ...addressSections(facts, messages),
    {
      title: messages.contact,
      rows: [facts.contact.email, facts.contact.phone ?? '']
        .filter((text) => text !== '')
        .map((text) => ({ text, as: 'plain' })),
    },
  ],
  link: orderInAdmin,
  messages: (email) => ({ ...email.order, ...email.aboutShop, ...email.newOrder }),
  load: loadOrder,
};
