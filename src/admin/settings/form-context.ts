import type { TSchema } from 'typebox';
import { MAX_FIELD_LENGTH } from '../../http/form-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { decimalText } from '../components/decimal.ts';
import type { Choice } from '../components/form.ts';
import type { Language } from '../messages.ts';
import { shapeOf } from './field-kind.ts';
import type { SettingsWords } from './words.ts';

export type Path = readonly (string | number)[];

/** What the fields of a form need beside the schema and the value. */
export interface FormContext {
  words: SettingsWords;
  language: Language;
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

export function problemLine(problem: string | undefined): Markup | undefined {
  return problem === undefined ? undefined : html`<p class="field-problem">${problem}</p>`;
}

export function bound(schema: TSchema): { maxLength: number } {
  return { maxLength: shapeOf(schema).maxLength ?? MAX_FIELD_LENGTH };
}

/** A value that was typed and is not among the choices stays visible. */
export function withChosen(choices: readonly Choice[], values: readonly unknown[]): readonly Choice[] {
  const unknown = values.filter((value) => !choices.some((choice) => choice.value === (value ?? '')));
  return [...unknown.map((value) => ({ value: textOf(value), text: textOf(value) })), ...choices];
}

/** A number as people write it in their language; what was typed and is none stays as it is. */
export function numberText(value: unknown, { language }: Pick<FormContext, 'language'>): string {
  return typeof value === 'number' ? decimalText(value, language) : textOf(value);
}

/** As it is written in the file, and as it can be typed again. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
