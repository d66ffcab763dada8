import { isDate } from '../http/dates.ts';
import { invalid } from '../http/errors.ts';
import { textIn } from '../http/locale.ts';
import { isId } from '../kernel/ids.ts';
import { isCurrency, parseDecimal, toDecimal, toMinor } from '../kernel/money.ts';
import type { CustomField, FieldType } from '../shops/settings/settings.ts';
import { matchesSchema, type JsonSchema } from './json-schema.ts';

/*
 * Values of custom fields: from a request to rows, and from rows to an answer. Pure.
 */

/** Entries of a list. */
export const MAX_LIST_ENTRIES = 50;
export const MAX_FIELD_CHARACTERS = 5_000;
export const MAX_RICH_TEXT_LENGTH = 20_000;
/** Characters of JSON. */
export const MAX_JSON_LENGTH = 20_000;
const MAX_JSON_DEPTH = 10;
const MAX_FILTER_LENGTH = 200;
const MAX_AMOUNT = 1e13;

/** The columns of what a value refers to, by the type of the field. */
const TARGETS = {
  product: 'targetProductId',
  category: 'targetCategoryId',
  customer: 'targetCustomerId',
  page: 'targetPageId',
  file: 'targetImageKey',
} as const satisfies Partial<Record<FieldType, string>>;

type Target = (typeof TARGETS)[keyof typeof TARGETS];

export interface StoredValue extends Readonly<Record<Target, string | null>> {
  fieldId: string;
  /** Empty: the same in all languages. */
  locale: string;
  position: number;
  value: unknown;
  filterKey: string | null;
}

/** The languages and currencies that a value may name. */
export interface ValueContext {
  locales: readonly string[];
  currencies: readonly string[];
}

export const fullKey = ({ namespace, key }: Pick<CustomField, 'namespace' | 'key'>) => `${namespace}.${key}`;

/**
 * The rows of a value as a request says it: an object of languages where the field has them, a list where it is one.
 * null, or an empty list: no rows. Refuses what the definition does not allow.
 */
export function storedValues(field: CustomField, given: unknown, context: ValueContext): StoredValue[] {
  const name = fullKey(field);
  if (given === null) return [];
  if (!field.isLocalised) return entriesOf(field, given, '', name, context);
  if (!isObject(given)) throw invalid('WRONG_TYPE', name);
  return Object.entries(given).flatMap(([locale, value]) => {
    const place = `${name}.${locale}`;
    if (!context.locales.includes(locale)) throw invalid('UNKNOWN_VALUE', place);
    return value === null ? [] : entriesOf(field, value, locale, place, context);
  });
}

function entriesOf(
  field: CustomField,
  given: unknown,
  locale: string,
  place: string,
  context: ValueContext,
): StoredValue[] {
  if (!field.isList) return [rowOf(field, given, locale, 0, place, context)];
  if (!Array.isArray(given)) throw invalid('WRONG_TYPE', place);
  if (given.length > MAX_LIST_ENTRIES) throw invalid('TOO_LONG', place);
  return given.map((entry, position) =>
    rowOf(field, entry, locale, position, `${place}[${position}]`, context),
  );
}

function rowOf(
  field: CustomField,
  given: unknown,
  locale: string,
  position: number,
  place: string,
  context: ValueContext,
): StoredValue {
  const value = checkedValue(field, given, place, context);
  return {
    fieldId: field.fieldId,
    locale,
    position,
    value,
    filterKey: filterKeyOf(field.type, value),
    targetProductId: null,
    targetCategoryId: null,
    targetCustomerId: null,
    targetPageId: null,
    targetImageKey: null,
    ...(isReference(field.type) && { [TARGETS[field.type]]: value }),
  };
}

export function isReference(type: FieldType): type is keyof typeof TARGETS {
  return Object.hasOwn(TARGETS, type);
}

/** The value as it is stored. */
function checkedValue(field: CustomField, given: unknown, place: string, context: ValueContext): unknown {
  switch (field.type) {
    case 'text':
      return textOf(given, MAX_FIELD_CHARACTERS, place);
    case 'richText':
      return textOf(given, MAX_RICH_TEXT_LENGTH, place);
    case 'number':
      return decimalTextOf(given, place);
    case 'money':
      return moneyOf(given, place, context);
    case 'boolean':
      if (typeof given !== 'boolean') throw invalid('WRONG_TYPE', place);
      return given;
    case 'date':
      if (typeof given !== 'string') throw invalid('WRONG_TYPE', place);
      if (!isDate(given)) throw invalid('WRONG_FORMAT', place);
      return given;
    case 'choice':
      if (!field.choices!.some(({ key }) => key === given)) throw invalid('UNKNOWN_VALUE', place);
      return given;
    case 'json':
      return jsonOf(given, field.jsonSchema as JsonSchema | null, place);
    case 'product':
    case 'category':
    case 'customer':
    case 'page':
    case 'file':
      if (typeof given !== 'string') throw invalid('WRONG_TYPE', place);
      if (!isId(given)) throw invalid('UNKNOWN_VALUE', place);
      return given.toUpperCase();
  }
}

function textOf(given: unknown, maxLength: number, place: string): string {
  if (typeof given !== 'string') throw invalid('WRONG_TYPE', place);
  if (given.length > maxLength) throw invalid('TOO_LONG', place);
  if (given.trim() === '') throw invalid('STRING_EMPTY', place);
  return given;
}

