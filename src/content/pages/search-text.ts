import { dictionaryOf } from '../../catalogue/products/listing-entry.ts';
import { plainText } from '../../http/html.ts';
import { textsOf } from '../blocks.ts';
import type { StoredText } from './page.ts';
import type { SearchText } from './queries.ts';

/** The search reads the beginning of a page, so a shop with many long pages is searched in a bounded time. */
const MAX_SEARCHED = 10_000;
const MAX_EXCERPT = 300;

/** What the search of the shop finds a page by, and what its results show of it. */
export function searchTextOf({ locale, description, summary, blocks }: StoredText): SearchText {
  let words = [description, summary].filter(Boolean).join('\n');
  for (const text of textsOf(blocks)) {
    if (words.length >= MAX_SEARCHED) break;
    words += `\n${plainText(text, MAX_SEARCHED - words.length)}`;
  }
  const excerpt = description ?? summary ?? words.replaceAll('\n', ' ').trim();
  return {
    locale,
    dictionary: dictionaryOf(locale),
    // Half of a surrogate pair at the end is no text that JSON or the database takes.
    words: words.slice(0, MAX_SEARCHED).toWellFormed(),
    excerpt: excerpt.length <= MAX_EXCERPT ? excerpt : `${excerpt.slice(0, MAX_EXCERPT - 1)}…`.toWellFormed(),
  };
}
