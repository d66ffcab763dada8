import { SHOP_PLACEHOLDERS, type EmailContext, type EmailKind } from '../../platform/email/kind.ts';
import { newsletterTokens, newsletterUrls } from './links.ts';

/** Somebody asked for newsletters with this address. */
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

export const newsletterConfirmation: EmailKind<NewsletterRequested> = {
  name: 'newsletter',
  occasion: 'To whoever asked for a newsletter, with the link that confirms it.',
  example: { en_GB: { subject: 'One more click for {newsletters}' } },
  isLimited: true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    newsletters: {
      meaning: 'Names of the newsletters.',
      value: ({ newsletters }) => newsletters.join(', '),
    },
    confirmUrl: { meaning: 'Address of the page that confirms it.', value: confirmUrl },
    unsubscribeUrl: {
      meaning: 'Address of the page that unsubscribes.',
      value: (_, context) => urlsOf(context).unsubscribe,
    },
  },
  link: confirmUrl,
  words: {
    en: {
      subject: 'Please confirm: newsletter of {shopName}',
      text: 'This address was entered at {shopName} to receive: {newsletters}.\n\nPlease confirm it within 7 days. If it was not you, do nothing: you will not receive anything.\n\nYou can unsubscribe at any time: {unsubscribeUrl}',
      link: 'Confirm subscription',
      footer: 'You receive this mail because a newsletter was requested with this address.',
    },
    de: {
      subject: 'Bitte bestätigen: Newsletter von {shopName}',
      text: 'Diese Adresse wurde bei {shopName} eingetragen für: {newsletters}.\n\nBitte bestätigen Sie das innerhalb von 7 Tagen. Falls Sie das nicht waren, müssen Sie nichts tun: Sie erhalten dann keine Post von uns.\n\nAbmelden können Sie sich jederzeit: {unsubscribeUrl}',
      link: 'Anmeldung bestätigen',
      footer: 'Sie erhalten diese E-Mail, weil mit dieser Adresse ein Newsletter angefordert wurde.',
    },
    fr: {
      subject: 'À confirmer\u00a0: newsletter de {shopName}',
      text: 'Cette adresse a été saisie chez {shopName} pour recevoir\u00a0: {newsletters}.\n\nMerci de le confirmer sous 7 jours. Si vous n’êtes pas à l’origine de cette demande, ne faites rien\u00a0: vous ne recevrez rien.\n\nVous pouvez vous désinscrire à tout moment\u00a0: {unsubscribeUrl}',
      link: 'Confirmer l’inscription',
      footer: 'Vous recevez cet e-mail car une newsletter a été demandée avec cette adresse.',
    },
  },
};
