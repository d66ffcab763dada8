import { SHOP_PLACEHOLDERS, type EmailKind } from '../../platform/email/kind.ts';
import { linkTokens } from './links.ts';

/** A staff member has forgotten the password. */
export interface PasswordForgotten {
  linkId: string;
}

/**
 * The link is only in the button, not a placeholder: the author of one shop's texts could otherwise send it to another
 * server, and it opens all shops of the user.
 */
export const passwordEmail: EmailKind<PasswordForgotten> = {
  name: 'password',
  occasion: 'To a user of the admin who has forgotten the password.',
  example: { en_GB: { subject: 'Your password for the admin of {shopName}' } },
  sample: { linkId: '019A8C1E-0000-7000-8000-000000001007' },
  // The page that sends it has its own limits; those of the shop could be used up by orders with this address.
  isLimited: false,
  isOfService: true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    email: { meaning: 'Email address to sign in with.', value: (_, { to }) => to },
  },
  link: ({ linkId }, { installationKey, origin }) => linkTokens(installationKey).urlOf(origin, linkId),
  messages: (email) => email.password,
};
