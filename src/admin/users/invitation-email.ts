import { adminUrl } from '../../http/links.ts';
import { SHOP_PLACEHOLDERS, type EmailContext, type EmailKind } from '../../platform/email/kind.ts';
import { linkTokens } from './links.ts';

/** An invitation to work in a shop. */
export interface Invited {
  /** The inviting user. */
  by: string;
  /** The link for choosing a password; null: the user already has one. */
  linkId: string | null;
}

const linkOf = ({ linkId }: Invited, context: EmailContext) =>
  linkId === null ? adminUrl(context) : linkTokens(context.installationKey).urlOf(context.origin, linkId);

export const invitationEmail: EmailKind<Invited> = {
  name: 'invitation',
  occasion: 'To a person who is invited to work in the shop.',
  example: { en_GB: { subject: 'Your access to {shopName}' } },
  sample: { by: 'owner@shop.example', linkId: '019A8C1E-0000-7000-8000-000000001006' },
  // Only an owner of the shop can cause it, and the page that sends it has its own limit.
  isLimited: false,
  isOfService: true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    invitedBy: { meaning: 'Email address of the person who sends the invitation.', value: ({ by }) => by },
    email: { meaning: 'Email address to sign in with.', value: (_, { to }) => to },
  },
  formerPlaceholders: ['passwordUrl'],
  link: linkOf,
  messages: (email) => email.invitation,
};
