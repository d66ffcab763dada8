import { displayName } from '../../kernel/display-names.ts';
import type { Language } from '../messages.ts';

/** The name of a locale such as `de_CH`: `German`, or `German (Switzerland)` where the shop has German twice. */
export function languageName(locale: string, language: Language, locales: readonly string[]): string {
  const isAlone = locales.filter((other) => other.slice(0, 2) === locale.slice(0, 2)).length < 2;
  const tag = isAlone ? locale.slice(0, 2) : locale.replace('_', '-');
  return displayName(tag, 'language', language);
}
