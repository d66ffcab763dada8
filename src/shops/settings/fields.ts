import {
  Type,
  type Static,
  type TArray,
  type TObject,
  type TOptional,
  type TSchema,
  type TString,
  type TUnsafe,
} from 'typebox';
import { sixDigits } from '../../kernel/colour.ts';
import { toDecimal, toMinor } from '../../kernel/money.ts';
import type { Localised } from '../../http/locale.ts';

/**
 * The fields that a settings file is made of. Each is a JSON schema with a description and an example, because editors
 * show them during typing, and says how its value is stored: money in minor units, rates in basis points, texts by
 * locale. `conversion.ts` follows these schemas from the file to the stored settings and back.
 */

export const EMAIL = '^[^\\s@]{1,64}@[^\\s@]{1,188}$';

export const LOCALE = '^[a-z]{2}_[A-Z]{2}$';
export const COUNTRY = '^[A-Z]{2}$';
export const CURRENCY = '^[A-Z]{3}$';
/** Visible text without a line break. */
export const ONE_LINE = '^ *[^\\s\\u0000-\\u001f][^\\u0000-\\u001f]*$';
/** Visible text without control characters other than tabs and line breaks: XML and emails can't hold them. */
export const LINES_OF_TEXT = '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$';

/** Beyond this, minor units would come near 2^53. */
export const MAX_MONEY = 1_000_000_000_000;

/** The context that the values of a file imply. */
export interface FileContext {
  defaultLocale: string;
  /** The default currency, used for all amounts. */
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
  /** The stored names of the fields of this section that have another name in the file. */
  names?: object;
  /** Stored when the file leaves the field out; without it nothing is stored. */
  absent?: unknown;
  /** The fields of this section are stored beside the other settings, not in an object of their own. */
  isInline?: boolean;
  /** The entries of this list have ids, which belong to their keys. */
  ids?: { key: string; id: string };
  /** A map by locale. `copy`: the new default locale gets the text of the old one when it has none. */
  byLocale?: 'copy' | 'keep';
  /** Whether an export leaves out this field of an object. */
  isOmitted?(key: string, written: unknown, object: Record<string, unknown>): boolean;
  /** The value of a new shop, as a file would state it. Shops older than the setting have it too. */
  initial?: unknown;
}

const STORAGE = Symbol('storage');

export function storageOf(schema: TSchema): Storage {
  return (schema as { [STORAGE]?: Storage })[STORAGE] ?? {};
}

/** Changes the schema itself: every call gets a fresh one. */
function withStorage<Schema extends TSchema>(schema: Schema, storage: Storage): Schema {
  return Object.assign(schema, { [STORAGE]: { ...storageOf(schema), ...storage } });
}

/** The stored form of a value of this schema. The keys with ~ exist in types only. */
export type Stored<Schema> = Schema extends { '~id': infer Id extends string }
  ? WithId<StoredValue<Schema>, Id>
  : StoredValue<Schema>;

type StoredValue<Schema> = Schema extends { '~stored': infer Value }
  ? Value
  : Schema extends TObject<infer Fields>
    ? StoredFields<Fields, Schema extends { '~names': infer Names } ? Names : unknown>
    : Schema extends TArray<infer Item>
      ? Stored<Item>[]
      : Schema extends TSchema
        ? Static<Schema>
        : never;

type WithId<List, Id extends string> = List extends (infer Entry)[]
  ? { [Key in Id | keyof Entry]: Key extends keyof Entry ? Entry[Key] : string }[]
  : never;

type StoredFields<Fields, Names> = Merged<
  {
    [Key in keyof Fields as LeftOut<Fields[Key]> extends true ? never : StoredName<Key, Names>]:
      | Stored<Fields[Key]>
      | (Fields[Key] extends { '~absent': infer Absent } ? Absent : never);
  } & {
    [Key in keyof Fields as LeftOut<Fields[Key]> extends true ? StoredName<Key, Names> : never]?: Stored<
      Fields[Key]
    >;
  }
>;

type LeftOut<Schema> = Schema extends { '~optional': true }
  ? Schema extends { '~absent': unknown }
    ? false
    : true
  : false;

export type StoredName<Key, Names> = Names extends { [Name in Key & string]: infer Name extends string }
  ? Name
  : Key;

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

/** Stores texts in one of several forms that mean the same. */
export function normalised(toStored: (written: string) => string, schema: TString) {
  return stored(schema, { toStored, toWritten: (text: string) => text });
}

/** An optional field, stored as null when it is left out. */
export function OrNull<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(withStorage(schema, { absent: null })) as TOptional<Schema> & { '~absent': null };
}

/** An optional field, stored as `absent` when it is left out. */
export function OrElse<Schema extends TSchema>(absent: NoInfer<Stored<Schema>>, schema: Schema) {
  return Type.Optional(withStorage(schema, { absent })) as TOptional<Schema> & { '~absent': Stored<Schema> };
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
  return Type.Optional(withStorage(schema, { initial })) as TOptional<Schema>;
}

interface SectionOptions<Names, IsInline> {
  description?: string;
  definitions?: object;
  names?: Names;
  isInline?: IsInline;
  isOmitted?: Storage['isOmitted'];
}

/** Unknown keys are refused: a typo in a settings file must not be ignored. */
export function Section<
  Fields extends Record<string, TSchema>,
  const Names extends object = object,
  IsInline extends boolean = false,
