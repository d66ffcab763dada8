import { parseMoment } from '../../http/dates.ts';
import { invalid, Refusal } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { knownBlock, type Block, type BlockType } from '../blocks.ts';
import { requireSize } from '../pages/page.ts';
import type { MailingBody, MailingState, WantedState } from './schema.ts';

/** A mailing in one language, as it is stored. */
export interface StoredMailingText {
  locale: string;
  subject: string;
  preheader: string | null;
  blocks: Block[];
}

/** What a request says of a mailing. */
export interface MailingContent {
  newsletterIds: string[];
  segmentId: string | null;
  couponCampaignId: string | null;
  perHour: number | null;
  texts: StoredMailingText[];
}

/** Blocks that make no sense in an email. The editor says so, and they are left out. A video becomes a link. */
export const LEFT_OUT_BLOCKS: ReadonlySet<BlockType> = new Set(['contactForm', 'newsletter', 'app']);

/**
 * The mailing that a request describes. Throws what the schema can't say: newsletters that there are not, languages that
 * the shop does not offer, and more content than a page may have.
 */
export function mailingOf(
  body: MailingBody,
  { locales, newsletterCampaigns }: Pick<Settings, 'locales' | 'newsletterCampaigns'>,
): MailingContent {
  const newsletterIds = [...new Set(body.newsletters.map((id) => id.toUpperCase()))];
  for (const [index, id] of newsletterIds.entries()) {
    if (!newsletterCampaigns.some(({ campaignId }) => campaignId.toUpperCase() === id))
      throw invalid('UNKNOWN_VALUE', `newsletters.${index}`);
  }
  const seen = new Set<string>();
  const texts = body.texts.map(({ locale, subject, preheader, blocks: given }, index): StoredMailingText => {
    if (!locales.includes(locale))
      throw new Refusal('LOCALE_NOT_OFFERED', { locale, offered: locales.join(', ') });
    if (seen.has(locale)) throw invalid('UNKNOWN_VALUE', `texts.${index}.locale`);
    seen.add(locale);
    if (subject.trim() === '') throw invalid('MISSING', `texts.${index}.subject`);
    const blocks = given.map(knownBlock);
    requireSize(blocks);
    return { locale, subject: subject.trim(), preheader: preheader?.trim() || null, blocks };
  });
  return {
    newsletterIds,
    segmentId: optionalId(body.segmentId, 'segmentId'),
    couponCampaignId: optionalId(body.couponCampaignId, 'couponCampaignId'),
    perHour: body.perHour ?? null,
    texts,
  };
}

function optionalId(id: string | null | undefined, field: string): string | null {
  if (!id) return null;
  if (!isId(id)) throw invalid('UNKNOWN_VALUE', field);
  return id.toUpperCase();
}

/** From which states a person can bring a mailing to this one. */
const BEFORE: Readonly<Record<WantedState, readonly MailingState[]>> = {
  scheduled: ['draft', 'scheduled'],
  draft: ['scheduled'],
  paused: ['sending'],
  sending: ['paused'],
  cancelled: ['sending', 'paused'],
};

export const canBecome = (state: MailingState, wanted: WantedState) => BEFORE[wanted].includes(state);

const MAX_AHEAD = 400 * 86_400_000;

/** When a mailing is sent that is scheduled now. A moment that has passed means at once. */
export function sendTime(sendAt: string | null | undefined, now: Date): Date {
  const moment = sendAt ? parseMoment(sendAt, 'sendAt') : now;
  if (moment.getTime() > now.getTime() + MAX_AHEAD) throw invalid('UNKNOWN_VALUE', 'sendAt');
  return moment < now ? now : moment;
}

/** The language of a subscriber: that of the page where the person has subscribed, else that of the newsletter. */
export function localeOfAddressee(
  { locale, language }: { locale: string | null; language: string },
  { locales }: Pick<Settings, 'locales'>,
): string | null {
  if (locale !== null && locales.includes(locale)) return locale;
  return locales.find((one) => one.startsWith(language.toLowerCase())) ?? null;
}

/** The text that a recipient gets: in the own locale, in the same language, in the default of the shop, or the first. */
export function textFor<Text extends { locale: string }>(
  texts: readonly Text[],
  locale: string | null,
  { defaultLocale }: Pick<Settings, 'defaultLocale'>,
): Text | undefined {
  const wanted = locale ?? defaultLocale;
  return (
    texts.find((text) => text.locale === wanted) ??
    texts.find((text) => text.locale.slice(0, 2) === wanted.slice(0, 2)) ??
    texts.find((text) => text.locale === defaultLocale) ??
    texts[0]
  );
}

const HOUR = 3_600_000;
/** A process that ends leaves at most this many emails queued. */
const MAX_AT_ONCE = 500;

/** About as many emails as may be sent in a minute. */
export const emailsAtOnce = (perHour: number) => Math.min(MAX_AT_ONCE, Math.max(1, Math.ceil(perHour / 60)));

/** When the next emails may be queued after these. */
export const nextBatchAt = (now: Date, emails: number, perHour: number) =>
  new Date(now.getTime() + Math.ceil((emails * HOUR) / perHour));
