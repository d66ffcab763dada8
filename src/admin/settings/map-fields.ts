import type { TSchema } from 'typebox';
import { html, type Markup, type Part } from '../../http/html.ts';
import { textField } from '../components/form.ts';
import { kindOf, mapValue, shapeOf, wordPath } from './field-kind.ts';
import {
  bound,
  settingFieldName,
  numberText,
  fieldProblemLine,
  settingText,
  type FormContext,
} from './form-context.ts';
import type { Path } from '../../shops/settings/rules.ts';

/** Known keys are rows with a fixed title; others are typed. */
export function mapFields(
  schema: TSchema,
  values: Record<string, unknown>,
  path: Path,
  context: FormContext,
): Markup {
  const { messages, isDisabled } = context;
  const known = wordPath(path);
  const value = mapValue(schema);
  const keys = context.keys(known);
  const head = html`${path.length > 1 && html`<p class="legend">${messages.label(known)}</p>`}
  ${messages.hint(known) !== undefined && html`<p class="hint">${messages.hint(known)}</p>`}
  ${fieldProblemLine(context.problemAt(path))}`;
  if (keys) {
    return html`<div class="map" id="field-${settingFieldName(path)}">
      ${head}
      <div class="row">
        ${keys.map(({ value: key, text }) => keyedField(value, values[key], [...path, key], text, context))}
      </div>
    </div>`;
  }
  const pairs: [string, unknown][] = [
    ...Object.entries(values),
    ...(isDisabled ? [] : ([['', undefined]] as [string, unknown][])),
  ];
  return html`<div class="map" id="field-${settingFieldName(path)}">
    ${head}
    ${pairs.map(([key, item], index) => {
      const at = [...path, `#${index}`];
      return html`<div class="row">
        ${textField({ name: settingFieldName([...at, 'key']), label: messages.label(`${known}.key`), value: key, isDisabled })}
        ${textField({
          name: settingFieldName([...at, 'value']),
          label: messages.label(`${known}.value`),
          value: settingText(item),
          ...bound(value),
          isDisabled,
          problem: key === '' ? undefined : context.problemAt([...path, key]),
        })}
      </div>`;
    })}
  </div>`;
}

function keyedField(schema: TSchema, value: unknown, path: Path, label: string, context: FormContext): Part {
  const { isDisabled, messages } = context;
  if (kindOf(schema) !== 'section') {
    return textField({
      name: settingFieldName(path),
      label,
      value: numberText(value, context),
      ...bound(schema),
      inputMode: 'decimal',
      isDisabled,
      unit: messages.unit(wordPath(path.slice(0, -1))),
      problem: context.problemAt(path),
    });
  }
  const { properties } = shapeOf(schema);
  const fields = (value ?? {}) as Record<string, unknown>;
  return html`<fieldset class="field inner">
    <legend>${label}</legend>
    <div class="row">
      ${Object.keys(properties!).map((key) =>
        textField({
          name: settingFieldName([...path, key]),
          label: messages.label(`${wordPath(path.slice(0, -1))}.${key}`),
          value: numberText(fields[key], context),
          ...bound(properties![key]!),
          isDisabled,
          problem: context.problemAt([...path, key]),
        }),
      )}
    </div>
    ${fieldProblemLine(context.problemAt(path))}
  </fieldset>`;
}
