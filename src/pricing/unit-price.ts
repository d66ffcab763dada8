import { scaledByDecimals } from '../kernel/money.ts';

/** The cost of `quantity` at this price for `priceQuantity`; one rounding. */
export function priceOfQuantity(price: number, quantity: number | string, priceQuantity: number): number {
  // Almost always both are whole numbers, and then nothing is rounded.
  const simple = price * Number(quantity);
  if (priceQuantity === 1 && Number.isSafeInteger(Number(quantity)) && Number.isSafeInteger(simple))
    return simple;
  return scaledByDecimals(price, quantity, priceQuantity);
}
