import { isInEu } from './countries.ts';

/**
 * Parts of countries whose taxes differ from those of the country, told apart by postcode (Directive 2006/112/EC,
 * articles 6 and 7). The postcode is the only part of an address that says it reliably.
 */

export interface Place {
  country: string;
  /** null: unknown, so the place counts as an ordinary one of its country. */
  zipCode: string | null;
}

/** The tax area that a place belongs to. */
export interface TaxTerritory {
  /** The country whose rates apply: Monaco has those of France, the Isle of Man those of the United Kingdom. */
  country: string;
  /** A part of the country where its value added tax does not apply: a delivery to it is an export. */
  isApart: boolean;
  /** Whether it belongs to the tax area of the European Union, for goods and for services. */
  isInEu: { goods: boolean; services: boolean };
  /** A part of the country with rates of its own; missing: those of the country. */
  region?: TaxRegion;
}

/** ISO 3166-2: the Azores and Madeira. */
export type TaxRegion = 'PT-20' | 'PT-30';

/**
 * Regions of the tax area with rates of their own. Others are no matter of distance sales: the lower rates of Greek islands
 * and those of Jungholz and Mittelberg are for sellers there, those of Corsica for some goods that no tax class tells.
 */
const REGIONS: Readonly<Record<string, readonly [RegExp, TaxRegion][]>> = {
  PT: [
    [/^9[0-4]\d{2}(?:\d{3})?$/, 'PT-30'],
    [/^9[5-9]\d{2}(?:\d{3})?$/, 'PT-20'],
  ],
};

/** Postcodes without blanks, hyphens and the prefix of the country. */
const APART: Readonly<Record<string, RegExp>> = {
  // Büsingen and Helgoland
  DE: /^(?:78266|27498)$/,
  // The Canary Islands, Ceuta and Melilla
  ES: /^(?:35|38|51|52)\d{3}$/,
  // The Åland Islands
  FI: /^22\d{3}$/,
  // The overseas departments and territories; 980 is Monaco.
  FR: /^(?:97\d{3}|98[4-8]\d{2})$/,
  // Mount Athos
  GR: /^6308[67]$/,
  // Livigno and Campione d'Italia
  IT: /^(?:23041|22061|22060)$/,
};

/** Countries that belong to the tax area of another one. */
const BELONGS_TO: Readonly<Record<string, string>> = { MC: 'FR', IM: 'GB' };

const BRITISH_ISLANDS: readonly [RegExp, string][] = [
  [/^JE\d/, 'JE'],
  [/^GY\d/, 'GG'],
];

export function taxTerritoryOf({ country, zipCode }: Place): TaxTerritory {
  const postcode = compactPostcode(country, zipCode ?? '');
  if (APART[country]?.test(postcode)) return outside(country, true);
  if (country === 'GB') {
    const island = BRITISH_ISLANDS.find(([postcodes]) => postcodes.test(postcode))?.[1];
    if (island !== undefined) return outside(island, false);
    return { country, isApart: false, isInEu: { goods: isNorthernIrish(postcode), services: false } };
  }
  const belongsTo = BELONGS_TO[country] ?? country;
  const isMember = isInEu(belongsTo);
  const region = REGIONS[country]?.find(([postcodes]) => postcodes.test(postcode))?.[1];
  return {
    country: belongsTo,
    isApart: false,
    isInEu: { goods: isMember, services: isMember },
    ...(region && { region }),
  };
}

/** Northern Ireland stays in the single market for goods (Windsor Framework), not for services. */
const isNorthernIrish = (postcode: string) => /^BT\d/.test(postcode);

const outside = (country: string, isApart: boolean): TaxTerritory => ({
  country,
  isApart,
  isInEu: { goods: false, services: false },
});

/** `E-38001`, `FI-22 100` and `630 86` as people write them. */
function compactPostcode(country: string, zipCode: string): string {
  const text = zipCode.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return country === 'GB' ? text : text.replace(/^[A-Z]{1,2}(?=\d)/, '');
}

/** The state that a VAT number belongs to: Greece is EL there, and XI is Northern Ireland. */
export interface VatState {
  country: string;
  isInEu: { goods: boolean; services: boolean };
}

export function vatStateOf(vatNumber: string): VatState {
  const prefix = vatNumber.slice(0, 2).toUpperCase();
  if (prefix === 'XI') return { country: 'GB', isInEu: { goods: true, services: false } };
  const country = prefix === 'EL' ? 'GR' : prefix;
  // GR is no prefix of a VAT number.
  const isMember = prefix !== 'GR' && isInEu(country);
  return { country, isInEu: { goods: isMember, services: isMember } };
}
