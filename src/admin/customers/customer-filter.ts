import { displayName } from '../../kernel/display-names.ts';
import { FILTERS, type FilterName, type FilterValues } from '../../people/customers/segments.ts';
import { countryName, isCountry } from '../../shops/countries/countries.ts';
import { isDate } from '../../http/dates.ts';
import { plainDay } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';

const DAY = 86_400_000;

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
export function segmentText(visit: ShopVisit, values: FilterValues): string {
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
        return languageText(value, language);
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

export function languageText(code: string, language: string): string {
  return /^[a-z]{2}$/.test(code) ? displayName(code, 'language', language) : code;
}
