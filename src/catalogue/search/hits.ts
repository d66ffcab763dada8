import { sql, type Sql } from '../../db/sql.ts';
import { ORDERS, WHOLE_SHOP } from '../products/listing-page.ts';
import { inScope, termConditions, type SearchScope, type SearchTerms } from './conditions.ts';

/*
 * The hits of a search. A word index collects them unordered, so sorting, ranking and counting all of them would cost
 * more in a larger shop. Therefore only a limited number is compared, and the result tells when there are more.
 */

/** The maximum number of hits for a page sorted by name or price. */
export const MAX_SORTED = 1_000;

/** Hits that are ranked, and from which facets are counted. */
export const MAX_RANKED = 5_000;

/** In a shop with at most this many visible products the word index is always fast enough. */
export const SMALL_SHOP = 20_000;

/** Products tested at each end of a list to estimate whether a large part of the shop matches. */
const SAMPLE = 40;

/** How many of them must match. */
const FREQUENT = 8;

/** Products of the list that are read instead, in its order, when a large part of the shop matches. */
const MAX_READ = 2_000;

/** Facts of a shop before it is searched. */
export interface ShopSize {
  /** It has at most SMALL_SHOP products. Absent: the statement finds out, and needs more time to start. */
  isSmallShop?: boolean | undefined;
}

export interface HitOptions extends SearchTerms, SearchScope, ShopSize {
  /** The columns read for each hit. */
  columns: Sql;
  /** A further condition on `listing`. */
  narrowed: Sql;
  /** The order of an index, in which the list is read when a large part of it matches. */
  listOrder: Sql;
  most: number;
}

/**
 * The parts of a statement that find the rows `hit`, and `total`: their number, and whether there are more.
 *
 * Words come first, because they are the better hits. Parts of words are searched only when words are not enough.
 * Matches of a large part of a large shop are read from the list itself, in its order, because the index would collect
 * all of them first. `materialized` makes PostgreSQL count one part before it starts the next, and keeps it from
 * reading the whole list in the hope that its first products match. A part that is not needed is left out, because
 * PostgreSQL prepares each part for every search, used or not: in a small shop that is a good part of the time.
 */
export function hits(shopId: string, options: HitOptions): Sql {
  const { columns, narrowed, most, locale, wordsOnly = false, isSmallShop = false } = options;
  const { words, parts } = termConditions(options, locale);
  const search = (condition: Sql) => sql`
    select ${columns} from listing where ${inScope(shopId, options)} and ${condition} and ${narrowed}`;
  const unlessFrequent = isSmallShop ? sql`` : sql`and not ${IS_FREQUENT}`;
  const inWords = sql`word_hit as materialized (${search(words)} ${unlessFrequent} limit ${most + 1})`;
  const areWordsEnough = sql`(select count(*) from word_hit) > ${most}`;
  const inParts = parts
    ? sql`, part_hit as materialized (
        ${search(parts)} and not ${words} and not ${wordsOnly} and not ${areWordsEnough} ${unlessFrequent}
        limit ${most + 1})`
    : sql``;
  const sources = [...(isSmallShop ? [] : [sql`list_hit`]), sql`word_hit`, ...(parts ? [sql`part_hit`] : [])];
  const all = sources.map((source) => sql`select * from ${source}`);
  const counts = sources.map((source) => sql`(select count(*) from ${source})`);
  return sql`
    ${isSmallShop ? sql`` : sql`${frequentHits(shopId, options)},`}
    ${inWords} ${inParts}, hit as materialized (
      ${all.reduce((rows, source) => sql`${rows} union all ${source}`)} limit ${most}
    ), total as materialized (
      select least(found, ${most}) as results, found > ${most} ${isSmallShop ? sql`` : sql`or ${IS_FREQUENT}`} as is_more
      from (select ${counts.reduce((sum, count) => sql`${sum} + ${count}`)} as found) as counted
    )`;
}

const IS_FREQUENT = sql`(select is_frequent from sample)`;

/** Whether a large part of a large shop matches, and then the first of those products. */
function frequentHits(shopId: string, options: HitOptions): Sql {
  const { columns, narrowed, listOrder, locale, includeInvisible } = options;
  const { words, parts } = termConditions(options, locale);
  const matches = sql`${parts ? sql`(${words} or ${parts})` : words} and ${narrowed}`;
  const firstOf = (order: Sql, limit: number) => sql`(
    select * from listing where shop_id = ${shopId} and locale = ${locale} and visible
    order by ${order} limit ${limit}) as listing`;
  const sampled = (order: Sql) => sql`
    select count(*) as matching from ${firstOf(order, SAMPLE)} where ${matches} and not ${includeInvisible} and (
      select products from listing_size where shop_id = ${shopId} and category_id = ${WHOLE_SHOP} and visible
    ) > ${SMALL_SHOP}`;
  return sql`
    sample as materialized (
      select min(matching) >= ${FREQUENT} as is_frequent from (
        ${sampled(ORDERS.name.asc)} union all ${sampled(ORDERS.name.desc)} union all ${sampled(ORDERS.price.asc)}
      ) as slice
    ), list_hit as materialized (
      select ${columns} from ${firstOf(listOrder, MAX_READ)} where ${matches} and ${IS_FREQUENT}
    )`;
}
