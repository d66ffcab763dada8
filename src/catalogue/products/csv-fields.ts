import type { Queries } from '../../db/database.ts';
import { mayWrite } from '../../fields/access.ts';
import { findValuesOfFields } from '../../fields/queries.ts';
import {
  fullKey,
  givenValue,
  MAX_LIST_ENTRIES,
  MAX_FIELD_CHARACTERS,
  storedValues,
  type StoredValue,
} from '../../fields/value.ts';
import { MAX_LENGTH_OF_ALL, readableFields } from '../../fields/values.ts';
import { Refusal, ValidationError } from '../../http/errors.ts';
import { newPauses } from '../../http/pauses.ts';
import { currencyDigits } from '../../kernel/money.ts';
import type { CustomField, Settings } from '../../shops/settings/settings.ts';
import { checkText, flagOf, type CsvColumn, type FileProduct } from './csv-columns.ts';
import { CellProblem, tooLong } from './row-problem.ts';

/*
 * The columns of custom fields in a product file: `field.care.washing`, and for each language `field.care.note/de_DE`.
 * A list is separated by commas; a backslash escapes a comma inside a value. An empty cell removes the value.
 */

/** What cells say without more: other fields refer to something, or have a form of their own. */
const TYPES: readonly string[] = ['text', 'number', 'money', 'boolean', 'date', 'choice'];

/** Products and variations have definitions of their own, which may have the same name. */
type Definitions = Partial<Record<'product' | 'variation', CustomField>>;

/** The fields that people of the shop fill in. */
export function fieldColumnsOf(settings: Settings): CsvColumn[] {
  const byKey = new Map<string, { locale: string; definitions: Definitions }>();
  for (const resource of ['product', 'variation'] as const) {
    for (const field of readableFields(settings, resource, 'merchant')) {
      if (!TYPES.includes(field.type) || !mayWrite(field, 'merchant')) continue;
      for (const locale of field.isLocalised ? settings.locales : ['']) {
        const key = `field.${fullKey(field)}${locale && `/${locale}`}`;
        const { definitions } = byKey.get(key) ?? { definitions: {} };
        byKey.set(key, { locale, definitions: { ...definitions, [resource]: field } });
      }
    }
  }
  return [...byKey].map(([key, { locale, definitions }]) => columnOf(key, locale, definitions, settings));
}

function columnOf(key: string, locale: string, definitions: Definitions, settings: Settings): CsvColumn {
  const fields = Object.values(definitions);
  const fieldOf = ({ kind }: FileProduct) => definitions[kind === 'variation' ? 'variation' : 'product'];
  const hasList = fields.some(({ isList }) => isList);
  return {
    key,
    title: () => key,
    fields,
    // An escaped character is two.
    maxLength: hasList ? 2 * MAX_LENGTH_OF_ALL : MAX_FIELD_CHARACTERS,
    isNumber: !hasList && fields.every(({ type }) => type === 'number'),
    cell: (product) => {
      const field = fieldOf(product);
      return field ? cellOf(field, valueIn(product.fields[field.fieldId], locale)) : '';
    },
    apply: (product, cell) => {
      checkText(cell);
      const field = fieldOf(product);
      if (!field)
        throw new CellProblem('otherField', 'is for products or for variations only; leave it empty');
      product.fields = changedValues(product.fields, field, locale, cell, settings);
    },
  };
}

const valueIn = (value: unknown, locale: string) =>
  locale === '' ? value : (value as Record<string, unknown> | undefined)?.[locale];

function cellOf(field: CustomField, value: unknown): string {
  if (value === undefined) return '';
  if (!field.isList) return entryText(field, value);
  return (value as unknown[]).map((entry) => entryText(field, entry).replaceAll(/[\\,]/g, '\\$&')).join(',');
}

function entryText({ type }: CustomField, value: unknown): string {
  if (type === 'boolean') return value === true ? '1' : '0';
  if (type !== 'money') return String(value);
  const { amount, currency } = value as { amount: number; currency: string };
  return `${amount.toFixed(currencyDigits(currency))} ${currency}`;
}

