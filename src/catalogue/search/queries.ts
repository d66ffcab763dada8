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
import { inScope, longestFirst, rank, type SearchScope, type SearchTerms } from './conditions.ts';
import { hits, MOST_RANKED, MOST_SORTED } from './hits.ts';
import { searchOnce } from './search-cache.ts';
import {
  escapeLike,
  isCorrectable,
  isOneLetterOff,
  likePattern,
  numberTerm,
  parseQuery,
  probableWord,
  queryText,
  separateWords,
  typoExpression,
  unharmedEnds,
  wordWith,
  type Term,
} from './query.ts';

/**
 * Finds a page of what matches all terms by its own words. When nothing does, the names of categories and the values of
 * variations count too; then a number may be written in another way; then typing errors are corrected: a word that
 * occurs nowhere is replaced by the one that was probably meant.
 */
export function searchPage(
  db: Queries,
  shopId: string,
  options: PageOptions & { terms: readonly Term[] },
): Promise<ProductPage> {
  return searchOnce(db, shopId, options, () => findOrCorrect(db, shopId, options));
}

async function findOrCorrect(
  db: Queries,
  shopId: string,
  options: PageOptions & { terms: readonly Term[] },
): Promise<ProductPage> {
  const { terms } = options;
  const number = numberTerm(terms);
  let found = await findPage(db, shopId, { ...options, ownWords: true });
  // Parts of words were looked for already.
  for (const searched of [{ terms, wordsOnly: true }, ...(number ? [{ terms: [number] }] : [])]) {
    if (found.results > 0) return found;
    found = await findPage(db, shopId, { ...options, ...searched });
  }
  if (found.results > 0) return found;
  const isUnknown = terms.length === 1 && options.categoryId === undefined;
  const { alternative } = await findAlternative(db, shopId, options, terms, isUnknown);
  return alternative ? findPage(db, shopId, { ...options, ...alternative }) : found;
}

