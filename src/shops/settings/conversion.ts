import type { TSchema } from 'typebox';
import { storageOf, type Conversion, type FileContext } from './fields.ts';
import { SettingsSchema, type SettingsFile, type StoredSettings } from './schema.ts';

/** Converts between a settings file and the stored settings, by following the schema. */

/** Makes the id of an entry that is new: `newIdOf('taxClasses', 'reduced')`. */
export type NewIdOf = (section: string, key: string) => string;

type Fields = Record<string, unknown>;

/** The parts of a JSON schema that the functions below read. */
interface Shape {
  type?: string | string[];
  properties?: Record<string, TSchema>;
  required?: string[];
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
}

const SECTIONS = Object.entries(SettingsSchema.properties);

/** The settings of a new shop. They contain no text and no amount. */
export const initialSettings = toStored(
  SettingsSchema,
  Object.fromEntries(SECTIONS.map(([name, schema]) => [name, storageOf(schema).initial])),
  { defaultLocale: '', currency: '' },
) as Partial<StoredSettings>;

/**
 * The settings after a file was applied. An entry keeps the id that its key had; `newId` makes those of new ones. The
 * file must have been checked against these settings.
 */
export function settingsWith<Current extends StoredSettings>(
  current: Current,
  file: SettingsFile,
  newIdOf: NewIdOf,
): Current {
  const context = {
    defaultLocale: file.locales?.default ?? current.defaultLocale,
    currency: file.currencies?.default ?? current.defaultCurrency,
  };
  const next = {
    ...(file.locales ? inLocales(current, file.locales) : current),
    ...(toStored(SettingsSchema, file, context) as Partial<Current>),
  };
  if (file.taxClasses) next.taxClasses = withDigitalDefault(next.taxClasses);
  return withIds(next, current, newIdOf);
}

type TaxClasses = StoredSettings['taxClasses'];

/** Without a default class for digital goods, the default class of all goods applies to them. */
function withDigitalDefault(classes: TaxClasses): TaxClasses {
  if (classes.some(({ isDefaultDigital }) => isDefaultDigital)) return classes;
  return classes.map((entry) => ({ ...entry, isDefaultDigital: entry.isDefault }));
}

function withIds<Current extends StoredSettings>(next: Current, current: Current, newIdOf: NewIdOf): Current {
  const lists = SECTIONS.flatMap(([section, schema]) => {
    const { ids } = storageOf(schema);
    if (!ids) return [];
    const name = storedName(SettingsSchema, section);
    const [before, after] = [current, next].map((settings) => (settings as Fields)[name] as Fields[]);
    const known = new Map(before!.map((entry) => [entry[ids.key], entry[ids.id]]));
    const idOf = (key: unknown) => known.get(key) ?? newIdOf(section, String(key));
    return [[name, after!.map((entry) => ({ ...entry, [ids.id]: idOf(entry[ids.key]) }))]];
  });
  return { ...next, ...Object.fromEntries(lists) };
}

/** The settings as a file that holds every section. */
export function settingsAsFile(
  settings: StoredSettings,
  options: { textsByLocale?: boolean } = {},
): SettingsFile {
  const { defaultLocale, defaultCurrency: currency } = settings;
  return toWritten(SettingsSchema, settings, { defaultLocale, currency, ...options }) as SettingsFile;
}

function toStored(schema: TSchema, written: unknown, context: FileContext): unknown {
  const conversion = storageOf(schema).conversion as Conversion<unknown, unknown> | undefined;
  if (conversion) return conversion.toStored(written, context);
  const { properties, patternProperties, items } = schema as Shape;
  if (items && Array.isArray(written)) return written.map((item) => toStored(items, item, context));
  if (!isMap(written)) return written;
  if (patternProperties) {
    const value = Object.values(patternProperties)[0]!;
    return mapValues(written, (item) => toStored(value, item, context));
  }
  if (!properties) return written;
  const fields = Object.entries(properties).flatMap(([key, field]): [string, unknown][] => {
    const storage = storageOf(field);
    const name = storedName(schema, key);
    if (isAbsent(schema, key, written[key])) return 'absent' in storage ? [[name, storage.absent]] : [];
    const stored = toStored(field, written[key], context);
    return storage.isInline ? Object.entries(stored as Fields) : [[name, stored]];
  });
  return Object.fromEntries(fields);
}

