import type { TSchema } from 'typebox';
import { html, type Markup, type Part } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { toMinor } from '../../kernel/money.ts';
import { isAmount } from '../../shops/settings/fields.ts';
import { choiceField, longTextField, textField, tickField, type Choice } from '../components/form.ts';
import { ARROW_ICONS } from '../layout/icons.ts';
import { isLong, kindOf, mapValue, newEntryStep, shapeOf, wordPath } from './field-kind.ts';
import type { SettingsWords } from './words.ts';

export type Path = readonly (string | number)[];

/** What the fields of a form need beside the schema and the value. */
export interface FormContext {
  words: SettingsWords;
  language: string;
  /** The languages of the shop, the default one first. */
  locales: readonly string[];
  /** The language in which entries are named. */
  locale: string;
  currency: string;
  isDisabled: boolean;
  /** What can be chosen for a setting whose schema does not list it, by its path: countries, currencies. */
  choices: (path: string) => readonly Choice[] | undefined;
  /** The keys of a map that are known; undefined: they can be typed. */
  keys: (path: string) => readonly Choice[] | undefined;
  /** What is wrong, by the path of the field. */
  problemAt: (path: Path) => string | undefined;
  /** Settings that the page shows in another way. */
  isLeftOut: (path: string) => boolean;
  /** A list to which an entry is added, where scripts do not run. */
  added: string | undefined;
}

export const nameOf = (path: Path): string => path.join('.');

/** The field or fields of a setting. */
export function settingField(
  schema: TSchema,
  value: unknown,
  path: Path,
  context: FormContext,
): Markup | false {
  const { words, isDisabled } = context;
  const known = wordPath(path);
  if (context.isLeftOut(known)) return false;
  const field = {
    name: nameOf(path),
    label: words.label(known),
    ...hintOf(words.hint(known)),
    isDisabled,
    problem: context.problemAt(path),
  };
  const choices = context.choices(known);
  switch (kindOf(schema)) {
    case 'flag':
      return tickField({ ...field, value: (value ?? shapeOf(schema).default ?? false) === true });
    case 'choice':
      return choiceField({
        ...field,
        value: textOf(value ?? shapeOf(schema).default),
        choices: shapeOf(schema).enum!.map((one) => ({ value: one, text: words.value(known, one) })),
        ...(value === undefined && shapeOf(schema).default === undefined && { empty: words.unset }),
      });
    case 'number':
      return textField({
        ...field,
        value: numberText(value),
        inputMode: 'decimal',
        unit: isAmount(schema) ? context.currency : words.unit(known),
      });
    case 'line':
      if (choices)
        return choiceField({ ...field, value: textOf(value), choices: withChosen(choices, [value]) });
      return textField({ ...field, value: textOf(value), ...bound(schema) });
    case 'lines':
      return longTextField({ ...field, value: textOf(value), ...bound(schema) });
    case 'texts':
      return localisedField(schema, (value ?? {}) as Record<string, string>, path, context);
    case 'words':
    case 'choices':
      return listField(schema, (value ?? []) as string[], path, context);
    case 'section':
      return sectionFields(schema, (value ?? {}) as Record<string, unknown>, path, context);
    case 'entries':
      return entryFields(schema, (value ?? []) as unknown[], path, context);
    case 'map':
      return mapFields(schema, (value ?? {}) as Record<string, unknown>, path, context);
  }
}

/** One field per language of the shop. */
function localisedField(
  schema: TSchema,
  texts: Record<string, string>,
  path: Path,
  context: FormContext,
): Markup {
  const { words, locales, isDisabled } = context;
  const known = wordPath(path);
  const input = (locale: string, label: string) => {
    const one = {
      name: nameOf([...path, locale]),
      label,
      value: texts[locale],
      isDisabled,
      problem: context.problemAt([...path, locale]),
      ...bound(schema),
    };
    return isLong(schema) ? longTextField({ ...one, rows: 3 }) : textField(one);
  };
  const [only, ...others] = locales;
  return html`<fieldset class="field texts" id="field-${nameOf(path)}">
    <legend>${words.label(known)}</legend>
    ${words.hint(known) !== undefined && html`<p class="hint">${words.hint(known)}</p>`}
    ${
      others.length === 0
        ? input(only!, words.languageName(only!))
        : html`<div class="row">${locales.map((locale) => input(locale, words.languageName(locale)))}</div>`
    }
    ${problemLine(context.problemAt(path))}
  </fieldset>`;
}

