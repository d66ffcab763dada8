/** Names of a unit in one language. */
export interface UnitNames {
  /** As in `2 piece(s)`. */
  long: string;
  /** The sign, where there is one; else the long name is shown. */
  short?: string;
  /** Where the short name of an order unit is spelled differently from the sign behind a quantity. */
  orderShort?: string;
}

/**
 * The units of the contract with their English names. The keys are spelled as clients send them, `terrabyte` and
 * `tone` among them. The contract's two sources pair `box` and `carton` differently; this is the reading that its
 * table prefers.
 */
export const UNITS = {
  byte: { long: 'byte(s)', short: 'Byte' },
  kilobyte: { long: 'kilobyte(s)', short: 'kByte', orderShort: 'KByte' },
  megabyte: { long: 'megabyte(s)', short: 'MByte' },
  gigabyte: { long: 'gigabyte(s)', short: 'GByte' },
  terrabyte: { long: 'terabyte(s)', short: 'TByte' },
  gram: { long: 'gram(s)', short: 'g' },
  kilogram: { long: 'kilogram(s)', short: 'kg' },
  milligram: { long: 'milligram(s)', short: 'mg' },
  ounce: { long: 'ounce(s)', short: 'oz' },
  pound: { long: 'pound(s)', short: 'lb' },
  tone: { long: 'ton(s)', short: 't' },
  litre: { long: 'liter(s)', short: 'l' },
  millilitre: { long: 'milliliter(s)', short: 'ml' },
  cubicfoot: { long: 'cubic foot / cubic feet', short: 'ft³' },
  cubicinch: { long: 'cubic inch(es)', short: 'in³' },
  cubicmetre: { long: 'cubic meter(s)', short: 'm³' },
  cubicyard: { long: 'cubic yard(s)', short: 'yd³' },
  fluidounce: { long: 'fluid ounce(s)', short: 'fl oz' },
  gallon: { long: 'gallon(s)', short: 'gal' },
  quart: { long: 'quart(s)', short: 'qt' },
  metre: { long: 'meter(s)', short: 'm' },
  centimetre: { long: 'centimeter(s)', short: 'cm' },
  foot: { long: 'foot / feet', short: 'ft' },
  inch: { long: 'inch(es)', short: 'in' },
  kilometre: { long: 'kilometer(s)', short: 'km' },
  millimetre: { long: 'millimeter(s)', short: 'mm' },
  yard: { long: 'yard(s)', short: 'yd' },
  piece: { long: 'piece(s)' },
  bottle: { long: 'bottle(s)' },
  box: { long: 'box(es)' },
  can: { long: 'can(s)' },
  capsule: { long: 'capsule(s)' },
  carton: { long: 'crate(s)' },
  glass: { long: 'glass(es)' },
  kit: { long: 'kit(s)' },
  pack: { long: 'pack(s)' },
  packet: { long: 'package(s)' },
  pair: { long: 'pair(s)' },
  roll: { long: 'roll(s)' },
  set: { long: 'set(s)' },
  sheet: { long: 'sheet(s)' },
  ticket: { long: 'ticket(s)' },
  unit: { long: 'unit(s)' },
  second: { long: 'second(s)', short: 's' },
  minute: { long: 'minute(s)', short: 'min' },
  hour: { long: 'hour(s)' },
  day: { long: 'day(s)' },
  night: { long: 'night(s)' },
  week: { long: 'week(s)' },
  month: { long: 'month(s)' },
  year: { long: 'year(s)' },
  squaremetre: { long: 'square meter(s)', short: 'm²' },
  squarecentimetre: { long: 'square centimeter(s)', short: 'cm²' },
  squarefoot: { long: 'square foot / square feet', short: 'ft²' },
  squareinch: { long: 'square inch(es)', short: 'in²' },
  squaremillimetre: { long: 'square millimeter(s)', short: 'mm²' },
  squareyard: { long: 'square yard(s)', short: 'yd²' },
} as const satisfies Record<string, UnitNames>;

export type UnitKey = keyof typeof UNITS;

export const UNIT_KEYS = Object.keys(UNITS) as UnitKey[];

export function isUnitKey(key: string): key is UnitKey {
  return Object.hasOwn(UNITS, key);
}
