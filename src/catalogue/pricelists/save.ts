import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../db/database.ts';
import { newPauses } from '../../http/pauses.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { ListPrices } from '../products/facts.ts';
import { recordChangedProducts } from '../products/product-events.ts';
import { changedPrices, readPrice, type GivenPrice, type ListPrice, type PriceProblem } from './prices.ts';
import { lockListPrices, updateListPrices } from './queries.ts';

/** Products that one statement changes. */
const CHANGED_AT_ONCE = 1_000;

export interface SavedPrices {
  /** Products with other prices than before. */
  changed: number;
  /** By the place of the price. */
  problems: Map<number, PriceProblem>;
}

/**
 * Saves prices of a list. Prices with a problem are left out, and a caller that saves all or none ends the transaction.
 * `replaces`: the list has these prices and no others.
 */
export async function savePrices(
  tx: Transaction,
  settings: Settings,
  priceListId: string,
  given: readonly GivenPrice[],
  { replaces }: { replaces: boolean },
): Promise<SavedPrices> {
  const { shopId } = settings;
  const pause = newPauses();
  const problems = new Map<number, PriceProblem>();
  const byNumber = new Map<string, { places: number[]; prices: ListPrice[] }>();
  for (const [place, one] of given.entries()) {
    const read = readPrice(one, settings);
    if (typeof read === 'string') problems.set(place, read);
    else {
      const product = byNumber.get(read.productNumber) ?? { places: [], prices: [] };
      product.places.push(place);
      product.prices.push(read);
      byNumber.set(read.productNumber, product);
    }
    await pause();
  }
  const products = await lockListPrices(tx, shopId, {
    productNumbers: [...byNumber.keys()],
    ofList: replaces ? priceListId : null,
  });
  const found = new Set(products.map(({ productNumber }) => productNumber));
  for (const [productNumber, { places }] of byNumber) {
    if (!found.has(productNumber)) for (const place of places) problems.set(place, 'productNumber');
  }
  const knownIds = settings.priceLists.map((list) => list.priceListId);
  const rows: { productId: string; listPrices: ListPrices[] | null }[] = [];
  for (const { productId, productNumber, listPrices } of products) {
    const { prices, places } = byNumber.get(productNumber) ?? { prices: [], places: [] };
    const next = changedPrices(listPrices, { priceListId, prices, replaces }, knownIds);
    if (next === 'steps') for (const place of places) problems.set(place, 'steps');
    else if (!isDeepStrictEqual(next, listPrices)) rows.push({ productId, listPrices: next });
    await pause();
  }
  for (let first = 0; first < rows.length; first += CHANGED_AT_ONCE) {
    await updateListPrices(tx, shopId, rows.slice(first, first + CHANGED_AT_ONCE));
  }
  recordChangedProducts(
    tx,
    shopId,
    rows.map(({ productId }) => ({ productId, changed: ['priceLists'] })),
  );
  return { changed: rows.length, problems };
}
