import {
  Type,
  type Static,
  type TArray,
  type TObject,
  type TOptional,
  type TSchema,
  type TUnsafe,
} from 'typebox';
import { sixDigits } from '../../kernel/colour.ts';
import { toDecimal, toMinor } from '../../kernel/money.ts';
import type { Localised } from '../../http/locale.ts';

/**
 * The fields that a settings file is made of. Each is a JSON schema with a description and an example, because editors
 * show them while one types, and says how its value is stored: money in minor units, rates in basis points, texts by
 * locale. `conversion.ts` follows these schemas from the file to the stored settings and back.
 */

export const LOCALE = '^[a-z]{2}_[A-Z]{2}$';
export const COUNTRY = '^[A-Z]{2}$';
export const CURRENCY = '^[A-Z]{3}$';
/** Visible text without a line break. */
export const ONE_LINE = '^ *[^\\s\\u0000-\\u001f][^\\u0000-\\u001f]*$';
/** Visible text without control characters other than tabs and line breaks: XML and emails can't hold them. */
export const LINES_OF_TEXT = '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$';

/** Beyond this, minor units would come near 2^53. */
export const MOST_MONEY = 1_000_000_000_000;

/** What the values of a file refer to without saying so. */
export interface FileContext {
  defaultLocale: string;
  /** The default currency, which all amounts are in. */
  currency: string;
  /** Writes every text by locale, so that two files can be compared; else a text in the default locale alone is plain. */
  textsByLocale?: boolean;
}

export interface Conversion<Written, Stored> {
  toStored(written: Written, context: FileContext): Stored;
  /** undefined: the field is left out of the file. */
  toWritten(stored: Stored, context: FileContext): Written | undefined;
}

/** How a field is stored, where that differs from how it is written. */
export interface Storage {
  conversion?: Conversion<never, never>;
  /** The name of the stored property. */
  name?: string;
  /** What is stored when the file leaves the field out; without it nothing is stored. */
  absent?: unknown;
  /** The fields of this section are stored beside the other settings, not in an object of their own. */
  isInline?: boolean;
  /** The entries of this list have ids, which belong to their keys. */
  ids?: { key: string; id: string };
  /** A map by locale. `copy`: the new default locale gets the text of the old one when it has none. */
  byLocale?: 'copy' | 'keep';
  /** Whether an export leaves out this field of an object. */
  isOmitted?(key: string, written: unknown, object: Record<string, unknown>): boolean;
  /** What a new shop has, as a file would say it. Shops that are older than the setting have it too. */
  initial?: unknown;
}

const STORAGE = Symbol('storage');

export function storageOf(schema: TSchema): Storage {
  return (schema as { [STORAGE]?: Storage })[STORAGE] ?? {};
}

function withStorage<Schema extends TSchema>(schema: Schema, storage: Storage): Schema {
  return Object.assign(schema, { [STORAGE]: { ...storageOf(schema), ...storage } });
}

/** What is stored for a value of this schema. The keys with ~ exist in types only. */
export type Stored<Schema> = Schema extends { '~id': infer Id extends string }
  ? WithId<StoredValue<Schema>, Id>
  : StoredValue<Schema>;

type StoredValue<Schema> = Schema extends { '~stored': infer Value }
  ? Value
  : Schema extends TObject<infer Fields>
    ? StoredFields<Fields>
    : Schema extends TArray<infer Item>
      ? Stored<Item>[]
      : Schema extends TSchema
        ? Static<Schema>
        : never;

type WithId<List, Id extends string> = List extends (infer Entry)[]
  ? { [Key in Id | keyof Entry]: Key extends keyof Entry ? Entry[Key] : string }[]
  : never;

type StoredFields<Fields> = Merged<
  {
    [Key in keyof Fields as LeftOut<Fields[Key]> extends true ? never : StoredName<Key, Fields[Key]>]:
      | Stored<Fields[Key]>
      | (Fields[Key] extends { '~absent': infer Absent } ? Absent : never);
  } & {
    [
      Key in keyof Fields as LeftOut<Fields[Key]> extends true ? StoredName<Key, Fields[Key]> : never
    ]?: Stored<Fields[Key]>;
  }
