import { Type, type TSchema } from 'typebox';
import { parseDecimal, toMinor } from '../kernel/money.ts';
import { invalid } from './errors.ts';
import { Nullable } from './schemas.ts';

/** Fields of requests, and their conversion. */

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

/** A decimal of a request within bounds, with at most six decimals. */
export function decimalOf(
  value: number | string,
  field: string,
  bounds: { min: number; max: number },
): number {
  const text = typeof value === 'string' ? value.trim() : value;
  const decimal = parseDecimal(text);
  if (!decimal) throw invalid('WRONG_TYPE', field);
  const number = Number(Number(text).toFixed(6));
  if (number < bounds.min || number > bounds.max) throw invalid('OUT_OF_RANGE', field);
  return number;
}

export const MAX_MINOR = 1e13;

/** An amount of a request in minor units; negative only where allowed. */
export function amountOf(
  value: number | string,
  currency: string,
  field: string,
  { min = 0 }: { min?: number } = {},
): number {
  const minor = toMinor(typeof value === 'string' ? value.trim() : value, currency);
  if (minor === undefined) throw invalid('WRONG_TYPE', field);
  if (minor < min || minor > MAX_MINOR) throw invalid('OUT_OF_RANGE', field);
  return minor;
}
