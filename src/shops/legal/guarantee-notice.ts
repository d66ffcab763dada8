import { languageTag, textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { isInEu } from '../countries/countries.ts';
import type { Settings } from '../settings/settings.ts';

/** The official languages of the European Union: the Commission's notice and its pages exist in these. */
export const EU_LANGUAGES: readonly string[] =
  'bg cs da de el en es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv'.split(' ');

/** Whether the shop sells to consumers in the European Union. One without a right of withdrawal sells to businesses. */
export function sellsToEuConsumers({
  withdrawal,
  countries,
}: Pick<Settings, 'withdrawal' | 'countries'>): boolean {
  return withdrawal.days > 0 && countries.some(isInEu);
}

/** The page of the European Union about guarantees, which the official notice refers to. */
export function yourEuropeAddress(locale: string): string {
  const language = languageTag(locale).slice(0, 2);
  return `https://europa.eu/youreurope/citizens/consumers/shopping/guarantees/index_${EU_LANGUAGES.includes(language) ? language : 'en'}.htm`;
}

export interface GuaranteeNotice {
  title: string;
  duration: string;
  /** Who is liable, and what the consumer may ask for. */
  texts: string[];
  more: string;
  address: string;
  /** The language of the texts: English where the locale's own has none. */
  language: string;
}

/**
 * The facts of the legal guarantee that a consumer must be reminded of before the purchase (Directive 2011/83/EU,
 * article 6 (1) (l), as amended by Directive (EU) 2024/825). It is no copy of the official notice of Implementing
 * Regulation (EU) 2025/1960: that is a file that the operator places.
 */
export function guaranteeNotice(
  settings: Pick<Settings, 'invoicing' | 'name' | 'shopId' | 'defaultLocale'>,
  locale: string,
): GuaranteeNotice {
  const { title, duration, seller, remedies, more, language } = messagesIn(locale).guarantee;
  return {
    title,
    duration,
    texts: [seller({ name: sellerName(settings, locale) }), remedies],
    more,
    address: yourEuropeAddress(locale),
    language,
  };
}

/** The company, or else the name of the shop. */
export function sellerName(
  {
    invoicing,
    name,
    shopId,
    defaultLocale,
  }: Pick<Settings, 'invoicing' | 'name' | 'shopId' | 'defaultLocale'>,
  locale: string,
): string {
  return invoicing.company ?? textIn(name, locale, defaultLocale) ?? shopId;
}
