import type { TSchema } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import type { NewIdOf } from './conversion.ts';
import type { Problem } from './problem.ts';
import type { Frame } from './rules.ts';
import type { SettingsFile } from './schema.ts';
import type { Settings } from './settings.ts';

/**
 * A section of the settings file that another module owns, and may keep in tables of its own. The module declares the type
 * of its value in `RegisteredSections`; `src/composition/settings-format.ts` lists the sections.
 */
export interface SettingsSection<Value = unknown> {
  /** The key in the file. */
  name: keyof SettingsFile;
  schema: TSchema;
  /** Finds problems that no schema can express, without a database query. */
  checks(value: Value, frame: Frame): Iterable<Problem>;
  /** The whole section as a file holds it. */
  read(db: Queries, settings: Settings): Promise<Value>;
  /**
   * Applies the section to the shop. The value was checked against these settings, which are already written. When
   * there are problems, nothing was written. Absent: the section is stored with the settings themselves.
   */
  apply?(tx: Transaction, settings: Settings, value: Value, newIdOf: NewIdOf): Promise<SectionChanges>;
}

export interface SectionChanges {
  problems: readonly Problem[];
  /** The changes, one line each. */
  changes: readonly string[];
}

/** The value of a section in a file; undefined: the file does not name it. */
export function sectionOf(file: SettingsFile, { name }: SettingsSection): unknown {
  return file[name];
}
