import { isDate } from '../../http/dates.ts';
import { isId } from '../../kernel/ids.ts';
import { isCurrency, toMinor } from '../../kernel/money.ts';
import { isCountry } from '../../shops/countries/countries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { CustomerFilter } from './find-people.ts';
import type { FilterName } from './segments.ts';

const MAX_TAGS = 5;
const MAX_COUNT = 1_000_000_000;

/** The filter of the list: values that make no sense are ignored, as if they were not there. */
export function toFilter(
  valueOf: (name: FilterName) => string,
  { defaultCurrency }: Pick<Settings, 'defaultCurrency'>,
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
