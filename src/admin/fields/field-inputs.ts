import { isDeepStrictEqual } from 'node:util';
import { mayWrite } from '../../fields/access.ts';
import {
  isReference,
  MAX_LIST_ENTRIES,
  MAX_RICH_TEXT_LENGTH,
  MAX_FIELD_CHARACTERS,
  fullKey,
} from '../../fields/value.ts';
import type { FormLimits } from '../../http/form-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import type { FormRequest } from '../../http/page-kit.ts';
import type { CustomField } from '../../shops/settings/settings.ts';
import { decimalText, localisedDecimal, parseLocalisedDecimal } from '../components/decimal.ts';
import { choiceField, longTextField, textField, tickField } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { richTextField } from '../components/rich-text.ts';
import { refuseField } from '../components/validation.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { findReferences, findReferencesByName, type NamedReference } from './references.ts';

/*
 * The inputs of custom fields: what is typed is the value of the API, in the notation of the reader. References are
 * typed by the names that people know.
 */

const AREA_LENGTH = 60_000;

/** Of a form with fields; a field with languages has an input for each. */
export const FIELD_LIMITS: FormLimits = {
  texts: {
    'value.*': { characters: AREA_LENGTH, lines: 2_000 },
    'value.*.*': { characters: AREA_LENGTH, lines: 2_000 },
  },
};

export const fieldInputName = ({ fieldId }: CustomField, locale?: string) =>
  locale === undefined ? `value.${fieldId}` : `value.${fieldId}.${locale}`;

/** Values by `namespace.key`, as operations have them. */
export type TypedFieldValues = Readonly<Record<string, unknown>>;

export function customFieldName(
  field: CustomField,
  { locale, settings }: Pick<ShopVisit, 'locale' | 'settings'>,
): string {
  return textIn(field.name, locale, settings.defaultLocale) ?? Object.values(field.name)[0] ?? fullKey(field);
}

export const isEditable = (field: CustomField) => mayWrite(field, 'merchant');

/** The names of all that values refer to, by id. */
export async function namesOfReferences(
  { db, shopId }: Pick<ShopVisit, 'db' | 'shopId'>,
  fields: readonly CustomField[],
  things: readonly TypedFieldValues[],
): Promise<ReadonlyMap<string, string>> {
  const ids = fields.flatMap((field) =>
    isReference(field.type) ? things.flatMap((values) => leavesOf(values[fullKey(field)])) : [],
  );
  if (ids.length === 0) return new Map();
  const found = await findReferences(db, shopId, ids);
  return new Map(found.map(({ id, name }) => [id, name]));
}

/** The single texts of a value, whatever its form is. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

/** The inputs of a field, one for each language where it has languages. */
export function fieldInputs(
  visit: ShopVisit,
  field: CustomField,
  value: unknown,
  names: ReadonlyMap<string, string>,
  draft: Draft | undefined,
): Markup {
  if (!field.isLocalised) return fieldInput(visit, field, value, names, draft);
  const { locales } = visit.settings;
  return html`${locales.map((locale) =>
    fieldInput(visit, field, (value as TypedFieldValues | undefined)?.[locale], names, draft, locale),
  )}`;
}

function fieldInput(
  visit: ShopVisit,
  field: CustomField,
  value: unknown,
  names: ReadonlyMap<string, string>,
  draft: Draft | undefined,
  locale?: string,
): Markup {
  const { messages, settings, language } = visit;
  const words = messages.customFields;
  const name = fieldInputName(field, locale);
  const ownName = customFieldName(field, visit);
  const label =
    locale === undefined || settings.locales.length < 2
      ? ownName
      : `${ownName} (${languageName(locale, language, settings.locales)})`;
  const common = {
    name,
    label,
    draft,
    hint: hintOf(visit, field),
    problem: draft?.problems?.[name],
    ...(locale !== undefined && { locale }),
  };
  const typed = typedText(visit, field, value, names);
  if (field.type === 'choice') {
    const choices = field.choices!.map(({ key, label: labels }) => ({
      value: key,
      text: textIn(labels, visit.locale, settings.defaultLocale) ?? key,
    }));
    if (!field.isList) return choiceField({ ...common, choices, empty: words.none, value: typed });
    return html`<fieldset class="scopes">
      <legend>${label}</legend>
      ${choices.map(({ value: sends, text }) =>
        tickField({ name, label: text, draft, sends, value: Array.isArray(value) && value.includes(sends) }),
      )}
    </fieldset>`;
  }
  const area = { ...common, value: typed, maxLength: AREA_LENGTH };
  if (isTypedAsJson(field)) return longTextField({ ...area, isCode: true });
  if (field.isList) return longTextField(area);
  switch (field.type) {
    case 'text':
      return longTextField({ ...common, value: typed, maxLength: MAX_FIELD_CHARACTERS, rows: 2 });
    case 'richText':
      return richTextField({ ...common, value: typed, maxLength: MAX_RICH_TEXT_LENGTH }, visit);
    case 'boolean':
      return choiceField({
        ...common,
        value: typed,
        empty: words.none,
        choices: [
          { value: 'yes', text: words.yes },
          { value: 'no', text: words.no },
        ],
      });
    case 'date':
      return textField({ ...common, type: 'date', value: typed });
    case 'number':
      return textField({ ...common, inputMode: 'decimal', value: typed });
    case 'money':
    case 'product':
    case 'category':
    case 'customer':
    case 'page':
    case 'file':
    case 'json':
      return textField({ ...common, value: typed });
  }
}

