import { LRUCache } from 'lru-cache';
import { languageTag } from './locale.ts';

export interface Formats {
  /** Up to six decimals. */
  quantity: Intl.NumberFormat;
  /** For a share: 0.19 is `19%`. */
  percent: Intl.NumberFormat;
  /** Such as `15 November 2026`, in UTC. */
  longDate: Intl.DateTimeFormat;
}

/** By locale: creating a format takes many times as long as using it. */
const formats = new LRUCache<string, Formats>({
  max: 100,
  memoMethod: (locale) => {
    const language = languageTag(locale);
    return {
      quantity: new Intl.NumberFormat(language, { maximumFractionDigits: 6 }),
      percent: new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 }),
      longDate: new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }),
    };
  },
});

/** How numbers and dates are written in a locale such as `en_GB`. */
export function formatsOf(locale: string): Formats {
  return formats.memo(locale);
}
