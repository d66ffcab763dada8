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

/** In a shop with fewer products the word index is always fast enough. */
const LARGE_SHOP = 20_000;

/** Products tested at each end of a list to estimate whether a large part of the shop matches. */
const SAMPLE = 40;

/** How many of them must match. */
const FREQUENT = 8;

/** Products of the list that are read instead, in its order, when a large part of the shop matches. */
const MAX_READ = 2_000;

export interface HitOptions extends SearchTerms, SearchScope {
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
 * reading the whole list in the hope that its first products match.
 */
export function hits(shopId: string, options: HitOptions): Sql {
  const { columns, narrowed, listOrder, most, locale, includeInvisible, wordsOnly = false } = options;
  const { words, parts } = termConditions(options, locale);
  const matches = sql`${parts ? sql`(${words} or ${parts})` : words} and ${narrowed}`;
  const firstOf = (order: Sql, limit: number) => sql`(
    select * from listing where shop_id = ${shopId} and locale = ${locale} and visible
    order by ${order} limit ${limit}) as listing`;
  const sampled = (order: Sql) => sql`
    select count(*) as matching from ${firstOf(order, SAMPLE)} where ${matches} and not ${includeInvisible} and (
      select products from listing_size where shop_id = ${shopId} and category_id = ${WHOLE_SHOP} and visible
    ) > ${LARGE_SHOP}`;
  const isFrequent = sql`(select is_frequent from sample)`;
  const indexed = (condition: Sql) => sql`
    select ${columns} from listing
    where ${inScope(shopId, options)} and ${condition} and ${narrowed} and not ${isFrequent} limit ${most + 1}`;
  const isPartNeeded = sql`not ${wordsOnly} and (select count(*) from word_hit) <= ${most}`;
  return sql`
    sample as materialized (
      select min(matching) >= ${FREQUENT} as is_frequent from (
        ${sampled(ORDERS.name.asc)} union all ${sampled(ORDERS.name.desc)} union all ${sampled(ORDERS.price.asc)}
      ) as slice
    ), list_hit as materialized (
      select ${columns} from ${firstOf(listOrder, MAX_READ)} where ${matches} and ${isFrequent}
    ), word_hit as materialized (${indexed(words)}
    ), part_hit as materialized (${parts ? indexed(sql`${parts} and not ${words} and ${isPartNeeded}`) : sql`select * from word_hit limit 0`}
    ), hit as materialized (
      select * from list_hit union all select * from word_hit union all select * from part_hit limit ${most}
    ), total as materialized (
      select least(found, ${most}) as results, found > ${most} or ${isFrequent} as is_more from (
        select (select count(*) from list_hit) + (select count(*) from word_hit) + (select count(*) from part_hit) as found
      ) as counted
    )`;
}
