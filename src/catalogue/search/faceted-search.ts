import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { ORDERS, pageVersions, toProductPage, type ProductPage } from '../products/listing-page.ts';
import { findAlternative } from './alternatives.ts';
import { longestFirst, rank, type SearchTerms } from './conditions.ts';
import { hits, MAX_RANKED, type ShopSize } from './hits.ts';
import { numberTerm, queryText } from './query.ts';
import { searchOnce } from './search-cache.ts';

export type SortBy = 'rank' | 'name' | 'number' | 'creation' | 'price';

/** The conditions on a hit. Prices in minor units of the default currency. */
export interface Filters {
  /** As stored in the listing: `m:Beacon`. A hit has all of them. */
  facets: readonly string[];
  /** A hit has one of these; absent: any or none. */
  oneOf?: readonly string[];
  /** Of each of these custom fields a hit has a chosen value. */
  fields?: readonly ChosenField[];
  minimum: number | null;
  maximum: number | null;
}

/** Values of a custom field, as the listing stores them. */
export interface ChosenField {
  fieldId: string;
  facets: readonly string[];
}

/** A facet, as `m:Beacon`, with its number of hits. */
export interface FacetCount {
  facet: string;
  matches: number;
}

export interface FacetedPage extends ProductPage {
  /** The most frequent of each kind. */
  facets: FacetCount[];
  /** The visible categories among them. The version of the settings moves with each change of a category. */
  categories: CategoryName[];
  lowest: number | null;
  highest: number | null;
  /** The facets are counted from a part of the products. */
  isSampled: boolean;
}

export interface FacetedOptions extends SearchTerms {
  /** Also the values of custom fields among the facets. */
  withFields?: boolean;
  locale: string;
  filters: Filters;
  sortBy: SortBy;
  direction: 'asc' | 'desc';
  limit: number;
  offset: number;
}

export const MAX_VALUES = 100;

/**
 * The default order by rank, best first, has its own statement; the others share one, which computes only the value
 * that the order needs, so that the number of statements stays small. Hits without such a value come last, equal ones
 * follow by name.
 */
function orderOf(sortBy: SortBy, direction: 'asc' | 'desc'): Sql {
  if (sortBy === 'rank') return sql`rank desc, name, product_id`;
  const is = (by: SortBy, towards: 'asc' | 'desc') => sql`${sortBy === by && direction === towards}`;
  return sql`
    case when ${is('price', 'asc')} then price when ${is('price', 'desc')} then -price end,
    case when ${is('name', 'desc')} then name end desc nulls last,
    case when ${is('number', 'asc')} then number end,
    case when ${is('number', 'desc')} then number end desc nulls last,
    case when ${is('creation', 'asc')} then product_id end,
    case when ${is('creation', 'desc')} then product_id end desc nulls last,
    name, product_id`;
}

export function findFaceted(db: Queries, shopId: string, options: FacetedOptions): Promise<FacetedPage> {
  return searchOnce(db, shopId, { ...options, facets: true }, (size) =>
    readFaceted(db, shopId, { ...options, ...size }),
  );
}

/** Finds the hits once, and from them their number, the facets, and one page. */
async function readFaceted(
  db: Queries,
  shopId: string,
  options: FacetedOptions & ShopSize,
): Promise<FacetedPage> {
  const { locale, terms, filters, sortBy, direction, limit, offset, withFields = false } = options;
  const found = hits(shopId, {
    ...options,
    includeInvisible: false,
    columns: sql`listing.product_id, listing.name, listing.price, listing.facets,
      ${sortBy === 'rank' ? rank(terms, locale) : sql`0`} as rank, ${numberOf(shopId, sortBy)} as number`,
    narrowed: matchesFilters(filters),
    listOrder: ORDERS.name.asc,
    most: MAX_RANKED,
  });
  const page = pageVersions(shopId, sql`select * from hit`, orderOf(sortBy, direction), limit, offset);
  const [row] = await db.search<
    ProductPage & Pick<FacetedPage, 'lowest' | 'highest'> & { facets: FacetCount[] | null }
  >(sql`
    with ${found}, facet as materialized (
      select facet, count(*) as matches from (select unnest(facets) as facet from hit) as entry
      where ${withFields}::boolean or not starts_with(facet, 'f:') group by facet
    )
    select settings_version as "settingsVersion", total.results, total.is_more as "isMore", range.lowest,
      greatest(range.highest, ${highestVariationPrice}) as highest, ${frequentFacets(filters)} as facets, ${page} as versions
    from shop cross join total
    cross join (select min(price) as lowest, max(price) as highest from hit) as range
    where shop_id = ${shopId}`);
  const others = filters.fields?.length ? await countOtherValues(db, shopId, options, filters.fields) : NONE;
  const facets = sumOf([...(row?.facets ?? []), ...others.facets]);
  const products = toProductPage(row);
  return {
    ...products,
    isSampled: products.isMore || others.isMore,
    facets,
    categories: await findCategoryNames(db, shopId, categoryNumbers(facets)),
    lowest: row?.lowest ?? null,
    highest: row?.highest ?? null,
  };
}

