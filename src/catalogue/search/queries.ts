import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import type { ImageSizes } from '../../platform/media/images.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import {
  ORDERS,
  pageVersions,
  toProductPage,
  WHOLE_SHOP,
  type PageOptions,
  type ProductPage,
} from '../products/listing-page.ts';
import {
  inScope,
  longestFirst,
  matchesTerms,
  rank,
  type SearchScope,
  type SearchTerms,
} from './conditions.ts';
import {
  escapeLike,
  isCorrectable,
  likePattern,
  numberTerm,
  parseQuery,
  probableWord,
  queryText,
  separateWords,
  typoExpression,
  typoPatterns,
  wordWith,
  type Term,
} from './query.ts';

/**
 * Finds a page of what matches all terms by its own words. When nothing does, the names of categories and the values of
 * variations count too; then a number may be written in another way; then typing errors are corrected: a word that
 * occurs nowhere is replaced by the one that was probably meant.
 */
export async function searchPage(
  db: Queries,
  shopId: string,
  options: PageOptions & { terms: readonly Term[] },
): Promise<ProductPage> {
  const { terms } = options;
  const number = numberTerm(terms);
  let found = await findPage(db, shopId, { ...options, ownWords: true });
  for (const searched of [{ terms }, ...(number ? [{ terms: [number] }] : [])]) {
    if (found.results > 0) return found;
    found = await findPage(db, shopId, { ...options, ...searched });
  }
  if (found.results > 0) return found;
  const isUnknown = terms.length === 1 && options.categoryId === undefined;
  const { alternative } = await findAlternative(db, shopId, options, terms, isUnknown);
  return alternative ? findPage(db, shopId, { ...options, ...alternative }) : found;
}

/**
 * `materialized` lets PostgreSQL collect the hits before it sorts them. Without it PostgreSQL may read all products in
 * the order of an index instead, in the hope that the first ones match.
 */
async function findPage(
  db: Queries,
  shopId: string,
  options: PageOptions & SearchTerms,
): Promise<ProductPage> {
  const { locale, categoryId, sort, direction, limit, offset } = options;
  const inCategory =
    categoryId === undefined
      ? sql`true`
      : sql`listing.facets @> array['c:' || (
          select number from category
          where shop_id = ${shopId} and category_id = ${isId(categoryId) ? categoryId : WHOLE_SHOP})]`;
  const page = pageVersions(shopId, sql`select * from hit`, ORDERS[sort][direction], limit, offset);
  const row = await db.one<ProductPage>(sql`
    with hit as materialized (
      select product_id, name, price from listing
      where ${inScope(shopId, options)} and ${matchesTerms(options, locale)} and ${inCategory}
    )
    select settings_version as "settingsVersion", (select count(*) from hit) as results, ${page} as versions
    from shop where shop_id = ${shopId}`);
  return toProductPage(row);
}

interface Alternative {
  /** The terms that occur, each by itself. */
  known: Term[];
  /** What may find something: the terms one by one, or the corrected ones. undefined: nothing will. */
  alternative: SearchTerms | undefined;
  isCorrected: boolean;
}

/** What to search for instead, after a search that found nothing; `isUnknown`: it has shown that no term occurs. */
async function findAlternative(
  db: Queries,
  shopId: string,
  scope: SearchScope,
  terms: readonly Term[],
  isUnknown = false,
): Promise<Alternative> {
  const known: Term[] = [];
  const corrected: Term[] = [];
  for (const term of terms) {
    const isKnown = !isUnknown && (await occurs(db, shopId, scope, term));
    const names = isKnown ? [] : await findRelatedNames(db, shopId, scope.locale);
    const whole = isKnown ? term.text : wordWith(term, names);
    if (whole !== undefined) {
      known.push({ ...term, text: whole });
      corrected.push({ ...term, text: whole });
    } else if (isCorrectable(term)) {
      const text = (await findProbableWord(db, shopId, scope, term.text)) ?? probableWord(term.text, names);
      if (text !== undefined) corrected.push({ text, isPhrase: false });
    }
  }
  const isCorrected = known.length < terms.length;
  const isChanged = corrected.some(({ text }, index) => text !== terms[index]?.text);
  const mayFind = corrected.length === terms.length && (isChanged || terms.length > 1);
  return {
    known,
    alternative: mayFind ? { terms: corrected, oneByOne: !isCorrected && terms.length > 1 } : undefined,
    isCorrected,
  };
}

