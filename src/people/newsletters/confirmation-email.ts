import type { Messages } from '../../kernel/messages.ts';
import {
  SHOP_PLACEHOLDERS,
  type EmailContext,
  type EmailKind,
  type EmailMessages,
} from '../../platform/email/kind.ts';
import { newsletterTokens, newsletterUrls } from './links.ts';

/** Newsletters were requested with this address. */
export interface NewsletterRequested {
  requestId: string;
  /** The names of the newsletters. */
  newsletters: string[];
}

/** The tokens are made when the email is sent, so that no copy of the queue can confirm anything. */
const urlsOf = ({ installationKey, ...recipient }: EmailContext) =>
  newsletterUrls(newsletterTokens(installationKey), recipient);

const confirmUrl = ({ requestId }: NewsletterRequested, context: EmailContext) =>
  urlsOf(context).confirm(requestId);

type NewsletterWords = EmailMessages & Messages['email']['newsletter'];

export const newsletterConfirmation: EmailKind<NewsletterRequested, NewsletterWords> = {
  name: 'newsletter',
  occasion: 'To a person who subscribes to a newsletter, with the confirmation link.',
  example: { en_GB: { subject: 'One more click for {newsletters}' } },
  isLimited: true,
  sample: {
    requestId: '019A8C1E-0000-7000-8000-000000001004',
    newsletters: ['Tide letter', 'Tea post'],
  },
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    newsletters: {
      meaning: 'Names of the newsletters.',
      value: ({ newsletters }) => newsletters.join(', '),
    },
  },
  formerPlaceholders: ['confirmUrl', 'unsubscribeUrl'],
  link: confirmUrl,
  moreLinks: (_, context, { unsubscribe }) => [{ label: unsubscribe, href: urlsOf(context).unsubscribe }],
  messages: (email) => email.newsletter,
};
