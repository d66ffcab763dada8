import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { isId } from '../../kernel/ids.ts';
import type { ImageSizes } from '../../platform/media/images.ts';
import { dictionaryOf } from '../products/listing-entry.ts';
import {
  ORDERS,
  pageText,
  productPage,
  type PageOptions,
  type PageRow,
  type ProductPage,
} from '../products/listing.ts';
import {
  escapeLike,
  isCorrectable,
  likePattern,
  parseQuery,
  probableWord,
  queryText,
  typoExpression,
  typoPatterns,
  wordQuery,
  type Term,
} from './query.ts';

/** Where to look. */
export interface Place {
  locale: string;
  includeInvisible: boolean;
}

function within(shopId: string, { locale, includeInvisible }: Place): Sql {
  return sql`listing.shop_id = ${shopId} and listing.locale = ${locale} and (listing.visible or ${includeInvisible})`;
}

/*
 * A query has up to 20 terms, and its statement is the same for any number of them: the two longest find least, so they
 * stand in the conditions that the indexes answer; the others come as arrays, and what the two have found is compared
 * with them. `(select ...)` around a value lets PostgreSQL compute it once, and not for each row.
 */

/** A pattern that everything matches, where there is no second term. */
const ANYTHING = '%';

function longestFirst(terms: readonly Term[]): Term[] {
  return terms.toSorted((left, right) => right.text.length - left.text.length);
}

const lowered = (pattern: string) => sql`(select lower(${pattern}))`;

const loweredAll = (patterns: readonly string[]) => sql`array(
  select lower(pattern) from unnest(${patterns}::text[]) as pattern)`;

/**
 * All terms as they were typed, as parts of name, numbers, maker and keywords; or all of them as words, in any form,
 * of all texts. Two conditions, each of which one index answers: term by term it would be two for each, and
 * PostgreSQL would read all that matches the first term.
 */
function matches(terms: readonly Term[], locale: string): Sql {
  const [first, second = ANYTHING, ...others] = longestFirst(terms).map(likePattern);
  if (first === undefined) return sql`true`;
  return sql`(listing.text like ${lowered(first)} and listing.text like ${lowered(second)}
      and listing.text like all (${loweredAll(others)})
    or listing.words @@ ${wordsQuery(terms, locale)})`;
}

function wordsQuery(terms: readonly Term[], locale: string): Sql {
  return sql`(select to_tsquery(${dictionaryOf(locale)}::regconfig, ${terms.map(wordQuery).join(' & ')}))`;
}

/** Each of at least two terms in its own way: one as a part of the name, another one as a word of the description. */
function matchesOneByOne(terms: readonly Term[], locale: string): Sql {
  const [first, second, ...others] = longestFirst(terms);
  const matchesTerm = (term: Term) => sql`(
    listing.text like ${lowered(likePattern(term))} or listing.words @@ ${wordsQuery([term], locale)})`;
  return sql`${matchesTerm(first!)} and ${matchesTerm(second!)} and not exists (
    select from unnest(${others.map(likePattern)}::text[], ${others.map(wordQuery)}::text[]) as term (pattern, words)
    where not (listing.text like lower(pattern)
      or listing.words @@ to_tsquery(${dictionaryOf(locale)}::regconfig, term.words)))`;
}

/** `oneByOne` is the slower way, for when the quick one finds nothing; it needs two terms at least. */
export interface Wanted {
  terms: readonly Term[];
  oneByOne?: boolean;
}

function matching({ terms, oneByOne }: Wanted, locale: string): Sql {
  return oneByOne ? matchesOneByOne(terms, locale) : matches(terms, locale);
}

/**
 * A page of what matches all terms. When nothing does, typing errors are forgiven: words that occur nowhere are
 * taken for the ones that were probably meant.
 */
export async function searchPage(
  db: Queries,
  shopId: string,
  options: PageOptions & { terms: readonly Term[] },
): Promise<ProductPage> {
  const found = await findPage(db, shopId, options);
  if (found.results > 0) return found;
  const { wanted } = await secondTry(db, shopId, options, options.terms);
  return wanted ? findPage(db, shopId, { ...options, ...wanted }) : found;
}

/** The hits are collected before they are sorted: a plan that walks through a sorted index instead may never end. */
async function findPage(db: Queries, shopId: string, options: PageOptions & Wanted): Promise<ProductPage> {
  const { locale, categoryId, sort, direction, limit, offset } = options;
  const inCategory =
    categoryId === undefined
      ? sql`true`
      : sql`listing.facets @> array['c:' || (
          select number from category
          where shop_id = ${shopId} and category_id = ${isId(categoryId) ? categoryId : null})]`;
  const page = pageText(shopId, sql`select * from hit`, ORDERS[sort][direction], limit, offset);
  const row = await db.one<PageRow>(sql`
    with hit as materialized (
      select product_id, name, price from listing
      where ${within(shopId, options)} and ${matching(options, locale)} and ${inCategory}
    )
    select settings_version as "settingsVersion", (select count(*) from hit) as results, ${page} as page
    from shop where shop_id = ${shopId}`);
  return productPage(row);
}

