import { Type } from 'typebox';
import { Country, Currency, CURRENCY, List, Locale, MapOf, OrElse, Section, stored } from '../fields.ts';

export const Locales = Section(
  {
    default: Locale('The locale used when a text is missing in another one.', 'en_GB'),
    items: List(
      Locale('Language and country.', 'de_DE'),
      'All locales, the default among them.',
      ['en_GB', 'de_DE'],
      { minItems: 1 },
    ),
  },
  {
    description:
      'Languages of the shop. The texts of a locale that is taken away are deleted; a text that the new default locale lacks is copied from the old one.',
    isInline: true,
    names: { default: 'defaultLocale', items: 'locales' },
  },
);

export const Currencies = Section(
  {
    default: Currency('The currency all amounts here are in.', 'EUR'),
    items: List(Currency('ISO 4217.', 'GBP'), 'All currencies, the default among them.', ['EUR', 'GBP'], {
      minItems: 1,
    }),
    rates: OrElse(
      {},
      MapOf(
        CURRENCY,
        stored(
          Type.Number({
            exclusiveMinimum: 0,
            maximum: 1_000_000_000,
            description: 'Rate from the default currency, at most 10 decimals.',
            examples: [0.85],
          }),
          { toStored: rateText, toWritten: Number },
        ),
        'Exchange rates: units of each other currency for 1 unit of the default one.',
        { GBP: 0.85, USD: 1.1 },
      ),
    ),
  },
  {
    description: 'Currencies of the shop.',
    isInline: true,
    names: { default: 'defaultCurrency', items: 'currencies', rates: 'exchangeRates' },
  },
);

/** A rate as plain decimal text, because a number such as 1e-7 would not be one. */
function rateText(rate: number): string {
  const text = String(rate);
  return text.includes('e') ? rate.toFixed(10).replace(/0+$/, '') : text;
}

export const Countries = Section(
  {
    default: Country('The preselected country.', 'DE'),
    items: List(
      Country('ISO 3166-1 alpha-2.', 'AT'),
      'The countries that the shop delivers to, including the default.',
      ['DE', 'AT', 'FR'],
      { minItems: 1 },
    ),
  },
  {
    description: 'Countries the shop delivers to.',
    isInline: true,
    names: { default: 'defaultCountry', items: 'countries' },
  },
);
