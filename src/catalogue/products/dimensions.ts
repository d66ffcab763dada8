import { textIn } from '../../http/locale.ts';
import type { ProductType, Settings } from '../../shops/settings/settings.ts';
import type { Dimension } from './combinations.ts';

/** The dimension with its labels. */
export function shownDimension(
  { key, values }: Dimension,
  type: ProductType,
  settings: Settings,
  locale: string,
) {
  const attribute = type.attributes.find((one) => one.key === key);
  const label = (texts: Record<string, string> | undefined) =>
    texts && textIn(texts, locale, settings.defaultLocale);
  return {
    name: key,
    displayName: label(attribute?.name) ?? key,
    values: values.map((value) => ({
      value,
      displayValue: label(attribute?.values.find((one) => one.value === value)?.name) ?? value,
    })),
  };
}
