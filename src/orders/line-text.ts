import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import { anyText } from '../catalogue/products/render.ts';
import { unitSign } from '../catalogue/products/units.ts';
import { formatsOf } from '../http/formats.ts';
import { messagesIn } from '../kernel/messages.ts';
import type { ContentLine } from '../pricing/content.ts';
import type { Settings } from '../shops/settings/settings.ts';

/**
 * `2 × Harbour Tea (Size: small)`, `1 × Board (Your engraving: For Anna)`, or `7.5 m Rope`: a quantity of a line, for
 * people.
 */
export function lineText(
  {
    orderUnit: { unit },
    name,
    variation,
    customText,
    customTextHeadline,
  }: Pick<ContentLine, 'orderUnit' | 'name' | 'variation' | 'customText' | 'customTextHeadline'>,
  quantity: string,
  locale: string,
  settings: Pick<Settings, 'units' | 'defaultLocale'>,
): string {
  const text = (texts: ContentLine['name']) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const sign = unit === ORDER_UNIT.unit ? '×' : unitSign(unit, locale, settings);
  const amount = `${formatsOf(locale).quantity.format(Number(quantity))}\u00a0${sign}`;
  const headline = customTextHeadline && text(customTextHeadline);
  const more = [variation && text(variation), customText && typedText(customText, headline, locale)].filter(
    Boolean,
  );
  return `${amount} ${text(name)}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}

/** `Your engraving: For Anna`, or `Text: For Anna` where the field had no headline. */
export function typedText(text: string, headline: string | null | undefined, locale: string): string {
  const messages = messagesIn(locale).customisation;
  return headline
    ? messages.typedFor({ headline: headline.replace(/\s*:\s*$/, ''), text })
    : messages.typed({ text });
}
