import { SHOP_PLACEHOLDERS, type EmailKind } from '../../platform/email/kind.ts';

/** The shop has let a customer in. */
export const accessApprovedEmail: EmailKind = {
  name: 'accessApproved',
  occasion:
    'To a customer who has asked for access to a shop that is for some groups only, when it was granted.',
  example: { en_GB: { subject: 'Welcome to {shopName}' } },
  isLimited: false,
  sample: {},
  placeholders: SHOP_PLACEHOLDERS,
  link: (_facts, { storefront, locale }) =>
    `${storefront}/account/sign-in${locale === undefined ? '' : `?locale=${locale}`}`,
  messages: (email) => email.accessApproved,
};
