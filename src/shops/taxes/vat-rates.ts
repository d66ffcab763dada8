/**
 * Standard rates of value added tax in basis points, as of 2026: what a new shop starts with. Reduced rates depend
 * on the goods, and a change of the law comes with a date, so from then on the shop's own settings count.
 */
const STANDARD_VAT: Readonly<Record<string, number>> = {
  AT: 2000,
  BE: 2100,
  BG: 2000,
  CH: 810,
  CY: 1900,
  CZ: 2100,
  DE: 1900,
  DK: 2500,
  EE: 2400,
  ES: 2100,
  FI: 2550,
  FR: 2000,
  GB: 2000,
  GR: 2400,
  HR: 2500,
  HU: 2700,
  IE: 2300,
  IT: 2200,
  LT: 2100,
  LU: 1700,
  LV: 2100,
  MT: 1800,
  NL: 2100,
  NO: 2500,
  PL: 2300,
  PT: 2300,
  RO: 2100,
  SE: 2500,
  SI: 2200,
  SK: 2300,
};

/** undefined: a country whose rate is not known here. */
export function standardVat(country: string): number | undefined {
  return STANDARD_VAT[country];
}
