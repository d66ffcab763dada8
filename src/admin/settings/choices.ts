import { displayName } from '../../kernel/display-names.ts';
import { countryChoices } from '../components/country-choices.ts';
import { isCurrency } from '../../kernel/money.ts';
import { languageTag } from '../../http/locale.ts';
import { PROVIDER_LABELS } from '../../orders/payments/providers.ts';
import type { AddressField } from '../../shops/countries/address.ts';
import { areaOf, countryName, isCountry, type Area } from '../../shops/countries/countries.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { Choice } from '../components/form.ts';
import type { Preset } from './grouped-choices.ts';
import type { SettingsMessages } from './settings-messages.ts';

/** The choices for settings whose schema defines only the form of a value, by their path. */
export function settingChoices(
  file: SettingsFile,
  messages: SettingsMessages,
): (path: string) => readonly Choice[] | undefined {
  const { language } = messages;
  const lists: Readonly<Record<string, () => readonly Choice[]>> = {
    country: () => knownCountries(language),
    'producerRegistrations.country': () => knownCountries(language),
    'countries.default': () => (file.countries?.items ?? []).map((code) => countryChoice(code, language)),
    'countries.items': () => byArea(knownCountries(language), areaOf, messages),
    'shippingMethods.zones.countries': () =>
      byArea(
        (file.countries?.items ?? []).map((code) => countryChoice(code, language)),
        areaOf,
        messages,
      ),
    'locales.default': () => (file.locales?.items ?? []).map((locale) => localeChoice(locale, messages)),
    'locales.items': () =>
      byArea(
        LOCALES.map((locale) => localeChoice(locale, messages)),
        (locale) => areaOf(locale.slice(3)),
        messages,
      ),
    'currencies.default': () => (file.currencies?.items ?? []).map((code) => currencyChoice(code, language)),
    'currencies.items': () =>
      byArea(
        CURRENCIES.map((code) => currencyChoice(code, language)),
        currencyArea,
        messages,
      ),
    mandatoryAddressFields: () =>
      Object.entries(ADDRESS_PARTS).flatMap(([part, fields]) =>
        fields.map((field) => ({
          value: field,
          text: messages.value('mandatoryAddressFields', field),
          group: messages.choose.addressParts[part as AddressPart],
        })),
      ),
    'netPrices.groups': () => (file.customerGroups ?? []).map((name) => ({ value: name, text: name })),
    'promotions.customerGroups': () =>
      (file.customerGroups ?? []).map((name) => ({ value: name, text: name })),
    'visibility.groups': () => (file.customerGroups ?? []).map((name) => ({ value: name, text: name })),
    'priceLists.customerGroups': () =>
      (file.customerGroups ?? []).map((name) => ({ value: name, text: name })),
    'promotions.countries': () =>
      byArea(
        (file.countries?.items ?? []).map((code) => countryChoice(code, language)),
        areaOf,
        messages,
      ),
    'promotions.currencies': () =>
      (file.currencies?.items ?? []).map((code) => currencyChoice(code, language)),
    'newsletters.language': () => languageChoices(file, language),
    'deliveryTimes.timeZone': () => TIME_ZONES.map((value) => ({ value, text: value.replaceAll('_', ' ') })),
    'paymentMethods.provider': () => [
      { value: '', text: messages.value('paymentMethods.provider', 'manual') },
      ...Object.entries(PROVIDER_LABELS).map(([value, text]) => ({ value, text })),
    ],
    'assistants.paymentMethod': () => [
      { value: '', text: messages.value('assistants.paymentMethod', 'none') },
      ...(file.paymentMethods ?? [])
        .filter(({ provider, price = 0 }) => provider === 'stripe' && price === 0)
        .map(({ key }) => ({ value: key, text: key })),
    ],
  };
  return (path) => lists[path]?.();
}

/** Countries that merchants often select together, by the path of the list. */
export function settingPresets({ choose }: SettingsMessages): (path: string) => readonly Preset[] {
  const presets = Object.entries(COUNTRY_PRESETS).map(([name, values]) => ({
    name: choose.areas[name as keyof typeof COUNTRY_PRESETS],
    values,
  }));
  return (path) => (['countries.items', 'shippingMethods.zones.countries'].includes(path) ? presets : []);
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

const COUNTRY_PRESETS = {
  eu: COUNTRIES.filter((code) => areaOf(code) === 'eu'),
  dach: ['DE', 'AT', 'CH'],
  benelux: ['BE', 'NL', 'LU'],
  nordics: ['DK', 'FI', 'IS', 'NO', 'SE'],
};

/** In the order in which a form usually asks for them. */
const ADDRESS_PARTS = {
  person: ['salutation', 'title', 'firstName', 'middleName', 'lastName', 'displayName', 'gender', 'birthday'],
  address: ['street', 'streetDetails', 'addressExtension', 'doorCode', 'zipCode', 'city', 'state', 'country'],
  company: [
    'company',
    'department',
    'jobTitle',
    'vatId',
    'fiscalCode',
    'bankAccountHolder',
    'bankAccountNumber',
    'bankName',
    'bankSortCode',
  ],
  contact: [
    'emailAddress',
    'phoneNumber',
    'mobilePhoneNumber',
    'businessEmailAddress',
    'businessPhoneNumber',
    'privateEmailAddress',
    'privatePhoneNumber',
    'faxNumber',
    'websiteUrl',
  ],
} satisfies Record<string, AddressField[]>;
type AddressPart = keyof typeof ADDRESS_PARTS;

const EU_CURRENCIES = new Set(['EUR', 'CZK', 'DKK', 'HUF', 'PLN', 'RON', 'SEK']);
const OTHER_EUROPEAN_CURRENCIES = new Set(
  'ALL BAM BYN CHF GBP GIP ISK MDL MKD NOK RSD RUB TRY UAH'.split(' '),
);

function currencyArea(code: string): Area {
  if (EU_CURRENCIES.has(code)) return 'eu';
  return OTHER_EUROPEAN_CURRENCIES.has(code) ? 'europe' : 'world';
}

const AREAS: readonly Area[] = ['eu', 'europe', 'world'];

/** From near to far, and by name within an area. */
function byArea(
  choices: readonly Choice[],
  areaOfValue: (value: string) => Area,
  { choose, language }: SettingsMessages,
): Choice[] {
  const named = sorted(choices, language);
  return AREAS.flatMap((area) =>
    named
      .filter(({ value }) => areaOfValue(value) === area)
      .map((choice) => ({ ...choice, group: choose.areas[area] })),
  );
}

const countryChoice = (code: string, language: string): Choice => ({
  value: code,
  text: countryName(code, language),
});

const knownCountries = (language: string) => countryChoices(language, COUNTRIES);

const localeChoice = (locale: string, messages: SettingsMessages): Choice => ({
  value: locale,
  text: messages.languageName(locale),
});

function currencyChoice(code: string, language: string): Choice {
  const name = displayName(code, 'currency', language);
  return { value: code, text: name === code ? code : `${code} – ${name}` };
}

function languageChoices({ locales }: SettingsFile, language: string): readonly Choice[] {
  const codes = [...new Set((locales?.items ?? []).map((locale) => languageTag(locale).slice(0, 2)))];
  return codes.map((value) => ({ value, text: displayName(value, 'language', language) }));
}

function sorted(choices: readonly Choice[], language: string): readonly Choice[] {
  const { compare } = new Intl.Collator(language);
  return choices.toSorted((one, other) => compare(one.text, other.text));
}
