import { Type, type Static } from 'typebox';
import { textIn } from '../../http/locale.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { selectedValue } from './combinations.ts';
import { ATTRIBUTE_TYPES, inheritedFacts, type ProductAttribute } from './facts.ts';
import type { ProductRow } from './queries.ts';
import { typeOf } from './render.ts';

const CustomAttribute = Type.Object(
  {
    key: Type.String({ description: 'Key.', examples: ['Wood'] }),
    displayKey: Type.String({ description: 'Label.', examples: ['Wood'] }),
    singleValue: Type.Boolean({ description: 'One value only.', examples: [true] }),
    type: Type.String({ description: 'Kind of value.', enum: [...ATTRIBUTE_TYPES], examples: ['string'] }),
    values: Type.Array(
      Type.Object(
        {
          value: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            description: 'Key of the value; null when none is set.',
            examples: ['Oak'],
          }),
          displayValue: Type.String({ description: 'Label; empty when none is set.', examples: ['Oak'] }),
        },
        { title: 'attributeValue' },
      ),
      { description: 'The selected values.' },
    ),
  },
  { title: 'customAttribute' },
);

export const CustomAttributes = Type.Object(
  { items: Type.Array(CustomAttribute, { description: 'The attributes.' }) },
  { title: 'customAttributes' },
);

/** All attributes that the product can have a value for: those of its type, then its own. */
export function attributesOf(row: ProductRow, settings: Settings): ProductAttribute[] {
  const { attributes = [] } = inheritedFacts(row.facts, row.master?.facts ?? null);
  const defined = typeOf(row, settings).attributes.map(({ key, name, values }): ProductAttribute => {
    const own = attributes.find((one) => one.key === key);
    const chosen = selectedValue(row.selection, key);
    if (chosen === undefined) return own ?? { key, name, type: 'string', singleValue: true, values: [] };
    const value = values.find((one) => one.value === chosen) ?? { value: chosen, name: {} };
    return { key, name, type: 'string', singleValue: true, values: [value] };
  });
  return [...defined, ...attributes.filter(({ key }) => !defined.some((one) => one.key === key))];
}

/** The attributes with their labels. */
export function shownAttributes(
  row: ProductRow,
  settings: Settings,
  locale: string,
): Static<typeof CustomAttributes> {
  const type = typeOf(row, settings);
  return {
    items: attributesOf(row, settings).map(({ key, name, singleValue, type: kind, values }) => {
      const defined = type.attributes.find((one) => one.key === key);
      const label = (texts: Record<string, string> | undefined) =>
        texts && (textIn(texts, locale, settings.defaultLocale) ?? Object.values(texts)[0]);
      return {
        key,
        displayKey: label(defined?.name) ?? label(name) ?? key,
        singleValue,
        type: kind,
        values:
          values.length === 0
            ? [{ value: null, displayValue: '' }]
            : values.map(({ value, name: texts }) => ({
                value,
                displayValue:
                  label(defined?.values.find((one) => one.value === value)?.name) ?? label(texts) ?? value,
              })),
      };
    }),
  };
}
