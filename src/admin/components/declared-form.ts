import { Type, type Static, type TObject, type TString } from 'typebox';
import { MAX_FIELD_LENGTH, type TextLimit } from '../../http/form-fields.ts';
import { html, type Markup, type Part } from '../../http/html.ts';
import { check, compileBody } from '../../http/validation.ts';
import { adminMessagesIn as wordsIn, type Language, type AdminMessages } from '../messages.ts';
import type { Draft, FormOptions } from '../pages.ts';
import { countryChoices } from './country-choices.ts';
import { decimalText, parseLocalisedDecimal, typedDecimal } from './decimal.ts';
import {
  buttonForm,
  choiceField,
  longTextField,
  textField,
  tickField,
  type ButtonForm,
  type Choice,
} from './form.ts';
import { richTextField, type RichTextReader } from './rich-text.ts';
import { refuseField } from './validation.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/**
 * A form is declared once: the values of an operation's body that people type, by their names there. The inputs, the
 * body, the limits of the form and the labels in a refusal follow from it.
 */
export interface DeclaredForm<Body extends TObject = TObject, Name extends string = string> {
  body: Body;
  fieldsIn: (messages: AdminMessages) => Readonly<Record<Name, DeclaredField>>;
  /** The form has its fields once for each row of a table or list: `price.17`. */
  isInRows?: boolean;
}

/** Parts that depend on the data of a page are added where the field is shown. */
interface FieldParts {
  label?: string;
  /** Where a page has the form several times with the same names. */
  id?: string;
  hasFocus?: boolean;
  hint?: Part;
  isRequired?: boolean;
  isDisabled?: boolean;
  /** Instead of that of the draft. */
  problem?: string | undefined;
  autocomplete?: string;
  inputMode?: 'numeric';
  placeholder?: string;
  /** The id of a list of suggestions. */
  list?: string;
  unit?: string;
  rows?: number;
  /** Its long text is code, in a monospaced font. */
  isCode?: boolean;
  choices?: readonly Choice[];
  /** The value that a tick sends, where that is not `yes` or nothing. */
  sends?: string;
  /** The countries of which one is chosen; all by default. */
  countries?: readonly string[];
  /** The text for no choice. */
  empty?: string;
}

export interface DeclaredField extends FieldParts {
  label: string;
  /**
   * Decimals and integers are typed as in the language of the reader. A list of texts is typed as `tags`, with commas
   * between them, or as `lines`. A `choice` of a boolean sends `yes` or `no`. A `password` is never shown, the stored
   * one neither.
   */
  kind?:
    | 'text'
    | 'email'
    | 'tel'
    | 'url'
    | 'date'
    | 'datetime-local'
    | 'password'
    | 'long text'
    | 'rich text'
    | 'decimal'
    | 'integer'
    | 'number'
    | 'tick'
    | 'ticks'
    | 'tags'
    | 'lines'
    | 'choice'
    | 'country'
    | 'hidden';
  /** The name of the input, where it is not the name in the body. */
  input?: string;
  /** The form has it once for each language of the shop: `name.de_DE`. */
  isLocalised?: boolean;
  /** Where the schema of the body has no bound. */
  maxLength?: TextLimit;
  /** Refuses a decimal that is not a number in these words; without them the operation refuses it. */
  noNumber?: (values: { typed: string }) => string;
  /** The path that sets it, where the operation takes a JSON Patch. */
  path?: string;
  /** It stands in a table whose row and column name it, so its label is for screen readers only. */
  isCell?: boolean;
}

/** Declares the fields of an operation: `declareForm(addCoupon, ({ coupons }) => ({ code: { label: coupons.code } }))` */
export function declareForm<Body extends TObject, Name extends keyof Static<Body> & string>(
  { body }: { body?: Body },
  fieldsIn: (messages: AdminMessages) => Readonly<Record<Name, DeclaredField>>,
): DeclaredForm<Body, Name> {
  return { body: body!, fieldsIn };
}

/** The same for a form whose fields are there once for each row of a table or list. */
export function declareRows<Body extends TObject, Name extends keyof Static<Body> & string>(
  operation: { body?: Body },
  fieldsIn: (messages: AdminMessages) => Readonly<Record<Name, DeclaredField>>,
): DeclaredForm<Body, Name> {
  return { ...declareForm(operation, fieldsIn), isInRows: true };
}

/**
 * Declares values that are not typed, with their maximum length: those of hidden inputs, and which button was pressed.
 * `declareHidden({ host: 253 })`
 */
export function declareHidden<Name extends string>(
  lengths: Readonly<Record<Name, number>>,
): DeclaredForm<TObject<Record<Name, TString>>, Name> {
  const names = Object.keys(lengths) as Name[];
  const recordOf = <Value>(valueOf: (name: Name) => Value) =>
    Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
  return {
    body: Type.Object(recordOf((name) => Type.String({ maxLength: lengths[name] }))),
    fieldsIn: () => recordOf(() => ({ kind: 'hidden', label: '' })),
  };
}

