import { notFound } from '../../http/errors.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { toMinor } from '../../kernel/money.ts';
import type { Filters, SortBy } from '../../catalogue/search/faceted-search.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { chosenFields, isFieldAddress, isOfLanguage } from './field-facets.ts';

export const PER_PAGE = 24;

/** The names of sort orders in addresses. */
export const SORTS = {
  relevance: { sortBy: 'rank', direction: 'desc' },
  name: { sortBy: 'name', direction: 'asc' },
  price: { sortBy: 'price', direction: 'asc' },
  'price-desc': { sortBy: 'price', direction: 'desc' },
  new: { sortBy: 'creation', direction: 'desc' },
} as const satisfies Record<string, { sortBy: SortBy; direction: 'asc' | 'desc' }>;
export type Sort = keyof typeof SORTS;

/** The part of a list that a visitor requests, from the parameters of the address. */
export interface ListRequest {
  page: number;
  sort: Sort;
  /** The order of the list when the address names none. */
  defaultSort: Sort;
  /** `m:Beacon`, `a:3:Brass`, `c:7`, as the listing table stores them, and `f:care.washing:cold`. */
  facets: string[];
  /** Both prices as they were typed; '' is no bound. */
  min: string;
  max: string;
  /** Long lists show their filters on demand only. */
  showsFilters: boolean;
}

const FACET = /^(?:m:|c:\d{1,15}$|a:-?\d{1,15}:)/;
const MAX_FACETS = 20;
const MAX_FACET_LENGTH = 500;

/** Values of another language are left out: a shopper who changes the language goes on with the other filters. */
export function parseListRequest(
  { query, queryList }: PageRequest,
  defaultSort: Sort,
  locale: string,
): ListRequest {
  const page = query('page') ?? '1';
  if (!/^[1-9]\d{0,5}$/.test(page)) throw notFound();
  const sort = query('sort') ?? '';
  const text = (name: string) => (query(name) ?? '').trim().slice(0, 40);
  return {
    page: Number(page),
    sort: Object.hasOwn(SORTS, sort) ? (sort as Sort) : defaultSort,
    defaultSort,
    facets: [...new Set(queryList('f'))]
      .filter((facet) => (FACET.test(facet) || isFieldAddress(facet)) && facet.length <= MAX_FACET_LENGTH)
      .filter((facet) => isOfLanguage(facet, locale))
      .slice(0, MAX_FACETS),
    min: text('min'),
    max: text('max'),
    showsFilters: query('filter') === '1',
  };
}

export function isFiltered({ facets, min, max }: ListRequest): boolean {
  return facets.length > 0 || min !== '' || max !== '';
}

/** In minor units of the default currency, which lists are sorted by. null: no bound; undefined: not an amount. */
export function priceBound(typed: string, currency: string): number | null | undefined {
  if (typed === '') return null;
  const minor = toMinor(typed.replace(',', '.'), currency);
  return minor !== undefined && minor >= 0 ? minor : undefined;
}

/** A text that is not an amount does not filter; its field shows an error. */
export function toFilters({ facets, min, max }: ListRequest, settings: Settings): Filters {
  const { defaultCurrency } = settings;
  return {
    facets: facets.filter((facet) => !isFieldAddress(facet)),
    fields: chosenFields(facets, settings),
    minimum: priceBound(min, defaultCurrency) ?? null,
    maximum: priceBound(max, defaultCurrency) ?? null,
  };
}

/** The parameters of the address of the same list with some changes. Defaults are left out. */
export function listQuery(
  list: ListRequest,
  changes: Partial<ListRequest> = {},
): Record<string, string | string[] | null> {
  const { page, sort, defaultSort, facets, min, max, showsFilters } = { ...list, page: 1, ...changes };
  return {
    f: facets,
    min: min === '' ? null : min,
    max: max === '' ? null : max,
    sort: sort === defaultSort ? null : sort,
    filter: showsFilters ? '1' : null,
    page: page === 1 ? null : String(page),
  };
}
