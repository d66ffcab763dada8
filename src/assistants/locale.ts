import { languageTag } from '../http/locale.ts';
import type { Settings } from '../shops/settings/settings.ts';

const MAX_LANGUAGES = 10;

/** The language of an answer: what the request asks for, as far as the shop has it, else the shop's default. */
export function answerLocale(
  language: string | undefined,
  acceptLanguage: string | undefined,
  { locales, defaultLocale }: Pick<Settings, 'locales' | 'defaultLocale'>,
): string {
  for (const asked of [...(language === undefined ? [] : [language]), ...acceptedLanguages(acceptLanguage)]) {
    const tag = asked.trim().toLowerCase();
    const exact = locales.find((locale) => languageTag(locale).toLowerCase() === tag);
    if (exact) return exact;
    const [wanted] = tag.split('-');
    const similar = [defaultLocale, ...locales].find((locale) => locale.slice(0, 2) === wanted);
    if (similar) return similar;
  }
  return defaultLocale;
}

/** Best first. */
function acceptedLanguages(header = ''): string[] {
  return header
    .split(',', MAX_LANGUAGES)
    .map((part) => part.split(';'))
    .map(([tag = '', quality = '']) => ({ tag, quality: Number(/q=([\d.]+)/.exec(quality)?.[1] ?? 1) }))
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
