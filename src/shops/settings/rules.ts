import { isCountry } from '../countries/countries.ts';
import { currencyDigits, parseDecimal } from '../../kernel/money.ts';
import type { Problem } from './problem.ts';
import type { Texts } from './fields.ts';
import type { MailTexts } from './schema/texts.ts';

/** Rules that several sections of a settings file share. */

/** The values that the sections of a file must agree on: from the file, else from the shop, else not known yet. */
export interface Frame {
  locales: readonly string[] | undefined;
  defaultLocale: string | undefined;
  currencies: readonly string[] | undefined;
  /** The default one. */
  currency: string | undefined;
  country: string | undefined;
  /** The keys of the methods. */
  shippingMethods: readonly string[] | undefined;
  paymentMethods: readonly string[] | undefined;
  /** The names of the groups. */
  customerGroups: readonly string[] | undefined;
  /** The email texts that are saved now. */
  mailTexts: MailTexts | undefined;
}

export type Path = readonly (string | number)[];

export function* duplicateProblems<Name extends string>(
  section: string,
  name: Name,
  entries: readonly Record<Name, string>[],
): Generator<Problem> {
  const places = new Map<string, number>();
  for (const [index, { [name]: key }] of entries.entries()) {
    const first = places.get(key);
    if (first === undefined) {
      places.set(key, index);
    } else {
      yield {
        path: [section, index, name],
        text: `${key} is the ${name} of ${section}[${first}] already`,
        rule: { name: 'duplicate', value: key },
      };
    }
  }
}

/** The same for a plain list. */
export function* repeatedProblems(path: Path, values: readonly string[]): Generator<Problem> {
  const known = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (known.has(value)) {
      yield {
        path: [...path, index],
        text: `${value} is named twice`,
        rule: { name: 'duplicate', value },
      };
    }
    known.add(value);
  }
}

export const ascendingProblems = (path: Path, steps: readonly { from: number }[]) =>
  risingProblems(path, 'from', steps);

/** Each step must be above the one before it. */
export function* risingProblems<Name extends string>(
  path: Path,
  name: Name,
  steps: readonly Readonly<Record<Name, number>>[],
): Generator<Problem> {
  for (const [index, { [name]: value }] of steps.entries()) {
    const before = steps[index - 1]?.[name];
    if (before !== undefined && before >= value) {
      yield {
        path: [...path, index, name],
        text: `is ${value}, expected more than ${before} before it`,
        rule: { name: 'aboveStep', limit: before },
      };
    }
  }
}

export function* countryCodeProblems(path: Path, country: string): Generator<Problem> {
  if (!isCountry(country)) {
    yield {
      path,
      text: `${country} is not a country, expected an ISO 3166-1 code such as DE or GB`,
      rule: { name: 'unknownCountry', value: country },
    };
  }
}

export const percentProblems = (path: Path, percent: number) => decimalProblems(path, percent, 'percent', 2);

/** Grams are the smallest weight that is stored. */
export const weightProblems = (path: Path, kilograms: number) =>
  decimalProblems(path, kilograms, 'kilograms', 3);

function* decimalProblems(path: Path, value: number, unit: string, limit: number): Generator<Problem> {
  const decimal = parseDecimal(value);
  if (!decimal || decimal.scale > limit) {
    yield {
      path,
      text: `is ${value}, expected ${unit} with at most ${limit} decimals`,
      rule: { name: 'decimals', limit },
    };
  }
}

export function* amountProblems(
  path: Path,
  amount: number | undefined,
  { currency }: Pick<Frame, 'currency'>,
): Generator<Problem> {
  if (amount === undefined || currency === undefined) return;
  const digits = currencyDigits(currency);
  const decimal = parseDecimal(amount);
  if (!decimal || decimal.scale > digits) {
    const most = digits === 0 ? 'no decimals' : `at most ${digits} decimals`;
    yield {
      path,
      text: `is ${amount}, expected ${most}, as ${currency} has`,
      rule:
        digits === 0
          ? { name: 'wholeAmount', currency }
          : { name: 'amountDecimals', limit: digits, currency },
    };
  }
}

/** A name must exist in the default locale, because other locales fall back to it. */
export function* nameProblems(path: Path, texts: Texts, frame: Frame): Generator<Problem> {
  yield* textProblems(path, texts, frame);
  const { defaultLocale } = frame;
  if (typeof texts === 'object' && defaultLocale !== undefined && texts[defaultLocale] === undefined) {
    yield {
      path,
      text: `${defaultLocale} is missing: the text in the default locale`,
      rule: { name: 'missingText', locale: defaultLocale },
    };
  }
}

export function* textProblems(path: Path, texts: string | object, { locales }: Frame): Generator<Problem> {
  if (typeof texts === 'string' || !locales) return;
  for (const locale of Object.keys(texts)) {
    if (!locales.includes(locale)) {
      yield {
        path: [...path, locale],
        text: `is not a locale of the shop, expected one of ${locales.join(', ')}`,
        rule: { name: 'unknownLocale', value: locale },
      };
    }
  }
}
