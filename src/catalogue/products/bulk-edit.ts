import { isDeepStrictEqual } from 'node:util';
import { currencyDigits } from '../../kernel/money.ts';
import { changedPrice, type Ending } from './changed-price.ts';
import type { Prices } from './facts.ts';
import { withPrice } from './prices.ts';
import type { StoredProduct } from './queries.ts';

/** A change that is made to many products. */
export type BulkAction =
  | { kind: 'addCategory' | 'removeCategory'; categoryId: string }
  | { kind: 'setStock' | 'addStock'; amount: number }
  | { kind: 'setVisible'; visible: boolean }
  /** Minor units. */
  | { kind: 'setPrice'; currency: string; amount: number }
  | { kind: 'changePrice'; basisPoints: number; ending: Ending };

/** Products and variations that one edit changes at most. */
export const MAX_EDITED_PRODUCTS = 20_000;
/** Products of the list that are chosen at most. */
export const MAX_CHOSEN = 10_000;
export const MAX_STOCK = 1_000_000_000;

/** What of a product is changed: a master is listed, its variations are in stock, and either may have a price. */
export type EditTarget = 'listed' | 'stock' | 'price';

export function editTarget({ kind }: BulkAction): EditTarget {
  if (kind === 'setStock' || kind === 'addStock') return 'stock';
  return kind === 'setPrice' || kind === 'changePrice' ? 'price' : 'listed';
}

/** The place in a category; null: it is not in the category. */
export type CategoryPlace = number | null;

/** The value that an edit changes: whether it is visible, its stock, its prices, or its place in the category. */
export type EditedValue = boolean | number | null | Prices;

/** A product, as far as an edit reads it. */
export type EditedProduct = Pick<StoredProduct, 'visible' | 'stock' | 'prices'> & { place: CategoryPlace };

export const PROBLEMS = ['stockNotTracked', 'stockBelowZero', 'stockTooHigh', 'noPrice', 'gone'] as const;
export type BulkProblem = (typeof PROBLEMS)[number];

export function valueOf({ kind }: BulkAction, product: EditedProduct): EditedValue {
  switch (kind) {
    case 'addCategory':
    case 'removeCategory':
      return product.place;
    case 'setStock':
    case 'addStock':
      return product.stock;
    case 'setVisible':
      return product.visible;
    case 'setPrice':
    case 'changePrice':
      return product.prices;
  }
}

/** The value after the change, or why there is none. The place of a product that a category gets is not known before. */
export function editedValue(
  action: BulkAction,
  product: EditedProduct,
): { value: EditedValue } | { problem: BulkProblem } {
  switch (action.kind) {
    case 'addCategory':
      return { value: product.place ?? 0 };
    case 'removeCategory':
      return { value: null };
    case 'setStock':
      return { value: action.amount };
    case 'addStock': {
      if (product.stock === null) return { problem: 'stockNotTracked' };
      const stock = Math.round((product.stock + action.amount) * 1e6) / 1e6;
      if (stock < 0) return { problem: 'stockBelowZero' };
      return stock > MAX_STOCK ? { problem: 'stockTooHigh' } : { value: stock };
    }
    case 'setVisible':
      return { value: action.visible };
    case 'setPrice':
      return { value: withPrice(product.prices, action.currency, action.amount) ?? null };
    case 'changePrice': {
      if (!product.prices) return { problem: 'noPrice' };
      const { basisPoints, ending } = action;
      const prices = Object.entries(product.prices).map(([currency, minor]) => [
        currency,
        changedPrice(minor, basisPoints, ending, currencyDigits(currency)),
      ]);
      return { value: Object.fromEntries(prices) as Prices };
    }
  }
}

export function isSameValue(left: EditedValue, right: EditedValue): boolean {
  return isDeepStrictEqual(left, right);
}

/** The product with this value. A category is not a part of its row. */
export function withValue(action: BulkAction, product: StoredProduct, value: EditedValue): StoredProduct {
  switch (editTarget(action)) {
    case 'stock':
      return { ...product, stock: value as number | null };
    case 'price':
      return { ...product, prices: value as Prices | null };
    case 'listed':
      return action.kind === 'setVisible' ? { ...product, visible: value as boolean } : product;
  }
}
