import type { TaxRegion } from '../countries/tax-territories.ts';
import { readJson } from '../../kernel/json-file.ts';

/**
 * Rates of value added tax and of goods and services tax by country, in basis points, the standard rate first: the
 * defaults of a new shop. A change of the law comes with a date, so from then on the shop's own settings count.
 * Countries whose taxes vary within the country, such as the United States with its sales taxes, are absent.
 */
const { year, rates, regions } = readJson(new URL('./vat-rates.json', import.meta.url)) as {
  year: number;
  rates: Readonly<Record<string, readonly number[]>>;
  /** The rates of a region, by those that the rest of its country has for the same goods. */
  regions: Readonly<Record<TaxRegion, Readonly<Record<string, number>>>>;
};

/** The year of these rates. */
export const VAT_YEAR = year;

/** undefined: the country's rate is not known here. */
export function standardVat(country: string): number | undefined {
  return rates[country]?.[0];
}

/** Rates for goods that the law favours, such as books and food; none where the country has only one rate. */
export function reducedVat(country: string): readonly number[] {
  return rates[country]?.slice(1) ?? [];
}

/** The rate of a region for goods that have this rate in the rest of its country; an unknown one is the same there. */
export function regionalVat(region: TaxRegion, rate: number): number {
  return regions[region][rate] ?? rate;
}
