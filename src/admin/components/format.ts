import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import type { Language } from '../messages.ts';
import type { ShopVisit } from '../visit.ts';

/** The regional formats of numbers and dates. For English: the country whose dates have the day first. */
export const REGIONS: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE', fr: 'fr-FR' };

/** `3 Nov 2026`; the time is in the title. */
export function dayText(moment: Date, language: Language): Markup {
  return html`<time datetime="${moment.toISOString()}" title="${momentText(moment, language)}"
    >${plainDay(moment, language)}</time
  >`;
}

/** The same as part of a sentence. */
export function plainDay(moment: Date, language: Language): string {
  return moment.toLocaleDateString(REGIONS[language], { day: 'numeric', month: 'short', year: 'numeric' });
}

/** `3 Nov 2026`, or `Nov 2026` for a whole month, from its first day such as `2026-11-03`. */
export function dayOrMonth(day: string, isMonth: boolean, language: Language): string {
  return new Date(day).toLocaleDateString(REGIONS[language], {
    ...(!isMonth && { day: 'numeric' }),
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** `3 Nov`, for charts; a day begins in UTC. */
export function shortDay(day: Date, language: Language): string {
  return day.toLocaleDateString(REGIONS[language], { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

/** `3 Nov 2026, 14:05` */
export function momentText(moment: Date, language: Language): string {
  return moment.toLocaleString(REGIONS[language], { dateStyle: 'medium', timeStyle: 'short' });
}

export type ChipKind = 'new' | 'good' | 'warning' | 'bad' | 'neutral';

/** A state in one or two words. */
export function chip(text: string, kind: ChipKind = 'neutral'): Markup {
  return html`<span class="chip ${kind}">${text}</span>`;
}

/** An amount in minor units, in the shop's default currency unless another is named. */
export function amountText(
  minor: number,
  { language, settings }: Pick<ShopVisit, 'language' | 'settings'>,
  currency = settings.defaultCurrency,
): string {
  return moneyText(minor, currency, REGIONS[language].replace('-', '_'));
}