>;

type LeftOut<Schema> = Schema extends { '~optional': true }
  ? Schema extends { '~absent': unknown }
    ? false
    : true
  : false;

export type StoredName<Key, Schema> = Schema extends { '~name': infer Name extends string } ? Name : Key;

type Merged<Fields> = { [Key in keyof Fields]: Fields[Key] };

/** Stores the values of a schema in another form. */
export function stored<Schema extends TSchema, Value>(
  schema: Schema,
  conversion: Conversion<Static<Schema>, Value>,
): Schema & { '~stored': Value } {
  return withStorage(schema, { conversion: conversion as Conversion<never, never> }) as Schema & {
    '~stored': Value;
  };
}

/** Stores a field under another name than the file has for it. */
export function named<const Name extends string, Schema extends TSchema>(
  name: Name,
  schema: Schema,
): Schema & { '~name': Name } {
  return withStorage(schema, { name }) as Schema & { '~name': Name };
}

/** A field that may be left out, and is stored as null then. */
export function OrNull<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(withStorage(schema, { absent: null })) as TOptional<Schema> & { '~absent': null };
}

/** A field that may be left out, and is stored as `absent` then. */
export function OrElse<Schema extends TSchema>(absent: NoInfer<Stored<Schema>>, schema: Schema) {
  return Type.Optional(withStorage(schema, { absent })) as TOptional<Schema> & { '~absent': Stored<Schema> };
}

/** A section of the file that other modules read as single settings. */
export function inline<Schema extends TSchema>(schema: Schema): Schema & { '~inline': true } {
  return withStorage(schema, { isInline: true }) as Schema & { '~inline': true };
}

/** A list whose entries have ids: an entry keeps its id while its key stays. */
export function withIds<const Id extends string, Schema extends TSchema>(
  key: string,
  id: Id,
  schema: Schema,
): Schema & { '~id': Id } {
  return withStorage(schema, { ids: { key, id } }) as Schema & { '~id': Id };
}

/** A map by locale whose entries are copied, or only kept, when the locales of the shop change. */
export function byLocale<Schema extends TSchema>(byLocale: 'copy' | 'keep', schema: Schema): Schema {
  return withStorage(schema, { byLocale });
}

/** A section of the file. A shop has `initial` until a file says something else. */
export function Setting<Schema extends TSchema>(schema: Schema, initial?: Static<Schema>): TOptional<Schema> {
  return Type.Optional(
    initial === undefined ? schema : withStorage(schema, { initial }),
  ) as TOptional<Schema>;
}

export interface Words {
  description: string;
  examples: unknown[];
}

interface SectionOptions extends Partial<Words> {
  definitions?: object;
  isOmitted?: Storage['isOmitted'];
}

/** Unknown keys are refused: a typing error in a settings file must not be passed over. */
export function Section<Fields extends Record<string, TSchema>>(
  fields: Fields,
  { isOmitted, ...options }: SectionOptions = {},
) {
  const section = Type.Object(fields, { additionalProperties: false, ...options });
  return isOmitted ? withStorage(section, { isOmitted }) : section;
}

export function List<Item extends TSchema>(
  item: Item,
  words: Words,
  bounds: { minItems?: number; maxItems?: number } = {},
) {
  return Type.Array(item, { maxItems: 1000, ...bounds, ...words });
}

/** A map whose keys have a form. */
export function MapOf<Value extends TSchema>(
  keys: string,
  value: Value,
  words: Words,
  bounds: { minProperties?: number } = {},
) {
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    patternProperties: { [keys]: value },
    additionalProperties: false,
    ...bounds,
    ...words,
  }) as TUnsafe<Record<string, Static<Value>>> & { '~stored': Record<string, Stored<Value>> };
}

export type Texts = string | Record<string, string>;

const texts: Conversion<Texts, Localised> = {
  toStored: (written, { defaultLocale }) =>
    typeof written === 'string' ? { [defaultLocale]: written } : written,
  toWritten(localised, { defaultLocale, textsByLocale }) {
    if (Object.keys(localised).length === 0) return undefined;
    return textsByLocale ? localised : plainTexts(localised, defaultLocale);
  },
};

