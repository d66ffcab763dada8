import { scaledByDecimals } from '../../kernel/money.ts';
import { priceIn, pricedTiers } from '../../catalogue/products/prices.ts';
import type { PricedProduct } from '../../catalogue/products/cart-product.ts';
import type { ShopRules } from './input.ts';

/**
 * What the shop asks for `priceQuantity` units when somebody takes this many: the list price, or that of the tier
 * that is reached; and what the customer's group pays, if that is less. null: it has no price in this currency.
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

/** What `quantity` costs when `priceQuantity` costs this; one rounding. */
export function priceOfQuantity(price: number, quantity: number | string, priceQuantity: number): number {
  // Almost always both are whole numbers, and then nothing is rounded.
  const simple = price * Number(quantity);
  if (priceQuantity === 1 && Number.isSafeInteger(Number(quantity)) && Number.isSafeInteger(simple))
    return simple;
  return scaledByDecimals(price, quantity, priceQuantity);
}