interface OtherValues {
  facets: FacetCount[];
  isMore: boolean;
}

const NONE: OtherValues = { facets: [], isMore: false };

/**
 * Values of the chosen fields that products beside the hits have: those that lack a chosen value of one field only, and
 * so become hits when another value of that field is chosen as well.
 */
async function countOtherValues(
  db: Queries,
  shopId: string,
  options: FacetedOptions & ShopSize,
  fields: readonly ChosenField[],
): Promise<OtherValues> {
  const { filters } = options;
  const lacked = sql`(
    select case when count(*) = 1 then min(field) end from (${lackedFields(fields)}) as lacked)`;
  const found = hits(shopId, {
    ...options,
    includeInvisible: false,
    columns: sql`listing.product_id, listing.name, listing.price, listing.facets, ${lacked} as lacked`,
    narrowed: sql`${matchesFilters({ ...filters, fields: [] })} and ${lacked} is not null`,
    listOrder: ORDERS.name.asc,
    most: MAX_RANKED,
  });
  const [row] = await db.search<{ isMore: boolean; facets: FacetCount[] | null }>(sql`
    with ${found}, facet as materialized (
      select facet, count(*) as matches from (select unnest(facets) as facet, lacked from hit) as entry
      where starts_with(facet, 'f:' || lacked || ':') group by facet
    )
    select total.is_more as "isMore", ${frequentFacets(filters)} as facets
    from shop cross join total where shop_id = ${shopId}`);
  return { facets: row?.facets ?? [], isMore: row?.isMore ?? false };
}

/** The chosen fields of which a product has no chosen value. */
function lackedFields(fields: readonly ChosenField[]): Sql {
  const chosen = fields.flatMap(({ fieldId, facets }) => facets.map((facet) => ({ fieldId, facet })));
  return sql`
    select field from unnest(
      ${chosen.map(({ fieldId }) => fieldId)}::text[], ${chosen.map(({ facet }) => facet)}::text[]
    ) as chosen (field, facet)
    group by field having not bool_or(facet = any (listing.facets))`;
}

function sumOf(counts: readonly FacetCount[]): FacetCount[] {
  const sums = new Map<string, number>();
  for (const { facet, matches } of counts) sums.set(facet, (sums.get(facet) ?? 0) + matches);
  return [...sums].map(([facet, matches]) => ({ facet, matches }));
}

/** The price of a master is that of its cheapest variation; the facet `p:` holds that of its most expensive one. */
const highestVariationPrice = sql`(
  select max(substr(facet, 3)::bigint) from facet where starts_with(facet, 'p:'))`;

/** The most frequent values of each kind, attribute and custom field, and always those that are filtered by. */
function frequentFacets({ facets, fields = [] }: Filters): Sql {
  const chosen = [...facets, ...fields.flatMap((field) => field.facets)];
  return sql`(
    select json_agg(json_build_object('facet', facet, 'matches', matches) order by matches desc, facet)
    from (
      select facet, matches, row_number() over (
        partition by split_part(facet, ':', 1), case
          when starts_with(facet, 'a:') or starts_with(facet, 'f:') then split_part(facet, ':', 2) end
        order by matches desc, facet) as place
      from facet where not starts_with(facet, 'p:')
    ) as counted
    where place <= ${MAX_VALUES} or facet = any (${chosen}))`;
}

