import { Type, type Static } from 'typebox';
import { invalid } from '../../http/errors.ts';
import { Decimal, decimalOf, Given, Text } from '../../http/request-fields.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { MAX_CUSTOM_TEXT_LENGTH } from './custom-text.ts';
import { Weight } from './schema.ts';
import { findUnit, WEIGHT_UNITS } from './units.ts';

/** The product fields of requests, and their conversion. */

/** Maximum lengths: generous for people, and far below the limit of a row. */
export const MAX_LENGTHS = {
  name: 1_000,
  line: 1_000,
  features: 10_000,
  text: 200_000,
  words: 100,
  word: 200,
  pictureText: 500,
};

export const CustomTextRequest = Given(
  Text(
    'The text that the customer enters for a product with isCustomizable, in one line; absent: none.',
    'For Anna',
    MAX_CUSTOM_TEXT_LENGTH,
  ),
);

export const ProductNumber = Type.String({
  description: 'Number, unique in the shop.',
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f]*$',
  examples: ['AP-100'],
});

export const Keywords = Type.Array(Text('A word.', 'kettle', MAX_LENGTHS.word), {
  maxItems: MAX_LENGTHS.words,
  description: 'More words it is found by.',
});

export const WeightRequest = Type.Object(
  { amount: Decimal('How much.', 260), unit: Weight.properties.unit },
  { title: 'weight (request)' },
);

export const STOCK = { min: -1e9, max: 1e9 };

export function requestedWeight(value: Static<typeof WeightRequest>, settings: Settings, field: string) {
  const unit = findUnit(value.unit, settings);
  if (!unit || !WEIGHT_UNITS.includes(unit)) throw invalid('UNKNOWN_VALUE', `${field}.unit`);
  return { amount: decimalOf(value.amount, `${field}.amount`, { min: 0, max: 1e9 }), unit };
}

/** The requested class; an empty id means "not given". */
export function taxClassIdOf(
  value: string | null | undefined,
  settings: Settings,
  field: string,
): string | null {
  if (value === null || value === undefined || value === '') return null;
  const id = value.toUpperCase();
  const found = settings.taxClasses.find(({ taxClassId }) => taxClassId === id);
  if (!found) throw invalid('UNKNOWN_VALUE', field);
  return found.taxClassId;
}

/** Words without duplicates and surrounding blanks. */
export function keywordsOf(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => word.trim()).filter((word) => word !== ''))];
}
