import { textIn } from '../../http/locale.ts';
import type { Settings } from '../../shops/settings/settings.ts';

const TITLES: Record<string, string> = {
  en: 'Goes well with',
  de: 'Passt gut dazu',
  fr: 'Va bien avec',
};

/** What stands above the products that go with one. */
export function crossSellingTitle(
  settings: Pick<Settings, 'crossSellingTitle' | 'defaultLocale'>,
  locale: string,
): string {
  return (
    textIn(settings.crossSellingTitle, locale, settings.defaultLocale) ??
    TITLES[locale.slice(0, 2)] ??
    TITLES['en']!
  );
}
