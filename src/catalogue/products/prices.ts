import type { TaxType } from '../../http/price.ts';
import { convert, percentOf, scaled, scaledByDecimals } from '../../kernel/money.ts';
import type { GroupPrices, Prices, PriceTier, ProductFacts } from './facts.ts';

/** The exchange rates of a shop, from the default currency. */
export interface Exchange {
  defaultCurrency: string;
  currencies: readonly string[];
  exchangeRates: Readonly<Record<string, string>>;
}

/**
 * The price in this currency: the given one, else that in the default currency (or in the first that has one),
 * converted. null: no price at all, or none that can be converted.
 */
export function priceIn(prices: Prices | null | undefined, currency: string, shop: Exchange): number | null {
  if (!prices) return null;
  if (prices[currency] !== undefined) return prices[currency];
  const rateOf = (code: string) => (code === shop.defaultCurrency ? '1' : shop.exchangeRates[code]);
  const rate = rateOf(currency);
  const from = [shop.defaultCurrency, ...shop.currencies].find(
    (code) => prices[code] !== undefined && rateOf(code) !== undefined,
  );
  if (rate === undefined || from === undefined) return null;
  return convert(prices[from]!, from, currency, rate, rateOf(from));
}

/** An amount of the shop's settings in a currency of the shop; 0 in one that it has dropped. */
export function inCurrency(
  minor: number,
  currency: string,
  shop: Exchange,
  from: string = shop.defaultCurrency,
): number {
  return currency === from ? minor : (priceIn({ [from]: minor }, currency, shop) ?? 0);
}

/** With this price in this currency, or without any. undefined: no price is left. */
export function withPrice(
  prices: Prices | null | undefined,
  currency: string,
  minor: number | null,
): Prices | undefined {
  const { [currency]: _old, ...others } = prices ?? {};
  const next = minor === null ? others : { ...others, [currency]: minor };
  return Object.keys(next).length > 0 ? next : undefined;
}

/** The price of `amount` when `content` costs `price`: 3.95 for 230 g is 1.72 for 100 g. */
export function referencePrice(price: number, reference: { amount: number; content: number }): number {
  return scaledByDecimals(price, reference.amount, reference.content);
}

/** Less a discount in basis points. */
export function discounted(price: number, discount: number): number {
  return percentOf(price, 10_000 - discount);
}

/** One tier, priced in a currency. */
export interface PricedTier {
  quantity: number;
  price: number;
  /** Without the discount of the customer's group. */
  regularPrice: number;
  /** Basis points. */
  discount: number;
}

/** The tiers that have a price in this currency, ascending. */
export function pricedTiers(
  tiers: readonly (PriceTier & { discount?: number })[],
  currency: string,
  shop: Exchange,
): PricedTier[] {
  return tiers
    .flatMap(({ quantity, prices, discount = 0 }) => {
      const regularPrice = priceIn(prices, currency, shop);
      if (regularPrice === null) return [];
      return [
        { quantity: Number(quantity), price: discounted(regularPrice, discount), regularPrice, discount },
      ];
    })
    .toSorted((left, right) => left.quantity - right.quantity);
}

/** The product data that its price depends on. */
export type AskedProduct = Pick<ProductFacts, 'bulkPrices' | 'groupPrices'> & { prices: Prices | null };

/**
 * The shop's price for `priceQuantity` units at this quantity: the list price, or that of the reached tier; and the
 * lowest price of the customer's group, if lower. null: it has no price in this currency.
 */
export function askedPrice(
  product: AskedProduct,
  quantity: string,
  currency: string,
  customerGroupId: string | null,
  shop: Exchange,
): number | null {
  const reached = (tiers: Parameters<typeof pricedTiers>[0]) =>
    pricedTiers(
      tiers.filter((tier) => Number(tier.quantity) <= Number(quantity)),
      currency,
      shop,
    ).at(-1)?.price;
  const list = priceIn(product.prices, currency, shop);
  const regular = reached(product.bulkPrices ?? []) ?? list;
  const specials = (product.groupPrices ?? [])
    .filter((one) => one.customerGroupId === customerGroupId)
    .flatMap(({ tiers }) => reached(tiers) ?? []);
  const lowest = specials.length > 0 ? Math.min(...specials) : undefined;
  if (regular === null || list === null) return lowest ?? null;
  return Math.min(regular, lowest ?? regular);
}

