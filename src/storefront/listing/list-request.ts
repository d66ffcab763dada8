import { notFound } from '../../http/errors.ts';
import { toMinor } from '../../kernel/money.ts';
import type { Filters, SortBy } from '../../catalogue/search/queries.ts';
import type { Asked } from '../page-registration.ts';

export const PER_PAGE = 24;

/** What the address calls an order. */
export const SORTS = {
  relevance: { sortBy: 'rank', direction: 'desc' },
  name: { sortBy: 'name', direction: 'asc' },
  price: { sortBy: 'price', direction: 'asc' },
  'price-desc': { sortBy: 'price', direction: 'desc' },
  new: { sortBy: 'creation', direction: 'desc' },
} as const satisfies Record<string, { sortBy: SortBy; direction: 'asc' | 'desc' }>;
export type Sort = keyof typeof SORTS;

/** What a visitor wants to see of a list. */
export interface AskedList {
  page: number;
  sort: Sort;
  /** The order of a list that nobody asked for another one of. */
  usualSort: Sort;
  /** `m:Beacon`, `a:3:Brass`, `c:7`: as the listing holds them. */
  facets: string[];
  /** As they were typed; '' is no bound. */
  min: string;
  max: string;
  /** Whether the filters of a long list are to be shown. */
  showsFilters: boolean;
}

const FACET = /^(?:m:|c:\d{1,15}$|a:-?\d{1,15}:)/;
const MOST_FACETS = 20;
const LONGEST = 500;

export function askedList({ query, queries }: Asked, usualSort: Sort): AskedList {
  const page = query('page') ?? '1';
  if (!/^[1-9]\d{0,5}$/.test(page)) throw notFound();
  const sort = query('sort') ?? '';
  const text = (name: string) => (query(name) ?? '').trim().slice(0, 40);
  return {
    page: Number(page),
    sort: Object.hasOwn(SORTS, sort) ? (sort as Sort) : usualSort,
    usualSort,
    facets: [...new Set(queries('f'))]
      .filter((facet) => FACET.test(facet) && facet.length <= LONGEST)
      .slice(0, MOST_FACETS),
    min: text('min'),
    max: text('max'),
    showsFilters: query('filter') === '1',
  };
}

export function isFiltered({ facets, min, max }: AskedList): boolean {
  return facets.length > 0 || min !== '' || max !== '';
}

/** Minor units of the default currency, which lists are sorted by; undefined: that is no amount. */
export function bound(typed: string, currency: string): number | null | undefined {
  if (typed === '') return null;
  const minor = toMinor(typed.replace(',', '.'), currency);
  return minor !== undefined && minor >= 0 ? minor : undefined;
}

/** What is no amount is no filter: the field says so. */
export function filtersOf({ facets, min, max }: AskedList, currency: string): Filters {
  return { facets, minimum: bound(min, currency) ?? null, maximum: bound(max, currency) ?? null };
}

/** The parameters of the address of the same list, with changes; what is usual is left out. */
export function queryOf(
  asked: AskedList,
  changes: Partial<AskedList> = {},
): Record<string, string | string[] | null> {
  const { page, sort, usualSort, facets, min, max, showsFilters } = { ...asked, page: 1, ...changes };
  return {
    f: facets,
    min: min === '' ? null : min,
    max: max === '' ? null : max,
    sort: sort === usualSort ? null : sort,
    filter: showsFilters ? '1' : null,
    page: page === 1 ? null : String(page),
  };
}
