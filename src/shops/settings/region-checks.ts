import { isCountry } from '../countries/countries.ts';
import { isCurrency, parseDecimal } from '../../kernel/money.ts';
import { suggestion } from '../../kernel/suggestion.ts';
import type { Problem } from './problem.ts';
import { countryCodeProblems, repeatedProblems } from './rules.ts';
import type { SettingsFile } from './schema.ts';

/** Checks of a shop's languages, currencies and countries that no schema can express. */
export function* regionProblems(file: SettingsFile): Generator<Problem> {
  yield* localeProblems(file);
  yield* currencyProblems(file);
  yield* countryProblems(file);
}

function* localeProblems({ locales }: SettingsFile): Generator<Problem> {
  if (!locales) return;
  yield* listProblems('locales', locales);
  for (const [index, locale] of locales.items.entries()) {
    const country = locale.slice(3);
    if (!isCountry(country)) {
      yield {
        path: ['locales', 'items', index],
        text: `is ${locale}, but ${country} is no country; expected language and country such as en_GB`,
        rule: { name: 'unknownCountry', value: country },
      };
    }
  }
}

function* currencyProblems({ currencies }: SettingsFile): Generator<Problem> {
  if (!currencies) return;
  yield* listProblems('currencies', currencies);
  const { items, rates = {} } = currencies;
  for (const [index, currency] of items.entries()) {
    if (!isCurrency(currency)) {
      yield {
        path: ['currencies', 'items', index],
        text: `${currency} is not a known currency, expected an ISO 4217 code such as EUR`,
        rule: { name: 'unknownCurrency', value: currency },
      };
    } else if (currency !== currencies.default && rates[currency] === undefined) {
      yield {
        path: ['currencies', 'rates'],
        text: `${currency} is missing: what 1 ${currencies.default} is worth in it`,
        rule: { name: 'missingExchangeRate', currency, base: currencies.default },
      };
    }
  }
  for (const [currency, rate] of Object.entries(rates)) {
    const path = ['currencies', 'rates', currency];
    if (currency === currencies.default) {
      yield {
        path,
        text: 'is the default currency, which needs no rate',
        rule: { name: 'needlessExchangeRate' },
      };
    } else if (!items.includes(currency)) {
      yield {
        path,
        text: `is not in currencies.items${suggestion(currency, items)}`,
        rule: { name: 'needlessExchangeRate' },
      };
    } else if (parseDecimal(rate) === undefined || Number(rate.toFixed(10)) !== rate) {
      yield {
        path,
        text: `is ${rate}, expected at most 10 decimals`,
        rule: { name: 'decimals', limit: 10 },
      };
    }
  }
}

function* countryProblems({ countries }: SettingsFile): Generator<Problem> {
  if (!countries) return;
  yield* listProblems('countries', countries);
  for (const [index, country] of countries.items.entries()) {
    yield* countryCodeProblems(['countries', 'items', index], country);
  }
}

/** Checks that the default of locales, currencies or countries is in their list, and that nothing is listed twice. */
function* listProblems(section: string, list: { default: string; items: string[] }): Generator<Problem> {
  if (!list.items.includes(list.default)) {
    yield {
      path: [section, 'default'],
      text: `is ${list.default}, expected one of ${section}.items (${list.items.join(', ')})`,
      rule: { name: 'defaultNotListed', value: list.default },
    };
  }
  yield* repeatedProblems([section, 'items'], list.items);
}