/**
 * A product as it is priced for a customer of this group while these price lists apply: each of its lists counts like
 * another set of prices of the group, so the lowest price that a quantity reaches is asked, wherever it is from.
 */
export function withListPrices<Product extends Pick<ProductFacts, 'groupPrices' | 'listPrices'>>(
  product: Product,
  customerGroupId: string | null,
  priceListIds: readonly string[],
): Product {
  if (customerGroupId === null || priceListIds.length === 0 || !product.listPrices) return product;
  const listed = product.listPrices
    .filter(({ priceListId }) => priceListIds.includes(priceListId))
    .map(({ tiers }) => ({ customerGroupId, tiers: tiers.map((tier) => ({ ...tier, discount: 0 })) }));
  if (listed.length === 0) return product;
  return { ...product, groupPrices: [...(product.groupPrices ?? []), ...listed] };
}

/** Converts an amount to another tax type, with or without its tax; one rounding. NONE leaves amounts as they are. */
export function inTaxType(minor: number, rate: number, from: TaxType, to: TaxType): number {
  if (from === 'GROSS' && to === 'NET') return scaled(minor, 10_000, 10_000 + rate);
  if (from === 'NET' && to === 'GROSS') return scaled(minor, 10_000 + rate, 10_000);
  return minor;
}

/** The prices of variations: own prices (null: the master's) and the reference of a base price. */
export interface VariationOffer {
  prices: Prices | null;
  reference: ProductFacts['reference'] | null;
}

export interface PriceRange {
  lowest: number;
  highest: number;
  /** The cheapest by content, for the base price. */
  reference: { price: number; amount: number; unit: NonNullable<ProductFacts['reference']>['unit'] } | null;
}

/** From the cheapest to the most expensive variation; null when no price differs from the master's. */
export function priceRange(
  offers: readonly VariationOffer[],
  master: { prices: Prices | null; facts: ProductFacts },
  currency: string,
  shop: Exchange,
): PriceRange | null {
  const own = priceIn(master.prices, currency, shop);
  const priced = offers.flatMap((offer) => {
    const price = priceIn(offer.prices ?? master.prices, currency, shop);
    return price === null ? [] : [{ price, reference: offer.reference ?? master.facts.reference }];
  });
  if (priced.every(({ price }) => price === own)) return null;
  const prices = priced.map(({ price }) => price);
  const references = priced.flatMap(({ price, reference }) =>
    reference
      ? [{ price: referencePrice(price, reference), amount: reference.amount, unit: reference.unit }]
      : [],
  );
  return {
    lowest: Math.min(...prices),
    highest: Math.max(...prices),
    reference: references.toSorted((left, right) => left.price - right.price)[0] ?? null,
  };
}

/** The tiers of a request, merged into the existing ones; a price of null removes a tier. */
export function withTiers(
  tiers: readonly PriceTier[],
  changes: readonly { quantity: string; price: number | null }[],
  currency: string,
): PriceTier[] {
  const byQuantity = new Map(tiers.map((tier) => [Number(tier.quantity), tier]));
  for (const { quantity, price } of changes) {
    const key = Number(quantity);
    const prices = withPrice(byQuantity.get(key)?.prices, currency, price);
    if (price === null || !prices) byQuantity.delete(key);
    else byQuantity.set(key, { quantity, prices });
  }
  return [...byQuantity.values()].toSorted((left, right) => Number(left.quantity) - Number(right.quantity));
}

/** The groups of a request replace those of the same name; the others stay. */
export function withGroups(groups: readonly GroupPrices[], changes: readonly GroupPrices[]): GroupPrices[] {
  const changed = new Map(changes.map((change) => [change.customerGroupId, change]));
  const others = groups.filter(({ customerGroupId }) => !changed.has(customerGroupId));
  return [...others, ...changed.values()].filter(({ tiers }) => tiers.length > 0);
}
