import { SHOP_PLACEHOLDERS, type EmailContext, type EmailKind } from '../../platform/email/kind.ts';
import { signInCodes } from './sign-in-codes.ts';

/** A sign-in with this address was requested. */
export interface SignInRequested {
  requestId: string;
  /** It was requested in a browser in which this shopper has signed in before. */
  isKnownBrowser?: boolean;
}

const linkOf = ({ requestId }: SignInRequested, context: EmailContext) => {
  const { installationKey, shopId, storefront, locale } = context;
  const language = locale === undefined ? '' : `locale=${locale}&`;
  return `${storefront}/account/link?${language}token=${signInCodes(installationKey).token(shopId, requestId)}`;
};

export const signInEmail: EmailKind<SignInRequested> = {
  name: 'signIn',
  occasion: 'To a customer who wants to sign in to the account, with a link and a six-digit code.',
  example: { en_GB: { subject: '{code} signs you in to {shopName}' } },
  sample: { requestId: '019A8C1E-0000-7000-8000-000000001005' },
  isLimited: true,
  // Strangers could use up the day of the shopper with orders.
  isAlwaysSent: ({ isKnownBrowser }) => isKnownBrowser === true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    code: {
      meaning: 'Six digits, valid for 15 minutes in the browser that asked for them.',
      value: ({ requestId }, { installationKey, shopId }) =>
        signInCodes(installationKey).digits(shopId, requestId),
    },
  },
  formerPlaceholders: ['signInUrl'],
  link: linkOf,
  messages: (email) => email.signIn,
};