export interface SecondTry {
  /** The terms that occur, each by itself. */
  known: Term[];
  /** What may find something: the terms one by one, or with the words that were meant. undefined: nothing will. */
  wanted: Wanted | undefined;
  isCorrected: boolean;
}

/** After a search that found nothing. */
export async function secondTry(
  db: Queries,
  shopId: string,
  place: Place,
  terms: readonly Term[],
): Promise<SecondTry> {
  const known: Term[] = [];
  const meant: Term[] = [];
  for (const term of terms) {
    if (await occurs(db, shopId, place, term)) {
      known.push(term);
      meant.push(term);
    } else if (isCorrectable(term)) {
      const text = await findProbableWord(db, shopId, place, term.text);
      if (text !== undefined) meant.push({ text, isPhrase: false });
    }
  }
  const isCorrected = known.length < terms.length;
  const isHopeful = meant.length === terms.length && (isCorrected || terms.length > 1);
  return {
    known,
    wanted: isHopeful ? { terms: meant, oneByOne: !isCorrected } : undefined,
    isCorrected,
  };
}

/** Whether there is any hit. */
async function occurs(db: Queries, shopId: string, place: Place, term: Term): Promise<boolean> {
  const row = await db.one<{ occurs: boolean }>(sql`
    with hit as materialized (
      select from listing where ${within(shopId, place)} and ${matches([term], place.locale)}
    )
    select exists (select from hit) as occurs`);
  return row!.occurs;
}

const MOST_RESEMBLING = 300;

