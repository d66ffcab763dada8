import type { Language } from '../messages.ts';

/** What a locale such as `de_CH` is called: `German (Switzerland)`. */
export function languageName(locale: string, language: Language): string {
  return new Intl.DisplayNames(language, { type: 'language' }).of(locale.replace('_', '-')) ?? locale;
}
