import type { TSchema } from 'typebox';
import { storageOf, WEB_ADDRESS } from '../../shops/settings/fields.ts';
import { SettingsSchema, type SectionName } from '../../shops/settings/schema.ts';

/** The parts of a setting's JSON schema that the forms read. */
export interface Shape {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, TSchema>>;
  patternProperties?: Readonly<Record<string, TSchema>>;
  required?: readonly string[];
  items?: TSchema;
  enum?: readonly (string | boolean)[];
  pattern?: string;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  default?: unknown;
  $ref?: string;
}

/**
 * How a setting is shown in a form: texts in all languages of the shop, a section of fields, a list of sections, words
 * one per line, checkboxes, or a table of names and values.
 */
export type FieldKind =
  | 'flag'
  | 'choice'
  | 'number'
  | 'line'
  | 'lines'
  | 'texts'
  | 'section'
  | 'entries'
  | 'words'
  | 'choices'
  | 'map';

/** Longer texts get more than one line. */
const ONE_LINE_LENGTH = 255;

export function kindOf(schema: TSchema): FieldKind {
  const { type, properties, patternProperties, items, enum: values } = shapeOf(schema);
  if (values) return 'choice';
  const types = [type ?? []].flat();
  if (types.includes('boolean')) return 'flag';
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (types.includes('string')) return types.includes('object') ? 'texts' : isLong(schema) ? 'lines' : 'line';
  if (items) {
    const kind = kindOf(items);
    return kind === 'choice' ? 'choices' : kind === 'line' || kind === 'lines' ? 'words' : 'entries';
  }
  return patternProperties && !properties ? 'map' : 'section';
}

/** Follows the reference of a schema that many others share. */
export function shapeOf(schema: TSchema): Shape {
  const shape = schema as Shape;
  const [, name] = /^#\/definitions\/(\w+)$/.exec(shape.$ref ?? '') ?? [];
  // The type of a schema does not tell its definitions.
  const { definitions } = SettingsSchema as unknown as { definitions: Record<string, TSchema> };
  return name === undefined ? shape : (definitions[name] as Shape);
}

export function isLong(schema: TSchema): boolean {
  const { maxLength = 0, format } = shapeOf(schema);
  return maxLength > ONE_LINE_LENGTH && format !== WEB_ADDRESS;
}

export function isNullable(schema: TSchema): boolean {
  return [shapeOf(schema).type ?? []].flat().includes('null');
}

/** Whether an unchecked box differs in meaning from an omitted setting. */
export function isFalseMeant(schema: TSchema): boolean {
  const storage = storageOf(schema);
  return 'initial' in storage || storage.absent === true;
}

export const schemaOf = (section: SectionName): TSchema => SettingsSchema.properties[section as 'name'];

/** The value schema of a map with any keys. */
export const mapValue = (schema: TSchema): TSchema => Object.values(shapeOf(schema).patternProperties!)[0]!;

/** A placeholder for an index: the script replaces it by a number when an entry is added. */
export const newEntryStep = (path: readonly unknown[]): string => `new-${path.length}`;

/** `taxClasses.rates`: the path without list positions, by which texts and choices are found. */
export const wordPath = (path: readonly (string | number)[]): string =>
  path.filter((step) => typeof step === 'string' && !/^(?:new-|#)\d+$/.test(step)).join('.');