/** The values of a product with what a cell says of one of them, in the form that values are stored in. */
function changedValues(
  values: FileProduct['fields'],
  field: CustomField,
  locale: string,
  cell: string,
  settings: Settings,
): FileProduct['fields'] {
  const { [field.fieldId]: old, ...others } = values;
  const typed = typedValue(field, cell);
  const given = locale === '' ? typed : { ...(old as object | undefined), [locale]: typed };
  const value = givenValue(field, checkedValues(field, given, cell, settings));
  return value === undefined ? others : { ...values, [field.fieldId]: value };
}

/** null: an empty cell. */
function typedValue(field: CustomField, cell: string): unknown {
  if (cell.trim() === '') return null;
  if (!field.isList) return typedEntry(field, cell);
  const entries = [...cell.matchAll(/(?:\\.|[^,\\])+/gs)]
    .map(([entry]) => entry.replaceAll(/\\(.)/gs, '$1').trim())
    .filter((entry) => entry !== '');
  if (entries.length > MAX_LIST_ENTRIES) {
    throw new CellProblem('words', `has more than ${MAX_LIST_ENTRIES} values`, { most: MAX_LIST_ENTRIES });
  }
  return entries.map((entry) => typedEntry(field, entry));
}

function typedEntry({ type }: CustomField, text: string): unknown {
  if (type === 'text') {
    if (text.length > MAX_FIELD_CHARACTERS) throw tooLong(MAX_FIELD_CHARACTERS);
    return text;
  }
  if (type === 'boolean') return flagOf(text);
  if (type !== 'money') return text.trim();
  const [, amount, currency] = /^(-?\d{1,15}(?:\.\d{1,10}|,\d{1,2})?) ?([A-Z]{3})$/.exec(text.trim()) ?? [];
  return { amount: amount?.replace(',', '.'), currency };
}

/** The same checks as those of forms and of the API. */
function checkedValues(field: CustomField, given: unknown, cell: string, settings: Settings): StoredValue[] {
  try {
    return storedValues(field, given, settings);
  } catch (error) {
    if (error instanceof ValidationError || error instanceof Refusal) throw problemOf(field, cell, settings);
    throw error;
  }
}

function problemOf({ type, choices }: CustomField, cell: string, { currencies }: Settings): CellProblem {
  const notSuchAs = (example: string) => new CellProblem('form', `is not such as ${example}`, { example });
  if (type === 'date') return notSuchAs('2026-11-15');
  if (type === 'number') return notSuchAs('12.5');
  if (type === 'money') return notSuchAs(currencies.map((currency) => `12.90 ${currency}`).join(', '));
  const known = (choices ?? []).map(({ key }) => key).join(', ');
  return new CellProblem('exclusion', `is ${cell}, which is none of ${known}`, { known });
}

/** The rows of the values of a product, as they are saved. */
export function storedFields(
  values: FileProduct['fields'],
  fields: readonly CustomField[],
  settings: Settings,
): StoredValue[] {
  return fields.flatMap((field) => {
    const value = values[field.fieldId];
    return value === undefined ? [] : storedValues(field, value, settings);
  });
}

/** The values of these fields by the id of what has them, as columns read them. */
export async function findFileFields(
  db: Queries,
  shopId: string,
  resourceIds: readonly string[],
  fields: readonly CustomField[],
): Promise<Map<string, FileProduct['fields']>> {
  if (fields.length === 0) return new Map();
  const rows = await findValuesOfFields(
    db,
    shopId,
    resourceIds,
    fields.map(({ fieldId }) => fieldId),
  );
  const byProduct = new Map<string, Map<string, typeof rows>>();
  for (const row of rows) {
    const byField = byProduct.get(row.resourceId) ?? new Map<string, typeof rows>();
    byProduct.set(row.resourceId, byField);
    byField.set(row.fieldId, byField.get(row.fieldId) ?? []);
    byField.get(row.fieldId)!.push(row);
  }
  const pause = newPauses();
  const found = new Map<string, FileProduct['fields']>();
  for (const [resourceId, byField] of byProduct) {
    await pause();
    const own = fields.filter(({ fieldId }) => byField.has(fieldId));
    found.set(
      resourceId,
      Object.fromEntries(own.map((field) => [field.fieldId, givenValue(field, byField.get(field.fieldId)!)])),
    );
  }
  return found;
}
