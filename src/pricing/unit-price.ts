import { scaledByDecimals } from '../kernel/money.ts';
import { priceIn, pricedTiers } from '../catalogue/products/prices.ts';
import type { PricedProduct } from './cart-product.ts';
import type { ShopRules } from './input.ts';

/**
 * The shop's price for `priceQuantity` units at this quantity: the list price, or that of the reached tier; and the
 * price of the customer's group, if lower. null: it has no price in this currency.
 */
export function askedPrice(
  product: PricedProduct,
  quantity: string,
  currency: string,
  customerGroupId: string | null,
  shop: ShopRules,
): number | null {
  const reached = (tiers: Parameters<typeof pricedTiers>[0]) =>
    pricedTiers(
      tiers.filter((tier) => Number(tier.quantity) <= Number(quantity)),
      currency,
      shop,
    ).at(-1)?.price;
  const list = priceIn(product.prices, currency, shop);
  const regular = reached(product.bulkPrices ?? []) ?? list;
  const group = product.groupPrices?.find((one) => one.customerGroupId === customerGroupId);
  const special = group && reached(group.tiers);
  if (regular === null || list === null) return special ?? null;
  return Math.min(regular, special ?? regular);
}

/** The cost of `quantity` at this price for `priceQuantity`; one rounding. */
export function priceOfQuantity(price: number, quantity: number | string, priceQuantity: number): number {
  // Almost always both are whole numbers, and then nothing is rounded.
  const simple = price * Number(quantity);
  if (priceQuantity === 1 && Number.isSafeInteger(Number(quantity)) && Number.isSafeInteger(simple))
    return simple;
  return scaledByDecimals(price, quantity, priceQuantity);
}
