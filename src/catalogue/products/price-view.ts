import type { Settings } from '../../shops/settings/settings.ts';
import { factsOf, inheritedFacts, type Prices, type PriceTier } from './facts.ts';
import { askedPrice, inTaxType, priceIn, withListPrices, type AskedProduct } from './prices.ts';
import { ORDER_UNIT } from './orderable.ts';
import type { ProductRow } from './queries.ts';

/** Whose prices are shown; without both, the prices that the shop has set, as everybody sees them. */
export interface PriceView {
  taxType?: 'GROSS' | 'NET';
  /** The group that the customer belongs to. */
  customerGroupId?: string;
  /** The price lists that apply to the group at this moment; missing: none. */
  priceListIds?: readonly string[];
}

/** Tells the views of two groups apart, and those of one group while different price lists apply. */
export function groupKey({ customerGroupId, priceListIds = [] }: PriceView): string {
  return [customerGroupId, ...priceListIds].join('+');
}

/**
 * The product with its prices as this visitor sees them, in one currency: with or without the tax of the shop's own
 * country, and those of the customer's group. They are the prices that a cart of the visitor has, rounded in the same
 * way. A variation's own group prices do not count for the range of its master.
 */
export function rowInView(
  row: ProductRow,
  settings: Settings,
  {
    currency,
    taxType = settings.taxModel,
    customerGroupId,
    priceListIds = [],
  }: PriceView & { currency: string },
  taxRate: number,
): ProductRow {
  const inherited = inheritedFacts(row.facts, row.master?.facts ?? null);
  const facts = withListPrices(inherited, customerGroupId ?? null, priceListIds);
  const inView = (minor: number) => ({
    [currency]: inTaxType(minor, taxRate, settings.taxModel, taxType),
  });
  const shown = (prices: Prices | null | undefined): Prices | undefined => {
    const price = priceIn(prices, currency, settings);
    return price === null ? undefined : inView(price);
  };
  const { minimum } = facts.orderUnit ?? ORDER_UNIT;
  const groupPrices = facts.groupPrices?.filter((group) => group.customerGroupId === customerGroupId) ?? [];
  const asked = (product: AskedProduct, quantity: string | number) => {
    const price = askedPrice(product, String(quantity), currency, customerGroupId ?? null, settings);
    return price === null ? undefined : inView(price);
  };
  const owner = row.prices || !row.master ? row : row.master;
  const price = asked({ prices: owner.prices, groupPrices }, minimum);
  const isSpecial = price?.[currency] !== shown(owner.prices)?.[currency];
  const quantities = new Set([
    ...(facts.bulkPrices ?? []).map(({ quantity }) => quantity),
    ...groupPrices.flatMap(({ tiers }) =>
      tiers.flatMap(({ quantity }) => (Number(quantity) > minimum ? [quantity] : [])),
    ),
  ]);
  const product = { prices: owner.prices, bulkPrices: facts.bulkPrices ?? [], groupPrices };
  const tiers = [...quantities].flatMap((quantity): PriceTier[] => {
    const prices = asked(product, quantity);
    return prices ? [{ quantity, prices }] : [];
  });
  const { customisation } = facts;
  const textPrice = shown(customisation?.prices);
  return {
    ...row,
    prices: price ?? row.prices,
    offers:
      row.offers?.map((offer) => ({
        ...offer,
        prices: asked({ prices: offer.prices ?? row.prices, groupPrices }, minimum) ?? offer.prices,
      })) ?? null,
    facts: factsOf({
      ...facts,
      groupPrices: inherited.groupPrices,
      manufacturerPrices: shown(facts.manufacturerPrices),
      depositPrices: shown(facts.depositPrices),
      ecoParticipationPrices: shown(facts.ecoParticipationPrices),
      // The reduction was announced for the price that everybody has.
      pricesBeforeReduction: isSpecial ? undefined : shown(owner.facts.pricesBeforeReduction),
      bulkPrices: tiers,
      customisation: customisation && { ...customisation, ...(textPrice && { prices: textPrice }) },
    }),
  };
}
