import { readJson } from '../../kernel/json-file.ts';

/**
 * Standard rates of value added tax in basis points, as of 2026: what a new shop starts with. Reduced rates depend
 * on the goods, and a change of the law comes with a date, so from then on the shop's own settings count.
 */
const STANDARD_VAT = readJson(new URL('./vat-rates.json', import.meta.url)) as Readonly<
  Record<string, number>
>;

/** undefined: a country whose rate is not known here. */
export function standardVat(country: string): number | undefined {
  return STANDARD_VAT[country];
}