/** Boxes to tick where it is known what can be in the list, else one entry per line. */
function listField(schema: TSchema, values: readonly string[], path: Path, context: FormContext): Markup {
  const { words, isDisabled } = context;
  const known = wordPath(path);
  const { items } = shapeOf(schema);
  const listed = shapeOf(items!).enum?.map((one) => ({ value: one, text: words.value(known, one) }));
  const choices = context.choices(known) ?? listed;
  const problems = [
    context.problemAt(path),
    ...values.map((_, index) => context.problemAt([...path, index])),
  ].filter((problem) => problem !== undefined);
  const problem = problems.length === 0 ? undefined : problems.join(' ');
  const hint = words.hint(known);
  if (!choices) {
    return longTextField({
      name: nameOf(path),
      label: words.label(known),
      hint: hint === undefined ? words.onePerLine : `${hint} ${words.onePerLine}`,
      value: values.join('\n'),
      rows: Math.min(Math.max(values.length + 1, 3), 12),
      isDisabled,
      problem,
    });
  }
  const name = nameOf(path);
  // Those that are chosen come first and keep their order, in which the shop shows them.
  const all = withChosen(choices, values);
  const sorted = [
    ...values.flatMap((value) => all.find((choice) => choice.value === value) ?? []),
    ...choices.filter(({ value }) => !values.includes(value)),
  ];
  return html`<fieldset class="field" id="field-${name}">
    <legend>${words.label(known)}</legend>
    ${hint !== undefined && html`<p class="hint">${hint}</p>`}
    <div class="ticks">
      ${sorted.map(
        ({ value, text }) =>
          html`<label
            ><input
              type="checkbox"
              name="${name}"
              value="${value}"
              ${values.includes(value) && html`checked`}
              ${isDisabled && html`disabled`}
            />
            ${text}</label
          >`,
      )}
    </div>
    ${problemLine(problem)}
  </fieldset>`;
}

/** Short fields stand beside each other. */
export function sectionFields(
  schema: TSchema,
  value: Record<string, unknown>,
  path: Path,
  context: FormContext,
): Markup {
  const { properties, required = [] } = shapeOf(schema);
  const fields = Object.entries(properties!).filter(
    ([key]) => key !== 'key' && !context.isLeftOut(wordPath([...path, key])),
  );
  const isShort = ([, field]: [string, TSchema]) => ['number', 'choice', 'line'].includes(kindOf(field));
  const groups: [string, TSchema][][] = [];
  for (const field of fields) {
    const last = groups.at(-1);
    if (last && isShort(field) && isShort(last[0]!)) last.push(field);
    else groups.push([field]);
  }
  const own = path.length > 1 && typeof path.at(-1) === 'string';
  const inner = html`${problemLine(context.problemAt(path))}
  ${groups.map((group) => {
    const shown = group.map(([key, field]) => {
      const at = [...path, key];
      const isInner = kindOf(field) === 'section' && !required.includes(key);
      const part = settingField(field, value[key], at, context);
      if (!isInner) return part;
      return html`<fieldset class="inner">
        <legend>${context.words.label(wordPath(at))}</legend>
        ${part}
      </fieldset>`;
    });
    return group.length > 1 ? html`<div class="row">${shown}</div>` : shown;
  })}`;
  return own ? html`<div class="inner-fields">${inner}</div>` : inner;
}

/** A list of entries that can be opened, added, moved and removed. */
function entryFields(schema: TSchema, values: readonly unknown[], path: Path, context: FormContext): Markup {
  const { words, isDisabled } = context;
  const known = wordPath(path);
  const { items } = shapeOf(schema);
  const isNested = path.length > 1;
  const isSmall = isNested || Object.keys(shapeOf(items!).properties ?? {}).length <= 3;
  const entry = (value: unknown, index: number | string, isOpen: boolean) => {
    const at = [...path, index];
    const key = (value as { key?: string } | undefined)?.key;
    const fields = html`${
      key !== undefined && html`<input type="hidden" name="${nameOf([...at, 'key'])}" value="${key}" />`
    }
    ${problemLine(kindOf(items!) === 'section' ? undefined : context.problemAt(at))}
    ${settingField(items!, value, at, context)}
    ${!isDisabled && entryButtons(nameOf(at), words, value !== undefined)}`;
    if (isSmall) return html`<div class="entry small" data-entry>${fields}</div>`;
    return html`<details class="entry" data-entry ${isOpen && html`open`}>
      <summary>${entryTitle(value, context) ?? words.newEntry(known)}</summary>
      <div class="entry-fields">${fields}</div>
    </details>`;
  };
  const hasProblem = (index: number) => context.problemAt([...path, index, '*']) !== undefined;
  const isAdded = context.added === known && !isDisabled;
  return html`<div class="entries" id="field-${nameOf(path)}" data-entries="${newEntryStep(path)}">
    ${isNested && html`<p class="legend">${words.label(known)}</p>`}
    ${words.hint(known) !== undefined && html`<p class="hint">${words.hint(known)}</p>`}
    ${problemLine(context.problemAt(path))}
    ${values.map((value, index) => entry(value, index, values.length === 1 || hasProblem(index)))}
    ${(isAdded || (isNested && !isDisabled)) && entry(undefined, values.length, true)}
    ${
      !isDisabled &&
      html`<template>${entry(undefined, newEntryStep(path), true)}</template>
        <p>
          <button type="button" class="with-script" data-add>${words.addEntry(known)}</button>
          ${
            !isNested &&
            html`<a class="button without-script" href="?add=${known}">${words.addEntry(known)}</a>`
          }
        </p>`
    }
  </div>`;
}

