import { toMinor } from '../../kernel/money.ts';
import { MAX_MINOR } from '../../http/request-fields.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { ListPrices, PriceTier } from '../products/facts.ts';
import { withTiers } from '../products/prices.ts';

/** One price of a list as people, files and apps say it. */
export interface GivenPrice {
  productNumber: string;
  /** Empty: the default currency of the shop. */
  currency: string;
  /** From this quantity on; empty: 0, which is any quantity. */
  quantity: string;
  /** null: the product has none at this quantity any more. */
  price: string | null;
}

/** The same, understood. */
export interface ListPrice {
  productNumber: string;
  currency: string;
  quantity: string;
  /** Minor units. */
  price: number | null;
}

export const PRICE_COLUMNS = ['productNumber', 'currency', 'quantity', 'price'] as const;
export type PriceField = (typeof PRICE_COLUMNS)[number];

/** What is wrong with a price: the field, or there are too many steps. */
export type PriceProblem = PriceField | 'steps';

/** Quantity steps of a product in one list. */
export const MAX_STEPS = 20;

const QUANTITY = /^\d{1,9}(?:\.\d{1,3})?$/;

/** Reads a price without looking at any product. */
export function readPrice(
  given: GivenPrice,
  { currencies, defaultCurrency }: Pick<Settings, 'currencies' | 'defaultCurrency'>,
): ListPrice | PriceProblem {
  const productNumber = given.productNumber.trim();
  if (productNumber === '') return 'productNumber';
  const currency = given.currency.trim().toUpperCase() || defaultCurrency;
  if (!currencies.includes(currency)) return 'currency';
  const quantity = given.quantity.trim() || '0';
  if (!QUANTITY.test(quantity)) return 'quantity';
  const written = given.price?.trim() ?? '';
  if (written === '') return { productNumber, currency, quantity: plain(quantity), price: null };
  const price = toMinor(written, currency);
  if (price === undefined || price < 0 || price > MAX_MINOR) return 'price';
  return { productNumber, currency, quantity: plain(quantity), price };
}

/** `05.50` is `5.5`: two prices for the same quantity are one. */
const plain = (quantity: string) => String(Number(quantity));

/**
 * The prices of a product in all lists after a change of one; null: none are left. Prices of lists that the shop no
 * longer has are dropped on the way. `steps`: it would have too many quantities.
 */
export function changedPrices(
  current: readonly ListPrices[] | null,
  { priceListId, prices }: { priceListId: string; prices: readonly ListPrice[] },
  knownIds: readonly string[],
): ListPrices[] | null | 'steps' {
  let tiers: PriceTier[] = current?.find((list) => list.priceListId === priceListId)?.tiers ?? [];
  for (const { currency, quantity, price } of prices) tiers = withStep(tiers, { quantity, price }, currency);
  if (tiers.length > MAX_STEPS) return 'steps';
  const known = (current ?? []).filter((list) => knownIds.includes(list.priceListId));
  const isNew = known.every((list) => list.priceListId !== priceListId);
  const lists = [...known, ...(isNew ? [{ priceListId, tiers }] : [])]
    .map((list) => (list.priceListId === priceListId ? { priceListId, tiers } : list))
    .filter((list) => list.tiers.length > 0);
  return lists.length > 0 ? lists : null;
}

/** `withTiers` takes a whole step away; a list forgets the price of one currency. */
function withStep(
  tiers: readonly PriceTier[],
  { quantity, price }: { quantity: string; price: number | null },
  currency: string,
): PriceTier[] {
  if (price !== null) return withTiers(tiers, [{ quantity, price }], currency);
  return tiers.flatMap((tier) => {
    if (Number(tier.quantity) !== Number(quantity)) return [tier];
    const { [currency]: _gone, ...prices } = tier.prices;
    return Object.keys(prices).length > 0 ? [{ ...tier, prices }] : [];
  });
}
