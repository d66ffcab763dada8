import { FILTERS, type FilterName, type FilterValues } from '../../people/customers/segments.ts';
import { countryName, isCountry } from '../../shops/countries/countries.ts';
import { isDate } from '../../http/dates.ts';
import { isId } from '../../kernel/ids.ts';
import { isCurrency, toMinor } from '../../kernel/money.ts';
import { plainDay } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';
import type { CustomerFilter } from './find-people.ts';

const MAX_TAGS = 5;
const MAX_COUNT = 1_000_000_000;
const DAY = 86_400_000;

/** The filter of the list: values that make no sense are ignored, as if they were not there. */
export function toFilter(
  valueOf: (name: FilterName) => string,
  { defaultCurrency }: Pick<ShopVisit['settings'], 'defaultCurrency'>,
): CustomerFilter {
  const currency = isCurrency(valueOf('currency')) ? valueOf('currency') : defaultCurrency;
  const country = valueOf('country').toUpperCase();
  const newsletter = valueOf('newsletter');
  const language = valueOf('language');
  const group = valueOf('group');
  const last = { after: momentOf(valueOf('after')), before: momentOf(valueOf('before')) };
  return {
    text: valueOf('q').trim(),
    customerGroupId: isId(group) ? group : '',
    tags: [...new Set(typedTags(valueOf('tags')).map((tag) => tag.toLowerCase()))].slice(0, MAX_TAGS),
    country: isCountry(country) ? country : '',
    language: /^[a-z]{2}$/.test(language) ? language : '',
    isSubscribed: newsletter === 'yes' ? true : newsletter === 'no' ? false : undefined,
    minOrders: countOf(valueOf('minOrders')),
    maxOrders: countOf(valueOf('maxOrders')),
    currency,
    minWorth: amountOf(valueOf('minValue'), currency),
    maxWorth: amountOf(valueOf('maxValue'), currency),
    lastOrderFrom: last.after,
    // The day itself is not included.
    lastOrderBefore: last.before,
  };
}

/** `wholesale, Berlin` */
export const typedTags = (text: string) =>
  text
    .split(',')
    .map((tag) => tag.trim().replaceAll(/\s+/g, ' '))
    .filter((tag) => tag !== '');

function countOf(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Math.min(Number(text), MAX_COUNT) : undefined;
}

function amountOf(text: string, currency: string): number | undefined {
  return /^-?\d{1,12}([.,]\d{1,6})?$/.test(text) ? toMinor(text.replace(',', '.'), currency) : undefined;
}

function momentOf(text: string): Date | undefined {
  return isDate(text) ? new Date(`${text}T00:00:00Z`) : undefined;
}

/** Only the values that choose something. */
export function givenValues(valueOf: (name: FilterName) => string): FilterValues {
  const given = FILTERS.map((name): [FilterName, string] => [name, valueOf(name).trim()]);
  const chosen = given.filter(([name, value]) => value !== '' && name !== 'currency');
  const hasAmount = chosen.some(([name]) => name === 'minValue' || name === 'maxValue');
  return Object.fromEntries(
    given.filter(([name, value]) => value !== '' && (name !== 'currency' || hasAmount)),
  );
}

/** The conditions of a segment in words: `Country: Germany`. */
export function filterText(visit: ShopVisit, values: FilterValues): string {
  const { messages, language, settings } = visit;
  const words = messages.customers;
  const valueText = (name: FilterName, value: string): string => {
    switch (name) {
      case 'group':
        return (
          settings.customerGroups.find(({ customerGroupId }) => customerGroupId === value)?.name ??
          words.unknown
        );
      case 'country':
        return isCountry(value) ? countryName(value, language) : value;
      case 'language':
        return languageName(value, language);
      case 'newsletter':
        return value === 'yes' ? words.subscribed : words.notSubscribed;
      case 'after':
      case 'before':
        return isDate(value) ? plainDay(new Date(Date.parse(value) + DAY / 2), language) : value;
      case 'q':
      case 'tags':
      case 'minOrders':
      case 'maxOrders':
      case 'minValue':
      case 'maxValue':
      case 'currency':
        return value;
    }
  };
  return FILTERS.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [`${words.filters[name]}: ${valueText(name, value)}`];
  }).join(' · ');
}

export function languageName(code: string, language: string): string {
  return /^[a-z]{2}$/.test(code)
    ? (new Intl.DisplayNames(language, { type: 'language' }).of(code) ?? code)
    : code;
}