async function findProbableWord(
  db: Queries,
  shopId: string,
  place: Place,
  word: string,
): Promise<string | undefined> {
  const rows = await db.many<{ text: string }>(sql`
    with hit as materialized (
      select text from listing where ${within(shopId, place)} and listing.text like any (array(
        select lower(pattern) from unnest(${typoPatterns(word)}::text[]) as pattern))
    )
    select text from hit where text ~ lower(${typoExpression(word)}) limit ${MOST_RESEMBLING}`);
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

/** However many match, not more than these are looked at. */
const MOST_CANDIDATES = 500;

/** Sorts behind every letter. */
const LAST = '\uFFFF';

/**
 * Names that contain the text: those that begin with it, then those of which a word does, then the rest. The first
 * are read from the index of names; only when they are too few, the others are looked for.
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

export type SortBy = 'rank' | 'name' | 'number' | 'creation' | 'price';

/** What a hit must have. Prices in minor units of the default currency. */
export interface Filters {
  /** `m:Beacon`, as the listing holds them; all of them. */
  facets: readonly string[];
  minimum: number | null;
  maximum: number | null;
}

export interface FacetedPage extends ProductPage {
  /** The most frequent of each kind: `m:Beacon` with its number of hits. */
  facets: { facet: string; matches: number }[];
  lowest: number | null;
  highest: number | null;
}

export interface FacetedOptions extends Wanted {
  locale: string;
  filters: Filters;
  sortBy: SortBy;
  direction: 'asc' | 'desc';
  limit: number;
  offset: number;
}

export const MOST_VALUES = 100;

/**
 * Equals follow by name. The usual order by rank, best first, is a statement of its own; the others share one, which
 * computes for each hit only what the asked order needs. What has no such value comes last.
 */
function orderOf(sortBy: SortBy, direction: 'asc' | 'desc'): Sql {
  if (sortBy === 'rank') return sql`rank desc, name, product_id`;
  const isAsked = (by: SortBy, towards: 'asc' | 'desc') => sql`${sortBy === by && direction === towards}`;
  return sql`
    case when ${isAsked('price', 'asc')} then price when ${isAsked('price', 'desc')} then -price end,
    case when ${isAsked('name', 'desc')} then name end desc nulls last,
    case when ${isAsked('number', 'asc')} then number end,
    case when ${isAsked('number', 'desc')} then number end desc nulls last,
    case when ${isAsked('creation', 'asc')} then product_id end,
    case when ${isAsked('creation', 'desc')} then product_id end desc nulls last,
    name, product_id`;
}

/** One scan: the hits, how many they are, what they can be narrowed by, and one page of them. */
export async function findFaceted(
  db: Queries,
  shopId: string,
  options: FacetedOptions,
): Promise<FacetedPage> {
  const { locale, terms, filters, sortBy, direction, limit, offset } = options;
  const order = orderOf(sortBy, direction);
  const row = await db.one<
    PageRow & { facets: string | null; lowest: number | null; highest: number | null }
  >(sql`
    with hit as materialized (
      select listing.product_id, listing.name, listing.price, listing.facets,
        ${sortBy === 'rank' ? rank(terms, locale) : sql`0`} as rank, ${numberOf(shopId, sortBy)} as number
      from listing
      where ${within(shopId, { locale, includeInvisible: false })} and ${matching(options, locale)}
        and ${filtered(filters)}
    ), facet as materialized (
      select facet, count(*) as matches from hit cross join unnest(hit.facets) as facet group by facet
    )
    select settings_version as "settingsVersion", (select count(*) from hit) as results,
      (select min(price) from hit) as lowest,
      greatest((select max(price) from hit), (
        select max(substr(facet, 3)::bigint) from facet where starts_with(facet, 'p:')
      )) as highest,
      (
        select json_agg(json_build_object('facet', facet, 'matches', matches) order by matches desc, facet)
        from (
          select facet, matches, row_number() over (
            partition by split_part(facet, ':', 1), case when starts_with(facet, 'a:') then split_part(facet, ':', 2) end
            order by matches desc, facet) as place
          from facet where not starts_with(facet, 'p:')
        ) as counted
        where place <= ${MOST_VALUES} or facet = any (${filters.facets})
      ) as facets,
      ${pageText(shopId, sql`select * from hit`, order, limit, offset)} as page
    from shop where shop_id = ${shopId}`);
  return {
    ...productPage(row),
    facets: (row?.facets ?? []) as unknown as FacetedPage['facets'],
    lowest: row?.lowest ?? null,
    highest: row?.highest ?? null,
  };
}

/** Terms that stand in the name count most; then how often and where the words occur. */
function rank(terms: readonly Term[], locale: string): Sql {
  const [first, second = null, ...others] = longestFirst(terms).map(({ text }) => `%${escapeLike(text)}%`);
  if (first === undefined) return sql`0`;
  const name = sql`lower(listing.name)`;
  return sql`(${name} like ${lowered(first)})::integer
    + case when ${second}::text is null then 0 else (${name} like (select lower(${second})))::integer end
    + case when ${others.length === 0} then 0 else (
        select count(*) from unnest(${loweredAll(others)}) as pattern where ${name} like pattern)::integer end
    + ts_rank(listing.words, ${wordsQuery(terms, locale)})`;
}

function numberOf(shopId: string, sortBy: SortBy): Sql {
  return sql`case when ${sortBy === 'number'} then (
    select product_number from product where shop_id = ${shopId} and product_id = listing.product_id) end`;
}

/** A master is offered from its lowest to its highest price: some of it must lie within the bounds. */
function filtered({ facets, minimum, maximum }: Filters): Sql {
  const hasFacets = facets.length === 0 ? sql`` : sql`listing.facets @> ${facets} and`;
  return sql`${hasFacets} (${maximum}::bigint is null or listing.price <= ${maximum})
    and (${minimum}::bigint is null or listing.price >= ${minimum} or exists (
      select from unnest(listing.facets) as facet
      where starts_with(facet, 'p:') and substr(facet, 3)::bigint >= ${minimum}))`;
}

/** The hits; if there are none, those of the words that were probably meant, or at least of one of the words. */
export async function findOrFallBack(db: Queries, shopId: string, options: FacetedOptions) {
  const { terms, filters } = options;
  const find = async (wanted: Wanted, fallbackQuery: string) => ({
    ...(await findFaceted(db, shopId, { ...options, ...wanted })),
    filters,
    fallbackQuery,
  });
  const found = await find({ terms }, '');
  if (found.results > 0 || terms.length === 0) return found;

  const place = { locale: options.locale, includeInvisible: false };
  const { known, wanted, isCorrected } = await secondTry(db, shopId, place, terms);
  if (wanted) {
    const instead = await find(wanted, isCorrected ? queryText(wanted.terms) : '');
    if (instead.results > 0) return instead;
  }
  // The longest word says most.
  const [longest] = known.toSorted((left, right) => right.text.length - left.text.length);
  if (!longest || terms.length === 1) return found;
  const instead = await find({ terms: [longest] }, queryText([longest]));
  return instead.results > 0 ? instead : found;
}

/** The same for names. */
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
  const { wanted, isCorrected } = await secondTry(db, shopId, { locale, includeInvisible: false }, terms);
  if (!wanted || !isCorrected) return found;
  return suggestProducts(db, shopId, locale, wanted.terms.map((term) => term.text).join(' '), limit);
}

export interface CategoryName {
  number: number;
  name: Record<string, string>;
  alias: string;
}

/** Of the visible ones. */
export function findCategoryNames(db: Queries, shopId: string, numbers: readonly number[]) {
  return db.many<CategoryName>(sql`
    select number, name, alias from category
    where shop_id = ${shopId} and visible and number = any (${numbers}::bigint[])`);
}