/** The person who fills in the form. */
export interface FormReader {
  messages: AdminMessages;
  language: Language;
}

export type FormValue = string | number | boolean | readonly string[] | null | undefined;

interface Shown<Name extends string> {
  /** The stored values. */
  values?: Readonly<Partial<Record<Name, FormValue>>>;
  draft: Draft | undefined;
  isDisabled?: boolean;
  /** Precedes the names of the inputs, where a page has the form twice. */
  prefix?: string;
  /** The language of its localised fields. */
  locale?: string;
  /** The row of a form in rows. */
  row?: string;
  /** Sends the shown values along, so that only fields that were changed on the page are saved: `changesOfRow`. */
  sendsShown?: boolean;
}

interface Place {
  locale?: string | undefined;
  row?: string | undefined;
}

/** `*` stands for every language, and for every row. */
export const inputOf = (
  { isInRows }: DeclaredForm,
  name: string,
  { input = name, isLocalised }: DeclaredField,
  { locale = '*', row = '*' }: Place = {},
) => [input, ...(isInRows ? [row] : []), ...(isLocalised ? [locale] : [])].join('.');

/** Precedes the name of the hidden input with the value that the page showed. */
export const SHOWN = 'was.';

/** A stored value as its input shows it. */
export function textOfStored(stored: FormValue, language: Language): string {
  if (typeof stored === 'boolean') return stored ? 'yes' : 'no';
  return typeof stored === 'number' ? decimalText(stored, language) : ((stored as string | null) ?? '');
}

/** The inputs of a form: `const field = showFields(...)`, then `field('name')` in its place on the page. */
export function showFields<Name extends string>(
  form: DeclaredForm<TObject, Name>,
  reader: FormReader & RichTextReader,
  { values, draft, isDisabled = false, prefix = '', locale, row, sendsShown = false }: Shown<Name>,
): (name: Name, more?: FieldParts) => Markup {
  const { messages, language } = reader;
  const fields = form.fieldsIn(messages);
  return (name, more) => {
    const declared: DeclaredField = fields[name];
    const {
      kind = 'text',
      input: _input,
      isLocalised: _isLocalised,
      path: _path,
      noNumber: _noNumber,
      countries,
      ...parts
    } = { ...declared, ...more };
    const input = inputOf(form, name, declared, { locale, row });
    const limit = limitOf(form, name, declared);
    const maxLength = typeof limit === 'number' ? limit : limit.characters;
    // A field that is there several times has its problem under the name of its input.
    const isAlone = prefix === '' && locale === undefined && row === undefined;
    const problem = more?.problem ?? (isAlone ? draft?.problems?.[name] : undefined);
    const field = { isDisabled, ...parts, name: prefix + input, maxLength, draft, problem };
    const stored = values?.[name];
    const value = textOfStored(stored, language);
    const shown = sendsShown && html`<input type="hidden" name="${SHOWN}${field.name}" value="${value}" />`;
    switch (kind) {
      case 'tags':
        return textField({ ...field, value: textOfList(stored, ', ') });
      case 'lines':
        return longTextField({ ...field, value: textOfList(stored, '\n') });
      case 'hidden':
        return html`<input type="hidden" name="${field.name}" value="${value}" />`;
      case 'tick':
        // An unchecked box sends nothing; the hidden input tells that it was on the page.
        return html`${shown}${sendsShown && html`<input type="hidden" name="${field.name}" value="no" />`}${tickField({ ...field, value: stored === true })}`;
      case 'ticks':
        return html`<fieldset class="scopes">
          <legend>${field.label}</legend>
          ${problem !== undefined && html`<p class="field-problem">${problem}</p>`}
          ${field.choices?.map(({ value: sends, text: label }) =>
            tickField({
              ...field,
              // The problem of all of them is said once.
              draft: draft && { ...draft, problems: {} },
              problem: undefined,
              sends,
              label,
              value: Array.isArray(stored) && stored.includes(sends),
            }),
          )}
        </fieldset>`;
      case 'choice':
        return choiceField({ choices: [], ...field, value });
      case 'country':
        return choiceField({ ...field, choices: countryChoices(language, countries), value });
      case 'long text':
        return longTextField({ ...field, value });
      case 'rich text':
        return richTextField({ ...field, value }, reader);
      case 'decimal':
      case 'integer':
        return html`${shown}${textField({ inputMode: kind === 'decimal' ? kind : 'numeric', ...field, value })}`;
      case 'text':
      case 'email':
      case 'tel':
      case 'url':
      case 'number':
      case 'date':
      case 'datetime-local':
      case 'password':
        return html`${shown}${textField({ ...field, type: kind, value })}`;
    }
  };
}

/** A form that is one button, and sends these values. */
export function declaredButton<Name extends string>(
  form: DeclaredForm<TObject, Name>,
  { messages }: Pick<FormReader, 'messages'>,
  values: Readonly<Record<Name, string>>,
  button: Omit<ButtonForm, 'fields'>,
): Markup {
  const declared = Object.entries<DeclaredField>(form.fieldsIn(messages));
  const fields = declared.map(([name, field]) => [inputOf(form, name, field), values[name as Name]] as const);
  return buttonForm({ ...button, fields: Object.fromEntries(fields) });
}

