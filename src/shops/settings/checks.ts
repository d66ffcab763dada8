import { isCountry } from '../countries/countries.ts';
import { isCurrency, parseDecimal } from '../../kernel/money.ts';
import { invoicingProblems } from './invoicing.ts';
import { suggestion, type Problem } from './problem.ts';
import {
  amountProblems,
  ascending,
  codeProblems,
  nameProblems,
  percentProblems,
  repeated,
  textProblems,
  type Frame,
} from './rules.ts';
import { PRICE_FIELDS, SHIPPING_PRICES, type SettingsFile } from './schema.ts';
import { sectionOf, type SettingsSection } from './section.ts';
import { themeProblems } from './theme.ts';
import type { Settings } from './settings.ts';

/**
 * Finds what no schema can say about a well-formed file. Without `current` only the file itself is checked, so that a
 * file can be refused before its shop is known.
 */
export function contentProblems(
  file: SettingsFile,
  sections: readonly SettingsSection[],
  current?: Settings,
): Problem[] {
  const frame: Frame = {
    locales: file.locales?.items ?? current?.locales,
    defaultLocale: file.locales?.default ?? current?.defaultLocale,
    currencies: file.currencies?.items ?? current?.currencies,
    currency: file.currencies?.default ?? current?.defaultCurrency,
    country: file.country ?? current?.country,
    shippingMethods: (file.shippingMethods ?? current?.shippingMethods)?.map(({ key }) => key),
    paymentMethods: (file.paymentMethods ?? current?.paymentMethods)?.map(({ key }) => key),
  };
  return [
    ...shopProblems(file, frame),
    ...domainProblems(file),
    ...localeProblems(file),
    ...currencyProblems(file),
    ...countryProblems(file),
    ...taxClassProblems(file, frame),
    ...shippingProblems(file, frame),
    ...paymentProblems(file, frame),
    ...discountProblems(file, frame),
    ...otherProblems(file, frame),
    ...invoicingProblems(file.invoicing ?? {}, frame),
    ...themeProblems(file.theme ?? {}),
    ...sections.flatMap((section) => {
      const value = sectionOf(file, section);
      return value === undefined ? [] : [...section.checks(value, frame)];
    }),
    ...(current ? leftBehind(file, current) : []),
  ];
}

function* shopProblems(file: SettingsFile, frame: Frame): Generator<Problem> {
  if (file.name !== undefined) yield* nameProblems(['name'], file.name, frame);
  if (file.slogan) yield* textProblems(['slogan'], file.slogan, frame);
  if (file.crossSellingTitle) yield* textProblems(['crossSellingTitle'], file.crossSellingTitle, frame);
  if (file.country !== undefined) yield* codeProblems(['country'], file.country);
}

/** Reserved for shops of private installations, which have such a host without asking for it. */
const LOCAL = /\.localhost(?::|$)/;
const IP_ADDRESS = /^[\d.]+(?::|$)/;

function* domainProblems({ domains = [] }: SettingsFile): Generator<Problem> {
  const hosts = domains.map((domain) => domain.toLowerCase());
  for (const [index, host] of hosts.entries()) {
    const path = ['domains', index];
    const port = Number(host.split(':')[1] ?? 1);
    if (hosts.indexOf(host) < index) yield { path, text: `${host} is named twice` };
    if (LOCAL.test(host)) {
      yield { path, text: `is ${host}, but names below localhost need no set-up and can't be set` };
    } else if (IP_ADDRESS.test(host)) {
      yield { path, text: `is ${host}, expected a host name such as shop.example, not an address` };
    } else if (port < 1 || port > 65_535) {
      yield { path, text: `is ${host}, expected a port from 1 to 65535` };
    } else if (port === 80 || port === 443) {
      yield { path, text: `is ${host}; leave out :${port}, as browsers do` };
    }
  }
}

function* localeProblems({ locales }: SettingsFile): Generator<Problem> {
  if (!locales) return;
  yield* offerProblems('locales', locales);
  for (const [index, locale] of locales.items.entries()) {
    const country = locale.slice(3);
    if (!isCountry(country)) {
      yield {
        path: ['locales', 'items', index],
        text: `is ${locale}, but ${country} is no country; expected language and country such as en_GB`,
      };
    }
  }
}

