import { html, type Markup, type Part } from '../../http/html.ts';
import { MAX_FIELD_LENGTH } from '../../http/form-fields.ts';
import type { Draft } from '../pages.ts';

/**
 * The fields of forms. Each takes the `draft` of a refused form, and then shows the typed value instead of the stored
 * one: no input is lost.
 */
interface AnyField {
  name: string;
  label: string;
  /** Shown below the field. */
  hint?: Part;
  draft?: Draft | undefined;
  isRequired?: boolean;
  isDisabled?: boolean;
  /** The problem of its value, shown below the field. */
  problem?: string | undefined;
  /** The language of a translated text, for the language tabs of a form. */
  locale?: string;
  /** Where a page has the form several times with the same names. */
  id?: string;
  hasFocus?: boolean;
  /** It stands in a table whose row and column name it, so its label is for screen readers only. */
  isCell?: boolean;
}

export interface TextField extends AnyField {
  value?: string | number | null | undefined;
  type?:
    | 'text'
    | 'email'
    | 'password'
    | 'url'
    | 'tel'
    | 'number'
    | 'date'
    | 'search'
    | 'datetime-local'
    | 'color';
  autocomplete?: string;
  /** `numeric` and `decimal` bring up digits on phones. */
  inputMode?: 'numeric' | 'decimal';
  /** A form with a field that takes more than usual declares that in its limits. */
  maxLength?: number;
  placeholder?: string;
  /** The id of a list of suggestions. */
  list?: string;
  /** Shown after the field: a currency, a unit. */
  unit?: string | undefined;
}

export function textField({
  type = 'text',
  unit,
  maxLength = MAX_FIELD_LENGTH,
  ...field
}: TextField): Markup {
  const value = type === 'password' ? '' : (field.draft?.field(field.name) ?? field.value ?? '');
  const input = html`<input
    type="${type}"
    name="${field.name}"
    id="${idOf(field)}"
    value="${value}"
    ${field.autocomplete !== undefined && html`autocomplete="${field.autocomplete}"`}
    ${field.inputMode !== undefined && html`inputmode="${field.inputMode}"`}
    ${field.isCell && field.inputMode === 'decimal' && html`class="number"`}
    maxlength="${maxLength}"
    ${field.placeholder !== undefined && html`placeholder="${field.placeholder}"`}
    ${field.list !== undefined && html`list="${field.list}"`}
    ${common(field)}
  />`;
  if (field.isCell && unit === undefined) return labelled(field, input);
  return labelled(
    field,
    html`<span class="${unit === undefined ? 'input' : 'input with-unit'}"
      >${input}${unit !== undefined && html`<span class="unit">${unit}</span>`}</span
    >`,
  );
}

export interface LongTextField extends AnyField {
  value?: string | null | undefined;
  rows?: number;
  /** The same as in the limits of the form. */
  maxLength: number;
  /** For code: a monospaced font. */
  isCode?: boolean;
}

export function longTextField({ rows = 4, isCode, ...field }: LongTextField): Markup {
  return labelled(
    field,
    html`<textarea
      name="${field.name}"
      id="${idOf(field)}"
      rows="${rows}"
      ${isCode && html`class="code" spellcheck="false"`}
      maxlength="${field.maxLength}"
      ${common(field)}
    >
${field.draft?.field(field.name) ?? field.value ?? ''}</textarea>`,
  );
}

export interface Choice {
  value: string;
  text: string;
  /** The heading under which a long list shows it. */
  group?: string;
}

export interface ChoiceField extends AnyField {
  value?: string | null | undefined;
  choices: readonly Choice[];
  /** The text for no choice; without it a choice is required. */
  empty?: string;
}

export function choiceField({ choices, empty, ...field }: ChoiceField): Markup {
  const chosen = field.draft?.field(field.name) ?? field.value ?? '';
  const all = empty === undefined ? choices : [{ value: '', text: empty }, ...choices];
  return labelled(
    field,
    html`<select name="${field.name}" id="${idOf(field)}" ${common(field)}>
      ${all.map(
        ({ value, text }) =>
          html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`,
      )}
    </select>`,
  );
}

export interface TickField extends Omit<AnyField, 'isRequired'> {
  value?: boolean;
  /** The value sent when it is checked; `yes` by default. */
  sends?: string;
}

export function tickField({ value = false, sends = 'yes', ...field }: TickField): Markup {
  const isTicked = field.draft ? field.draft.fieldList(field.name).includes(sends) : value;
  const box = html`<input
    type="checkbox"
    name="${field.name}"
    ${sends === 'yes' && html`id="${idOf(field)}"`}
    value="${sends}"
    ${isTicked && html`checked`}
    ${field.isDisabled && html`disabled`}
    ${field.isCell && html`aria-label="${field.label}"`}
  />`;
  if (field.isCell) return cell(field, box);
  return html`<div class="field tick">
    <label>${box} ${field.label}</label>
    ${field.hint !== undefined && html`<p class="hint">${field.hint}</p>`}
    ${fieldProblem(field) !== undefined && html`<p class="field-problem">${fieldProblem(field)}</p>`}
  </div>`;
}

/** The problems of a form, at its top. */
export function problemOf(draft: Draft | undefined): Markup | undefined {
  return draft && html`<p class="problem" role="alert">${draft.problem}</p>`;
}

export interface ButtonForm {
  action: string;
  text: string;
  /** They are sent along. */
  fields?: Readonly<Record<string, string>>;
  kind?: 'main' | 'danger' | 'link';
  /** Is asked first, where scripts run. */
  confirm?: string;
  /** Names it for screen readers, where its text is a sign or is there several times. */
  label?: string;
}

/** A form that is one button. */
export function buttonForm({ action, text, fields = {}, kind, confirm, label }: ButtonForm): Markup {
  return html`<form
    method="post"
    action="${action}"
    ${confirm !== undefined && html`data-confirm="${confirm}"`}
  >
    ${Object.entries(fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button class="${kind ?? ''}" ${label !== undefined && html`aria-label="${label}"`}>${text}</button>
  </form>`;
}

const fieldProblem = ({ name, problem, draft }: AnyField) => problem ?? draft?.problems?.[name];

function cell(field: AnyField, input: Markup): Markup {
  const problem = fieldProblem(field);
  return html`${input}${problem !== undefined && html`<p class="field-problem" id="${idOf(field)}-problem">${problem}</p>`}`;
}

function labelled(field: AnyField, input: Markup): Markup {
  if (field.isCell) return cell(field, input);
  const problem = fieldProblem(field);
  return html`<div class="field" ${field.locale !== undefined && html`data-language="${field.locale}"`}>
    <label for="${idOf(field)}">${field.label}</label>
    ${input} ${field.hint !== undefined && html`<p class="hint" id="${idOf(field)}-hint">${field.hint}</p>`}
    ${problem !== undefined && html`<p class="field-problem" id="${idOf(field)}-problem">${problem}</p>`}
  </div>`;
}

function common(field: AnyField): Markup {
  const isWrong = fieldProblem(field) !== undefined;
  const described = [
    ...(field.hint === undefined ? [] : [`${idOf(field)}-hint`]),
    ...(isWrong ? [`${idOf(field)}-problem`] : []),
  ];
  return html`${field.isRequired && html`required`} ${field.isDisabled && html`disabled`}
  ${field.isCell && html`aria-label="${field.label}"`} ${field.hasFocus && html`autofocus`}
  ${isWrong && html`aria-invalid="true"`}
  ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}`;
}

const idOf = ({ name, id = `field-${name}` }: AnyField) => id;
