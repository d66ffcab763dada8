import { languageTag } from './locale.ts';
import type { Price } from './price.ts';
import { currencyDigits, toDecimal } from '../kernel/money.ts';

/** By locale and currency: creating one takes much longer than using it. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, currency: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`;
  let format = formats.get(key);
  if (!format) {
    const digits = currencyDigits(currency);
    format = new Intl.NumberFormat(languageTag(locale), {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      signDisplay: 'negative', // minus zero is zero
    });
    formats.set(key, format);
  }
  return format;
}

/**
 * A price in the locale's format: `€12.00` in British English, `12,00 €` in German. The API always puts the sign last.
 */
export function priceText({ amount, currency }: Pick<Price, 'amount' | 'currency'>, locale: string): string {
  return formatOf(locale, currency)
    .format(amount)
    .replaceAll(/[\u00a0\u202f]/g, ' ')
    .replace('\u2212', '-');
}

/** The same for an amount in minor units. */
export function moneyText(minor: number, currency: string, locale: string): string {
  return priceText({ amount: toDecimal(minor, currency), currency }, locale);
}