function entryButtons(name: string, words: SettingsWords, isStored: boolean): Markup {
  return html`<p class="entry-buttons">
    <button type="button" class="link with-script" data-move="up" aria-label="${words.moveUp}">
      ${ARROW_ICONS.up}
    </button>
    <button type="button" class="link with-script" data-move="down" aria-label="${words.moveDown}">
      ${ARROW_ICONS.down}
    </button>
    <label class="remove ${isStored ? '' : 'with-script'}"
      ><input type="checkbox" name="${name}.remove" value="yes" data-remove /> ${words.remove}</label
    >
  </p>`;
}

/** The name of an entry, and what it costs. */
function entryTitle(value: unknown, { words, locale, locales, currency, choices }: FormContext): Part {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, key, kind, price, default: isDefault, provider } = value as Record<string, unknown>;
  const names = (typeof name === 'object' ? name : {}) as Record<string, string>;
  const title = typeof name === 'string' ? name : (names[locale] ?? names[locales[0]!]);
  const providerText = choices('paymentMethods.provider')?.find((one) => one.value === provider)?.text;
  const facts = [
    ...(typeof kind === 'string' ? [words.value('shippingMethods.kind', kind)] : []),
    ...(providerText === undefined ? [] : [providerText]),
    ...(typeof price === 'number' && price !== 0
      ? [moneyText(toMinor(price, currency) ?? 0, currency, words.language)]
      : []),
    ...(isDefault === true ? [words.label('taxClasses.default')] : []),
  ];
  return html`<strong>${title ?? textOf(key)}</strong>
    ${facts.length > 0 && html`<span class="quiet">${facts.join(' · ')}</span>`}`;
}

/** Known keys are rows with a fixed title; others are typed. */
function mapFields(
  schema: TSchema,
  values: Record<string, unknown>,
  path: Path,
  context: FormContext,
): Markup {
  const { words, isDisabled } = context;
  const known = wordPath(path);
  const value = mapValue(schema);
  const keys = context.keys(known);
  const head = html`${path.length > 1 && html`<p class="legend">${words.label(known)}</p>`}
  ${words.hint(known) !== undefined && html`<p class="hint">${words.hint(known)}</p>`}
  ${problemLine(context.problemAt(path))}`;
  if (keys) {
    return html`<div class="map" id="field-${nameOf(path)}">
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
  return html`<div class="map" id="field-${nameOf(path)}">
    ${head}
    ${pairs.map(([key, item], index) => {
      const at = [...path, `#${index}`];
      return html`<div class="row">
        ${textField({ name: nameOf([...at, 'key']), label: words.label(`${known}.key`), value: key, isDisabled })}
        ${textField({
          name: nameOf([...at, 'value']),
          label: words.label(`${known}.value`),
          value: textOf(item),
          isDisabled,
          problem: key === '' ? undefined : context.problemAt([...path, key]),
        })}
      </div>`;
    })}
  </div>`;
}

function keyedField(schema: TSchema, value: unknown, path: Path, label: string, context: FormContext): Part {
  const { isDisabled, words } = context;
  if (kindOf(schema) !== 'section') {
    return textField({
      name: nameOf(path),
      label,
      value: numberText(value),
      inputMode: 'decimal',
      isDisabled,
      unit: words.unit(wordPath(path.slice(0, -1))),
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
          name: nameOf([...path, key]),
          label: words.label(`${wordPath(path.slice(0, -1))}.${key}`),
          value: numberText(fields[key]),
          isDisabled,
          problem: context.problemAt([...path, key]),
        }),
      )}
    </div>
    ${problemLine(context.problemAt(path))}
  </fieldset>`;
}

export function problemLine(problem: string | undefined): Markup | undefined {
  return problem === undefined ? undefined : html`<p class="field-problem">${problem}</p>`;
}

function bound(schema: TSchema): { maxLength?: number } {
  const { maxLength } = shapeOf(schema);
  return maxLength === undefined ? {} : { maxLength };
}

const hintOf = (hint: string | undefined) => (hint === undefined ? {} : { hint });

/** A value that was typed and is not among the choices stays visible. */
function withChosen(choices: readonly Choice[], values: readonly unknown[]): readonly Choice[] {
  const unknown = values.filter((value) => !choices.some((choice) => choice.value === (value ?? '')));
  return [...unknown.map((value) => ({ value: textOf(value), text: textOf(value) })), ...choices];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** As it is written in the file, and as it can be typed again. */
const numberText = (value: unknown) => textOf(value);
