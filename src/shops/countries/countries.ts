// Not the entry of the package, which loads the names of all countries in 79 languages.
import iso from 'i18n-iso-countries/index.js';
import { displayName } from '../../kernel/display-names.ts';

/** The 27 members; Northern Ireland and other special territories are not countries of their own here. */
const EU = new Set(
  'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'.split(' '),
);

/** Countries and territories of Europe outside of the European Union. */
const OTHER_EUROPE = new Set(
  'AD AL AX BA BY CH FO GB GG GI IM IS JE LI MC MD ME MK NO RS RU SJ SM TR UA VA XK'.split(' '),
);

export type Area = 'eu' | 'europe' | 'world';

export function areaOf(code2: string): Area {
  return EU.has(code2) ? 'eu' : OTHER_EUROPE.has(code2) ? 'europe' : 'world';
}

export function isInEu(code2: string): boolean {
  return EU.has(code2);
}

export function isCountry(code2: string): boolean {
  return iso.alpha2ToAlpha3(code2) !== undefined;
}

export const countryName = (code2: string, language: string): string =>
  displayName(code2, 'region', language);

/** Codes by the names of countries in the languages that addresses of the demo and of most shops are written in. */
let codesByName: ReadonlyMap<string, string> | undefined;

function codeOfName(name: string): string | undefined {
  codesByName ??= new Map(
    Object.keys(iso.getAlpha2Codes()).flatMap((code) =>
      ['en', 'de', 'fr'].map((language) => [countryName(code, language).toLowerCase(), code] as const),
    ),
  );
  return codesByName.get(name.trim().toLowerCase());
}

/** The code of a country that is named by two letters, by three, or by its name; undefined: there is no such country. */
export function countryCodeOf(text: string): string | undefined {
  const code = text.trim().toUpperCase();
  if (isCountry(code)) return code;
  return iso.alpha3ToAlpha2(code) ?? codeOfName(text);
}

/** The last line of a postal address, if it names a country, in this language: `Germany` is `Deutschland` in German. */
export function withCountryIn(lines: readonly string[], language: string): string[] {
  const code = codeOfName(lines.at(-1) ?? '');
  return code === undefined ? [...lines] : [...lines.slice(0, -1), countryName(code, language)];
}

/** The native name of a country: in its likeliest language, according to Unicode's data. */
export function nativeName(code2: string): string {
  return countryName(code2, new Intl.Locale(`und-${code2}`).maximize().language);
}

export interface CountryCodes {
  code2: string;
  code3: string;
  /** ISO numeric as text with leading zeros: `276`. */
  countryID: string;
}

export function countryCodes(code2: string): CountryCodes {
  return { code2, code3: iso.alpha2ToAlpha3(code2)!, countryID: iso.alpha2ToNumeric(code2)! };
}
