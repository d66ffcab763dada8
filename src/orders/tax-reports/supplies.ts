import { TAX_TREATMENTS, type TaxTreatment } from '../../shops/taxes/treatments.ts';
import { isInEu } from '../../shops/countries/countries.ts';
import { taxTerritoryOf } from '../../shops/countries/tax-territories.ts';
import { reducedVat, standardVat } from '../../shops/taxes/vat-rates.ts';

/**
 * The sum of all supplies of a period that are alike for the tax office. Amounts are in minor units of the currency,
 * those of credit notes are negative; rates are basis points.
 */
export interface SupplySum {
  currency: string;
  /** The destination of the goods: ISO 3166. */
  country: string;
  sellerCountry: string;
  /** null: the order is older than the treatment, which then follows from its destination and rate. */
  treatment: string | null;
  rate: number;
  /** All of its lines are services, such as downloads. */
  isService: boolean;
  /** Of the buyer, where the treatment may depend on it; null: none, or it does not matter. */
  vatNumber: string | null;
  /** The quarter of the credited invoice, such as `2026-Q3`; null: an invoice or an order. */
  creditedQuarter: string | null;
  net: number;
  tax: number;
}

export type TreatedSupply = Omit<SupplySum, 'treatment'> & { treatment: TaxTreatment };

type SupplyFacts = Pick<SupplySum, 'treatment' | 'country' | 'sellerCountry' | 'rate' | 'vatNumber'>;

/**
 * The treatment as it was stored with the order. Orders from before it was stored have only their destination and rate,
 * from which it is derived:
 * - a delivery within the seller's country is domestic,
 * - a delivery out of the European Union is an export without tax, and domestic with it,
 * - a delivery to another member state without tax is intra-community if the buyer has a VAT number,
 * - with tax it is a distance sale (OSS), unless its rate is one of the seller's country.
 */
export function treatmentOf({
  treatment,
  country,
  sellerCountry,
  rate,
  vatNumber,
}: SupplyFacts): TaxTreatment {
  const stored = TAX_TREATMENTS.find((one) => one === treatment);
  if (stored) return stored;
  if (country === sellerCountry) return 'domestic';
  if (!isInEu(country) || !isInEu(sellerCountry)) return rate === 0 ? 'export' : 'domestic';
  if (rate === 0) return vatNumber === null ? 'domestic' : 'intraCommunity';
  return hasRate(sellerCountry, rate) ? 'domestic' : 'oss';
}

const hasRate = (country: string, rate: number) =>
  standardVat(country) === rate || reducedVat(country).includes(rate);

export const toTreated = (supply: SupplySum): TreatedSupply => ({
  ...supply,
  treatment: treatmentOf(supply),
});

/**
 * The code of a tax area in VAT numbers and returns: Monaco belongs to France, Greece is EL, and Northern Ireland, which
 * has no code in ISO, XI.
 */
export function vatCountry({ country, treatment }: Pick<TreatedSupply, 'country' | 'treatment'>): string {
  const area = taxTerritoryOf({ country, zipCode: null }).country;
  if (area === 'GR') return 'EL';
  const isInSingleMarket = treatment === 'oss' || treatment === 'intraCommunity';
  return area === 'GB' && isInSingleMarket ? 'XI' : area;
}