function* currencyProblems({ currencies }: SettingsFile): Generator<Problem> {
  if (!currencies) return;
  yield* offerProblems('currencies', currencies);
  const { items, rates = {} } = currencies;
  for (const [index, currency] of items.entries()) {
    if (!isCurrency(currency)) {
      yield {
        path: ['currencies', 'items', index],
        text: `${currency} is not a known currency, expected an ISO 4217 code such as EUR`,
      };
    } else if (currency !== currencies.default && rates[currency] === undefined) {
      yield {
        path: ['currencies', 'rates'],
        text: `${currency} is missing: what 1 ${currencies.default} is worth in it`,
      };
    }
  }
  for (const [currency, rate] of Object.entries(rates)) {
    const path = ['currencies', 'rates', currency];
    if (currency === currencies.default) {
      yield { path, text: 'is the default currency, which needs no rate' };
    } else if (!items.includes(currency)) {
      yield { path, text: `is not in currencies.items${suggestion(currency, items)}` };
    } else if (parseDecimal(rate) === undefined || Number(rate.toFixed(10)) !== rate) {
      yield { path, text: `is ${rate}, expected at most 10 decimals` };
    }
  }
}

function* countryProblems({ countries }: SettingsFile): Generator<Problem> {
  if (!countries) return;
  yield* offerProblems('countries', countries);
  for (const [index, country] of countries.items.entries()) {
    yield* codeProblems(['countries', 'items', index], country);
  }
}

function* taxClassProblems({ taxClasses }: SettingsFile, frame: Frame): Generator<Problem> {
  if (!taxClasses) return;
  yield* repeated('taxClasses', 'key', taxClasses);
  const defaults = taxClasses.filter((entry) => entry.default).map(({ key }) => key);
  if (defaults.length !== 1) {
    const found = defaults.length === 0 ? 'none is' : `${defaults.join(' and ')} are`;
    yield { path: ['taxClasses'], text: `${found} the default, expected default: true at exactly one class` };
  }
  const digital = taxClasses.filter((entry) => entry.defaultDigital).map(({ key }) => key);
  if (digital.length > 1) {
    yield {
      path: ['taxClasses'],
      text: `${digital.join(' and ')} are the default of digital goods, expected defaultDigital: true at one class at most`,
    };
  }
  for (const [index, { name, rates }] of taxClasses.entries()) {
    const path = ['taxClasses', index];
    yield* nameProblems([...path, 'name'], name, frame);
    for (const [country, rate] of Object.entries(rates)) {
      yield* codeProblems([...path, 'rates', country], country);
      yield* percentProblems([...path, 'rates', country], rate);
    }
    if (frame.country !== undefined && rates[frame.country] === undefined) {
      yield {
        path: [...path, 'rates'],
        text: `${frame.country} is missing: the rate in the shop's own country (0 when there is none)`,
      };
    }
  }
}

