import type { TSchema } from 'typebox';
import { html, type Markup } from '../../http/html.ts';
import { longTextField, textField } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { isLong, shapeOf, wordPath } from './field-kind.ts';
import { groupedChoices } from './grouped-choices.ts';
import { wordLimit } from './section-limits.ts';
import { bound, settingFieldName, fieldProblemLine, withChosen, type FormContext } from './form-context.ts';
import type { Path } from '../../shops/settings/rules.ts';

/** Texts in several languages, and lists of words: fields without nested ones. */

/** One field per language of the shop. */
export function localisedField(
  schema: TSchema,
  texts: Record<string, string>,
  path: Path,
  context: FormContext,
): Markup {
  const { messages, locales, language, isDisabled } = context;
  const known = wordPath(path);
  const name = (locale: string) => languageName(locale, language, locales);
  const input = (locale: string, label: string) => {
    const one = {
      name: settingFieldName([...path, locale]),
      label,
      value: texts[locale],
      isDisabled,
      problem: context.problemAt([...path, locale]),
      ...(locales.length > 1 && { locale }),
      ...bound(schema),
    };
    return isLong(schema) ? longTextField({ ...one, rows: 3 }) : textField(one);
  };
  const [only, ...others] = locales;
  return html`<fieldset class="field texts" id="field-${settingFieldName(path)}">
    <legend>${messages.label(known)}</legend>
    ${messages.hint(known) !== undefined && html`<p class="hint">${messages.hint(known)}</p>`}
    ${
      others.length === 0
        ? input(only!, name(only!))
        : html`<div class="row">${locales.map((locale) => input(locale, name(locale)))}</div>`
    }
    ${fieldProblemLine(context.problemAt(path))}
  </fieldset>`;
}

/** Checkboxes where the possible entries are known, else one entry per line. */
export function listField(
  schema: TSchema,
  values: readonly string[],
  path: Path,
  context: FormContext,
): Markup {
  const { messages, isDisabled } = context;
  const known = wordPath(path);
  const { items } = shapeOf(schema);
  const listed = shapeOf(items!).enum?.map((one) => ({
    value: String(one),
    text: messages.value(known, String(one)),
  }));
  const choices = context.choices(known) ?? listed;
  const problems = [
    context.problemAt(path),
    ...values.map((_, index) => context.problemAt([...path, index])),
  ].filter((problem) => problem !== undefined);
  const problem = problems.length === 0 ? undefined : problems.join(' ');
  const hint = messages.hint(known);
  if (!choices) {
    return longTextField({
      name: settingFieldName(path),
      label: messages.label(known),
      hint: hint === undefined ? messages.onePerLine : `${hint} ${messages.onePerLine}`,
      value: values.join('\n'),
      rows: Math.min(Math.max(values.length + 1, 3), 12),
      maxLength: wordLimit(schema).characters,
      isDisabled,
      problem,
    });
  }
  const name = settingFieldName(path);
  const all = withChosen(choices, values);
  const boxes = {
    name,
    label: messages.label(known),
    // They keep their order, in which the shop shows them.
    chosen: values.flatMap((value) => all.find((choice) => choice.value === value) ?? []),
    others: choices.filter(({ value }) => !values.includes(value)),
    presets: context.presets(known),
    isDisabled,
  };
  return html`<fieldset class="field" id="field-${name}">
    <legend>${messages.label(known)}</legend>
    ${hint !== undefined && html`<p class="hint">${hint}</p>`} ${groupedChoices(boxes, messages)}
    ${fieldProblemLine(problem)}
  </fieldset>`;
}
