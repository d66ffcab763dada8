import type { TSchema } from 'typebox';
import { isCountry } from '../countries/countries.ts';
import { isCurrency, parseDecimal } from '../../kernel/money.ts';
import { suggestion } from '../../kernel/suggestion.ts';
import { documentOf } from './conversion.ts';
import { isAmount } from './fields.ts';
import { invoicingProblems } from './invoicing.ts';
import type { Problem } from './problem.ts';
import {
  amountProblems,
  ascendingProblems,
  countryCodeProblems,
  nameProblems,
  percentProblems,
  duplicateProblems,
  textProblems,
  type Frame,
} from './rules.ts';
import {
  PRICE_FIELDS,
  SettingsSchema,
  SHIPPING_PRICES,
  type SectionName,
  type SettingsFile,
} from './schema.ts';
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
    ...manufacturerProblems(file, frame),
    ...deliveryTimeProblems(file, frame),
    ...invoicingProblems(file.invoicing ?? {}, frame),
    ...themeProblems(file.theme ?? {}),
    ...sections.flatMap((section) => {
      const value = sectionOf(file, section);
      return value === undefined ? [] : [...section.checks(value, frame)];
    }),
    ...(current ? missingSectionProblems(file, current) : []),
  ];
}

function* shopProblems(file: SettingsFile, frame: Frame): Generator<Problem> {
  if (file.name !== undefined) yield* nameProblems(['name'], file.name, frame);
  if (file.slogan) yield* textProblems(['slogan'], file.slogan, frame);
  if (file.crossSellingTitle) yield* textProblems(['crossSellingTitle'], file.crossSellingTitle, frame);
  if (file.country !== undefined) yield* countryCodeProblems(['country'], file.country);
}

/** Every shop of a private installation has such a host by itself. */
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
  yield* listProblems('locales', locales);
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
  yield* listProblems('currencies', currencies);
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
  yield* listProblems('countries', countries);
  for (const [index, country] of countries.items.entries()) {
    yield* countryCodeProblems(['countries', 'items', index], country);
  }
}

function* taxClassProblems({ taxClasses }: SettingsFile, frame: Frame): Generator<Problem> {
  if (!taxClasses) return;
  yield* duplicateProblems('taxClasses', 'key', taxClasses);
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
      yield* countryCodeProblems([...path, 'rates', country], country);
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
  yield* duplicateProblems('shippingMethods', 'key', shippingMethods);
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
    yield* ascendingProblems([...path, 'tiers'], method.tiers ?? []);
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
  yield* duplicateProblems('paymentMethods', 'key', paymentMethods);
  for (const [index, method] of paymentMethods.entries()) {
    yield* nameProblems(['paymentMethods', index, 'name'], method.name, frame);
    yield* amountProblems(['paymentMethods', index, 'price'], method.price, frame);
    if (method.releaseUnpaidAfterDays !== undefined && method.releaseUnpaidAfterMinutes !== undefined) {
      yield {
        path: ['paymentMethods', index],
        text: 'has releaseUnpaidAfterDays and releaseUnpaidAfterMinutes, expected one of them',
      };
    }
  }
}

function* discountProblems({ basketDiscounts = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* ascendingProblems(['basketDiscounts'], basketDiscounts);
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
  yield* duplicateProblems('newsletters', 'identifier', file.newsletters ?? []);
  for (const section of ['customerGroups', 'mandatoryAddressFields'] as const) {
    const names: readonly string[] = file[section] ?? [];
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index) yield { path: [section, index], text: `${name} is named twice` };
    }
  }
}

function* manufacturerProblems({ manufacturers = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('manufacturers', 'name', manufacturers);
  for (const [index, { safetyText }] of manufacturers.entries()) {
    if (safetyText) yield* textProblems(['manufacturers', index, 'safetyText'], safetyText, frame);
  }
}

function* deliveryTimeProblems({ deliveryTimes = {} }: SettingsFile, frame: Frame): Generator<Problem> {
  const { timeZone, methods = {} } = deliveryTimes;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    yield {
      path: ['deliveryTimes', 'timeZone'],
      text: `is ${timeZone}, expected the name of a time zone, such as Europe/Berlin`,
    };
  }
  for (const [key, { from, to }] of Object.entries(methods)) {
    const path = ['deliveryTimes', 'methods', key];
    if (frame.shippingMethods && !frame.shippingMethods.includes(key)) {
      yield {
        path,
        text: `is no shipping method of the shop, expected one of ${frame.shippingMethods.join(', ')}`,
      };
    }
    if (from > to) yield { path: [...path, 'to'], text: `is ${to}, expected ${from} or more` };
  }
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** Finds sections that the file must name as well, because their amounts or rates would get another meaning. */
function* missingSectionProblems(file: SettingsFile, current: Settings): Generator<Problem> {
  const currency = file.currencies?.default;
  if (currency !== undefined && currency !== current.defaultCurrency) {
    const missing = sectionsWithAmounts(current).filter((section) => !file[section]);
    if (missing.length > 0) {
      yield {
        path: ['currencies', 'default'],
        text: `changes from ${current.defaultCurrency} to ${currency}, so give these sections too, with amounts in ${currency}: ${missing.join(', ')}`,
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

/** Single amounts come before lists of them. */
function sectionsWithAmounts(settings: Settings): SectionName[] {
  const document = documentOf(settings);
  const sections = Object.entries(SettingsSchema.properties) as [SectionName, TSchema][];
  const names = sections.filter(([name, schema]) => hasAmount(schema, document[name])).map(([name]) => name);
  const isList = (name: SectionName) => Number(Array.isArray(document[name]));
  return names.toSorted((a, b) => isList(a) - isList(b));
}

/** Whether a part of a file holds an amount other than 0, which is the same in every currency. */
function hasAmount(schema: TSchema, written: unknown): boolean {
  if (isAmount(schema)) return Boolean(written);
  const { properties = {}, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  if (Array.isArray(written)) return written.some((item) => hasAmount(items!, item));
  return Object.entries(properties).some(([key, field]) =>
    hasAmount(field, (written as Record<string, unknown> | undefined)?.[key]),
  );
}

/** Checks that the default of locales, currencies or countries is in their list, and nothing is twice. */
function* listProblems(section: string, list: { default: string; items: string[] }): Generator<Problem> {
  if (!list.items.includes(list.default)) {
    yield {
      path: [section, 'default'],
      text: `is ${list.default}, expected one of ${section}.items (${list.items.join(', ')})`,
    };
  }
  for (const [index, item] of list.items.entries()) {
    if (list.items.indexOf(item) < index) {
      yield { path: [section, 'items', index], text: `${item} is named twice` };
    }
  }
}