/** A shop with more categories has its first ones corrected. */
const MOST_NAMES = 1_000;

/**
 * What categories and the values of attributes are called. Search knows these by whole words and their beginnings; they
 * are few, so that parts of them and typing errors are looked for here.
 */
async function findRelatedNames(db: Queries, shopId: string, locale: string): Promise<string[]> {
  const { productTypes, defaultLocale } = await shopSettings(db, shopId);
  const categories = await db.many<{ name: Localised }>(sql`
    select name from category where shop_id = ${shopId} and visible and parent_id is not null
    order by number limit ${MOST_NAMES}`);
  const values = productTypes.flatMap(({ attributes }) => attributes.flatMap((one) => one.values));
  return [...categories, ...values].flatMap(({ name }) => {
    const text = textIn(name, locale, defaultLocale);
    return text ? [separateWords(text).toLowerCase()] : [];
  });
}

/** Whether any product has the term. */
async function occurs(db: Queries, shopId: string, scope: SearchScope, term: Term): Promise<boolean> {
  const row = await db.one<{ occurs: boolean }>(sql`
    with hit as materialized (
      select true as found from listing
      where ${inScope(shopId, scope)} and ${matchesTerms({ terms: [term] }, scope.locale)}
    )
    select exists (select from hit) as occurs`);
  return row!.occurs;
}

/** Texts that are read to find out which word was probably meant. */
const MOST_SIMILAR = 300;

/** The patterns are answered by an index and find too much; the regular expression sorts out the rest. */
async function findProbableWord(
  db: Queries,
  shopId: string,
  scope: SearchScope,
  word: string,
): Promise<string | undefined> {
  const rows = await db.many<{ text: string }>(sql`
    with hit as materialized (
      select text from listing where ${inScope(shopId, scope)} and listing.text like any (array(
        select lower(pattern) from unnest(${typoPatterns(word)}::text[]) as pattern))
    )
    select text from hit where text ~ lower(${typoExpression(word)}) limit ${MOST_SIMILAR}`);
  return probableWord(
    word,
    rows.map(({ text }) => text),
  );
}

export interface Suggestion {
  productId: string;
  name: string;
  imageKey: string | null;
  sizes: ImageSizes | null;
}

/** Names that are compared, however many match. */
const MOST_CANDIDATES = 500;

/** Sorts behind every letter. */
const LAST = '\uFFFF';

/**
 * Names that contain the text: those that begin with it, then those of which a word does, then the rest. The first are
 * read from the index of names. Only when they are too few, the others are searched for: the parts are `materialized`,
 * so that PostgreSQL counts the first ones before it begins with the others.
 */
export function suggestProducts(
  db: Queries,
  shopId: string,
  locale: string,
  text: string,
  limit: number,
): Promise<Suggestion[]> {
  const begins = `${escapeLike(text)}%`;
  const pattern = likePattern({ text, isPhrase: text.includes(' ') });
  return db.many(sql`
    with beginning as materialized (
      select product_id, name from listing
      where shop_id = ${shopId} and locale = ${locale} and visible and name >= lower(${text})
        and name < lower(${text}) || ${LAST} and lower(name) like lower(${begins})
      order by name, product_id limit ${limit}
    ), containing as materialized (
      select product_id, name from listing
      where shop_id = ${shopId} and locale = ${locale} and visible and text like lower(${pattern})
        and (select count(*) from beginning) < ${limit}
    ), candidate as (
      select product_id, name from beginning
      union
      (
        select product_id, name from containing
        where ' ' || lower(name) like lower(${pattern}) limit ${MOST_CANDIDATES}
      )
    ), best as (
      select product_id, name, case
          when lower(name) like lower(${begins}) then 0
          when lower(name) like lower(${`% ${begins}`}) then 1
          else 2 end as place
      from candidate order by place, name, product_id limit ${limit}
    )
    select upper(best.product_id::text) as "productId", best.name, image.image_key as "imageKey", image.sizes
    from best
    join product on product.shop_id = ${shopId} and product.product_id = best.product_id
    left join product_image image on image.shop_id = ${shopId} and image.product_id = product.product_id
      and image.name = product.main_image
    order by best.place, best.name, best.product_id`);
}

