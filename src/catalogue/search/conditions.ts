import { sql, type Sql } from '../../db/sql.ts';
import { dictionaryOf, OWN_WEIGHTS } from '../products/listing-entry.ts';
import {
  beginningQuery,
  escapeLike,
  likePattern,
  MAX_TERMS,
  numberTerm,
  wordQuery,
  type Term,
} from './query.ts';

/*
 * Parts of the statements that search the table `listing`. A query has up to 20 terms, and its statement is the same
 * for any number of them from two on: the two longest are the rarest, so they are in conditions that use the indexes;
 * the others are passed as arrays and compared with the hits of these two. `(select ...)` around a value makes
 * PostgreSQL compute it once instead of for each row.
 */

export interface SearchScope {
  locale: string;
  includeInvisible: boolean;
}

/** Shop and locale are one key of the search indexes; separately they tell Citus where the shop is. */
export function inScope(shopId: string, { locale, includeInvisible }: SearchScope): Sql {
  return sql`listing.shop_id = ${shopId} and listing.locale = ${locale}
    and listing.shop_id || ' ' || listing.locale = ${`${shopId} ${locale}`} and (listing.visible or ${includeInvisible})`;
}

/**
 * `oneByOne` is slower and finds more; it needs at least two terms. `ownWords` leaves out related words, which are the
 * names of a product's categories and the values of its variations.
 */
export interface SearchTerms {
  terms: readonly Term[];
  oneByOne?: boolean;
  ownWords?: boolean;
  /** Leaves out parts of words in a search for `hits`. */
  wordsOnly?: boolean;
}

/** Conditions on `listing`. A match of any of them is a hit; each uses its own index. */
export interface Conditions {
  words: Sql;
  /** undefined: parts of words find nothing that `words` does not find. */
  parts: Sql | undefined;
}

/**
 * All terms as words, in any form, of all texts; or all of them as typed, as parts of name, numbers, manufacturer and
 * keywords. Term by term there would be two conditions for each, and PostgreSQL would read all matches of the first
 * term.
 */
export function termConditions({ terms, oneByOne, ownWords }: SearchTerms, locale: string): Conditions {
  if (terms.length === 0) return { words: sql`true`, parts: undefined };
  if (oneByOne) return { words: matchesOneByOne(terms, locale), parts: undefined };
  return {
    words: sql`listing.words @@ ${wordsQuery(terms, locale, ownWords ? OWN_WEIGHTS : '')}`,
    parts: containsAll(terms),
  };
}

export function matchesTerms(search: SearchTerms, locale: string): Sql {
  const { words, parts } = termConditions(search, locale);
  return parts ? sql`(${parts} or ${words})` : words;
}

function containsAll(terms: readonly Term[]): Sql {
  const [first, second, ...others] = longestFirst(terms).map(likePattern);
  if (second === undefined) return sql`listing.text like ${lowered(first!)}`;
  return sql`listing.text like ${lowered(first!)} and listing.text like ${lowered(second)}
    and listing.text like all (${loweredAll(others)})`;
}

/** Each term separately: one as a part of the name, another as a word of the description. */
function matchesOneByOne(terms: readonly Term[], locale: string): Sql {
  const [first, second, ...others] = longestFirst(terms);
  const matchesTerm = (term: Term) => sql`(
    listing.text like ${lowered(likePattern(term))} or listing.words @@ ${wordsQuery([term], locale)})`;
  return sql`${matchesTerm(first!)} and ${matchesTerm(second!)} and not exists (
    select from unnest(${others.map(likePattern)}::text[], ${others.map((term) => wordQuery(term))}::text[],
      ${others.map((term) => beginningQuery(term))}::text[]) as term (pattern, words, beginning)
    where not (listing.text like lower(pattern)
      or listing.words @@ (to_tsquery(${dictionaryOf(locale)}::regconfig, term.words)
        || to_tsquery('simple', term.beginning))))`;
}

/**
 * An exact number comes first, in any spelling; then terms in the name count most; then how often and where the words
 * occur. The name is lowered by the default collation, as the patterns are: that of its column takes several times as
 * long.
 */
export function rank(terms: readonly Term[], locale: string): Sql {
  if (terms.length === 0) return sql`0`;
  const patterns = terms.map(({ text }) => `%${escapeLike(text)}%`);
  const name = sql`lower(listing.name collate "default")`;
  const inName =
    patterns.length === 1
      ? sql`(${name} like ${lowered(patterns[0]!)})::integer`
      : sql`(select count(*) from unnest(${loweredAll(patterns)}) as pattern where ${name} like pattern)::integer`;
  const number = numberTerm(terms);
  const isNumber = sql`(listing.text like ${lowered(number ? `% ${number.text} %` : '')})::integer`;
  return sql`${MAX_TERMS + 1} * ${isNumber} + ${inName} + ts_rank(listing.words, ${wordsQuery(terms, locale)})`;
}

/** The terms as words in any form, or as the beginnings of words; all of them must match. */
export function wordsQuery(terms: readonly Term[], locale: string, weights = ''): Sql {
  const words = terms.map((term) => wordQuery(term, weights)).join(' & ');
  const beginnings = terms.map((term) => beginningQuery(term, weights)).join(' & ');
  return sql`(
    select to_tsquery(${dictionaryOf(locale)}::regconfig, ${words}) || to_tsquery('simple', ${beginnings}))`;
}

export function longestFirst(terms: readonly Term[]): Term[] {
  return terms.toSorted((left, right) => right.text.length - left.text.length);
}

const lowered = (pattern: string) => sql`(select lower(${pattern}))`;

const loweredAll = (patterns: readonly string[]) => sql`array(
  select lower(pattern) from unnest(${patterns}::text[]) as pattern)`;
