/** A few languages of readers, with three kinds each; languages that requests make up do not fill the memory. */
const MAX_CACHED = 300;
const cached = new Map<string, Intl.DisplayNames>();

/**
 * The name of a language (`de`, `de-CH`), currency or country for a reader; the code itself where it has none. A language
 * with a country is `Swiss High German`, or `German (Switzerland)` where languages are `standard`.
 */
export function displayName(
  code: string,
  type: 'language' | 'currency' | 'region',
  reader: string,
  languageDisplay: 'dialect' | 'standard' = 'dialect',
): string {
  const key = `${type} ${languageDisplay} ${reader}`;
  let names = cached.get(key);
  if (!names) {
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(key, (names = new Intl.DisplayNames([reader], { type, languageDisplay })));
  }
  return names.of(code) ?? code;
}
