import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../db/database.ts';
import { newPauses } from '../../http/pauses.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { ListPrices } from '../products/facts.ts';
import { recordChangedProducts } from '../products/product-events.ts';
import { changedPrices, readPrice, type GivenPrice, type ListPrice, type PriceProblem } from './prices.ts';
import { lockListed, lockNumbered, updateListPrices } from './queries.ts';

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
 */
export async function savePrices(
  tx: Transaction,
  settings: Settings,
  priceListId: string,
  given: readonly GivenPrice[],
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
  const products = await lockNumbered(tx, shopId, [...byNumber.keys()]);
  const found = new Set(products.map(({ productNumber }) => productNumber));
  for (const [productNumber, { places }] of byNumber) {
    if (!found.has(productNumber)) for (const place of places) problems.set(place, 'productNumber');
  }
  const knownIds = settings.priceLists.map((list) => list.priceListId);
  const rows: ChangedPrices[] = [];
  for (const { productId, productNumber, listPrices } of products) {
    const { prices, places } = byNumber.get(productNumber)!;
    const next = changedPrices(listPrices, { priceListId, prices }, knownIds);
    if (next === 'steps') for (const place of places) problems.set(place, 'steps');
    else if (!isDeepStrictEqual(next, listPrices)) rows.push({ productId, listPrices: next });
    await pause();
  }
  await saveChanged(tx, shopId, rows);
  return { changed: rows.length, problems };
}

/** Takes all prices out of a list. */
export async function clearPrices(tx: Transaction, shopId: string, priceListId: string): Promise<void> {
  const products = await lockListed(tx, shopId, priceListId);
  await saveChanged(
    tx,
    shopId,
    products.map(({ productId, listPrices }) => {
      const others = listPrices!.filter((list) => list.priceListId !== priceListId);
      return { productId, listPrices: others.length > 0 ? others : null };
    }),
  );
}

interface ChangedPrices {
  productId: string;
  listPrices: ListPrices[] | null;
}

async function saveChanged(
  tx: Transaction,
  shopId: string,
  products: readonly ChangedPrices[],
): Promise<void> {
  for (let first = 0; first < products.length; first += CHANGED_AT_ONCE) {
    await updateListPrices(tx, shopId, products.slice(first, first + CHANGED_AT_ONCE));
  }
  recordChangedProducts(
    tx,
    shopId,
    products.map(({ productId }) => ({ productId, changed: ['priceLists'] })),
  );
}
