import { anyText, ORDER_UNIT } from '../catalogue/products/render.ts';
import { unitSign } from '../catalogue/products/units.ts';
import { formatsOf } from '../http/formats.ts';
import { messages } from '../kernel/messages.ts';
import type { ContentLine } from './pricing/content.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** `2 × Harbour Tea (Size: small)`, `1 × Board (Text: For Anna)`, or `7.5 m Rope`: so much of a line, for people to read. */
export function lineText(
  {
    orderUnit: { unit },
    name,
    variation,
    customText,
  }: Pick<ContentLine, 'orderUnit' | 'name' | 'variation' | 'customText'>,
  quantity: string,
  locale: string,
  settings: Pick<Settings, 'units' | 'defaultLocale'>,
): string {
  const text = (texts: ContentLine['name']) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const sign = unit === ORDER_UNIT.unit ? '×' : unitSign(unit, locale, settings);
  const amount = `${formatsOf(locale).quantity.format(Number(quantity))}\u00a0${sign}`;
  const more = [variation && text(variation), customText && typedText(customText, locale)].filter(Boolean);
  return `${amount} ${text(name)}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}

/** `Text: For Anna` */
export function typedText(text: string, locale: string): string {
  return messages(locale).customisation.typed({ text });
}
