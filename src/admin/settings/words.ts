import { languageTag } from '../../http/locale.ts';
import { isUnitKey } from '../../kernel/units.ts';
import type { Language, Words } from '../messages.ts';

/** The texts of the forms. Names, hints and values of settings are found by the path of the setting. */
export type SettingsWords = ReturnType<typeof settingsWords>;

export function settingsWords(all: Words, language: Language) {
  const words = all.settings;
  const labels: Readonly<Record<string, string>> = words.labels;
  const hints: Readonly<Record<string, string>> = words.hints;
  const values: Readonly<Record<string, string>> = words.values;
  const units: Readonly<Record<string, string>> = words.units;
  const label = (path: string): string => {
    const last = path.slice(path.lastIndexOf('.') + 1);
    return labels[path] ?? (isUnitKey(last) ? all.units[last] : last);
  };
  return {
    language,
    label,
    hint: (path: string): string | undefined => hints[path],
    value: (path: string, value: string): string => values[`${path}.${value}`] ?? value,
    /** Shown after a field. */
    unit: (path: string): string | undefined => units[path],
    languageName: (locale: string): string =>
      new Intl.DisplayNames([language], { type: 'language' }).of(languageTag(locale)) ?? locale,
    newEntry: (path: string): string => labels[`${path}.new`] ?? all.form.add,
    addEntry: (path: string): string => labels[`${path}.add`] ?? all.form.add,
    unset: words.unset,
    onePerLine: words.onePerLine,
    moveUp: words.moveUp,
    moveDown: words.moveDown,
    remove: words.remove,
  };
}