/** A text that is in the default locale only is written plainly. */
export function plainTexts(localised: Localised, defaultLocale: string): Texts {
  const plain = localised[defaultLocale];
  return plain !== undefined && Object.keys(localised).length === 1 ? plain : localised;
}

/** One type array instead of a union, so that a problem in it is named exactly. */
function textSchema(types: string[], { description, examples }: Words, maxLength: number, pattern: string) {
  const text = { maxLength, pattern };
  return {
    type: types,
    ...text,
    patternProperties: { [LOCALE]: { type: 'string', ...text } },
    additionalProperties: false,
    minProperties: 1,
    description: `${description} A text in the default locale, or texts by locale.`,
    examples,
  };
}

export function Text(words: Words, maxLength = 255, pattern = '\\S') {
  const schema = Type.Unsafe<Texts>(textSchema(['string', 'object'], words, maxLength, pattern));
  return byLocale('copy', stored(schema, texts));
}

/** A text that a file takes away with null; then there is none in any locale. */
export function NullableText(words: Words, maxLength = 255) {
  const schema = Type.Unsafe<Texts | null>(textSchema(['string', 'object', 'null'], words, maxLength, '\\S'));
  return byLocale(
    'copy',
    stored<typeof schema, Localised>(schema, {
      toStored: (written, context) => (written === null ? {} : texts.toStored(written, context)),
      toWritten: (localised, context) => texts.toWritten(localised, context) ?? null,
    }),
  );
}

export const Plain = (words: Words, maxLength = 255) => Type.String({ maxLength, pattern: '\\S', ...words });
export const OneLine = (words: Words, maxLength = 255) =>
  Type.String({ maxLength, pattern: ONE_LINE, ...words });
export const Key = (words: Words) => Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$', ...words });
export const Locale = (words: Words) => Type.String({ pattern: LOCALE, ...words });
export const Country = (words: Words) => Type.String({ pattern: COUNTRY, ...words });
export const Currency = (words: Words) => Type.String({ pattern: CURRENCY, ...words });
export const Url = (words: Words) => Type.String({ pattern: '^https?://\\S+$', maxLength: 2000, ...words });
export const Flag = (description: string, standard: boolean) =>
  Type.Boolean({
    description: `${description} Absent: ${standard}.`,
    default: standard,
    examples: [standard],
  });

const minorUnits: Conversion<number, number> = {
  toStored: (amount, { currency }) => toMinor(amount, currency)!,
  toWritten: (minor, { currency }) => toDecimal(minor, currency),
};

/** An amount of money in the default currency. */
export const Amount = (words: Words & { default?: number }, minimum = 0) =>
  stored(Type.Number({ minimum, maximum: MOST_MONEY, ...words }), minorUnits);

export function isAmount(schema: TSchema): boolean {
  return storageOf(schema).conversion === minorUnits;
}

export const Percent = (words: Words) =>
  stored(Type.Number({ minimum: 0, maximum: 100, ...words }), {
    toStored: toBasisPoints,
    toWritten: fromBasisPoints,
  });

/** At most 2 decimals were let in, so rounding only removes the error of the float. */
export function toBasisPoints(percent: number): number {
  return Math.round(percent * 100);
}

export function fromBasisPoints(basisPoints: number): number {
  return basisPoints / 100;
}

/** A colour as `#rgb` or `#rrggbb`, stored with six digits in lower case. */
export const Colour = (words: Words) =>
  stored(Type.String({ pattern: '^#(?:[0-9A-Fa-f]{3}){1,2}$', ...words }), {
    toStored: sixDigits,
    toWritten: (colour: string) => colour,
  });

/** A number that people write in groups, stored without blanks. */
export const Grouped = (pattern: string, words: Words) =>
  stored(Type.String({ pattern, ...words }), {
    toStored: compact,
    toWritten: (number: string) => number,
  });

export function compact(number: string): string {
  return number.replaceAll(' ', '');
}