function* shippingProblems({ shippingMethods = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* repeated('shippingMethods', 'key', shippingMethods);
  for (const [index, method] of shippingMethods.entries()) {
    const path = ['shippingMethods', index];
    yield* nameProblems([...path, 'name'], method.name, frame);
    if (method.description) yield* textProblems([...path, 'description'], method.description, frame);
    const { needs, takes } = SHIPPING_PRICES[method.kind];
    for (const field of PRICE_FIELDS) {
      if (method[field] === undefined) {
        if (needs.includes(field)) yield { path, text: `${field} is missing: kind ${method.kind} needs it` };
      } else if (!takes.includes(field)) {
        const allowed = takes.length === 0 ? 'no prices' : takes.join(', ');
        yield {
          path: [...path, field],
          text: `does not belong to kind ${method.kind}, which has ${allowed}`,
        };
      }
    }
    yield* amountProblems([...path, 'price'], method.price, frame);
    yield* amountProblems([...path, 'pricePerKg'], method.pricePerKg, frame);
    yield* amountProblems([...path, 'freeFrom'], method.freeFrom, frame);
    for (const [at, tier] of (method.tiers ?? []).entries()) {
      yield* amountProblems([...path, 'tiers', at, 'from'], tier.from, frame);
      yield* amountProblems([...path, 'tiers', at, 'price'], tier.price, frame);
    }
    yield* ascending([...path, 'tiers'], method.tiers ?? []);
    const first = method.tiers?.[0];
    if (first && first.from !== 0) {
      yield {
        path: [...path, 'tiers', 0, 'from'],
        text: `is ${first.from}, expected 0: else small orders have no price`,
      };
    }
  }
}

function* paymentProblems({ paymentMethods = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* repeated('paymentMethods', 'key', paymentMethods);
  for (const [index, method] of paymentMethods.entries()) {
    yield* nameProblems(['paymentMethods', index, 'name'], method.name, frame);
    yield* amountProblems(['paymentMethods', index, 'price'], method.price, frame);
  }
}

function* discountProblems({ basketDiscounts = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* ascending(['basketDiscounts'], basketDiscounts);
  for (const [index, { from, absolute, percent }] of basketDiscounts.entries()) {
    const path = ['basketDiscounts', index];
    if ((absolute === undefined) === (percent === undefined)) {
      const found = absolute === undefined ? 'has neither absolute nor percent' : 'has absolute and percent';
      yield { path, text: `${found}, expected exactly one of them` };
    }
    yield* amountProblems([...path, 'from'], from, frame);
    yield* amountProblems([...path, 'absolute'], absolute, frame);
    if (absolute !== undefined && absolute > from) {
      yield {
        path: [...path, 'absolute'],
        text: `is ${absolute}, more than the goods are worth from ${from}`,
      };
    }
    if (percent !== undefined) yield* percentProblems([...path, 'percent'], percent);
  }
}

function* otherProblems(file: SettingsFile, frame: Frame): Generator<Problem> {
  yield* amountProblems(['minimumCart', 'amount'], file.minimumCart?.amount, frame);
  const { maxPerOrder } = file;
  if (maxPerOrder && Number(maxPerOrder.toFixed(6)) !== maxPerOrder) {
    yield { path: ['maxPerOrder'], text: `is ${maxPerOrder}, expected at most 6 decimals` };
  }
  for (const [unit, names] of Object.entries(file.units ?? {})) {
    yield* textProblems(['units', unit], names, frame);
  }
  yield* repeated('newsletters', 'identifier', file.newsletters ?? []);
  for (const section of ['customerGroups', 'mandatoryAddressFields'] as const) {
    const names: readonly string[] = file[section] ?? [];
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index) yield { path: [section, index], text: `${name} is named twice` };
    }
  }
}

/** A change that would leave stored amounts or rates with another meaning than they were given with. */
function* leftBehind(file: SettingsFile, current: Settings): Generator<Problem> {
  const currency = file.currencies?.default;
  if (currency !== undefined && currency !== current.defaultCurrency) {
    const missing = MONEY.filter(({ section, amounts }) => !file[section] && amounts(current).some(Boolean));
    if (missing.length > 0) {
      const sections = missing.map(({ section }) => section).join(', ');
      yield {
        path: ['currencies', 'default'],
        text: `changes from ${current.defaultCurrency} to ${currency}, so give these sections too, with amounts in ${currency}: ${sections}`,
      };
    }
  }
  if (file.country !== undefined && !file.taxClasses) {
    const without = current.taxClasses.filter(({ rates }) => rates[file.country!] === undefined);
    if (without.length > 0) {
      yield {
        path: ['country'],
        text: `is ${file.country}, for which these tax classes have no rate: ${without.map(({ key }) => key).join(', ')}; give the section taxClasses too`,
      };
    }
  }
}

/** The sections with amounts. An amount of 0 is the same in every currency. */
const MONEY = [
  { section: 'minimumCart', amounts: (shop: Settings) => [shop.minimumCartAmount] },
  {
    section: 'shippingMethods',
    amounts: (shop: Settings) =>
      shop.shippingMethods.flatMap((method) => [
        method.amount,
        method.amountPerKg,
        method.freeFrom,
        ...method.tiers.flatMap((tier) => [tier.from, tier.amount]),
      ]),
  },
  { section: 'paymentMethods', amounts: (shop: Settings) => shop.paymentMethods.map(({ amount }) => amount) },
  {
    section: 'basketDiscounts',
    amounts: (shop: Settings) =>
      shop.basketDiscounts.flatMap((discount) => [discount.minimumAmount, discount.absolute]),
  },
] as const;

/** Of locales, currencies, countries: the default is offered, and nothing twice. */
function* offerProblems(section: string, offer: { default: string; items: string[] }): Generator<Problem> {
  if (!offer.items.includes(offer.default)) {
    yield {
      path: [section, 'default'],
      text: `is ${offer.default}, expected one of ${section}.items (${offer.items.join(', ')})`,
    };
  }
  for (const [index, item] of offer.items.entries()) {
    if (offer.items.indexOf(item) < index) {
      yield { path: [section, 'items', index], text: `${item} is named twice` };
    }
  }
}