/** The best of what a search finds, as the `versions` of a page. As with names, only so many are compared. */
export async function suggestMatches(
  db: Queries,
  shopId: string,
  locale: string,
  terms: readonly Term[],
  limit: number,
): Promise<string> {
  const best = pageVersions(shopId, sql`select * from hit`, sql`rank desc, name, product_id`, limit, 0);
  const row = await db.one<{ versions: string }>(sql`
    with hit as materialized (
      select listing.product_id, listing.name, ${rank(terms, locale)} as rank from listing
      where ${inScope(shopId, { locale, includeInvisible: false })} and ${matchesTerms({ terms }, locale)}
      limit ${MOST_CANDIDATES}
    )
    select ${best} as versions from shop where shop_id = ${shopId}`);
  return row?.versions ?? '';
}

export type SortBy = 'rank' | 'name' | 'number' | 'creation' | 'price';

/** What a hit must have. Prices in minor units of the default currency. */
export interface Filters {
  /** As the listing holds them: `m:Beacon`. A hit has all of them. */
  facets: readonly string[];
  /** A hit has one of these; absent: any or none. */
  oneOf?: readonly string[];
  minimum: number | null;
  maximum: number | null;
}

/** A facet, as `m:Beacon`, with its number of hits. */
export interface FacetCount {
  facet: string;
  matches: number;
}

export interface FacetedPage extends ProductPage {
  /** The most frequent of each kind. */
  facets: FacetCount[];
  lowest: number | null;
  highest: number | null;
}

export interface FacetedOptions extends SearchTerms {
  locale: string;
  filters: Filters;
  sortBy: SortBy;
  direction: 'asc' | 'desc';
  limit: number;
  offset: number;
}

export const MOST_VALUES = 100;

/**
 * The usual order by rank, best first, is a statement of its own; the others share one, which computes for each hit only
 * what the order needs, so that the number of statements stays small. Hits without such a value come last, equal ones
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

/**
 * Finds the hits once, and from them how many they are, what they can be narrowed by, and one page. `materialized` is
 * what makes it once: otherwise PostgreSQL would search again for each of the parts.
 */
export async function findFaceted(
  db: Queries,
  shopId: string,
  options: FacetedOptions,
): Promise<FacetedPage> {
  const { locale, terms, filters, sortBy, direction, limit, offset } = options;
  const page = pageVersions(shopId, sql`select * from hit`, orderOf(sortBy, direction), limit, offset);
  const row = await db.one<
    ProductPage & Pick<FacetedPage, 'lowest' | 'highest'> & { facets: FacetCount[] | null }
  >(sql`
    with hit as materialized (
      select listing.product_id, listing.name, listing.price, listing.facets,
        ${sortBy === 'rank' ? rank(terms, locale) : sql`0`} as rank, ${numberOf(shopId, sortBy)} as number
      from listing
      where ${inScope(shopId, { locale, includeInvisible: false })} and ${matchesTerms(options, locale)}
        and ${matchesFilters(filters)}
    ), facet as materialized (
      select facet, count(*) as matches from (select unnest(facets) as facet from hit) as entry group by facet
    )
    select settings_version as "settingsVersion", total.results, total.lowest,
      greatest(total.highest, ${highestVariationPrice}) as highest, ${frequentFacets(filters)} as facets, ${page} as versions
    from shop
    cross join (select count(*) as results, min(price) as lowest, max(price) as highest from hit) as total
    where shop_id = ${shopId}`);
  return {
    ...toProductPage(row),
    facets: row?.facets ?? [],
    lowest: row?.lowest ?? null,
    highest: row?.highest ?? null,
  };
}

/** The price of a master is that of its cheapest variation; the facet `p:` holds that of its dearest one. */
const highestVariationPrice = sql`(
  select max(substr(facet, 3)::bigint) from facet where starts_with(facet, 'p:'))`;

