import { TAX_TREATMENTS, type TaxTreatment } from '../../shops/taxes/treatments.ts';
import { toTreated, vatCountry, type SupplySum, type TreatedSupply } from './supplies.ts';

export interface Amounts {
  net: number;
  tax: number;
  gross: number;
}

export interface VatRow extends Amounts {
  currency: string;
  treatment: TaxTreatment;
  country: string;
  rate: number;
}

export interface VatSummary {
  rows: VatRow[];
  /** One for each currency. */
  totals: (Amounts & { currency: string })[];
}

/**
 * The turnover of a period by treatment, country and rate. Credit notes lower the period in which they were issued. Gift
 * cards are no turnover when they are sold.
 */
export function vatSummary(supplies: readonly SupplySum[]): VatSummary {
  const rows = summed(
    supplies.map(toTreated).filter(({ treatment }) => treatment !== 'voucher'),
    ({ currency, treatment, country, rate }): Omit<VatRow, keyof Amounts> => ({
      currency,
      treatment,
      country,
      rate,
    }),
  );
  return {
    rows: rows.toSorted(inReportOrder),
    totals: summed(rows, ({ currency }) => ({ currency })).toSorted((one, other) =>
      compareTexts(one.currency, other.currency),
    ),
  };
}

export interface OssRow {
  currency: string;
  /** As the return spells it: EL for Greece. */
  country: string;
  isService: boolean;
  rate: number;
  net: number;
  tax: number;
}

/** A credit note for an invoice of an earlier quarter. The return asks for the tax only. */
export interface OssCorrection {
  currency: string;
  country: string;
  /** The corrected quarter, such as `2026-Q2`. */
  quarter: string;
  net: number;
  tax: number;
}

export interface OssReport {
  rows: OssRow[];
  corrections: OssCorrection[];
}

/**
 * The return of the One Stop Shop of a quarter: distance sales by country of consumption and rate. Credit notes for the same
 * quarter lower its sales; those for earlier quarters are corrections of these (Article 369g of Directive 2006/112/EC).
 */
export function ossReport(supplies: readonly SupplySum[], quarter: string): OssReport {
  const sales = supplies.map(toTreated).filter(({ treatment }) => treatment === 'oss');
  const isCorrection = ({ creditedQuarter }: TreatedSupply) =>
    creditedQuarter !== null && creditedQuarter !== quarter;
  const rows = summed(
    sales.filter((sale) => !isCorrection(sale)),
    (sale) => ({
      currency: sale.currency,
      country: vatCountry(sale),
      isService: sale.isService,
      rate: sale.rate,
    }),
  );
  const corrections = summed(sales.filter(isCorrection), (sale) => ({
    currency: sale.currency,
    country: vatCountry(sale),
    quarter: sale.creditedQuarter!,
  }));
  return {
    rows: rows
      .map(({ gross: _gross, ...row }) => row)
      .toSorted(
        (one, other) =>
          compareTexts(one.currency, other.currency) ||
          compareTexts(one.country, other.country) ||
          Number(one.isService) - Number(other.isService) ||
          other.rate - one.rate,
      ),
    corrections: corrections
      .map(({ gross: _gross, ...row }) => row)
      .toSorted(
        (one, other) =>
          compareTexts(one.currency, other.currency) ||
          compareTexts(one.quarter, other.quarter) ||
          compareTexts(one.country, other.country),
      ),
  };
}

export interface EcSale {
  currency: string;
  /** With its prefix; '': the buyer has none, which the tax office will not accept. */
  vatNumber: string;
  /** L: goods, S: services. */
  kind: 'L' | 'S';
  net: number;
}

/** The EC sales list of a period: tax-free sums by VAT number of the buyer. Credit notes lower them. */
export function ecSalesList(supplies: readonly SupplySum[]): EcSale[] {
  const sales = supplies
    .map(toTreated)
    .filter(({ treatment }) => treatment === 'intraCommunity' || treatment === 'reverseCharge');
  return summed(sales, ({ currency, vatNumber, treatment }) => ({
    currency,
    vatNumber: compactNumber(vatNumber ?? ''),
    kind: treatment === 'intraCommunity' ? ('L' as const) : ('S' as const),
  }))
    .map(({ currency, vatNumber, kind, net }) => ({ currency, vatNumber, kind, net }))
    .toSorted(
      (one, other) =>
        compareTexts(one.currency, other.currency) ||
        compareTexts(one.vatNumber, other.vatNumber) ||
        compareTexts(one.kind, other.kind),
    );
}

const compactNumber = (vatNumber: string) => vatNumber.replaceAll(/[^A-Za-z0-9+*]/g, '').toUpperCase();

/** One row for each key, with the sums of its supplies. */
function summed<Supply extends { net: number; tax: number }, Key extends object>(
  supplies: readonly Supply[],
  keyOf: (supply: Supply) => Key,
): (Key & Amounts)[] {
  const rows = new Map<string, Key & Amounts>();
  for (const supply of supplies) {
    const key = keyOf(supply);
    const text = JSON.stringify(Object.values(key));
    const row = rows.get(text) ?? { ...key, net: 0, tax: 0, gross: 0 };
    row.net += supply.net;
    row.tax += supply.tax;
    row.gross += supply.net + supply.tax;
    rows.set(text, row);
  }
  return [...rows.values()];
}

function inReportOrder(one: VatRow, other: VatRow): number {
  return (
    compareTexts(one.currency, other.currency) ||
    TAX_TREATMENTS.indexOf(one.treatment) - TAX_TREATMENTS.indexOf(other.treatment) ||
    compareTexts(one.country, other.country) ||
    other.rate - one.rate
  );
}

const compareTexts = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
