import { Type, type Static, type TSchema } from 'typebox';
import { invalid } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import { parseDecimal, toMinor } from '../../kernel/money.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { MAX_CUSTOM_TEXT_LENGTH } from './custom-text.ts';
import { Weight } from './schema.ts';
import { findUnit, WEIGHT_UNITS } from './units.ts';

/** The product fields of requests, and their conversion. */

/** A plain decimal number; browsers send it as text as well. */
export const Decimal = (description: string, example: number) =>
  Type.Unsafe<number | string>({
    title: 'decimal',
    type: ['number', 'string'],
    pattern: '^ *-?[0-9]{1,12}([.][0-9]{1,10})? *$',
    minimum: -1e12,
    maximum: 1e12,
    description,
    examples: [example],
  });

export const Text = (description: string, example: string, maxLength: number) =>
  Type.String({ description, maxLength, examples: [example] });

/** Nulls mean "not given": clients send them for nearly every field. */
export const Given = <Schema extends TSchema>(schema: Schema) => Type.Optional(Nullable(schema));

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
    'What is typed for a product with isCustomizable, in one line; absent: nothing.',
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

/** A decimal of a request within bounds, with at most six decimals. */
export function decimalOf(
  value: number | string,
  field: string,
  bounds: { least: number; most: number },
): number {
  const text = typeof value === 'string' ? value.trim() : value;
  const decimal = parseDecimal(text);
  if (!decimal) throw invalid('WRONG_TYPE', field);
  const number = Number(Number(text).toFixed(6));
  if (number < bounds.least || number > bounds.most) throw invalid('OUT_OF_RANGE', field);
  return number;
}

export const MAX_MINOR = 1e13;

/** An amount of a request in minor units; negative only where allowed. */
export function amountOf(
  value: number | string,
  currency: string,
  field: string,
  { least = 0 }: { least?: number } = {},
): number {
  const minor = toMinor(typeof value === 'string' ? value.trim() : value, currency);
  if (minor === undefined) throw invalid('WRONG_TYPE', field);
  if (minor < least || minor > MAX_MINOR) throw invalid('OUT_OF_RANGE', field);
  return minor;
}

export const STOCK = { least: -1e9, most: 1e9 };

export function weightOf(value: Static<typeof WeightRequest>, settings: Settings, field: string) {
  const unit = findUnit(value.unit, settings);
  if (!unit || !WEIGHT_UNITS.includes(unit)) throw invalid('UNKNOWN_VALUE', `${field}.unit`);
  return { amount: decimalOf(value.amount, `${field}.amount`, { least: 0, most: 1e9 }), unit };
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