/** The most frequent values of each kind and of each attribute, and those that are filtered by in any case. */
function frequentFacets({ facets }: Filters): Sql {
  return sql`(
    select json_agg(json_build_object('facet', facet, 'matches', matches) order by matches desc, facet)
    from (
      select facet, matches, row_number() over (
        partition by split_part(facet, ':', 1), case when starts_with(facet, 'a:') then split_part(facet, ':', 2) end
        order by matches desc, facet) as place
      from facet where not starts_with(facet, 'p:')
    ) as counted
    where place <= ${MOST_VALUES} or facet = any (${facets}))`;
}

/** The number of a product is read only for the order that needs it. */
function numberOf(shopId: string, sortBy: SortBy): Sql {
  return sql`case when ${sortBy === 'number'} then (
    select product_number from product where shop_id = ${shopId} and product_id = listing.product_id) end`;
}

/** A master is offered from its lowest to its highest price: some of it must lie within the bounds. */
function matchesFilters({ facets, oneOf, minimum, maximum }: Filters): Sql {
  const hasFacets = facets.length === 0 ? sql`` : sql`listing.facets @> ${facets} and`;
  const hasOneOf = oneOf === undefined ? sql`` : sql`listing.facets && ${oneOf} and`;
  return sql`${hasFacets} ${hasOneOf} (${maximum}::bigint is null or listing.price <= ${maximum})
    and (${minimum}::bigint is null or listing.price >= ${minimum} or exists (
      select from unnest(listing.facets) as facet
      where starts_with(facet, 'p:') and substr(facet, 3)::bigint >= ${minimum}))`;
}

/**
 * The hits; if there are none, those of a number that is written in another way, of the corrected words, or at least
 * of some of the words. `fallbackQuery` says which words were searched for instead.
 */
export async function findOrFallBack(db: Queries, shopId: string, options: FacetedOptions) {
  const { terms, filters, ownWords } = options;
  const find = async (searched: SearchTerms, fallbackQuery: string) => ({
    ...(await findFaceted(db, shopId, { ...options, ownWords: false, ...searched })),
    filters,
    fallbackQuery,
  });
  const number = numberTerm(terms);
  let found = await find({ terms, ownWords: ownWords ?? false }, '');
  if (found.results > 0 || terms.length === 0) return found;
  for (const searched of [...(ownWords ? [{ terms }] : []), ...(number ? [{ terms: [number] }] : [])]) {
    found = await find(searched, '');
    if (found.results > 0) return found;
  }

  const scope = { locale: options.locale, includeInvisible: false };
  const isFiltered = filters.facets.length > 0 || filters.minimum !== null || filters.maximum !== null;
  const isUnknown = terms.length === 1 && !isFiltered;
  const { known, alternative, isCorrected } = await findAlternative(db, shopId, scope, terms, isUnknown);
  const fallbacks: SearchTerms[] = [
    ...(alternative ? [alternative] : []),
    ...(known.length > 1 && isCorrected ? [{ terms: known, oneByOne: true }] : []),
    // The longest word says most.
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

/** The products whose names contain the text; if there are none, those of the corrected words. */
export async function suggestOrFallBack(
  db: Queries,
  shopId: string,
  locale: string,
  text: string,
  limit: number,
): Promise<Suggestion[]> {
  const found = await suggestProducts(db, shopId, locale, text, limit);
  if (found.length > 0) return found;
  const terms = parseQuery(text.replaceAll('"', ' '));
  const scope = { locale, includeInvisible: false };
  const { alternative, isCorrected } = await findAlternative(db, shopId, scope, terms);
  if (!alternative || !isCorrected) return found;
  return suggestProducts(db, shopId, locale, alternative.terms.map((term) => term.text).join(' '), limit);
}

export interface CategoryName {
  number: number;
  name: Record<string, string>;
  alias: string;
}

/** The names of the visible ones among these categories. */
export function findCategoryNames(db: Queries, shopId: string, numbers: readonly number[]) {
  return db.many<CategoryName>(sql`
    select number, name, alias from category
    where shop_id = ${shopId} and visible and number = any (${numbers}::bigint[])`);
}
