import { adminUrl } from '../../http/links.ts';
import { SHOP_PLACEHOLDERS, type EmailKind } from '../../platform/email/kind.ts';

/** A person of the host has entered the admin by support access. */
export interface SupportEntered {
  name: string;
  email: string;
  reason: string;
  /** When the support access ends, in the language of the shop. */
  until: string;
}

export const supportEnteredEmail: EmailKind<SupportEntered> = {
  name: 'supportEntered',
  occasion: 'To the owners of the shop, when a person of the host has entered its admin by support access.',
  example: { en_GB: { subject: 'Support is in {shopName}' } },
  sample: {
    name: 'Anna Weber',
    email: 'anna@host.example',
    reason: 'Ticket 4711: delivery costs to France',
    until: '20 November 2026 at 10:00 UTC',
  },
  // Only the host can cause it, while an owner lets it in.
  isLimited: false,
  isOfService: true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    name: { meaning: 'Who has entered.', value: ({ name }) => name },
    email: { meaning: 'Email address of this person.', value: ({ email }) => email },
    reason: { meaning: 'Why, as the host says.', value: ({ reason }) => reason },
    until: { meaning: 'When the support access ends, in UTC.', value: ({ until }) => until },
  },
  link: (_facts, context) => adminUrl(context, '/support'),
  messages: (email) => email.supportEntered,
};