async function findPage(
  db: Queries,
  shopId: string,
  options: PageOptions & SearchTerms,
): Promise<ProductPage> {
  const { categoryId, sort, direction, limit, offset } = options;
  const inCategory =
    categoryId === undefined
      ? sql`true`
      : sql`listing.facets @> array['c:' || (
          select number from category
          where shop_id = ${shopId} and category_id = ${isId(categoryId) ? categoryId : WHOLE_SHOP})]`;
  const order = ORDERS[sort][direction];
  const found = hits(shopId, {
    ...options,
    columns: sql`product_id, name, price`,
    narrowed: inCategory,
    listOrder: order,
    most: MOST_SORTED,
  });
  const page = pageVersions(shopId, sql`select * from hit`, order, limit, offset);
  const row = await db.one<ProductPage>(sql`
    with ${found}
    select settings_version as "settingsVersion", total.results, total.is_more as "isMore", ${page} as versions
    from shop cross join total where shop_id = ${shopId}`);
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

/** Whether any product has the term: the first page of the search for it alone. */
async function occurs(db: Queries, shopId: string, scope: SearchScope, term: Term): Promise<boolean> {
  const { results } = await findPage(db, shopId, {
    ...scope,
    terms: [term],
    sort: 'name',
    direction: 'asc',
    limit: 1,
    offset: 0,
  });
  return results > 0;
}

/** The word that was probably meant: of those that are one letter off, the one that most products have. */
async function findProbableWord(
  db: Queries,
  shopId: string,
  scope: SearchScope,
  typed: string,
): Promise<string | undefined> {
  const similar = await findSimilarWords(db, shopId, scope.locale, typed);
  const words = similar.filter((word) => isOneLetterOff(typed.toLowerCase(), word));
  // One that no visible product has is found nowhere, so there is nothing to choose.
  return words.length > 1 ? mostFrequent(db, shopId, scope, words) : words[0];
}

/** A shop has a few words at most that are one letter off. */
const MOST_SIMILAR = 50;

/** Behind every letter, in the order of bytes. */
const LAST_CHARACTER = '\u{10FFFF}';

/** The indexes find by what an error has left of the word; the regular expression sorts out the rest. */
async function findSimilarWords(
  db: Queries,
  shopId: string,
  locale: string,
  typed: string,
): Promise<string[]> {
  const { beginning, end } = unharmedEnds(typed);
  const isSimilar = sql`' ' || word || ' ' ~ lower(${typoExpression(typed)})`;
  const rows = await db.many<{ word: string }>(sql`
    select word from listing_word
    where shop_id = ${shopId} and locale = ${locale} and word >= lower(${beginning})
      and word < lower(${beginning}) || ${LAST_CHARACTER} and ${isSimilar}
    union
    select word from listing_word
    where shop_id = ${shopId} and locale = ${locale} and reverse(word) >= reverse(lower(${end}))
      and reverse(word) < reverse(lower(${end})) || ${LAST_CHARACTER} and ${isSimilar}
    limit ${MOST_SIMILAR}`);
  return rows.map(({ word }) => word);
}

/** Products of a word that are counted. */
const MOST_COUNTED = 300;

/** The word that most products have; undefined: none has any of them. */
async function mostFrequent(
  db: Queries,
  shopId: string,
  scope: SearchScope,
  words: readonly string[],
): Promise<string | undefined> {
  const row = await db.one<{ word: string }>(sql`
    select given.word from shop cross join unnest(${words}::text[]) as given (word) cross join lateral (
      select true as found from listing
      where ${inScope(shopId, scope)} and listing.text like '% ' || given.word || ' %' limit ${MOST_COUNTED}
    ) as entry
    where shop.shop_id = ${shopId}
    group by given.word order by count(*) desc, given.word limit 1`);
  return row?.word;
}

export interface Suggestion {
  productId: string;
  name: string;
  imageKey: string | null;
  sizes: ImageSizes | null;
}

/** Names that are compared, however many match. */
const MOST_CANDIDATES = 500;

/** Names that are read from the list, in its order, before the index of letters is asked. */
const MOST_NAMES_READ = 2_000;

/** Fewer letters begin so many words that the index of letters would collect a large part of the shop. */
const FEWEST_LETTERS = 3;

/** Sorts behind every letter. */
const LAST = '\uFFFF';

/**
 * Names that contain the text: those that begin with it, then those of which a word does, then the rest. The first are
 * read from the index of names. When they are too few, the first names of the list are read: what many names contain is
 * found there, and the index of letters would collect all of them. Only then that index is asked, for three letters or
 * more. The parts are `materialized`, so that PostgreSQL counts one before it begins with the next.
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
  const listed = sql`shop_id = ${shopId} and locale = ${locale} and visible`;
  // As in a rank, the name is lowered by the default collation: that of its column takes several times as long.
  const name = sql`lower(name collate "default")`;
  const contains = sql`' ' || ${name} like (select lower(${pattern}))`;
  return db.many(sql`
    with beginning as materialized (
      select product_id, name from listing
      where ${listed} and name >= lower(${text}) and name < lower(${text}) || ${LAST} and ${name} like lower(${begins})
      order by name, product_id limit ${limit}
    ), first as materialized (
      select product_id, name from listing
      where ${listed} and (select count(*) from beginning) < ${limit}
      order by name, product_id limit ${MOST_NAMES_READ}
    ), early as materialized (
      select product_id, name from first where ${contains}
      union select product_id, name from beginning
    ), containing as materialized (
      select product_id, name from listing
      where ${inScope(shopId, { locale, includeInvisible: false })} and text like (select lower(${pattern}))
        and (select count(*) from early) < ${limit}
        and (select count(*) from first) = ${MOST_NAMES_READ} and ${Array.from(text).length >= FEWEST_LETTERS}
      limit ${MOST_CANDIDATES}
    ), candidate as (
      select product_id, name from early
      union
      select product_id, name from containing where ${contains}
    ), best as (
      select product_id, name, case
          when ${name} like (select lower(${begins})) then 0
          when ${name} like (select lower(${`% ${begins}`})) then 1
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
  const found = hits(shopId, {
    terms,
    locale,
    includeInvisible: false,
    columns: sql`listing.product_id, listing.name, ${rank(terms, locale)} as rank`,
    narrowed: sql`true`,
    listOrder: ORDERS.name.asc,
    most: MOST_CANDIDATES,
  });
  const best = pageVersions(shopId, sql`select * from hit`, sql`rank desc, name, product_id`, limit, 0);
  const row = await db.one<{ versions: string }>(sql`
    with ${found} select ${best} as versions from shop where shop_id = ${shopId}`);
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

export function findFaceted(db: Queries, shopId: string, options: FacetedOptions): Promise<FacetedPage> {
  return searchOnce(db, shopId, { ...options, facets: true }, () => readFaceted(db, shopId, options));
}

/**
 * Finds the hits once, and from them how many they are, what they can be narrowed by, and one page.
 */
async function readFaceted(db: Queries, shopId: string, options: FacetedOptions): Promise<FacetedPage> {
  const { locale, terms, filters, sortBy, direction, limit, offset } = options;
  const found = hits(shopId, {
    ...options,
    includeInvisible: false,
    columns: sql`listing.product_id, listing.name, listing.price, listing.facets,
      ${sortBy === 'rank' ? rank(terms, locale) : sql`0`} as rank, ${numberOf(shopId, sortBy)} as number`,
    narrowed: matchesFilters(filters),
    listOrder: ORDERS.name.asc,
    most: MOST_RANKED,
  });
  const page = pageVersions(shopId, sql`select * from hit`, orderOf(sortBy, direction), limit, offset);
  const row = await db.one<
    ProductPage & Pick<FacetedPage, 'lowest' | 'highest'> & { facets: FacetCount[] | null }
  >(sql`
    with ${found}, facet as materialized (
      select facet, count(*) as matches from (select unnest(facets) as facet from hit) as entry group by facet
    )
    select settings_version as "settingsVersion", total.results, total.is_more as "isMore", range.lowest,
      greatest(range.highest, ${highestVariationPrice}) as highest, ${frequentFacets(filters)} as facets, ${page} as versions
    from shop cross join total
    cross join (select min(price) as lowest, max(price) as highest from hit) as range
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
export function findOrFallBack(db: Queries, shopId: string, options: FacetedOptions) {
  return searchOnce(db, shopId, { ...options, fallsBack: true }, () => readOrFallBack(db, shopId, options));
}

async function readOrFallBack(db: Queries, shopId: string, options: FacetedOptions) {
  const { terms, filters, ownWords } = options;
  const find = async (searched: SearchTerms, fallbackQuery: string) => ({
    ...(await readFaceted(db, shopId, { ...options, ownWords: false, ...searched })),
    filters,
    fallbackQuery,
  });
  const number = numberTerm(terms);
  let found = await find({ terms, ownWords: ownWords ?? false }, '');
  if (found.results > 0 || terms.length === 0) return found;
  // Parts of words were looked for already.
  const related = ownWords ? [{ terms, wordsOnly: true }] : [];
  for (const searched of [...related, ...(number ? [{ terms: [number] }] : [])]) {
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
