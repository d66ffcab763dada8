import type { TSchema } from 'typebox';
import { html, type Markup, type Part } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { toMinor } from '../../kernel/money.ts';
import { isAmount } from '../../shops/settings/fields.ts';
import { choiceField, longTextField, textField, tickField } from '../components/form.ts';
import { ACTION_ICONS } from '../layout/icons.ts';
import { kindOf, newEntryStep, shapeOf, wordPath } from './field-kind.ts';
import {
  bound,
  settingFieldName,
  numberText,
  fieldProblemLine,
  settingText,
  withChosen,
  type FormContext,
} from './form-context.ts';
import { mapFields } from './map-fields.ts';
import { listField, localisedField } from './plain-fields.ts';
import type { SettingsMessages } from './settings-messages.ts';
import { zoneHeader, zoneRow, ZONES } from './zone-row.ts';
import type { Path } from '../../shops/settings/rules.ts';

/** The field or fields of a setting. */
export function settingField(
  schema: TSchema,
  value: unknown,
  path: Path,
  context: FormContext,
): Markup | false {
  const { messages, isDisabled } = context;
  const known = wordPath(path);
  if (context.isLeftOut(known)) return false;
  const field = {
    name: settingFieldName(path),
    label: messages.label(known),
    ...hintOf(messages.hint(known)),
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
        value: settingText(value ?? shapeOf(schema).default),
        choices: shapeOf(schema).enum!.map((one) => ({
          value: String(one),
          text: messages.value(known, String(one)),
        })),
        ...emptyChoice(known, value ?? shapeOf(schema).default, messages),
      });
    case 'number':
      return textField({
        ...field,
        value: numberText(value, context),
        inputMode: 'decimal',
        unit: isAmount(schema) ? context.currency : messages.unit(known),
      });
    case 'line':
      if (choices)
        return choiceField({ ...field, value: settingText(value), choices: withChosen(choices, [value]) });
      return textField({ ...field, value: settingText(value), ...bound(schema) });
    case 'lines':
      return longTextField({ ...field, value: settingText(value), ...bound(schema) });
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

/** An unset choice can be left unset, and chosen again where being unset has a name. */
function emptyChoice(known: string, value: unknown, messages: SettingsMessages): { empty?: string } {
  const name = messages.unsetValue(known);
  if (name !== undefined) return { empty: name };
  return value === undefined ? { empty: messages.unset } : {};
}

/** Short fields are side by side. */
function sectionFields(
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
  const inner = html`${fieldProblemLine(context.problemAt(path))}
  ${groups.map((group) => {
    const shown = group.map(([key, field]) => {
      const at = [...path, key];
      const isInner = kindOf(field) === 'section' && !required.includes(key);
      const part = settingField(field, value[key], at, context);
      if (!isInner) return part;
      return html`<fieldset class="inner">
        <legend>${context.messages.label(wordPath(at))}</legend>
        ${part}
      </fieldset>`;
    });
    return group.length > 1 ? html`<div class="row">${shown}</div>` : shown;
  })}`;
  return own ? html`<div class="inner-fields">${inner}</div>` : inner;
}

