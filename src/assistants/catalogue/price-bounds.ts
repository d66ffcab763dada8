import type { Product } from '../../catalogue/products/schema.ts';
import type { AssistantContext } from '../context.ts';
import { moneyOf } from './product.ts';

export interface PriceBounds {
  min?: number;
  max?: number;
}

/** Bounds in another currency than that of the answer are left out, because the shop does not convert them. */
export function priceBounds(
  given: PriceBounds | undefined,
  currency: string | undefined,
  context: Pick<AssistantContext, 'currency'>,
): PriceBounds {
  return given && (currency === undefined || currency === context.currency) ? given : {};
}

export function withinBounds({ priceInfo }: Pick<Product, 'priceInfo'>, { min, max }: PriceBounds): boolean {
  if (!priceInfo.price) return false;
  const { amount } = moneyOf(priceInfo.price);
  return (min === undefined || amount >= min) && (max === undefined || amount <= max);
}
