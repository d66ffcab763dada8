import { currencyDigits } from '../../kernel/money.ts';
import { PaymentRefused } from './provider.ts';

/**
 * Providers do not agree with us, nor with each other, on how many decimals a currency has: 500 forints are 500 here,
 * and 50000 at Stripe. `digits` is the provider's number of decimals, `step` the smallest amount that it can charge,
 * in its own unit. An amount that it can't charge exactly is refused, because the customer must pay the sum of the
 * order.
 */
export function toProviderAmount(amount: number, currency: string, digits: number, step = 1): number {
  const scaled = moveDecimals(amount, digits - currencyDigits(currency));
  if (scaled === undefined || scaled % step !== 0) {
    const smallest = (step / 10 ** digits).toFixed(digits);
    throw new PaymentRefused(`The provider can charge ${currency} in steps of ${smallest} only`);
  }
  return scaled;
}

/** The reverse of `toProviderAmount`. */
export function fromProviderAmount(amount: number, currency: string, digits: number): number {
  const scaled = moveDecimals(amount, currencyDigits(currency) - digits);
  if (scaled === undefined)
    throw new Error(`The provider names an amount that ${currency} does not have: ${amount}`);
  return scaled;
}

/** undefined: the result would not be a whole number. */
function moveDecimals(amount: number, by: number): number | undefined {
  const factor = 10 ** Math.abs(by);
  const moved = by < 0 ? amount / factor : amount * factor;
  return Number.isSafeInteger(moved) ? moved : undefined;
}
