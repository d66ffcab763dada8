import type { Queries } from '../../db/database.ts';
import type { PageOptions, ProductPage } from '../products/listing-page.ts';
import { findAlternative } from './alternatives.ts';
import { findHitPage } from './hit-page.ts';
import type { ShopSize } from './hits.ts';
import { numberTerm, type Term } from './query.ts';
import { searchOnce } from './search-cache.ts';

/**
 * Finds a page of products whose own words match all terms. Without matches, the names of categories and the values of
 * variations count too; then a number may have another spelling; then typos are corrected: a word that occurs nowhere
 * is replaced by the probably intended one.
 */
export function searchPage(
  db: Queries,
  shopId: string,
  options: PageOptions & { terms: readonly Term[] },
): Promise<ProductPage> {
  return searchOnce(db, shopId, options, (size) => findOrCorrect(db, shopId, { ...options, ...size }));
}

async function findOrCorrect(
  db: Queries,
  shopId: string,
  options: PageOptions & ShopSize & { terms: readonly Term[] },
): Promise<ProductPage> {
  const { terms } = options;
  const number = numberTerm(terms);
  let found = await findHitPage(db, shopId, { ...options, ownWords: true });
  // Parts of words were already searched.
  for (const searched of [{ terms, wordsOnly: true }, ...(number ? [{ terms: [number] }] : [])]) {
    if (found.results > 0) return found;
    found = await findHitPage(db, shopId, { ...options, ...searched });
  }
  if (found.results > 0) return found;
  const isUnknown = terms.length === 1 && options.categoryId === undefined;
  const { alternative } = await findAlternative(db, shopId, options, terms, isUnknown);
  return alternative ? findHitPage(db, shopId, { ...options, ...alternative }) : found;
}