/** A list of entries that can be opened, added, moved and removed. */
function entryFields(schema: TSchema, values: readonly unknown[], path: Path, context: FormContext): Markup {
  const { messages, isDisabled } = context;
  const known = wordPath(path);
  const { items } = shapeOf(schema);
  const isNested = path.length > 1;
  // Texts in several languages and lists need the whole width.
  const fieldsOfEntry = Object.values(shapeOf(items!).properties ?? {});
  const isSmall =
    fieldsOfEntry.length <= 3 && !fieldsOfEntry.some((field) => ['texts', 'entries'].includes(kindOf(field)));
  const entry = (value: unknown, index: number | string, isOpen: boolean) => {
    const at = [...path, index];
    const key = (value as { key?: string } | undefined)?.key;
    const fields = html`${
      key !== undefined &&
      html`<input type="hidden" name="${settingFieldName([...at, 'key'])}" value="${key}" />`
    }
    ${fieldProblemLine(kindOf(items!) === 'section' ? undefined : context.problemAt(at))}
    ${settingField(items!, value, at, context)}
    ${!isDisabled && entryButtons(settingFieldName(at), messages, value !== undefined)}`;
    if (isSmall) return html`<div class="entry small" data-entry>${fields}</div>`;
    const title =
      known === ZONES && value !== undefined ? zoneRow(value, context) : entryTitle(value, context);
    // With scripts, a button adds an entry.
    const isBlank = value === undefined && isNested && !isOpen;
    return html`<details class="entry ${isBlank ? 'without-script' : ''}" data-entry ${isOpen && html`open`}>
      <summary>${title ?? messages.newEntry(known)}</summary>
      <div class="entry-fields">${fields}</div>
    </details>`;
  };
  const hasProblem = (index: number) => context.problemAt([...path, index, '*']) !== undefined;
  const isAdded = context.added === known && !isDisabled;
  return html`<div class="entries" id="field-${settingFieldName(path)}" data-entries="${newEntryStep(path)}">
    ${isNested && html`<p class="legend">${messages.label(known)}</p>`}
    ${messages.hint(known) !== undefined && html`<p class="hint">${messages.hint(known)}</p>`}
    ${fieldProblemLine(context.problemAt(path))}
    ${known === ZONES && values.length > 0 && zoneHeader(context)}
    ${values.map((value, index) => entry(value, index, (values.length === 1 && !isNested) || hasProblem(index)))}
    ${(isAdded || (isNested && !isDisabled)) && entry(undefined, values.length, isAdded || isSmall)}
    ${
      !isDisabled &&
      html`<template>${entry(undefined, newEntryStep(path), true)}</template>
        <p>
          <button type="button" class="with-script" data-add>${messages.addEntry(known)}</button>
          ${
            !isNested &&
            html`<a class="button without-script" href="?add=${known}">${messages.addEntry(known)}</a>`
          }
        </p>`
    }
  </div>`;
}

function entryButtons(name: string, messages: SettingsMessages, isStored: boolean): Markup {
  return html`<p class="entry-buttons">
    <button type="button" class="link with-script" data-move="up" aria-label="${messages.moveUp}">
      ${ACTION_ICONS.up}
    </button>
    <button type="button" class="link with-script" data-move="down" aria-label="${messages.moveDown}">
      ${ACTION_ICONS.down}
    </button>
    <label class="remove ${isStored ? '' : 'with-script'}"
      ><input type="checkbox" name="${name}.remove" value="yes" data-remove /> ${messages.remove}</label
    >
  </p>`;
}

/** The name of an entry, and its price. */
function entryTitle(value: unknown, { messages, locale, locales, currency, choices }: FormContext): Part {
  if (typeof value !== 'object' || value === null) return undefined;
  const {
    key,
    kind,
    zones,
    price,
    default: isDefault,
    provider,
    ...named
  } = value as Record<string, unknown>;
  const name = named['name'] ?? named['text'];
  const zoneCount = Array.isArray(zones) ? zones.length : 0;
  const names = (typeof name === 'object' ? name : {}) as Record<string, string>;
  const title = typeof name === 'string' ? name : (names[locale] ?? names[locales[0]!]);
  const providerText = choices('paymentMethods.provider')?.find((one) => one.value === provider)?.text;
  const facts = [
    ...(typeof kind === 'string' && zoneCount === 0 ? [messages.value('shippingMethods.kind', kind)] : []),
    ...(zoneCount > 0 ? [messages.zones.count({ count: zoneCount })] : []),
    ...(providerText === undefined ? [] : [providerText]),
    ...(typeof price === 'number' && price !== 0
      ? [moneyText(toMinor(price, currency) ?? 0, currency, messages.language)]
      : []),
    ...(isDefault === true ? [messages.label('taxClasses.default')] : []),
  ];
  return html`<strong>${title ?? settingText(key)}</strong>
    ${facts.length > 0 && html`<span class="quiet">${facts.join(' · ')}</span>`}`;
}

const hintOf = (hint: string | undefined) => (hint === undefined ? {} : { hint });
