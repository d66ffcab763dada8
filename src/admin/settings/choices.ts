import { isCurrency } from '../../kernel/money.ts';
import { languageTag } from '../../http/locale.ts';
import { PROVIDER_LABELS } from '../../orders/payments/providers.ts';
import { countryName, isCountry, isInEu } from '../../shops/countries/countries.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { Choice } from '../components/form.ts';
import type { SettingsMessages } from './settings-messages.ts';

/** The choices for settings whose schema defines only the form of a value, by their path. */
export function settingChoices(
  file: SettingsFile,
  messages: SettingsMessages,
): (path: string) => readonly Choice[] | undefined {
  const { language } = messages;
  const lists: Readonly<Record<string, () => readonly Choice[]>> = {
    country: () => countryChoices(language),
    'countries.default': () => (file.countries?.items ?? []).map((code) => countryChoice(code, language)),
    'countries.items': () => countryChoices(language),
    'locales.default': () => (file.locales?.items ?? []).map((locale) => localeChoice(locale, messages)),
    'locales.items': () => {
      // The European Union first: the others make a long list.
      const isNear = ({ value }: Choice) => Number(isInEu(value.slice(3)));
      const all = sorted(
        LOCALES.map((locale) => localeChoice(locale, messages)),
        language,
      );
      return all.toSorted((one, other) => isNear(other) - isNear(one));
    },
    'currencies.default': () => (file.currencies?.items ?? []).map((code) => currencyChoice(code, language)),
    'currencies.items': () =>
      sorted(
        CURRENCIES.map((code) => currencyChoice(code, language)),
        language,
      ),
    'newsletters.language': () => languageChoices(file, language),
    'deliveryTimes.timeZone': () => TIME_ZONES.map((value) => ({ value, text: value.replaceAll('_', ' ') })),
    'paymentMethods.provider': () => [
      { value: '', text: messages.value('paymentMethods.provider', 'manual') },
      ...Object.entries(PROVIDER_LABELS).map(([value, text]) => ({ value, text })),
    ],
  };
  return (path) => lists[path]?.();
}

/** The keys of maps that name other settings, by their path. */
export function settingKeys(
  file: SettingsFile,
  messages: SettingsMessages,
  locale: string,
): (path: string) => readonly Choice[] | undefined {
  const { items = [], default: standard } = file.currencies ?? {};
  const named = (name: unknown, key: string) => {
    if (typeof name === 'string') return name;
    const names = (name ?? {}) as Record<string, string>;
    return names[locale] ?? names[file.locales?.default ?? ''] ?? key;
  };
  const lists: Readonly<Record<string, () => readonly Choice[]>> = {
    'currencies.rates': () =>
      items.filter((code) => code !== standard).map((code) => currencyChoice(code, messages.language)),
    'deliveryTimes.methods': () =>
      (file.shippingMethods ?? []).map(({ key, name }) => ({ value: key, text: named(name, key) })),
  };
  return (path) => lists[path]?.();
}

const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
const COUNTRIES = LETTERS.flatMap((one) => LETTERS.map((other) => one + other)).filter(isCountry);
const CURRENCIES = Intl.supportedValuesOf('currency').filter(isCurrency);
const TIME_ZONES = Intl.supportedValuesOf('timeZone');

/** The likeliest language of every country, and the other languages of those that have several. */
const LOCALES = [
  ...new Set([
    ...COUNTRIES.map((code) => new Intl.Locale(`und-${code}`).maximize().language)
      .map((language, index) => `${language}_${COUNTRIES[index]!}`)
      .filter((locale) => /^[a-z]{2}_[A-Z]{2}$/.test(locale)),
    ...'fr_BE de_BE fr_CH it_CH fr_CA de_LU en_LU sv_FI ca_ES en_MT en_DE en_FR en_NL'.split(' '),
  ]),
];

const countryChoice = (code: string, language: string): Choice => ({
  value: code,
  text: countryName(code, language),
});

const countryChoices = (language: string) =>
  sorted(
    COUNTRIES.map((code) => countryChoice(code, language)),
    language,
  );

const localeChoice = (locale: string, messages: SettingsMessages): Choice => ({
  value: locale,
  text: messages.languageName(locale),
});

function currencyChoice(code: string, language: string): Choice {
  const name = new Intl.DisplayNames([language], { type: 'currency' }).of(code);
  return { value: code, text: name === undefined || name === code ? code : `${code} – ${name}` };
}

function languageChoices({ locales }: SettingsFile, language: string): readonly Choice[] {
  const names = new Intl.DisplayNames([language], { type: 'language' });
  const codes = [...new Set((locales?.items ?? []).map((locale) => languageTag(locale).slice(0, 2)))];
  return codes.map((value) => ({ value, text: names.of(value) ?? value }));
}

function sorted(choices: readonly Choice[], language: string): readonly Choice[] {
  const { compare } = new Intl.Collator(language);
  return choices.toSorted((one, other) => compare(one.text, other.text));
}
