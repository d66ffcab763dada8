import type { Path } from '../../shops/settings/rules.ts';
import type { TSchema } from 'typebox';
import { MAX_FIELD_LENGTH } from '../../http/form-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { decimalText } from '../components/decimal.ts';
import type { Choice } from '../components/form.ts';
import type { Language } from '../messages.ts';
import { shapeOf } from './field-kind.ts';
import type { Preset } from './grouped-choices.ts';
import type { SettingsMessages } from './settings-messages.ts';

/** The context that the fields of a form need besides the schema and the value. */
export interface FormContext {
  messages: SettingsMessages;
  language: Language;
  /** The languages of the shop, the default one first. */
  locales: readonly string[];
  /** The language in which entries are named. */
  locale: string;
  currency: string;
  isDisabled: boolean;
  /** The choices for a setting whose schema does not list them, by its path: countries, currencies. */
  choices: (path: string) => readonly Choice[] | undefined;
  /** Groups of choices that one click selects. */
  presets: (path: string) => readonly Preset[];
  /** The known keys of a map; undefined: they can be typed. */
  keys: (path: string) => readonly Choice[] | undefined;
  /** The problem of a field, by its path. */
  problemAt: (path: Path) => string | undefined;
  /** Settings that the page shows differently. */
  isLeftOut: (path: string) => boolean;
  /** A list to which an entry is added without scripts. */
  added: string | undefined;
}

export const settingFieldName = (path: Path): string => path.join('.');

export function fieldProblemLine(problem: string | undefined): Markup | undefined {
  return problem === undefined ? undefined : html`<p class="field-problem">${problem}</p>`;
}

export function bound(schema: TSchema): { maxLength: number } {
  return { maxLength: shapeOf(schema).maxLength ?? MAX_FIELD_LENGTH };
}

/** A typed value that is not among the choices stays visible. */
export function withChosen(choices: readonly Choice[], values: readonly unknown[]): readonly Choice[] {
  const unknown = values.filter((value) => !choices.some((choice) => choice.value === (value ?? '')));
  return [...unknown.map((value) => ({ value: settingText(value), text: settingText(value) })), ...choices];
}

/** A number in the format of the user's language; typed text that is not a number stays unchanged. */
export function numberText(value: unknown, { language }: Pick<FormContext, 'language'>): string {
  return typeof value === 'number' ? decimalText(value, language) : settingText(value);
}

/** As in the file, in a form that can be typed again. */
export function settingText(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}
