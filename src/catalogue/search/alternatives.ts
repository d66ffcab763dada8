import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { inScope, type SearchScope, type SearchTerms } from './conditions.ts';
import { findHitPage } from './hit-page.ts';
import {
  isCorrectable,
  isOneLetterOff,
  probableWord,
  separateWords,
  typoExpression,
  unharmedEnds,
  wordWith,
  type Term,
} from './query.ts';

interface Alternative {
  /** The terms that occur, each checked alone. */
  known: Term[];
  /** A search that may find something: the terms one by one, or the corrected ones. undefined: nothing will. */
  alternative: SearchTerms | undefined;
  isCorrected: boolean;
}

/** The alternative to a search without hits; `isUnknown`: it has shown that no term occurs. */
export async function findAlternative(
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

/** In a shop with more categories only the first ones are used for corrections. */
const MAX_NAMES = 1_000;

/**
 * The names of categories and attribute values. Search indexes them by whole words and prefixes; they are few, so
 * parts of them and typos are searched here.
 */
async function findRelatedNames(db: Queries, shopId: string, locale: string): Promise<string[]> {
  const { productTypes, defaultLocale } = await shopSettings(db, shopId);
  const categories = await db.many<{ name: Localised }>(sql`
    select name from category where shop_id = ${shopId} and visible and parent_id is not null
    order by number limit ${MAX_NAMES}`);
  const values = productTypes.flatMap(({ attributes }) => attributes.flatMap((one) => one.values));
  return [...categories, ...values].flatMap(({ name }) => {
    const text = textIn(name, locale, defaultLocale);
    return text ? [separateWords(text).toLowerCase()] : [];
  });
}

/** Whether any product has the term: reads the first page of the search for it alone. */
async function occurs(db: Queries, shopId: string, scope: SearchScope, term: Term): Promise<boolean> {
  const { results } = await findHitPage(db, shopId, {
    ...scope,
    terms: [term],
    sort: 'name',
    direction: 'asc',
    limit: 1,
    offset: 0,
  });
  return results > 0;
}

/** The probably intended word: among those one letter off, the one that most products have. */
async function findProbableWord(
  db: Queries,
  shopId: string,
  scope: SearchScope,
  typed: string,
): Promise<string | undefined> {
  const similar = await findSimilarWords(db, shopId, scope.locale, typed);
  const words = similar.filter((word) => isOneLetterOff(typed.toLowerCase(), word));
  // A word that no visible product has finds nothing, so there is nothing to choose.
  return words.length > 1 ? mostFrequent(db, shopId, scope, words) : words[0];
}

/** A shop has at most a few words that are one letter off. */
const MAX_SIMILAR = 50;

/** After every letter, in byte order. */
const LAST_CHARACTER = '\u{10FFFF}';

/** The indexes find by the part of the word without the error; the regular expression filters the rest. */
async function findSimilarWords(
  db: Queries,
  shopId: string,
  locale: string,
  typed: string,
): Promise<string[]> {
  const { beginning, end } = unharmedEnds(typed);
  const isSimilar = sql`' ' || word || ' ' ~ lower(${typoExpression(typed)})`;
  const rows = await db.search<{ word: string }>(sql`
    select word from listing_word
    where shop_id = ${shopId} and locale = ${locale} and word >= lower(${beginning})
      and word < lower(${beginning}) || ${LAST_CHARACTER} and ${isSimilar}
    union
    select word from listing_word
    where shop_id = ${shopId} and locale = ${locale} and reverse(word) >= reverse(lower(${end}))
      and reverse(word) < reverse(lower(${end})) || ${LAST_CHARACTER} and ${isSimilar}
    limit ${MAX_SIMILAR}`);
  return rows.map(({ word }) => word);
}

/** The maximum number of products counted per word. */
const MAX_COUNTED = 300;

/** The word that most products have; undefined: no product has any of them. */
async function mostFrequent(
  db: Queries,
  shopId: string,
  scope: SearchScope,
  words: readonly string[],
): Promise<string | undefined> {
  const [row] = await db.search<{ word: string }>(sql`
    select given.word from shop cross join unnest(${words}::text[]) as given (word) cross join lateral (
      select true as found from listing
      where ${inScope(shopId, scope)} and listing.text like '% ' || given.word || ' %' limit ${MAX_COUNTED}
    ) as entry
    where shop.shop_id = ${shopId}
    group by given.word order by count(*) desc, given.word limit 1`);
  return row?.word;
}
