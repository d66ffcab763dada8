import { countryName, isCountry } from '../../shops/countries/countries.ts';
import type { Choice } from './form.ts';

const CODES = Array.from({ length: 26 * 26 }, (_, index) =>
  String.fromCodePoint(65 + Math.floor(index / 26), 65 + (index % 26)),
).filter(isCountry);

const allByLanguage = new Map<string, Choice[]>();

/** These countries, or all, by their names. */
export function countryChoices(language: string, codes?: readonly string[]): Choice[] {
  if (codes) {
    return [...new Set(codes)]
      .filter((code) => code !== '')
      .map((value) => ({ value, text: countryName(value, language) }))
      .toSorted((left, right) => left.text.localeCompare(right.text, language));
  }
  let all = allByLanguage.get(language);
  if (!all) allByLanguage.set(language, (all = countryChoices(language, CODES)));
  return all;
}
