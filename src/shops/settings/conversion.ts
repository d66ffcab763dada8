import type { TSchema } from 'typebox';
import { storageOf, type Conversion, type FileContext } from './fields.ts';
import { SettingsSchema, type SectionName, type SettingsFile, type StoredSettings } from './schema.ts';

/** Converts between a settings file and the stored settings, by following the schema. */

type Fields = Record<string, unknown>;

/** What the functions below read of a JSON schema. */
interface Shape {
  type?: string | string[];
  properties?: Record<string, TSchema>;
  required?: string[];
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
}

const SECTIONS = Object.entries(SettingsSchema.properties).filter(([name]) => name !== '$schema');

/** What a new shop has of the settings that every shop has. No text and no amount is among them. */
export const initialSettings: Partial<StoredSettings> = Object.assign(
  {},
  ...SECTIONS.map(([name, schema]) => {
    const { initial } = storageOf(schema);
    return initial === undefined
      ? {}
      : storedSection(name, schema, initial, { defaultLocale: '', currency: '' });
  }),
);

/**
 * The settings after a file was applied. An entry keeps the id that its key had; `newId` makes those of new ones. The
 * file must have been checked against these settings.
 */
export function settingsWith<Current extends Partial<StoredSettings>>(
  current: Current,
  file: SettingsFile,
  newId: () => string,
): Current {
  const context = {
    defaultLocale: file.locales?.default ?? current.defaultLocale!,
    currency: file.currencies?.default ?? current.defaultCurrency!,
  };
  const next: Fields = { ...current, ...(file.locales && textsInLocales(current, file.locales)) };
  for (const [name, schema] of SECTIONS) {
    const written = file[name as SectionName];
    if (written === undefined) continue;
    const section = storedSection(name, schema, written, context);
    const { ids } = storageOf(schema);
    for (const [key, value] of Object.entries(section)) {
      next[key] = ids ? withIds(value as Fields[], (current as Fields)[key] as Fields[], ids, newId) : value;
    }
  }
  if (file.taxClasses) next['taxClasses'] = withDigitalDefault(next['taxClasses'] as TaxClasses);
  return next as Current;
}

type TaxClasses = StoredSettings['taxClasses'];

/** When no class is the default of digital goods, it is the default of all goods. */
function withDigitalDefault(classes: TaxClasses): TaxClasses {
  if (classes.some(({ isDefaultDigital }) => isDefaultDigital)) return classes;
  return classes.map((entry) => ({ ...entry, isDefaultDigital: entry.isDefault }));
}

/** The settings as a file that holds every section. */
export function documentOf(
  settings: StoredSettings,
  options: { textsByLocale?: boolean } = {},
): SettingsFile {
  const context = { defaultLocale: settings.defaultLocale, currency: settings.defaultCurrency, ...options };
  const stored = settings as unknown as Fields;
  return Object.fromEntries(
    SECTIONS.flatMap(([section, schema]) => {
      const { name = section, isInline } = storageOf(schema);
      const written = toWritten(schema, isInline ? stored : stored[name], context);
      return written === undefined ? [] : [[section, written]];
    }),
  );
}

function storedSection(section: string, schema: TSchema, written: unknown, context: FileContext): Fields {
  const { name = section, isInline } = storageOf(schema);
  const value = toStored(schema, written, context);
  return isInline ? (value as Fields) : { [name]: value };
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
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, field]) => {
      const { name = key, ...storage } = storageOf(field);
      const value = written[key];
      // An empty map says the same as an absent one.
      const isAbsent = value === undefined || (isOptional(schema, key) && isEmptyMap(value));
      if (!isAbsent) return [[name, toStored(field, value, context)]];
      return 'absent' in storage ? [[name, storage.absent]] : [];
    }),
  );
}

/** undefined: there is nothing to write. The fields come in the order of the schema, because the database has none. */
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
    const value = toWritten(field, stored[storageOf(field).name ?? key], context);
    return value === undefined ? [] : [[key, value] as const];
  });
  const object = Object.fromEntries(written);
  return Object.fromEntries(written.filter(([key, value]) => !storage.isOmitted?.(key, value, object)));
}

/**
 * The texts of the settings in other locales. Those in a locale that the shop gives up are dropped, so that an export
 * never holds what apply refuses. What the new default locale lacks is copied from the old one, because that is what
 * its readers have been shown so far.
 */
function textsInLocales(
  settings: Partial<StoredSettings>,
  { default: defaultLocale, items }: { default: string; items: string[] },
): Fields {
  const keep = (byLocale: Fields) =>
    Object.fromEntries(Object.entries(byLocale).filter(([locale]) => items.includes(locale)));
  const copy = (byLocale: Fields) => {
    const fallback = byLocale[defaultLocale] ?? byLocale[settings.defaultLocale!];
    return keep(fallback === undefined ? byLocale : { ...byLocale, [defaultLocale]: fallback });
  };
  const convert = (schema: TSchema, stored: unknown): unknown => {
    const { byLocale } = storageOf(schema);
    const { properties, patternProperties, items } = schema as Shape;
    if (Array.isArray(stored)) return items ? stored.map((item) => convert(items, item)) : stored;
    if (!isMap(stored)) return stored;
    if (byLocale) return byLocale === 'copy' ? copy(stored) : keep(stored);
    if (patternProperties) {
      const value = Object.values(patternProperties)[0]!;
      const entries = Object.entries(mapValues(stored, (item) => convert(value, item)));
      return Object.fromEntries(entries.filter(([, item]) => !isEmptyMap(item)));
    }
    const next = { ...stored };
    for (const [key, field] of Object.entries(properties ?? {})) {
      const { name = key, ...storage } = storageOf(field);
      if (next[name] === undefined) continue;
      next[name] = convert(field, next[name]);
      if (isOptional(schema, key) && !('absent' in storage) && isEmptyMap(next[name])) delete next[name];
    }
    return next;
  };
  return Object.fromEntries(
    SECTIONS.flatMap(([section, schema]) => {
      const { name = section, isInline } = storageOf(schema);
      return isInline ? [] : [[name, convert(schema, (settings as Fields)[name])]];
    }),
  );
}

function withIds(
  entries: Fields[],
  before: Fields[],
  { key, id }: { key: string; id: string },
  newId: () => string,
) {
  const ids = new Map(before.map((entry) => [entry[key], entry[id]]));
  return entries.map((entry) => ({ [id]: ids.get(entry[key]) ?? newId(), ...entry }));
}

function isOptional(schema: TSchema, key: string): boolean {
  return !(schema as Shape).required?.includes(key);
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