>(fields: Fields, { names, isInline, isOmitted, ...options }: SectionOptions<Names, IsInline> = {}) {
  const section = Type.Object(fields, { additionalProperties: false, ...options });
  return withStorage(section, {
    ...(names && { names }),
    ...(isInline && { isInline }),
    ...(isOmitted && { isOmitted }),
  }) as TObject<Fields> & { '~names': Names; '~inline': IsInline };
}

export function List<Item extends TSchema>(
  item: Item,
  description: string,
  example: unknown[],
  bounds: { minItems?: number; maxItems?: number } = {},
) {
  return Type.Array(item, { maxItems: 1000, ...bounds, description, examples: [example] });
}

/** A map whose keys have a form. */
export function MapOf<Value extends TSchema>(
  keys: string,
  value: Value,
  description: string,
  example: object,
  bounds: { minProperties?: number } = {},
) {
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    patternProperties: { [keys]: value },
    additionalProperties: false,
    ...bounds,
    description,
    examples: [example],
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

/** A text in the default locale only is written plainly. */
export function plainTexts(localised: Localised, defaultLocale: string): Texts {
  const plain = localised[defaultLocale];
  return plain !== undefined && Object.keys(localised).length === 1 ? plain : localised;
}

/** One type array instead of a union, so that a problem in it is named exactly. */
function textSchema(
  types: string[],
  description: string,
  example: string,
  maxLength: number,
  pattern: string,
) {
  const text = { maxLength, pattern };
  return {
    type: types,
    ...text,
    patternProperties: { [LOCALE]: { type: 'string', ...text } },
    additionalProperties: false,
    minProperties: 1,
    description: `${description} A text in the default locale, or texts by locale.`,
    examples: [example],
  };
}

export function LocalisedText(description: string, example: string, maxLength = 255, pattern = '\\S') {
  const schema = Type.Unsafe<Texts>(
    textSchema(['string', 'object'], description, example, maxLength, pattern),
  );
  return byLocale('copy', stored(schema, texts));
}

/** A text that a file removes with null, in all locales. */
export function NullableText(description: string, example: string, maxLength = 255) {
  const schema = Type.Unsafe<Texts | null>(
    textSchema(['string', 'object', 'null'], description, example, maxLength, '\\S'),
  );
  const conversion: Conversion<Texts | null, Localised> = {
    toStored: (written, context) => (written === null ? {} : texts.toStored(written, context)),
    toWritten: (localised, context) => texts.toWritten(localised, context) ?? null,
  };
  return byLocale('copy', stored(schema, conversion));
}

/** A plain text of this form. */
export const Pattern = (pattern: string, description: string, example: string, maxLength?: number) =>
  Type.String({
    ...(maxLength !== undefined && { maxLength }),
    pattern,
    description,
    examples: [example],
  });
export const Plain = (description: string, example: string, maxLength = 255) =>
  Pattern('\\S', description, example, maxLength);
export const OneLine = (description: string, example: string, maxLength = 255) =>
  Pattern(ONE_LINE, description, example, maxLength);
export const Key = (description: string, example: string) =>
  Pattern('^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$', description, example);
/** Declares that a text is an address, which forms show in one line however long it may be. */
export const WEB_ADDRESS = 'uri-reference';
export const WebAddress = (pattern: string, description: string, example: string) =>
  Type.String({ format: WEB_ADDRESS, pattern, maxLength: 2000, description, examples: [example] });
export const Locale = (description: string, example: string) => Pattern(LOCALE, description, example);
export const Country = (description: string, example: string) => Pattern(COUNTRY, description, example);
export const Currency = (description: string, example: string) => Pattern(CURRENCY, description, example);

/** An optional field that defaults to `standard`. */
export const Flag = (description: string, standard: boolean) =>
  OrElse(
    standard,
    Type.Boolean({
      description: `${description} Absent: ${standard}.`,
      default: standard,
      examples: [standard],
    }),
  );

const minorUnits: Conversion<number, number> = {
  toStored: (amount, { currency }) => toMinor(amount, currency)!,
  toWritten: (minor, { currency }) => toDecimal(minor, currency),
};

/** An amount of money in the default currency. */
export const Amount = (
  description: string,
  example: number,
  options: { minimum?: number; default?: number } = {},
) =>
  stored(
    Type.Number({ minimum: 0, maximum: MAX_MONEY, ...options, description, examples: [example] }),
    minorUnits,
  );

export function isAmount(schema: TSchema): boolean {
  return storageOf(schema).conversion === minorUnits;
}

export const Percent = (description: string, example: number) =>
  stored(Type.Number({ minimum: 0, maximum: 100, description, examples: [example] }), {
    toStored: toBasisPoints,
    toWritten: fromBasisPoints,
  });

/** At most 2 decimals are accepted, so rounding only removes the error of the float. */
export function toBasisPoints(percent: number): number {
  return Math.round(percent * 100);
}

export function fromBasisPoints(basisPoints: number): number {
  return basisPoints / 100;
}

/** A weight in kilograms, stored in grams. */
export const Kilograms = (description: string, example: number) =>
  stored(Type.Number({ exclusiveMinimum: 0, maximum: 100_000, description, examples: [example] }), {
    toStored: (kilograms) => Math.round(kilograms * 1000),
    toWritten: (grams: number) => grams / 1000,
  });

/** A colour as `#rgb` or `#rrggbb`, stored with six digits in lower case. */
export const Colour = (description: string, example: string) =>
  normalised(sixDigits, Pattern('^#(?:[0-9A-Fa-f]{3}){1,2}$', description, example));

/** A number that people write in groups. */
export function compact(number: string): string {
  return number.replaceAll(' ', '');
}
