import type { Messages } from '../kernel/messages.ts';
import { SHOP_PLACEHOLDERS, type EmailKind, type EmailMessages } from '../platform/email/kind.ts';

/** A visitor has sent the contact form of a page. */
export interface ContactSent {
  name: string;
  email: string;
  message: string;
}

type ContactWords = EmailMessages & Messages['email']['contact'];

/** To the shop alone: a visitor can't choose who gets it. */
export const contactEmail: EmailKind<ContactSent, ContactWords> = {
  name: 'contact',
  occasion: 'To the shop, when a visitor has sent a contact form.',
  example: { en_GB: { subject: 'A message for {shopName}' } },
  isLimited: false,
  sample: {
    name: 'Ada Brennan',
    email: 'ada@mail.example',
    message: 'Do you repair kettles, too?',
  },
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    name: { meaning: 'The name that the visitor has entered.', value: ({ name }) => name || null },
    email: { meaning: 'The email address that the visitor has entered.', value: ({ email }) => email },
  },
  sections: ({ message }, messages) => [
    { title: messages.message, rows: [{ text: message, as: 'plain' as const }] },
  ],
  link: ({ email }) => `mailto:${encodeURIComponent(email).replace('%40', '@')}`,
  messages: (email) => email.contact,
};
