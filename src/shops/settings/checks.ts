import { invoicingProblems } from './invoicing.ts';
import { missingSectionProblems } from './missing-sections.ts';
import type { Problem } from './problem.ts';
import { priceListProblems, visibilityProblems } from './price-list-checks.ts';
import { promotionProblems } from './promotion-checks.ts';
import { regionProblems } from './region-checks.ts';
import {
  amountProblems,
  ascendingProblems,
  countryCodeProblems,
  duplicateProblems,
  nameProblems,
  percentProblems,
  repeatedProblems,
  textProblems,
  type Frame,
} from './rules.ts';
import type { SettingsFile } from './schema.ts';
import { sectionOf, type SettingsSection } from './section.ts';
import type { Settings } from './settings.ts';
import { deliveryTimeProblems, shippingProblems } from './shipping-checks.ts';
import { themeProblems } from './theme.ts';

/**
 * Checks a well-formed file for problems that no schema can express. Without `current` only the file itself is
 * checked, so that a file can be refused before its shop is known.
 */
export function* contentProblems(
  file: SettingsFile,
  sections: readonly SettingsSection[],
  current?: Settings,
): Generator<Problem> {
  const frame: Frame = {
    locales: file.locales?.items ?? current?.locales,
    defaultLocale: file.locales?.default ?? current?.defaultLocale,
    currencies: file.currencies?.items ?? current?.currencies,
    currency: file.currencies?.default ?? current?.defaultCurrency,
    country: file.country ?? current?.country,
    shippingMethods: (file.shippingMethods ?? current?.shippingMethods)?.map(({ key }) => key),
    paymentMethods: (file.paymentMethods ?? current?.paymentMethods)?.map(({ key }) => key),
    customerGroups: file.customerGroups ?? current?.customerGroups.map(({ name }) => name),
    mailTexts: current?.mailTexts,
  };
  yield* shopProblems(file, frame);
  yield* domainProblems(file.domains ?? []);
  yield* regionProblems(file);
  for (const country of Object.keys(file.taxes?.registrations ?? {})) {
    yield* countryCodeProblems(['taxes', 'registrations', country], country);
  }
  yield* netPriceProblems(file.netPrices?.groups ?? [], frame);
  yield* taxClassProblems(file, frame);
  yield* shippingProblems(file, frame);
  yield* paymentProblems(file, frame);
  yield* discountProblems(file, frame);
  yield* promotionProblems(file, frame);
  yield* priceListProblems(file, frame);
  yield* visibilityProblems(file, frame);
  yield* otherProblems(file, frame);
  yield* manufacturerProblems(file, frame);
  yield* assistantProblems(file, frame);
  yield* deliveryTimeProblems(file, frame);
  yield* invoicingProblems(file.invoicing ?? {}, frame);
  yield* themeProblems(file.theme ?? {});
  for (const section of sections) {
    const value = sectionOf(file, section);
    if (value !== undefined) yield* section.checks(value, frame);
  }
  if (current) yield* missingSectionProblems(file, current);
}

function* shopProblems(file: SettingsFile, frame: Frame): Generator<Problem> {
  if (file.name !== undefined) yield* nameProblems(['name'], file.name, frame);
  if (file.slogan) yield* textProblems(['slogan'], file.slogan, frame);
  if (file.crossSellingTitle) yield* textProblems(['crossSellingTitle'], file.crossSellingTitle, frame);
  if (file.country !== undefined) yield* countryCodeProblems(['country'], file.country);
}

/** Every shop of a private installation has such a host by default. */
const LOCAL = /(?:^|\.)localhost\.?(?::|$)/;
const IP_ADDRESS = /^[\d.]+(?::|$)/;

export function* domainProblems(domains: readonly string[]): Generator<Problem> {
  const hosts = domains.map((domain) => domain.toLowerCase());
  for (const [index, host] of hosts.entries()) {
    const path = ['domains', index];
    const port = Number(host.split(':')[1] ?? 1);
    if (LOCAL.test(host)) {
      yield {
        path,
        text: `is ${host}, but names below localhost need no set-up and can't be set`,
        rule: { name: 'domainLocal', host },
      };
    } else if (IP_ADDRESS.test(host)) {
      yield {
        path,
        text: `is ${host}, expected a host name such as shop.example, not an address`,
        rule: { name: 'domainAddress', host },
      };
    } else if (port < 1 || port > 65_535) {
      yield { path, text: `is ${host}, expected a port from 1 to 65535`, rule: { name: 'domainPort' } };
    } else if (port === 80 || port === 443) {
      yield {
        path,
        text: `is ${host}; leave out :${port}, as browsers do`,
        rule: { name: 'domainUsualPort', port },
      };
    }
  }
  yield* repeatedProblems(['domains'], hosts);
}

