/** The languages that the pages speak by themselves; a shop in another one gets English. */
const LANGUAGES = ['en', 'de', 'fr'] as const;
type Language = (typeof LANGUAGES)[number];

/** Words by language, each with the keys of the English ones. */
export function spoken<Words>(words: Record<Language, Words>): (locale: string) => Words {
  return (locale) => words[LANGUAGES.find((language) => locale.startsWith(language)) ?? 'en'];
}

/** `en_GB` is `en-GB` to browsers and to Intl. */
export function languageTag(locale: string): string {
  return locale.replace('_', '-');
}
