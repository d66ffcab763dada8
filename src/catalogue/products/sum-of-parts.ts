import { percentOf, scaledByDecimals } from '../../kernel/money.ts';
import type { Prices, ProductFacts } from './facts.ts';
import { ORDER_UNIT } from './orderable.ts';
import { priceIn, type Exchange } from './prices.ts';

/** A part with what its price is taken from. */
export interface PricedPart {
  quantity: number;
  product: { prices: Prices | null; orderUnit?: ProductFacts['orderUnit'] | undefined };
}

/** What the parts of one bundle cost by their list prices; null: one of them has no price. */
export function pricesOfParts(
  parts: readonly PricedPart[],
  currency: string,
  shop: Exchange,
): number[] | null {
  const prices: number[] = [];
  for (const { quantity, product } of parts) {
    const price = priceIn(product.prices, currency, shop);
    if (price === null) return null;
    prices.push(scaledByDecimals(price, quantity, (product.orderUnit ?? ORDER_UNIT).priceQuantity));
  }
  return prices;
}

/** The price of a bundle whose price follows from its parts, less a discount in basis points; null: a part has none. */
export function sumOfParts(parts: readonly PricedPart[], discount: number, shop: Exchange): Prices | null {
  const named = new Set(parts.flatMap(({ product }) => Object.keys(product.prices ?? {})));
  const prices = shop.currencies.flatMap((currency): [string, number][] => {
    // Other currencies are converted, as those of any product.
    if (currency !== shop.defaultCurrency && !named.has(currency)) return [];
    const ofParts = pricesOfParts(parts, currency, shop);
    if (!ofParts) return [];
    const together = ofParts.reduce((total, price) => total + price, 0);
    return [[currency, together - percentOf(together, discount)]];
  });
  return prices.length === 0 ? null : Object.fromEntries(prices);
}
