import { anyText, ORDER_UNIT } from '../catalogue/products/render.ts';
import { unitSign } from '../catalogue/products/units.ts';
import { languageTag } from '../http/locale.ts';
import type { ContentLine } from '../pricing/content.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** `2 × Harbour Tea (Size: small)`, or `7.5 m Rope`: so much of a line, for people to read. */
export function lineText(
  { orderUnit: { unit }, name, variation }: Pick<ContentLine, 'orderUnit' | 'name' | 'variation'>,
  quantity: string,
  locale: string,
  settings: Pick<Settings, 'units' | 'defaultLocale'>,
): string {
  const number = new Intl.NumberFormat(languageTag(locale), { maximumFractionDigits: 6 });
  const text = (texts: ContentLine['name']) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const sign = unit === ORDER_UNIT.unit ? '×' : unitSign(unit, locale, settings);
  const amount = `${number.format(Number(quantity))}\u00a0${sign}`;
  return `${amount} ${variation ? `${text(name)} (${text(variation)})` : text(name)}`;
}
