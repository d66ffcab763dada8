import type { Product } from '../catalogue/products/schema.ts';
import { unitSign } from '../catalogue/products/units.ts';
import { parseDecimal } from '../kernel/money.ts';
import { UNIT_KEYS, UNITS, type UnitKey } from '../kernel/units.ts';
import type { AssistantContext } from './context.ts';

/** A unit as the protocol names it: one step of a quantity is 10^-scale of it. */
export interface Unit {
  unit: string;
  scale?: number;
  display_text: string;
}

export interface QuantityUnit extends Unit {
  increment?: number;
}

export interface Measure extends Unit {
  value: number;
}

/** One of something. */
const EACH = 'C62';

type Reader = Pick<AssistantContext, 'settings' | 'locale'>;

/** The unit in which the price of a product is said. */
export function priceUnit({ priceInfo }: Pick<Product, 'priceInfo'>, { settings, locale }: Reader): UnitKey {
  return UNIT_KEYS.find((key) => unitSign(key, locale, settings) === priceInfo.quantity.unit) ?? 'piece';
}

/** Pieces, and packages of any kind, which the protocol counts as pieces. */
const isCounted = (key: UnitKey) =>
  ['H87', EACH].includes(UNITS[key].code) || UNITS[key].code.startsWith('X');

/** Steps of a quantity that may be any part of a unit. */
const FREE_SCALE = 3;

/** The unit in which a product is ordered; undefined: it is sold by the piece, one or more. */
export const quantityUnit = (product: Product, reader: Reader): QuantityUnit | undefined =>
  orderedUnit(priceUnit(product, reader), product.intervalOrder, reader);

/** The same of a unit and the steps in which it is ordered; steps of 0 are any amount. */
export function orderedUnit(key: UnitKey, intervalOrder: number, reader: Reader): QuantityUnit | undefined {
  const { units, scale } = steps(intervalOrder);
  const display = unitSign(key, reader.locale, reader.settings);
  if (isCounted(key)) {
    const isWhole = scale === 0 && units > 1;
    return isWhole ? { unit: EACH, display_text: display, increment: units } : undefined;
  }
  const shown = intervalOrder === 0 ? { units: 1, scale: FREE_SCALE } : { units, scale };
  return {
    unit: UNITS[key].code,
    ...(shown.scale > 0 && { scale: shown.scale }),
    display_text: display,
    increment: shown.units,
  };
}

/** An amount in a unit, without a fraction. */
export function measureOf(amount: number, key: UnitKey, { settings, locale }: Reader): Measure {
  const { units, scale } = steps(amount);
  const code = isCounted(key) ? EACH : UNITS[key].code;
  return {
    value: units,
    unit: code,
    ...(scale > 0 && code !== EACH && { scale }),
    display_text: unitSign(key, locale, settings),
  };
}

/** 1.25 is 125 hundredths. */
export function steps(amount: number): { units: number; scale: number } {
  const parsed = parseDecimal(amount);
  if (!parsed) throw new Error(`${amount} is not a decimal`);
  let { units, scale } = parsed;
  while (scale > 0 && units % 10n === 0n) {
    units /= 10n;
    scale--;
  }
  return { units: Number(units), scale };
}
