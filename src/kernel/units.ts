import { readJson } from './json-file.ts';
import type units from './units.json';

/** Names of a unit in one language. */
export interface UnitNames {
  /** As in `2 piece(s)`. */
  long: string;
  /** The sign, if there is one; else the long name is shown. */
  short?: string;
  /** Where the short name of an order unit differs from the sign after a quantity. */
  orderShort?: string;
}

export type UnitKey = keyof typeof units;

/**
 * The units of the contract with their English names. The keys are spelled as clients send them, `terrabyte` and
 * `tone` among them. The contract's two sources pair `box` and `carton` differently; this is the reading that its
 * table prefers. `code` is from UN/ECE recommendations 20 and 21, which electronic invoices use; C62 is one of
 * something.
 */
export const UNITS = readJson(new URL('./units.json', import.meta.url)) as Readonly<
  Record<UnitKey, UnitNames & { code: string }>
>;

/** The names in other languages than English, by the language. */
export const UNIT_NAMES = readJson(new URL('./unit-names.json', import.meta.url)) as Readonly<
  Record<string, Readonly<Record<UnitKey, UnitNames>>>
>;

export const UNIT_KEYS = Object.keys(UNITS) as UnitKey[];

export function isUnitKey(key: string): key is UnitKey {
  return Object.hasOwn(UNITS, key);
}
