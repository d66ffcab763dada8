import { textIn } from '../../http/locale.ts';
import type { Choice } from '../components/form.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

/** The newsletters of the shop, of which a mailing names some. */
export const newsletterChoices = ({ settings }: ShopVisit): Choice[] =>
  settings.newsletterCampaigns.map(({ campaignId, name }) => ({
    value: campaignId.toUpperCase(),
    text: name,
  }));

/** A mailing is called as its subject, in the language of the reader where it has one. */
export function mailingSubject(
  { locale, settings }: ShopVisit,
  texts: readonly { locale: string; subject: string }[],
): string {
  const subjects = Object.fromEntries(texts.map((text) => [text.locale, text.subject]));
  return textIn(subjects, locale, settings.defaultLocale) ?? texts[0]?.subject ?? '';
}

export const mailingsStep = (visit: ShopVisit) => ({
  href: adminPath(visit, '/marketing/mailings'),
  text: visit.messages.marketing.tabs.mailings,
});
