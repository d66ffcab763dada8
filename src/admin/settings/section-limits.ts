import type { TSchema } from 'typebox';
import { MAX_FIELD_LENGTH, type FormLimits, type TextLimit } from '../../http/form-fields.ts';
import type { SectionName } from '../../shops/settings/schema.ts';
import { kindOf, mapValue, schemaOf, shapeOf } from './field-kind.ts';

/** The limit of a list without one in the schema. */
const MAX_ENTRIES = 1_000;
/** A shop with more entries than fit into a form writes them into its settings file. */
const MAX_VALUES = 3_000;

/** The limits of a form with these sections, from their schemas. */
export function sectionLimits(sections: readonly SectionName[]): FormLimits {
  const texts = sections.flatMap((section) => [...textLimits(schemaOf(section), section)]);
  return { texts: Object.fromEntries(texts), values: MAX_VALUES };
}

/** The names are those that `settingFieldName` derives from the path of a field. */
function* textLimits(schema: TSchema, name: string): Generator<[string, TextLimit]> {
  const { maxLength = MAX_FIELD_LENGTH, properties = {}, items } = shapeOf(schema);
  switch (kindOf(schema)) {
    case 'line':
    case 'lines':
      yield [name, maxLength];
      return;
    case 'texts':
      yield [`${name}.*`, maxLength];
      return;
    case 'words':
      yield [name, wordLimit(schema)];
      return;
    case 'section':
      for (const [key, field] of Object.entries(properties)) yield* textLimits(field, `${name}.${key}`);
      return;
    case 'entries':
      yield* textLimits(items!, `${name}.*`);
      return;
    case 'map':
      // A known key is a part of the name; a typed one has its own field.
      yield* textLimits(mapValue(schema), `${name}.*`);
      yield* textLimits(mapValue(schema), `${name}.*.value`);
      return;
    case 'flag':
    case 'choice':
    case 'choices':
    case 'number':
  }
}

/** One word per line. */
export function wordLimit(schema: TSchema): { characters: number; lines: number } {
  const { maxItems = MAX_ENTRIES, items } = shapeOf(schema);
  const { maxLength = MAX_FIELD_LENGTH } = shapeOf(items!);
  return { characters: Math.min(maxItems * (maxLength + 1), 100_000), lines: maxItems };
}
