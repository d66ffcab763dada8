import type { Static, TObject } from 'typebox';
import { MAX_FIELD_LENGTH, type TextLimit } from '../../http/form-fields.ts';
import { html, type Markup, type Part } from '../../http/html.ts';
import { adminMessagesIn as wordsIn, type Language, type AdminMessages } from '../messages.ts';
import type { Draft, FormOptions } from '../pages.ts';
import { countryChoices } from './country-choices.ts';
import { decimalText, typedDecimal } from './decimal.ts';
import { choiceField, longTextField, textField, tickField, type Choice } from './form.ts';
import { richTextField, type RichTextReader } from './rich-text.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/**
 * A form is declared once: the values of an operation's body that people type, by their names there. The inputs, the
 * body, the limits of the form and the labels in a refusal follow from it.
 */
export interface DeclaredForm<Body extends TObject = TObject, Name extends string = string> {
  body: Body;
  fieldsIn: (messages: AdminMessages) => Readonly<Record<Name, DeclaredField>>;
}

/** Parts that depend on the data of a page are added where the field is shown. */
interface FieldParts {
  label?: string;
  hint?: Part;
  isRequired?: boolean;
  isDisabled?: boolean;
  autocomplete?: string;
  inputMode?: 'numeric';
  placeholder?: string;
  unit?: string;
  rows?: number;
  choices?: readonly Choice[];
  /** The countries of which one is chosen; all by default. */
  countries?: readonly string[];
  /** The text for no choice. */
  empty?: string;
}

export interface DeclaredField extends FieldParts {
  label: string;
  /** Decimals and integers are typed as in the language of the reader. */
  kind?:
    | 'text'
    | 'email'
    | 'tel'
    | 'url'
    | 'date'
    | 'long text'
    | 'rich text'
    | 'decimal'
    | 'integer'
    | 'number'
    | 'tick'
    | 'ticks'
    | 'choice'
    | 'country';
  /** The name of the input, where it is not the name in the body. */
  input?: string;
  /** The form has it once for each language of the shop: `name.de_DE`. */
  isLocalised?: boolean;
  /** Where the schema of the body has no bound. */
  maxLength?: TextLimit;
  /** Reads a decimal, and throws where the page itself refuses what is not a number. */
  toDecimal?: (typed: string, language: Language) => string;
}

/** Declares the fields of an operation: `declareForm(addCoupon, ({ coupons }) => ({ code: { label: coupons.code } }))` */
export function declareForm<Body extends TObject, Name extends keyof Static<Body> & string>(
  { body }: { body?: Body },
  fieldsIn: (messages: AdminMessages) => Readonly<Record<Name, DeclaredField>>,
): DeclaredForm<Body, Name> {
  return { body: body!, fieldsIn };
}

/** The person who fills in the form. */
interface Reader {
  messages: AdminMessages;
  language: Language;
}

type StoredValue = string | number | boolean | readonly string[] | null | undefined;

interface Shown<Name extends string> {
  /** The stored values. */
  values?: Readonly<Partial<Record<Name, StoredValue>>>;
  draft: Draft | undefined;
  isDisabled?: boolean;
  /** Precedes the names of the inputs, where a page has the form twice. */
  prefix?: string;
  /** The language of its localised fields. */
  locale?: string;
}

const inputOf = (name: string, { input = name, isLocalised }: DeclaredField, locale = '*') =>
  isLocalised ? `${input}.${locale}` : input;

/** The inputs of a form: `const field = showFields(...)`, then `field('name')` in its place on the page. */
export function showFields<Name extends string>(
  form: DeclaredForm<TObject, Name>,
  reader: Reader & RichTextReader,
  { values, draft, isDisabled = false, prefix = '', locale }: Shown<Name>,
): (name: Name, more?: FieldParts) => Markup {
  const { messages, language } = reader;
  const fields = form.fieldsIn(messages);
  return (name, more) => {
    const declared: DeclaredField = fields[name];
    const {
      kind = 'text',
      input: _input,
      isLocalised: _isLocalised,
      countries,
      ...parts
    } = { ...declared, ...more };
    const input = inputOf(name, declared, locale);
    const limit = limitOf(form, name, declared);
    const maxLength = typeof limit === 'number' ? limit : limit.characters;
    const problem = prefix === '' && locale === undefined ? draft?.problems?.[name] : undefined;
    const field = { isDisabled, ...parts, name: prefix + input, maxLength, draft, problem };
    const stored = values?.[name];
    const value = typeof stored === 'number' ? decimalText(stored, language) : (stored as string | null);
    switch (kind) {
      case 'tick':
        return tickField({ ...field, value: stored === true });
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
        return textField({ inputMode: kind === 'decimal' ? kind : 'numeric', ...field, value });
      case 'text':
      case 'email':
      case 'tel':
      case 'url':
      case 'number':
      case 'date':
        return textField({ ...field, type: kind, value });
    }
  };
}

/**
 * The typed values as the operation takes them; an empty one is null where the schema allows it. Text that is not a
 * number is sent as it is, so that the operation refuses it.
 */
export function readFields<Body extends TObject, Name extends string>(
  form: DeclaredForm<Body, Name>,
  request: Pick<FormRequest, 'field' | 'fieldList'>,
  { messages, language }: Reader,
  { locale }: { locale?: string } = {},
): Required<Pick<Static<Body>, Name & keyof Static<Body>>> {
  const read = ([name, declared]: [string, DeclaredField]) => {
    const { kind, isRequired = false, toDecimal = typedDecimal } = declared;
    const input = inputOf(name, declared, locale);
    const text = request.field(input);
    if (kind === 'tick') return text !== '';
    if (kind === 'ticks') return request.fieldList(input);
    if (text === '' && isNullable(form, name) && !isRequired) return null;
    if (kind === 'integer' || kind === 'number') return Number(typedDecimal(text, language));
    return kind === 'decimal' ? toDecimal(text, language) : text;
  };
  const entries = Object.entries<DeclaredField>(form.fieldsIn(messages));
  return Object.fromEntries(entries.map((entry) => [entry[0], read(entry)])) as never;
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
    return [inputOf(name, field), typeof limit === 'number' ? Math.max(limit, MAX_FIELD_LENGTH) : limit];
  });
  return {
    limits: { texts: Object.fromEntries(texts) },
    labels: (messages) =>
      Object.fromEntries(entriesIn(messages).map(({ name, field }) => [name, field.label])),
  };
}

const schemaOf = ({ body }: DeclaredForm, name: string) =>
  (body.properties[name] ?? {}) as { type?: string | readonly string[]; maxLength?: number };

const isNullable = (form: DeclaredForm, name: string) => [schemaOf(form, name).type].flat().includes('null');

const limitOf = (form: DeclaredForm, name: string, { maxLength }: DeclaredField): TextLimit =>
  maxLength ?? schemaOf(form, name).maxLength ?? MAX_FIELD_LENGTH;
