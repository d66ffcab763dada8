import { settingsAsFile } from './conversion.ts';
import { shown } from './problem.ts';
import type { SectionName, SettingsFile } from './schema.ts';
import type { Settings } from './settings.ts';

/** The differences by section: `~ taxClasses.standard.rates.DE: 19 -> 16`. Sections without a difference are absent. */
export function settingsChanges(before: Settings, after: Settings): Map<SectionName, readonly string[]> {
  // Texts by locale, so that one more translation is one more line.
  const [old, next] = [before, after].map((settings) => settingsAsFile(settings, { textsByLocale: true }));
  const sections = (Object.keys(next!) as SectionName[]).map(
    (section) => [section, [...changes(section, old![section], next![section])]] as const,
  );
  return new Map(sections.filter(([, lines]) => lines.length > 0));
}

/** The differences between two values of a document, each line with its path. */
export function* changes(path: string, before: unknown, after: unknown): Generator<string> {
  if (Array.isArray(before) || Array.isArray(after)) {
    yield* listChanges(path, (before ?? []) as unknown[], (after ?? []) as unknown[]);
  } else if (isMap(before) || isMap(after)) {
    const [old, next] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
    for (const key of new Set([...Object.keys(old!), ...Object.keys(next!)])) {
      yield* changes(`${path}.${key}`, old![key], next![key]);
    }
  } else if (before !== after) {
    if (isAbsent(before)) yield `+ ${path}: ${shown(after)}`;
    else if (isAbsent(after)) yield `- ${path}: ${shown(before)}`;
    else yield `~ ${path}: ${shown(before)} -> ${shown(after)}`;
  }
}

/** Entries with the same key are the same entry, wherever they stand; then their order is compared. */
function* listChanges(path: string, before: unknown[], after: unknown[]): Generator<string> {
  const old = new Map(before.map((entry) => [identity(entry), entry]));
  const next = new Map(after.map((entry) => [identity(entry), entry]));
  for (const key of old.keys()) if (!next.has(key)) yield `- ${path}${key}`;
  for (const [key, entry] of next) {
    if (old.has(key)) yield* changes(`${path}${key}`, old.get(key), entry);
    else yield `+ ${path}${key}`;
  }
  const order = (keys: Iterable<string>, others: Map<string, unknown>) =>
    [...keys]
      .filter((key) => others.has(key))
      .map((key) => key.slice(1))
      .join(', ');
  const [first, then] = [order(old.keys(), next), order(next.keys(), old)];
  if (first !== then) yield `~ ${path} in another order: ${first} -> ${then}`;
}

/** Identifies an entry among the others, as the end of its path. */
function identity(entry: unknown): string {
  if (typeof entry === 'string') return `.${entry}`;
  const { key, identifier, from, upTo, ...zone } = entry as {
    key?: string;
    identifier?: string;
    from?: number;
    upTo?: number;
  } & Partial<Zone>;
  if (zone.countries) return `[${zoneIdentity(zone as Zone)}]`;
  if (upTo !== undefined) return `[up to ${upTo}]`;
  return from === undefined ? `.${key ?? identifier}` : `[from ${from}]`;
}

type Zone = NonNullable<NonNullable<SettingsFile['shippingMethods']>[number]['zones']>[number];

/** `ES 35000-35999 38*`: two zones of a method differ in it. */
export function zoneIdentity({ countries, postcodes = [], maxWeight }: Zone): string {
  return [...countries, ...postcodes, ...(maxWeight === undefined ? [] : [`up to ${maxWeight} kg`])].join(
    ' ',
  );
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
