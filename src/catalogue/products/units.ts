import type { Settings } from '../../shops/settings/settings.ts';
import { isUnitKey, UNIT_KEYS, UNIT_NAMES, UNITS, type UnitKey, type UnitNames } from '../../kernel/units.ts';

type Shop = Pick<Settings, 'units'>;

/** The names of a unit in this locale: the shop's own, else the built-in ones of the language, else the English ones. */
export function unitNames(unit: UnitKey, locale: string, shop: Shop): UnitNames {
  return shop.units[unit]?.[locale] ?? UNIT_NAMES[locale.slice(0, 2)]?.[unit] ?? UNITS[unit];
}

/** The sign, or the long name of a unit that has none. */
export function unitSign(unit: UnitKey, locale: string, shop: Shop): string {
  const { short, long } = unitNames(unit, locale, shop);
  return short ?? long;
}

/** The unit named by a client: by its key, its sign or a name in any language of the shop. */
export function findUnit(text: string, shop: Shop): UnitKey | undefined {
  const lowered = text.trim().toLowerCase();
  if (isUnitKey(lowered)) return lowered;
  const isNamed = (names: UnitNames) =>
    [names.long, names.short, names.orderShort].some((name) => name?.toLowerCase() === lowered);
  return (
    UNIT_KEYS.find((unit) => [UNITS[unit], ...Object.values(shop.units[unit] ?? {})].some(isNamed)) ??
    UNIT_KEYS.find((unit) => Object.values(UNIT_NAMES).some((names) => isNamed(names[unit])))
  );
}

/** The allowed units of a delivery weight. */
export const WEIGHT_UNITS: readonly UnitKey[] = ['gram', 'kilogram', 'milligram', 'ounce', 'pound', 'tone'];