function* taxClassProblems({ taxClasses }: SettingsFile, frame: Frame): Generator<Problem> {
  if (!taxClasses) return;
  yield* duplicateProblems('taxClasses', 'key', taxClasses);
  const defaults = taxClasses.filter((entry) => entry.default).map(({ key }) => key);
  if (defaults.length !== 1) {
    const found = defaults.length === 0 ? 'none is' : `${defaults.join(' and ')} are`;
    yield {
      path: ['taxClasses'],
      text: `${found} the default, expected default: true at exactly one class`,
      rule: { name: 'defaultTaxClass' },
    };
  }
  const digital = taxClasses.filter((entry) => entry.defaultDigital).map(({ key }) => key);
  if (digital.length > 1) {
    yield {
      path: ['taxClasses'],
      text: `${digital.join(' and ')} are the default of digital goods, expected defaultDigital: true at one class at most`,
      rule: { name: 'defaultTaxClassDigital' },
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
        rule: { name: 'missingTaxRate', country: frame.country },
      };
    }
  }
}

function* paymentProblems({ paymentMethods = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('paymentMethods', 'key', paymentMethods);
  for (const [index, method] of paymentMethods.entries()) {
    yield* nameProblems(['paymentMethods', index, 'name'], method.name, frame);
    yield* amountProblems(['paymentMethods', index, 'price'], method.price, frame);
    if ((method.provider === 'app') !== (method.app !== undefined)) {
      yield {
        path: ['paymentMethods', index, 'app'],
        text: 'expected with the provider app, and with no other',
        rule: { name: 'appOfPayment' },
      };
    }
    if (method.releaseUnpaidAfterDays !== undefined && method.releaseUnpaidAfterMinutes !== undefined) {
      yield {
        path: ['paymentMethods', index],
        text: 'has releaseUnpaidAfterDays and releaseUnpaidAfterMinutes, expected one of them',
        rule: { name: 'releaseTwice' },
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
      yield {
        path,
        text: `${found}, expected exactly one of them`,
        rule: { name: 'discountOrPercent' },
      };
    }
    yield* amountProblems([...path, 'from'], from, frame);
    yield* amountProblems([...path, 'absolute'], absolute, frame);
    if (absolute !== undefined && absolute > from) {
      yield {
        path: [...path, 'absolute'],
        text: `is ${absolute}, more than the goods are worth from ${from}`,
        rule: { name: 'discountTooHigh' },
      };
    }
    if (percent !== undefined) yield* percentProblems([...path, 'percent'], percent);
  }
}

function* otherProblems(file: SettingsFile, frame: Frame): Generator<Problem> {
  yield* amountProblems(['minimumCart', 'amount'], file.minimumCart?.amount, frame);
  const { maxPerOrder } = file;
  if (maxPerOrder && Number(maxPerOrder.toFixed(6)) !== maxPerOrder) {
    yield {
      path: ['maxPerOrder'],
      text: `is ${maxPerOrder}, expected at most 6 decimals`,
      rule: { name: 'decimals', limit: 6 },
    };
  }
  for (const [unit, names] of Object.entries(file.units ?? {})) {
    yield* textProblems(['units', unit], names, frame);
  }
  yield* duplicateProblems('newsletters', 'identifier', file.newsletters ?? []);
  for (const section of ['customerGroups', 'mandatoryAddressFields'] as const) {
    yield* repeatedProblems([section], file[section] ?? []);
  }
}

function* netPriceProblems(groups: readonly string[], { customerGroups }: Frame): Generator<Problem> {
  yield* repeatedProblems(['netPrices', 'groups'], groups);
  for (const [index, group] of groups.entries()) {
    if (!customerGroups || customerGroups.includes(group)) continue;
    yield {
      path: ['netPrices', 'groups', index],
      text: `is ${group}, which is no customer group of the shop`,
      rule: { name: 'unknownGroup' },
    };
  }
}

function* assistantProblems({ assistants }: SettingsFile, { paymentMethods }: Frame): Generator<Problem> {
  const key = assistants?.paymentMethod;
  if (key === undefined || !paymentMethods || paymentMethods.includes(key)) return;
  yield {
    path: ['assistants', 'paymentMethod'],
    text: `is ${key}, which is no payment method of the shop`,
    rule: { name: 'unknownPaymentMethod' },
  };
}

function* manufacturerProblems({ manufacturers = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('manufacturers', 'name', manufacturers);
  for (const [index, { safetyText }] of manufacturers.entries()) {
    if (safetyText) yield* textProblems(['manufacturers', index, 'safetyText'], safetyText, frame);
  }
}
