import { displayName } from '../../kernel/display-names.ts';
import { languageTag } from '../../http/locale.ts';
import { isUnitKey } from '../../kernel/units.ts';
import type { Language, AdminMessages } from '../messages.ts';

/** The texts of the forms. Names, hints and values of settings are found by the path of the setting. */
export type SettingsMessages = ReturnType<typeof settingsMessages>;

export function settingsMessages(all: AdminMessages, language: Language) {
  const messages = all.settings;
  const labels: Readonly<Record<string, string>> = messages.labels;
  const hints: Readonly<Record<string, string>> = messages.hints;
  const values: Readonly<Record<string, string>> = messages.values;
  const units: Readonly<Record<string, string>> = messages.units;
  const label = (path: string): string => {
    const last = path.slice(path.lastIndexOf('.') + 1);
    return labels[path] ?? (isUnitKey(last) ? all.units[last] : last);
  };
  return {
    language,
    label,
    hint: (path: string): string | undefined => hints[path],
    value: (path: string, value: string): string => values[`${path}.${value}`] ?? value,
    /** What it means when nothing is chosen; undefined: it has no name. */
    unsetValue: (path: string): string | undefined => values[`${path}.unset`],
    /** Shown after a field. */
    unit: (path: string): string | undefined => units[path],
    languageName: (locale: string): string => displayName(languageTag(locale), 'language', language),
    newEntry: (path: string): string => labels[`${path}.new`] ?? all.form.add,
    addEntry: (path: string): string => labels[`${path}.add`] ?? all.form.add,
    choose: messages.choose,
    zones: messages.zoneTable,
    unset: messages.unset,
    onePerLine: messages.onePerLine,
    moveUp: messages.moveUp,
    moveDown: messages.moveDown,
    remove: messages.remove,
  };
}