/**
 * The typed values as the operation takes them; an empty one is null where the schema allows it. Text that is not a
 * number is sent as it is, so that the operation refuses it.
 */
export function readFields<Body extends TObject, Name extends string>(
  form: DeclaredForm<Body, Name>,
  request: Pick<FormRequest, 'field' | 'fieldList'>,
  { messages, language }: FormReader,
  place: Place = {},
): Required<Pick<Static<Body>, Name & keyof Static<Body>>> {
  const read = ([name, declared]: [string, DeclaredField]) => {
    const { kind, isRequired = false } = declared;
    const input = inputOf(form, name, declared, place);
    const text = request.field(input);
    if (kind === 'tick') return typesOf(form, name).includes('string') ? text : text === 'yes';
    if (kind === 'ticks') return request.fieldList(input);
    if (kind === 'tags' || kind === 'lines') return entriesOf(text, kind);
    if (text === '' && isNullable(form, name) && !isRequired) return null;
    if (kind === 'integer' || kind === 'number') return Number(typedDecimal(text, language));
    if (kind === 'choice' && typesOf(form, name).includes('boolean')) return text === 'yes';
    return kind === 'decimal' ? readDecimal(text, input, declared, language) : text;
  };
  const entries = Object.entries<DeclaredField>(form.fieldsIn(messages));
  return Object.fromEntries(entries.map((entry) => [entry[0], read(entry)])) as never;
}

/** The same for what no operation checks: the page refuses values that the schema of the form does not allow. */
export function readChecked<Body extends TObject, Name extends string>(
  form: DeclaredForm<Body, Name>,
  request: Pick<FormRequest, 'field' | 'fieldList'>,
  reader: FormReader,
): Required<Pick<Static<Body>, Name & keyof Static<Body>>> {
  const values = readFields(form, request, reader);
  check(compileBody(form.body), values);
  return values;
}

/** A typed decimal; one that is not a number is refused beside its input, or else by the operation. */
export function readDecimal(
  typed: string,
  input: string,
  { noNumber }: DeclaredField,
  language: Language,
): string {
  const number = parseLocalisedDecimal(typed, language);
  if (number === undefined && noNumber) throw refuseField(input, noNumber({ typed }));
  return number ?? typed;
}

/** The options of a page with these forms: the limits of their fields, and the labels by which refusals name them. */
export function optionsOf(
  ...forms: readonly DeclaredForm[]
): Required<Pick<FormOptions, 'limits' | 'labels'>> {
  const entriesIn = (messages: AdminMessages) =>
    forms.flatMap((form) =>
      Object.entries(form.fieldsIn(messages)).map(([name, field]) => ({ form, name, field })),
    );
  const texts = entriesIn(wordsIn('en')).map(({ form, name, field }): [string, TextLimit] => {
    const limit = limitOf(form, name, field);
    // A text that is too long only for the operation is refused by it, and the page keeps what was typed.
    return [
      inputOf(form, name, field),
      typeof limit === 'number' ? Math.max(limit, MAX_FIELD_LENGTH) : limit,
    ];
  });
  return {
    limits: { texts: Object.fromEntries(texts) },
    labels: (messages) =>
      Object.fromEntries(entriesIn(messages).map(({ name, field }) => [name, field.label])),
  };
}

const textOfList = (stored: FormValue, separator: string) =>
  Array.isArray(stored) ? stored.join(separator) : '';

/** The different texts of a field, without empty ones. */
function entriesOf(text: string, kind: 'tags' | 'lines'): string[] {
  const entries = text
    .split(kind === 'tags' ? ',' : '\n')
    .map((entry) => entry.trim().replaceAll(/\s+/g, ' '));
  return [...new Set(entries.filter((entry) => entry !== ''))];
}

const schemaOf = ({ body }: DeclaredForm, name: string) =>
  (body.properties[name] ?? {}) as {
    type?: string | readonly string[];
    maxLength?: number;
    maxItems?: number;
    items?: { maxLength?: number };
  };

const typesOf = (form: DeclaredForm, name: string) => [schemaOf(form, name).type].flat();
const isNullable = (form: DeclaredForm, name: string) => typesOf(form, name).includes('null');

function limitOf(form: DeclaredForm, name: string, { kind, maxLength }: DeclaredField): TextLimit {
  if (maxLength !== undefined) return maxLength;
  const schema = schemaOf(form, name);
  if (kind === 'tags' || kind === 'lines') {
    const { maxItems = 0, items = {} } = schema;
    const characters = maxItems * ((items.maxLength ?? 0) + ', '.length);
    return kind === 'tags' ? characters : { characters, lines: maxItems };
  }
  return schema.maxLength ?? MAX_FIELD_LENGTH;
}
