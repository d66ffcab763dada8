import { amountWithUnit, unitText } from '../../http/amount-text.ts';
import { priceText } from '../../http/price-text.ts';
import type { Price } from '../../http/price.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { LOWEST_BASE_PRICE, type Product } from './schema.ts';
import { unitSign } from './units.ts';

type BasePrice = Pick<NonNullable<Product['priceInfo']['basePrice']>, 'refQuantity' | 'refPrice'>;

/** The price of a product as lists show it. */
export interface ShownPrice {
  price: Price;
  /** It is the lowest of several. */
  isFrom: boolean;
  /** What the price is for, as in `per 100 g`; undefined: for a piece. */
  unit: string | undefined;
  /** The price per litre or kilogram; undefined: there is none, or it would repeat the price. */
  base: BasePrice | undefined;
}

/** undefined: the price is on request. */
export function shownPrice(
  { priceInfo }: Product,
  settings: Settings,
  locale: string,
): ShownPrice | undefined {
  const { lowestPrice, quantity } = priceInfo;
  const isFrom = lowestPrice !== null && settings.showFromPrices;
  const price = isFrom ? lowestPrice : priceInfo.price;
  if (!price) return undefined;
  const isPiece = quantity.unit === unitSign('piece', locale, settings) && quantity.amount === 1;
  const base = isFrom ? priceInfo[LOWEST_BASE_PRICE] : priceInfo.basePrice;
  // The base price of a master without reference amounts would repeat the price.
  const isRepeated =
    base &&
    base.refQuantity.amount === 1 &&
    base.refQuantity.unit === quantity.unit &&
    base.refPrice.amount === price.amount;
  return {
    price,
    isFrom,
    unit: isPiece ? undefined : unitOf(quantity, locale),
    base: isRepeated ? undefined : base || undefined,
  };
}

const unitOf = ({ amount, unit }: { amount: number; unit: string }, locale: string) =>
  amount === 1 ? unitText(1, unit, locale) : amountWithUnit(amount, unit, locale);

/** `100 g = €3.10` */
export function basePriceText({ refQuantity, refPrice }: BasePrice, locale: string): string {
  return `${amountWithUnit(refQuantity.amount, refQuantity.unit, locale)} = ${priceText(refPrice, locale)}`;
}