/** The product number is read only for the order that needs it. */
function numberOf(shopId: string, sortBy: SortBy): Sql {
  return sql`case when ${sortBy === 'number'} then (
    select product_number from product where shop_id = ${shopId} and product_id = listing.product_id) end`;
}

/** A master is offered from its lowest to its highest price: part of that range must lie within the bounds. */
function matchesFilters({ facets, oneOf, fields = [], minimum, maximum }: Filters): Sql {
  const hasFacets = facets.length === 0 ? sql`` : sql`listing.facets @> ${facets} and`;
  const hasOneOf = oneOf === undefined ? sql`` : sql`listing.facets && ${oneOf} and`;
  // The first field finds products by the index.
  const hasFields =
    fields.length === 0
      ? sql``
      : sql`listing.facets && ${fields[0]!.facets} and not exists (${lackedFields(fields)}) and`;
  return sql`${hasFacets} ${hasOneOf} ${hasFields} (${maximum}::bigint is null or listing.price <= ${maximum})
    and (${minimum}::bigint is null or listing.price >= ${minimum} or exists (
      select from unnest(listing.facets) as facet
      where starts_with(facet, 'p:') and substr(facet, 3)::bigint >= ${minimum}))`;
}

/**
 * The hits; if there are none, those of a number in another spelling, of the corrected words, or of some of the words.
 * `fallbackQuery` contains the words searched for instead.
 */
export function findOrFallBack(db: Queries, shopId: string, options: FacetedOptions) {
  return searchOnce(db, shopId, { ...options, fallsBack: true }, (size) =>
    readOrFallBack(db, shopId, { ...options, ...size }),
  );
}

async function readOrFallBack(db: Queries, shopId: string, options: FacetedOptions & ShopSize) {
  const { terms, filters, ownWords } = options;
  const find = async (searched: SearchTerms, fallbackQuery: string) => ({
    ...(await readFaceted(db, shopId, { ...options, ownWords: false, ...searched })),
    filters,
    fallbackQuery,
  });
  const number = numberTerm(terms);
  let found = await find({ terms, ownWords: ownWords ?? false }, '');
  if (found.results > 0 || terms.length === 0) return found;
  // Parts of words were already searched.
  const related = ownWords ? [{ terms, wordsOnly: true }] : [];
  for (const searched of [...related, ...(number ? [{ terms: [number] }] : [])]) {
    found = await find(searched, '');
    if (found.results > 0) return found;
  }

  const scope = { locale: options.locale, includeInvisible: false };
  const isFiltered =
    filters.facets.length > 0 ||
    (filters.fields ?? []).length > 0 ||
    filters.minimum !== null ||
    filters.maximum !== null;
  const isUnknown = terms.length === 1 && !isFiltered;
  const { known, alternative, isCorrected } = await findAlternative(db, shopId, scope, terms, isUnknown);
  const fallbacks: SearchTerms[] = [
    ...(alternative ? [alternative] : []),
    ...(known.length > 1 && isCorrected ? [{ terms: known, oneByOne: true }] : []),
    // The longest word is the most specific.
    ...(terms.length > 1
      ? longestFirst(known)
          .slice(0, 1)
          .map((term) => ({ terms: [term] }))
      : []),
  ];
  for (const searched of fallbacks) {
    const isSame = searched === alternative && !isCorrected;
    const instead = await find(searched, isSame ? '' : queryText(searched.terms));
    if (instead.results > 0) return instead;
  }
  return found;
}

/** The numbers of the categories among the facets. */
function categoryNumbers(counts: readonly FacetCount[]): number[] {
  return counts.flatMap(({ facet }) => (facet.startsWith('c:') ? [Number(facet.slice(2))] : []));
}

export interface CategoryName {
  number: number;
  name: Record<string, string>;
  alias: string;
}

/** The names of the visible ones among these categories. */
async function findCategoryNames(
  db: Queries,
  shopId: string,
  numbers: readonly number[],
): Promise<CategoryName[]> {
  if (numbers.length === 0) return [];
  return db.many(sql`
    select number, name, alias from category
    where shop_id = ${shopId} and visible and number = any (${numbers}::bigint[])`);
}
