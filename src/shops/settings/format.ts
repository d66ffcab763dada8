import { Type, type TSchema } from 'typebox';
import { isAmount } from './fields.ts';
import { SettingsSchema } from './schema.ts';
import type { SettingsSection } from './section.ts';

/** The settings file with the sections that other modules have added to it. */
export interface SettingsFormat {
  readonly sections: readonly SettingsSection[];
  readonly schema: TSchema;
}

export function createSettingsFormat(sections: readonly SettingsSection[]): SettingsFormat {
  const { properties, required: _required, ...options } = SettingsSchema;
  const added = Object.fromEntries(sections.map(({ name, schema }) => [name, Type.Optional(schema)]));
  const schema = Type.Object({ ...properties, ...added }, options);
  return { sections, schema };
}

/** The schema as the file in schema/ holds it, for editors. */
export function settingsSchemaText({ schema }: SettingsFormat): string {
  const text = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of a Kontor shop',
    ...schema,
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** The keys whose values are amounts of money. */
export function amountKeys(schema: TSchema): Set<string> {
  const { properties = {}, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  return new Set([
    ...Object.entries(properties).flatMap(([key, field]) => [
      ...(isAmount(field) ? [key] : []),
      ...amountKeys(field),
    ]),
    ...(items ? amountKeys(items) : []),
  ]);
}
