import { textIn, type Localised } from '../../http/locale.ts';
import type { ShopVisit } from '../visit.ts';

type ProductType = ShopVisit['settings']['productTypes'][number];

/**
 * The labels of a product type's attributes and values in the user's language, and the lookup of typed labels. An
 * entry without a label in any language uses its key.
 */
export function attributeLabels(type: ProductType | undefined, { locale, settings }: ShopVisit) {
  const label = (texts: Localised | undefined, key: string) =>
    (texts && textIn(texts, locale, settings.defaultLocale)) ?? key;
  const attributes = (type?.attributes ?? []).map(({ key, name, values }) => ({
    key,
    label: label(name, key),
    values: values.map((one) => ({ value: one.value, label: label(one.name, one.value) })),
  }));
  const valuesOf = (key: string) => attributes.find((one) => one.key === key)?.values ?? [];
  return {
    labels: attributes.map((one) => one.label),
    labelOf: (key: string) => attributes.find((one) => one.key === key)?.label ?? key,
    valueLabel: (key: string, value: string) =>
      valuesOf(key).find((one) => one.value === value)?.label ?? value,
    keyOf: (typed: string) =>
      attributes.find((one) => one.key === typed || one.label === typed)?.key ?? typed,
    valueOf: (key: string, typed: string) =>
      valuesOf(key).find((one) => one.value === typed || one.label === typed)?.value ?? typed,
  };
}