function decimalTextOf(given: unknown, place: string): string {
  if (typeof given !== 'number' && typeof given !== 'string') throw invalid('WRONG_TYPE', place);
  const decimal = parseDecimal(typeof given === 'string' ? given.trim() : given);
  if (!decimal) throw invalid('WRONG_FORMAT', place);
  return canonicalDecimal(decimal);
}

/** Exact, and the same text for the same number: `1.50` is `1.5`. */
export function canonicalDecimal({ units, scale }: NonNullable<ReturnType<typeof parseDecimal>>): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale).replace(/^0+(?=\d)/, '');
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return units < 0n ? `-${text}` : text;
}

interface StoredMoney {
  /** Minor units. */
  amount: number;
  currency: string;
}

function moneyOf(given: unknown, place: string, { currencies }: ValueContext): StoredMoney {
  if (!isObject(given)) throw invalid('WRONG_TYPE', place);
  const { amount, currency } = given;
  if (typeof amount !== 'number' && typeof amount !== 'string')
    throw invalid('WRONG_TYPE', `${place}.amount`);
  if (typeof currency !== 'string' || !isCurrency(currency) || !currencies.includes(currency)) {
    throw invalid('UNKNOWN_VALUE', `${place}.currency`);
  }
  const minor = toMinor(typeof amount === 'string' ? amount.trim() : amount, currency);
  if (minor === undefined) throw invalid('WRONG_FORMAT', `${place}.amount`);
  if (Math.abs(minor) > MAX_AMOUNT) throw invalid('OUT_OF_RANGE', `${place}.amount`);
  return { amount: minor, currency };
}

function jsonOf(given: unknown, schema: JsonSchema | null, place: string): unknown {
  if (given === undefined || given === null) throw invalid('WRONG_TYPE', place);
  if (depthOf(given) > MAX_JSON_DEPTH) throw invalid('TOO_LONG', place);
  if (JSON.stringify(given).length > MAX_JSON_LENGTH) throw invalid('TOO_LONG', place);
  if (schema && !matchesSchema(given, schema)) throw invalid('WRONG_FORMAT', place);
  return given;
}

/** Bodies of requests are bounded in their depth. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The text that filters compare; null: the type has no filter. */
function filterKeyOf(type: FieldType, value: unknown): string | null {
  return type === 'richText' || type === 'money' || type === 'json' ? null : filterText(String(value));
}

export function filterText(text: string): string {
  // Half of a character can't be stored.
  return text
    .trim()
    .toLowerCase()
    .slice(0, MAX_FILTER_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, '');
}

/** A row of a value as it is read. */
export type ReadValue = Pick<StoredValue, 'fieldId' | 'locale' | 'value'>;

/** The value of a field as answers have it: in all languages, as it is written. undefined: it has none. */
export function givenValue(field: CustomField, rows: readonly ReadValue[]): unknown {
  const own = rows.filter(({ fieldId }) => fieldId === field.fieldId);
  if (own.length === 0) return undefined;
  if (!field.isLocalised) return entryOrList(field, own);
  const byLocale = new Map<string, ReadValue[]>();
  for (const row of own) byLocale.set(row.locale, [...(byLocale.get(row.locale) ?? []), row]);
  return Object.fromEntries([...byLocale].map(([locale, entries]) => [locale, entryOrList(field, entries)]));
}

/** A field beside the thing that has it, in one language. */
export interface ShownField {
  namespace: string;
  key: string;
  name: string;
  type: FieldType;
  value: unknown;
  /** Of a choice. */
  label?: string;
}

/** What these fields show in a language, in their order; those without a value are left out. */
export function shownFields(
  fields: readonly CustomField[],
  rows: readonly ReadValue[],
  { locale, defaultLocale }: { locale: string; defaultLocale: string },
): ShownField[] {
  return fields.flatMap((field) => {
    const own = rows.filter(({ fieldId }) => fieldId === field.fieldId);
    const inLocale = field.isLocalised ? (rowsIn(own, locale) ?? rowsIn(own, defaultLocale)) : own;
    if (!inLocale || inLocale.length === 0) return [];
    const { namespace, key, type, choices } = field;
    const labels = inLocale.map(({ value }) => {
      const choice = choices?.find((one) => one.key === value);
      return choice && (textIn(choice.label, locale, defaultLocale) ?? choice.key);
    });
    return [
      {
        namespace,
        key,
        name: textIn(field.name, locale, defaultLocale) ?? fullKey(field),
        type,
        value: entryOrList(field, inLocale),
        ...(type === 'choice' && { label: labels.flatMap((label) => label ?? []).join(', ') }),
      },
    ];
  });
}

function rowsIn(rows: readonly ReadValue[], locale: string): ReadValue[] | undefined {
  const found = rows.filter((row) => row.locale === locale);
  return found.length > 0 ? found : undefined;
}

/** Rows are read in the order of their positions. */
function entryOrList(field: CustomField, rows: readonly ReadValue[]): unknown {
  const values = rows.map(({ value }) => answeredValue(field.type, value));
  return field.isList ? values : values[0];
}

function answeredValue(type: FieldType, value: unknown): unknown {
  if (type !== 'money') return value;
  const { amount, currency } = value as StoredMoney;
  return { amount: toDecimal(amount, currency), currency };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