/** An empty map in an optional field means the same as none. An empty section has no entries. */
function isAbsent(schema: TSchema, key: string, value: unknown): boolean {
  const { properties, required } = schema as Shape;
  const isSection = 'initial' in storageOf(properties![key]!);
  return value === undefined || (!required?.includes(key) && !isSection && isEmptyMap(value));
}

/** undefined: there is nothing to write. Fields follow the schema's order, because the database has none. */
function toWritten(schema: TSchema, stored: unknown, context: FileContext): unknown {
  const { properties, patternProperties, items, type } = schema as Shape;
  if (stored === undefined || (stored === null && !type?.includes('null'))) return undefined;
  const storage = storageOf(schema);
  const conversion = storage.conversion as Conversion<unknown, unknown> | undefined;
  if (conversion) return conversion.toWritten(stored, context);
  if (items && Array.isArray(stored)) return stored.map((item) => toWritten(items, item, context));
  if (!isMap(stored)) return stored;
  if (patternProperties) {
    const value = Object.values(patternProperties)[0]!;
    return mapValues(stored, (item) => toWritten(value, item, context));
  }
  if (!properties) return stored;
  const written = Object.entries(properties).flatMap(([key, field]) => {
    const value = storageOf(field).isInline ? stored : stored[storedName(schema, key)];
    const item = toWritten(field, value, context);
    return item === undefined ? [] : [[key, item] as const];
  });
  const object = Object.fromEntries(written);
  return Object.fromEntries(written.filter(([key, value]) => !storage.isOmitted?.(key, value, object)));
}

/**
 * The settings with their texts in other locales. Those in a locale that the shop gives up are dropped, so an export
 * never holds texts that apply refuses. Texts missing in the new default locale are copied from the old one, because
 * its readers have seen those so far.
 */
function inLocales<Current extends StoredSettings>(
  settings: Current,
  { default: defaultLocale, items: locales }: { default: string; items: string[] },
): Current {
  const keep = (byLocale: Fields) =>
    Object.fromEntries(Object.entries(byLocale).filter(([locale]) => locales.includes(locale)));
  const copy = (byLocale: Fields) => {
    const fallback = byLocale[defaultLocale] ?? byLocale[settings.defaultLocale];
    return keep(fallback === undefined ? byLocale : { ...byLocale, [defaultLocale]: fallback });
  };
  const convert = (schema: TSchema, stored: unknown): unknown => {
    const { byLocale } = storageOf(schema);
    const { properties = {}, patternProperties, items } = schema as Shape;
    if (items && Array.isArray(stored)) return stored.map((item) => convert(items, item));
    if (!isMap(stored)) return stored;
    if (byLocale) return byLocale === 'copy' ? copy(stored) : keep(stored);
    if (patternProperties) {
      const value = Object.values(patternProperties)[0]!;
      const entries = Object.entries(mapValues(stored, (item) => convert(value, item)));
      return Object.fromEntries(entries.filter(([, item]) => !isEmptyMap(item)));
    }
    const next = { ...stored };
    for (const [key, field] of Object.entries(properties)) {
      const name = storedName(schema, key);
      if (next[name] === undefined) continue;
      next[name] = convert(field, next[name]);
      if (isAbsent(schema, key, next[name]) && !('absent' in storageOf(field))) delete next[name];
    }
    return next;
  };
  return convert(SettingsSchema, settings) as Current;
}

function storedName(schema: TSchema, key: string): string {
  return (storageOf(schema).names as Record<string, string> | undefined)?.[key] ?? key;
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyMap(value: unknown): boolean {
  return isMap(value) && Object.keys(value).length === 0;
}

function mapValues(map: Fields, convert: (value: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)]));
}
