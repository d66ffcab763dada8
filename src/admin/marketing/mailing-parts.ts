import { setMailingState } from '../../content/mailings/routes.ts';
import { MAX_FIELD_LENGTH } from '../../http/form-fields.ts';
import { textIn } from '../../http/locale.ts';
import { declareForm } from '../components/declared-form.ts';
import type { Choice } from '../components/form.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

/** The button that was pressed, and when the emails go out. */
export const STATE = declareForm(setMailingState, ({ mailings: messages }) => ({
  state: { kind: 'hidden', label: messages.state },
  sendAt: {
    kind: 'datetime-local',
    label: messages.sendAtUtc,
    hint: messages.sendAtHint,
    maxLength: MAX_FIELD_LENGTH,
  },
}));

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
