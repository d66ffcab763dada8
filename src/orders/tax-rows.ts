import { taxesByRate, type Content } from '../pricing/content.ts';

/** The part of an order or document that is taxed at one rate, in minor units; the rate is in basis points. */
export interface TaxRow {
  rate: number;
  net: number;
  tax: number;
  gross: number;
}

/**
 * One row for each tax rate. The rows sum to the totals of the content, to the cent. A rate without any amount has a
 * row only if it is the only one, so that every order has a row.
 */
export function taxRows({ taxType, taxes, ...totals }: TaxedContent): TaxRow[] {
  const rows = taxesByRate(taxes).map(({ rate, amount, tax }) =>
    taxType === 'GROSS'
      ? { rate, net: amount - tax, tax, gross: amount }
      : { rate, net: amount, tax, gross: amount + tax },
  );
  const sold = rows.filter(({ gross, tax }) => gross !== 0 || tax !== 0);
  if (sold.length > 0) return sold;
  return [rows[0] ?? { rate: 0, net: totals.totalBeforeTax, tax: totals.totalTax, gross: totals.grandTotal }];
}

export type TaxedContent = Pick<Content, 'taxType' | 'taxes' | 'totalBeforeTax' | 'totalTax' | 'grandTotal'>;

/** The same with the sign of a credit note, whose content is positive. */
export function negated({ rate, net, tax, gross }: TaxRow): TaxRow {
  return { rate, net: 0 - net, tax: 0 - tax, gross: 0 - gross };
}