function hintOf({ messages, settings }: ShopVisit, field: CustomField): string {
  const words = messages.customFields;
  const kind = isReference(field.type)
    ? words.typeOf[field.type]
    : field.type === 'money'
      ? words.moneyHint({ currency: settings.defaultCurrency })
      : isTypedAsJson(field)
        ? words.jsonHint
        : '';
  const list = field.isList && field.type !== 'choice' && !isTypedAsJson(field) ? words.onePerLine : '';
  return [field.description ?? '', kind, list].filter((text) => text !== '').join(' ');
}

/** Lists of these have no line for each entry. */
function isTypedAsJson({ type, isList }: CustomField): boolean {
  return type === 'json' || (isList && (type === 'richText' || type === 'boolean'));
}

/** A value as its input shows it. */
function typedText(
  visit: ShopVisit,
  field: CustomField,
  value: unknown,
  names: ReadonlyMap<string, string>,
): string {
  if (value === undefined || value === null) return '';
  if (isTypedAsJson(field)) return JSON.stringify(value, null, 2);
  if (field.isList) return (value as unknown[]).map((one) => entryText(visit, field, one, names)).join('\n');
  return entryText(visit, field, value, names);
}

export function entryText(
  { language }: Pick<ShopVisit, 'language'>,
  { type }: CustomField,
  value: unknown,
  names: ReadonlyMap<string, string>,
): string {
  if (type === 'boolean') return value === true ? 'yes' : 'no';
  if (type === 'number') return localisedDecimal(String(value), language);
  if (type === 'money') {
    const { amount, currency } = value as { amount: number; currency: string };
    return `${decimalText(amount, language)} ${currency}`;
  }
  return isReference(type) ? (names.get(String(value)) ?? String(value)) : String(value);
}

/** The fields that were changed, as the operation takes them. An empty input removes a value. */
export async function readFieldInputs(
  visit: ShopVisit,
  form: FormRequest,
  fields: readonly CustomField[],
  before: TypedFieldValues,
): Promise<Record<string, unknown>> {
  const references = await typedReferences(visit, form, fields);
  const changes: Record<string, unknown> = {};
  for (const field of fields) {
    const value = readField(visit, form, field, references);
    const name = fullKey(field);
    if (!isDeepStrictEqual(value, before[name] ?? null)) changes[name] = value;
  }
  return changes;
}

function readField(
  visit: ShopVisit,
  form: FormRequest,
  field: CustomField,
  references: readonly NamedReference[],
): unknown {
  if (!field.isLocalised) return readInput(visit, form, field, fieldInputName(field), references);
  const texts = visit.settings.locales.flatMap((locale) => {
    const value = readInput(visit, form, field, fieldInputName(field, locale), references);
    return value === null ? [] : [[locale, value] as const];
  });
  return texts.length > 0 ? Object.fromEntries(texts) : null;
}

/** null: nothing was typed. */
function readInput(
  visit: ShopVisit,
  form: FormRequest,
  field: CustomField,
  input: string,
  references: readonly NamedReference[],
): unknown {
  if (field.type === 'choice' && field.isList) {
    const keys = form.fieldList(input);
    return keys.length > 0 ? keys : null;
  }
  const text = form.field(input);
  if (text === '') return null;
  if (isTypedAsJson(field)) return parseJson(visit, input, text);
  const read = (typed: string) => readEntry(visit, field, input, typed, references);
  if (!field.isList) return read(text);
  const entries = linesOf(text);
  if (entries.length > MAX_LIST_ENTRIES) {
    throw refuseField(input, visit.messages.customFields.tooManyEntries({ limit: MAX_LIST_ENTRIES }));
  }
  return entries.map(read);
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function readEntry(
  visit: ShopVisit,
  { type }: CustomField,
  input: string,
  typed: string,
  references: readonly NamedReference[],
): unknown {
  const { language, settings, messages } = visit;
  if (type === 'boolean') return typed === 'yes';
  if (type === 'number') return parseLocalisedDecimal(typed, language) ?? typed;
  if (type === 'money') {
    const [, amount = '', currency = settings.defaultCurrency] =
      /^([^A-Za-z]{1,40}?)\s{0,9}([A-Z]{3})?$/.exec(typed.slice(0, 60)) ?? [];
    const decimal = parseLocalisedDecimal(amount, language);
    return { amount: decimal === undefined ? typed : Number(decimal), currency };
  }
  if (!isReference(type)) return typed;
  const found = references.find((one) => one.type === type && (one.name === typed || one.id === typed));
  if (!found) throw refuseField(input, messages.customFields.unknownName({ typed: typed.slice(0, 100) }));
  return found.id;
}

function parseJson({ messages }: ShopVisit, input: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuseField(input, messages.customFields.noJson);
  }
}

async function typedReferences(
  visit: ShopVisit,
  form: FormRequest,
  fields: readonly CustomField[],
): Promise<readonly NamedReference[]> {
  const typed = fields.flatMap((field) => {
    if (!isReference(field.type)) return [];
    const inputs = field.isLocalised
      ? visit.settings.locales.map((locale) => fieldInputName(field, locale))
      : [fieldInputName(field)];
    return inputs.flatMap((input) => linesOf(form.field(input)));
  });
  if (typed.length === 0) return [];
  return findReferencesByName(visit.db, visit.shopId, [...new Set(typed)].slice(0, 5_000));
}

/** Where the place of a refused value is typed: `care.washing.de_DE`, `care.parts[2]`. */
export function inputOfPlace(
  visit: ShopVisit,
  fields: readonly CustomField[],
  place: string,
): { input: string; label: string } | undefined {
  const [namespace, key, locale] = place.replace(/\[.*$/, '').split('.');
  const field = fields.find((one) => one.namespace === namespace && one.key === key);
  return (
    field && {
      input: fieldInputName(field, field.isLocalised ? locale : undefined),
      label: customFieldName(field, visit),
    }
  );
}
